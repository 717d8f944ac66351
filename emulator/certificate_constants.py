"""Constants of certificates, for the checker: what each is by its name, and what its table says.

That is its value, what this rests on, and where it is to be found.

Defines `wrong_constant`, `wrong_math`, `unlisted` and `promises`. Relies on the names that
constants have and on the tables of `tang.kernel.accuracy`, which are data. Which claim holds for
which arguments `certificate_functions` asks.

    FORMAT.u, FORMAT.eta, FORMAT.largest     of a format of the certificate
    portable.f32.OP, c.f64.OP                of tang's own functions, and where there are none
    MATH.FORMAT.div, MATH.FORMAT.sqrt        of quotients and roots
    MATH.FORMAT.OP.ROW, or .ROW@MOST         a row of a table, at arguments of at most MOST
    MATH.FORMAT.OP.none                      nothing is promised
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tang.emulator.certificate import Certificate, Constant, FormatFacts, Parameter, Step
from tang.kernel.accuracy import (
    DIVISION,
    DOCUMENTED,
    FROM_RN,
    LIBRARY,
    MATHS,
    PORTABLE,
    UNPORTED,
    Claim,
)
from tang.kernel.ir import Type

_NEAR: Final = 2.0**-40
_PARTS: Final = ("u", "eta", "largest")
_QUOTIENTS: Final = ("weighted_mean", "welford_mean", "welford_m2")
"""Rules that divide, and take what a quotient is off by as a parameter."""
_STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    "exp2": ("exp",),
    "log2": ("log",),
    "cos": ("sin",),
    "div": ("mul", "recip"),
}
"""Function → the rules of what it computes, where they have another name."""
_BASES: Final = {"exp": "e", "exp2": "2", "log": "e", "log2": "2"}
"""Function → the parameter `base` of its rule."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its number, and the largest argument that it is taken at.

    claims    all rows of the function; of none of them where the constant holds everywhere
    together  whether every row counts whose domain is met
    """

    claims: tuple[Claim, ...] = ()
    together: bool = False
    number: int = 0
    most: float = math.inf


@dataclass(frozen=True, slots=True)
class Promise:
    """What a constant is by its name: of which function in which format, its value and kind.

    origin  what it rests on, and its source
    """

    op: str
    format: str
    value: float
    origin: tuple[str, str]
    kind: str = "ulp"
    row: Row = Row()


def wrong_math(name: str) -> str:
    """Why there are no such functions; "" where there are."""
    return "" if name in MATHS else f"math {name!r} is none of {', '.join(MATHS)}"


def wrong_constant(k: Constant, c: Certificate) -> str:
    """Why a constant of a function is none of this certificate; "" where it is one.

    The values of those of formats (`is_of_format`) the checker computes itself.
    """
    if is_of_format(k, {f.name: f for f in c.formats}):
        return _wrong_origin(k, ("spec", "the format itself"))
    found = _promise(k.name, c.math)
    if found is None:
        return f'constant {k.name}: functions of math="{c.math}" have none of that name'
    same = k.value == found.value or math.isclose(k.value, found.value, rel_tol=_NEAR)
    if not same:
        return f"constant {k.name}: it is {found.value!r}, not {k.value!r}"
    return _wrong_origin(k, found.origin)


def _wrong_origin(k: Constant, origin: tuple[str, str]) -> str:
    """Why a constant rests on something else than it says; "" where it does not."""
    if (k.provenance, k.source) == origin:
        return ""
    return f"constant {k.name}: it is {': '.join(origin)}, not {k.provenance}: {k.source}"


def is_of_format(k: Constant, formats: Mapping[str, FormatFacts]) -> bool:
    """Whether a constant is u, the quantum or the largest number of a format."""
    name, _, part = k.name.rpartition(".")
    return name in formats and part in _PARTS


def promises(c: Certificate) -> dict[str, Promise]:
    """Constant of a function → what its name says."""
    found = ((k.name, _promise(k.name, c.math)) for k in c.constants)
    return {name: p for name, p in found if p is not None}


def _promise(name: str, maths: str) -> Promise | None:
    """What a name says, where functions of this math have it."""
    label, _, most = name.partition("@")
    if label.count(".") < 2:
        return None
    whose, format, op, *rest = label.split(".")
    own = maths == "portable" or (op == "sigmoid" and maths in DOCUMENTED)
    if not rest and not most and own and op in PORTABLE:
        return _own(op, f"{whose}.{format}")
    if whose != maths or maths == "portable" or format not in _formats(maths):
        return None
    if op in ("div", "sqrt") and not rest and not most:
        if maths not in DIVISION or (format == "f64" and maths != "any"):
            return None
        quotient, root, source = DIVISION[maths]
        return Promise(op, format, root if op == "sqrt" else quotient, ("spec", source))
    return _of_row(op, format, rest, most, maths) if len(rest) == 1 and op in PORTABLE else None


def _own(op: str, whose: str) -> Promise | None:
    """Of tang's own functions, which are measured; there are none in f64."""
    if whose == "portable.f32":
        seen = ("tested", "samples") if op == "atan2" else ("exhaustive", "all f32 arguments")
        return Promise(op, "f32", PORTABLE[op], (seen[0], f"docs/maths.md: {seen[1]}"))
    if whose == "c.f64":
        source = "as the C library documents: there are no portable functions in f64"
        return Promise(op, "f64", UNPORTED[op], ("assumed", source))
    return None


