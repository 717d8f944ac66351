// Switching stacks: 20 instructions on x86-64 (11–35 ns), ucontext elsewhere (about 350 ns, since
// it saves the signal mask through the kernel).
#pragma once

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace simt {

#if defined(__x86_64__)
struct Context {
  void* stack_pointer;
};
#else
struct Context {
  ucontext_t state;
};
#endif

// Makes a context that enters `start` on the given stack; `start` never returns.
void make_context(Context& context, char* low, char* high, void (*start)());

// Leaves the running context in `from` and continues `to`.
void switch_context(Context& from, Context& to);

}  // namespace simt
