"""Laws of polynomials at one point, which is quicker than their canonical forms.

Defines `holds_at_a_point`. Relies on terms with no operations but those of a ring. It proves
nothing: it saves comparing both sides where Lean will do so, and says where to look for a fault.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from tang.proofs.blocks import products
from tang.proofs.factor import SIDES, Factor
from tang.proofs.laws import check_size
from tang.proofs.terms import Term

PRIME: Final = (1 << 61) - 1
MOST: Final = 4096
"""So many products a side has at most that is not multiplied out before Lean is asked."""


def holds_at_a_point(f: Factor) -> bool:
    """Whether all that the monoid promises holds at one point; False if that is soon known anyway.

    TooLargeError where a side of associativity could not be written out.
    """
    terms = {e.key: e.combine for e in f.entries}
    check_size(terms)
    counts = {k: products(t, {}) for k, t in terms.items()}
    sizes = {f"{side}{k}": n for k, n in counts.items() for side in "st"}
    constants = [e.identity for e in f.entries if e.identity is not None]  # 1 + 1 + … as products
    if any(products(t, sizes) > MOST for t in (*terms.values(), *constants)):
        return False
    return all(a == b for a, b in _sides(f, terms))


def _sides(f: Factor, terms: Mapping[str, Term]) -> Iterator[tuple[dict[str, int], ...]]:
    """Both sides of every law at the point."""
    draws = _draws()
    s, t, r = ({k: next(draws) for k in terms} for _ in SIDES)
    st = _combined(terms, s, t)
    yield _combined(terms, st, r), _combined(terms, s, _combined(terms, t, r))
    if f.monoid.commutative:
        yield st, _combined(terms, t, s)
    identity = {e.key: _at(e.identity, {}) for e in f.entries if e.identity is not None}
    if identity:
        yield _combined(terms, identity, s), s
        yield _combined(terms, s, identity), s


def _draws() -> Iterator[int]:
    """Numbers without a pattern, the same ones each time; powers of one number would have one."""
    for n in itertools.count():
        yield int.from_bytes(hashlib.sha256(str(n).encode()).digest()[:8]) % PRIME


def _combined(
    terms: Mapping[str, Term], left: Mapping[str, int], right: Mapping[str, int]
) -> dict[str, int]:
    values = {f"s{k}": v for k, v in left.items()} | {f"t{k}": v for k, v in right.items()}
    return {k: _at(t, values) for k, t in terms.items()}


def _at(t: Term, values: Mapping[str, int]) -> int:
    """A term's value, up to multiples of the prime."""
    if t.op == "var":
        return values[t.name]
    if t.op in ("add", "mul"):
        a, b = _at(t.args[0], values), _at(t.args[1], values)
        return (a + b if t.op == "add" else a * b) % PRIME
    return -_at(t.args[0], values) % PRIME if t.op == "neg" else int(t.op == "one")
