"""Launches end as outcomes, leave nothing behind, and cost little; stacks switch everywhere."""

from __future__ import annotations

import os
import subprocess
import time

import numpy as np
import pytest

from tang.device import CompilerOptions, Crash, Job, OutOfMemory, Poison, Ran, Timeout, poison_word
from tang.device.simt import Kind, Launch, Simt
from tang.device.simt.build import FOLDER
from tang.emit import UnsupportedError
from tang.errors import DeviceError, LimitError
from tang.kernel import ir as k

KERNEL = k.Kernel(
    "act",
    (k.Param("x", k.F32, False), k.Param("y", k.F32, True)),
    (k.Var(k.I64, "what"),),
    (),
    workgroup=32,
)
TEXT = """
extern "C" void abort();
__device__ int calls;
__global__ void act(float* x, float* y, long long what) {
  __shared__ float left[4];
  if (threadIdx.x == 0) ++calls;
  if (what == 1) *(volatile int*)0 = 1;
  if (what == 2) for (volatile int i = 0;; ++i);
  if (what == 3) abort();
  if (what == 4) for (long long i = 0;; i += 512) y[i] = 1;
  if (what == 5) y[1 << 28] = y[0];
  if (what == 6) left[threadIdx.x & 3] = what;
  if (what == 7) printf("{\\"spent\\": []}\\n");
  if (what == 8 && threadIdx.x < 9) __syncthreads();
  if (what == 9) y[2] = left[1];
  if (threadIdx.x == 0) y[0] = what, y[1] = calls;
}
"""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    """The CUDA device; skipped without g++, except in CI."""
    try:
        device = Simt("cuda", CompilerOptions(cache=tmp_path_factory.getbasetemp() / "simt"))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield device
    device.close()


@pytest.fixture(scope="module")
def act(cuda):
    """The kernel that does what it is told."""
    return cuda.compile_text(KERNEL, TEXT, "act")


def job(act, what, groups=1, **options):
    x = np.arange(4, dtype=np.float32)
    return Job(act, (x, np.zeros(4, np.float32)), (what,), groups, **options)


def value(outcome):
    """What the kernel was told, from an outcome that left everything else alone."""
    assert isinstance(outcome, Ran), outcome
    word = poison_word(k.F32, Poison.NAN)
    assert len(outcome.memories) == 2
    assert all(m.intact(word) for m in outcome.memories)
    assert outcome.memories[0].data.tolist() == [0, 1, 2, 3]
    return outcome.memories[1].data[0]


@pytest.mark.parametrize(
    ("what", "reason"),
    [(1, "SIGSEGV"), (3, "SIGABRT"), (4, "SIGSEGV"), (5, "SIGSEGV"),
     (8, "barrier-divergence at act:14")],
    ids=["null", "abort", "runs on", "far away", "divergence"],
)  # fmt: skip
def test_a_crash_is_a_result_and_its_neighbours_are_right(what, reason, act, cuda):
    before, crash, after = cuda.run([job(act, 10), job(act, what), job(act, 11)])
    assert isinstance(crash, Crash)
    assert crash.reason.startswith(reason)
    assert (value(before), value(after)) == (10, 11)


def test_a_hang_is_a_result_within_its_deadline(act, cuda):
    start = time.monotonic()
    before, hang, after = cuda.run([job(act, 10), job(act, 2), job(act, 11)], deadline=0.5)
    assert hang == Timeout(0.5)
    assert (value(before), value(after)) == (10, 11)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("what", [1, 4, 5])
def test_in_check_mode_a_wild_access_is_a_finding_and_the_process_lives(what, act, cuda):
    first, bad, last = cuda.check([job(act, 10), job(act, what), job(act, 11)])
    assert {f.kind for f in bad.findings} & {Kind.OUT_OF_BOUNDS, Kind.FAULT}
    assert isinstance(bad.outcome, Crash)
    assert value(last.outcome) == 11
    calls = [c.outcome.memories[1].data[1] for c in (first, last)]
    assert calls[1] > calls[0]  # the same process


def test_shared_memory_holds_nan_at_the_start_of_each_block(act, cuda):
    filled, read = cuda.run([job(act, 6), job(act, 9)])
    assert value(filled) == 6
    assert isinstance(read, Ran)
    assert np.isnan(read.memories[1].data[2])


