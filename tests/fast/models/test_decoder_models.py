"""Decoder layers against NumPy: a layer that reads a cache equals one that sees whole sequences.

The reference knows no cache, no pages and no real rotation: it runs every sequence as a whole and
turns pairs as complex numbers. What a cache must not be read from holds NaN.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from model_checks import agree, dense, parameters_of, rms, silu, softmax

from tang.errors import GraphError
from tang.models import DecoderSizes, decoder_layer, paged_decoder_layer

SMALL = DecoderSizes(width=6, heads=4, groups=2, depth=4, hidden=7)
SIZES = {
    "grouped": SMALL,
    "one head": DecoderSizes(width=3, heads=1, groups=1, depth=2, hidden=5),
    "many queries per key": replace(SMALL, groups=1),
    "window 3": replace(SMALL, window=3),
    "window 1": replace(SMALL, window=1),
    "biases": replace(SMALL, bias=True, base=100.0),
    "head norms": replace(SMALL, head_norm=True),
}
STARTS = {"decode": ((3, 0, 5), 1), "prefill": ((0, 0), 4), "ragged": ((4, 1), 3)}


def turned(x, base):
    """Pairs (d, d + D/2) of x (T, H, D) as complex numbers, turned by their positions."""
    half = x.shape[2] // 2
    angle = np.outer(np.arange(len(x)), base ** (-np.arange(half) / half))
    z = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)[:, None]
    return np.concatenate([z.real, z.imag], -1)


def whole(x, w, sizes):
    """One sequence (T, C) at once: y, keys and values."""
    seen = rms(x, w["attention_norm.weight"], 1e-6)

    def heads(part, count):
        flat = dense(seen, w, f"attention.{part}").reshape(len(x), count, sizes.depth)
        if part == "value":
            return flat
        if sizes.head_norm:
            flat = rms(flat, w[f"attention.{part}_norm.weight"], 1e-6)
        return turned(flat, sizes.base)

    q, k, v = (heads(p, n) for p, n in (("query", sizes.heads), ("key", sizes.groups),
                                        ("value", sizes.groups)))  # fmt: skip
    out = np.empty_like(q)
    for t, h in np.ndindex(len(x), sizes.heads):
        first = 0 if sizes.window is None else max(0, t + 1 - sizes.window)
        g = h * sizes.groups // sizes.heads
        weight = softmax(k[first : t + 1, g] @ q[t, h] / np.sqrt(sizes.depth))
        out[t, h] = weight @ v[first : t + 1, g]
    x = x + dense(out.reshape(len(x), -1), w, "attention.output")
    seen = rms(x, w["mlp_norm.weight"], 1e-6)
    inner = silu(dense(seen, w, "mlp.gate")) * dense(seen, w, "mlp.up")
    return x + dense(inner, w, "mlp.down"), k, v


def sequences(w, sizes, starts, new):
    """Per sequence its tokens and what the reference makes of them."""
    rng = np.random.default_rng(11)
    xs = [rng.standard_normal((n + new, sizes.width)) for n in starts]
    return [(x, *whole(x, w, sizes)) for x in xs]


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize(("starts", "new"), STARTS.values(), ids=STARTS)
def test_a_dense_cache_gives_what_whole_sequences_give(sizes, starts, new):
    graph = decoder_layer(sizes)
    w = parameters_of(graph)
    capacity = max(starts) + new + 1
    runs = sequences(w, sizes, starts, new)
    full = [np.zeros((len(starts), capacity, sizes.groups, sizes.depth)) for _ in range(2)]
    caches = [np.full_like(f, np.nan) for f in full]
    for b, (n, (_, _, *kv)) in enumerate(zip(starts, runs, strict=True)):
        for cache, filled, states in zip(caches, full, kv, strict=True):
            cache[b, :n], filled[b, : n + new] = states[:n], states
    data = {"x": np.stack([r[0][-new:] for r in runs]), "start": np.asarray(starts), **w}
    data |= {"key_cache": caches[0], "value_cache": caches[1]}
    y = np.stack([r[1][-new:] for r in runs])
    agree(graph, data, y=y, keys=full[0], values=full[1])


PAGED = {f"{name}, pages of 3": (sizes, 3) for name, sizes in SIZES.items()}
PAGED |= {f"pages of {page}": (SMALL, page) for page in (1, 2, 16)}


@pytest.mark.parametrize(("sizes", "page"), PAGED.values(), ids=PAGED)
@pytest.mark.parametrize(("starts", "new"), STARTS.values(), ids=STARTS)
def test_pages_give_what_whole_sequences_give(sizes, starts, new, page):
    graph = paged_decoder_layer(sizes, page)
    w = parameters_of(graph)
    runs = sequences(w, sizes, starts, new)
    data = {"x": np.stack([r[0][-new:] for r in runs]), "start": np.asarray(starts), **w}
    data |= stored(runs, starts, new, page)
    y, key, value = (np.stack([r[n][-new:] for r in runs]) for n in (1, 2, 3))
    agree(graph, data, y=y, key=key, value=value)


def stored(runs, starts, new, page):
    """Pools with the tokens before the starts in random pages; empty pages are −1, rest is NaN."""
    rng = np.random.default_rng(12)
    blocks = -(-(max(starts) + new) // page)
    used = [-(-n // page) for n in starts]
    free = list(rng.permutation(sum(used) + 2))
    table = np.full((len(starts), blocks), -1)
    shape = (len(free), page, *runs[0][2].shape[1:])
    pools = np.full(shape, np.nan), np.full(shape, np.nan)
    for b, n in enumerate(starts):
        table[b, : used[b]] = [free.pop() for _ in range(used[b])]
        for s, which in product(range(n), (0, 1)):
            pools[which][table[b, s // page], s % page] = runs[b][2 + which][s]
    return {"page_table": table, "key_pages": pools[0], "value_pages": pools[1]}


def test_a_reference_that_turns_the_other_way_does_not_agree():
    graph = decoder_layer(SMALL)
    w = parameters_of(graph)
    (x, y, _, _), = sequences(w, SMALL, (0,), 3)  # fmt: skip
    empty = np.zeros((1, 3, 2, 4))
    data = {"x": x[None], "start": np.array([0]), "key_cache": empty, "value_cache": empty, **w}
    agree(graph, data, y=y[None])
    late = {**data, "start": np.array([1])}
    with pytest.raises(AssertionError, match="y"):
        agree(graph, late, y=y[None])


def test_sizes_that_no_decoder_can_have_are_refused():
    with pytest.raises(GraphError, match="4 query heads cannot share 3 key heads"):
        replace(SMALL, groups=3)
    with pytest.raises(GraphError, match="an even depth, not 3"):
        replace(SMALL, depth=3)
    with pytest.raises(GraphError, match="one token or more, not 0"):
        replace(SMALL, window=0)
    with pytest.raises(GraphError, match="one token or more, not 0"):
        paged_decoder_layer(SMALL, page=0)
