// Findings go into the record of the launch, the first of each kind and place in the text.
#include "machine.h"

namespace simt {

Finding finding_here(int kind, int line) {
  Finding f = {};
  f.kind = static_cast<uint32_t>(kind);
  f.line = line;
  f.other_thread = -1;
  f.place = kNowhere;
  f.count = 1;
  const simt_index& block = simt_here.block;
  f.block[0] = block.x, f.block[1] = block.y, f.block[2] = block.z;
  if (simt_now) {
    const simt_index& thread = simt_now->index;
    f.thread[0] = thread.x, f.thread[1] = thread.y, f.thread[2] = thread.z;
  }
  return f;
}

void report(const Finding& found) {
  simt_record& r = *machine.record;
  Finding* known = r.findings();
  for (uint32_t i = 0; i < r.found && i < r.capacity; ++i) {
    Finding& k = known[i];
    if (k.kind == found.kind && k.pc == found.pc && k.line == found.line) return void(++k.count);
  }
  if (r.found < r.capacity) known[r.found] = found;
  ++r.found;
}

// The reason for the end comes last in the record, whatever room is left.
void report_fatal(const Finding& found) {
  simt_record& r = *machine.record;
  if (r.found >= r.capacity) r.found = r.capacity - 1;
  r.findings()[r.found++] = found;
  abandon();
}

}  // namespace simt

extern "C" void simt_fail(int kind, int line, int detail) {
  simt::Finding f = simt::finding_here(kind, line);
  f.detail = static_cast<uint32_t>(detail);
  simt::report_fatal(f);
}
