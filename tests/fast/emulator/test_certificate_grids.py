"""What roundings cannot lose to underflow, and in which format a result is stored: by the steps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from forging import last, made, refused, with_step

import tang as tg
from tang.emulator import check_certificate
from tang.emulator.certificate import Certificate, Claim, FormatFacts, Step
from tang.emulator.certificate_grids import Grids
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.narrow import E4M3FN
from tang.kernel.schedule import NodeSchedule, Schedule

i, j = tg.dims("i j")
a, x, z = tg.input("a", (4,)), tg.input("x", (4, 8)), tg.input("z", (4, 8))
HALF = Schedule(default=NodeSchedule(storage=F16, accumulate=F32))
SMALL = {"x": (1e-30, 2e-30), "z": (1e-30, 2e-30)}


# --- underflow ------------------------------------------------------------------------------------


def test_only_sums_and_roots_of_numbers_of_the_format_lose_nothing_to_underflow():
    made(tg.compute("y", (i,), a[i] + a[i] * 2.0), {"a": (0.0, 1e-20)})
    made(tg.compute("y", (i,), tg.sqrt(a[i])), {"a": (0.0, 1e-20)})
    for body in (a[i] * a[i], a[i] * 0.5, tg.recip(a[i]), tg.exp(a[i])):
        certificate = made(tg.compute("y", (i,), body), {"a": (1e-20, 1.0)})
        n = next(n for n, s in enumerate(certificate.steps) if s.rule in ("round", "ulps"))
        refused(with_step(certificate, n, small="exact"), f"step {n} (", "lose")


def test_a_sum_of_numbers_of_a_finer_format_may_underflow():
    """0.3·a + 0.3·a is rounded to f32, whose least number is 2^-149, then to f16."""
    certificate = made(tg.compute("y", (i,), a[i] * 0.3 + a[i] * 0.3), {"a": (1e-7, 4e-7)}, HALF)
    n, add = last(certificate, "round"), last(certificate, "add")
    claim = replace(certificate.steps[n].claim, absolute=1e-43)
    refused(
        with_step(certificate, n, claim, (add,), small="exact"),
        f"step {n} (round): it may lose to underflow: step {add} need be no multiple of f16's",
    )


def test_a_sum_of_terms_that_are_not_rounded_may_underflow():
    certificate = made(tg.compute("y", (i,), tg.sum(x[i, j] * z[i, j], over=j)), SMALL)
    n, product = last(certificate, "sum"), last(certificate, "mul")
    claim = replace(certificate.steps[n].claim, absolute=0.0)
    words = f"step {n} (sum): it may lose to underflow: step {product} need be no multiple of f32's"
    refused(with_step(certificate, n, claim, (product,)), words)


def test_a_sum_in_f32_of_what_is_given_may_underflow_in_f16():
    certificate = made(tg.sum(x, axis=1), {"x": (1e-8, 1e-7)}, HALF)
    n, total = last(certificate, "round"), last(certificate, "sum")
    claim = replace(certificate.steps[n].claim, absolute=1e-43)
    words = f"step {n} (round): it may lose to underflow: step {total} need be no multiple of f16's"
    refused(with_step(certificate, n, claim, small="exact"), words)


def test_half_more_than_what_is_given_is_rounded_to_the_format_and_no_coarser():
    """a + 1/2 and −1/2 of it in f32: numbers of f32, which f16 may lose."""
    certificate = made(tg.compute("y", (i,), a[i] + 0.5 + -0.5), {"a": (-1e-7, 1e-7)}, HALF)
    n, add = last(certificate, "round"), last(certificate, "add")
    claim = replace(certificate.steps[n].claim, absolute=1e-43)
    words = f"step {n} (round): it may lose to underflow: step {add} need be no multiple of f16's"
    refused(with_step(certificate, n, claim, (add,), small="exact"), words)


@pytest.mark.parametrize(("rule", "name"), [("sum_exp", "rounded"), ("weighted", "prods")])
def test_terms_of_a_softmax_are_rounded_before_they_are_added(rule, name):
    v = tg.input("v", (8,))
    weights = tg.softmax(x, 1)
    y = tg.compute("y", (i,), tg.sum(weights[i, j] * v[j], over=j))
    certificate = made(y, {"x": (-3.0, 3.0), "v": (-1.0, 1.0)})
    n = last(certificate, rule)
    wide = replace(certificate.steps[n].claim, relative=0.5)
    assert check_certificate(with_step(certificate, n, claim=wide))
    words = f"step {n} ({rule}): {name} is a whole number from 1 on, not 0"
    refused(with_step(certificate, n, claim=wide, **{name: 0}), words)


@pytest.mark.parametrize("schedule", [
    NodeSchedule(), NodeSchedule(storage=F16, accumulate=F32), NodeSchedule(storage=BF16),
    NodeSchedule(storage=F16, accumulate=F16), NodeSchedule(storage=BF16, accumulate=BF16),
    NodeSchedule(storage=E4M3FN, accumulate=F32), NodeSchedule(storage=F32, accumulate=E4M3FN),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("strength", ["range", "shape"])
def test_certificates_as_they_are_made_are_accepted_whatever_the_formats(schedule, strength):
    ends = None if strength == "shape" else {"x": (0.5, 1.0), "z": (-1.0, 1.0), "a": (0.0, 1e-9)}
    s = Schedule(default=schedule)
    for result in (
        tg.sum(x, axis=1), tg.var(x, 1), tg.max(x, axis=1), tg.argmax(x, axis=1),
        tg.compute("y", (i,), tg.sqrt(a[i] + a[i] * 0.25) - 0.1),
        tg.compute("y", (i, j), tg.index(x[i, j] * 3.0)),
        tg.compute("y", (i, j), tg.real(tg.index(x[i, j])) + tg.real(j) * -1.0 + z[i, j]),
        tg.compute("y", (i, j), tg.select(x[i, j] < 0.7, -z[i, j], 0.0) + tg.floor(x[i, j])),
        tg.cumsum(x, axis=1), tg.layer_norm(x, tg.input("g", (8,)), tg.input("h", (8,))),
    ):  # fmt: skip
        names = {n.name for n in tg.Graph(y=result).inputs}
        chosen = None if ends is None else {n: e for n, e in ends.items() if n in names}
        made(result, chosen, s)


# --- grids ----------------------------------------------------------------------------------------

WIDE, NARROW = FormatFacts("f32", 24, -126, 3e38), FormatFacts("f16", 11, -14, 65504.0)


def step(rule, *args, claim=None, **params):
    return Step(rule, args, tuple(params.items()), claim or Claim(-1.0, 1.0, 1.0))


def rounded(arg, format="f32", overflow="inf"):
    return step("round", arg, format=format, rounding="rne", small="gradual", overflow=overflow)


def grid(*steps, own=WIDE):
    formats = (WIDE, NARROW) if own is WIDE else (own,)
    c = Certificate(strength="range", graph="", schedule="", formats=formats, steps=steps)
    return Grids(c).known[-1].g


def test_the_grid_of_a_rounding_is_the_coarser_one_of_operand_and_format():
    given = step("given", lo=-1.0, hi=1.0)
    assert grid(given) == float("inf")
    assert grid(given, rounded(0)) == -149
    assert grid(given, rounded(0), rounded(1, "f16")) == -24
    assert grid(given, rounded(0, "f16"), rounded(1)) == -24
    assert grid(given, rounded(0, "f16"), rounded(1, overflow="saturate")) == -149


def test_the_grid_of_a_constant_is_its_last_bit():
    for text, g in (("3/4", -2), ("12", 2), ("1", 0), ("0", float("inf")), ("1/3", float("-inf")),
                    ("pi", float("-inf")), ("nan", float("inf")), ("-5/8", -3)):  # fmt: skip
        assert grid(step("constant", value=text)) == g


def test_sums_keep_the_finer_grid_products_add_and_functions_have_none():
    given = step("given", lo=-1.0, hi=1.0)
    half = step("constant", value="1/2")
    assert grid(given, half, step("add", 0, 1)) == -1
    assert grid(given, half, step("add", 0, 1), rounded(2)) == -149
    assert grid(given, half, step("hull", 0, 1), rounded(2, "f16")) == -24
    assert grid(given, half, step("add", 0, 1), step("floor", 2)) == 0
    both = (given, rounded(0), rounded(0, "f16"))
    assert grid(*both, step("add", 1, 2)) == -149
    assert grid(*both, step("add", 2, 2)) == -24
    assert grid(*both, step("mul", 1, 2)) == -173
    assert grid(*both, step("mul", 0, 2)) == float("-inf")
    assert grid(*both, step("select", 0, 2, 2)) == -24
    assert grid(*both, step("max", 1, 2)) == -149
    assert grid(*both, step("floor", 1)) == 0
    assert grid(step("constant", value="8"), step("prod", 0, n=0, formats="f32")) == -149
    coarse = FormatFacts("big", 3, 4, 448.0)
    assert grid(step("constant", value="8"), step("prod", 0, n=0, formats="big"), own=coarse) == 0
    one = step("constant", claim=Claim(-1.0, -1.0, 1.0), value="-1")
    assert grid(*both, one, step("mul", 3, 2)) == -24
    for rule in ("sqrt", "recip", "exp", "sin", "square"):
        assert grid(*both, step(rule, 2)) == float("-inf")


# --- formats of results ---------------------------------------------------------------------------


def test_a_result_is_stored_in_the_format_to_which_it_is_rounded():
    certificate = made(tg.compute("y", (i,), a[i] * 1e-5), {"a": (1.0, 2.0)}, HALF)
    row = certificate.nodes[0]
    assert row.underflow.startswith("may underflow")
    n = row.step
    for format, underflow, words in (
        ("f32", "cannot underflow", f"step {n} rounds it to f16, in which nothing is stored"),
        ("", "holds no reals", f"it holds reals: step {n} rounds them to f16"),
        ("f8", "cannot underflow", "unknown format 'f8'"),
    ):
        other = replace(row, format=format, underflow=underflow)
        refused(replace(certificate, nodes=(other,)), "y.value: ", words)
    certificate = made(tg.compute("y", (i,), a[i] * 1e-5), {"a": (1.0, 2.0)})
    both = (*certificate.formats, NARROW)
    row = replace(certificate.nodes[0], format="f16")
    words = f"it is no number of f16: step {row.step} rounds it to f32"
    refused(replace(certificate, formats=both, nodes=(row,)), words)


def test_a_copy_in_a_wider_format_is_stored_in_that():
    u = tg.compute("u", (i,), a[i] * 3.0)
    y = tg.compute("y", (i,), tg.maximum(u[i], -u[i]))
    wide = NodeSchedule(storage=F32, accumulate=F32)
    certificate = made(y, {"a": (1.0, 2.0)}, Schedule(default=HALF.default, nodes=(("y", wide),)))
    assert [b.format for b in certificate.nodes] == ["f16", "f32"]
    made(tg.compute("y", (i,), -a[i]), {"a": (0.1, 2.0)},
         Schedule(default=HALF.default, nodes=(("y", wide),)), quantised=True)  # fmt: skip
