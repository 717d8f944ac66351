"""Certificates of a bound: a linear program with a primal and a dual solution, checked by Lean.

Defines `LinearProgram` and `check_certificate`. Relies on exact rationals and on Tang/LP. The dual
proves the bound for every feasible point over every ordered field, the primal that it is met. It
finds no solutions and says nothing about what the program models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from tang.errors import ProofError
from tang.proofs import session
from tang.proofs.combine import Proof
from tang.proofs.session import Statement

SCOPE: Final = "variable {K : Type u} [OrderedField K]"
THEOREM: Final = "Tang.le_of_slack, Tang.numeral_nonneg"


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Maximise objective · x over x ≥ 0 with rows · x ≤ limits, in exact rationals."""

    objective: tuple[Fraction, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    limits: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.limits):
            raise ProofError(f"{len(self.rows)} rows need as many limits, not {len(self.limits)}")
        if any(len(r) != len(self.objective) for r in self.rows):
            raise ProofError(f"every row needs {len(self.objective)} coefficients")


def check_certificate(
    lp: LinearProgram, primal: Sequence[Fraction], dual: Sequence[Fraction], *, fresh: bool = False
) -> Proof:
    """Prove that the primal is feasible, the dual bounds every feasible point, and both agree.

    The component of a failing proof is "primal", "dual" or "value".
    """
    if len(primal) != len(lp.objective) or len(dual) != len(lp.rows):
        raise ProofError(
            f"a certificate of {len(lp.objective)} unknowns and {len(lp.rows)} rows needs as many "
            f"primal and dual values, not {len(primal)} and {len(dual)}"
        )
    scaled = _integers(lp)
    claims = [*_upper(scaled, _scaled_dual(lp, scaled, dual)), *_lower(lp, scaled, primal, dual)]
    fault = next((c for c in claims if isinstance(c, Proof)), None)
    if fault is not None:
        return fault
    statements = [c for c in claims if isinstance(c, Statement)]
    wrong = session.check(statements, fresh=fresh)
    if wrong is not None:
        return Proof(False, "", wrong.subject, f"Lean refuses the {wrong.subject}: {wrong.text}")
    value = _dot(lp.objective, primal)
    return Proof(True, THEOREM, "", f"the optimum is {value}, for every ordered field")


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _whole(values: Sequence[Fraction]) -> tuple[int, list[int]]:
    """A positive factor, and the values times it, which are integers."""
    factor = lcm(*(v.denominator for v in values)) if values else 1
    return factor, [int(v * factor) for v in values]


@dataclass(frozen=True, slots=True)
class _Integers:
    """A program with integer coefficients: every row, and the objective, times a factor."""

    objective: list[int]
    rows: list[list[int]]
    limits: list[int]
    factors: list[int]
    factor: int


def _integers(lp: LinearProgram) -> _Integers:
    factor, objective = _whole(lp.objective)
    rows = [_whole([*r, b]) for r, b in zip(lp.rows, lp.limits, strict=True)]
    return _Integers(objective, [r[:-1] for _, r in rows], [r[-1] for _, r in rows],
                     [f for f, _ in rows], factor)  # fmt: skip


def _scaled_dual(
    lp: LinearProgram, s: _Integers, dual: Sequence[Fraction]
) -> tuple[int, list[int]]:
    """A denominator, and integers that are the dual of the scaled program times it."""
    return _whole([y * s.factor / f for y, f in zip(dual, s.factors, strict=True)])


