"""Motifs for gradients: one for every rule of autodiff, with the data that tell it from others.

Defines `GRADIENTS`. Relies on drafts and on the frontend's library. It differentiates a program
only where the program is a gradient itself.
"""

from __future__ import annotations

from typing import Final

import tang as tg
from tang.fuzz.draft import Draft, Kind, Tensor, Value
from tang.fuzz.monoids import matrix_product
from tang.fuzz.program import fixed
from tang.ir.expr import INDEX, REAL, arg, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.view import Interval, Read, Ref, View, variable

# --- scalars -------------------------------------------------------------------------------------


def _functions(d: Draft) -> list[Tensor]:
    """Scalar functions, each where it is smooth."""
    size = d.size(1, 6)
    x, y = d.input(size), d.input(size)
    i = tg.dim("i", size.poly)
    positive = x[i] * x[i] + 0.5
    options: tuple[Value, ...] = (
        tg.sqrt(positive), tg.atan2(y[i], positive), tg.atan2(positive, y[i]),
        tg.erf(x[i] * 0.5), tg.sin(x[i]) * y[i], tg.log(positive), tg.exp2(x[i] * 0.5),
        1.0 / positive, tg.atan2(x[i] + 9.0, y[i] + 10.0),
    )  # fmt: skip
    return [d.node((i,), d.pick(options) * y[i] + d.pick(options))]


def _branches(d: Draft) -> list[Tensor]:
    """A root, a logarithm or a reciprocal that a branch keeps from 0."""
    size = d.size(1, 6)
    x = d.input(size)
    i = tg.dim("i", size.poly)
    z = x[i] - x[0] if d.yes(75) else x[i]
    held = d.node((i,), z)
    test = held[i] > 2.0**-20  # a smaller one has a reciprocal beyond f32
    root = d.node((i,), d.pick((tg.sqrt(held[i]), tg.log(held[i]), 1.0 / held[i])))
    other = d.pick((0.0, x[i]))
    safe = tg.select(test, root[i], other) if d.yes() else tg.select(~test, other, root[i])
    return [d.node((i,), safe)]


# --- reads ---------------------------------------------------------------------------------------


def _convolution(d: Draft) -> list[Tensor]:
    """Strided, dilated, padded, and transposed."""
    taps, stride, dilation = d.number(1, 3), d.number(1, 3), d.number(1, 3)
    padding = d.number(0, 2)
    length = d.number(dilation * (taps - 1) + 1, dilation * (taps - 1) + 6)
    channels = d.number(1, 2)
    x = d.input(fixed(1), fixed(channels), fixed(length))
    if d.yes(75):
        w = d.input(fixed(1), fixed(channels), fixed(taps))
        y = tg.conv1d(x, w, stride=stride, padding=padding, dilation=dilation)
    else:
        w = d.input(fixed(channels), fixed(1), fixed(taps))
        y = tg.conv_transpose1d(x, w, stride=stride, dilation=dilation)
    return [y]


def _looked_up(d: Draft) -> list[Tensor]:
    """Rows looked up, some of them twice."""
    rows, width, few = d.size(2, 5), d.size(1, 3), d.size(1, 5)
    table = d.input(rows, width)
    n = d.input(few, sort=INDEX, high=rows.value - 1)
    return [tg.embedding(table, n)]


