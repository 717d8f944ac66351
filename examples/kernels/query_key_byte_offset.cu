// Fault: the offset of k counts elements where it must count bytes: k is written over q.
extern "C" __global__ void query_key(const float* x, const float* wq, const float* wk, float* qk,
                                     int n) {
  float* q = qk;
  float* k = (float*)((char*)qk + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) q[i] = x[i] * wq[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = x[i] * wk[i];
}
