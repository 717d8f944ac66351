"""What the operations of PyTorch's ATen mean, as tang writes them.

Defines `Call`, and `OPS`: by the name of an overload, without "aten.", a function from a call to a
tensor. Relies on the frontend's functions. It is the documented subset: what has no row here is
refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from tang.budget import torch_shapes as views
from tang.errors import GraphError
from tang.frontend import functions as f
from tang.frontend import norms
from tang.frontend.attention import attention
from tang.frontend.build import make
from tang.frontend.convolution import conv1d, conv2d
from tang.frontend.dims import dim, real
from tang.frontend.elementwise import dims_of, elementwise
from tang.frontend.linear import embedding, matmul
from tang.frontend.reductions import max as largest
from tang.frontend.reductions import min as smallest
from tang.frontend.reductions import sum as total
from tang.frontend.shapes import concatenate, permute
from tang.frontend.tensors import Tensor
from tang.frontend.values import Value
from tang.ir.expr import BOOL, INDEX, REAL


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the name that its node gets, and arguments whose tensors are tang's."""

    name: str
    args: list[Any]
    kwargs: dict[str, Any]

    def get(self, at: int, key: str, default: Any = None) -> Any:  # noqa: ANN401 - an argument
        """An argument by position or by name."""
        if len(self.args) > at:
            return self.args[at]
        return self.kwargs.get(key, default)


Row = Callable[[Call], Any]


# --- element by element ---------------------------------------------------------------------------


def _real(x: Any) -> Any:  # noqa: ANN401 - a Value, a number
    """Numbers as reals; indices and bools as torch promotes them."""
    if isinstance(x, bool):
        return float(x)
    if not isinstance(x, Value):
        return float(x)
    if x.sort is BOOL:
        return f.select(x, 1.0, 0.0)
    return real(x) if x.sort is INDEX else x


def _same(*operands: Any) -> list[Any]:  # noqa: ANN401 - Values and numbers
    """Operands of one sort: reals where one is, else as they are."""
    sorts = {o.sort for o in operands if isinstance(o, Value)}
    floats = any(isinstance(o, float) for o in operands)
    mixed = REAL in sorts or floats or len(sorts) > 1 or sorts == {BOOL}
    return [_real(o) for o in operands] if mixed else list(operands)


def _unary(function: Callable[[Any], Any]) -> Row:
    return lambda c: elementwise(lambda v: function(_real(v)), c.args[0], name=c.name)


def _binary(function: Callable[[Any, Any], Any]) -> Row:
    return lambda c: elementwise(
        lambda a, b: function(*_same(a, b)), c.args[0], c.args[1], name=c.name
    )


def _scaled(sign: int, swap: bool = False) -> Row:
    """a ± alpha·b, or b ± alpha·a."""

    def row(c: Call) -> Tensor:
        alpha = c.get(2, "alpha", 1)

        def apply(a: Any, b: Any) -> Any:  # noqa: ANN401 - Values and numbers
            left, right = _same(b, a) if swap else _same(a, b)
            right = right if alpha == 1 else alpha * right
            return left + right if sign > 0 else left - right

        return elementwise(apply, c.args[0], c.args[1], name=c.name)

    return row


def _divide(c: Call) -> Tensor:
    if c.kwargs.get("rounding_mode") is not None:
        raise GraphError("a division with a rounding mode")
    return elementwise(lambda a, b: _real(a) / _real(b), c.args[0], c.args[1], name=c.name)


def _power(c: Call) -> Tensor:
    exponent = c.args[1]
    if isinstance(exponent, (int, float)) and exponent == 0.5:
        return elementwise(lambda v: f.sqrt(_real(v)), c.args[0], name=c.name)
    if not isinstance(exponent, (int, float)) or exponent != int(exponent):
        raise GraphError(f"a power with exponent {exponent!r}: whole numbers and 0.5 are supported")
    return elementwise(lambda v: _real(v) ** int(exponent), c.args[0], name=c.name)


def _gelu(c: Call) -> Tensor:
    way = c.get(1, "approximate", "none")
    return elementwise(lambda v: f.gelu(v, way), c.args[0], name=c.name)


def _clamp(c: Call) -> Tensor:
    low, high = c.get(1, "min"), c.get(2, "max")

    def apply(v: Any) -> Any:  # noqa: ANN401 - a Value
        v = _real(v)
        v = v if low is None else f.maximum(v, float(low))
        return v if high is None else f.minimum(v, float(high))

    return elementwise(apply, c.args[0], name=c.name)


