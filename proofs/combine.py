"""The bridge from a monoid's combine, as the compiler holds it, to Lean.

Defines `check_combine` and `Proof`. Relies on `terms` to read the expressions, on `equal` for the
tactics and on the gate's compiled modules. A combine is proved equal to a verified one, or its
laws are proved directly; it speaks of finite states over exact numbers, never of floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from tang.ir.expr import BOOL, Expr
from tang.ir.monoid import Monoid
from tang.proofs import session, verified
from tang.proofs.equal import canonical, prove
from tang.proofs.session import Claim
from tang.proofs.terms import Reader, Term, UnsupportedError, number

SIDES: Final = "str"
"""Prefixes of the variables of three states."""


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
class Entry:
    """One scalar of a state: its component, its coordinates, its combine over `s…` and `t…`."""

    component: int
    at: tuple[int, ...]
    term: Term

    def label(self, m: Monoid) -> str:
        """The component's name with coordinates."""
        name = m.components[self.component].name
        return f"{name}[{', '.join(map(str, self.at))}]" if self.at else name


def check_combine(monoid: Monoid, *, fresh: bool = False) -> Proof:
    """Prove a monoid's combine equal to a verified one, or its semigroup laws.

    A merged monoid is taken apart first: its factors are proved one by one, and
    `Tang.both_assoc` puts them together. The result is cached by content.
    """
    try:
        entries = _entries(monoid)
    except UnsupportedError as e:
        return Proof(False, "", "", f"{monoid.name}: {e} has no word in the exact algebra")
    claims: list[Claim] = []
    names: list[str] = []
    for group in _factors(entries):
        found = _claims(monoid, [entries[i] for i in group], len(names))
        if isinstance(found, Proof):
            return found
        claims += found[1]
        names.append(found[0])
    if len(names) > 1:
        names.append("Tang.both_assoc")
    return _judged(monoid, claims, tuple(dict.fromkeys(names)), fresh)


def _judged(m: Monoid, claims: Sequence[Claim], names: Sequence[str], fresh: bool) -> Proof:
    wrong = session.check(claims, fresh=fresh)
    if wrong is None:
        return Proof(True, ", ".join(names), "", f"{m.name}: proved by {', '.join(names)}")
    return Proof(False, "", wrong.subject, f"{m.name}: Lean refuses {wrong.subject}: {wrong.text}")


def _entries(m: Monoid) -> list[Entry]:
    """Every scalar of the state with its combine."""
    sizes = {a.name: a.size for a in m.axes}
    return [
        Entry(
            i,
            at,
            Reader(_leaf, {a: number(Fraction(n)) for a, n in zip(c.axes, at, strict=True)})(e),
        )
        for i, (c, e) in enumerate(zip(m.components, m.combine, strict=True))
        for at in itertools.product(*(range(sizes[a]) for a in c.axes))
    ]


def _leaf(e: Expr, at: tuple[int, ...]) -> Term:
    """The variable of an entry of a state."""
    side, i = e.payload if isinstance(e.payload, tuple) else (0, 0)
    op = "bvar" if e.sort is BOOL else "var"
    return Term(op, name=_name(SIDES[int(side)], int(i), at))


def _name(side: str, component: int, at: tuple[int, ...]) -> str:
    return "_".join([f"{side}{component}", *map(str, at)])


def _variables(t: Term) -> Iterator[str]:
    if t.op in ("var", "bvar"):
        yield t.name
    for a in t.args:
        yield from _variables(a)


