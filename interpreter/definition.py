"""The definition of the IR: what every program means.

`evaluate` runs a program in any arithmetic table; `interpret` is it in f64. Relies on the IR's
data types, NumPy and the table alone, so that it shares nothing with what it judges. It is
written to be seen right, not to be fast (see `fast`), and stays under about 250 lines.

Each dim of a node has a *slot*, an axis of every array: point dims first, then the static axes of
the monoid; values have extent 1 in the slots on which they do not depend, and NumPy's
broadcasting joins them. The elements of a block of reduce points are lifted at once, along one
more leading axis; folding them is a serial loop in lexicographic order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from tang.errors import LimitError
from tang.interpreter.arithmetic import UNKNOWN, Arithmetic, Array, Indices, Mask, Value, sort_of
from tang.interpreter.f64 import F64
from tang.interpreter.faults import out_of_range
from tang.interpreter.inputs import prepare
from tang.interpreter.measured import MEASURED, Measured, without_error
from tang.interpreter.program import Leaves, Space, run
from tang.ir.derived import absent
from tang.ir.expr import INDEX, Expr
from tang.ir.graph import Comprehension, Graph, Tensor
from tang.ir.monoid import Monoid
from tang.ir.validate import validate
from tang.ir.view import GATHERED, Affine, Interval, Read, Ref, is_gathered

BLOCK_LANES: Final = 2**16
"""Points × reduce points evaluated at once; the value has no influence on results."""

ALL: Final[Mask] = np.asarray(True)


def interpret(graph: Graph, inputs: Mapping[str, Any], *, err: bool = False) -> dict[str, Any]:
    """The outputs of a program in f64, by name; with `err`, `Measured` pairs.

    Inputs are arrays by name; symbolic extents are inferred from their shapes. Raises GraphError
    for an illegal program, unfit inputs and an unguarded read out of range, LimitError for indices
    beyond 64 bits.
    """
    validate(graph)
    values = evaluate(graph, inputs, MEASURED if err else F64)
    if not err:
        return values
    return {n: v if isinstance(v, Measured) else without_error(v) for n, v in values.items()}


def evaluate(graph: Graph, inputs: Mapping[str, Any], arithmetic: Arithmetic) -> dict[str, Value]:
    """The outputs of a program in an arithmetic, by name."""
    bound, arrays = prepare(graph, inputs)
    tensors = {Ref(i.name): arithmetic.leaf(arrays[i.name], i.sort) for i in bound.inputs}
    with np.errstate(all="ignore"):
        for node in bound.nodes:
            for name, value in evaluate_node(node, tensors, arithmetic).items():
                tensors[Ref(node.name, name)] = value
    return {o.name: arithmetic.structure(np.copy, tensors[o.ref]) for o in bound.outputs}


def evaluate_node(
    node: Comprehension, tensors: Mapping[Ref, Value], arithmetic: Arithmetic
) -> dict[str, Value]:
    """Every output and state component of one node, whose extents are numbers."""
    try:
        lanes = Lanes(node, tensors, arithmetic)
        values = lanes.body() if node.monoid is None else lanes.fold(node.monoid)
    except (LimitError, MemoryError, OverflowError) as fault:
        reason = str(fault) or "an index form of a view leaves 64 bits"
        raise LimitError(f"node {node.name!r}: {reason}") from None
    names = node.output_names()
    return {n: lanes.shaped(v, node.tensor(n)) for n, v in zip(names, values, strict=True)}


class Lanes:
    """All points of a node at once, with the reduce points of the present block."""

    def __init__(
        self, node: Comprehension, tensors: Mapping[Ref, Value], arithmetic: Arithmetic
    ) -> None:
        self.node, self.tensors, self.arithmetic = node, tensors, arithmetic
        axes = node.monoid.axes if node.monoid else ()
        slots = (*(d.name for d in node.point), *(a.name for a in axes))
        sizes = {d.name: d.extent.constant for d in node.dims}
        sizes |= {a.name: a.size for a in axes}
        self.iotas = {name: _along(slots, sizes, name) for name in slots}
        self.space = Space(slots, sizes, self.iotas)

    def blocks(self) -> Iterator[int]:
        """Set the reduce coordinates block by block, in order; yields the number of steps."""
        sizes = tuple(d.extent.constant for d in self.node.reduce)
        points = prod(self.space.extents[s] for s in self.space.slots)
        size = max(1, BLOCK_LANES // max(1, points))
        column = (-1,) + (1,) * len(self.space.slots)
        for start in range(0, prod(sizes), size):
            steps = np.arange(start, min(start + size, prod(sizes)))
            coordinates = np.unravel_index(steps, sizes) if sizes else ()
            for d, c in zip(self.node.reduce, coordinates, strict=True):
                self.iotas[d.name] = c.reshape(column)
            yield len(steps)

    def run(self, exprs: tuple[Expr, ...], leaves: Leaves, live: Mask | None = None) -> list[Value]:
        """The expressions at every lane."""
        return run(exprs, self.arithmetic, self.space, leaves, live)

    def included(self) -> Mask:
        """Where the node's own conditions hold; ALL itself when they do everywhere."""
        mask = ALL
        for form in self.node.where:
            mask = mask & (self._form(form, {}) >= 0)
        return ALL if mask.all() else mask

    def body(self, live: Mask = ALL) -> list[Value]:
        """The body at every lane; reads are done, and may fail, only where live."""
        reads = [self.read(r, live, {}, f"read {i}") for i, r in enumerate(self.node.reads)]
        return self.run(self.node.body, Leaves(args=reads), live)

    def _form(self, form: Affine, gathered: Mapping[str, Indices]) -> Indices:
        add, multiply = self.arithmetic.ops["add", INDEX], self.arithmetic.ops["mul", INDEX]
        if _is_small(form, self.space.extents):
            add, multiply = np.add, np.multiply
        total = np.asarray(form.const.constant, np.int64)
        for name, factor in form.terms:
            values = gathered[name] if name in gathered else self.iotas[name]
            total = add(total, multiply(np.int64(factor.constant), values))
        return total

    def _holds(
        self, guard: Iterable[Interval], gathered: Mapping[str, Indices]
    ) -> tuple[Mask, Mask]:
        """Where all conditions hold, and where one hangs on an undecidable index."""
        inside, unknown = ALL, ~ALL
        for condition in guard:
            form = self._form(condition.form, gathered)
            inside = inside & (form >= condition.lo.constant) & (form < condition.hi.constant)
            unknown = unknown | (form == UNKNOWN)
        return inside & ~unknown, unknown

    def read(self, read: Read, live: Mask, outer: Mapping[str, Indices], label: str) -> Value:
        """Conditions over dims, then gathers, then conditions over gathered values, the source."""
        view = read.view
        early = [g for g in view.guard if not is_gathered(g.form)]
        inside, _ = self._holds(early, {})
        gathered = dict(outer)
        for k, gather in enumerate(view.gathers):
            lanes = live & inside
            index = self.read(gather, lanes, gathered, f"{label}, gather {k}")
            gathered[f"{GATHERED}{k}"] = np.where(lanes, index, 0)
        late = [g for g in view.guard if is_gathered(g.form)]
        also, unknown = self._holds(late, gathered)
        inside = inside & also
        value, hidden = self._source(read, live & inside, gathered, label)
        if view.fill is not None:
            value = self.arithmetic.where(inside, value, self.arithmetic.constant(view.fill))
        return self._hide(value, unknown | hidden)

    def _source(
        self, read: Read, live: Mask, gathered: Mapping[str, Indices], label: str
    ) -> tuple[Value, Mask]:
        """The source at the coordinates (anything where not live), and where they are unknown."""
        source = self.tensors[read.source]
        coords = [self._form(c, gathered) for c in read.view.coords]
        fits, unknown = ALL, ~ALL
        for c, size in zip(coords, source.shape, strict=True):
            fits = fits & (c >= 0) & (c < size)
            unknown = unknown | (c == UNKNOWN)
        outside = live & ~fits & ~unknown
        if np.any(outside) and all(c.size for c in self.iotas.values()):
            shape = source.shape
            raise out_of_range(self.node.name, label, read, shape, self.iotas, outside, coords)
        if 0 in source.shape:
            return self.arithmetic.constant(absent(sort_of(source))), unknown
        safe = tuple(coords)
        if not np.size(fits) or not np.all(fits):
            pairs = zip(coords, source.shape, strict=True)
            safe = tuple(np.where((c >= 0) & (c < size), c, 0) for c, size in pairs)
        return self.arithmetic.structure(lambda a: a[safe], source), unknown

    def _hide(self, value: Value, unknown: Mask) -> Value:
        if self.arithmetic.undecided is None or not np.any(unknown):
            return value
        return self.arithmetic.where(unknown, self.arithmetic.undecided(sort_of(value)), value)

    def fold(self, monoid: Monoid) -> list[Value]:
        """Outputs, then state components: lift, combine in order, project."""
        start = monoid.identity or tuple(absent(c.sort) for c in monoid.components)
        total = self.run(start, Leaves())
        seen = ALL if monoid.identity else ~ALL
        for steps in self.blocks():
            included = self.included()
            elements = self.run(monoid.lift, Leaves(args=self.body(included)), included)
            for k in range(steps):
                element = [self._step(e, k) for e in elements]
                mask = self._step(included, k)
                total, seen = self._combine(monoid, total, element, seen, mask)
        return self.finished(monoid, total, seen)

    def finished(self, monoid: Monoid, total: list[Value], seen: Mask) -> list[Value]:
        """Outputs, then state components, of a total in which something was seen or not."""
        outputs = self.run(monoid.project, Leaves(states=(total,), components=monoid.components))
        if not np.all(seen):
            where, constant = self.arithmetic.where, self.arithmetic.constant
            outputs = [where(seen, v, constant(absent(c.sort)))
                       for c, v in zip(monoid.outputs, outputs, strict=True)]  # fmt: skip
        return [*outputs, *total]

    def _combine(
        self, monoid: Monoid, total: list[Value], element: list[Value], seen: Mask, included: Mask
    ) -> tuple[list[Value], Mask]:
        """One element into the total where included; it becomes the total where none was seen."""
        states = Leaves(states=(total, element), components=monoid.components)
        if seen is ALL and included is ALL:
            return self.run(monoid.combine, states), ALL
        where, both = self.arithmetic.where, seen & included
        joined = self.run(monoid.combine, states, both) if both.any() else element
        joined = [where(seen, j, e) for j, e in zip(joined, element, strict=True)]
        joined = [where(included, j, t) for j, t in zip(joined, total, strict=True)]
        seen = seen | included
        return joined, ALL if seen.all() else seen

    def _step(self, value: Value, k: int) -> Value:
        if value.ndim <= len(self.space.slots):
            return value
        if isinstance(value, np.ndarray):
            return value[k, ...]
        return self.arithmetic.structure(lambda a: a[k, ...], value)

    def shaped(self, value: Value, tensor: Tensor) -> Value:
        """A fresh array with the dims and axes of the tensor, in its order."""
        slots, extents = self.space.slots, self.space.extents
        names = [d.name for d in tensor.dims] + [a for a, _ in tensor.axes]
        shape = [extents[s] if s in names else 1 for s in slots]
        kept = [s for s in slots if s in names]
        order = [kept.index(n) for n in names]

        def settle(a: Array) -> Array:
            full = np.broadcast_to(a, shape).reshape([extents[s] for s in kept])
            return np.array(full.transpose(order), order="C")

        return self.arithmetic.structure(settle, value)


def _along(slots: Sequence[str], sizes: Mapping[str, int], name: str) -> Indices:
    return np.arange(sizes[name]).reshape([sizes[s] if s == name else 1 for s in slots])


def _is_small(form: Affine, extents: Mapping[str, int]) -> bool:
    """Whether the form is over dims alone and far from overflow."""
    if is_gathered(form):
        return False
    reach = sum(abs(c.constant) * extents[v] for v, c in form.terms)
    return reach + abs(form.const.constant) < 2**62
