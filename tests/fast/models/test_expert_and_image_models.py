"""Experts, ConvNeXt and AdaIN against loops in NumPy, at their edges too."""

from __future__ import annotations

import numpy as np
import pytest
from model_checks import agree, dense, gelu, layer_norm, parameters_of, silu, softmax

from tang.errors import GraphError
from tang.interpreter import interpret
from tang.models import (
    TransformerSizes,
    adain,
    convnext_block,
    language_model,
    moe_layer,
    weights,
)

DISPATCH = ("gathered", "gated")


def numpy_moe(x, w, chosen):
    """Token by token: y, gates and experts."""
    logits = dense(x, w, "router")
    which = np.argsort(-logits, axis=-1, kind="stable")[:, :chosen]
    gates = softmax(np.take_along_axis(logits, which, -1))
    y = np.zeros_like(x)
    for n, r in np.ndindex(which.shape):
        gate, up, down = (w[f"experts.{p}.weight"][which[n, r]] for p in ("gate", "up", "down"))
        y[n] += gates[n, r] * (down @ (silu(gate @ x[n]) * (up @ x[n])))
    return y, gates, which


@pytest.mark.parametrize("dispatch", DISPATCH)
@pytest.mark.parametrize(
    ("experts", "chosen", "tokens"), [(5, 2, 7), (3, 3, 4), (1, 1, 2), (4, 1, 1), (4, 2, 0)]
)
def test_a_mixture_follows_its_tokens_one_by_one(dispatch, experts, chosen, tokens):
    graph = moe_layer(width=4, hidden=6, experts=experts, chosen=chosen, dispatch=dispatch)
    w = parameters_of(graph)
    x = np.random.default_rng(31).standard_normal((tokens, 4))
    y, gates, which = numpy_moe(x, w, chosen)
    agree(graph, {"x": x, **w}, y=y, gates=gates)
    assert (interpret(graph, {"x": x, **w})["experts"] == which).all()


@pytest.mark.parametrize("dispatch", DISPATCH)
def test_equal_logits_choose_the_first_experts(dispatch):
    graph = moe_layer(width=4, hidden=6, experts=5, chosen=3, dispatch=dispatch)
    w = parameters_of(graph)
    w["router.weight"] = np.tile(w["router.weight"][:1], (5, 1))
    x = np.random.default_rng(32).standard_normal((3, 4))
    found = interpret(graph, {"x": x, **w})
    assert found["experts"].tolist() == [[0, 1, 2]] * 3
    agree(graph, {"x": x, **w}, y=numpy_moe(x, w, 3)[0], gates=np.full((3, 3), 1 / 3))


def test_a_reference_with_one_expert_less_does_not_agree():
    graph = moe_layer(width=4, hidden=6, experts=5, chosen=2)
    w = parameters_of(graph)
    x = np.random.default_rng(33).standard_normal((3, 4))
    agree(graph, {"x": x, **w}, y=numpy_moe(x, w, 2)[0])
    with pytest.raises(AssertionError, match="y"):
        agree(graph, {"x": x, **w}, y=numpy_moe(x, w, 1)[0])


@pytest.mark.parametrize(("dispatch", "per_token"), [("gathered", 2), ("gated", 5)])
def test_the_documented_cost_is_that_of_the_graph(dispatch, per_token):
    graph = moe_layer(tokens=7, width=4, hidden=6, experts=5, chosen=2, dispatch=dispatch)
    sums = [n for n in graph.nodes if n.monoid is not None and n.monoid.name == "sum"]
    heavy = [n for n in sums if n.name.startswith(("experts.inner", "mixed"))]
    work = [int(np.prod([d.extent.constant for d in n.dims])) for n in heavy]
    assert work == [7 * per_token * 4 * 6] * 3


def numpy_convnext(x, w):
    n, c, height, across = x.shape
    wide = np.pad(x, [(0, 0), (0, 0), (3, 3), (3, 3)])
    seen = np.empty((n, height, across, c))
    for p, q in np.ndindex(height, across):
        window = wide[:, :, p : p + 7, q : q + 7] * w["depthwise.weight"][:, 0]
        seen[:, p, q] = window.sum((2, 3)) + w["depthwise.bias"]
    seen = layer_norm(seen, w["norm.weight"], w["norm.bias"], 1e-6)
    inner = dense(gelu(dense(seen, w, "up")), w, "down")
    return x + (w["layer.scale"] * inner).transpose(0, 3, 1, 2)


@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (1, 2, 9, 8), (1, 2, 1, 1)], ids=str)
def test_a_convnext_block_follows_its_window(shape):
    graph = convnext_block(width=shape[1])
    w = parameters_of(graph)
    x = np.random.default_rng(34).standard_normal(shape)
    agree(graph, {"x": x, **w}, y=numpy_convnext(x, w))


def numpy_adain(content, style, eps=1e-5):
    def moments(z):
        return z.mean((2, 3), keepdims=True), np.sqrt(z.var((2, 3), keepdims=True) + eps)

    (mean, deviation), (to_mean, to_deviation) = moments(content), moments(style)
    return to_deviation * (content - mean) / deviation + to_mean


@pytest.mark.parametrize(
    ("content", "style"),
    [((2, 3, 5, 4), (2, 3, 2, 6)), ((1, 1, 3, 3), (1, 1, 1, 1)), ((1, 2, 1, 1), (1, 2, 4, 3))],
    ids=["uneven", "style of one pixel", "content of one pixel"],
)
def test_adain_gives_the_content_the_moments_of_the_style(content, style):
    rng = np.random.default_rng(35)
    x, y = rng.standard_normal(content), 3 + 2 * rng.standard_normal(style)
    agree(adain(), {"content": x, "style": y}, y=numpy_adain(x, y))


def test_experts_that_cannot_be_chosen_are_refused():
    with pytest.raises(GraphError, match="6 of 5 experts cannot be chosen"):
        moe_layer(experts=5, chosen=6)


def test_weights_depend_on_name_shape_and_seed_alone():
    small = weights(moe_layer(width=4, experts=4), seed=3)
    again = weights(moe_layer(width=4, experts=4, dispatch="gated"), seed=3)
    assert all((small[n] == again[n]).all() and small[n].dtype == np.float32 for n in small)
    other = weights(moe_layer(width=4, experts=4), seed=4)
    assert all((small[n] != other[n]).any() for n in small)
    with pytest.raises(GraphError, match=r"parameter 'position.weight': .* needs a size for seq"):
        weights(language_model(1, 5, TransformerSizes()))
