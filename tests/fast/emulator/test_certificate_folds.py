"""Folds of nothing, of few, of ties and of other identities: what is said of them holds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from forging import judged, last, made, refused, with_step

import tang as tg
from tang.emulator import certify, check_certificate
from tang.ir import monoids
from tang.ir.expr import apply, real
from tang.kernel.ir import F16, F32
from tang.kernel.narrow import E2M1, E2M3, E3M2, E4M3FN
from tang.kernel.schedule import NodeSchedule, Schedule

i, k = tg.dim("i", 2), tg.dim("k", 2)
a = tg.input("a", (2,))


@pytest.mark.parametrize("mask", [lambda: [k < i], lambda: [k <= i]], ids=["empty", "causal"])
def test_a_sum_of_exponentials_of_nothing_is_zero(mask):
    m = tg.compute("m", (i,), tg.max(a[k], over=k, where=mask()))
    s = tg.compute("s", (i,), tg.sum(tg.exp(a[k] - m[i]), over=k, where=mask()))
    graph = tg.Graph(y=tg.compute("y", (i,), 1.0 / s[i]))
    bound, exact, _ = judged(graph, Schedule(), {"a": (1.0, 2.0)}, {"a": np.array([1.0, 2.0])})
    assert math.isfinite(bound.error) == np.isfinite(exact).all()


@pytest.mark.parametrize(("format_", "kept"), [(E2M1, False), (E3M2, True), (F32, True)])
def test_a_count_is_exact_only_where_its_format_holds_it(format_, kept):
    """e2m1 has no 5."""
    r, v = tg.dim("r", 5), tg.input("v", (5,))
    w = tg.compute("w", (), tg.welford(v[r], over=r))
    graph = tg.Graph(y=w.output("n"))
    schedule = Schedule(nodes=(("w", NodeSchedule(accumulate=format_)),))
    bound, exact, found = judged(graph, schedule, {"v": (1.0, 1.0)}, {"v": np.ones(5)})
    assert (bool(exact == found), bound.error < 1e-6) == (kept, kept)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("name", ["prod", "sum", "max", "logsumexp", "l", "mass"])
def test_folds_of_infinities_alone_are_what_is_named(name, value):
    """Of three numbers: −∞ three times multiplied is −∞, two of which are ∞."""
    r, v = tg.dim("r", 3), tg.input("v", (3,))
    x = tg.select(v[r] < 5.0, value, v[r])
    if name in ("l", "mass"):
        fold = tg.online_softmax(x, v[r], over=r) if name == "l" else tg.logsumexp(x, over=r)
        graph = tg.Graph(y=tg.compute("w", (), fold).output("l"))
    else:
        graph = tg.Graph(y=tg.compute("y", (), getattr(tg, name)(x, over=r)))
    judged(graph, Schedule(), {"v": (1.0, 2.0)}, {"v": np.array([1.0, 1.5, 2.0])})


# --- winners --------------------------------------------------------------------------------------

r = tg.dim("r", 5)
keys, floats = tg.input("keys", (5,)), tg.input("floats", (5,))
RANGES = {"keys": (0.0, 1.0), "floats": (1.0, 2.0)}


@pytest.mark.parametrize("name", ["ARGMAX", "ARGMIN"])
def test_the_index_of_a_winner_is_as_inexact_as_indices_are(name):
    """⌊0.7·100·b⌋ is 70 for b = 1 + 2/140, and 71 was computed; the keys are exact."""
    at = tg.index(floats[r] * 0.7 * 100.0)
    node = tg.compute("w", (), tg.reduce(getattr(monoids, name), keys[r], at, over=r))
    graph = tg.Graph(y=node.output("index"))
    data = {"keys": np.arange(5) / 5, "floats": 1 + np.array([2, 8, 16, 18, 24]) / 140}
    bound, _, _ = judged(graph, Schedule(), RANGES, data)
    assert bound.error >= 1
    honest = made(node, RANGES)
    n = last(honest, "winner")
    claim = replace(honest.steps[n].claim, absolute=0.0)
    refused(with_step(honest, n, claim), f"step {n} (winner): its absolute error is too small")


def test_a_top_k_by_indices_that_are_no_positions_has_no_bound():
    """Of two elements with one key and one index neither comes first, and both are lost."""
    data = {"keys": np.zeros(5), "floats": np.ones(5)}
    for at, known in ((r, True), (4 - r, True), (r // 2, False), (tg.index(floats[r]), False),
                      (r - 1, False)):  # fmt: skip
        node = tg.compute("w", (), tg.reduce(monoids.top_k(2), keys[r], at, over=r))
        graph = tg.Graph(y=node.output("values"))
        given = {n.name: data[n.name] for n in graph.inputs}
        bound, _, _ = judged(graph, Schedule(), {n: RANGES[n] for n in given}, given)
        assert math.isfinite(bound.error) == known, at


# --- other identities -----------------------------------------------------------------------------


def test_a_fold_from_another_identity_is_none_of_the_known_ones():
    largest = tg.monoid(
        "largest", {"v": "real"}, lift=lambda x: {"v": tg.absolute(x)},
        combine=lambda x, y: {"v": tg.maximum(x.v, y.v)}, identity={"v": 0.0},
    )  # fmt: skip
    node = tg.compute("w", (i,), tg.reduce(largest, a[k], over=k, where=[k < i]))
    data = {"a": np.array([1.0, 2.0])}
    _, exact, _ = judged(tg.Graph(y=node), Schedule(), {"a": (1.0, 2.0)}, data)
    assert exact[0] == 0
    odd = replace(monoids.WELFORD, identity=(real(0), real(7), real(3)))
    node = tg.compute("w", (i,), tg.reduce(odd, a[k], over=k, where=[k < i])).output("mean")
    _, exact, _ = judged(tg.Graph(y=node), Schedule(), {"a": (1.0, 2.0)}, data)
    assert exact[0] == 7


# --- softmax of masked elements -------------------------------------------------------------------


@pytest.mark.parametrize("stored", [False, True], ids=["one", "peak"])
@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@pytest.mark.parametrize("low", [-math.inf, -9.0])
def test_a_sum_of_exponentials_of_minus_infinity_alone_is_zero(low, guarded, stored):
    x = tg.select(a[k] < 1.5, low, a[k])
    m = tg.compute("m", (), tg.max(x, over=k))
    top = tg.select(m[()] == -math.inf, 0.0, m[()]) if guarded else m[()]
    e = tg.exp(x - top)
    e = tg.compute("e", (k,), e)[k] if stored else e
    s = tg.compute("s", (), tg.sum(e, over=k))
    graph = tg.Graph(y=tg.compute("y", (), tg.select(s[()] < 0.5, 9.0, 1 / s[()])))
    for values in ([1.0, 1.25], [1.0, 2.0]):
        bound, _, _ = judged(graph, Schedule(), {"a": (1.0, 2.0)}, {"a": np.array(values)})
    assert math.isfinite(bound.error) == (low > -10 or not guarded)


def test_a_masked_softmax_holds_where_rows_have_no_element():
    x, mask = tg.input("x", (2, 3)), tg.input("mask", (2, 3), sort="bool")
    graph = tg.Graph(y=tg.masked_softmax(x, mask))
    data = {"x": np.array([[1.0, 0, -1], [1, 1, 0.5]]),
            "mask": np.array([[0, 0, 0], [1, 0, 1]], bool)}  # fmt: skip
    judged(graph, Schedule(), {"x": (-1.0, 1.0), "mask": (0.0, 1.0)}, data)


# --- ends that f64 cannot hold --------------------------------------------------------------------


@pytest.mark.parametrize("fold", ["square", "welford"])
def test_squares_below_all_numbers_of_f64_are_certified_and_accepted(fold):
    x = tg.exp2(-keys[r])
    y = tg.sum(x * x, over=r) if fold == "square" else tg.welford(x, over=r)
    made(tg.compute("y", (), y), {"keys": (700.0, 709.0)})


def test_a_number_that_is_least_but_for_what_f64_drops_may_underflow():
    schedule = Schedule(default=NodeSchedule(storage=E2M3, accumulate=E2M3))
    graph = tg.Graph(y=tg.compute("y", (i,), -tg.compute("x", (i,), -a[i])[i]))
    found = certify(graph, schedule, {}, {"a": (-2.0, -1.0)}, freedom="wgsl")
    checked = check_certificate(found, graph, schedule)
    assert checked, checked.message


def test_a_variance_of_nothing_of_any_size_is_accepted():
    none, v = tg.dim("none", 0), tg.input("v", (0,))
    y = tg.compute("y", (), tg.welford(v[none] / v[none], over=none))
    for ranges in ({"v": (-1.0, 1.0)}, None):
        made(y, ranges)


# --- what is no relation --------------------------------------------------------------------------


@pytest.mark.parametrize("more", [False, True])
def test_two_conditions_that_become_one_are_one(more):
    """The maximum over k ≤ i and k ≤ j is read at j = i, and the sum leaves others out."""
    p, q, s = tg.dim("p", 3), tg.dim("q", 3), tg.dim("s", 3)
    v = tg.input("v", (3,))
    m = tg.compute("m", (p, q), tg.max(v[s], over=s, where=[s <= p, s <= q]))
    mask = [s <= p, s >= p] if more else [s <= p]
    total = tg.compute("total", (p,), tg.sum(tg.exp(v[s] - m[p, p]), over=s, where=mask))
    small = tg.select(total[p] < 0.5, v[p] * 0.1, 0.0)
    graph = tg.Graph(y=tg.compute("y", (p,), small))
    bound, _, _ = judged(graph, Schedule(), {"v": (-5.0, 5.0)}, {"v": np.array([5.0, -5.0, 2.0])})
    assert (bound.lo == bound.hi == 0) == (not more)


@pytest.mark.parametrize("change", ["mean", "variance", ""])
def test_other_outputs_of_a_welford_are_no_mean_and_no_variance(change):
    mean, spread = monoids.WELFORD.project
    other = {"mean": (apply("mul", mean, real(3)), spread), "": (mean, spread),
             "variance": (mean, apply("mul", spread, real(0.01)))}[change]  # fmt: skip
    own = replace(monoids.WELFORD, project=other)
    v = tg.input("v", (5,))
    t = tg.compute("t", (), tg.reduce(own, v[r], over=r))
    e = (v[r] - t[()]) / tg.sqrt(t.output("variance")[()] + 1e-5)
    graph = tg.Graph(y=tg.compute("y", (r,), e))
    data = {"v": np.array([-1.0, 1.0, 1.5, 3.0, -3.0])}
    bound, _, _ = judged(graph, Schedule(), {"v": (-3.0, 3.0)}, data)
    assert (bound.hi < 5**0.5 + 1e-9) == (not change)


def test_a_top_k_of_other_lifts_has_no_bound():
    own = monoids.top_k(2)
    for factor, known in ((1, True), (3, False)):
        value = apply("mul", own.lift[0], real(factor)) if factor > 1 else own.lift[0]
        changed = replace(own, lift=(value, own.lift[1]))
        node = tg.compute("w", (), tg.reduce(changed, keys[r], r, over=r))
        graph = tg.Graph(y=node.output("values"))
        bound, _, _ = judged(graph, Schedule(), {"keys": (0.0, 1.0)}, {"keys": np.arange(5) / 8})
        assert math.isfinite(bound.error) == known


@pytest.mark.parametrize(("overflow", "known"), [("nan", False), ("saturate", True)])
def test_a_mean_asks_for_less_than_an_infinity_that_may_be_nan(overflow, known):
    """With NaN for ∞ the combine of Welford takes every difference for an infinite one."""
    node = NodeSchedule(storage=F32, accumulate=E4M3FN, overflow=overflow)
    w = tg.compute("w", (), tg.welford(a[k], over=k))
    bound, exact, _ = judged(tg.Graph(y=w.output("mean")), Schedule(nodes=(("w", node),)),
                             {"a": (6.0, 6.0)}, {"a": np.array([6.0, 6.0])})  # fmt: skip
    assert (exact, math.isfinite(bound.error)) == (6, known)


def test_what_may_be_nan_or_a_number_need_not_equal_itself():
    """Beyond f16 an input is NaN, of which e2m3 makes a number."""
    node = NodeSchedule(storage=E2M3, accumulate=E2M3)
    default = NodeSchedule(storage=F16, accumulate=F32, overflow="nan")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.select(a[i] == a[i], 1.0, 0.0)))
    schedule = Schedule(nodes=(("y", node),), default=default)
    data = {"a": np.array([np.nan, np.nan])}
    bound, _, _ = judged(graph, schedule, {"a": (3e38, 3.1e38)}, data)
    assert bound.vacuous
