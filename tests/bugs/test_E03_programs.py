"""E03, programs: hostile names survive the whole way from the language to compiled C.

wgpu#5853, naga#2234, naga#264, SPIRV-Cross#2073, wgpu#4555, wgpu#7263.
"""

from __future__ import annotations

import numpy as np

import tang as tg

NAMES = [
    "packed", "thread", "half", "sampler", "a__b", "a_b", "gl_x", "assert", "main", "out", "e1",
    "_", "größe", "名前", "x.y", "two words", "group", "first_group", "global_id", "acc", "int",
]  # fmt: skip


def program():
    """Per name an input, a node, a dim, an extent; each node sums its own input, scaled."""
    tensors = {}
    for n, name in enumerate(NAMES):
        i, k = tg.dim(name), tg.dim(f"{name}_")
        x = tg.input(f"{name}'", (2, 3))
        tensors[name] = tg.compute(name, i, tg.sum(x[i, k], over=k) * float(n + 1))
    return tg.Graph(tensors)


def test_every_name_keeps_its_own_values(compiled):
    data = {f"{name}'": np.arange(6.0).reshape(2, 3) + n for n, name in enumerate(NAMES)}
    for split in (1, 2):
        found = compiled(program(), split=split)(data)
        for n, name in enumerate(NAMES):
            assert found[name].tolist() == (data[f"{name}'"].sum(1) * (n + 1)).tolist(), name
