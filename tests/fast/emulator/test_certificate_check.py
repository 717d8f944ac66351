"""The checker of certificates: what is right passes, and whatever is made smaller is refused."""

import math
from dataclasses import replace
from functools import cache

import pytest
from certified_programs import PROGRAMS, schedule_of

from tang.emulator import certify, check_certificate
from tang.emulator.certificate import Constant
from tang.emulator.certificate_check import KNOWN
from tang.emulator.certificate_fold_rules import FOLD_RULES
from tang.emulator.certificate_rules import RULES
from tang.emulator.certificate_whole_rules import WHOLE_RULES
from tang.emulator.ranges import RULES as OWN_RULES
from tang.emulator.ranges_folds import FOLDS
from tang.emulator.ranges_whole import WHOLE_RULES as OWN_WHOLE
from tang.ir.format import ALL_FORMATS
from tang.kernel.schedule import Schedule

EVERY = sorted(RULES | WHOLE_RULES | FOLD_RULES)


@cache
def certificates():
    """All programs in f32 and in narrow formats, by ranges; one by shape, one in WGSL."""
    found = []
    for name, make in PROGRAMS.items():
        graph, sizes, ranges = make()
        found.append(certify(graph, Schedule(), sizes, ranges))
        if name in ("softmax", "layer-norm", "attention"):
            found.append(certify(graph, schedule_of(graph, "f16-split-lanes"), sizes, ranges))
            found.append(certify(graph, Schedule(), sizes))
        if name == "functions":
            free = certify(graph, Schedule(), sizes, ranges, freedom="wgsl", math="wgsl")
            found.append(free)
    return found


def with_step(certificate, n, step):
    return replace(certificate, steps=(*certificate.steps[:n], step, *certificate.steps[n + 1 :]))


def smaller(claim):
    """The claim with one number tightened by 1 %, in every way that there is."""
    span = claim.hi - claim.lo
    if math.isfinite(span) and span > 1e-9 * claim.size:
        yield "hi", replace(claim, hi=claim.hi - 0.01 * span)
        yield "lo", replace(claim, lo=claim.lo + 0.01 * span)
    for name in ("top", "relative", "absolute"):
        value = getattr(claim, name)
        if value > 0:
            tight = 1e300 if math.isinf(value) else value * 0.99
            if tight < value:
                yield name, replace(claim, **{name: tight})
    for special in claim.special:
        rest = tuple(s for s in claim.special if s != special)
        yield f"special {special}", replace(claim, special=rest)


def test_both_sides_have_the_same_rules():
    assert sorted(OWN_RULES | OWN_WHOLE | FOLDS) == EVERY


@pytest.mark.parametrize("n", range(len(PROGRAMS) + 7))
def test_a_certificate_as_it_was_made_is_accepted(n):
    checked = check_certificate(certificates()[n])
    assert checked, checked.message
    assert "steps hold" in checked.message


@pytest.mark.parametrize("rule", EVERY)
def test_a_claim_that_is_made_smaller_by_one_percent_is_refused_with_its_step(rule):
    """Of each rule the first steps of every program, every number of the claim by itself."""
    tried = 0
    for certificate in certificates():
        places = [n for n, s in enumerate(certificate.steps) if s.rule == rule]
        for n in places[:2]:
            step = certificate.steps[n]
            for name, claim in smaller(step.claim):
                short = replace(certificate, steps=certificate.steps[: n + 1], nodes=())
                checked = check_certificate(with_step(short, n, replace(step, claim=claim)))
                assert not checked, (n, step, name)
                assert checked.message.startswith(f"step {n} ({rule}): "), (checked, name)
                tried += 1
    assert tried > 0, f"no program reaches {rule}"


def test_a_larger_claim_is_accepted_and_a_claim_of_nan_is_not():
    certificate = replace(certificates()[0], nodes=())
    last = len(certificate.steps) - 1
    step = certificate.steps[last]
    wider = replace(step.claim, absolute=step.claim.absolute * 2, hi=step.claim.hi + 1)
    lost = replace(step.claim, absolute=math.nan)
    assert check_certificate(with_step(certificate, last, replace(step, claim=wider)))
    assert not check_certificate(with_step(certificate, last, replace(step, claim=lost)))


