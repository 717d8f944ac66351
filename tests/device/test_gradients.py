"""Gradients are programs like any other: they verify on C, and agree with PyTorch and JAX."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import verify
from tang.verify.gradient import with_scalar_loss

RNG = np.random.default_rng(5)
i, j, s = tg.dims("i j s")


def squared(tensor):
    """Σ tensor² as the loss."""
    dims = [tg.dim(f"w{n}") for n in range(tensor.rank)]
    at = tuple(dims)
    return tg.Graph(L=tg.compute("L", (), tg.sum(tensor[at] * tensor[at], over=dims)))


def normal(*shape):
    return RNG.normal(size=shape).astype(np.float32)


X = tg.input("x", (4, 6))
QKV = [tg.input("q", (4, 5, 3)), tg.input("k", (2, 5, 3)), tg.input("v", (2, 5, 2))]
IMAGE, KERNEL = tg.input("x", (1, 2, 7, 7)), tg.input("w", (3, 2, 3, 3))
TIME = tg.dim("t", 6)
A, B = tg.input("a", (6,)), tg.input("b", (6, 2))
PROGRAMS = {
    "softmax": lambda: tg.softmax(X),
    "layer norm": lambda: tg.layer_norm(X),
    "gelu": lambda: tg.gelu(X),
    "maximum": lambda: tg.max(X, axis=1),
    "top-k": lambda: tg.top_k(X, 2)[0],
    "product": lambda: tg.prod(X, axis=1),
    "merged axes": lambda: tg.merge_axes(X, 0),
    "causal attention": lambda: tg.attention(*QKV, causal=True),
    "strided convolution": lambda: tg.conv2d(IMAGE, KERNEL, stride=2, padding=1),
    "dilated convolution": lambda: tg.conv2d(IMAGE, KERNEL, dilation=2, padding=2),
    "scan": lambda: tg.compute(
        "h", (TIME, j), tg.affine_scan(A[s], B[s, j], over=s, where=[s <= TIME])
    ),
    "online softmax": lambda: tg.compute(
        "o", (i, j), tg.online_softmax(X[i, s], X[j, s], over=s)
    ),
    "embedding": lambda: tg.embedding(X, tg.input("n", (5,), "index")),
}  # fmt: skip


def inputs_of(graph):
    return {
        a.name: normal(*(p.constant for p in a.shape))
        if a.sort.value == "real"
        else np.array([0, 3, 3, 1, 2])
        for a in graph.inputs
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_verifies_on_c(name):
    graph = squared(PROGRAMS[name]())
    wrt = [a.name for a in graph.inputs if a.sort.value == "real"]
    report = verify(tg.grad(graph, "L", wrt), inputs_of(graph), backends=("c",))
    assert report.ok, report.to_text()


def test_a_second_derivative_verifies_on_c():
    graph = squared(tg.softmax(X))
    first = tg.grad(graph, "L", ["x"])
    second = tg.grad(with_scalar_loss(first, "d_x"), "d_x", ["x"])
    report = verify(second, {"x": normal(4, 6)}, backends=("c",))
    assert report.ok, report.to_text()


def attention_gradient(length):
    """Causal attention with its scores as a node of their own, and the gradient."""
    t, k, d, e = tg.dims("t k d e")
    query, key, value = (tg.input(n, (length, w)) for n, w in (("Q", 3), ("K", 3), ("V", 4)))
    scores = tg.compute("S", (t, k), tg.sum(query[t, d] * key[k, d], over=d))
    out = tg.compute(
        "out", (t, e), tg.online_softmax(scores[t, k], value[k, e], over=k, where=[k <= t])
    )
    return tg.grad(squared(out), "L", ["Q", "K", "V"])


def test_attention_backward_runs_without_a_buffer_of_length_by_length():
    length = 12
    graph = attention_gradient(length)
    large = [n.name for n in graph.nodes if [d.extent.constant for d in n.point].count(length) > 1]
    schedule = Schedule(nodes=tuple((n, NodeSchedule(place="inline")) for n in large))
    report = verify(graph, rules=(), schedule=schedule, backends=("c",), seed=1)
    assert report.ok, report.to_text()
    buffers = tg.compile(graph, schedule=schedule).plan.buffers
    assert all(b.shape.count(length) <= 1 for b in buffers)


TORCH = {
    "softmax": lambda torch, x: torch.softmax(x, 1),
    "layer norm": lambda torch, x: torch.nn.functional.layer_norm(x, (6,)),
    "gelu": lambda torch, x: torch.nn.functional.gelu(x),
    "maximum": lambda torch, x: x.max(1).values,
    "top-k": lambda torch, x: x.topk(2, 1).values,
    "product": lambda torch, x: x.prod(1),
}


@pytest.mark.parametrize("name", TORCH)
def test_a_gradient_agrees_with_pytorch(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    graph = squared(PROGRAMS[name]())
    data = RNG.permutation(24).reshape(4, 6) / 8.0 - 1.4
    mine = interpret(tg.grad(graph, "L", ["x"]), {"x": data})["d_x"]
    x = torch.tensor(data, requires_grad=True)
    TORCH[name](torch, x).square().sum().backward()
    np.testing.assert_allclose(mine, x.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_a_convolution_gradient_agrees_with_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    data = {"x": RNG.normal(size=(1, 2, 7, 7)), "w": RNG.normal(size=(3, 2, 3, 3))}
    for stride, padding, dilation in [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2)]:
        y = tg.conv2d(IMAGE, KERNEL, stride=stride, padding=padding, dilation=dilation)
        mine = interpret(tg.grad(squared(y), "L", ["x", "w"]), data)
        x, w = (torch.tensor(data[n], requires_grad=True) for n in "xw")
        out = torch.nn.functional.conv2d(x, w, None, stride, padding, dilation)
        out.square().sum().backward()
        np.testing.assert_allclose(mine["d_x"], x.grad.numpy(), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(mine["d_w"], w.grad.numpy(), rtol=1e-9, atol=1e-10)


JAX = {
    "softmax": lambda jax, x: jax.nn.softmax(x, axis=1),
    "gelu": lambda jax, x: jax.nn.gelu(x, approximate=False),
    "maximum": lambda jax, x: x.max(1),
    "top-k": lambda jax, x: jax.lax.top_k(x, 2)[0],
    "product": lambda jax, x: x.prod(1),
}


def with_doubles():
    """JAX in 64 bits."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.mark.parametrize("name", JAX)
