"""Which theorem stands behind which rule and which built-in monoid.

Defines `rule_theorems`, `MONOIDS`, `COMMUTE` and `UNPROVED`. Relies on the rules' own rows, which
name their theorems. That a name exists is no proof that it says the right thing: `pairs` and
`combine` are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tang.rewrite import RULES

MONOIDS: Final[Mapping[str, str]] = {
    "sum": "Tang.add_assoc_law",
    "prod": "Tang.mul_assoc_law",
    "count": "Tang.add_assoc_law",
    "max": "Tang.max_assoc_law",
    "min": "Tang.min_assoc_law",
    "any": "Tang.or_assoc_law",
    "all": "Tang.and_assoc_law",
    "argmax": "Tang.argmax_assoc",
    "argmin": "Tang.argmin_assoc",
    "logsumexp": "Tang.logSum_assoc",
    "online_softmax": "Tang.softmax_assoc",
    "welford": "Tang.welford_assoc",
    "affine_scan": "Tang.affine_assoc",
    "product": "Tang.both_assoc",
    "top_k": "Tang.held_assoc",
}
"""Built-in monoid → the theorem that its combine obeys the laws."""

COMMUTE: Final[Mapping[str, str]] = {
    "sum": "Tang.add_comm_law",
    "prod": "Tang.mul_comm_law",
    "count": "Tang.add_comm_law",
    "max": "Tang.max_comm_law",
    "min": "Tang.min_comm_law",
    "any": "Tang.or_comm_law",
    "all": "Tang.and_comm_law",
    "argmax": "Tang.argmax_comm",
    "argmin": "Tang.argmin_comm",
    "logsumexp": "Tang.logSum_comm",
    "online_softmax": "Tang.softmax_comm",
    "welford": "Tang.welford_comm",
    "product": "Tang.both_comm",
    "top_k": "Tang.held_comm",
}
"""Built-in monoid → the theorem that its combine commutes; the affine scan's does not."""

UNPROVED: Final[Mapping[str, str]] = {}
"""Monoids whose exported combine is not proved equal to the theorem's, with the reason."""


def rule_theorems() -> dict[str, str]:
    """Rule → the theorem that its row names."""
    return {name: row.theorem for name, row in RULES.items()}
