"""CUDA text computes on the CPU what the language says, function by function."""

from __future__ import annotations

import os
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from tang.device import CompilerOptions, Job, Poison, Ran, poisoned
from tang.device.simt import Binding, Launch, Simt
from tang.errors import DeviceError
from tang.kernel import ir as k

KERNEL = k.Kernel(
    "case",
    (k.Param("x", k.F32, False), k.Param("out", k.F32, True)),
    (k.Var(k.I32, "n"),),
    (),
)
FULL = "0xffffffffu"

CASES = {
    "copy": ("x[i]", lambda x: x),
    "shuffle": (f"__shfl_sync({FULL}, x[i], 3)", lambda x: x // 32 * 32 + 3),
    "shuffle_narrow": (f"__shfl_sync({FULL}, x[i], 17, 16)", lambda x: x // 16 * 16 + 1),
    "shuffle_xor": (f"__shfl_xor_sync({FULL}, x[i], 5)", lambda x: np.bitwise_xor(x, 5)),
    "shuffle_down": (
        f"__shfl_down_sync({FULL}, x[i], 4)",
        lambda x: np.where(x % 32 < 28, x + 4, x),
    ),
    "shuffle_up": (f"__shfl_up_sync({FULL}, x[i], 4)", lambda x: np.where(x % 32 > 3, x - 4, x)),
    "shuffle_half_warps": (
        "(t & 16) ? __shfl_xor_sync(0xffff0000u, x[i], 1) : __shfl_xor_sync(0xffffu, x[i], 2)",
        lambda x: np.where(x & 16, x ^ 1, x ^ 2),
    ),
    "ballot": (f"__popc(__ballot_sync({FULL}, x[i] < 40.0f))", lambda x: np.where(x < 32, 32, 8)),
    "any": (f"__any_sync({FULL}, t == 40)", lambda x: x >= 32),
    "all": (f"__all_sync({FULL}, t < 32)", lambda x: x < 32),
    "match": (f"__popc(__match_any_sync({FULL}, t % 4))", lambda x: 0 * x + 8),
    "reduce_add": (f"__reduce_add_sync({FULL}, t)", lambda x: np.where(x < 32, 496, 1520)),
    "reduce_max": (f"__reduce_max_sync({FULL}, -t)", lambda x: np.where(x < 32, 0, -32)),
    "count": ("__syncthreads_count(t % 3 == 0)", lambda x: 0 * x + 22),
    "or": ("__syncthreads_or(t == 63) + 10 * __syncthreads_or(t > 63)", lambda x: 0 * x + 1),
    "bits": ("__brev(t) >> 26", lambda x: np.array([int(f"{i:06b}"[::-1], 2) for i in x])),
    "to_int": ("__float2int_rn(x[i] + 0.5f)", lambda x: np.rint(x + 0.5)),
    "saturate": ("__float2int_rz(x[i] * 1e9f) == 2147483647", lambda x: x > 2),
    "minimum": ("min(t, 9) + max(x[i], 50.0f)", lambda x: np.minimum(x, 9) + np.maximum(x, 50)),
    "nan_maximum": ("fmaxf(x[i], NAN)", lambda x: x),
    "vector": (
        "reinterpret_cast<const float4*>(x)[i / 4].z",
        lambda x: x // 4 * 4 + 2,
    ),
    "half": ("__half2float(__float2half(x[i] / 3.0f))", lambda x: _f16(_third(x))),
    "bfloat": ("(float)__float2bfloat16(x[i] / 3.0f)", lambda x: _bf16(_third(x))),
    "half_pair": (
        "__half22float2(__hadd2(__floats2half2_rn(x[i], 1.0f), __float2half2_rn(0.1f))).x",
        lambda x: _f16(x + _f16(np.float32(0.1))),
    ),
    "tile": ("tile_sum(x[i])", lambda x: x // 8 * 8 * 8 + 28),
    "constant": ("table[t % 4]", lambda x: np.array([2, 3, 5, 7])[x % 4]),
    "template": ("power<3>(x[i])", lambda x: x**3),
    "lambda": ("[&](float v) { return v + t; }(x[i])", lambda x: 2 * x),
    "match_all": (
        "match_all(t / 32) + 2 * match_all(t % 2)",
        lambda x: 0 * x + 1,
    ),
    "reduce_xor": (f"__reduce_xor_sync({FULL}, 1u << (t % 32)) == ~0u", lambda x: 0 * x + 1),
    "alone": ("__shfl_sync(__activemask(), x[i], t % 32)", lambda x: x),
    "coalesced": ("cg::coalesced_threads().shfl(x[i], 0)", lambda x: x),
    "block": ("cg::this_thread_block().thread_rank()", lambda x: x),
    "tile_vote": ("tile_vote(t)", lambda x: np.where(x < 16, 2, 0)),
    "words": (
        "__byte_perm(0x03020100u, 0x07060504u, 0x7531u) == 0x07050301u"
        " ? __dp4a(0x01010101, 0x01020304, t) : -1",
        lambda x: x + 10,
    ),
    "shifts": (
        "__funnelshift_l(0x80000000u, 1u, 1) == 3 && __umulhi(1u << 31, 6u) == 3"
        " && __clz(1) == 31 && __ffs(8) == 4 && __popcll(~0ull) == 64",
        lambda x: 0 * x + 1,
    ),
    "pairs": ("make_double2(x[i], 1.0).x + make_uchar4(1, 2, 3, 4).w", lambda x: x + 4),
    "printing": ('printf("%d\\n", t) * 0 + 1', lambda x: 0 * x + 1),
    "half_functions": (
        "(float)hsqrt(__half(x[i] * x[i])) + (float)__hmax(__half(1), __half(2))"
        " + __heq(__half(t), __int2half_rn(t))",
        lambda x: x + 3,
    ),
    "bfloat_functions": (
        "__bfloat162float(__hmul(__nv_bfloat16(2.0f), __float2bfloat16_rn(t)))"
        " + __bfloat1622float2(__float2bfloat162_rn(1.0f)).y",
        lambda x: 2 * x + 1,
    ),
    "classes": (
        "isnan(NAN) && isinf(INFINITY) && !isfinite(-INFINITY) && signbit(-0.0f)"
        " && FLT_MAX > 3e38f && abs(-2.5f) == 2.5f && INT_MIN < 0",
        lambda x: 0 * x + 1,
    ),
    "double": ("(float)(sqrt((double)x[i]) * 2.0)", lambda x: 2 * np.sqrt(x)),
}

HEAD = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdint.h>
namespace cg = cooperative_groups;
__constant__ int table[4] = {2, 3, 5, 7};
template <int N> __device__ float power(float v) { return v * power<N - 1>(v); }
template <> __device__ __forceinline__ float power<0>(float) { return 1.0f; }
__device__ float tile_sum(float v) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  return cg::reduce(tile, v, cg::plus<float>());
}
__device__ bool match_all(int v) {
  int all;
  __match_all_sync(0xffffffffu, v, &all);
  return all;
}
__device__ int tile_vote(int t) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  return __popc(tile.ballot(t == 3 || t == 7)) * tile.any(t == 3) * !tile.all(t == 3);
}
"""


def _third(x):
    return np.float32(x) / np.float32(3)


def _f16(x):
    return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)


def _bf16(x):
    return np.asarray(x, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


def _case(name, expression):
    return (
        f'extern "C" __global__ void {name}_(const float* __restrict__ x, float* out, int n) {{\n'
        f"  const int t = threadIdx.x; const int i = blockIdx.x * blockDim.x + t;\n"
        f"  if (i < n) out[i] = {expression};\n}}\n"
    )


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
def cases(cuda):
    """Every case, compiled as one text."""
    text = HEAD + "".join(_case(name, e) for name, (e, _) in CASES.items())
    kernels = [(KERNEL, Binding(f"{name}_")) for name in CASES]
    return dict(zip(CASES, cuda.compile_texts(kernels, text), strict=True))


def ran(outcome):
    assert isinstance(outcome, Ran), outcome
    return outcome.memories


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["plain", "checked"])
def test_a_function_of_the_language_has_its_meaning(name, mode, cuda, cases):
    x = np.arange(64)
    job = Job(cases[name], (x.astype(np.float32), poisoned(k.F32, (64,), Poison.NAN)), (64,), 1)
    if mode == "plain":
        (outcome,) = cuda.run((job,))
    else:
        (checked,) = cuda.check((job,))
        assert [f.message for f in checked.findings] == []
        outcome = checked.outcome
    expected = np.asarray(CASES[name][1](x), np.float64).astype(np.float32)
    np.testing.assert_array_equal(ran(outcome)[1].data, expected)


def launch(cuda, kernel, text, buffers, scalars, groups=1, how=None, binding=None):
    """The memories after one launch of a text, which must have no findings."""
    compiled = cuda.compile_text(kernel, text, kernel.name, binding)
    job = Job(compiled, buffers, scalars, groups)
    (checked,) = cuda.check((job,), launches=(how or Launch(),))
    assert [f.message for f in checked.findings] == []
    (outcome,) = cuda.run((job,), launches=(how or Launch(),))
    for a, b in zip(ran(outcome), ran(checked.outcome), strict=True):
        assert a.data.tobytes() == b.data.tobytes()
    return [m.data for m in ran(outcome)]


def test_grids_and_blocks_have_three_dimensions(cuda):
    kernel = k.Kernel("place", (k.Param("out", k.I32, True),), (), ())
    text = """
extern "C" __global__ void place(int* out) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = x + 100 * y + 10000 * z;
}
"""
    how = Launch(grid=(3, 2, 2), block=(4, 3, 2))
    (out,) = launch(cuda, kernel, text, (np.full((4, 6, 12), -1, np.int32),), (), how=how)
    z, y, x = np.indices(out.shape)
    assert (out == x + 100 * y + 10000 * z).all()


def test_a_block_reduces_in_static_and_dynamic_shared_memory(cuda):
    kernel = k.Kernel("total", (k.Param("x", k.F32, False), k.Param("out", k.F32, True)), (), ())
    text = """
