"""The checker of certificates: every step recomputed in ball arithmetic.

Defines `check_certificate` and `Checked`. Relies on the data of certificates and on rules of its
own; for the steps it needs no program and none of the code that made the certificate. Which steps a
program has it takes on trust, unless it is given the program.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import flint
from flint import arb

from tang.emulator.certificate import (
    PROVENANCE,
    SPECIALS,
    STRENGTHS,
    VERSION,
    Certificate,
    Claim,
    FormatFacts,
    NodeBound,
    Parameter,
    Step,
)
from tang.emulator.certificate_balls import INFINITE, Given, Value, lacking, of, two_to
from tang.emulator.certificate_constants import (
    is_of_format,
    unlisted,
    wrong_constant,
    wrong_math,
)
from tang.emulator.certificate_fold_rules import FOLD_RULES
from tang.emulator.certificate_functions import wrong_function
from tang.emulator.certificate_grids import Grids, is_number_of
from tang.emulator.certificate_parameters import wrong_parameter
from tang.emulator.certificate_program import differs
from tang.emulator.certificate_rules import RULES, unknown
from tang.emulator.certificate_verdicts import wrong_format, wrong_verdict
from tang.emulator.certificate_whole_rules import WHOLE_RULES
from tang.errors import BudgetError
from tang.ir.graph import Graph
from tang.kernel.schedule import Schedule

_BITS: Final = 192
_LOCK: Final = threading.Lock()
_RULES: Final = RULES | WHOLE_RULES | FOLD_RULES

KNOWN: Final = {
    "f64": (53, -1022, float.fromhex("0x1.fffffffffffffp+1023"), True, True),
    "f32": (24, -126, float.fromhex("0x1.fffffep+127"), True, True),
    "tf32": (11, -126, float.fromhex("0x1.ffcp+127"), True, True),
    "fp22": (14, -126, float.fromhex("0x1.fff8p+127"), True, True),
    "f16": (11, -14, 65504.0, True, True),
    "bf16": (8, -126, float.fromhex("0x1.fep+127"), True, True),
    "e5m2": (3, -14, 57344.0, True, True),
    "e4m3fn": (4, -6, 448.0, False, True),
    "e3m2": (3, -2, 28.0, False, False),
    "e2m3": (4, 0, 7.5, False, False),
    "e2m1": (2, 0, 6.0, False, False),
}
"""Format → precision, least exponent, largest number, infinities, NaN: as their standards say."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a certificate holds; if not, the message names the step or the part."""

    ok: bool
    message: str

    def __bool__(self) -> bool:
        return self.ok


_SENSELESS: Final = (ArithmeticError, ValueError, KeyError, TypeError, IndexError)
"""What reading a certificate raises that was not made by `certify`."""


class _Refused(Exception):  # noqa: N818 - the reason of a verdict, not a fault
    """What is wrong with a certificate."""


def check_certificate(
    certificate: Certificate, graph: Graph | None = None, schedule: Schedule | None = None
) -> Checked:
    """Recompute every step from the claims of its operands, and compare with its own claim.

    graph, schedule  what the certificate is said to be of: then everything else in it is derived
    once more and held too (digests, ranges, names, verdicts, constants, which steps there are).
    Without them only the steps hold, and what follows from them; that f16, bf16 or a narrower
    format saturates, as a schedule may ask, is then taken on trust. Raises BudgetError for one of
    the two alone.
    """
    if (graph is None) != (schedule is None):
        raise BudgetError("give both the program and its schedule, or neither")
    if not isinstance(certificate, Certificate):
        raise BudgetError(
            f"a certificate is checked, not {type(certificate).__name__}: read its JSON with "
            f"certificate_from_json"
        )
    with _LOCK, flint.ctx.workprec(_BITS):
        try:
            _check(certificate)
        except _Refused as e:
            return Checked(False, str(e))
    steps = f"{len(certificate.steps)} steps hold"
    if graph is None or schedule is None:
        return Checked(True, steps)
    place = differs(certificate, graph, schedule)
    if place:
        return Checked(False, place)
    return Checked(True, f"{steps}, and they are those of this program and schedule")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise _Refused(message)


