/* Errors of f32 results in ulps, for the drivers beside this file; follows an emitted kernel. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float from_bits(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
static uint32_t to_bits(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

/* The distance between f32 numbers around `want`, as if their exponent had no upper end. */
static double ulp_of(double want) {
    uint64_t bits;
    memcpy(&bits, &want, 8);
    int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < -126) exponent = -126;
    bits = (uint64_t)(exponent - 23 + 1023) << 52;
    memcpy(&want, &bits, 8);
    return want;
}

/* |got − want| in ulps; infinite for a wrong NaN, infinity, overflow or sign of a zero. */
static double error_of(float got, double want) {
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (isinf((float)want) || isinf(got)) return got == (float)want ? 0 : INFINITY;
    if ((got == 0 || want == 0) && !signbit(got) != !signbit(want)) return INFINITY;
    return fabs((double)got - want) / ulp_of(want);
}
