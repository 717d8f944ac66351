// A warp per tile of 16×16 on tensor cores; edges are filled with zeros in shared memory.
#include <mma.h>
using namespace nvcuda;
#define T 16
extern "C" __global__ void matmul(const half* a, const half* b, float* p, int rows, int inner,
                                  int columns) {
  __shared__ __align__(32) half left[T * T], right[T * T];
  __shared__ __align__(32) float tile[T * T];
  int top = blockIdx.y * T, side = blockIdx.x * T;
  wmma::fragment<wmma::matrix_a, T, T, T, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, T, T, T, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, T, T, T, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int start = 0; start < inner; start += T) {
    for (int i = threadIdx.x; i < T * T; i += 32) {
      int r = i / T, c = i % T;
      bool in_a = top + r < rows && start + c < inner;
      bool in_b = start + r < inner && side + c < columns;
      left[i] = in_a ? a[(top + r) * inner + start + c] : __float2half(0.0f);
      right[i] = in_b ? b[(start + r) * columns + side + c] : __float2half(0.0f);
    }
    __syncwarp();
    wmma::load_matrix_sync(x, left, T);
    wmma::load_matrix_sync(y, right, T);
    wmma::mma_sync(sum, x, y, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(tile, sum, T, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < T * T; i += 32)
    if (top + i / T < rows && side + i % T < columns)
      p[(top + i / T) * columns + side + i % T] = tile[i];
}
