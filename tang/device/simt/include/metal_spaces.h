// MSL's surface as declarations with real address spaces, for `clang++ -fsyntax-only` alone.
#pragma once
#include "simt_limits.h"

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
struct bfloat {
  ushort bits;
  bfloat() = default;
  bfloat(float);
  operator float() const;
};
#define __SIMT_HOST__ 1
#define __METAL_VERSION__ 310
#define device __attribute__((address_space(1)))
#define constant const __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))
#define thread
#define kernel
#define M_PI_F 3.14159265358979323846f
#define MAXFLOAT FLT_MAX

#define SIMT_VECTORS(T) \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4))); \
  typedef T packed_##T##2 __attribute__((ext_vector_type(2), aligned(sizeof(T)))); \
  typedef T packed_##T##4 __attribute__((ext_vector_type(4), aligned(sizeof(T))));
SIMT_VECTORS(float)
SIMT_VECTORS(half)
SIMT_VECTORS(char)
SIMT_VECTORS(uchar)
SIMT_VECTORS(short)
SIMT_VECTORS(ushort)
SIMT_VECTORS(int)
SIMT_VECTORS(uint)
SIMT_VECTORS(long)
SIMT_VECTORS(ulong)

namespace metal {
enum class mem_flags : unsigned { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
mem_flags operator|(mem_flags, mem_flags);
void threadgroup_barrier(mem_flags);
void simdgroup_barrier(mem_flags);
template <class T> T simd_sum(T);
template <class T> T simd_product(T);
template <class T> T simd_max(T);
template <class T> T simd_min(T);
template <class T> T simd_and(T);
template <class T> T simd_or(T);
template <class T> T simd_xor(T);
template <class T> T simd_broadcast_first(T);
template <class T> T simd_prefix_inclusive_sum(T);
template <class T> T simd_prefix_exclusive_sum(T);
template <class T> T simd_shuffle(T, ushort);
template <class T> T simd_shuffle_xor(T, ushort);
template <class T> T simd_shuffle_up(T, ushort);
template <class T> T simd_shuffle_down(T, ushort);
template <class T> T simd_broadcast(T, ushort);
bool simd_any(bool);
bool simd_all(bool);

#define SIMT_ONE(name) \
  template <class T> T name(T);
#define SIMT_TWO(name) \
  float name(float, float); \
  half name(half, half); \
  int name(int, int); \
  uint name(uint, uint); \
  long name(long, long); \
  ulong name(ulong, ulong);
#define SIMT_MATHS \
  SIMT_ONE(exp) SIMT_ONE(exp2) SIMT_ONE(log) SIMT_ONE(log2) SIMT_ONE(log10) SIMT_ONE(sqrt) \
  SIMT_ONE(rsqrt) SIMT_ONE(sin) SIMT_ONE(cos) SIMT_ONE(tan) SIMT_ONE(asin) SIMT_ONE(acos) \
  SIMT_ONE(atan) SIMT_ONE(sinh) SIMT_ONE(cosh) SIMT_ONE(tanh) SIMT_ONE(floor) SIMT_ONE(ceil) \
  SIMT_ONE(trunc) SIMT_ONE(rint) SIMT_ONE(round) SIMT_ONE(fabs) \
  SIMT_TWO(pow) SIMT_TWO(fmod) SIMT_TWO(atan2) SIMT_TWO(divide)
SIMT_MATHS
SIMT_ONE(abs) SIMT_ONE(sign) SIMT_ONE(saturate) SIMT_ONE(fract) SIMT_ONE(popcount)
SIMT_ONE(clz) SIMT_ONE(ctz) SIMT_ONE(reverse_bits)
SIMT_TWO(min) SIMT_TWO(max) SIMT_TWO(fmin) SIMT_TWO(fmax) SIMT_TWO(copysign) SIMT_TWO(mulhi)
namespace fast {
SIMT_MATHS
}
namespace precise {
SIMT_MATHS
}
bool isnan(float);
bool isinf(float);
bool isfinite(float);
bool signbit(float);
float fma(float, float, float);
half fma(half, half, half);
float ldexp(float, int);
template <class T> T clamp(T, T, T);
template <class T> T mix(T, T, T);
template <class T> T select(T, T, bool);
template <class To, class From> To simt_as_type(From);

template <class T, int Rows, int Columns>
struct simdgroup_matrix {
  simdgroup_matrix();
  explicit simdgroup_matrix(T);
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <class T, int R, int C> simdgroup_matrix<T, R, C> make_filled_simdgroup_matrix(T);
template <class D, class A, class B, class C>
void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>&, const simdgroup_matrix<A, 8, 8>&,
                                   const simdgroup_matrix<B, 8, 8>&,
                                   const simdgroup_matrix<C, 8, 8>&);
template <class D, class A, class B>
void simdgroup_multiply(simdgroup_matrix<D, 8, 8>&, const simdgroup_matrix<A, 8, 8>&,
                        const simdgroup_matrix<B, 8, 8>&);

enum memory_order { memory_order_relaxed };
template <class T> struct atomic { T value; };
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<float> atomic_float;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
template <class T> struct simt_same { typedef T type; };
#define SIMT_ATOMIC(space, name) \
  template <class T> \
  T name(space atomic<T>*, typename simt_same<T>::type, memory_order);
#define SIMT_SPACE(space) \
  SIMT_ATOMIC(space, atomic_exchange_explicit) SIMT_ATOMIC(space, atomic_store_explicit) \
  SIMT_ATOMIC(space, atomic_fetch_add_explicit) SIMT_ATOMIC(space, atomic_fetch_sub_explicit) \
  SIMT_ATOMIC(space, atomic_fetch_max_explicit) SIMT_ATOMIC(space, atomic_fetch_min_explicit) \
  SIMT_ATOMIC(space, atomic_fetch_and_explicit) SIMT_ATOMIC(space, atomic_fetch_or_explicit) \
  SIMT_ATOMIC(space, atomic_fetch_xor_explicit) \
  template <class T> T atomic_load_explicit(const space atomic<T>*, memory_order); \
  template <class T> \
  bool atomic_compare_exchange_weak_explicit(space atomic<T>*, T*, typename simt_same<T>::type, \
                                             memory_order, memory_order); \
  template <class T> \
  void simdgroup_load(simdgroup_matrix<T, 8, 8>&, const space T*, ulong = 8); \
  template <class T> \
  void simdgroup_store(const simdgroup_matrix<T, 8, 8>&, space T*, ulong = 8);
SIMT_SPACE(device)
SIMT_SPACE(threadgroup)
}  // namespace metal
#define as_type metal::simt_as_type
