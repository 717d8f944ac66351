// Barriers and simdgroup functions, inside namespace metal. A simdgroup has 32 lanes; all lanes
// that exist take part, so a call under a condition that splits a simdgroup is a finding.

enum class mem_flags : unsigned {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
};
static inline mem_flags operator|(mem_flags a, mem_flags b) {
  return (mem_flags)((unsigned)a | (unsigned)b);
}

// The flags say which memory is ordered: accesses to the other one still race.
static inline unsigned simt_orders(mem_flags flags) {
  unsigned f = (unsigned)flags;
  return (f & 1 ? SIMT_ORDERS_GLOBAL : 0) | (f & 2 ? SIMT_ORDERS_SHARED : 0);
}
static inline void threadgroup_barrier(mem_flags flags, SIMT_LINE) {
  simt_barrier(simt_orders(flags), line);
}
static inline void simdgroup_barrier(mem_flags flags, SIMT_LINE) {
  unsigned kind = simt_orders(flags) ? SIMT_SYNC : SIMT_VOTE;
  simt_collective(~0u, kind, line, nullptr, nullptr);
}

struct simt_lane_value {
  ulong value[2], result[2];
  int source;
};
SIMT_HIDDEN_FROM_CHECKS static inline int simt_lane() { return (int)simt_now->lane; }

template <class T>
SIMT_HIDDEN_FROM_CHECKS static inline T simt_together_with(T v, int source, unsigned kind,
                                                           int line, simt_together together) {
  static_assert(sizeof(T) <= 16, "simdgroup functions move at most 16 bytes");
  simt_lane_value mine = {{0, 0}, {0, 0}, source};
  memcpy(mine.value, &v, sizeof v);
  simt_collective(~0u, kind, line, &mine, together);
  memcpy((void*)&v, mine.result, sizeof v);
  return v;
}

// A lane that does not exist gives NaN bytes: the language leaves the value undefined.
SIMT_HIDDEN_FROM_CHECKS static void simt_shuffle_all(void** arguments, unsigned mask) {
  for (unsigned left = mask; left; left &= left - 1) {
    simt_lane_value* mine = (simt_lane_value*)arguments[__builtin_ctz(left)];
    bool there = mine->source >= 0 && mine->source < 32 && (mask >> mine->source & 1);
    if (there)
      memcpy(mine->result, ((simt_lane_value*)arguments[mine->source])->value, 16);
    else
      memset(mine->result, 0xff, 16);
  }
}
#define SIMT_SHUFFLE_FUNCTION(name, source) \
  template <class T> \
  static inline T name(T v, ushort by, SIMT_LINE) { \
    return simt_together_with(v, source, SIMT_SHUFFLE, line, simt_shuffle_all); \
  }
SIMT_SHUFFLE_FUNCTION(simd_shuffle, by)
SIMT_SHUFFLE_FUNCTION(simd_broadcast, by)
SIMT_SHUFFLE_FUNCTION(simd_shuffle_xor, simt_lane() ^ by)
SIMT_SHUFFLE_FUNCTION(simd_shuffle_down, simt_lane() + by)
SIMT_SHUFFLE_FUNCTION(simd_shuffle_up, simt_lane() - by)
SIMT_SHUFFLE_FUNCTION(simd_shuffle_rotate_down, (simt_lane() + by) & 31)
SIMT_SHUFFLE_FUNCTION(simd_shuffle_rotate_up, (simt_lane() - by) & 31)
SIMT_SHUFFLE_FUNCTION(quad_shuffle, (simt_lane() & ~3) | (by & 3))
SIMT_SHUFFLE_FUNCTION(quad_broadcast, (simt_lane() & ~3) | (by & 3))
SIMT_SHUFFLE_FUNCTION(quad_shuffle_xor, simt_lane() ^ (by & 3))
#undef SIMT_SHUFFLE_FUNCTION
template <class T>
static inline T simd_broadcast_first(T v, SIMT_LINE) {
  return simt_together_with(v, 0, SIMT_SHUFFLE, line, simt_shuffle_all);
}

// Reductions in the order of a tree over halves; the language promises none.
template <class T, class F>
SIMT_HIDDEN_FROM_CHECKS static void simt_reduce_all(void** arguments, unsigned mask) {
  T v[32];
  int n = 32 - __builtin_clz(mask);
  for (int i = 0; i < n; ++i)
    memcpy((void*)&v[i], ((simt_lane_value*)arguments[i])->value, sizeof(T));
  for (int half_way = 16; half_way > 0; half_way /= 2)
    for (int i = 0; i < half_way && i + half_way < n; ++i) v[i] = F::of(v[i], v[i + half_way]);
  for (int i = 0; i < n; ++i) memcpy(((simt_lane_value*)arguments[i])->result, &v[0], sizeof(T));
}
template <class T, class F, bool Inclusive>
SIMT_HIDDEN_FROM_CHECKS static void simt_scan_all(void** arguments, unsigned mask) {
  T total = F::template identity<T>();
  for (unsigned left = mask; left; left &= left - 1) {
    simt_lane_value* p = (simt_lane_value*)arguments[__builtin_ctz(left)];
    T value;
    memcpy((void*)&value, p->value, sizeof value);
    T next = F::of(total, value);
    memcpy(p->result, Inclusive ? &next : &total, sizeof next);
    total = next;
  }
}
#define SIMT_REDUCTION(name, expression, start) \
  struct simt_##name { \
    template <class T> \
    static T of(T a, T b) { return expression; } \
    template <class T> \
    static T identity() { return T(start); } \
  }; \
  template <class T> \
  static inline T simd_##name(T v, SIMT_LINE) { \
    return simt_together_with(v, 0, SIMT_REDUCE, line, simt_reduce_all<T, simt_##name>); \
  }
SIMT_REDUCTION(sum, a + b, 0)
SIMT_REDUCTION(product, a * b, 1)
SIMT_REDUCTION(max, a < b ? b : a, 0)
SIMT_REDUCTION(min, b < a ? b : a, 0)
SIMT_REDUCTION(and, a & b, 0)
SIMT_REDUCTION(or, a | b, 0)
SIMT_REDUCTION(xor, a ^ b, 0)
#undef SIMT_REDUCTION
#define SIMT_SCAN(name, inclusive, f) \
  template <class T> \
  static inline T name(T v, SIMT_LINE) { \
    return simt_together_with(v, 0, SIMT_REDUCE, line, simt_scan_all<T, f, inclusive>); \
  }
SIMT_SCAN(simd_prefix_inclusive_sum, true, simt_sum)
SIMT_SCAN(simd_prefix_exclusive_sum, false, simt_sum)
SIMT_SCAN(simd_prefix_inclusive_product, true, simt_product)
SIMT_SCAN(simd_prefix_exclusive_product, false, simt_product)
#undef SIMT_SCAN

static inline bool simd_any(bool v, SIMT_LINE) { return simd_or((uint)v, line) != 0; }
static inline bool simd_all(bool v, SIMT_LINE) { return simd_and((uint)v, line) != 0; }
struct simd_vote {
  ulong bits;
  explicit operator ulong() const { return bits; }
  bool any() const { return bits != 0; }
};
static inline simd_vote simd_ballot(bool v, SIMT_LINE) {
  return {simd_or((ulong)v << simt_lane(), line)};
}
static inline bool simd_is_first(SIMT_LINE) {
  simdgroup_barrier(mem_flags::mem_none, line);
  return simt_lane() == 0;
}
