"""The semigroup laws of a combine that is no verified one, as claims about its exported terms.

Defines `law_claims`, `broken_law`, `check_size` and `not_commuting`. Relies on `equal` for
canonical forms and tactics. It says nothing about identities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tang.proofs.equal import canonical
from tang.proofs.factor import Entry, Factor
from tang.proofs.session import Claim
from tang.proofs.substitute import count, renamed, substituted
from tang.proofs.terms import Term, TooLargeError
from tang.proofs.verified import Kinds

LARGEST: Final = 1_000_000
"""So many operations a side of a law has at most, written out."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A law that the canonical forms deny, and the entry where they do."""

    law: str
    entry: Entry


def law_claims(f: Factor, kinds: Kinds, label: str) -> list[Claim] | Broken:
    """Claims of associativity, and of commutativity where it is promised."""
    broken = broken_law(f, kinds, f.entries)
    if broken is not None:
        return broken
    terms = {e.key: e.combine for e in f.entries}
    return [
        kinds.claim(f"{label}_{law}_{e.key}", left[e.key], right[e.key], e.label, e.key)
        for law, left, right in _equations(f, terms)
        for e in f.entries
    ]


def broken_law(f: Factor, kinds: Kinds, starts: Sequence[Entry]) -> Broken | None:
    """The first law that the canonical forms deny, or None; associativity is asked of `starts`."""
    terms = {e.key: e.combine for e in f.entries}
    for law, left, right in _equations(f, terms):
        asked = starts if law == "associative" else f.entries
        wrong = next((e for e in asked if not kinds.same(left[e.key], right[e.key])), None)
        if wrong is not None:
            return Broken(law, wrong)
    return None


def not_commuting(f: Factor) -> Entry:
    """The first entry whose combine changes when the sides are exchanged."""
    terms = {e.key: e.combine for e in f.entries}
    turned = _joined(terms, "t", "s")
    changed = (e for e in f.entries if canonical(terms[e.key]) != canonical(turned[e.key]))
    return next(changed, f.entries[0])


def _equations(
    f: Factor, terms: Mapping[str, Term]
) -> Iterator[tuple[str, dict[str, Term], dict[str, Term]]]:
    """Law → both sides per entry; TooLargeError for terms that would take too long."""
    check_size(terms)
    st, tr = _joined(terms, "s", "t"), _joined(terms, "t", "r")
    last = {f"t{e.key}": e.variable("r") for e in f.entries}
    first = {f"s{e.key}": e.variable("s") for e in f.entries}
    combined = {f"s{k}": t for k, t in st.items()} | last
    nested = first | {f"t{k}": t for k, t in tr.items()}
    left = {k: substituted(t, combined) for k, t in terms.items()}
    right = {k: substituted(t, nested) for k, t in terms.items()}
    yield "associative", left, right
    if f.monoid.commutative:
        yield "commutative", st, _joined(terms, "t", "s")


def check_size(terms: Mapping[str, Term]) -> None:
    """Raise TooLargeError unless both sides of associativity can be written out."""
    alone = {k: count(t, {}) for k, t in terms.items()}
    for side in "st":
        sizes = {f"{side}{k}": n for k, n in alone.items()}
        if any(count(t, sizes) > LARGEST for t in terms.values()):
            raise TooLargeError(f"a side of its associativity has more than {LARGEST} operations")


def _joined(terms: Mapping[str, Term], first: str, second: str) -> dict[str, Term]:
    """combine(first, second) per entry."""
    names = {f"{a}{k}": f"{b}{k}" for k in terms for a, b in (("s", first), ("t", second))}
    return {k: renamed(t, names) for k, t in terms.items()}
