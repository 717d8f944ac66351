"""Opening nodes: their bodies in the dims of another, seen through the maps between.

Defines `Space`, in which expressions of several nodes are written over one numbering of reads, so
that equal values are equal expressions. Relies on the program and the IR. It changes nothing;
a read that cannot be written in the space raises `NotHereError`, which every matcher catches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations, product
from math import prod

from tang.ir.bounds import form_range
from tang.ir.expr import Expr, apply, arg, extent, index, iota, rebuild, substitute, walk
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Affine, Read, Ref, View, constant, is_gathered, variable
from tang.rewrite.kinds import kind_of, value_names
from tang.rewrite.program import Program

MAX_SIZE = 64
"""A map is looked through while it has at most so many operations, those behind it included."""

_ONE = poly(1)

Env = Mapping[str, Affine]
"""Dims of a node → forms over the dims of the space."""


class NotHereError(Exception):
    """A value cannot be written in this space: no match, not an error."""


class Space:
    """Reads over common dims, numbered in order of appearance, and the extents of those dims."""

    def __init__(self, program: Program, dims: Sequence[Dim]) -> None:
        self.program = program
        self.extents: dict[str, Poly] = {d.name: d.extent for d in dims}
        self.reads: list[Read] = []
        self._numbers: dict[Read, int] = {}
        self._open: dict[int, Expr | None] = {}
        self._full: dict[Expr, Expr] = {}
        self._depends: dict[Expr, frozenset[str]] = {}
        self.seen: dict[str, None] = {}
        """Nodes that were looked into: whoever checks a match needs them."""

    def add(self, dim: Dim) -> str:
        """A dim of that extent, named like it or with a number; returns the name."""
        name, n = dim.name, 2
        while name in self.extents:
            name, n = f"{dim.name}_{n}", n + 1
        self.extents[name] = dim.extent
        return name

    def body(self, node: Comprehension, env: Env, part: int = 0) -> Expr:
        """A body of a node with its dims replaced; reads are not looked through."""
        return self.moved(node.body[part], node.reads, node.dims, env)

    def moved(self, e: Expr, reads: Sequence[Read], dims: Sequence[Dim], env: Env) -> Expr:
        """An expression over some reads and dims, in this space."""
        extents = {d.name: d.extent for d in dims}
        done: dict[Expr, Expr] = {}
        for x in walk(e):
            if x.op == "arg" and isinstance(x.payload, int):
                done[x] = arg(self.number(replaced(reads[x.payload], env)), x.sort)
            elif x.op == "iota":
                done[x] = self._coordinate(env.get(str(x.payload), variable(str(x.payload))))
            elif x.op == "extent":
                done[x] = self.size(extents.get(str(x.payload)))
            elif x.op in ("state", "fold"):
                raise NotHereError
            else:
                done[x] = rebuild(x, tuple(done[a] for a in x.args))
        return done[e]

    def number(self, read: Read) -> int:
        """The position of a read, new or known."""
        found = self._numbers.setdefault(read, len(self.reads))
        if found == len(self.reads):
            self.reads.append(read)
        return found

    def opened(self, position: int) -> Expr | None:
        """What a read of a map computes, in this space; None when it is no plain read of one."""
        if position not in self._open:
            self._open[position] = self._opened(self.reads[position])
        return self._open[position]

    def _opened(self, read: Read) -> Expr | None:
        node = self.program.node(read.source.node)
        if node is None or node.monoid is not None or read.view.guard or read.view.gathers:
            return None
        if _left(self.program, node, MAX_SIZE) < 0:
            return None
        part = node.outputs.index(read.source.output)
        self.seen[node.name] = None
        env = {d.name: c for d, c in zip(node.point, read.view.coords, strict=True)}
        try:
            return self.body(node, env, part)
        except NotHereError:
            return None

    def full(self, e: Expr) -> Expr:
        """The expression with every small map looked through."""
        if e not in self._full:
            done: dict[Expr, Expr] = {}
            for x in walk(e):
                inner = (
                    self.opened(x.payload) if isinstance(x.payload, int) and x.op == "arg" else None
                )
                if inner is not None:
                    done[x] = self.full(inner)
                else:
                    done[x] = rebuild(x, tuple(done[a] for a in x.args)) if x.args else x
            self._full[e] = done[e]
        return self._full[e]

    def source(self, e: Expr) -> tuple[Comprehension, Read] | None:
        """The node whose result an argument is, with the read; None for anything else."""
        if e.op != "arg" or not isinstance(e.payload, int):
            return None
        read = self.reads[e.payload]
        node = self.program.node(read.source.node)
        return None if node is None else (node, read)

    def reduction(self, e: Expr, *kinds: str, outputs: Sequence[str] = ()) -> Opened | None:
        """A reduction of one of these kinds whose value is read plainly; None for anything else.

        Maps that only pass a value on are looked through. `outputs` are the results that count,
        by default those of a simple reduction.
        """
        e = self.through(e)
        found = self.source(e)
        if found is None:
            return None
        node, read = found
        plain = not read.view.guard and not read.view.gathers
        if not plain or kind_of(node) not in kinds or node.monoid is None:
            return None
        known = outputs or value_names(node)
        if read.source.output not in known:
            return None
        dims = node.tensor(read.source.output).dims
        if len(dims) != len(read.view.coords):
            return None
        env = {d.name: c for d, c in zip(dims, read.view.coords, strict=True)}
        self.seen[node.name] = None
        return Opened(self, node, env, read.source.output)

    def through(self, e: Expr) -> Expr:
        """The value behind maps that do nothing but pass it on."""
        while e.op == "arg" and isinstance(e.payload, int):
            inner = self.opened(e.payload)
            if inner is None or inner.op != "arg":
                break
            e = inner
        return e

    def depends(self, e: Expr) -> frozenset[str]:
        """The dims on which an expression of this space depends."""
        if e not in self._depends:
            reads = (self.reads[x.payload].view.dims() for x in walk(e)
                     if x.op == "arg" and isinstance(x.payload, int))  # fmt: skip
            self._depends[e] = e.names.union(*reads)
        return self._depends[e]

    def _coordinate(self, form: Affine) -> Expr:
        if is_gathered(form):
            raise NotHereError
        parts = [self._scaled(iota(v), c) for v, c in form.terms]
        if form.const.terms or not parts:
            parts.append(self.size(form.const))
        found = parts[0]
        for p in parts[1:]:
            found = apply("add", found, p)
        return found

    def _scaled(self, e: Expr, c: Poly) -> Expr:
        return e if c == poly(1) else apply("mul", e, self.size(c))

    def size(self, size: Poly | None) -> Expr:
        """A size as an index expression over the extents of this space's dims."""
        if size is None:
            raise NotHereError
        if size.is_constant:
            return index(size.constant)
        holders = {e: name for name, e in reversed(self.extents.items())}
        if size in holders:
            return extent(holders[size])
        return self._polynomial(size, holders)

    def _polynomial(self, size: Poly, holders: Mapping[Poly, str]) -> Expr:
        total: Expr | None = None
        for symbols, factor in size.terms:
            term = index(factor)
            for s in symbols:
                if poly(s) not in holders:
                    raise NotHereError
                term = apply("mul", term, extent(holders[poly(s)]))
            total = term if total is None else apply("add", total, term)
        return index(0) if total is None else total