def _formats(maths: str) -> tuple[str, ...]:
    """The formats in which functions are computed."""
    return ("f64", "f32", "f16", "bf16") if maths == "any" else ("f64", "f32")


def _of_row(op: str, format: str, rest: list[str], most: str, maths: str) -> Promise | None:
    table = LIBRARY if maths == "any" else DOCUMENTED[maths]
    if rest == ["none"] and not most:
        return Promise(op, format, math.inf, ("assumed", "nothing is promised"))
    rows = table.claims(op, Type(format))
    claim = next((c for n, c in enumerate(rows) if str(n) == rest[0]), None)
    if claim is None or bool(claim.per) != bool(most):
        return None
    value = _at(claim, most)
    if value is None:
        return None
    row = Row(rows, table.together, int(rest[0]), float(most or math.inf))
    if claim.absolute:
        return Promise(op, format, claim.absolute, ("spec", table.source), "absolute", row)
    at = f"; at arguments up to {float(most):.6g}" if claim.per else ""
    return Promise(op, format, value, ("spec", f"{table.source}{at}"), row=row)


def _at(claim: Claim, most: str) -> float | None:
    """Ulps of a claim at arguments of at most so much."""
    if not claim.per:
        return claim.ulp + FROM_RN
    try:
        size = float(most)
    except ValueError:
        return None
    return claim.ulp + FROM_RN + claim.per * size if 0 <= size <= claim.most else None


# --- what steps say of them -----------------------------------------------------------------------


def unlisted(c: Certificate, step: Step, params: Mapping[str, Parameter]) -> str:
    """Which number of a step is no constant of the certificate; "" where every one is.

    A number of ulps must be of the format in which the step counts them, and one with a name of
    the function whose error the step adds.
    """
    known = [(k, p) for k in c.constants if (p := _promise(k.name, c.math)) is not None]
    for name, kind in (("ulp", "ulp"), ("by", "absolute"), ("quotient", "ulp")):
        if name not in params:
            continue
        fit = [(k, p) for k, p in known if k.value == params[name] and p.kind == kind]
        if name == "ulp" and step.rule not in ("ulps", "off"):
            fit = _no_less(fit, known)
        if not any(_is_meant(c, step, params, name, k, p) for k, p in fit) and not (
            name == "by" and _is_flushed(c, params)
        ):
            label = params.get("constant", "")
            return f"{name} = {params[name]!r} is no constant of the certificate ({label})"
    if step.rule in _QUOTIENTS and "quotient" not in params and _inexact(c, params):
        return f"quotients are inexact in math=\"{c.math}\": it has no parameter 'quotient'"
    return ""


def _no_less(
    fit: list[tuple[Constant, Promise]], known: list[tuple[Constant, Promise]]
) -> list[tuple[Constant, Promise]]:
    """The constants that are no smaller than one of the other way to compute an exponential."""
    other = {"exp": "exp2", "exp2": "exp"}

    def holds(k: Constant, p: Promise) -> bool:
        return any(
            q.op == other.get(p.op) and q.format == p.format and q.kind == p.kind
            and k.value >= m.value for m, q in known
        )  # fmt: skip

    return [(k, p) for k, p in fit if holds(k, p)]


def _is_meant(
    c: Certificate, step: Step, params: Mapping[str, Parameter], name: str, k: Constant,
    p: Promise,
) -> bool:  # fmt: skip
    """Whether a constant is what a number of a step may be."""
    if name == "quotient":
        return p.op == "div" and p.format in _computed(c, params)
    if "format" in params and p.format != params["format"]:
        return False
    if step.rule not in ("ulps", "off"):
        return p.op in ("exp", "exp2")
    of = c.steps[step.args[0]]
    same = of.rule in _STEPS.get(p.op, (p.op,)) and dict(of.params).get("base") == _BASES.get(p.op)
    return k.name == params["constant"] and same


def _is_flushed(c: Certificate, params: Mapping[str, Parameter]) -> bool:
    """Whether a number is what flushing an operand may cost."""
    return not params.get("constant") and params["by"] in {2.0**f.emin for f in c.formats}


def _computed(c: Certificate, params: Mapping[str, Parameter]) -> tuple[str, ...]:
    """The formats in whose ulps a quotient of a fold may count: any that it is rounded to."""
    names = (f for f in str(params["formats"]).split() if f in _formats(c.math))
    return tuple(names) or ("f32",)


def _inexact(c: Certificate, params: Mapping[str, Parameter]) -> bool:
    """Whether quotients of a fold need not be rounded correctly."""
    return c.math in DIVISION and (c.math == "any" or "f64" not in str(params["formats"]).split())
