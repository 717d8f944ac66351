"""Transformers against NumPy: blocks, stacks, losses, masks, and the cost of building them."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from model_checks import agree, dense, gelu, layer_norm, parameters_of, softmax

from tang.errors import GraphError
from tang.models import (
    TransformerSizes,
    language_model,
    language_model_loss,
    parameters,
    transformer,
    transformer_block,
    transformer_loss,
)

SMALL = TransformerSizes(width=8, heads=2, hidden=12)
ONE_HEAD = TransformerSizes(width=6, heads=1, hidden=4)


def normed(x, w, name):
    return layer_norm(x, w[f"{name}.weight"], w[f"{name}.bias"])


def attended(x, mask, w, heads, name):
    """Every head on its own, one query after the other."""
    q, k, v = (dense(x, w, f"{name}.{part}") for part in ("query", "key", "value"))
    depth = x.shape[-1] // heads
    out = np.empty_like(x)
    for b, t, h in np.ndindex(x.shape[0], x.shape[1], heads):
        own = slice(h * depth, (h + 1) * depth)
        scores = k[b][:, own] @ q[b, t, own] / np.sqrt(depth)
        out[b, t, own] = softmax(np.where(mask[b, t], scores, -np.inf)) @ v[b][:, own]
    return dense(out, w, f"{name}.output")


def block(x, mask, w, heads, name):
    x = x + attended(normed(x, w, f"{name}.attention_norm"), mask, w, heads, f"{name}.attention")
    inner = gelu(dense(normed(x, w, f"{name}.mlp_norm"), w, f"{name}.mlp.up"))
    return x + dense(inner, w, f"{name}.mlp.down")


def stack(x, mask, w, heads, layers):
    for n in range(layers):
        x = block(x, mask, w, heads, f"layers.{n}")
    return normed(x, w, "norm")


def random_mask(rng, batch, seq):
    """Some keys for every query, itself among them."""
    return (rng.random((batch, seq, seq)) < 0.5) | np.eye(seq, dtype=bool)


@pytest.mark.parametrize("sizes", [SMALL, ONE_HEAD], ids=["two heads", "one head"])
@pytest.mark.parametrize("shape", [(2, 5), (1, 1), (3, 4)], ids=str)
@pytest.mark.parametrize("kind", ["causal", "random", "full"])
def test_a_block_follows_numpy_under_every_mask(sizes, shape, kind):
    rng = np.random.default_rng(5)
    graph = transformer_block(sizes)
    w = parameters_of(graph)
    x = rng.standard_normal((*shape, sizes.width))
    masks = {
        "causal": np.broadcast_to(np.tri(shape[1], dtype=bool), (*shape, shape[1])),
        "random": random_mask(rng, *shape),
        "full": np.ones((*shape, shape[1]), bool),
    }
    expected = block(x, masks[kind], w, sizes.heads, "block")
    agree(graph, {"x": x, "mask": masks[kind], **w}, y=expected)


def test_a_query_without_keys_is_nan_and_no_other():
    rng = np.random.default_rng(6)
    graph = transformer_block(SMALL)
    w = parameters_of(graph)
    x, mask = rng.standard_normal((2, 4, 8)), random_mask(rng, 2, 4)
    mask[1, 2] = False
    expected = block(x, mask, w, 2, "block")
    assert np.isnan(expected).sum() == 8
    agree(graph, {"x": x, "mask": mask, **w}, y=expected)


def test_a_reference_without_its_mask_does_not_agree():
    rng = np.random.default_rng(7)
    graph = transformer_block(SMALL)
    w = parameters_of(graph)
    x, mask = rng.standard_normal((1, 4, 8)), np.tri(4, dtype=bool)[None]
    agree(graph, {"x": x, "mask": mask, **w}, y=block(x, mask, w, 2, "block"))
    with pytest.raises(AssertionError, match="y"):
        agree(graph, {"x": x, "mask": mask, **w}, y=block(x, mask | True, w, 2, "block"))
    nearly = block(x, mask, w, 2, "block") * (1 + 1e-11)
    with pytest.raises(AssertionError, match="y"):
        agree(graph, {"x": x, "mask": mask, **w}, y=nearly)


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_a_stack_and_its_loss_follow_numpy(layers):
    rng = np.random.default_rng(8)
    graph = transformer(layers, SMALL)
    w = parameters_of(graph)
    x, target = rng.standard_normal((2, 3, 8)), rng.standard_normal((2, 3, 8))
    data = {"x": x, "mask": random_mask(rng, 2, 3), **w}
    if layers == 0:
        del data["mask"]
    y = stack(x, data.get("mask"), w, 2, layers)
    agree(graph, data, y=y)
    loss = transformer_loss(layers, SMALL)
    agree(loss, {**data, "target": target}, loss=np.asarray(((y - target) ** 2).mean()))


@pytest.mark.parametrize(("batch", "seq"), [(2, 4), (1, 1)])
def test_a_language_model_and_its_cross_entropy_follow_numpy(batch, seq):
    rng = np.random.default_rng(9)
    graph = language_model(2, 11, SMALL)
    w = parameters_of(graph, seq=seq)
    tokens, targets = rng.integers(0, 11, (2, batch, seq))
    mask = np.broadcast_to(np.tri(seq, dtype=bool), (batch, seq, seq))
    x = w["token.weight"][tokens] + w["position.weight"]
    logits = stack(x, mask, w, 2, 2) @ w["token.weight"].T
    data = {"tokens": tokens, "mask": mask, **w}
    agree(graph, data, logits=logits)
    right = np.take_along_axis(np.log(softmax(logits)), targets[..., None], -1)
    loss = language_model_loss(2, 11, SMALL)
    agree(loss, {**data, "targets": targets}, loss=np.asarray(-right.mean()))


def calls_to_build(layers):
    """How many Python functions building a transformer of so many layers calls."""
    count = 0

    def note(_frame, event, _arg):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        graph = transformer_loss(layers, SMALL)
    finally:
        sys.setprofile(before)
    return count, graph


def test_building_is_linear_in_layers():
    (few, small), (many, large) = calls_to_build(3), calls_to_build(6)
    assert many <= 2.05 * few
    assert len(large.nodes) - len(small.nodes) == 3 * 32
    assert len(parameters(large)) == 6 * 16 + 2


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(GraphError, match="width 8 cannot be split evenly into 3 heads"):
        TransformerSizes(width=8, heads=3)
    with pytest.raises(GraphError, match="0 layers or more, not -1"):
        transformer(-1, SMALL)