@lru_cache(maxsize=1 << 14)
def _operations(e: Expr) -> int:
    return sum(1 for _ in walk(e))


def _left(program: Program, node: Comprehension, budget: int) -> int:
    """What is left of a budget of operations after a map and all maps behind it; < 0: too large."""
    budget -= sum(map(_operations, node.body))
    for read in node.reads:
        source = program.node(read.source.node)
        if budget < 0:
            break
        if source is not None and source.monoid is None:
            budget = _left(program, source, budget)
    return budget


class Opened:
    """A reduction seen from a space: its node, and its point dims as forms over the space."""

    def __init__(self, space: Space, node: Comprehension, env: Env, output: str = "value") -> None:
        self.space, self.node, self.env, self.output = space, node, env, output

    def body(self, names: Sequence[str], part: int = 0) -> Expr:
        """The body, its reduce dims under the given names of the space."""
        return self.space.body(self.node, self.inner(names), part)

    def where(self, names: Sequence[str]) -> frozenset[Affine]:
        """The conditions in the space."""
        return conditions(self.node, self.inner(names))

    def inner(self, names: Sequence[str]) -> Env:
        """Point and reduce dims as forms over the space."""
        return inner_env(self.env, self.node.reduce, names)

    def namings(self, reduce: Sequence[tuple[str, Poly]]) -> Iterator[tuple[str, ...]]:
        """Every way to name the reduce dims after dims of the space with the same extents."""
        wanted = [d.extent for d in self.node.reduce]
        if len(wanted) != len(reduce) or len(reduce) > 4:
            return
        for order in permutations(reduce):
            if all(e == w for (_, e), w in zip(order, wanted, strict=True)):
                yield tuple(n for n, _ in order)


def inner_env(env: Env, reduce: Sequence[Dim], names: Sequence[str]) -> Env:
    """Forms for point dims, with reduce dims named after dims of the space."""
    return {**env, **{d.name: variable(n) for d, n in zip(reduce, names, strict=True)}}


