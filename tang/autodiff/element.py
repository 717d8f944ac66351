"""Elements: what one read of a node contributes to a gradient, point by point, and their nodes.

Defines `Element` (dims, conditions, reads, value), its substitution of dims by forms, and `build`,
which makes a comprehension of one. Relies on expressions and views. It solves no view and it does
not decide which contributions there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from tang.autodiff.algebra import ZERO
from tang.ir import monoids
from tang.ir.expr import (
    INDEX,
    REAL,
    Expr,
    apply,
    arg,
    extent,
    index,
    iota,
    rebuild,
    substitute,
    walk,
)
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Affine, Read, Ref, View

SizeOf = Callable[[Poly], Ref]
"""A 0-d index tensor that holds a symbolic extent."""


@dataclass(frozen=True, slots=True)
class Element:
    """A value at every point of dims where every form of `where` is ≥ 0; args are reads."""

    dims: tuple[Dim, ...]
    reads: tuple[Read, ...]
    value: Expr
    where: tuple[Affine, ...] = ()

    @property
    def extents(self) -> dict[str, Poly]:
        return {d.name: d.extent for d in self.dims}

    @property
    def is_empty(self) -> bool:
        """Whether a known extent is 0, so that there are no points."""
        return any(d.extent == poly(0) for d in self.dims)


class NoCarrierError(Exception):
    """A division by the extent of a dim that the new node lacks: make a node of it first."""


def used_reads(value: Expr) -> list[int]:
    """Positions of the reads in the value, in order."""
    found = (e.payload for e in walk(value) if e.op == "arg")
    return sorted({i for i in found if isinstance(i, int)})


def compact(reads: Sequence[Read], value: Expr) -> tuple[tuple[Read, ...], Expr]:
    """Only the reads in use, each once, and the value over them."""
    position: dict[Read, int] = {}
    moves: dict[Expr, Expr] = {}
    sorts = {e.payload: e for e in walk(value) if e.op == "arg"}
    for i in used_reads(value):
        position.setdefault(reads[i], len(position))
        moves[sorts[i]] = arg(position[reads[i]], sorts[i].sort)
    return tuple(position), substitute(value, moves)


def compact_all(
    reads: Sequence[Read], bodies: Sequence[Expr]
) -> tuple[tuple[Read, ...], list[Expr]]:
    """Only the reads that the bodies use."""
    used = sorted({e.payload for b in bodies for e in walk(b) if e.op == "arg"}, key=str)
    keep = [i for i in range(len(reads)) if i in used]
    moves = {
        e: arg(keep.index(int(str(e.payload))), e.sort)
        for b in bodies for e in walk(b) if e.op == "arg"
    }  # fmt: skip
    return tuple(reads[i] for i in keep), [substitute(b, moves) for b in bodies]


def joined(parts: Sequence[tuple[Sequence[Read], Expr]]) -> tuple[tuple[Read, ...], list[Expr]]:
    """Several values over reads of their own as values over one list of reads."""
    reads: list[Read] = []
    values: list[Expr] = []
    for own, value in parts:
        args = [e for e in walk(value) if e.op == "arg" and isinstance(e.payload, int)]
        moves = {e: arg(int(str(e.payload)) + len(reads), e.sort) for e in args}
        values.append(substitute(value, moves))
        reads += own
    return tuple(reads), values


def identity_view(names: Sequence[str]) -> View:
    """The view whose coordinates are these dims."""
    return View(tuple(Affine(((n, poly(1)),)) for n in names))


@dataclass(slots=True)
class _Moved:
    """Values whose dims are forms over the dims of a new node; may append reads of extents."""

    forms: Mapping[str, Affine]
    old: Mapping[str, Poly]
    new: Mapping[str, Poly]
    reads: list[Read]
    size_of: SizeOf

    def value(self, root: Expr) -> Expr:
        done: dict[Expr, Expr] = {}
        for e in walk(root):
            done[e] = self._step(e, tuple(done[a] for a in e.args))
        return done[root]

    def _step(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op == "iota" and e.payload in self.forms:
            return self.form(self.forms[str(e.payload)])
        if e.op == "extent" and str(e.payload) not in self.new:
            return self.size(self.old[str(e.payload)])
        if e.op == "extent" and self.new[str(e.payload)] != self.old[str(e.payload)]:
            return self.size(self.old[str(e.payload)])
        if e.op in ("floordiv", "mod") and args[1].op not in ("extent", "index"):
            raise NoCarrierError
        return rebuild(e, args)

    def form(self, form: Affine) -> Expr:
        """An affine form as an index expression."""
        total: Expr | None = None
        for v, c in form.terms:
            term = iota(v) if c == poly(1) else self._scaled(c, iota(v))
            total = term if total is None else apply("add", total, term)
        if total is None:
            return self.size(form.const)
        return total if not form.const.terms else apply("add", total, self.size(form.const))

    def _scaled(self, c: Poly, e: Expr) -> Expr:
        return apply("neg", e) if c == poly(-1) else apply("mul", self.size(c), e)

    def size(self, p: Poly) -> Expr:
        """An extent: a constant, the extent of a dim, or read from a tensor of its own."""
        if p.is_constant:
            return index(p.constant)
        carrier = next((n for n, e in self.new.items() if e == p), None)
        if carrier is not None:
            return extent(carrier)
        if p.terms == ((p.terms[0][0][:1], 1),):
            self.reads.append(Read(self.size_of(p), View(())))
            return arg(len(self.reads) - 1, INDEX)
        terms = [self._monomial(m, c) for m, c in p.terms]
        return reduce(lambda a, b: apply("add", a, b), terms)

    def _monomial(self, symbols: tuple[str, ...], c: int) -> Expr:
        factors = [self.size(poly(s)) for s in symbols]
        factors += [index(c)] if c != 1 or not factors else []
        return reduce(lambda a, b: apply("mul", a, b), factors)


def move(
    element: Element, dims: Sequence[Dim], forms: Mapping[str, Affine], size_of: SizeOf
) -> tuple[list[Read], Expr]:
    """Reads and value of the element over other dims, each old dim being a form."""
    reads = [renamed_read(r, forms) for r in element.reads]
    new = {d.name: d.extent for d in dims}
    moved = _Moved(forms, element.extents, new, reads, size_of)
    return moved.reads, moved.value(element.value)


def index_value(
    form: Affine, gathered: Mapping[str, Expr], reads: list[Read], element: Element, size_of: SizeOf
) -> Expr:
    """A form over dims and gathered indices as an expression; extents may append reads."""
    moved = _Moved({}, element.extents, element.extents, reads, size_of)
    whole = moved.form(form)
    return substitute(whole, {iota(n): e for n, e in gathered.items()})


def with_extents(
    value: Expr, dims: Sequence[Dim], every: Sequence[Dim], reads: list[Read], size_of: SizeOf
) -> Expr:
    """The value without extents of dims that are not in `dims`; may append reads of extents."""
    new = {d.name: d.extent for d in dims}
    moved = _Moved({}, {d.name: d.extent for d in every}, new, reads, size_of)
    return moved.value(value)


def renamed(element: Element, names: Mapping[str, str]) -> Element:
    """The element with dims renamed."""
    forms = {old: Affine(((new, poly(1)),)) for old, new in names.items()}
    dims = tuple(Dim(names.get(d.name, d.name), d.extent) for d in element.dims)
    reads = tuple(renamed_read(r, forms) for r in element.reads)
    swaps = {iota(o): iota(n) for o, n in names.items()}
    swaps |= {extent(o): extent(n) for o, n in names.items()}
    value = substitute(element.value, swaps)
    return Element(dims, reads, value, tuple(w.substitute(forms) for w in element.where))


def renamed_read(read: Read, forms: Mapping[str, Affine]) -> Read:
    """The read with dims replaced by forms."""
    return Read(read.source, read.view.map_forms(lambda f: f.substitute(forms)))


def build(
    name: str, element: Element, point: Sequence[Dim], over: Sequence[Dim] = ()
) -> Comprehension:
    """The node that sums the element over dims: a map where nothing is summed or excluded."""
    reads, value = compact(element.reads, element.value)
    if not over and not element.where:
        return Comprehension(name, tuple(point), reads, (value,), outputs=("value",))
    summed = tuple(over)
    return Comprehension(name, tuple(point), reads, (value,), summed, element.where, monoids.SUM)


def is_linear(value: Expr) -> int | None:
    """The read of which the value is a constant multiple; None when it is no such thing."""
    e = value
    while e.op in ("neg", "mul"):
        rest = [a for a in e.args if a.op != "real"]
        if len(rest) != 1:
            return None
        (e,) = rest
    if e.op != "arg" or e.sort is not REAL or not isinstance(e.payload, int):
        return None
    finite = all(x.payload not in ("inf", "-inf", "nan") and x is not ZERO
                 for x in walk(value) if x.op == "real")  # fmt: skip
    return e.payload if finite else None
