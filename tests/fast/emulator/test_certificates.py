"""Certificates by ranges: nothing that a schedule computes is further off than they say."""

import math
import time

import numpy as np
import pytest
from certified import bound_of, compare, drawn, holds
from certified_programs import PROGRAMS, SCHEDULES, schedule_of

import tang.frontend as tg
from tang.emulator import certificate_from_json, certificate_to_json, certify, check_certificate
from tang.errors import BudgetError
from tang.frontend import Graph, compute, dim, input
from tang.ir.expr import REAL
from tang.kernel.ir import F16
from tang.kernel.narrow import E4M3FN
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.models import TransformerSizes, transformer_block

_NAMES = list(SCHEDULES)
CASES = sorted((p, s) for n, p in enumerate(PROGRAMS) for s in {*_NAMES[n % 5 :: 5], "f32"})


@pytest.mark.parametrize(("program", "name"), CASES, ids=[f"{p}-{s}" for p, s in CASES])
def test_no_result_is_further_off_than_its_bound_says(program, name):
    graph, sizes, ranges = PROGRAMS[program]()
    certificate, _ = holds(graph, schedule_of(graph, name), sizes, ranges, seeds=1)
    checked = check_certificate(certificate)
    assert checked, checked.message


@pytest.mark.parametrize(
    "program",
    ["matmul", "softmax", "variance", "logsumexp", "attention", "functions", "online-softmax"],
)
def test_bounds_in_f32_say_something_of_every_result(program):
    graph, sizes, ranges = PROGRAMS[program]()
    assert certify(graph, Schedule(), sizes, ranges).vacuous == ()


def test_a_bound_that_is_a_hundredth_of_the_truth_is_exceeded():
    graph, sizes, ranges = PROGRAMS["matmul"]()
    schedule = schedule_of(graph, "f16-storage")
    certificate = certify(graph, schedule, sizes, ranges)
    inputs = drawn(graph, sizes, ranges, 0)
    wrong, ratios = compare(graph, schedule, inputs, certificate)
    assert not wrong
    assert max(ratios.values()) > 0.01


def test_a_sum_that_overflows_f16_is_flagged_and_one_that_cannot_is_proved():
    x = input("x", ("n",))
    k = dim("k", "n")
    graph = Graph(y=compute("total", (), tg.sum(x[k], k)))
    schedule = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    small = bound_of(certify(graph, schedule, {"n": 100}, {"x": (0, 10)}), graph, "y")
    large = bound_of(certify(graph, schedule, {"n": 10000}, {"x": (0, 10)}), graph, "y")
    assert small.overflow == "cannot overflow"
    assert not small.vacuous
    assert "may overflow f16: at most 1e+05 > 6.55e+04" in large.overflow
    assert large.vacuous


def test_saturation_is_told_and_counts_as_error():
    x = input("x", (4,))
    i = dim("i", 4)
    graph = Graph(y=compute("scaled", (i,), x[i] * 100.0))
    schedule = Schedule(default=NodeSchedule(storage=E4M3FN))
    b = bound_of(certify(graph, schedule, {}, {"x": (0, 8)}), graph, "y")
    assert b.overflow == "may saturate: at most 800 > largest 448 of e4m3fn"
    assert 352 < b.error < 420


def test_a_root_of_what_may_be_negative_and_a_division_by_what_may_be_zero_are_told():
    x = input("x", (4,))
    i = dim("i", 4)
    graph = Graph(a=compute("a", (i,), tg.sqrt(x[i])), b=compute("b", (i,), 1.0 / x[i]))
    certificate = certify(graph, Schedule(), {}, {"x": (-1, 8)})
    assert bound_of(certificate, graph, "a").reason == "may be negative under a root"
    assert bound_of(certificate, graph, "b").reason == "may divide by zero"


def test_without_a_range_an_input_has_its_whole_format_and_that_is_said():
    graph, sizes, _ = PROGRAMS["matmul"]()
    certificate = certify(graph, Schedule(), sizes, {"a": (-1, 1)})
    assert certificate.assumed == ("b",)
    assert certificate.vacuous


