// One work-group per row; partial sums in local memory whose size the launch gives.
__kernel void row_sum(__global const float* m, __global float* s, __local float* part,
                      const int columns) {
  const int t = get_local_id(0), threads = get_local_size(0);
  __global const float* row = m + (size_t)get_group_id(0) * columns;
  float sum = 0;
  for (int c = t; c < columns; c += threads) sum += row[c];
  part[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_ = threads / 2; half_ > 0; half_ /= 2) {
    if (t < half_) part[t] += part[t + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) s[get_group_id(0)] = part[0];
}
