"""The bridge from a monoid's combine, as the compiler holds it, to Lean.

Defines `check_combine` and `Proof`. Relies on `factor` to read the expressions, on `verified`,
`laws` and `identities` for the claims and on the gate's compiled modules. What a monoid promises is
proved: associativity, commutativity, identity; of finite states and exact numbers, never of floats.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tang.ir.monoid import Monoid
from tang.proofs import session, verified
from tang.proofs.arguments import check_kind
from tang.proofs.counted import UncountedError, counted_claims
from tang.proofs.factor import SIDES, Entry, Factor, factors_of
from tang.proofs.identities import NoIdentityError, identity_claims
from tang.proofs.laws import Broken, law_claims, not_commuting
from tang.proofs.lifts import UnliftedError, check_lifts, needs_positions, position_claims
from tang.proofs.polynomials import is_polynomial, polynomial_claims
from tang.proofs.ranks import UnrankedError, is_ranked, ranked
from tang.proofs.session import Said
from tang.proofs.substitute import renamed
from tang.proofs.terms import Term, TooLargeError, UnsupportedError
from tang.rewrite.factors import factors

OVER: Final = "over finite values (exact arithmetic, nothing about floats)"
DISTINCT: Final = "where positions differ and are not negative"
POSITIONS: Final = "where positions are not negative"
ADJOINED: Final = "with the infinite identity as one more state"


@dataclass(frozen=True, slots=True)
class Proof:
    """What Lean said about one combine.

    ok         whether it is proved
    theorem    the theorems that prove it, separated by commas, or ""
    component  the component that is at fault, or ""
    message    one sentence
    """

    ok: bool
    theorem: str
    component: str
    message: str


@dataclass(frozen=True, slots=True)
class Argued:
    """What is to be shown of one factor: theorems, claims, and words for the message."""

    theorems: tuple[str, ...]
    claims: tuple[Said, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A factor that is a verified combine: its entries in the combine's order, over its names."""

    template: verified.Template
    order: tuple[Entry, ...]
    terms: tuple[Term, ...]


class RefusedError(Exception):
    """Why a combine is not proved; `component` is the one at fault, or ""."""

    def __init__(self, component: str, text: str) -> None:
        super().__init__(text)
        self.component = component


def check_combine(monoid: Monoid, *, fresh: bool = False) -> Proof:
    """Prove a monoid's combine equal to a verified one, or its semigroup laws, and its identity.

    A merged monoid is taken apart first: its factors are proved one by one, and
    `Tang.both_assoc` puts them together. The result is cached by content.
    """
    check_kind(monoid, Monoid, "check_combine", "take one of tang.ir.monoids, or a node's monoid")
    try:
        found = [*_arguments(monoid)]
    except (TooLargeError, RecursionError) as e:
        what = "its expressions are too deep" if isinstance(e, RecursionError) else str(e)
        return Proof(False, "", "", f"{monoid.name}: {what} to be proved")
    except UnliftedError as e:
        return Proof(False, "", e.label, f"{monoid.name}: {e}")
    except UnsupportedError as e:
        return Proof(False, "", "", f"{monoid.name}: {e} has no word in the exact algebra")
    except NoIdentityError as e:
        text = f"{monoid.name}: what identity holds for {e.label} {e}"
        return Proof(False, "", e.label, text)
    except UncountedError as e:
        return Proof(False, "", e.label, f"{monoid.name}: {e.label} of the lift: {e}")
    except UnrankedError as e:
        return Proof(False, "", e.label, f"{monoid.name}: {e}")
    except RefusedError as e:
        return Proof(False, "", e.component, f"{monoid.name}: {e}")
    theorems = [*(x for a in found for x in a.theorems), *_put_together(monoid, len(found))]
    words = [OVER, *(x for a in found for x in a.words)]
    names = ", ".join(dict.fromkeys(theorems))
    wrong = session.check([c for a in found for c in a.claims], fresh=fresh)
    if wrong is not None:
        return Proof(False, "", wrong.component, f"{monoid.name}: {wrong.message}")
    text = f"{monoid.name}: proved {', '.join(dict.fromkeys(words))} by {names}"
    return Proof(True, names, "", text)


def _arguments(m: Monoid) -> Iterator[Argued]:
    """What is to be shown of each factor; those that are a top-k are read as they stand."""
    parts = factors(m)
    if not any(is_ranked(p.monoid) for p in parts):
        names = {c.name: c.name for c in m.components}
        yield from _unlike(_argued(f, f"f{n}") for n, f in enumerate(factors_of(m, names)))
        return
    for n, p in enumerate(parts):
        if is_ranked(p.monoid):
            shown = ranked(p.monoid, f"f{n}", p.names)
            yield Argued(shown.theorems, shown.claims, (DISTINCT,))
        else:
            inner = factors_of(p.monoid, p.names)
            yield from (_argued(f, f"f{n}_{i}") for i, f in enumerate(inner))


