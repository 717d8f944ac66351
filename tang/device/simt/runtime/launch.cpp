// One launch: reads the record, runs the blocks in order, says how it ended.
#include "machine.h"

extern "C" {
// Every `extern __shared__` array of a text is this memory.
alignas(1024) char simt_dynamic_memory[simt::kDynamicBytes];
}

namespace simt {
namespace {

bool acceptable(const simt_record& r) {
  uint64_t threads = uint64_t{r.block[0]} * r.block[1] * r.block[2];
  return r.version == kVersion && threads > 0 && threads <= kMaxThreads &&
         r.dynamic_bytes <= kDynamicBytes && r.buffers <= kMaxBuffers;
}

void describe(simt_record& r, const simt_entry& entry, char* touch) {
  Machine& m = machine;
  m.record = &r;
  m.entry = &entry;
  m.threads = r.block[0] * r.block[1] * r.block[2];
  m.dynamic_bytes = r.dynamic_bytes;
  m.checked = entry.checked;
  m.lenient = r.lenient;
  m.abandoned = false;
  simt_here.block_size = {r.block[0], r.block[1], r.block[2]};
  simt_here.grid_size = {r.grid[0], r.grid[1], r.grid[2]};
  running_image = image_of(touch);
  m.shared_low = running_image.shared_low;
  m.shared_high = running_image.shared_high;
}

void run_blocks(long long first, long long last) {
  for (long long b = first; b < last && !machine.abandoned; ++b) {
    run_block(static_cast<uint64_t>(b));
  }
}

Status run_checked(void** buffers, long long first, long long last) {
  if (!shadow_begin(buffers)) return kOutOfMemory;
  faults_begin();
  run_blocks(first, last);
  faults_end();
  shadow_end(buffers);
  return machine.abandoned ? kAbandoned : kEnded;
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" void simt_launch(simt_record* record, void** buffers, const simt_entry* entry,
                            char* touch, long long first, long long last) {
  simt_record& r = *record;
  r.status = kNotRun;
  r.found = 0;
  if (!acceptable(r)) return;
  Machine& m = machine;
  describe(r, *entry, touch);
  for (unsigned i = 0; i < r.buffers; ++i) m.buffers[i] = buffers[i];
  m.arguments = {m.buffers, r.scalars()};
  if (!prepare_threads()) {
    r.status = kOutOfMemory;
    return;
  }
  if (m.checked) {
    r.status = run_checked(buffers, first, last);
    return;
  }
  run_blocks(first, last);
  r.status = m.abandoned ? kAbandoned : kEnded;
}
