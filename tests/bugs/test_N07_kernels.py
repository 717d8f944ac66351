"""N07, kernels: a variance is never negative, empty chunks change nothing, budgets see overflow.

flax#1491, pytorch#197089, tt-metal#45968.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.emulator.budget import ErrorBudget
from tang.kernel.ir import F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Verdict, verify

SPREAD = [((1e30, 2e30), 5e29), ((1e-30, 2e-30), 5e-31)]


def variance(n="n"):
    x = tg.input("x", (n,))
    return tg.Graph(var=tg.var(x), std=tg.sqrt(tg.var(x)))


@pytest.mark.parametrize("split", [1, 2, 3, 7, 20])
def test_equal_numbers_have_a_tiny_variance_that_is_not_negative(split, compiled):
    run = compiled(variance(), split=split)
    for value in (10000.1, -3.3e7, 1e-20):
        assert run({"x": np.full(7, value)})["var"] == 0


@pytest.mark.parametrize("split", [1, 2, 5])
@pytest.mark.parametrize(("x", "std"), SPREAD)
def test_f64_accumulation_gives_the_deviation(x, std, split, compiled):
    run = compiled(variance(), split=split, storage=F64, accumulate=F64)
    np.testing.assert_allclose(run({"x": np.array(x)})["std"], std, 1e-14)


@pytest.mark.parametrize(("x", "lost"), [(SPREAD[0][0], np.inf), (SPREAD[1][0], 0)])
def test_f32_loses_it_and_a_budget_says_so(x, lost, compiled):
    assert compiled(variance(2))({"x": np.array(x)})["var"] == lost
    data = {"x": np.array(x, np.float32)}
    narrow, wide = (Schedule(default=NodeSchedule(storage=r, accumulate=r)) for r in (F32, F64))
    budget = ErrorBudget(rel=1e-5)
    report = verify(variance(2), data, rules=(), schedule=narrow, budget=budget)
    assert report.verdicts() == (Verdict.OVER_BUDGET,), report.to_text()
    report = verify(variance(2), data, rules=(), schedule=wide, budget=budget)
    assert report.ok, report.to_text()


@pytest.mark.parametrize("split", [1, 2, 3, 5])
def test_elements_left_out_do_not_count(split, compiled):
    k = tg.dims(k=3)
    outputs = {}
    for start in (1, 3):
        w = tg.compute(f"w{start}", (), tg.welford(tg.input("x", (3,))[k], k, [k >= start]))
        outputs |= {f"{part}{start}": w.output(part) for part in ("n", "average", "variance")}
    found = compiled(tg.Graph(outputs), split=split)({"x": np.array([1e6, 3.0, 5.0])})
    assert (found["n1"], found["average1"], found["variance1"]) == (2, 4, 1)
    assert found["n3"] == 0
    assert np.isnan(found["average3"])
    assert np.isnan(found["variance3"])


def test_every_rung_agrees(verified):
    data = np.array([1.0, 2, 4, 7, 7, 1, 3], np.float32)
    cases = [(variance(), {"x": x}) for x in (data, np.full(7, np.float32(10000.1)))]
    verified(cases, splits=(1, 2, 20))
