/* Measures an f32 atan2 over `count` pairs of the stream that starts at `seed`.
 *
 * Follows an emitted kernel and measure_ulps.h. Expects KERNEL(y, x, out, first group, last group)
 * with groups of 64. A quarter of the pairs each: any bits; a ratio within 2^±28; a ratio within
 * 2^±2; nearly equal magnitudes. One pair in 64 takes a special value. Prints the largest error in
 * ulps and the bits of y and x.
 */
enum { BATCH = 1 << 14 };

static float y[BATCH], x[BATCH], out[BATCH];
static uint64_t state;

static uint64_t draw(void) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static const uint32_t SPECIAL[16] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0x3f000000, 0x40000000,
};

static uint32_t partner(uint32_t a, uint64_t r) {
    uint32_t sign = (uint32_t)(r >> 63) << 31, mantissa = (uint32_t)(r >> 8) & 0x7fffff;
    int64_t exponent = a >> 23 & 0xff;
    switch (r & 3) {
    case 0: return (uint32_t)(r >> 32);
    case 1: exponent += (int64_t)(r >> 40 & 63) % 57 - 28; break;
    case 2: exponent += (int64_t)(r >> 40 & 3) - 2; break;
    default: return sign | (((a & 0x7fffffff) + (uint32_t)(r >> 40 & 255) - 128) & 0x7fffffff);
    }
    if (exponent < 0) exponent = 0;
    if (exponent > 254) exponent = 254;
    return sign | (uint32_t)exponent << 23 | mantissa;
}

static void fill(void) {
    for (int i = 0; i < BATCH; i++) {
        uint64_t r = draw();
        uint32_t a = (uint32_t)draw(), b = partner(a, r);
        if ((i & 63) == 0) a = SPECIAL[r >> 4 & 15];
        if ((i & 127) == 0) b = SPECIAL[r >> 12 & 15];
        y[i] = from_bits(i & 1 ? a : b);
        x[i] = from_bits(i & 1 ? b : a);
    }
}

int main(int argc, char **argument) {
    if (argc != 3) return 2;
    state = strtoull(argument[1], 0, 0);
    double worst = -1;
    uint32_t y_at = 0, x_at = 0;
    for (uint64_t left = strtoull(argument[2], 0, 0) / BATCH; left > 0; left--) {
        fill();
        KERNEL(y, x, out, 0, BATCH / 64);
        for (int i = 0; i < BATCH; i++) {
            double e = error_of(out[i], atan2((double)y[i], (double)x[i]));
            if (e > worst) worst = e, y_at = to_bits(y[i]), x_at = to_bits(x[i]);
        }
    }
    printf("%.9g %u %u\n", worst, y_at, x_at);
    return 0;
}
