"""Attention and convolutions against loops in NumPy.

Defines the references as plainly as possible. Relies on the interpreter. Shapes are small, odd
and uneven on purpose; large ones belong to the campaigns.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import tang as tg

Array = np.ndarray[Any, np.dtype[Any]]


def run(t: tg.Tensor, **data: Array) -> Array:
    """The value of one tensor for the given inputs."""
    found: Mapping[str, Array] = tg.interpreter.interpret(tg.Graph(out=t), data)
    return found["out"]


def declare(name: str, x: Array, symbols: Mapping[int, str] | None = None) -> tg.Tensor:
    shape = [(symbols or {}).get(n, e) for n, e in enumerate(x.shape)]
    return tg.input(name, shape, "bool" if x.dtype.kind == "b" else "real")


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def close(a: Array, b: Array) -> None:
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


def numpy_attention(q: Array, k: Array, v: Array, extra: Array | float = 0.0) -> Array:
    group = q.shape[-3] // k.shape[-3] if q.ndim > 2 else 1
    if q.ndim > 2:
        k, v = np.repeat(k, group, -3), np.repeat(v, group, -3)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) + extra
    with np.errstate(invalid="ignore"):
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.asarray((p / p.sum(-1, keepdims=True)) @ v)


@pytest.mark.parametrize(
    ("q", "k", "e"),
    [((5, 4), (7, 4), 3), ((2, 5, 4), (2, 3, 4), 4), ((2, 6, 3, 4), (2, 2, 5, 4), 2),
     ((1, 4, 1, 2), (1, 1, 9, 2), 5)],
)  # fmt: skip
@pytest.mark.parametrize("symbolic", [False, True])
def test_attention_of_any_rank_and_grouping(
    q: tuple[int, ...], k: tuple[int, ...], e: int, symbolic: bool
) -> None:
    x, y, z = draw(*q), draw(*k, seed=1), draw(*k[:-1], e, seed=2)
    rank = len(q)
    left = {rank - 2: "L"} if symbolic else {}
    right = {rank - 2: "S"} if symbolic else {}
    t = tg.attention(declare("q", x, left), declare("k", y, right), declare("v", z, right))
    close(run(t, q=x, k=y, v=z), numpy_attention(x, y, z))


def test_attention_takes_mask_bias_and_scale() -> None:
    q, k, v = draw(2, 4, 5, 3), draw(2, 2, 6, 3, seed=1), draw(2, 2, 6, 3, seed=2)
    mask = np.random.default_rng(3).random((2, 1, 5, 6)) < 0.6
    mask[..., 0] = True
    bias = draw(4, 1, 6, seed=4)
    t = tg.attention(
        declare("q", q), declare("k", k), declare("v", v),
        mask=declare("mask", mask), bias=declare("bias", bias), scale=0.25,
    )  # fmt: skip
    extra = np.where(mask, bias, -np.inf)
    expected = numpy_attention(q * 0.25 * np.sqrt(3), k, v, extra)
    close(run(t, q=q, k=k, v=v, mask=mask, bias=bias), expected)


def test_causal_attention_does_not_read_the_future() -> None:
    q, k, v = draw(2, 4, 3), draw(2, 6, 3, seed=1), draw(2, 6, 3, seed=2)
    late = np.where(np.tri(4, 6, 2, dtype=bool), 0.0, -np.inf)
    t = tg.attention(declare("q", q), declare("k", k), declare("v", v), causal=True)
    close(run(t, q=q, k=k, v=v), numpy_attention(q, k, v, late))
    poisoned = v.copy()
    poisoned[:, 5] = np.nan
    assert np.isfinite(run(t, q=q, k=k, v=poisoned)[:, :3]).all()


@pytest.mark.parametrize("masked", [False, True])
def test_a_row_without_keys_is_what_was_declared(masked: bool) -> None:
    q, k, v = draw(2, 3), draw(4, 3, seed=1), draw(4, 2, seed=2)
    mask = np.array([[True, False, True, True], [False] * 4])
    t = tg.attention(
        declare("q", q), declare("k", k), declare("v", v), mask=declare("m", mask), masked=masked
    )
    got = run(t, q=q, k=k, v=v, m=mask)
    close(got[:1], numpy_attention(q, k, v, np.where(mask, 0, -np.inf))[:1])
    assert (got[1] == 0).all() if masked else np.isnan(got[1]).all()


def numpy_conv(x: Array, w: Array, stride: int, pad: int, dilation: int, groups: int) -> Array:
    """Correlation by a loop over every output element and tap."""
    spatial = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * spatial)
    out = [(x.shape[2 + n] - dilation * (w.shape[2 + n] - 1) - 1) // stride + 1
           for n in range(spatial)]  # fmt: skip
    y = np.zeros((x.shape[0], w.shape[0], *out))
    per_group, reads = w.shape[0] // groups, w.shape[1]
    for n, o, *p in product(*map(range, y.shape)):
        for c, *r in product(*map(range, w.shape[1:])):
            at = [stride * a + dilation * b for a, b in zip(p, r, strict=True)]
            y[(n, o, *p)] += x[(n, o // per_group * reads + c, *at)] * w[(o, c, *r)]
    return y


CASES = [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 1), (3, 1, 1, 2), (2, 2, 2, 4)]


@pytest.mark.parametrize(("stride", "pad", "dilation", "groups"), CASES)
def test_convolutions_follow_the_loop(stride: int, pad: int, dilation: int, groups: int) -> None:
    for shape, taps in (((2, 4, 11), (3,)), ((1, 4, 7, 6), (3, 2))):
        x, w, b = draw(*shape), draw(8, 4 // groups, *taps, seed=1), draw(8, seed=2)
        conv = tg.conv1d if len(taps) == 1 else tg.conv2d
        t = conv(
            declare("x", x), declare("w", w), declare("b", b),
            stride=stride, padding=pad, dilation=dilation, groups=groups,
        )  # fmt: skip
        expected = numpy_conv(x, w, stride, pad, dilation, groups)
        close(run(t, x=x, w=w, b=b), expected + b.reshape(-1, *[1] * len(taps)))


def test_padding_may_differ_before_and_after() -> None:
    x, w = draw(1, 2, 5), draw(3, 2, 3, seed=1)
    t = tg.conv1d(declare("x", x), declare("w", w), padding=((2, 0),))
    wide = np.pad(x, [(0, 0), (0, 0), (2, 0)])
    close(run(t, x=x, w=w), numpy_conv(wide, w, 1, 0, 1, 1))


def test_convolutions_take_a_symbolic_batch_and_length() -> None:
    x, w = draw(2, 3, 8), draw(4, 3, 3, seed=1)
    t = tg.conv1d(declare("x", x, {0: "batch", 2: "length"}), declare("w", w), padding=1)
    close(run(t, x=x, w=w), numpy_conv(x, w, 1, 1, 1, 1))
    t = tg.conv_transpose1d(
        declare("x", x, {0: "batch", 2: "length"}), declare("v", w[:3]), stride=2
    )
    close(run(t, x=x, v=w[:3]), numpy_transposed(x, w[:3], 2, 0, 1, 1, 0))


def numpy_transposed(
    x: Array, w: Array, stride: int, pad: int, dilation: int, groups: int, extra: int
) -> Array:
    """Scatter every input element times every tap, then trim the padding."""
    spatial = x.ndim - 2
    out = [(x.shape[2 + n] - 1) * stride + dilation * (w.shape[2 + n] - 1) + 1
           for n in range(spatial)]  # fmt: skip
    y = np.zeros((x.shape[0], w.shape[1] * groups, *[e + extra for e in out]))
    reads = x.shape[1] // groups
    for n, c, *q in product(*map(range, x.shape)):
        for o, *r in product(*map(range, w.shape[1:])):
            at = [stride * a + dilation * b for a, b in zip(q, r, strict=True)]
            y[(n, c // reads * w.shape[1] + o, *at)] += x[(n, c, *q)] * w[(c, o, *r)]
    trim = tuple(slice(pad, e + extra - pad) for e in out)
    return y[(slice(None), slice(None), *trim)]


@pytest.mark.parametrize(("stride", "pad", "dilation", "groups"), CASES)
@pytest.mark.parametrize("extra", [0, 1])
def test_transposed_convolutions_follow_the_scatter(
    stride: int, pad: int, dilation: int, groups: int, extra: int
) -> None:
    for shape, taps in (((2, 4, 5), (4,)), ((1, 4, 3, 4), (3, 3))):
        x, w, b = draw(*shape), draw(4, 8 // groups, *taps, seed=1), draw(8, seed=2)
        conv = tg.conv_transpose1d if len(taps) == 1 else tg.conv_transpose2d
        t = conv(
            declare("x", x), declare("w", w), declare("b", b), stride=stride, padding=pad,
            dilation=dilation, groups=groups, output_padding=extra,
        )  # fmt: skip
        expected = numpy_transposed(x, w, stride, pad, dilation, groups, extra)
        close(run(t, x=x, w=w, b=b), expected + b.reshape(-1, *[1] * len(taps)))
