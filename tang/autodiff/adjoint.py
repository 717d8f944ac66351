"""The adjoint of a read: from a value at every point of the reader to the source's own dims.

Defines `transpose`. Relies on `solve` for the points that must be visited and on the tape for
nodes. A gather of an index computed from coordinates is solved like dims; any other is gated by
`index = coordinate`, with every reader visited. Guards become conditions, a fill has no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tang.autodiff.algebra import ZERO, Masks, both, choose
from tang.autodiff.element import (
    Element,
    NoCarrierError,
    identity_view,
    index_value,
    is_linear,
    move,
    renamed,
    used_reads,
)
from tang.autodiff.indices import Unknowns, index_form
from tang.autodiff.solve import Equation, Quotient, Solution, solve
from tang.autodiff.tape import Tape, Term
from tang.ir.expr import INDEX, Expr, apply, arg, boolean, index, real
from tang.ir.extent import poly
from tang.ir.graph import Dim
from tang.ir.view import (
    GATHERED,
    Affine,
    Interval,
    Read,
    View,
    constant,
    is_gathered,
    variable,
)


def transpose(tape: Tape, element: Element, target: Read, name: str, masked: bool) -> Term | None:
    """What the element contributes to the source of `target`, at every point of the source.

    The element is the cotangent of that one read. None when it has no points. Masked: its value
    can be a structural zero.
    """
    if element.is_empty or element.value is ZERO:
        return None
    source = tape.dims(target.source)
    element, target = _apart(element, target, {d.name for d in source})
    system = _System(tape, element, target, source)
    solution = system.solve()
    element = system.element
    for v in system.unknowns.extents:
        element = replace(element, dims=(*element.dims, Dim(v, system.unknowns.extents[v])))
    masked = masked or bool(solution.guard or solution.where or system.gated)
    try:
        return _finished(tape, element, solution, name, masked)
    except NoCarrierError:
        kept = tape.make(f"{name}_terms", system.original, system.original.dims)
        there = identity_view([d.name for d in system.original.dims])
        plain = replace(system.original, reads=(Read(kept, there),), value=arg(0))
        return transpose(tape, plain, target, name, masked)


def _apart(element: Element, target: Read, taken: set[str]) -> tuple[Element, Read]:
    """The same with dims that have none of the source's names."""
    names: dict[str, str] = {}
    used = taken | {d.name for d in element.dims}
    for d in element.dims:
        if d.name in taken:
            names[d.name] = _fresh(f"{d.name}_", used)
    if not names:
        return element, target
    forms = {old: variable(new) for old, new in names.items()}
    view = target.view.map_forms(lambda f: f.substitute(forms))
    return renamed(element, names), Read(target.source, view)


