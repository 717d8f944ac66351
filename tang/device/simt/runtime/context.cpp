#include "context.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

// Saves the registers that a call must preserve; the compiler saved the others. Floating-point
// modes are left alone: no kernel changes them.
extern "C" void simt_switch_stacks(void** save, void* load);
asm(R"(
  .text
  .globl simt_switch_stacks
  .hidden simt_switch_stacks
  .type simt_switch_stacks, @function
simt_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size simt_switch_stacks, .-simt_switch_stacks
)");

namespace simt {

void make_context(Context& context, char*, char* high, void (*start)()) {
  // As if `start` had been called (a zero return address ends backtraces) and had switched away.
  constexpr int kSavedRegisters = 6;
  void** top = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(high) & ~uintptr_t{15});
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(start);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = nullptr;
  context.stack_pointer = top;
}

void switch_context(Context& from, Context& to) {
  simt_switch_stacks(&from.stack_pointer, to.stack_pointer);
}

}  // namespace simt

#else

namespace simt {

void make_context(Context& context, char* low, char* high, void (*start)()) {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = low;
  context.state.uc_stack.ss_size = static_cast<size_t>(high - low);
  context.state.uc_link = nullptr;
  makecontext(&context.state, start, 0);
}

void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

}  // namespace simt

#endif
