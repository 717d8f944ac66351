"""The C text of small kernels: readable, minimal, and grouped as the tree says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tang.emit import UnsupportedError, emit, emit_unit, supports
from tang.emit.c import C
from tang.emit.printer import Printer
from tang.errors import DeviceError, TangBugError
from tang.kernel.ir import (
    BOOL,
    F16,
    F32,
    I32,
    I64,
    U32,
    Array,
    Assign,
    Barrier,
    Call,
    Const,
    Convert,
    Declare,
    For,
    Function,
    If,
    Kernel,
    Let,
    Load,
    Op,
    Param,
    Scope,
    Store,
    Var,
)  # fmt: skip

A, B, D = (Var(F32, n) for n in "abd")
ID = Var(I64, "global_id")
N = Var(I64, "n")


def text(e):
    return Printer(C).expr(e)


def op(name, *args, t=F32):
    return Op(t, name, args)


def scale(factor, name="scale"):
    body = (Store("y", ID, op("mul", Load(F32, "x", ID), Const(F32, factor))),)
    params = (Param("x", F32, False), Param("y", F32, True))
    return Kernel(name, params, (), body, 4, origin="scaled */ //\n node")


@pytest.mark.parametrize(
    ("expr", "want"),
    [
        (op("add", A, op("mul", B, D)), "a_ + b_ * d_"),
        (op("add", A, op("add", B, D)), "a_ + (b_ + d_)"),
        (op("add", op("add", A, B), D), "a_ + b_ + d_"),
        (op("mul", op("add", A, B), D), "(a_ + b_) * d_"),
        (op("div", A, op("mul", B, D)), "a_ / (b_ * d_)"),
        (op("sub", A, op("neg", op("neg", B))), "a_ - -(-b_)"),
        (op("sub", A, Const(F32, Fraction(-2))), "a_ - -2.0f"),
        (op("fma", A, B, op("select", Var(BOOL, "c"), A, B)), "fmaf(a_, b_, c_ ? a_ : b_)"),
        (op("neg", Convert(F32, N)), "-((f32)n_)"),
        (op("not", op("lt", A, B, t=BOOL), t=BOOL), "!(a_ < b_)"),
        (Const(I32, -(2**31)), "(-2147483647 - 1)"),
        (op("shl", Var(U32, "u"), Const(U32, 3), t=U32), "u_ << 3u"),
        (op("shl", Var(U32, "u"), Var(U32, "v"), t=U32), "u_ << (v_ & 31u)"),
        (op("add", Load(F16, "h", ID), Load(F16, "h", ID), t=F16),
         "tang_round_f16(tang_f16_value(h_b[global_id_]) + tang_f16_value(h_b[global_id_]))"),
    ],
)  # fmt: skip
def test_an_expression_keeps_its_grouping(expr, want):
    assert text(expr) == want


def test_the_text_of_a_kernel_is_readable():
    got = emit(scale(Fraction(3))).split("\n\n")
    assert (
        got[-1]
        == """\
/* node scaled ?? ??? node, point */
void scale_k(
    const f32* restrict x_b,
    f32* restrict y_b,
    const i64 first_group,
    const i64 last_group)
{
    for (i64 group = first_group; group < last_group; ++group) {
        for (i64 thread = 0; thread < 4; ++thread) {
            const i64 global_id_ = group * 4 + thread;
            y_b[global_id_] = x_b[global_id_] * 3.0f;
        }
    }
}
"""
    )


def test_a_text_holds_only_the_helpers_it_mentions():
    assert "tang_" not in emit(scale(Fraction(3)))
    inf = emit(scale("inf"))
    assert "static inline f32 tang_f32_of_u32" in inf
    assert "tang_u32_of_f32" not in inf


def test_a_loop_bound_that_may_change_is_evaluated_once():
    i, m = Var(I32, "i"), Var(I32, "m")
    grow = Assign(m, op("add", m, Const(I32, 1), t=I32))
    body = (Declare(m, Const(I32, 4)), For(i, Const(I32, 0), m, (grow,)))
    got = emit(Kernel("k", (), (), body))
    assert "for (i32 i_ = 0, i_end = m_; i_ < i_end; ++i_) {" in got


def test_equal_kernels_share_a_symbol_and_others_do_not():
    unit = emit_unit([scale(Fraction(3)), scale(Fraction(3)), scale(Fraction(5))])
    assert unit.symbols == ("scale_k", "scale_k", "scale_k2")
    assert unit.text.count("void scale_k(") == 1


def test_equal_functions_are_printed_once_and_different_ones_apart():
    def kernel(name, factor):
        twice = Function("twice", (A,), (), op("mul", A, Const(F32, factor)))
        outer = Function("outer", (A,), (), Call(F32, "twice", (A,)))
        call = Call(F32, "outer", (Load(F32, "x", ID),))
        return replace(
            scale(Fraction(1), name), body=(Store("y", ID, call),), functions=(outer, twice)
        )

    two, also, four = kernel("p", Fraction(2)), kernel("q", Fraction(2)), kernel("r", Fraction(4))
    got = emit([two, also, four])
    assert got.count("static f32 twice_f(") == 1
    assert got.count("static f32 twice_f2(") == 1
    assert got.index("twice_f(") < got.index("outer_f(")
    assert "twice_f2(a_)" in got.split("outer_f2(const")[1]


def test_a_deep_expression_costs_no_stack():
    e = A
    for _ in range(20_000):
        e = op("neg", e)
    assert text(e).count("-") == 20_000


def test_what_a_language_lacks_is_named():
    sigmoid = replace(scale(Fraction(1)), body=(Store("y", ID, op("sigmoid", Load(F32, "x", ID))),))
    assert supports(scale(Fraction(1))) is None
    assert supports(sigmoid) == "c cannot express sigmoid over f32"
    with pytest.raises(UnsupportedError):
        emit(sigmoid)
    narrow = replace(scale(Fraction(1)), body=(Let(A, Convert(F32, Const(F32, 1), "rz")),))
    assert supports(narrow) == "c cannot express conversion of f32 to f32 (rz, inf)"


def test_an_unknown_language_lists_the_known_ones():
    with pytest.raises(DeviceError, match="one of c"):
        emit(scale(Fraction(1)), "fortran")


def test_a_call_of_a_missing_function_is_our_fault():
    with pytest.raises(TangBugError, match="missing"):
        text(Call(F32, "missing", (A,)))


def test_a_barrier_under_a_condition_of_one_thread_is_refused():
    local = Var(I64, "local_id")
    branch = If(op("lt", local, Const(I64, 3), t=BOOL), (Barrier(),))
    reason = supports(replace(scale(Fraction(1)), body=(branch,)))
    assert reason is not None
    assert "barrier" in reason


def test_a_register_that_outlives_a_barrier_gets_one_place_per_thread():
    local = Var(I64, "local_id")
    body = (
        Array("tile", F32, 4, Scope.WORKGROUP),
        Let(A, Load(F32, "x", ID)),
        Let(B, op("add", A, A)),
        Store("tile", local, B),
        Barrier(),
        Store("y", ID, op("add", A, Load(F32, "tile", local))),
    )
    got = emit(replace(scale(Fraction(1)), body=body))
    assert "f32 a_[4];" in got
    assert "a_[thread] = x_b[global_id_];" in got
    assert "const f32 b_ = a_[thread] + a_[thread];" in got