def plain(node: Comprehension, ref: Ref) -> Read:
    """The read of a node's result at the dims of the same names."""
    return Read(ref, View(tuple(variable(d.name) for d in node.tensor(ref.output).dims)))


def own(space: Space, node: Comprehension, part: int = 0) -> Expr:
    """A body of a node in a space of its own dims."""
    return space.moved(node.body[part], node.reads, node.dims, {})


def rebuilt(space: Space, node: Comprehension, part: int, body: Expr) -> Comprehension:
    """The node of a space with one body replaced."""
    bodies = [own(space, node, k) if k != part else body for k in range(len(node.body))]
    reads, exprs = compact(space.reads, bodies)
    return Comprehension(
        node.name, node.point, reads, exprs, node.reduce, node.where, node.monoid, node.outputs
    )


def conditions(node: Comprehension, env: Env) -> frozenset[Affine]:
    """The conditions of a node in other dims, those that always hold left out."""
    forms = (w.substitute(dict(env)) for w in node.where)
    return frozenset(f for f in forms if f.terms or not _nonnegative(f.const))


def _nonnegative(p: Poly) -> bool:
    return p.is_constant and p.constant >= 0


def replaced(read: Read, env: Env) -> Read:
    """A read with the dims replaced by forms."""
    if not env:
        return read
    return Read(read.source, read.view.map_forms(lambda f: _substituted(f, env)))


def _substituted(form: Affine, env: Env) -> Affine:
    """`substitute`, quick where nothing or a single dim is replaced."""
    if not any(v in env for v, _ in form.terms):
        return form
    if len(form.terms) == 1 and form.terms[0][1] == _ONE and not form.const.terms:
        return env[form.terms[0][0]]
    return form.substitute(env)


def compact(
    reads: Sequence[Read], exprs: Sequence[Expr]
) -> tuple[tuple[Read, ...], tuple[Expr, ...]]:
    """The reads that the expressions use, and the expressions over those alone."""
    kept: dict[Expr, Expr] = {}
    for x in walk(*exprs):
        if x.op == "arg" and isinstance(x.payload, int):
            kept[x] = arg(len(kept), x.sort)
    chosen = tuple(reads[x.payload] for x in kept if isinstance(x.payload, int))
    return chosen, tuple(substitute(e, kept) for e in exprs)


def nonempty(program: Program, node: Comprehension) -> bool:
    """Whether every point of a reduction is known to have an element.

    A reduce dim as long as a point dim has one, since there is a point. With conditions, each
    reduce dim is tried at its first, its last and the position of a point dim of equal extent.
    """
    least = {f.symbol: f.minimum for f in program.facts}
    points = {d.extent for d in node.point}
    if not all(d.extent in points or _at_least_one(d.extent, least) for d in node.reduce):
        return False
    if not node.where or len(node.reduce) > 3:
        return not node.where
    return any(_holds(node, dict(pick)) for pick in product(*_places(node)))


def _places(node: Comprehension) -> list[list[tuple[str, Affine]]]:
    found = []
    for d in node.reduce:
        forms = [constant(0), constant(d.extent - 1)]
        forms += [variable(p.name) for p in node.point if p.extent == d.extent]
        found.append([(d.name, f) for f in forms])
    return found


def _holds(node: Comprehension, at: dict[str, Affine]) -> bool:
    """Whether the conditions hold at a pick of the reduce dims, whatever the point."""
    sizes = {d.name: d.extent.constant for d in node.dims if d.extent.is_constant}
    forms = [w.substitute(at) for w in node.where]
    return all(_never_negative(f) or _positive_range(f, sizes) for f in forms)


def _never_negative(form: Affine) -> bool:
    """Whether no coefficient is negative: coordinates and sizes never are."""
    polys = (form.const, *(c for _, c in form.terms))
    return all(c >= 0 for p in polys for _, c in p.terms)


def _positive_range(form: Affine, sizes: Mapping[str, int]) -> bool:
    known = form.variables <= sizes.keys() and form.const.is_constant
    if not known or not all(c.is_constant for _, c in form.terms):
        return False
    found = form_range(form, {v: sizes[v] for v in form.variables}, ())
    return found is None or found[0] >= 0


def _at_least_one(extent: Poly, least: Mapping[str, int]) -> bool:
    """Whether a size is at least 1, given least sizes of symbols; symbols are never negative."""
    if any(c < 0 for _, c in extent.terms):
        return False
    return sum(c * prod(least.get(s, 0) for s in m) for m, c in extent.terms) >= 1
