"""Scans: reductions whose result at a position folds everything up to it.

Defines `Scan` and `scan_of`, which recognises the form that a sequential or chunked kernel can
compute in linear time: the position occurs in one condition and nowhere else. Relies on the IR
alone. It says what is possible; whether to do it is the business of schedules and rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim


@dataclass(frozen=True, slots=True)
class Scan:
    """A reduction over s with the one condition s ≤ t + offset, or s ≥ t + offset in `reverse`.

    Neither reads nor body depend on t, so that the results along t are the running states of one
    fold over s.
    """

    along: Dim
    over: Dim
    offset: int
    reverse: bool


def scan_of(node: Comprehension) -> Scan | None:
    """The scan that a node is; None for a map, another condition, or a body that depends on t."""
    if node.monoid is None or len(node.reduce) != 1 or len(node.where) != 1:
        return None
    (over,), (form,) = node.reduce, node.where
    if len(form.terms) != 2 or not form.const.is_constant:
        return None
    sign = form.coefficient(over.name)
    for along in node.point:
        if sign not in (poly(1), poly(-1)) or form.coefficient(along.name) != -sign:
            continue
        reads = frozenset[str]().union(*(r.view.dims() for r in node.reads))
        used = reads.union(*(b.names for b in node.body))
        if along.name in used or along.extent != over.extent:
            return None
        reverse = sign == poly(1)
        const = form.const.constant
        return Scan(along, over, -const if reverse else const, reverse)
    return None


def is_inclusive(node: Comprehension) -> bool:
    """Whether the node is a scan over everything up to and with its position."""
    found = scan_of(node)
    return found is not None and not found.reverse and found.offset == 0
