"""Expressions that drivers rewrite keep their bits in WGSL and GLSL, thanks to protection alone.

The planted fault is the same text without the run-time zero and without `precise`: then Mesa's
drivers rewrite, and results differ.
"""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from tang.device import Job, Poison, Ran, poisoned
from tang.device.opengl import OpenGL, OpenGLOptions
from tang.device.webgpu import WebGPU, WebGPUOptions
from tang.emit import emit_unit
from tang.errors import DeviceError
from tang.kernel import ir as k

THREAD, N = k.Var(k.I32, "global_id"), k.Var(k.I32, "n")
A, B, D = (k.Load(k.F32, name, THREAD) for name in "abd")


def op(name, *args, t=k.F32):
    return k.Op(t, name, args)


def number(text):
    return k.Const(k.F32, Fraction(text))


F = np.float32
LESS = op("lt", A, B, t=k.BOOL)
EXPRESSIONS = {
    "a*b + a*d": (op("add", op("mul", A, B), op("mul", A, D)), lambda a, b, d: a * b + a * d),
    "(a + b) - b": (op("sub", op("add", A, B), B), lambda a, b, d: (a + b) - b),
    "sqrt(a)*sqrt(a)": (
        op("mul", op("sqrt", A), op("sqrt", A)), lambda a, b, d: np.sqrt(a) * np.sqrt(a)),
    "1/(1/a)": (
        op("div", number(1), op("div", number(1), A)), lambda a, b, d: F(1) / (F(1) / a)),
    "(a + .1) + .7": (
        op("add", op("add", A, number("0.1")), number("0.7")),
        lambda a, b, d: (a + F(0.1)) + F(0.7)),
    "a*0": (op("mul", A, number(0)), lambda a, b, d: a * F(0)),
    "0 - a": (op("sub", number(0), A), lambda a, b, d: F(0) - a),
    "a - a": (op("sub", A, A), lambda a, b, d: a - a),
    "a/a": (op("div", A, A), lambda a, b, d: a / a),
    "a + 0": (op("add", A, number(0)), lambda a, b, d: a + F(0)),
    "not (a < b)": (
        op("select", op("not", LESS, t=k.BOOL), A, D), lambda a, b, d: np.where(~(a < b), a, d)),
    "a < b ? a : b": (op("select", LESS, A, B), lambda a, b, d: np.where(a < b, a, b)),
    "a < b and a < d": (
        op("select", op("and", LESS, op("lt", A, D, t=k.BOOL), t=k.BOOL), A, number(7)),
        lambda a, b, d: np.where((a < b) & (a < d), a, F(7))),
}  # fmt: skip


def kernel(e):
    params = (*(k.Param(n, k.F32, False) for n in "abd"), k.Param("out", k.F32, True))
    inside = k.If(op("lt", THREAD, N, t=k.BOOL), (k.Store("out", THREAD, e),))
    return k.Kernel("rewritten", params, (N,), (inside,))


def inputs():
    """Triples of special values, then random numbers of all sizes."""
    special = np.array(
        [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3e38, -3e38, 0.1, 16777217], F
    )
    triples = np.stack(np.meshgrid(special, special, special)).reshape(3, -1)
    rng = np.random.default_rng(5)
    random = np.ldexp(rng.uniform(-2, 2, (3, 4096)), rng.integers(-12, 12, (3, 4096)))
    return [np.ascontiguousarray(row) for row in np.concatenate([triples, random], 1).astype(F)]


@pytest.fixture(scope="module", params=["wgsl", "glsl"])
def device(request, tmp_path_factory):
    cache = tmp_path_factory.mktemp("texts")
    try:
        if request.param == "wgsl":
            found = WebGPU(WebGPUOptions(optimize=False, cache=cache))
            found.start()
        else:
            found = OpenGL(OpenGLOptions(optimize=False, cache=cache))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield found
    found.close()


def differences(device, compiled, data, formula):
    """How many elements differ from NumPy, all NaNs being one value."""
    out = poisoned(k.F32, data[0].shape, Poison.FINITE)
    job = Job(compiled, (*data, out), (out.size,), -(-out.size // 64))
    (ran,) = device.run([job])
    assert isinstance(ran, Ran), ran
    got = ran.memories[-1].data
    with np.errstate(all="ignore"):
        want = formula(*data).astype(F)
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    return int((~same).sum())


def test_no_result_differs_with_protection(device):
    compiled = device.compile([kernel(e) for e, _ in EXPRESSIONS.values()])
    data = inputs()
    found = {
        name: differences(device, c, data, formula)
        for c, (name, (_, formula)) in zip(compiled, EXPRESSIONS.items(), strict=True)
    }
    assert found == dict.fromkeys(EXPRESSIONS, 0)


def bare(text):
    """The text without protection."""
    return text.replace(" ^ tang_zero", "").replace(" + tang_zero", "").replace("precise ", "")


def test_without_protection_drivers_rewrite(device):
    data = inputs()
    found = {}
    for name, (e, formula) in EXPRESSIONS.items():
        kern = kernel(e)
        unit = emit_unit((kern,), device.language)
        compiled = device.compile_text(kern, bare(unit.text), unit.symbols[0])
        found[name] = differences(device, compiled, data, formula)
    if "llvmpipe" in device.description:
        rewritten = {name for name, count in found.items() if count}
        assert rewritten >= {"a*b + a*d", "(a + b) - b", "sqrt(a)*sqrt(a)", "(a + .1) + .7"}
