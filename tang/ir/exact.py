"""Scalar expressions of monoids in high precision.

Defines `Evaluator`, which computes lift, combine and project over arrays of mpmath numbers, one
array axis per static axis. Relies on expressions and monoids; it shares nothing with the
interpreter, so that one can test the other. It does not know graphs, reads or extents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

import mpmath
import numpy as np
from numpy.typing import NDArray

from tang.errors import GraphError
from tang.ir.expr import Expr, walk
from tang.ir.monoid import Component, Monoid

PRECISION: Final = 512
EXPONENT: Final = 1 << 40
"""exp2 beyond this exponent is 0 or ∞, so that no number needs unbounded memory."""
INDEX_LIMIT: Final = 1 << 256
"""Index arithmetic saturates here, far beyond what any device holds; `saturated` is then set."""

Values = NDArray[np.object_]
Number = Any  # mpf (mpmath has no types), int or bool


class Evaluator:
    """Evaluates the parts of one monoid; `peak` is the largest finite term added so far."""

    def __init__(self, monoid: Monoid) -> None:
        self.monoid = monoid
        self.mp = mpmath.MPContext()
        self.mp.prec = PRECISION
        self.peak = self.mp.mpf(0)
        self.saturated = False
        self.axes = [a.name for a in monoid.axes]
        self.orders: dict[tuple[Expr, ...], list[Expr]] = {}

    def lift(self, args: Sequence[Values]) -> list[Values]:
        """The state of one element; args have one array axis per static axis (or size 1)."""
        m = self.monoid
        return self._settled(self._run(m.lift, args, ()), m.components)

    def identity(self) -> list[Values]:
        m = self.monoid
        return self._settled(self._run(m.identity or (), (), ()), m.components)

    def combine(self, left: list[Values], right: list[Values]) -> list[Values]:
        m = self.monoid
        return self._settled(self._run(m.combine, (), (left, right)), m.components)

    def project(self, state: list[Values]) -> list[Values]:
        m = self.monoid
        return self._settled(self._run(m.project, (), (state,)), m.outputs)

    def real(self, value: float) -> Number:
        return self.mp.mpf(value)

    def _run(
        self, roots: tuple[Expr, ...], args: Sequence[Values], sides: Sequence[list[Values]]
    ) -> list[Values]:
        if roots not in self.orders:
            self.orders[roots] = list(walk(*roots))
        done: dict[int, Values] = {}
        for e in self.orders[roots]:
            done[id(e)] = self._step(e, [done[id(a)] for a in e.args], args, sides)
        return [done[id(r)] for r in roots]

    def _step(
        self, e: Expr, below: list[Values], args: Sequence[Values], sides: Sequence[list[Values]]
    ) -> Values:
        match e.op, e.payload:
            case "arg", int(i):
                return args[i]
            case "state", (int(side), int(c)):
                return self._component(sides[side][c], below, c)
            case "iota", str(axis):
                return self._iota(axis)
            case "fold", (str(axis), int(size)):
                return self._fold(below[0], self.axes.index(axis), size)
            case (("real" | "index" | "bool"), payload):
                return self.scalar(self._constant(payload))
        return _array(np.frompyfunc(self._functions[e.op], len(below), 1)(*below))

    def scalar(self, value: Number) -> Values:
        """A value that depends on no axis."""
        out = np.empty((1,) * len(self.axes), dtype=np.object_)
        out.fill(value)
        return out

    def _constant(self, payload: object) -> Number:
        if isinstance(payload, bool | int):
            return payload
        if isinstance(payload, str):
            named = {"ln2": self.mp.ln2, "log2e": 1 / self.mp.ln2, "pi": self.mp.pi, "-0.0": 0}
            return self.mp.mpf(named.get(payload, payload))
        numerator, denominator = payload.numerator, payload.denominator  # type: ignore[attr-defined]
        return self.mp.mpf(numerator) / denominator

    def _iota(self, axis: str) -> Values:
        at, size = self.axes.index(axis), self.monoid.axis_size(axis)
        shape = [1] * len(self.axes)
        shape[at] = size
        out = np.empty(size, dtype=np.object_)
        out[:] = range(size)
        return out.reshape(shape)

    def _component(self, values: Values, coords: list[Values], c: int) -> Values:
        if not coords:
            return self.scalar(values[()])
        places = [np.asarray(x, dtype=np.int64) for x in coords]
        for place, size in zip(places, values.shape, strict=True):
            if place.min() < 0 or place.max() >= size:
                name = self.monoid.components[c].name
                raise GraphError(
                    f"monoid {self.monoid.name!r}: combine or project reads {name} at "
                    f"{int(place.min())}…{int(place.max())}, outside its axis of size {size}"
                )
        return _array(values[tuple(np.broadcast_arrays(*places))])

    def _fold(self, body: Values, at: int, size: int) -> Values:
        add = np.frompyfunc(self._functions["add"], 2, 1)
        total = np.take(body, [0], axis=at)
        for k in range(1, size):
            total = add(total, np.take(body, [min(k, body.shape[at] - 1)], axis=at))
        return _array(total)

    def _settled(self, found: list[Values], targets: Sequence[Component]) -> list[Values]:
        return [self._own_axes(v, c) for v, c in zip(found, targets, strict=True)]

    def _own_axes(self, values: Values, c: Component) -> Values:
        """The array over the component's own axes, in its order."""
        full = [self.monoid.axis_size(a) if a in c.axes else 1 for a in self.axes]
        spread = np.broadcast_to(values, full)
        order = [self.axes.index(a) for a in c.axes]
        rest = [n for n in range(len(self.axes)) if n not in order]
        out = spread.transpose([*order, *rest])
        return _array(out.reshape(out.shape[: len(order)]))

    @cached_property
    def _functions(self) -> dict[str, Callable[..., Number]]:
        return {
            "add": self._add,
            "mul": lambda a, b: self._clamped(a * b),
            "neg": lambda a: -a,
            "recip": lambda a: self.mp.inf if a == 0 else 1 / a,
            "sqrt": lambda a: self.mp.nan if a < 0 else self.mp.sqrt(a),
            "sin": self._sin,
            "atan2": self._atan2,
            "exp2": self._exp2,
            "log2": self._log2,
            "erf": lambda a: a if self.mp.isnan(a) else self.mp.erf(a),
            "floor": lambda a: self.mp.floor(a) if self.mp.isfinite(a) else a,
            "lt": lambda a, b: bool(a < b),
            "eq": lambda a, b: bool(a == b),
            "isnan": lambda a: bool(self.mp.isnan(a)),
            "and": lambda a, b: a and b,
            "or": lambda a, b: a or b,
            "not": lambda a: not a,
            "select": lambda c, a, b: a if c else b,
            "to_real": self.mp.mpf,
            "to_index": self._to_index,
            "floordiv": lambda a, b: a // b,
            "mod": lambda a, b: a % b,
        }

    def _add(self, a: Number, b: Number) -> Number:
        if isinstance(a, int):
            return self._clamped(a + b)
        for term in (abs(a), abs(b)):
            if self.peak < term < self.mp.inf:
                self.peak = term
        return a + b

    def _sin(self, a: Number) -> Number:
        huge = not self.mp.isfinite(a) or abs(a) > self.mp.ldexp(1, 4 * PRECISION)
        return self.mp.nan if huge else self.mp.sin(a)

    def _atan2(self, a: Number, b: Number) -> Number:
        nan = self.mp.isnan(a) or self.mp.isnan(b)
        return self.mp.nan if nan else self.mp.atan2(a, b)

    def _exp2(self, a: Number) -> Number:
        if self.mp.isnan(a):
            return a
        if abs(a) > EXPONENT:
            return self.mp.inf if a > 0 else self.mp.mpf(0)
        return self.mp.power(2, a)

    def _log2(self, a: Number) -> Number:
        if self.mp.isnan(a) or a < 0:
            return self.mp.nan
        if a == 0 or a == self.mp.inf:
            return self.mp.inf if a else -self.mp.inf
        return self.mp.log(a) / self.mp.ln2

    def _to_index(self, a: Number) -> int:
        if self.mp.isnan(a):
            return -1
        low, high = -(2**31), 2**31 - 1
        return int(self.mp.floor(min(max(a, low), high)))

    def _clamped(self, value: Number) -> Number:
        if isinstance(value, int) and abs(value) > INDEX_LIMIT:
            self.saturated = True
            return INDEX_LIMIT if value > 0 else -INDEX_LIMIT
        return value


def _array(result: object) -> Values:
    """The result of a ufunc as an array: on arrays without axes it is a bare object."""
    if isinstance(result, np.ndarray):
        return result
    out = np.empty((), dtype=np.object_)
    out[()] = result
    return out
