"""What Welford's merge needs of its states, proved for the lift and the identity of a monoid.

Defines `counted_claims`. Relies on Tang/Welford: the merge is associative where counts are not
negative, and commutes and has an identity where, besides, an empty state holds zeros. The merge
keeps both; that a lift has them is shown only for counts that are plainly positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tang.proofs.equal import canonical
from tang.proofs.factor import Entry, Factor, variables
from tang.proofs.identities import NoIdentityError
from tang.proofs.reachable import FIELD, assumed, never_negative, positive, scope_of
from tang.proofs.session import Statement
from tang.proofs.terms import ZERO, Term, text

MODULES: Final = ("Tang.Welford", "Tang.Lattice")
KEPT: Final = (
    ("counts", "∀ s t : Moments K, 0 ≤ s.n → 0 ≤ t.n → 0 ≤ (mergeMoments s t).n", "welford_counts"),
    ("states", "∀ s t : Moments K, Counted s → Counted t → Counted (mergeMoments s t)",
     "welford_counted"),
)  # fmt: skip


class UncountedError(Exception):
    """A lift whose counts do not allow what the monoid promises; `label` is the count's."""

    def __init__(self, label: str, text: str) -> None:
        super().__init__(text)
        self.label = label


def counted_claims(f: Factor, order: Sequence[Entry], label: str) -> list[Statement]:
    """That the states of a fold are those of which the theorems speak; entries are n, mean, M2."""
    count = order[0]
    signs = never_negative(f, label)
    if count.key not in signs.keys:
        raise UncountedError(count.label, "a merge of moments needs counts that are not negative")
    found = [*signs.claims, *(_statement(f"{label}_{n}", g, t) for n, g, t in KEPT)]
    if not f.monoid.commutative and count.identity is None:
        return found
    lift = f.lifted(count)
    sign = None if lift is None else positive(lift)
    if lift is None or sign is None:
        raise UncountedError(
            count.label, "merges of moments commute only where every element counts for something"
        )
    found.append(_some(f"{label}_lift", lift, sign, count.label))
    return [*found, *(_identity(order, label) if count.identity is not None else ())]


def _statement(name: str, goal: str, proof: str) -> Statement:
    return Statement(name, FIELD, "", goal, (f"exact {proof}",), f"Tang.{proof}", MODULES)


def _some(name: str, lift: Term, sign: str, subject: str) -> Statement:
    """A lift whose count is positive is counted, whatever the rest."""
    goal = f"Counted (⟨{text(lift)}, x, y⟩ : Moments K)"
    binders = assumed(["x", "y", *sorted({*variables(lift)})], {})
    return Statement(name, scope_of(lift), binders, goal, (f"exact counted_some _ x y {sign}",),
                     subject, MODULES)  # fmt: skip


def _identity(order: Sequence[Entry], label: str) -> list[Statement]:
    """The identity is three zeros, and that is an identity."""
    for e in order:
        if e.identity is None or canonical(e.identity) != canonical(ZERO):
            raise NoIdentityError(e.label, "is no identity: that of a merge of moments is 0, 0, 0")
    parts = ", ".join(text(e.identity) for e in order if e.identity is not None)
    nothing = f"(⟨{parts}⟩ : Moments K)"
    law = (
        f"∀ s : Moments K, Counted s → mergeMoments {nothing} s = s ∧ mergeMoments s {nothing} = s"
    )
    return [_statement(f"{label}_nothing", f"Counted {nothing}", "counted_nothing"),
            _statement(f"{label}_identity", law, "welford_identity")]  # fmt: skip
