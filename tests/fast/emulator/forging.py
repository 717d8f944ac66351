"""Certificates as they are made, forged and refused, for tests of the checker by itself."""

from __future__ import annotations

from dataclasses import replace

import tang as tg
from tang.emulator import certify, check_certificate
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
