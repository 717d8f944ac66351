"""Masks that leave an element at every point, and those that may not."""

from __future__ import annotations

import itertools

import pytest

import tang as tg
from tang.emulator.certify_masks import is_never_empty

N = 4
i, k, r = tg.dim("i", N), tg.dim("k", N), tg.dim("r", 3)
x = tg.input("x", (N, N, 3))

MASKS = {
    "none": (lambda i, k, r: [], True),
    "causal": (lambda i, k, r: [k <= i], True),
    "strict": (lambda i, k, r: [k < i], False),
    "anticausal": (lambda i, k, r: [k >= i], True),
    "window": (lambda i, k, r: [k <= i, k >= i - 1], True),
    "beyond": (lambda i, k, r: [k >= i + 1], False),
    "two dims": (lambda i, k, r: [k <= i, r >= 2], True),
    "never": (lambda i, k, r: [r >= 3], False),
    "both": (lambda i, k, r: [k + r <= i], True),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_that_leaves_an_element_everywhere_is_known(name):
    mask, known = MASKS[name]
    y = tg.compute("y", (i,), tg.sum(x[i, k, r], over=(k, r), where=mask(i, k, r)))
    (node,) = tg.Graph(y=y).nodes
    assert is_never_empty(node) == known
    places = itertools.product(range(N), range(3))
    there = [any(all(map(bool, mask(p, q, s))) for q, s in places) for p in range(N)]
    assert all(there) or not known


@pytest.mark.parametrize("size", [0, 1])
def test_without_elements_there_is_none(size):
    none, v = tg.dim("none", size), tg.input("v", (size,))
    (node,) = tg.Graph(y=tg.compute("y", (), tg.sum(v[none], over=none))).nodes
    assert is_never_empty(node) == (size > 0)
