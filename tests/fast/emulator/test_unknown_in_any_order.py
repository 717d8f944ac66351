"""Nothing is known of what another kernel may drive out of a format, or a zero's sign decides."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget.data_bounds import element_bounds
from tang.budget.emulation import folded
from tang.budget.report_samples import setting_of, stored_inputs
from tang.budget.report_tolerance import tolerances_of
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.narrow import E4M3FN, E5M2
from tang.kernel.schedule import NodeSchedule, Schedule

LARGEST = float(np.finfo(np.float32).max)
HALF_ULP = 2.0**-24


def bounds_of(written, storage=F32, accumulate=F32, math="any", **data):
    """The bound of every element of a map of vectors, and its f64 results."""
    i = tg.dim("i")
    reads = [tg.input(n, (len(x),))[i] for n, x in data.items()]
    graph = tg.Graph(y=tg.compute("y", i, written(*reads)))
    schedule = Schedule(default=NodeSchedule(storage=storage, accumulate=accumulate))
    arrays = {n: np.asarray(x, np.float64) for n, x in data.items()}
    setting = setting_of(graph, stored_inputs(graph, schedule, arrays))
    bounds = element_bounds(setting, folded(schedule), free=True, math=math)
    (output,) = graph.outputs
    return np.asarray(bounds[output.ref]), np.asarray(setting.exact[output.ref])


# --- overflow -------------------------------------------------------------------------------------


def test_a_product_that_overflows_in_another_order_has_no_bound():
    """(1 + u) + u is 1, and 1 + (u + u) is more: times the largest number that is infinite."""
    bound, _ = bounds_of(
        lambda a, b, c, d: ((a + b) + c) * d,
        a=[1.0, 1.0], b=[HALF_ULP] * 2, c=[HALF_ULP] * 2, d=[LARGEST / 2, LARGEST],
    )  # fmt: skip
    assert np.isfinite(bound).tolist() == [True, False]


@pytest.mark.parametrize("type_", [F64, F32, F16, BF16], ids=lambda t: t.value)
def test_the_largest_number_itself_stays_known(type_):
    largest = {F64: float(np.finfo(np.float64).max), F32: LARGEST, F16: 65504.0,
               BF16: (2 - 2.0**-7) * 2.0**127}[type_]  # fmt: skip
    for written in (lambda x: x * 1.0, lambda x: -x, lambda x: x + 0.0):
        bound, exact = bounds_of(written, type_, type_, x=[largest, -largest])
        assert np.isfinite(bound).all()
        assert np.abs(exact).tolist() == [largest] * 2


def test_what_is_stored_in_a_narrower_format_has_no_bound_where_it_may_round_beyond_it():
    """65504 is f16's largest number, and 65520 rounds to infinity."""
    x = np.array([65504.0, 65519.0, 65519.99, 65519.99])
    high = x.astype(np.float16).astype(np.float64)
    high[1:] = 65504.0
    rest = [0.0, 15.0, 15.99, 15.99 - 1.0]
    bound, _ = bounds_of(lambda a, b, c: (a + b) + c, F16, F32, a=high, b=rest, c=[0.0] * 4)
    assert np.isfinite(bound).tolist() == [True, True, True, True]
    tiny = [0.0, 0.0, 0.004, 0.0]
    bound, exact = bounds_of(lambda a, b, c: (a + b) + c, F16, F32, a=high, b=rest, c=tiny)
    assert np.float32(np.float32(high[2]) + np.float32(rest[2])) + np.float32(tiny[2]) < 65520
    assert exact[2] < 65520
    assert np.isfinite(bound).tolist() == [True, True, False, True]


def test_a_function_that_may_overflow_in_another_library_has_no_bound():
    bound, exact = bounds_of(tg.exp, x=[88.0, 88.72283])
    assert np.isfinite(exact).all()
    assert np.isfinite(bound).tolist() == [True, False]
    portable, _ = bounds_of(tg.exp, math="portable", x=[88.0, 88.72283])
    assert (portable[0] < bound[0]).all()


@pytest.mark.parametrize(("format_", "overflow", "known"), [
    (E5M2, "inf", False), (E4M3FN, "nan", False), (E4M3FN, "saturate", True),
])  # fmt: skip
def test_a_narrow_number_that_may_overflow_has_a_bound_only_where_it_saturates(
    format_, overflow, known
):
    """The second sum is just below the middle of the largest number and what would follow."""
    largest = float(format_.largest)
    half = 2.0 ** (format_.emax - format_.p)
    i = tg.dim("i")
    parts = [tg.input(n, (2,))[i] for n in "abc"]
    graph = tg.Graph(y=tg.compute("y", i, (parts[0] + parts[1]) + parts[2]))
    kept = NodeSchedule(storage=format_, overflow=overflow)
    schedule = Schedule(default=NodeSchedule(), nodes=(("y", kept),))
    data = {"a": [largest / 2, largest], "b": [half / 2, half], "c": [0.0, -half * 1.2e-6]}
    arrays = {n: np.asarray(x, np.float32) for n, x in data.items()}
    setting = setting_of(graph, arrays)
    bounds = element_bounds(setting, folded(schedule), free=True, math="any")
    (output,) = graph.outputs
    assert setting.exact[output.ref][1] < largest + half
    assert np.float32(largest + half) + np.float32(data["c"][1]) < largest + half
    assert np.isfinite(bounds[output.ref]).tolist() == [True, known]


