// Asynchronous copies of a thread: queued in groups, carried out by the wait that asks for them.
#include "machine.h"
#include "shadow.h"

namespace simt {
namespace {

constexpr unsigned kMaxPending = 128;

struct Pending {
  char* to;
  const char* from;
  uint32_t bytes, zeros, group;
};

struct Queue {
  uint64_t serial;  // of the block: older ones are forgotten
  uint32_t count, groups;
  Pending pending[kMaxPending];
};

Queue queues[kMaxThreads];

Queue& own_queue() {
  Queue& q = queues[current().linear];
  if (q.serial != machine.serial) q.serial = machine.serial, q.count = q.groups = 0;
  return q;
}

void land(const Pending& p, uint64_t pc) {
  memcpy(p.to, p.from, p.bytes - p.zeros);
  memset(p.to + p.bytes - p.zeros, 0, p.zeros);
  if (!machine.checked) return;
  mark_flight(p.to, p.bytes, false);
  check_access({p.to, p.bytes, SIMT_WRITE, pc});
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" void simt_copy(void* to, const void* from, unsigned long bytes, unsigned long zeros,
                          int line) {
  auto pc = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  Queue& q = own_queue();
  if (q.count == kMaxPending) simt_fail(SIMT_REFUSED, line, 0);
  if (machine.checked) {
    check_access({static_cast<char*>(to), bytes, SIMT_WRITE, pc});
    if (bytes > zeros) check_access({static_cast<const char*>(from), bytes - zeros, SIMT_READ, pc});
    mark_flight(static_cast<char*>(to), bytes, true);
  }
  q.pending[q.count++] = {static_cast<char*>(to), static_cast<const char*>(from),
                          static_cast<uint32_t>(bytes), static_cast<uint32_t>(zeros), q.groups};
}

extern "C" void simt_copy_commit(void) { ++own_queue().groups; }

// Waits for all but the last `keep` groups.
extern "C" void simt_copy_wait(unsigned keep) {
  auto pc = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  Queue& q = own_queue();
  uint32_t left = 0;
  for (uint32_t i = 0; i < q.count; ++i) {
    if (q.pending[i].group + keep < q.groups)
      land(q.pending[i], pc);
    else
      q.pending[left++] = q.pending[i];
  }
  q.count = left;
}
