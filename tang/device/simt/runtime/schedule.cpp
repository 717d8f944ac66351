// Fibers take turns until all wait: then either the barrier opens or the block has diverged.
#include <string.h>
#include <sys/mman.h>

#include "machine.h"
#include "publish.h"

extern "C" {
simt_thread* simt_now;
simt_place simt_here;
}

namespace simt {

Machine machine;

namespace {

void push(unsigned i) {
  Machine& m = machine;
  unsigned at = m.ready_first + m.ready_count++;
  m.ready[at % kMaxThreads] = static_cast<uint16_t>(i);
  m.fibers[i].state = State::kReady;
}

Fiber& pop() {
  Machine& m = machine;
  Fiber& next = m.fibers[m.ready[m.ready_first]];
  m.ready_first = (m.ready_first + 1) % kMaxThreads;
  --m.ready_count;
  return next;
}

const Fiber* first_in(State state) {
  for (unsigned i = 0; i < machine.threads; ++i)
    if (machine.fibers[i].state == state) return &machine.fibers[i];
  return nullptr;
}

// Nobody can go on: some wait for threads that wait elsewhere or have exited.
[[noreturn]] void report_deadlock() {
  bool at_barrier = machine.arrived > 0;
  const Fiber* waits = first_in(at_barrier ? State::kAtBarrier : State::kInWarp);
  const Fiber* other = first_in(State::kExited);
  if (!other && at_barrier) other = first_in(State::kInWarp);
  int kind = at_barrier ? SIMT_BARRIER_DIVERGENCE : SIMT_WARP_DIVERGENCE;
  Finding f = finding_here(kind, waits->line);
  f.thread[0] = waits->index.x, f.thread[1] = waits->index.y, f.thread[2] = waits->index.z;
  if (other) {
    f.other_thread = static_cast<int32_t>(other->linear);
    f.other_line = other->state == State::kExited ? 0 : other->line;
  }
  report_fatal(f);
}

void open_barrier() {
  Machine& m = machine;
  m.arrived = 0;
  if (m.barrier_orders & SIMT_ORDERS_SHARED) ++m.epochs[0];
  if (m.barrier_orders & SIMT_ORDERS_GLOBAL) ++m.epochs[1];
  for (unsigned k = 0; k < m.threads; ++k) {
    unsigned i = m.order[k];
    if (m.fibers[i].state == State::kAtBarrier) push(i);
  }
}

bool all_arrived() {
  unsigned expected = machine.threads - (machine.lenient ? machine.exited : 0);
  return machine.arrived > 0 && machine.arrived == expected;
}

// Continues another fiber; returns when this one is continued.
void take_turns() {
  Fiber& me = current();
  if (machine.ready_count == 0) {
    if (machine.exited == machine.threads) {
      switch_context(me.context, machine.scheduler);
      return;
    }
    report_deadlock();
  }
  Fiber& next = pop();
  if (&next == &me) return;
  simt_now = &next;
  switch_context(me.context, next.context);
}

void fiber_main() {
  for (;;) {
    machine.entry->call(&machine.arguments);
    current().state = State::kExited;
    ++machine.exited;
    if (all_arrived()) open_barrier();
    take_turns();
  }
}

void make_frames() {
  Machine& m = machine;
  for (unsigned i = 0; i < m.threads; ++i) {
    Fiber& f = m.fibers[i];
    f.stack_low = m.stacks + i * m.stack_bytes + kPage;
    // Tops that differ modulo the cache keep 1024 stacks from fighting for the same lines.
    f.stack_high = m.stacks + (i + 1) * m.stack_bytes - i % kLanes * 192;
    make_context(f.context, f.stack_low, f.stack_high, fiber_main);
  }
}

bool allocate_stacks(size_t each, unsigned count) {
  Machine& m = machine;
  if (m.stacks) munmap(m.stacks, m.stacks_bytes);
  m.stacks_bytes = each * count;
  void* got = mmap(nullptr, m.stacks_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  m.stacks = got == MAP_FAILED ? nullptr : static_cast<char*>(got);
  if (!m.stacks) return false;
  m.stack_bytes = each;
  // Guard pages: a stack that overflows faults instead of changing its neighbour.
  for (unsigned i = 0; i < count; ++i) mprotect(m.stacks + i * each, kPage, PROT_NONE);
  return true;
}

void number_threads() {
  const simt_index& size = simt_here.block_size;
  for (unsigned i = 0; i < machine.threads; ++i) {
    Fiber& f = machine.fibers[i];
    f.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    f.linear = i;
    f.warp = i / kLanes;
    f.lane = i % kLanes;
  }
}

// Threads become ready in this order, at the start and after each barrier.
void order_threads(uint32_t seed) {
  unsigned n = machine.threads;
  for (unsigned i = 0; i < n; ++i)
    machine.order[i] = static_cast<uint16_t>(seed == 1 ? n - 1 - i : i);
  if (seed < 2) return;
  uint64_t x = seed * 0x9e3779b97f4a7c15ull;
  for (unsigned i = n - 1; i > 0; --i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    unsigned j = static_cast<unsigned>(x % (i + 1));
    uint16_t kept = machine.order[i];
    machine.order[i] = machine.order[j];
    machine.order[j] = kept;
  }
}

unsigned existing_lanes(unsigned warp) {
  unsigned left = machine.threads - warp * kLanes;
  return left >= kLanes ? ~0u : (1u << left) - 1;
}

// The lanes of a synchronisation have seen all that any of them had seen, and each other.
void join_clocks(const Fiber* first, unsigned mask) {
  uint32_t seen[kLanes] = {};
  for (unsigned m = mask; m; m &= m - 1) {
    const Fiber& f = first[__builtin_ctz(m)];
    for (unsigned l = 0; l < kLanes; ++l)
      if (f.seen[l] > seen[l]) seen[l] = f.seen[l];
  }
  for (unsigned m = mask; m; m &= m - 1) ++seen[__builtin_ctz(m)];
  for (unsigned m = mask; m; m &= m - 1)
    for (unsigned l = 0; l < kLanes; ++l)
      const_cast<Fiber&>(first[__builtin_ctz(m)]).seen[l] = seen[l];
}

[[noreturn]] void fail_meeting(int line, int detail, const Meeting* meeting) {
  Finding f = finding_here(SIMT_WARP_DIVERGENCE, line);
  f.detail = static_cast<uint32_t>(detail);
  if (meeting) f.other_line = meeting->line;
  report_fatal(f);
}

void finish_meeting(Meeting& meeting, Warp& warp, unsigned warp_number, simt_together together) {
  Fiber* first = &machine.fibers[warp_number * kLanes];
  meeting.arrived = 0;
  if (together) together(warp.arguments, meeting.mask);
  if (machine.checked && meeting.kind == SIMT_SYNC) join_clocks(first, meeting.mask);
  for (unsigned m = meeting.mask & ~(1u << current().lane); m; m &= m - 1)
    push(warp_number * kLanes + static_cast<unsigned>(__builtin_ctz(m)));
}

void reset_block() {
  Machine& m = machine;
  m.exited = m.arrived = m.ready_first = m.ready_count = 0;
  m.epochs[0] = m.epochs[1] = 0;
  ++m.serial;
  publish_block();
  for (unsigned w = 0; w * kLanes < m.threads; ++w)
    memset(m.warps[w].meetings, 0, sizeof m.warps[w].meetings);
  // NaN bytes: what a block reads before it writes shows in its results.
  if (m.shared_high > m.shared_low)
    memset(m.shared_low, 0xff, static_cast<size_t>(m.shared_high - m.shared_low));
  if (m.dynamic_bytes) memset(simt_dynamic_memory, 0xff, m.dynamic_bytes);
  if (m.checked) shadow_block();
  if (m.checked)
    for (unsigned i = 0; i < m.threads; ++i) memset(m.fibers[i].seen, 0, sizeof(Fiber::seen));
}

}  // namespace

bool prepare_threads() {
  Machine& m = machine;
  unsigned known = m.stack_bytes ? static_cast<unsigned>(m.stacks_bytes / m.stack_bytes) : 0;
  size_t wanted = (m.record->stack_bytes + 2 * kPage - 1) / kPage * kPage;
  if (m.threads > known || wanted != m.stack_bytes) {
    unsigned count = kLanes * 2;
    while (count < m.threads) count *= 2;
    if (!allocate_stacks(wanted, count)) return m.stack_bytes = m.stacks_bytes = 0, false;
  }
  make_frames();
  number_threads();
  order_threads(m.record->order);
  return true;
}

void run_block(uint64_t number) {
  const simt_index& grid = simt_here.grid_size;
  simt_here.block = {static_cast<unsigned>(number % grid.x),
                     static_cast<unsigned>(number / grid.x % grid.y),
                     static_cast<unsigned>(number / grid.x / grid.y)};
  reset_block();
  for (unsigned k = 0; k < machine.threads; ++k) push(machine.order[k]);
  Fiber& first = pop();
  simt_now = &first;
  switch_context(machine.scheduler, first.context);
  simt_now = nullptr;
}

void abandon() {
  static Context nowhere;
  machine.abandoned = true;
  switch_context(nowhere, machine.scheduler);
  __builtin_unreachable();
}

}  // namespace simt

using namespace simt;

extern "C" void simt_barrier(unsigned orders, int line) {
  Machine& m = machine;
  Fiber& me = current();
  if (m.arrived == 0) {
    m.barrier_line = line;
    m.barrier_orders = orders;
  } else if (m.barrier_line != line) {
    Finding f = finding_here(SIMT_BARRIER_DIVERGENCE, line);
    f.other_line = m.barrier_line;
    report_fatal(f);
  }
  ++m.arrived;
  me.state = State::kAtBarrier;
  me.line = line;
  if (all_arrived()) open_barrier();
  take_turns();
}

extern "C" void simt_collective(unsigned mask, unsigned kind, int line, void* argument,
                                simt_together together) {
  Fiber& me = current();
  Warp& warp = machine.warps[me.warp];
  mask &= existing_lanes(me.warp);
  if (!(mask >> me.lane & 1)) fail_meeting(line, SIMT_NOT_IN_MASK, nullptr);
  Meeting& meeting = warp.meetings[__builtin_ctz(mask)];
  if (meeting.arrived == 0)
    meeting = {mask, 0, kind, line};
  else if (meeting.mask != mask || meeting.kind != kind || meeting.line != line)
    fail_meeting(line, SIMT_OTHER_CALL, &meeting);
  warp.arguments[me.lane] = argument;
  meeting.arrived |= 1u << me.lane;
  if (meeting.arrived == mask) return finish_meeting(meeting, warp, me.warp, together);
  me.state = State::kInWarp;
  me.line = line;
  me.kind = kind;
  take_turns();
}
