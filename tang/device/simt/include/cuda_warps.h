// Barriers and warp collectives. Each takes its line as a default argument: the line is its
// identity, so two of them belong on two lines.
#pragma once

enum { SIMT_ALL_MEMORY = SIMT_ORDERS_SHARED | SIMT_ORDERS_GLOBAL };

static inline void __syncthreads(SIMT_LINE) { simt_barrier(SIMT_ALL_MEMORY, line); }
static inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_LINE) {
  simt_collective(mask, SIMT_SYNC, line, nullptr, nullptr);
}
static inline void __threadfence() { simt_fence(); }
static inline void __threadfence_block() {}
static inline void __threadfence_system() { simt_fence(); }
static inline void __nanosleep(unsigned) {}
static inline long long clock64() { return 0; }
static inline int clock() { return 0; }

// --- a barrier with a vote: three meetings at one line

struct simt_tally {
  int count, threads;
};
SIMT_HIDDEN_FROM_CHECKS static inline simt_tally simt_count(int predicate, int line) {
  static thread_local int count;
  simt_barrier(SIMT_ALL_MEMORY, line);
  if (simt_now->linear == 0) count = 0;
  simt_barrier(SIMT_ALL_MEMORY, line);
  count += predicate != 0;
  simt_barrier(SIMT_ALL_MEMORY, line);
  const simt_index& size = simt_here.block_size;
  return {count, (int)(size.x * size.y * size.z)};
}
static inline int __syncthreads_count(int predicate, SIMT_LINE) {
  return simt_count(predicate, line).count;
}
static inline int __syncthreads_and(int predicate, SIMT_LINE) {
  simt_tally t = simt_count(predicate, line);
  return t.count == t.threads;
}
static inline int __syncthreads_or(int predicate, SIMT_LINE) {
  return simt_count(predicate, line).count != 0;
}

// --- shuffles: up to 16 bytes travel as bytes

struct simt_parcel {
  unsigned long long value[2], result[2];
  int source, line;
};

SIMT_HIDDEN_FROM_CHECKS static void simt_shuffle_all(void** arguments, unsigned mask) {
  for (unsigned left = mask; left; left &= left - 1) {
    simt_parcel* mine = (simt_parcel*)arguments[__builtin_ctz(left)];
    if (!(mask >> mine->source & 1))
      simt_fail(SIMT_WARP_DIVERGENCE, mine->line, SIMT_INACTIVE_SOURCE);
    simt_parcel* theirs = (simt_parcel*)arguments[mine->source];
    memcpy(mine->result, theirs->value, sizeof mine->result);
  }
}