def _by_quotient(d: Draft) -> list[Tensor]:
    """Elements found by quotient and phase: repeats, rows of a flat tensor, interleaving."""
    rows, s = d.number(2, 4), d.number(2, 3)
    x = d.input(fixed(rows), fixed(s))
    n = tg.dim("n", rows * s)
    high, low = d.node((n,), n // s), d.node((n,), n % s)
    kind = d.number(0, 2)
    if kind == 0:
        return [d.node((n,), x[high[n], low[n]] * 2.0)]
    y = d.input(fixed(max(rows, s)))
    if kind == 1:
        return [d.node((n,), y[high[n]] * x[high[n], low[n]])]
    return [d.node((n,), y[low[n]] + 3.0 * y[high[n]])]


def _window(d: Draft) -> Graph:
    """Elements inside a window of a tensor that goes further, else a fill."""
    size = d.number(2, 7)
    name = d.input(fixed(size)).name
    low = d.number(0, size - 1)
    high = d.number(low + 1, size)
    at = variable("i")
    view = View((at,), (Interval(at, poly(low), poly(high)),), real(d.number(0, 2)))
    node = Comprehension(
        d.name(), (Dim("i", poly(size)),), (Read(Ref(name), view),), (arg(0),), outputs=("value",)
    )
    out = (Output("out0", Ref(node.name, "value")),)
    return Graph((Input(name, (poly(size),), REAL),), (node,), out)


def _excluded(d: Draft) -> list[Tensor]:
    """A sum over some points of a product, the operands read twice."""
    size = d.size(2, 5)
    x = d.input(size, size)
    i, k = tg.dim("i", size.poly), tg.dim("k", size.poly)
    keep = d.pick(([k <= i], [k < i], [i <= k, k <= i + 1]))
    other = d.pick((x[i, k], x[k, i], x[i, 0]))
    return [d.node((i,), tg.sum(x[i, k] * other, over=k, where=keep))]


def _twice_read(d: Draft) -> list[Tensor]:
    """A tensor with two readers, then one that reads both."""
    size = d.size(1, 5)
    x = d.input(size, size)
    return [tg.concatenate([x, tg.transpose(x) if d.yes() else x], axis=d.number(0, 1))]


# --- folds ---------------------------------------------------------------------------------------


def _extremum(d: Draft) -> list[Tensor]:
    """Maxima and minima, over one dim or two, with ties."""
    rows, cols = d.size(1, 4), d.size(2, 4)
    x = d.input(rows, cols)
    i, k = tg.dim("i", rows.poly), tg.dim("k", cols.poly)
    kind = d.number(0, 3)
    z = x
    if kind == 1:
        z = d.node((i, k), x[i, k] * tg.select(x[i, k] > 0.0, 0.0, 1.0))
    elif kind > 1:
        z = d.node((i, k), _tied(x[i, k]))
    fold = tg.max if d.yes(70) else tg.min
    if d.yes():
        return [d.node((), fold(z[i, k], over=[i, k]))]
    return [d.node((i,), fold(z[i, k], over=k))]


def _tied(x: Value) -> Value:
    """0 for every multiple of 1/8, so that different elements tie."""
    return x * 8.0 - tg.floor(x * 8.0)


def _chequered(d: Draft) -> list[Tensor]:
    """An extremum on a chessboard of ties: the first by row is not the first by column."""
    rows, cols = d.size(2, 4), d.size(2, 4)
    x = d.filled("dyadic", rows, cols)
    i, k = tg.dim("i", rows.poly), tg.dim("k", cols.poly)
    odd = tg.real((i + k) % 2)
    if d.yes():
        return [d.node((), tg.max(_tied(x[i, k]) + odd, over=[i, k]))]
    return [d.node((), tg.min(_tied(x[i, k]) - odd, over=[i, k]))]


def _ranked(d: Draft) -> list[Tensor]:
    rows, length = d.size(1, 3), d.size(3, 5)
    return [tg.top_k(d.input(rows, length), d.number(2, 3))[0]]


def _stock(d: Draft) -> list[Tensor]:
    """Online softmax, logsumexp, variance, mean, product."""
    rows, length = d.size(1, 4), d.size(2, 5)
    x = d.input(rows, length)
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    kind = d.number(0, 5)
    if kind <= 1:
        v = d.input(length)
        return [d.node((i,), tg.online_softmax(x[i, k], v[k], over=k))]
    if kind == 2:
        return [d.node((i,), tg.logsumexp(x[i, k], over=k))]
    if kind == 3:
        return [tg.var(x, axis=1)]
    whole = tg.prod(x[i, k], over=k) if kind == 4 else tg.welford(x[i, k], over=k)
    return [d.node((i,), whole)] if kind == 4 else [tg.var(x, axis=d.number(0, 1))]


def _shifted(d: Draft) -> list[Tensor]:
    """exp(x − c·max x), where the maximum counts or does not."""
    rows, length = d.size(1, 4), d.size(2, 5)
    x = d.input(rows, length)
    i, k, j = tg.dim("i", rows.poly), tg.dim("k", length.poly), tg.dim("j", length.poly)
    top = d.node((i,), tg.max(x[i, j], over=j))
    weight = d.node((i, k), tg.exp(x[i, k] - d.pick((0.5, 1.0, 1.0)) * top[i]))
    if d.yes():
        return [weight]
    mass = d.node((i,), tg.sum(weight[i, j], over=j))
    return [d.node((i, k), weight[i, k] / mass[i])]


def _recurrence(d: Draft) -> list[Tensor]:
    """h ← a·h + b, forwards or backwards."""
    length, width = d.size(2, 6), d.size(1, 2)
    a, b = d.input(length, width), d.input(length, width)
    t, s, c = tg.dim("t", length.poly), tg.dim("s", length.poly), tg.dim("c", width.poly)
    keep = [s <= t] if d.yes(70) else [s <= length.value - 1 - t]
    weight = a[s, c] if d.yes() else a[s, 0] * 0.5
    return [d.node((t, c), tg.affine_scan(weight, b[s, c], over=s, where=keep))]


def _matrices(d: Draft) -> list[Tensor]:
    """Ordered products of square matrices."""
    rows, length, size = d.size(1, 2), d.size(1, 3), d.number(1, 2)
    x = d.input(rows, length, fixed(size), fixed(size))
    i, k = tg.dim("i", rows.poly), tg.dim("k", length.poly)
    p, q = tg.dim("p", size), tg.dim("q", size)
    axes = {"row": p, "col": q}
    value = tg.reduce(matrix_product(size), x[i, k, p, q], over=k, axes=axes)
    return [d.node((i, p, q), value)]


def _running(d: Draft) -> list[Tensor]:
    """Running products and sums."""
    length = d.size(2, 6)
    x = d.input(length)
    t, s = tg.dim("t", length.poly), tg.dim("s", length.poly)
    fold = d.pick((tg.prod, tg.sum, tg.max))
    keep = [s <= t] if d.yes() else [t <= s]
    return [d.node((t,), fold(x[s], over=s, where=keep))]


def _second(d: Draft) -> Graph:
    """A gradient, to be differentiated again."""
    rows, cols = d.size(1, 4), d.size(1, 3)
    x = d.input(rows, cols)
    i, k, j = tg.dim("i", rows.poly), tg.dim("k", cols.poly), tg.dim("j", rows.poly)
    kind = d.number(0, 4)
    if kind > 2:
        turned = d.node((k, i), x[i, k])
        y = d.node((i, j), tg.sum(x[i, k] * turned[k, j], over=k))
        loss = d.node((), tg.sum(y[i, j] * (tg.real(i) - tg.real(j) * 2.0 + 1.0), over=[i, j]))
    elif kind == 0:
        y = d.node((i, j), tg.sum(x[i, k] * x[j, k], over=k))
        value = y[i, j] * y[i, j] * (tg.real(i) - tg.real(j) * 2.0)
        loss = d.node((), tg.sum(value, over=[i, j]))
    elif kind == 1:
        loss = d.node((), tg.sum(x[i, k] * x[i, k] * x[i, k], over=[i, k]))
    else:
        y = d.node((i,), tg.sum(x[i, k], over=k))
        loss = d.node((), tg.sum(tg.sin(y[i]) * x[i, 0], over=i))
    first = tg.grad(tg.Graph(loss=loss), "loss", [d.plans[-1].name])
    outputs = tuple(o for o in first.outputs if o.name != "loss")
    return Graph(first.inputs, first.nodes, outputs, first.facts)


GRADIENTS: Final[tuple[Kind, ...]] = (
    _functions, _functions, _branches, _branches, _convolution, _convolution, _convolution,
    _looked_up, _by_quotient, _window, _excluded, _twice_read, _extremum, _extremum, _extremum,
    _chequered, _chequered, _chequered, _chequered, _chequered, _ranked,
    _stock, _stock, _stock, _shifted, _recurrence, _recurrence, _matrices, _running,
    _second, _second, _second, _second, _second,
)  # fmt: skip
