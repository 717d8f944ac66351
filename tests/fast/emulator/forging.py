"""Certificates as they are made, forged and refused, for tests of the checker by itself."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import tang as tg
from tang.emulator import certify, check_certificate
from tang.interpreter import interpret
from tang.kernel.schedule import Schedule


def made(result, ranges, schedule=None, **options):
    """An honest certificate, which is accepted."""
    graph = tg.Graph(y=result)
    found = certify(graph, schedule or Schedule(), {}, ranges, **options)
    checked = check_certificate(found)
    assert checked, checked.message
    return found


def last(certificate, rule):
    """The last step of a rule."""
    return max(n for n, s in enumerate(certificate.steps) if s.rule == rule)


def with_step(certificate, at, /, claim=None, args=None, **params):
    """The certificate up to a step with another claim, operands or parameters, without rows."""
    step = certificate.steps[at]
    assert set(params) <= {name for name, _ in step.params}
    given = tuple((name, params.get(name, v)) for name, v in step.params)
    forged = replace(step, args=args or step.args, params=given, claim=claim or step.claim)
    return replace(certificate, steps=(*certificate.steps[:at], forged), nodes=())


def refused(certificate, *words):
    """A certificate that is not accepted, for a reason with these words."""
    checked = check_certificate(certificate)
    assert not checked
    for w in words:
        assert w in checked.message, checked.message


def holds(bound, exact, computed):
    """Whether a bound and its verdict about NaN are true of values."""
    if bound.nan == "cannot be NaN" and np.isnan(computed).any():
        return False
    if math.isinf(bound.error):
        return True
    same = (exact == computed) | (np.isnan(exact) & np.isnan(computed))
    with np.errstate(invalid="ignore"):
        return bool((same | (np.abs(computed - exact) <= bound.error)).all())


def judged(graph, schedule, ranges, data):
    """The bound of y, accepted with its program, and whether it is true of data."""
    certificate = certify(graph, schedule, {}, ranges)
    checked = check_certificate(certificate)
    assert checked, checked.message
    checked = check_certificate(certificate, graph, schedule)
    assert checked, checked.message
    exact = np.asarray(interpret(graph, data)["y"], np.float64)
    found = np.asarray(tg.emulate(graph, data, schedule, rules=())["y"], np.float64)
    ref = next(o.ref for o in graph.outputs if o.name == "y")
    bound = certificate.bound(ref.node, ref.output)
    with np.errstate(invalid="ignore"):
        inside = (exact >= bound.lo) & (exact <= bound.hi) | ~np.isfinite(exact)
    assert inside.all(), (bound, exact)
    assert holds(bound, exact, found), (bound, exact, found)
    return bound, exact, found
