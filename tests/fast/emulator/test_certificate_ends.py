"""Ends of claims where f64 rounds, overflows or underflows: what is made of them still holds."""

import math
from fractions import Fraction

import pytest

import tang.frontend as tg
from tang.budget import emulate
from tang.emulator import certify, check_certificate
from tang.emulator.ranges_numbers import LARGEST, TINY, claim, times, whole_ends
from tang.frontend import Graph, compute, dim, input
from tang.frontend.attention import attention
from tang.interpreter import interpret
from tang.ir.format import custom_format
from tang.kernel.schedule import NodeSchedule, Schedule

FULL = (-(2**31), 2**31 - 1)


def _checked(graph, ranges):
    """The claims of the last node, for either dialect, after the checker has agreed."""
    found = []
    for dialect in ("portable", "any"):
        certificate = certify(graph, Schedule(), {}, ranges, math=dialect)
        checked = check_certificate(certificate, graph, Schedule())
        assert checked, checked.message
        found.append(certificate.nodes[-1])
    return found


@pytest.mark.parametrize("ranges", [{"ix": FULL}, {"ix": (2**30 + 1, FULL[1])}, {}, None])
@pytest.mark.parametrize(
    ("make", "value"),
    [
        (lambda v: v * v + 1, lambda n: n * n + 1),
        (lambda v: v * v // 3, lambda n: n * n // 3),
        (lambda v: v * v * v * v - v, lambda n: n**4 - n),
    ],
    ids=["square", "quotient", "fourth"],
)
def test_indices_that_f64_cannot_hold_lie_within_their_ends(make, value, ranges):
    ix, i = input("ix", (4,), "index"), dim("i", 4)
    graph = Graph(y=compute("y", (i,), make(ix[i])))
    lo, hi = (ranges or {}).get("ix", FULL)
    for bound in _checked(graph, ranges):
        for n in (lo, hi):
            assert Fraction(bound.lo) <= value(n) <= Fraction(bound.hi)


def test_whole_ends_move_only_where_f64_may_have_rounded():
    assert whole_ends(-(2.0**53), 2.0**53) == (-(2.0**53), 2.0**53)
    lo, hi = whole_ends(2.0**60, 2.0**60)
    assert lo < 2**60 < hi
    assert whole_ends(math.inf, math.inf) == (LARGEST, math.inf)


@pytest.mark.parametrize("far", [None, 1.0, 1e30])
def test_causal_attention_of_any_inputs_has_a_certificate_that_holds(far):
    q, k, v = input("q", (6, 8)), input("k", (7, 8)), input("v", (7, 4))
    graph = Graph(y=attention(q, k, v, causal=True))
    _checked(graph, {} if far is None else dict.fromkeys("qkv", (-far, far)))


@pytest.mark.parametrize("ends", [(-1e61, 1.0), (-1e61, -1e60), (-1e61, -1e61), (-800, -790)])
def test_an_exponential_that_f64_cannot_hold_is_small_and_not_negative(ends):
    a, i = input("a", (4,)), dim("i", 4)
    graph = Graph(y=compute("y", (i,), tg.exp(a[i])))
    for bound in _checked(graph, {"a": ends}):
        assert bound.lo == 0 < bound.hi


@pytest.mark.parametrize("factor", [3.0, -3.0])
def test_ends_beyond_f64_are_bounds_of_the_other_side_too(factor):
    a, i = input("a", (4,)), dim("i", 4)
    graph = Graph(y=compute("y", (i,), tg.exp(a[i]) * factor))
    for bound in _checked(graph, {"a": (800, 900)}):
        near, far = sorted((bound.lo, bound.hi), key=abs)
        assert (near, far) == (math.copysign(LARGEST, factor), math.copysign(math.inf, factor))
        assert bound.vacuous


def test_a_claim_keeps_finite_ends_of_infinite_ones_unless_it_is_empty():
    assert claim((math.inf, math.inf), (0.0, 0.0)).lo == LARGEST
    assert claim((-math.inf, -math.inf), (0.0, 0.0)).hi == -LARGEST
    assert claim((math.inf, -math.inf), (0.0, 0.0)).empty


@pytest.mark.parametrize(
    "factors",
    [
        (TINY, 0.0417, 22725.0),
        (1e-200, 1e-200, 1e300),
        (3e-162, 5e-162, 1e20),
        (TINY, 1.49, 1e300),
        (1e-300, 1e-10, 1e-13, 1e25, 1e10),
        (0.1, 0.2, 0.3),
    ],
)
def test_a_product_that_underflows_on_the_way_is_still_bounded_above(factors):
    exact = math.prod(Fraction(x) for x in factors)
    assert Fraction(times(*factors)) >= exact


def test_a_product_that_does_not_underflow_is_moved_by_its_rounding_alone():
    assert times(0.5, 0.25, 2.0**-900) == 2.0**-903 * (1 + 2.0**-46)


@pytest.mark.parametrize(("p", "emin", "exact"), [(4, 3, True), (3, 5, False), (8, -3, True)])
def test_whole_numbers_are_rounded_where_the_least_number_of_a_format_is_larger_than_1(
    p, emin, exact
):
    own = custom_format("own", p=p, emin=emin, largest=7 * 2.0**12)
    schedule = Schedule(default=NodeSchedule(storage=own, accumulate=own))
    i = tg.dim("i", 8)
    graph = tg.Graph(y=tg.compute("y", (i,), tg.real(i)))
    made = certify(graph, schedule, {}, {})
    assert check_certificate(made, graph, schedule)
    off = abs(emulate(graph, {}, schedule, rules=())["y"] - interpret(graph, {})["y"]).max()
    assert off <= made.bound("y").error
    assert (off == 0) == (made.bound("y").error == 0) == exact