def test_a_dropped_step_is_refused():
    certificate = certificates()[0]
    for n in range(len(certificate.steps)):
        steps = certificate.steps[:n] + certificate.steps[n + 1 :]
        assert not check_certificate(replace(certificate, steps=steps)), n


def test_an_unknown_rule_a_later_operand_and_a_lost_parameter_are_refused():
    certificate = certificates()[0]
    n = next(n for n, s in enumerate(certificate.steps) if s.rule == "round")
    step = certificate.steps[n]
    for bad, words in (
        (replace(step, rule="magic"), "there is no such rule"),
        (replace(step, args=(n,)), "operands must be earlier steps"),
        (replace(step, params=step.params[:-1]), "it needs a parameter 'overflow'"),
        (replace(step, args=()), "it has 1 operand, not 0"),
    ):
        checked = check_certificate(with_step(certificate, n, bad))
        assert not checked
        assert words in checked.message
        assert checked.message.startswith(f"step {n} (")


def test_wrong_constants_and_formats_are_refused_by_name():
    certificate = certificates()[1]
    for n, constant in enumerate(certificate.constants):
        changed = replace(constant, value=constant.value * 0.99)
        rest = certificate.constants
        bad = replace(certificate, constants=(*rest[:n], changed, *rest[n + 1 :]))
        checked = check_certificate(bad)
        assert not checked, constant
        assert constant.name in checked.message or "is no constant" in checked.message
    first = certificate.formats[0]
    bad = replace(certificate, formats=(replace(first, p=first.p + 1), *certificate.formats[1:]))
    assert f"format {first.name}: it is" in check_certificate(bad).message
    odd = (*certificate.constants, Constant("x", 1.0, "hearsay", "somebody"))
    assert "provenance" in check_certificate(replace(certificate, constants=odd)).message


def test_a_better_ulp_than_the_constant_says_is_refused():
    certificate = certificates()[1]
    n = next(n for n, s in enumerate(certificate.steps) if s.rule == "ulps")
    step = certificate.steps[n]
    params = tuple((k, v * 0.99 if k == "ulp" else v) for k, v in step.params)
    checked = check_certificate(with_step(certificate, n, replace(step, params=params)))
    assert "is no constant of the certificate" in checked.message


def test_only_the_strength_shape_may_assume_that_nothing_overflows():
    graph, sizes, _ = PROGRAMS["softmax"]()
    certificate = certify(graph, Schedule(), sizes)
    assert check_certificate(certificate)
    claimed = check_certificate(replace(certificate, strength="range"))
    assert "only the strength shape may assume" in claimed.message


def test_a_node_that_promises_more_than_its_step_is_refused():
    certificate = certificates()[0]
    b = certificate.nodes[0]
    for bad in (
        replace(b, error=b.error * 0.99), replace(b, absolute=b.absolute * 0.99),
        replace(b, hi=b.hi * 0.99), replace(b, step=b.step - 1), replace(b, step=10**6),
    ):  # fmt: skip
        checked = check_certificate(replace(certificate, nodes=(bad, *certificate.nodes[1:])))
        assert not checked
        assert checked.message.startswith(f"{b.node}.{b.output}: ")


def test_a_vacuous_bound_may_not_be_passed_off_as_one():
    graph, sizes, _ = PROGRAMS["matmul"]()
    certificate = certify(graph, Schedule(), sizes, {"a": (-1, 1)})
    nodes = tuple(replace(b, vacuous=False) for b in certificate.nodes)
    assert "vacuous" in check_certificate(replace(certificate, nodes=nodes)).message


def test_the_checkers_own_formats_are_those_of_the_standards():
    for name, (p, emin, largest, infinity, nan) in KNOWN.items():
        f = ALL_FORMATS[name]
        assert (f.p, f.emin, float(f.largest)) == (p, emin, largest)
        assert (f.has_infinity, f.has_nan) == (infinity, nan)
