"""Two blocks for images: ConvNeXt and adaptive instance normalisation.

Defines `convnext_block` and `adain`. Relies on index notation and the shared parts; a depthwise
convolution is one reduction over its taps with a guarded read. Images are (N, C, H, W), and their
sizes may be symbolic.
"""

from __future__ import annotations

from tang.frontend.build import compute
from tang.frontend.dims import dim, dims, extent, real
from tang.frontend.functions import gelu, sqrt
from tang.frontend.graph import Graph
from tang.frontend.reductions import sum as total
from tang.frontend.tensors import Tensor, input
from tang.ir import graph as ir
from tang.ir.extent import PolyLike
from tang.models.parts import layer_norm, linear

TAPS = 7


def convnext_block(
    *,
    batch: PolyLike = "batch",
    width: int = 16,
    height: PolyLike = "height",
    across: PolyLike = "across",
    expansion: int = 4,
) -> ir.Graph:
    """x (N, C, height, across) → y of the same shape. Liu et al., A ConvNet for the 2020s (2022).

    Depthwise 7×7 convolution with padding 3, layer norm over channels (eps 1e-6), a linear layer
    to `expansion`·C, GELU, a linear layer back, a learned scale per channel, and the residual.
    Parameters: depthwise.weight (C, 1, 7, 7), depthwise.bias, norm.…, up.…, down.…, layer.scale.
    """
    x = input("x", (batch, width, height, across))
    seen = layer_norm(_depthwise(x), "norm", eps=1e-6)
    up = linear(seen, expansion * width, "up")
    n, p, q, f = dims("n p q f")
    bent = compute("gelu", (n, p, q, f), gelu(up[n, p, q, f]))
    down = linear(bent, width, "down")
    scale = input("layer.scale", (width,))
    c = dim("c", width)
    value = x[n, c, p, q] + scale[c] * down[n, p, q, c]
    return Graph(y=compute("block", (n, c, p, q), value))


def _depthwise(x: Tensor) -> Tensor:
    """The convolution with channels last, (N, H, W, C), as norm and linear layers read it."""
    n, c, p, q = (dim(name, e) for name, e in zip("ncpq", x.shape, strict=True))
    r, s = dim("r", TAPS), dim("s", TAPS)
    w = input("depthwise.weight", (x.shape[1], 1, TAPS, TAPS))
    bias = input("depthwise.bias", (x.shape[1],))
    half = TAPS // 2
    pixel = x.at(n, c, p + r - half, q + s - half, fill=0)
    return compute("depthwise", (n, p, q, c), total(pixel * w[c, 0, r, s], (r, s)) + bias[c])


def adain(
    *,
    batch: PolyLike = "batch",
    width: PolyLike = "width",
    height: PolyLike = "height",
    across: PolyLike = "across",
    style_height: PolyLike = "style_height",
    style_across: PolyLike = "style_across",
    eps: float = 1e-5,
) -> ir.Graph:
    """content (N, C, height, across), style (N, C, style_height, style_across) → y as content.

    σ(style) · (content − μ(content)) / σ(content) + μ(style), with μ and σ = √(variance + eps) per
    image and channel; variances are divided by the number of pixels. It has no parameters.
    Huang & Belongie, Arbitrary Style Transfer in Real-time (2017), equations 5, 6 and 8.
    """
    content = input("content", (batch, width, height, across))
    style = input("style", (batch, width, style_height, style_across))
    n, c, p, q = dims("n c p q")
    mean, deviation = _moments(content, "content", eps)
    to_mean, to_deviation = _moments(style, "style", eps)
    whitened = (content[n, c, p, q] - mean[n, c]) / deviation[n, c]
    value = to_deviation[n, c] * whitened + to_mean[n, c]
    return Graph(y=compute("restyled", (n, c, p, q), value))


def _moments(x: Tensor, name: str, eps: float) -> tuple[Tensor, Tensor]:
    """Mean and √(variance + eps) over the pixels, in two passes; of no pixels 0 and √eps."""
    n, c, p, q = dims("n c p q")
    count = real(extent(p) * extent(q))
    mean = compute(f"{name}.mean", (n, c), total(x[n, c, p, q] / count, (p, q)))
    centred = x[n, c, p, q] - mean[n, c]
    spread = total(centred * centred / count, (p, q))
    return mean, compute(f"{name}.deviation", (n, c), sqrt(spread + eps))
