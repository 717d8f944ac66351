"""The OpenCL, CUDA and MSL texts of small kernels: readable, exact, and each in its own words."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from tang.emit import UnsupportedError, emit, supports
from tang.emit.c_helpers import HELPERS
from tang.emit.printer import Printer
from tang.emit.unit import dialect_named
from tang.kernel.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    MATH,
    U32,
    Array,
    Barrier,
    Bitcast,
    Const,
    Convert,
    For,
    Kernel,
    Let,
    Load,
    Op,
    Param,
    Scope,
    Store,
    Var,
)  # fmt: skip

LANGUAGES = ("opencl", "cuda", "msl")
A, B, D = (Var(F32, n) for n in "abd")
ID, LOCAL, GROUP = (Var(I64, n) for n in ("global_id", "local_id", "group_id"))
N = Var(I64, "n")


def text(language, e):
    return Printer(dialect_named(language)).expr(e)


def op(name, *args, t=F32):
    return Op(t, name, args)


def body_of(kernel, language):
    return emit(kernel, language).rstrip("\n").split("\n\n")[-1]


def shared(name="tile", t=F16):
    return Array(name, t, 8, Scope.WORKGROUP)


def reversal():
    """y[i] = x of the mirrored thread, through an array of the workgroup inside a loop."""
    load = Load(F16, "tile", op("sub", Const(I64, 7), LOCAL, t=I64))
    fill, read = Store("tile", LOCAL, Load(F16, "x", ID)), Store("y", ID, load)
    body = (shared(), fill, Barrier(), read, Barrier())
    loop = For(Var(I64, "k"), Const(I64, 0), N, body)
    params = (Param("x", F16, False), Param("y", F16, True))
    return Kernel("reversal", params, (N,), (loop,), 8, origin="x")


OPENCL = """\
/* node x, point */
__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void reversal_k(
    __global const u16* restrict x_b,
    __global u16* restrict y_b,
    const i64 n_)
{
    __local u16 tile_b[8];
    const i64 local_id_ = (i64)(get_local_id(0));
    const i64 global_id_ = (i64)(get_global_id(0));
    for (i64 k_ = 0l; k_ < n_; ++k_) {
        tile_b[local_id_] = tang_f16_bits(tang_f16_value(x_b[global_id_]));
        barrier(CLK_LOCAL_MEM_FENCE);
        y_b[global_id_] = tang_f16_bits(tang_f16_value(tile_b[7l - local_id_]));
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}"""

CUDA = """\
/* node x, point */
extern "C" __global__ void __launch_bounds__(8) reversal_k(
    const u16* __restrict__ x_b,
    u16* __restrict__ y_b,
    const i64 n_)
{
    __shared__ u16 tile_b[8];
    const i64 local_id_ = (i64)(threadIdx.x);
    const i64 global_id_ = (i64)((i64)blockIdx.x * 8 + threadIdx.x);
    for (i64 k_ = 0ll; k_ < n_; ++k_) {
        tile_b[local_id_] = tang_f16_bits(tang_f16_value(x_b[global_id_]));
        __syncthreads();
        y_b[global_id_] = tang_f16_bits(tang_f16_value(tile_b[7ll - local_id_]));
        __syncthreads();
    }
}"""

MSL = """\
/* node x, point */
kernel void reversal_k(
    device const u16* x_b [[buffer(0)]],
    device u16* y_b [[buffer(1)]],
    constant i64& n_ [[buffer(2)]],
    uint group [[threadgroup_position_in_grid]],
    uint tid [[thread_position_in_threadgroup]])
{
    threadgroup u16 tile_b[8];
    const i64 local_id_ = (i64)(tid);
    const i64 global_id_ = (i64)((i64)group * 8 + tid);
    for (i64 k_ = 0l; k_ < n_; ++k_) {
        tile_b[local_id_] = tang_f16_bits(tang_f16_value(x_b[global_id_]));
        threadgroup_barrier(mem_flags::mem_threadgroup);
        y_b[global_id_] = tang_f16_bits(tang_f16_value(tile_b[7l - local_id_]));
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}"""


@pytest.mark.parametrize(
    ("language", "want"), [("opencl", OPENCL), ("cuda", CUDA), ("msl", MSL)], ids=LANGUAGES
)
def test_a_kernel_with_a_workgroup_array_is_readable(language, want):
    assert body_of(reversal(), language) == want


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_workgroup_arrays_of_one_name_are_refused(language):
    loops = [For(Var(I64, n), Const(I64, 0), N, (shared(),)) for n in "ij"]
    with pytest.raises(UnsupportedError, match="two workgroup arrays of one name"):
        emit(Kernel("twice", (), (N,), tuple(loops)), language)


@pytest.mark.parametrize(
    ("expr", "opencl", "cuda", "msl"),
    [
        (op("add", op("mul", A, B), D), "a_ * b_ + d_", "__fmul_rn(a_, b_) + d_", "a_ * b_ + d_"),
        (op("div", A, op("sqrt", B)), "a_ / sqrt(b_)", "__fdiv_rn(a_, __fsqrt_rn(b_))",
         "a_ / precise::sqrt(b_)"),
        (op("fma", A, B, D), "fma(a_, b_, d_)", "fmaf(a_, b_, d_)", "fma(a_, b_, d_)"),
        (op("floor", A), "floor(a_)", "floorf(a_)", "floor(a_)"),
        (op("mul", Load(BF16, "h", ID), Load(BF16, "h", ID), t=BF16),
         *(f"tang_round_bf16({m.format('tang_bf16_value(h_b[global_id_])')})"
           for m in ("{0} * {0}", "__fmul_rn({0}, {0})", "{0} * {0}"))),
        (Convert(F16, N), *["tang_narrow_f16((f64)tang_sticky_i64(n_))"] * 2,
         "tang_round_f16(tang_odd_f32(n_))"),
        (Bitcast(U32, A), *["tang_u32_of_f32(a_)"] * 3),
        (op("isnan", A, t=BOOL), *["tang_isnan_f32(a_)"] * 3),
    ],
)  # fmt: skip
def test_operations_are_those_of_the_language(expr, opencl, cuda, msl):
    assert [text(language, expr) for language in LANGUAGES] == [opencl, cuda, msl]


@pytest.mark.parametrize(
    ("const", "opencl", "cuda", "msl"),
    [
        (Const(F32, Fraction(3, 2)), "1.5f", "1.5f", "1.5f"),
        (Const(F32, "-0.0"), "-0.0f", "-0.0f", "-0.0f"),
        (Const(F32, Fraction(1, 10)), *["0x1.99999ap-4f"] * 2, "tang_f32_of_u32(0x3dcccccdu)"),
        (Const(F32, Fraction(2) ** -149), *["0x1p-149f"] * 2, "tang_f32_of_u32(0x1u)"),
        (Const(F32, Fraction(2**128 - 2**104)), *["0x1.fffffep+127f"] * 2,
         "tang_f32_of_u32(0x7f7fffffu)"),
        (Const(F32, "inf"), *["tang_f32_of_u32(0x7f800000u)"] * 3),
        (Const(F16, "nan"), *["tang_f32_of_u32(0x7fc00000u)"] * 3),
        (Const(BF16, Fraction(1, 3)), *["0x1.56p-2f"] * 2, "tang_f32_of_u32(0x3eab0000u)"),
        (Const(I64, -(2**63)), "(-9223372036854775807l - 1)", "(-9223372036854775807ll - 1)",
         "(-9223372036854775807l - 1)"),
        (Const(U32, 7), "7u", "7u", "7u"),
    ],
)  # fmt: skip
def test_a_literal_is_exact(const, opencl, cuda, msl):
    assert [text(language, const) for language in LANGUAGES] == [opencl, cuda, msl]


def test_f64_literals_are_exact_where_there_is_f64():
    large = Const(F64, Fraction(2 * 10**50))
    assert [text(n, large) for n in ("opencl", "cuda")] == ["0x1.11b0ec57e649ap+167"] * 2
    assert text("opencl", Const(F64, "inf")) == "tang_f64_of_u64(0x7ff0000000000000ul)"
    with pytest.raises(UnsupportedError, match="f64"):
        text("msl", large)


def test_msl_says_that_it_lacks_f64_and_erf():
    def writes(t, e):
        return Kernel("w", (Param("y", t, True),), (), (Store("y", ID, e),))

    assert "f64" in supports(writes(F64, Const(F64, Fraction(1))), "msl")
    assert "f64" in supports(writes(F32, Convert(F32, Const(F64, Fraction(1)))), "msl")
    assert "erf over f32" in supports(writes(F32, op("erf", Const(F32, Fraction(1)))), "msl")
    for language in ("opencl", "cuda"):
        assert supports(writes(F64, op("erf", Const(F64, Fraction(1)), t=F64)), language) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_helpers_use_no_word_of_another_language(language):
    table = dialect_named(language).helpers
    assert set(HELPERS) - set(table) <= {n for n, t in HELPERS.items() if "f64" in t}
    for name, definition in table.items():
        assert not re.search(r"\b(_Bool|half|union)\b", definition), name
        if language == "cuda":
            assert definition.startswith("static __device__ inline "), name
        else:
            assert not re.search(r"\dull?l\b", definition), name
        if language == "msl":
            assert not re.search(r"f64|double|0x[0-9a-f.]*p", definition), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_barrier_has_its_own_line(language):
    lines = [
        s for s in body_of(reversal(), language).split("\n") if "barrier" in s or "__sync" in s
    ]
    assert len(lines) == 2
    assert all(s.count(";") == 1 for s in lines)


@pytest.mark.parametrize("language", ["opencl", "cuda"])
def test_native_functions_have_rows_for_every_float_type(language):
    rows = dialect_named(language).operations
    for name in MATH:
        if name != "sigmoid":
            assert all((name, t) in rows for t in (F16, BF16, F32, F64)), name


def test_an_unused_id_is_not_printed():
    plain = Kernel("k", (Param("y", F32, True),), (), (Let(Var(I32, "z"), Const(I32, 1)),))
    for language in LANGUAGES:
        assert "global_id_" not in emit(plain, language)
        assert "Idx" not in emit(plain, language)
    assert "group_id_" in emit(
        Kernel("k", (), (), (Let(Var(I64, "z"), op("add", GROUP, ID, t=I64)),)), "cuda"
    )