def _where(c: Call) -> Tensor:
    def apply(test: Any, a: Any, b: Any) -> Any:  # noqa: ANN401 - Values
        return f.select(test, *_same(a, b))

    return elementwise(apply, *c.args[:3], name=c.name)


def _masked_fill(c: Call) -> Tensor:
    def apply(v: Any, test: Any, fill: Any) -> Any:  # noqa: ANN401 - Values
        return f.select(test, *_same(fill, v))

    return elementwise(apply, *c.args[:3], name=c.name)


def _logic(function: Callable[..., Any]) -> Row:
    return lambda c: elementwise(function, *c.args, name=c.name)


def _as_it_is(c: Call) -> Any:  # noqa: ANN401 - a tensor
    return c.args[0]


def _converted(c: Call) -> Tensor:
    """A conversion between kinds; between formats of floats it says nothing here."""
    x = cast("Tensor", c.args[0])
    wanted = next((str(a) for a in (*c.args[1:], *c.kwargs.values())
                   if str(a).startswith("torch.") and "strided" not in str(a)), "")  # fmt: skip
    if "float" in wanted and x.sort is not REAL:
        return elementwise(_real, x, name=c.name)
    kinds = {"float": REAL, "int": INDEX, "bool": BOOL}
    kind = next((s for k, s in kinds.items() if k in wanted), x.sort)
    if kind is not x.sort:
        raise GraphError(f"a conversion of {x.sort.value} to {wanted}")
    return x


def _dropout(c: Call) -> Any:  # noqa: ANN401 - a tensor
    if c.get(2, "train", False) and c.get(1, "p", 0.0):
        raise GraphError("dropout in training mode: export the module after module.eval()")
    return c.args[0]


# --- sums, norms, attention -----------------------------------------------------------------------


def _linear(c: Call) -> Tensor:
    """Σ_k x[…, k] · w[o, k] + b[o]."""
    x, w, bias = cast("Tensor", c.args[0]), cast("Tensor", c.args[1]), c.get(2, "bias")
    *rest, k = dims_of(x.shape)
    o = dim("o", w.shape[0])
    y = total(x[(*rest, k)] * w[o, k], k)
    return make(c.name, [*rest, o], y if bias is None else y + bias[o], auto=True)


def _product(c: Call) -> Tensor:
    return matmul(c.args[0], c.args[1], c.name)


def _addmm(c: Call) -> Tensor:
    alpha, beta = c.kwargs.get("alpha", 1), c.kwargs.get("beta", 1)
    y = matmul(c.args[1], c.args[2], f"{c.name}.product")
    return elementwise(
        lambda a, b: float(beta) * a + float(alpha) * b if (alpha, beta) != (1, 1) else a + b,
        c.args[0], y, name=c.name,
    )  # fmt: skip


def _axes(given: Any) -> Any:  # noqa: ANN401 - None, a number or a list
    return None if given in (None, []) else given


def _fold(function: Callable[..., Tensor]) -> Row:
    def row(c: Call) -> Tensor:
        keep = bool(c.get(2, "keepdim", False))
        return function(c.args[0], axis=_axes(c.get(1, "dim")), keepdims=keep, name=c.name)

    return row


def _mean(c: Call) -> Tensor:
    """Σ / n, as torch computes it."""
    x, axes = cast("Tensor", c.args[0]), _axes(c.get(1, "dim"))
    keep = bool(c.get(2, "keepdim", False))
    y = total(x, axis=axes, keepdims=keep, name=f"{c.name}.sum")
    over = range(x.rank) if axes is None else [axes] if isinstance(axes, int) else axes
    count = 1.0
    for a in over:
        count *= views.sizes_of(x)[views.axis_in(a, x.rank)]
    return elementwise(lambda v: v / count, y, name=c.name)


def _variance(c: Call) -> Tensor:
    correction = c.kwargs.get("correction", 1)
    if len(c.args) > 2 and isinstance(c.args[2], bool):
        correction = float(c.args[2])
    axes, keep = _axes(c.get(1, "dim")), bool(c.kwargs.get("keepdim", False))
    return norms.var(c.args[0], axes, float(correction), keep, c.name)


def _extreme(function: Callable[..., Tensor]) -> Row:
    """The values alone of max and min over an axis: positions are not supported."""

    def row(c: Call) -> list[Tensor]:
        keep = bool(c.get(2, "keepdim", False))
        return [function(c.args[0], axis=c.args[1], keepdims=keep, name=c.name)]

    return row


def _softmax(function: Callable[..., Tensor]) -> Row:
    return lambda c: function(c.args[0], c.args[1], c.name)


def _last(shape: Sequence[int]) -> list[int]:
    return [-k for k in range(len(shape), 0, -1)]


