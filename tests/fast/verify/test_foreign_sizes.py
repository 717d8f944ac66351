"""The choice of sizes and data for a foreign kernel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.ir.graph import Fact
from tang.verify.foreign.cases import cases_of, chosen_sizes, dyadic
from tang.verify.foreign.launch import LaunchError, load_launch

i, j = tg.dims("i j")
x = tg.input("x", ("N",))
ONE = tg.Graph(y=tg.compute("y", (i,), x[i] + 1))
m = tg.input("m", ("R", "C"))
TWO = tg.Graph(y=tg.compute("y", (i, j), m[i, j] + 1))


def launch(graph, tensor, **more):
    parameters = [{"tensor": tensor}, {"tensor": "y", "access": "out"}]
    return load_launch({"kernel": "k", "parameters": parameters, **more}, graph)


def sizes_of(graph, how):
    return [dict(s) for s in chosen_sizes(graph, how, None)]


def test_one_symbol_is_tried_around_the_workgroup():
    found = [s["N"] for s in sizes_of(ONE, launch(ONE, "x", workgroup=[64]))]
    assert 64 in found
    assert 65 in found
    assert any(n > 64 and n % 64 for n in found)
    assert any(n < 64 for n in found)


def test_several_symbols_differ_from_each_other():
    found = sizes_of(TWO, launch(TWO, "m", workgroup=[8, 8]))
    assert len(found) >= 4
    assert all(s["R"] != s["C"] for s in found)


def test_declared_facts_are_kept():
    graph = replace(ONE, facts=(Fact("N", minimum=8, maximum=96, multiple=8),))
    for sizes in sizes_of(graph, launch(graph, "x", workgroup=[64])):
        assert sizes["N"] % 8 == 0
        assert 8 <= sizes["N"] <= 96


def test_sizes_without_a_launch_are_left_out():
    for sizes in sizes_of(ONE, launch(ONE, "x", grid=["N/5"], workgroup=[64])):
        assert sizes["N"] % 5 == 0
    with pytest.raises(LaunchError, match="no size for N"):
        sizes_of(ONE, launch(ONE, "x", grid=["1/(N+1)"]))


def test_the_description_and_the_caller_come_first():
    how = launch(ONE, "x", sizes=[{"N": 7}])
    assert sizes_of(ONE, how) == [{"N": 7}]
    assert chosen_sizes(ONE, how, {"N": 3}) == [{"N": 3}]


def test_the_first_size_runs_twice_with_other_data():
    first, second, *_ = cases_of(ONE, launch(ONE, "x"), None, None, 0, False)
    assert first.sizes == second.sizes
    assert second.previous is first
    assert not (first.inputs["x"] == second.inputs["x"]).any()


def test_dyadic_data_are_quarters_and_never_zero():
    data = dyadic({"x": np.zeros(500, np.float32), "n": np.arange(3)}, 1)
    assert (data["x"] * 4 == np.rint(data["x"] * 4)).all()
    assert (np.abs(data["x"]) <= 8).all()
    assert data["x"].all()
    assert (data["n"] == np.arange(3)).all()
