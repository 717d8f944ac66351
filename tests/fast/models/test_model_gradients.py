"""Gradients of every model against differences of the model itself, along a random direction.

The difference is of fourth order in f64, so it is good to 10⁻⁷ here; every parameter and every
real input takes part in the direction. Decisions (the chosen experts) do not change along it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret
from tang.ir.expr import REAL, apply, arg
from tang.ir.graph import Comprehension, Dim, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.models import (
    DecoderSizes,
    DeltaSizes,
    MambaSizes,
    TransformerSizes,
    adain,
    convnext_block,
    decoder_layer,
    gated_delta_layer,
    language_model_loss,
    mamba2_layer,
    moe_layer,
    paged_decoder_layer,
    transformer_loss,
    weights,
)
from tang.verify.inputs import random_inputs

STEP = 1e-3
BLOCK = TransformerSizes(batch=2, seq=3, width=4, heads=2, hidden=5)
DECODER = DecoderSizes(batch=2, seq=2, width=4, heads=2, groups=1, depth=2, hidden=3, window=3)
MAMBA = MambaSizes(batch=1, length=5, width=3, heads=2, depth=2, state=2, chunk=2)
DELTA = DeltaSizes(batch=1, length=5, width=3, heads=1, keys=2, values=2, chunk=2)
SYMBOLIC = {"batch": 2, "seq": 3}
MODELS = {
    "transformer": (transformer_loss(2, BLOCK), {}),
    "symbolic transformer": (
        transformer_loss(1, replace(BLOCK, batch="batch", seq="seq")),
        SYMBOLIC,
    ),
    "language model": (
        language_model_loss(1, 7, replace(BLOCK, batch="batch", seq="seq")),
        SYMBOLIC,
    ),
    "decoder": (decoder_layer(DECODER, 6), {}),
    "paged decoder": (paged_decoder_layer(DECODER, 2, 4, 3), {}),
    "gathered experts": (moe_layer(tokens=4, width=3, hidden=2, experts=3), {}),
    "gated experts": (moe_layer(tokens=4, width=3, hidden=2, experts=3, dispatch="gated"), {}),
    "convnext": (convnext_block(batch=1, width=2, height=4, across=3), {}),
    "adain": (adain(batch=1, width=2, height=3, across=2, style_height=2, style_across=2), {}),
    "mamba": (mamba2_layer(MAMBA), {}),
    "mamba in chunks": (mamba2_layer(MAMBA, "chunked"), {}),
    "delta": (gated_delta_layer(DELTA), {}),
    "delta in chunks": (gated_delta_layer(DELTA, "chunked"), {}),
}


def with_loss(graph):
    """The graph with one output, loss: its own, or the sum of squares of its first output."""
    first = graph.outputs[0]
    if first.name == "loss":
        return graph
    dims = tuple(Dim(f"z{n}", e) for n, e in enumerate(graph.shape(first.ref)))
    read = Read(first.ref, View(tuple(variable(d.name) for d in dims)))
    square = apply("mul", arg(0), arg(0))
    node = Comprehension("squares", (), (read,), (square,), dims, monoid=SUM)
    output = Output("loss", Ref("squares", "value"))
    return replace(graph, nodes=(*graph.nodes, node), outputs=(output,))


def data_of(graph, sizes):
    """Random inputs in f64; a causal mask, one token in each cache."""
    drawn = random_inputs(graph, sizes, 5) | weights(graph, sizes, 6)
    data = {n: a.astype(np.float64) if a.dtype.kind == "f" else a for n, a in drawn.items()}
    if "mask" in data:
        data["mask"] = np.broadcast_to(np.tri(data["mask"].shape[1], dtype=bool), (2, 3, 3))
    if "start" in data:
        data["start"] = np.ones_like(data["start"])
    return data


def both(name):
    """The slope along a random direction: by the gradient, and by differences."""
    program, sizes = MODELS[name]
    graph = with_loss(program)
    data = data_of(graph, sizes)
    reals = [i.name for i in graph.inputs if i.sort is REAL]
    rng = np.random.default_rng(7)
    direction = {n: rng.standard_normal(data[n].shape) for n in reals}
    gradients = interpret(tg.grad(graph, "loss", reals), data)
    slope = sum(float((gradients[f"d_{n}"] * direction[n]).sum()) for n in reals)

    def loss(t):
        moved = {n: data[n] + t * direction[n] for n in reals}
        return float(interpret(graph, data | moved)["loss"])

    near, far = loss(STEP) - loss(-STEP), loss(2 * STEP) - loss(-2 * STEP)
    return slope, (8 * near - far) / (12 * STEP)


@pytest.mark.parametrize("name", MODELS)
def test_a_gradient_is_the_slope_of_the_model(name):
    slope, difference = both(name)
    assert abs(slope) > 1e-3
    assert slope == pytest.approx(difference, rel=2e-6)


def test_a_gradient_that_is_slightly_off_is_seen():
    slope, difference = both("gathered experts")
    assert slope != pytest.approx(difference * (1 + 1e-5), rel=2e-6)
