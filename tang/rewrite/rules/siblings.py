"""Rule `merge-siblings`: what runs over the same points and reads the same runs as one node.

Defines `MERGE_SIBLINGS`. Relies on `factors` for products of monoids and on the program order for
independence. It looks at the nearest nodes only: at most `NEAR` readers of a shared tensor before
a node, at most `WINDOW` nodes between the two.

Reductions become one reduction over the product of their monoids; maps one map with more outputs.
The merged node keeps the name of the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tang.ir.graph import Comprehension, reads_of
from tang.ir.monoid import Monoid
from tang.ir.view import Ref
from tang.rewrite.factors import factors, joined
from tang.rewrite.matching import fits, in_reach, moved_args, tidy
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Rule
from tang.rewrite.substitution import renamed

NEAR: Final = 8
WINDOW: Final = 64
MOST_PARTS: Final = 8
"""Results of a merged map, monoids in a merged product."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    """two nodes over the same points and elements with a common read → one node."""
    if not program.used(node.name):
        return None
    for other in _nearby(program, node):
        twin = aligned(other, node)
        if twin is None or not set(other.reads) & set(twin.reads):
            continue
        at = _place(program, other, node)
        if at is None or _depends(program, node, other.name):
            continue
        merge = _merged_maps if node.monoid is None else _merged_folds
        found = merge(other, twin)
        if found is None:
            continue
        new, redirect = found
        if not (fits(new) and in_reach(program, new)):
            continue
        text = f"{other.name} and {node.name} over the same points → {other.name}"
        return Edit((other.name, node.name), (new,), at, text, redirect)
    return None


def _nearby(program: Program, node: Comprehension) -> Iterator[Comprehension]:
    """The last few nodes before this one that read a tensor that it reads."""
    seen: set[str] = {node.name}
    for source in dict.fromkeys(r.source.node for r in node.reads):
        earlier = [r for r in program.readers(source) if program.precedes(r.name, node.name)]
        for other in reversed(earlier[-NEAR:]):
            if other.name not in seen:
                seen.add(other.name)
                if program.used(other.name):
                    yield other


def aligned(a: Comprehension, b: Comprehension) -> Comprehension | None:
    """b in the names of a's dims, if both run over the same points and elements in one order."""
    same = (a.monoid is None) == (b.monoid is None)
    if not same or len(a.point) != len(b.point) or len(a.reduce) != len(b.reduce):
        return None
    if [d.extent for d in a.dims] != [d.extent for d in b.dims]:
        return None
    axes = {x.name for m in (a.monoid, b.monoid) if m is not None for x in m.axes}
    if axes & {d.name for d in (*a.dims, *b.dims)}:
        return None  # an axis of one is a dim of the other: no common names
    twin = renamed(b, {d.name: c.name for d, c in zip(b.dims, a.dims, strict=True)})
    return twin if set(twin.where) == set(a.where) else None


def _place(program: Program, a: Comprehension, b: Comprehension) -> str | None:
    """The one of both in whose place the merged node may stand."""
    if all(program.precedes(r.source.node, a.name) for r in reads_of(b)):
        return a.name
    if all(program.precedes(b.name, r.name) for r in program.readers(a.name)):
        return b.name
    return None


def _depends(program: Program, node: Comprehension, name: str) -> bool:
    """Whether a node needs a result of an earlier one; True where that is too far to see."""
    waiting, seen = [node], {node.name}
    while waiting:
        for read in reads_of(waiting.pop()):
            source = program.node(read.source.node)
            if source is None or source.name in seen:
                continue
            if source.name == name or len(seen) > WINDOW:
                return True
            if program.precedes(name, source.name):
                seen.add(source.name)
                waiting.append(source)
    return False


Merged = tuple[Comprehension, dict[Ref, Ref]]


def _merged_maps(a: Comprehension, b: Comprehension) -> Merged | None:
    if len(a.outputs) + len(b.outputs) > MOST_PARTS:
        return None
    names = list(a.outputs)
    redirect = {}
    for o in b.outputs:
        new = next(n for n in (o, *(f"{o}_{k}" for k in range(2, 99))) if n not in names)
        names.append(new)
        redirect[Ref(b.name, o)] = Ref(a.name, new)
    moved = [len(a.reads) + n for n in range(len(b.reads))]
    body = (*a.body, *(moved_args(e, moved) for e in b.body))
    new_node = replace(a, reads=(*a.reads, *b.reads), body=body, outputs=tuple(names))
    return tidy(new_node), redirect


def _merged_folds(a: Comprehension, b: Comprehension) -> Merged | None:
    if a.monoid is None or b.monoid is None or not _compatible(a.monoid, b.monoid):
        return None
    parts = [*factors(a.monoid), *factors(b.monoid)]
    count = len(factors(a.monoid))
    if len(parts) > MOST_PARTS:
        return None
    monoid, names, axes = joined(parts)
    taken = {d.name for d in a.dims}
    if taken & {x.name for x in monoid.axes}:
        return None
    sides = []
    for node, mine in ((a, slice(0, count)), (b, slice(count, None))):
        pairs = zip(parts[mine], axes[mine], strict=True)
        old = {p.axes[k]: n[k] for p, n in pairs for k in p.axes}
        body = tuple(node.body[i] for p in parts[mine] for i in p.inputs)
        sides.append(renamed(replace(node, monoid=None, body=body), old))
    moved = [len(a.reads) + n for n in range(len(b.reads))]
    body = (*sides[0].body, *(moved_args(e, moved) for e in sides[1].body))
    reads = (*sides[0].reads, *sides[1].reads)
    owners = [a.name] * count + [b.name] * (len(parts) - count)
    redirect = {
        Ref(owner, p.names[k]): Ref(a.name, new[k])
        for owner, p, new in zip(owners, parts, names, strict=True)
        for k in p.names
    }
    return tidy(replace(a, reads=reads, body=body, monoid=monoid)), redirect


def _compatible(a: Monoid, b: Monoid) -> bool:
    """Whether the product keeps what both promise: an identity, any order, specials."""
    identities = (a.identity is None) == (b.identity is None)
    return identities and a.commutative == b.commutative and a.strict == b.strict


MERGE_SIBLINGS: Final = Rule(
    "merge-siblings",
    "two independent nodes over the same points, elements and where with a common read → one, "
    "over the product of their monoids or with the outputs of both",
    "product of monoids",
    frozenset(),
    "Tang.merge_siblings",
    _find,
    recalled=True,
)
