"""One name for certificates of every strength, and each weaker than what is known more of."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget import DataCertificate, certify, check_certificate
from tang.emulator import Certificate
from tang.errors import BudgetError, GraphError, ScheduleError

RNG = np.random.default_rng(2)
DATA = {"x": RNG.random((4, 64)).astype(np.float32)}


def sums():
    """Sums of rows."""
    i, k = tg.dims("i k")
    return tg.Graph(y=tg.compute("y", (i,), tg.sum(tg.input("x", (4, 64))[i, k], over=k)))


def test_the_strength_follows_what_is_known_of_the_inputs():
    data = certify(sums(), "f16", inputs=DATA, seed=2)
    ranged = certify(sums(), "f16", {"x": (0.0, 1.0)})
    shape = certify(sums(), "f16")
    assert isinstance(data, DataCertificate)
    assert isinstance(ranged, Certificate)
    assert (data.strength, ranged.strength, shape.strength) == ("data", "range", "shape")
    assert data.seed == 2
    assert data.row("y").error <= data.row("y").bound <= ranged.bound("y").error


def test_certificates_of_every_strength_have_a_text():
    ranged, shape = certify(sums(), "f16", {"x": (1.0, 2.0)}), certify(sums(), "f16")
    first, *_ = ranged.to_text().splitlines()
    assert first.startswith("y.value (f16): |computed - exact| <= ")
    assert first.endswith(
        "of values in [64, 128]; cannot overflow, cannot underflow, cannot be NaN"
    )
    assert "at most" not in shape.to_text().splitlines()[0]
    assert "; assumed not to overflow, " in shape.to_text()
    assert certify(sums(), "f16", inputs=DATA).to_text().startswith("y.value (f16): error ")


def test_symbols_take_their_sizes_where_no_data_tells():
    i, k = tg.dims("i k")
    x = tg.input("x", (4, "n"))
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k], over=k)))
    small, large = (certify(graph, "f32", {"x": (0, 1)}, sizes={"n": n}) for n in (8, 800))
    assert small.bound("y").error < large.bound("y").error
    with pytest.raises(BudgetError, match="give a size for n"):
        certify(graph, "f32", {"x": (0, 1)})


def test_a_certificate_of_a_precision_is_checked_with_it():
    made = certify(sums(), "f16", {"x": (0.0, 1.0)})
    assert check_certificate(made, sums(), "f16")
    assert check_certificate(made, sums(), "bf16").message.startswith("schedule: ")


def test_inputs_outside_their_range_are_named():
    with pytest.raises(BudgetError, match=r"input 'x' holds .* at \[.*\], outside its stated"):
        certify(sums(), "f32", {"x": (0.0, 0.5)}, DATA)
    with pytest.raises(BudgetError, match="a range names 'z'"):
        certify(sums(), "f32", {"z": (0.0, 0.5)}, DATA)


def test_what_makes_no_sense_together_is_refused():
    with pytest.raises(BudgetError, match="freedom is for ranges"):
        certify(sums(), "f32", inputs=DATA, freedom="wgsl")
    with pytest.raises(ScheduleError, match="unknown precision"):
        certify(sums(), "f33")


def test_certify_is_a_function_of_the_package():
    assert tg.certify is certify


@pytest.mark.parametrize("span", [3, (0, 1, 2), ("a", 1), (1, 0), (0, np.inf)], ids=repr)
def test_a_range_that_is_none_is_refused_by_name(span):
    with pytest.raises(BudgetError, match="the range of 'x' is"):
        certify(sums(), "f32", {"x": span}, DATA)
    with pytest.raises(BudgetError, match="the range of 'x' is"):
        certify(sums(), "f32", {"x": span})


def test_sizes_of_no_symbol_are_refused_in_every_strength():
    x = tg.input("x", ("n",))
    graph = tg.Graph(y=tg.sum(x, axis=0))
    sizes, inputs = {"n": 4}, {"x": np.ones(4)}
    for given in ({}, {"ranges": {"x": (0.0, 1.0)}}, {"inputs": inputs}):
        certify(graph, "f32", sizes=sizes, **given)
        with pytest.raises(GraphError, match=r"sizes name 'm', which is no symbol .* one of n"):
            certify(graph, "f32", sizes=sizes | {"m": 3}, **given)
