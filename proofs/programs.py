"""Whole programs in Lean: what a result is at a point, as one expression over the inputs.

Defines `Exporter`. Relies on `terms` for scalars and on `tang.rewrite.kinds` to know reductions
by their expressions. Extents are numbers; a coordinate is a natural number, so a form that would
be negative occurs only behind its guard. What it has no word for raises `UnsupportedError`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tang.ir.expr import BOOL, INDEX, Expr, iota
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoids import top_k
from tang.ir.view import Affine, Interval, Read, Ref, constant, variable
from tang.proofs.terms import Reader, Term, UnsupportedError, text, var
from tang.rewrite.factors import factors
from tang.rewrite.kinds import kind

FOLDS: Final = {
    "sum": ("(fun x y => x + y)", "0"),
    "index_sum": ("(fun x y => x + y)", "0"),
    "prod": ("(fun x y => x * y)", "1"),
    "affine_scan": ("affine", "⟨1, 0⟩"),
}
"""Monoids with an exact identity: the combine and the identity in Lean."""

STATES: Final = {
    "online_softmax": ("online", {"m": ".m", "l": ".l", "acc": ".a"}),
    "logsumexp": ("logFold (K := K)", {"m": ".m", "l": ".l"}),
    "welford": ("welfordFold", {"n": ".n", "mean": ".mean", "m2": ".m2", "average": ".mean"}),
    "argmax": ("argFold (fun x => x)", {"index": ".at'", "value": ".best", "at": ".at'",
                                        "best": ".best"}),
    "argmin": ("argFold (fun x => -x)", {"index": ".at'", "value": ".best", "at": ".at'",
                                         "best": ".best"}),
    "max": ("top", {"value": "", "acc": ""}),
    "min": ("bottom", {"value": "", "acc": ""}),
    "index_max": ("top", {"value": "", "acc": ""}),
    "index_min": ("bottom", {"value": "", "acc": ""}),
}  # fmt: skip
"""Semigroups: the fold over the first n + 1 elements in Lean, and its projections."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """Results of one bound graph as Lean text; names of dims are made fresh.

    applied  write a map's element as a function applied to its point, outputs as a pair
    """

    graph: Graph
    applied: bool = False
    fresh: Iterator[int] = field(default_factory=itertools.count)

    def output(self, name: str, at: Sequence[str]) -> str:
        """The output of that name at some coordinates, given as text."""
        ref = next(o.ref for o in self.graph.outputs if o.name == name)
        return self.value(ref, at)

    def value(self, ref: Ref, at: Sequence[str]) -> str:
        """A tensor's element."""
        if any(i.name == ref.node for i in self.graph.inputs):
            return f"({' '.join([ref.node, *at])})" if at else ref.node
        node = next(n for n in self.graph.nodes if n.name == ref.node)
        dims = {d.name: var(a) for d, a in zip(node.point, at, strict=False)}
        if node.monoid is None:
            return self._map(node, dims, ref.output)
        if top_rank(node):
            return self._ranked(node, dims, ref.output, at[len(node.point) :])
        return self._reduction(node, dims, ref.output)

    def _map(self, node: Comprehension, dims: Mapping[str, Term], output: str) -> str:
        names = node.output_names()
        if not self.applied or not dims:
            return text(self.reader(node, dims)(node.body[names.index(output)]))
        inside = {d: var(f"{d}{next(self.fresh)}") for d in dims}
        bodies = [text(self.reader(node, inside)(b)) for b in node.body]
        whole = bodies[0] if len(bodies) == 1 else f"Prod.mk {' '.join(bodies)}"
        loops = " ".join(t.name for t in inside.values())
        value = f"((fun {loops} => {whole}) {' '.join(t.name for t in dims.values())})"
        if len(bodies) == 2:
            return f"{value}.{('fst', 'snd')[names.index(output)]}"
        return value

    def reader(self, node: Comprehension, dims: Mapping[str, Term]) -> Reader:
        """Reads the bodies of a node at a point."""

        def leaf(e: Expr, _: tuple[int, ...]) -> Term:
            if e.sort is BOOL:
                raise UnsupportedError("a boolean tensor")
            return self.read(node.reads[int(str(e.payload))], dims)

        def positions(e: Expr, dims: Mapping[str, Term]) -> Term | None:
            return self._found(node, e, dims) if e.op == "eq" else _positions(e, dims)

        return Reader(leaf, dims, literal=True, positions=positions)

    def _found(self, node: Comprehension, e: Expr, dims: Mapping[str, Term]) -> Term | None:
        """k = an index that is negative outside its guard: k is none, so the guard holds too."""
        for side, a in enumerate(e.args):
            r = node.reads[int(str(a.payload))] if a.op == "arg" else None
            if r is None or not r.view.guard or not _is_negative(r.view.fill):
                continue
            guard, here = self._guarded(r, dims)
            other = self.reader(node, dims)(e.args[1 - side])
            both = (other, here) if side else (here, other)
            return Term("and", (var(f"({text(guard)})"), Term("eq", both)))
        return None

    def read(self, r: Read, dims: Mapping[str, Term]) -> Term:
        """A tensor read through a view."""
        guard, here = self._guarded(r, dims)
        if not r.view.guard:
            return here
        if r.view.fill is None:
            raise UnsupportedError("a guard without a fill")
        fill = Reader(lambda e, _: var(str(e)))(r.view.fill)
        return Term("ite", (guard, here, fill))

    def _guarded(self, r: Read, dims: Mapping[str, Term]) -> tuple[Term, Term]:
        """When a view reads, and what it reads then."""
        known = {v: text(t) for v, t in dims.items()}
        for k, g in enumerate(r.view.gathers):
            known[f"@{k}"] = text(self.read(g, dims))
        here = var(self.value(r.source, [_form(c, known) for c in r.view.coords]))
        return var(_all(_conditions(r.view.guard, known))), here

    def _reduction(self, node: Comprehension, dims: Mapping[str, Term], output: str) -> str:
        if node.monoid is None:
            raise UnsupportedError("a map is no reduction")
        found = kind(node.monoid)
        if found is None:
            return self._merged(node, dims, output)
        bound = {d.name: f"{d.name}{next(self.fresh)}" for d in node.reduce}
        inside = {**dims, **{d: var(n) for d, n in bound.items()}}
        bodies = [text(self.reader(node, inside)(b)) for b in node.body]
        if found in FOLDS:
            return self._fold(node, found, bound, bodies, inside, output)
        return self._state(node, found, bound, bodies, output)

    def _fold(
        self,
        node: Comprehension,
        found: str,
        bound: Mapping[str, str],
        bodies: list[str],
        inside: Mapping[str, Term],
        output: str,
    ) -> str:
        combine, identity = FOLDS[found]
        element = bodies[0] if len(bodies) == 1 else f"⟨{', '.join(bodies)}⟩"
        if node.where:
            ((name, size),) = ((bound[d.name], d.extent.constant) for d in node.reduce)
            known = {v: text(t) for v, t in inside.items()}
            where = _all([_at_least(f, known) for f in node.where])
            gate, body = f"(fun {name} => {where})", f"(fun {name} => {element})"
            total = f"foldWhere {combine} {gate} {identity} {size} {body}"
        else:
            total = element
            for d in reversed(node.reduce):
                loop = f"{d.extent.constant} (fun {bound[d.name]} => {total})"
                total = f"(sum {loop})" if found == "sum" else f"(fold {combine} {identity} {loop})"
            total = total[1:-1]
        part = {"a": ".a"}.get(output, ".b") if found == "affine_scan" else ""
        return f"({total}){part}"

    def _state(
        self,
        node: Comprehension,
        found: str,
        bound: Mapping[str, str],
        bodies: list[str],
        output: str,
    ) -> str:
        if node.where or len(node.reduce) != 1:
            raise UnsupportedError(f"{found} with where or over several dims")
        function, fields = STATES[found]
        (d,) = node.reduce
        if found in ("argmax", "argmin"):
            if node.body[1] is not iota(d.name):
                raise UnsupportedError(f"{found} of something else than the position")
            bodies = bodies[:1]
        loops = " ".join(f"(fun {bound[d.name]} => {b})" for b in bodies)
        state = f"({function} {d.extent.constant - 1} {loops})"
        special: dict[tuple[str, str], Callable[[], str]] = {
            ("online_softmax", "value"): lambda: f"({state}.a * (inv {state}.l))",
            ("logsumexp", "value"): lambda: f"({state}.m + (log {state}.l))",
            ("welford", "variance"): lambda: f"({state}.m2 * (inv {state}.n))",
        }
        if (found, output) in special:
            return special[found, output]()
        if output not in fields:
            raise UnsupportedError(f"{output} of {found}")
        return f"{state}{fields[output]}"

    def _ranked(
        self, node: Comprehension, dims: Mapping[str, Term], output: str, rank: Sequence[str]
    ) -> str:
        """The element of a rank among the k largest; there are at least k."""
        k, (d,) = top_rank(node), node.reduce
        if node.where or node.body[1] is not iota(d.name) or d.extent.constant < k:
            raise UnsupportedError("a top-k with where, without positions or of too few elements")
        name = f"{d.name}{next(self.fresh)}"
        body = text(self.reader(node, {**dims, d.name: var(name)})(node.body[0]))
        part = {"indices": "at'", "at": "at'", "values": "best", "best": "best"}[output]
        loop = f"(topFold {k} {d.extent.constant - 1} (fun {name} => {body}))"
        return f"(atRank (fun s => s.{part}) {rank[0]} {loop})"

    def _merged(self, node: Comprehension, dims: Mapping[str, Term], output: str) -> str:
        """One of two folds in one loop over a product of monoids."""
        if node.monoid is None or node.where or len(node.reduce) != 1:
            raise UnsupportedError("a merged reduction with where")
        parts = factors(node.monoid)
        names = [kind(p.monoid) for p in parts]
        if len(parts) != 2 or not all(n in FOLDS for n in names):
            raise UnsupportedError(f"the monoid {node.monoid.name}")
        (d,) = node.reduce
        name = f"{d.name}{next(self.fresh)}"
        read = self.reader(node, {**dims, d.name: var(name)})
        bodies = [text(read(node.body[p.inputs[0]])) for p in parts]
        (op, e), (op2, e2) = (FOLDS[str(n)] for n in names)
        loop = f"{d.extent.constant} (fun {name} => ⟨{bodies[0]}, {bodies[1]}⟩)"
        which = next(i for i, p in enumerate(parts) if output in p.names.values())
        return f"(fold (both {op} {op2}) ⟨{e}, {e2}⟩ {loop}){('.fst', '.snd')[which]}"


