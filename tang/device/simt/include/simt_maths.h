// libm as kernel text may call it. Basic operations, fma and sqrt are correctly rounded; the rest
// is as good as the host's library, which is not a device's: comparisons need a tolerance.
#pragma once

// MSL has no doubles, and its own functions of these names in a namespace of its own.
#ifdef SIMT_FLOATS_ONLY
#define SIMT_DOUBLES(declaration)
#else
#define SIMT_DOUBLES(declaration) declaration
#endif

extern "C" {
#define SIMT_UNARY(name) \
  float name##f(float) noexcept; \
  SIMT_DOUBLES(double name(double) noexcept;)
SIMT_UNARY(exp) SIMT_UNARY(exp2) SIMT_UNARY(expm1) SIMT_UNARY(log) SIMT_UNARY(log2)
SIMT_UNARY(log10) SIMT_UNARY(log1p) SIMT_UNARY(sqrt) SIMT_UNARY(cbrt) SIMT_UNARY(sin)
SIMT_UNARY(cos) SIMT_UNARY(tan) SIMT_UNARY(asin) SIMT_UNARY(acos) SIMT_UNARY(atan)
SIMT_UNARY(sinh) SIMT_UNARY(cosh) SIMT_UNARY(tanh) SIMT_UNARY(asinh) SIMT_UNARY(acosh)
SIMT_UNARY(atanh) SIMT_UNARY(erf) SIMT_UNARY(erfc) SIMT_UNARY(lgamma) SIMT_UNARY(tgamma)
SIMT_UNARY(floor) SIMT_UNARY(ceil) SIMT_UNARY(trunc) SIMT_UNARY(rint) SIMT_UNARY(nearbyint)
SIMT_UNARY(round) SIMT_UNARY(fabs) SIMT_UNARY(logb)
#undef SIMT_UNARY
#define SIMT_BINARY(name) \
  float name##f(float, float) noexcept; \
  SIMT_DOUBLES(double name(double, double) noexcept;)
SIMT_BINARY(pow) SIMT_BINARY(fmod) SIMT_BINARY(remainder) SIMT_BINARY(fmin) SIMT_BINARY(fmax)
SIMT_BINARY(fdim) SIMT_BINARY(atan2) SIMT_BINARY(copysign) SIMT_BINARY(hypot)
SIMT_BINARY(nextafter)
#undef SIMT_BINARY
float fmaf(float, float, float) noexcept;
float ldexpf(float, int) noexcept;
float frexpf(float, int*) noexcept;
float modff(float, float*) noexcept;
#ifndef SIMT_FLOATS_ONLY
double fma(double, double, double) noexcept;
double ldexp(double, int) noexcept;
double frexp(double, int*) noexcept;
double modf(double, double*) noexcept;
void sincosf(float, float*, float*) noexcept;
void sincos(double, double*, double*) noexcept;
int abs(int) noexcept;
long long llabs(long long) noexcept;
#endif
}
#undef SIMT_DOUBLES

template <class To, class From>
static inline To simt_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