def test_what_a_kernel_prints_does_not_disturb_the_talk(act, cuda):
    assert value(cuda.run([job(act, 7)])[0]) == 7


def test_no_workgroups_change_nothing(act, cuda):
    (ran,) = cuda.run([job(act, 10, groups=0)])
    assert value(ran) == 0


def test_buffers_beyond_the_limit_are_out_of_memory(tmp_path_factory):
    cache = tmp_path_factory.getbasetemp() / "simt"
    device = Simt("cuda", CompilerOptions(cache=cache), memory=2**28)
    compiled = device.compile_text(KERNEL, TEXT, "act")
    huge = Job(compiled, (np.zeros(2**27, np.float32), np.zeros(1, np.float32)), (0,), 1)
    large = Job(compiled, (np.zeros(2**24, np.float32), np.zeros(4, np.float32)), (12,), 1)
    assert isinstance(device.run([huge])[0], OutOfMemory)
    (shadowed,), (ran,) = device.check([large]), device.run([job(compiled, 11)])
    assert isinstance(shadowed.outcome, OutOfMemory)
    assert value(ran) == 11
    device.close()


def test_a_launch_in_this_process_computes_and_reports_divergence(act, cuda):
    x, y = cuda.upload(k.F32, np.zeros(4)), cuda.upload(k.F32, np.zeros(4))
    cuda.launch(act, (x, y), (10,), 1)
    assert cuda.download(y)[0] == 10
    with pytest.raises(DeviceError, match="barrier-divergence at act:14"):
        cuda.launch(act, (x, y), (8,), 1)
    cuda.launch(act, (x, y), (11,), 1)
    assert cuda.download(y)[0] == 11
    assert len(cuda.time(job(act, 10, repeat=3))) == 3


def test_limits_are_errors_before_the_launch(act, cuda):
    with pytest.raises(LimitError, match="1056 threads a block"):
        cuda.run([job(act, 1)], launches=(Launch(block=(33, 32, 1)),))
    with pytest.raises(LimitError, match="shared memory"):
        cuda.run([job(act, 1)], launches=(Launch(shared=2**20),))


def test_what_is_outside_is_refused_with_its_line(cuda):
    with pytest.raises(UnsupportedError, match="line 2: inline PTX"):
        cuda.compile_text(KERNEL, '__global__ void act() {\nasm("trap;"); }', "act")


def test_an_unknown_language_is_refused(tmp_path):
    with pytest.raises(DeviceError, match="not 'wgsl'"):
        Simt("wgsl", CompilerOptions(cache=tmp_path))


def test_equal_texts_share_a_library(act, cuda):
    assert cuda.compile_text(KERNEL, TEXT, "act").library == act.library


def test_hundreds_of_launches_take_less_than_a_process_each(act, cuda):
    jobs = [job(act, 10) for _ in range(200)]
    cuda.run(jobs[:1])
    start = time.perf_counter()
    assert {value(o) for o in cuda.run(jobs)} == {10}
    assert time.perf_counter() - start < 200 * 8e-3


SWITCH = """
#include "context.h"
#include <stdio.h>
static simt::Context main_context, other;
static int steps;
static void run() {
  for (;;) { ++steps; simt::switch_context(other, main_context); }
}
int main() {
  static char stack[65536];
  simt::make_context(other, stack, stack + sizeof stack, run);
  for (int i = 0; i < 1000; ++i) simt::switch_context(main_context, other);
  return printf("%d\\n", steps) < 0;
}
"""


@pytest.mark.parametrize("choice", ["defined(__x86_64__)", "0"], ids=["native", "ucontext"])
def test_stacks_switch_by_assembly_and_by_ucontext(choice, cuda, tmp_path):
    source, program = tmp_path / "switch.cpp", tmp_path / "switch"
    for name in ("context.h", "context.cpp"):
        text = (FOLDER / "runtime" / name).read_text()
        (tmp_path / name).write_text(text.replace("defined(__x86_64__)", choice))
    source.write_text(SWITCH)
    command = ["g++", "-std=c++17", "-O1", str(source), str(tmp_path / "context.cpp")]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    assert done.stdout == "1000\n"
