// nvcuda::wmma: warp matrices of half, __nv_bfloat16 and tf32. Which lane holds which element is
// not promised by CUDA: here they lie row by row, lane after lane. The number that a lane holds is
// that of CUDA's header, where most fragments of half hold each element several times.
#pragma once
#include "simt_fused_dot.h"

// Matrices start at multiples of 32 bytes. Shared arrays do so here, since devices place them well,
// though only __align__ promises it.
#undef __shared__
#define __shared__ __constinit thread_local __attribute__((aligned(32)))

// What a failed check says in `detail`; `record.py` holds the words.
enum { SIMT_UNSET_FRAGMENT = 64, SIMT_MATRIX_START, SIMT_MATRIX_STRIDE, SIMT_LANES_DISAGREE };

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };

// cvt.rna.tf32.f32: to nearest, ties away from zero; NaN and infinities lose their low bits.
static inline float __float_to_tf32(float v) {
  unsigned bits = simt_bits<unsigned>(v), finite = (bits & 0x7f800000u) != 0x7f800000u;
  return simt_bits<float>((bits + (finite ? 0x1000u : 0u)) & 0xffffe000u);
}

template <class T>
struct simt_stored {
  typedef T type;
};
template <>
struct simt_stored<precision::tf32> {
  typedef float type;
};

template <class A, class B>
constexpr bool simt_same = false;
template <class A>
constexpr bool simt_same<A, A> = true;

// The shapes that a format has, and what a lane holds of them.
template <class Use, int M, int N, int K, class T>
struct simt_shape {
  static constexpr bool sums = simt_same<Use, accumulator>, half = simt_same<T, __half>;
  static constexpr bool tall = N == 16 && M == 16, short_k = tall && K == 8;
  static constexpr bool long_k = K == 16 && (tall || (M == 32 && N == 8) || (M == 8 && N == 32));
  static constexpr bool exists =
      sums ? (simt_same<T, float> && (long_k || short_k)) || (half && long_k)
           : (simt_same<T, precision::tf32> && short_k) ||
                 ((half || simt_same<T, __nv_bfloat16>) && long_k);
  enum { rows = simt_same<Use, matrix_b> ? K : M, columns = simt_same<Use, matrix_a> ? K : N };
  enum { held = half && !sums ? 16 : rows * columns / 32 };
};

template <class Use, int M, int N, int K, class T, class Layout = void>
struct __attribute__((aligned(8))) fragment {
  typedef simt_shape<Use, M, N, K, T> shape;
  static_assert(shape::exists, "SIMT has no such fragment: docs/simt.md lists them");
  static_assert(shape::sums == simt_same<Layout, void>, "a and b have a layout, accumulators none");
  enum { num_elements = shape::held, num_storage_elements = shape::held };
  typedef T element_type;
  typedef typename simt_stored<T>::type storage_element_type;
  storage_element_type x[num_elements];
  bool simt_whole;  // set by this header: else elements that hold the constructor's NaN are unset

  fragment() : simt_whole(false) { memset((void*)x, 0xff, sizeof x); }
  // Row and column of an element as one number.
  static int simt_at(int lane, int i) {
    return (lane * num_elements + i) % (shape::rows * shape::columns);
  }
};

template <class Use, int M, int N, int K, class T, class L>
static inline void fill_fragment(fragment<Use, M, N, K, T, L>& f,
                                 const typename simt_stored<T>::type& value) {
  for (auto& x : f.x) x = value;
  f.simt_whole = true;
}

// --- what every lane must do, and must do alike

template <class F>
SIMT_HIDDEN_FROM_CHECKS static inline void simt_require(const F& f, int line) {
#ifdef SIMT_CHECK
  typename F::storage_element_type unset;
  memset((void*)&unset, 0xff, sizeof unset);
  for (int i = 0; !f.simt_whole && i < F::num_elements; ++i)
    if (!__builtin_memcmp(&f.x[i], &unset, sizeof unset))
      simt_fail(SIMT_UNINITIALISED, line, SIMT_UNSET_FRAGMENT);
#endif
}

struct simt_matrix {
  const void* start;
  unsigned long stride;
  layout_t layout;
  int line;
};
SIMT_HIDDEN_FROM_CHECKS static void simt_agree(void** arguments, unsigned mask) {
  const simt_matrix* first = (const simt_matrix*)arguments[__builtin_ctz(mask)];
  if (mask != ~0u) simt_fail(SIMT_WARP_DIVERGENCE, first->line, SIMT_PARTIAL_WARP);
  for (int l = 1; l < 32; ++l) {
    const simt_matrix* m = (const simt_matrix*)arguments[l];
    if (m->start != first->start || m->stride != first->stride || m->layout != first->layout)
      simt_fail(SIMT_UNDEFINED, m->line, SIMT_LANES_DISAGREE);
  }
}
// Alignments are those of the CUDA C++ Programming Guide: 32 bytes, and 16 of the stride.
SIMT_HIDDEN_FROM_CHECKS static inline void simt_meet(simt_matrix m) {
#ifdef SIMT_CHECK
  if ((unsigned long)m.start % 32) simt_fail(SIMT_MISALIGNED, m.line, SIMT_MATRIX_START);
  if (m.stride % 16) simt_fail(SIMT_MISALIGNED, m.line, SIMT_MATRIX_STRIDE);
#endif
  simt_collective(~0u, SIMT_MATRIX, m.line, &m, simt_agree);
}

// --- memory: element accesses that the checks see, at the line of the kernel's text

