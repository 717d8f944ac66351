// CUDA's primitives of asynchronous copies (cp.async). A copy lands at the wait.
#pragma once

static inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                           size_t zeros = 0, SIMT_LINE) {
  simt_copy(to, from, bytes, zeros, line);
}
static inline void __pipeline_commit() { simt_copy_commit(); }
static inline void __pipeline_wait_prior(size_t groups) { simt_copy_wait((unsigned)groups); }
