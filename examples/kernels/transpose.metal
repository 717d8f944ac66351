// Tiles of 8×8 through threadgroup memory, padded against bank conflicts.
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device const float* m [[buffer(0)]], device float* t [[buffer(1)]],
                      constant int& rows [[buffer(2)]], constant int& columns [[buffer(3)]],
                      threadgroup float* tile [[threadgroup(0)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint2 at [[thread_position_in_threadgroup]]) {
  int r = group.y * 8 + at.y, c = group.x * 8 + at.x;
  if (r < rows && c < columns) tile[at.y * 9 + at.x] = m[r * columns + c];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int r2 = group.y * 8 + at.x, c2 = group.x * 8 + at.y;
  if (r2 < rows && c2 < columns) t[c2 * rows + r2] = tile[at.x * 9 + at.y];
}
