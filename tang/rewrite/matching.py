"""Shapes of nodes, whatever they are called: tidy reads, limits, types that must stay, sums.

Defines what many rules ask of a node before or after an edit. Relies on the IR and on `Program`.
It proposes no edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tang.errors import GraphError
from tang.ir.expr import Expr, apply, arg, real, rebuild, state, substitute, walk
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, reads_of
from tang.ir.monoid import Monoid
from tang.ir.reach import Prover
from tang.ir.view import GATHERED, Affine, Read, Ref, View, variable
from tang.rewrite.program import Program

MAX_READS: Final = 64
MAX_BODY: Final = 1024
"""Operations of a body beyond which no rule makes it larger."""
MAX_PARTS: Final = 32
"""Guards and gathers of a view."""
MAX_DEPTH: Final = 6
"""Gathers within gathers."""


def args_of(roots: Iterable[Expr]) -> list[int]:
    """The positions of the reads that expressions use, in order of first use."""
    found = (e.payload for e in walk(*roots) if e.op == "arg")
    return list(dict.fromkeys(i for i in found if isinstance(i, int)))


def moved_args(root: Expr, places: Sequence[int]) -> Expr:
    """The expression with argument i in place places[i]."""
    used = (e for e in walk(root) if e.op == "arg")
    return substitute(root, {e: arg(places[_position(e)], e.sort) for e in used})


def _position(e: Expr) -> int:
    return e.payload if isinstance(e.payload, int) else 0


def branch(e: Expr, test: Expr, k: int) -> Expr:
    """The expression with every select of the test replaced by its k-th operand (1: it holds)."""
    done: dict[Expr, Expr] = {}
    for x in walk(e):
        chosen = x.op == "select" and x.args[0] is test
        done[x] = done[x.args[k]] if chosen else rebuild(x, tuple(done[a] for a in x.args))
    return done[e]


def tests_of(e: Expr) -> list[Expr]:
    """Every test by which something below selects, once."""
    return list(dict.fromkeys(x.args[0] for x in walk(e) if x.op == "select"))


def may_select(program: Program, node: Comprehension) -> bool:
    """Whether a body may come to a select, here or in a map that it reads: a cheap test."""
    if any(x.op == "select" for x in walk(*node.body)):
        return True
    sources = (program.node(r.source.node) for r in node.reads)
    return any(s is not None and s.monoid is None for s in sources)


def tidy(node: Comprehension) -> Comprehension:
    """The node with each read once, none unused, and no gathers that no form needs."""
    used = set(args_of(node.body))
    reads = [Read(r.source, pruned(r.view)) for r in node.reads]
    kept = {r: n for n, r in enumerate(dict.fromkeys(r for k, r in enumerate(reads) if k in used))}
    places = [kept.get(r, 0) for r in reads]
    if places == list(range(len(kept))) and tuple(kept) == node.reads:
        return node
    body = tuple(moved_args(b, places) for b in node.body)
    return replace(node, reads=tuple(kept), body=body)


def pruned(view: View) -> View:
    """The view without gathers that neither its forms nor later gathers need."""
    if not view.gathers:
        return view
    gathers = [Read(g.source, pruned(g.view)) for g in view.gathers]
    needed = gathered_by(view)
    for k in reversed(range(len(gathers))):
        if k in needed:
            needed |= outer_gathered(gathers[k])
    kept = [k for k in range(len(gathers)) if k in needed]
    if len(kept) == len(gathers):
        return View(view.coords, view.guard, view.fill, tuple(gathers))
    names = {f"{GATHERED}{k}": variable(f"{GATHERED}{n}") for n, k in enumerate(kept)}
    inner = tuple(Read(gathers[k].source, _renumbered(gathers[k].view, names)) for k in kept)
    own = View(view.coords, view.guard, view.fill).map_forms(lambda f: f.substitute(names))
    return View(own.coords, own.guard, own.fill, inner)


def _renumbered(view: View, names: dict[str, Affine]) -> View:
    """A gather's view with the gathered values of the view around it renamed."""
    return view if view.gathers else view.map_forms(lambda f: f.substitute(names))


def gathered_by(view: View) -> set[int]:
    """Which gathered values the view's own forms use."""
    names = frozenset[str]().union(*(f.variables for f in view.forms()))
    return {int(v[len(GATHERED) :]) for v in names if v.startswith(GATHERED)}


def outer_gathered(gather: Read) -> set[int]:
    """Which values of the view around it a gather uses; one with gathers of its own sees none."""
    return set() if gather.view.gathers else gathered_by(gather.view)


def fits(node: Comprehension) -> bool:
    """Whether the node stays far within the limits of legal programs."""
    if len(node.reads) > MAX_READS or sum(1 for _ in walk(*node.body)) > MAX_BODY:
        return False
    views = [r.view for r in reads_of(node)]
    small = all(len(v.guard) <= MAX_PARTS and len(v.gathers) <= MAX_PARTS for v in views)
    return small and len(views) <= 2 * MAX_READS and all(_depth(r) <= MAX_DEPTH for r in node.reads)


def _depth(read: Read) -> int:
    return 1 + max(map(_depth, read.view.gathers), default=0)


def in_reach(
    program: Program, node: Comprehension, shapes: Mapping[Ref, tuple[Poly, ...]] | None = None
) -> bool:
    """Whether validation can still see that no read leaves its source; `shapes` are new ones."""
    known = shapes or {}
    try:
        Prover().check(node, lambda ref: known[ref] if ref in known else program.type_of(ref)[0])
    except GraphError:
        return False
    return True


def keeps_types(program: Program, old: Comprehension, new: Comprehension) -> bool:
    """Whether every used result of a node keeps shape and sort."""
    for name in program.used(old.name):
        a, b = old.tensor(name), new.tensor(name)
        if (a.shape, a.sort) != (b.shape, b.sort):
            return False
    return True


def acceptable(program: Program, old: Comprehension, new: Comprehension) -> bool:
    """Whether a node may take the place of another: limits, reach and types."""
    return fits(new) and in_reach(program, new) and keeps_types(program, old, new)


def readings(program: Program, ref: Ref) -> Iterator[tuple[Comprehension, Read]]:
    """Every read of a result with the node that reads it, those of gathers included."""
    for reader in program.readers(ref.node):
        for read in reads_of(reader):
            if read.source == ref:
                yield reader, read


def is_sum(m: Monoid | None) -> bool:
    """Whether a monoid adds reals and gives the total, whatever it is called."""
    if m is None or len(m.components) != 1 or len(m.outputs) != 1 or m.axes:
        return False
    left, right = state(0, 0), state(1, 0)
    adds = m.combine[0] in (apply("add", left, right), apply("add", right, left))
    plain = m.lift == (arg(0),) and m.project == (left,)
    return adds and plain and m.identity == (real(0),)
