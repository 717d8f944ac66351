"""Foreign text as it stands: layouts, scalars, budgets, and ends that are verdicts."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator.budget import ErrorBudget
from tang.verify import Verdict, verify_kernel
from tang.verify.foreign import LaunchError

i, j = tg.dims("i j")
x = tg.input("x", ("N",))
DOUBLE = tg.Graph(y=tg.compute("y", (i,), x[i] * 2))
M = tg.input("M", ("R", "C"))
PLUS = tg.Graph(p=tg.compute("p", (i, j), M[i, j] + 1))
SUM = tg.Graph(s=tg.compute("s", (), tg.sum(x[i], over=i)))

VECTOR = {
    "kernel": "f",
    "parameters": [
        {"tensor": "x"},
        {"tensor": "y", "access": "out"},
        {"name": "n", "scalar": "N", "dtype": "i64"},
    ],
}


def c(body):
    """A C function over x, y, n."""
    return f"void f(const float* x, float* y, long n) {{ {body} }}"


EATS = (
    "for (;;) { volatile char* p = __builtin_malloc(1 << 26);"
    " for (long k = 0; k < 1 << 26; k += 1 << 24) p[k] = 1; }"
)
LOOP = "for (long i = 0; i < n; ++i) "


def verdicts(text, launch=VECTOR, spec=DOUBLE, language="c", **options):
    report = verify_kernel(text, language, spec=spec, launch=launch, **options)
    return [v.value for v in report.verdicts()], report


def test_a_right_function_passes():
    found, report = verdicts(c(LOOP + "y[i] = 2 * x[i];"))
    assert not found, report.to_text()
    assert report.results[0].exact == report.results[0].elements


@pytest.mark.parametrize(
    ("body", "verdict", "words"),
    [
        (LOOP + "y[i] = 2 * x[i]; y[-1] = 0;", "STRAY_WRITE", "the start (by 1 elements"),
        (LOOP + "y[i] = 2 * x[i]; y[n + 3] = 0;", "STRAY_WRITE", "the end (by 4 elements"),
        (LOOP + "y[i] = 2 * x[i]; ((float*)x)[0] = 0;", "STRAY_WRITE", "changed its input x"),
        (LOOP + "if (i % 4) y[i] = 2 * x[i];", "UNWRITTEN", "every 4th element"),
        (LOOP + "y[i] = 2 * x[n - 1 - i];", "WRONG", "in reverse order"),
        (LOOP + "y[i] = x[i];", "WRONG", "a copy of x"),
        (LOOP + "y[i] = 3 * x[i];", "WRONG", "times 3/2"),
        (LOOP + "y[i] = 2 * x[0];", "WRONG", "the constant"),
        (LOOP + "y[i] = 2 * x[i] + 1e-6f;", "WRONG", "elements are wrong"),
        ("*(volatile int*)0 = 1;", "CRASH", "SIGSEGV"),
        ("__builtin_trap();", "CRASH", "SIGILL"),
        (EATS, "CRASH", "SIGSEGV"),
        ("volatile long k = 0; while (k == 0) {}", "TIMEOUT", "longer than 2 s"),
        (LOOP + "y[i] = 2 * x[i] + 0 * y[i];", "NONDETERMINISTIC", "what memory held"),
        (f"static int k; {LOOP} y[i] = 2 * x[i] + k; ++k;", "NONDETERMINISTIC", "two runs"),
    ],
)
def test_a_fault_has_its_verdict(body, verdict, words):
    found, report = verdicts(c(body), deadline=2)
    assert found[0] == verdict, report.to_text()
    assert words in report.to_text()


def test_text_that_the_compiler_refuses_is_unsupported():
    found, report = verdicts(c("this is no C"))
    assert found == ["UNSUPPORTED"]
    assert "error" in report.results[0].unsupported


def test_cuda_outside_the_surface_is_unsupported_with_its_line():
    text = 'extern "C" __global__ void f(const float* x, float* y, long n)\n{ asm("exit;"); }'
    launch = {**VECTOR, "grid": [1], "workgroup": [32]}
    found, report = verdicts(text, launch, language="cuda", backend="simt")
    assert found == ["UNSUPPORTED"]
    assert "line 2: inline PTX" in report.results[0].unsupported


def test_an_unknown_language_or_backend_is_unsupported():
    assert verdicts("", language="fortran")[0] == ["UNSUPPORTED"]
    assert verdicts("", language="c", backend="simt")[0] == ["UNSUPPORTED"]
    with pytest.raises(LaunchError, match="language"):
        verdicts("", language="")


STRIDED = {
    "kernel": "f",
    "language": "c",
    "parameters": [
        {"tensor": "M", "strides": ["C+2", 1]},
        {"tensor": "p", "access": "out", "strides": [1, "R"]},
        {"name": "r", "scalar": "R"},
        {"name": "c", "scalar": "C"},
    ],
    "sizes": [{"R": 5, "C": 7}],
}
STRIDED_TEXT = """
void f(const float* m, float* p, int r, int c) {
  for (int i = 0; i < r; ++i)
    for (int j = 0; j < %s; ++j) p[i + j * r] = m[i * (c + 2) + j] + 1;
}
"""


def test_strides_are_honoured():
    assert not verdicts(STRIDED_TEXT % "c", STRIDED, PLUS)[0]


def test_a_write_between_rows_is_stray():
    launch = {**STRIDED, "parameters": [dict(p) for p in STRIDED["parameters"]]}
    launch["parameters"][1] |= {"strides": ["C+2", 1], "elements": "R*(C+2)"}
    text = STRIDED_TEXT.replace("p[i + j * r]", "p[i * (c + 2) + j]")
    assert not verdicts(text % "c", launch, PLUS)[0]
    text = text.replace("+ 1;", "+ 1, p[i * (c + 2) + c] = 0;")
    found, report = verdicts(text % "c", launch, PLUS)
    assert found[0] == "STRAY_WRITE"
    assert "between the elements of p" in report.to_text()


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_scalars_of_every_kind_arrive(dtype):
    text = f"""
    #include <stdint.h>
    void f({"float" if dtype == "f32" else "double"} a, const float* x, uint8_t b, float* y,
           int64_t n) {{ for (int64_t i = 0; i < n; ++i) y[i] = (float)(x[i] * a * b); }}
    """
    launch = {
        "kernel": "f",
        "parameters": [
            {"name": "a", "scalar": 0.25, "dtype": dtype},
            {"tensor": "x"},
            {"name": "b", "scalar": "8", "dtype": "u8"},
            {"tensor": "y", "access": "out"},
            {"name": "n", "scalar": "N", "dtype": "i64"},
        ],
    }
    assert not verdicts(text, launch)[0]


def test_scratch_is_poisoned_and_may_be_written():
    text = """
    void f(const float* x, float* s, float* w, long n) {
      %s
      for (long i = 0; i < n; ++i) w[i %% 4] += x[i];
      *s = w[0] + w[1] + w[2] + w[3];
    }
    """
    launch = {
        "kernel": "f",
        "parameters": [
            {"tensor": "x"},
            {"tensor": "s", "access": "out"},
            {"name": "w", "scratch": 4},
            {"name": "n", "scalar": "N", "dtype": "i64"},
        ],
    }
    assert not verdicts(text % "for (int k = 0; k < 4; ++k) w[k] = 0;", launch, SUM)[0]
    assert verdicts(text % "", launch, SUM)[0] == ["NONDETERMINISTIC"]


def test_any_order_of_summation_is_accepted_and_a_lost_term_is_not():
    launch = {**VECTOR, "parameters": [dict(p) for p in VECTOR["parameters"]]}
    launch["parameters"][1] = {"tensor": "s", "access": "out"}
    data = {"x": np.random.default_rng(2).integers(1, 9, 5000).astype(np.float32)}
    back = c("float a = 0; for (long i = n; i--;) a += x[i]; *y = a;")
    assert not verdicts(back, launch, SUM, inputs=data)[0]
    many = {"x": np.random.default_rng(2).standard_normal(5000).astype(np.float32)}
    assert not verdicts(back, launch, SUM, inputs=many)[0]
    lost = c("float a = 0; for (long i = n; --i;) a += x[i]; *y = a;")
    assert verdicts(lost, launch, SUM, inputs=data)[0] == ["WRONG"]


def test_a_budget_replaces_the_bound():
    rough = c(LOOP + "y[i] = 2.001f * x[i];")
    assert verdicts(rough)[0] == ["WRONG"]
    assert not verdicts(rough, budget=ErrorBudget(rel=1e-3))[0]
    right = c(LOOP + "y[i] = 2 * x[i];")
    assert not verdicts(right, budget=ErrorBudget())[0]


def test_special_values_are_part_of_the_check_when_asked_for():
    text = c(LOOP + "y[i] = x[i] == x[i] && x[i] - x[i] == 0 ? 2 * x[i] : 0;")
    assert not verdicts(text)[0]
    assert verdicts(text, specials=True)[0] == ["WRONG"]
    assert Verdict.WRONG in verdicts(text, specials=True)[1].verdicts()
