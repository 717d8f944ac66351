"""The fast evaluator: the definition's values by other means.

Defines `fast_interpret`. Relies on the definition for meaning and for every case it has no better
way for; sums of products go to BLAS, other reductions to vectorised trees over boxes of bounded
size. Equal to the definition over the reals, not bit for bit: it uses associativity, and
commutativity only of the sums it hands to NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from tang.errors import LimitError
from tang.interpreter.arithmetic import Array, Indices, Mask, Value
from tang.interpreter.contraction import contract, factors_of, is_tame
from tang.interpreter.definition import ALL, Lanes, evaluate_node
from tang.interpreter.f64 import F64
from tang.interpreter.inputs import prepare
from tang.interpreter.program import Leaves, Space
from tang.interpreter.windows import Box, window
from tang.ir.derived import absent
from tang.ir.expr import BOOL, INDEX, REAL, Expr
from tang.ir.graph import Comprehension, Dim, Graph
from tang.ir.monoid import Monoid
from tang.ir.monoids import ALL as EVERY
from tang.ir.monoids import ANY, LOGSUMEXP, MAX, MIN, ONLINE_SOFTMAX, PROD, SUM
from tang.ir.view import Read, Ref

DEFAULT_MEMORY: Final = 2**28
"""Bytes that temporaries of one node may take."""
_CACHED_LANES: Final = 2**17
_LOG2E: Final = math.log2(math.e)
_DTYPES: Final = {REAL: np.float64, INDEX: np.int64, BOOL: np.bool_}
_SMALL: Final = 2**12
"""Nodes of fewer lanes are left to the definition, whose overhead is lower."""

_UFUNCS: Final[Sequence[tuple[Monoid, np.ufunc]]] = (
    (SUM, np.add),
    (PROD, np.multiply),
    (MAX, np.maximum),
    (MIN, np.minimum),
    (ANY, np.logical_or),
    (EVERY, np.logical_and),
)


def fast_interpret(
    graph: Graph, inputs: Mapping[str, Any], memory: int = DEFAULT_MEMORY
) -> dict[str, Array]:
    """The outputs of a program in f64, as `interpret` but fast.

    `memory` bounds the bytes of temporaries per node, beyond inputs and results. Raises as
    `interpret` does.
    """
    bound, arrays = prepare(graph, inputs)
    tensors: dict[Ref, Value] = {Ref(i.name): arrays[i.name] for i in bound.inputs}
    with np.errstate(all="ignore"):
        for node in bound.nodes:
            for name, value in _node(node, tensors, memory).items():
                tensors[Ref(node.name, name)] = value
    return {o.name: np.array(tensors[o.ref]) for o in bound.outputs}


def _node(node: Comprehension, tensors: Mapping[Ref, Value], memory: int) -> dict[str, Array]:
    whole = {d.name: (0, d.extent.constant) for d in node.dims}
    if prod(stop for _, stop in whole.values()) < _SMALL:
        return evaluate_node(node, tensors, F64)
    try:
        if node.monoid is None:
            return _map(node, tensors, whole, memory)
        return _reduction(node, node.monoid, tensors, whole, memory)
    except (LimitError, OverflowError, _UnfitError):
        return evaluate_node(node, tensors, F64)


class _UnfitError(Exception):
    """The laws of this monoid do not cover these values: only the serial fold is right."""


class Dense(Lanes):
    """All points and reduce points of a box, each dim in a slot of its own, reduce dims first."""

    def __init__(self, node: Comprehension, tensors: Mapping[Ref, Value], box: Box) -> None:
        self.node, self.tensors, self.arithmetic = node, tensors, F64
        axes = node.monoid.axes if node.monoid else ()
        slots = (*(d.name for d in (*node.reduce, *node.point)), *(a.name for a in axes))
        extents = {d.name: d.extent.constant for d in node.dims} | {a.name: a.size for a in axes}
        self.box = {**box, **{a.name: (0, a.size) for a in axes}}
        self.shape = [self.box[s][1] - self.box[s][0] for s in slots]
        self.iotas = {
            s: np.arange(*self.box[s]).reshape([-1 if s == t else 1 for t in slots]) for s in slots
        }
        self.space = Space(slots, extents, self.iotas)

    def read(self, read: Read, live: Mask, outer: Mapping[str, Indices], label: str) -> Value:
        """As the definition, through strides where the view allows."""
        fill = None if read.view.fill is None else F64.constant(read.view.fill)
        source = self.tensors[read.source]
        found = window(source, read.view, fill, self.space.slots, self.box)
        return super().read(read, live, outer, label) if found is None else found

    def elements(self, exprs: tuple[Expr, ...], live: Mask) -> list[Array]:
        """Expressions over the reads at every lane, one axis per slot."""
        reads = [self.read(r, live, {}, f"read {i}") for i, r in enumerate(self.node.reads)]
        values = self.run(exprs, Leaves(args=reads), live)
        return [_with_rank(np.asarray(v), len(self.shape)) for v in values]

    def spread(self, a: Array) -> Array:
        """The array with every reduce slot at its full extent."""
        r = len(self.node.reduce)
        return np.broadcast_to(a, (*self.shape[:r], *a.shape[r:]))


def _with_rank(a: Array, rank: int) -> Array:
    return a.reshape((1,) * (rank - a.ndim) + a.shape)


def _boxes(dims: Sequence[Dim], box: Box, limit: int) -> Iterator[dict[str, tuple[int, int]]]:
    """Parts of a box in lexicographic order, each of about `limit` lanes at most."""
    ranges: list[list[tuple[int, int]]] = []
    inner = 1
    for d in reversed(dims):
        start, stop = box[d.name]
        size = max(1, min(stop - start, limit // inner))
        ranges.insert(0, [(k, min(k + size, stop)) for k in range(start, stop, size)])
        inner *= size if size == stop - start else limit + 1
    for chosen in product(*ranges):
        yield {d.name: r for d, r in zip(dims, chosen, strict=True)}


def _map(
    node: Comprehension, tensors: Mapping[Ref, Value], whole: Box, memory: int
) -> dict[str, Array]:
    types = [node.tensor(name) for name in node.outputs]
    shape = [d.extent.constant for d in node.point]
    results: list[Array] = [np.empty(shape, _DTYPES[t.sort]) for t in types]
    for box in _boxes(node.point, whole, _lane_limit(node, memory)):
        at = tuple(slice(*box[d.name]) for d in node.point)
        values = Dense(node, tensors, box).elements(node.body, ALL)
        for result, value in zip(results, values, strict=True):
            result[at] = value
    return dict(zip(node.outputs, results, strict=True))


def _lane_limit(node: Comprehension, memory: int) -> int:
    axes = prod(a.size for a in node.monoid.axes) if node.monoid else 1
    return max(1, min(_CACHED_LANES, memory // 128) // axes)


def _reduction(
    node: Comprehension, monoid: Monoid, tensors: Mapping[Ref, Value], whole: Box, memory: int
) -> dict[str, Array]:
    lanes = Lanes(node, tensors, F64)
    seen = ALL
    total = _by_products(node, monoid, tensors, whole, memory)
    if total is None:
        total, seen = _by_trees(node, monoid, tensors, whole, memory)
    values = lanes.finished(monoid, total, seen)
    names = node.output_names()
    return {n: lanes.shaped(v, node.tensor(n)) for n, v in zip(names, values, strict=True)}


# --- sums of products ---------------------------------------------------------------------------


def _by_products(
    node: Comprehension, monoid: Monoid, tensors: Mapping[Ref, Value], box: Box, memory: int
) -> list[Array] | None:
    """The state of a sum, logsumexp or online softmax over a box; None where that is no help."""
    if monoid not in (SUM, LOGSUMEXP, ONLINE_SOFTMAX) or (monoid == SUM and node.where):
        return None
    if 8 * _largest(node, box) > memory // 4:
        return _halves(node, monoid, tensors, box, memory)
    dense = Dense(node, tensors, box)
    included = dense.included()
    if monoid == SUM:
        factors = dense.elements(factors_of(node.body[0]), included)
        return _contracted(dense, factors)
    return _softmax(dense, included)


def _contracted(dense: Dense, factors: Sequence[Array]) -> list[Array] | None:
    r = len(dense.node.reduce)
    if not is_tame(factors, prod(dense.shape[:r])):
        return None
    return [contract(factors, dense.shape, r)]


def _softmax(dense: Dense, included: Mask) -> list[Array] | None:
    """Two passes: the maximum, then sums of exponentials; scores below +inf, values finite."""
    scores, *values = dense.elements(dense.node.body, included)
    scores = np.where(included, scores, -np.inf)
    scores = dense.spread(_with_rank(scores, len(dense.shape)))
    axes = tuple(range(len(dense.node.reduce)))
    top = np.max(scores, axis=axes, keepdims=True)
    if not np.all(top < np.inf) or not is_tame(values, scores.size):
        return None
    shift = np.where(np.isneginf(top), 0.0, top)
    weights = np.exp2((scores - shift) * _LOG2E)
    drop = (0,) * len(axes)
    state = [top[drop], np.sum(weights, axis=axes)]
    return [*state, *(contract([weights, v], dense.shape, len(axes)) for v in values)]


def _largest(node: Comprehension, box: Box) -> int:
    """Lanes of the largest operand, or of the state."""
    sizes = {d: stop - start for d, (start, stop) in box.items()}
    spaces = [{d for d in r.view.dims() if d in sizes} for r in node.reads]
    spaces += [{n for e in node.body for n in e.names}, *(set(c) for c in node.component_dims())]
    spaces += [{v for w in node.where for v in w.variables}]
    return max(prod(sizes[d] for d in space) for space in spaces)


def _halves(
    node: Comprehension, monoid: Monoid, tensors: Mapping[Ref, Value], box: Box, memory: int
) -> list[Array] | None:
    """The box cut in two along its longest point dim; None when points are too few."""
    name = max((d.name for d in node.point), key=lambda d: box[d][1] - box[d][0], default=None)
    if name is None or box[name][1] - box[name][0] < 2:
        return None
    start, stop = box[name]
    parts = []
    for piece in ((start, (start + stop) // 2), ((start + stop) // 2, stop)):
        part = _by_products(node, monoid, tensors, {**box, name: piece}, memory)
        if part is None:
            return None
        parts.append(part)
    axis = [d.name for d in node.point].index(name)
    depends = [name in dims for dims in node.component_dims()]
    pairs = zip(*parts, depends, strict=True)
    return [np.concatenate([a, b], axis) if wide else a for a, b, wide in pairs]


# --- trees --------------------------------------------------------------------------------------


def _by_trees(
    node: Comprehension, monoid: Monoid, tensors: Mapping[Ref, Value], whole: Box, memory: int
) -> tuple[list[Array], Mask]:
    """The state over the whole space, box by box; contiguous reduce boxes joined in order."""
    limit = _lane_limit(node, memory)
    state = _empty_state(node, monoid)
    decided = frozenset[str]().union(*(w.variables for w in node.where))
    shape = [d.extent.constant if d.name in decided else 1 for d in node.point]
    seen = np.zeros(shape + [1] * len(monoid.axes), np.bool_)
    for points in _boxes(node.point, whole, limit):
        lanes = prod(stop - start for start, stop in points.values())
        parts = (
            _box_state(Dense(node, tensors, {**points, **steps}), monoid)
            for steps in _boxes(node.reduce, whole, max(1, limit // lanes))
        )
        total, known = _joined(node, monoid, parts)
        at = [slice(*points[d.name]) for d in node.point] + [slice(None)] * len(monoid.axes)
        for result, value in zip([*state, seen], [*total, known], strict=True):
            own = (slice(None) if n == 1 else a for a, n in zip(at, result.shape, strict=True))
            result[tuple(own)] = value
    if seen.all():
        return state, ALL
    blank = [F64.constant(absent(c.sort)) for c in monoid.components]
    return [np.where(seen, s, b) for s, b in zip(state, blank, strict=True)], seen


def _empty_state(node: Comprehension, monoid: Monoid) -> list[Array]:
    states: list[Array] = []
    for c, dims in zip(monoid.components, node.component_dims(), strict=True):
        shape = [d.extent.constant if d.name in dims else 1 for d in node.point]
        shape += [a.size if a.name in c.axes else 1 for a in monoid.axes]
        states.append(np.empty(shape, _DTYPES[c.sort]))
    return states


Part = tuple[list[Array], Mask]
"""A state in the slots of points and axes, and where anything was seen."""


def _joined(node: Comprehension, monoid: Monoid, parts: Iterator[Part]) -> Part:
    total = next(parts)
    lanes = Lanes(node, {}, F64)
    for part in parts:
        total = _merged(lanes, monoid, total, part)
    return total


def _merged(lanes: Lanes, monoid: Monoid, left: Part, right: Part) -> Part:
    """left then right, where both were seen; else the one that was."""
    (a, seen_a), (b, seen_b) = left, right
    states = Leaves(states=(a, b), components=monoid.components)
    both = lanes.run(monoid.combine, states, seen_a & seen_b)
    if np.all(seen_a) and np.all(seen_b):
        return both, ALL
    triples = zip(both, a, b, strict=True)
    chosen = [np.where(seen_b, np.where(seen_a, t, y), x) for t, x, y in triples]
    return chosen, np.asarray(seen_a | seen_b)


def _box_state(dense: Dense, monoid: Monoid) -> Part:
    included = _with_rank(dense.included(), len(dense.shape))
    body = dense.elements(dense.node.body, included)
    elements = dense.run(monoid.lift, Leaves(args=body), included)
    elements = [dense.spread(_with_rank(np.asarray(e), len(dense.shape))) for e in elements]
    ufunc = next((u for m, u in _UFUNCS if m == monoid), None)
    if ufunc is not None and monoid.identity:
        (neutral,) = dense.run(monoid.identity, Leaves())
        kept = elements[0] if included.all() else np.where(included, elements[0], neutral)
        kept = dense.spread(np.asarray(kept))
        return [np.asarray(ufunc.reduce(kept, axis=tuple(range(len(dense.node.reduce)))))], ALL
    return _tree(dense, monoid, elements, included)


def _tree(dense: Dense, monoid: Monoid, elements: Sequence[Array], included: Mask) -> Part:
    """Neighbours joined pairwise until one is left.

    The laws hold on folds from the identity, so infinities and NaN are combined with it first.
    """
    r = len(dense.node.reduce)
    steps = prod(dense.shape[:r])
    lanes = Lanes(dense.node, {}, F64)
    states = [np.reshape(e, (steps, *e.shape[r:])) for e in elements]
    mask = dense.spread(included)
    seen = ALL if included.all() else np.reshape(mask, (steps, *mask.shape[r:]))
    if not _finite(states):
        states = _started(lanes, monoid, states)

    def part(index: slice | int) -> Part:
        return [s[index] for s in states], seen[index] if seen.ndim else seen

    while steps > 1:
        even = steps - steps % 2
        pairs = _merged(lanes, monoid, part(slice(0, even, 2)), part(slice(1, even, 2)))
        rest, rest_seen = part(slice(even, steps))
        states = [_appended(a, b) for a, b in zip(pairs[0], rest, strict=True)]
        if seen.ndim:
            pair_seen = np.broadcast_to(pairs[1], (even // 2, *seen.shape[1:]))
            seen = _appended(pair_seen, rest_seen)
        steps = even // 2 + steps % 2
    if not monoid.strict and not _finite(part(0)[0]):
        raise _UnfitError
    if monoid.identity and not included.all():
        return _identified(lanes, monoid, part(0))
    return part(0)


def _finite(states: Sequence[Array]) -> bool:
    return all(bool(np.isfinite(s).all()) for s in states)


def _started(lanes: Lanes, monoid: Monoid, states: list[Array]) -> list[Array]:
    """identity · element for every element, where the laws cover special values."""
    if not monoid.strict:
        raise _UnfitError
    if monoid.identity is None:
        return states
    identity = lanes.run(monoid.identity, Leaves())
    joined = Leaves(states=(identity, states), components=monoid.components)
    return lanes.run(monoid.combine, joined)


def _appended(a: Array, b: Array) -> Array:
    if len(b) == 0:
        return a
    shape = np.broadcast_shapes(a.shape[1:], b.shape[1:])
    return np.concatenate([np.broadcast_to(x, (len(x), *shape)) for x in (a, b)])


def _identified(lanes: Lanes, monoid: Monoid, found: Part) -> Part:
    """The identity where nothing was seen."""
    identity = lanes.run(monoid.identity or (), Leaves())
    pairs = zip(found[0], identity, strict=True)
    return [np.where(found[1], value, neutral) for value, neutral in pairs], ALL
