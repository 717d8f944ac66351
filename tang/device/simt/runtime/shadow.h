// What the hooks tell the shadow memory, and the stamps that it keeps.
#pragma once
#include "machine.h"

namespace simt {

struct Access {
  const char* address;
  unsigned long bytes;
  int kind;     // simt_access
  uint64_t pc;  // of the return from the hook
};

enum RaceKind : uint32_t {
  kNoRace,
  kWriteAfterWrite,
  kReadAfterWrite,
  kWriteAfterRead,
  kAfterAtomic,  // a plain access and an atomic one
  kInFlight,     // the target of an asynchronous copy that nobody has waited for
};

// When and by whom a granule was accessed, in 64 bits: block 20 | epoch 16 | thread 10 | clock 18.
// The fields wrap; a false match needs the same granule untouched over a whole cycle.
struct Stamp {
  uint64_t bits;

  static Stamp of(bool shared);  // the running thread now, for shared or for global memory
  bool known() const { return bits != 0; }
  uint64_t block() const { return bits >> 44; }
  uint64_t epoch() const { return bits >> 28 & 0xffff; }
  unsigned thread() const { return static_cast<unsigned>(bits >> 18 & 0x3ff); }
  uint32_t clock() const { return static_cast<uint32_t>(bits & 0x3ffff); }
  bool same_interval(Stamp other) const { return bits >> 28 == other.bits >> 28; }
};

void check_access(const Access& access);
void mark_flight(const char* target, unsigned long bytes, bool flying);

}  // namespace simt