def top_rank(node: Comprehension) -> int:
    """The k of a top-k over one dim, else 0."""
    m = node.monoid
    if m is None or not m.axes or len(node.reduce) != 1 or m != top_k(m.axes[0].size):
        return 0
    return m.axes[0].size


def _positions(e: Expr, dims: Mapping[str, Term]) -> Term | None:
    """a < b of forms in the dims, with what is subtracted on the other side; a form's quotient."""
    if e.op == "floordiv":
        return _quotient(e, dims)
    if e.op != "lt" or e.args[0].sort is not INDEX:
        return None
    left, right = (_affine(a) for a in e.args)
    if left is None or right is None:
        return None
    up, down = _halves(left - right, {v: text(t) for v, t in dims.items()})
    return var(f"({up} < {down})")


def _quotient(e: Expr, dims: Mapping[str, Term]) -> Term | None:
    """How many whole chunks lie before a form that only adds."""
    form, by = (_affine(a) for a in e.args)
    if form is None or by is None or by.terms or by.const.constant < 1:
        return None
    up, down = _halves(form, {v: text(t) for v, t in dims.items()})
    return var(f"(quotient {by.const.constant} {up})") if down == "0" else None


def _is_negative(fill: Expr | None) -> bool:
    """Whether a fill is an index that no coordinate is."""
    known = fill is not None and fill.op == "index" and isinstance(fill.payload, int)
    return known and fill is not None and int(str(fill.payload)) < 0


