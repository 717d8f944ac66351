"""The words of verdicts for the checker: what a result's steps allow, and nothing else.

Defines `wrong_verdict` and `wrong_format`. Relies on certificates as data, on the grids of their
steps and on balls; it shares no line with `certify_report`, which writes the words. Words that
promise less than the steps are let be only where a number lies on the very edge.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from tang.emulator.certificate import NO_REALS, Certificate, FormatFacts, NodeBound, Step
from tang.emulator.certificate_balls import Ball, holds_up_to, lacking, mul, nearest, of, two_to
from tang.emulator.certificate_grids import WHOLE, Grids, is_number_of, quantum

_NEAR: Final = 2.0**-40
_SHOWN: Final = 1e-3
"""Relative: what four digits may be off by."""
_NUMBERS: Final = re.compile(r"(?<=at most )\S+|(?<=> )[\d.]\S*|(?<=> largest )\S+")
_ANYTHING: Final = ("given", "unknown")
"""Rules whose numbers are taken for those of any format."""
_SUMS: Final = ("sum", "sum_exp", "weighted", "rescaled", "rescaled_sum")
_FOLDS: Final = {
    "prod": "its factors may be 0 within their error, or overflow",
    "scan": "it may overflow, or its factors have no bound",
    "welford_mean": "its sums may overflow, or it counts beyond the format's whole numbers",
    "welford_m2": "its sums may overflow, or it counts beyond the format's whole numbers",
}  # fmt: skip
"""Rule → the verdict where it has no bound."""


def wrong_verdict(c: Certificate, b: NodeBound) -> str:
    """Which verdict of a result does not follow from its steps; "" where all do."""
    return _wrong_overflow(c, b) or _wrong_underflow(c, b) or _wrong_nan(c, b)


# --- formats --------------------------------------------------------------------------------------


def wrong_format(g: Grids, b: NodeBound) -> str:
    """Why the numbers of a result cannot be stored in its format; "" where they can.

    They are rounded to that format, or to a narrower one in which some result or an input is
    stored: then they may be copies of that. What is given counts as numbers of its format.
    """
    if b.format not in ("", *g.formats):
        return f"unknown format {b.format!r}"
    claim = g.c.steps[b.step].claim
    own = g.formats.get(b.format)
    if own is not None and math.isfinite(claim.absolute) and (s := lacking(own, claim.special)):
        return f"{b.format} has no {s}"
    found = (_wrong_source(g, own, n, format) for n, format in g.sources(b.step))
    return next((wrong for wrong in found if wrong), "")


def _wrong_source(g: Grids, own: FormatFacts | None, n: int, format: str) -> str:
    """Why what step n gives, rounded to a format or to none, is no number of a result's own."""
    if own is not None:
        return _wrong_rounding(g, n, own, format) if format else _no_number(g, n, own)
    wrong = f"step {n} rounds them to {format}" if format else _no_whole(g.c, n)
    return wrong and f"it holds reals: {wrong}"


def _wrong_rounding(g: Grids, n: int, f: FormatFacts, format: str) -> str:
    if format == f.name:
        return ""
    if not _holds(f, g.formats[format]):
        return f"it is no number of {f.name}: step {n} rounds it to {format}"
    if not _is_stored(g.c, n, format):
        return f"step {n} rounds it to {format}, in which nothing is stored, not to {f.name}"
    return ""


def _no_number(g: Grids, n: int, f: FormatFacts) -> str:
    """Why what no step rounds is no number of a format: literals and whole numbers may be."""
    step = g.c.steps[n]
    if step.rule in _ANYTHING:
        return ""
    if step.rule == "constant":
        name = str(step.param("value"))
        return "" if _is_literal(f, name) else f"step {n}: {name} is no number of {f.name}"
    if step.rule == "floor":
        formats = [g.formats.get(name, f) for _, name in g.sources(step.args[0])]
        odd = next((o for o in formats if o.largest % 1), None)
        return f"step {n}: a floor may lie beyond {odd.largest:.4g}" if odd else ""
    if step.rule not in WHOLE:
        return f"nothing rounds what step {n} ({step.rule}) computes to {f.name}"
    own = of(step.claim)
    held = holds_up_to(f, own.size + own.error)
    return "" if held else f"{f.name} does not hold every whole number of step {n} ({step.rule})"


def _is_literal(f: FormatFacts, name: str) -> bool:
    if name in ("inf", "-inf", "nan"):
        return f.nan if name == "nan" else f.infinity
    try:
        return is_number_of(f, Fraction(name))
    except ValueError:  # a name, as pi
        return False


def _no_whole(c: Certificate, n: int) -> str:
    """Why what no step rounds is no whole number or truth value."""
    step = c.steps[n]
    if step.rule == "given" and any(float(step.param(e)) % 1 for e in ("lo", "hi")):
        return f"step {n} gives them"
    return "" if step.rule in (*WHOLE, *_ANYTHING) else f"step {n} ({step.rule}) computes them"


def _holds(wide: FormatFacts, narrow: FormatFacts) -> bool:
    """Whether all finite numbers of one format are numbers of another."""
    finer = quantum(wide) <= quantum(narrow)
    return finer and wide.p >= narrow.p and wide.largest >= narrow.largest


