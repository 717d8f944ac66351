#include "publish.h"

#include "machine.h"

namespace simt {
namespace {

// Blocks first … last, by their serial numbers; none when first is 0. Blocks run in order, so what
// they publish at one place grows at its end, or has a gap and starts anew.
struct Range {
  uint64_t first, last;
};

struct Published {
  const char* place;
  Range blocks;
};

constexpr unsigned kPlaces = 256;
Published places[kPlaces];  // by hash of the address; a collision forgets the older one
Range seen;
bool fenced;

Published& published_at(const char* place) {
  Published& p = places[(reinterpret_cast<uintptr_t>(place) >> 2) % kPlaces];
  if (p.place != place) p = {place, {0, 0}};
  return p;
}

}  // namespace

void publish_begin() { memset(places, 0, sizeof places); }

void publish_block() {
  seen = {0, 0};
  fenced = false;
}

void publish_fence() { fenced = true; }

void publish_atomic(const char* place) {
  Range& blocks = published_at(place).blocks;
  if (blocks.first && (!seen.first || blocks.last - blocks.first > seen.last - seen.first))
    seen = blocks;
  if (!fenced || blocks.last == machine.serial) return;
  if (blocks.last + 1 != machine.serial) blocks.first = machine.serial;
  blocks.last = machine.serial;
}

// Stamps hold the lower bits of serial numbers.
bool published(uint64_t serial) {
  uint64_t age = (machine.serial - serial) & 0xfffff;
  uint64_t whole = machine.serial - age;
  return seen.first && whole >= seen.first && whole <= seen.last;
}

}  // namespace simt

extern "C" void simt_fence(void) { simt::publish_fence(); }