def _affine(e: Expr) -> Affine | None:
    """An index expression as a form, if it is one."""
    if e.op == "iota":
        return variable(str(e.payload))
    if e.op == "index" and isinstance(e.payload, int):
        return constant(e.payload)
    parts = [_affine(a) for a in e.args]
    known = [p for p in parts if p is not None]
    if e.op not in ("add", "neg") or len(known) < len(parts):
        return None
    return -known[0] if e.op == "neg" else known[0] + known[1]


def _form(form: Affine, known: Mapping[str, str]) -> str:
    """A coordinate: what is added, minus what is subtracted."""
    up, down = _halves(form, known)
    return up if down == "0" else f"({up} - {down})"


def _halves(form: Affine, known: Mapping[str, str]) -> tuple[str, str]:
    """The positive and the negative part of a form."""
    sides: tuple[list[str], list[str]] = ([], [])
    for v, c in form.terms:
        n = c.constant
        term = known[v] if abs(n) == 1 else f"{known[v]} * {abs(n)}"
        sides[n < 0].append(term)
    n = form.const.constant
    if n:
        sides[n < 0].append(str(abs(n)))
    up, down = (" + ".join(s) or "0" for s in sides)
    return (f"({up})" if len(sides[0]) > 1 or "*" in up else up,
            f"({down})" if len(sides[1]) > 1 or "*" in down else down)  # fmt: skip


def _conditions(guard: Sequence[Interval], known: Mapping[str, str]) -> Iterator[str]:
    for i in guard:
        yield _at_least(i.form - i.lo, known)
        up, down = _halves(i.form - i.hi, known)
        yield f"{up} < {down}"


def _at_least(form: Affine, known: Mapping[str, str]) -> str:
    """form ≥ 0 over natural numbers: what is subtracted is no more than what is added."""
    up, down = _halves(form, known)
    return f"{down} ≤ {up}"


def _all(conditions: Sequence[str] | Iterator[str]) -> str:
    """A conjunction, without what always holds."""
    kept = [f"({c})" for c in conditions if not c.startswith("0 ≤ ")]
    return " ∧ ".join(kept) or "True"
