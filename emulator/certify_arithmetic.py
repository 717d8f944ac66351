"""Steps as they are made: the trail of a certificate, and the arithmetic of one node.

Defines `Trail`, which applies rules and remembers why a bound was lost, and `Arithmetic`, which
follows every operation by the roundings of a node's format. Relies on the rules and on schedules
as data. It knows no expressions and no graphs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from tang.emulator.certificate import Claim, Constant, FormatFacts, Parameter, Step
from tang.emulator.certify_functions import Functions
from tang.emulator.ranges import (
    RULES,
    exponential_variant,
    is_infinite,
    keeps_infinity,
    keeps_special,
    stays_lost,
    ulps_reach,
)
from tang.emulator.ranges_folds import FOLDS
from tang.emulator.ranges_numbers import Formats, plus, quantum, unit, unknown
from tang.emulator.ranges_whole import WHOLE_RULES
from tang.ir.format import Format
from tang.ir.given import apart
from tang.kernel.ir import Type
from tang.kernel.schedule import Precision

_RULES: Final = RULES | WHOLE_RULES | FOLDS
_DOMAINS: Final = {
    "recip": "may divide by zero", "sqrt": "may be negative under a root",
    "log": "may take the logarithm of 0 or less", "unknown": "no rule covers it",
    "prod": "its factors may be 0 within their error, or overflow",
    "select": "a decision may flip between unbounded values",
    "jump": "an index may select among unbounded values", "exp": "its exponent has no bound",
    "extremum": "a maximum of values of any size may be off by any amount",
    "max": "a maximum of values of any size may be off by any amount",
    "min": "a minimum of values of any size may be off by any amount",
    "mul": "a factor of any size may be off by any amount",
    "square": "a factor of any size may be off by any amount",
    "scan": "it may overflow, or its factors have no bound",
    "welford_mean": "its sums may overflow, or it counts beyond the format's whole numbers",
    "welford_m2": "its sums may overflow, or it counts beyond the format's whole numbers",
}  # fmt: skip


@dataclass(slots=True)
class Trail:
    """The steps so far; equal steps are one. `cause` says why a step has no bound."""

    shape: bool
    formats: Formats = field(default_factory=Formats)
    steps: list[Step] = field(default_factory=list)
    known: dict[object, int] = field(default_factory=dict)
    cause: dict[int, str] = field(default_factory=dict)
    clipped: dict[int, str] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)

    def add(self, rule: str, *args: int, **params: Parameter) -> int:
        """The number of a step."""
        key = (rule, args, tuple((n, type(v), v) for n, v in params.items()))
        if key not in self.known:
            self.known[key] = self._new(rule, args, params)
        return self.known[key]

    def _new(self, rule: str, args: tuple[int, ...], params: dict[str, Parameter]) -> int:
        claims = tuple(self.steps[a].claim for a in args)
        claim = _RULES[rule](claims, params, self.formats.known)
        names = str(params.get("formats", "")).split()
        if not all(keeps_special(claim, self.formats[f], "inf") for f in names):
            claim = unknown()
        if stays_lost(rule, claims, params):
            claim = replace(claim, absolute=math.inf)
        self.steps.append(Step(rule, args, tuple(params.items()), claim))
        number = len(self.steps) - 1
        self._explain(number, rule, args, params)
        return number

    def _explain(
        self, number: int, rule: str, args: tuple[int, ...], params: dict[str, Parameter]
    ) -> None:
        """Note why a bound was lost, here or before, and where numbers are clipped."""
        self.clipped.update((number, self.clipped[a]) for a in args if a in self.clipped)
        if rule in ("round", "ulps"):
            facts = self.formats[str(params["format"])]
            reach = self._reach(rule, self[args[0]], params, facts)
            if params["overflow"] == "saturate" and reach > facts.largest:
                most, largest = apart(reach, facts.largest, digits=4)
                self.clipped[number] = (
                    f"may saturate: at most {most} > largest {largest} of {facts.name}"
                )
        if not math.isinf(self.steps[number].claim.absolute):
            return
        before = next((self.cause[a] for a in args if a in self.cause), None)
        self.cause[number] = before or self._cause(rule, args, params)

    def _cause(self, rule: str, args: tuple[int, ...], params: dict[str, Parameter]) -> str:
        if rule == "ulps" and params["ulp"] == math.inf:
            return "nothing is promised of a function there"
        if rule in ("round", "ulps"):
            c = self[args[0]]
            facts = self.formats[str(params["format"])]
            reach = self._reach(rule, c, params, facts)
            if reach > facts.largest:
                most, largest = apart(reach, facts.largest, digits=4)
                return f"may overflow {facts.name}: at most {most} > {largest}"
            return _unkept(c, facts, str(params["overflow"]))
        if rule in ("sum", "sum_exp", "weighted", "rescaled", "rescaled_sum"):
            name = str(params["formats"]).split()[-1]
            top = self[args[-1]].top * float(params.get("n", 1))
            most, largest = apart(top, self.formats[name].largest, digits=4)
            return f"a sum may overflow {name}: at most {most} > {largest}"
        return _DOMAINS.get(rule, f"{rule} has no bound here")

    @staticmethod
    def _reach(rule: str, c: Claim, params: dict[str, Parameter], facts: FormatFacts) -> float:
        """How large a value may be that must fit into a format."""
        return ulps_reach(c, params, facts) if rule == "ulps" else plus(c.size, c.error)

    def __getitem__(self, step: int) -> Claim:
        return self.steps[step].claim

    def constant(self, constant: Constant) -> float:
        """A constant's value, listed from now on."""
        self.constants[constant.name] = constant
        return constant.value

    def format(self, format: str | Format) -> str:
        """The name of a format, whose numbers are listed from now on."""
        name = self.formats.name(format)
        facts = self.formats[name]
        for label, value in (("u", unit(facts, "rne")), ("eta", quantum(facts)),
                             ("largest", facts.largest)):  # fmt: skip
            self.constants.setdefault(
                f"{name}.{label}", Constant(f"{name}.{label}", value, "spec", "the format itself")
            )
        return name


