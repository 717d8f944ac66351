// Fault: the products are added to a copy of the sum that nobody reads; zeros come back.
#define T 16
extern "C" __global__ void matmul(const float* a, const float* b, float* p, int rows, int inner,
                                  int columns) {
  __shared__ float left[T][T], right[T][T];
  int r = blockIdx.y * T + threadIdx.y, c = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < inner; start += T) {
    int ka = start + threadIdx.x, kb = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = r < rows && ka < inner ? a[r * inner + ka] : 0;
    right[threadIdx.y][threadIdx.x] = kb < inner && c < columns ? b[kb * columns + c] : 0;
    __syncthreads();
    for (int k = 0; k < T; ++k) { float sum = 0; sum += left[threadIdx.y][k] * right[k][threadIdx.x]; }
    __syncthreads();
  }
  if (r < rows && c < columns) p[r * columns + c] = sum;
}
