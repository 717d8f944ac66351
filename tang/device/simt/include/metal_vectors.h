// Vectors of 2 to 4 components, aligned as MSL's, and packed ones. Components are x, y, z, w and
// [i]; swizzles of several components are outside.
#pragma once

template <class T, int N>
struct simt_vec;
#define SIMT_VECTOR_BODY \
  simt_vec() = default; \
  T& operator[](int i) { return (&x)[i]; } \
  const T& operator[](int i) const { return (&x)[i]; }
template <class T>
struct alignas(2 * sizeof(T)) simt_vec<T, 2> {
  T x, y;
  SIMT_VECTOR_BODY
  simt_vec(T a) : x(a), y(a) {}
  simt_vec(T a, T b) : x(a), y(b) {}
  template <class S>
  explicit simt_vec(const simt_vec<S, 2>& o) : x((T)o.x), y((T)o.y) {}
};
template <class T>
struct alignas(4 * sizeof(T)) simt_vec<T, 3> {
  T x, y, z;
  SIMT_VECTOR_BODY
  simt_vec(T a) : x(a), y(a), z(a) {}
  simt_vec(T a, T b, T c) : x(a), y(b), z(c) {}
  template <class S>
  explicit simt_vec(const simt_vec<S, 3>& o) : x((T)o.x), y((T)o.y), z((T)o.z) {}
};
template <class T>
struct alignas(4 * sizeof(T)) simt_vec<T, 4> {
  T x, y, z, w;
  SIMT_VECTOR_BODY
  simt_vec(T a) : x(a), y(a), z(a), w(a) {}
  simt_vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  simt_vec(simt_vec<T, 2> a, simt_vec<T, 2> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
  template <class S>
  explicit simt_vec(const simt_vec<S, 4>& o) : x((T)o.x), y((T)o.y), z((T)o.z), w((T)o.w) {}
};
#undef SIMT_VECTOR_BODY

template <class T>
struct simt_same {
  typedef T type;
};
#define SIMT_SAME(T) typename simt_same<T>::type
#define SIMT_VECTOR_OPERATOR(op) \
  template <class T, int N> \
  static inline simt_vec<T, N> operator op(simt_vec<T, N> a, const simt_vec<T, N>& b) { \
    for (int i = 0; i < N; ++i) a[i] = (T)(a[i] op b[i]); \
    return a; \
  } \
  template <class T, int N> \
  static inline simt_vec<T, N> operator op(simt_vec<T, N> a, SIMT_SAME(T) b) { \
    for (int i = 0; i < N; ++i) a[i] = (T)(a[i] op b); \
    return a; \
  } \
  template <class T, int N> \
  static inline simt_vec<T, N> operator op(SIMT_SAME(T) a, simt_vec<T, N> b) { \
    for (int i = 0; i < N; ++i) b[i] = (T)(a op b[i]); \
    return b; \
  } \
  template <class T, int N, class B> \
  static inline simt_vec<T, N>& operator op##=(simt_vec<T, N>& a, B b) { \
    return a = a op b; \
  }
SIMT_VECTOR_OPERATOR(+)
SIMT_VECTOR_OPERATOR(-)
SIMT_VECTOR_OPERATOR(*)
SIMT_VECTOR_OPERATOR(/)
#undef SIMT_VECTOR_OPERATOR
template <class T, int N>
static inline simt_vec<T, N> operator-(simt_vec<T, N> a) {
  for (int i = 0; i < N; ++i) a[i] = -a[i];
  return a;
}

template <class T, int N>
struct simt_packed {
  T components[N];
  simt_packed() = default;
  simt_packed(const simt_vec<T, N>& v) {
    for (int i = 0; i < N; ++i) components[i] = v[i];
  }
  operator simt_vec<T, N>() const {
    simt_vec<T, N> v;
    for (int i = 0; i < N; ++i) v[i] = components[i];
    return v;
  }
  T& operator[](int i) { return components[i]; }
  const T& operator[](int i) const { return components[i]; }
};

#define SIMT_VECTOR_NAMES(T) \
  typedef simt_vec<T, 2> T##2; \
  typedef simt_vec<T, 3> T##3; \
  typedef simt_vec<T, 4> T##4; \
  typedef simt_packed<T, 2> packed_##T##2; \
  typedef simt_packed<T, 3> packed_##T##3; \
  typedef simt_packed<T, 4> packed_##T##4;
SIMT_VECTOR_NAMES(float)
SIMT_VECTOR_NAMES(half)
SIMT_VECTOR_NAMES(bfloat)
SIMT_VECTOR_NAMES(char)
SIMT_VECTOR_NAMES(uchar)
SIMT_VECTOR_NAMES(short)
SIMT_VECTOR_NAMES(ushort)
SIMT_VECTOR_NAMES(int)
SIMT_VECTOR_NAMES(uint)
SIMT_VECTOR_NAMES(long)
SIMT_VECTOR_NAMES(ulong)
SIMT_VECTOR_NAMES(bool)
#undef SIMT_VECTOR_NAMES
namespace metal {
template <class T, int N>
using vec = simt_vec<T, N>;
template <class T, unsigned long N>
struct array {
  T elements[N];
  T& operator[](unsigned long i) { return elements[i]; }
  const T& operator[](unsigned long i) const { return elements[i]; }
  static constexpr unsigned long size() { return N; }
};
}  // namespace metal
