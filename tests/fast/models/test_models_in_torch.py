"""Models against PyTorch's own layers and functions, where PyTorch is installed.

Everything is in f64 on the CPU. The agreement asked for is that of the NumPy references: within
twice the derived errors of f64.
"""

from __future__ import annotations

import numpy as np
import pytest
from model_checks import agree, parameters_of

from tang.models import (
    DecoderSizes,
    TransformerSizes,
    convnext_block,
    decoder_layer,
    language_model,
    language_model_loss,
    moe_layer,
    transformer_block,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed: NumPy references stand in")
functional = torch.nn.functional
SIZES = TransformerSizes(width=8, heads=2, hidden=12)


def tensors(arrays):
    return {n: torch.tensor(a) for n, a in arrays.items()}


def block_in_torch(w, name):
    """PyTorch's own pre-norm layer with the parameters of one block."""
    layer = torch.nn.TransformerEncoderLayer(
        8, 2, 12, 0.0, "gelu", batch_first=True, norm_first=True, dtype=torch.float64
    )
    parts = ("query", "key", "value")
    state = {}
    for kind in ("weight", "bias"):
        joined = torch.cat([w[f"{name}.attention.{p}.{kind}"] for p in parts])
        state[f"self_attn.in_proj_{kind}"] = joined
        state[f"self_attn.out_proj.{kind}"] = w[f"{name}.attention.output.{kind}"]
        state[f"linear1.{kind}"] = w[f"{name}.mlp.up.{kind}"]
        state[f"linear2.{kind}"] = w[f"{name}.mlp.down.{kind}"]
        state[f"norm1.{kind}"] = w[f"{name}.attention_norm.{kind}"]
        state[f"norm2.{kind}"] = w[f"{name}.mlp_norm.{kind}"]
    layer.load_state_dict(state)
    return layer


def masked(mask):
    """PyTorch's mask: per head, true where a key is hidden."""
    return torch.tensor(~mask).repeat_interleave(2, 0)


@pytest.mark.parametrize("shape", [(2, 5), (1, 1)], ids=str)
def test_a_block_is_the_pre_norm_encoder_layer_of_torch(shape):
    rng = np.random.default_rng(41)
    graph = transformer_block(SIZES)
    w = parameters_of(graph)
    x = rng.standard_normal((*shape, 8))
    mask = (rng.random((*shape, shape[1])) < 0.5) | np.eye(shape[1], dtype=bool)
    with torch.no_grad():
        layer = block_in_torch(tensors(w), "block")
        expected = layer(torch.tensor(x), src_mask=masked(mask)).numpy()
    agree(graph, {"x": x, "mask": mask, **w}, y=expected)


def test_a_language_model_has_the_cross_entropy_of_torch():
    rng = np.random.default_rng(42)
    graph = language_model(1, 11, SIZES)
    w = parameters_of(graph, seq=4)
    tokens, targets = rng.integers(0, 11, (2, 2, 4))
    mask = np.broadcast_to(np.tri(4, dtype=bool), (2, 4, 4))
    p = tensors(w)
    with torch.no_grad():
        x = functional.embedding(torch.tensor(tokens), p["token.weight"]) + p["position.weight"]
        x = block_in_torch(p, "layers.0")(x, src_mask=masked(mask))
        x = functional.layer_norm(x, (8,), p["norm.weight"], p["norm.bias"])
        logits = functional.linear(x, p["token.weight"])
        loss = functional.cross_entropy(logits.flatten(0, 1), torch.tensor(targets).flatten())
    data = {"tokens": tokens, "mask": mask, **w}
    agree(graph, data, logits=logits.numpy())
    graph = language_model_loss(1, 11, SIZES)
    agree(graph, {**data, "targets": targets}, loss=loss.numpy())


def test_a_decoder_layer_attends_as_torch_does_with_grouped_heads():
    sizes = DecoderSizes(width=6, heads=4, groups=2, depth=4, hidden=7)
    graph = decoder_layer(sizes)
    w = parameters_of(graph)
    x = np.random.default_rng(43).standard_normal((2, 5, 6))
    p = tensors(w)
    with torch.no_grad():
        y, key, value = decoder_in_torch(torch.tensor(x), p)
    empty = np.zeros((2, 5, 2, 4))
    data = {"x": x, "start": np.zeros(2, int), "key_cache": empty, "value_cache": empty, **w}
    agree(graph, data, y=y.numpy(), keys=key.numpy(), values=value.numpy())


def decoder_in_torch(x, p):
    """A prefill of two sequences: y, keys and values (B, T, G, D)."""
    seen = functional.rms_norm(x, (6,), p["attention_norm.weight"], 1e-6)
    q, k, v = (
        functional.linear(seen, p[f"attention.{part}.weight"]).unflatten(-1, (-1, 4))
        for part in ("query", "key", "value")
    )
    angle = torch.outer(torch.arange(5.0).double(), 10000.0 ** (-torch.arange(2.0).double() / 2))
    angle = torch.cat([angle, angle], -1)[:, None]

    def rotated(z):
        half = torch.cat([-z[..., 2:], z[..., :2]], -1)
        return z * angle.cos() + half * angle.sin()

    q, k = rotated(q), rotated(k)
    heads = [z.transpose(1, 2) for z in (q, k.repeat_interleave(2, 2), v.repeat_interleave(2, 2))]
    out = functional.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2)
    x = x + functional.linear(out.flatten(2), p["attention.output.weight"])
    seen = functional.rms_norm(x, (6,), p["mlp_norm.weight"], 1e-6)
    inner = functional.silu(functional.linear(seen, p["mlp.gate.weight"]))
    inner = inner * functional.linear(seen, p["mlp.up.weight"])
    return x + functional.linear(inner, p["mlp.down.weight"]), k, v


def test_a_convnext_block_convolves_as_torch_does():
    graph = convnext_block(width=3)
    w = parameters_of(graph)
    x = np.random.default_rng(44).standard_normal((2, 3, 5, 4))
    p = tensors(w)
    with torch.no_grad():
        z = torch.tensor(x)
        z = functional.conv2d(z, p["depthwise.weight"], p["depthwise.bias"], padding=3, groups=3)
        z = functional.layer_norm(
            z.permute(0, 2, 3, 1), (3,), p["norm.weight"], p["norm.bias"], 1e-6
        )
        z = functional.gelu(functional.linear(z, p["up.weight"], p["up.bias"]))
        z = functional.linear(z, p["down.weight"], p["down.bias"]) * p["layer.scale"]
        y = torch.tensor(x) + z.permute(0, 3, 1, 2)
    agree(graph, {"x": x, **w}, y=y.numpy())


def test_a_mixture_routes_as_topk_of_torch_does():
    graph = moe_layer(width=4, hidden=6, experts=5, chosen=2)
    w = parameters_of(graph)
    x = np.random.default_rng(45).standard_normal((7, 4))
    p = tensors(w)
    with torch.no_grad():
        z = torch.tensor(x)
        values, which = functional.linear(z, p["router.weight"]).topk(2)
        gates = values.softmax(-1)
        own = {part: p[f"experts.{part}.weight"][which] for part in ("gate", "up", "down")}
        inner = functional.silu(torch.einsum("nc,nrfc->nrf", z, own["gate"]))
        inner = inner * torch.einsum("nc,nrfc->nrf", z, own["up"])
        y = torch.einsum("nr,nrf,nrof->no", gates, inner, own["down"])
    agree(graph, {"x": x, **w}, y=y.numpy(), gates=gates.numpy())
