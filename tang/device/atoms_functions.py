"""CUDA text that looks at every f32 argument of a builtin, and at samples of exact operations.

Defines `functions_text` with the tables `FUNCTIONS`, `PAIRS` and `OPERATIONS`. Relies on double
arithmetic of the same GPU for the truth: its functions are good to 2 ulps of f64, 2⁻²⁸ of an ulp of
f32. It judges nothing: `emulator/fda_selftest.py` does.

An ulp is that of docs/maths.md, 2^(max(⌊log₂|y|⌋, −126) − 23) at the true value y; an infinity that
stands for a finite value counts as 2¹²⁸. Each thread keeps its own maxima, so that nothing is
atomic and the text also runs without a GPU.

An operation is exact in double, or, for sums, products, quotients and roots, rounded twice without
harm since 53 ≥ 2·24 + 2 (Figueroa, 1995); the sum of an fma is rounded to odd first (Boldo and
Melquiond, 2008).
"""

from __future__ import annotations

from typing import Final

THREADS: Final = 256
"""Of a workgroup."""

FUNCTIONS: Final[dict[str, tuple[str, str]]] = {
    "exp2": ("exp2f(x)", "exp2(v)"),
    "exp": ("expf(x)", "exp(v)"),
    "log2": ("log2f(x)", "log2(v)"),
    "log": ("logf(x)", "log(v)"),
    "sin": ("sinf(x)", "sin(v)"),
    "cos": ("cosf(x)", "cos(v)"),
    "tanh": ("tanhf(x)", "tanh(v)"),
    "erf": ("erff(x)", "erf(v)"),
    "rsqrt": ("rsqrtf(x)", "1.0 / sqrt(v)"),
}
"""Function → its text as emitted, and its value in double."""

PAIRS: Final[dict[str, tuple[str, str]]] = {"atan2": ("atan2f(x, y)", "atan2(v, w)")}
"""Of two arguments, which are sampled."""

OPERATIONS: Final[dict[str, tuple[str, str]]] = {
    "add": ("x + y", "(float)(v + w)"),
    "sub": ("x - y", "(float)(v - w)"),
    "mul": ("__fmul_rn(x, y)", "(float)(v * w)"),
    "div": ("__fdiv_rn(x, y)", "(float)(v / w)"),
    "sqrt": ("__fsqrt_rn(x)", "(float)sqrt(v)"),
    "fma": ("fmaf(x, y, z)", "(float)odd_sum(v * w, z)"),
    "floor": ("floorf(x)", "(float)floor(v)"),
    "mul, add": ("__fmul_rn(x, y) + z", "(float)((double)(float)(v * w) + z)"),
}
"""Row of a profile, or operations in turn → its text as emitted, and the right result."""

_HEAD: Final = """\
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#if defined __SIMT_HOST__ && !defined __fmul_rn
#define __fmul_rn(a, b) ((a) * (b))
#define __fdiv_rn(a, b) ((a) / (b))
#define __fsqrt_rn(a) sqrtf(a)
#define rsqrtf(a) (float)(1.0 / sqrt((double)(a)))
#endif

static __device__ inline u64 bits(double x) { return (u64)__double_as_longlong(x); }
static __device__ inline double power(int n) {
    return __longlong_as_double((i64)(n + 1023) << 52);
}
static __device__ inline u32 mixed(u64 z) {
    z = (z + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return (u32)((z ^ (z >> 31)) >> 16);
}
/* The sum, rounded to odd: its last bit is set where it is not exact. */
static __device__ inline double odd_sum(double a, double b) {
    double s = a + b, t = s - a, e = (a - (s - t)) + (b - t);
    if (!(fabs(s) <= 1.7976931348623157e308) || e == 0.0) return s;
    u64 u = bits(s);
    if (u & 1) return s;
    return __longlong_as_double((i64)((e > 0.0) == (s > 0.0) ? u + 1 : u - 1));
}
/* Operands of sample i: any bits; exponents that are near each other; small ones; products and
   sums about the least normal number. */
static __device__ inline void operands(u64 i, u32 *a, u32 *b, u32 *c) {
    const u32 e = mixed(4 * i + 3);
    u32 x = mixed(4 * i), y = mixed(4 * i + 1), z = mixed(4 * i + 2);
    const u32 keep = 0x807FFFFFu;
    if (i % 4 == 1) {
        const u32 p = 40 + e % 160;
        x = (x & keep) | p << 23;
        y = (y & keep) | (p - 26 + (e >> 8) % 53) << 23;
        z = (z & keep) | (2 * p - 127 - 26 + (e >> 16) % 53 & 255) << 23;
    } else if (i % 4 == 2) {
        x = (x & keep) | (e % 4) << 23;
        y = (y & keep) | (e >> 8) % 28 << 23;
        z = (z & keep) | (e >> 16) % 4 << 23;
    } else if (i % 4 == 3) {
        const u32 p = 1 + e % 120;
        x = (x & keep) | p << 23;
        y = (y & keep) | (100 + (e >> 8) % 30 - p & 255) << 23;
        z = (z & keep) | (e >> 16) % 30 << 23;
    }
    *a = x;
    *b = y;
    *c = z;
}
/* 0: the error in ulps of two finite numbers or infinities; 1: results of different kinds. */
static __device__ inline int error(double truth, float got, double *ulps) {
    const double top = power(128), inf = top * power(1000);
    if (isnan(truth) || isnan(got)) {
        *ulps = 0.0;
        return isnan(truth) != isnan(got);
    }
    if (fabs(truth) == inf) {
        *ulps = 0.0;
        return (double)got != truth;
    }
    double g = (double)got, size = fabs(truth);
    if (fabs(g) == inf) g = g > 0.0 ? top : -top;
    if (size > top) size = top, truth = truth > 0.0 ? top : -top;
    int e = (int)(bits(size) >> 52) - 1023;
    e = e < -126 ? -126 : e > 127 ? 127 : e;
    *ulps = fabs(g - truth) * power(23 - e);
    return 0;
}
static __device__ inline int small(double x) { return x != 0.0 && fabs(x) < power(-126); }
"""

