"""V06, programs: no program is served another's kernels (mlx#3832, Sarek#293, cubecl#1455)."""

from __future__ import annotations

import numpy as np

import tang as tg
from tang.kernel.ir import BF16, F32, F64

X = np.array([1.0, 2, 3.125, 1 / 3])


def program(factor):
    """The same names for every factor."""
    i = tg.dims("i")
    return tg.Graph(y=tg.compute("y", i, tg.input("x", ("n",))[i] * factor))


def test_same_names_with_other_constants_or_formats_are_other_programs(compiled):
    variants = [(f, t) for f in (2.0, 3.0) for t in (F32, F64, BF16)]
    runs = [compiled(program(f), storage=t, accumulate=t) for f, t in variants]
    assert len({run.kernels[0].text for run in runs}) == len(variants)
    results = [run({"x": X})["y"] for run in runs]
    for (factor, real), found in zip(variants, results, strict=True):
        unit = {F32: 2**-24, F64: 2**-53, BF16: 2**-8}[real]
        np.testing.assert_allclose(found, X * factor, 2 * unit)
    again = [run({"x": X})["y"] for run in reversed(runs)]
    for first, second in zip(results, reversed(again), strict=True):
        assert first.tobytes() == second.tobytes()


def test_one_program_keeps_its_sizes_apart(compiled):
    run = compiled(tg.Graph(s=tg.sum(tg.input("x", ("m", "n")), axis=0)))
    for shape in ((2, 3), (3, 2), (6, 1), (2, 3)):
        x = np.arange(6.0).reshape(shape)
        assert run({"x": x})["s"].tolist() == x.sum(0).tolist()
