"""What certificates say in words: verdicts of a result, and how its bound came about.

Defines `bound_of_step` and `derivation`. Relies on the trail and on steps as data. It bounds
nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from tang.emulator.certificate import NO_REALS, Certificate, Claim, NodeBound, Step
from tang.emulator.certify_arithmetic import Trail
from tang.emulator.ranges import is_lost
from tang.emulator.ranges_numbers import up
from tang.ir.view import Ref

_LINES: Final = 16


def bound_of_step(trail: Trail, ref: Ref, step: int, format: str) -> NodeBound:
    """The bound of a result with its verdicts."""
    c = trail[step]
    cause = trail.cause.get(step, "")
    error = c.error
    vacuous, reason = _vacuous(c, trail.shape, cause)
    return NodeBound(
        node=ref.node, output=ref.output, format=format, step=step,
        lo=c.lo, hi=c.hi, error=error, relative=c.relative, absolute=c.absolute, pure=c.pure,
        overflow=_overflow(trail, step, cause), underflow=_underflow(trail, c, format),
        nan=_nan(c, cause), vacuous=vacuous, reason=reason,
    )  # fmt: skip


def _vacuous(c: Claim, shape: bool, cause: str) -> tuple[bool, str]:
    if math.isinf(c.absolute):
        return True, cause or "it has no bound"
    if shape:
        lost = c.relative >= 1
        return lost, "the relative bound is 1 or more: no digit is promised" if lost else ""
    if c.error == 0 or c.error < c.size:
        return False, ""
    reason = f"the bound {c.error:.3g} is not smaller than the largest value {c.size:.3g}"
    return True, reason


def _overflow(trail: Trail, step: int, cause: str) -> str:
    if "overflow" in cause:
        return cause
    if step in trail.clipped:
        return trail.clipped[step]
    if trail.shape:
        return "assumed not to overflow"
    return "unknown" if cause else "cannot overflow"


def _underflow(trail: Trail, c: Claim, format: str) -> str:
    if not format:
        return NO_REALS
    smallest = 2.0 ** trail.formats[format].emin
    may = f"may underflow below {smallest:.4g}"
    if is_lost(c):
        return may
    if c.empty or (c.lo == c.hi == 0 and c.exact):
        return "cannot underflow"
    nearest = 0.0 if c.lo <= 0 <= c.hi else min(abs(c.lo), abs(c.hi))
    safe = c.error < math.inf and Fraction(nearest) >= Fraction(smallest) + Fraction(up(c.error))
    return "cannot underflow" if safe else may


def _nan(c: Claim, cause: str) -> str:
    if cause:
        return "unknown"
    return "NaN only where the exact value is" if "nan" in c.special else "cannot be NaN"


# --- derivations ----------------------------------------------------------------------------------


def derivation(certificate: Certificate, b: NodeBound) -> tuple[str, ...]:
    """Lines that say how the relative bound of a result grew, from its leaves on."""
    steps = certificate.steps
    lines: list[str] = []
    for n in sorted(certificate.behind(b.step)):
        text = _line(certificate, steps[n])
        if text and text not in lines:
            lines.append(text)
    if len(lines) > _LINES:
        lines = [*lines[: _LINES // 2], f"… {len(lines) - _LINES} more steps …",
                 *lines[-_LINES // 2 :]]  # fmt: skip
    return tuple(lines)


def _line(certificate: Certificate, step: Step) -> str:
    c = step.claim
    so_far = f"relative {c.relative:.4g}, absolute {c.absolute:.4g}"
    params = dict(step.params)
    if step.rule == "round":
        facts = next(f for f in certificate.formats if f.name == params["format"])
        u = -facts.p if params["rounding"] in ("rne", "rna") else 1 - facts.p
        return f"one rounding to {facts.name}, u = 2^{u}: {so_far}"
    if step.rule == "ulps":
        return f"a function within {float(params['ulp']):g} ulp of {params['format']}: {so_far}"
    if step.rule in ("sum", "sum_exp", "weighted"):
        return (
            f"a sum of {params['n']} terms, {params['adds']} additions deep, in "
            f"{params['formats']}: (1 + u)^{params['adds']} − 1 more: {so_far}"
        )
    if step.rule in ("rescaled", "rescaled_sum", "weighted_mean", "welford_mean", "welford_m2",
                     "scan", "prod"):  # fmt: skip
        return f"{step.rule.replace('_', ' ')} of {params.get('n', 'its')} terms: {so_far}"
    return ""
