"""Whatever a kernel does in the worker becomes an outcome, and the jobs around it are unharmed."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tang.device import (
    CompilerOptions,
    Crash,
    HostC,
    Job,
    OutOfMemory,
    Poison,
    Ran,
    Timeout,
    poison_word,
)
from tang.errors import DeviceError
from tang.kernel import ir as k

KERNEL = k.Kernel(
    "foreign",
    (k.Param("x", k.F32, False), k.Param("y", k.F32, True)),
    (k.Var(k.I64, "what"),),
    (),
)
TEXT = """
#include <stdio.h>
#include <stdlib.h>
void foreign(float *x, float *y, long long what, long long first, long long last) {
    static long long calls = 0;
    ++calls;
    if (what == 1) *(volatile int *)0 = 1;
    if (what == 2) for (volatile int i = 0;; ++i);
    if (what == 3) abort();
    if (what == 4) exit(3);
    if (what == 5) for (long long i = 0;; i += 512) y[i] = 1;       /* leaves its pages */
    if (what == 6) for (long long i = 0;; i -= 512) x[i] = 1;
    if (what == 7) for (;;) { volatile char *p = malloc(1 << 24); p[0] = p[1 << 23] = 1; }
    if (what == 8) foreign(x, y, 8, first, last), foreign(x, y, 8, first, last);
    if (what == 9) for (long long i = 0; i < 2000000000; ++i) if (y[i] > 2) y[0] = y[i];
    if (what == 12) puts("{\\"spent\\": []}"), fflush(stdout), getchar();
    y[0] = what;
    y[1] = calls;
}
"""


@pytest.fixture
def bad(host):
    return host.compile_text(KERNEL, TEXT, "foreign")


def job(compiled, what, **options):
    x = np.arange(4, dtype=np.float32)
    return Job(compiled, (x, np.zeros(4, np.float32)), (what,), 1, **options)


def value(outcome):
    assert isinstance(outcome, Ran), outcome
    word = poison_word(k.F32, Poison.NAN)
    assert all(m.intact(word) for m in outcome.memories)
    assert outcome.memories[0].data.tolist() == [0, 1, 2, 3]
    return outcome.memories[1].data[0]


@pytest.mark.parametrize(
    ("what", "reason"),
    [(1, "SIGSEGV"), (3, "SIGABRT"), (4, "exit status 3"), (5, "SIGSEGV"), (6, "SIGSEGV"),
     (8, "SIGSEGV"), (9, "SIGSEGV")],
    ids=["null", "abort", "exit", "runs up", "runs down", "stack", "reads on"],
)  # fmt: skip
def test_a_crash_is_a_result_and_its_neighbours_are_right(what, reason, bad, host):
    before, crash, after = host.run([job(bad, 10), job(bad, what), job(bad, 11)])
    assert crash == Crash(reason)
    assert (value(before), value(after)) == (10, 11)


def test_a_hang_is_a_result_within_its_deadline(bad, host):
    start = time.monotonic()
    before, hang, after = host.run([job(bad, 10), job(bad, 2), job(bad, 11)], deadline=0.3)
    assert hang == Timeout(0.3)
    assert (value(before), value(after)) == (10, 11)
    assert time.monotonic() - start < 10


def test_hunger_for_memory_ends_at_the_limit(tmp_path):
    device = HostC(CompilerOptions(cache=tmp_path), memory=2**28)
    compiled = device.compile_text(KERNEL, TEXT, "foreign")
    hungry, after = device.run([job(compiled, 7), job(compiled, 11)])
    assert isinstance(hungry, Crash)
    assert value(after) == 11
    big = Job(compiled, (np.zeros(2**27, np.float32), np.zeros(1, np.float32)), (0,), 1)
    refused, after = device.run([big, job(compiled, 12)])
    assert isinstance(refused, OutOfMemory)
    assert value(after) == 12
    device.close()


def test_what_a_kernel_prints_or_reads_does_not_disturb_the_talk(bad, host):
    assert [value(o) for o in host.run([job(bad, 12), job(bad, 10)])] == [12, 10]


def test_one_worker_serves_many_requests(bad, host):
    (first,) = host.run([job(bad, 10)])
    (second,) = host.run([job(bad, 10)])
    assert second.memories[1].data[1] == first.memories[1].data[1] + 1


def test_a_closed_device_can_run_again(bad, host):
    host.close()
    host.close()
    assert value(host.run([job(bad, 10)])[0]) == 10


def test_buffers_of_any_size_come_back(bad, host):
    for n in (4, 1000, 3_000_000, 17):
        x = np.random.default_rng(n).random(n, np.float32)
        (ran,) = host.run([Job(bad, (x, x), (10,), 1)])
        assert isinstance(ran, Ran)
        assert (ran.memories[0].data == x).all()
        assert (ran.memories[1].data[2:] == x[2:]).all()


def test_repetitions_are_timed(bad, host):
    seconds = host.time(job(bad, 10, repeat=5))
    assert len(seconds) == 5
    assert all(0 <= s < 1 for s in seconds)
    with pytest.raises(DeviceError, match="SIGABRT"):
        host.time(job(bad, 3))


def test_no_jobs_give_no_outcomes(host):
    assert host.run([]) == ()
