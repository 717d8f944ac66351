"""Rule `chunk-scan`: a long scan as totals of chunks, a scan of those, and scans inside chunks.

Defines `CHUNK_SCAN`. Relies on `tang.ir.scans` and on associativity alone, so it serves every
monoid with an identity: sums, affine maps (Mamba-2's chunked form), running logsumexps. Applied
again to its own scan of totals it makes the cost linear. It is applied on request only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tang.ir.expr import Expr, apply, arg, index, iota, state, substitute, walk
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Monoid
from tang.ir.scans import Scan, scan_of
from tang.ir.view import Affine, Read, Ref, View, variable
from tang.rewrite.opened import compact, replaced
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Requirement, Rule

CHUNK: Final = 64
"""Scans longer than this are cut, into chunks of at most this length."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    scan = scan_of(node)
    monoid = node.monoid
    if scan is None or scan.reverse or monoid is None:
        return None
    if monoid.identity is None or monoid.axes or scan.offset not in (0, -1):
        return None
    size = _chunk(scan)
    return None if size is None else _cut(program, node, monoid, scan, size)


def _chunk(scan: Scan) -> int | None:
    """The largest length up to CHUNK that divides a scan which is longer."""
    if not scan.along.extent.is_constant or scan.along.extent.constant <= CHUNK:
        return None
    n = scan.along.extent.constant
    found = next(b for b in range(CHUNK, 0, -1) if n % b == 0)
    return found if found > 1 else None


@dataclass(frozen=True, slots=True)
class _Names:
    """The new dims: chunk, place in the chunk, and the ones that are folded over."""

    chunk: Dim
    rest: Dim
    before: Dim
    inside: Dim


def _cut(
    program: Program, node: Comprehension, monoid: Monoid, scan: Scan, size: int
) -> Edit | None:
    dims = _new_dims(node, scan, size)
    totals = _totals(program, node, scan, dims, size)
    carry = _carry(program, node, monoid, scan, dims, totals)
    inner = _inner(program, node, scan, dims, size)
    which = _which(program, node, scan, size)
    new = [totals, carry, inner, which]
    redirect: dict[Ref, Ref] = {}
    for point, used in _by_dims(program, node).items():
        joined = _joined(program, point, monoid, scan, dims, (carry, inner), used)
        name = node.name if point == node.point else program.fresh(f"{node.name}.{used[0]}")
        new += [joined, _final(name, point, scan, dims, size, joined, which, used)]
        if name != node.name:
            redirect |= {Ref(node.name, o): Ref(name, o) for o in used}
    t = scan.along
    text = (
        f"{node.name}, a scan over {t.name} of {t.extent} → {dims.chunk.extent} chunks of {size}: "
        f"{totals.name}, {carry.name}, {inner.name}"
    )
    return Edit((node.name,), tuple(new), node.name, text, redirect)


def _by_dims(program: Program, node: Comprehension) -> dict[tuple[Dim, ...], list[str]]:
    """The results that are needed, by the point dims that they have."""
    found: dict[tuple[Dim, ...], list[str]] = {}
    for o in sorted(program.used(node.name)):
        found.setdefault(node.tensor(o).dims, []).append(o)
    return found


