"""Values that leave a domain: what is decided by them, or made whole of them, may be anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.emulator import certify, check_certificate
from tang.emulator.certify_arithmetic import Trail
from tang.interpreter import interpret
from tang.kernel.schedule import Schedule

i, j = tg.dims("i j")
a = tg.input("a", (4,))

BODIES = {
    "index": lambda: tg.index(tg.sqrt(a[i])),
    "index of more": lambda: tg.index(tg.sqrt(a[i]) + 3.0) * 10,
    "index of a logarithm": lambda: tg.index(tg.log(a[i]) * 0.0 + 7.0),
    "index of a quotient": lambda: tg.index(1.0 / a[i]),
    "less": lambda: tg.sqrt(a[i]) > -1.0,
    "equal": lambda: tg.sqrt(a[i]) * 0.0 == 0.0,
    "not less": lambda: ~(tg.sqrt(a[i]) < 0.0),
    "nan": lambda: tg.isnan(tg.sqrt(a[i])),
    "nan of a power": lambda: tg.isnan(tg.exp(tg.sqrt(a[i]))),
    "and": lambda: tg.isnan(tg.sqrt(a[i])) & (a[i] < 9.0),
}  # fmt: skip


@pytest.mark.parametrize("ends", [(-7.0, -6.0), (-7.0, 4.0), (-1e-30, 0.0), (1.0, 2.0)], ids=str)
@pytest.mark.parametrize("name", BODIES)
def test_exact_and_computed_values_lie_where_the_certificate_says(name, ends):
    graph = tg.Graph(y=tg.compute("y", (i,), BODIES[name]()))
    certificate = certify(graph, Schedule(), {}, {"a": ends})
    checked = check_certificate(certificate, graph, Schedule())
    assert checked, checked.message
    bound = certificate.bound("y")
    given = {"a": np.linspace(*ends, 4).astype(np.float32).astype(np.float64)}
    exact = np.asarray(interpret(graph, given)["y"], float)
    computed = np.asarray(tg.emulate(graph, given, "f32", rules=())["y"], float)
    assert (exact >= bound.lo).all()
    assert (exact <= bound.hi).all()
    assert (abs(computed - exact) <= bound.error).all()


@pytest.mark.parametrize(("name", "rule", "narrow"), [
    ("index", "to_index", (0.0, 0.0)), ("index", "to_index", (-1.0, 2.0**31 - 1)),
    ("less", "compare", (1.0, 1.0)), ("less", "compare", (0.0, 0.0)),
    ("nan", "isnan", (0.0, 0.0)), ("nan", "isnan", (1.0, 1.0)),
])  # fmt: skip
def test_a_narrower_range_of_what_left_a_domain_is_refused(name, rule, narrow):
    graph = tg.Graph(y=tg.compute("y", (i,), BODIES[name]()))
    made = certify(graph, Schedule(), {}, {"a": (-7.0, -6.0)})
    assert check_certificate(made)
    n = max(n for n, s in enumerate(made.steps) if s.rule == rule)
    step = made.steps[n]
    top = max(map(abs, narrow))
    forged = replace(step, claim=replace(step.claim, lo=narrow[0], hi=narrow[1], top=top))
    checked = check_certificate(replace(made, steps=(*made.steps[:n], forged), nodes=()))
    assert not checked
    assert f"step {n} ({rule}): its " in checked.message


LOST = {
    "exp": lambda: tg.exp(tg.sqrt(a[i])),
    "beside an infinity": lambda: tg.sqrt(a[i]) + tg.real(float("inf")),
    "times an infinity": lambda: tg.sqrt(a[i]) * tg.real(float("inf")),
    "times 0": lambda: tg.sqrt(a[i]) * 0.0,
    "the larger one": lambda: tg.maximum(tg.sqrt(a[i]), float("inf")),
    "folded": lambda: tg.sum(tg.sqrt(a[j]) * 0.0, over=j) + a[i],
    "multiplied": lambda: tg.prod(tg.sqrt(a[j]), over=j) * a[i],
    "smallest": lambda: tg.min(tg.sqrt(a[j]), over=j) * a[i],
    "sign": lambda: tg.select(a[i] < 0.0, -tg.sqrt(a[i]), tg.absolute(tg.sqrt(a[i]))),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_computed_of_a_value_without_a_bound_has_none(name):
    graph = tg.Graph(y=tg.compute("y", (i,), LOST[name]()))
    made = certify(graph, Schedule(), {}, {"a": (-4.0, 4.0)})
    assert check_certificate(made, graph, Schedule())
    bound = made.bound("y")
    assert bound.absolute == np.inf
    assert (bound.nan, bound.vacuous) == ("unknown", True)
    lost = [n for n, s in enumerate(made.steps) if s.args and s.claim.absolute == np.inf]
    for n in lost[1:]:
        step = made.steps[n]
        forged = replace(step, claim=replace(step.claim, absolute=0.0))
        checked = check_certificate(replace(made, steps=(*made.steps[:n], forged), nodes=()))
        assert f"step {n} ({step.rule}): its absolute error is too small" in checked.message


def test_no_weight_that_may_be_no_number_is_lost_beside_a_zero():
    """Weights that may be NaN, and values that are 0; a sum of no terms is 0 whatever they are."""
    trail = Trail(False)
    trail.format("f32")
    params = {"adds": 3, "prods": 1, "formats": "f32", "roundings": "rne",
              "small": "exact", "below": "gradual", "overflow": "inf"}  # fmt: skip
    zero = trail.add("given", lo=0.0, hi=0.0)
    known = trail.add("given", lo=0.0, hi=1.0)
    lost = trail.add("within", trail.add("unknown"), most=1.0, nonnegative=False, why="")
    for weight, finite in ((known, True), (lost, False)):
        assert np.isfinite(trail[trail.add("weighted", weight, zero, n=4, **params)].absolute) == (
            finite
        )
    del params["prods"]
    assert trail[trail.add("sum", lost, n=0, full=True, **params)].exact
