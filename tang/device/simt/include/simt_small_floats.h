// 16-bit floats with one rounding to nearest even per operation, by bits alone, so that every
// compiler and processor agrees. Sums, products, quotients and roots go through f32, which has
// enough digits (24 ≥ 2·11 + 2) for the second rounding to be harmless; fma goes through a double
// rounded to odd.
#pragma once
#include "simt_maths.h"

// The nearest value with `E` exponent and `M` fraction bits, ties to even, of a double.
template <int E, int M>
static inline unsigned short simt_narrow(double value) {
  typedef unsigned long long u64;
  const int bias = (1 << (E - 1)) - 1;
  const unsigned infinity = ((1u << E) - 1) << M;
  u64 bits = simt_bits<u64>(value);
  unsigned sign = (unsigned)(bits >> 63) << (E + M);
  u64 magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull) return (unsigned short)(sign | infinity | 1u << (M - 1));
  int exponent = (int)(magnitude >> 52) - 1023;
  if (exponent > bias) return (unsigned short)(sign | infinity);
  u64 fraction = magnitude & 0xfffffffffffffull;
  int shift = 52 - M;
  u64 kept = (u64)(exponent + bias) << 52 | fraction;
  if (exponent < 1 - bias) {  // subnormal: the leading one becomes part of the fraction
    int extra = 1 - bias - exponent;
    if (extra > M + 1) return (unsigned short)sign;
    shift += extra;
    kept = 1ull << 52 | fraction;
  }
  u64 rest = kept & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  unsigned rounded = (unsigned)(kept >> shift);
  rounded += rest > half || (rest == half && (rounded & 1));  // may carry into the exponent
  return (unsigned short)(sign | rounded);
}

// The exact value. One of 16 bits is a float; the product with 2^(127 − bias) is exact, and
// carries subnormals too.
template <int E, int M>
static inline float simt_widen(unsigned short small) {
  unsigned magnitude = small & ((1u << (E + M)) - 1), sign = (unsigned)(small >> (E + M)) << 31;
  unsigned infinity = ((1u << E) - 1) << M;
  if (magnitude >= infinity)
    return simt_bits<float>(sign | 0x7f800000u | (magnitude > infinity ? 0x400000u : 0u));
  const unsigned scale = 127u + 127u - ((1u << (E - 1)) - 1);
  float value = simt_bits<float>(magnitude << (23 - M));
  if (E != 8) value *= simt_bits<float>(scale << 23);
  return simt_bits<float>(simt_bits<unsigned>(value) | sign);
}

// x·y + z with the error of the sum folded into the last bit, so that narrowing rounds once. The
// product of two 16-bit floats is exact in a double.
static inline double simt_fma_to_odd(float x, float y, float z) {
  double product = (double)x * (double)y, term = z, sum = product + term;
  double back = sum - product;
  double error = (product - (sum - back)) + (term - back);
  unsigned long long bits = simt_bits<unsigned long long>(sum);
  bool finite = (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
  if (!finite || error == 0 || (bits & 1)) return sum;
  return simt_bits<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <int E, int M>
struct simt_small {
  unsigned short bits;
  simt_small() = default;
  simt_small(float v) : bits(simt_narrow<E, M>(v)) {}
  simt_small(double v) : bits(simt_narrow<E, M>(v)) {}
  simt_small(int v) : bits(simt_narrow<E, M>(v)) {}
  simt_small(unsigned v) : bits(simt_narrow<E, M>(v)) {}
  simt_small(long v) : bits(simt_narrow<E, M>((double)v)) {}
  simt_small(unsigned long v) : bits(simt_narrow<E, M>((double)v)) {}
  simt_small(long long v) : bits(simt_narrow<E, M>((double)v)) {}
  simt_small(unsigned long long v) : bits(simt_narrow<E, M>((double)v)) {}
  simt_small(short v) : bits(simt_narrow<E, M>(v)) {}
  simt_small(unsigned short v) : bits(simt_narrow<E, M>(v)) {}
  simt_small(bool v) : bits(simt_narrow<E, M>(v)) {}
  operator float() const { return simt_widen<E, M>(bits); }
  static simt_small of_bits(unsigned short b) {
    simt_small s;
    s.bits = b;
    return s;
  }
};

#define SIMT_SMALL_OPERATOR(op) \
  template <int E, int M> \
  static inline simt_small<E, M> operator op(simt_small<E, M> a, simt_small<E, M> b) { \
    return simt_small<E, M>((float)a op (float)b); \
  } \
  template <int E, int M> \
  static inline simt_small<E, M>& operator op##=(simt_small<E, M>& a, simt_small<E, M> b) { \
    return a = a op b; \
  }
SIMT_SMALL_OPERATOR(+)
SIMT_SMALL_OPERATOR(-)
SIMT_SMALL_OPERATOR(*)
SIMT_SMALL_OPERATOR(/)
#undef SIMT_SMALL_OPERATOR
#define SIMT_SMALL_COMPARISON(op) \
  template <int E, int M> \
  static inline bool operator op(simt_small<E, M> a, simt_small<E, M> b) { \
    return (float)a op (float)b; \
  }
SIMT_SMALL_COMPARISON(<)
SIMT_SMALL_COMPARISON(<=)
SIMT_SMALL_COMPARISON(>)
SIMT_SMALL_COMPARISON(>=)
SIMT_SMALL_COMPARISON(==)
SIMT_SMALL_COMPARISON(!=)
#undef SIMT_SMALL_COMPARISON

template <int E, int M>
static inline simt_small<E, M> operator-(simt_small<E, M> a) {
  return simt_small<E, M>::of_bits((unsigned short)(a.bits ^ 0x8000u));
}

template <int E, int M>
static inline simt_small<E, M> simt_small_fma(simt_small<E, M> a, simt_small<E, M> b,
                                              simt_small<E, M> c) {
  return simt_small<E, M>(simt_fma_to_odd(a, b, c));
}

typedef simt_small<5, 10> simt_f16;
typedef simt_small<8, 7> simt_bf16;
