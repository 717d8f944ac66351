"""Every model climbs the ladder: with symbolic sizes on C, and tiny ones on every backend.

All tasks of a backend go through one batch, so that kernels are compiled together. WGSL has
32-bit integers alone, so the tiny models have numbers for their sizes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

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
    transformer_block,
    transformer_loss,
    weights,
)
from tang.schedule import schedule_auto
from tang.verify import Rung, Task, verify_batch
from tang.verify.backends import BACKENDS, available
from tang.verify.inputs import random_inputs

BLOCK = TransformerSizes(width=8, heads=2, hidden=12)
DECODER = DecoderSizes(width=8, heads=4, groups=2, depth=4, hidden=12)
MAMBA = MambaSizes(width=5, heads=2, depth=3, state=4, chunk=4)
DELTA = DeltaSizes(width=5, heads=2, keys=3, values=2, chunk=4)
ROUTED = {"width": 4, "hidden": 6, "experts": 5}
SYMBOLIC = {
    "transformer block": (transformer_block(BLOCK), {"batch": 2, "seq": 5}),
    "language model loss": (language_model_loss(1, 9, BLOCK), {"batch": 2, "seq": 3}),
    "decoder": (decoder_layer(replace(DECODER, window=3)), {"batch": 2, "seq": 2, "cache": 6}),
    "paged decoder": (
        paged_decoder_layer(replace(DECODER, bias=True, head_norm=True), page=2),
        {"batch": 2, "seq": 2, "pages": 5, "blocks": 3},
    ),
    "gathered experts": (moe_layer(**ROUTED), {"tokens": 7}),
    "gated experts": (moe_layer(**ROUTED, dispatch="gated"), {"tokens": 7}),
    "convnext": (convnext_block(width=3), {"batch": 2, "height": 5, "across": 4}),
    "adain": (
        adain(),
        {"batch": 2, "width": 3, "height": 5, "across": 4, "style_height": 2, "style_across": 3},
    ),
    "mamba": (mamba2_layer(MAMBA), {"batch": 2, "length": 9}),
    "mamba in chunks": (mamba2_layer(replace(MAMBA, length=9), "chunked"), {"batch": 2}),
    "delta": (gated_delta_layer(DELTA), {"batch": 2, "length": 7}),
    "delta in chunks": (gated_delta_layer(replace(DELTA, length=7), "chunked"), {"batch": 2}),
}
"""Name → (program, sizes of its symbols)."""

_ONE = TransformerSizes(batch=1, seq=2, width=4, heads=2, hidden=3)
_FEW = DecoderSizes(batch=1, seq=1, width=4, heads=2, groups=1, depth=2, hidden=3)
_STEPS = DeltaSizes(batch=1, length=3, width=3, heads=1, keys=2, values=2, taps=2, chunk=2)
_STATES = MambaSizes(batch=1, length=3, width=3, heads=1, depth=2, state=2, taps=2, chunk=2)
TINY = {
    "transformer loss": transformer_loss(1, _ONE),
    "paged decoder": paged_decoder_layer(_FEW, 2, 3, 2),
    "gathered experts": moe_layer(tokens=2, width=2, hidden=3, experts=3),
    "convnext": convnext_block(batch=1, width=2, height=3, across=2),
    "adain": adain(batch=1, width=2, height=3, across=2, style_height=2, style_across=2),
    "mamba in chunks": mamba2_layer(_STATES, "chunked"),
    "delta": gated_delta_layer(_STEPS),
}
"""One form of every model; C sees the others above."""


def task(name, graph, sizes):
    """A task with random weights, a causal mask, and caches that hold 0, 1, 2 … tokens."""
    data = random_inputs(graph, sizes, 3) | weights(graph, sizes, 4)
    for known in ("mask", "start"):
        if known in data:
            shape = data[known].shape
            made = np.tri(shape[-1], dtype=bool) if known == "mask" else np.arange(shape[0]) + 1
            data[known] = np.broadcast_to(made, shape).copy()
    return Task(graph=graph, inputs=data, schedule=schedule_auto(graph), name=name)


@pytest.fixture(scope="module")
def on_c():
    """Reports of the models with symbolic sizes, by name."""
    tasks = [task(name, *case) for name, case in SYMBOLIC.items()]
    return dict(zip(SYMBOLIC, verify_batch(tasks), strict=True))


@pytest.fixture(scope="module")
def everywhere():
    """Reports of the tiny models on every backend that runs here, by name."""
    running = [name for name, reason in available().items() if not reason]
    tasks = [task(name, graph, {}) for name, graph in TINY.items()]
    return dict(zip(TINY, verify_batch(tasks, running), strict=True))


@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_model_verifies_on_c(on_c, name):
    report = on_c[name]
    assert report.ok, report.to_text()
    assert {r.rung for r in report.results} == {Rung.LOWER, Rung.EXPAND, Rung.EMIT, Rung.ROUND}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", TINY)
def test_a_tiny_model_verifies_on_every_backend(everywhere, name, backend):
    reason = available()[backend]
    if reason:
        pytest.skip(f"{backend} does not run here: {reason.splitlines()[0]}")
    report = everywhere[name]
    (emitted,) = [r for r in report.results if r.rung is Rung.EMIT and r.backend == backend]
    assert emitted.elements
    assert report.ok, report.to_text()
