"""The checks are silent on right kernels and name the line of every planted bug."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from tang.device import CompilerOptions, Crash, Job, Poison, Ran, poisoned
from tang.device.simt import Binding, Kind, Launch, Simt
from tang.errors import DeviceError
from tang.kernel import ir as k

PARAMS = (k.Param("x", k.F32, False), k.Param("y", k.F32, True))
KERNEL = k.Kernel("case", PARAMS, (k.Var(k.I32, "n"),), ())
N = 1024

SOFTMAX = """
extern __shared__ __align__(16) unsigned char memory[];
__global__ void case_(const float* __restrict__ x, float* __restrict__ y, int n) {
  __shared__ float red[8];
  float* row = reinterpret_cast<float*>(memory);
  const float* xr = x + (size_t)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = xr[i];
  __syncthreads();
  float m = -3.4e38f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[(i + 1) % n]);
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = m;
  __syncthreads();
  m = red[threadIdx.x & 7];
  for (int o = 4; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
  __syncthreads(); /* between reading red and writing it again */
  float s = 0.f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float e = expf(row[i] - m); row[i] = e; s += e; }
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
  if ((threadIdx.x & 31) == 0) red[threadIdx.x >> 5] = s;
  __syncthreads();
  s = 0.f;
  for (int i = 0; i < 8; i++) s += red[i];
  float inv = 1.0f / s;
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[(size_t)blockIdx.x * n + i] = row[i] * inv;
}
"""  # noqa: E501

SOFTMAX_BUGS = {
    "no barrier after loading": (
        "row[i] = xr[i];\n  __syncthreads();", "row[i] = xr[i];\n", Kind.RACE),
    "no barrier between two uses": (
        "  __syncthreads(); /* between", "  /* between", Kind.RACE),
    "no barrier before the sum": ("= s;\n  __syncthreads();", "= s;\n", Kind.RACE),
    "half of the maxima missing": (
        "& 31) == 0) red[threadIdx.x >> 5] = m", "& 63) == 0) red[threadIdx.x >> 5] = m",
        Kind.UNINITIALISED),
    "one thread leaves early": (
        "  float m = -3.4e38f;", "  if (threadIdx.x == 77) return; float m = -3.4e38f;",
        Kind.BARRIER_DIVERGENCE),
    "one warp leaves early": (
        "  float m = -3.4e38f;", "  if (threadIdx.x < 32) return; float m = -3.4e38f;",
        Kind.BARRIER_DIVERGENCE),
    "barriers of different number": (
        "  float s = 0.f;", "  if (threadIdx.x < 128) __syncthreads();\n  float s = 0.f;",
        Kind.BARRIER_DIVERGENCE),
    "barriers at different lines": (
        "  float s = 0.f;",
        "  if (threadIdx.x < 128) __syncthreads();\n  else\n __syncthreads();  float s = 0.f;",
        Kind.BARRIER_DIVERGENCE),
    "reading past the end": ("xr[i];", "xr[i + 1];", Kind.OUT_OF_BOUNDS),
    "writing past the end": ("* n + i] = row", "* n + i + 4] = row", Kind.OUT_OF_BOUNDS),
    "far out of bounds": ("xr[i];", "xr[i + (1 << 27)];", Kind.OUT_OF_BOUNDS),
    "bytes for floats": ("+ (size_t)blockIdx.x * n;", "+ (size_t)blockIdx.x * n * 4;",
                         Kind.OUT_OF_BOUNDS),
    "array too small": ("s += red[i];", "s += red[i + 1];", Kind.UNDEFINED),
    "dynamic memory too small": ("row[i] = xr[i];", "row[i + 64] = xr[i];", Kind.OUT_OF_BOUNDS),
    "blocks write the same row": (
        "y[(size_t)blockIdx.x * n + i]", "y[i]", Kind.RACE),
    "output read first": ("= row[i] * inv;", "+= row[i] * inv;", Kind.UNINITIALISED),
    "input written": (
        "  float inv", "  const_cast<float*>(xr)[threadIdx.x] = s; float inv",
        Kind.CONSTANT_WRITE),
    "null pointer": ("xr[i];", "((const float*)nullptr)[i];", Kind.OUT_OF_BOUNDS),
    "misaligned vector": (
        "  float inv", "  y[0] += reinterpret_cast<const float4*>(xr + 1)->x; float inv",
        Kind.UNDEFINED),
    "assertion": ("  float inv", "  assert(threadIdx.x < 200); float inv", Kind.ASSERTION),
    "shift too far": ("  float inv", "  if (1 << (n / 16) == 3) s = 1; float inv", Kind.UNDEFINED),
    "mask without the lane": (
        "s += __shfl_down_sync(0xffffffffu, s, o)", "s += __shfl_down_sync(0xfffffffeu, s, o)",
        Kind.WARP_DIVERGENCE),
}  # fmt: skip


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


def softmax_job(cuda, text):
    compiled = cuda.compile_text(KERNEL, text, "case_")
    x = np.linspace(-3, 3, 2 * N).astype(np.float32).reshape(2, N)
    return Job(compiled, (x, poisoned(k.F32, (2, N), Poison.NAN)), (N,), 2)


HOW = Launch(block=(256, 1, 1), shared=4 * N)


@pytest.mark.parametrize("order", [0, 1, 5], ids=["ascending", "descending", "shuffled"])
def test_a_right_kernel_has_no_findings_in_any_order_of_threads(order, cuda):
    job = softmax_job(cuda, SOFTMAX)
    how = Launch(block=HOW.block, shared=HOW.shared, order=order)
    (checked,) = cuda.check((job,), launches=(how,))
    assert [f.message for f in checked.findings] == []
    assert isinstance(checked.outcome, Ran)
    x = job.buffers[0].astype(np.float64)
    e = np.exp(x - x.max(1, keepdims=True))
    y = checked.outcome.memories[1].data
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


@pytest.fixture(scope="module")
def planted(cuda):
    """Every bug in a kernel of its own, compiled and checked as one batch."""
    texts = []
    for i, (old, new, _) in enumerate(SOFTMAX_BUGS.values()):
        assert SOFTMAX.count(old) == 1
        texts.append(SOFTMAX.replace(old, new).replace("case_", f"bug{i}_"))
    text = "".join(texts)
    kernels = [(KERNEL, Binding(f"bug{i}_")) for i in range(len(texts))]
    job = softmax_job(cuda, SOFTMAX)
    jobs = [replace(job, compiled=c) for c in cuda.compile_texts(kernels, text)]
    checked = cuda.check(jobs, launches=(HOW,) * len(jobs))
    return dict(zip(SOFTMAX_BUGS, checked, strict=True)), text.splitlines()


@pytest.mark.parametrize("name", SOFTMAX_BUGS)
def test_a_planted_bug_is_found(name, planted):
    (results, lines), kind = planted, SOFTMAX_BUGS[name][2]
    findings = results[name].findings
    assert kind in {f.kind for f in findings}, [f.message for f in findings]
    found = next(f for f in findings if f.kind is kind)
    assert found.kernel == "case"
    assert found.line > 0
    assert found.source == lines[found.line - 1].strip()
    assert found.message


def test_endless_recursion_is_a_fault_of_its_stack(cuda):
    text = """
