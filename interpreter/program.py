"""Scalar expressions, evaluated for all lanes at once.

Defines `Space` (where dims vary in arrays), `Leaves` and `run`, which evaluates expressions in an
arithmetic table. Relies on the expression grammar; it knows no views, no reads and no graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tang.errors import LimitError
from tang.interpreter.arithmetic import UNKNOWN, Arithmetic, Array, Indices, Mask, Value
from tang.ir.derived import absent, zero
from tang.ir.expr import BOOL, INDEX, Expr, is_constant, walk
from tang.ir.monoid import Component


@dataclass(frozen=True, slots=True)
class Space:
    """The slot of each dim and static axis, its extent and its coordinate along that slot."""

    slots: tuple[str, ...]
    extents: Mapping[str, int]
    iotas: Mapping[str, Indices]

    def slot(self, name: str) -> int:
        """The position counted from the right, negative: arrays may have a leading step axis."""
        return self.slots.index(name) - len(self.slots)


@dataclass(frozen=True, slots=True)
class Leaves:
    """What `arg` and `state` stand for: values by position; per side, values by component."""

    args: Sequence[Value] = ()
    states: Sequence[Sequence[Value]] = ()
    components: Sequence[Component] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """One expression: its function and operand positions, or its value, or where it is found.

    `found` is (side, component) of a whole state component, (−1, position) of an argument.
    """

    expr: Expr
    function: Callable[..., Value] | None
    operands: tuple[int, ...]
    value: Value
    found: tuple[int, int] | None


@lru_cache(maxsize=8192)
def _program(
    roots: tuple[Expr, ...], arithmetic: Arithmetic
) -> tuple[tuple[_Step, ...], tuple[int, ...]]:
    position: dict[Expr, int] = {}
    steps: list[_Step] = []
    for e in walk(*roots):
        operation = e.args and e.payload is None
        function = arithmetic.ops[e.op, e.args[-1].sort] if operation else None
        value = arithmetic.constant(e) if is_constant(e) else None
        found = _found(e)
        steps.append(_Step(e, function, tuple(position[a] for a in e.args), value, found))
        position[e] = len(position)
    return tuple(steps), tuple(position[r] for r in roots)


def _found(e: Expr) -> tuple[int, int] | None:
    if e.op == "arg" and isinstance(e.payload, int):
        return -1, e.payload
    return _pair(e) if e.op == "state" and not e.args else None


def run(
    roots: tuple[Expr, ...],
    arithmetic: Arithmetic,
    space: Space,
    leaves: Leaves,
    live: Mask | None = None,
) -> list[Value]:
    """The value of every root at every lane.

    Index arithmetic is exact; LimitError when it leaves 64 bits in a lane that is live (None: all
    are) and on a branch that is taken.
    """
    steps, results = _program(roots, arithmetic)
    sources = (*leaves.states, leaves.args)
    values: list[Value] = []
    try:
        for step in steps:
            if step.function is not None:
                value = step.function(*[values[i] for i in step.operands])
            elif step.found is not None:
                value = sources[step.found[0]][step.found[1]]
            elif step.value is not None:
                value = step.value
            else:
                evaluator = _Evaluator(arithmetic, space, leaves)
                value = evaluator.leaf(step.expr, [values[i] for i in step.operands])
            values.append(value)
    except OverflowError:
        evaluator, everywhere = _Evaluator(arithmetic, space, leaves), np.asarray(True)
        return [evaluator.lazily(r, everywhere if live is None else live) for r in roots]
    return [values[i] for i in results]


@dataclass(frozen=True, slots=True)
class _Evaluator:
    """The leaves, static axes and lazy branches of one evaluation."""

    arithmetic: Arithmetic
    space: Space
    leaves: Leaves

    def leaf(self, e: Expr, operands: list[Value]) -> Value:
        """The value of anything that is neither a literal nor an operation."""
        found = _found(e)
        if found is not None:
            return (*self.leaves.states, self.leaves.args)[found[0]][found[1]]
        if e.op == "state":
            side, component = _pair(e)
            return self._entries(e, self.leaves.states[side][component], operands)
        if e.op == "iota":
            return self.space.iotas[str(e.payload)]
        if e.op == "extent":
            return np.asarray(self.space.extents[str(e.payload)], np.int64)
        return self._fold(e, operands[0])

    def _fold(self, e: Expr, body: Value) -> Value:
        """0 + body at 0 + body at 1 … along the axis, whose slot is left with extent 1."""
        name, size = e.payload if isinstance(e.payload, tuple) else ("", 0)
        axis = self.space.slot(str(name))
        add = self.arithmetic.ops["add", e.sort]
        total = self.arithmetic.constant(zero(e.sort))
        for k in range(size):
            total = add(total, self._at(body, axis, k))
        return total

    def _at(self, value: Value, axis: int, k: int) -> Value:
        def slice_of(a: Array) -> Array:
            if np.ndim(a) < -axis or a.shape[axis] == 1:
                return a
            return a[(..., slice(k, k + 1)) + (slice(None),) * (-axis - 1)]

        return self.arithmetic.structure(slice_of, value)

    def _entries(self, e: Expr, value: Value, coords: list[Indices]) -> Value:
        """A component at coordinates along its axes; absent where they are outside."""
        axes = self.leaves.components[_pair(e)[1]].axes
        if all(c.op == "iota" and c.payload == a for c, a in zip(e.args, axes, strict=True)):
            return value
        fits, unknown = np.asarray(True), np.asarray(False)
        for a, c in zip(axes, coords, strict=True):
            fits = fits & (c >= 0) & (c < self.space.extents[a])
            unknown = unknown | (c == UNKNOWN)
        safe = {a: np.where(fits, c, 0) for a, c in zip(axes, coords, strict=True)}
        found = self.arithmetic.structure(lambda array: self._indexed(array, safe), value)
        found = self.arithmetic.where(fits, found, self.arithmetic.constant(absent(e.sort)))
        if self.arithmetic.undecided and np.any(unknown):
            found = self.arithmetic.where(unknown, self.arithmetic.undecided(e.sort), found)
        return found

    def _indexed(self, array: Array, coords: Mapping[str, Indices]) -> Array:
        """The array with its axis slots replaced by coordinates, other slots as they are."""
        rank = max(len(self.space.slots), np.ndim(array))
        names = ("",) * (rank - len(self.space.slots)) + self.space.slots
        full = np.reshape(array, (1,) * (rank - np.ndim(array)) + np.shape(array))
        index: list[Any] = []
        for k, name in enumerate(names):
            along = np.arange(full.shape[k]).reshape([-1 if k == j else 1 for j in range(rank)])
            index.append(coords[name] if name in coords and full.shape[k] > 1 else along)
        return np.asarray(full[tuple(index)])

    def lazily(self, e: Expr, live: Mask) -> Value:
        """The value where live, visiting only the branch of a select that is taken; slow."""
        if e.op == "select":
            return self._branch(e, live)
        function = self.arithmetic.ops.get((e.op, e.args[-1].sort)) if e.args else None
        if is_constant(e):
            return self.arithmetic.constant(e)
        operands = [self.lazily(a, live) for a in e.args]
        if function is None:
            return self.leaf(e, operands)
        pairs = zip(e.args, operands, strict=True)
        operands = [np.where(live, v, 1) if a.sort is INDEX else v for a, v in pairs]
        try:
            return function(*operands)
        except OverflowError:
            message = f"the index operation {e.op} leaves 64 bits: cast to real first"
            raise LimitError(message) from None

    def _branch(self, e: Expr, live: Mask) -> Value:
        condition, first, second = e.args
        chosen = self.lazily(condition, live)
        yes, no = self._possible(chosen)
        values = (chosen, self.lazily(first, live & yes), self.lazily(second, live & no))
        return self.arithmetic.ops["select", e.sort](*values)

    def _possible(self, truth: Value) -> tuple[Mask, Mask]:
        """Where a truth value may hold, and where it may not."""
        if truth.dtype == np.bool_:
            return np.asarray(truth), np.asarray(~truth)
        negated = self.arithmetic.ops["not", BOOL](truth)
        return np.asarray(truth > 0), np.asarray(negated > 0)


def _pair(e: Expr) -> tuple[int, int]:
    side, component = e.payload if isinstance(e.payload, tuple) else (0, 0)
    return int(side), component
