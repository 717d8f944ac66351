/* Measures a one-argument f32 function over bit patterns first … last−1 and their negatives.
 *
 * Follows an emitted kernel and measure_ulps.h. Expects KERNEL(x, out, first group, last group)
 * with groups of 64, REFERENCE(double), and SYMMETRY of the reference (1: f(−x) = f(x),
 * −1: f(−x) = −f(x), 0: neither). Prints, for each block of 2^23 patterns, the largest error in
 * ulps and the bits of its argument.
 */
enum { BATCH = 1 << 14, BLOCK = 1 << 23 };

static float x[2][BATCH], out[2][BATCH];
static double worst;
static uint32_t at;

static void note(int side, int i, double want) {
    double e = error_of(out[side][i], want);
    if (e > worst) worst = e, at = to_bits(x[side][i]);
}

static void measure(uint32_t first) {
    for (uint32_t i = 0; i < BATCH; i++) {
        x[0][i] = from_bits(first + i);
        x[1][i] = from_bits((first + i) | 0x80000000u);
    }
    KERNEL(x[0], out[0], 0, BATCH / 64);
    KERNEL(x[1], out[1], 0, BATCH / 64);
    for (int i = 0; i < BATCH; i++) {
        double want = REFERENCE((double)x[0][i]);
        note(0, i, want);
        note(1, i, SYMMETRY == 0 ? REFERENCE((double)x[1][i]) : SYMMETRY * want);
    }
}

int main(int count, char **argument) {
    if (count != 3) return 2;
    uint64_t first = strtoull(argument[1], 0, 0), last = strtoull(argument[2], 0, 0);
    for (uint64_t block = first; block < last; block += BLOCK) {
        worst = -1;
        for (uint64_t b = block; b < block + BLOCK; b += BATCH) measure((uint32_t)b);
        printf("%.9g %u\n", worst, at);
    }
    return 0;
}
