"""The laws of a combine whose entries are polynomials, decided by Lean's kernel in one evaluation.

Defines `is_polynomial` and `polynomial_claims`. Relies on Tang/Polynomial.lean, whose checks are
proved sound there, and on the canonical forms to name the entry at fault. A combine with maxima,
quotients or exponentials, or an identity that holds one, is no such polynomial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tang.proofs.factor import Factor
from tang.proofs.identities import check_identity
from tang.proofs.laws import Broken, broken_law
from tang.proofs.session import Definition, Said, Statement
from tang.proofs.substitute import renamed
from tang.proofs.terms import Term, text
from tang.proofs.verified import ONE_SORT, Kinds

MODULES: Final = ("Tang.Polynomial",)
RING: Final = f"{ONE_SORT}[CommRing K]"
OPERATIONS: Final = "{R : Type u} [Add R] [Mul R] [Neg R] [Zero R] [One R]"
"""What the exported text is read over: a ring for its meaning, polynomials for its syntax."""

_ARITHMETIC: Final = frozenset({"var", "zero", "one", "add", "mul", "neg"})


def is_polynomial(f: Factor) -> bool:
    """Whether every entry is made of sums, products and negations alone, its identity too."""
    constants = (e.identity for e in f.entries if e.identity is not None)
    return all(map(_is_arithmetic, (*(e.combine for e in f.entries), *constants)))


def _is_arithmetic(t: Term) -> bool:
    return t.op in _ARITHMETIC and all(map(_is_arithmetic, t.args))


def polynomial_claims(f: Factor, kinds: Kinds, label: str) -> list[Said] | Broken:
    """Associativity, and what else the monoid promises; or the law that fails.

    NoIdentityError names the entry where an identity is none.
    """
    broken = broken_law(f, kinds)
    if broken is not None:
        return broken
    if f.monoid.identity is not None:
        check_identity(f, kinds)
    components = dict.fromkeys(e.label.partition("[")[0] for e in f.entries)
    return [*_claims(f, f"{label}_combine", ", ".join(components))]


def _claims(f: Factor, name: str, subject: str) -> Iterator[Said]:
    """The combine and its identity as lists of entries, what they mean, and their laws."""
    places = {e.key: i for i, e in enumerate(f.entries)}
    names = {f"{s}{k}": f"({s} {i})" for k, i in places.items() for s in "st"}
    body = _list(renamed(e.combine, names) for e in f.entries)
    states = "(s t : Nat → R)"
    yield Definition(name, f"{OPERATIONS} {states}", body, "List R", subject, MODULES)

    def law(short: str, goal: str, proof: str) -> Statement:
        return Statement(f"{name}_{short}", RING, "", goal, (f"exact {proof}",), subject, MODULES)

    syntax = f"({name} .left .right)"
    yield law(
        "means", f"∀ s t : Nat → K, {name} s t = Polynomial.values s t {syntax}", "fun _ _ => rfl"
    )
    promised = [("associative", "Associative")]
    promised += [("commutative", "Commutative")] * f.monoid.commutative
    for short, goal in promised:
        proof = f"Polynomial.{short} (c := {syntax}) {name}_means_proved (by decide +kernel)"
        yield law(short, f"{goal} (combineBy ({name} (R := K)))", proof)
    if f.monoid.identity is not None:
        constants = _list(e.identity for e in f.entries if e.identity is not None)
        held = f"{name}_constants"
        yield Definition(held, OPERATIONS, constants, "List R", subject, MODULES)
        proof = f"Polynomial.identity (c := {syntax}) (e := {held}) {name}_means_proved"
        goal = f"IdentityBelow {len(f.entries)} ({name} (R := K)) {held}"
        yield law("identity", goal, f"{proof} {len(f.entries)} rfl (by decide +kernel)")


def _list(terms: Iterable[Term]) -> str:
    """A list of any length; `[a, b]` of more than 32 entries needs Lean's own library."""
    return " :: ".join([*map(text, terms), "[]"])
