"""Gradients of small models in every parameter fit dual numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tang import models
from tang.ir.expr import BOOL, REAL
from tang.verify.gradient import check_gradient

RNG = np.random.default_rng(2)
SIZES = models.TransformerSizes(batch=1, seq=3, width=4, heads=2, hidden=3)
DECODER = models.DecoderSizes(batch=1, seq=2, width=4, heads=2, groups=1, depth=2, hidden=3)
MAMBA = models.MambaSizes(batch=1, length=4, width=2, heads=1, depth=2, state=2, taps=2, chunk=2)
DELTA = models.DeltaSizes(batch=1, length=4, width=2, heads=1, keys=2, values=2, taps=2, chunk=2)
MODELS = {
    "transformer loss": lambda: models.transformer_loss(1, SIZES),
    "language model loss": lambda: models.language_model_loss(1, 4, SIZES),
    "decoder layer": lambda: models.decoder_layer(DECODER, cache=2),
    "experts": lambda: models.moe_layer(tokens=2, width=3, hidden=2, experts=3, chosen=2),
    "ConvNeXt block": lambda: models.convnext_block(
        batch=1, width=2, height=3, across=3, expansion=2
    ),
    "Mamba-2, chunked": lambda: models.mamba2_layer(MAMBA, form="chunked"),
    "gated delta rule": lambda: models.gated_delta_layer(DELTA),
}


def data_for(declared):
    shape = tuple(p.constant for p in declared.shape)
    if declared.sort is REAL:
        return RNG.normal(size=shape) * 0.5
    return np.ones(shape, np.bool_) if declared.sort is BOOL else np.zeros(shape, np.int64)


@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_in_every_parameter_fits_dual_numbers(name):
    graph = MODELS[name]()
    inputs = {i.name: data_for(i) for i in graph.inputs}
    wrt = [i.name for i in graph.inputs if i.sort is REAL]
    loss = next(o.name for o in graph.outputs if graph.sort(o.ref) is REAL)
    assert check_gradient(graph, loss, wrt, inputs) is None
