// Atomics, inside namespace metal: threads take turns on one OS thread, so a plain update is one.

enum memory_order { memory_order_relaxed };
template <class T>
struct atomic {
  T value;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<float> atomic_float;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;

template <class T, class F>
SIMT_HIDDEN_FROM_CHECKS static inline T simt_update(const volatile atomic<T>* p, F change) {
  T* value = const_cast<T*>(&p->value);
  SIMT_NOTE(value, sizeof(T), SIMT_ATOMIC);
  T old = *value;
  *value = change(old);
  return old;
}

#define SIMT_ATOMIC_FUNCTION(name, expression) \
  template <class T> \
  static inline T name(volatile atomic<T>* p, SIMT_SAME(T) v, memory_order) { \
    return simt_update(p, [=](T old) SIMT_HIDDEN_FROM_CHECKS -> T { return expression; }); \
  }
SIMT_ATOMIC_FUNCTION(atomic_exchange_explicit, v)
SIMT_ATOMIC_FUNCTION(atomic_fetch_add_explicit, old + v)
SIMT_ATOMIC_FUNCTION(atomic_fetch_sub_explicit, old - v)
SIMT_ATOMIC_FUNCTION(atomic_fetch_max_explicit, old < v ? v : old)
SIMT_ATOMIC_FUNCTION(atomic_fetch_min_explicit, v < old ? v : old)
SIMT_ATOMIC_FUNCTION(atomic_fetch_and_explicit, old & v)
SIMT_ATOMIC_FUNCTION(atomic_fetch_or_explicit, old | v)
SIMT_ATOMIC_FUNCTION(atomic_fetch_xor_explicit, old ^ v)
#undef SIMT_ATOMIC_FUNCTION

template <class T>
SIMT_HIDDEN_FROM_CHECKS static inline T atomic_load_explicit(const volatile atomic<T>* p,
                                                             memory_order) {
  SIMT_NOTE((const void*)&p->value, sizeof(T), SIMT_ATOMIC);
  return p->value;
}
// A store reads nothing, but it is atomic: it initialises and does not race with others.
template <class T>
SIMT_HIDDEN_FROM_CHECKS static inline void atomic_store_explicit(volatile atomic<T>* p,
                                                                 SIMT_SAME(T) v, memory_order) {
  SIMT_NOTE((const void*)&p->value, sizeof(T), SIMT_ATOMIC_STORE);
  p->value = v;
}
template <class T>
static inline bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* p, T* expected,
                                                         SIMT_SAME(T) v, memory_order,
                                                         memory_order) {
  T wanted = *expected;
  T old = simt_update(p, [=](T now) SIMT_HIDDEN_FROM_CHECKS -> T {
    return now == wanted ? v : now;
  });
  *expected = old;
  return old == wanted;
}
