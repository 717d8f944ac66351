"""Models as graphs: every one a program that the compiler, the verifier and users start from.

Gathers the builders and the helper for random parameters. Relies on the frontend alone. A model
here is a graph with random weights: nothing is trained, loaded, scheduled or fused.
"""

from tang.models.decoder import DecoderSizes, decoder_layer, paged_decoder_layer
from tang.models.delta import DeltaSizes, gated_delta_layer, matrix_scan
from tang.models.mamba import MambaSizes, mamba2_layer
from tang.models.moe import moe_layer
from tang.models.transformer import (
    TransformerSizes,
    language_model,
    language_model_loss,
    transformer,
    transformer_block,
    transformer_loss,
)
from tang.models.vision import adain, convnext_block
from tang.models.weights import parameters, weights

__all__ = [
    "DecoderSizes",
    "DeltaSizes",
    "MambaSizes",
    "TransformerSizes",
    "adain",
    "convnext_block",
    "decoder_layer",
    "gated_delta_layer",
    "language_model",
    "language_model_loss",
    "mamba2_layer",
    "matrix_scan",
    "moe_layer",
    "paged_decoder_layer",
    "parameters",
    "transformer",
    "transformer_block",
    "transformer_loss",
    "weights",
]