_SCAN: Final = """
extern "C" __global__ void scan_%(name)s(
    u32 *at, double *worst, i64 *wrong, i64 first, i64 count) {
    const i64 id = (i64)blockIdx.x * %(threads)d + threadIdx.x;
    const i64 step = (i64)gridDim.x * %(threads)d;
    double most = 0.0, little = 0.0;
    u32 at_most[2] = {0, 0}, at_little[2] = {0, 0}, at_wrong[2] = {0, 0};
    i64 bad = 0;
    for (i64 i = first + id; i < first + count; i += step) {
        u32 word[2] = {(u32)i, 0};
        %(more)s
        const float x = __uint_as_float(word[0]), y = __uint_as_float(word[1]);
        const double v = (double)x, w = (double)y;
        const float got = %(call)s;
        const double truth = %(truth)s;
        double ulps;
        if (error(truth, got, &ulps)) {
            if (bad++ == 0) at_wrong[0] = word[0], at_wrong[1] = word[1];
        } else if (small(v) || small(w) || fabs(truth) < power(-126)) {
            if (ulps > little) little = ulps, at_little[0] = word[0], at_little[1] = word[1];
        } else if (ulps > most) {
            most = ulps, at_most[0] = word[0], at_most[1] = word[1];
        }
    }
    worst[2 * id] = most;
    worst[2 * id + 1] = little;
    wrong[id] = bad;
    for (int k = 0; k < 2; k++) {
        at[6 * id + k] = at_most[k];
        at[6 * id + 2 + k] = at_little[k];
        at[6 * id + 4 + k] = at_wrong[k];
    }
}
"""

_PAIR: Final = """u32 unused;
        operands((u64)i, word, word + 1, &unused);"""

_OPERATION: Final = """
extern "C" __global__ void check_%(name)s(
    u32 *at, i64 *wrong, i64 first, i64 count) {
    const i64 id = (i64)blockIdx.x * %(threads)d + threadIdx.x;
    const i64 step = (i64)gridDim.x * %(threads)d;
    i64 bad = 0;
    u32 example[5] = {0, 0, 0, 0, 0};
    for (i64 i = first + id; i < first + count; i += step) {
        u32 a, b, c;
        operands((u64)i, &a, &b, &c);
        const float x = __uint_as_float(a), y = __uint_as_float(b), third = __uint_as_float(c);
        const double v = (double)x, w = (double)y;
        float z = third, got = %(call)s;
        float right;
        {
            const double z = (double)third;
            right = %(truth)s;
        }
        const u32 r = __float_as_uint(right), g = __float_as_uint(got);
        if (r != g && !(isnan(right) && isnan(got))) {
            if (bad++ == 0) example[0] = a, example[1] = b, example[2] = c, example[3] = g,
                example[4] = r;
        }
    }
    wrong[id] = bad;
    for (int k = 0; k < 5; k++) at[5 * id + k] = example[k];
}
"""


def functions_text() -> str:
    """A kernel `scan_NAME` per function and `check_NAME` per operation; see `scan_symbol`."""
    parts = [_HEAD]
    for table, more in ((FUNCTIONS, ""), (PAIRS, _PAIR)):
        for name, (call, truth) in table.items():
            row = {"name": name, "call": call, "truth": truth, "more": more, "threads": THREADS}
            parts.append(_SCAN % row)
    for name, (call, truth) in OPERATIONS.items():
        row = {"name": _word(name), "call": call, "truth": truth, "threads": THREADS}
        parts.append(_OPERATION % row)
    return "".join(parts)


def scan_symbol(function: str) -> str:
    """The kernel that measures a function: at (6 a thread), worst (2), wrong (1), first, count."""
    return f"scan_{function}"


def check_symbol(operation: str) -> str:
    """The kernel that checks an operation: at (5 a thread), wrong (1), first, count."""
    return f"check_{_word(operation)}"


def _word(name: str) -> str:
    return name.replace(", ", "_")
