"""Helper functions of emitted MSL, where C's need f64: conversions of integers, fused operations.

Defines `HELPERS`, which take the place of C's of the same name. Relies on the types of the MSL
prelude. A first rounding to odd makes the second one, to 16 bits, right; bf16's fused operation
is integer arithmetic, because its product may leave f32's range.
"""

from __future__ import annotations

from typing import Final

HELPERS: Final = {
    "tang_odd_f32": """\
static inline f32 tang_odd_f32(i64 x) { /* 24 bits, the last one odd when bits were lost */
    u64 kept = x < 0 ? 0ul - (u64)x : (u64)x;
    u64 lost = 0ul;
    f32 scale = 1.0f;
    while (kept >> 24 != 0ul) {
        lost |= kept & 1ul;
        kept >>= 1;
        scale = scale * 2.0f;
    }
    const f32 size = (f32)(u32)(kept | lost) * scale;
    return x < 0 ? -size : size;
}""",
    "tang_sum_odd": """\
static inline f32 tang_sum_odd(f32 a, f32 b) { /* a + b rounded to odd */
    const f32 s = a + b;
    const f32 t = s - a;
    const f32 e = (a - (s - t)) + (b - t);
    if (!(e < 0.0f || e > 0.0f)) {
        return s;
    }
    return tang_f32_of_u32((tang_u32_of_f32(s) - (u32)((s > 0.0f) != (e > 0.0f))) | 1u);
}""",
    "tang_fma_f16": """\
static inline f32 tang_fma_f16(f32 a, f32 b, f32 c) { /* the product is exact */
    return tang_round_f16(tang_sum_odd(a * b, c));
}""",
    "tang_whole_bf16": """\
static inline u32 tang_whole_bf16(u32 bits) { /* the significand as an integer */
    return (bits & 127u) | ((bits & 0x7f80u) != 0u ? 128u : 0u);
}""",
    "tang_exponent_bf16": """\
static inline i32 tang_exponent_bf16(u32 bits) { /* of that integer's last bit */
    return (i32)((bits & 0x7f80u) != 0u ? bits >> 7 & 255u : 1u) - 134;
}""",
    "tang_placed": """\
static inline i64 tang_placed(u32 x, i32 shift, u32 negative) { /* odd when bits were lost */
    u64 size = (u64)x << (shift > 0 ? shift : 0);
    if (shift < 0) {
        const i32 back = shift < -31 ? 31 : -shift;
        size = (u64)(x >> back | (u32)(x >> back << back != x));
    }
    return negative != 0u ? -(i64)size : (i64)size;
}""",
    "tang_fma_bf16": """\
static f32 tang_fma_bf16(f32 a, f32 b, f32 c) {
    const u32 x = tang_u32_of_f32(a) >> 16;
    const u32 y = tang_u32_of_f32(b) >> 16;
    const u32 z = tang_u32_of_f32(c) >> 16;
    const u32 product = tang_whole_bf16(x) * tang_whole_bf16(y);
    if ((x & 0x7f80u) == 0x7f80u || (y & 0x7f80u) == 0x7f80u || product == 0u) {
        return a * b + c; /* exact, or not finite */
    }
    if ((z & 0x7f80u) == 0x7f80u) {
        return c;
    }
    const i32 high = tang_exponent_bf16(x) + tang_exponent_bf16(y);
    const i32 low = tang_exponent_bf16(z);
    const i32 last = (high > low ? high : low) - 40;
    const i64 sum = tang_placed(product, high - last, (x ^ y) & 0x8000u)
        + tang_placed(tang_whole_bf16(z), low - last, z & 0x8000u);
    const u64 size = (u64)(sum < 0 ? -sum : sum);
    i32 shift = -133 - last > 1 ? -133 - last : 1;
    while (shift < 63 && size >> shift > 255ul) {
        ++shift;
    }
    shift = shift < 63 ? shift : 63;
    const u64 kept = size >> shift;
    const u64 rest = size - (kept << shift);
    const u64 middle = 1ul << (shift - 1);
    u32 bits = (u32)kept + (u32)(rest > middle || (rest == middle && (kept & 1ul) != 0ul));
    bits += kept < 128ul ? 0u : (u32)(last + shift + 133) << 7;
    bits = bits < 0x7f80u ? bits : 0x7f80u;
    return tang_f32_of_u32((bits | (sum < 0 ? 0x8000u : 0u)) << 16);
}""",
}
"""Name → definition."""
