// Fault: full groups of four are right, what is left over uses another function.
extern "C" __global__ void gelu(const float* x, float* g, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (i < n / 4 * 4)
    g[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
  else
    g[i] = v > 0 ? v : 0.0f;
}