def _layer_norm(c: Call) -> Tensor:
    weight, bias, eps = c.get(2, "weight"), c.get(3, "bias"), c.get(4, "eps", 1e-5)
    return norms.layer_norm(c.args[0], weight, bias, _last(c.args[1]), eps, c.name)


def _rms_norm(c: Call) -> Tensor:
    weight, eps = c.get(2, "weight"), c.get(3, "eps")
    usual = 2.0**-23 if eps is None else float(eps)  # torch.finfo(torch.float32).eps
    return norms.rms_norm(c.args[0], weight, _last(c.args[1]), usual, c.name)


def _attention(c: Call) -> Tensor:
    q, k, v = (cast("Tensor", a) for a in c.args[:3])
    mask, causal = c.get(3, "attn_mask"), bool(c.get(5, "is_causal", False))
    if c.get(4, "dropout_p", 0.0):
        raise GraphError("attention with dropout: export the module after module.eval()")
    if causal and q.shape[-2] != k.shape[-2]:
        raise GraphError("causal attention of as many queries as keys alone: torch aligns others "
                         "at the first key, tang at the last")  # fmt: skip
    kind = {} if mask is None else {"mask" if mask.sort is BOOL else "bias": mask}
    return attention(q, k, v, **kind, scale=c.kwargs.get("scale"), causal=causal, name=c.name)


def _embedding(c: Call) -> Tensor:
    return embedding(c.args[0], c.args[1], name=c.name)


def _convolution(function: Callable[..., Tensor], rank: int) -> Row:
    def row(c: Call) -> Tensor:
        padding = c.get(4, "padding", 0)
        if isinstance(padding, str):
            raise GraphError(f"a convolution with padding {padding!r}: give numbers")
        options = {
            "stride": _each(c.get(3, "stride", 1), rank), "padding": _each(padding, rank),
            "dilation": _each(c.get(5, "dilation", 1), rank), "groups": c.get(6, "groups", 1),
        }  # fmt: skip
        return function(c.args[0], c.args[1], c.get(2, "bias"), name=c.name, **options)

    return row


def _each(given: Any, rank: int) -> Any:  # noqa: ANN401 - one number or one per axis
    many = list(given) if isinstance(given, (list, tuple)) else [given]
    many = many * rank if len(many) == 1 else many
    return many[0] if rank == 1 else tuple(many)


