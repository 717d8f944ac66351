"""Mamba-2 and gated delta layers against step-by-step loops, in both of their forms.

The references keep one state per head and update it as the papers' first equations say. Lengths
of one step, of whole chunks, of chunks that end short and of less than a chunk are all here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from model_checks import agree, dense, parameters_of, rms, sigmoid, silu

from tang.errors import GraphError
from tang.ir.expr import state, substitute, walk
from tang.ir.extent import symbol
from tang.ir.laws import check_laws
from tang.models import DeltaSizes, MambaSizes, gated_delta_layer, mamba2_layer, matrix_scan

FORMS = ("sequential", "chunked")
MAMBA = MambaSizes(batch=2, width=5, heads=2, depth=3, state=4, chunk=4)
DELTA = DeltaSizes(batch=2, width=5, heads=2, keys=3, values=2, chunk=4)
LENGTHS = (1, 3, 4, 11)


def convolved(x, w, name):
    """silu of every channel's taps over its own past."""
    taps = w[f"{name}.weight"].shape[1]
    out = np.tile(w[f"{name}.bias"], (*x.shape[:2], 1))
    for t, r in np.ndindex(x.shape[1], taps):
        if t + r >= taps - 1:
            out[:, t] += w[f"{name}.weight"][:, r] * x[:, t + r - taps + 1]
    return silu(out)


def projected(x, w, name):
    return convolved(dense(x, w, name), w, f"{name}.conv")


def numpy_mamba(x, w, sizes):
    """h = exp(Δ A) h + Δ key valueᵀ, one step after the other, per head."""
    value, key, query = (projected(x, w, part) for part in ("value", "key", "query"))
    step = np.log1p(np.exp(dense(x, w, "step")))
    y = np.empty((*x.shape[:2], sizes.heads, sizes.depth))
    for b, h in np.ndindex(x.shape[0], sizes.heads):
        own = slice(h * sizes.depth, (h + 1) * sizes.depth)
        state = np.zeros((sizes.state, sizes.depth))
        for t in range(x.shape[1]):
            decay = np.exp(-step[b, t, h] * np.exp(w["head.decay"][h]))
            state = decay * state + step[b, t, h] * np.outer(key[b, t], value[b, t, own])
            y[b, t, h] = query[b, t] @ state + w["head.skip"][h] * value[b, t, own]
    y = y * silu(dense(x, w, "gate")).reshape(y.shape)
    y = rms(y, w["norm.weight"].reshape(sizes.heads, sizes.depth), 1e-5)
    return dense(y.reshape(*x.shape[:2], -1), w, "output")


def heads_of(x, count):
    return x.reshape(*x.shape[:2], count, -1)


def unit(x):
    return x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6)


def numpy_delta(x, w, sizes):
    """S = α S (I − β k kᵀ) + β v kᵀ and o = S q, one step after the other, per head."""
    parts = (heads_of(projected(x, w, part), sizes.heads) for part in ("query", "key", "value"))
    query, key, value = parts
    query, key = unit(query) / np.sqrt(sizes.keys), unit(key)
    beta = sigmoid(dense(x, w, "beta"))
    alpha = np.exp(-np.log1p(np.exp(dense(x, w, "alpha"))) * np.exp(w["head.decay"]))
    seen = np.empty((*x.shape[:2], sizes.heads, sizes.values))
    for b, h in np.ndindex(x.shape[0], sizes.heads):
        state = np.zeros((sizes.values, sizes.keys))
        for t in range(x.shape[1]):
            k = key[b, t, h]
            erase = np.eye(sizes.keys) - beta[b, t, h] * np.outer(k, k)
            state = alpha[b, t, h] * state @ erase + beta[b, t, h] * np.outer(value[b, t, h], k)
            seen[b, t, h] = state @ query[b, t, h]
    gated = rms(seen, w["norm.weight"], 1e-5) * heads_of(silu(dense(x, w, "gate")), sizes.heads)
    return dense(gated.reshape(*x.shape[:2], -1), w, "output")


