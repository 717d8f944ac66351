"""What functions promise, as constants of certificates with their provenance.

Defines `Functions`, which gives the claims for an operation over a range of arguments. Relies on
the tables of `tang.kernel.accuracy`. It measures nothing, and of a language without a table it
promises nothing.

math  "portable": tang's own; "any": what any decent library keeps, however a kernel writes a
      function (`LIBRARY`); or the language whose builtins are called
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from tang.emulator.certificate import Constant
from tang.errors import BudgetError
from tang.ir.given import one_of
from tang.kernel.accuracy import (
    DIVISION,
    DOCUMENTED,
    FROM_RN,
    LIBRARY,
    MATHS,
    PORTABLE,
    UNPORTED,
    Claim,
    Documented,
)
from tang.kernel.ir import Type

Promise = tuple[Constant, str]
"""A constant, and whether it counts "ulp"s or is "absolute"."""
Reach = tuple[tuple[float, float], ...]

_NARROW: Final = {"f16": Type.F16, "bf16": Type.BF16}


def checked_math(math: object) -> str:
    """The name of a set of functions, once it is known; else BudgetError."""
    return one_of(math, MATHS, "math", BudgetError)


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
        return Constant(f"{self.math}.{self.computed(type_)}.{name}", ulp, "spec", row[2]), "ulp"

    def computed(self, type_: str) -> str:
        """The format in whose ulps claims count, of a node that computes in another one.

        Functions of f16 and bf16 are f32's, rounded; but any kernel may compute one in steps of
        these formats. A format that is no machine's has operations of f32, functions among them.
        """
        narrow = self._rows is not None and _NARROW.get(type_) in self._rows.narrow
        return type_ if narrow or type_ == "f64" else "f32"

    def claims(
        self, op: str, type_: str, reach: Reach, *, grown: bool = True
    ) -> tuple[Promise, ...]:
        """All claims that may apply to arguments of that reach, in ulps of `computed`.

        grown  whether with what they grow by up to the largest argument, else as at 0
        """
        rows = self.rows(op, type_)
        if self._rows is None or rows is None:
            return (_unported(op) if type_ == "f64" else _ported(op),)
        name = f"{self.math}.{self.computed(type_)}.{op}"
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
        return self._rows.claims(op, Type(self.computed(type_)))

    def growth(self, op: str, type_: str) -> tuple[float, float]:
        """The ulps by which claims grow for each 1 of |x|, and up to which |x|."""
        grown = [c for c in self.rows(op, type_) or () if c.per]
        return max((c.per for c in grown), default=0.0), max((c.most for c in grown), default=0.0)


def _unported(op: str) -> Promise:
    """No portable function is in f64; the C library's are taken."""
    source = "as the C library documents: there are no portable functions in f64"
    return Constant(f"c.f64.{op}", UNPORTED[op], "assumed", source), "ulp"


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
    ulp = c.ulp + FROM_RN + (c.per * most if c.per else 0.0)
    at = f"{source}; at arguments up to {most:.6g}" if c.per else source
    return Constant(name if not c.per else f"{name}@{most!r}", ulp, "spec", at), "ulp"
