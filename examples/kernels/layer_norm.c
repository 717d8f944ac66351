/* Each row minus its mean, over its standard deviation. */
#include <math.h>
void layer_norm(const float* m, float* n, long rows, long columns) {
  for (long r = 0; r < rows; ++r) {
    const float* row = m + r * columns;
    double mean = 0, var = 0;
    for (long c = 0; c < columns; ++c) mean += row[c];
    mean /= columns;
    for (long c = 0; c < columns; ++c) var += (row[c] - mean) * (row[c] - mean);
    double scale = 1 / sqrt(var / columns + 1e-5);
    for (long c = 0; c < columns; ++c) n[r * columns + c] = (float)((row[c] - mean) * scale);
  }
}
