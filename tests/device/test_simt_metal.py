"""Metal text computes on the CPU what the language says, bound by its own attributes."""

from __future__ import annotations

import os

import numpy as np
import pytest

from tang.device import CompilerOptions, Crash, Job, Poison, Ran, poisoned
from tang.device.simt import Binding, Kind, Launch, Simt
from tang.errors import DeviceError
from tang.kernel import ir as k

KERNEL = k.Kernel(
    "case",
    (k.Param("x", k.F32, False), k.Param("out", k.F32, True)),
    (k.Var(k.I32, "n"),),
    (),
)

CASES = {
    "copy": ("x[i]", lambda x: x),
    "sum": ("simd_sum(x[i])", lambda x: np.where(x < 32, 496, 1520)),
    "product": ("simd_product(t % 16 == 3 ? 2.0f : 1.0f)", lambda x: 0 * x + 4),
    "maximum": ("simd_max(x[i]) + simd_min(x[i])", lambda x: np.where(x < 32, 31, 95)),
    "shuffle": ("simd_shuffle(x[i], 3)", lambda x: x // 32 * 32 + 3),
    "shuffle_xor": ("simd_shuffle_xor(x[i], 5)", lambda x: x ^ 5),
    "rotate": ("simd_shuffle_rotate_down(x[i], 1)", lambda x: x // 32 * 32 + (x + 1) % 32),
    "first": ("simd_broadcast_first(x[i])", lambda x: x // 32 * 32),
    "scan": ("simd_prefix_inclusive_sum(1)", lambda x: x % 32 + 1),
    "scan_before": ("simd_prefix_exclusive_sum(1)", lambda x: x % 32),
    "any": ("simd_any(t == 40)", lambda x: x >= 32),
    "all": ("simd_all(t < 32)", lambda x: x < 32),
    "quad": ("quad_shuffle_xor(x[i], 1)", lambda x: x ^ 1),
    "vector": ("((device const float4*)x)[i / 4][2]", lambda x: x // 4 * 4 + 2),
    "arithmetic": ("(float2(x[i], 1.0f) * 2.0f + float2(1.0f)).x", lambda x: 2 * x + 1),
    "dot": ("dot(float3(x[i], 1.0f, 2.0f), float3(1.0f, 2.0f, 3.0f))", lambda x: x + 8),
    "half": ("float(half(x[i] / 3.0f))", lambda x: (_third(x)).astype(np.float16)),
    "choose": ("select(1.0f, 2.0f, x[i] > 9.0f)", lambda x: np.where(x > 9, 2, 1)),
    "clamp": ("clamp(x[i], 3.0f, 9.0f)", lambda x: np.clip(x, 3, 9)),
    "bits": ("float(as_type<uint>(x[i]) == as_type<uint>(float(t)))", lambda x: 0 * x + 1),
    "root": ("precise::sqrt(x[i]) + fast::floor(0.5f)", lambda x: np.sqrt(x.astype(np.float32))),
    "fused": ("fma(x[i], 2.0f, -1.0f)", lambda x: 2 * x - 1),
    "constant": ("primes[t % 4]", lambda x: np.array([2, 3, 5, 7])[x % 4]),
    "ballot": ("float(ulong(simd_ballot(t < 4)))", lambda x: np.where(x < 32, 15, 0)),
    "scan_product": (
        "simd_prefix_inclusive_product(t % 32 < 3 ? 2.0f : 1.0f)",
        lambda x: 2.0 ** np.minimum(x % 32 + 1, 3),
    ),
    "packed": ("packed(x[i])", lambda x: x + 3),
    "halves": ("float((half2(half(x[i]), half(1)) + half2(half(2))).x)", lambda x: x + 2),
    "bfloats": (
        "float(bfloat(x[i]) * bfloat(2.0f)) + float(max(half(1), half(2)))",
        lambda x: 2 * x + 2,
    ),
    "integers": (
        "popcount(7u) + clz(1u) + mulhi(1u << 31, 6u) + rotate(1u, 33u) + abs(-2)",
        lambda x: 0 * x + 3 + 31 + 3 + 2 + 2,
    ),
    "steps": (
        "mix(0.0f, 4.0f, 0.5f) + sign(-3.0f) + saturate(9.0f) + fract(1.5f) + isnan(NAN)",
        lambda x: 0 * x + 2 - 1 + 1 + 0.5 + 1,
    ),
    "places": ("simd * 1000 + lane", lambda x: x // 32 * 1000 + x % 32),
}

HEAD = """
#include <metal_stdlib>
#include <metal_simdgroup>
using namespace metal;
constant int primes[4] = {2, 3, 5, 7};
static inline float packed(float v) {
  packed_float3 p = float3(v, 1.0f, 2.0f);
  array<float, 3> a;
  for (int i = 0; i < 3; ++i) a[i] = p[i];
  vec<float, 3> f(p);
  return a[0] + f.y + f[2];
}
"""


def _third(x):
    return np.float32(x) / np.float32(3)


def _case(name, expression):
    return (
        f"kernel void {name}_(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],"
        f" constant int& n [[buffer(2)]], uint i [[thread_position_in_grid]],\n"
        f" ushort t [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],"
        f" uint simd [[simdgroup_index_in_threadgroup]]) {{\n"
        f"  if (int(i) < n) out[i] = {expression};\n}}\n"
    )


@pytest.fixture(scope="module")
def metal(tmp_path_factory):
    """The Metal device; skipped without g++, except in CI."""
    try:
        device = Simt("msl", CompilerOptions(cache=tmp_path_factory.getbasetemp() / "simt"))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield device
    device.close()


@pytest.fixture(scope="module")
def cases(metal):
    """Every case, compiled as one text."""
    text = HEAD + "".join(_case(name, e) for name, (e, _) in CASES.items())
    kernels = [(KERNEL, Binding(f"{name}_")) for name in CASES]
    return dict(zip(CASES, metal.compile_texts(kernels, text), strict=True))


def checked_run(metal, job, how=None):
    """Memories of a job without findings, the same in both modes."""
    hows = (how or Launch(),)
    (checked,) = metal.check((job,), launches=hows)
    assert [f.message for f in checked.findings] == []
    (outcome,) = metal.run((job,), launches=hows)
    assert isinstance(outcome, Ran), outcome
    assert isinstance(checked.outcome, Ran)
    for a, b in zip(outcome.memories, checked.outcome.memories, strict=True):
        assert a.data.tobytes() == b.data.tobytes()
    return [m.data for m in outcome.memories]


@pytest.mark.parametrize("name", CASES)
def test_a_function_of_the_language_has_its_meaning(name, metal, cases):
    x = np.arange(64)
    buffers = (x.astype(np.float32), poisoned(k.F32, (64,), Poison.NAN))
    _, out = checked_run(metal, Job(cases[name], buffers, (64,), 1))
    expected = np.asarray(CASES[name][1](x), np.float64).astype(np.float32)
    np.testing.assert_array_equal(out, expected)


GEMM = """
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
struct Sizes { uint M, N, K; float alpha; };
[[max_total_threads_per_threadgroup(128)]]
kernel void gemm(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                 constant Sizes& p [[buffer(2)]], device float* out [[buffer(3)]],
                 device atomic_uint* blocks [[buffer(4)]],
                 threadgroup half* stage [[threadgroup(0)]],
                 threadgroup half* second [[threadgroup(1)]],
                 uint3 tg [[threadgroup_position_in_grid]], /* a, comment */
                 uint tid [[thread_index_in_threadgroup]],
                 uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[32 * 32];
  simdgroup_float8x8 acc[2][2];
  for (int i = 0; i < 4; i++) acc[i / 2][i % 2] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  const uint row = (sg >> 1) * 16, column = (sg & 1) * 16;
  for (uint k0 = 0; k0 < p.K; k0 += 16) {
    for (uint i = tid; i < 512; i += 128) stage[i] = a[(tg.y * 32 + i / 16) * p.K + k0 + i % 16];
    for (uint i = tid; i < 512; i += 128) second[i] = b[(k0 + i / 32) * p.N + tg.x * 32 + i % 32];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint kk = 0; kk < 16; kk += 8) {
      simdgroup_half8x8 fa[2], fb[2];
      for (int i = 0; i < 2; i++) simdgroup_load(fa[i], stage + (row + i * 8) * 16 + kk, 16);
      for (int j = 0; j < 2; j++) simdgroup_load(fb[j], second + kk * 32 + column + j * 8, 32);
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          simdgroup_multiply_accumulate(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup); // before the next loads
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++)
      simdgroup_store(acc[i][j], tile + (row + i * 8) * 32 + column + j * 8, 32);
  threadgroup_barrier(mem_flags::mem_threadgroup); // before the copy
  for (uint i = tid; i < 1024; i += 128)
    out[(tg.y * 32 + i / 32) * p.N + tg.x * 32 + i % 32] = tile[i] * p.alpha;
  if (tid == 0) atomic_fetch_add_explicit(blocks, 1u, memory_order_relaxed);
}
"""
GEMM_KERNEL = k.Kernel(
    "gemm",
    (
        k.Param("a", k.F16, False), k.Param("b", k.F16, False), k.Param("out", k.F32, True),
        k.Param("blocks", k.U32, True),
    ),
    (k.Var(k.U32, "M"), k.Var(k.U32, "N"), k.Var(k.U32, "K"), k.Var(k.F32, "alpha")),
    (),
)  # fmt: skip
GEMM_BINDING = Binding("gemm", ("a", "b", "M", "out", "blocks"), threadgroup=(0, 1024))
M, N, K = 64, 96, 48
GEMM_HOW = Launch(grid=(N // 32, M // 32, 1), block=(128, 1, 1), shared=2048)


def gemm_job(metal, text):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, s).astype(np.float16) for s in ((M, K), (K, N)))
    buffers = (a, b, poisoned(k.F32, (M, N), Poison.NAN), np.zeros(1, np.uint32))
    compiled = metal.compile_text(GEMM_KERNEL, text, "gemm", GEMM_BINDING)
    return Job(compiled, buffers, (M, N, K, 0.5), 6)


def test_a_tiled_product_with_simdgroup_matrices_is_exact(metal):
    job = gemm_job(metal, GEMM)
    a, b, out, blocks = checked_run(metal, job, GEMM_HOW)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32) * 0.5)
    assert blocks.tolist() == [6]


BARRIER = "    threadgroup_barrier(mem_flags::mem_threadgroup); // before the next loads\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (BARRIER, ""),
        ("mem_flags::mem_threadgroup); // before the copy", "mem_flags::mem_device); //"),
        ("mem_flags::mem_threadgroup); // before the copy", "mem_flags::mem_none); //"),
    ],
    ids=["missing", "of other memory", "of no memory"],
)
def test_a_barrier_that_does_not_order_the_memory_leaves_a_race(old, new, metal):
    assert old in GEMM
    (checked,) = metal.check((gemm_job(metal, GEMM.replace(old, new)),), launches=(GEMM_HOW,))
    assert Kind.RACE in {f.kind for f in checked.findings}


def test_swapped_bindings_reach_the_other_buffer(metal):
    swapped = GEMM.replace("* a [[buffer(0)]]", "* a [[buffer(1)]]", 1)
    swapped = swapped.replace("* b [[buffer(1)]]", "* b [[buffer(0)]]", 1)
    (outcome,) = metal.run((gemm_job(metal, swapped),), launches=(GEMM_HOW,))
    assert isinstance(outcome, Ran)
    a, b, out, _ = (m.data.astype(np.float32) for m in outcome.memories)
    assert not np.array_equal(out, a @ b * 0.5)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("* b [[buffer(1)]]", "* b [[buffer(0)]]", "two parameters"),
        ("* b [[buffer(1)]]", "* b [[buffer(9)]]", r"wants buffer\(9\), but 5"),
        ("* b [[buffer(1)]]", "* b", "has no attribute"),
        ("[[threadgroup(1)]]", "[[threadgroup(2)]]", r"gives no threadgroup\(2\)"),
        ("thread_index_in_threadgroup", "thread_index_in_tile", "does not provide"),
        ("kernel void gemm", "kernel void other", "no kernel named 'gemm'"),
    ],
)
def test_bindings_that_cannot_be_are_refused(old, new, words, metal):
    with pytest.raises(DeviceError, match=words):
        metal.compile_text(GEMM_KERNEL, GEMM.replace(old, new, 1), "gemm", GEMM_BINDING)


