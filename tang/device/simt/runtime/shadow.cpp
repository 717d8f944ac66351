// Check mode: who touched which granule of memory last, and whether anything orders two accesses.
// Buffers move to mappings of their own with wide gaps, so that a wrong index meets no neighbour.
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "publish.h"

namespace simt {
namespace {

constexpr size_t kGap = 1 << 20;
// The accesses that a later one may clash with. Two readers are enough: a third one of other
// threads clashes with a writer exactly when one of the two does, but for its line.
struct Cell {
  Stamp written, read[2], atomic;
};

struct Region {
  char *low, *high;
  Cell* cells;
  uint8_t* flying;  // per granule; null as long as nothing was copied asynchronously
  unsigned shift;   // log2 of the granule
  bool shared, writable, fresh;
  int32_t place;
};

struct Moved {
  char* mapping;
  size_t mapping_bytes;
};

Region regions[kMaxBuffers + 3];
Moved moved[kMaxBuffers];
unsigned region_count;
Region* last_region;

Cell* new_cells(size_t bytes, unsigned shift) {
  return static_cast<Cell*>(calloc((bytes >> shift) + 2, sizeof(Cell)));
}

unsigned shift_for(unsigned bytes) { return bytes >= 4 ? 2 : bytes == 2 ? 1 : 0; }

bool add_region(Region region) {
  region.cells = new_cells(static_cast<size_t>(region.high - region.low), region.shift);
  if (!region.cells) return false;
  regions[region_count++] = region;
  return true;
}

bool move_buffer(unsigned i, void* from) {
  const BufferInfo& info = machine.record->buffer_infos()[i];
  size_t middle = (info.bytes + kPage - 1) / kPage * kPage + (info.bytes == 0 ? kPage : 0);
  size_t all = middle + 2 * kGap;
  void* got = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return false;
  moved[i] = {static_cast<char*>(got), all};
  char* low = moved[i].mapping + kGap;
  if (mprotect(low, middle, PROT_READ | PROT_WRITE)) return false;
  memcpy(low, from, info.bytes);
  machine.buffers[i] = low;
  return add_region({low, low + info.bytes, nullptr, nullptr, shift_for(info.element), false,
                     (info.flags & kWritable) != 0, (info.flags & kFresh) != 0,
                     static_cast<int32_t>(i)});
}

bool add_own_regions() {
  Machine& m = machine;
  char* scalars = m.arguments.scalars;
  bool ok = add_region({m.shared_low, m.shared_high, nullptr, nullptr, 2, true, true, false, kShared});
  ok = ok && add_region({scalars, scalars + m.record->scalar_bytes, nullptr, nullptr, 2, false, false,
                         false, kScalars});
  if (!m.dynamic_bytes) return ok;
  char* low = simt_dynamic_memory;
  return ok && add_region({low, low + m.dynamic_bytes, nullptr, nullptr, 2, true, true, false, kDynamic});
}

Region* find_region(const char* p) {
  if (last_region && p >= last_region->low && p < last_region->high) return last_region;
  for (unsigned i = 0; i < region_count; ++i)
    if (p >= regions[i].low && p < regions[i].high) return last_region = &regions[i];
  return nullptr;
}

// Smaller accesses than a granule need smaller granules, or neighbours would look like races.
void refine(Region& r, unsigned shift) {
  size_t bytes = static_cast<size_t>(r.high - r.low);
  Cell* finer = new_cells(bytes, shift);
  if (!finer) report_fatal(finding_here(SIMT_REFUSED, 0));
  for (size_t i = 0; i <= bytes >> shift; ++i) finer[i] = r.cells[i >> (r.shift - shift)];
  if (r.flying) {
    auto* flying = static_cast<uint8_t*>(calloc((bytes >> shift) + 2, 1));
    if (!flying) report_fatal(finding_here(SIMT_REFUSED, 0));
    for (size_t i = 0; i <= bytes >> shift; ++i) flying[i] = r.flying[i >> (r.shift - shift)];
    free(r.flying);
    r.flying = flying;
  }
  free(r.cells);
  r.cells = finer;
  r.shift = shift;
}

Finding finding_at(int kind, const Access& a) {
  Finding f = finding_here(kind, 0);
  f.bytes = static_cast<uint32_t>(a.bytes);
  f.address = reinterpret_cast<uint64_t>(a.address);
  f.detail = static_cast<uint32_t>(a.kind);
  f.pc = a.pc - reinterpret_cast<uint64_t>(running_image.low);
  return locate(f, a.address);
}

// Constants and program-scope variables of the text: nothing is known of them.
bool in_image(const char* p) { return p >= running_image.low && p < running_image.high; }

// --- races

bool is_atomic(int kind) { return kind == SIMT_ATOMIC || kind == SIMT_ATOMIC_STORE; }
bool reads(int kind) { return kind == SIMT_READ || kind == SIMT_ATOMIC; }

// Whether nothing orders an earlier access before this one.
bool clash(Stamp earlier, const Region& r, Stamp now) {
  if (!earlier.known()) return false;
  // Shared memory of another block is another memory.
  if (earlier.block() != now.block()) return !r.shared && !published(earlier.block());
  if (earlier.epoch() != now.epoch() || earlier.thread() == now.thread()) return false;
  if (earlier.thread() / kLanes != now.thread() / kLanes) return true;
  return earlier.clock() >= current().seen[earlier.thread() % kLanes];
}

struct Clash {
  RaceKind kind;
  Stamp other;
};

Clash find_clash(const Cell& c, const Region& r, int kind, Stamp now) {
  if (kind == SIMT_READ && clash(c.written, r, now)) return {kReadAfterWrite, c.written};
  if (kind != SIMT_READ && clash(c.written, r, now)) return {kWriteAfterWrite, c.written};
  if (!is_atomic(kind) && clash(c.atomic, r, now)) return {kAfterAtomic, c.atomic};
  if (kind != SIMT_READ)
    for (Stamp read : c.read)
      if (clash(read, r, now)) return {kWriteAfterRead, read};
  return {kNoRace, {}};
}

void remember(Cell& c, int kind, Stamp now) {
  if (is_atomic(kind)) {
    c.atomic = now;
  } else if (kind == SIMT_WRITE) {
    c.written = now;
  } else if (!c.read[0].known() || !c.read[0].same_interval(now)) {
    c.read[0] = now;
    c.read[1] = {};
  } else if (c.read[0].thread() == now.thread()) {
    c.read[0] = now;
  } else {
    c.read[1] = now;
  }
}

void report_race(const Access& a, const Clash& clash, Stamp now) {
  Finding f = finding_at(SIMT_RACE, a);
  f.detail = clash.kind;
  bool same_block = clash.other.block() == now.block();
  f.other_thread = same_block ? static_cast<int32_t>(clash.other.thread()) : -1;
  report(f);
}

// --- first use

bool uninitialised(const Cell& c, const Region& r, Stamp now) {
  if (r.shared)
    return !(c.written.known() && c.written.block() == now.block()) &&
           !(c.atomic.known() && c.atomic.block() == now.block());
  return r.fresh && !c.written.known() && !c.atomic.known();
}

void check_cells(Region& r, const Access& a) {
  Stamp now = Stamp::of(r.shared);
  size_t first = static_cast<size_t>(a.address - r.low) >> r.shift;
  size_t last = static_cast<size_t>(a.address + a.bytes - 1 - r.low) >> r.shift;
  bool unset = false;
  Clash worst = {kNoRace, {}};
  for (size_t i = first; i <= last; ++i) {
    Cell& c = r.cells[i];
    if (reads(a.kind) && uninitialised(c, r, now)) unset = true;
    Clash found = find_clash(c, r, a.kind, now);
    if (found.kind != kNoRace) worst = found;
    if (r.flying && r.flying[i]) worst = {kInFlight, c.written};
    remember(c, a.kind, now);
  }
  if (unset) report(finding_at(SIMT_UNINITIALISED, a));
  if (worst.kind != kNoRace) report_race(a, worst, now);
}

}  // namespace

Stamp Stamp::of(bool shared) {
  const Fiber& f = current();
  return {(machine.serial & 0xfffff) << 44 | uint64_t{machine.epochs[!shared] & 0xffff} << 28 |
          uint64_t{f.linear} << 18 | (f.seen[f.lane] & 0x3ffff)};
}

void check_access(const Access& a) {
  if (!simt_now) return;
  const char* p = a.address;
  if (p >= current().stack_low && p < current().stack_high) return;
  Region* r = find_region(p);
  if (!r) {
    if (in_image(p)) return;
    report_fatal(finding_at(SIMT_OUT_OF_BOUNDS, a));
  }
  if (p + a.bytes > r->high) report_fatal(finding_at(SIMT_OUT_OF_BOUNDS, a));
  if (a.bytes <= 16 && reinterpret_cast<uintptr_t>(p) % a.bytes)
    report(finding_at(SIMT_MISALIGNED, a));
  if (a.kind != SIMT_READ && !r->writable) report(finding_at(SIMT_CONSTANT_WRITE, a));
  unsigned shift = shift_for(static_cast<unsigned>(a.bytes));
  if (shift < r->shift && (a.bytes & (a.bytes - 1)) == 0) refine(*r, shift);
  if (is_atomic(a.kind)) publish_atomic(p);
  check_cells(*r, a);
}

// No region: the access before this one has been reported.
void mark_flight(const char* target, unsigned long bytes, bool flying) {
  Region* r = find_region(target);
  if (!r || bytes == 0) return;
  size_t granules = (static_cast<size_t>(r->high - r->low) >> r->shift) + 2;
  if (!r->flying) r->flying = static_cast<uint8_t*>(calloc(granules, 1));
  if (!r->flying) report_fatal(finding_here(SIMT_REFUSED, 0));
  size_t first = static_cast<size_t>(target - r->low) >> r->shift;
  size_t last = static_cast<size_t>(target + bytes - 1 - r->low) >> r->shift;
  memset(r->flying + first, flying, last - first + 1);
}

// What a block left in flight concerns no later one.
void shadow_block() {
  for (unsigned i = 0; i < region_count; ++i) {
    Region& r = regions[i];
    if (r.flying && r.shared)
      memset(r.flying, 0, (static_cast<size_t>(r.high - r.low) >> r.shift) + 2);
  }
}

bool shadow_begin(void** buffers) {
  publish_begin();
  region_count = 0;
  last_region = nullptr;
  memset(moved, 0, sizeof moved);
  bool ok = true;
  for (unsigned i = 0; ok && i < machine.record->buffers; ++i) ok = move_buffer(i, buffers[i]);
  ok = ok && add_own_regions();
  if (!ok) shadow_end(nullptr);
  return ok;
}

void shadow_end(void** buffers) {
  for (unsigned i = 0; i < region_count; ++i) {
    free(regions[i].cells);
    free(regions[i].flying);
  }
  for (unsigned i = 0; i < machine.record->buffers; ++i) {
    size_t bytes = machine.record->buffer_infos()[i].bytes;
    if (buffers) memcpy(buffers[i], machine.buffers[i], bytes);
    if (moved[i].mapping) munmap(moved[i].mapping, moved[i].mapping_bytes);
  }
  region_count = 0;
}

Finding locate(Finding f, const char* address) {
  f.address = reinterpret_cast<uint64_t>(address);
  if (address >= machine.stacks && address < machine.stacks + machine.stacks_bytes) {
    f.place = kStack;
    return f;
  }
  int64_t nearest = INT64_MAX;
  for (unsigned i = 0; i < region_count; ++i) {
    const Region& r = regions[i];
    int64_t outside = address < r.low ? r.low - address : address - r.high;
    if (address >= r.low && address < r.high) outside = -1;
    if (outside >= nearest) continue;
    nearest = outside;
    f.place = outside < static_cast<int64_t>(kGap) ? r.place : kNowhere;
    f.offset = address - r.low;
  }
  return f;
}

}  // namespace simt

extern "C" __attribute__((noinline)) void simt_note(const void* address, unsigned long bytes,
                                                    int access) {
  auto pc = reinterpret_cast<uint64_t>(__builtin_return_address(0));
  simt::check_access({static_cast<const char*>(address), bytes, access, pc});
}