def _new_dims(node: Comprehension, scan: Scan, size: int) -> _Names:
    taken = {d.name for d in node.dims}
    t, n = scan.along.name, scan.along.extent.constant

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    many, few = poly(n // size), poly(size)
    return _Names(
        Dim(fresh(f"{t}_chunk"), many), Dim(fresh(f"{t}_rest"), few),
        Dim(fresh(f"{scan.over.name}_chunk"), many), Dim(fresh(f"{scan.over.name}_rest"), few),
    )  # fmt: skip


def _point(point: Sequence[Dim], scan: Scan, *dims: Dim) -> tuple[Dim, ...]:
    """The point dims with others in the place of the scanned one."""
    return tuple(e for d in point for e in (dims if d == scan.along else (d,)))


def _chunked(
    node: Comprehension, scan: Scan, dims: _Names, size: int
) -> tuple[tuple[Read, ...], tuple[Expr, ...]]:
    """Reads and body with the folded position written as chunk and place."""
    at = {scan.over.name: variable(dims.chunk.name, size) + variable(dims.inside.name)}
    position = apply(
        "add", apply("mul", iota(dims.chunk.name), index(size)), iota(dims.inside.name)
    )
    new: dict[Expr, Expr] = {}
    for e in walk(*node.body):
        if e.op == "iota" and e.payload == scan.over.name:
            new[e] = position
        elif e.op == "extent" and e.payload in (scan.over.name, scan.along.name):
            new[e] = index(scan.over.extent.constant)
    reads = tuple(replaced(r, at) for r in node.reads)
    return reads, tuple(substitute(b, new) for b in node.body)


def _totals(
    program: Program, node: Comprehension, scan: Scan, dims: _Names, size: int
) -> Comprehension:
    """The fold of each whole chunk."""
    reads, body = _chunked(node, scan, dims, size)
    name = program.fresh(f"{node.name}.totals")
    point = _point(node.point, scan, dims.chunk)
    return Comprehension(name, point, reads, body, (dims.inside,), (), node.monoid)


def _carry(
    program: Program,
    node: Comprehension,
    monoid: Monoid,
    scan: Scan,
    dims: _Names,
    totals: Comprehension,
) -> Comprehension:
    """The fold of everything before each chunk: a shorter scan, over states."""
    at = {dims.chunk.name: variable(dims.before.name)}
    reads = tuple(_state_read(totals, c.name, at) for c in monoid.components)
    body = tuple(arg(i, c.sort) for i, c in enumerate(monoid.components))
    where = (variable(dims.chunk.name) - variable(dims.before.name) - 1,)
    point = _point(node.point, scan, dims.chunk)
    name = program.fresh(f"{node.name}.carry")
    return Comprehension(name, point, reads, body, (dims.before,), where, of_states(monoid))


def of_states(monoid: Monoid) -> Monoid:
    """The monoid over its own states: the elements are states already."""
    sorts = tuple(c.sort for c in monoid.components)
    lift = tuple(arg(i, s) for i, s in enumerate(sorts))
    if (sorts, lift) == (monoid.inputs, monoid.lift):
        return monoid
    return replace(monoid, name=f"{monoid.name}_states", inputs=sorts, lift=lift)


def _inner(
    program: Program, node: Comprehension, scan: Scan, dims: _Names, size: int
) -> Comprehension:
    """The scan inside each chunk."""
    reads, body = _chunked(node, scan, dims, size)
    where = (variable(dims.rest.name) - variable(dims.inside.name) + scan.offset,)
    point = _point(node.point, scan, dims.chunk, dims.rest)
    name = program.fresh(f"{node.name}.inside")
    return Comprehension(name, point, reads, body, (dims.inside,), where, node.monoid)


def _joined(
    program: Program,
    point: tuple[Dim, ...],
    monoid: Monoid,
    scan: Scan,
    dims: _Names,
    sides: tuple[Comprehension, Comprehension],
    used: Sequence[str],
) -> Comprehension:
    """What came before combined, on the left, with what the chunk holds so far."""
    reads = [_state_read(side, c.name, {}) for side in sides for c in monoid.components]
    count = len(monoid.components)
    states = {
        state(side, i, c.sort): arg(side * count + i, c.sort)
        for side in (0, 1)
        for i, c in enumerate(monoid.components)
    }
    both = [substitute(e, states) for e in monoid.combine]
    whole = {
        state(0, i, c.sort): e for (i, c), e in zip(enumerate(monoid.components), both, strict=True)
    }
    projected = zip(monoid.outputs, monoid.project, strict=True)
    values = {c.name: substitute(e, whole) for c, e in projected}
    values |= {c.name: e for c, e in zip(monoid.components, both, strict=True)}
    return Comprehension(
        program.fresh(f"{sides[1].name}.{used[0]}"),
        _point(point, scan, dims.chunk, dims.rest),
        *compact(reads, [values[o] for o in used]),
        outputs=tuple(used),
    )


def _state_read(source: Comprehension, component: str, at: Mapping[str, Affine]) -> Read:
    coords = tuple(at.get(d.name, variable(d.name)) for d in source.tensor(component).dims)
    return Read(Ref(source.name, component), View(coords))


def _which(program: Program, node: Comprehension, scan: Scan, size: int) -> Comprehension:
    """The chunk of every position."""
    t = scan.along
    body = apply("floordiv", iota(t.name), index(size))
    return Comprehension(program.fresh(f"{node.name}.chunk"), (t,), (), (body,), outputs=("value",))


def _final(
    name: str,
    point: tuple[Dim, ...],
    scan: Scan,
    dims: _Names,
    size: int,
    joined: Comprehension,
    which: Comprehension,
    used: Sequence[str],
) -> Comprehension:
    """The results at their own positions again."""
    t = scan.along.name
    chunk = Read(Ref(which.name, "value"), View((variable(t),)))
    place = {dims.chunk.name: variable("@0"), dims.rest.name: variable(t) - variable("@0", size)}
    coords = tuple(place.get(d.name, variable(d.name)) for d in joined.point)
    reads = tuple(Read(Ref(joined.name, o), View(coords, gathers=(chunk,))) for o in used)
    body = tuple(arg(i, joined.tensor(o).sort) for i, o in enumerate(used))
    return Comprehension(name, point, reads, body, outputs=tuple(used))


CHUNK_SCAN: Final = Rule(
    "chunk-scan",
    "a scan over n → totals of chunks, a scan of those, scans inside chunks, joined by the combine",
    "monoid",
    frozenset({Requirement.FINITE, Requirement.REASSOCIATES}),
    "Tang.chunk_scan",
    _find,
)
