// The functions that CUDA's headers of f16 and bf16 share: included by both, for SIMT_SMALL and
// its pair. Every one rounds once; transcendental functions round libm's f32 result.

struct alignas(4) SIMT_SMALL_PAIR {
  SIMT_SMALL x, y;
};

#define SIMT_PAIRWISE(name, scalar) \
  static inline SIMT_SMALL_PAIR name(SIMT_SMALL_PAIR a, SIMT_SMALL_PAIR b) { \
    return {scalar(a.x, b.x), scalar(a.y, b.y)}; \
  }
static inline SIMT_SMALL __hadd(SIMT_SMALL a, SIMT_SMALL b) { return a + b; }
static inline SIMT_SMALL __hsub(SIMT_SMALL a, SIMT_SMALL b) { return a - b; }
static inline SIMT_SMALL __hmul(SIMT_SMALL a, SIMT_SMALL b) { return a * b; }
static inline SIMT_SMALL __hdiv(SIMT_SMALL a, SIMT_SMALL b) { return a / b; }
static inline SIMT_SMALL __hadd_rn(SIMT_SMALL a, SIMT_SMALL b) { return a + b; }
static inline SIMT_SMALL __hsub_rn(SIMT_SMALL a, SIMT_SMALL b) { return a - b; }
static inline SIMT_SMALL __hmul_rn(SIMT_SMALL a, SIMT_SMALL b) { return a * b; }
static inline SIMT_SMALL __hneg(SIMT_SMALL a) { return -a; }
static inline SIMT_SMALL __habs(SIMT_SMALL a) {
  return SIMT_SMALL::of_bits((unsigned short)(a.bits & 0x7fff));
}
static inline SIMT_SMALL __hfma(SIMT_SMALL a, SIMT_SMALL b, SIMT_SMALL c) {
  return simt_small_fma(a, b, c);
}
static inline SIMT_SMALL __hmax(SIMT_SMALL a, SIMT_SMALL b) { return fmaxf(a, b); }
static inline SIMT_SMALL __hmin(SIMT_SMALL a, SIMT_SMALL b) { return fminf(a, b); }
static inline bool __heq(SIMT_SMALL a, SIMT_SMALL b) { return a == b; }
static inline bool __hne(SIMT_SMALL a, SIMT_SMALL b) { return a != b; }
static inline bool __hlt(SIMT_SMALL a, SIMT_SMALL b) { return a < b; }
static inline bool __hle(SIMT_SMALL a, SIMT_SMALL b) { return a <= b; }
static inline bool __hgt(SIMT_SMALL a, SIMT_SMALL b) { return a > b; }
static inline bool __hge(SIMT_SMALL a, SIMT_SMALL b) { return a >= b; }
static inline bool __hisnan(SIMT_SMALL a) { return __builtin_isnan((float)a); }
static inline bool __hisinf(SIMT_SMALL a) { return __builtin_isinf((float)a); }
static inline SIMT_SMALL hsqrt(SIMT_SMALL a) { return sqrtf(a); }
static inline SIMT_SMALL hrsqrt(SIMT_SMALL a) { return rsqrtf(a); }
static inline SIMT_SMALL hexp(SIMT_SMALL a) { return expf(a); }
static inline SIMT_SMALL hexp2(SIMT_SMALL a) { return exp2f(a); }
static inline SIMT_SMALL hlog(SIMT_SMALL a) { return logf(a); }
static inline SIMT_SMALL hlog2(SIMT_SMALL a) { return log2f(a); }
static inline SIMT_SMALL hsin(SIMT_SMALL a) { return sinf(a); }
static inline SIMT_SMALL hcos(SIMT_SMALL a) { return cosf(a); }
static inline SIMT_SMALL htanh(SIMT_SMALL a) { return tanhf(a); }
static inline SIMT_SMALL hfloor(SIMT_SMALL a) { return floorf(a); }
static inline SIMT_SMALL hceil(SIMT_SMALL a) { return ceilf(a); }
static inline SIMT_SMALL htrunc(SIMT_SMALL a) { return truncf(a); }
static inline SIMT_SMALL hrint(SIMT_SMALL a) { return rintf(a); }
static inline SIMT_SMALL hrcp(SIMT_SMALL a) { return 1.0f / (float)a; }
SIMT_PAIRWISE(__hadd2, __hadd)
SIMT_PAIRWISE(__hsub2, __hsub)
SIMT_PAIRWISE(__hmul2, __hmul)
SIMT_PAIRWISE(__h2div, __hdiv)
SIMT_PAIRWISE(__hmax2, __hmax)
SIMT_PAIRWISE(__hmin2, __hmin)
SIMT_PAIRWISE(operator+, __hadd)
SIMT_PAIRWISE(operator-, __hsub)
SIMT_PAIRWISE(operator*, __hmul)
SIMT_PAIRWISE(operator/, __hdiv)
static inline SIMT_SMALL_PAIR __hfma2(SIMT_SMALL_PAIR a, SIMT_SMALL_PAIR b, SIMT_SMALL_PAIR c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
static inline SIMT_SMALL_PAIR __hneg2(SIMT_SMALL_PAIR a) { return {-a.x, -a.y}; }
#undef SIMT_PAIRWISE
#undef SIMT_SMALL
#undef SIMT_SMALL_PAIR
