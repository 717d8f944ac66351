// CUDA's maths: the overloads and intrinsics of its headers over libm. `__expf` and its like are
// libm's functions: as exact as any device's, but not its bits.
#pragma once

#define SIMT_OVERLOAD(name) \
  static inline float name(float x) { return name##f(x); }
SIMT_OVERLOAD(exp) SIMT_OVERLOAD(exp2) SIMT_OVERLOAD(expm1) SIMT_OVERLOAD(log)
SIMT_OVERLOAD(log2) SIMT_OVERLOAD(log10) SIMT_OVERLOAD(log1p) SIMT_OVERLOAD(sqrt)
SIMT_OVERLOAD(cbrt) SIMT_OVERLOAD(sin) SIMT_OVERLOAD(cos) SIMT_OVERLOAD(tan)
SIMT_OVERLOAD(asin) SIMT_OVERLOAD(acos) SIMT_OVERLOAD(atan) SIMT_OVERLOAD(sinh)
SIMT_OVERLOAD(cosh) SIMT_OVERLOAD(tanh) SIMT_OVERLOAD(asinh) SIMT_OVERLOAD(acosh)
SIMT_OVERLOAD(atanh) SIMT_OVERLOAD(erf) SIMT_OVERLOAD(erfc) SIMT_OVERLOAD(lgamma)
SIMT_OVERLOAD(tgamma) SIMT_OVERLOAD(floor) SIMT_OVERLOAD(ceil) SIMT_OVERLOAD(trunc)
SIMT_OVERLOAD(rint) SIMT_OVERLOAD(nearbyint) SIMT_OVERLOAD(round) SIMT_OVERLOAD(fabs)
#undef SIMT_OVERLOAD
#define SIMT_OVERLOAD(name) \
  static inline float name(float x, float y) { return name##f(x, y); }
SIMT_OVERLOAD(pow) SIMT_OVERLOAD(fmod) SIMT_OVERLOAD(fmin) SIMT_OVERLOAD(fmax)
SIMT_OVERLOAD(atan2) SIMT_OVERLOAD(copysign) SIMT_OVERLOAD(hypot) SIMT_OVERLOAD(remainder)
#undef SIMT_OVERLOAD
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return llabs(x); }
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool signbit(float x) { return __builtin_signbit(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }

#define SIMT_MIN_MAX(A, B, T) \
  static inline T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; } \
  static inline T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
SIMT_MIN_MAX(int, int, int)
SIMT_MIN_MAX(unsigned, unsigned, unsigned)
SIMT_MIN_MAX(int, unsigned, unsigned)
SIMT_MIN_MAX(unsigned, int, unsigned)
SIMT_MIN_MAX(long, long, long)
SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
SIMT_MIN_MAX(long long, long long, long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef SIMT_MIN_MAX
static inline float min(float a, float b) { return fminf(a, b); }
static inline float max(float a, float b) { return fmaxf(a, b); }
static inline double min(double a, double b) { return fmin(a, b); }
static inline double max(double a, double b) { return fmax(a, b); }

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float exp10f(float x) { return powf(10.0f, x); }
static inline float sinpif(float x) { return (float)sin(3.14159265358979323846 * (double)x); }
static inline float cospif(float x) { return (float)cos(3.14159265358979323846 * (double)x); }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __powf powf
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __sincosf sincosf
#define __tanhf tanhf
#define __frsqrt_rn rsqrtf
static inline float __fdividef(float a, float b) { return a / b; }
static inline float fdividef(float a, float b) { return a / b; }
static inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// Rounding to nearest even is the host's; the other directions are not here.
#define SIMT_ROUNDED(T, p, q) \
  static inline T __##p##add_rn(T a, T b) { return a + b; } \
  static inline T __##p##sub_rn(T a, T b) { return a - b; } \
  static inline T __##p##mul_rn(T a, T b) { return a * b; } \
  static inline T __##p##div_rn(T a, T b) { return a / b; } \
  static inline T __##p##rcp_rn(T a) { return (T)1 / a; } \
  static inline T __##p##sqrt_rn(T a) { return sqrt(a); }
SIMT_ROUNDED(float, f, f)
SIMT_ROUNDED(double, d, )
#undef SIMT_ROUNDED
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static inline float __double2float_rn(double x) { return (float)x; }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __ll2float_rn(long long x) { return (float)x; }
static inline double __int2double_rn(int x) { return x; }
static inline double __ll2double_rn(long long x) { return (double)x; }

// From float to integer: saturating, NaN to 0, as the instruction does (unlike a cast here).
template <class I>
static inline I simt_saturate(double x, double low, double high, I lowest, I highest) {
  if (__builtin_isnan(x)) return 0;
  return x <= low ? lowest : x >= high ? highest : (I)x;
}
#define SIMT_TO_INTEGER(suffix, round) \
  static inline int __float2int_##suffix(float x) { \
    return simt_saturate<int>(round((double)x), -2147483648.0, 2147483647.0, -2147483647 - 1, \
                              2147483647); \
  } \
  static inline unsigned __float2uint_##suffix(float x) { \
    return simt_saturate<unsigned>(round((double)x), 0.0, 4294967295.0, 0u, 4294967295u); \
  }
SIMT_TO_INTEGER(rn, rint)
SIMT_TO_INTEGER(rz, trunc)
SIMT_TO_INTEGER(rd, floor)
SIMT_TO_INTEGER(ru, ceil)
#undef SIMT_TO_INTEGER

static inline unsigned __float_as_uint(float x) { return simt_bits<unsigned>(x); }
static inline int __float_as_int(float x) { return simt_bits<int>(x); }
static inline float __uint_as_float(unsigned x) { return simt_bits<float>(x); }
static inline float __int_as_float(int x) { return simt_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return simt_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return simt_bits<double>(x); }
static inline int __double2hiint(double x) { return (int)(simt_bits<long long>(x) >> 32); }
static inline int __double2loint(double x) { return (int)simt_bits<long long>(x); }
static inline double __hiloint2double(int high, int low) {
  return simt_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
static inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
static inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= (unsigned)(both >> (s >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return r;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (n & 31) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31));
}
static inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += (int)(signed char)(a >> 8 * i) * (int)(signed char)(b >> 8 * i);
  return c;
}

template <class T>
static inline T __ldg(const T* p) { return *p; }
template <class T>
static inline T __ldcg(const T* p) { return *p; }
template <class T>
static inline T __ldcs(const T* p) { return *p; }
template <class T>
static inline void __stcg(T* p, T v) { *p = v; }
template <class T>
static inline void __stcs(T* p, T v) { *p = v; }