def _check(c: Certificate) -> None:
    _require(c.version == VERSION, f"version {c.version} is not {VERSION}")
    _require(c.strength in STRENGTHS[:2], f"strength {c.strength!r} is not checked here")
    _require(c.freedom in ("ieee", "wgsl"), f"unknown freedom {c.freedom!r}")
    _require(not wrong_math(c.math), wrong_math(c.math))
    for f in c.formats:
        _check_format(f)
    _check_constants(c)
    _check_head(c)
    formats = {f.name: f for f in c.formats}
    _require(len(formats) == len(c.formats), "two formats have one name")
    values: list[Value] = []
    for n, step in enumerate(c.steps):
        try:
            values.append(_check_step(c, n, step, values, formats))
        except _SENSELESS as e:
            raise _Refused(f"step {n} ({step.rule}): it makes no sense: {e}") from e
    wrong = wrong_function(c)
    _require(not wrong, wrong)
    try:
        grids = Grids(c)
        lost = grids.lost_below() or grids.not_whole()
    except _SENSELESS as e:
        raise _Refused(f"it makes no sense what its steps lose to underflow: {e}") from e
    _require(not lost, lost)
    for bound in c.nodes:
        try:
            _check_bound(c, bound, grids)
        except (*_SENSELESS, StopIteration) as e:
            where = f"{bound.node}.{bound.output}"
            raise _Refused(f"{where}: it makes no sense: {e}") from e


def _check_head(c: Certificate) -> None:
    """What is said of a program, as far as it makes sense by itself."""
    for name, lo, hi in c.ranges:
        _require(lo <= hi, f"ranges: {name} is in none of [{lo!r}, {hi!r}]")
    for name, size in c.sizes:
        _require(size >= 0, f"sizes: {name} is {size}")
    _require(not c.seeds, f"seeds: only the strength data has them, not {c.strength}")
    rows = [(b.node, b.output) for b in c.nodes]
    twice = (
        next((r for r in rows if rows.count(r) > 1), None) if len(set(rows)) < len(rows) else None
    )
    _require(twice is None, f"{'.'.join(twice or ())}: it has two rows")


# --- formats and constants ------------------------------------------------------------------------


def _check_format(f: FormatFacts) -> None:
    facts = (f.p, f.emin, f.largest, f.infinity, f.nan)
    known = KNOWN.get(f.name)
    _require(known in (None, facts), f"format {f.name}: it is {known}, not {facts}")
    plain = type(f.p) is type(f.emin) is int and type(f.infinity) is type(f.nan) is bool
    sane = plain and 1 <= f.p <= 53 and -1022 <= f.emin <= 1023 and 0 < f.largest < math.inf
    _require(sane, f"format {f.name}: {facts} is no format")
    own = is_number_of(f, Fraction(f.largest))
    _require(own, f"format {f.name}: {f.largest!r} is none of its numbers")


def _check_constants(c: Certificate) -> None:
    formats = {f.name: f for f in c.formats}
    names = [k.name for k in c.constants]
    _require(len(set(names)) == len(names), "two constants have one name")
    for k in c.constants:
        _require(k.provenance in PROVENANCE, f"constant {k.name}: provenance {k.provenance!r}")
        _require(k.value >= 0, f"constant {k.name}: {k.value} is no bound")
        wrong = wrong_constant(k, c)
        _require(not wrong, wrong)
        if is_of_format(k, formats):
            name, _, part = k.name.rpartition(".")
            expected = _of_format(formats[name], part)
            _require(arb(k.value) == expected, f"constant {k.name}: it is not {k.value.hex()}")


def _of_format(f: FormatFacts, part: str) -> object:
    if part == "largest":
        return arb(f.largest)
    return two_to(-f.p) if part == "u" else two_to(f.emin - f.p + 1)


# --- steps ----------------------------------------------------------------------------------------


