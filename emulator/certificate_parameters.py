"""What parameters of steps may be, whatever the rule: for the checker of certificates.

Defines `wrong_parameter`. Relies on certificates as data. What a step says of its program, as its
number of terms or that a schedule lets f16 saturate, is taken as said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from tang.emulator.certificate import Certificate, Parameter, Step


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
_FLAG: Final = ("True or False", lambda x: isinstance(x, bool))
_KINDS: Final[Mapping[str, tuple[str, Callable[[Parameter], bool]]]] = {
    **dict.fromkeys(("n", "adds", "chain", "levels", "hops", "divisions"), _WHOLE),
    **dict.fromkeys(("prods", "rounded"), _COUNT),
    **dict.fromkeys(("ulp", "by", "quotient", "error", "most", "least"), _BOUND),
    **dict.fromkeys(("lo", "hi"), _NUMBER),
    **dict.fromkeys(("full", "assume", "nonnegative"), _FLAG),
    "theta": _FINITE,
}  # fmt: skip
"""Parameter → what it is, in words and as a question."""

_MACHINE: Final = ("f32", "f64")
"""Formats that no schedule rounds to but as machines do: to infinity."""


def wrong_parameter(c: Certificate, step: Step, params: Mapping[str, Parameter]) -> str:
    """What is wrong with the parameters of a step; "" where nothing is."""
    if len(params) != len(step.params):
        return "a parameter comes twice"
    for name, value in params.items():
        words, fits = _KINDS.get(name, ("", None))
        if fits is not None and not fits(value):
            return f"{name} is {words}, not {value!r}"
    if step.rule == "winner" and not float(params["lo"]) <= float(params["hi"]):
        return "its range is empty"
    if step.rule == "at_least" and not float(params["least"]) <= 1:
        return f"the largest term of a sum of exponentials is 1, not {params['least']!r}"
    wrong = _wrong_rounding(c, params) or _wrong_underflow(c, step, params)
    return wrong or _wrong_overflow(c, step, params)


def _wrong_rounding(c: Certificate, params: Mapping[str, Parameter]) -> str:
    """WGSL promises of machine formats no more than either neighbour."""
    names = str(params.get("format", params.get("formats", ""))).split()
    modes = str(params.get("rounding", params.get("roundings", ""))).split()
    for name, mode in zip(names, modes, strict=False):  # other rules hold their lengths
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
    if step.rule not in ("round", "ulps"):
        return ""
    as_machines = step.rule == "ulps" or params["format"] in _MACHINE
    if as_machines and params["overflow"] != "inf":
        return f"{params['format']} overflows to infinity here, not by {overflow!r}"
    return ""
