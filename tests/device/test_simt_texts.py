"""What needs no launch: what is outside, edits of texts, cubins and address spaces."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tang.device.simt import unsupported
from tang.device.simt.entries import Binding, metal_parameters
from tang.device.simt.nvrtc import nvrtc_check, nvrtc_missing
from tang.device.simt.prepare import prepare
from tang.device.simt.spaces import space_errors, spaces_missing
from tang.errors import DeviceError

ROOT = Path(__file__).resolve().parents[2]

CUDA_OUTSIDE = {
    'asm volatile("bar.sync 0;");': "inline PTX",
    "cudaDeviceSynchronize();": "the CUDA runtime API",
    "f<<<1, 2>>>(x);": "a launch from within the text",
    "auto g = cooperative_groups::this_grid();": "synchronisation of a grid",
    "auto c = cg::this_cluster();": "thread block clusters",
    "cuda::atomic_ref<int> r(*p);": "libcu++",
    "nvcuda::wmma::experimental::precision::b1 x;": "wmma fragments of 4 bits and of 1",
    "cg::memcpy_async(block, a, b, 16);": "asynchronous copies of groups",
    "float v = tex2D<float>(t, 1, 2);": "textures and surfaces",
    "float v = __fadd_rz(a, b);": "rounding other than to nearest",
    "__nv_fp8_e4m3 q;": "8-bit floats of CUDA's headers",
    "float* p = new float[4];": "memory allocation in a kernel",
    "auto m = std::max(a, b);": "the C++ standard library",
    "#include <cub/cub.cuh>": "the header cub/cub.cuh",
}
METAL_OUTSIDE = {
    "texture2d<float> t;": "textures and samplers",
    "float2 v = p.xy;": "swizzles of several components",
    "auto e = m.thread_elements();": "the layout of simdgroup matrices",
    "constant int n [[function_constant(0)]];": "functions other than kernels, and function",
    "#include <metal_raytracing>": "the header metal_raytracing",
}


@pytest.mark.parametrize("line", CUDA_OUTSIDE)
def test_cuda_that_is_outside_is_named_with_its_line(line):
    found = unsupported(f"// a comment\nint a; /* two\nlines */\n{line}\n", "cuda")
    assert found == (4, CUDA_OUTSIDE[line])


@pytest.mark.parametrize("line", METAL_OUTSIDE)
def test_metal_that_is_outside_is_named_with_its_line(line):
    found = unsupported(f"#include <metal_stdlib>\n\n{line}\n", "msl")
    assert found is not None
    assert found[0] == 3
    assert found[1].startswith(METAL_OUTSIDE[line])


def test_the_first_line_that_is_outside_is_named():
    text = "std::max(1, 2);\nasm();\n#include <cub/cub.cuh>\n"
    assert unsupported(text, "cuda") == (1, "the C++ standard library")


def test_comments_strings_and_device_only_regions_are_not_outside():
    text = """
// asm volatile
/* std::max
   cudaMalloc( */
const char* words = "std::max asm <<<";
#include <cuda_fp16.h>
#ifndef __SIMT_HOST__
__device__ void copy() { asm volatile("cp.async"); }
#else
__device__ void copy() {}
#endif
__device__ int n = __float2int_rz(1.5f) + __half2int_rz(h) + __float2uint_ru(2.0f);
"""
    assert unsupported(text, "cuda") is None
    assert (
        unsupported(text.replace("#else", "#endif\nvoid f() { asm(); }\n#if 1"), "cuda") is not None
    )


def test_edits_keep_every_line():
    text = """#include <metal_stdlib>
constant const float a = 1;
kernel void f(threadgroup float* p [[threadgroup(0)]], constant int& n [[buffer(0)]]) {
  threadgroup float x[4 * 4], y[2];
  threadgroup
    atomic_uint count;
  threadgroup float* q = p;  // é
  threadgroup array<float, 4> z[2];
}
"""
    lines = prepare(text, "msl").splitlines()
    assert [line.strip() for line in lines] == [
        "",
        "constant  float a = 1;",
        "kernel void f(threadgroup float* p [[simt_threadgroup(0)]], "
        "constant int& n [[buffer(0)]]) {",
        "SIMT_SHARED float x[4 * 4], y[2];",
        "SIMT_SHARED",
        "atomic_uint count;",
        "threadgroup float* q = p;  // ?",
        "SIMT_SHARED array<float, 4> z[2];",
        "}",
    ]


def test_dynamic_shared_arrays_get_the_runtimes_memory():
    text = "extern __shared__ __align__(16)\n unsigned char memory[];\n__shared__ float s[4];\n"
    assert prepare(text, "cuda") == (
        'extern __align__(16)\n unsigned char memory[] __asm__("simt_dynamic_memory");\n'
        "__shared__ float s[4];\n"
    )


def test_parameters_of_metal_are_split_outside_brackets():
    text = """
