"""Certificates whose steps or verdicts are forged are refused without their program, by step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from forging import last, made, refused, with_step

import tang as tg
from tang.emulator import check_certificate
from tang.emulator.certificate import Claim
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.narrow import E2M1, E4M3FN
from tang.kernel.schedule import NodeSchedule, Schedule

i, j = tg.dims("i j")
a, x = tg.input("a", (4,)), tg.input("x", (4, 8))
SATURATING = Schedule(default=NodeSchedule(storage=E4M3FN, accumulate=F32))


def tripled(**options):
    return made(tg.compute("y", (i,), a[i] * 3.0), {"a": (-400.0, 400.0)}, **options)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [-0.9, -0.5, float("inf"), float("nan"), "0.5", True], ids=str)
@pytest.mark.parametrize("rule", ["welford_m2", "square"])
def test_a_theta_that_is_negative_or_no_number_is_refused(rule, theta):
    squares = tg.compute("y", (i,), a[i] * a[i])
    result, ranges = {
        "welford_m2": (tg.var(x, 1), {"x": (-3.0, 3.0)}), "square": (squares, {"a": (-3.0, 3.0)}),
    }[rule]  # fmt: skip
    certificate = made(result, ranges)
    n = last(certificate, rule)
    wide = Claim(0.0, 1e6, 1e6, 0.0, 1e6)
    assert check_certificate(with_step(certificate, n, replace(wide, relative=1.0)))
    refused(with_step(certificate, n, wide, theta=theta), f"step {n} ({rule})", "theta is a finite")


@pytest.mark.parametrize(
    ("rule", "name", "value"),
    [("welford_mean", "error", -1.0), ("welford_mean", "n", 8.0), ("welford_mean", "chain", -1),
     ("welford_m2", "levels", 0.5), ("welford_m2", "adds", True), ("given", "lo", "-3")],
)  # fmt: skip
def test_a_parameter_of_another_kind_is_refused(rule, name, value):
    certificate = made(tg.var(x, 1), {"x": (-3.0, 3.0)})
    n = last(certificate, rule)
    words = (f"step {n} ({rule})", f"{name} is a", repr(value))
    refused(with_step(certificate, n, **{name: value}), *words)


def test_a_parameter_that_comes_twice_or_a_count_beyond_floats_is_refused():
    certificate = made(tg.sum(x, axis=1), {"x": (-3.0, 3.0)})
    n = last(certificate, "sum")
    step = certificate.steps[n]
    twice = replace(step, params=(("n", 10**6), *step.params))
    refused(replace(certificate, steps=(*certificate.steps[:n], twice)), "comes twice")
    refused(with_step(certificate, n, n=10**400), f"step {n} (sum): it makes no sense")


def test_a_sum_of_exponentials_is_at_least_one_and_no_more_is_believed():
    certificate = made(tg.softmax(x, 1), {"x": (-3.0, 3.0)})
    n = last(certificate, "at_least")
    claim = replace(certificate.steps[n].claim, lo=1e9, hi=1e9)
    refused(with_step(certificate, n, claim, least=1e9), f"step {n} (at_least): the largest term")


# --- roundings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", [tg.prod(x, axis=1), tg.softmax(x, 1), tg.var(x, 1)],
                         ids=["prod", "softmax", "var"])  # fmt: skip
def test_products_within_folds_lose_to_underflow_and_wgsl_flushes(result):
    certificate = made(result, {"x": (-3.0, 3.0)})
    n = max(n for n, s in enumerate(certificate.steps) if "below" in dict(s.params))
    refused(with_step(certificate, n, below="exact"), f"step {n} ", "only sums and roots")
    free = made(result, {"x": (-3.0, 3.0)}, freedom="wgsl")
    n = max(n for n, s in enumerate(free.steps) if "below" in dict(s.params))
    for name, kind in (("small", "exact"), ("below", "gradual")):
        refused(with_step(free, n, **{name: kind}), f"step {n} ", "WGSL may flush")


def test_wgsl_rounds_f32_to_any_neighbour():
    free = made(tg.sum(x, axis=1), {"x": (-3.0, 3.0)}, freedom="wgsl")
    n = last(free, "sum")
    refused(with_step(free, n, roundings="rne"), f"step {n} (sum): WGSL rounds f32 to any")
    free = tripled(freedom="wgsl")
    n = last(free, "round")
    refused(with_step(free, n, rounding="rne"), f"step {n} (round): WGSL rounds f32 to any")


def test_f32_and_f64_do_not_saturate():
    certificate = made(tg.compute("y", (i,), a[i] * 3.0), {"a": (-2e38, 2e38)})
    n = last(certificate, "round")
    claim = replace(certificate.steps[n].claim, absolute=3e38)
    for way in ("saturate", "nan"):
        words = (f"step {n} (round)", "f32 overflows to infinity")
        refused(with_step(certificate, n, claim, overflow=way), *words)


def test_f16_saturates_where_its_schedule_says_so_and_without_the_program_that_is_trusted():
    default = NodeSchedule(storage=F16, accumulate=F32, overflow="saturate")
    schedule = Schedule(default=default)
    certificate = made(tg.compute("y", (i,), a[i] * 3e3), {"a": (-400.0, 400.0)}, schedule)
    assert certificate.nodes[0].overflow.startswith("may saturate: at most 1.2e+06")


# --- verdicts -------------------------------------------------------------------------------------

CASES = {
    "fits": lambda: tripled(),
    "saturates": lambda: tripled(schedule=SATURATING),
    "shape": lambda: made(tg.compute("y", (i,), a[i] * 3.0), None),
    "overflows": lambda: made(tg.compute("y", (i,), a[i] * 3.0), {"a": (-2e38, 2e38)}),
    "sums": lambda: made(tg.sum(x, axis=1), {"x": (-2e38, 2e38)}),
    "folds": lambda: made(tg.var(x, 1), {"x": (-2e38, 2e38)}),
    "divides": lambda: made(tg.compute("y", (i,), tg.recip(a[i])), {"a": (-1.0, 1.0)}),
    "empty": lambda: made(tg.compute("y", (i,), tg.log(a[i])), {"a": (-3.0, -2.0)}),
}  # fmt: skip
WORDS = {
    "overflow": (
        "cannot overflow", "unknown", "assumed not to overflow", "may overflow", "", "whatever",
        "may overflow f32: at most 1 > 3.403e+38", "may overflow f32: at most 4e+38 > 3.403e+38",
        "may saturate: at most 900 > largest 448 of e4m3fn", "a sum may overflow f32: at most inf",
    ),
    "underflow": ("cannot underflow", "may underflow", "may underflow below 1e-300",
                  "holds no reals", "", "whatever"),
    "nan": ("cannot be NaN", "unknown", "NaN only where the exact value is", "", "whatever"),
}  # fmt: skip


@pytest.mark.parametrize("field", WORDS)
@pytest.mark.parametrize("case", CASES)
def test_verdicts_follow_from_the_steps(case, field):
    certificate = CASES[case]()
    for n, row in enumerate(certificate.nodes):
        for said in WORDS[field]:
            if said == getattr(row, field) or (said == "cannot underflow" == field):
                continue
            rows = list(certificate.nodes)
            rows[n] = replace(row, **{field: said})
            refused(replace(certificate, nodes=tuple(rows)), f"{row.node}.{row.output}: ", field
                    if field != "nan" else "nan is")  # fmt: skip


def test_the_verdict_of_a_node_that_saturates_names_the_step():
    certificate = tripled(schedule=SATURATING)
    row = certificate.nodes[0]
    assert row.overflow == "may saturate: at most 1344 > largest 448 of e4m3fn"
    forged = replace(certificate, nodes=(replace(row, overflow="cannot overflow"),))
    refused(forged, "y.value: overflow is not excluded", f"by step {row.step}", row.overflow)


def test_what_may_overflow_on_the_way_may_be_nan_where_no_exact_value_is():
    default = NodeSchedule(storage=E4M3FN, accumulate=F32, overflow="nan")
    schedule, b = Schedule(default=default), tg.input("b", (4,))
    stored = made(tg.compute("y", (i,), a[i]), {"a": (-1e3, 1e3)}, schedule)
    assert stored.bound("y").nan == "NaN only where the exact value is"
    lost = tg.compute("y", (i,), a[i] + (b[i] * 1e38 - b[i] * 1e38))
    certificate = made(lost, {"a": (-1e3, 1e3), "b": (1.0, 9.0)}, schedule)
    assert certificate.bound("y").nan == "unknown"


# --- honest ones at the edges ---------------------------------------------------------------------


@pytest.mark.parametrize("far", [700.0, 720.0, 1e4, 1e300])
def test_powers_of_powers_beyond_f64_are_accepted(far):
    made(tg.compute("y", (i,), tg.exp(tg.exp(a[i]))), {"a": (far, far)})
    made(tg.compute("y", (i,), tg.exp2(tg.exp(a[i] * 10.0))), {"a": (-far, far)})


@pytest.mark.parametrize("math", ["any", "opencl", "wgsl"])
@pytest.mark.parametrize("storage", [F32, BF16, F16])
@pytest.mark.parametrize("rounding", ["rne", "rna"])
def test_quotients_of_folds_count_in_a_format_that_they_are_rounded_to(storage, rounding, math):
    schedule = Schedule(
        default=NodeSchedule(storage=storage, accumulate=storage, rounding=rounding)
    )
    if storage is F32 and rounding != "rne":
        return
    for fold in (tg.var(x, 1), tg.softmax(x, 1)):
        made(fold, {"x": (-3.0, 3.0)}, schedule, math=math)


def test_what_cannot_be_held_beside_a_largest_number_need_not_overflow():
    """e2m1 has no NaN, which the best of nothing is; −6 is its largest number."""
    saturating = NodeSchedule(storage=E2M1, accumulate=F32, overflow="saturate")
    y = tg.compute("y", (), tg.argmax(-a[i], i))
    certificate = made(y, {"a": (-6.0, -6.0)}, Schedule(default=saturating))
    row = certificate.bound("y", "value")
    assert (row.overflow, row.reason) == ("unknown", "e2m1 has no NaN")
    for words in ("cannot overflow", "may overflow e2m1: at most 7 > 6"):
        rows = tuple(replace(b, overflow=words) if b == row else b for b in certificate.nodes)
        refused(replace(certificate, nodes=rows), "y.value: ")


def test_an_error_that_f64_loses_to_underflow_is_no_0():
    tiny = Claim(0.0, 1e-310, 1e-310, 1e-16)
    assert tiny.error == 2.0**-1074
    wide = Schedule(default=NodeSchedule(storage=F64, accumulate=F64))
    certificate = made(tg.compute("y", (i,), a[i] * 3.0 + 1.0 - 1.0), {"a": (0.0, 1e-310)}, wide)
    assert certificate.bound("y").error > 0
    made(tg.compute("y", (i,), tg.exp(a[i])), {"a": (-740.0, -712.0)}, wide)
