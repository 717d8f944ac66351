"""Substitution: dims renamed, views composed, a map evaluated where it is read.

Defines `renamed`, `composed`, `inlined` and `copied_through`. Relies on the IR and on `linear` for
coordinates as numbers. It decides nothing about cost; what it returns has the meaning of what went
in, or it returns None.

A map M read at the forms c through a guard G with a fill is select(G, M.body at c, fill). The
reads of M become reads at c under both guards: what they give outside G is never looked at.
Gathers of the outer view come first, and those of M are renumbered behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tang.errors import GraphError
from tang.ir.derived import zero
from tang.ir.expr import INDEX, Expr, apply, arg, boolean, extent, index, iota, substitute, walk
from tang.ir.extent import ZERO
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import GATHERED, Affine, Interval, Read, View, is_gathered, variable
from tang.rewrite.linear import extent_expr, index_expr
from tang.rewrite.matching import moved_args, pruned
from tang.rewrite.proofs import Domain
from tang.rewrite.scalar import constant_of

Forms = Mapping[str, Affine]


# --- dims ----------------------------------------------------------------------------------------


def renamed(node: Comprehension, names: Mapping[str, str]) -> Comprehension:
    """The node with other names for dims and static axes in reads, body, where and dims.

    All at once, so two names may be exchanged. The monoid keeps the names of its axes: give it
    renamed ones too. Raises GraphError where two dims would share a name: nothing is captured.
    """
    new = [names.get(d.name, d.name) for d in node.dims]
    axes = [names.get(a.name, a.name) for a in node.monoid.axes] if node.monoid else []
    if len({*new, *axes}) < len(new) + len(axes):
        raise GraphError(f"node {node.name!r}: renaming {dict(names)} makes two dims one")
    forms = {old: variable(name) for old, name in names.items()}
    return replace(
        node,
        point=tuple(Dim(names.get(d.name, d.name), d.extent) for d in node.point),
        reduce=tuple(Dim(names.get(d.name, d.name), d.extent) for d in node.reduce),
        where=tuple(w.substitute(forms) for w in node.where),
        reads=tuple(Read(r.source, at_forms(r.view, forms)) for r in node.reads),
        body=tuple(renamed_expr(b, names) for b in node.body),
    )


def at_forms(view: View, forms: Forms) -> View:
    """The view with dims replaced by forms everywhere."""
    return view.map_forms(lambda f: f.substitute(forms))


def renamed_expr(root: Expr, names: Mapping[str, str]) -> Expr:
    """The expression with coordinates and extents of dims renamed."""
    changes: dict[Expr, Expr] = {}
    for e in walk(root):
        if e.op in ("iota", "extent") and e.payload in names:
            name = names[str(e.payload)]
            changes[e] = iota(name) if e.op == "iota" else extent(name)
    return substitute(root, changes) if changes else root


# --- views ---------------------------------------------------------------------------------------


def composed(inner: View, forms: Forms, outer: View, fill: Expr | None) -> View:
    """`inner` at the coordinates `forms`, which hold in `outer`, read only inside both guards.

    Conditions of the inner view on dims may become conditions on gathered values, which are
    tested after gathers are read; so every inner gather is guarded by them, and by the outer
    conditions on gathered values, itself.
    """
    shift = _shift(inner, outer)
    mapped = [_mapped(i, {**forms, **shift}) for i in inner.guard]
    late = [i for i in outer.guard if is_gathered(i.form)]
    late += _turned_late(inner.guard, mapped)
    gathers = [_gather(g, {**forms, **shift}, outer.gathers, late) for g in inner.gathers]
    return _view(inner.coords, {**forms, **shift}, [*outer.guard, *mapped], fill,
                 [*outer.gathers, *gathers])  # fmt: skip


def _gather(gather: Read, forms: Forms, prefix: Sequence[Read], late: list[Interval]) -> Read:
    """A gather of the inner view; one that has gathers of its own needs the outer ones again."""
    view = gather.view
    mapped = [_mapped(i, forms) for i in view.guard]
    guard = [*late, *mapped]
    fill = (view.fill or zero(INDEX)) if guard else None
    if not view.gathers:
        return Read(gather.source, _view(view.coords, forms, guard, fill, ()))
    shift = {f"{GATHERED}{k}": variable(f"{GATHERED}{k + len(prefix)}")
             for k in range(len(view.gathers))}  # fmt: skip
    own = {**forms, **shift}
    mapped = [_mapped(i, own) for i in view.guard]
    below = [*late, *_turned_late(view.guard, mapped)]
    inner = [_gather(g, own, prefix, below) for g in view.gathers]
    guard = [*late, *mapped]
    return Read(gather.source, _view(view.coords, own, guard, fill, [*prefix, *inner]))


def _shift(inner: View, outer: View) -> dict[str, Affine]:
    count = len(outer.gathers)
    names = range(len(inner.gathers))
    return {f"{GATHERED}{k}": variable(f"{GATHERED}{k + count}") for k in names}


def _mapped(i: Interval, forms: Forms) -> Interval:
    return Interval(i.form.substitute(forms), i.lo, i.hi)


def _turned_late(before: Sequence[Interval], after: Sequence[Interval]) -> list[Interval]:
    """Conditions that were tested before any gather, and now need gathered values."""
    pairs = zip(before, after, strict=True)
    return [b for a, b in pairs if is_gathered(b.form) and not is_gathered(a.form)]


def _view(
    coords: Sequence[Affine],
    forms: Forms,
    guard: Sequence[Interval],
    fill: Expr | None,
    gathers: Sequence[Read],
) -> View:
    unique = tuple(dict.fromkeys(guard))
    placed = tuple(c.substitute(forms) for c in coords)
    return View(placed, unique, fill if unique else None, tuple(gathers))


def proved(view: View, domain: Domain) -> View:
    """The view without the conditions that hold at every point where it is read.

    One at a time: each is judged under those that are left.
    """
    guard = list(view.guard)
    for i in view.guard:
        others = [g for g in guard if g is not i]
        if not is_gathered(i.form) and domain.under(others).holds(i):
            guard = others
    if len(guard) == len(view.guard):
        return view
    return View(view.coords, tuple(guard), view.fill if guard else None, view.gathers)


def strays(view: View, dims: Sequence[Dim]) -> list[str]:
    """The dims of a node that a view reads at gathered positions which may lie outside of them.

    Out of range such a read is no value; a read of what lies behind the node might be one.
    """
    guarded = {i.form: i for i in view.guard}
    found = []
    for dim, form in zip(dims, view.coords, strict=False):
        held = guarded.get(form)
        inside = held is not None and held.lo == ZERO and held.hi == dim.extent
        if is_gathered(form) and not inside:
            found.append(dim.name)
    return found


def copied_through(inner: View, forms: Forms, outer: View, domain: Domain) -> View | None:
    """The view that reads a copy's source directly; None when two fills cannot be one.

    A fill of the inner view is still seen unless its conditions hold wherever the outer ones do;
    one of the outer view unless its conditions always hold.
    """
    mapped = composed(inner, forms, outer, None if not outer.guard and not inner.guard
                      else outer.fill or inner.fill)  # fmt: skip
    fills = {outer.fill, inner.fill} - {None}
    if len(fills) < 2:
        return pruned(mapped)
    inside = domain.under(outer.guard)
    shift = _shift(inner, outer)
    needed = [i for i in (_mapped(i, {**forms, **shift}) for i in inner.guard)
              if is_gathered(i.form) or not inside.holds(i)]  # fmt: skip
    if not needed:
        return pruned(mapped)
    if proved(View((), outer.guard, outer.fill), domain).guard:
        return None
    return pruned(View(mapped.coords, mapped.guard, inner.fill, mapped.gathers))


# --- maps ----------------------------------------------------------------------------------------


def forms_of(source: Comprehension, view: View) -> dict[str, Affine]:
    """Where a view reads a map: its dims in terms of the reader's."""
    return {d.name: c for d, c in zip(source.point, view.coords, strict=True)}


