"""Helper functions of emitted WGSL: protection, 16-bit floats, exact integer division.

Defines `HELPERS`, name → definition, of which a text takes only what it mentions, and `accessors`
of packed parameters. Relies on the prelude's `tang_zero`. Conversions are integer arithmetic,
round once, to nearest even, and keep NaN a NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.emit.words import PACKED, packing
from tang.kernel.ir import Param, Type

_FLOATS: Final = {
    "tang_keep": """\
fn tang_keep(x: f32) -> f32 { /* x, as a compiler that does not know tang_zero must leave it */
    return bitcast<f32>(bitcast<u32>(x) ^ tang_zero);
}""",
    "tang_apart": """\
fn tang_apart(x: f32) -> f32 { /* x, which a compiler cannot see to be x */
    return bitcast<f32>(bitcast<u32>(x) + tang_zero);
}""",
    "tang_flag": """\
fn tang_flag(x: bool) -> bool {
    return (select(0u, 1u, x) ^ tang_zero) != 0u;
}""",
    "tang_f32": """\
fn tang_f32(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ tang_zero);
}""",
    "tang_bits": """\
fn tang_bits(x: f32) -> u32 {
    return bitcast<u32>(x) ^ tang_zero;
}""",
    "tang_u32": """\
fn tang_u32(x: u32) -> u32 {
    return x ^ tang_zero;
}""",
    "tang_i32": """\
fn tang_i32(x: i32) -> i32 {
    return x ^ i32(tang_zero);
}""",
    "tang_isnan": """\
fn tang_isnan(x: f32) -> bool {
    return (tang_bits(x) & 0x7fffffffu) > 0x7f800000u;
}""",
    "tang_floordiv": """\
fn tang_floordiv(a: i32, b: i32) -> i32 { /* the dividend is not negative */
    let sign = a >> 31u;
    return ((a ^ sign) / b) ^ sign;
}""",
    "tang_mod": """\
fn tang_mod(a: i32, b: i32) -> i32 {
    return a - tang_floordiv(a, b) * b;
}""",
    "tang_sticky_i32": """\
fn tang_sticky_i32(x: i32) -> i32 { /* 24 bits, the last one odd when bits were lost */
    return select(x, (x & -256i) | select(0i, 256i, (x & 255i) != 0), (x != ((x << 8u) >> 8u)));
}""",
    "tang_sticky_u32": """\
fn tang_sticky_u32(x: u32) -> u32 { /* 24 bits, the last one odd when bits were lost */
    return select(x, (x & 0xffffff00u) | select(0u, 256u, (x & 255u) != 0u), x > 0xffffffu);
}""",
    "tang_bf16_value": """\
fn tang_bf16_value(bits: u32) -> f32 {
    return tang_f32(bits << 16u);
}""",
    "tang_bf16_bits": """\
fn tang_bf16_bits(x: f32) -> u32 {
    let bits = tang_bits(x);
    let even = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return select(even, (bits >> 16u) | 0x40u, (bits & 0x7fffffffu) > 0x7f800000u);
}""",
    "tang_f16_value": """\
fn tang_f16_value(bits: u32) -> f32 {
    let sign = (bits & 0x8000u) << 16u;
    let size = bits & 0x7fffu;
    let tiny = tang_bits(f32(size) * tang_f32(0x33800000u)); /* 2^-24 */
    let finite = select((size << 13u) + 0x38000000u, tiny, size < 0x400u);
    return tang_f32(sign | select(finite, (size << 13u) | 0x7f800000u, size >= 0x7c00u));
}""",
    "tang_f16_bits": """\
fn tang_f16_bits(x: f32) -> u32 {
    let bits = tang_bits(x);
    let size = bits & 0x7fffffffu;
    let normal = (size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u;
    let shift = min(126u - min(size >> 23u, 113u), 25u);
    let whole = (size & 0x7fffffu) | 0x800000u;
    let half = (1u << (shift - 1u)) - 1u;
    let tiny = (whole + half + ((whole >> shift) & 1u)) >> shift; /* shift is 13 or more */
    let finite = select(normal, tiny, size < 0x38800000u);
    let large = select(finite, 0x7c00u, size >= 0x477ff000u); /* from 65520 on */
    let number = select(large, 0x7e00u | ((size >> 13u) & 0x1ffu), size > 0x7f800000u);
    return ((bits >> 16u) & 0x8000u) | number;
}""",
}


def _rounders() -> Iterator[tuple[str, str]]:
    for t in ("f16", "bf16"):
        yield (
            f"tang_round_{t}",
            f"fn tang_round_{t}(x: f32) -> f32 {{\n"
            f"    return tang_{t}_value(tang_{t}_bits(x));\n}}",
        )


def accessors(name: str, p: Param) -> list[str]:
    """The functions that read and write elements of a packed parameter; none for others."""
    if p.type not in PACKED:
        return []
    word_shift, bit_shift, mask = packing(p.type)
    register, value, bits = _ELEMENTS[p.type]
    place = f"u32(i) >> {word_shift}u"
    word = f"atomicLoad(&{name}[{place}])" if p.writable else f"{name}[{place}]"
    shift = f"(u32(i) & {2**word_shift - 1}u) << {bit_shift}u"
    lines = [
        f"fn {name}_get(i: i32) -> {register} {{",
        f"    return {value.format(f'(({word} >> ({shift})) & {mask:#x}u)')};",
        "}",
    ]
    if not p.writable:
        return lines
    return [
        *lines,
        f"fn {name}_set(i: i32, x: {register}) {{",
        f"    let shift = {shift};",
        f"    atomicAnd(&{name}[{place}], ~({mask:#x}u << shift));",
        f"    atomicOr(&{name}[{place}], {bits} << shift);",
        "}",
    ]


_ELEMENTS: Final = {
    Type.BOOL: ("bool", "({} != 0u)", "select(0u, 1u, x)"),
    Type.U8: ("u32", "{}", "x"),
    Type.F16: ("f32", "tang_f16_value({})", "tang_f16_bits(x)"),
    Type.BF16: ("f32", "tang_bf16_value({})", "tang_bf16_bits(x)"),
}
"""By packed type: the register, the value of its bits, the bits of a value x."""

HELPERS: Final[dict[str, str]] = {**_FLOATS, **dict(_rounders())}
"""Every helper by name; a definition may mention others."""
