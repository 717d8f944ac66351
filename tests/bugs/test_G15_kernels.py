"""G15, kernels: top-k has one total order, with distinct indices, in chunks too.

pytorch#127196, pytorch#27542, tt-metal#55069.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

NAN = np.nan
ROWS = np.array(
    [
        [3.0, 2, 3, 2, 1, 1],
        [1.0] * 6,
        [1.0, NAN, 3, NAN, np.inf, -np.inf],
        [0.0, -0.0, 0.0, -0.0, -1, 1],
        [-np.inf] * 6,
        [NAN] * 6,
    ]
)


def program(ks, shape=ROWS.shape):
    """Values and indices for several k."""
    outputs = {}
    for k in ks:
        outputs[f"v{k}"], outputs[f"i{k}"] = tg.top_k(tg.input("x", shape), k)
    return tg.Graph(outputs)


def order(row):
    """Descending, NaN first, ties by smaller index."""
    return sorted(range(len(row)), key=lambda n: (not np.isnan(row[n]), -np.nan_to_num(row[n]), n))


@pytest.mark.parametrize("split", [1, 2, 5])
def test_every_k_is_a_prefix_of_the_total_order(split, compiled):
    ks = (1, 2, 3, 6)
    found = compiled(program(ks), split=split)({"x": ROWS})
    assert found["i2"][0].tolist() == [0, 2]
    for k in ks:
        for row, values, indices in zip(ROWS, found[f"v{k}"], found[f"i{k}"], strict=True):
            assert indices.tolist() == order(row)[:k]
            np.testing.assert_array_equal(values, row[indices])


@pytest.mark.parametrize("split", [1, 4, 120])
def test_chunks_merge_to_the_same_ranks(split, compiled):
    rows = np.random.default_rng(0).integers(0, 5, (3, 97)).astype(float)
    found = compiled(program([7], ("m", "n")), split=split)({"x": rows})
    assert found["i7"].tolist() == [order(row)[:7] for row in rows]


def test_every_rung_agrees(verified):
    verified([(program([2]), {"x": ROWS})], splits=(1, 2))
