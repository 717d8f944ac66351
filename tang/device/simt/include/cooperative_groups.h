// Cooperative groups over one block: the block, its tiles, and groups of one where convergence
// would be a guess. Grids and clusters synchronise several blocks, which take turns here.
#pragma once

namespace cooperative_groups {

struct thread_block {
  static void sync(SIMT_LINE) { simt_barrier(SIMT_ALL_MEMORY, line); }
  SIMT_HIDDEN_FROM_CHECKS static unsigned thread_rank() { return simt_now->linear; }
  SIMT_HIDDEN_FROM_CHECKS static unsigned size() {
    return simt_here.block_size.x * simt_here.block_size.y * simt_here.block_size.z;
  }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
static inline thread_block this_thread_block() { return {}; }

template <unsigned N>
struct thread_block_tile {
  static_assert(N <= 32 && (N & (N - 1)) == 0, "a tile is a power of two of at most 32 threads");
  static unsigned thread_rank() { return (unsigned)simt_lane() % N; }
  static constexpr unsigned size() { return N; }
  static constexpr unsigned num_threads() { return N; }
  SIMT_HIDDEN_FROM_CHECKS static unsigned meta_group_rank() { return simt_now->linear / N; }
  static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  static unsigned mask() {
    return N == 32 ? ~0u : ((1u << N % 32) - 1) << (unsigned)simt_lane() / N * N;
  }
  static void sync(SIMT_LINE) { __syncwarp(mask(), line); }
  template <class T>
  static T shfl(T v, int source, SIMT_LINE) { return __shfl_sync(mask(), v, source, N, line); }
  template <class T>
  static T shfl_xor(T v, int by, SIMT_LINE) { return __shfl_xor_sync(mask(), v, by, N, line); }
  template <class T>
  static T shfl_down(T v, unsigned by, SIMT_LINE) {
    return __shfl_down_sync(mask(), v, by, N, line);
  }
  template <class T>
  static T shfl_up(T v, unsigned by, SIMT_LINE) { return __shfl_up_sync(mask(), v, by, N, line); }
  static bool any(int vote, SIMT_LINE) { return __any_sync(mask(), vote, line); }
  static bool all(int vote, SIMT_LINE) { return __all_sync(mask(), vote, line); }
  static unsigned ballot(int vote, SIMT_LINE) {
    return __ballot_sync(mask(), vote, line) >> (unsigned)simt_lane() / N * N;
  }
};

template <unsigned N, class Parent>
static inline thread_block_tile<N> tiled_partition(const Parent&) { return {}; }

// A group of the threads that happen to be here: alone is always right.
struct coalesced_group {
  static unsigned thread_rank() { return 0; }
  static unsigned size() { return 1; }
  static unsigned num_threads() { return 1; }
  static void sync() {}
  template <class T>
  static T shfl(T v, int) { return v; }
};
static inline coalesced_group coalesced_threads() { return {}; }

template <class Group>
static inline void sync(const Group& group, SIMT_LINE) { group.sync(line); }

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};

// A butterfly, so that every lane has the result; a device's order of additions is not promised.
template <unsigned N, class T, class F>
static inline T reduce(const thread_block_tile<N>& tile, T value, F combine, SIMT_LINE) {
  for (unsigned by = N / 2; by > 0; by /= 2)
    value = combine(value, tile.shfl_xor(value, (int)by, line));
  return value;
}

}  // namespace cooperative_groups
