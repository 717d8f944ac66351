// MSL's maths, inside namespace metal. fast:: and precise:: are the same functions here. A function
// of a half rounds libm's f32 result; a device's own functions have other last bits.

#define SIMT_MATHS \
  SIMT_F(exp) SIMT_F(exp2) SIMT_F(log) SIMT_F(log2) SIMT_F(log10) SIMT_F(sqrt) SIMT_F(sin) \
  SIMT_F(cos) SIMT_F(tan) SIMT_F(asin) SIMT_F(acos) SIMT_F(atan) SIMT_F(sinh) SIMT_F(cosh) \
  SIMT_F(tanh) SIMT_F(asinh) SIMT_F(acosh) SIMT_F(atanh) SIMT_F(floor) SIMT_F(ceil) \
  SIMT_F(trunc) SIMT_F(rint) SIMT_F(round) SIMT_F(fabs)
#define SIMT_F(name) \
  static inline float name(float x) { return ::name##f(x); } \
  static inline half name(half x) { return ::name##f((float)x); } \
  static inline bfloat name(bfloat x) { return ::name##f((float)x); } \
  template <int N> \
  static inline simt_vec<float, N> name(simt_vec<float, N> v) { \
    for (int i = 0; i < N; ++i) v[i] = name(v[i]); \
    return v; \
  }
SIMT_MATHS
#undef SIMT_F
static inline float exp10(float x) { return powf(10.0f, x); }
static inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
static inline float pow(float x, float y) { return powf(x, y); }
static inline float powr(float x, float y) { return powf(x, y); }
static inline float fmod(float x, float y) { return fmodf(x, y); }
static inline float atan2(float y, float x) { return atan2f(y, x); }
static inline float copysign(float x, float y) { return copysignf(x, y); }
static inline float fmax(float x, float y) { return fmaxf(x, y); }
static inline float fmin(float x, float y) { return fminf(x, y); }
static inline float fdim(float x, float y) { return fdimf(x, y); }
static inline float ldexp(float x, int k) { return ldexpf(x, k); }
static inline float fract(float x) { return fminf(x - floorf(x), 0x1.fffffep-1f); }
static inline float divide(float x, float y) { return x / y; }
static inline float sign(float x) {
  return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : __builtin_isnan(x) ? 0.0f : x;
}
static inline float mix(float x, float y, float a) { return x + (y - x) * a; }
static inline float saturate(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline half fma(half x, half y, half z) { return simt_small_fma(x, y, z); }
static inline bfloat fma(bfloat x, bfloat y, bfloat z) { return simt_small_fma(x, y, z); }

namespace fast {
#define SIMT_F(name) using metal::name;
SIMT_MATHS
SIMT_F(exp10) SIMT_F(rsqrt) SIMT_F(pow) SIMT_F(powr) SIMT_F(fmod) SIMT_F(atan2) SIMT_F(divide)
}  // namespace fast
namespace precise {
SIMT_MATHS
SIMT_F(exp10) SIMT_F(rsqrt) SIMT_F(pow) SIMT_F(powr) SIMT_F(fmod) SIMT_F(atan2) SIMT_F(divide)
#undef SIMT_F
}  // namespace precise
#undef SIMT_MATHS

#define SIMT_MIN_MAX(T) \
  static inline T min(T a, T b) { return b < a ? b : a; } \
  static inline T max(T a, T b) { return a < b ? b : a; } \
  static inline T clamp(T x, T low, T high) { return min(max(x, low), high); }
SIMT_MIN_MAX(short)
SIMT_MIN_MAX(ushort)
SIMT_MIN_MAX(int)
SIMT_MIN_MAX(uint)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(ulong)
#undef SIMT_MIN_MAX
#define SIMT_MIN_MAX(T) \
  static inline T min(T a, T b) { return fminf(a, b); } \
  static inline T max(T a, T b) { return fmaxf(a, b); } \
  static inline T clamp(T x, T low, T high) { return fminf(fmaxf(x, low), high); } \
  static inline T abs(T x) { return fabsf(x); } \
  static inline bool isnan(T x) { return __builtin_isnan((float)x); } \
  static inline bool isinf(T x) { return __builtin_isinf((float)x); } \
  static inline bool isfinite(T x) { return __builtin_isfinite((float)x); } \
  static inline bool signbit(T x) { return __builtin_signbit((float)x); }
SIMT_MIN_MAX(float)
SIMT_MIN_MAX(half)
SIMT_MIN_MAX(bfloat)
#undef SIMT_MIN_MAX
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long abs(long x) { return x < 0 ? -x : x; }

template <class T>
static inline T select(T otherwise, T then, bool condition) {
  return condition ? then : otherwise;
}
static inline uint popcount(uint x) { return (uint)__builtin_popcount(x); }
static inline uint clz(uint x) { return x ? (uint)__builtin_clz(x) : 32u; }
static inline uint ctz(uint x) { return x ? (uint)__builtin_ctz(x) : 32u; }
static inline uint mulhi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
static inline int mulhi(int a, int b) { return (int)((long)a * b >> 32); }
static inline uint rotate(uint x, uint by) { return x << (by & 31) | x >> (-by & 31); }
static inline uint reverse_bits(uint x) {
  uint r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
template <class T, int N>
static inline T dot(const simt_vec<T, N>& a, const simt_vec<T, N>& b) {
  T sum = a[0] * b[0];
  for (int i = 1; i < N; ++i) sum = sum + a[i] * b[i];
  return sum;
}
template <class To, class From>
static inline To simt_as_type(From from) {
  return simt_bits<To>(from);
}
