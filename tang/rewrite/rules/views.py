"""Rule `compose-views`: a copy is read through, not made.

Defines `COMPOSE_VIEWS`. Relies on `substitution` for composing guards, fills and gathers, and on
`linear` for index tensors that hold a form of their coordinates. It does not move values: what
computes anything is `substitute-maps`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tang.ir.expr import INDEX, Expr
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension
from tang.ir.view import GATHERED, Affine, Read, Ref, View, constant, variable
from tang.rewrite.linear import linear
from tang.rewrite.matching import acceptable, pruned, tidy
from tang.rewrite.program import Program
from tang.rewrite.proofs import Domain, domain_of
from tang.rewrite.rule import Edit, Rule
from tang.rewrite.substitution import copied_through, forms_of, proved, standing_alone, strays


def _find(program: Program, node: Comprehension) -> Edit | None:
    """x[v] where x[i] = y[w(i)] → y[w(v)], also for the index tensors of gathers."""
    domain = domain_of(node, program.facts)
    for n, read in enumerate(node.reads):
        found = _through(program, read, domain)
        if found is None:
            continue
        new, source = found
        changed = tidy(replace(node, reads=(*node.reads[:n], new, *node.reads[n + 1 :])))
        if acceptable(program, node, changed):
            text = f"{node.name} reads {source} → {node.name} reads what it copies"
            return Edit((node.name,), (changed,), node.name, text, context=(source,))
    return _whole(program, node)


def _whole(program: Program, node: Comprehension) -> Edit | None:
    """A node that only repeats a result, for the caller → the result, under the node's name."""
    if len(node.body) != 1 or node.monoid is not None or not program.is_output(node.name):
        return None
    read = node.reads[0] if len(node.reads) == 1 and node.body[0].op == "arg" else None
    source = program.node(read.source.node) if read is not None else None
    if read is None or source is None or program.is_output(source.name):
        return None
    same = tuple(variable(d.name) for d in node.point)
    shape, sort = program.type_of(read.source)
    kept = shape == tuple(d.extent for d in node.point) and sort is node.body[0].sort
    if read.view != View(same) or not kept:
        return None
    results = [o for o in source.output_names() if o in program.used(source.name)]
    redirect = {Ref(source.name, o): Ref(node.name, o) for o in results}
    redirect[Ref(node.name, node.outputs[0])] = Ref(node.name, read.source.output)
    new = replace(source, name=node.name)
    text = f"{node.name} repeats {read.source} → {source.name} is called {node.name}"
    return Edit((source.name, node.name), (new,), source.name, text, redirect)


def _through(program: Program, read: Read, domain: Domain) -> tuple[Read, str] | None:
    """The read with one copy less on the way, and the copy's name."""
    direct = _copied(program, read, domain)
    if direct is not None:
        return direct
    inside = domain.under(read.view.guard)
    for k, gather in enumerate(read.view.gathers):
        found = _gathered(program, read.view, k, inside)
        if found is not None:
            return Read(read.source, pruned(found)), gather.source.node
    return None


def _copied(program: Program, read: Read, domain: Domain) -> tuple[Read, str] | None:
    source = program.node(read.source.node)
    if source is None or source.monoid is not None:
        return None
    body = source.body[source.outputs.index(read.source.output)]
    if body.op != "arg" or not isinstance(body.payload, int):
        return None
    inner = source.reads[body.payload]
    if not _keeps_range(program, read, source, inner):
        return None
    view = copied_through(inner.view, forms_of(source, read.view), read.view, domain)
    return None if view is None else (Read(inner.source, view), source.name)


def _keeps_range(program: Program, read: Read, source: Comprehension, inner: Read) -> bool:
    """Whether a position outside of a copy is outside of what it copies, too."""
    sizes = {d.name: d.extent for d in source.point}
    return all(_ends_with(program, inner, d, sizes[d]) for d in strays(read.view, source.point))


def _ends_with(program: Program, read: Read, dim: str, extent: Poly) -> bool:
    """Whether a read is out of range wherever the dim is, be it for want of an index (−1)."""
    view = read.view
    if view.guard:
        return False
    if (variable(dim), extent) in zip(view.coords, program.type_of(read.source)[0], strict=True):
        return True
    taken = (g for k, g in enumerate(view.gathers) if variable(f"{GATHERED}{k}") in view.coords)
    return any(_ends_with(program, g, dim, extent) for g in taken)


def _gathered(program: Program, view: View, k: int, domain: Domain) -> View | None:
    """The view with its gather k reading through a copy, or replaced by a form."""
    alone = standing_alone(View(view.coords, (), None, view.gathers), k)
    direct = _copied(program, alone, domain)
    if direct is not None:
        return _with_gather(view, k, (direct[0],), variable(f"{GATHERED}{k}"))
    return _computed(program, view, k, alone, domain)


def _computed(program: Program, view: View, k: int, alone: Read, domain: Domain) -> View | None:
    """A gather from an index tensor that holds a form of its coordinates → the form."""
    source = program.node(alone.source.node)
    plain = proved(alone.view, domain)
    if source is None or source.monoid is not None or plain.guard:
        return None
    forms = forms_of(source, view.gathers[k].view)
    if view.gathers[k].view.gathers:
        return None
    sizes = {d.name: d.extent for d in source.point}

    def leaf(e: Expr) -> Affine | None:
        if e.op == "iota":
            return forms.get(str(e.payload))
        return constant(sizes[str(e.payload)]) if e.op == "extent" else None

    body = source.body[source.outputs.index(alone.source.output)]
    form = linear(body, leaf, domain) if body.sort is INDEX else None
    return None if form is None else _with_gather(view, k, (), form)


def _with_gather(view: View, k: int, new: tuple[Read, ...], form: Affine) -> View:
    """The view with gather k replaced by at most one other, and its value by a form."""
    names = {f"{GATHERED}{k}": form}
    if not new:
        later = range(k + 1, len(view.gathers))
        names |= {f"{GATHERED}{j}": variable(f"{GATHERED}{j - 1}") for j in later}

    def moved(v: View) -> View:
        return v.map_forms(lambda f: f.substitute(names))

    own = moved(View(view.coords, view.guard, view.fill))
    after = tuple(
        g if g.view.gathers else Read(g.source, moved(g.view)) for g in view.gathers[k + 1 :]
    )
    return View(own.coords, own.guard, own.fill, (*view.gathers[:k], *new, *after))


COMPOSE_VIEWS: Final = Rule(
    "compose-views",
    "a read of a copy (reshape, slice, transpose, pad, flip, gather) → a read of what it copies, "
    "under both guards; a whole copy for the caller → the original under its name",
    "any",
    frozenset(),
    "Tang.compose_views",
    _find,
    recalled=True,
)
