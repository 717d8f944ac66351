// One element of a matrix product as tensor cores compute it: the algorithm of emulator/fda.py,
// with the numbers of tang/ir/tensorcore.py, which `matrices.py` passes in SIMT_FUSED_DOTS.
// Products of narrow formats are exact in a double, sums of truncated multiples in 64 bits.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {
namespace precision {
struct tf32;
}
}  // namespace wmma
}  // namespace nvcuda

// `terms` products and an addend are cut to multiples of 2^(E - fraction) and added at once, where
// E is the largest exponent of them and of `floor`.
template <class Operand, class Result>
struct simt_fused;
#define SIMT_FUSED_DOT(operand, result, Terms, Fraction, Floor, Emin, Least, Truncated, NaN) \
  template <> \
  struct simt_fused<operand, result> { \
    enum : int { terms = Terms, fraction = Fraction, floor = Floor, emin = Emin, least = Least }; \
    enum : unsigned { truncated = Truncated, nan = NaN }; \
  };
SIMT_FUSED_DOTS(SIMT_FUSED_DOT)
#undef SIMT_FUSED_DOT

static inline double simt_power_of_two(int n) {
  return simt_bits<double>((unsigned long long)(n + 1023) << 52);
}

// Of a factor, no less than its format's least; a zero takes no part in any maximum.
static inline int simt_exponent(double v, int least) {
  if (v == 0) return -10000;
  int e = (int)(simt_bits<unsigned long long>(v) >> 52 & 0x7ff) - 1023;
  return e < least ? least : e;
}

struct simt_factor {
  double value;
  int exponent;
  template <class Model>
  static simt_factor of(float v) {
    if (Model::truncated) v = simt_bits<float>(simt_bits<unsigned>(v) & 0xffffe000u);
    return {v, simt_exponent(v, Model::emin)};
  }
};

// Rounded once; a zero is +0.
static inline double simt_rounded(double v, __half*) { return (float)__half(v) + 0.0; }
static inline double simt_rounded(double v, float*) {  // towards zero, but for what overflows
  float near = (float)v;
  double size = __builtin_fabs(v);
  bool beyond = __builtin_fabs((double)near) > size && size < 0x1p128;
  return simt_bits<float>(simt_bits<unsigned>(near) - beyond) + 0.0;
}

template <class Operand, class Result>
SIMT_HIDDEN_FROM_CHECKS static double simt_fused_group(const simt_factor* a, const simt_factor* b,
                                                       double c) {
  typedef simt_fused<Operand, Result> model;
  double product[model::terms];
  bool nan = c != c, plus = c == INFINITY, minus = c == -INFINITY;
  int top = simt_exponent(c, model::least);
  if (top < model::floor) top = model::floor;
  for (int i = 0; i < model::terms; ++i) {
    double p = product[i] = a[i].value * b[i].value;
    nan |= p != p, plus |= p == INFINITY, minus |= p == -INFINITY;
    if (top < a[i].exponent + b[i].exponent) top = a[i].exponent + b[i].exponent;
  }
  if (nan || (plus && minus)) return NAN;
  if (plus || minus) return plus ? INFINITY : -INFINITY;
  double scale = simt_power_of_two(model::fraction - top);
  long long total = (long long)(c * scale);
  for (double p : product) total += (long long)(p * scale);
  return simt_rounded((double)total * simt_power_of_two(top - model::fraction), (Result*)nullptr);
}

// c + Σ a·b over `k` terms: a chain of groups.
template <class Operand, class Result>
SIMT_HIDDEN_FROM_CHECKS static double simt_fused_dot(const simt_factor* a, const simt_factor* b,
                                                     double c, int k) {
  for (int i = 0; i < k; i += simt_fused<Operand, Result>::terms)
    c = simt_fused_group<Operand, Result>(a + i, b + i, c);
  return c;
}

// A result in a register; every NaN is the one of its format.
static inline float simt_register(double v, float*) {
  return v != v ? simt_bits<float>((unsigned)simt_fused<__half, float>::nan) : (float)v;
}
static inline __half simt_register(double v, __half*) {
  return v != v ? __half::of_bits((unsigned short)simt_fused<__half, __half>::nan) : __half(v);
}
