// __nv_bfloat16 and its pair with the conversions and functions of CUDA's header.
#pragma once
#include "simt_small_floats.h"

typedef simt_bf16 __nv_bfloat16;
typedef simt_bf16 nv_bfloat16;
#define SIMT_SMALL __nv_bfloat16
#define SIMT_SMALL_PAIR __nv_bfloat162
#include "cuda_small_functions.h"
typedef __nv_bfloat162 nv_bfloat162;

static inline float __bfloat162float(__nv_bfloat16 h) { return h; }
static inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
static inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
static inline __nv_bfloat16 __double2bfloat16(double x) { return x; }
static inline __nv_bfloat16 __int2bfloat16_rn(int x) { return x; }
static inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.bits; }
static inline short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.bits; }
static inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) {
  return __nv_bfloat16::of_bits(b);
}
static inline __nv_bfloat16 __short_as_bfloat16(short b) {
  return __nv_bfloat16::of_bits((unsigned short)b);
}
static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__nv_bfloat16(x), __nv_bfloat16(y)};
}
static inline __nv_bfloat162 __float2bfloat162_rn(float x) {
  return {__nv_bfloat16(x), __nv_bfloat16(x)};
}
static inline __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)};
}
static inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
static inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) { return {h, h}; }
static inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
static inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
static inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
static inline float __low2float(__nv_bfloat162 v) { return v.x; }
static inline float __high2float(__nv_bfloat162 v) { return v.y; }
