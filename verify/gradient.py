"""Gradients against dual numbers.

Defines `check_gradient` and `judge_gradient`: for tangents t of the inputs, Σ gradient · t must be
the tangent of the loss that forward-mode differentiation finds in the interpreter. Relies on the
equality of two f64 evaluations. It cannot see an error that is orthogonal to every tangent tried,
and where either side is not finite it sees nothing, which is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

import numpy as np

from tang.autodiff import grad, gradient_name
from tang.errors import GraphError
from tang.interpreter import BallArithmetic, Balls, Decision, Measured, compare, decide
from tang.interpreter.arithmetic import Arithmetic, Value
from tang.interpreter.balls import ball_table
from tang.interpreter.definition import evaluate
from tang.interpreter.dual import evaluate_dual
from tang.interpreter.equality import MARGIN, PRECISIONS, SMALL, scale_of
from tang.interpreter.f64 import F64
from tang.interpreter.measured import MEASURED
from tang.ir.expr import REAL, Expr, apply, arg, index, iota, real
from tang.ir.graph import Comprehension, Dim, Graph, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable

TRIALS: Final = 2
WEIGHTS: Final = 7
"""Elements of a loss that is no scalar are weighted −3 … 3 in turn."""
Array = Any


@dataclass(frozen=True, slots=True)
class Judged:
    """What is wrong with a gradient, None for nothing, and how much of it was looked at.

    elements   of the gradient that were held against dual numbers
    undecided  of those, all when balls decided no direction
    skipped    the others: the data, the loss or a derivative is not finite there
    """

    wrong: str | None
    elements: int = 0
    undecided: int = 0
    skipped: int = 0


def check_gradient(
    graph: Graph,
    loss: str,
    wrt: Sequence[str],
    inputs: Mapping[str, Any],
    seed: int = 0,
    *,
    strict: bool = False,
) -> str | None:
    """None when the gradient of the loss fits dual numbers, else what does not fit.

    A loss that is no scalar is first summed with weights. Where inputs or the loss are not finite
    there is no derivative to check. What `grad` raises is passed on.
    """
    if not all(_is_finite(a) for a in inputs.values()):
        return None
    scalar = with_scalar_loss(graph, loss)
    made = grad(scalar, loss, wrt, strict=strict)
    return judge_gradient(scalar, made, loss, wrt, inputs, seed, strict=strict).wrong


def judge_gradient(
    graph: Graph,
    made: Graph,
    loss: str,
    wrt: Sequence[str],
    inputs: Mapping[str, Any],
    seed: int = 0,
    *,
    strict: bool = False,
) -> Judged:
    """A program with a scalar loss against what `grad` made of it.

    A strict gradient multiplies as IEEE does, so that 0 · ∞ is NaN where dual numbers have 0: such
    elements are skipped, all others are compared along directions that leave them out.
    """
    total = sum(np.size(inputs[x]) for x in wrt)
    if not all(_is_finite(a) for a in inputs.values()):
        return Judged(None, skipped=total)
    outputs = tuple(o for o in graph.outputs if o.name == loss)
    forward = Graph(graph.inputs, graph.nodes, outputs, graph.facts)
    kept = _numbers(made, loss, wrt, inputs) if strict else {}
    decisions = set()
    rng = np.random.default_rng(seed)
    for trial in range(TRIALS):
        tangents = {x: _tangent(rng, np.shape(inputs[x])) for x in wrt}
        tangents = {x: np.where(kept.get(x, True), t, 0.0) for x, t in tangents.items()}
        decision, text = _difference(forward, made, loss, inputs, tangents)
        if decision is Decision.DIFFERENT:
            return Judged(f"gradient of {loss!r} in {', '.join(wrt)}, direction {trial}: {text}")
        decisions.add(decision)
    seen = total - sum(int((~k).sum()) for k in kept.values()) if decisions != {None} else 0
    undecided = 0 if Decision.EQUAL in decisions else seen
    return Judged(None, seen, undecided, total - seen)


def _numbers(
    made: Graph, loss: str, wrt: Sequence[str], inputs: Mapping[str, Any]
) -> dict[str, Array]:
    """By input: which elements of its gradient are finite."""
    with np.errstate(all="ignore"):
        found = evaluate(made, inputs, F64)
    return {x: np.isfinite(found[gradient_name(x, loss)]) for x in wrt}


def _is_finite(a: Array) -> bool:
    found = np.asarray(a)
    return found.dtype.kind != "f" or bool(np.all(np.isfinite(found)))


def with_scalar_loss(graph: Graph, loss: str) -> Graph:
    """The program whose output `loss` is Σ weight · element of what it was; scalars stay."""
    output = next((o for o in graph.outputs if o.name == loss), None)
    if output is None or graph.sort(output.ref) is not REAL:
        raise GraphError(f"no real output {loss!r} to differentiate")
    shape = graph.shape(output.ref)
    if not shape:
        return graph
    dims = tuple(Dim(f"w{n}", e) for n, e in enumerate(shape))
    name = "weighted_loss"
    while name in {n.name for n in graph.nodes} | {i.name for i in graph.inputs}:
        name += "_"
    read = Read(output.ref, View(tuple(variable(d.name) for d in dims)))
    body = apply("mul", _weight(dims), arg(0))
    node = Comprehension(name, (), (read,), (body,), dims, (), SUM)
    outputs = tuple(o for o in graph.outputs if o.name != loss)
    outputs = (*outputs, Output(loss, Ref(name, "value")))
    return Graph(graph.inputs, (*graph.nodes, node), outputs, graph.facts)


def _weight(dims: Sequence[Dim]) -> Expr:
    """((2·w0 + 3·w1 + …) mod 7) − 3, so that neither sums nor symmetric terms vanish."""
    total = index(1)
    for n, d in enumerate(dims):
        total = apply("add", total, apply("mul", index(n + 2), iota(d.name)))
    return apply("to_real", apply("add", apply("mod", total, index(WEIGHTS)), index(-3)))


def _tangent(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Small dyadic numbers, none of them 0."""
    return np.asarray(rng.choice((-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0), shape))


