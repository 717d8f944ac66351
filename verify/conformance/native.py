"""Builtins in every surrounding: the same bits as alone, or replay could not follow them.

Defines `native_cases` and `run_native`. Relies on the device's answers to single calls. It does not
say how good a builtin is: `tang/device/functions.py` measures that, the rung `expand` judges it.

A compiler that knows a builtin may evaluate it of a constant, join two calls, build it into the
expression around it, or take another variant in a loop; each surrounding here invites one of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from tang.device.base import Device
from tang.device.storage import AnyArray, dtype_of
from tang.emit.unit import builtins_of
from tang.kernel import ir as k
from tang.kernel.accuracy import FUNCTIONS
from tang.verify.conformance.case import Case, below, blank, kernel, kernel_case, load, op, real
from tang.verify.conformance.run import run_conformance
from tang.verify.follow import native_terms
from tang.verify.report import Report

_COUNT: Final = 512
_TURNS: Final = 5
_CONSTANTS: Final = (Fraction(1, 3), Fraction(7, 5), Fraction(11, 8), Fraction(1, 10))


def run_native(device: Device) -> Report:
    """Run the cases of a device's language on it; a builtin that differs is a finding."""
    return run_conformance(device, native_cases(device.language), native_terms(device))


def native_cases(language: str) -> tuple[Case, ...]:
    """A case per builtin of a language and format, each with its surroundings as parts."""
    has = builtins_of(language)
    return tuple(
        _case(name, t)
        for t in (k.F32, k.F64, k.F16, k.BF16)
        for name in FUNCTIONS
        if (name, t) in has
    )


def _case(name: str, t: k.Type) -> Case:
    rows = dict(_surroundings(name, t))
    stores: list[k.Stmt] = []
    total, turn = k.Var(t, "total"), k.Var(k.I32, "turn")
    for n, (_, value) in enumerate(rows.items()):
        stores.append(k.Store("out", _place(n), value))
    call = _call(name, t, op("mul", load("a", t), k.Convert(t, turn)), load("b", t))
    bound = op("min", k.Var(k.I32, "n"), k.Const(k.I32, _TURNS))
    stores += [
        k.Declare(total, real(0, t)),
        k.For(turn, k.Const(k.I32, 0), bound, (k.Assign(total, op("add", total, call)),)),
        k.Store("out", _place(len(rows)), total),
    ]
    parts = (*rows, "in a loop")
    made = kernel(f"native_{name}_{t.value}", {"a": t, "b": t, "out": t}, [below(*stores)])
    data = {**_operands(t), "out": blank(t, _COUNT * len(parts))}
    return kernel_case(f"native {t.value} {name}", made, data, _COUNT, parts=parts)


def _place(row: int) -> k.Expr:
    index = k.Var(k.I32, "global_id")
    return op("add", index, k.Const(k.I32, _COUNT * row)) if row else index


def _call(name: str, t: k.Type, *args: k.Expr) -> k.Op:
    return k.Op(t, name, args[: k.MATH[name]])


def _surroundings(name: str, t: k.Type) -> Iterator[tuple[str, k.Expr]]:
    a, b = load("a", t), load("b", t)
    alone = _call(name, t, a, b)
    swapped = _call(name, t, b, a)
    yield "alone", alone
    yield "of a sum", _call(name, t, op("add", a, b), b)
    yield "of a product", _call(name, t, op("mul", a, b), op("mul", b, b))
    yield "of a negation", _call(name, t, op("neg", a), b)
    yield "of a select", _call(name, t, op("select", op("lt", a, b), a, b), a)
    yield "of a difference from itself", _call(name, t, op("sub", a, a), b)
    for n, c in enumerate(_CONSTANTS):
        yield f"of the constant {c}", _call(name, t, real(c, t), real(_CONSTANTS[n - 1], t))
    yield "times another", op("mul", alone, swapped)
    yield "plus a product", op("add", alone, op("mul", a, b))
    yield "divided", op("div", real(1, t), alone)
    yield "of itself", _call(name, t, alone, alone)
    yield "squared and a root", op("sqrt", op("mul", alone, alone))
    partner = {"sin": "cos", "cos": "sin", "exp": "log", "log": "exp", "exp2": "log2"}
    other = partner.get(name, "exp2")
    yield f"beside {other}", op("add", alone, _call(other, t, a))
    yield f"of {other}", _call(name, t, _call(other, t, a), b)
    yield f"{other} of it", _call(other, t, alone)


def _operands(t: k.Type) -> dict[str, AnyArray]:
    """Mostly middle sizes, which every language promises something of; zeros and large ones too."""
    rng = np.random.default_rng(31)
    made = {}
    for name in "ab":
        values = rng.uniform(-4, 4, _COUNT) * np.exp2(rng.integers(-6, 5, _COUNT))
        values[:8] = [0.0, 1.0, -1.0, 0.5, 100.0, -100.0, 2.0**-20, 3.0]
        made[name] = _stored(values, t)
    return made


def _stored(values: AnyArray, t: k.Type) -> AnyArray:
    if t is k.BF16:
        return (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return values.astype(dtype_of(t))


__all__ = ["native_cases", "run_native"]
