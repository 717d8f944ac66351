// Order between blocks: a fence and then an atomic publish a block's writes; an atomic on the same
// location by a later block sees them. This is how the last block of a grid combines the results
// of all. Known by block, not by thread, so it misses some faults but raises no false alarm.
#pragma once
#include <stdint.h>

namespace simt {

void publish_begin();                    // a launch
void publish_block();                    // a block
void publish_fence();                    // by the running block
void publish_atomic(const char* place);  // by the running block
bool published(uint64_t serial);         // whether the running block sees that one's writes

}  // namespace simt
