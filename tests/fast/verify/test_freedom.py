"""The enclosure of honest results in each format, and the hint at a shorter one."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator.rounding import round_to
from tang.interpreter import interpret
from tang.ir.format import format_named
from tang.verify.freedom import allowed, distances, stored
from tang.verify.precision_hint import shorter_format

i, j = tg.dims("i j")
X = tg.input("X", (12, 200))
SPEC = tg.Graph(s=tg.compute("s", (i,), tg.sum(X[i, j] * X[i, j], over=j)))
DATA = {"X": np.random.default_rng(4).standard_normal((12, 200)).astype(np.float16)}
WANT = interpret(SPEC, DATA)["s"]


def summed(format, order=1, lost=0):
    """Sums of squares with every operation rounded to a format, in either order."""
    total = np.zeros(12)
    for column in range(lost, 200)[::order]:
        value = DATA["X"][:, column].astype(np.float64)
        total = round_to(total + round_to(value * value, format), format)
    return total


def fits(got, format):
    return distances(got, allowed(SPEC, DATA, format_named(format))["s"])[0]


@pytest.mark.parametrize("format", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("order", [1, -1])
def test_every_order_of_summation_in_the_format_is_enclosed(format, order):
    assert fits(summed(format, order), format).all()


@pytest.mark.parametrize(("longer", "shorter"), [("f64", "f32"), ("f32", "f16"), ("f32", "bf16")])
def test_evaluations_in_a_shorter_format_are_not_enclosed(longer, shorter):
    assert fits(summed(shorter), longer).mean() < 0.25


def test_a_lost_term_is_not_enclosed_in_f32():
    assert not fits(summed("f32", lost=1), "f32").all()


def test_sums_of_dyadic_numbers_have_no_freedom_at_all():
    data = {"X": np.random.default_rng(4).integers(1, 9, (12, 200)) / 4}
    right = interpret(SPEC, data)["s"]
    bounds = allowed(SPEC, data)["s"]
    assert distances(right, bounds)[0].all()
    assert not distances(np.nextafter(right, 0), bounds)[0].any()


def test_an_output_may_be_rounded_once_more_to_its_storage():
    bounds = allowed(SPEC, DATA)["s"]
    short = round_to(WANT, "bf16")
    assert distances(short, bounds)[0].mean() < 0.25
    assert distances(short, stored(bounds, format_named("bf16")))[0].all()
    far = short + np.abs(short) * 2.0**-6
    assert not distances(far, stored(bounds, format_named("bf16")))[0].any()


def test_a_shorter_format_is_named_by_its_errors():
    assert shorter_format(SPEC, DATA, "s", summed("f16"), WANT, "f32") == "f16"
    assert shorter_format(SPEC, DATA, "s", summed("bf16"), WANT, "f32") == "bf16"
    assert shorter_format(SPEC, DATA, "s", summed("f32"), WANT, "f64") == "f32"


def test_other_faults_are_no_matter_of_format():
    one = WANT.copy()
    one[3] += 0.1
    for got in (WANT, summed("f32"), one, np.zeros(12), WANT * np.nan, summed("f32", lost=100)):
        assert shorter_format(SPEC, DATA, "s", got, WANT, "f32") == ""
