// Fault: all threads add to one number without an atomic operation.
extern "C" __global__ void dot(const float* x, const float* y, float* d, int n) {
  if (threadIdx.x == 0) *d = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) *d += x[i] * y[i];
}