def test_a_gradient_agrees_with_jax(name):
    jax = with_doubles()
    data = RNG.permutation(24).reshape(4, 6) / 8.0 - 1.4
    mine = interpret(tg.grad(squared(PROGRAMS[name]()), "L", ["x"]), {"x": data})["d_x"]
    theirs = jax.grad(lambda x: (JAX[name](jax, x) ** 2).sum())(data)
    np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("how", [(1, 1, 1), (2, 1, 1), (2, 2, 2), (3, 2, 2), (2, 3, 3)], ids=str)
def test_a_convolution_gradient_agrees_with_jax(how):
    jax = with_doubles()
    stride, padding, dilation = how
    data = {"x": RNG.normal(size=(1, 2, 7, 7)), "w": RNG.normal(size=(3, 2, 3, 3))}
    y = tg.conv2d(IMAGE, KERNEL, stride=stride, padding=padding, dilation=dilation)
    mine = interpret(tg.grad(squared(y), "L", ["x", "w"]), data)

    def loss(x, w):
        pads, steps = [(padding, padding)] * 2, (stride, stride)
        out = jax.lax.conv_general_dilated(x, w, steps, pads, rhs_dilation=(dilation,) * 2)
        return (out**2).sum()

    for name, theirs in zip("xw", jax.grad(loss, (0, 1))(data["x"], data["w"]), strict=True):
        np.testing.assert_allclose(mine[f"d_{name}"], np.asarray(theirs), rtol=1e-9, atol=1e-10)
