/* Measures a one-argument f32 function over bit patterns first … last−1 and their negatives.
 *
 * Expects FUNCTION(float), REFERENCE(double) and SYMMETRY (1: f(−x) = f(x), −1: f(−x) = −f(x),
 * 0: neither), all for the reference; prints, for each block of 2^23 patterns, the largest error
 * in ulps of the f32 result and the bits of its argument. Infinite errors are wrong special values:
 * NaN, infinity, overflow or the sign of a zero.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float from_bits(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }

static double ulp_of(double want) {
    uint64_t bits;
    memcpy(&bits, &want, 8);
    int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < -126) exponent = -126;
    bits = (uint64_t)(exponent - 23 + 1023) << 52;
    memcpy(&want, &bits, 8);
    return want;
}

static double error_of(float got, double want) {
    if (isnan(want)) return isnan(got) ? 0 : INFINITY;
    if (isinf((float)want) || isinf(got)) return got == (float)want ? 0 : INFINITY;
    if ((got == 0 || want == 0) && !signbit(got) != !signbit(want)) return INFINITY;
    return fabs((double)got - want) / ulp_of(want);
}

static double reflected(double want, float x) {
    return SYMMETRY == 0 ? REFERENCE((double)x) : SYMMETRY * want;
}

int main(int count, char **argument) {
    if (count != 3) return 2;
    uint64_t first = strtoull(argument[1], 0, 0), last = strtoull(argument[2], 0, 0);
    for (uint64_t block = first; block < last; block += 1 << 23) {
        double worst = -1;
        uint32_t at = 0;
        for (uint64_t i = block; i < block + (1 << 23) && i < last; i++) {
            float x = from_bits((uint32_t)i);
            double want = REFERENCE((double)x);
            double e = error_of(FUNCTION(x), want);
            if (e > worst) worst = e, at = (uint32_t)i;
            e = error_of(FUNCTION(-x), reflected(want, -x));
            if (e > worst) worst = e, at = (uint32_t)i | 0x80000000u;
        }
        printf("%.9g %u\n", worst, at);
    }
    return 0;
}
