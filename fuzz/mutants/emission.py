"""Mutants of emission: C text that does not say what the kernel says.

Defines `EMISSION`. Relies on the dialect table of C and its helpers. Each must be found on the rung
`emit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.kernel.ir import Type
from tang.verify import Rung

_C: Final = "tang.emit.c:C.operations"
_HELPERS: Final = "tang.emit.c_helpers:HELPERS"


def _template(old: str, new: str) -> Callable[[Any], Any]:
    """A form with another text between the same operands."""

    def make(form: Any) -> Any:  # noqa: ANN401
        return replace(form, template=form.template.replace(old, new))

    return make


def _text(old: str, new: str) -> Callable[[str], str]:
    return lambda definition: definition.replace(old, new)


def _six_digits(original: Callable[[Fraction], str]) -> Callable[[Fraction], str]:
    return lambda value: f"{float(value):f}"


def _unsafe_isnan(definition: str) -> str:
    return (
        '__attribute__((optimize("finite-math-only"))) static _Bool tang_isnan_f32(f32 x) {\n'
        "    return x != x;\n}"
    )


def _largest(original: Callable[[str, bool], Any]) -> Callable[[str, bool], Any]:
    def special(name: str, wide: bool) -> Any:  # noqa: ANN401
        text = original(name, wide)
        sign = "-" if name.startswith("-") else ""
        return text if wide or name == "nan" else replace(text, text=f"({sign}0x1.fffffep127f)")

    return special


EMISSION: Final = (
    Mutant("infinity-is-largest", "∞ is printed as the largest f32",
           "tang.emit.c:_special", _largest, Rung.EMIT),
    Mutant("floor-is-trunc", "floor is printed as trunc",
           _C, _template("floor", "trunc"), Rung.EMIT, ("floor", Type.F32)),
    Mutant("sub-is-add", "a − b is printed as a + b",
           _C, _template("-", "+"), Rung.EMIT, ("sub", Type.F32)),
    Mutant("or-is-and", "a ∨ b is printed as a && b",
           _C, _template("||", "&&"), Rung.EMIT, ("or", Type.BOOL)),
    Mutant("excess-precision", "sums of f32 are kept in double inside an expression",
           _C, _template("{0}", "(f64){0}"), Rung.EMIT, ("add", Type.F32)),
    Mutant("literal-truncated", "literals are printed with %f",
           "tang.emit.literal:decimal_or_hex", _six_digits, Rung.EMIT),
    Mutant("isnan-optimised-away", "isnan is x != x under fast maths",
           _HELPERS, _unsafe_isnan, Rung.EMIT, "tang_isnan_f32"),
    Mutant("floordiv-truncates", "floor division rounds towards 0",
           _HELPERS, _text(" - (a % b < 0)", ""), Rung.EMIT, "tang_floordiv_i32"),
    Mutant("mod-keeps-sign", "mod has the sign of the dividend",
           _HELPERS, _text("r < 0 ? r + b : r", "r"), Rung.EMIT, "tang_mod_i32"),
    Mutant("less-is-less-or-equal-in-c", "a < b is printed as a <= b",
           _C, _template("<", "<="), Rung.EMIT, ("lt", Type.F32)),
    Mutant("sqrt-is-double-rounded", "sqrt is taken of the number rounded down",
           _C, _template("sqrtf({0})", "sqrtf(nextafterf({0}, 0.0f))"), Rung.EMIT,
           ("sqrt", Type.F32)),
    Mutant("select-prefers-else", "c ? a : b is printed as c ? b : a",
           _C, _template("{1} : {2}", "{2} : {1}"), Rung.EMIT, ("select", Type.F32)),
)  # fmt: skip