extern __shared__ __align__(16) unsigned char memory[];
extern "C" __global__ void __launch_bounds__(256) total(const float* x, float* out) {
  __shared__ float parts[8];
  float* row = reinterpret_cast<float*>(memory);
  row[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  float v = row[255 - threadIdx.x];
  for (int by = 16; by; by >>= 1) v += __shfl_down_sync(0xffffffffu, v, by);
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (int i = 0; i < 8; ++i) s += parts[i];
    out[blockIdx.x] = s;
  }
}
"""
    x = np.arange(512, dtype=np.float32)
    how = Launch(block=(256, 1, 1), shared=1024)
    out = launch(cuda, kernel, text, (x, np.zeros(2, np.float32)), (), 2, how)[1]
    assert out.tolist() == x.reshape(2, 256).sum(1).tolist()


def test_atomics_of_many_blocks_add_up(cuda):
    kernel = k.Kernel("count", (k.Param("h", k.U32, True), k.Param("f", k.F32, True)), (), ())
    text = """
extern "C" __global__ void count(unsigned* h, float* f) {
  atomicAdd(&h[threadIdx.x % 4], 1u);
  atomicMax(&h[4], threadIdx.x + 64 * blockIdx.x);
  atomicInc(&h[5], 9u);
  for (unsigned seen = h[6], was;; seen = was) {
    was = atomicCAS(&h[6], seen, seen + 2);
    if (was == seen) break;
  }
  atomicAdd(f, 0.5f);
}
""".replace("h[6], was", "atomicAdd(&h[6], 0u), was")
    h, f = launch(cuda, kernel, text, (np.zeros(7, np.uint32), np.zeros(1, np.float32)), (), 5)
    assert h.tolist() == [80, 80, 80, 80, 319, 0, 640]
    assert f.tolist() == [160]


def test_parameters_bind_in_the_texts_order_with_values_of_any_type(cuda):
    kernel = k.Kernel(
        "mix",
        (k.Param("a", k.F32, False), k.Param("b", k.F64, True)),
        (k.Var(k.I32, "n"), k.Var(k.F32, "s"), k.Var(k.I64, "m")),
        (),
    )
    text = """
