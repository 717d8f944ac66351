"""Small programs that the tests of budgets share."""

from __future__ import annotations

import tang as tg


def matmul_graph(m=6, k=40, n=5):
    """C = A·B."""
    a, b = tg.input("A", (m, k)), tg.input("B", (k, n))
    i, j, d = tg.dims("i j d")
    return tg.Graph(C=tg.compute("C", (i, j), tg.sum(a[i, d] * b[d, j], d)))


def chain_graph(n=64):
    """Three maps behind each other, then a sum: stage1, stage2, stage3, y."""
    x, i = tg.input("x", (n,)), tg.dim("i")
    one = tg.compute("stage1", i, x[i] * 1.5)
    two = tg.compute("stage2", i, one[i] + 0.25)
    three = tg.compute("stage3", i, two[i] * two[i])
    return tg.Graph(y=tg.compute("y", (), tg.sum(three[i], i)), z=three)
