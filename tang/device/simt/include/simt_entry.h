// From the worker's call to a kernel's parameters: the types come from the kernel's own text, the
// places from a table that `entries.py` generates.
#pragma once
#include "../runtime/interface.h"

template <class T>
struct simt_unreferenced {
  typedef T type;
};
template <class T>
struct simt_unreferenced<T&> {
  typedef T type;
};
template <class T>
struct simt_unreferenced<const T> {
  typedef T type;
};
template <class T>
struct simt_unreferenced<const T&> {
  typedef T type;
};

SIMT_HIDDEN_FROM_CHECKS static inline simt_index simt_index_from(simt_from from) {
  const simt_index &b = simt_here.block, &s = simt_here.block_size, &g = simt_here.grid_size;
  const simt_index& t = simt_now->index;
  switch (from) {
    case SIMT_GLOBAL_ID: return {b.x * s.x + t.x, b.y * s.y + t.y, b.z * s.z + t.z};
    case SIMT_BLOCK_ID: return b;
    case SIMT_THREAD_ID: return t;
    case SIMT_BLOCK_SIZE: return s;
    case SIMT_GRID_BLOCKS: return g;
    case SIMT_GRID_THREADS: return {g.x * s.x, g.y * s.y, g.z * s.z};
    case SIMT_LINEAR_ID: return {simt_now->linear, 0, 0};
    case SIMT_WARP_ID: return {simt_now->warp, 0, 0};
    case SIMT_LANE_ID: return {simt_now->lane, 0, 0};
    case SIMT_WARP_SIZE: return {32, 0, 0};
    case SIMT_WARPS: return {(s.x * s.y * s.z + 31) / 32, 0, 0};
    default: return {0, 0, 0};
  }
}

// A parameter of the kernel's own type `P`, made from a source: pointers and references from
// memory, values from the record or from an index (its first component for a scalar).
template <class P>
struct simt_parameter {
  typedef typename simt_unreferenced<P>::type T;
  SIMT_HIDDEN_FROM_CHECKS static T get(const simt_arguments* a, simt_source s) {
    if (s.from == SIMT_SCALAR) {
      T value;
      __builtin_memcpy((void*)&value, a->scalars + s.at, sizeof value);
      return value;
    }
    return simt_of_index<T>(simt_index_from(s.from));
  }
};
template <class T>
struct simt_parameter<T*> {
  SIMT_HIDDEN_FROM_CHECKS static T* get(const simt_arguments* a, simt_source s) {
    if (s.from == SIMT_BUFFER) return (T*)a->buffers[s.at];
    if (s.from == SIMT_DYNAMIC) return (T*)(simt_dynamic_memory + s.at);
    return (T*)(a->scalars + s.at);
  }
};
template <class T>
struct simt_parameter<T&> {
  SIMT_HIDDEN_FROM_CHECKS static T& get(const simt_arguments* a, simt_source s) {
    return *simt_parameter<T*>::get(a, s);
  }
};

template <int...>
struct simt_indices {};
template <int N, int... I>
struct simt_indices_below : simt_indices_below<N - 1, N - 1, I...> {};
template <int... I>
struct simt_indices_below<0, I...> {
  typedef simt_indices<I...> type;
};

template <class... P, int... I>
SIMT_HIDDEN_FROM_CHECKS static inline void simt_call_with(void (*function)(P...),
                                                          const simt_arguments* a,
                                                          const simt_source* s,
                                                          simt_indices<I...>) {
  function(simt_parameter<P>::get(a, s[I])...);
}

template <unsigned N, class... P>
SIMT_HIDDEN_FROM_CHECKS static inline void simt_call(void (*function)(P...),
                                                     const simt_arguments* a,
                                                     const simt_source (&s)[N]) {
  static_assert(N == sizeof...(P) + 1, "the kernel has another number of parameters");
  simt_call_with(function, a, s, typename simt_indices_below<sizeof...(P)>::type());
}

#ifdef SIMT_CHECK
#define SIMT_CHECKED 1
#else
#define SIMT_CHECKED 0
#endif

// One byte of shared memory that exists in every library: it shows the runtime where the rest is.
static thread_local char simt_touch;

// SIMT_ENTRY(exported name, function, parameters of the export, buffers, sources); the list of
// sources ends with a dummy, so that it is never empty.
#define SIMT_PACK(...) __VA_ARGS__
#define SIMT_ENTRY(symbol, function, parameters, pointers, sources) \
  SIMT_HIDDEN_FROM_CHECKS static void symbol##_thread(const simt_arguments* a) { \
    static const simt_source from[] = {SIMT_PACK sources}; \
    simt_call(SIMT_PACK function, a, from); \
  } \
  extern "C" __attribute__((visibility("default"))) SIMT_HIDDEN_FROM_CHECKS void symbol( \
      SIMT_PACK parameters simt_record* record, long long first, long long last) { \
    static const simt_entry entry = {symbol##_thread, SIMT_CHECKED}; \
    void* buffers[] = {SIMT_PACK pointers 0}; \
    simt_launch(record, buffers, &entry, &simt_touch, first, last); \
  }
