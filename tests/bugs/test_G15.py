"""G15: top-k has one total order, with distinct indices, whatever k (pytorch#127196)."""

from __future__ import annotations

import numpy as np
import pytest

import tang.frontend as tg
from tang.interpreter import fast, fast_interpret, interpret

NAN = np.nan
ROWS = {
    "ties": [3.0, 2, 3, 2, 1, 1],
    "all equal": [1.0] * 6,
    "NaN": [1.0, NAN, 3, NAN, np.inf, -np.inf],
    "zeros": [0.0, -0.0, 0.0, -0.0, -1, 1],
}


def top(row, k, evaluate):
    values, indices = tg.top_k(tg.input("x", (len(row),)), k)
    graph = tg.Graph({"values": values, "indices": indices})
    found = evaluate(graph, {"x": np.array(row)})
    return found["values"], found["indices"].tolist()


def reference(row, k):
    """Descending, NaN first, ties by smaller index."""

    def rank(n):
        return (0, 0.0, n) if np.isnan(row[n]) else (1, -row[n], n)

    return sorted(range(len(row)), key=rank)[:k]


@pytest.fixture(autouse=True)
def no_node_is_too_small(monkeypatch):
    monkeypatch.setattr(fast, "_SMALL", 0)
    monkeypatch.setattr(fast, "_CACHED_LANES", 16)


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
def test_the_reported_row_gives_the_first_of_the_ties(evaluate):
    values, indices = top(ROWS["ties"], 2, evaluate)
    assert values.tolist() == [3, 3]
    assert indices == [0, 2]


@pytest.mark.parametrize("evaluate", [interpret, fast_interpret])
@pytest.mark.parametrize("name", ROWS)
def test_every_k_follows_the_total_order(name, evaluate):
    row = ROWS[name]
    for k in range(1, len(row) + 1):
        values, indices = top(row, k, evaluate)
        assert indices == reference(row, k)
        np.testing.assert_array_equal(values, np.array(row)[indices])
        assert len(set(indices)) == k


@pytest.mark.parametrize("k", [1, 3, 7])
def test_chunks_merge_to_the_same_ranks(k):
    row = np.random.default_rng(0).integers(0, 5, 97).astype(float)
    assert top(row, k, fast_interpret)[1] == reference(row, k) == top(row, k, interpret)[1]
