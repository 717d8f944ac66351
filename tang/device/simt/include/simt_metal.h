// The Metal Shading Language on the host. The language's headers are always in reach; those that a
// text includes are dropped by `prepare.py`, which also turns threadgroup arrays into shared ones.
#pragma once
#include "../runtime/interface.h"
#include "simt_limits.h"
#define SIMT_FLOATS_ONLY
#include "simt_maths.h"
#include "simt_small_floats.h"

#define __SIMT_HOST__ 1
#define __METAL_VERSION__ 310
#define device
#define constant const
#define threadgroup
#define thread
#define kernel
#define SIMT_SHARED __constinit thread_local
#define SIMT_LINE int line = __builtin_LINE()

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef simt_f16 half;
typedef simt_bf16 bfloat;

#include "metal_vectors.h"

namespace metal {
#include "metal_maths.h"
#include "metal_groups.h"
#include "metal_atomics.h"
}  // namespace metal
#include "metal_matrix.h"

#define as_type metal::simt_as_type
#define MAXFLOAT FLT_MAX
#define HUGE_VALF INFINITY
#define M_PI_F 3.14159265358979323846f

template <class T>
struct simt_index_as {
  static T of(simt_index i) { return (T)i.x; }
};
template <class T>
struct simt_index_as<simt_vec<T, 2>> {
  static simt_vec<T, 2> of(simt_index i) { return {(T)i.x, (T)i.y}; }
};
template <class T>
struct simt_index_as<simt_vec<T, 3>> {
  static simt_vec<T, 3> of(simt_index i) { return {(T)i.x, (T)i.y, (T)i.z}; }
};
template <class T>
static inline T simt_of_index(simt_index i) {
  return simt_index_as<T>::of(i);
}
