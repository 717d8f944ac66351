"""Relations between nodes that intervals cannot see: maxima, shares, and weighted means.

Defines `Relations` and `Hints`. Relies on the structure of expressions and views: that a node reads
the largest, or the sum, of the very elements it reads itself. It bounds nothing: each relation
names a rule that says what follows.

Known relations, with e an element and M, S nodes over all elements of a set that holds it:

    e − M ≤ 0             where M is their maximum                       rule `nonpositive`
    Σ exp(e − M) ≥ 1      since the largest e is one of them, if any     `sum_exp`, `at_least`
    0 ≤ e/S ≤ 1           where S is their sum and none is negative      `within`
    Σ (e/S)·v             is a mean of v with such weights               `weighted`
    Σ e·v / Σ e           likewise                                       `weighted_mean`
    |e|/√(Σe²/n + ε) ≤ √n  of norms, see `certify_norms`                   `within`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tang.emulator.certify_forms import order, parts
from tang.emulator.certify_masks import is_never_empty
from tang.emulator.certify_matching import Frame, Reduction, arg_read, element_of, is_plain, reduces
from tang.emulator.certify_monoids import groups_of
from tang.emulator.certify_norms import most_of_norm
from tang.ir.expr import Expr, walk
from tang.ir.graph import Comprehension, Graph
from tang.ir.view import Read, Ref

Refined = tuple[str, tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of a node's expressions beyond intervals.

    refined  expression → "nonpositive", "share", or "mean" with the operands of the quotient
    sums     lift → "exp" or "guarded" with its exponent, "peak", or "weighted" with weight and
             value; guarded: e − 0 where all elements are −∞, so that their sum is 0
    norms    quotient by the root of a mean of squares → its largest magnitude
    """

    refined: Mapping[Expr, Refined] = field(default_factory=dict)
    sums: Mapping[Expr, Refined] = field(default_factory=dict)
    norms: Mapping[Expr, float] = field(default_factory=dict)


class Relations:
    """What is known of the nodes so far.

    standard  the least positive constant that is added to something under a root, or None
    maxima    results that are maxima of a lift;  totals  that are sums of one
    peaks     results of maps whose largest element along these dims is 1
    shares    results of maps that sum to at most 1 along these dims
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.standard = _under_roots(graph)
        self.maxima: dict[Ref, Reduction] = {}
        self.totals: dict[Ref, Reduction] = {}
        self.peaks: dict[Ref, frozenset[int]] = {}
        self.shares: dict[Ref, frozenset[int]] = {}

    def hints(self, node: Comprehension) -> Hints:
        """What is known of a node, and what it is to the nodes after it."""
        refined: dict[Expr, Refined] = {}
        peaked: dict[Expr, frozenset[str]] = {}
        shared: dict[Expr, frozenset[str]] = {}
        norms: dict[Expr, float] = {}
        guarded: set[Expr] = set()
        groups = groups_of(node)
        lifts = tuple(e for g in groups for e in g.lift)
        for e in order(node.body if node.monoid is None else lifts):
            name, operands = parts(e)
            if name == "sub" and (over := self._below(node, *operands)) is not None:
                refined[e] = ("nonpositive", ())
                peaked[e] = over
                guarded |= {e} if _unmasked(operands[1]) is not operands[1] else set()
            elif name in ("exp", "exp2") and operands[0] in peaked:
                peaked[e] = peaked[operands[0]]
                guarded |= {e} if operands[0] in guarded else set()
            elif name == "div":
                self._quotient(node, e, operands, refined, shared, norms)
        self._learn(node, {e: d for e, d in peaked.items() if e not in guarded}, shared)
        return Hints(refined, self._sums(node, peaked, guarded), norms)

    # --- relations of one node --------------------------------------------------------------------

    def _below(self, node: Comprehension, a: Expr, b: Expr) -> frozenset[str] | None:
        """Of a − b: the dims over which b is the maximum of a, or None."""
        read = arg_read(node, _unmasked(b))
        found = None if read is None else self.maxima.get(read.source)
        if read is None or found is None:
            return None
        return element_of(self.graph, node, a, found, read)

    def _quotient(
        self,
        node: Comprehension,
        e: Expr,
        operands: tuple[Expr, ...],
        refined: dict[Expr, Refined],
        shared: dict[Expr, frozenset[str]],
        norms: dict[Expr, float],
    ) -> None:
        above, below = operands
        most = most_of_norm(self.graph, node, above, below)
        if most is not None:
            norms[e] = most
        read = arg_read(node, below)
        total = None if read is None else self.totals.get(read.source)
        if read is None or total is None:
            return
        dims = element_of(self.graph, node, above, total, read)
        if dims is not None:
            refined[e] = ("share", ())
            shared[e] = dims
        elif self.mean_of(node, above, read, total) is not None:
            refined[e] = ("mean", (above, below))

    def mean_of(
        self, node: Comprehension, above: Expr, read: Read, total: Reduction
    ) -> tuple[Reduction, Expr] | None:
        """Of Σ w·v / Σ w: the numerator's reduction, and v in it."""
        upper = arg_read(node, above)
        found = None if upper is None else self.totals.get(upper.source)
        if upper is None or found is None or found.lift.op != "mul":
            return None
        frame = Frame.of_read(found.node, upper)
        for w, v in (found.lift.args, found.lift.args[::-1]):
            dims = reduces(self.graph, found.node, w, frame, total, read)
            if dims == frozenset(d.name for d in found.node.reduce):
                return found, v
        return None

    def _sums(
        self, node: Comprehension, peaked: Mapping[Expr, frozenset[str]], guarded: set[Expr]
    ) -> dict[Expr, Refined]:
        found: dict[Expr, Refined] = {}
        dims = frozenset(d.name for d in node.reduce)
        for group in groups_of(node):
            if group.kind != "sum" or not dims:
                continue
            (lift,) = group.lift
            name, operands = parts(lift)
            if name == "exp" and peaked.get(lift) == dims and is_never_empty(node):
                found[lift] = ("guarded" if lift in guarded else "exp", operands)
            elif self._sums_peak(node, lift, dims):
                found[lift] = ("peak", ())
            elif lift.op == "mul":
                found |= self._weighted(node, lift, dims)
        return found

    def _sums_peak(self, node: Comprehension, lift: Expr, dims: frozenset[str]) -> bool:
        read = arg_read(node, lift)
        positions = None if read is None else self.peaks.get(read.source)
        here = not node.where and is_never_empty(node)
        return here and _runs(self.graph, node, read, positions, dims)

    def _weighted(
        self, node: Comprehension, lift: Expr, dims: frozenset[str]
    ) -> dict[Expr, Refined]:
        for w, v in (lift.args, lift.args[::-1]):
            read = arg_read(node, w)
            positions = None if read is None else self.shares.get(read.source)
            if _runs(self.graph, node, read, positions, dims):
                return {lift: ("weighted", (w, v))}
        return {}

    # --- what nodes are to others -----------------------------------------------------------------

    def _learn(
        self,
        node: Comprehension,
        peaked: Mapping[Expr, frozenset[str]],
        shared: Mapping[Expr, frozenset[str]],
    ) -> None:
        if node.monoid is None:
            names = [d.name for d in node.point]
            for output, body in zip(node.outputs, node.body, strict=True):
                ref = Ref(node.name, output)
                if body in peaked and body.op == "exp2":
                    self.peaks[ref] = frozenset(names.index(d) for d in peaked[body])
                if body in shared:
                    self.shares[ref] = frozenset(names.index(d) for d in shared[body])
            return
        for group in groups_of(node):
            if group.kind in ("sum", "max"):
                (c,) = group.components
                known = self.maxima if group.kind == "max" else self.totals
                for ref in _results(node, c):
                    known[ref] = Reduction(node, group.lift[0])


