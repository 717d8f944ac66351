// Vector types with CUDA's sizes and alignments, and the built-in variables.
#pragma once

#define SIMT_VECTORS(T, name, align2, align4) \
  struct name##1 { T x; }; \
  struct alignas(align2) name##2 { T x, y; }; \
  struct name##3 { T x, y, z; }; \
  struct alignas(align4) name##4 { T x, y, z, w; }; \
  static inline name##1 make_##name##1(T x) { return {x}; } \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIMT_VECTORS(signed char, char, 2, 4)
SIMT_VECTORS(unsigned char, uchar, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(unsigned short, ushort, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(unsigned int, uint, 8, 16)
SIMT_VECTORS(long, long, 16, 16)
SIMT_VECTORS(unsigned long, ulong, 16, 16)
SIMT_VECTORS(long long, longlong, 16, 16)
SIMT_VECTORS(unsigned long long, ulonglong, 16, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(double, double, 16, 16)
#undef SIMT_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  operator uint3() const { return {x, y, z}; }
};

// By value from hidden functions: the checks would otherwise follow every use of an index.
SIMT_HIDDEN_FROM_CHECKS static inline uint3 simt_thread_index() {
  return {simt_now->index.x, simt_now->index.y, simt_now->index.z};
}
SIMT_HIDDEN_FROM_CHECKS static inline uint3 simt_block_index() {
  return {simt_here.block.x, simt_here.block.y, simt_here.block.z};
}
SIMT_HIDDEN_FROM_CHECKS static inline dim3 simt_block_size() {
  return {simt_here.block_size.x, simt_here.block_size.y, simt_here.block_size.z};
}
SIMT_HIDDEN_FROM_CHECKS static inline dim3 simt_grid_size() {
  return {simt_here.grid_size.x, simt_here.grid_size.y, simt_here.grid_size.z};
}
SIMT_HIDDEN_FROM_CHECKS static inline int simt_lane() { return (int)simt_now->lane; }
#define threadIdx (simt_thread_index())
#define blockIdx (simt_block_index())
#define blockDim (simt_block_size())
#define gridDim (simt_grid_size())
static constexpr int warpSize = 32;
