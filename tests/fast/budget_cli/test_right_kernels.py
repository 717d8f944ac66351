"""Right kernels in f32, of any library and order, pass by default; planted faults do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tang as tg
from tang.budget.report_tolerance import tolerances_of
from tang.testing import assert_within

F32 = np.float32
LOG2E, LN2 = F32(1.4426950408889634), F32(0.6931471805599453)
ROWS, TERMS, HEAD = 6, 24, 8


def power(x):
    with np.errstate(over="ignore"):
        return np.exp2(x * LOG2E)


def tanh_by_power(x):
    return F32(1) - F32(2) / (power(x * F32(2)) + F32(1))


def loop(x):
    """Term after term."""
    total = np.zeros(x.shape[:-1], F32)
    for k in range(x.shape[-1]):
        total = total + x[..., k]
    return total


def tree(x):
    n = x.shape[-1]
    return x[..., 0] if n == 1 else tree(x[..., : n // 2]) + tree(x[..., n // 2 :])


def rounded_once(x):
    return np.apply_along_axis(lambda row: F32(math.fsum(row.astype(float))), -1, x).astype(F32)


def in_f16(x):
    """A planted fault: an accumulator that is too narrow."""
    return loop_f16(x.astype(np.float16)).astype(F32)


def loop_f16(x):
    total = np.zeros(x.shape[:-1], np.float16)
    for k in range(x.shape[-1]):
        total = total + x[..., k]
    return total


def one_dropped(x):
    """A planted fault: the last term is left out."""
    return loop(x[..., :-1])


SUMS = {"numpy": lambda x: x.sum(-1, dtype=F32), "loop": loop, "tree": tree, "once": rounded_once}
FAULTY = {"in-f16": in_f16, "one-dropped": one_dropped}


class Library:
    """Functions as NumPy has them, or in rounded steps as the IR prints them."""

    def __init__(self, *, steps, total):
        self.exp = power if steps else np.exp
        self.log = (lambda x: np.log2(x) * LN2) if steps else np.log
        self.tanh = tanh_by_power if steps else np.tanh
        self.total = total


def softmax(m, x):
    e = m.exp(x - x.max(-1, keepdims=True))
    return e / m.total(e)[..., None]


def logsumexp(m, x):
    most = x.max(-1)
    return most + m.log(m.total(m.exp(x - most[..., None])))


def gelu_tanh(m, x):
    inner = F32(math.sqrt(2 / math.pi)) * (x + F32(0.044715) * x * x * x)
    return F32(0.5) * x * (F32(1) + m.tanh(inner))


def gelu_erf(m, x):
    erf = np.vectorize(math.erf, otypes=[F32])
    return F32(0.5) * x * (F32(1) + erf((x * F32(math.sqrt(0.5))).astype(float)))


def silu(m, x):
    return x * (F32(1) / (F32(1) + m.exp(-x)))


def layer_norm(m, x, eps=1e-5):
    n = F32(x.shape[-1])
    d = x - (m.total(x) / n)[..., None]
    return d * (F32(1) / np.sqrt(m.total(d * d) / n + F32(eps)))[..., None]


def attention(m, q, k, v):
    scores = m.total(q[:, None] * k[None]) * F32(1 / math.sqrt(HEAD))
    return m.total(np.moveaxis(softmax(m, scores)[:, :, None] * v[None], 1, -1))


def cross_entropy(m, x, target):
    logs = x - logsumexp(m, x)[:, None]
    return -m.total((logs * target).reshape(1, -1))[0] / F32(ROWS)


def layer_norm_graph(x):
    i, j = tg.dims("i j")
    mean = tg.compute("mean", (i,), tg.sum(x[i, j], over=j) / float(TERMS))
    d = x[i, j] - mean[i]
    square = tg.compute("square", (i,), tg.sum(d * d, over=j) / float(TERMS))
    return tg.compute("y", (i, j), d / tg.sqrt(square[i] + 1e-5))


def cross_entropy_graph(x, target):
    i, j = tg.dims("i j")
    logs = tg.log_softmax(x, axis=1)
    total = tg.sum(logs[i, j] * target[i, j], over=(i, j))
    return tg.compute("loss", (), -(total / float(ROWS)))


KERNELS = {
    "softmax": (softmax, "x", lambda x: tg.softmax(x, axis=1)),
    "logsumexp": (logsumexp, "x", lambda x: tg.logsumexp(x, axis=1)),
    "gelu-tanh": (gelu_tanh, "x", lambda x: tg.gelu(x, "tanh")),
    "gelu-erf": (gelu_erf, "x", tg.gelu),
    "silu": (silu, "x", tg.silu),
    "layer-norm": (layer_norm, "x", layer_norm_graph),
    "attention": (attention, "qkv", tg.attention),
    "cross-entropy": (cross_entropy, "xt", cross_entropy_graph),
}
POINTWISE = ("gelu-tanh", "gelu-erf", "silu")


def case(name, scale, seed):
    """A kernel, its program and data, in their order."""
    kernel, inputs, program = KERNELS[name]
    rng = np.random.default_rng(seed)
    shape = (ROWS, HEAD) if inputs == "qkv" else (ROWS, TERMS)
    data = {n: (rng.standard_normal(shape) * scale).astype(F32) for n in inputs}
    if "t" in data:
        data["t"] = np.eye(TERMS, dtype=F32)[rng.integers(0, TERMS, ROWS)]
    graph = tg.Graph(y=program(*(tg.input(n, shape) for n in inputs)))
    return kernel, graph, data


@pytest.mark.parametrize("scale", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("name", KERNELS)
def test_right_kernels_pass_however_functions_and_sums_are_computed(name, scale):
    kernel, graph, data = case(name, scale, 1)
    for steps in (False, True):
        for total in [loop] if name in POINTWISE else SUMS.values():
            got = kernel(Library(steps=steps, total=total), *data.values())
            assert got.dtype == F32
            assert_within(got, graph=graph, inputs=data)


@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize("name", [n for n in KERNELS if n not in POINTWISE])
def test_kernels_with_a_wrong_sum_fail(name, fault):
    kernel, graph, data = case(name, 1.0, 1)
    got = kernel(Library(steps=False, total=FAULTY[fault]), *data.values())
    with pytest.raises(AssertionError, match="are over"):
        assert_within(got, graph=graph, inputs=data)


def test_a_wrong_constant_fails():
    kernel, graph, data = case("layer-norm", 0.01, 1)
    got = kernel(Library(steps=False, total=loop), *data.values(), eps=1e-6)
    with pytest.raises(AssertionError, match="are over"):
        assert_within(got, graph=graph, inputs=data)
    kernel, graph, data = case("gelu-erf", 1.0, 1)
    with pytest.raises(AssertionError, match="are over"):
        assert_within(gelu_tanh(Library(steps=False, total=loop), data["x"]),
                      graph=graph, inputs=data)  # fmt: skip


def test_a_failure_says_whose_functions_are_meant():
    kernel, graph, data = case("softmax", 1.0, 1)
    good = kernel(Library(steps=False, total=loop), data["x"])
    with pytest.raises(AssertionError) as told:
        assert_within(good * F32(1.01), graph=graph, inputs=data)
    line = 'functions as any library has them (math="any"): exp within 9.5 + 2|x| ulp, '
    assert f"\n  {line}x/y within 6 ulp" in str(told.value)
    with pytest.raises(AssertionError, match=r'own \(math="portable"\): exp within 0\.9 ulp$'):
        assert_within(good * F32(1.01), graph=graph, inputs=data, math="portable")
    with pytest.raises(AssertionError, match=r'as cuda documents .*"cuda"\): exp within 2\.5 ulp$'):
        assert_within(good * F32(1.01), graph=graph, inputs=data, math="cuda")


def test_a_written_schedule_is_a_kernel_of_tangs_own_functions():
    graph = tg.Graph(y=tg.tanh(tg.input("x", (TERMS,))))
    written = {"version": 1, "default": {"storage": "f32"}}
    data = {"x": np.linspace(-1, 1, TERMS).astype(F32)}
    steps = tanh_by_power(data["x"])
    assert_within(steps, graph=graph, inputs=data)
    assert_within(steps, graph=graph, inputs=data, precision=written, math="any")
    for more in ({"precision": written}, {"math": "portable"}):
        assert_within(
            np.tanh(data["x"].astype(float)).astype(F32), graph=graph, inputs=data, **more
        )
        with pytest.raises(AssertionError, match=r'functions as tang\'s own \(math="portable"\)'):
            assert_within(steps, graph=graph, inputs=data, **more)


def test_a_program_without_functions_says_nothing_of_them(matmul):
    (found,) = tolerances_of(matmul, "f32")
    assert found.derivation
    assert not any("functions" in line for line in found.derivation)
