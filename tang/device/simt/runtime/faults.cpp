// In check mode a signal is a finding with its line and ends the launch, not the process. In plain
// mode the process dies, which its parent reports as a crash.
#include <signal.h>
#include <ucontext.h>

#include "machine.h"

namespace simt {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
constexpr int kCount = sizeof kSignals / sizeof kSignals[0];
struct sigaction previous[kCount];
stack_t previous_stack;
alignas(16) char handler_stack[64 * 1024];

// One past the faulting instruction, as if it were a return address.
uint64_t pc_of(void* context) {
#if defined(__x86_64__)
  auto* u = static_cast<ucontext_t*>(context);
  return static_cast<uint64_t>(u->uc_mcontext.gregs[REG_RIP]) + 1;
#else
  (void)context;
  return 0;
#endif
}

void on_signal(int number, siginfo_t* info, void* context) {
  if (!simt_now) {  // not a kernel's doing
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  bool memory = number == SIGSEGV || number == SIGBUS;
  Finding f = finding_here(memory ? SIMT_FAULT : SIMT_UNDEFINED, 0);
  f.detail = static_cast<uint32_t>(number);
  f.pc = pc_of(context) - reinterpret_cast<uint64_t>(running_image.low);
  if (memory) f = locate(f, static_cast<const char*>(info->si_addr));
  report_fatal(f);
}

}  // namespace

void faults_begin() {
  stack_t stack = {};
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  sigaltstack(&stack, &previous_stack);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // NODEFER: the handler leaves by switching stacks, so nobody would unblock the signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], &action, &previous[i]);
}

void faults_end() {
  for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], &previous[i], nullptr);
  sigaltstack(&previous_stack, nullptr);
}

}  // namespace simt
