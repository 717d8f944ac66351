// __half and __half2 with the conversions and functions of CUDA's header.
#pragma once
#include "simt_small_floats.h"

typedef simt_f16 __half;
typedef simt_f16 half;
#define SIMT_SMALL __half
#define SIMT_SMALL_PAIR __half2
#include "cuda_small_functions.h"
typedef __half2 half2;

static inline float __half2float(__half h) { return h; }
static inline __half __float2half(float x) { return x; }
static inline __half __float2half_rn(float x) { return x; }
static inline __half __double2half(double x) { return x; }
static inline __half __int2half_rn(int x) { return x; }
static inline __half __ushort2half_rn(unsigned short x) { return x; }
static inline int __half2int_rz(__half h) { return __float2int_rz(h); }
static inline int __half2int_rn(__half h) { return __float2int_rn(h); }
static inline unsigned short __half_as_ushort(__half h) { return h.bits; }
static inline short __half_as_short(__half h) { return (short)h.bits; }
static inline __half __ushort_as_half(unsigned short b) { return __half::of_bits(b); }
static inline __half __short_as_half(short b) { return __half::of_bits((unsigned short)b); }
static inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
static inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
static inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
static inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
static inline __half2 __half2half2(__half h) { return {h, h}; }
static inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
static inline __half2 make_half2(__half x, __half y) { return {x, y}; }
static inline __half __low2half(__half2 v) { return v.x; }
static inline __half __high2half(__half2 v) { return v.y; }
static inline float __low2float(__half2 v) { return v.x; }
static inline float __high2float(__half2 v) { return v.y; }
