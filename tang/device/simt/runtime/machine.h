// The machine that runs one block at a time on one OS thread: its fibers, warps and regions.
// Parallelism comes from worker processes, so nothing here is locked.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "interface.h"
#include "record.h"

namespace simt {

constexpr size_t kPage = 4096;
constexpr unsigned kLanes = 32;
constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWarps = kMaxThreads / kLanes;
constexpr unsigned kMaxBuffers = 128;
constexpr unsigned kDynamicBytes = 256 * 1024;  // more than any GPU has

enum class State : uint8_t { kReady, kAtBarrier, kInWarp, kExited };

struct Fiber : simt_thread {
  Context context;
  State state;
  char *stack_low, *stack_high;
  int line;        // of the barrier or the collective that it waits in
  unsigned kind;   // of the collective
  // A vector clock over its own warp: `seen[own lane]` counts its synchronisations, `seen[l]` says
  // which accesses of lane l happened before. Blocks synchronise by epochs instead.
  uint32_t seen[kLanes];
};

// One meeting of lanes. Several may be under way in a warp, over disjoint masks.
struct Meeting {
  unsigned mask, arrived, kind;
  int line;
};

struct Warp {
  Meeting meetings[kLanes];  // by the lowest lane of the mask
  void* arguments[kLanes];
};

struct Machine {
  // the launch
  simt_record* record;
  const simt_entry* entry;
  simt_arguments arguments;
  void* buffers[kMaxBuffers];
  unsigned threads, dynamic_bytes;
  bool checked, lenient;
  // threads
  Fiber fibers[kMaxThreads];
  uint16_t order[kMaxThreads];
  uint16_t ready[kMaxThreads];  // a ring
  unsigned ready_first, ready_count;
  Context scheduler;
  char* stacks;
  size_t stacks_bytes, stack_bytes;
  // the block
  unsigned exited, arrived, barrier_orders;
  int barrier_line;
  Warp warps[kMaxWarps];
  uint64_t serial;               // of the block, from 1, over all launches of the process
  uint32_t epochs[2];            // barriers so far that ordered shared, global memory
  char *shared_low, *shared_high;
  bool abandoned;
};

extern Machine machine;

inline Fiber& current() { return *static_cast<Fiber*>(simt_now); }

// schedule.cpp
bool prepare_threads();  // false: no memory
void run_block(uint64_t number);
[[noreturn]] void abandon();  // leaves the launch from a fiber, for good

// findings.cpp: fills in the running thread; equal kind and pc (or line) are counted, not repeated
Finding finding_here(int kind, int line);
void report(const Finding&);
[[noreturn]] void report_fatal(const Finding&);

// shadow.cpp
bool shadow_begin(void** buffers);  // false: no memory
void shadow_end(void** buffers);
void shadow_block();
Finding locate(Finding, const char* address);  // fills in place and offset

// faults.cpp
void faults_begin();
void faults_end();

// image.cpp
struct Image {
  const char* touch;
  char *low, *high, *shared_low, *shared_high;
};
const Image& image_of(char* touch);
extern Image running_image;

}  // namespace simt
