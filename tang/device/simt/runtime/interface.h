// What kernel text and the runtime know of each other. Kernel text is compiled in batches, so this
// file includes nothing: parsing one standard header costs more than compiling a small kernel.
#pragma once

#define SIMT_HIDDEN_FROM_CHECKS __attribute__((no_sanitize("thread")))

struct simt_index {
  unsigned x, y, z;
};

// The running thread, as kernel text sees it. `linear` counts x fastest; a warp is 32 of those.
struct simt_thread {
  simt_index index;
  unsigned linear, warp, lane;
};

// The running block. Written by the runtime only.
struct simt_place {
  simt_index block, block_size, grid_size;
};

enum simt_access { SIMT_READ, SIMT_WRITE, SIMT_ATOMIC, SIMT_ATOMIC_STORE };

// What a barrier orders; CUDA's orders both.
enum simt_order { SIMT_ORDERS_NOTHING = 0, SIMT_ORDERS_SHARED = 1, SIMT_ORDERS_GLOBAL = 2 };

// Kinds of findings; `record.py` holds their names.
enum simt_kind {
  SIMT_RACE = 1,
  SIMT_UNINITIALISED,
  SIMT_OUT_OF_BOUNDS,
  SIMT_BARRIER_DIVERGENCE,
  SIMT_WARP_DIVERGENCE,
  SIMT_MISALIGNED,
  SIMT_CONSTANT_WRITE,
  SIMT_UNDEFINED,
  SIMT_ASSERTION,
  SIMT_FAULT,
  SIMT_REFUSED,
};

// Where one parameter of a kernel comes from.
enum simt_from {
  SIMT_BUFFER,             // pointer to buffer `at`
  SIMT_SCALAR,             // bytes from `at` in the record's scalars, by value or by reference
  SIMT_DYNAMIC,            // pointer to byte `at` of dynamic shared memory
  SIMT_GLOBAL_ID,          // indices of the thread: MSL passes them as parameters
  SIMT_BLOCK_ID,
  SIMT_THREAD_ID,
  SIMT_LINEAR_ID,
  SIMT_WARP_ID,
  SIMT_LANE_ID,
  SIMT_BLOCK_SIZE,
  SIMT_GRID_BLOCKS,
  SIMT_GRID_THREADS,
  SIMT_WARP_SIZE,
  SIMT_WARPS,
};

struct simt_source {
  simt_from from;
  unsigned at;
};

struct simt_arguments {
  void** buffers;
  char* scalars;
};

// A kernel's entry: `call` runs one thread.
struct simt_entry {
  void (*call)(const simt_arguments*);
  unsigned checked;
};

struct simt_record;

extern "C" {
extern simt_thread* simt_now;
extern simt_place simt_here;
extern char simt_dynamic_memory[];

// All threads of the block arrive at the same line.
void simt_barrier(unsigned orders, int line);

// The lanes of `mask` arrive at the same line; the last one calls `together` on the argument that
// each lane published, then all go on. `kind` tells operations on one line apart.
typedef void (*simt_together)(void** arguments, unsigned mask);
void simt_collective(unsigned mask, unsigned kind, int line, void* argument,
                     simt_together together);
// Copies take effect at the wait, as late as a device may: a missing wait shows.
void simt_copy(void* to, const void* from, unsigned long bytes, unsigned long zeros, int line);
void simt_copy_commit(void);
void simt_copy_wait(unsigned keep);
void simt_fence(void);  // this block's writes so far may be published by an atomic
void simt_note(const void* address, unsigned long bytes, int access);
void simt_fail(int kind, int line, int detail);
void simt_launch(simt_record*, void** buffers, const simt_entry*, char* touch, long long first,
                 long long last);
void* memcpy(void*, const void*, unsigned long) noexcept;
void* memset(void*, int, unsigned long) noexcept;
}

enum { SIMT_SYNC = 1, SIMT_SHUFFLE, SIMT_VOTE, SIMT_MATCH, SIMT_REDUCE, SIMT_MATRIX };

// What a failed collective says in `detail`.
enum { SIMT_NOT_IN_MASK = 1, SIMT_OTHER_CALL, SIMT_INACTIVE_SOURCE, SIMT_PARTIAL_WARP };

// Library code that touches memory of the kernel tells the checks itself, since it is hidden.
#ifdef SIMT_CHECK
#define SIMT_NOTE(address, bytes, access) simt_note(address, bytes, access)
#else
#define SIMT_NOTE(address, bytes, access) ((void)0)
#endif
