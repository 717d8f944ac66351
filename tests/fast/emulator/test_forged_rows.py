"""Forged rows and constants without their program: formats and functions of others."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from forging import last, made, refused, with_step

import tang as tg
from tang.emulator import check_certificate, round_to
from tang.emulator.certificate import NO_REALS, Certificate, Claim, FormatFacts, NodeBound, Step
from tang.emulator.certificate_grids import is_number_of
from tang.emulator.ranges_numbers import facts_of
from tang.ir.format import ALL_FORMATS, custom_format
from tang.kernel.accuracy import PORTABLE
from tang.kernel.narrow import NARROW
from tang.kernel.schedule import NodeSchedule, Schedule

i, j = tg.dim("i", 4), tg.dim("j", 8)
a = tg.input("a", (4,))
x = tg.input("x", (4, 8))

F16 = FormatFacts("f16", 11, -14, 65504.0)
F64 = FormatFacts("f64", 53, -1022, float.fromhex("0x1.fffffffffffffp+1023"))


def row_of(certificate, n, format_, underflow=None):
    """A row that claims what step n claims, in a format."""
    claim = certificate.steps[n].claim
    least = {f.name: 2.0**f.emin for f in (*certificate.formats, F16, F64)}
    words = NO_REALS if not format_ else underflow or f"may underflow below {least[format_]:.4g}"
    vacuous = not (claim.error == 0 or claim.error < claim.size)
    return NodeBound(
        "y", "value", format_, n, claim.lo, claim.hi, claim.error, claim.relative, claim.absolute,
        claim.pure, "cannot overflow", words, "cannot be NaN", vacuous,
    )  # fmt: skip


def with_row(certificate, n, format_, underflow=None):
    known = {f.name for f in certificate.formats}
    more = tuple(f for f in (F16, F64) if f.name == format_ and f.name not in known)
    row = row_of(certificate, n, format_, underflow)
    return replace(certificate, formats=certificate.formats + more, nodes=(row,))


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", ["", "f32", "f64"])
def test_a_result_that_nothing_rounds_is_stored_in_no_format(format_):
    honest = made(tg.compute("y", (i,), a[i] * 3.0 + a[i]), {"a": (1.0, 2.0)})
    n = last(honest, "add")
    assert check_certificate(with_row(honest, last(honest, "round"), "f32", "cannot underflow"))
    forged = with_row(honest, n, format_, "cannot underflow")
    words = f"step {n} (add)"
    refused(forged, "y.value: " + ("it holds reals: " * (not format_)), words, "computes")


def test_a_whole_number_beyond_a_format_is_none_of_its_numbers():
    small = made(tg.compute("y", (i,), tg.index(a[i])), {"a": (3.0, 2048.0)})
    assert check_certificate(with_row(small, last(small, "to_index"), "f16", "cannot underflow"))
    large = made(tg.compute("y", (i,), tg.index(a[i])), {"a": (3.0, 2049.5)})
    n = last(large, "to_index")
    words = f"f16 does not hold every whole number of step {n} (to_index)"
    refused(with_row(large, n, "f16", "cannot underflow"), words)


@pytest.mark.parametrize(("value", "size", "held"), [
    ("1/4", 0.25, True), ("2049", 2049.0, False), ("1/3", 1 / 3, False), ("1e-9", 1e-9, False),
    ("pi", np.pi, False), ("-inf", None, True),
])  # fmt: skip
def test_a_literal_is_a_number_of_the_format_it_is_stored_in(value, size, held):
    claim = Claim(np.inf, -np.inf, 0.0, special=(value,))
    if size is not None:
        claim = Claim(size * (1 - 2**-52), size * (1 + 2**-52), 1e4)
    honest = made(tg.compute("y", (i,), a[i]), {"a": (1.0, 2.0)})
    n = len(honest.steps)
    more = (*honest.steps, Step("constant", (), (("value", value),), claim))
    under = None if value == "1e-9" else "cannot underflow"
    found = check_certificate(with_row(replace(honest, steps=more), n, "f16", under))
    assert bool(found) == held, found.message
    assert held or f"step {n}: {value} is no number of f16" in found.message


def test_reals_that_are_given_are_no_whole_numbers():
    honest = made(tg.compute("y", (i,), a[i]), {"a": (0.25, 2.0)})
    refused(with_row(honest, 0, ""), "it holds reals: step 0 gives them")


def test_numbers_of_formats_are_those_that_rounding_keeps():
    own = custom_format("own", p=3, emin=0, largest=7, specials="none")
    tried = np.arange(-130, 131) / 16
    kept = tried[round_to(tried, own, overflow="saturate") == tried]
    facts = facts_of(own)
    assert [float(v) for v in tried if is_number_of(facts, Fraction(v))] == list(kept)


@pytest.mark.parametrize("largest", [1.3, 1e-3, 6.5])
def test_the_largest_number_of_a_format_is_one_of_its_numbers(largest):
    honest = made(tg.compute("y", (i,), a[i]), {"a": (0.0, 0.0)})
    for size, words in ((7.0, ""), (largest, f"format m: {largest!r} is none of its numbers")):
        odd = FormatFacts("m", 3, 0, size)
        found = check_certificate(replace(honest, formats=(*honest.formats, odd)))
        assert bool(found) == (not words)
        assert words in found.message


def test_facts_of_every_format_are_facts_of_a_format():
    for f in ALL_FORMATS.values():
        honest = made(tg.compute("y", (i,), a[i]), {"a": (0.0, 0.0)})
        known = {g.name for g in honest.formats}
        more = () if f.name in known else (facts_of(f),)
        assert check_certificate(replace(honest, formats=honest.formats + more)), f.name


# --- what folds and whole numbers do -------------------------------------------------------------


def of_steps(honest, *steps, formats=()):
    """The certificate with these steps alone, and no rows."""
    more = tuple(f for f in formats if f.name not in {g.name for g in honest.formats})
    return replace(honest, steps=steps, nodes=(), formats=honest.formats + more)


def some():
    return made(tg.compute("y", (i,), a[i]), {"a": (1.0, 2.0)})


def exactly(rule, args, at, claim=None, /, **params):
    """A step that claims one exact value, if nothing else."""
    claim = claim or Claim(at, at, abs(at))
    return Step(rule, args, tuple(params.items()), claim)


@pytest.mark.parametrize("rule", ["integer", "count", "not", "logic", "any_of"])
def test_rules_of_whole_numbers_take_no_reals(rule):
    params = {"integer": {"op": "neg"}, "count": {"n": 1, "full": True}, "logic": {"op": "or"},
              "any_of": {"op": "any"}, "not": {}}[rule]  # fmt: skip
    for value in (1.0, 0.5):
        end = {"integer": -value, "not": 1 - value}.get(rule, value)
        args = (0, 0) if rule == "logic" else (0,)
        claim = Claim(min(end, 0.0), max(end, 0.0), abs(end))
        steps = (exactly("constant", (), value, value=str(Fraction(value))),
                 Step(rule, args, tuple(params.items()), claim))  # fmt: skip
        found = check_certificate(of_steps(some(), *steps))
        assert bool(found) == (value == 1), found.message
        assert value == 1 or f"step 1 ({rule}): step 0 need be no whole number" in found.message


FOLD = {"roundings": "rne", "small": "exact", "below": "gradual", "overflow": "inf"}


@pytest.mark.parametrize(("format_", "value", "held"), [
    ("f16", "inf", True), ("e4m3fn", "inf", False), ("e4m3fn", "nan", True), ("e2m1", "nan", False),
])  # fmt: skip
def test_a_sum_is_no_infinity_and_no_nan_in_a_format_without(format_, value, held):
    facts = facts_of(ALL_FORMATS[format_])
    fold = {"n": 2, "full": True, "adds": 1, "formats": format_, **FOLD}
    none = Claim(np.inf, -np.inf, 0.0, special=(value,))
    zero = Claim(0.0, 0.0, 0.0, special=(value,))
    steps = (exactly("constant", (), 0, none, value=value), exactly("sum", (0,), 0, zero, **fold))
    found = check_certificate(of_steps(some(), *steps, formats=(facts,)))
    assert bool(found) == held, found.message


def test_a_row_is_no_infinity_in_a_format_without():
    y = tg.compute("y", (i,), tg.max(x[i, j], over=j, where=[j < i]))
    honest = made(y, {"x": (-2.0, 2.0)})
    assert honest.steps[honest.nodes[0].step].claim.special == ("-inf",)
    without = FormatFacts("wide", 24, -126, honest.formats[0].largest, infinity=False)
    row = replace(honest.nodes[0], format="wide")
    refused(replace(honest, formats=(*honest.formats, without), nodes=(row,)), "wide has no -inf")


def test_a_quotient_of_weights_must_fit_its_format():
    honest = made(tg.compute("y", (i,), tg.online_softmax(x[i, j], x[i, j], over=j)),
                  {"x": (-3.0, 3.0)})  # fmt: skip
    n = last(honest, "weighted_mean")
    tiny = FormatFacts("tiny", 24, -126, 2.0)
    odd = replace(honest, formats=(*honest.formats, tiny))
    assert check_certificate(with_step(odd, n))
    refused(with_step(odd, n, formats="tiny"), f"step {n} (weighted_mean): its absolute error")


def test_a_product_of_nothing_is_no_number_where_the_least_is_above_one():
    big = FormatFacts("big", 3, 4, 448.0)
    fold = {"n": 0, "formats": "big", **FOLD}
    one = exactly("prod", (0,), 1.0, **fold)
    start = exactly("constant", (), 8.0, value="8")
    assert check_certificate(of_steps(some(), start, exactly("prod", (0,), 1.0, **fold | {
        "formats": "f32"})))  # fmt: skip
    refused(of_steps(some(), start, one, formats=(big,)), "step 1 (prod): ")


@pytest.mark.parametrize(("format_", "held"), [("e2m3", False), ("e3m2", True)])
def test_a_floor_may_lie_beyond_a_largest_number_that_is_not_whole(format_, held):
    schedule = Schedule(default=NodeSchedule(storage=NARROW[format_], accumulate=NARROW[format_]))
    largest = float(NARROW[format_].largest)
    y = tg.compute("y", (i,), tg.floor(a[i]))
    honest = made(y, {"a": (-largest, largest)}, schedule)
    n = last(honest, "floor")
    forged = with_row(honest, n, format_, "may underflow below " + ("1" if not held else "0.25"))
    found = check_certificate(forged)
    assert bool(found) == held, found.message
    assert held or f"step {n}: a floor may lie beyond 7.5" in found.message


def test_a_floor_in_a_format_that_ends_with_a_whole_number_is_one_of_a_wider_one():
    whole = tg.compute("whole", (i,), tg.floor(a[i] + 0.5))
    y = tg.compute("y", (i,), -whole[i])
    nodes = tuple((n, NodeSchedule(storage=NARROW[f], accumulate=NARROW[f]))
                  for n, f in (("whole", "e2m1"), ("y", "e2m3")))  # fmt: skip
    made(y, {"a": (-9.0, 9.0)}, Schedule(nodes=nodes))


@pytest.mark.parametrize("fold", ["sum", "prod"])
def test_nothing_rounds_a_fold_of_one_element(fold):
    one = tg.dim("one", 1)
    y = tg.compute("y", (i,), getattr(tg, fold)(a[i] * 1.0 + 0.1 * tg.real(one), over=one))
    honest = made(y, {"a": (1.0, 2.0)})
    n = last(honest, fold)
    at = last(honest, "add")
    forged = replace(honest, steps=tuple(
        replace(s, args=(at,)) if k == n else s for k, s in enumerate(honest.steps)))  # fmt: skip
    refused(forged, f"nothing rounds what step {at} (add) computes to f32")


def test_a_bound_is_not_said_to_be_infinite_where_it_is_not():
    honest = some()
    row = replace(honest.nodes[0], error=np.inf, vacuous=True, reason="who knows")
    refused(replace(honest, nodes=(row,)), "y.value: its error is smaller")


def test_ends_that_are_widened_make_no_whole_numbers_of_reals():
    honest = made(tg.compute("y", (i,), a[i]), {"a": (0.25, 0.75)})
    wide = replace(honest, steps=(replace(honest.steps[0], claim=Claim(0.0, 1.0, 1.0)),))
    refused(with_row(wide, 0, ""), "it holds reals: step 0 gives them")


@pytest.mark.parametrize(("change", "words"), [
    ({"ranges": (("a", 2.0, 1.0),)}, "ranges: a is in none of [2.0, 1.0]"),
    ({"ranges": (("a", float("nan"), 1.0),)}, "ranges: a is in none of [nan, 1.0]"),
    ({"sizes": (("n", -1),)}, "sizes: n is -1"),
    ({"seeds": (3,)}, "seeds: only the strength data has them"),
])  # fmt: skip
def test_a_head_makes_sense_by_itself(change, words):
    honest = some()
    refused(replace(honest, **change), words)
    refused(replace(honest, nodes=honest.nodes * 2), "y.value: it has two rows")


@pytest.mark.parametrize("facts", [
    {"p": 2.5}, {"emin": 0.5}, {"p": True}, {"infinity": "no"}, {"nan": 1},
])  # fmt: skip
def test_facts_of_a_format_have_their_types(facts):
    given = {"name": "x", "p": 3, "emin": 0, "largest": 1.0} | facts
    refused(replace(some(), formats=(FormatFacts(**given),)), "format x: ")


# --- constants ------------------------------------------------------------------------------------


def put(certificate: Certificate, constant, other):
    """Another constant instead of one in every step that names it."""

    def changed(name, value):
        return {"ulp": other.value, "constant": other.name}.get(name, value)

    steps = tuple(
        replace(s, params=tuple((n, changed(n, v)) for n, v in s.params))
        if dict(s.params).get("constant") == constant.name else s for s in certificate.steps
    )  # fmt: skip
    known = tuple(other if k == constant else k for k in certificate.constants)
    return replace(certificate, constants=known, steps=steps)


@pytest.mark.parametrize(("of", "other"), [("exp2", "exp"), ("log2", "log")])
def test_a_function_to_another_base_has_other_ulps(of, other):
    honest = made(tg.compute("y", (i,), getattr(tg, of)(a[i])), {"a": (1.0, 2.0)})
    constant = next(k for k in honest.constants if k.name == f"portable.f32.{of}")
    forged = put(honest, constant, replace(
        constant, name=f"portable.f32.{other}", value=PORTABLE[other]))  # fmt: skip
    n = last(honest, "ulps")
    refused(forged, f"step {n} (ulps): ulp = {PORTABLE[other]!r} is no constant")


def test_exponentials_of_a_fold_are_as_inexact_as_either_way_to_compute_them():
    honest = made(tg.softmax(x, 1), {"x": (-3.0, 3.0)})
    n = last(honest, "sum_exp")
    assert dict(honest.steps[n].params)["ulp"] == max(PORTABLE["exp"], PORTABLE["exp2"])
    step = honest.steps[n]
    lower = tuple((k, PORTABLE["exp"] if k == "ulp" else v) for k, v in step.params)
    steps = (*honest.steps[:n], replace(step, params=lower))
    forged = replace(honest, steps=steps, nodes=())
    refused(forged, f"step {n} (sum_exp): ulp = {PORTABLE['exp']!r} is no constant")