def _results(node: Comprehension, component: int) -> list[Ref]:
    """A state component, and the outputs that are just that."""
    monoid = node.monoid
    if monoid is None:
        return []
    found = [Ref(node.name, monoid.components[component].name)]
    for c, e in zip(monoid.outputs, monoid.project, strict=True):
        if e.op == "state" and e.payload == (0, component):
            found.append(Ref(node.name, c.name))
    return [r for r in found if len(node.tensor(r.output).dims) == len(node.point)]


def _runs(
    graph: Graph,
    node: Comprehension,
    read: Read | None,
    positions: frozenset[int] | None,
    dims: frozenset[str],
) -> bool:
    """Whether a read runs once over these positions, and nowhere else, as the reduce dims run."""
    if read is None or positions is None or not is_plain(read):
        return False
    shape = graph.shape(read.source)
    extents = {d.name: d.extent for d in node.reduce}
    found = []
    for n, form in enumerate(read.view.coords):
        if n in positions:
            ((name, factor),) = form.terms if len(form.terms) == 1 else (("", None),)
            single = factor is not None and factor.is_constant and factor.constant == 1
            if not single or form.const.terms or extents.get(name) != shape[n]:
                return False
            found.append(name)
        elif form.variables & dims:
            return False
    return len(found) == len(dims) and set(found) == dims


def _unmasked(e: Expr) -> Expr:
    """m of select(m = −∞, 0, m): where they differ, every element is −∞."""
    if e.op == "select" and e.args[0].op == "eq" and e.args[2] in e.args[0].args:
        other = [x for x in e.args[0].args if x is not e.args[2]]
        if [x.payload for x in other] == ["-inf"] and e.args[1].payload == Fraction(0):
            return e.args[2]
    return e


def _under_roots(graph: Graph) -> float | None:
    found = []
    for node in graph.nodes:
        for e in walk(*node.body):
            if e.op == "sqrt" and e.args[0].op == "add":
                found += [float(x.payload) for x in e.args[0].args
                          if isinstance(x.payload, Fraction) and x.payload > 0]  # fmt: skip
    return min(found, default=None)
