"""Mutants of precision in texts: casts and shifts of C that are not what the kernel says.

Defines `PRECISION_TEXT`. Relies on the dialect table of C and on its helpers. Each must be found on
the rung `emit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.kernel.ir import Type
from tang.verify import Rung

_C: Final = "tang.emit.c:C"
_HELPERS: Final = "tang.emit.c_helpers:HELPERS"


def _form(*changes: tuple[str, str]) -> Callable[[Any], Any]:
    """A form with other text between the same operands."""

    def make(form: Any) -> Any:  # noqa: ANN401
        template = form.template
        for old, new in changes:
            template = template.replace(old, new)
        return replace(form, template=template)

    return make


def _becomes(template: str) -> Callable[[Any], Any]:
    return lambda form: replace(form, template=template)


def _text(old: str, new: str) -> Callable[[str], str]:
    return lambda definition: definition.replace(old, new)


def _helper(name: str, what: str, key: str, make: Callable[[str], str]) -> Mutant:
    return Mutant(name, what, _HELPERS, make, Rung.EMIT, key, narrow=True)


def _row(name: str, what: str, table: str, key: object, make: Callable[[Any], Any]) -> Mutant:
    return Mutant(name, what, f"{_C}.{table}", make, Rung.EMIT, key)


_HALF, _BRAIN = Type.F16, Type.BF16

PRECISION_TEXT: Final = (
    _helper("f16-ties-away-in-c", "ties go away from zero in f16", "tang_f16_bits",
            _text("0xfffu + (size >> 13 & 1u)", "0x1000u")),
    _helper("f16-saturates-in-c", "what is too large for f16 becomes its largest number",
            "tang_f16_bits", _text("(sign | 0x7c00u)", "(sign | 0x7bffu)")),
    _helper("f16-flushes-in-c", "subnormals of f16 become zero", "tang_f16_bits",
            _text("size < 0x33000000u", "size < 0x38800000u")),
    _helper("f16-nan-is-infinite-in-c", "NaN becomes an infinity in f16", "tang_f16_bits",
            _text("sign | 0x7e00u | (size >> 13 & 0x1ffu)", "sign | 0x7c00u")),
    _helper("bf16-ties-away-in-c", "ties go away from zero in bf16", "tang_bf16_bits",
            _text("0x7fffu + (bits >> 16 & 1u)", "0x8000u")),
    _helper("bf16-sign-lost-in-c", "a bf16 is stored without its sign", "tang_bf16_bits",
            _text("(bits + 0x7fffu + (bits >> 16 & 1u)) >> 16",
                  "((bits & 0x7fffffffu) + 0x7fffu + (bits >> 16 & 1u)) >> 16")),
    _row("f16-sum-in-f32", "a sum of f16 keeps the bits of f32", "operations", ("add", _HALF),
         _form(("tang_round_f16", ""))),
    _row("f16-product-in-f32", "a product of f16 keeps the bits of f32", "operations",
         ("mul", _HALF), _form(("tang_round_f16", ""))),
    _row("bf16-sum-in-f32", "a sum of bf16 keeps the bits of f32", "operations",
         ("add", _BRAIN), _form(("tang_round_bf16", ""))),
    _row("bf16-product-in-f32", "a product of bf16 keeps the bits of f32", "operations",
         ("mul", _BRAIN), _form(("tang_round_bf16", ""))),
    _row("f16-conversion-dropped", "an f32 is taken for an f16", "conversions",
         (Type.F32, _HALF), _becomes("{0}")),
    _row("bf16-conversion-dropped", "an f32 is taken for a bf16", "conversions",
         (Type.F32, _BRAIN), _becomes("{0}")),
    _row("shift-with-sign", "bits are shifted as signed numbers", "operations",
         ("shr const", Type.U32), _form(("{0} >>", "(i32){0} >>"))),
    _row("bits-as-number", "the bits of an f32 are its value", "bitcasts",
         (Type.F32, Type.U32), _becomes("(u32)({0})")),
    _row("byte-shifted", "a code is stored one bit further down", "conversions",
         (Type.U32, Type.U8), _becomes("(u8)(({0}) >> 1)")),
)  # fmt: skip
