"""Accuracies are measured on fixed arguments against balls, which mpmath confirms."""

from __future__ import annotations

import numpy as np
import pytest

from tang.device.arguments import COUNT, F64_FUNCTIONS, arguments_of
from tang.device.functions import accuracy_of
from tang.device.reference import error_by_mpmath, errors_of, truth_of
from tang.ir.format import format_named
from tang.kernel import ir as k
from tang.kernel.accuracy import FUNCTIONS, accuracy_from_data

FORMATS = [k.F32, k.F64, k.F16]


def rounded(op, t):
    """The fixed arguments of a function and its results in f64, rounded once."""
    args = arguments_of(op, t)
    with np.errstate(all="ignore"):
        wide = F64_FUNCTIONS[op](*(a.astype(np.float64) for a in args))
        return args, np.asarray(wide).astype(args[0].dtype)


@pytest.mark.parametrize("t", FORMATS, ids=[t.value for t in FORMATS])
@pytest.mark.parametrize("op", FUNCTIONS)
def test_a_function_has_a_fixed_set_of_sixteen_thousand_arguments_with_specials(op, t):
    args = arguments_of(op, t)
    assert all(a.size == COUNT == 2**14 for a in args)
    assert all(np.isnan(a).any() and np.isinf(a).any() and (a == 0).any() for a in args)
    arguments_of.cache_clear()
    again = arguments_of(op, t)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(args, again, strict=True))


@pytest.mark.parametrize("op", FUNCTIONS)
def test_correctly_rounded_results_are_half_an_ulp_off_at_most(op):
    args, got = rounded(op, k.F32)
    errors = errors_of(truth_of(op, args), got, format_named("f32"))
    assert errors.max() <= 0.5 + 1e-6
    assert errors.max() > 0.49  # near-ties are among the arguments


@pytest.mark.parametrize("op", FUNCTIONS)
def test_a_result_three_ulps_away_is_measured_as_such_at_its_argument(op):
    args, got = rounded(op, k.F32)
    clean = accuracy_of(f"f32 {op}", k.F32, got)
    assert clean.ulp <= 0.5001
    assert not clean.notes
    inside = (np.abs(np.frexp(got)[0]) > 0.6) & (np.abs(np.frexp(got)[0]) < 0.9)
    for a in args:
        inside &= (np.abs(a) > 1e-3) & (np.abs(a) < 1e3)
    place = int(np.flatnonzero(inside & (np.abs(got) < 1e3))[50])
    for _ in range(3):
        got[place] = np.nextafter(got[place], np.float32(np.inf))
    found = accuracy_of(f"f32 {op}", k.F32, got)
    assert 2.4 < found.ulp < 3.6
    assert found.at == tuple(float(a[place]) for a in args)


def test_mpmath_has_the_same_errors():
    args, got = rounded("exp2", k.F32)
    errors = errors_of(truth_of("exp2", args), got, format_named("f32"))
    usable = np.flatnonzero(np.isfinite(got) & (got > 2.0**-120) & (args[0] != 0))[::200]
    for i in usable:
        other = error_by_mpmath("exp2", [float(args[0][i])], float(got[i]), format_named("f32"))
        assert abs(other - errors[i]) < 1e-6


def test_flushed_results_and_wrong_specials_are_notes():
    _, got = rounded("exp2", k.F32)
    flushed = np.where(np.abs(got) < 2.0**-126, np.float32(0), got)
    assert accuracy_of("f32 exp2", k.F32, flushed).notes == ("subnormal results become 0",)
    lost = np.where(np.isnan(got), np.float32(1), got)
    (note,) = accuracy_of("f32 exp2", k.F32, lost).notes
    assert "specials are wrong: exp2(nan) = 1" in note


def test_the_reach_of_a_periodic_function_ends_where_it_is_lost():
    args, got = rounded("sin", k.F32)
    lost = np.where(np.abs(args[0]) > 2.0**20, np.float32(1), got)
    found = accuracy_of("f32 sin", k.F32, lost)
    assert found.reach == 2.0**20
    assert found.ulp <= 0.5001
    assert accuracy_from_data(found.to_data()) == found
