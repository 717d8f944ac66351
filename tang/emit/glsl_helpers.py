"""Helper functions of emitted GLSL: protection, narrow floats, exact integer division.

Defines `HELPERS`, name → definition, of which a text takes only what it mentions, and `accessors`
of packed parameters. Relies on the prelude's `tang_zero`. Conversions round once, to nearest
even, and keep NaN a NaN; `precise` forbids contraction where several operations follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.emit.words import PACKED, packing
from tang.kernel.ir import Param, Type

_PROTECTION: Final = {
    "tang_keep": """\
float tang_keep(float x) { /* x, as a compiler that does not know tang_zero must leave it */
    return uintBitsToFloat(floatBitsToUint(x) ^ tang_zero);
}""",
    "tang_apart": """\
float tang_apart(float x) { /* x, which a compiler cannot see to be x */
    return uintBitsToFloat(floatBitsToUint(x) + tang_zero);
}""",
    "tang_flag": """\
bool tang_flag(bool x) {
    return (uint(x) ^ tang_zero) != 0u;
}""",
    "tang_f32": """\
float tang_f32(uint bits) {
    return uintBitsToFloat(bits ^ tang_zero);
}""",
    "tang_bits": """\
uint tang_bits(float x) {
    return floatBitsToUint(x) ^ tang_zero;
}""",
    "tang_u32": """\
uint tang_u32(uint x) {
    return x ^ tang_zero;
}""",
    "tang_i32": """\
int tang_i32(int x) {
    return x ^ int(tang_zero);
}""",
    "tang_i64": """\
int64_t tang_i64(int64_t x) {
    return x ^ int64_t(tang_zero);
}""",
    "tang_keep_f64": """\
double tang_keep_f64(double x) {
    return packDouble2x32(unpackDouble2x32(x) ^ uvec2(tang_zero));
}""",
    "tang_apart_f64": """\
double tang_apart_f64(double x) {
    return packDouble2x32(unpackDouble2x32(x) + uvec2(tang_zero));
}""",
    "tang_f64": """\
double tang_f64(uint high, uint low) {
    return packDouble2x32(uvec2(low, high) ^ uvec2(tang_zero));
}""",
}

_VALUES: Final = {
    "tang_isnan": """\
bool tang_isnan(float x) {
    return (tang_bits(x) & 0x7fffffffu) > 0x7f800000u;
}""",
    "tang_isnan_f64": """\
bool tang_isnan_f64(double x) {
    uvec2 bits = unpackDouble2x32(x) ^ uvec2(tang_zero);
    uint high = bits.y & 0x7fffffffu;
    return high > 0x7ff00000u || (high == 0x7ff00000u && bits.x != 0u);
}""",
    "tang_truth_f64": """\
bool tang_truth_f64(double x) {
    uvec2 bits = unpackDouble2x32(x) ^ uvec2(tang_zero);
    return ((bits.y << 1u) | bits.x) != 0u;
}""",
    "tang_and": """\
bool tang_and(bool a, bool b) {
    return a && b;
}""",
    "tang_or": """\
bool tang_or(bool a, bool b) {
    return a || b;
}""",
    "tang_sticky_i32": """\
int tang_sticky_i32(int x) { /* 24 bits, the last one odd when bits were lost */
    return x == ((x << 8) >> 8) ? x : (x & -256) | ((x & 255) != 0 ? 256 : 0);
}""",
    "tang_sticky_u32": """\
uint tang_sticky_u32(uint x) { /* 24 bits, the last one odd when bits were lost */
    return x <= 0xffffffu ? x : (x & 0xffffff00u) | ((x & 255u) != 0u ? 256u : 0u);
}""",
    "tang_sticky_i64": """\
int64_t tang_sticky_i64(int64_t x) { /* 53 bits, the last one odd when bits were lost */
    bool exact = x >= -0x20000000000000L && x <= 0x20000000000000L;
    return exact ? x : (x & -2048L) | ((x & 2047L) != 0L ? 2048L : 0L);
}""",
}

_NARROW: Final = {
    "tang_bf16_value": """\
float tang_bf16_value(uint bits) {
    return tang_f32(bits << 16u);
}""",
    "tang_bf16_bits": """\
uint tang_bf16_bits(float x) {
    uint bits = tang_bits(x);
    uint even = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return (bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16u) | 0x40u : even;
}""",
    "tang_f16_value": """\
float tang_f16_value(uint bits) {
    uint sign = (bits & 0x8000u) << 16u;
    uint size = bits & 0x7fffu;
    uint tiny = tang_bits(float(size) * tang_f32(0x33800000u)); /* 2^-24 */
    uint finite = size < 0x400u ? tiny : (size << 13u) + 0x38000000u;
    return tang_f32(sign | (size >= 0x7c00u ? (size << 13u) | 0x7f800000u : finite));
}""",
    "tang_f16_bits": """\
