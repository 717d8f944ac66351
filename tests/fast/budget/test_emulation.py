"""Emulation: the schedule's bits, the fold's bits, and how far the second mislead."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import flint
import numpy as np
import pytest

import tang as tg
from tang.budget import compare_levels, emulate
from tang.errors import GraphError, ScheduleError
from tang.kernel.ir import F16, F32
from tang.kernel.schedule import NodeSchedule, Schedule

RNG = np.random.default_rng(11)
DATA = RNG.random((3, 256))


def sums():
    """Sums of rows, and which is above 128."""
    i, k = tg.dims("i k")
    x = tg.input("x", DATA.shape)
    y = tg.compute("y", (i,), tg.sum(x[i, k], over=k))
    return tg.Graph(y=y, large=tg.compute("large", (i,), y[i] > 128.0))


def tree(lanes=256):
    """Sums in f16 by a tree of lanes."""
    row = NodeSchedule(accumulate=F16, storage=F16, lanes=lanes, workgroup=256)
    return Schedule(nodes=(("y", row),))


def numpy_fold(x):
    """One element after the other in f16."""
    total = np.zeros(len(x), np.float16)
    for column in x.astype(np.float32).astype(np.float16).T:
        total = (total + column).astype(np.float16)
    return total


def numpy_tree(x):
    """Neighbours, then pairs of neighbours, in f16; 0 + x is where each lane starts."""
    level = x.astype(np.float32).astype(np.float16)
    while level.shape[1] > 1:
        level = (level[:, ::2] + level[:, 1::2]).astype(np.float16)
    return level[:, 0]


def test_the_level_schedule_follows_the_tree_of_lanes():
    got = emulate(sums(), {"x": DATA}, tree(), rules=())
    assert got["y"].dtype == np.float16
    assert np.array_equal(got["y"], numpy_tree(DATA))
    assert got["large"].dtype == np.bool_


def test_the_level_fold_takes_one_element_after_the_other():
    got = emulate(sums(), {"x": DATA}, tree(), "fold", rules=())
    assert np.array_equal(got["y"], numpy_fold(DATA))
    assert not np.array_equal(got["y"], numpy_tree(DATA))


def test_where_the_schedule_is_a_fold_both_levels_agree():
    for precision in ("f32", "bf16-acc", "fp8-e4m3", tree(lanes=1)):
        a, b = (emulate(sums(), {"x": DATA}, precision, level) for level in ("schedule", "fold"))
        assert np.array_equal(a["y"], b["y"])


def test_the_report_says_by_how_much_the_fold_misleads():
    found = compare_levels(sums(), {"x": DATA}, tree(), rules=())
    row = found.row("y.value")
    exact = DATA.astype(np.float32).astype(np.float64).sum(1)
    assert row.fold == np.abs(numpy_fold(DATA) - exact).max()
    assert row.schedule == np.abs(numpy_tree(DATA) - exact).max()
    assert row.misleads
    assert f"off by {row.fold / row.schedule:.3g} times" in row.sentence
    assert found.misleading == (row,)
    assert found.to_text().splitlines()[0].startswith("y.value: fold says")
    assert found.to_data()[0]["misleads"]


def test_the_report_of_equal_levels_says_so():
    found = compare_levels(sums(), {"x": DATA}, tree(lanes=1), rules=())
    assert found.misleading == ()
    assert "the same bits" in found.row("y.value").sentence


def rounded_once(name, x):
    """A function to 90 digits by Python's decimals or 300 bits by balls, then to f64."""
    if name in ("exp", "log"):
        with localcontext(prec=90):
            made = Decimal(x).exp() if name == "exp" else Decimal(x).ln()
        return float(made)
    with flint.ctx.workprec(300):
        ball = flint.arb(x)
        middle = (1 / (1 + (-ball).exp()) if name == "sigmoid" else getattr(ball, name)()).mid()
    mantissa, exponent = (int(part) for part in middle.man_exp())
    return float(Fraction(mantissa) * Fraction(2) ** exponent)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sigmoid", "erf"])
def test_exact_functions_are_rounded_correctly_in_f64(name):
    i, x = tg.dim("i"), tg.input("x", (200,))
    graph = tg.Graph(y=tg.compute("y", (i,), getattr(tg, name)(x[i])))
    data = np.random.default_rng(5).uniform(1e-3, 20, 200)
    got = emulate(graph, {"x": data}, "f64", math="exact", rules=())["y"]
    assert got.dtype == np.float64
    assert got.tolist() == [rounded_once(name, float(v)) for v in data]
    narrower = emulate(graph, {"x": data}, "f32", math="exact", rules=())["y"]
    assert narrower.dtype == np.float32
    with pytest.raises(ScheduleError, match="or emulate with math='exact'"):
        emulate(graph, {"x": data}, "f64", rules=())


def test_exact_functions_differ_from_portable_ones_by_ulps_alone():
    graph = tg.Graph(y=tg.exp(tg.input("x", (200,))))
    data = RNG.standard_normal(200) * 20
    a, b = (emulate(graph, {"x": data}, math=m)["y"] for m in ("portable", "exact"))
    assert np.abs(a - b).max() <= 2 * np.spacing(np.abs(b)).max()
    assert (a == b).mean() > 0.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"level": "tree"}, "level is one of schedule, fold"),
        ({"math": "native"}, "native functions belong to a device"),
        ({"precision": "f17"}, "unknown precision 'f17'"),
        ({"precision": {"version": 1, "nodes": {"q": {}}}}, "schedule names 'q'"),
        ({"precision": {"version": 1, "default": {"storage": "f99"}}}, "default.storage"),
    ],
    ids=["level", "math", "preset", "node", "format"],
)
def test_what_is_asked_wrongly_is_named(change, said):
    with pytest.raises(ScheduleError, match=said):
        emulate(sums(), {"x": DATA}, **{"precision": "f32", **change})


def test_data_that_does_not_fit_is_named():
    with pytest.raises(GraphError, match="no input 'z'"):
        emulate(sums(), {"x": DATA, "z": DATA}, "f32")


def test_emulate_is_a_function_of_the_package():
    assert tg.emulate is emulate
    assert tg.emulate(sums(), {"x": DATA}, Schedule())["y"].dtype == np.float32
    assert NodeSchedule().storage is F32
