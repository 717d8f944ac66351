// Squares of f16 numbers, summed in f32.
#include <cuda_fp16.h>
extern "C" __global__ void row_dots(const __half* rows, float* r, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int j = 0; j < 256; ++j) {
    float v = __half2float(rows[i * 256 + j]);
    sum += v * v;
  }
  r[i] = sum;
}
