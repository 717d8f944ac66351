// The functions that `-fsanitize=thread` calls before each access of kernel text. They are ours:
// libtsan is not linked, so only the compiler's half of that tool is used.
#include "shadow.h"

#define SIMT_HOOK(name, size, kind)                                       \
  void name(void* p) {                                                    \
    auto pc = reinterpret_cast<uint64_t>(__builtin_return_address(0));    \
    simt::check_access({static_cast<const char*>(p), size, kind, pc});    \
  }

#define SIMT_HOOKS(size)                                            \
  SIMT_HOOK(__tsan_read##size, size, SIMT_READ)                     \
  SIMT_HOOK(__tsan_write##size, size, SIMT_WRITE)                   \
  SIMT_HOOK(__tsan_unaligned_read##size, size, SIMT_READ)           \
  SIMT_HOOK(__tsan_unaligned_write##size, size, SIMT_WRITE)         \
  SIMT_HOOK(__tsan_volatile_read##size, size, SIMT_READ)            \
  SIMT_HOOK(__tsan_volatile_write##size, size, SIMT_WRITE)          \
  SIMT_HOOK(__tsan_read_write##size, size, SIMT_WRITE)

#define SIMT_RANGE_HOOK(name, kind)                                        \
  void name(void* p, unsigned long size) {                                 \
    auto pc = reinterpret_cast<uint64_t>(__builtin_return_address(0));     \
    if (size) simt::check_access({static_cast<const char*>(p), size, kind, pc}); \
  }

extern "C" {
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)
SIMT_RANGE_HOOK(__tsan_read_range, SIMT_READ)
SIMT_RANGE_HOOK(__tsan_write_range, SIMT_WRITE)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}
}
