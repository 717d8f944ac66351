"""Rule `segment-sum`: a sum gated by a sorted index, as one scan over the segments.

Defines `SEGMENT_SUM`. Relies on proofs of order: an index is sorted by construction (a position,
a running maximum, a running count, and quotients and sums of those), never by promise. It trades
a gated product of sizes for a scan and two gathers, so it is applied on request only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tang.ir import monoids
from tang.ir.derived import le
from tang.ir.expr import INDEX, Expr, apply, arg, index, iota, real
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.scans import scan_of
from tang.ir.view import Interval, Read, Ref, View, variable
from tang.rewrite.kinds import INDEX_SUM, kind_of
from tang.rewrite.opened import NotHereError, Space, compact, own
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule

_NOWHERE: Final = index(-(2**31))
_ZERO: Final = real(0)


@dataclass(frozen=True, slots=True)
class _Gated:
    """Σ over n of select(key(n) = k, x(n), 0)."""

    space: Space
    key: Expr
    value: Expr
    bin: Dim
    over: Dim


def _find(program: Program, node: Comprehension) -> Edit | None:
    if kind_of(node) != "sum" or len(node.reduce) != 1 or node.where:
        return None
    space = Space(program, node.dims)
    try:
        found = _gated(space, node)
        if found is None or not is_sorted(space, space.full(found.key), found.over.name):
            return None
        return _segmented(program, node, found)
    except NotHereError:
        return None


def _gated(space: Space, node: Comprehension) -> _Gated | None:
    body = own(space, node)
    if body.op != "select" or body.args[2] is not _ZERO or body.args[0].op != "eq":
        return None
    test, value, _ = body.args
    for k in node.point:
        if test.args[0].sort is not INDEX or iota(k.name) not in test.args:
            continue
        key = next(a for a in test.args if a is not iota(k.name))
        if k.name not in space.depends(key) | space.depends(value):
            return _Gated(space, key, value, k, node.reduce[0])
    return None


# --- order ---------------------------------------------------------------------------------------


def is_sorted(space: Space, e: Expr, n: str) -> bool:
    """Whether an index is known never to decrease along a dim."""
    if n not in space.depends(e):
        return True
    match e.op:
        case "iota":
            return True
        case "add":
            return all(is_sorted(space, a, n) for a in e.args)
        case "mul":
            return all(is_sorted(space, a, n) and _nonnegative(space, a) for a in e.args)
        case "floordiv":
            return is_sorted(space, e.args[0], n)
        case "arg":
            return _running(space, e, n)
        case _:
            return False


def _running(space: Space, e: Expr, n: str) -> bool:
    """Whether a read goes along a running maximum, or a running sum of numbers ≥ 0."""
    found = space.reduction(e, "index_max", "index_sum")
    scan = scan_of(found.node) if found is not None else None
    if found is None or scan is None or scan.reverse:
        return False
    forms = [found.env[d.name] for d in found.node.point if d != scan.along]
    along = found.env[scan.along.name].coefficient(n)
    if any(n in f.variables for f in forms) or along != poly(1):
        return False
    if kind_of(found.node) == "index_max":
        return True
    inside = Space(space.program, found.node.dims)
    return _nonnegative(inside, inside.full(own(inside, found.node)))


def _nonnegative(space: Space, e: Expr) -> bool:
    """Whether an index is known to be at least 0."""
    match e.op:
        case "index":
            return isinstance(e.payload, int) and e.payload >= 0
        case "iota" | "extent":
            return True
        case "add" | "mul":
            return all(_nonnegative(space, a) for a in e.args)
        case "floordiv" | "mod":
            return _nonnegative(space, e.args[0])
        case "select":
            return all(_nonnegative(space, a) for a in e.args[1:])
        case _:
            return False


# --- the edit ------------------------------------------------------------------------------------


def _segmented(program: Program, node: Comprehension, g: _Gated) -> Edit | None:
    used = sorted(program.used(node.name))
    if any(node.tensor(o).dims != node.point for o in used):
        return None
    batch = tuple(d for d in node.point if d.name in g.space.depends(g.key))
    keys = _keys(program, node, g, batch)
    last = _last(program, node, g, batch, keys)
    sums = _sums(program, node, g, batch, keys)
    picked = _picked(node, g, batch, keys, last, sums, used)
    text = (
        f"{node.name}, Σ over {g.over.name} gated by a sorted index → "
        f"sums of segments {sums.name}, read at their ends"
    )
    context = tuple(s for s in g.space.seen if s != node.name)
    return Edit((node.name,), (keys, last, sums, picked), node.name, text, context=context)


def _keys(
    program: Program, node: Comprehension, g: _Gated, batch: tuple[Dim, ...]
) -> Comprehension:
    """The index of every element."""
    reads, body = compact(g.space.reads, (g.key,))
    name = program.fresh(f"{node.name}.keys")
    return Comprehension(name, (*batch, g.over), reads, body, outputs=("value",))


def _key_read(keys: Comprehension, shift: int = 0) -> Read:
    """The key at the position of the last dim, or of an earlier element."""
    *batch, over = keys.point
    at = variable(over.name) - shift
    coords = (*(variable(d.name) for d in batch), at)
    if not shift:
        return Read(Ref(keys.name, "value"), View(coords))
    guard = Interval(at, Poly(), over.extent)
    return Read(Ref(keys.name, "value"), View(coords, (guard,), _NOWHERE))


def _last(
    program: Program,
    node: Comprehension,
    g: _Gated,
    batch: tuple[Dim, ...],
    keys: Comprehension,
) -> Comprehension:
    """How many elements have a key up to each: one beyond the end of its segment."""
    upto = le(arg(0, INDEX), iota(g.bin.name))
    counted = select_index(upto)
    name = program.fresh(f"{node.name}.ends")
    point = (*batch, g.bin)
    return Comprehension(name, point, (_key_read(keys),), (counted,), (g.over,), (), INDEX_SUM)


def select_index(test: Expr) -> Expr:
    """1 where the test holds, else 0."""
    return apply("select", test, index(1), index(0))


def _sums(
    program: Program,
    node: Comprehension,
    g: _Gated,
    batch: tuple[Dim, ...],
    keys: Comprehension,
) -> Comprehension:
    """Running sums that start again with every key: h ← (same key ? 1 : 0) · h + x."""
    names = {d.name for d in node.dims}
    at = g.over.name
    while at in names:
        at += "_"
    space = g.space
    mine, before = (space.number(_key_read(keys, s)) for s in (0, 1))
    same = apply("eq", arg(mine, INDEX), arg(before, INDEX))
    stay = apply("select", same, real(1), _ZERO)
    reads, body = compact(space.reads, (stay, g.value))
    point = (*(d for d in node.point if d != g.bin), Dim(at, g.over.extent))
    where = (variable(at) - variable(g.over.name),)
    name = program.fresh(f"{node.name}.segments")
    return Comprehension(name, point, reads, body, (g.over,), where, monoids.AFFINE_SCAN)


def _picked(
    node: Comprehension,
    g: _Gated,
    batch: tuple[Dim, ...],
    keys: Comprehension,
    last: Comprehension,
    sums: Comprehension,
    used: list[str],
) -> Comprehension:
    """The sum at the end of each segment, 0 where there is none."""
    end = Read(Ref(last.name, "value"), View(tuple(variable(d.name) for d in last.point)))
    at = variable("@0") - 1
    guard = (Interval(at, Poly(), g.over.extent),)
    key_at = (*(variable(d.name) for d in batch), at)
    sum_at = (*(variable(d.name) for d in sums.point[:-1]), at)
    reads = (
        Read(Ref(keys.name, "value"), View(key_at, guard, _NOWHERE, (end,))),
        Read(Ref(sums.name, "value"), View(sum_at, guard, _ZERO, (end,))),
    )
    mine = apply("eq", arg(0, INDEX), iota(g.bin.name))
    body = apply("select", mine, arg(1), _ZERO)
    return Comprehension(
        node.name, node.point, reads, tuple(body for _ in used), outputs=tuple(used)
    )


SEGMENT_SUM: Final = Rule(
    "segment-sum",
    "Σ over n of x(n) where key(n) = k, the key sorted → sums of segments, read at their ends",
    "real field",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.segment_sum",
    _find,
)