__device__ __noinline__ float deep(float v) {
  volatile float a[64];
  a[0] = v;
  return v > 0 ? deep(a[0] + 1) + a[0] : 0;
}
__global__ void case_(const float* x, float* y, int n) { y[0] = deep(1); }
"""
    job = softmax_job(cuda, text)
    (found,) = cuda.check((job,), launches=(HOW,))[0].findings
    assert (found.kind, found.place) == (Kind.FAULT, "stack")


def test_a_finding_names_both_threads_and_the_bytes(cuda):
    text = """
__global__ void case_(const float* x, float* y, int n) {
  if (threadIdx.x == 3) y[5] = 1;
  if (threadIdx.x == 40) y[5] = 2;
}
"""
    compiled = cuda.compile_text(KERNEL, text, "case_")
    job = Job(compiled, (np.zeros(8, np.float32), np.zeros(8, np.float32)), (8,), 1)
    (found,) = cuda.check((job,))[0].findings
    assert (found.kind, found.line, found.place, found.offset, found.bytes) == (
        Kind.RACE, 4, "y", 20, 4,
    )  # fmt: skip
    assert (found.thread, found.other_thread, found.block) == ((40, 0, 0), 3, (0, 0, 0))
    assert "write after write with thread 3 on 4 bytes at y+20" in found.message


def test_divergence_ends_a_plain_run_as_a_crash_with_its_reason(cuda):
    old, new, _ = SOFTMAX_BUGS["one warp leaves early"]
    job = softmax_job(cuda, SOFTMAX.replace(old, new))
    before, bad, after = cuda.run(
        (softmax_job(cuda, SOFTMAX), job, softmax_job(cuda, SOFTMAX)), launches=(HOW,) * 3
    )
    assert isinstance(bad, Crash)
    assert "barrier-divergence at case:" in bad.reason
    assert "exited" in bad.reason
    assert isinstance(before, Ran)
    assert isinstance(after, Ran)
    assert before.memories[1].data.tobytes() == after.memories[1].data.tobytes()


def test_threads_that_left_may_count_as_arrived(cuda):
    old, new, _ = SOFTMAX_BUGS["one warp leaves early"]
    text = SOFTMAX.replace(old, new).replace("red[threadIdx.x & 7]", "red[1 + threadIdx.x % 7]")
    how = Launch(block=HOW.block, shared=HOW.shared, lenient=True)
    (checked,) = cuda.check((softmax_job(cuda, text),), launches=(how,))
    assert Kind.BARRIER_DIVERGENCE not in {f.kind for f in checked.findings}


WARP = """
__global__ void case_(const float* x, float* y, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp();
  float v = (t & 31) < 16 ? s[t] + s[t + 16] : 0;
  if ((t & 31) < 16) {
    s[t] = v;
    __syncwarp(0xffffu);
    y[t] = s[t ^ 1];
  }
}
"""


@pytest.mark.parametrize("line", [None, 6, 10])
def test_synchronisation_within_a_warp_orders_its_lanes(line, cuda):
    lines = WARP.splitlines()
    if line is not None:
        assert "__syncwarp" in lines[line - 1]
        lines[line - 1] = ""
    compiled = cuda.compile_text(KERNEL, "\n".join(lines), "case_")
    x = np.arange(64, dtype=np.float32)
    (checked,) = cuda.check((Job(compiled, (x, np.zeros(64, np.float32)), (64,), 1),))
    kinds = {f.kind for f in checked.findings}
    assert (Kind.RACE in kinds) == (line is not None), [f.message for f in checked.findings]


CROSS = """
__global__ void case_(const float* x, float* y, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = s[threadIdx.x ^ 32];
}
"""


def test_synchronisation_within_a_warp_does_not_order_warps(cuda):
    compiled = cuda.compile_text(KERNEL, CROSS, "case_")
    x = np.arange(64, dtype=np.float32)
    (checked,) = cuda.check((Job(compiled, (x, np.zeros(64, np.float32)), (64,), 1),))
    assert {f.kind for f in checked.findings} == {Kind.RACE, Kind.UNINITIALISED}


def test_neighbouring_halves_are_no_race_and_equal_ones_are(cuda):
    kernel = k.Kernel("halves", (k.Param("h", k.F16, True),), (k.Var(k.I32, "step"),), ())
    text = """
