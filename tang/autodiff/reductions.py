"""Rules: how cotangents go back through a reduction.

Defines `pull_reduction`. Outputs are projections of the state, so cotangents first go back to the
state's components (as through a map), then through each factor of the monoid by its rule. Relies
on frames; rules for softmax, scans and monoids in general are in modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tang.autodiff.algebra import ZERO, add, mul, sub
from tang.autodiff.exponential import (
    Finished,
    finish_logsumexp,
    finish_softmax,
    pull_logsumexp,
    pull_softmax,
)
from tang.autodiff.factors import Factor, factors_of
from tang.autodiff.frame import Frame, Pull
from tang.autodiff.general import pull_any
from tang.autodiff.project import pull_outputs
from tang.autodiff.recurrence import pull_affine_scan
from tang.autodiff.shared import domain, gated
from tang.autodiff.winner import position, winner
from tang.ir.expr import INDEX, REAL, apply, index, real
from tang.ir.monoid import Monoid
from tang.ir.view import Ref

Rule = Callable[[Frame, Monoid, Factor], list[Pull]]


def pull_reduction(frame: Frame, monoid: Monoid) -> list[Pull]:
    """Cotangents of the monoid's inputs, from those of its outputs and components."""
    whole: list[Pull] = []
    done: set[str] = set()
    for factor in factors_of(monoid):
        if factor.rule in FINISHED:
            found, names = FINISHED[factor.rule](frame, monoid, factor)
            whole += found
            done |= names
    pull_outputs(frame, monoid, done)
    for factor in factors_of(monoid):
        if _has_cotangent(frame, monoid, factor):
            whole += RULES[factor.rule](frame, monoid, factor)
    return whole


def _has_cotangent(frame: Frame, monoid: Monoid, factor: Factor) -> bool:
    refs = [Ref(frame.node.name, monoid.components[c].name) for c in factor.components]
    return any(r in frame.tape.terms or r in frame.tape.settled for r in refs)


def _sum(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """Σ: every element gets the cotangent of the sum."""
    (c,), (k,) = factor.components, factor.inputs
    value = frame.cotangent(monoid.components[c].name)
    return [Pull(domain(frame, (c,)), {k: value})]


def _extremum(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """max, min: the element whose index won gets everything, whatever else is equal to it."""
    (c,), (k,) = factor.components, factor.inputs
    value = frame.cotangent(monoid.components[c].name)
    dims = domain(frame, (c,))
    won = winner(frame, k, dims, factor.rule)
    if won is None or value is ZERO:
        return []
    return [Pull(dims, {k: gated(apply("eq", position(frame.node.reduce), won), value)})]


def _ranked(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """argmax, argmin, top-k: the element that carries the index found gets the cotangent.

    Along the rank axis every rank looks for its own element; an absent one has index −1.
    """
    best, at = factor.components
    value_input, index_input = _inputs_in_order(monoid, factor)
    value = frame.cotangent(monoid.components[best].name)
    if value is ZERO:
        return []
    where = frame.result(monoid.components[at].name)
    test = apply("eq", where, frame.node.body[index_input])
    if factor.rule == "top-k":
        test = apply("and", test, apply("lt", index(-1), where))
    names = monoid.components[best].axes
    axes = tuple(d for d in frame.axes if d.name in names)
    dims = (*domain(frame, factor.components), *axes)
    return [Pull(dims, {value_input: gated(test, value)})]


def _inputs_in_order(monoid: Monoid, factor: Factor) -> tuple[int, int]:
    """The positions of the real and of the index input."""
    real_input = next(k for k in factor.inputs if monoid.inputs[k] is REAL)
    index_input = next(k for k in factor.inputs if monoid.inputs[k] is INDEX)
    return real_input, index_input


def _welford(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """mean = Σx/n, m2 = Σ(x − mean)²: d x = d mean / n + 2 (x − mean) · d m2."""
    n, mean, m2 = (monoid.components[c].name for c in factor.components)
    (k,) = factor.inputs
    to_mean, to_m2 = frame.cotangent(mean), frame.cotangent(m2)
    times = frame.derivative().times
    value = ZERO
    if to_mean is not ZERO:
        value = times(to_mean, apply("recip", frame.result(n)))
    if to_m2 is not ZERO:
        off = sub(frame.node.body[k], frame.result(mean))
        value = add(value, times(to_m2, mul(real(2), off)))
    return [Pull(domain(frame, factor.components), {k: value})]


RULES: Final[dict[str, Rule]] = {
    "sum": _sum,
    "max": _extremum,
    "min": _extremum,
    "argmax": _ranked,
    "argmin": _ranked,
    "top-k": _ranked,
    "logsumexp": pull_logsumexp,
    "online-softmax": pull_softmax,
    "welford": _welford,
    "affine-scan": pull_affine_scan,
    "any": pull_any,
}

FINISHED: Final[dict[str, Callable[[Frame, Monoid, Factor], Finished]]] = {
    "logsumexp": finish_logsumexp,
    "online-softmax": finish_softmax,
}
"""Rules from an output directly, where that is simpler or more accurate than from the state."""
