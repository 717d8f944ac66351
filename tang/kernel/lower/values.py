"""Ranges of index values: expressions, states and results of nodes.

Defines the range of an index expression from those of its leaves, and the ranges of the state
components and outputs of a node. Relies on `ranges`. A fold over `select(c, state, 0)` counts as
a pick of one element (as in top-k), any other as size times its body; what data may carry beyond
64 bits is not refused here: on such data the interpreter itself stops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import prod

from tang.ir.derived import zero
from tang.ir.expr import INDEX, Expr, substitute, walk
from tang.ir.expr import arg as argument
from tang.ir.graph import Comprehension
from tang.ir.monoid import Monoid
from tang.ir.view import Read, Ref
from tang.kernel.lower.ranges import ABSENT, EFFECT, INT32, INT64, ZERO, Range, Sizes, below, point

Leaf = Callable[[Expr], Range]
_TRIES = 4


def range_of(root: Expr, leaf: Leaf) -> Range:
    """The range of an index expression; `leaf` gives those of arg, iota, extent and state."""
    found: dict[int, Range] = {}
    for e in walk(root):
        if e.sort is INDEX:
            found[id(e)] = _step(e, found, leaf).limited(INT64)
    return found[id(root)]


def _step(e: Expr, found: Mapping[int, Range], leaf: Leaf) -> Range:
    if e.op == "index" and isinstance(e.payload, int):
        return point(e.payload)
    if e.op == "to_index":
        return INT32
    if e.op == "select":
        return chosen_range(e, found[id(e.args[1])], found[id(e.args[2])])
    if e.op == "fold":
        return fold_range(e, found[id(e.args[0])])
    if e.op in EFFECT:
        return EFFECT[e.op](*(found[id(a)] for a in e.args))
    return leaf(e)


def chosen_range(e: Expr, first: Range, second: Range) -> Range:
    """The range of a select from those of its branches: an extremum stays beyond both.

    select(a < b, b, a) is the larger of the two, select(a < b, a, b) the smaller.
    """
    test, picks = e.args[0], e.args[1:]
    if test.op == "lt" and picks == test.args[::-1]:
        return Range(max(first.lo, second.lo), max(first.hi, second.hi))
    if test.op == "lt" and picks == test.args:
        return Range(min(first.lo, second.lo), min(first.hi, second.hi))
    return first | second


@lru_cache(maxsize=8192)
def is_data(e: Expr) -> bool:
    """Whether a value depends on tensors: then no extent is to blame for its size."""
    return any(x.op in ("arg", "state") for x in walk(e))


def fold_range(e: Expr, body: Range) -> Range:
    """The range of a fold and of its partial sums, from that of its body."""
    if is_pick(e):
        return body | ZERO
    size = int(e.payload[1]) if isinstance(e.payload, tuple) else 1
    return Range(min(0, size * body.lo), max(0, size * body.hi))


def is_pick(e: Expr) -> bool:
    """Whether a fold has the form of picking one element of a state: Σ select(c, state, 0)."""
    body = e.args[0]
    if body.op != "select" or body.args[2] is not zero(body.sort):
        return False
    return body.args[1].op == "state"


def lifted(node: Comprehension, monoid: Monoid) -> tuple[Expr, ...]:
    """The lift of each component over the reads and dims of the node."""
    inputs = {argument(i, b.sort): b for i, b in enumerate(node.body)}
    return tuple(substitute(e, inputs) for e in monoid.lift)


def read_range(read: Read, results: Mapping[Ref, Range]) -> Range:
    """The range of an index read: its source, its fill, and −1 where a gather may leave it."""
    found = results[read.source]
    if read.view.fill is not None:
        found = found | range_of(read.view.fill, lambda e: ZERO)
    return found | ABSENT if read.view.gathers else found


def node_leaf(node: Comprehension, sizes: Sizes, results: Mapping[Ref, Range]) -> Leaf:
    """The ranges of the leaves of a node's body."""
    extents = {d.name: sizes.bounds(d.extent) for d in node.dims}
    axes = node.monoid.axes if node.monoid else ()
    extents |= {a.name: point(a.size) for a in axes}

    def leaf(e: Expr) -> Range:
        if e.op == "arg" and isinstance(e.payload, int):
            return read_range(node.reads[e.payload], results)
        limit = extents[str(e.payload)]
        return limit if e.op == "extent" else below(limit)

    return leaf


