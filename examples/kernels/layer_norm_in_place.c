/* Fault: the input is centred in place. */
#include <math.h>
void layer_norm(float* m, float* n, long rows, long columns) {
  for (long r = 0; r < rows; ++r) {
    float *row = m + r * columns, mean = 0, var = 0;
    for (long c = 0; c < columns; ++c) mean += row[c] / columns;
    for (long c = 0; c < columns; ++c) row[c] -= mean;
    for (long c = 0; c < columns; ++c) var += row[c] * row[c] / columns;
    for (long c = 0; c < columns; ++c) n[r * columns + c] = row[c] / sqrtf(var + 1e-5f);
  }
}
