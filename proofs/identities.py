"""The identity laws of a factor: its identity and a state, combined, give the state.

Defines `identity_claims` and `check_identity`. Relies on `factor` to read a combine with the
identity put in, and on `reachable` where the law holds for states that are never negative. An
identity with infinities is one more state beside the finite ones, as in `Tang.orElse_identity`;
nothing is said about floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tang.proofs.equal import canonical
from tang.proofs.factor import Entry, Factor
from tang.proofs.reachable import FIELD, MODULES, assumed, never_negative
from tang.proofs.session import Claim, Statement
from tang.proofs.substitute import substituted
from tang.proofs.terms import ZERO, Term, UnsupportedError, is_finite, text
from tang.proofs.verified import Kinds

SIDES: Final = {"s": "t", "t": "s"}
"""The side of the identity → that of the state."""


class NoIdentityError(Exception):
    """An identity that is none: the message and the label of the entry at fault."""

    def __init__(self, label: str, text: str) -> None:
        super().__init__(text)
        self.label = label


def identity_claims(f: Factor, kinds: Kinds, label: str) -> list[Claim | Statement]:
    """That the identity is one, on either side; NoIdentityError names the entry where it is not."""
    found: list[Claim | Statement] = []
    wanting: list[tuple[Entry, str, Term]] = []
    for e, side, term in _sides(f):
        want = e.variable(SIDES[side])
        if kinds.same(term, want):
            found.append(kinds.equation(f"{label}_identity_{side}{e.key}", term, want, e.label))
        else:
            wanting.append((e, SIDES[side], term))
    if wanting:
        found += _by_sign(f, wanting, label)
    if f.is_adjoined():
        _twice(f)
    return found


def check_identity(f: Factor, kinds: Kinds) -> None:
    """Raise NoIdentityError where the canonical forms deny that the identity is one."""
    for e, side, term in _sides(f):
        if not kinds.same(term, e.variable(SIDES[side])):
            raise _gives_another(e, SIDES[side])


def _sides(f: Factor) -> Iterator[tuple[Entry, str, Term]]:
    """Every entry, the side of the identity, and the combine with it there."""
    for side in SIDES:
        yield from ((e, side, t) for e, t in zip(f.entries, _combined(f, side), strict=True))


def _gives_another(e: Entry, side: str) -> NoIdentityError:
    """That a state on this side is not what an entry gives."""
    where = "on the left" if side == "t" else "on the right"
    return NoIdentityError(
        e.label,
        f"is no identity, or needs more than ring and lattice laws: {where} of a state it does "
        "not give the state",
    )


def _combined(f: Factor, side: str) -> list[Term]:
    """Every entry's combine with the identity on one side; written out where Lean can read it."""
    if f.is_adjoined():
        return _read(f, side)
    values = {f"{side}{e.key}": _boolean(e) for e in f.entries if e.identity is not None}
    terms = [substituted(e.combine, values) for e in f.entries]
    other = SIDES[side]
    wanted = [canonical(e.variable(other)) for e in f.entries]
    if any(e.boolean for e in f.entries) or [canonical(t) for t in terms] == wanted:
        return terms
    return _read(f, side)


def _boolean(e: Entry) -> Term:
    """The identity of an entry; a condition as a boolean."""
    t = e.identity if e.identity is not None else ZERO
    return Term(f"b{t.op}") if t.op in ("true", "false") else t


def _read(f: Factor, side: str) -> list[Term]:
    try:
        return list(f.with_identity(side))
    except UnsupportedError as e:
        text_ = f"is no identity: combined with a state it gives {e}"
        raise NoIdentityError(_infinite(f).label, text_) from e


def _infinite(f: Factor) -> Entry:
    """The entry to blame for an infinity."""
    return next((e for e in f.entries if e.identity is not None and not is_finite(e.identity)),
                f.entries[0])  # fmt: skip


def _twice(f: Factor) -> None:
    """An identity with infinities, combined with itself, must be itself."""
    try:
        both = list(f.with_identity("st"))
    except UnsupportedError as e:
        raise NoIdentityError(
            _infinite(f).label, f"is no identity: combined with itself it gives {e}"
        ) from e
    for entry, t in zip(f.entries, both, strict=True):
        if entry.identity is None or canonical(t) != canonical(entry.identity):
            text_ = "is no identity: combined with itself it is another state"
            raise NoIdentityError(entry.label, text_)


def _by_sign(
    f: Factor, wanting: list[tuple[Entry, str, Term]], label: str
) -> list[Claim | Statement]:
    """max(0, x) = x, for states in which x is never negative."""
    first, side, _ = wanting[0]
    signs = never_negative(f, label)
    found: list[Claim | Statement] = [*signs.claims]
    for e, other, term in wanting:
        rule = _of_maximum(term, e.variable(other))
        if rule is None or e.key not in signs.keys:
            raise _gives_another(first, side)
        found.append(_maximum(f"{label}_identity_{other}{e.key}", e, other, term, rule))
    return found


def _of_maximum(term: Term, variable: Term) -> str | None:
    """The theorem that a maximum with zero is the variable, where that is not negative."""
    if term.op != "max" or set(term.args) != {ZERO, variable}:
        return None
    return "max_eq_right" if term.args[0] == ZERO else "max_eq_left"


def _maximum(name: str, e: Entry, other: str, term: Term, rule: str) -> Statement:
    variable = e.variable(other).name
    known: Mapping[str, str] = {variable: "h"}
    goal = f"{text(term)} = {variable}"
    binders = assumed([variable], known)
    return Statement(name, FIELD, binders, goal, (f"exact {rule} h",), e.label, MODULES)
