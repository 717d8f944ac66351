"""Rules `argmax` and `gather-at-argmax`: where the largest element is, found in one pass.

Defines the two rows, which serve minima too. Relies on normal forms and opened nodes. Only the
first among equals is an argmax; the last one is left as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tang.ir import monoids
from tang.ir.derived import le, lt
from tang.ir.expr import INDEX, Expr, apply, arg, iota, walk
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension
from tang.ir.view import Affine, Read, Ref, View, variable
from tang.rewrite.constants import special
from tang.rewrite.kinds import kind_of
from tang.rewrite.normal import Ring
from tang.rewrite.opened import (
    NotHereError,
    Opened,
    Space,
    compact,
    conditions,
    nonempty,
    own,
    plain,
)
from tang.rewrite.program import Program, with_reads
from tang.rewrite.rule import Edit, Requirement, Rule

_FIRST: Final = ("index_min", "min")
_MONOIDS: Final = {"max": monoids.ARGMAX, "min": monoids.ARGMIN}


def _find(program: Program, node: Comprehension) -> Edit | None:
    """The least of select(x = max x, position, beyond)."""
    if kind_of(node) not in _FIRST:
        return None
    space = Space(program, node.dims)
    try:
        for test, position, beyond in _selections(space.full(own(space, node))):
            as_real = position.op == "to_real"
            where = position.args[0] if as_real else position
            if where.sort is not INDEX or not _is_beyond(space, where, beyond):
                continue
            found = _extremum(space, node, test)
            if found is not None and nonempty(program, node):
                return _edit(program, node, space, found, where, as_real)
    except NotHereError:
        return None
    return None


def _selections(e: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    if e.op == "select":
        test, a, b = e.args
        yield test, a, b
        yield apply("not", test), b, a


def _is_beyond(space: Space, position: Expr, beyond: Expr) -> bool:
    """Whether the value for elements that are not the largest is at least every position."""
    if beyond.sort is not INDEX:
        return special(beyond) == "inf"
    high, least = _highest(space.extents, position), beyond.payload
    if beyond.op == "index" and isinstance(least, int):
        if least >= 2**31 - 1:
            return position.op == "iota"
        return high is not None and high <= least
    same = position.op == "iota" and beyond.op == "extent"
    return same and space.extents[str(position.payload)] == space.extents[str(beyond.payload)]


def _highest(extents: Mapping[str, Poly], e: Expr) -> int | None:
    """An upper bound of a sum of products of coordinates with numbers ≥ 0; None if unknown."""
    total = 0
    for m, c in Ring().terms(e).items():
        part = int(c)
        for atom, power in m:
            size = extents.get(str(atom.payload)) if atom.op in ("iota", "extent") else None
            if size is None or not size.is_constant or c < 0:
                return None
            part *= max(size.constant - (atom.op == "iota"), 0) ** power
        total += part
    return total


def _extremum(space: Space, node: Comprehension, test: Expr) -> tuple[Opened, Expr] | None:
    """The maximum or minimum that the test compares with, and its element in this space."""
    ring = Ring()
    reduce = [(d.name, d.extent) for d in node.reduce]
    wanted = ring.canonical(test)
    for a in walk(test):
        top = space.reduction(a, "max", "min")
        if top is None or space.depends(a) & {n for n, _ in reduce}:
            continue
        for naming in top.namings(reduce):
            if top.where(naming) != conditions(node, {}):
                continue
            element = top.body(naming)
            tests = _tests(kind_of(top.node) == "max", space.full(element), a)
            if any(ring.canonical(t) is wanted for t in tests):
                return top, element
    return None


def _tests(largest: bool, x: Expr, m: Expr) -> tuple[Expr, ...]:
    """Ways to ask whether an element is the largest (smallest), for numbers that are no NaN."""
    low, high = (x, m) if largest else (m, x)
    return (
        apply("eq", x, m),
        le(high, low),
        apply("not", lt(low, high)),
    )


def _edit(
    program: Program,
    node: Comprehension,
    space: Space,
    found: tuple[Opened, Expr],
    position: Expr,
    as_real: bool,
) -> Edit | None:
    top, element = found
    monoid = _MONOIDS[kind_of(top.node) or "max"]
    reads, body = compact(space.reads, (element, position))
    name = program.fresh(f"{node.name}.{monoid.name}")
    fused = Comprehension(name, node.point, reads, body, node.reduce, node.where, monoid)
    new, inserted = Ref(name, "index"), [fused]
    if as_real:
        cast = apply("to_real", arg(0, INDEX))
        real = Comprehension(
            program.fresh(f"{name}.real", [name]), node.point, (plain(fused, new),), (cast,),
            outputs=("value",),
        )  # fmt: skip
        inserted.append(real)
        new = Ref(real.name, "value")
    used = program.used(node.name)
    redirect = {Ref(node.name, o): new for o in used}
    kind = (tuple(d.extent for d in node.point), node.body[0].sort)
    if any(program.type_of(r) != kind for r in redirect):
        return None
    over = ", ".join(d.name for d in node.reduce)
    text = f"{node.name}, the first {over} where x = {top.node.name} → {monoid.name} {name}"
    context = tuple(s for s in space.seen if s != node.name)
    return Edit((node.name,), tuple(inserted), node.name, text, redirect, context)


# --- the value at the argmax ---------------------------------------------------------------------


def _value(program: Program, node: Comprehension) -> Edit | None:
    for n, read in enumerate(node.reads):
        found = _best(program, read)
        if found is not None:
            reads = tuple(found if k == n else r for k, r in enumerate(node.reads))
            text = f"{read.source} at {found.source.node}.index → {found.source}"
            changed = with_reads(node, reads)
            return Edit((node.name,), (changed,), node.name, text, context=(found.source.node,))
    return None


def _best(program: Program, read: Read) -> Read | None:
    """The read of the value that an argmax keeps, for a read of its operand at its index."""
    view = read.view
    if view.guard or len(view.gathers) != 1 or view.gathers[0].view.guard:
        return None
    gather = view.gathers[0]
    where = program.node(gather.source.node)
    if where is None or kind_of(where) not in ("argmax", "argmin") or gather.view.gathers:
        return None
    if gather.source.output != (where.monoid.outputs[0].name if where.monoid else ""):
        return None
    operand = _operand(where)
    if operand is None or operand.source != read.source:
        return None
    at: dict[str, Affine] = {
        d.name: c for d, c in zip(where.point, gather.view.coords, strict=True)
    }
    at[where.reduce[0].name] = variable("@0")
    if tuple(c.substitute(at) for c in operand.view.coords) != view.coords:
        return None
    value = where.monoid.outputs[1].name if where.monoid else ""
    return Read(Ref(where.name, value), View(gather.view.coords))


def _operand(where: Comprehension) -> Read | None:
    """What an argmax over the positions of one dim reads, if that is a plain tensor."""
    value, position = where.body
    if len(where.reduce) != 1 or position is not iota(where.reduce[0].name):
        return None
    if value.op != "arg" or not isinstance(value.payload, int):
        return None
    found = where.reads[value.payload]
    return None if found.view.guard or found.view.gathers else found


ARGMAX: Final = Rule(
    "argmax",
    "the least position among those where x = max x → argmax of x; argmin likewise",
    "total order",
    frozenset({Requirement.FINITE}),
    "Tang.argmax",
    _find,
)

GATHER_AT_ARGMAX: Final = Rule(
    "gather-at-argmax",
    "x gathered at argmax x → the value that the argmax keeps",
    "total order with NaN first",
    frozenset(),
    "Tang.gather_at_argmax",
    _value,
)
