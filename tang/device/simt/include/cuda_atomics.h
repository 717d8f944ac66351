// Atomics: blocks and threads take turns on one OS thread, so a plain update is atomic.
#pragma once

template <class T, class F>
SIMT_HIDDEN_FROM_CHECKS static inline T simt_update(T* p, F change) {
  SIMT_NOTE(p, sizeof(T), SIMT_ATOMIC);
  T old = *p;
  *p = change(old);
  return old;
}

// The second parameter takes part in no deduction: atomicAdd(unsigned*, int) converts its value.
template <class T>
struct simt_as {
  typedef T type;
};
#define SIMT_VALUE(T) typename simt_as<T>::type

#define SIMT_ATOMICS(name, expression) \
  template <class T> \
  static inline T name(T* p, SIMT_VALUE(T) v) { \
    return simt_update(p, [=](T old) SIMT_HIDDEN_FROM_CHECKS -> T { return expression; }); \
  } \
  template <class T> \
  static inline T name##_block(T* p, SIMT_VALUE(T) v) { return name(p, v); } \
  template <class T> \
  static inline T name##_system(T* p, SIMT_VALUE(T) v) { return name(p, v); }
SIMT_ATOMICS(atomicAdd, old + v)
SIMT_ATOMICS(atomicSub, old - v)
SIMT_ATOMICS(atomicExch, v)
SIMT_ATOMICS(atomicMin, v < old ? v : old)
SIMT_ATOMICS(atomicMax, old < v ? v : old)
SIMT_ATOMICS(atomicAnd, old & v)
SIMT_ATOMICS(atomicOr, old | v)
SIMT_ATOMICS(atomicXor, old ^ v)
SIMT_ATOMICS(atomicInc, old >= v ? 0 : old + 1)
SIMT_ATOMICS(atomicDec, old == 0 || old > v ? v : old - 1)
#undef SIMT_ATOMICS

template <class T>
static inline T atomicCAS(T* p, SIMT_VALUE(T) expected, SIMT_VALUE(T) v) {
  return simt_update(p, [=](T old) SIMT_HIDDEN_FROM_CHECKS -> T {
    return old == expected ? v : old;
  });
}