def _unlike(arguments: Iterable[Argued]) -> Iterator[Argued]:
    """The same, with claims that read alike but for their names made once."""
    made: set[str] = set()
    for n, a in enumerate(arguments):
        said = "\n".join(c.text() for c in a.claims)
        alike = re.sub(rf"\bf{n}_", "f_", said)
        yield replace(a, claims=()) if alike in made else a
        made.add(alike)


def _put_together(m: Monoid, factors: int) -> Iterator[str]:
    """The theorems that make laws of a product from those of its factors."""
    if factors > 1:
        yield "Tang.both_assoc"
        yield from ["Tang.both_comm"] * m.commutative
        yield from ["Tang.both_identity"] * (m.identity is not None)


def _argued(f: Factor, label: str) -> Argued:
    """The claims for one factor; RefusedError and its like say why there are none."""
    check_lifts(f)
    near: Match | None = None
    for template in verified.TEMPLATES:
        for found in _matches(f, template):
            wrong = template.differing(found.terms)
            if not wrong:
                return _verified(f, found, label)
            if near is None and len(wrong) == 1 < len(found.order):
                near = Match(template, (found.order[wrong[0]],), ())
    return _exported(f, near, label)


def _matches(f: Factor, template: verified.Template) -> Iterator[Match]:
    """Entries in every order, over a template's variables; none if they cannot be its own."""
    if len(f.entries) != len(template.fields) or any(e.dims for e in f.entries):
        return
    for order in itertools.permutations(f.entries):
        names = {f"{s}{e.key}": f"{s}{i}" for i, e in enumerate(order) for s in SIDES}
        yield Match(template, order, tuple(renamed(e.combine, names) for e in order))


def _verified(f: Factor, found: Match, label: str) -> Argued:
    """The factor is a verified combine, whose theorems give what the monoid promises."""
    template, promised = found.template, ["associative"]
    if f.monoid.commutative:
        promised.append("commutative")
        if template.law("commutative") is None:
            entry = not_commuting(f)
            raise RefusedError(
                entry.label,
                f"it promises to be commutative, and {entry.label} of {template.name} is not",
            )
    claims: list[Said] = [
        template.claim(i, f"{label}_{i}", t, e.label)
        for i, (e, t) in enumerate(zip(found.order, found.terms, strict=True))
    ]
    claims += template.law_claims(label, promised)
    if template.states == "counted":
        claims += counted_claims(f, found.order, label)
    elif f.monoid.identity is not None:
        claims += identity_claims(f, template.kinds([e.key for e in found.order]), label)
    theorems = [x.theorem for x in template.laws if x.name in promised]
    present = template.states == "present" and f.monoid.commutative
    if present or needs_positions(f):
        claims += position_claims(f, label)
    return _adjoined(f, theorems, claims, _assumed(f, present))


def _exported(f: Factor, near: Match | None, label: str) -> Argued:
    """The laws of a new combine, from its own expressions."""
    kinds = verified.kinds([e.combine for e in f.entries], [e.key for e in f.entries])
    if kinds is None:
        raise RefusedError("", "its components mix conditions and arithmetic")
    polynomial = is_polynomial(f)
    laws = (polynomial_claims if polynomial else law_claims)(f, kinds, label)
    if isinstance(laws, Broken):
        raise _refusal(laws, near)
    claims: list[Said] = [*laws]
    if f.monoid.identity is not None and not polynomial:
        claims += identity_claims(f, kinds, label)
    if needs_positions(f):
        claims += position_claims(f, label)
    return _adjoined(f, ["exported laws"], claims, _assumed(f, False))


def _assumed(f: Factor, present: bool) -> list[str]:
    """That positions are not negative: where a law needs it, and where an identity is read."""
    read = bool(f.positions) and f.monoid.identity is not None
    return [POSITIONS] * (read or present)


def _refusal(broken: Broken, near: Match | None) -> RefusedError:
    """Which law fails where; a component that spoils a verified combine is to blame."""
    label = broken.entry.label
    text = f"{broken.law} fails for {label}, or needs more than ring and lattice laws"
    if near is None:
        return RefusedError(label, text)
    (entry,) = near.order
    return RefusedError(entry.label, (
        f"{entry.label} is not that of {near.template.name}, which the other components are; {text}"
    ))  # fmt: skip


def _adjoined(
    f: Factor, theorems: Sequence[str], claims: Sequence[Said], words: Sequence[str]
) -> Argued:
    """An identity with infinities makes one more state, whose laws are those of a missing side."""
    if not f.is_adjoined():
        return Argued(tuple(theorems), tuple(claims), tuple(words))
    more = ["Tang.orElse_assoc", *["Tang.orElse_comm"] * f.monoid.commutative,
            "Tang.orElse_identity"]  # fmt: skip
    return Argued((*theorems, *more), tuple(claims), (*words, ADJOINED))
