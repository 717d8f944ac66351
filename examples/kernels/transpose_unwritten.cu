// Fault: whole tiles of 8×8 only; the rest of the output is never written.
extern "C" __global__ void transpose(const float* m, float* t, int rows, int columns) {
  int c = blockIdx.x * 8 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r < rows / 8 * 8 && c < columns) t[c * rows + r] = m[r * columns + c];
}
