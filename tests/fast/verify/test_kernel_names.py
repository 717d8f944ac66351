"""A description that launches a kernel which its text does not have is wrong, and is told so."""

from __future__ import annotations

from pathlib import Path

import pytest

import tang as tg
from tang.verify import verify_kernel
from tang.verify.foreign.launch import LaunchError
from tang.verify.foreign.names import check_named

KERNELS = Path(__file__).resolve().parents[3] / "examples" / "kernels"
LANGUAGES = {".c": "c", ".cl": "opencl", ".cu": "cuda", ".metal": "msl"}
FILES = {p.name: p for p in sorted(KERNELS.iterdir()) if p.suffix in LANGUAGES}

FOUND = {
    "template arguments": ("cuda", "f<float, 4>", "template <class T, int N> __global__ void f()"),
    "a namespace": ("cuda", "a::f", "namespace a { __global__ void f() {} }"),
    "launch bounds": ("cuda", "f", "__global__ void __launch_bounds__(256) f() {}"),
    "a macro's argument": ("cuda", "f", "#define K(n) __global__ void n()\nK(f) {}"),
    "a macro that joins": ("cuda", "f_f32", "#define K(t) __global__ void f_##t() {}\nK(f32)"),
    "another file": ("cuda", "f", '#include "f.h"'),
    "an attribute": (
        "opencl",
        "f",
        "kernel __attribute__((reqd_work_group_size(8, 8, 1))) void f(",
    ),
    "brackets": ("msl", "f", "[[kernel]] void f(device float* x [[buffer(0)]]) {}"),
    "a name for the host": ("msl", "g", 'template [[host_name("g")]] kernel void f(int i) {}'),
    "an old C function": ("c", "f", "void f(x, y) float *x, *y; {}"),
}
MISSING = {
    "a slip": ("cuda", "rowsun", "__global__ void rowsum() {}", "one of rowsum"),
    "several": ("opencl", "h", "kernel void f() {} __kernel void g() {}", "one of f, g"),
    "a comment": ("cuda", "f", "// f\n/* f */ __global__ void g() {}", "one of g"),
    "a helper": ("cuda", "f", "__device__ void f() {} __global__ void g() { f(); }", "one of g"),
    "C": ("c", "h", "static int f(int a) { if (a) { g(); } }\nvoid g(int b) {}", "one of f, g"),
    "bounds": ("cuda", "f", "__global__ void __launch_bounds__(64, 2) g() {}", "one of g"),
    "an attribute": ("opencl", "f", "kernel __attribute__((a(8, 8))) void g() {}", "one of g"),
    "an empty text": ("cuda", "f", "", "it has none"),
    "no name": ("cuda", "", "__global__ void g() {}", "one of g"),
    "part of a word": ("msl", "f", "kernel void ff(device float* f_) {}", "one of ff"),
}


@pytest.mark.parametrize("how", FOUND)
def test_a_kernel_that_may_be_there_is_left_to_the_compiler(how):
    language, symbol, text = FOUND[how]
    check_named(text, language, symbol)


@pytest.mark.parametrize("how", MISSING)
def test_a_kernel_that_is_not_there_is_an_error_that_lists_those_that_are(how):
    language, symbol, text, there = MISSING[how]
    with pytest.raises(LaunchError) as e:
        check_named(text, language, symbol)
    assert str(e.value) == f"kernel: no kernel {symbol!r} in the text: {there}"


@pytest.mark.parametrize("file", FILES)
def test_every_sample_is_found_by_a_name_it_has_and_missed_by_another(file):
    text, language = FILES[file].read_text(), LANGUAGES[FILES[file].suffix]
    with pytest.raises(LaunchError, match="one of ") as e:
        check_named(text, language, "nowhere")
    for name in str(e.value).partition("one of ")[2].split(", "):
        check_named(text, language, name)


def test_a_wrong_name_ends_a_verification_before_anything_is_compiled():
    i = tg.dims("i")
    x = tg.input("x", ("N",))
    spec = tg.Graph(y=tg.compute("y", (i,), x[i] * 2))
    launch = {"kernel": "g", "parameters": [{"tensor": "x"}, {"tensor": "y", "access": "out"}]}
    with pytest.raises(LaunchError, match="no kernel 'g' in the text: one of f"):
        verify_kernel("__global__ void f() {}", "cuda", spec=spec, launch=launch, backend="simt")
