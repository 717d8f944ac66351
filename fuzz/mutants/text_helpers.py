"""Mutants of helpers, literals and packed memories: texts that several rows rely on.

Defines `TEXT_HELPERS`. Relies on the names of helpers, which C and its kin share and the shader
languages share, and on how literals are found. Each must be found on the rung `emit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from tang.fuzz.mutants.apply import SIX, Mutant
from tang.kernel.ir import Kernel, Type
from tang.verify import Rung, Verdict

Function = Callable[..., Any]

_KIN: Final = ("c", "opencl", "cuda", "msl")
_SHADERS: Final = ("wgsl", "glsl")
_HELPERS: Final = "tang.emit.{language}:{LANGUAGE}.helpers"
_WRONG: Final = frozenset({Verdict.WRONG})
_PLACE: Final = frozenset(
    {
        Verdict.WRONG, Verdict.UNWRITTEN, Verdict.STRAY_WRITE, Verdict.OUT_OF_BOUNDS,
        Verdict.NONDETERMINISTIC, Verdict.CRASH,
    }
)  # fmt: skip
_ELEMENT: Final = frozenset(
    {Verdict.WRONG, Verdict.UNWRITTEN, Verdict.NONDETERMINISTIC, Verdict.RACE}
)


def _text(*pairs: tuple[str, str]) -> Callable[[str], str]:
    """The definition with every pair of texts replaced that occurs in it."""

    def make(definition: str) -> str:
        for old, new in pairs:
            definition = definition.replace(old, new)
        return definition

    return make


def _returns(value: str) -> Callable[[str], str]:
    """The definition with a body that returns a value."""

    def make(definition: str) -> str:
        head = definition.partition("{")[0]
        return f"{head}{{\n    return {value};\n}}"

    return make


def _helper(
    name: str,
    what: str,
    helper: str,
    make: Callable[[str], str],
    languages: tuple[str, ...],
    narrow: bool = False,
) -> Mutant:
    divides = "floordiv" in helper or "_mod" in helper
    verdicts = _PLACE if divides else _WRONG  # indices lead elsewhere
    return Mutant(
        name,
        what,
        _HELPERS,
        make,
        Rung.EMIT,
        helper,
        languages,
        verdicts,
        narrow=narrow,
        blind=True,
    )


_OF_KIN: Final = (
    _helper("infinity-is-nan", "isnan holds for infinities", "tang_isnan_f32",
            _text(("> 0x7f800000u", ">= 0x7f800000u")), _KIN),
    _helper("quotient-towards-zero", "floor division rounds towards zero",
            "tang_floordiv_i32", _text((" - (a % b < 0)", "")), _KIN),
    _helper("remainder-signed", "remainders have the sign of the dividend", "tang_mod_i32",
            _text(("r < 0 ? r + b : r", "r")), _KIN),
    _helper("f16-truncates", "f16 rounds towards zero", "tang_f16_bits",
            _text(("0xfffu + (size >> 13u & 1u)", "0u"), ("0xfffu + (size >> 13 & 1u)", "0u")),
            _KIN, narrow=True),
    _helper("bf16-truncates", "bf16 rounds towards zero", "tang_bf16_bits",
            _text(("(bits + 0x7fffu + (bits >> 16u & 1u))", "bits"),
                  ("(bits + 0x7fffu + (bits >> 16 & 1u))", "bits")), _KIN, narrow=True),
    _helper("f16-exponent-off", "an f16 is read with half its size", "tang_f16_value",
            _text(("exponent + 112u", "exponent + 111u")), _KIN, narrow=True),
    _helper("bf16-shifted-by-eight", "a bf16 is read from the wrong bits", "tang_bf16_value",
            _text(("<< 16", "<< 15")), _KIN, narrow=True),
)  # fmt: skip

_OF_SHADERS: Final = (
    _helper("infinity-is-nan-in-shaders", "isnan holds for infinities", "tang_isnan",
            _text(("> 0x7f800000u", ">= 0x7f800000u")), _SHADERS),
    _helper("f16-truncates-in-shaders", "f16 rounds towards zero", "tang_f16_bits",
            _text(("0xfffu + ((size >> 13u) & 1u)", "0u")), _SHADERS, narrow=True),
    _helper("bf16-truncates-in-shaders", "bf16 rounds towards zero", "tang_bf16_bits",
            _text(("bits + 0x7fffu + ((bits >> 16u) & 1u)", "bits")), _SHADERS, narrow=True),
    _helper("f16-infinity-lost", "an infinite f16 is read as a number", "tang_f16_value",
            _text(("size >= 0x7c00u", "size > 0x7c00u")), _SHADERS, narrow=True),
    _helper("protection-dropped", "results are not kept from rewriting", "tang_keep",
            _returns("x"), _SHADERS),
    _helper("operands-not-apart", "equal operands are seen to be equal", "tang_apart",
            _returns("x"), _SHADERS),
    _helper("bits-of-literals-off", "literals from bits lose their last bit", "tang_f32",
            _text(("bits ^ tang_zero", "(bits & 0xfffffffeu) ^ tang_zero")), _SHADERS),
    _helper("floor-quotient-in-wgsl", "floor division rounds towards zero", "tang_floordiv",
            _returns("a / b"), ("wgsl",)),
    _helper("floor-quotient-in-glsl", "floor division rounds towards zero", "tang_floordiv_i32",
            _returns("a / b"), ("glsl",)),
    _helper("remainder-off-in-glsl", "remainders are taken of the next number", "tang_mod_i32",
            _text(("return a - ", "return a + 1 - ")), ("glsl",)),
)  # fmt: skip


# --- literals ------------------------------------------------------------------------------------


def _six_digits(original: Function) -> Function:
    return lambda value: original(Fraction(float(f"{float(value):.6g}")))


def _never_negative(original: Function) -> Function:
    def special_bits(name: str, form: Any) -> int:  # noqa: ANN401
        return int(original("inf" if name == "-inf" else name, form))

    return special_bits


def _school_pi(original: Function) -> Function:
    return lambda name: Fraction(314, 100) if name == "pi" else original(name)


def _absolute(original: Function) -> Function:
    return lambda const: abs(original(const))


def _literal(
    name: str,
    what: str,
    function: str,
    make: Function,
    verdicts: frozenset[Verdict] = _WRONG,
) -> Mutant:
    path = f"tang.emit.literal:{function}"
    return Mutant(name, what, path, make, Rung.EMIT, None, SIX, verdicts, blind=True)


_LITERALS: Final = (
    _literal("literal-of-six-digits", "literals have six digits", "decimal_or_hex", _six_digits),
    _literal("minus-infinity-positive", "−inf is printed as inf", "special_bits",
             _never_negative),
    _literal("pi-of-school", "π is 3.14", "_transcendental", _school_pi),
    _literal("negative-literal-positive", "negative integers lose their sign", "integer",
             _absolute, _PLACE),
)  # fmt: skip


# --- packed memories -----------------------------------------------------------------------------


def _not_cleared(original: Function) -> Function:
    def accessors(name: str, p: Any) -> list[str]:  # noqa: ANN401
        return [line for line in original(name, p) if "atomicAnd" not in line]

    return accessors


def _whole_words(original: Function) -> Function:
    """Before: clear and set the bits of one element; after: write the word."""

    def accessors(name: str, p: Any) -> list[str]:  # noqa: ANN401
        kept = (line for line in original(name, p) if "atomicAnd" not in line)
        return [_plain_store(line) for line in kept]

    return accessors


def _plain_store(line: str) -> str:
    found = re.fullmatch(r"( *)atomicOr\(&?(.*\]), (.*)\);", line)
    if found is None:
        return line
    pad, place, bits = found.groups()
    if "&" in line.split(",")[0]:
        return f"{pad}atomicStore(&{place}, {bits});"
    return f"{pad}{place} = {bits};"


def _next_bits(original: Function) -> Function:
    def accessors(name: str, p: Any) -> list[str]:  # noqa: ANN401
        return [line.replace("<< shift", "<< (shift ^ 8u)") for line in original(name, p)]

    return accessors


def _stores_packed(kernel: Kernel) -> bool:
    narrow = (Type.BOOL, Type.U8, Type.F16, Type.BF16)
    return any(p.writable and p.type in narrow for p in kernel.params)


def _packed(
    name: str, what: str, make: Function, verdicts: frozenset[Verdict] = _ELEMENT
) -> Mutant:
    path = "tang.emit.{language}_helpers:accessors"
    return Mutant(
        name, what, path, make, Rung.EMIT, None, _SHADERS, verdicts, _stores_packed, blind=True
    )


_PACKED: Final = (
    _packed("packed-not-cleared", "a packed store sets bits without clearing any", _not_cleared),
    _packed(
        "packed-whole-word",
        "a packed store writes its neighbours too",
        _whole_words,
        _PLACE | {Verdict.RACE},
    ),
    _packed("packed-next-bits", "a packed store goes to the next byte", _next_bits, _PLACE),
)

TEXT_HELPERS: Final = (*_OF_KIN, *_OF_SHADERS, *_LITERALS, *_PACKED)
