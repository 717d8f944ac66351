"""The WGSL and GLSL text of small kernels: protected, packed, and refused where it must be."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tang.emit import UnsupportedError, emit, emit_unit, supports
from tang.emit.glsl import GLSL
from tang.emit.printer import Printer
from tang.emit.wgsl import WGSL
from tang.errors import LimitError
from tang.kernel.ir import (
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    U8,
    U32,
    Array,
    Assign,
    Const,
    Convert,
    Declare,
    For,
    If,
    Kernel,
    Load,
    Op,
    Param,
    Scope,
    Store,
    Var,
)

A, B = Var(F32, "a"), Var(F32, "b")
COUNT, J = Var(I32, "i"), Var(I32, "j")
U, V = Var(U32, "u"), Var(U32, "v")
ID = Var(I32, "global_id")


def op(name, *args, t=F32):
    return Op(t, name, args)


@pytest.mark.parametrize(
    ("expr", "wgsl", "glsl"),
    [
        (op("add", A, op("mul", A, B)), "tang_keep(a_ + tang_keep(a_ * b_))", None),
        (op("sub", A, A), "tang_keep(a_ - tang_apart(a_))", None),
        (op("div", A, op("add", A, B)), "tang_keep(a_ / tang_apart(tang_keep(a_ + b_)))", None),
        (op("lt", A, B, t=BOOL), "tang_flag(a_ < tang_apart(b_))", None),
        (op("select", Var(BOOL, "c"), A, B), "select(b_, a_, c_)", "mix(b_, a_, c_)"),
        (Const(F32, Fraction(1, 2)), "tang_keep(0.5)", None),
        (Const(F32, Fraction(1, 3)), "tang_f32(0x3eaaaaabu)", None),
        (Const(F32, "-0.0"), "tang_f32(0x80000000u)", None),
        (Const(F32, "nan"), "tang_f32(0x7fc00000u)", None),
        (Const(F32, Fraction(2) ** -149), "tang_f32(0x1u)", None),
        (Const(I32, -(2**31)), "tang_i32(-2147483647i - 1i)", "tang_i32(-2147483647 - 1)"),
        (Const(I32, 2**31 - 1), "2147483647i", "2147483647"),
        (op("add", Const(U32, 2**32 - 1), Const(U32, 1), t=U32),
         "tang_u32(4294967295u) + 1u", None),
        (op("mod", COUNT, J, t=I32), "tang_mod(i_, j_)", "tang_mod_i32(i_, j_)"),
        (op("shl", U, V, t=U32), "u_ << (v_ & 31u)", None),
        (op("lt", op("shr", U, V, t=U32), V, t=BOOL), "((u_ >> (v_ & 31u)) < v_)", None),
        (op("mul", Var(U8, "p"), Var(U8, "q"), t=U8), "((p_ * q_) & 255u)", None),
        (op("add", A, Load(F16, "h", ID), t=F16), "tang_round_f16(a_ + h_b[global_id_])", None),
        (Convert(I32, A), "tang_i32(i32(a_))", "tang_i32(int(a_))"),
    ],
)  # fmt: skip
def test_an_expression_is_protected_and_grouped(expr, wgsl, glsl):
    assert Printer(WGSL).expr(expr) == wgsl
    assert Printer(GLSL).expr(expr) == (glsl or wgsl)


def copy(t, name="copy"):
    params = (Param("x", t, False), Param("y", t, True))
    return Kernel(name, params, (), (Store("y", ID, Load(t, "x", ID)),), 8)


def test_small_elements_are_read_and_written_through_functions_of_their_buffer():
    text = emit(copy(F16), "wgsl")
    assert "copy_kZx_y_b_set(global_id_, copy_kZx_x_b_get(global_id_));" in text
    assert "copy_kZx_y_b: array<atomic<u32>>" in text
    assert "copy_kZx_x_b: array<u32>" in text
    assert "y_b_set(global_id_, x_b_get(global_id_));" in emit(copy(F16), "glsl")


def test_kernels_of_one_text_have_buffers_of_their_own():
    unit = emit_unit((copy(F32), copy(I32)), "wgsl")
    assert unit.symbols == ("copy_k", "copy_k2")
    assert unit.text.count("copy_kZx_x_b: array<f32>") == 1
    assert unit.text.count("copy_k2Zx_x_b: array<i32>") == 1


@pytest.mark.parametrize(
    ("kernel", "culprit"),
    [
        (copy(I64), "buffer x"),
        (Kernel("k", (), (Var(I64, "m"),), ()), "extent m"),
        (Kernel("k", (), (), (Declare(Var(I64, "t"), Const(I64, 1)),)), "index t = 1"),
        (Kernel("k", (), (), (For(Var(I64, "r"), Const(I64, 0), Const(I64, 2), ()),)),
         "index r in 0 .. 2"),
        (Kernel("k", (Param("y", F32, True),), (),
                (Store("y", Convert(I32, Var(I64, "global_id")), Const(F32, Fraction(0))),)),
         "index"),
    ],
)  # fmt: skip
def test_wgsl_refuses_64_bit_integers_and_names_the_first(kernel, culprit):
    with pytest.raises(LimitError, match=culprit):
        emit(kernel, "wgsl")
    assert "needs 64 bits" in (supports(kernel, "wgsl") or "")
    assert supports(kernel, "glsl") is None


def test_wgsl_refuses_f64_and_fma():
    assert supports(copy(F64), "wgsl") == "wgsl cannot express f64 in memory"
    fused = Store("y", ID, op("fma", A, A, A))
    with pytest.raises(UnsupportedError, match="fma over f32"):
        emit(Kernel("k", (Param("y", F32, True),), (), (fused,)), "wgsl")


def test_shared_arrays_stand_outside_the_body_wherever_they_are_declared():
    tile = Array("tile", F32, 4, Scope.WORKGROUP)
    kernel = Kernel("k", (), (), (If(Const(BOOL, True), (tile,)),))
    assert "var<workgroup> k_kZx_tile_b: array<f32, 4>;\n@compute" in emit(kernel, "wgsl")
    assert "shared float tile_b[4];\nvoid main()" in emit(kernel, "glsl")


def test_arrays_that_an_nvidia_driver_spoils_hold_words():
    flags, doubles = Array("flags", BOOL, 4, Scope.WORKGROUP), Array("doubles", F64, 2)
    wgsl = emit(Kernel("k", (), (), (flags,)), "wgsl")
    assert "var<workgroup> k_kZx_flags_b: array<u32, 4>;" in wgsl
    assert "fn k_kZx_flags_b_get(i: i32) -> bool {" in wgsl
    zero = Const(I32, 0)
    stores = (doubles, Store("doubles", zero, Load(F64, "doubles", zero)))
    glsl = emit(Kernel("k", (), (), stores), "glsl")
    assert "uvec2 doubles_b[2];" in glsl
    assert "doubles_b[0] = unpackDouble2x32(packDouble2x32(doubles_b[0]));" in glsl


def test_a_loop_bound_that_changes_is_kept_in_a_scope_of_its_own():
    grow = Assign(J, op("add", J, Const(I32, 1), t=I32))
    loop = For(COUNT, Const(I32, 0), J, (grow,))
    text = emit(Kernel("k", (), (), (Declare(J, Const(I32, 5)), loop, loop)), "wgsl")
    assert text.count("{ let i_end = j_; for (var i_: i32 = 0; i_ < i_end; i_++) {") == 2
    assert text.count("\n    }}\n") == 2
