"""Certificates of a bound: a linear program with a primal and a dual solution, checked by Lean.

Defines `LinearProgram` and `check_certificate`. Relies on exact rationals and on Tang/LP. The dual
proves the bound for every feasible point over every ordered field, the primal that it is met. It
finds no solutions and says nothing about what the program models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from tang.errors import ProofError
from tang.proofs import session
from tang.proofs.arguments import TOO_LARGE, check_kind, rationals, sequence_of, too_large
from tang.proofs.combine import Proof
from tang.proofs.session import Statement

SCOPE: Final = "variable {K : Type u} [OrderedField K]"
THEOREM: Final = "Tang.certificate, Tang.certificate_value"
LONGEST: Final = 32
"""So many entries a list in Lean has at most; longer ones need Lean's own library."""


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Maximise objective · x over x ≥ 0 with rows · x ≤ limits, in exact rationals."""

    objective: tuple[Fraction, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    limits: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """ProofError for what is no program; lists become tuples, so that nothing changes later."""
        given = sequence_of(self.rows, "rows", "rows, each a tuple of Fraction")
        object.__setattr__(self, "objective", rationals(self.objective, "objective"))
        object.__setattr__(self, "limits", rationals(self.limits, "limits"))
        rows = tuple(rationals(row, f"rows[{i}]") for i, row in enumerate(given))
        object.__setattr__(self, "rows", rows)
        if len(self.rows) != len(self.limits):
            raise ProofError(f"{len(self.rows)} rows need as many limits, not {len(self.limits)}")
        if any(len(r) != len(self.objective) for r in self.rows):
            raise ProofError(f"every row needs {len(self.objective)} coefficients")
        if max(len(self.rows), len(self.objective) + 1) > LONGEST:
            raise ProofError(f"Lean reads at most {LONGEST} rows and {LONGEST - 1} unknowns")


def check_certificate(
    lp: LinearProgram, primal: Sequence[Fraction], dual: Sequence[Fraction], *, fresh: bool = False
) -> Proof:
    """Prove that the primal is feasible, the dual bounds every feasible point, and both agree.

    The component of a failing proof is "primal", "dual" or "value".
    """
    check_kind(lp, LinearProgram, "check_certificate", "write one, or take that of loop_program")
    primal, dual = rationals(primal, "primal"), rationals(dual, "dual")
    if len(primal) != len(lp.objective) or len(dual) != len(lp.rows):
        raise ProofError(
            f"a certificate of {len(lp.objective)} unknowns and {len(lp.rows)} rows needs as many "
            f"primal and dual values, not {len(primal)} and {len(dual)}"
        )
    fault = next(_faults(lp, primal, dual), None)
    if fault is not None:
        return fault
    wrong = session.check([*_statements(lp, primal, dual)], fresh=fresh)
    if wrong is not None:
        return Proof(False, "", wrong.component, wrong.message)
    value = _text(_dot(lp.objective, primal))
    return Proof(True, THEOREM, "", f"the optimum is {value}, for every ordered field")


def _faults(
    lp: LinearProgram, primal: Sequence[Fraction], dual: Sequence[Fraction]
) -> Iterator[Proof]:
    """What Python can see to be wrong, part by part."""
    yield from (
        _fault("primal", f"unknown {j} is {_text(x)}") for j, x in enumerate(primal) if x < 0
    )
    for i, (r, b) in enumerate(zip(lp.rows, lp.limits, strict=True)):
        if _dot(r, primal) > b:
            yield _fault("primal", f"row {i} gives {_text(_dot(r, primal))}, more than {_text(b)}")
    yield from (_fault("dual", f"row {i} has {_text(y)}") for i, y in enumerate(dual) if y < 0)
    for j, c in enumerate(lp.objective):
        total = sum((y * r[j] for y, r in zip(dual, lp.rows, strict=True)), Fraction(0))
        if total < c:
            yield _fault("dual", f"unknown {j} gets {_text(total)}, less than {_text(c)}")
    reached, bound = _dot(lp.objective, primal), _dot(lp.limits, dual)
    if reached != bound:
        text = f"primal and dual do not agree: {_text(reached)} is not {_text(bound)}"
        yield Proof(False, "", "value", text)


def _fault(part: str, text: str) -> Proof:
    return Proof(False, "", part, f"the {part} is not feasible: {text}")


def _text(q: Fraction) -> str:
    """An exact value for a message: all of its digits, or none."""
    return "a number too long to show" if too_large(q) else str(q)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _whole(values: Sequence[Fraction]) -> tuple[int, list[int]]:
    """A positive factor, and the values times it, which are integers."""
    factor = lcm(*(v.denominator for v in values))
    return factor, [int(v * factor) for v in values]


@dataclass(frozen=True, slots=True)
class _Texts:
    """A program and its solutions in whole numbers: rows and objective times positive factors."""

    rows: str
    objective: str
    point: str
    dual: str
    primal: str
    scale: int
    over: int
    bound: str
    value: str
    times: int


def _texts(lp: LinearProgram, primal: Sequence[Fraction], dual: Sequence[Fraction]) -> _Texts:
    factor, objective = _whole(lp.objective)
    scaled = [_whole([*r, b]) for r, b in zip(lp.rows, lp.limits, strict=True)]
    scale, y = _whole([v * factor / f for v, (f, _) in zip(dual, scaled, strict=True)])
    over, x = _whole(primal)
    rows = ", ".join(f"⟨{_list(r[:-1])}, {_signed(r[-1])}⟩" for _, r in scaled)
    bound = sum(k * r[-1] for k, (_, r) in zip(y, scaled, strict=True))
    value = factor * _dot(lp.objective, primal)
    points = _naturals(x)
    return _Texts(
        f"([{rows}] : List Row)", f"({_list(objective)} : List Whole)",
        f"(pointOf {_natural(over - 1)} {points} : List K)", _naturals(y), points, scale, over,
        f"({_signed(bound)} : Whole)", f"({_signed(value.numerator)} : Whole)", value.denominator,
    )  # fmt: skip


def _statements(
    lp: LinearProgram, primal: Sequence[Fraction], dual: Sequence[Fraction]
) -> Iterator[Statement]:
    """The dual's bound, the feasible point, that nothing feasible is above it, and its value."""
    t = _texts(lp, primal, dual)
    d, scale, times = (_natural(n) for n in (t.over - 1, t.scale, t.times))
    every = f"∀ q : List K, NoneNegative q → Holds q {t.rows} → "
    yield _statement(
        "dual", f"{every}numeral {scale} * along {t.objective} q ≤ Whole.value {t.bound}",
        f"certificate_dual {t.rows} {t.dual} {scale} {t.objective} {t.bound} (by rfl)",
    )  # fmt: skip
    yield _statement(
        "primal", f"NoneNegative {t.point} ∧ Holds {t.point} {t.rows}",
        f"⟨pointOf_nonneg {d} {t.primal}, certificate_primal {d} {t.primal} {t.rows} (by rfl)⟩",
    )  # fmt: skip
    yield _statement(
        "optimum", f"{every}along {t.objective} q ≤ along {t.objective} {t.point}",
        f"(certificate {t.rows} {t.objective} {t.dual} {t.primal} {_natural(t.scale - 1)} {d} "
        f"{t.bound} (by rfl) (by rfl) (by rfl)).right",
    )  # fmt: skip
    yield _statement(
        "value", f"numeral {times} * along {t.objective} {t.point} = Whole.value {t.value}",
        f"certificate_value {t.objective} {d} {t.primal} {times} {t.value} (by rfl) (by rfl)",
    )  # fmt: skip


def _statement(part: str, goal: str, proof: str) -> Statement:
    subject = "value" if part == "optimum" else part
    return Statement(part, SCOPE, "", goal, (f"exact {proof}",), subject, ("Tang.LP",))


def _natural(n: int) -> str:
    if too_large(n):
        raise ProofError(TOO_LARGE)
    return str(n)


def _naturals(values: Sequence[int]) -> str:
    return f"([{', '.join(map(_natural, values))}] : List Nat)"


def _signed(n: int) -> str:
    """An integer as a difference of two natural numbers."""
    return f"⟨{_natural(n)}, 0⟩" if n >= 0 else f"⟨0, {_natural(-n)}⟩"


def _list(values: Sequence[int]) -> str:
    return f"[{', '.join(map(_signed, values))}]"
