"""Helper functions of emitted C: exact integer division, bit casts, 16-bit float formats.

Defines `HELPERS`, name → definition, of which a text takes only what it mentions. Relies on the
types of the C prelude; every definition is free of undefined behaviour for every operand that
the kernel IR allows. Conversions round once, to nearest even, and keep NaN a NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_SIGNED: Final = ("i32", "i64")
_INTEGERS: Final = ("u8", "i32", "u32", "i64")
_PAIRS: Final = (("f32", "u32"), ("f32", "i32"), ("f64", "i64"), ("f64", "u64"))

_FLOATS: Final = {
    "tang_isnan_f32": """\
static inline _Bool tang_isnan_f32(f32 x) {
    return (tang_u32_of_f32(x) & 0x7fffffffu) > 0x7f800000u;
}""",
    "tang_isnan_f64": """\
static inline _Bool tang_isnan_f64(f64 x) {
    return (tang_u64_of_f64(x) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}""",
    "tang_bf16_value": """\
static inline f32 tang_bf16_value(u16 bits) {
    return tang_f32_of_u32((u32)bits << 16);
}""",
    "tang_bf16_bits": """\
static inline u16 tang_bf16_bits(f32 x) {
    const u32 bits = tang_u32_of_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return (u16)(bits >> 16 | 0x40u);
    }
    return (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}""",
    "tang_f16_value": """\
static f32 tang_f16_value(u16 bits) {
    const u32 sign = (u32)(bits & 0x8000u) << 16;
    const u32 exponent = bits >> 10 & 31u;
    const u32 fraction = bits & 0x3ffu;
    if (exponent == 31u) {
        return tang_f32_of_u32(sign | 0x7f800000u | fraction << 13);
    }
    if (exponent == 0u) {
        return tang_f32_of_u32(sign | tang_u32_of_f32((f32)fraction * 0x1p-24f));
    }
    return tang_f32_of_u32(sign | (exponent + 112u) << 23 | fraction << 13);
}""",
    "tang_f16_bits": """\
static u16 tang_f16_bits(f32 x) {
    const u32 bits = tang_u32_of_f32(x);
    const u32 sign = bits >> 16 & 0x8000u;
    const u32 size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) {
        return (u16)(sign | 0x7e00u | (size >> 13 & 0x1ffu));
    }
    if (size >= 0x477ff000u) { /* from 65520 on */
        return (u16)(sign | 0x7c00u);
    }
    if (size >= 0x38800000u) { /* normal: from 2^-14 on */
        return (u16)(sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13);
    }
    if (size < 0x33000000u) { /* below 2^-25 */
        return (u16)sign;
    }
    const u32 shift = 126u - (size >> 23);
    const u32 whole = (size & 0x7fffffu) | 0x800000u;
    const u32 kept = whole >> shift;
    const u32 rest = whole & ((1u << shift) - 1u);
    const u32 half = 1u << (shift - 1u);
    return (u16)(sign | (kept + (rest > half || (rest == half && (kept & 1u)))));
}""",
    "tang_f32_odd": """\
static f32 tang_f32_odd(f64 x) { /* rounded to odd: a second rounding then does no harm */
    const f32 y = (f32)x;
    const u32 bits = tang_u32_of_f32(y);
    if (!((f64)y < x || (f64)y > x)) {
        return y;
    }
    return tang_f32_of_u32((bits - (u32)((x > 0.0) == ((f64)y > x))) | 1u);
}""",
    "tang_sum_odd": """\
static f64 tang_sum_odd(f64 a, f64 b) { /* a + b rounded to odd */
    const f64 s = a + b;
    const f64 t = s - a;
    const f64 e = (a - (s - t)) + (b - t);
    if (!(e < 0.0 || e > 0.0)) {
        return s;
    }
    return tang_f64_of_u64((tang_u64_of_f64(s) - (u64)((s > 0.0) != (e > 0.0))) | 1ull);
}""",
    "tang_sticky_i64": """\
static inline i64 tang_sticky_i64(i64 x) { /* 53 bits, the last one odd when bits were lost */
    if (x >= -0x20000000000000ll && x <= 0x20000000000000ll) {
        return x;
    }
    return x & -2048ll | (i64)((x & 2047ll) != 0) << 11;
}""",
}


def _rounders() -> Iterator[tuple[str, str]]:
    for t in ("f16", "bf16"):
        yield (
            f"tang_round_{t}",
            f"static inline f32 tang_round_{t}(f32 x) {{\n"
            f"    return tang_{t}_value(tang_{t}_bits(x));\n}}",
        )
        yield (
            f"tang_narrow_{t}",
            f"static inline f32 tang_narrow_{t}(f64 x) {{\n"
            f"    return tang_round_{t}(tang_f32_odd(x));\n}}",
        )
        yield (
            f"tang_fma_{t}",
            f"static inline f32 tang_fma_{t}(f32 a, f32 b, f32 c) {{\n"
            f"    return tang_narrow_{t}(tang_sum_odd((f64)a * (f64)b, (f64)c));\n}}",
        )


def _divisions() -> Iterator[tuple[str, str]]:
    for t in _SIGNED:
        yield (
            f"tang_floordiv_{t}",
            f"static inline {t} tang_floordiv_{t}({t} a, {t} b) {{\n"
            f"    return a / b - (a % b < 0);\n}}",
        )
        yield (
            f"tang_mod_{t}",
            f"static inline {t} tang_mod_{t}({t} a, {t} b) {{\n"
            f"    const {t} r = a % b;\n    return r < 0 ? r + b : r;\n}}",
        )


def _extrema() -> Iterator[tuple[str, str]]:
    for t in _INTEGERS:
        for name, sign in (("min", "<"), ("max", ">")):
            yield (
                f"tang_{name}_{t}",
                f"static inline {t} tang_{name}_{t}({t} a, {t} b) {{\n"
                f"    return a {sign} b ? a : b;\n}}",
            )


def _casts() -> Iterator[tuple[str, str]]:
    for a, b in (*_PAIRS, *((b, a) for a, b in _PAIRS)):
        yield (
            f"tang_{b}_of_{a}",
            f"static inline {b} tang_{b}_of_{a}({a} x) {{\n"
            f"    const union {{ {a} from; {b} to; }} both = {{ x }};\n    return both.to;\n}}",
        )


HELPERS: Final[dict[str, str]] = {
    **dict(_divisions()),
    **dict(_extrema()),
    **dict(_casts()),
    **_FLOATS,
    **dict(_rounders()),
}
"""Every helper by name; a definition may mention others."""