// kernel void f(int decoy)
[[kernel]] void f(device array<float, 2>* a [[buffer(0)]], /* , */ uint2
    i [[thread_position_in_grid]])
{}
"""
    assert metal_parameters(text, "f") == [
        "device array<float, 2>* a [[buffer(0)]]",
        "uint2 i [[thread_position_in_grid]]",
    ]


def test_entries_of_template_kernels_have_names_of_their_own():
    names = {Binding(s).export for s in ("f<float,4>", "f<float,8>", "f<float>", "f_float_")}
    assert len(names) == 4
    assert all(n.isidentifier() for n in names)


PTX = """
#include <stdint.h>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t lane() {
  uint32_t l;
  asm("mov.u32 %0, %laneid;" : "=r"(l));
  return l;
}
extern "C" __global__ void f(uint32_t* x) { x[threadIdx.x] = lane(); }
"""


@pytest.mark.skipif(nvrtc_missing() is not None, reason=f"{nvrtc_missing()}")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_nvrtc_compiles_text_to_a_cubin_without_a_gpu(arch):
    assert nvrtc_check(PTX, arch).startswith(b"\x7fELF")
    with pytest.raises(DeviceError, match=rf"refused the text for {arch}:(.|\n)*%nothing"):
        nvrtc_check(PTX.replace("%laneid", "%nothing"), arch)
    with pytest.raises(DeviceError, match=r"kernel.cu\(9\): error"):
        nvrtc_check(PTX.replace("lane();", "lane;"), arch)


def test_nvrtc_says_what_to_install(monkeypatch):
    if nvrtc_missing() is None:
        pytest.skip("NVRTC is installed")
    with pytest.raises(DeviceError, match="pip install nvidia-cuda-nvrtc"):
        nvrtc_check(PTX)


METAL = """
#include <metal_stdlib>
using namespace metal;
struct Sizes { uint n; };
constant float one = 1.0f;
kernel void f(device const half* x [[buffer(0)]], device float* y [[buffer(1)]],
              constant Sizes& sizes [[buffer(2)]], device atomic_uint* c [[buffer(3)]],
              threadgroup float* stage [[threadgroup(0)]],
              uint t [[thread_index_in_threadgroup]]) {
  threadgroup float tile[64];
  threadgroup float* p = stage;
  tile[t] = exp(float(x[t])) * one + fma(p[t], 2.0f, 1.0f);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = simd_sum(tile[t]) + max(y[t], 0.0f);
  if (t < sizes.n) atomic_fetch_add_explicit(c, 1u, memory_order_relaxed);
}
"""
MIXES = {
    "device for threadgroup": ("threadgroup float* p", "device float* p", 11),
    "no address space": ("threadgroup float* p", "float* p", 11),
    "a write to a constant": ("if (t < sizes.n)", "sizes.n = 3;", 15),
    "a write to an input": ("y[t] = simd", "x[t] = 1; y[t] = simd", 14),
}

needs_clang = pytest.mark.skipif(spaces_missing() is not None, reason=f"{spaces_missing()}")


@needs_clang
def test_a_text_with_right_address_spaces_has_no_errors():
    assert space_errors(METAL) == ()


@needs_clang
@pytest.mark.parametrize("name", MIXES)
def test_mixed_address_spaces_are_named_with_their_line(name):
    old, new, line = MIXES[name]
    assert METAL.count(old) == 1
    found = space_errors(METAL.replace(old, new))
    assert [at for at, _ in found] == [line]


def test_every_header_and_source_is_package_data():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folder = ROOT / "tang" / "device" / "simt"
    patterns = settings["package-data"]["tang.device.simt"]
    held = {p for pattern in patterns for p in folder.glob(pattern)}
    here = {p for p in folder.rglob("*") if p.is_file() and p.suffix in (".h", ".cpp")}
    assert here == held
    assert "tang.device.simt" in settings["packages"]