MODELS = {
    "mamba": (mamba2_layer, numpy_mamba, MAMBA),
    "mamba, one of each": (
        mamba2_layer,
        numpy_mamba,
        MambaSizes(batch=1, width=2, heads=1, depth=1, state=1, taps=1, chunk=2),
    ),
    "delta": (gated_delta_layer, numpy_delta, DELTA),
    "delta, one of each": (
        gated_delta_layer,
        numpy_delta,
        DeltaSizes(batch=1, width=2, heads=1, keys=1, values=1, taps=1, chunk=2),
    ),
}


def drawn(graph, sizes, length, seed=0):
    """Parameters with slow decays, so that the distant past still counts, and a sequence."""
    w = parameters_of(graph, seed)
    w["head.decay"] = np.linspace(-3.0, -0.5, sizes.heads)
    x = np.random.default_rng(21).standard_normal((sizes.batch, length, sizes.width))
    return w, x


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("form", FORMS)
def test_both_forms_follow_the_loop_at_every_length(model, length, form):
    layer, reference, sizes = model
    graph = layer(replace(sizes, length=length), form)
    w, x = drawn(graph, sizes, length)
    agree(graph, {"x": x, **w}, y=reference(x, w, sizes))


@pytest.mark.parametrize("name", ["mamba", "delta"])
@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 8, 16])
def test_chunks_of_any_size_give_the_same(name, chunk):
    layer, reference, sizes = MODELS[name]
    graph = layer(replace(sizes, length=9, chunk=chunk), "chunked")
    w, x = drawn(graph, sizes, 9)
    agree(graph, {"x": x, **w}, y=reference(x, w, sizes))


@pytest.mark.parametrize("name", ["mamba", "delta"])
@pytest.mark.parametrize("form", FORMS)
def test_the_length_may_be_a_symbol(name, form):
    layer, reference, sizes = MODELS[name]
    length = "t" if form == "sequential" else symbol("n") * sizes.chunk
    graph = layer(replace(sizes, length=length), form)
    w, x = drawn(graph, sizes, 8)
    agree(graph, {"x": x, **w}, y=reference(x, w, sizes))


@pytest.mark.parametrize("name", ["mamba", "delta"])
def test_a_reference_that_forgets_faster_does_not_agree(name):
    layer, reference, sizes = MODELS[name]
    graph = layer(replace(sizes, length=9), "chunked")
    w, x = drawn(graph, sizes, 9)
    agree(graph, {"x": x, **w}, y=reference(x, w, sizes))
    faster = {**w, "head.decay": w["head.decay"] + 1e-6}
    with pytest.raises(AssertionError, match="y"):
        agree(graph, {"x": x, **w}, y=reference(x, faster, sizes))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_matrix_monoid_obeys_its_laws(size):
    check_laws(matrix_scan(size))


def test_a_matrix_monoid_that_composes_backwards_breaks_its_laws():
    good = matrix_scan(2)
    sides = {e: e.payload for e in walk(*good.combine) if e.op == "state"}
    swapped = {e: state(1 - side, c, e.sort, e.args) for e, (side, c) in sides.items()}
    backwards = (substitute(good.combine[0], swapped), good.combine[1])
    with pytest.raises(GraphError, match="breaks associativity"):
        check_laws(replace(good, combine=backwards))


def test_sizes_and_chunks_that_cannot_be_are_refused():
    with pytest.raises(GraphError, match="every size of a Mamba-2 layer is at least 1"):
        replace(MAMBA, chunk=0)
    with pytest.raises(GraphError, match="every size of a gated delta layer is at least 1"):
        replace(DELTA, keys=0)
    with pytest.raises(GraphError, match="length in chunks: extent length is not divisible by 4"):
        mamba2_layer(MambaSizes(chunk=4), "chunked")