def test_rounding_inputs_counts_only_where_asked():
    x = input("x", (4,))
    i = dim("i", 4)
    graph = Graph(y=compute("y", (i,), x[i] + 0.0))
    schedule = Schedule(default=NodeSchedule(storage=F16))
    plain = bound_of(certify(graph, schedule, {}, {"x": (0, 1)}), graph, "y")
    strict = bound_of(certify(graph, schedule, {}, {"x": (0, 1)}, quantised=True), graph, "y")
    assert strict.error > plain.error


def test_wgsl_may_do_more_and_is_bounded_by_more():
    graph, sizes, ranges = PROGRAMS["softmax"]()
    lanes = schedule_of(graph, "split-lanes")
    plain = certify(graph, lanes, sizes, ranges)
    free = certify(graph, lanes, sizes, ranges, freedom="wgsl", math="wgsl")
    pairs = zip(plain.nodes, free.nodes, strict=True)
    assert all(b.error >= a.error for a, b in pairs)
    assert any(c.provenance == "spec" and "WGSL" in c.source for c in free.constants)
    assert check_certificate(free)


def test_a_decision_on_inexact_values_costs_the_width_of_its_outcomes():
    graph, _, ranges = PROGRAMS["decisions"]()
    certificate = certify(graph, Schedule(), {}, ranges)
    assert 7 <= certificate.bound("a").error <= 8.1
    assert certificate.bound("b").error == 1
    assert certificate.bound("c").error == 8


@pytest.mark.parametrize("program", ["layer-norm", "rms-norm"])
def test_a_norm_of_n_elements_is_at_most_the_root_of_n(program):
    graph, sizes, ranges = PROGRAMS[program]()
    b = bound_of(certify(graph, Schedule(), sizes, ranges), graph, "y")
    assert -(33**0.5) * 1.01 < b.lo < b.hi < 33**0.5 * 1.01
    assert b.error < 0.05


def test_a_maximum_of_stored_elements_is_not_rounded_again():
    graph, sizes, ranges = PROGRAMS["softmax"]()
    certificate = certify(graph, schedule_of(graph, "f16-storage"), sizes, ranges)
    assert certificate.bound("softmax.max").error == 0


def test_a_winner_among_inexact_values_may_be_any():
    graph, sizes, ranges = PROGRAMS["winners"]()
    certificate = certify(graph, Schedule(), sizes, ranges)
    by_name = {o.name: o.ref for o in graph.outputs}
    assert certificate.bound(by_name["b"].node, "index").error == 19
    assert certificate.bound(by_name["d"].node, "indices").error == 0


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ({"q": (0, 1)}, "ranges name 'q'"),
        ({"a": (0, math.nan)}, "the range of 'a' holds NaN"),
        ({"a": (2, 1)}, "the range of 'a' is empty"),
        ({"a": (0, math.inf)}, "the range of 'a' is not finite"),
        ({"a": 3}, "the range of 'a' is a pair"),
        ({"a": ("x", 1)}, "the range of 'a' is a pair of numbers"),
    ],
    ids=["unknown", "nan", "empty", "infinite", "number", "text"],
)
def test_ranges_that_are_none_are_refused_with_their_place(ranges, words):
    graph, sizes, _ = PROGRAMS["matmul"]()
    with pytest.raises(BudgetError, match=words.replace("(", r"\(")):
        certify(graph, Schedule(), sizes, ranges)


def test_unknown_options_and_missing_sizes_are_refused():
    graph, sizes, ranges = PROGRAMS["matmul"]()
    with pytest.raises(BudgetError, match="freedom is one of"):
        certify(graph, Schedule(), sizes, ranges, freedom="much")
    with pytest.raises(BudgetError, match="math is one of"):
        certify(graph, Schedule(), sizes, ranges, math="latin")
    with pytest.raises(BudgetError, match="give a size for k"):
        certify(graph, Schedule(), {}, ranges)


