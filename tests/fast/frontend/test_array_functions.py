"""Every array function against NumPy, at several shapes, odd sizes and symbolic extents.

Defines the reference of each function in NumPy, written on its own. Relies on the interpreter.
Exactness is not claimed here: f64 against f64 within a few ulps of the largest term.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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
    """An input that fits the data; `symbols` makes some axes symbolic."""
    shape = [(symbols or {}).get(n, e) for n, e in enumerate(x.shape)]
    kind = {"b": "bool", "i": "index"}.get(x.dtype.kind, "real")
    return tg.input(name, shape, kind)


def draw(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def close(a: Array, b: Array) -> None:
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 5), (5, 7)),
        ((5,), (5, 2)),
        ((4, 5), (5,)),
        ((6,), (6,)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((1, 1), (1, 1)),
        ((3, 0), (0, 2)),
    ],
)
def test_matmul_follows_numpy_for_every_rank_and_batch(
    a: tuple[int, ...], b: tuple[int, ...]
) -> None:
    x, y = draw(*a), draw(*b, seed=1)
    close(run(tg.matmul(declare("x", x), declare("y", y)), x=x, y=y), np.asarray(x @ y))


def test_matmul_takes_symbolic_extents() -> None:
    x, y = draw(3, 4, 5), draw(3, 5, 2, seed=1)
    a = declare("x", x, {0: "batch", 2: "inner"})
    b = declare("y", y, {0: "batch", 1: "inner", 2: "cols"})
    close(run(tg.matmul(a, b), x=x, y=y), x @ y)


def numpy_softmax(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(e / e.sum(axis=axis, keepdims=True))


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("shape", [(3, 7), (2, 5, 3), (4, 1)])
def test_softmax_follows_its_definition_along_every_axis(shape: tuple[int, ...], axis: int) -> None:
    x = 100 * draw(*shape)
    close(run(tg.softmax(declare("x", x), axis), x=x), numpy_softmax(x, axis))
    close(run(tg.softmax(declare("x", x, {axis % x.ndim: "n"}), axis), x=x), numpy_softmax(x, axis))
    expected = x - x.max(axis, keepdims=True)
    expected = expected - np.log(np.exp(expected).sum(axis, keepdims=True))
    close(run(tg.log_softmax(declare("x", x), axis), x=x), expected)


def test_masked_softmax_skips_what_is_masked_even_a_nan() -> None:
    x = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    mask = np.array([[True, False, True], [False, False, False], [True, True, True]])
    got = run(tg.masked_softmax(declare("x", x), declare("mask", mask)), x=x, mask=mask)
    close(got[0, [0, 2]], numpy_softmax(x[0, [0, 2]], 0))
    assert got[0, 1] == 0
    assert (got[1] == 0).all()
    close(got[2], numpy_softmax(x[2], 0))


@pytest.mark.parametrize("axis", [-1, (-2, -1), 0, (0, 2)])
def test_layer_norm_and_rms_norm_follow_their_definitions(axis: Any) -> None:
    x = draw(4, 5, 7)
    axes = (axis,) if isinstance(axis, int) else axis
    part = tuple(x.shape[a] for a in axes)
    w, b = draw(*part, seed=1), draw(*part, seed=2)
    spread_shape = [e if n in [a % 3 for a in axes] else 1 for n, e in enumerate(x.shape)]
    ws, bs = w.reshape(spread_shape), b.reshape(spread_shape)
    centred = x - x.mean(axes, keepdims=True)
    expected = centred / np.sqrt(x.var(axes, keepdims=True) + 1e-5) * ws + bs
    t = tg.layer_norm(declare("x", x), declare("w", w), declare("b", b), axis=axis)
    close(run(t, x=x, w=w, b=b), expected)
    expected = x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-6) * ws
    close(run(tg.rms_norm(declare("x", x), declare("w", w), axis=axis), x=x, w=w), expected)


def test_norms_take_symbolic_extents() -> None:
    x = draw(3, 9)
    t = declare("x", x, {0: "rows", 1: "n"})
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    close(run(tg.layer_norm(t), x=x), (x - mean) / np.sqrt(var + 1e-5))
    close(run(tg.rms_norm(t), x=x), x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_over_axes_follow_numpy(axis: Any, keepdims: bool) -> None:
    x = draw(3, 4, 5)
    t = declare("x", x)
    pairs: list[tuple[Callable[..., tg.Tensor], Callable[..., Any]]] = [
        (tg.sum, np.sum), (tg.prod, np.prod), (tg.max, np.max), (tg.min, np.min),
        (tg.mean, np.mean), (tg.var, np.var),
    ]  # fmt: skip
    for ours, theirs in pairs:
        got = run(ours(t, axis=axis, keepdims=keepdims), x=x)
        close(got, np.asarray(theirs(x, axis=axis, keepdims=keepdims)))
    got = run(tg.logsumexp(t, axis=axis, keepdims=keepdims), x=x)
    close(got, np.asarray(np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))))
    got = run(tg.var(t, axis=axis, ddof=1, keepdims=keepdims), x=x)
    close(got, np.asarray(np.var(x, axis=axis, ddof=1, keepdims=keepdims)))


def test_variance_with_too_few_elements_is_nan() -> None:
    x = draw(3, 1)
    assert np.isnan(run(tg.var(declare("x", x), axis=1, ddof=1), x=x)).all()


def test_sums_and_extrema_of_indices_are_exact_integers() -> None:
    x = np.array([[5, -7, 2**30], [1, 2, 3]], dtype=np.int64)
    t = declare("x", x)
    assert run(tg.sum(t, axis=1), x=x).tolist() == [2**30 - 2, 6]
    assert run(tg.max(t, axis=1), x=x).tolist() == [2**30, 3]
    assert run(tg.min(t, axis=1), x=x).tolist() == [-7, 1]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_argmax_and_argmin_pick_the_first_among_equals(axis: int) -> None:
    x = np.random.default_rng(0).integers(0, 3, (5, 7)).astype(float)
    t = declare("x", x)
    assert (run(tg.argmax(t, axis=axis), x=x) == x.argmax(axis)).all()
    assert (run(tg.argmin(t, axis=axis), x=x) == x.argmin(axis)).all()
    flat = run(tg.argmax(t), x=x)
    assert flat == x.argmax()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_top_k_gives_values_and_positions_in_place_of_the_axis(axis: int) -> None:
    x = np.random.default_rng(0).integers(0, 6, (6, 5, 7)).astype(float)
    values, indices = tg.top_k(declare("x", x), 4, axis=axis)
    order = np.argsort(-x, axis=axis, kind="stable")
    first = np.take(order, range(4), axis=axis)
    assert (run(indices, x=x) == first).all()
    close(run(values, x=x), np.take_along_axis(x, first, axis))


@pytest.mark.parametrize("indices", [(4,), (2, 3), ()])
def test_embedding_picks_rows_and_fills_those_out_of_range(indices: tuple[int, ...]) -> None:
    table = draw(9, 5)
    at = np.asarray(np.random.default_rng(1).integers(0, 9, indices), dtype=np.int64)
    t = declare("table", table)
    close(run(tg.embedding(t, declare("at", at)), table=table, at=at), table[at])
    outside = np.array([3, -1, 9, 0])
    got = run(tg.embedding(t, declare("at", outside), fill=7), table=table, at=outside)
    close(got, np.stack([table[3], np.full(5, 7.0), np.full(5, 7.0), table[0]]))
    hot = run(tg.one_hot(declare("at", at), 9), at=at)
    close(hot, np.eye(9)[at])


@pytest.mark.parametrize("axis", [0, -1])
def test_cumsum_runs_both_ways_with_and_without_the_element(axis: int) -> None:
    x = draw(5, 6)
    t = declare("x", x, {axis % 2: "n"})
    back = np.flip(np.cumsum(np.flip(x, axis), axis), axis)
    close(run(tg.cumsum(t, axis), x=x), np.cumsum(x, axis))
    close(run(tg.cumsum(t, axis, reverse=True), x=x), back)
    close(run(tg.cumsum(t, axis, exclusive=True), x=x), np.cumsum(x, axis) - x)
    close(run(tg.cumsum(t, axis, reverse=True, exclusive=True), x=x), back - x)


@pytest.mark.parametrize("interleaved", [False, True])
def test_rope_turns_pairs_by_position(interleaved: bool) -> None:
    x = draw(2, 5, 6)
    theta = 10000.0 ** (-2 * np.arange(3) / 6)
    angle = np.arange(5)[:, None] * theta
    pairs = x.reshape(2, 5, 3, 2) if interleaved else x.reshape(2, 5, 2, 3).swapaxes(2, 3)
    z = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle)
    turned = np.stack([z.real, z.imag], -1)
    expected = (turned if interleaved else turned.swapaxes(2, 3)).reshape(2, 5, 6)
    close(run(tg.rope(declare("x", x, {1: "seq"}), interleaved=interleaved), x=x), expected)
    at = np.array([4, 0, 2, 2, 1])
    got = run(tg.rope(declare("x", x), declare("at", at), interleaved=interleaved), x=x, at=at)
    z = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle[at])
    turned = np.stack([z.real, z.imag], -1)
    close(got, (turned if interleaved else turned.swapaxes(2, 3)).reshape(2, 5, 6))


def test_activations_follow_their_definitions() -> None:
    x = 3 * draw(5, 7)
    t = declare("x", x)
    phi = np.vectorize(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))))
    close(run(tg.gelu(t), x=x), x * phi(x))
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    close(run(tg.gelu(t, "tanh"), x=x), 0.5 * x * (1 + np.tanh(inner)))
    close(run(tg.silu(t), x=x), x / (1 + np.exp(-x)))
    close(run(tg.relu(t), x=x), np.maximum(x, 0))
    close(run(tg.sigmoid(t), x=x), 1 / (1 + np.exp(-x)))
    close(run(tg.abs(t), x=x), np.abs(x))


def test_elementwise_broadcasts_like_numpy() -> None:
    x, y = draw(4, 1, 3), draw(5, 1, seed=1)
    a, b = declare("x", x), declare("y", y)
    close(run(tg.elementwise(lambda p, q: p - 2 * q, a, b), x=x, y=y), x - 2 * y)
    close(run(tg.maximum(a, b), x=x, y=y), np.maximum(x, y))
    close(run(tg.minimum(a, 0.25), x=x), np.minimum(x, 0.25))


def test_rearrangements_follow_numpy() -> None:
    x, y = draw(4, 6, 5), draw(4, 2, 5, seed=1)
    a, b = declare("x", x), declare("y", y)
    close(run(tg.permute(a, (2, 0, -2)), x=x), x.transpose(2, 0, 1))
    close(run(tg.transpose(a), x=x), x.swapaxes(1, 2))
    close(run(tg.expand_dims(a, -2), x=x), np.expand_dims(x, -2))
    close(run(tg.squeeze(tg.expand_dims(a, 1), 1), x=x), x)
    close(run(tg.flip(a, 1), x=x), np.flip(x, 1))
    close(run(tg.slice(a, 1, 1, 6, 2), x=x), x[:, 1:6:2])
    close(run(tg.slice(a, -1, 2), x=x), x[..., 2:])
    close(run(tg.concatenate([a, b, a], 1), x=x, y=y), np.concatenate([x, y, x], 1))
    close(run(tg.split_axis(a, 1, 3), x=x), x.reshape(4, 2, 3, 5))
    close(run(tg.merge_axes(a, 1), x=x), x.reshape(4, 30))
    close(run(tg.broadcast_to(declare("y", y[:, :1]), (3, 4, 6, 5)), y=y[:, :1]),
          np.broadcast_to(y[:, :1], (3, 4, 6, 5)))  # fmt: skip


def test_rearrangements_take_symbolic_extents() -> None:
    x, y = draw(4, 6), draw(4, 3, seed=1)
    a, b = declare("x", x, {0: "n", 1: "m"}), declare("y", y, {0: "n", 1: "l"})
    close(run(tg.flip(a, 0), x=x), np.flip(x, 0))
    close(run(tg.concatenate([a, b], 1), x=x, y=y), np.concatenate([x, y], 1))
    close(run(tg.merge_axes(declare("x", x, {0: "n"}), 0), x=x), x.reshape(-1))
    close(run(tg.slice(a, 0, 1), x=x), x[1:])
