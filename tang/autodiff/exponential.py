"""Rules of logsumexp and online softmax.

Defines their pulls, from the stock outputs and from the state. Relies on the winner for the
gradient of the maximum, which only the raw state needs: both outputs are free of it. Probabilities
and their products are nodes read pointwise, so that a schedule may recompute them.

For value = Σ p·v with p = exp(s − m)/l:  dv = p·g,  ds = p·(Σ g·v − Σ g·value)
(Dao et al. 2022, FlashAttention, appendix B; the second sum is their D).
"""

from __future__ import annotations

from tang.autodiff.algebra import ZERO, add, choose, mul, sub
from tang.autodiff.element import identity_view
from tang.autodiff.factors import Factor, project_form, whole_form
from tang.autodiff.frame import Frame, Pull
from tang.autodiff.shared import domain, gated, shared_node
from tang.autodiff.winner import position, winner
from tang.ir import monoids
from tang.ir.derived import exp
from tang.ir.expr import Expr, apply, named
from tang.ir.graph import Dim
from tang.ir.monoid import Monoid
from tang.ir.view import Ref

Finished = tuple[list[Pull], set[str]]
"""Pulls from outputs directly, and the names of these outputs."""


def stock_outputs(frame: Frame, monoid: Monoid, factor: Factor, stock: Monoid) -> list[str]:
    """Outputs with cotangents that project this factor as the stock monoid does."""
    every = tuple(range(len(stock.components)))
    whole = Factor(tuple(range(len(stock.inputs))), every, "")
    wanted = project_form(stock, whole, 0)
    found = [
        o.name
        for n, o in enumerate(monoid.outputs)
        if Ref(frame.node.name, o.name) in frame.tape.terms
        and project_form(monoid, factor, n) is wanted
    ]
    return found if whole_form(stock) else []


def _weight(score: Expr, minus: Expr) -> Expr:
    """exp(score − minus), and 0 for a score of −inf."""
    dead = apply("eq", score, named("-inf"))
    return choose(dead, ZERO, exp(sub(score, minus)))


# --- logsumexp -----------------------------------------------------------------------------------


def finish_logsumexp(frame: Frame, monoid: Monoid, factor: Factor) -> Finished:
    """value = log Σ exp(x): d x = g · exp(x − value), 0 for x = −inf."""
    names = stock_outputs(frame, monoid, factor, monoids.LOGSUMEXP)
    (k,) = factor.inputs
    pulls = []
    for name in names:
        g = frame.cotangent(name)
        weight = _weight(frame.node.body[k], frame.result(name))
        value = frame.derivative().times(g, weight)
        pulls.append(Pull(frame.node.dims, {k: value}))
    return pulls, set(names)


