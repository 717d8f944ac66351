"""E07: no result depends on how many threads run together (llama.cpp#10809, HeCBench#180).

Also chipStar#1409, vulkan_radix_sort#7. Here with every size of workgroup, dividing or not.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

SIZES = (1, 4, 7, 32, 100)
X = np.random.default_rng(0).standard_normal((5, 37)).astype(np.float32)


def program():
    """Reductions, a scan and a map."""
    x = tg.input("x", X.shape)
    return tg.Graph(sum=tg.sum(x, axis=1), scan=tg.cumsum(x, axis=1), at=tg.argmax(x, axis=0))


@pytest.mark.parametrize("split", [1, 3])
def test_every_workgroup_gives_the_same_bits(split, compiled):
    found = [compiled(program(), split=split, workgroup=w)({"x": X}) for w in SIZES]
    np.testing.assert_allclose(found[0]["sum"], X.sum(1), 1e-5, 1e-5)
    assert found[0]["at"].tolist() == X.argmax(0).tolist()
    for other in found[1:]:
        assert {n: a.tobytes() for n, a in other.items()} == {
            n: a.tobytes() for n, a in found[0].items()
        }


@pytest.mark.parametrize("workgroup", [1, 7, 100])
def test_every_rung_agrees(workgroup, verified):
    graph = tg.Graph(y=tg.cumsum(tg.input("x", (3, 5)), axis=1))
    verified([(graph, {"x": X[:3, :5]})], splits=(1, 2), workgroup=workgroup)