def _is_stored(c: Certificate, step: int, format: str) -> bool:
    args = c.steps[step].args
    given = bool(args) and c.steps[args[0]].rule == "given"
    return given or any(b.format == format for b in c.nodes)


# --- overflow -------------------------------------------------------------------------------------


def _wrong_overflow(c: Certificate, b: NodeBound) -> str:
    at = f"by step {b.step}"
    lost = math.isinf(c.steps[b.step].claim.absolute)
    if lost and (named := _overflows(c, b.step, 1 - _NEAR)):
        if any(_is_like(b.overflow, words) for words in named):
            return ""
        if _overflows(c, b.step, 1.0):  # else it lies on the very edge
            return f"overflow is not excluded: {at} it is {named[0]!r}"
    steps = [c.steps[n] for n in sorted(c.behind(b.step), reverse=True)]
    clipped = [words for s in steps for words in _saturation(c, s, 1 - _NEAR)]
    if any(_is_like(b.overflow, words) for words in clipped):
        return ""
    sure = next((words for s in steps for words in _saturation(c, s, 1.0)), "")
    if sure:
        return f"overflow is not excluded: {at} it is {sure!r}"
    plain = "unknown" if lost else "cannot overflow"
    plain = "assumed not to overflow" if c.strength == "shape" else plain
    if b.overflow == plain:
        return ""
    excluded = "overflow is not excluded: " if b.overflow == "cannot overflow" else ""
    return f"{excluded}overflow is {plain!r} {at}, not {b.overflow!r}"


def _overflows(c: Certificate, step: int, part: float) -> list[str]:
    """What the step at which a bound was lost says of overflow: nothing, if that is not why.

    part  of the largest number of a format, beyond which a rounding overflows
    """
    while lost := [a for a in c.steps[step].args if math.isinf(c.steps[a].claim.absolute)]:
        step = lost[0]
    s = c.steps[step]
    params = dict(s.params)
    if s.rule in _FOLDS:
        return [_FOLDS[s.rule]]
    formats = {f.name: f for f in c.formats}
    if s.rule in _SUMS:
        f = formats[str(params["formats"]).split()[-1]]
        top = mul(of(c.steps[s.args[-1]].claim).top, float(params["n"]))
        return [f"a sum may overflow {f.name}: at most {_text(top)} > {f.largest:.4g}"]
    if s.rule not in ("round", "ulps") or params.get("ulp") == math.inf:
        return []
    f = formats[str(params["format"])]
    reach = _reach(c, s, f)
    words = f"may overflow {f.name}: at most {_text(reach)} > {f.largest:.4g}"
    return [words] if not reach <= f.largest * part else []


def _saturation(c: Certificate, s: Step, part: float) -> list[str]:
    """What a step that saturates says, where it reaches that part of the largest number."""
    params = dict(s.params)
    if s.rule != "round" or params["overflow"] != "saturate":
        return []
    f = next(f for f in c.formats if f.name == params["format"])
    reach = _reach(c, s, f)
    words = f"may saturate: at most {_text(reach)} > largest {f.largest:.4g} of {f.name}"
    return [words] if not reach <= f.largest * part else []


def _reach(c: Certificate, s: Step, f: FormatFacts) -> Ball:
    """The largest number that must fit into a format."""
    x = of(c.steps[s.args[0]].claim)
    found = x.size + x.error
    if s.rule == "ulps":
        n = float(dict(s.params)["ulp"])
        found = mul(found, 1 + n * two_to(1 - f.p)) + n * two_to(f.emin - f.p + 1)
    return found


def _text(x: Ball) -> str:
    return f"{float(x):.4g}"


def _is_like(said: str, own: str) -> bool:
    """Whether two texts are one, but for the last digits of what is at most and of a largest."""
    found = [_NUMBERS.findall(text) for text in (said, own)]
    if _NUMBERS.sub("", said) != _NUMBERS.sub("", own):
        return False
    try:
        pairs = [(float(x), float(y)) for x, y in zip(*found, strict=True)]
    except ValueError:
        return False
    return all(math.isclose(x, y, rel_tol=_SHOWN) for x, y in pairs)


# --- underflow and NaN ----------------------------------------------------------------------------


def _wrong_underflow(c: Certificate, b: NodeBound) -> str:
    if (b.underflow == NO_REALS) != (not b.format):
        return "underflow without a format"
    if not b.format:
        return ""
    claim = c.steps[b.step].claim
    emin = next(f.emin for f in c.formats if f.name == b.format)
    may = f"may underflow below {2.0**emin:.4g}"
    own = of(claim)
    without = claim.empty or (own.lo == 0 and own.hi == 0 and own.error == 0)
    safe = own.a < math.inf and (without or nearest(own) - own.error >= two_to(emin))
    if b.underflow == "cannot underflow":
        return "" if safe else "underflow is not excluded"
    return "" if b.underflow == may else f"underflow is {may!r}, not {b.underflow!r}"


def _wrong_nan(c: Certificate, b: NodeBound) -> str:
    claim = c.steps[b.step].claim
    own = "NaN only where the exact value is" if "nan" in claim.special else "cannot be NaN"
    own = "unknown" if math.isinf(claim.absolute) else own
    if b.nan == own:
        return ""
    excluded = "NaN is not excluded: " if b.nan == "cannot be NaN" else ""
    return f"{excluded}nan is {own!r} by step {b.step}, not {b.nan!r}"
