"""What a monoid is, by its expressions and not by its name.

Defines `kind`, which tells sums, products and extrema whatever they are called, `same_monoid`, and
which results of a node hold its value. Relies on the built-in monoids. A monoid written in another
way than modulo the order of its operands is not known, which loses a rewrite and nothing else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tang.ir import monoids
from tang.ir.derived import index_maximum, index_minimum
from tang.ir.expr import Expr, index, rebuild, state, walk
from tang.ir.graph import Comprehension
from tang.ir.monoid import Monoid
from tang.rewrite.normal import order

INDEX_SUM: Final = monoids.COUNT
INDEX_MAX: Final = monoids.simple("index_max", index_maximum, index(-(2**31)))
INDEX_MIN: Final = monoids.simple("index_min", index_minimum, index(2**31 - 1))

_KINDS: Final = {
    "sum": monoids.SUM,
    "prod": monoids.PROD,
    "max": monoids.MAX,
    "min": monoids.MIN,
    "index_sum": INDEX_SUM,
    "index_max": INDEX_MAX,
    "index_min": INDEX_MIN,
    "argmax": monoids.ARGMAX,
    "argmin": monoids.ARGMIN,
    "logsumexp": monoids.LOGSUMEXP,
    "online_softmax": monoids.ONLINE_SOFTMAX,
    "welford": monoids.WELFORD,
    "affine_scan": monoids.AFFINE_SCAN,
}


_BY_NAME: Final = ("welford", "argmax", "argmin")
"""Kinds whose results rules read by the names that the library gives them."""


@lru_cache(maxsize=4096)
def kind(monoid: Monoid) -> str | None:
    """The row of the table that the monoid equals, whatever its name; None for any other.

    The results of Welford, argmax and argmin are called as the library calls them, too.
    """
    for name, known in _KINDS.items():
        if same_monoid(monoid, known):
            return name if name not in _BY_NAME or _results(monoid) == _results(known) else None
    return None


def _results(monoid: Monoid) -> tuple[str, ...]:
    """The names of everything that a node of the monoid computes."""
    return tuple(c.name for c in (*monoid.outputs, *monoid.components))


def same_monoid(a: Monoid, b: Monoid) -> bool:
    """Whether two monoids compute the same from the same inputs, under whatever names.

    Left and right may be exchanged where both are commutative: a scan that runs the other way is
    another monoid.
    """
    if a is b:
        return True
    sorts = [(m.inputs, tuple(c.sort for c in m.components), m.identity, m.lift) for m in (a, b)]
    if sorts[0] != sorts[1] or a.axes or b.axes or len(a.outputs) != len(b.outputs):
        return False
    either = a.commutative and b.commutative
    combined = zip(a.combine, b.combine, strict=True)
    projected = zip(a.project, b.project, strict=True)
    return all(_same(x, y, either=either) for x, y in combined) and all(
        _same(x, y, either=False) for x, y in projected
    )


def _same(x: Expr, y: Expr, *, either: bool) -> bool:
    """Whether two expressions are equal up to the order of operands (and of left and right)."""
    wanted = _ordered(x)
    return wanted is _ordered(y) or (either and wanted is _ordered(_swapped(y)))


def _ordered(e: Expr) -> Expr:
    done: dict[Expr, Expr] = {}
    for x in walk(e):
        args = tuple(done[a] for a in x.args)
        commutes = x.op in ("add", "mul", "and", "or", "eq")
        done[x] = rebuild(x, tuple(sorted(args, key=order)) if commutes else args)
    return done[e]


def _swapped(e: Expr) -> Expr:
    done: dict[Expr, Expr] = {}
    for x in walk(e):
        if x.op == "state" and isinstance(x.payload, tuple) and not x.args:
            done[x] = state(1 - int(x.payload[0]), int(x.payload[1]), x.sort)
        else:
            done[x] = rebuild(x, tuple(done[a] for a in x.args))
    return done[e]


def kind_of(node: Comprehension) -> str | None:
    """The kind of a node's monoid; None for a map."""
    return None if node.monoid is None else kind(node.monoid)


def value_names(node: Comprehension) -> tuple[str, ...]:
    """The results that hold the value of a simple reduction: its output and its state."""
    return node.output_names() if node.monoid and len(node.monoid.components) == 1 else ()
