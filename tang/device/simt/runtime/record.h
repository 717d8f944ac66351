// The launch record: what Python asks for and what the launch answers. It lies in a buffer of the
// job, so that it needs no channel of its own. `record.py` writes and reads the same layout.
#pragma once
#include <stdint.h>

namespace simt {

constexpr uint32_t kVersion = 0x53494d31;

enum Status : uint32_t { kNotRun = 0, kEnded = 1, kAbandoned = 2, kOutOfMemory = 3 };

enum BufferFlags : uint32_t { kWritable = 1, kFresh = 2 };

struct BufferInfo {
  uint64_t bytes;
  uint32_t element;
  uint32_t flags;
};

// Places of an address: the number of a buffer, or one of these.
enum Place : int32_t { kShared = -1, kDynamic = -2, kScalars = -3, kStack = -4, kNowhere = -5 };

struct Finding {
  uint32_t kind;
  uint32_t detail;
  int32_t line;         // of a barrier or a collective; accesses have `pc` instead
  uint32_t bytes;
  uint32_t block[3];
  uint32_t thread[3];
  int32_t other_thread; // linear, of the same block; −1 when unknown
  int32_t other_line;
  int32_t place;
  uint32_t count;
  int64_t offset;       // from the start of the place
  uint64_t address;
  uint64_t pc;          // relative to the library
};

}  // namespace simt

struct simt_record {
  // request
  uint32_t version;
  uint32_t order;    // of threads: 0 ascending, 1 descending, others shuffle by this seed
  uint32_t lenient;  // threads that have exited count as arrived
  uint32_t stack_bytes;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_bytes;
  uint32_t buffers;
  uint32_t scalar_bytes;  // a multiple of 16
  uint32_t capacity;
  // answer
  uint32_t status;
  uint32_t found;

  simt::BufferInfo* buffer_infos() { return reinterpret_cast<simt::BufferInfo*>(this + 1); }
  char* scalars() { return reinterpret_cast<char*>(buffer_infos() + buffers); }
  simt::Finding* findings() { return reinterpret_cast<simt::Finding*>(scalars() + scalar_bytes); }
};
