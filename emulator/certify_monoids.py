"""Which monoid a reduction is: groups of state components, compared with the built-in ones.

Defines `Group` and `groups_of`. Relies on the combines of `tang.ir.monoids` up to the numbers of
components and the names of axes, so a product of monoids falls into its factors. Names of monoids
play no part. It bounds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from tang.ir import monoids
from tang.ir.derived import index_maximum, index_minimum, maximum, minimum, zero
from tang.ir.expr import (
    BOOL,
    INDEX,
    REAL,
    Expr,
    Sort,
    apply,
    arg,
    boolean,
    index,
    named,
    real,
    state,
    substitute,
    walk,
)
from tang.ir.graph import Comprehension
from tang.ir.monoid import Monoid
from tang.ir.renumber import renumbered


@dataclass(frozen=True, slots=True)
class Group:
    """Components that are combined with each other and with no others.

    kind        "sum", "max", "welford" …, "unknown" where it is no built-in monoid
    components  their positions;  lift  their lifts over the reads and dims of the node
    size        of the static axis of a top-k
    """

    kind: str
    components: tuple[int, ...]
    lift: tuple[Expr, ...]
    size: int = 0


def groups_of(node: Comprehension) -> tuple[Group, ...]:
    """The groups of a reduction's state."""
    monoid = node.monoid
    if monoid is None:
        return ()
    inputs = {arg(i, b.sort): b for i, b in enumerate(node.body)}
    lifts = tuple(substitute(e, inputs) for e in monoid.lift)
    return tuple(
        Group(kind, members, tuple(lifts[i] for i in members), size)
        for kind, members, size in _kinds(monoid)
    )


@lru_cache(maxsize=1024)
def _kinds(monoid: Monoid) -> tuple[tuple[str, tuple[int, ...], int], ...]:
    return tuple(_kind(monoid, members) for members in _connected(monoid))


def _connected(monoid: Monoid) -> Iterator[tuple[int, ...]]:
    """Components that use each other in combine, in order."""
    rest = list(range(len(monoid.components)))
    uses = [_states(e) for e in monoid.combine]
    while rest:
        found = {rest[0]}
        while True:
            more = {i for i in rest if uses[i] & found or any(i in uses[j] for j in found)}
            if more <= found:
                break
            found |= more
        yield tuple(sorted(found))
        rest = [i for i in rest if i not in found]


def _states(e: Expr) -> frozenset[int]:
    pairs = (x.payload for x in walk(e) if x.op == "state")
    return frozenset(int(p[1]) for p in pairs if isinstance(p, tuple))


def _kind(monoid: Monoid, members: tuple[int, ...]) -> tuple[str, tuple[int, ...], int]:
    place = {c: n for n, c in enumerate(members)}
    axes = {a: n for n, a in enumerate(_axes(monoid, members))}

    def name(a: str) -> str:
        return f"axis{axes.setdefault(a, len(axes))}"

    moved = (renumbered(monoid.combine[c], lambda i: i, place.__getitem__, name) for c in members)
    combine = tuple(moved)
    simple = simple_kinds().get(combine)
    if simple is not None:
        known = _starts(monoid, members, None)
        known = known or any(_starts(monoid, members, (e,)) for e in _neutral()[simple])
        return (simple if known else "unknown"), members, 0
    sizes = [monoid.axis_size(a) for a in _axes(monoid, members)]
    if sizes and combine == _renamed(monoids.top_k(sizes[0])):
        top = monoids.top_k(sizes[0])
        known = _starts(monoid, members, top.identity) and all(
            _of_first_rank(monoid.lift[c], e, axes) for c, e in zip(members, top.lift, strict=True)
        )
        return ("top_k" if known else "unknown"), members, sizes[0]
    if all(monoid.components[c].sort is BOOL for c in members):
        return "truth", members, 0
    kind = compound_kinds().get(combine, "unknown")
    lift = tuple(monoid.lift[c] for c in members)
    own = monoids.BUILTIN[kind].identity if kind != "unknown" else None
    known = _lifts(kind, lift) and _starts(monoid, members, own)
    return (kind if known else "unknown"), members, 0


