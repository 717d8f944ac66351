"""The nodes of a program as steps: reads, bodies, reductions and stores.

Defines `Pass`. Relies on expressions and reductions as steps, and on relations between nodes for
what intervals alone cannot see. It has no loop over elements: extents are numbers in parameters.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from tang.emulator.certify_arithmetic import Arithmetic, Rounding, Trail, is_number
from tang.emulator.certify_expressions import Evaluator
from tang.emulator.certify_folds import Folder, order_of
from tang.emulator.certify_forms import parts
from tang.emulator.certify_functions import Functions
from tang.emulator.certify_matching import arg_read
from tang.emulator.certify_monoids import Group, groups_of
from tang.emulator.certify_relations import Hints, Relations
from tang.ir.expr import INDEX, REAL, Expr, Sort
from tang.ir.graph import Comprehension, Graph, Input
from tang.ir.view import Read, Ref, is_gathered
from tang.kernel.schedule import NodeSchedule, Precision, Schedule

INDEX_LIMIT: Final = 2.0**31
_PICKS: Final = ("max", "min", "argmax", "argmin", "first", "last")
"""Reductions that give one of their elements."""


class Pass:
    """One pass over a bound program; `results` has the step of every tensor as it is stored."""

    def __init__(
        self, graph: Graph, schedule: Schedule, trail: Trail, freedom: str, functions: Functions
    ) -> None:
        self.graph = graph
        self.chosen = schedule.by_name(graph)
        self.default = schedule.default
        self.trail = trail
        self.freedom = freedom
        self.functions = functions
        self.results: dict[Ref, int] = {}
        self.formats: dict[Ref, str] = {}
        self.stored: dict[Ref, Precision] = {}
        self.relations = Relations(graph)
        self.near: dict[Ref, int] = {}
        self.factors: dict[tuple[str, Expr], int] = {}

    def arithmetic(self, precision: Precision) -> Arithmetic:
        """The operations of a node that computes in a precision."""
        return Arithmetic(self.trail, precision, self.freedom, self.functions)

    # --- inputs -----------------------------------------------------------------------------------

    def input(self, i: Input, given: tuple[float, float] | None, quantised: bool) -> None:
        """An input as it is stored, which counts as exact unless it is quantised."""
        ref = Ref(i.name)
        if i.sort is not REAL:
            lo, hi = (0.0, 1.0) if i.sort is Sort.BOOL else (-INDEX_LIMIT, INDEX_LIMIT - 1)
            lo, hi = (lo, hi) if given is None else given
            self.results[ref] = self.trail.add("given", lo=lo, hi=hi)
            return
        precision = self.default.stored
        a = self.arithmetic(precision)
        roundings = a.roundings_of(precision, computing=False)
        self._is_stored(ref, precision, roundings)
        step = self._real_input(given, roundings[-1], quantised)
        self.results[ref] = a.through(step, roundings) if quantised else step

    def _real_input(self, given: tuple[float, float] | None, r: Rounding, quantised: bool) -> int:
        """Numbers of the format; those beyond its largest one are stored as overflow has it."""
        facts = self.trail.formats[r.format]
        if given is None:
            most = math.inf if self.trail.shape else facts.largest
            return self.trail.add("given", lo=-most, hi=most)
        lo, hi = given
        for x in given:
            if not is_number(Fraction(x), facts):
                moved = abs(x) * 2.0 ** (1 - facts.p) + 2.0**facts.emin
                lo, hi = min(lo, x - moved), max(hi, x + moved)
        beyond = [n for n, over in (("-inf", lo < -facts.largest), ("inf", hi > facts.largest))
                  if over]  # fmt: skip
        if quantised or not beyond:
            return self.trail.add("given", lo=lo, hi=hi)
        ends = (min(max(e, -facts.largest), facts.largest) for e in (lo, hi))
        lo, hi = ends
        special = {"saturate": "", "nan": "nan"}.get(r.overflow, " ".join(beyond))
        return self.trail.add("given", lo=lo, hi=hi, special=special)

    def _is_stored(self, ref: Ref, precision: Precision, roundings: tuple[Rounding, ...]) -> None:
        self.stored[ref] = precision
        self.formats[ref] = roundings[-1].format

    # --- nodes ------------------------------------------------------------------------------------

    def node(self, node: Comprehension) -> None:
        """Every result of a node, in two ways where roots are taken of sums of squares.

        The error of a square is small beside the largest square, or near a small one, `standard`:
        the former is what a result is off, the latter what a quotient by its root needs.
        """
        hints = self.relations.hints(node)
        found = self._values(node, hints, None)
        standard = self.relations.standard
        twice = standard is not None and not self.trail.shape
        other = self._values(node, hints, standard) if twice else found
        for ref, step in found.items():
            near = other[ref]
            self.results[ref] = min(step, near, key=lambda n: self.trail[n].error)
            if self.trail[near].lo >= 0:
                self.near[ref] = near

    def _values(self, node: Comprehension, hints: Hints, standard: float | None) -> dict[Ref, int]:
        s = self.chosen[node.name]
        a = self.arithmetic(s.computed)
        evaluator = Evaluator(
            a,
            lambda e: self._leaf(a, node, e, standard),
            lambda ev, e, step: self._refined(node, hints, ev, e, step),
            standard,
        )
        if node.monoid is None:
            pairs = zip(node.outputs, node.body, strict=True)
            values = {n: evaluator.value(e) for n, e in pairs}
        else:
            values = self._reduced(node, s, evaluator, hints)
        copies = self._copies(node, s, evaluator)
        return {
            Ref(node.name, name): self._stored(Ref(node.name, name), step, a, s, name in copies)
            for name, step in values.items()
        }

    def _copies(self, node: Comprehension, s: NodeSchedule, evaluator: Evaluator) -> set[str]:
        """The results that are elements of a tensor in the very format in which they are stored."""

        def is_element(e: Expr) -> bool:
            read = arg_read(node, e)
            if read is None or self.stored.get(read.source) != s.stored or evaluator.a.free:
                return False
            known = (self.results[read.source], self.near.get(read.source))
            return evaluator.value(e) in known

        if node.monoid is None:
            pairs = zip(node.outputs, node.body, strict=True)
            return {n for n, e in pairs if is_element(e)}
        kept = {
            g.components[0] for g in groups_of(node) if g.kind in _PICKS and is_element(g.lift[0])
        }
        names = {node.monoid.components[c].name for c in kept}
        outputs = zip(node.monoid.outputs, node.monoid.project, strict=True)
        chosen = {(0, c) for c in kept}
        return names | {c.name for c, e in outputs if e.op == "state" and e.payload in chosen}

    def _refined(
        self, node: Comprehension, hints: Hints, evaluator: Evaluator, e: Expr, step: int
    ) -> int:
        """What relations between nodes say of an expression."""
        kind, operands = hints.refined.get(e, ("", ()))
        trail = self.trail
        if e in hints.norms:
            step = self._norm(evaluator, e, step, hints.norms[e])
        if kind == "nonpositive":
            return trail.add("nonpositive", step, why="a value minus the maximum of all")
        if kind == "share" and trail[step].lo >= 0:
            return trail.add("within", step, most=1.0, nonnegative=True, why="a share of a sum")
        if kind == "mean":
            return self._mean(node, evaluator, operands, step)
        return step

    def _norm(self, evaluator: Evaluator, e: Expr, step: int, most: float) -> int:
        """c/s within ±most; its error as that of c, absolute, over s, where that is smaller."""
        trail = self.trail
        above, below = (evaluator.value(x) for x in parts(e)[1])
        settled = trail.add("worse", above, above)
        steps = (step, evaluator.a.div(settled, below))
        why = "an element over the root of a mean of squares"
        found = (trail.add("within", n, most=most, why=why) for n in steps)
        return min(found, key=lambda n: trail[n].error)

    def _mean(
        self, node: Comprehension, evaluator: Evaluator, operands: tuple[Expr, ...], step: int
    ) -> int:
        """Σ w·v / Σ w, where it is the better bound."""
        above, below = operands
        read = arg_read(node, below)
        total = None if read is None else self.relations.totals.get(read.source)
        if read is None or total is None:
            return step
        found = self.relations.mean_of(node, above, read, total)
        factor = None if found is None else self.factors.get((found[0].node.name, found[1]))
        weight = self.trail[evaluator.value(below)]
        if factor is None or weight.lo < 1:
            return step
        a = evaluator.a
        mean = self.trail.add(
            "weighted_mean", evaluator.value(below), evaluator.value(above), factor,
            divisions=2, **a.quotients(), **a.fold_params(),
        )  # fmt: skip
        return min(step, mean, key=lambda n: self.trail[n].error)

    def _stored(self, ref: Ref, step: int, a: Arithmetic, s: NodeSchedule, is_copy: bool) -> int:
        if self.graph.sort(ref) is not REAL:
            return step
        roundings = a.roundings_of(s.stored, computing=False)
        self._is_stored(ref, s.stored, roundings)
        if s.stored == s.computed:
            return step
        return a.copied(step, roundings) if is_copy else a.through(step, roundings)

    def _reduced(
        self, node: Comprehension, s: NodeSchedule, lift: Evaluator, hints: Hints
    ) -> dict[str, int]:
        monoid, a = node.monoid, lift.a
        if monoid is None:
            return {}
        dims = node.component_dims()
        alone = any(len(d) < len(node.point) for d in dims)
        order = order_of(node, s, self.freedom == "wgsl", alone)
        folder = Folder(a, node, order, lift.value, lift.standard, hints.sums)
        steps = folder.components()
        for e in (x for g in groups_of(node) for lift in g.lift for x in lift.args):
            if e.sort is REAL and id(e) in lift.done:
                self.factors[node.name, e] = lift.done[id(e)]
        project = Evaluator(a, lambda e: self._state(node, e, steps, a))
        found = {
            c.name: self._result(node, folder, project, e, steps)
            for c, e in zip(monoid.outputs, monoid.project, strict=True)
        }
        found |= {c.name: steps[i] for i, c in enumerate(monoid.components)}
        if monoid.identity is None and not (order.full and order.n):
            found = {n: self._or_absent(a, n, node, step) for n, step in found.items()}
        return found

    def _or_absent(self, a: Arithmetic, name: str, node: Comprehension, step: int) -> int:
        """What an empty semigroup gives instead: NaN, −1 or False."""
        sort = node.tensor(name).sort
        if sort is REAL:
            other = a.kept(self.trail.add("constant", value="nan"))
        else:
            absent = -1.0 if sort is INDEX else 0.0
            other = self.trail.add("given", lo=absent, hi=absent)
        return self.trail.add("hull", step, other)

    def _result(
        self, node: Comprehension, folder: Folder, project: Evaluator, e: Expr,
        steps: dict[int, int],
    ) -> int:  # fmt: skip
        group = _mean_of(node, e)
        return project.value(e) if group is None else folder.weighted_mean(group, steps)

    def _state(self, node: Comprehension, e: Expr, steps: dict[int, int], a: Arithmetic) -> int:
        if e.op == "state" and isinstance(e.payload, tuple):
            return steps[int(e.payload[1])]
        return self._leaf(a, node, e)

    # --- leaves -----------------------------------------------------------------------------------

    def _leaf(
        self, a: Arithmetic, node: Comprehension, e: Expr, standard: float | None = None
    ) -> int:
        if e.op == "arg" and isinstance(e.payload, int):
            return self.read(a, node.reads[e.payload], standard is not None)
        size = self._extent(node, str(e.payload))
        if e.op == "extent":
            return self.trail.add("given", lo=size, hi=size)
        return self.trail.add("given", lo=0.0, hi=max(size - 1, 0.0))

    @staticmethod
    def _extent(node: Comprehension, name: str) -> float:
        for d in node.dims:
            if d.name == name:
                return float(d.extent.constant)
        return float(node.monoid.axis_size(name)) if node.monoid is not None else 0.0

    def read(self, a: Arithmetic, read: Read, near: bool = False) -> int:
        """A tensor as a node computes with it: loaded, converted, filled, gathered."""
        view = read.view
        step = self._loaded(a, read.source, near)
        inexact = any(not self.trail[self.read(a, g)].exact for g in view.gathers)
        late = any(is_gathered(i.form) for i in view.guard)
        if view.fill is not None:
            fill = self._fill(a, view.fill)
            if inexact and late:
                return self.trail.add("jump", self.trail.add("hull", step, fill))
            step = self.trail.add("jump", step) if inexact else step
            return self.trail.add("hull", step, fill)
        return self.trail.add("jump", step) if inexact else step

    def _fill(self, a: Arithmetic, fill: Expr) -> int:
        return Evaluator(a, lambda e: self.trail.add("unknown")).value(fill)

    def _loaded(self, a: Arithmetic, ref: Ref, near: bool) -> int:
        step = self.near.get(ref, self.results[ref]) if near else self.results[ref]
        stored = self.stored.get(ref)
        if stored is None:
            return step
        if stored != a.precision:
            step = self._converted(a, ref, stored, step)
        if a.free:
            small = 2.0 ** min(self.trail.formats[r.format].emin for r in a.roundings)
            step = self.trail.add("off", step, by=small, constant="")
        return step

    def _converted(self, a: Arithmetic, ref: Ref, stored: Precision, step: int) -> int:
        """Roundings where the node's format does not hold every number of the stored one."""
        source = self.trail.formats[self.formats[ref]]
        for r in a.roundings:
            target = self.trail.formats[r.format]
            finer = target.emin - target.p <= source.emin - source.p
            narrow = target.p < source.p or target.largest < source.largest or not finer
            step = a.through(step, (r,)) if narrow else a.copied(step, (r,))
        return step


def _mean_of(node: Comprehension, e: Expr) -> Group | None:
    """The group whose acc / l an output of an online softmax is."""
    for group in groups_of(node):
        if group.kind == "online_softmax" and e.op == "mul":
            _, total, acc = group.components
            pairs = [x.payload for x in (e.args[0], *e.args[1].args) if x.op == "state"]
            if pairs == [(0, acc), (0, total)] and e.args[1].op == "recip":
                return group
    return None