template <class F>
static __forceinline__ size_t simt_place(int i, unsigned ldm, layout_t layout) {
  int at = F::simt_at(simt_lane(), i);
  int row = at / F::shape::columns, column = at % F::shape::columns;
  return layout == mem_row_major ? (size_t)row * ldm + column : (size_t)column * ldm + row;
}
template <class F, class T>
static __forceinline__ void simt_load(F& f, const T* p, unsigned ldm, layout_t layout, int line) {
  simt_meet({p, ldm * sizeof(T), layout, line});
  for (int i = 0; i < F::num_elements; ++i) f.x[i] = p[simt_place<F>(i, ldm, layout)];
  f.simt_whole = true;
}
template <class Use, int M, int N, int K, class T>
static __forceinline__ void load_matrix_sync(fragment<Use, M, N, K, T, row_major>& f,
                                             const typename simt_stored<T>::type* p, unsigned ldm,
                                             SIMT_LINE) {
  simt_load(f, p, ldm, mem_row_major, line);
}
template <class Use, int M, int N, int K, class T>
static __forceinline__ void load_matrix_sync(fragment<Use, M, N, K, T, col_major>& f,
                                             const typename simt_stored<T>::type* p, unsigned ldm,
                                             SIMT_LINE) {
  simt_load(f, p, ldm, mem_col_major, line);
}
template <int M, int N, int K, class T>
static __forceinline__ void load_matrix_sync(fragment<accumulator, M, N, K, T>& f,
                                             const typename simt_stored<T>::type* p, unsigned ldm,
                                             layout_t layout, SIMT_LINE) {
  simt_load(f, p, ldm, layout, line);
}
template <int M, int N, int K, class T>
static __forceinline__ void store_matrix_sync(typename simt_stored<T>::type* p,
                                              const fragment<accumulator, M, N, K, T>& f,
                                              unsigned ldm, layout_t layout, SIMT_LINE) {
  typedef fragment<accumulator, M, N, K, T> F;
  simt_require(f, line);
  simt_meet({p, ldm * sizeof(T), layout, line});
  for (int i = 0; i < F::num_elements; ++i) p[simt_place<F>(i, ldm, layout)] = f.x[i];
}

// --- the product: the last lane to arrive computes it for all

template <class D, class A, class B, class C>
struct simt_product {
  D* d;
  const A* a;
  const B* b;
  const C* c;
  int line;
};
// A sum in half of addends in half is the instruction with results in half; others add in f32.
template <class D, class C>
struct simt_sum_of {
  typedef float type;
};
template <>
struct simt_sum_of<__half, __half> {
  typedef __half type;
};
template <int M, int N, int K, class T, class D, class A, class B, class C>
SIMT_HIDDEN_FROM_CHECKS static void simt_multiply_all(void** arguments, unsigned mask) {
  typedef typename simt_sum_of<typename D::element_type, typename C::element_type>::type sum;
  typedef simt_fused<T, sum> model;
  static simt_factor a[M][K], b[N][K];  // static: a lane's stack is small
  static double c[M][N];
  auto of = (simt_product<D, A, B, C>**)arguments;
  if (mask != ~0u)
    simt_fail(SIMT_WARP_DIVERGENCE, of[__builtin_ctz(mask)]->line, SIMT_PARTIAL_WARP);
  // Elements lie on stacks of other lanes, which only hidden code may touch: copies, not references.
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < A::num_elements; ++i) {
      auto x = of[l]->a->x[i];
      int at = A::simt_at(l, i);
      a[at / K][at % K] = simt_factor::of<model>(x);
    }
    for (int i = 0; i < B::num_elements; ++i) {
      auto x = of[l]->b->x[i];
      int at = B::simt_at(l, i);
      b[at % N][at / N] = simt_factor::of<model>(x);
    }
    for (int i = 0; i < C::num_elements; ++i) {
      auto x = of[l]->c->x[i];
      int at = C::simt_at(l, i);
      c[at / N][at % N] = (float)x;
    }
  }
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < D::num_elements; ++i) {
      int row = D::simt_at(l, i) / N, column = D::simt_at(l, i) % N;
      double dot = simt_fused_dot<T, sum>(a[row], b[column], c[row][column], K);
      of[l]->d->x[i] = simt_register(dot, (typename D::element_type*)nullptr);
    }
}
template <int M, int N, int K, class T, class LA, class LB, class TD, class TC>
SIMT_HIDDEN_FROM_CHECKS static inline void mma_sync(fragment<accumulator, M, N, K, TD>& d,
                                                    const fragment<matrix_a, M, N, K, T, LA>& a,
                                                    const fragment<matrix_b, M, N, K, T, LB>& b,
                                                    const fragment<accumulator, M, N, K, TC>& c,
                                                    SIMT_LINE) {
  typedef fragment<matrix_a, M, N, K, T, LA> A;
  typedef fragment<matrix_b, M, N, K, T, LB> B;
  typedef fragment<accumulator, M, N, K, TC> C;
  typedef fragment<accumulator, M, N, K, TD> D;
  static_assert(simt_same<T, __half> || (simt_same<TD, float> && simt_same<TC, float>),
                "only products of half are added in half");
  simt_require(a, line), simt_require(b, line), simt_require(c, line);
  simt_product<D, A, B, C> product = {&d, &a, &b, &c, line};
  simt_collective(~0u, SIMT_MATRIX, line, &product, simt_multiply_all<M, N, K, T, D, A, B, C>);
  d.simt_whole = true;
}

}  // namespace wmma
}  // namespace nvcuda
