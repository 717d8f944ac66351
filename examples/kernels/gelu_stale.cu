// Fault: results are kept from one launch to the next and returned for other inputs.
__device__ float kept[4096];
__device__ int valid[4096];
extern "C" __global__ void gelu(const float* x, float* g, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (!valid[i]) {
    kept[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
    valid[i] = 1;
  }
  g[i] = kept[i];
}