def _fresh(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    used.add(name)
    return name


@dataclass(slots=True)
class _System:
    """The equations of one read, with its gathers either solved or turned into a gate."""

    tape: Tape
    element: Element
    target: Read
    source: tuple[Dim, ...]
    original: Element = field(init=False)
    unknowns: Unknowns = field(default_factory=Unknowns)
    gathered: dict[str, Affine] = field(default_factory=dict)
    opaque: dict[str, Expr] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.original = self.element
        self.used |= {d.name for d in (*self.element.dims, *self.source)}

    @property
    def gated(self) -> bool:
        return bool(self.opaque)

    def solve(self) -> Solution:
        """Solve what is affine; the rest becomes part of the element's value."""
        view = self.target.view
        for k, gather in enumerate(view.gathers):
            self.gather(k, gather, view.gathers[:k])
        where = self.conditions(view.guard)
        gates: list[tuple[Affine, Affine]] = []
        equations = list(self.unknowns.equations)
        for d, coord in zip(self.source, view.coords, strict=True):
            form = coord.substitute(self.gathered)
            if is_gathered(form):
                gates.append((form, variable(d.name)))
            else:
                equations.append(Equation(variable(d.name), form))
        self.gate(gates, view.guard)
        extents = {**self.element.extents, **self.unknowns.extents}
        conditions = [*self.element.where, *where]
        implied = frozenset(self.unknowns.implied)
        return solve(self.source, extents, equations, conditions, implied)

    def gather(self, k: int, gather: Read, earlier: Sequence[Read]) -> None:
        """The k-th gathered index: a form over dims, or the value of a read of its own."""
        name = f"{GATHERED}{k}"
        view = gather.view
        if not view.gathers:
            moved = view.map_forms(lambda f: f.substitute(self.gathered))
            plain = Read(gather.source, moved)
            box = {**self.element.extents, **self.unknowns.extents}
            node = self.tape.sources.get(gather.source.node)
            fresh = partial(_fresh, used=self.used)
            found = index_form(plain, node, box, fresh, self.unknowns)
            if found is not None:
                self.gathered[name] = found[0]
                self.unknowns.add(found[1])
                return
            used = [v for f in view.forms() for v in f.variables if v.startswith(GATHERED)]
            if used:
                view = replace(view, gathers=tuple(earlier))
        self.opaque[name] = self.read(Read(gather.source, view))

    def read(self, read: Read) -> Expr:
        """An index that the element reads besides its own values."""
        self.element = replace(self.element, reads=(*self.element.reads, read))
        return arg(len(self.element.reads) - 1, INDEX)

    def conditions(self, guard: Sequence[Interval]) -> list[Affine]:
        """Guards as forms ≥ 0; those over opaque indices belong to the gate."""
        where: list[Affine] = []
        for i in guard:
            form = i.form.substitute(self.gathered)
            if not is_gathered(form):
                where += [form - i.lo, constant(i.hi - 1) - form]
        return where

    def gate(self, gates: list[tuple[Affine, Affine]], guard: Sequence[Interval]) -> None:
        """The value where every opaque index leads to the point in question, else 0."""
        if not self.opaque:
            return
        test = boolean(True)
        for i in guard:
            form = i.form.substitute(self.gathered)
            if is_gathered(form):
                low, value = self.value(constant(i.lo)), self.value(form)
                test = both(test, apply("not", apply("lt", value, low)))
                test = both(test, apply("lt", value, self.value(constant(i.hi))))
        for form, coord in gates:
            test = both(test, apply("eq", self.value(form), self.value(coord)))
        self.element = replace(self.element, value=choose(test, self.element.value, ZERO))

    def value(self, form: Affine) -> Expr:
        reads = list(self.element.reads)
        found = index_value(form, self.opaque, reads, self.element, self.tape.size)
        self.element = replace(self.element, reads=tuple(reads))
        return found


def _finished(tape: Tape, element: Element, s: Solution, name: str, masked: bool) -> Term:
    """The transposed node, or no node where it would only copy, and the read that finds it."""
    dims = tuple(Dim(n, e) for n, e in s.params.items())
    free = tuple(Dim(n, e) for n, e in s.free.items())
    reads, value = move(element, (*dims, *free), s.forms, tape.size)
    inner = Element((*dims, *free), tuple(reads), value, tuple(s.where))
    if not free and not s.where:
        direct = _direct(tape, inner, s)
        if direct is not None:
            return replace(direct, masked=masked)
    made = tape.make(name, inner, dims, free)
    masked = masked or Masks().masked(value, frozenset())
    return Term((Read(made, _place(tape, s)),), arg(0), masked)


def _place(tape: Tape, s: Solution) -> View:
    """Where an element of the source is in the transposed node."""
    guard = tuple(s.guard)
    gathers = tuple(_gather(tape, q) for q in s.gathers)
    return View(s.place, guard, real(0) if guard else None, gathers)


def _gather(tape: Tape, q: Quotient) -> Read:
    """The gather of a computed index; one that hangs on another gather has a guard of its own."""
    ref = tape.quotient(q)
    if not is_gathered(q.at):
        return Read(ref, View((q.at,)))
    return Read(ref, View((q.at,), (Interval(q.at, poly(0), q.length),), index(-1)))


def _direct(tape: Tape, inner: Element, s: Solution) -> Term | None:
    """The contribution without a node of its own: a renaming, or a read through one more view."""
    names = [f.terms[0][0] for f in s.place if _is_plain(f)]
    if not s.guard and len(names) == len(s.params) == len(set(names)):
        dims = [Dim(n, e) for n, e in zip(names, s.params.values(), strict=True)]
        reads, value = move(inner, dims, s.found, tape.size)
        return Term(tuple(reads), value)
    position = is_linear(inner.value)
    if position is None or len(used_reads(inner.value)) != 1:
        return None
    view = inner.reads[position].view
    if view.gathers or view.guard:
        return None
    place = _place(tape, s)
    coords = tuple(c.substitute(s.found) for c in view.coords)
    through = View(coords, place.guard, place.fill, place.gathers)
    reads = list(inner.reads)
    reads[position] = Read(reads[position].source, through)
    return Term(tuple(reads), inner.value)


def _is_plain(form: Affine) -> bool:
    return (
        len(form.terms) == 1
        and form.terms[0][1] == poly(1)
        and not form.const.terms
        and (not is_gathered(form))
    )
