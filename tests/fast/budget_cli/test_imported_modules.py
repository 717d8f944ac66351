"""Modules of PyTorch: over a fake export always, over torch itself where it is installed."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from fake_export import Export

from tang.budget import Question, budget_report, from_exported, from_torch
from tang.emulator import ErrorBudget
from tang.errors import GraphError
from tang.interpreter import interpret

RNG = np.random.default_rng(0)
SDPA = "scaled_dot_product_attention.default"


def drawn(*shape):
    return RNG.standard_normal(shape)


def run(export, *outputs):
    """The imported program's results, and what was imported."""
    found = from_exported(export.done(*outputs), export.examples)
    return list(interpret(found.graph, found.inputs).values()), found


def of_one(target, x, *args, **kwargs):
    """What a single operation gives."""
    e = Export()
    return run(e, e.call(f"aten.{target}", e.input("x", x), *args, **kwargs))[0][0]


def test_a_linear_layer_has_the_names_of_its_module():
    e = Export()
    x, w, b = drawn(2, 3), drawn(4, 3), drawn(4)
    wn, bn, xn = e.parameter("fc.weight", w), e.parameter("fc.bias", b), e.input("x", x)
    (y,), found = run(e, e.call("aten.linear.default", xn, wn, bn, path="fc"))
    assert np.allclose(y, x @ w.T + b)
    assert [i.name for i in found.graph.inputs] == ["fc.weight", "fc.bias", "x"]
    assert [n.name for n in found.graph.nodes] == ["fc.linear.sum", "fc.linear"]
    assert set(found.inputs) == {"fc.weight", "fc.bias", "x"}


SHAPES = [
    ((6,), (2, 3)), ((2, 3), (6,)), ((2, 3, 4), (6, 4)), ((2, 3, 4), (2, 12)), ((6, 4), (2, 3, 4)),
    ((2, 6), (4, 3)), ((2, 3, 4), (4, 6)), ((1, 6), (6, 1)), ((2, 3), (1, 2, 1, 3)),
    ((4,), (-1, 2)), ((2, 1, 3), (2, 3)), ((1,), ()), ((), (1,)), ((2, 3, 4, 5), (6, 20)),
]  # fmt: skip


@pytest.mark.parametrize(("have", "shape"), SHAPES, ids=[f"{a}-to-{b}" for a, b in SHAPES])
def test_a_view_keeps_the_row_major_order(have, shape):
    x = drawn(*have)
    assert np.array_equal(of_one("view.default", x, list(shape)), x.reshape(shape))