def _upper(s: _Integers, dual: tuple[int, list[int]]) -> list[Statement | Proof]:
    """For every feasible x: D · objective · x ≤ Σ Y · limits."""
    scale, y = dual
    slack = [
        sum(y[i] * r[j] for i, r in enumerate(s.rows)) - scale * c
        for j, c in enumerate(s.objective)
    ]
    if min([*y, *slack], default=0) < 0:
        return [Proof(False, "", "dual", "the dual is not feasible: it is negative or too small")]
    names = [f"x{j}" for j in range(len(slack))]
    parts = [f"({_num(k)} * ({_num(b)} - {_linear(r, names)}))"
             for k, r, b in zip(y, s.rows, s.limits, strict=True)]  # fmt: skip
    parts += [f"({_num(k)} * {x})" for k, x in zip(slack, names, strict=True)]
    signs = [f"(mul_nonneg (numeral_nonneg {k}) (sub_nonneg h{i}))" for i, k in enumerate(y)]
    signs += [f"(mul_nonneg (numeral_nonneg {k}) p{j})" for j, k in enumerate(slack)]
    value = sum(k * b for k, b in zip(y, s.limits, strict=True))
    goal = f"({_num(scale)} * {_linear(s.objective, names)}) ≤ ({_num(value)} : K)"
    left, right = goal.split(" ≤ ")
    total, sign = _sums(parts, signs)
    binders = [f"({x} : K)" for x in names] + [f"(p{j} : 0 ≤ {x})" for j, x in enumerate(names)]
    binders += [f"(h{i} : {_linear(r, names)} ≤ ({_num(b)} : K))"
                for i, (r, b) in enumerate(zip(s.rows, s.limits, strict=True))]  # fmt: skip
    steps = (f"exact le_of_slack (show {right} - {left} = {total} from",
             f"  ring_eq [{', '.join(names)}] (by rfl)) {sign}")  # fmt: skip
    return [Statement("upper", SCOPE, " ".join(binders), goal, steps, "dual", ("Tang.LP",))]


def _lower(
    lp: LinearProgram, s: _Integers, primal: Sequence[Fraction], dual: Sequence[Fraction]
) -> list[Statement | Proof]:
    """The primal is feasible, and its value is the dual's."""
    if _dot(lp.objective, primal) != _dot(lp.limits, dual):
        text = f"{_dot(lp.objective, primal)} is not {_dot(lp.limits, dual)}"
        return [Proof(False, "", "value", f"primal and dual do not agree: {text}")]
    scale, x = _whole(primal)
    found: list[Statement | Proof] = []
    for i, (r, b) in enumerate(zip(s.rows, s.limits, strict=True)):
        room = scale * b - sum(a * v for a, v in zip(r, x, strict=True))
        if room < 0 or min(x, default=0) < 0:
            return [Proof(False, "", "primal", f"the primal is not feasible in row {i}")]
        left, right = _linear(r, [_num(v) for v in x]), f"({_num(scale)} * {_num(b)})"
        steps = (f"exact le_of_slack (show {right} - {left} = {_num(room)} from "
                 f"ring_eq [] (by rfl)) (numeral_nonneg {room})",)  # fmt: skip
        goal = f"{left} ≤ ({right} : K)"
        found.append(Statement(f"row{i}", SCOPE, "", goal, steps, "primal", ("Tang.LP",)))
    return found


def _sums(parts: list[str], signs: list[str]) -> tuple[str, str]:
    """The sum of some terms, and a proof that it is not negative from those of the terms."""
    total, sign = parts[-1], signs[-1]
    for p, q in zip(reversed(parts[:-1]), reversed(signs[:-1]), strict=True):
        total, sign = f"({p} + {total})", f"(add_nonneg {q} {sign})"
    return total, sign


def _linear(row: Sequence[int], names: Sequence[str]) -> str:
    """Σ coefficient · name."""
    parts = [f"({_num(c)} * {x})" for c, x in zip(row, names, strict=True) if c] or ["0"]
    total = parts[-1]
    for p in reversed(parts[:-1]):
        total = f"({p} + {total})"
    return total


def _num(n: int) -> str:
    """An integer as Tang.numeral unfolds it: 0 + 1 + ⋯ + 1."""
    if abs(n) > 200:
        raise ProofError(f"{n} is too large for a certificate: scale the program down")
    text = "0"
    for _ in range(abs(n)):
        text = f"({text} + 1)"
    return f"(-{text})" if n < 0 else text
