"""The checks are silent on a right product of warp matrices and name what is wrong with others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tang.device import Crash, Job, Poison, Ran, poisoned
from tang.device.simt import Binding, Kind, Launch, unsupported
from tang.errors import DeviceError
from tang.kernel import ir as k

NAMES = {"a": k.F16, "b": k.F16, "d": k.F32}
KERNEL = k.Kernel(
    "case_", tuple(k.Param(n, t, n == "d") for n, t in NAMES.items()), (), (), workgroup=64
)

HEAD = """
#include <mma.h>
using namespace nvcuda::wmma;
typedef fragment<matrix_a, 16, 16, 16, half, row_major> Left;
typedef fragment<matrix_b, 16, 16, 16, half, col_major> Right;
typedef fragment<accumulator, 16, 16, 16, float> Sum;
"""
BODY = """
__global__ void case_(const half* a, const half* b, float* d) {
  __shared__ half stage[256];
  int warp = threadIdx.x / 32;
  Left x;
  Right y;
  Sum z;
  fill_fragment(z, 0.0f);
  for (int i = threadIdx.x; i < 256; i += 64) stage[i] = b[i];
  __syncthreads();
  load_matrix_sync(x, a + warp * 256, 16);
  load_matrix_sync(y, stage, 16);
  mma_sync(z, x, y, z);
  for (int i = 0; i < z.num_elements; ++i) z.x[i] = 2.0f * z.x[i];
  store_matrix_sync(d + warp * 256, z, 16, mem_row_major);
}
"""

FILL, LOAD = "fill_fragment(z, 0.0f);", "load_matrix_sync(x, a + warp * 256, 16);"
STORE = "store_matrix_sync(d + warp * 256, z, 16, mem_row_major);"
ALL, SOME = "i < z.num_elements; ++i) z.x[i] = 0;", "i < 7; ++i) z.x[i] = 0;"

RIGHT = {
    "as it stands": ("", ""),
    "an accumulator set by hand": (FILL, f"for (int i = 0; {ALL}"),
    "an accumulator that is a NaN": (FILL, "fill_fragment(z, __int_as_float(-1));"),
    "a copy of a fragment": (FILL, "Sum none; fill_fragment(none, 0.0f); z = none;"),
    "a result by columns": (STORE, STORE.replace("row", "col")),
    "a wider row": (STORE, "if (warp == 0) store_matrix_sync(d, z, 32, mem_row_major);"),
}

WRONG = {
    "a sum that starts from nothing": (
        FILL, "", Kind.UNINITIALISED, "mma_sync(z", "a fragment has elements that nothing has set"),
    "an element forgotten": (
        FILL, f"for (int i = 0; {SOME}", Kind.UNINITIALISED, "mma_sync(z", "nothing has set"),
    "an operand never loaded": (LOAD, "", Kind.UNINITIALISED, "mma_sync(z", "nothing has set"),
    "a result never computed": (
        STORE, "Sum w;\n  " + STORE.replace("z,", "w,"), Kind.UNINITIALISED,
        "store_matrix", "nothing has set"),
    "a lane that leaves": (
        "load_matrix_sync(x", "if (threadIdx.x == 5) return;\n  load_matrix_sync(x",
        Kind.WARP_DIVERGENCE, "load_matrix_sync(x", ""),
    "half of a warp multiplies": (
        "mma_sync(z, x", "if (threadIdx.x & 16) mma_sync(z, x", Kind.WARP_DIVERGENCE,
        "store_matrix", "lanes of one mask are in different calls"),
    "lanes with addresses of their own": (
        "a + warp * 256", "a + warp * 256 + threadIdx.x * 16 % 256", Kind.UNDEFINED, "load_matrix",
        "lanes of a warp give different addresses"),
    "a start that is not aligned": (
        "a + warp * 256", "a + warp * 256 + 8", Kind.MISALIGNED, "load_matrix_sync(x",
        "must start at a multiple of 32 bytes"),
    "a row that is not aligned": (
        "256, 16);", "256, 20);", Kind.MISALIGNED, "load_matrix_sync(x", "multiple of 16 bytes"),
    "operands past the end": (
        "a + warp * 256", "a + warp * 512", Kind.OUT_OF_BOUNDS, "load_matrix_sync(x",
        "read of 2 bytes at a+1"),
    "results past the end": (
        "d + warp * 256", "d + 256 + warp * 256", Kind.OUT_OF_BOUNDS, "store_matrix_sync",
        "write of 4 bytes at d+"),
    "shared memory that nobody wrote": (
        "stage[i] = b[i];", "b[i];", Kind.UNINITIALISED, "load_matrix_sync(y", "of 2 bytes at sha"),
    "no barrier between warps": (
        "  __syncthreads();\n", "", Kind.RACE, "load_matrix_sync(y", "read after write"),
    "warps that store to one place": (
        "d + warp * 256", "d", Kind.RACE, "store_matrix_sync", "write after write"),
}  # fmt: skip


def edited(old, new, number):
    text = BODY.replace("case_", f"case{number}_")
    if old:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def checked(cuda):
    """Every case of both tables, compiled and checked as one text."""
    edits = [e[:2] for e in (*RIGHT.values(), *WRONG.values())]
    text = HEAD + "".join(edited(old, new, n) for n, (old, new) in enumerate(edits))
    pairs = [(KERNEL, Binding(f"case{n}_")) for n in range(len(edits))]
    rng = np.random.default_rng(1)
    a = rng.standard_normal((2, 16, 16)).astype(np.float16)
    b = rng.standard_normal((16, 16)).astype(np.float16)
    d = poisoned(k.F32, (2, 16, 16), Poison.NAN)
    jobs = [Job(c, (a, b, d), (), 1) for c in cuda.compile_texts(pairs, text)]
    results = cuda.check(jobs)
    wanted = 2 * (a.astype(np.float64) @ b.T.astype(np.float64))
    return dict(zip([*RIGHT, *WRONG], results, strict=True)), text.splitlines(), wanted


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_has_no_findings(name, checked):
    results, _, wanted = checked
    assert [f.message for f in results[name].findings] == []
    assert isinstance(results[name].outcome, Ran)
    found = results[name].outcome.memories[-1].data
    if name == "a result by columns":
        found = found.swapaxes(1, 2)
    if name in ("an accumulator that is a NaN", "a wider row"):
        return
    np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_bug_is_found_at_its_line(name, checked):
    results, lines, _ = checked
    _, _, kind, source, words = WRONG[name]
    findings = results[name].findings
    assert {f.kind for f in findings} == {kind}, [f.message for f in findings]
    assert source in findings[0].source, findings[0]
    assert lines[findings[0].line - 1].strip() == findings[0].source
    assert words in findings[0].message


def test_a_block_of_half_a_warp_is_a_crash_without_checks_too(cuda):
    compiled = cuda.compile_text(KERNEL, HEAD + BODY, "case_")
    job = Job(compiled, (np.zeros(512, np.float16),) * 2 + (np.zeros(512, np.float32),), (), 1)
    (outcome,) = cuda.run([job], launches=[Launch(block=(16, 1, 1))])
    assert isinstance(outcome, Crash)
    assert "warp-divergence at case_:17" in outcome.reason
    assert "a whole warp must take part" in outcome.reason
    (again,) = cuda.run([replace(job)])
    assert isinstance(again, Ran)


def test_conversions_to_tf32_are_those_of_a_recorded_h200(cuda):
    text = """
    #include <mma.h>
    __global__ void f(const unsigned* x, unsigned* y) {
      float v = nvcuda::wmma::__float_to_tf32(__uint_as_float(x[threadIdx.x]));
      y[threadIdx.x] = __float_as_uint(v);
    }
    """
    bits = {
        0x7F800000: 0x7F800000, 0xFF800000: 0xFF800000, 0x7F800001: 0x7F800000,
        0x7FC00000: 0x7FC00000, 0xFFFFFFFF: 0xFFFFE000, 0x7F7FFFFF: 0x7F800000,
        0x7F7FF000: 0x7F800000, 0x7F7FEFFF: 0x7F7FE000, 0x80000000: 0x80000000, 0x1: 0x0,
        0x1000: 0x2000, 0x80000FFF: 0x80000000,
    }  # fmt: skip
    params = (k.Param("x", k.U32, False), k.Param("y", k.U32, True))
    kernel = k.Kernel("f", params, (), (), workgroup=len(bits))
    x = np.array(list(bits), np.uint32)
    (ran,) = cuda.run([Job(cuda.compile_text(kernel, text, "f"), (x, np.zeros_like(x)), (), 1)])
    assert dict(zip(x.tolist(), ran.memories[1].data.tolist(), strict=True)) == bits


PTX = 'asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0}, {%1};" :: "r"(x));'
OUTSIDE = {
    "wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;":
        "wmma fragments of integers and f64",
    "fragment<accumulator, 8, 8, 4, double> a;": "wmma fragments of integers and f64",
    "wmma::bmma_sync(d, a, b, c);": "wmma fragments of 4 bits and of 1",
    PTX: "inline PTX: nvcuda::wmma of <mma.h> computes here what mma.sync does",
    'asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0};" :: );\n' + PTX:
        "inline PTX: nvcuda::wmma of <mma.h> computes here what mma.sync does",
    'asm("mov.u32 %0, %laneid;");': "inline PTX",
}  # fmt: skip


@pytest.mark.parametrize("line", OUTSIDE, ids=range(len(OUTSIDE)))
def test_what_is_outside_is_named_and_cured(line):
    assert unsupported(f"\n{line}\n", "cuda") == (2, OUTSIDE[line])
    assert unsupported(HEAD + BODY, "cuda") is None


def test_a_shape_that_does_not_exist_is_refused_at_its_line(cuda):
    text = (HEAD + BODY).replace("accumulator, 16, 16, 16", "accumulator, 16, 16, 32")
    with pytest.raises(DeviceError, match=r"SIMT has no such fragment: docs/simt\.md lists them"):
        cuda.compile_text(KERNEL, text, "case_")
