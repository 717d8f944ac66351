"""Equality of two programs over the same data (DESIGN §1.1): the measure of the rung `rewrite`.

Defines `Comparison` and `compare_graphs`. Relies on the interpreter: a screen on values with
forward errors first, ball arithmetic for what that leaves. It knows no rules and names nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.interpreter import Balls, Decision, Measured, ball_interpret, compare, decide
from tang.interpreter.arithmetic import Mask
from tang.interpreter.definition import evaluate
from tang.interpreter.equality import Decisions, scale_of
from tang.interpreter.measured import MEASURED, without_error
from tang.ir.graph import Graph, Output, reads_of
from tang.ir.view import Ref
from tang.verify.compare import describe

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One output of both programs: decisions per element, and which elements were skipped."""

    name: str
    left: Measured
    right: Measured
    decisions: Decisions
    skipped: Mask

    @property
    def different(self) -> bool:
        return bool((self.decisions == Decision.DIFFERENT).any())

    @property
    def undecided(self) -> int:
        return int((self.decisions == Decision.UNDECIDED).sum())

    def detail(self, names: tuple[str, str] = ("before", "after")) -> str:
        """Both sides up to the first differing value."""
        a, b = np.asarray(self.left.value), np.asarray(self.right.value)
        equal = np.asarray(self.decisions != Decision.DIFFERENT)
        return describe(a, b.astype(a.dtype) if a.shape == b.shape else b, equal, names)


def compare_graphs(
    left: Graph, right: Graph, inputs: Mapping[str, Array], *, strict: bool
) -> list[Comparison]:
    """One comparison per output of `left`, by name.

    Outside strict, an element is skipped when it differs while the left program met a NaN or an
    infinity on the way to its tensor: in an input, or in the element itself. A finite element of
    finite inputs is compared whatever was met between. Raises GraphError for data that the left
    program refuses.
    """
    # Every tensor is evaluated, so that non-finite values on the way are seen.
    met = {} if strict else _non_finite(left, inputs)
    given = all(_finite(np.asarray(inputs[i.name])) for i in left.inputs)
    ours, theirs = measured(left, inputs), measured(right, inputs)
    screens = {n: _screen(ours[n], theirs[n]) for n in ours}
    pending = frozenset(n for n, s in screens.items() if not s.all())
    sides = (_Side(left, inputs, pending), _Side(right, inputs, pending))
    found = []
    for output in left.outputs:
        name = output.name
        decisions = _decided(name, ours[name], theirs[name], screens[name], sides)
        touched: Mask | bool = met.get(output.ref, False)
        if given:
            touched = touched & ~_are_finite(np.asarray(ours[name].value))
        skipped = np.asarray((decisions != Decision.EQUAL) & touched)
        decisions = np.asarray(np.where(skipped, np.int8(Decision.EQUAL), decisions), np.int8)
        found.append(Comparison(name, ours[name], theirs[name], decisions, skipped))
    return found


@dataclass(slots=True)
class _Side:
    """A program in ball arithmetic, evaluated once per precision."""

    graph: Graph
    inputs: Mapping[str, Array]
    pending: frozenset[str]
    known: tuple[int, dict[str, Balls]] | None = None

    def of(self, name: str, prec: int) -> Balls:
        if self.known is None or self.known[0] != prec:
            outputs = [o for o in self.graph.outputs if o.name in self.pending]
            graph = narrowed(self.graph, outputs)
            self.known = (prec, ball_interpret(graph, self.inputs_of(graph), prec))
        return self.known[1][name]

    def inputs_of(self, graph: Graph) -> dict[str, Array]:
        return {i.name: self.inputs[i.name] for i in graph.inputs}


def narrowed(graph: Graph, outputs: Sequence[Output]) -> Graph:
    """The graph with these outputs and without the nodes on which none of them depends."""
    needed, kept = {o.ref.node for o in outputs}, []
    for node in reversed(graph.nodes):
        if node.name in needed:
            needed.update(r.source.node for r in reads_of(node))
            kept.append(node)
    return replace(graph, nodes=tuple(reversed(kept)), outputs=tuple(outputs))


def measured(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Measured]:
    """Value and forward error of every output, by name; indices and bools have no error."""
    found = evaluate(graph, inputs, MEASURED)
    return {n: v if isinstance(v, Measured) else without_error(v) for n, v in found.items()}


def _screen(left: Measured, right: Measured) -> Mask:
    if left.shape != right.shape:
        return np.zeros(left.shape or (1,), np.bool_)
    return compare(left, right)


def _decided(
    name: str, left: Measured, right: Measured, screen: Mask, sides: tuple[_Side, _Side]
) -> Decisions:
    if left.shape != right.shape:
        return np.full(screen.shape, np.int8(Decision.DIFFERENT))
    pending = np.asarray(~screen)
    a, b = sides
    return decide(lambda p: a.of(name, p), lambda p: b.of(name, p), pending, scale_of(left))


def _non_finite(graph: Graph, inputs: Mapping[str, Array]) -> dict[Ref, bool]:
    """By tensor, whether it or anything it depends on holds a NaN or an infinity."""
    refs = [Ref(n.name, o) for n in graph.nodes for o in n.output_names()]
    traced = replace(graph, outputs=tuple(Output(f"t{k}", r) for k, r in enumerate(refs)))
    values = measured(traced, inputs)
    own = {i.name: not _finite(np.asarray(inputs[i.name])) for i in graph.inputs}
    for node in graph.nodes:
        below = any(own[r.source.node] for r in reads_of(node))
        mine = (values[f"t{k}"].value for k, r in enumerate(refs) if r.node == node.name)
        own[node.name] = below or not all(map(_finite, mine))
    return {r: own[r.node] for r in (*refs, *(Ref(i.name) for i in graph.inputs))}


def _finite(array: Array) -> bool:
    return bool(_are_finite(array).all())


def _are_finite(array: Array) -> Mask:
    return np.isfinite(array) if array.dtype.kind == "f" else np.ones(array.shape, np.bool_)