def _of_first_rank(lift: Expr, own: Expr, axes: Mapping[str, int]) -> bool:
    """Whether a lift of a top-k is an element at the first rank, and what is absent elsewhere."""
    if lift.op != "select" or lift.args[2] != own.args[2] or lift.args[0].op != "eq":
        return False
    rank, first = lift.args[0].args
    return rank.op == "iota" and rank.payload in axes and first == own.args[0].args[1]


def _starts(monoid: Monoid, members: tuple[int, ...], own: tuple[Expr, ...] | None) -> bool:
    """Whether a fold starts from this identity, or from its first element."""
    return monoid.identity is None or tuple(monoid.identity[c] for c in members) == own


def _axes(monoid: Monoid, members: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(a for c in members for a in monoid.components[c].axes))


def _renamed(monoid: Monoid) -> tuple[Expr, ...]:
    axes = {a: n for n, a in enumerate(_axes(monoid, tuple(range(len(monoid.components)))))}

    def name(a: str) -> str:
        return f"axis{axes.setdefault(a, len(axes))}"

    return tuple(renumbered(e, lambda i: i, lambda c: c, name) for e in monoid.combine)


@cache
def _neutral() -> dict[str, tuple[Expr, ...]]:
    """Simple kind → what a fold of it may start from; semigroups have a first element alone."""
    no, low, high = zero(BOOL), index(-(2**31)), index(2**31 - 1)
    return {
        "sum": (real(0), index(0)), "prod": (real(1), index(1)), "first": (), "last": (),
        "max": (named("-inf"),), "min": (named("inf"),), "index_max": (low,), "index_min": (high,),
        "any": (no, boolean(False)), "all": (apply("not", no), boolean(True)),
    }  # fmt: skip


@cache
def simple_kinds() -> dict[tuple[Expr, ...], str]:
    """Combines of one component."""

    def sides(sort: Sort) -> tuple[Expr, Expr]:
        return state(0, 0, sort), state(1, 0, sort)

    found: dict[tuple[Expr, ...], str] = {}
    for sort in (REAL, INDEX, BOOL):
        a, b = sides(sort)
        found[(a,)], found[(b,)] = "first", "last"
    for sort in (REAL, INDEX):
        a, b = sides(sort)
        for x, y in ((a, b), (b, a)):
            found[(apply("add", x, y),)] = "sum"
            found[(apply("mul", x, y),)] = "prod"
    a, b = sides(REAL)
    for x, y in ((a, b), (b, a)):
        found[(maximum(x, y),)], found[(minimum(x, y),)] = "max", "min"
    a, b = sides(INDEX)
    for x, y in ((a, b), (b, a)):
        found[(index_maximum(x, y),)] = "index_max"
        found[(index_minimum(x, y),)] = "index_min"
    a, b = sides(BOOL)
    for x, y in ((a, b), (b, a)):
        found[(apply("or", x, y),)], found[(apply("and", x, y),)] = "any", "all"
    return found


@cache
def compound_kinds() -> dict[tuple[Expr, ...], str]:
    """Combines of several components."""
    known = (
        monoids.ARGMAX, monoids.ARGMIN, monoids.LOGSUMEXP, monoids.ONLINE_SOFTMAX,
        monoids.WELFORD, monoids.AFFINE_SCAN,
    )  # fmt: skip
    return {_renamed(m): m.name for m in known}


_ANY_LIFT: Final = ("argmax", "argmin", "affine_scan", "unknown")


def _lifts(kind: str, lift: tuple[Expr, ...]) -> bool:
    """Whether the lift is that of the built-in monoid, whatever its inputs are called."""
    if kind in _ANY_LIFT:
        return True
    own = monoids.BUILTIN[kind].lift
    inputs = [arg(0), arg(1)]
    if kind == "online_softmax" and lift[2].op == "select":
        inputs = [lift[0], lift[2].args[1]]
    elif kind == "logsumexp":
        inputs = [lift[0], arg(1)]
    elif kind == "welford":
        inputs = [lift[1], arg(1)]
    wanted = dict(zip((arg(0), arg(1)), inputs, strict=True))
    return tuple(substitute(e, wanted) for e in own) == lift
