"""What functions promise, as constants of certificates with their provenance.

Defines `Functions`, which gives the claims for an operation over a range of arguments. Relies on
the tables of `tang.kernel.accuracy`. It measures nothing, and of a language without a table it
promises nothing.

math  "portable": tang's own; "any": what any decent library keeps, however a kernel writes a
      function (`LIBRARY`); or the language whose builtins are called
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tang.emulator.certificate import Constant
from tang.errors import BudgetError
from tang.kernel.accuracy import DOCUMENTED, LIBRARY, PORTABLE, Claim, Documented
from tang.kernel.ir import Type

Promise = tuple[Constant, str]
"""A constant, and whether it counts "ulp"s or is "absolute"."""
Reach = tuple[tuple[float, float], ...]

DIVISION: Final[Mapping[str, tuple[float, float, str]]] = {
    "wgsl": (2.5, 5.0, "WGSL, 15.7.4.1: x/y 2.5 ulp; sqrt inherits from 1/inverseSqrt"),
    "glsl": (2.5, 5.0, "Vulkan, Precision of SPIR-V: x/y 2.5 ulp; sqrt inherits"),
    "opencl": (2.5, 3.0, "OpenCL C 3.0, 7.4, full profile: x/y 2.5 ulp, sqrt 3 ulp"),
    "any": (6.0, 5.0, "OpenCL C 3.0, 7.4, full profile: x·(1/y), 1/y 2.5 ulp; x·rsqrt(x), 2 ulp"),
}
"""Language → ulps of a quotient and of a root in f32, where they are not correctly rounded.

Of "any" in f64 too: an ulp is at most 2u of its number, so a reciprocal within 2.5 ulp is off by 5u
and the product by u more, 6 ulps at most; a root is 3 ulp, or x·rsqrt(x), off by 4u + u."""

_FROM_RN: Final = 0.5
"""Documents count from the correctly rounded result."""


def checked_math(math: object) -> str:
    """The name of a set of functions, once it is known; else BudgetError."""
    known = ("portable", "any", *DOCUMENTED)
    if not isinstance(math, str) or math not in known:
        raise BudgetError(f"math is one of {', '.join(known)}, not {math!r}")
    return math


class Functions:
    """Claims by operation, for a row of `math` above."""

    def __init__(self, math: str) -> None:
        self.math = checked_math(math)
        self._rows: Documented | None = LIBRARY if math == "any" else DOCUMENTED.get(math)

    def division(self, type_: str) -> Promise | None:
        """The claim of a quotient; None where it is correctly rounded."""
        return self._inexact(type_, 0, "div")

    def root(self, type_: str) -> Promise | None:
        """The claim of a square root; None where it is correctly rounded."""
        return self._inexact(type_, 1, "sqrt")

    def _inexact(self, type_: str, which: int, name: str) -> Promise | None:
        if self.math not in DIVISION or (type_ == "f64" and self.math != "any"):
            return None
        row = DIVISION[self.math]
        ulp = (row[0], row[1])[which]
        return Constant(f"{self.math}.{_computed(type_)}.{name}", ulp, "spec", row[2]), "ulp"

    def claims(
        self, op: str, type_: str, reach: Reach, *, grown: bool = True
    ) -> tuple[Promise, ...]:
        """All claims that may apply to arguments of that reach; narrow formats compute in f32.

        grown  whether with what they grow by up to the largest argument, else as at 0
        """
        rows = self.rows(op, type_)
        if self._rows is None or rows is None:
            return (self._unported(op) if type_ == "f64" else _ported(op),)
        name = f"{self.math}.{_computed(type_)}.{op}"
        found = _applying(rows, reach, self._rows.together)
        if found is None:
            return ((Constant(f"{name}.none", math.inf, "assumed", "nothing is promised"), "ulp"),)
        kept = (replace(c, per=c.per if grown else 0.0) for _, c in found)
        names = (f"{name}.{n}" for n, _ in found)
        return tuple(
            _promise(n, c, reach, self._rows.source) for n, c in zip(names, kept, strict=True)
        )

    def rows(self, op: str, type_: str) -> tuple[Claim, ...] | None:
        """The claims of any arguments; None where tang's own function is called.

        No language has a sigmoid: tang's kernels bring theirs.
        """
        if self._rows is None or (op == "sigmoid" and op not in self._rows.rows):
            return None
        return self._rows.claims(op, Type.F64 if type_ == "f64" else Type.F32)

    def growth(self, op: str, type_: str) -> tuple[float, float]:
        """The ulps by which claims grow for each 1 of |x|, and up to which |x|."""
        grown = [c for c in self.rows(op, type_) or () if c.per]
        return max((c.per for c in grown), default=0.0), max((c.most for c in grown), default=0.0)

    @staticmethod
    def _unported(op: str) -> Promise:
        """No portable function is in f64; the C library's are taken."""
        ulp = 8.0 if op == "sigmoid" else 2.0 + _FROM_RN
        source = "as the C library documents: there are no portable functions in f64"
        return Constant(f"c.f64.{op}", ulp, "assumed", source), "ulp"


def _computed(type_: str) -> str:
    """The format in which a function of another one is computed."""
    return "f64" if type_ == "f64" else "f32"


def _ported(op: str) -> Promise:
    provenance = "tested" if op == "atan2" else "exhaustive"
    source = "docs/maths.md: all f32 arguments" if op != "atan2" else "docs/maths.md: samples"
    return Constant(f"portable.f32.{op}", PORTABLE[op], provenance, source), "ulp"


def _applying(
    rows: tuple[Claim, ...], reach: Reach, together: bool
) -> list[tuple[int, Claim]] | None:
    """The claims whose domain meets the reach, up to one that holds all of it, or all `together`.

    None where these do not hold all of it.
    """
    found, covered = [], False
    for n, row in enumerate(rows):
        if all(_meets(row, lo, hi) for lo, hi in reach):
            found.append((n, row))
        covered = covered or all(_covers(row, lo, hi) for lo, hi in reach)
        if covered and not together:
            break
    return found if covered else None


def _meets(c: Claim, lo: float, hi: float) -> bool:
    if c.signed:
        return lo <= c.high and hi >= c.low
    near = 0.0 if lo <= 0 <= hi else min(abs(lo), abs(hi))
    return near <= c.high and max(abs(lo), abs(hi)) >= c.low


def _covers(c: Claim, lo: float, hi: float) -> bool:
    if c.signed:
        return c.low <= lo and hi <= c.high
    near = 0.0 if lo <= 0 <= hi else min(abs(lo), abs(hi))
    return near >= c.low and max(abs(lo), abs(hi)) <= c.high


def _promise(name: str, c: Claim, reach: Reach, source: str) -> Promise:
    if c.absolute:
        return Constant(name, c.absolute, "spec", source), "absolute"
    most = min(max(max(abs(lo), abs(hi)) for lo, hi in reach), c.most)
    ulp = c.ulp + _FROM_RN + (c.per * most if c.per else 0.0)
    at = f"{source}; at arguments up to {most:.6g}" if c.per else source
    return Constant(name if not c.per else f"{name}@{most!r}", ulp, "spec", at), "ulp"