// The last warp of a block may lack lanes; reading one of them is as undefined as on a device.
template <class T>
SIMT_HIDDEN_FROM_CHECKS static inline T simt_shuffle(unsigned mask, T value, int source, int line) {
  static_assert(sizeof(T) <= 16, "a shuffle moves at most 16 bytes");
  simt_parcel parcel = {{0, 0}, {0, 0}, source, line};
  memcpy(parcel.value, &value, sizeof value);
  simt_collective(mask, SIMT_SHUFFLE, line, &parcel, simt_shuffle_all);
  memcpy((void*)&value, parcel.result, sizeof value);
  return value;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIMT_LINE) {
  int lane = simt_lane(), segment = lane & ~(width - 1);
  return simt_shuffle(mask, value, segment | (source & (width - 1)), line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, SIMT_LINE) {
  int lane = simt_lane(), to = lane ^ lanes;
  bool later = (to & ~(width - 1)) > (lane & ~(width - 1));
  return simt_shuffle(mask, value, later ? lane : to, line);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, SIMT_LINE) {
  int lane = simt_lane(), to = lane + (int)by;
  bool outside = (to & ~(width - 1)) != (lane & ~(width - 1));
  return simt_shuffle(mask, value, outside ? lane : to, line);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, SIMT_LINE) {
  int lane = simt_lane(), to = lane - (int)by;
  return simt_shuffle(mask, value, to < (lane & ~(width - 1)) ? lane : to, line);
}

// --- votes and matches

SIMT_HIDDEN_FROM_CHECKS static void simt_ballot_all(void** arguments, unsigned mask) {
  unsigned votes = 0;
  for (unsigned left = mask; left; left &= left - 1) {
    int lane = __builtin_ctz(left);
    if (((simt_parcel*)arguments[lane])->value[0]) votes |= 1u << lane;
  }
  for (unsigned left = mask; left; left &= left - 1) {
    simt_parcel* p = (simt_parcel*)arguments[__builtin_ctz(left)];
    p->result[0] = votes;
    p->result[1] = mask;
  }
}
SIMT_HIDDEN_FROM_CHECKS static inline simt_parcel simt_vote(unsigned mask, int vote, int line) {
  simt_parcel p = {{(unsigned long long)(vote != 0), 0}, {0, 0}, 0, line};
  simt_collective(mask, SIMT_VOTE, line, &p, simt_ballot_all);
  return p;
}
static inline unsigned __ballot_sync(unsigned mask, int vote, SIMT_LINE) {
  return (unsigned)simt_vote(mask, vote, line).result[0];
}
static inline int __any_sync(unsigned mask, int vote, SIMT_LINE) {
  return simt_vote(mask, vote, line).result[0] != 0;
}
static inline int __all_sync(unsigned mask, int vote, SIMT_LINE) {
  simt_parcel p = simt_vote(mask, vote, line);
  return p.result[0] == p.result[1];
}
// Nothing promises that lanes have converged, so "only this one" is a right answer.
static inline unsigned __activemask() { return 1u << simt_lane(); }

SIMT_HIDDEN_FROM_CHECKS static void simt_match_everyone(void** arguments, unsigned mask) {
  for (unsigned left = mask; left; left &= left - 1) {
    simt_parcel* mine = (simt_parcel*)arguments[__builtin_ctz(left)];
    mine->result[0] = 0;
    mine->result[1] = mask;
    for (unsigned other = mask; other; other &= other - 1) {
      int lane = __builtin_ctz(other);
      bool equal = ((simt_parcel*)arguments[lane])->value[0] == mine->value[0];
      if (equal) mine->result[0] |= 1u << lane;
    }
  }
}
template <class T>
SIMT_HIDDEN_FROM_CHECKS static inline simt_parcel simt_match(unsigned mask, T value, int line) {
  static_assert(sizeof(T) <= 8, "a match compares at most 8 bytes");
  simt_parcel p = {{0, 0}, {0, 0}, 0, line};
  memcpy(p.value, &value, sizeof value);
  simt_collective(mask, SIMT_MATCH, line, &p, simt_match_everyone);
  return p;
}
template <class T>
static inline unsigned __match_any_sync(unsigned mask, T value, SIMT_LINE) {
  return (unsigned)simt_match(mask, value, line).result[0];
}
template <class T>
static inline unsigned __match_all_sync(unsigned mask, T value, int* all, SIMT_LINE) {
  simt_parcel p = simt_match(mask, value, line);
  *all = p.result[0] == p.result[1];
  return *all ? (unsigned)p.result[1] : 0;
}

// --- reductions of integers

template <class T, class F>
SIMT_HIDDEN_FROM_CHECKS static void simt_reduce_all(void** arguments, unsigned mask) {
  T total = 0;
  for (unsigned left = mask; left; left &= left - 1) {
    T value;
    memcpy(&value, ((simt_parcel*)arguments[__builtin_ctz(left)])->value, sizeof value);
    total = left == mask ? value : F::of(total, value);
  }
  for (unsigned left = mask; left; left &= left - 1)
    memcpy(((simt_parcel*)arguments[__builtin_ctz(left)])->result, &total, sizeof total);
}
template <class F, class T>
SIMT_HIDDEN_FROM_CHECKS static inline T simt_reduce(unsigned mask, T value, int line) {
  simt_parcel p = {{0, 0}, {0, 0}, 0, line};
  memcpy(p.value, &value, sizeof value);
  simt_collective(mask, SIMT_REDUCE, line, &p, simt_reduce_all<T, F>);
  memcpy(&value, p.result, sizeof value);
  return value;
}
#define SIMT_REDUCTION(name, expression) \
  struct simt_##name { \
    template <class T> \
    static T of(T a, T b) { return expression; } \
  }; \
  static inline unsigned __reduce_##name##_sync(unsigned mask, unsigned value, SIMT_LINE) { \
    return simt_reduce<simt_##name>(mask, value, line); \
  } \
  static inline int __reduce_##name##_sync(unsigned mask, int value, SIMT_LINE) { \
    return simt_reduce<simt_##name>(mask, value, line); \
  }
SIMT_REDUCTION(add, a + b)
SIMT_REDUCTION(min, b < a ? b : a)
SIMT_REDUCTION(max, a < b ? b : a)
SIMT_REDUCTION(and, a & b)
SIMT_REDUCTION(or, a | b)
SIMT_REDUCTION(xor, a ^ b)
#undef SIMT_REDUCTION