def _factors(entries: Sequence[Entry]) -> list[list[int]]:
    """Groups of entries whose combines read each other: the factors of a product."""
    place = {_name("", e.component, e.at): i for i, e in enumerate(entries)}
    group = list(range(len(entries)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for i, e in enumerate(entries):
        for name in _variables(e.term):
            group[root(place[name[1:]])] = root(i)
    found: dict[int, list[int]] = {}
    for i in range(len(entries)):
        found.setdefault(root(i), []).append(i)
    return list(found.values())


def _claims(m: Monoid, entries: list[Entry], number: int) -> tuple[str, list[Claim]] | Proof:
    """The theorem and the claims for one factor, or why there is none."""
    label = f"f{number}"
    near: tuple[verified.Template, Entry] | None = None
    for template in verified.TEMPLATES:
        for order, terms in _orders(entries, template):
            wrong = template.differing(terms)
            if not wrong:
                return template.theorem, [
                    template.claim(i, f"{label}_{i}", t, e.label(m))
                    for i, (e, t) in enumerate(zip(order, terms, strict=True))
                ]
            if near is None and len(wrong) == 1:
                near = template, order[wrong[0]]
    found = _laws(m, entries, label)
    if isinstance(found, Proof) and near is not None:
        subject = near[1].label(m)
        return replace(found, component=subject, message=(
            f"{m.name}: {subject} is not that of {near[0].theorem.removesuffix('_assoc')}, which "
            f"the other components are; {found.message}"
        ))  # fmt: skip
    return found


def _orders(
    entries: list[Entry], template: verified.Template
) -> Iterator[tuple[tuple[Entry, ...], list[Term]]]:
    """Entries in every order, over a template's variables; none if they cannot be its own."""
    if len(entries) != len(template.fields) or any(e.at for e in entries):
        return
    for order in itertools.permutations(entries):
        names = _renaming(order)
        yield order, [renamed(e.term, names) for e in order]


def _renaming(order: Sequence[Entry]) -> dict[str, str]:
    """Names of entries → names by position."""
    return {
        _name(side, e.component, e.at): f"{side}{i}" for i, e in enumerate(order) for side in SIDES
    }


def renamed(t: Term, names: Mapping[str, str]) -> Term:
    """The term with other variables."""
    if t.op in ("var", "bvar"):
        return Term(t.op, name=names.get(t.name, t.name))
    return Term(t.op, tuple(renamed(a, names) for a in t.args))


def substituted(t: Term, values: Mapping[str, Term]) -> Term:
    """The term with terms for variables, all at once."""
    if t.op in ("var", "bvar"):
        return values.get(t.name, t)
    return Term(t.op, tuple(substituted(a, values) for a in t.args))


def _laws(m: Monoid, entries: list[Entry], label: str) -> tuple[str, list[Claim]] | Proof:
    """Claims of associativity, of commutativity where it is promised, and of a finite identity."""
    terms = {_name("", e.component, e.at): e.term for e in entries}
    kinds = verified.kinds([e.term for e in entries], list(terms))
    if kinds is None:
        return Proof(False, "", "", f"{m.name}: its components mix conditions and arithmetic")
    claims: list[Claim] = []
    for law, left, right in _equations(m, terms):
        for e in entries:
            key, subject = _name("", e.component, e.at), e.label(m)
            a, b = left[key], right[key]
            if kinds.mode != "bool" and canonical(a) != canonical(b):
                text_ = (
                    f"{m.name}: {law} fails for {subject}, or needs more than ring and lattice laws"
                )
                return Proof(False, "", subject, text_)
            tactics = kinds.cases(a, b) if kinds.mode == "bool" else prove(a, b)
            claims.append(kinds.claim(f"{label}_{law}_{key}", a, b, tactics, subject, key))
    return "exported laws", claims


def _equations(
    m: Monoid, terms: Mapping[str, Term]
) -> Iterator[tuple[str, dict[str, Term], dict[str, Term]]]:
    """Law → both sides per entry."""
    st = _joined(terms, "s", "t")
    tr = _joined(terms, "t", "r")
    left = {k: substituted(t, _values(st, terms, "r")) for k, t in terms.items()}
    right = {k: substituted(t, _values(None, terms, "s", tr)) for k, t in terms.items()}
    yield "associative", left, right
    if m.commutative:
        yield "commutative", st, _joined(terms, "t", "s")


def _joined(terms: Mapping[str, Term], first: str, second: str) -> dict[str, Term]:
    """combine(first, second) per entry."""
    names = {f"{a}{k}": f"{b}{k}" for k in terms for a, b in (("s", first), ("t", second))}
    return {k: renamed(t, names) for k, t in terms.items()}


def _values(
    left: Mapping[str, Term] | None,
    terms: Mapping[str, Term],
    other: str,
    right: Mapping[str, Term] | None = None,
) -> dict[str, Term]:
    """What stands for both arguments: one is a combine, the other a state."""
    given = left if left is not None else right or {}
    combined, plain = ("s", "t") if left is not None else ("t", "s")
    op = {k: _variable_op(terms, k) for k in terms}
    values = {f"{combined}{k}": given[k] for k in terms}
    return values | {f"{plain}{k}": Term(op[k], name=f"{other}{k}") for k in terms}


def _variable_op(terms: Mapping[str, Term], key: str) -> str:
    stack = list(terms.values())
    while stack:
        t = stack.pop()
        if t.op == "bvar" and t.name[1:] == key:
            return "bvar"
        stack += t.args
    return "var"