# --- reciprocals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", [F32, F16, BF16], ids=lambda t: t.value)
def test_a_quotient_whose_reciprocal_is_no_normal_number_has_no_bound(type_):
    emin = -14 if type_ is F16 else -126
    y = [1.0, 2.0**-emin, 1.5 * 2.0**-emin, 2.0**emin, 2.0**emin / 4, -1.5 * 2.0**-emin]
    x = [1.0, 2.0, 2.0**-emin, 2.0**emin, 2.0**emin / 4, 2.0]
    known = [True, True, False, True, False, False]
    bound, _ = bounds_of(lambda a, b: a / b, type_, type_, a=x, b=y)
    assert np.isfinite(bound).tolist() == known
    portable, _ = bounds_of(lambda a, b: a / b, type_, type_, math="portable", a=x, b=y)
    assert np.isfinite(portable).all()


def test_a_bound_by_shape_says_nothing_of_a_reciprocal_that_is_no_normal_number():
    i = tg.dim("i")
    graph = tg.Graph(y=tg.compute("y", i, tg.input("a", (2,))[i] / tg.input("b", (2,))[i]))
    data = {"a": np.array([2.0, 2.0]), "b": np.array([3.0, 1.5 * 2.0**126])}
    (found,) = tolerances_of(graph, "f32", inputs=[data])
    assert np.isfinite(found.bound).tolist() == [True, False]
    (own,) = tolerances_of(graph, "f32", inputs=[data], math="portable")
    assert (own.kind, own.unknown) == ("shape", 0)


def test_quotients_that_are_nan_or_by_infinities_stay_known():
    x, y = [0.0, 1.0, np.inf, np.nan], [0.0, np.inf, np.inf, 1.0]
    bound, _ = bounds_of(lambda a, b: a / b, a=x, b=y)
    assert (bound < 1e-40).all()


# --- signs of zeros -------------------------------------------------------------------------------


def test_a_quotient_by_a_zero_has_no_bound_unless_it_is_no_number():
    """|−0| is −0 as it is printed, and +0 by fabs; max(−0, +0) is either."""
    bound, _ = bounds_of(lambda a, x: a / abs(x), a=[1.0, 1.0, 0.0], x=[0.0, -0.0, -0.0])
    assert bound.tolist() == [np.inf, np.inf, 0.0]
    bound, _ = bounds_of(lambda a, x: a / tg.maximum(x, 0.0), a=[1.0, 1.0], x=[-0.0, 2.0])
    assert np.isinf(bound).tolist() == [True, False]
    bound, _ = bounds_of(lambda a, x: a / abs(x), a=[1.0], x=[-0.0], math="portable")
    assert np.isinf(bound).all()


def test_an_angle_that_the_sign_of_a_zero_decides_has_no_bound():
    y, x = [-0.0, -0.0, 0.0, 0.0, -0.0, 1.0], [-1.0, 1.0, -1.0, -0.0, np.nan, -0.0]
    bound, _ = bounds_of(tg.atan2, a=y, b=x)
    assert np.isfinite(bound).tolist() == [False, True, False, False, True, True]


# --- NaN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["sum", "difference", "product", "quotient", "angle", "larger"])
def test_a_nan_makes_nan_of_whatever_is_beside_it(op):
    written = {
        "sum": lambda a, b: a * a + b, "difference": lambda a, b: b - a * a,
        "product": lambda a, b: a * a * b, "quotient": lambda a, b: b / (a * a - 1e8),
        "angle": lambda a, b: tg.atan2(a * a, b), "larger": lambda a, b: tg.maximum(a * a, b),
    }[op]  # fmt: skip
    bound, exact = bounds_of(written, F16, F16, a=[300.0, 1.0], b=[1.0, np.nan])
    assert np.isfinite(exact).tolist() == [True, False]
    bound, exact = bounds_of(written, F16, F16, a=[300.0, 300.0], b=[1.0, np.nan])
    assert bound[1] == 0
    assert np.isinf(bound[0])


def test_a_sum_with_a_nan_is_nan_wherever_others_overflow():
    x, k = tg.input("x", (4,)), tg.dim("k")
    graph = tg.Graph(y=tg.compute("y", (), tg.sum(x[k], over=k)))
    schedule = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    for terms in ([4e4, 4e4, np.nan, 3.0], [np.nan, 4e4, 4e4, 3.0], [4e4, 4e4, 3.0, np.nan]):
        setting = setting_of(graph, stored_inputs(graph, schedule, {"x": np.array(terms)}))
        bounds = element_bounds(setting, folded(schedule), free=True)
        assert bounds[graph.outputs[0].ref] == 0
