// Fault: squares of f16 numbers, summed in f16.
#include <cuda_fp16.h>
extern "C" __global__ void row_dots(const __half* rows, float* r, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  __half sum = __float2half(0.0f);
  for (int j = 0; j < 256; ++j) sum = __hadd(sum, __hmul(rows[i * 256 + j], rows[i * 256 + j]));
  r[i] = __half2float(sum);
}
