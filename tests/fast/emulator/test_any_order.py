"""The domain `any order`: no schedule of these formats exceeds its bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from certified import drawn
from certified_programs import PROGRAMS, schedule_of

import tang as tg
from tang.budget.data_bounds import element_bounds
from tang.budget.emulation import folded
from tang.budget.report_samples import setting_of, stored_inputs
from tang.emulator.any_order import any_order
from tang.errors import BudgetError
from tang.ir.bind import bind
from tang.ir.expr import REAL
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule

ORDERS = {"chain": {}, "split": {"split": 3}, "both": {"split": 2, "lanes": 8}}
CASES = [
    ("matmul", "f32"), ("matmul", "f16"), ("matmul", "bf16"), ("matmul", "e4m3-accumulate"),
    ("matmul", "tf32-rz"), ("softmax", "f16"), ("softmax", "e4m3-storage"), ("layer-norm", "f32"),
    ("layer-norm", "f16"), ("variance", "e5m2"), ("causal-attention", "f16-storage"),
    ("attention", "bf16"), ("online-softmax", "f16"), ("functions", "f16"), ("decisions", "bf16"),
    ("gathered", "tf32-rz"), ("product", "f32"), ("unknown-monoid", "f16"),
]  # fmt: skip


def in_order(graph, schedule, order):
    """The schedule with every reduction in another order."""
    chosen = schedule.by_name(graph)
    folds = {n.name for n in graph.nodes if n.monoid is not None}
    nodes = ((n, replace(s, **ORDERS[order]) if n in folds else s) for n, s in chosen.items())
    return replace(schedule, nodes=tuple(nodes))


def bounds_and_setting(graph, schedule, data, *, free=True, math="portable"):
    """The setting of data as they are stored, and the bound of every real output."""
    setting = setting_of(graph, stored_inputs(graph, schedule, data))
    bounds = element_bounds(setting, folded(schedule), free=free, math=math)
    return setting, {o.ref: bounds[o.ref] for o in graph.outputs if graph.sort(o.ref) is REAL}


@pytest.mark.parametrize(("program", "formats"), CASES, ids=["-".join(c) for c in CASES])
def test_every_order_stays_within_the_bounds_of_the_chain(program, formats):
    graph, sizes, ranges = PROGRAMS[program]()
    bound = bind(graph, sizes) if sizes else graph
    schedule = schedule_of(bound, formats)
    for style in ("uniform", "adversarial"):
        data = drawn(bound, {}, ranges, 1, style)
        setting, bounds = bounds_and_setting(bound, schedule, data)
        for order in ORDERS:
            chosen = in_order(bound, schedule, order)
            got = tg.emulate(bound, setting.inputs, chosen, rules=())
            for o in bound.outputs:
                if o.ref in bounds:
                    within(got[o.name], setting.exact[o.ref], bounds[o.ref], (order, o.name))


def within(value, exact, bound, where):
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(value, np.float64) - exact)
        same = (value == exact) | (np.isnan(value) & np.isnan(exact))
    assert (same | (error <= bound) | np.isinf(bound)).all(), (where, error.max(), bound.max())


def total_of(terms):
    """A sum of so many terms, as a program."""
    i, k = tg.dims("i k")
    return tg.Graph(y=tg.compute("y", (i,), tg.sum(tg.input("x", (1, terms))[i, k], over=k)))


def chain(x, dtype):
    """The sum of a row, one term after the other."""
    total = dtype(0)
    for term in x.astype(dtype):
        total = dtype(total + term)
    return float(total)


@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=["f32", "f16"])
def test_a_sum_that_cancels_breaks_the_bound_of_one_order_and_not_that_of_all(dtype):
    """Forwards partial sums are 1 at most; positive terms first, what exceeds 1 in them is lost."""
    x = np.tile([1 + 16 * float(np.finfo(dtype).eps), -1.0], 128)[None]
    schedule = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    schedule = schedule if dtype is np.float16 else Schedule()
    setting, free = bounds_and_setting(total_of(256), schedule, {"x": x})
    _, fixed = bounds_and_setting(total_of(256), schedule, {"x": x}, free=False)
    (ref,) = free
    exact = setting.exact[ref][0]
    forwards = abs(chain(x[0], dtype) - exact)
    sorted_ = abs(chain(np.sort(x[0])[::-1], dtype) - exact)
    assert forwards <= fixed[ref][0] < free[ref][0]
    assert fixed[ref][0] < sorted_ <= free[ref][0]


def test_a_decision_that_another_order_may_take_otherwise_has_no_bound():
    x, i, k = tg.input("x", (2, 64)), tg.dim("i"), tg.dim("k")
    total = tg.compute("total", (i,), tg.sum(x[i, k], over=k))
    graph = tg.Graph(y=tg.compute("y", (i,), tg.select(total[i] < 1.0, 5.0, 7.0)))
    near = np.random.default_rng(1).standard_normal(64)
    near[0] += 1 + 1e-6 - near.sum()
    data = {"x": np.stack([near, np.ones(64)])}
    _, free = bounds_and_setting(graph, Schedule(), data)
    _, fixed = bounds_and_setting(graph, Schedule(), data, free=False)
    (bound,), (alone,) = free.values(), fixed.values()
    assert np.isinf(bound[0])
    assert bound[1] == alone[1] == 0


def test_a_sum_that_overflows_in_some_order_has_no_bound_and_its_storage_may():
    x = np.tile([1000.0, -1000.0], 100)[None]
    narrow = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    stored = Schedule(default=NodeSchedule(storage=F16))
    for schedule, data, finite in ((narrow, x, False), (narrow, x / 8, True), (stored, x, True)):
        _, free = bounds_and_setting(total_of(200), schedule, {"x": data})
        (bound,) = free.values()
        assert np.isfinite(bound).all() == finite


def test_a_maximum_less_its_own_operand_is_exact_and_shares_keep_their_bounds():
    x = tg.input("x", (3, 9))
    graph = tg.Graph(y=tg.softmax(x, axis=1))
    data = {"x": np.random.default_rng(2).standard_normal((3, 9)) * 3}
    _, free = bounds_and_setting(graph, Schedule(), data)
    (bound,) = free.values()
    assert bound.max() < 1e-5


def test_functions_of_a_language_have_the_errors_that_it_documents():
    i = tg.dim("i")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.exp(tg.input("x", (5,))[i])))
    data = {"x": np.linspace(-1, 1, 5)}
    own, opencl = (
        next(iter(bounds_and_setting(graph, Schedule(), data, math=m)[1].values()))
        for m in ("portable", "opencl")
    )
    assert (own < opencl).all()
    assert (opencl < 1e-6).all()
    with pytest.raises(BudgetError, match="math is one of portable"):
        any_order("fortran")


@pytest.mark.parametrize(("terms", "known"), [
    ([1e4, 2e4, -np.inf, 3.0], True), ([4e4, 4e4, -np.inf, 3.0], False),
    ([4e4, 2.0, np.nan, 3.0], True), ([np.inf, 1.0, -np.inf, 3.0], True),
], ids=["infinity", "overflow-beside-infinity", "nan", "both-infinities"])  # fmt: skip
def test_an_infinite_term_hides_no_overflow_of_the_others(terms, known):
    x, k = tg.input("x", (4,)), tg.dim("k")
    graph = tg.Graph(y=tg.compute("y", (), tg.sum(x[k], over=k)))
    half = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    _, bounds = bounds_and_setting(graph, half, {"x": np.array(terms)})
    assert (bounds[graph.outputs[0].ref] == 0) == known
