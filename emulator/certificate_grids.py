"""On which grid the numbers of steps lie, for the checker: what a rounding cannot lose.

Defines `Grid` and `Grids`, with `lost_below` and `sources`. Relies on certificates as data. It
knows nothing of errors: where a step says that its rounding loses nothing to underflow, it asks
whether the operand is a multiple of the least number of the format.

Every number of a format with precision p and least exponent emin is a multiple of 2^(emin − p + 1).
Sums of such multiples are multiples too, products are of the product, and no rounding leads off a
grid that is coarser than its format's. A root of a number ≥ 2^g is at least 2^(g/2).

What a program is given (`given`) counts as numbers of the formats they are computed in; what is
`unknown` has no bound to lose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tang.emulator.certificate import Certificate, FormatFacts, Step

_ANY: Final = math.inf
"""On every grid: 0, and what is no finite number."""
_NONE: Final = -math.inf

_KEPT: Final = ("neg", "abs", "max", "min", "nonpositive", "within", "at_least", "extremum", "hull",
                "worse", "jump", "off", "floor", "select")  # fmt: skip
"""Rules that give one of their operands, or its size, sign or whole part; so does `mul` by ±1."""
WHOLE: Final = ("to_index", "integer", "count", "winner", "compare", "isnan", "not", "logic",
                 "any_of")  # fmt: skip
_COUNTING: Final = ("integer", "count", "not", "logic", "any_of")
"""Rules over whole numbers and truth values, whose errors are whole."""
_ADDING: Final = {"sum": 0, "scan": 1}
"""Fold → which of its operands it adds as they are."""


def quantum(f: FormatFacts) -> int:
    """g, where 2^g is the least positive number of a format."""
    return f.emin - f.p + 1


def is_number_of(f: FormatFacts, x: Fraction) -> bool:
    """Whether a number is one of a format's: 0, or 2^g times an odd number of at most p bits."""
    g = _grid_of(x)
    if math.isinf(g):
        return g == _ANY
    odd = abs(x) / Fraction(2) ** int(g)
    return g >= quantum(f) and odd < 2**f.p and abs(x) <= Fraction(f.largest)


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of 2^g; or, where `given`, of the least number of the format computed in as well.

    On such a grid is a sum of 1/2 and of what a program is given: once it is rounded, the grid is
    that of the format.
    """

    g: float
    given: bool = False


class Grids:
    """The grids of the steps of one certificate; cost: linear in the steps."""

    def __init__(self, c: Certificate) -> None:
        self.c = c
        self.formats: Mapping[str, FormatFacts] = {f.name: f for f in c.formats}
        self.known: list[Grid] = []
        for step in c.steps:
            self.known.append(self._of(step, dict(step.params)))

    def lost_below(self) -> str:
        """Which step loses to underflow though it says otherwise; "" where none does."""
        for n, step in enumerate(self.c.steps):
            why = self._lost(step) if dict(step.params).get("small") == "exact" else ""
            if why:
                return f"step {n} ({step.rule}): it may lose to underflow: {why}"
        return ""

    def not_whole(self) -> str:
        """Which step counts with what need be no whole number; "" where none does."""
        for n, step in enumerate(self.c.steps):
            odd = [a for a in step.args if step.rule in _COUNTING and not self._is_whole(a)]
            if odd:
                return f"step {n} ({step.rule}): step {odd[0]} need be no whole number"
        return ""

    def _is_whole(self, n: int) -> bool:
        claim, own = self.c.steps[n].claim, self.known[n]
        whole = all(math.isinf(e) or e % 1 == 0 for e in (claim.lo, claim.hi)) or not own.given
        return whole and own.g >= 0 and claim.relative == 0

    def sources(self, step: int) -> Iterator[tuple[int, str]]:
        """The steps of which the numbers of a step are copies, and to which format they round."""
        seen, stack = set(), [step]
        while stack:
            n = stack.pop()
            if n in seen:
                continue
            seen.add(n)
            format = self._rounded_to(self.c.steps[n])
            if self._is_alone(self.c.steps[n]):
                stack.extend(self._operands(self.c.steps[n]))
            elif format:
                yield n, format
            elif self.c.steps[n].rule == "floor":
                yield n, ""
                stack.extend(self._operands(self.c.steps[n]))
            elif self._is_kept(self.c.steps[n]):
                stack.extend(self._operands(self.c.steps[n]))
            else:
                yield n, ""

    # --- what a step gives ------------------------------------------------------------------------

    def _of(self, step: Step, p: Mapping[str, object]) -> Grid:
        x = [self.known[a] for a in self._operands(step)]
        own = self._rounded_to(step)
        if step.rule in ("given", "unknown"):
            return Grid(_ANY, given=True)
        if step.rule == "constant":
            return Grid(_of_constant(str(p["value"])))
        if step.rule in WHOLE:
            return Grid(0.0)
        if own:
            return Grid(self._rounded(step, p, x, quantum(self.formats[own])))
        if step.rule == "floor":
            return Grid(0.0 if x[0].given else max(x[0].g, 0.0))
        if step.rule == "add" or self._is_kept(step):
            return Grid(min(v.g for v in x), any(v.given for v in x))
        exact = step.rule == "mul" and not any(v.given or math.isinf(v.g) for v in x)
        return Grid(sum(v.g for v in x) if exact else _NONE)

    @staticmethod
    def _rounded(step: Step, p: Mapping[str, object], x: list[Grid], least: float) -> float:
        """The grid after roundings to a format whose least number is 2^least."""
        if step.rule in ("ulps", "off"):
            return least
        if step.rule == "round":
            finer = x[0].given or p["overflow"] == "saturate"
            return least if finer else max(least, x[0].g)
        if step.rule == "sum" and not x[0].given:
            return x[0].g
        alone = 0.0 if step.rule == "prod" else _ANY  # the product of nothing is 1
        return min(least, alone, *(v.g for v in x))  # nor is one term alone rounded

    def _operands(self, step: Step) -> list[int]:
        """The operands of which a value is made: no condition, no 1 as a factor."""
        if step.rule == "select":
            return list(step.args[1:])
        if step.rule == "mul":
            others = [a for a in step.args if not self._is_one(a)]
            return others[:1] if len(others) < len(step.args) and others else list(step.args)
        return list(step.args)

    def _is_one(self, n: int) -> bool:
        claim = self.c.steps[n].claim
        one = claim.lo == claim.hi and abs(claim.lo) == 1
        return one and claim.exact and not claim.special

    @staticmethod
    def _is_alone(step: Step) -> bool:
        """Whether a fold is of one element at most, which nothing rounds."""
        return step.rule in ("sum", "prod") and float(step.param("n")) <= 1

    def _is_kept(self, step: Step) -> bool:
        if step.rule == "mul":
            return any(self._is_one(a) for a in step.args)
        return step.rule in _KEPT

    def _rounded_to(self, step: Step) -> str:
        """The format to which a step itself rounds; "" where it does not."""
        p = dict(step.params)
        if step.rule in ("round", "ulps"):
            return str(p["format"])
        if step.rule == "off":
            name = str(p.get("constant", ""))
            return name.split(".")[1] if name else ""
        names = str(p.get("formats", "")).split()
        return names[-1] if names else ""

    # --- what is lost -----------------------------------------------------------------------------

    def _lost(self, step: Step) -> str:
        p = dict(step.params)
        if step.rule == "round":
            return self._lost_in(step.args[0], self.formats[str(p["format"])])
        if step.rule not in _ADDING:
            return ""  # the terms of others are rounded before they are added
        names = str(p["formats"]).split()
        operand = step.args[_ADDING[step.rule]]
        return next((w for n in names if (w := self._off_grid(operand, self.formats[n]))), "")

    def _lost_in(self, operand: int, f: FormatFacts) -> str:
        step = self.c.steps[operand]
        if step.rule != "sqrt":
            return self._off_grid(operand, f)
        of = self.known[step.args[0]]
        least = min(quantum(f), of.g) if of.given else of.g
        if least >= 2 * f.emin:
            return ""
        return f"the root in step {operand} may be below the normal numbers of {f.name}"

    def _off_grid(self, operand: int, f: FormatFacts) -> str:
        if self.known[operand].g >= quantum(f):
            return ""
        return f"step {operand} need be no multiple of {f.name}'s least number"


def _of_constant(value: str) -> float:
    """Of a number 2^g·odd: g; of 0, infinities and NaN: any."""
    if value in ("inf", "-inf", "nan", "-0.0"):
        return _ANY
    try:
        return _grid_of(Fraction(value))
    except ValueError:  # a name, as pi
        return _NONE


def _grid_of(x: Fraction) -> float:
    """Of a rational."""
    if not x:
        return _ANY
    top, bottom = x.numerator, x.denominator
    if bottom & (bottom - 1):
        return _NONE
    return float((top & -top).bit_length() - bottom.bit_length())
