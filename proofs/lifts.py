"""What a monoid's lift makes of an element: a state of which the laws speak, or a fault.

Defines `check_lifts`, `needs_positions` and `position_claims`. Relies on a factor's lifts as terms,
over finite inputs and over inputs of sort index that are positions. A lift that the exact algebra
cannot read is not judged: the laws are then about the finite states that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from tang.ir.expr import INDEX
from tang.proofs.equal import canonical
from tang.proofs.factor import SIDES, Entry, Factor
from tang.proofs.reachable import nonneg, stated
from tang.proofs.session import Statement
from tang.proofs.terms import (
    NotANumberError,
    Term,
    UnsupportedError,
    add,
    inverse,
    is_finite,
    mul,
    neg,
    power,
)

CASES: Final = 64
"""So many cases of a lift's conditions are looked at."""


class UnliftedError(Exception):
    """A lift that leaves the states of which something is proved; `label` is the entry's."""

    def __init__(self, label: str, text: str) -> None:
        super().__init__(text)
        self.label = label


def check_lifts(f: Factor) -> None:
    """Raise UnliftedError where a finite element gives NaN, or an infinity beside the identity."""
    terms: list[Term | None] = []
    for e in f.entries:
        try:
            terms.append(f.lifted(e))
        except NotANumberError:
            text = f"the lift of {e.label} may be NaN, of which nothing is proved"
            raise UnliftedError(e.label, text) from None
    for case in _cases(terms):
        fault = _infinite(f, case)
        if fault is not None:
            text = f"the lift of {fault.label} may be infinite in a state that is not the identity"
            raise UnliftedError(fault.label, text)


def _infinite(f: Factor, case: Sequence[Term | None]) -> Entry | None:
    """The entry that is infinite in a lifted state that is not the identity."""
    pairs = [(e, t) for e, t in zip(f.entries, case, strict=True) if t is not None]
    odd = next((e for e, t in pairs if not is_finite(t)), None)
    same = all(e.identity is not None and canonical(e.identity) == canonical(t) for e, t in pairs)
    return None if same else odd


def _cases(terms: Sequence[Term | None]) -> Iterator[list[Term | None]]:
    """The lifted state in every case of the conditions on which its entries depend."""
    waiting, seen = [list(terms)], 0
    while waiting:
        case, seen = waiting.pop(), seen + 1
        condition = next((c for t in case if t is not None for c in _conditions(t)), None)
        if condition is None or seen > CASES:
            yield case
            continue
        for branch in (1, 2):
            waiting.append([None if t is None else _decided(t, condition, branch) for t in case])


def _conditions(t: Term) -> Iterator[Term]:
    if t.op == "ite":
        yield t.args[0]
    for a in t.args:
        yield from _conditions(a)


_MAKE: Final[Mapping[str, Callable[..., Term]]] = {
    "add": add, "mul": mul, "neg": neg, "inv": inverse, "exp": power,
}  # fmt: skip


def _decided(t: Term, condition: Term, branch: int) -> Term:
    """The term where each choice by this condition takes its first or its second branch."""
    if t.op == "ite" and t.args[0] == condition:
        return _decided(t.args[branch], condition, branch)
    parts = [_decided(a, condition, branch) for a in t.args]
    return _MAKE[t.op](*parts) if t.op in _MAKE else Term(t.op, tuple(parts), t.name)


def needs_positions(f: Factor) -> bool:
    """Whether what the identity gives is read with the help of positions not being negative."""
    if f.monoid.identity is None or not f.positions:
        return False
    try:
        return any([*f.with_identity(s)] != [*f.with_identity(s, natural=False)] for s in "st")
    except UnsupportedError:
        return True


def position_claims(f: Factor, label: str) -> list[Statement]:
    """That the lift gives positions and the combine keeps them; UnliftedError where neither."""
    inputs = {f"u{i}": f"hu{i}" for i, s in enumerate(f.monoid.inputs) if s is INDEX}
    sides = {f"{s}{e.key}": f"h{s}{e.key}" for s in SIDES for e in f.entries
             if f"{s}{e.key}" in f.positions}  # fmt: skip
    found = []
    for e in f.entries:
        if f"s{e.key}" not in f.positions:
            continue
        parts = {"lift": (f.lifted(e), inputs), "combine": (e.combine, sides)}
        for part, (t, known) in parts.items():
            if t is None:
                continue
            if nonneg(t, known) is None:
                text = f"{e.label} is a position, and its {part} may be negative"
                raise UnliftedError(e.label, text)
            found.append(stated(f"{label}_{part}_position{e.key}", t, known, e.label))
    return found
