"""P07: f32 is f32, never TF32 (pytorch#53635, triton#2654, jax#14022, mlx#3860)."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

V = np.array([[1024.5], *([float(n)] for n in range(2048, 2056)), [1 + 2**-23], [1 / 3]])
ONE = {"v": V, "w": np.ones((1, 1))}


def product(k=1):
    return tg.Graph(y=tg.matmul(tg.input("v", ("m", k)), tg.input("w", (k, 1))))


@pytest.mark.parametrize("split", [1, 2])
def test_a_product_with_one_is_exact(split, compiled):
    found = compiled(product(), split=split)(ONE)["y"]
    np.testing.assert_array_equal(found, V.astype(np.float32))


@pytest.mark.parametrize("split", [1, 2, 3])
def test_neither_operand_is_shortened_in_a_longer_product(split, compiled):
    v = np.array([[2049.0, 1, 0], [-3, 2055, 0], [0, 1024.5, 2051]])
    run = compiled(product(3), split=split)
    for w in (np.array([[1.0], [0], [1]]), np.array([[1.0], [1], [1]])):
        np.testing.assert_array_equal(run({"v": v, "w": w})["y"], v @ w)
        np.testing.assert_array_equal(run({"v": w.T, "w": v[0][:, None]})["y"], w.T @ v[0][:, None])


def test_every_rung_agrees(verified):
    verified([(product(), ONE)], splits=(1, 2))