uint tang_f16_bits(float x) {
    uint bits = tang_bits(x);
    uint size = bits & 0x7fffffffu;
    uint normal = (size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u;
    uint shift = min(126u - min(size >> 23u, 113u), 25u);
    uint whole = (size & 0x7fffffu) | 0x800000u;
    uint half_less = (1u << (shift - 1u)) - 1u;
    uint tiny = (whole + half_less + ((whole >> shift) & 1u)) >> shift; /* shift is 13 or more */
    uint finite = size < 0x38800000u ? tiny : normal;
    uint large = size >= 0x477ff000u ? 0x7c00u : finite; /* from 65520 on */
    uint number = size > 0x7f800000u ? 0x7e00u | ((size >> 13u) & 0x1ffu) : large;
    return ((bits >> 16u) & 0x8000u) | number;
}""",
    "tang_f32_odd": """\
float tang_f32_odd(double x) { /* rounded to odd: a second rounding then does no harm */
    float y = tang_keep(float(x));
    double z = tang_keep_f64(double(y));
    bool down = z < x;
    bool up = z > x;
    uint bits = tang_bits(y);
    return down || up ? tang_f32((bits - uint((x > 0.0LF) == up)) | 1u) : y;
}""",
    "tang_sum_odd": """\
double tang_sum_odd(double a, double b) { /* a + b rounded to odd */
    double s = tang_keep_f64(a + b);
    double t = tang_keep_f64(s - a);
    double e = tang_keep_f64(
        tang_keep_f64(a - tang_keep_f64(s - tang_apart_f64(t))) + tang_keep_f64(b - t)
    );
    uvec2 error = unpackDouble2x32(e); /* by bits: Mesa takes the negation of a comparison apart */
    bool exact = (error.x | (error.y << 1u)) == 0u || (error.y & 0x7ff00000u) == 0x7ff00000u;
    uvec2 bits = unpackDouble2x32(s);
    uint step = uint((s > 0.0LF) != (e > 0.0LF));
    uvec2 less = uvec2(bits.x - step, bits.y - (step > bits.x ? 1u : 0u));
    return exact ? s : tang_f64(less.y, less.x | 1u);
}""",
    "tang_fma_f32": """\
float tang_fma_f32(float a, float b, float c) { /* exact product, sum rounded to odd */
    double product = tang_keep_f64(double(a) * double(b));
    return tang_keep(float(tang_sum_odd(product, double(c))));
}""",
}


def _rounders() -> Iterator[tuple[str, str]]:
    for t in ("f16", "bf16"):
        rounded = f"return tang_{t}_value(tang_{t}_bits(x));"
        yield f"tang_round_{t}", f"float tang_round_{t}(float x) {{\n    {rounded}\n}}"
        yield (
            f"tang_narrow_{t}",
            f"float tang_narrow_{t}(double x) {{\n    return tang_round_{t}(tang_f32_odd(x));\n}}",
        )
        yield (
            f"tang_fma_{t}",
            f"float tang_fma_{t}(float a, float b, float c) {{\n"
            f"    double product = tang_keep_f64(double(a) * double(b));\n"
            f"    return tang_narrow_{t}(tang_sum_odd(product, double(c)));\n}}",
        )


def _divisions() -> Iterator[tuple[str, str]]:
    for name, t, width in (("i32", "int", 32), ("i64", "int64_t", 64)):
        yield (
            f"tang_floordiv_{name}",
            f"{t} tang_floordiv_{name}({t} a, {t} b) {{ /* the dividend is not negative */\n"
            f"    {t} sign = a >> {width - 1};\n    return ((a ^ sign) / b) ^ sign;\n}}",
        )
        yield (
            f"tang_mod_{name}",
            f"{t} tang_mod_{name}({t} a, {t} b) {{\n"
            f"    return a - tang_floordiv_{name}(a, b) * b;\n}}",
        )


def accessors(name: str, p: Param) -> list[str]:
    """The functions that read and write elements of a packed parameter; none for others."""
    if p.type not in PACKED:
        return []
    word_shift, bit_shift, mask = packing(p.type)
    register, value, bits = _ELEMENTS[p.type]
    place = f"{name}[uint(i) >> {word_shift}u]"
    shift = f"(uint(i) & {2**word_shift - 1}u) << {bit_shift}u"
    element = f"((({place}) >> ({shift})) & {mask:#x}u)"
    lines = [f"{register} {name}_get(int i) {{", f"    return {value.format(element)};", "}"]
    if not p.writable:
        return lines
    return [
        *lines,
        f"void {name}_set(int i, {register} x) {{",
        f"    uint shift = {shift};",
        f"    atomicAnd({place}, ~({mask:#x}u << shift));",
        f"    atomicOr({place}, {bits} << shift);",
        "}",
    ]


_ELEMENTS: Final = {
    Type.BOOL: ("bool", "{} != 0u", "uint(x)"),
    Type.U8: ("uint", "{}", "x"),
    Type.F16: ("float", "tang_f16_value({})", "tang_f16_bits(x)"),
    Type.BF16: ("float", "tang_bf16_value({})", "tang_bf16_bits(x)"),
}
"""By packed type: the register, the value of its bits, the bits of a value x."""

NATIVE: Final = {
    "exp2": "exp2", "log2": "log2", "sin": "sin", "atan2": "atan", "exp": "exp", "log": "log",
    "tanh": "tanh", "cos": "cos",
}  # fmt: skip
"""Functions of MATH that are builtins, by name."""


def _native() -> Iterator[tuple[str, str]]:
    """Builtins in functions of their own.

    Mesa builds atan and tanh of operations that it may rewrite unless they are `precise`, so the
    same call would give other bits in a store than in a precise variable.
    """
    for name, builtin in NATIVE.items():
        params, args = ("float y, float x", "y, x") if name == "atan2" else ("float x", "x")
        yield (
            f"tang_{name}",
            f"float tang_{name}({params}) {{\n"
            f"    precise float result = {builtin}({args});\n    return result;\n}}",
        )


HELPERS: Final[dict[str, str]] = {
    **_PROTECTION,
    **_VALUES,
    **dict(_divisions()),
    **_NARROW,
    **dict(_rounders()),
    **dict(_native()),
}
"""Every helper by name; a definition may mention others."""
