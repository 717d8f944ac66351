// 8×8 matrices of a simdgroup, two elements a lane. Which lane holds which element is not promised
// by the language (and `thread_elements` is outside): here lane l has row l/4, columns 2·(l%4)….
// Products accumulate in f64 and round once.
#pragma once

namespace metal {

template <class T, int Rows, int Columns>
struct simdgroup_matrix {
  static_assert(Rows == 8 && Columns == 8, "a simdgroup matrix is 8 by 8");
  T elements[2];
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T v) { elements[0] = elements[1] = v; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int R, int C>
static inline simdgroup_matrix<T, R, C> make_filled_simdgroup_matrix(T v) {
  return simdgroup_matrix<T, R, C>(v);
}

static inline ulong simt_matrix_at(int i, ulong stride, simt_vec<ulong, 2> origin,
                                   bool transposed) {
  ulong row = (ulong)(simt_lane() / 4), column = (ulong)(simt_lane() % 4 * 2 + i);
  if (transposed) return (origin.y + column) * stride + origin.x + row;
  return (origin.y + row) * stride + origin.x + column;
}
template <class T>
static inline void simdgroup_load(simdgroup_matrix<T, 8, 8>& m, const T* p, ulong stride = 8,
                                  simt_vec<ulong, 2> origin = simt_vec<ulong, 2>(0),
                                  bool transposed = false, SIMT_LINE) {
  simt_collective(~0u, SIMT_MATRIX, line, nullptr, nullptr);
  for (int i = 0; i < 2; ++i) m.elements[i] = p[simt_matrix_at(i, stride, origin, transposed)];
}
template <class T>
static inline void simdgroup_store(const simdgroup_matrix<T, 8, 8>& m, T* p, ulong stride = 8,
                                   simt_vec<ulong, 2> origin = simt_vec<ulong, 2>(0),
                                   bool transposed = false, SIMT_LINE) {
  simt_collective(~0u, SIMT_MATRIX, line, nullptr, nullptr);
  for (int i = 0; i < 2; ++i) p[simt_matrix_at(i, stride, origin, transposed)] = m.elements[i];
}

struct simt_product_parts {
  float a[2], b[2], c[2], d[2];
};
SIMT_HIDDEN_FROM_CHECKS static void simt_multiply_all(void** arguments, unsigned mask) {
  float a[8][8], b[8][8];
  if (mask != ~0u) simt_fail(SIMT_WARP_DIVERGENCE, 0, SIMT_PARTIAL_WARP);
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 2; ++i) {
      simt_product_parts* p = (simt_product_parts*)arguments[l];
      a[l / 4][l % 4 * 2 + i] = p->a[i];
      b[l / 4][l % 4 * 2 + i] = p->b[i];
    }
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 2; ++i) {
      simt_product_parts* p = (simt_product_parts*)arguments[l];
      double sum = 0;
      for (int k = 0; k < 8; ++k) sum += (double)a[l / 4][k] * (double)b[k][l % 4 * 2 + i];
      p->d[i] = (float)(sum + (double)p->c[i]);
    }
}
template <class D, class A, class B, class C>
SIMT_HIDDEN_FROM_CHECKS static inline void simdgroup_multiply_accumulate(
    simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
    const simdgroup_matrix<B, 8, 8>& b, const simdgroup_matrix<C, 8, 8>& c, SIMT_LINE) {
  simt_product_parts p;
  for (int i = 0; i < 2; ++i)
    p.a[i] = a.elements[i], p.b[i] = b.elements[i], p.c[i] = c.elements[i];
  simt_collective(~0u, SIMT_MATRIX, line, &p, simt_multiply_all);
  for (int i = 0; i < 2; ++i) d.elements[i] = D(p.d[i]);
}
template <class D, class A, class B>
static inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d,
                                      const simdgroup_matrix<A, 8, 8>& a,
                                      const simdgroup_matrix<B, 8, 8>& b, SIMT_LINE) {
  simdgroup_multiply_accumulate(d, a, b, simdgroup_matrix<float, 8, 8>(0.0f), line);
}

}  // namespace metal