#include <cuda_fp16.h>
__global__ void halves_(__half* h, int step) {
  __shared__ __half s[64];
  s[threadIdx.x / step] = __float2half(threadIdx.x);
  __syncthreads();
  h[threadIdx.x] = s[threadIdx.x / step];
}
"""
    compiled = cuda.compile_text(kernel, text, "halves_")
    jobs = [Job(compiled, (np.zeros(64, np.float16),), (step,), 1) for step in (1, 2)]
    clean, racy = cuda.check(jobs)
    assert [f.message for f in clean.findings] == []
    assert [(f.kind, f.line, f.place) for f in racy.findings] == [(Kind.RACE, 5, "shared")]


def test_plain_accesses_beside_atomic_ones_race(cuda):
    text = """
__global__ void case_(const float* x, float* y, int n) {
  atomicAdd(y, 1.0f);
  if (threadIdx.x == n) y[0] = 2;
}
"""
    compiled = cuda.compile_text(KERNEL, text, "case_")
    jobs = [
        Job(compiled, (np.zeros(4, np.float32), np.zeros(4, np.float32)), (n,), 2) for n in (-1, 5)
    ]
    clean, racy = cuda.check(jobs)
    assert clean.findings == ()
    assert {(f.kind, f.line) for f in racy.findings} >= {(Kind.RACE, 4)}


def test_a_batch_checks_each_kernel_by_its_own_name(cuda):
    text = SOFTMAX + CROSS.replace("case_", "other_")
    named = k.Kernel("other", PARAMS, KERNEL.scalars, ())
    kernels = [(KERNEL, Binding("case_")), (named, Binding("other_"))]
    _, other = cuda.compile_texts(kernels, text)
    x = np.arange(64, dtype=np.float32)
    (checked,) = cuda.check((Job(other, (x, np.zeros(64, np.float32)), (64,), 1),))
    assert {f.kernel for f in checked.findings} == {"other"}
    assert "y[threadIdx.x] = s[threadIdx.x ^ 32];" in {f.source for f in checked.findings}


LAST_BLOCK = """
__global__ void case_(const float* x, float* y, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    y[1 + blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicAdd((unsigned*)&y[0], 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) y[8 + threadIdx.x] = y[1 + threadIdx.x];
}
"""


@pytest.mark.parametrize("fence", [True, False], ids=["with a fence", "without"])
def test_the_last_block_may_read_what_all_published(fence, cuda):
    text = LAST_BLOCK if fence else LAST_BLOCK.replace("    __threadfence();\n", "\n")
    compiled = cuda.compile_text(KERNEL, text, "case_")
    x = np.arange(5, dtype=np.float32)
    (checked,) = cuda.check((Job(compiled, (x, np.zeros(16, np.float32)), (5,), 5),))
    assert [(f.kind, f.line) for f in checked.findings] == ([] if fence else [(Kind.RACE, 10)])
    if fence:
        assert checked.outcome.memories[1].data[8:13].tolist() == x.tolist()


def test_the_reason_for_an_end_is_the_last_finding_even_when_many_precede(cuda):
    writes = "\n".join(f"  y[{i}] = threadIdx.x;" for i in range(40))
    end = "  if (threadIdx.x == 63) y[n] = 1;\n}\n"
    text = f"__global__ void case_(const float* x, float* y, int n) {{\n{writes}\n{end}"
    compiled = cuda.compile_text(KERNEL, text, "case_")
    job = Job(compiled, (np.zeros(64, np.float32), np.zeros(64, np.float32)), (64,), 1)
    (checked,) = cuda.check((job,))
    assert len(checked.findings) == 32
    last = checked.findings[-1]
    assert (last.kind, last.line, last.place, last.offset) == (Kind.OUT_OF_BOUNDS, 42, "y", 256)
    assert isinstance(checked.outcome, Crash)
    assert checked.outcome.reason.startswith("out-of-bounds at case:42")


PIPELINE = """
#include <cuda_pipeline.h>
__global__ void case_(const float* x, float* y, int n) {
  __shared__ __align__(16) float s[2][256];
  int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&s[0][t * 4], x + t * 4, 16);
  __pipeline_commit();
  for (int i = 0; i < n; ++i) {
    if (i + 1 < n) __pipeline_memcpy_async(&s[(i + 1) & 1][t * 4], x + (i + 1) * 256 + t * 4, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads(); // loaded
    sum += s[i & 1][255 - t];
    __syncthreads(); // before the next copy
  }
  y[t] = sum;
}
"""
PIPELINE_BUGS = {
    "no wait": "    __pipeline_wait_prior(1);\n",
    "no barrier after the wait": "    __syncthreads(); // loaded\n",
    "no barrier before the next copy": "    __syncthreads(); // before the next copy\n",
}


@pytest.mark.parametrize("bug", [None, *PIPELINE_BUGS])
def test_asynchronous_copies_land_at_the_wait_and_need_their_barriers(bug, cuda):
    text = PIPELINE.replace(PIPELINE_BUGS[bug], "\n") if bug else PIPELINE
    compiled = cuda.compile_text(KERNEL, text, "case_")
    x = np.arange(1024, dtype=np.float32)
    job = Job(compiled, (x, np.zeros(64, np.float32)), (4,), 2)
    (checked,) = cuda.check((job,))
    kinds = {f.kind for f in checked.findings if f.place == "shared"}
    assert Kind.RACE in kinds if bug else not kinds, [f.message for f in checked.findings]
    (ran,) = cuda.run((job,))
    assert isinstance(ran, Ran)
    wanted = x.reshape(4, 256)[:, :191:-1].sum(0)
    if bug is None:
        np.testing.assert_array_equal(ran.memories[1].data, wanted)
    if bug == "no wait":
        assert np.isnan(ran.memories[1].data).all()
