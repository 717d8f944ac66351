"""Roundings to narrow formats in every domain: once in formats, not at all over the reals."""

from __future__ import annotations

import numpy as np
import pytest

from tang.emulator import replay, round_to
from tang.emulator.narrow import decoded, encoded, exact_function, narrowed, numbers
from tang.ir.extent import poly
from tang.ir.graph import Graph, Input
from tang.ir.view import Ref
from tang.kernel import ir as k
from tang.kernel.expand import expand_math
from tang.kernel.narrow import E2M1, E4M3FN, E5M2, Conversion
from tang.kernel.plan import Buffer, Launch, Plan, Role

X = np.array([0.3, 1.0625, -500.0, 1e-9, -0.0, 448.0, np.inf, np.nan], np.float32)
N = poly(X.size)


def plan(conversion):
    """y = x rounded."""
    i = k.Var(k.I32, "global_id")
    value = k.Op(k.F32, conversion.op, (k.Load(k.F32, "x", i),))
    store = k.If(k.Op(k.BOOL, "lt", (i, k.Const(k.I32, X.size))), (k.Store("y", i, value),))
    params = (k.Param("x", k.F32, False), k.Param("y", k.F32, True))
    kernel = k.Kernel("round", params, (), (store,))
    buffers = (
        Buffer("x", (N,), k.F32, k.F32, Role.INPUT, Ref("x")),
        Buffer("y", (N,), k.F32, k.F32, Role.OUTPUT),
    )
    launch = Launch(kernel, ("x", "y"), (), N)
    return Plan(Graph((Input("x", (N,)),), (), ()), buffers, (launch,), ())


CONVERSIONS = [Conversion(E4M3FN), Conversion(E4M3FN, "rz", "nan"), Conversion(E5M2, "rna")]


@pytest.mark.parametrize("conversion", CONVERSIONS, ids=lambda c: c.op)
def test_formats_round_once_and_the_reals_do_not(conversion):
    made = plan(conversion)
    for p in (made, expand_math(made)):
        got = replay(p, {"x": X}).buffers["y"]
        want = round_to(X, conversion.format, conversion.rounding, conversion.overflow)
        assert np.array_equal(got, want.astype(np.float32), equal_nan=True)
        assert np.array_equal(np.signbit(got[:5]), np.signbit(X[:5]))
    for domain in ("real", "measured"):
        plain = replay(made, {"x": X}, domain=domain).buffers["y"]
        assert np.array_equal(plain, X.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("conversion", CONVERSIONS, ids=lambda c: c.op)
def test_the_bound_is_how_far_rounding_went(conversion):
    made = plan(conversion)
    for p in (made, expand_math(made)):
        planes = replay(p, {"x": X}, domain="shadow").planes["y"]
        value, shadow, bound = (planes[n].astype(np.float64) for n in ("value", "shadow", "bound"))
        assert np.array_equal(shadow, X.astype(np.float64), equal_nan=True)
        known = np.isfinite(value) & np.isfinite(shadow)
        error = np.abs(value[known] - shadow[known])
        assert (error <= bound[known]).all()
        assert (bound[known] <= error * 1.001).all()
        assert not np.isfinite(bound[~known & (value != shadow) & ~np.isnan(shadow)]).any()


def test_a_format_without_nan_holds_its_largest_number():
    assert narrowed(Conversion(E2M1), np.float32(np.nan)) == 6
    assert narrowed(Conversion(E2M1), np.float32(-np.inf)) == -6


def test_codes_of_any_bits_decode_and_those_of_numbers_return():
    assert encoded(E4M3FN, np.float32([448, -448, np.nan, -0.0])).tolist() == [126, 254, 127, 128]
    assert decoded(E2M1, np.uint8([0xF7, 0x08])).tolist() == [6.0, -0.0]
    assert np.isinf(numbers(E5M2)[0x7C])
    assert exact_function("exp") is None