def pull_logsumexp(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """From the state: d x = exp(x − m)·dl, and the maximum takes dm − l·dl.

    At m = +inf the sum is 1 by definition, so dl goes nowhere.
    """
    m, total = (monoid.components[c].name for c in factor.components)
    (k,) = factor.inputs
    dims = domain(frame, factor.components)
    to_m, to_l = frame.cotangent(m), frame.cotangent(total)
    times = frame.derivative().times
    top = frame.result(m)
    if to_l is not ZERO:
        to_l = choose(apply("eq", top, named("inf")), ZERO, to_l)
    value = times(to_l, _weight(frame.node.body[k], top))
    rest = to_m if to_l is ZERO else sub(to_m, times(to_l, frame.result(total)))
    return [Pull(dims, {k: add(value, _of_maximum(frame, k, dims, rest))})]


def _of_maximum(frame: Frame, k: int, dims: tuple[Dim, ...], cotangent: Expr) -> Expr:
    """The cotangent of the maximum, at the element that is it."""
    won = winner(frame, k, dims, "max")
    if won is None:
        return ZERO
    return gated(apply("eq", position(frame.node.reduce), won), cotangent)


# --- online softmax ------------------------------------------------------------------------------


def finish_softmax(frame: Frame, monoid: Monoid, factor: Factor) -> Finished:
    """value = Σ softmax(s)·v: the maximum takes nothing, since value is free of it."""
    names = stock_outputs(frame, monoid, factor, monoids.ONLINE_SOFTMAX)
    pulls: list[Pull] = []
    for name in names:
        pulls += _softmax_output(frame, monoid, factor, name)
    return pulls, set(names)


def _softmax_output(frame: Frame, monoid: Monoid, factor: Factor, name: str) -> list[Pull]:
    node, where = frame.node, frame.node.where
    score, value = _score_and_value(monoid, factor)
    rows = domain(frame, factor.components[1:2])
    columns = _apart(node.point, rows)
    probability = _probability(frame, monoid, factor, score, rows)
    g = frame.cotangent(name)
    times = frame.derivative().times
    delta = _summed(frame, "delta", times(g, frame.result(name)), _points(frame, rows), columns)
    product = times(g, node.body[value])
    if columns:
        there = identity_view([d.name for d in rows])
        made = shared_node(frame, "product", product, rows, columns, where)
        product = frame.read(made, there, masked=frame.is_masked(g))
    pull = mul(probability, sub(product, delta))
    return [Pull(rows, {score: pull}), Pull(node.dims, {value: times(g, probability)})]


def _probability(
    frame: Frame, monoid: Monoid, factor: Factor, score: int, rows: tuple[Dim, ...]
) -> Expr:
    """exp(s − m) / l at every element, as a node of its own; 0 where excluded."""
    m, total = (frame.result(monoid.components[c].name) for c in factor.components[:2])
    weight = _weight(frame.node.body[score], m)
    value = mul_inside(weight, apply("recip", total))
    made = shared_node(frame, "probability", value, rows, (), frame.node.where)
    return frame.read(made, identity_view([d.name for d in rows]))


def mul_inside(weight: Expr, factor: Expr) -> Expr:
    """weight · factor with a zero branch of the weight kept apart."""
    if weight.op == "select":
        return choose(weight.args[0], weight.args[1], mul(weight.args[2], factor))
    return mul(weight, factor)


def _score_and_value(monoid: Monoid, factor: Factor) -> tuple[int, int]:
    """Positions of the inputs: the score is what the maximum is lifted from."""
    score = monoid.lift[factor.components[0]].payload
    (value,) = (k for k in factor.inputs if k != score)
    return int(str(score)), value


def _apart(dims: tuple[Dim, ...], rows: tuple[Dim, ...]) -> tuple[Dim, ...]:
    return tuple(d for d in dims if d not in rows)


def _points(frame: Frame, rows: tuple[Dim, ...]) -> tuple[Dim, ...]:
    return tuple(d for d in rows if d in frame.node.point)


def _summed(
    frame: Frame, name: str, value: Expr, dims: tuple[Dim, ...], over: tuple[Dim, ...]
) -> Expr:
    """Σ of a value over point dims, as a node; the value itself where there are none."""
    if value is ZERO or not over:
        return value
    masked = frame.is_masked(value)
    made = shared_node(frame, name, value, dims, over)
    return frame.read(made, identity_view([d.name for d in dims]), masked=masked)


def pull_softmax(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """From the state (m, l, acc), with w = exp(s − m): dv = w·dacc and

    ds = w·(Σ dacc·v + dl), and the maximum takes dm − l·dl − Σ acc·dacc.
    """
    node = frame.node
    m, total, acc = (monoid.components[c].name for c in factor.components)
    score, value = _score_and_value(monoid, factor)
    rows = domain(frame, factor.components[:2])
    wide = domain(frame, factor.components)
    columns = _apart(wide, rows)
    to_m, to_l, to_acc = (frame.cotangent(n) for n in (m, total, acc))
    times = frame.derivative().times
    weight = _weight(node.body[score], frame.result(m))
    product = times(to_acc, node.body[value])
    if product is not ZERO and columns:
        made = shared_node(frame, "product", product, rows, columns, node.where)
        product = frame.read(made, identity_view([d.name for d in rows]), masked=True)
    held = ZERO if to_acc is ZERO else times(to_acc, frame.result(acc))
    held = _summed(frame, "held", held, _points(frame, rows), columns)
    held = add(held, ZERO if to_l is ZERO else times(to_l, frame.result(total)))
    pull = times(add(product, to_l), weight)
    pull = add(pull, _of_maximum(frame, score, rows, sub(to_m, held)))
    return [Pull(rows, {score: pull}), Pull(wide, {value: times(to_acc, weight)})]