template <typename T> __global__ void mix(float s, T* b, int n, const float* a, long long m) {
  if (threadIdx.x < n) b[threadIdx.x] = a[threadIdx.x] * s + (T)m;
}
"""
    binding = Binding("mix<double>", ("s", "b", "n", "a", "m"))
    buffers = (np.arange(4, dtype=np.float32), np.zeros(4))
    _, b = launch(cuda, kernel, text, buffers, (3, 0.5, 2**40), binding=binding)
    assert b.tolist() == [2**40, 2**40 + 0.5, 2**40 + 1, 0]


SMALL = k.Kernel(
    "small", (k.Param("x", k.F64, False), k.Param("h", k.F16, True), k.Param("b", k.BF16, True)),
    (k.Var(k.I32, "n"),), (), workgroup=1024,
)  # fmt: skip
SMALL_TEXT = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void small(const double* x, __half* h, __nv_bfloat16* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) h[i] = __double2half(x[i]), b[i] = __double2bfloat16(x[i]);
}
"""


def test_conversions_to_16_bits_round_once_to_nearest_even(cuda):
    rng = np.random.default_rng(1)
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = (halves[:31743] + halves[1:31744]) / 2
    edges = np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)
    random = rng.standard_normal(4000) * 2.0 ** rng.integers(-150, 140, 4000)
    single = (random * 2.0**-14).astype(np.float32).astype(np.float64)
    x = np.concatenate([halves, middles, *edges, random, -random, single])
    n = x.size
    buffers = (x, np.zeros(n, np.float16), np.zeros(n, np.uint16))
    _, h, b = launch(cuda, SMALL, SMALL_TEXT, buffers, (n,), -(-n // 1024))
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(h, x.astype(np.float16))
        exact = x.astype(np.float32).astype(np.float64) == x
        wanted = x[exact].astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
    got = b.view(ml_dtypes.bfloat16)[exact].astype(np.float64)
    np.testing.assert_array_equal(got, wanted)


def test_fma_of_halves_rounds_once(cuda):
    kernel = k.Kernel(
        "fused", tuple(k.Param(n, k.F16, n == "d") for n in "abcd"), (), (), workgroup=1024
    )
    text = """
#include <cuda_fp16.h>
extern "C" __global__ void fused(const half* a, const half* b, const half* c, half* d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  d[i] = __hfma(a[i], b[i], c[i]);
}
"""
    rng = np.random.default_rng(2)
    a, b, c = (
        (rng.integers(1024, 2048, 1024) * 2.0 ** rng.integers(-16, -6, 1024)).astype(np.float16)
        for _ in range(3)
    )
    c *= np.where(rng.random(1024) < 0.5, -1, 1).astype(np.float16)
    d = launch(cuda, kernel, text, (a, b, c, np.zeros(1024, np.float16)), ())[3]
    for ai, bi, ci, di in zip(a, b, c, d, strict=True):
        exact = Fraction(float(ai)) * Fraction(float(bi)) + Fraction(float(ci))
        assert abs(exact - Fraction(float(di))) == min(
            abs(exact - Fraction(float(v)))
            for v in (
                di,
                np.nextafter(di, np.float16(np.inf)),
                np.nextafter(di, np.float16(-np.inf)),
            )
        )


def test_a_kernel_with_another_number_of_parameters_is_refused(cuda):
    with pytest.raises(DeviceError, match="number of parameters"):
        cuda.compile_text(KERNEL, 'extern "C" __global__ void case_(float*) {}', "case_")


def test_a_text_that_does_not_compile_is_refused_with_its_line(cuda):
    with pytest.raises(DeviceError, match=r"simt_kernel_text:2:\d+: error"):
        cuda.compile_text(KERNEL, "\nint f() { return unknown; }\n", "case")
