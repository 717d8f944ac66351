// CUDA C++ on the host: what a kernel text may use without including anything.
#pragma once
#include "../runtime/interface.h"
#include "simt_limits.h"
#include "simt_maths.h"

#define __SIMT_HOST__ 1
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
// Legal inside functions, where it implies static, and at program scope; the thread-local segment
// of a library is therefore its shared memory. `prepare.py` redirects `extern __shared__`.
// Constant initialisation keeps arrays of a class, __half for one, free of hidden guards.
#define __shared__ __constinit thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define SIMT_LINE int line = __builtin_LINE()

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
extern "C" int printf(const char*, ...);
#define assert(condition) ((condition) ? (void)0 : simt_fail(SIMT_ASSERTION, __LINE__, 0))
#define __trap() simt_fail(SIMT_ASSERTION, __LINE__, 1)
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_PI_F 3.141592654f

#include "cuda_vectors.h"
#include "cuda_maths.h"
#include "cuda_warps.h"
#include "cuda_atomics.h"

// CUDA passes no indices as parameters; the entries never ask for one.
template <class T>
static inline T simt_of_index(simt_index) {
  T none;
  memset((void*)&none, 0, sizeof none);
  return none;
}