def _unkept(c: Claim, facts: FormatFacts, overflow: str) -> str:
    """Which infinities and NaN a format does not keep."""
    if is_infinite(c) and not keeps_infinity(facts, overflow):
        made = "NaN" if overflow == "nan" else "a number"
        return f"an infinity becomes {made} in {facts.name}"
    return f"{facts.name} has no NaN"


@dataclass(frozen=True, slots=True)
class Rounding:
    """One rounding: to a format, how, and what overflow gives."""

    format: str
    mode: str
    overflow: str


class Arithmetic:
    """Operations of a node: each is a step, and one more for every rounding of its format."""

    def __init__(
        self, trail: Trail, precision: Precision, freedom: str, functions: Functions
    ) -> None:
        self.trail = trail
        self.free = freedom == "wgsl"
        self.functions = functions
        self.precision = precision
        self.roundings = self.roundings_of(precision, computing=True)

    def roundings_of(self, p: Precision, computing: bool) -> tuple[Rounding, ...]:
        """What rounds a number to a precision: the machine's type, then a narrower format.

        Arithmetic of bf16 is that of f32, rounded.
        """
        names: list[Rounding] = []
        plain = "any" if self.free else "rne"
        if p.conversion is None or computing:
            kinds = ["f32", "bf16"] if p.type is Type.BF16 and computing else [str(p.type.value)]
            names += [self._rounding(k, plain, "inf") for k in kinds]
        if p.conversion is not None:
            c = p.conversion
            names.append(self._rounding(c.format, c.rounding, c.overflow))
        return tuple(names)

    def _rounding(self, format: str | Format, mode: str, overflow: str) -> Rounding:
        return Rounding(self.trail.format(format), mode, overflow)

    # --- steps ------------------------------------------------------------------------------------

    def rounded(self, step: int, small: str = "gradual") -> int:
        """The result of an operation, in the node's format."""
        return self.through(step, self.roundings, small)

    def through(self, step: int, roundings: Sequence[Rounding], small: str = "gradual") -> int:
        """A value after some roundings."""
        for n, r in enumerate(roundings):
            kind = "flush" if self.free else ("gradual" if n else small)
            step = self.trail.add("round", step, format=r.format, rounding=r.mode, small=kind,
                                  overflow=self._overflow(r, self.trail[step]))  # fmt: skip
        return step

    def _overflow(self, r: Rounding, c: Claim) -> str:
        """By shape nothing overflows; but infinities that a format has no place for do surely."""
        return "assumed" if self.trail.shape and self.keeps(r, c) else r.overflow

    def keeps(self, r: Rounding, c: Claim) -> bool:
        """Whether a rounding leaves infinities and NaN as they are."""
        return keeps_special(c, self.trail.formats[r.format], r.overflow)

    def copied(self, step: int, roundings: Sequence[Rounding]) -> int:
        """Numbers that roundings leave as they are; but infinities and NaN they may not."""
        kept = all(self.keeps(r, self.trail[step]) for r in roundings)
        return step if kept else self.through(step, roundings)

    def kept(self, step: int) -> int:
        """A result that the node's own roundings leave as it is."""
        return self.copied(step, self.roundings)

    def fold_params(self) -> dict[str, Parameter]:
        """What rules of folds must know of an operation's roundings."""
        overflow = "assumed" if self.trail.shape else "inf"
        return {
            "formats": " ".join(r.format for r in self.roundings),
            "roundings": " ".join(r.mode for r in self.roundings),
            "small": "flush" if self.free else "exact",
            "below": "flush" if self.free else "gradual",
            "overflow": overflow,
        }

    def literal(self, value: Fraction | str | int) -> int:
        """A constant of the program, rounded where the format does not hold it."""
        step = self.trail.add("constant", value=str(value))
        if isinstance(value, str) and value not in ("ln2", "log2e", "pi"):
            special = value != "-0.0"
            return self.rounded(step) if special else self.trail.add("constant", value="0")
        exact = not isinstance(value, str) and self._holds(Fraction(value))
        return step if exact else self.rounded(step)

    @property
    def has_infinity(self) -> bool:
        """Whether −∞, as a maximum of nothing, stays one in the node's formats."""
        return all(keeps_infinity(self.trail.formats[r.format], r.overflow) for r in self.roundings)

    @property
    def has_ends(self) -> bool:
        """Whether ∞ as a literal, which all numbers are compared with, is at least a number."""
        pairs = ((self.trail.formats[r.format], r.overflow) for r in self.roundings)
        return all(f.infinity or overflow == "saturate" for f, overflow in pairs)

    def _holds(self, value: Fraction) -> bool:
        return all(is_number(value, self.trail.formats[r.format]) for r in self.roundings)

    def add(self, a: int, b: int) -> int:
        if self._is_zero(a) or self._is_zero(b):
            return self.kept(b if self._is_zero(a) else a)
        return self.rounded(self.trail.add("add", a, b), "exact")

    def _is_zero(self, step: int) -> bool:
        c = self.trail[step]
        return c.lo == c.hi == 0 and c.exact and not c.special

    def neg(self, a: int) -> int:
        return self.trail.add("neg", a)

    def sub(self, a: int, b: int) -> int:
        return self.add(a, self.neg(b))

    def mul(self, a: int, b: int) -> int:
        """A product, of which ±1 as a factor makes an exact one."""
        product = self.trail.add("mul", a, b)
        exact = (self._is_one(a) or self._is_one(b)) and not self.free
        return self.kept(product) if exact else self.rounded(product)

    def square(self, a: int, standard: float | None) -> int:
        """A value times itself; its error is to be small where the square is near `standard`."""
        c = self.trail[a]
        theta = 0.0
        if standard is not None and c.error and math.isfinite(c.error):
            theta = c.error / math.sqrt(standard)
        return self.rounded(self.trail.add("square", a, theta=theta))

    def _is_one(self, step: int) -> bool:
        c = self.trail[step]
        return c.exact and c.lo == c.hi and abs(c.lo) == 1 and not c.special

    def recip(self, a: int) -> int:
        return self._quotient(self.trail.add("recip", a, assume=self.trail.shape))

    def div(self, a: int, b: int) -> int:
        """a · (1/b), of which one division is the better half; by shape just that division.

        (1/b may underflow, which by shape is a loss times an a without bound.)
        """
        if self.trail.shape:
            return self._quotient(self.trail.add("mul", a, self.trail.add("recip", b, assume=True)))
        return self._quotient(self.trail.add("mul", a, self.recip(b)))

    def _quotient(self, step: int) -> int:
        claim = self.functions.division(str(self.precision.type.value))
        if claim is None:
            return self.rounded(step)
        return self._claimed(step, (claim,))

    def sqrt(self, a: int) -> int:
        step = self.trail.add("sqrt", a, assume=self.trail.shape)
        claim = self.functions.root(str(self.precision.type.value))
        return self.rounded(step, "exact") if claim is None else self._claimed(step, (claim,))

    # --- functions --------------------------------------------------------------------------------

    def function(self, op: str, *args: int) -> int:
        """A function of MATH by its claims, and rounded to the node's format."""
        step = self._ideal(op, args)
        claims = self.functions.claims(op, str(self.precision.type.value), self._reach(args))
        return self._claimed(step, claims)

    def _reach(self, args: tuple[int, ...]) -> tuple[tuple[float, float], ...]:
        given = (self.trail[a] for a in args)
        return tuple((0.0, 0.0) if c.empty else (c.lo - c.error, c.hi + c.error) for c in given)

    def _claimed(self, step: int, claims: tuple[tuple[Constant, str], ...]) -> int:
        """Of several claims the worst one holds: they are for different arguments."""
        trail, found = self.trail, []
        for constant, kind in claims:
            value = trail.constant(constant)
            if kind == "absolute":
                found.append(trail.add("off", step, by=value, constant=constant.name))
                continue
            own = self.function_format()
            small = "flush" if self.free else "gradual"
            overflow = "assumed" if trail.shape else "inf"
            found.append(trail.add("ulps", step, ulp=value, constant=constant.name, format=own,
                                   small=small, overflow=overflow))  # fmt: skip
        made = found[0]
        for other in found[1:]:
            made = trail.add("worse", made, other)
        own = self.function_format()
        kept = [r.format for r in self.roundings]
        done = kept.index(own) + 1 if own in kept else 0
        return self.through(made, self.roundings[done:])

    def function_format(self) -> str:
        """The format in whose ulps functions are off, before the roundings after it."""
        return self.trail.format(self.functions.computed(str(self.precision.type.value)))

    def quotients(self) -> dict[str, Parameter]:
        """What rules of folds must know of quotients within them: nothing where these are exact."""
        claim = self.functions.division(str(self.precision.type.value))
        return {} if claim is None else {"quotient": self.trail.constant(claim[0])}

    def _ideal(self, op: str, args: tuple[int, ...]) -> int:
        trail = self.trail
        if op in ("exp", "exp2"):
            variant = exponential_variant(trail[args[0]])
            base = "e" if op == "exp" else "2"
            return trail.add("exp", args[0], base=base, variant=variant)
        if op in ("log", "log2"):
            base = "e" if op == "log" else "2"
            return trail.add("log", args[0], base=base, assume=trail.shape)
        return trail.add("sin" if op == "cos" else op, *args)


def is_number(value: Fraction, f: FormatFacts) -> bool:
    """Whether a format, as its facts tell, holds a number."""
    size = abs(value)
    if size == 0:
        return True
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, f.emin) - f.p + 1)
    return (size / step).denominator == 1 and size <= Fraction(f.largest)
