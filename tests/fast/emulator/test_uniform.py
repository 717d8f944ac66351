"""Values that are the same in all threads take other paths; they must give the same results."""

import numpy as np
import pytest
from emulator_kernels import GID, f, guarded, i, kernel, load, op, plan_of, store

from tang.emulator.replay import replay
from tang.kernel.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I32,
    I64,
    MATH,
    Assign,
    Convert,
    Declare,
    For,
    If,
    Load,
    Op,
    Var,
)

DOMAINS = ("formats", "real", "measured", "shadow", "balls")
ODD = op("eq", op("mod", GID, i(2)), i(1))


def _operations():
    yield from ((name, 2) for name in ("add", "sub", "mul", "div", "atan2"))
    yield from ((name, 1) for name in ("neg", "sqrt", "floor", *MATH) if name != "atan2")
    yield "fma", 3


def _both(expression, type_, domain):
    """Odd lanes of y: from operands equal in all lanes, and from the same operands per lane."""
    results = []
    for index in (i(0), op("mul", GID, i(0))):
        x = Load(type_, "x", index)
        body = guarded(store(f(0.0, type_)), If(ODD, (store(expression(x)),)))
        k = kernel(*body, inputs={"x": type_}, out=type_)
        got = replay(plan_of(k, {"x": "n"}), {"x": np.full(70, 0.75)}, domain=domain)
        assert not got.findings
        results.append(got.buffers["out"])
    return results


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("type_", [F16, BF16, F32, F64], ids=str)
def test_operations_on_uniform_values_equal_those_on_lanes(type_, domain):
    for name, arity in _operations():
        uniform, lanes = _both(lambda x, n=name, a=arity: Op(type_, n, (x,) * a), type_, domain)
        if domain == "balls":
            assert all(a.overlaps(b) for a, b in zip(uniform, lanes, strict=True)), name
        else:
            assert (uniform == lanes).all(), name


@pytest.mark.parametrize("domain", DOMAINS)
def test_uniform_conditions_conversions_and_bounds_work(domain):
    t, k = Var(F32, "t"), Var(I64, "k")
    x = load("x", i(0))
    count = Convert(I64, op("floor", op("mul", x, f(4.0))))
    body = guarded(
        Declare(t, f(0.0)),
        If(op("lt", x, f(1.0)), (Assign(t, f(1.0)),), (Assign(t, f(9.0)),)),
        For(k, i(0), count, (Assign(t, op("add", t, Convert(F32, op("lt", k, i(2))))),)),
        If(ODD, (Assign(t, op("select", op("isnan", x), f(7.0), op("add", t, f(1.0)))),)),
        store(t),
    )
    got = replay(plan_of(kernel(*body), {"x": "n"}), {"x": np.full(66, 0.75)}, domain=domain)
    assert not got.findings
    assert [float(v) for v in got.outputs["y"]] == [3.0, 4.0] * 33


@pytest.mark.parametrize("domain", DOMAINS)
def test_bools_and_integers_survive_memory(domain):
    nested = op("and", op("lt", load("x", i(0)), f(1.0)), ODD)
    k = kernel(*guarded(store(nested)), out=BOOL)
    got = replay(plan_of(k, {"x": "n"}), {"x": np.full(6, 0.75)}, domain=domain)
    assert [bool(v) for v in got.outputs["y"]] == [False, True] * 3
    k = kernel(*guarded(store(op("add", Load(I32, "x", i(2)), Load(I32, "x", GID)))),
               inputs={"x": I32}, out=I32)  # fmt: skip
    got = replay(plan_of(k, {"x": "n"}), {"x": np.arange(5)}, domain=domain)
    assert list(got.outputs["y"]) == [2, 3, 4, 5, 6]