def _chunk(c: Call) -> list[Tensor]:
    axis = c.get(2, "dim", 0)
    size = views.sizes_of(c.args[0])[views.axis_in(axis, c.args[0].rank)]
    return views.chunks(c.args[0], -(-size // c.args[1]), axis, c.name)


def _unflatten(c: Call) -> Tensor:
    have, axis = views.sizes_of(c.args[0]), views.axis_in(c.args[1], c.args[0].rank)
    known = [n for n in c.args[2] if n != -1]
    inner = [have[axis] // _times(known) if n == -1 else n for n in c.args[2]]
    return views.reshape(c.args[0], [*have[:axis], *inner, *have[axis + 1 :]], c.name)


def _flatten(c: Call) -> Tensor:
    have, rank = views.sizes_of(c.args[0]), c.args[0].rank
    first, last = views.axis_in(c.get(1, "start_dim", 0), rank), c.get(2, "end_dim", -1) % rank
    return views.reshape(c.args[0], [*have[:first], -1, *have[last + 1 :]], c.name)


def _times(numbers: Sequence[int]) -> int:
    product = 1
    for n in numbers:
        product *= n
    return product


def _squeeze(c: Call) -> Tensor:
    axes = c.args[1] if len(c.args) > 1 else None
    return views.squeeze(c.args[0], [axes] if isinstance(axes, int) else axes, c.name)


_FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "exp": f.exp, "exp2": f.exp2, "log": f.log, "log2": f.log2, "sqrt": f.sqrt, "rsqrt": f.rsqrt,
    "reciprocal": f.recip, "sin": f.sin, "cos": f.cos, "tanh": f.tanh, "sigmoid": f.sigmoid,
    "erf": f.erf, "floor": f.floor, "silu": f.silu, "abs": abs, "neg": lambda v: -v,
    "relu": lambda v: f.maximum(v, 0.0), "square": lambda v: v * v,
}  # fmt: skip
_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "eq": lambda a, b: a == b,
}  # fmt: skip

OPS: Final[Mapping[str, Row]] = {
    **{f"{n}.default": _unary(function) for n, function in _FUNCTIONS.items()},
    **{f"{n}.{kind}": _binary(function) for n, function in _COMPARISONS.items()
       for kind in ("Scalar", "Tensor")},
    **{f"add.{k}": _scaled(1) for k in ("Tensor", "Scalar")},
    **{f"sub.{k}": _scaled(-1) for k in ("Tensor", "Scalar")},
    **{f"rsub.{k}": _scaled(-1, swap=True) for k in ("Tensor", "Scalar")},
    **{f"mul.{k}": _binary(lambda a, b: a * b) for k in ("Tensor", "Scalar")},
    **{f"div.{k}": _divide for k in ("Tensor", "Scalar")},
    "pow.Tensor_Scalar": _power, "gelu.default": _gelu, "clamp.default": _clamp,
    "maximum.default": _binary(f.maximum), "minimum.default": _binary(f.minimum),
    **{f"where.{k}": _where for k in ("self", "ScalarOther", "ScalarSelf", "Scalar")},
    "masked_fill.Scalar": _masked_fill, "masked_fill.Tensor": _masked_fill,
    "bitwise_not.default": _logic(lambda v: ~v), "logical_not.default": _logic(lambda v: ~v),
    "bitwise_and.Tensor": _logic(lambda a, b: a & b),
    "logical_and.default": _logic(lambda a, b: a & b),
    "bitwise_or.Tensor": _logic(lambda a, b: a | b),
    "logical_or.default": _logic(lambda a, b: a | b),
    **{f"{n}.default": _as_it_is
       for n in ("contiguous", "clone", "alias", "detach", "detach_", "lift_fresh_copy")},
    **{f"to.{k}": _converted for k in ("dtype", "dtype_layout", "device", "other")},
    "_to_copy.default": _converted, "type_as.default": _as_it_is,
    "dropout.default": _dropout, "feature_dropout.default": _dropout,
    "linear.default": _linear, "addmm.default": _addmm,
    **{f"{n}.default": _product for n in ("matmul", "mm", "bmm", "mv", "dot")},
    "sum.default": _fold(total), "sum.dim_IntList": _fold(total),
    "mean.default": _mean, "mean.dim": _mean,
    "var.correction": _variance, "var.dim": _variance,
    "amax.default": _fold(largest), "amin.default": _fold(smallest),
    "max.default": _fold(largest), "min.default": _fold(smallest),
    "max.dim": _extreme(largest), "min.dim": _extreme(smallest),
    "softmax.int": _softmax(norms.softmax), "_softmax.default": _softmax(norms.softmax),
    "log_softmax.int": _softmax(norms.log_softmax),
    "_log_softmax.default": _softmax(norms.log_softmax),
    "layer_norm.default": _layer_norm, "rms_norm.default": _rms_norm,
    "scaled_dot_product_attention.default": _attention, "embedding.default": _embedding,
    "conv1d.default": _convolution(conv1d, 1), "conv2d.default": _convolution(conv2d, 2),
    **{n: lambda c: views.reshape(c.args[0], c.args[1], c.name)
       for n in ("view.default", "reshape.default", "_unsafe_view.default")},
    "flatten.using_ints": _flatten, "unflatten.int": _unflatten,
    "permute.default": lambda c: permute(c.args[0], c.args[1], c.name),
    "transpose.int": lambda c: views.transpose(c.args[0], c.args[1], c.args[2], c.name),
    "t.default": lambda c: views.transpose(c.args[0], 0, 1, c.name),
    "numpy_T.default": lambda c: views.transpose(c.args[0], 0, 1, c.name),
    "unsqueeze.default": lambda c: views.unsqueeze(c.args[0], c.args[1], c.name),
    **dict.fromkeys(("squeeze.default", "squeeze.dim", "squeeze.dims"), _squeeze),
    "expand.default": lambda c: views.expand(c.args[0], c.args[1], c.name),
    "expand_as.default": lambda c: views.expand(c.args[0], views.sizes_of(c.args[1]), c.name),
    "cat.default": lambda c: concatenate(c.args[0], c.get(1, "dim", 0), c.name),
    "select.int": lambda c: views.select(c.args[0], c.args[1], c.args[2], c.name),
    "slice.Tensor": lambda c: views.cut(
        c.args[0], c.get(1, "dim", 0), c.get(2, "start"), c.get(3, "end"), c.get(4, "step", 1),
        c.name),
    "chunk.default": _chunk,
    "split.Tensor": lambda c: views.chunks(c.args[0], c.args[1], c.get(2, "dim", 0), c.name),
    "split_with_sizes.default": lambda c: views.parts(
        c.args[0], c.args[1], c.get(2, "dim", 0), c.name),
}  # fmt: skip
"""The supported operations."""