def state_ranges(
    node: Comprehension, sizes: Sizes, results: Mapping[Ref, Range]
) -> dict[int, Range]:
    """Per index component of the state the range that every partial fold stays in."""
    monoid = node.monoid
    if monoid is None:
        return {}
    leaf = node_leaf(node, sizes, results)
    lifts = lifted(node, monoid)
    kinds = [i for i, c in enumerate(monoid.components) if c.sort is INDEX]
    start = {i: range_of(lifts[i], leaf) | _identity(monoid, i) for i in kinds}
    count = prod(max(sizes.bounds(d.extent).hi, 1) for d in node.reduce)
    sums = {i: _times(start[i], count) for i in kinds if _is_sum(monoid, i)}
    sums = {i: r.limited(INT64) if is_data(lifts[i]) else r for i, r in sums.items()}
    return _closed(monoid, start | sums, set(sums))


def _closed(monoid: Monoid, found: dict[int, Range], fixed: set[int]) -> dict[int, Range]:
    """Widen until combine stays inside; what still grows then is data, and has 64 bits."""
    for _ in range(_TRIES):
        leaf = state_leaf(monoid, found)
        wider = {i: r | range_of(monoid.combine[i], leaf) for i, r in found.items()}
        wider |= {i: found[i] for i in fixed}
        if wider == found:
            return found
        found = wider
    return {i: r if i in fixed else INT64 for i, r in found.items()}


def state_leaf(monoid: Monoid, found: Mapping[int, Range]) -> Leaf:
    """The ranges of the leaves of combine and project."""

    def leaf(e: Expr) -> Range:
        if e.op == "state" and isinstance(e.payload, tuple):
            return found[int(e.payload[1])]
        return below(point(monoid.axis_size(str(e.payload))))

    return leaf


def _identity(monoid: Monoid, i: int) -> Range:
    if monoid.identity is None:
        return ABSENT
    return range_of(monoid.identity[i], state_leaf(monoid, {}))


def _times(r: Range, count: int) -> Range:
    return Range(min(r.lo, 0) * count, max(r.hi, 0) * count)


def _is_sum(monoid: Monoid, i: int) -> bool:
    e = monoid.combine[i]
    if e.op != "add" or any(a.op != "state" for a in e.args):
        return False
    sides = sorted(a.payload for a in e.args if isinstance(a.payload, tuple))
    return sides == [(0, i), (1, i)] and e.args[0].args == e.args[1].args


def result_ranges(
    node: Comprehension,
    sizes: Sizes,
    results: Mapping[Ref, Range],
    states: Mapping[int, Range],
) -> dict[Ref, Range]:
    """The ranges of every index result of a node: outputs and state components."""
    monoid = node.monoid
    if monoid is None:
        leaf = node_leaf(node, sizes, results)
        pairs = zip(node.outputs, node.body, strict=True)
        return {Ref(node.name, n): range_of(e, leaf) for n, e in pairs if e.sort is INDEX}
    found = {Ref(node.name, monoid.components[i].name): r for i, r in states.items()}
    leaf = state_leaf(monoid, states)
    for c, e in zip(monoid.outputs, monoid.project, strict=True):
        if c.sort is INDEX:
            found[Ref(node.name, c.name)] = range_of(e, leaf) | ABSENT
    return found


def fits(r: Range, sizes: Sizes, symbols: frozenset[str]) -> bool:
    """Whether 64 bits hold the range; extents without a maximum get the benefit of the doubt.

    (No memory holds the 2⁶³ elements that would be needed to exceed it.)
    """
    return r.within(INT64) or not sizes.is_declared(symbols)