def test_a_simdgroup_function_under_divergence_is_found(metal):
    text = HEAD + _case("split", "t < 7 ? simd_sum(x[i]) : 0.0f")
    compiled = metal.compile_text(KERNEL, text, "split_")
    job = Job(compiled, (np.zeros(64, np.float32), np.zeros(64, np.float32)), (64,), 1)
    (outcome,) = metal.run((job,))
    assert isinstance(outcome, Crash)
    assert "warp-divergence at case:" in outcome.reason


def test_indices_come_as_scalars_and_vectors_of_any_width(metal):
    kernel = k.Kernel("place", (k.Param("out", k.I32, True),), (), ())
    text = """
using namespace metal;
kernel void place(device int* out [[buffer(0)]], uint2 g [[thread_position_in_grid]],
                  ushort3 t [[thread_position_in_threadgroup]],
                  uint2 size [[threads_per_grid]], uint3 groups [[threadgroups_per_grid]]) {
  out[g.y * size.x + g.x] = int(g.x + 100 * g.y + 10000 * t.x + 1000000 * groups.y);
}
"""
    compiled = metal.compile_text(kernel, text, "place")
    how = Launch(grid=(3, 2, 1), block=(4, 3, 1))
    (out,) = checked_run(metal, Job(compiled, (np.full((6, 12), -1, np.int32),), (), 6), how)
    y, x = np.indices(out.shape)
    assert (out == x + 100 * y + 10000 * (x % 4) + 2000000).all()
