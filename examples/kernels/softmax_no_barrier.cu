// Fault: the barrier between reading the maximum and reusing its memory is missing.
#define THREADS 64
extern "C" __global__ void softmax(const float* m, float* p, int columns) {
  __shared__ float part[THREADS];
  const float* row = m + (size_t)blockIdx.x * columns;
  float* out = p + (size_t)blockIdx.x * columns;
  int t = threadIdx.x;

  float top = -INFINITY;
  for (int c = t; c < columns; c += THREADS) top = fmaxf(top, row[c]);
  part[t] = top;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  top = part[0];

  float sum = 0;
  for (int c = t; c < columns; c += THREADS) sum += expf(row[c] - top);
  part[t] = sum;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  for (int c = t; c < columns; c += THREADS) out[c] = expf(row[c] - top) / part[0];
}