def test_json_reads_back_to_an_equal_certificate_and_bad_json_is_refused():
    graph, sizes, ranges = PROGRAMS["layer-norm"]()
    certificate = certify(graph, schedule_of(graph, "f16"), sizes, ranges)
    text = certificate_to_json(certificate)
    assert certificate_from_json(text) == certificate
    other = text.replace('"version": 2', '"version": 1')
    for bad in ("", "[]", "{}", other, text.replace('"steps"', '"stops"'), text[:-9]):
        with pytest.raises(BudgetError):
            certificate_from_json(bad)


def test_digests_tell_programs_and_schedules_apart_and_places_do_not_matter():
    graph, sizes, ranges = PROGRAMS["softmax"]()
    first = certify(graph, Schedule(), sizes, ranges)
    other = certify(graph, schedule_of(graph, "f16"), sizes, ranges)
    wider = Schedule(default=NodeSchedule(workgroup=128))
    assert first.graph == other.graph
    assert first.schedule != other.schedule
    assert certify(graph, wider, sizes, ranges).schedule == first.schedule


def test_a_transformer_layer_is_certified_and_checked_in_seconds_whatever_its_extents():
    graph = transformer_block(TransformerSizes(width=1024, heads=16, hidden=4096))
    reals = (i.name for i in graph.inputs if i.sort.value == "real")
    ranges = {n: (-3, 3) if n == "x" else (-0.1, 0.1) for n in reals}
    start = time.perf_counter()
    small = certify(graph, Schedule(), {"batch": 1, "seq": 512}, ranges)
    large = certify(graph, Schedule(), {"batch": 64, "seq": 8192}, ranges)
    assert check_certificate(small)
    assert time.perf_counter() - start < 10
    assert len(large.steps) == len(small.steps)
    assert np.isfinite(small.bound("block.attention.query").error)


@pytest.mark.parametrize(("build", "kernel"), [
    (lambda a: 0.0 * (a * a), lambda a: 0 * (a * a)),
    (lambda a: (a * a) * 0.0 + 1.0, lambda a: (a * a) * 0 + 1),
    (lambda a: a * a < float("inf"), lambda a: a * a < np.inf),
    (lambda a: a * a >= float("inf"), lambda a: a * a >= np.inf),
], ids=["zero-times", "times-zero", "below-infinity", "infinite"])  # fmt: skip
def test_what_may_overflow_is_lost_beside_a_zero_and_an_infinity(build, kernel):
    i, a = tg.dim("i"), tg.input("a", (2,))
    graph = tg.Graph(y=tg.compute("y", i, build(a[i])))
    ref = graph.outputs[0].ref
    for top, lost in ((10.0, False), (1e30, True)):
        made = certify(graph, Schedule(), {}, {"a": (-top, top)})
        assert check_certificate(made)
        error = made.bound(ref.node, ref.output).error
        with np.errstate(all="ignore"):
            got = np.asarray(kernel(np.float32([top, 1])), np.float64)
            exact = np.asarray(kernel(np.array([top, 1])), np.float64)
        assert (error >= (np.inf if graph.sort(ref) is REAL else 1)) == lost
        assert lost == (not np.array_equal(got, exact))


@pytest.mark.parametrize("math_", ["portable", "any"])
@pytest.mark.parametrize("least", [-4.0, -1.0], ids=str)
def test_a_difference_of_logarithms_of_negative_numbers_is_a_certificate_too(math_, least):
    i, a, b = dim("i"), input("a", (2,)), input("b", (2,))
    log = tg.log(a[i])
    graph = tg.Graph(y=tg.compute("y", i, log * b[i] - tg.minimum(log, log * b[i])))
    made = certify(graph, Schedule(), {}, {"a": (least, -0.5), "b": (-1.0, 1.0)}, math=math_)
    checked = check_certificate(made)
    assert checked, checked.message
    assert made.bound("y").vacuous