def _difference(
    forward: Graph, made: Graph, loss: str, inputs: Mapping[str, Any], tangents: dict[str, Array]
) -> tuple[Decision | None, str]:
    """Whether the two derivatives agree along one direction, and what distinguishes them.

    None where there is no derivative to compare.
    """
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(evaluate(forward, inputs, F64)[loss])):
            return None, ""
        value, slope = _both(forward, made, loss, inputs, tangents, MEASURED)
        if not np.all(np.isfinite(slope.value)):
            return None, ""
        if np.all(compare(value, slope)):
            return Decision.EQUAL, ""
        if _is_close(value, slope, _size(made, loss, inputs, tangents)):
            return Decision.EQUAL, ""
    scale = np.maximum(scale_of(value), scale_of(slope))

    @cache
    def sides(prec: int) -> tuple[Balls, Balls]:
        with np.errstate(all="ignore"):
            found = _both(forward, made, loss, inputs, tangents, ball_table(prec))
        return Balls(found[0], REAL), Balls(found[1], REAL)

    value_ball, slope_ball = sides(PRECISIONS[0])
    if not _is_number(slope_ball):
        return None, ""
    if not _is_number(value_ball) and not _is_defined(forward, loss, inputs, tangents):
        return None, ""
    pending = np.ones((), np.bool_)
    found = decide(lambda p: sides(p)[0], lambda p: sides(p)[1], pending, scale)
    return Decision(int(found)), (
        f"Σ gradient · t = {float(value.value)!r}, but dual numbers give "
        f"{float(slope.value)!r} (errors {float(value.err):.1e} and {float(slope.err):.1e})"
    )


def _is_close(value: Measured, slope: Measured, size: float) -> bool:
    """Whether two sums that cancelled agree within errors that are small against their terms."""
    err = float(value.err + slope.err)
    close = abs(float(value.value) - float(slope.value)) <= MARGIN * err
    return close and err <= SMALL * size < np.inf


def _size(made: Graph, loss: str, inputs: Mapping[str, Any], tangents: dict[str, Array]) -> float:
    """Σ |gradient · t|, the size of the terms behind Σ gradient · t."""
    found = evaluate(made, inputs, F64)
    pairs = ((found[gradient_name(x, loss)], t) for x, t in tangents.items())
    return float(sum(np.sum(np.abs(g[t != 0] * t[t != 0])) for g, t in pairs))


def _is_number(side: Balls) -> bool:
    """Whether a derivative is a number when nothing overflows or vanishes."""
    return bool(np.all(np.isfinite(BallArithmetic().to_f64(side.value))))


def _is_defined(
    graph: Graph, loss: str, inputs: Mapping[str, Any], tangents: dict[str, Array]
) -> bool:
    """Whether forward mode finds a number without taking 0 · ∞ for 0.

    Otherwise a cotangent may be infinite or undefined where a tangent happens to be 0.
    """
    with np.errstate(all="ignore"):
        _, slopes = evaluate_dual(graph, inputs, tangents, F64, absorb=False)
    return _is_finite(slopes[loss])


def _both(
    forward: Graph,
    made: Graph,
    loss: str,
    inputs: Mapping[str, Any],
    tangents: dict[str, Array],
    table: Arithmetic,
) -> tuple[Value, Value]:
    """Σ gradient · t over tangents other than 0, and the tangent of the loss, in an arithmetic."""
    gradients = evaluate(made, inputs, table)
    total = table.constant(real(0))
    add, mul = table.ops["add", REAL], table.ops["mul", REAL]
    for x, t in tangents.items():
        products = mul(gradients[gradient_name(x, loss)], table.leaf(t, REAL))
        for place in filter(t.__getitem__, np.ndindex(*t.shape)):
            total = add(total, table.structure(partial(_element, place), products))
    _, slopes = evaluate_dual(forward, inputs, tangents, table)
    slope = table.structure(lambda a: np.asarray(a).reshape(()), slopes[loss])
    return total, slope


def _element(place: tuple[int, ...], array: Array) -> Array:
    """One element as a 0-d array, also of an array of objects."""
    return array[(*place, ...)]