def inlined(
    node: Comprehension, position: int, source: Comprehension, domain: Domain
) -> Comprehension | None:
    """The node with reads[position], a read of the map `source`, replaced by the map's body.

    None where a coordinate or an extent has no expression in the node.
    """
    read = node.reads[position]
    if strays(read.view, source.point):
        return None
    body = source.body[source.outputs.index(read.source.output)]
    view = proved(read.view, domain)
    work = _Inlining(node, source, view)
    value = work.value(body)
    if value is None:
        return None
    changed = {arg(position, body.sort): value}
    bodies = tuple(substitute(b, changed) for b in node.body)
    return replace(node, reads=tuple(work.reads), body=bodies)


@dataclass(slots=True)
class _Inlining:
    """A map being evaluated at the coordinates of one view; `reads` grow."""

    node: Comprehension
    source: Comprehension
    view: View
    reads: list[Read] = field(init=False)
    forms: dict[str, Affine] = field(init=False)

    def __post_init__(self) -> None:
        self.reads = list(self.node.reads)
        self.forms = forms_of(self.source, self.view)

    def value(self, body: Expr) -> Expr | None:
        """The map's body here, or the view's fill outside its guard."""
        if self.view.fill is None:
            return self.body(body, None)
        neutral = self.neutral_fill(body)
        if neutral is not None:
            return self.body(body, neutral)
        inside, value = self.inside(), self.body(body, None)
        if inside is None or value is None:
            return None
        return apply("select", inside, value, self.view.fill)

    def neutral_fill(self, body: Expr) -> list[Expr] | None:
        """Fills for the map's reads with which its body is the view's fill; None when none do."""
        fill, views = self.view.fill, [r.view for r in self.source.reads]
        if fill is None or any(e.op in ("iota", "extent") for e in walk(body)):
            return None
        sorts = {e.payload: e.sort for e in walk(body) if e.op == "arg"}
        for candidate in (fill, None):
            fills = []
            for n, view in enumerate(views):
                sort = sorts.get(n, fill.sort)
                same = candidate is not None and candidate.sort is sort
                fills.append(view.fill or (candidate if same and candidate else zero(sort)))
            given = {arg(n, f.sort): f for n, f in enumerate(fills)}
            if constant_of(substitute(body, given)) is fill:
                return fills
        return None

    def body(self, body: Expr, fills: list[Expr] | None) -> Expr | None:
        """The body with coordinates as expressions and its reads among those of the node."""
        sorts = {e.payload: e.sort for e in walk(body) if e.op == "arg"}
        start = len(self.reads)
        for n, r in enumerate(self.source.reads):
            fill = fills[n] if fills else r.view.fill or zero(sorts.get(n, INDEX))
            view = composed(r.view, self.forms, self.view, fill)
            self.reads.append(Read(r.source, view))
        moved = moved_args(body, range(start, len(self.reads)))
        return self.placed(moved)

    def placed(self, body: Expr) -> Expr | None:
        """The coordinates and extents of the map's dims in terms of the node's."""
        sizes = {d.name: d.extent for d in self.source.point}
        changes: dict[Expr, Expr] = {}
        for e in walk(body):
            name = str(e.payload)
            if e.op not in ("iota", "extent"):
                continue
            new = (
                self.expr(self.forms[name])
                if e.op == "iota"
                else extent_expr(sizes[name], self.node.dims)
            )
            if new is None:
                return None
            changes[e] = new
        result = substitute(body, changes) if changes else body
        return result if _divisors_legal(result) else None

    def inside(self) -> Expr | None:
        """The view's guard as a condition."""
        found: Expr | None = None
        for i in self.view.guard:
            for form in (i.form - i.lo, -(i.form - i.hi) - 1):
                value = self.expr(form)
                if value is None:
                    return None
                holds = apply("lt", index(-1), value)
                found = holds if found is None else apply("and", found, holds)
        return boolean(True) if found is None else found

    def expr(self, form: Affine) -> Expr | None:
        return index_expr(form, self.variable, self.node.dims)

    def variable(self, name: str) -> Expr:
        """A dim's coordinate; a gathered value is one more read."""
        if not name.startswith(GATHERED):
            return iota(name)
        k = int(name[len(GATHERED) :])
        gather = standing_alone(self.view, k)
        if gather not in self.reads:
            self.reads.append(gather)
        return arg(self.reads.index(gather), INDEX)


def standing_alone(view: View, k: int) -> Read:
    """Gather k of a view as a read of its own, done where the view would do it."""
    gather = view.gathers[k]
    own = gather.view.gathers or view.gathers[:k]
    early = [i for i in view.guard if not is_gathered(i.form)]
    guard = tuple(dict.fromkeys([*early, *gather.view.guard]))
    fill = (gather.view.fill or zero(INDEX)) if guard else None
    return Read(gather.source, pruned(View(gather.view.coords, guard, fill, own)))


def _divisors_legal(body: Expr) -> bool:
    for e in walk(body):
        if e.op in ("floordiv", "mod"):
            d = e.args[1]
            positive = d.op == "index" and isinstance(d.payload, int) and d.payload > 0
            if d.op != "extent" and not positive:
                return False
    return True
