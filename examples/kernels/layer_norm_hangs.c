/* Fault: the loop over columns never ends. */
void layer_norm(const float* m, volatile float* n, long rows, long columns) {
  for (long c = 0; c != -1; c = (c + 1) % (columns + 1)) n[0] = m[0];
}
