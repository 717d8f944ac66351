"""Reductions by name, over dims of a value or over axes of a tensor.

Defines sum, prod, max, min, argmax, logsumexp and the like: with `over=` they are part of a
formula, with `axis=` they make a tensor. Relies on `reduce` and `compute`. Statistics that need
several steps are in `norms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, cast, overload

from tang.errors import GraphError
from tang.frontend.build import make
from tang.frontend.elementwise import axes_of, axis_of, dims_of
from tang.frontend.reduce import Dims, Where, index_of, position, reduce, stock
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.values import Operand, Value, combine, want
from tang.ir import derived, expr, monoids
from tang.ir.expr import BOOL
from tang.ir.extent import poly

Axes = int | Sequence[int] | None
Fold = Callable[[Operand, Dims, Where], Value]


class Reducer(Protocol):
    """A reduction of a value over dims (`over=`, `where=`) or of a tensor over axes (`axis=`)."""

    @overload
    def __call__(
        self, x: Tensor, *, axis: Axes = ..., keepdims: bool = ..., name: str | None = ...
    ) -> Tensor: ...
    @overload
    def __call__(self, x: Operand, over: Dims, where: Where = ...) -> Value: ...


def over_axes(
    x: Tensor, axis: Axes, keepdims: bool, fold: Callable[[Value, Dims], Value], name: str
) -> Tensor:
    """The fold of x over axes, in order; with keepdims they stay with extent 1."""
    axes = axes_of(x, axis)
    dims = dims_of(x.shape)
    if not axes:
        return make(name, dims, x[dims], auto=True)
    gone = [dims[a] for a in axes]
    folded = fold(x[dims], gone)
    kept = [d for a, d in enumerate(dims) if a not in axes]
    if not keepdims:
        return make(name, kept, folded, auto=True)
    ones = dims_of([poly(1) if a in axes else e for a, e in enumerate(x.shape)], "k")
    point = [ones[a] if a in axes else d for a, d in enumerate(dims)]
    return make(name, point, folded, auto=True)


def _either(
    kind: str, x: Operand | Tensor, over: Dims | None, where: Where, fold: Fold,
    axis: Axes, keepdims: bool, name: str | None,
) -> Value | Tensor:  # fmt: skip
    if isinstance(x, Tensor):
        if over is not None:
            raise failure(f"tg.{kind}(tensor, axis=…) takes axes; over= goes with {x.name}[i, …]")
        return over_axes(x, axis, keepdims, lambda v, d: fold(v, d, where), name or kind)
    if over is None:
        raise failure(f"tg.{kind}(value, over=…) needs the dims to reduce over")
    return fold(x, over, where)


def _stock(kind: str) -> Fold:
    return lambda v, over, where: stock(kind, v, over, where)


def _argmax(v: Operand, over: Dims, where: Where) -> Value:
    found = index_of(v, "tg.argmax")
    return reduce(monoids.ARGMAX, found, position(over), over=over, where=where)


def _argmin(v: Operand, over: Dims, where: Where) -> Value:
    found = index_of(v, "tg.argmin")
    return reduce(monoids.ARGMIN, found, position(over), over=over, where=where)


def _logsumexp(v: Operand, over: Dims, where: Where) -> Value:
    return reduce(monoids.LOGSUMEXP, v, over=over, where=where)


def _count(v: Operand, over: Dims, where: Where) -> Value:
    return reduce(monoids.COUNT, _one_if(v), over=over, where=where)


def _any(v: Operand, over: Dims, where: Where) -> Value:
    return reduce(monoids.ANY, v, over=over, where=where)


def _all(v: Operand, over: Dims, where: Where) -> Value:
    return reduce(monoids.ALL, v, over=over, where=where)


def _one_if(v: Operand) -> Value:
    test = want(v, BOOL, "tg.count")
    return combine(lambda e: derived.select(e, expr.index(1), expr.index(0)), test)


def _named(kind: str, fold: Fold, meaning: str) -> Reducer:
    def reducer(
        x: Operand | Tensor,
        over: Dims | None = None,
        where: Where = (),
        *,
        axis: Axes = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> Value | Tensor:
        return _either(kind, x, over, where, fold, axis, keepdims, name)

    reducer.__name__ = reducer.__qualname__ = kind
    reducer.__doc__ = meaning
    return cast("Reducer", reducer)


sum = _named("sum", _stock("sum"), "Σ x of reals or indices; nothing sums to 0.")
prod = _named("prod", _stock("prod"), "Π x of reals or indices; the empty product is 1.")
max = _named("max", _stock("max"), "The largest; NaN when any is NaN; nothing gives −inf.")
min = _named("min", _stock("min"), "The smallest; NaN when any is NaN; nothing gives +inf.")
argmax = _named("argmax", _argmax, "Position of the first NaN, else of the first largest.")
argmin = _named("argmin", _argmin, "Position of the first NaN, else of the first smallest.")
logsumexp = _named("logsumexp", _logsumexp, "log Σ exp(x), stable; nothing gives −inf.")
count = _named("count", _count, "How many conditions hold, as an index.")
any = _named("any", _any, "Whether any condition holds.")
all = _named("all", _all, "Whether all conditions hold.")


def online_softmax(score: Operand, value: Operand, over: Dims, where: Where = ()) -> Value:
    """Σ softmax(score) · value in one pass; a row without live scores is NaN."""
    return reduce(monoids.ONLINE_SOFTMAX, score, value, over=over, where=where)


def welford(x: Operand, over: Dims, where: Where = ()) -> Value:
    """The average; outputs `variance`, and the state `n`, `mean`, `m2`, in one stable pass."""
    return reduce(monoids.WELFORD, x, over=over, where=where)


def affine_scan(a: Operand, b: Operand, over: Dims, where: Where = ()) -> Value:
    """The last h of h ← a·h + b from h = 0, in order; a scan has `where=[s <= t]`."""
    return reduce(monoids.AFFINE_SCAN, a, b, over=over, where=where)


@overload
def top_k(
    x: Tensor, k: int, *, axis: int = ..., name: str | None = ...
) -> tuple[Tensor, Tensor]: ...
@overload
def top_k(x: Operand, k: int, over: Dims, where: Where = ...) -> Value: ...
def top_k(
    x: Operand | Tensor,
    k: int,
    over: Dims | None = None,
    where: Where = (),
    *,
    axis: int = -1,
    name: str | None = None,
) -> Value | tuple[Tensor, Tensor]:
    """The k largest, descending, NaN first, ties by smaller index.

    Of a tensor: values and indices with k in place of the axis. Of a value: outputs `values` and
    `indices` with the static axis `rank` last, so it must be a tensor of its own.
    """
    if isinstance(x, Tensor):
        return _top_k_tensor(x, k, axis_of(x, axis), name or "top_k")
    if over is None:
        raise failure("tg.top_k(value, k, over=…) needs the dims to reduce over")
    found = index_of(x, "tg.top_k")
    try:
        monoid = monoids.top_k(k)
    except GraphError as e:
        raise failure(str(e)) from None
    return reduce(monoid, found, position(over), over=over, where=where)


def _top_k_tensor(x: Tensor, k: int, axis: int, name: str) -> tuple[Tensor, Tensor]:
    dims = dims_of(x.shape)
    kept = [d for a, d in enumerate(dims) if a != axis]
    values = make(name, kept, top_k(x[dims], k, dims[axis]), auto=True)
    indices = values.output("indices")
    if axis == x.rank - 1:
        return values, indices
    return _rank_to(values, axis, f"{name}.values"), _rank_to(indices, axis, f"{name}.indices")


def _rank_to(x: Tensor, axis: int, name: str) -> Tensor:
    dims = dims_of(x.shape)
    order = [*dims[:axis], dims[-1], *dims[axis:-1]]
    return make(name, order, x[dims], auto=True)
