"""Convolutions in any number of spatial dims, and their transposes.

Defines conv1d, conv2d and the transposed forms. Relies on `compute`: a convolution is one
reduction over channels and taps with a guarded read; a transposed one splits every strided output
axis into (quotient, phase), so that no tap is read in vain. Nothing is unrolled or lowered here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

from tang.frontend.build import make
from tang.frontend.dims import dim
from tang.frontend.elementwise import dims_of
from tang.frontend.reductions import sum as total
from tang.frontend.shapes import divided, floored, merge_axes
from tang.frontend.site import failure
from tang.frontend.tensors import Tensor
from tang.frontend.transposed import line, spread
from tang.frontend.values import Value
from tang.ir.extent import Poly, poly

Each = int | Sequence[int]
Padding = int | Sequence[int | tuple[int, int]]


class Options(TypedDict, total=False):
    """How a convolution moves; a number for all spatial axes, or one per axis.

    stride, dilation  steps between outputs, and between taps: at least 1, by default 1
    padding           zeros around x: an int, an int per axis, or a pair (before, after) per axis
    groups            parts of the channels that do not mix, by default 1
    name              of the result; None takes a made-up one
    """

    stride: Each
    padding: Padding
    dilation: Each
    groups: int
    name: str | None


def conv1d(x: Tensor, w: Tensor, bias: Tensor | None = None, **options: Unpack[Options]) -> Tensor:
    """Correlation: x (N, C, L), w (O, C/groups, K) → (N, O, P); keywords as in `Options`.

    P = (L + padding before and after − dilation·(K − 1) − 1) // stride + 1.
    """
    return _conv(x, w, bias, _window("conv1d", 1, **options))


def conv2d(x: Tensor, w: Tensor, bias: Tensor | None = None, **options: Unpack[Options]) -> Tensor:
    """Correlation: x (N, C, H, W), w (O, C/groups, R, S) → (N, O, P, Q), as in conv1d."""
    return _conv(x, w, bias, _window("conv2d", 2, **options))


def conv_transpose1d(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    output_padding: Each = 0,
    **options: Unpack[Options],
) -> Tensor:
    """The adjoint of conv1d in x: x (N, C, L), w (C, O/groups, K); keywords as in `Options`."""
    return _transposed(x, w, bias, _window("conv_transpose1d", 1, **options), output_padding)


def conv_transpose2d(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None = None,
    *,
    output_padding: Each = 0,
    **options: Unpack[Options],
) -> Tensor:
    """The adjoint of conv2d in x: x (N, C, H, W), w (C, O/groups, R, S)."""
    return _transposed(x, w, bias, _window("conv_transpose2d", 2, **options), output_padding)


@dataclass(frozen=True, slots=True)
class Spatial:
    """The parameters of one spatial axis."""

    stride: int
    dilation: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class _Window:
    """The checked parameters of a convolution over any number of spatial axes."""

    label: str
    axes: tuple[Spatial, ...]
    groups: int


def _window(
    kind: str,
    rank: int,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
    name: str | None = None,
) -> _Window:
    return _Window(name or kind, _spatial(kind, rank, stride, padding, dilation), groups)


def _each(what: str, count: int, given: Each, least: int) -> tuple[int, ...]:
    many = (given,) * count if isinstance(given, int) else tuple(given)
    if len(many) != count or any(not isinstance(m, int) or m < least for m in many):
        raise failure(f"{what} is an int ≥ {least} or {count} of them, not {given!r}")
    return many


def _spatial(
    what: str, count: int, stride: Each, padding: Padding, dilation: Each
) -> tuple[Spatial, ...]:
    strides = _each(f"{what}: stride", count, stride, 1)
    dilations = _each(f"{what}: dilation", count, dilation, 1)
    pads = (padding,) * count if isinstance(padding, int) else tuple(padding)
    if len(pads) != count:
        raise failure(f"{what}: padding is an int, or {count} ints or pairs, not {padding!r}")
    pairs = [_each(f"{what}: padding", 2, p, 0) for p in pads]
    parts = zip(strides, dilations, pairs, strict=True)
    return tuple(Spatial(s, d, p[0], p[1]) for s, d, p in parts)


@dataclass(frozen=True, slots=True)
class _Channels:
    """Dims of the channels: point dims of the output, and the coordinates in x and w."""

    point: tuple[Value, ...]
    output: Value
    inner: Value
    of_x: Value
    groups: int
    per_group: Poly


def _channels(label: str, inputs: Poly, outputs: Poly, weights: Poly, groups: int) -> _Channels:
    """Output channel g·(outputs/groups) + o reads input channels of group g."""
    if groups < 1:
        raise failure(f"{label}: groups is at least 1, not {groups}")
    reads = divided(inputs, groups, f"{label}: input channels in {groups} groups")
    per_group = divided(outputs, groups, f"{label}: output channels in {groups} groups")
    if weights != reads:
        raise failure(f"{label}: w takes {weights} channels, x gives {reads} per group")
    o, c, g = dim("o", per_group), dim("c", reads), dim("g", groups)
    if groups == 1:
        return _Channels((o,), o, c, c, 1, per_group)
    output, of_x = _flat(g, o, per_group), _flat(g, c, reads)
    return _Channels((g, o), output, c, of_x, groups, per_group)


def _flat(g: Value, v: Value, count: Poly) -> Value:
    if not count.is_constant:
        raise failure(f"grouped channels need a known extent, not {count}")
    return g * count.constant + v


def _conv(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    window: _Window,
) -> Tensor:
    label, axes = window.label, window.axes
    _check_ranks(label, x, w, bias, len(axes), w.shape[:1])
    n = dim("n", x.shape[0])
    ch = _channels(label, x.shape[1], w.shape[0], w.shape[1], window.groups)
    taps = dims_of(w.shape[2:], "r")
    sizes = [_length(label, *p) for p in zip(x.shape[2:], w.shape[2:], axes, strict=True)]
    at = dims_of(sizes, "p")
    reads = [_shift(p, r, a) for p, r, a in zip(at, taps, axes, strict=True)]
    product = x.at(n, ch.of_x, *reads, fill=0) * w[(ch.output, ch.inner, *taps)]
    value = total(product, [ch.inner, *taps])
    return _finish(label, [n, *ch.point, *at], value, bias, ch)


def _shift(p: Value, r: Value, a: Spatial) -> Value:
    """stride·p + dilation·r − before, written so that a plain read stays plain."""
    moved = (p if a.stride == 1 else a.stride * p) + (r if a.dilation == 1 else a.dilation * r)
    return moved if a.before == 0 else moved - a.before


def _length(label: str, extent: Poly, taps: Poly, a: Spatial) -> Poly:
    room = extent + a.before + a.after - (taps - 1) * a.dilation - 1
    if room.is_constant:
        length = room.constant // a.stride + 1
        return poly(max(0, length))
    return floored(room, a.stride, f"{label}: ({room})//{a.stride}") + 1


def _finish(
    label: str, point: list[Value], value: Value, bias: Tensor | None, ch: _Channels
) -> Tensor:
    if bias is not None:
        value = value + bias[ch.output]
    if ch.groups == 1:
        return make(label, point, value, auto=True)
    return merge_axes(make(f"{label}.groups", point, value, auto=True), 1, label)


def _check_ranks(
    label: str,
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    spatial: int,
    outputs: tuple[Poly, ...],
) -> None:
    for t in (x, w):
        if t.rank != spatial + 2:
            raise failure(f"{label}: {t!r} needs rank {spatial + 2}")
    if bias is not None and bias.shape != outputs:
        raise failure(f"{label}: bias {bias!r} needs shape ({outputs[0]},)")


def _transposed(
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    window: _Window,
    output_padding: Each,
) -> Tensor:
    label, axes = window.label, window.axes
    extra = _each("output_padding", len(axes), output_padding, 0)
    if w.rank < 2:
        raise failure(f"{label}: {w!r} needs rank {len(axes) + 2}")
    outputs = w.shape[1] * window.groups
    _check_ranks(label, x, w, bias, len(axes), (outputs,))
    wide = w
    for number, a in enumerate(axes):
        wide = spread(wide, 2 + number, a.dilation, f"{label}.taps")
    n = dim("n", x.shape[0])
    ch = _channels(
        label, x.shape[1], outputs, divided(w.shape[0], window.groups, label), window.groups
    )
    lines = [
        line(f"{label}.phase", extent, taps, a.stride, a.before, a.before + a.after - e)
        for extent, taps, a, e in zip(x.shape[2:], wide.shape[2:], axes, extra, strict=True)
    ]
    o = ch.point[-1]
    taps = [t for ln in lines for t in ln.over]
    product = x.at(n, ch.of_x, *(ln.of_x for ln in lines), fill=0) * wide.at(
        ch.of_x, o, *(ln.of_w for ln in lines), fill=0
    )
    at = [d for ln in lines for d in ln.point]
    value = total(product, [ch.inner, *taps])
    phased = any(ln.phased for ln in lines)
    if not phased:
        return _finish(label, [n, *ch.point, *at], value, bias, ch)
    phases = make(f"{label}.phases", [n, *ch.point, *at], value, auto=True)
    out = dims_of([ln.length for ln in lines], "p")
    coords = [c for ln, p in zip(lines, out, strict=True) for c in ln.coordinates(p)]
    return _finish(label, [n, *ch.point, *out], phases[(n, *ch.point, *coords)], bias, ch)