X = drawn(2, 3, 4)
SIMPLE = {
    "transpose.int": ((1, 2), X.transpose(0, 2, 1)),
    "permute.default": (([2, 0, 1],), X.transpose(2, 0, 1)),
    "unsqueeze.default": ((-1,), X[..., None]),
    "select.int": ((1, -1), X[:, 2]),
    "slice.Tensor": ((2, 1, 9223372036854775807), X[:, :, 1:]),
    "add.Tensor": ((2.5,), X + 2.5), "rsub.Scalar": ((1,), 1 - X), "div.Tensor": ((4.0,), X / 4),
    "sub.Tensor": ((1.0,), X - 1), "mul.Tensor": ((3.0,), X * 3), "neg.default": ((), -X),
    "pow.Tensor_Scalar": ((3,), X**3), "abs.default": ((), np.abs(X)),
    "exp.default": ((), np.exp(X)),
    "relu.default": ((), np.maximum(X, 0)), "tanh.default": ((), np.tanh(X)),
    "sigmoid.default": ((), 1 / (1 + np.exp(-X))), "silu.default": ((), X / (1 + np.exp(-X))),
    "clamp.default": ((-0.5, 0.5), np.clip(X, -0.5, 0.5)),
    "mean.dim": (([-1], True), X.mean(-1, keepdims=True)), "sum.default": ((), X.sum()),
    "amax.default": (([1],), X.max(1)), "mean.default": ((), X.mean()),
    "var.correction": (([-1],), X.var(-1, ddof=1)),
    "softmax.int": ((-1,), np.exp(X) / np.exp(X).sum(-1, keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("target", SIMPLE)
def test_an_operation_means_what_numpy_means(target):
    args, want = SIMPLE[target]
    assert np.allclose(of_one(target, X, *args), want, rtol=1e-12, atol=1e-12)


def test_alpha_scales_the_second_operand():
    e = Export()
    a, b = e.input("a", X), e.input("b", X[0])
    assert np.allclose(run(e, e.call("aten.add.Tensor", a, b, alpha=3))[0][0], X + 3 * X[0])


def test_masks_fill_and_choose():
    e = Export()
    x, keep = e.input("x", X), e.input("keep", X > 0)
    gone = e.call("aten.bitwise_not.default", keep)
    filled = e.call("aten.masked_fill.Scalar", x, gone, -7.0)
    chosen = e.call("aten.where.ScalarOther", keep, x, 0.0)
    (first, second), _ = run(e, filled, chosen)
    assert np.array_equal(first, np.where(X > 0, X, -7))
    assert np.array_equal(second, np.maximum(X, 0))


def test_attention_masks_the_future_where_it_is_causal():
    e = Export()
    q, k, v = (e.input(n, drawn(1, 2, 3, 4)) for n in "qkv")
    y = e.call("aten.scaled_dot_product_attention.default", q, k, v, None, 0.0, True)
    (out,), found = run(e, y)
    assert np.allclose(out[:, :, 0], found.inputs["v"][:, :, 0])


def test_norms_follow_torch():
    e = Export()
    x, w, b = e.input("x", X), e.parameter("n.weight", drawn(4)), e.parameter("n.bias", drawn(4))
    layer = e.call("aten.layer_norm.default", x, [4], w, b, 1e-5)
    rms = e.call("aten.rms_norm.default", x, [4], w, 1e-6)
    (first, second), found = run(e, layer, rms)
    weight, bias = found.inputs["n.weight"], found.inputs["n.bias"]
    centred = X - X.mean(-1, keepdims=True)
    spread = np.sqrt(X.var(-1, keepdims=True) + 1e-5)
    assert np.allclose(first, centred / spread * weight + bias)
    assert np.allclose(second, X / np.sqrt((X * X).mean(-1, keepdims=True) + 1e-6) * weight)


def test_parts_of_a_chunk_are_picked_and_unused_ones_are_left_out():
    e = Export()
    parts = e.call("aten.chunk.default", e.input("x", X), 2, -1)
    second = e.node("call_function", "getitem", operator.getitem, (parts, 1))
    e.node("call_function", "getitem_1", operator.getitem, (parts, 0))
    assert np.array_equal(run(e, second)[0][0], X[..., 2:])


def test_rows_of_a_table_are_picked_by_indices():
    e = Export()
    table, at = e.parameter("e.weight", drawn(5, 3)), e.input("t", np.array([[4, 0]]))
    (y,), found = run(e, e.call("aten.embedding.default", table, at))
    assert np.array_equal(y, found.inputs["e.weight"][[[4, 0]]])


def test_formats_that_numpy_lacks_come_as_f32():
    e = Export()
    x = e.input("x", X.astype(np.float32), dtype="torch.bfloat16")
    _, found = run(e, e.call("aten.neg.default", x))
    assert found.inputs["x"].dtype == np.float32


@pytest.mark.parametrize(("build", "words"), [
    (lambda e, x: e.call("aten.linalg_inv.default", x),
     r"'linalg_inv' \(File \"layer.py\", line 1, in forward\): operation aten.linalg_inv"),
    (lambda e, x: e.call("aten.dropout.default", x, 0.5, True), "module.eval"),
    (lambda e, x: e.call("aten.pow.Tensor_Scalar", x, 1.7), "exponent 1.7"),
    (lambda e, x: e.call("aten.view.default", x, [5, 5]), "no view of shape"),
    (lambda e, x: e.call("aten.softmax.int", x, 9), "axis"),
    (lambda e, x: e.call("aten.div.Tensor", x, 2.0, rounding_mode="floor"), "rounding mode"),
    (lambda e, x: e.node("get_attr", "w", "w"), "kind 'get_attr'"),
    (lambda e, x: e.call(f"aten.{SDPA}", x, x, x, None, 0.5), "dropout"),
], ids=[
    "unknown", "dropout", "power", "view", "axis", "rounding", "kind", "attention",
])  # fmt: skip
def test_what_is_not_supported_is_refused_with_the_place(build, words):
    e = Export()
    node = build(e, e.input("x", X))
    node.users["output"] = None
    with pytest.raises(GraphError, match=words):
        run(e, node)


def test_a_module_that_changes_its_state_is_refused():
    e = Export()
    y = e.call("aten.neg.default", e.input("x", X))
    with pytest.raises(GraphError, match="BUFFER_MUTATION"):
        from_exported(e.done(y, kind="BUFFER_MUTATION"), e.examples)


def test_complex_numbers_are_refused_by_name():
    e = Export()
    e.input("x", X.astype(np.complex64))
    with pytest.raises(GraphError, match=r"'x' holds torch\.complex64"):
        run(e, e.nodes[0])


def test_an_imported_layer_can_be_asked_for_its_budget():
    e = Export()
    w, x = e.parameter("fc.weight", drawn(4, 3)), e.input("x", drawn(2, 3))
    y = e.call("aten.gelu.default", e.call("aten.linear.default", x, w, path="fc"))
    _, found = run(e, y)
    question = Question(budget=ErrorBudget(rel=0.5, abs=0.5), inputs=found.inputs)
    assert budget_report(found.graph, "bf16", question).ok


# --- torch itself -------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed: the fake stands in")


def layers(torch):
    nn = torch.nn
    block = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=True, dropout=0.0)
    image = nn.Sequential(nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.SiLU(), nn.Flatten(),
                          nn.Linear(36, 5), nn.LogSoftmax(-1))  # fmt: skip
    return [(block, (1, 4, 8)), (image, (1, 2, 6, 6)), (nn.Linear(3, 2), (4, 3))]


def test_layers_of_torch_compute_what_torch_computes(torch):
    torch.manual_seed(0)
    for module, shape in layers(torch):
        ready, x = module.double().eval(), torch.randn(*shape, dtype=torch.float64)
        found = from_torch(ready, (x,))
        (y,) = interpret(found.graph, found.inputs).values()
        assert np.allclose(y, ready(x).detach().numpy(), rtol=1e-9, atol=1e-9)


def test_a_module_in_training_and_what_is_no_module_are_refused(torch):
    with pytest.raises(GraphError, match="training mode"):
        from_torch(torch.nn.Linear(2, 2), (torch.zeros(1, 2),))
    with pytest.raises(GraphError, match=r"takes a torch\.nn\.Module"):
        from_torch(print, ())
