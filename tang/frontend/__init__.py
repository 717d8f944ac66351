"""The language: index notation, and array functions written in it.

Re-exports the public names of the frontend, which `import tang as tg` offers. Relies on `tang.ir`
alone. It builds programs and never evaluates, schedules or compiles one.
"""

from tang.frontend.attention import attention
from tang.frontend.build import compute
from tang.frontend.convolution import conv1d, conv2d, conv_transpose1d, conv_transpose2d
from tang.frontend.dims import dim, dims, extent, index, real, size
from tang.frontend.elementwise import elementwise
from tang.frontend.functions import (
    absolute,
    atan2,
    clip,
    cos,
    erf,
    exp,
    exp2,
    floor,
    gelu,
    isnan,
    log,
    log2,
    maximum,
    minimum,
    recip,
    relu,
    rsqrt,
    select,
    sigmoid,
    silu,
    sin,
    sqrt,
    tanh,
)
from tang.frontend.graph import Graph, fact
from tang.frontend.linear import embedding, matmul, one_hot
from tang.frontend.monoid import monoid
from tang.frontend.norms import (
    layer_norm,
    log_softmax,
    masked_softmax,
    mean,
    rms_norm,
    softmax,
    var,
)
from tang.frontend.reduce import reduce
from tang.frontend.reductions import (
    affine_scan,
    all,
    any,
    argmax,
    argmin,
    count,
    logsumexp,
    max,
    min,
    online_softmax,
    prod,
    sum,
    top_k,
    welford,
)
from tang.frontend.sequences import cumsum, rope
from tang.frontend.shapes import (
    broadcast_to,
    concatenate,
    expand_dims,
    flip,
    merge_axes,
    permute,
    slice,
    split_axis,
    squeeze,
    transpose,
)
from tang.frontend.tensors import Tensor, input
from tang.frontend.values import Value

abs = absolute

__all__ = [
    "Graph", "Tensor", "Value", "abs", "absolute", "affine_scan", "all", "any", "argmax",
    "argmin", "atan2", "attention", "broadcast_to", "clip", "compute", "concatenate", "conv1d",
    "conv2d", "conv_transpose1d", "conv_transpose2d", "cos", "count", "cumsum", "dim", "dims",
    "elementwise", "embedding", "erf", "exp", "exp2", "expand_dims", "extent", "fact", "flip",
    "floor", "gelu", "index", "input", "isnan", "layer_norm", "log", "log2", "log_softmax",
    "logsumexp", "masked_softmax", "matmul", "max", "maximum", "mean", "merge_axes", "min",
    "minimum", "monoid", "one_hot", "online_softmax", "permute", "prod", "real", "recip",
    "reduce", "relu", "rms_norm", "rope", "rsqrt", "select", "sigmoid", "silu", "sin", "size",
    "slice", "softmax", "split_axis", "sqrt", "squeeze", "sum", "tanh", "top_k", "transpose",
    "var", "welford",
]  # fmt: skip