def _check_step(
    c: Certificate, n: int, step: Step, values: list[Value], formats: dict[str, FormatFacts]
) -> Value:
    where = f"step {n} ({step.rule})"
    _require(step.rule in _RULES, f"{where}: there is no such rule")
    _require(all(0 <= a < n for a in step.args), f"{where}: operands must be earlier steps")
    numbers = (step.claim.lo, step.claim.hi, step.claim.top, step.claim.relative,
               step.claim.absolute)  # fmt: skip
    _require(not any(math.isnan(x) for x in numbers), f"{where}: its claim holds NaN")
    _require(min(numbers[2:]) >= 0, f"{where}: its claim holds a negative bound")
    _require(set(step.claim.special) <= set(SPECIALS), f"{where}: unknown special values")
    params = dict(step.params)
    _check_params(c, where, step, params)
    operands = tuple(values[a] for a in step.args)
    found = _RULES[step.rule](operands, Given(params, formats))
    if _is_unbounded(step.rule, operands, params):
        found = replace(found, a=INFINITE)
    names = str(params.get("formats", "")).split()
    if any(lacking(formats[name], found.special) for name in names):
        found = unknown((), Given(params, formats))
    _compare(where, step.claim, found)
    return of(step.claim)


def _is_unbounded(rule: str, operands: tuple[Value, ...], params: Mapping[str, Parameter]) -> bool:
    """Whether an operand without a bound, which may have been no number, leaves the result none.

    Not where one of finitely many outcomes is decided, and not where nothing is folded.
    """
    if rule in ("compare", "isnan", "to_index", "winner"):
        return False
    if rule in FOLD_RULES and params.get("n") == 0:
        return False
    return not all(v.a < INFINITE for v in operands)


def _check_params(c: Certificate, where: str, step: Step, params: Mapping[str, Parameter]) -> None:
    wrong = wrong_parameter(c, step, params) or unlisted(c, step, params)
    _require(not wrong, f"{where}: {wrong}")


def _compare(where: str, claim: Claim, found: Value) -> None:
    own = of(claim)
    pairs = (
        ("lo", own.lo <= found.lo), ("hi", own.hi >= found.hi), ("top", own.top >= found.top),
        ("relative error", own.r >= found.r), ("absolute error", own.a >= found.a),
    )  # fmt: skip
    for name, holds in pairs:
        _require(bool(holds), f"{where}: its {name} is too small for its operands")
    _require(found.pure or not own.pure, f"{where}: its magnitude is not its value")
    missing = found.special - own.special
    _require(not missing, f"{where}: {', '.join(sorted(missing))} may occur")


# --- verdicts -------------------------------------------------------------------------------------


def _check_bound(c: Certificate, b: NodeBound, grids: Grids) -> None:
    where = f"{b.node}.{b.output}"
    _require(0 <= b.step < len(c.steps), f"{where}: there is no step {b.step}")
    claim = c.steps[b.step].claim
    same = (claim.lo, claim.hi, claim.relative, claim.absolute, claim.pure) == (
        b.lo, b.hi, b.relative, b.absolute, b.pure,
    )  # fmt: skip
    _require(same, f"{where}: it says something else than step {b.step}")
    own = of(claim)
    least = two_to(-1073)  # what f64 loses to underflow
    large = bool(arb(b.error) * (1 + two_to(-40)) + least >= own.error)
    _require(large, f"{where}: its error is larger")
    beyond = b.error == math.inf and not own.error < two_to(1023)
    near = beyond or bool(arb(b.error) <= own.error * (1 + two_to(-40)) + least)
    _require(near, f"{where}: its error is smaller")
    vacuous = not (claim.absolute < math.inf and (
        claim.relative < 1 if c.strength == "shape" else b.error == 0 or b.error < claim.size
    ))  # fmt: skip
    _require(b.vacuous or not vacuous, f"{where}: the bound is vacuous")
    _require(vacuous or not b.vacuous, f"{where}: the bound is not vacuous")
    _require(vacuous or not b.reason, f"{where}: there is a reason for what is not so")
    wrong = wrong_format(grids, b) or wrong_verdict(c, b)
    _require(not wrong, f"{where}: {wrong}")
