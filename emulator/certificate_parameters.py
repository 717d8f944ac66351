"""What operands and parameters steps have, and what these may be: for the checker of certificates.

Defines `wrong_parameter`, `Schema` and `SCHEMAS`. Relies on certificates as data. What a step says
of its program, as its number of terms or that a schedule lets f16 saturate, is taken as said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tang.emulator.certificate import SPECIALS, Certificate, Parameter, Step


@dataclass(frozen=True, slots=True)
class Schema:
    """What a rule has: so many operands, these parameters, and others that may be missing.

    operands  None where their number depends on the operation, see `_ARITIES`
    """

    operands: int | None
    needed: tuple[str, ...]
    optional: tuple[str, ...]


def _has(operands: int | None, names: str = "") -> Schema:
    """Names that end in a question mark are those of parameters that may be missing."""
    needed = tuple(n for n in names.split() if not n.endswith("?"))
    return Schema(operands, needed, tuple(n[:-1] for n in names.split() if n.endswith("?")))


_FOLD: Final = "formats roundings small below overflow"
_WEIGHTS: Final = f"n full hops ulp format {_FOLD}"
_WELFORD: Final = f"n chain levels quotient? {_FOLD}"

SCHEMAS: Final[Mapping[str, Schema]] = {
    "given": _has(0, "lo hi special?"),
    "constant": _has(0, "value"),
    "unknown": _has(0),
    "round": _has(1, "format rounding small overflow"),
    "ulps": _has(1, "ulp constant format small overflow"),
    "off": _has(1, "by constant"),
    "square": _has(1, "theta"),
    "exp": _has(1, "base variant"),
    "log": _has(1, "base assume"),
    **dict.fromkeys(("recip", "sqrt"), _has(1, "assume")),
    **dict.fromkeys(("neg", "sin", "erf", "tanh", "sigmoid", "abs", "jump"), _has(1)),
    **dict.fromkeys(("isnan", "not", "floor", "to_index"), _has(1)),
    **dict.fromkeys(("add", "mul", "atan2", "max", "min", "hull", "worse"), _has(2)),
    "select": _has(3),
    "nonpositive": _has(1, "why?"),
    "within": _has(1, "most nonnegative? why?"),
    **dict.fromkeys(("compare", "logic"), _has(2, "op")),
    "integer": _has(None, "op"),
    "sum": _has(1, f"n full adds {_FOLD}"),
    "at_least": _has(1, "least why?"),
    "sum_exp": _has(1, f"n adds rounded ulp format {_FOLD}"),
    "weighted": _has(2, f"n adds prods {_FOLD}"),
    "prod": _has(1, f"n {_FOLD}"),
    "extremum": _has(1, "kind empty full"),
    "winner": _has(2, "full"),
    "count": _has(1, "n full"),
    "any_of": _has(1, "op"),
    "rescaled": _has(1, _WEIGHTS),
    "rescaled_sum": _has(2, _WEIGHTS),
    "weighted_mean": _has(3, f"divisions quotient? {_FOLD}"),
    "welford_mean": _has(1, f"error {_WELFORD}"),
    "welford_m2": _has(2, f"theta adds {_WELFORD}"),
    "scan": _has(2, f"n {_FOLD}"),
}
"""Rule → what it has."""

_ARITIES: Final[Mapping[str, int]] = {"add": 2, "neg": 1, "mul": 2, "floordiv": 2, "mod": 2}
"""Operation on whole numbers → its operands."""

_UNDERFLOW: Final = ("exact", "gradual", "flush")
_ROUNDING: Final = ("rne", "rna", "rz", "any")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "base": ("e", "2"),
    "variant": ("steep", "flat"),
    "kind": ("max", "min"),
    "compare op": ("lt", "eq"),
    "logic op": ("and", "or"),
    "any_of op": ("any", "all"),
    "integer op": tuple(_ARITIES),
    "empty": SPECIALS,
    "special": SPECIALS,
    "rounding": _ROUNDING,
    "roundings": _ROUNDING,
    "small": _UNDERFLOW,
    "below": _UNDERFLOW,
    "overflow": ("assumed", "inf"),
    "round overflow": ("assumed", "inf", "nan", "saturate"),
}
"""Parameter, or rule and parameter → the words that it may be."""

_SEVERAL: Final = ("roundings", "special")
"""Parameters of several words."""


def _is_number(x: Parameter) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and not math.isnan(x)


def _is_whole(x: Parameter) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and x >= 0


def _is_bound(x: Parameter) -> bool:
    return isinstance(x, int | float) and _is_number(x) and x >= 0


def _is_finite(x: Parameter) -> bool:
    return isinstance(x, int | float) and _is_bound(x) and x < math.inf


_WHOLE: Final = ("a whole number", _is_whole)
_COUNT: Final = ("a whole number from 1 on", lambda x: _is_whole(x) and x != 0)
_BOUND: Final = ("a number that is not negative", _is_bound)
_FINITE: Final = ("a finite number that is not negative", _is_finite)
_NUMBER: Final = ("a number", _is_number)
_TEXT: Final = ("a text", lambda x: isinstance(x, str))
_FLAG: Final = ("True or False", lambda x: isinstance(x, bool))
_KINDS: Final[Mapping[str, tuple[str, Callable[[Parameter], bool]]]] = {
    **dict.fromkeys(("n", "adds", "chain", "levels", "hops", "divisions"), _WHOLE),
    **dict.fromkeys(("prods", "rounded"), _COUNT),
    **dict.fromkeys(("ulp", "by", "quotient", "error", "most", "least"), _BOUND),
    **dict.fromkeys(("lo", "hi"), _NUMBER),
    **dict.fromkeys(("full", "assume", "nonnegative"), _FLAG),
    **dict.fromkeys(("value", "constant", "why", "format", "formats"), _TEXT),
    "theta": _FINITE,
}  # fmt: skip
"""Parameter → what it is, in words and as a question."""

_MACHINE: Final = ("f32", "f64")
"""Formats that no schedule rounds to but as machines do: to infinity."""


def wrong_parameter(c: Certificate, step: Step, params: Mapping[str, Parameter]) -> str:
    """What is wrong with the parameters of a step; "" where nothing is."""
    if len(params) != len(step.params):
        return "a parameter comes twice"
    wrong = _unlike(SCHEMAS[step.rule], params) or _wrong_kind(params) or _wrong_word(step, params)
    wrong = wrong or _wrong_operands(step, params)
    if wrong:
        return wrong
    if step.rule == "at_least" and not float(params["least"]) <= 1:
        return f"the largest term of a sum of exponentials is 1, not {params['least']!r}"
    wrong = _wrong_empty(step, params) or _wrong_format(c, params) or _wrong_rounding(c, params)
    return wrong or _wrong_underflow(c, step, params) or _wrong_overflow(c, step, params)


def _unlike(schema: Schema, params: Mapping[str, Parameter]) -> str:
    """Which parameter a rule has not, or needs."""
    for name in params:
        if name not in schema.needed and name not in schema.optional:
            return f"it has no parameter {name!r}"
    missing = next((n for n in schema.needed if n not in params), "")
    return f"it needs a parameter {missing!r}" if missing else ""


def _wrong_kind(params: Mapping[str, Parameter]) -> str:
    for name, value in params.items():
        words, fits = _KINDS.get(name, ("", None))
        if fits is not None and not fits(value):
            return f"{name} is {words}, not {value!r}"
    return ""


def _wrong_word(step: Step, params: Mapping[str, Parameter]) -> str:
    for name, value in params.items():
        words = _WORDS.get(f"{step.rule} {name}", _WORDS.get(name))
        if words is None:
            continue
        own = value.split() if name in _SEVERAL and isinstance(value, str) else [value]
        others = [w for w in own if w not in words]
        if others:
            return f"{name} is one of {', '.join(words)}, not {others[0]!r}"
    return ""


def _wrong_operands(step: Step, params: Mapping[str, Parameter]) -> str:
    needed = SCHEMAS[step.rule].operands
    if needed is None:
        needed = _ARITIES[str(params["op"])]
    if len(step.args) == needed:
        return ""
    return f"it has {needed} operand{'s' * (needed != 1)}, not {len(step.args)}"


def _wrong_empty(step: Step, params: Mapping[str, Parameter]) -> str:
    """What an extremum of nothing is: what is neutral, or NaN as beside an argmax."""
    if step.rule != "extremum":
        return ""
    neutral = {"max": "-inf", "min": "inf"}[str(params["kind"])]
    if params["empty"] in (neutral, "nan"):
        return ""
    return f"the {params['kind']} of nothing is {neutral} or nan, not {params['empty']!r}"


def _wrong_format(c: Certificate, params: Mapping[str, Parameter]) -> str:
    """Formats are those of the certificate, and every one of an operation has its rounding."""
    formats = str(params.get("formats", "")).split()
    modes = str(params.get("roundings", "")).split()
    if "formats" in params and (not formats or len(formats) != len(modes)):
        return "every format needs a rounding"
    own = {f.name for f in c.formats}
    named = [*formats, *([str(params["format"])] if "format" in params else [])]
    other = next((n for n in named if n not in own), None)
    return "" if other is None else f"there is no format {other!r}"


def _wrong_rounding(c: Certificate, params: Mapping[str, Parameter]) -> str:
    """WGSL promises of machine formats no more than either neighbour."""
    names = str(params.get("format", params.get("formats", ""))).split()
    modes = str(params.get("rounding", params.get("roundings", ""))).split()
    for name, mode in zip(names, modes, strict=False):  # functions have no rounding
        if c.freedom == "wgsl" and name in _MACHINE and mode != "any":
            return f"WGSL rounds {name} to any neighbour, not {mode!r}"
    return ""


def _wrong_underflow(c: Certificate, step: Step, params: Mapping[str, Parameter]) -> str:
    """Everything may lose to underflow where subnormals are flushed, and functions always.

    What a rounding or a sum loses depends on its operands: see `certificate_grids`.
    """
    for name in ("small", "below"):
        how = params.get(name)
        if how is not None and c.freedom == "wgsl" and how != "flush":
            return f"WGSL may flush: {name} is 'flush', not {how!r}"
    if params.get("below") == "exact" or (step.rule == "ulps" and params["small"] == "exact"):
        return "only sums and roots lose nothing to underflow"
    return ""


def _wrong_overflow(c: Certificate, step: Step, params: Mapping[str, Parameter]) -> str:
    overflow = params.get("overflow")
    if overflow == "assumed" or params.get("assume") is True:
        return "" if c.strength == "shape" else "only the strength shape may assume"
    if step.rule == "round" and params["format"] in _MACHINE and overflow != "inf":
        return f"{params['format']} overflows to infinity here, not by {overflow!r}"
    return ""
