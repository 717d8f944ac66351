"""Reverse-mode differentiation: a program and its gradient as one program.

Defines `grad` and `gradient`, which also returns notes on what was decided. Relies on frames and
on the rules of reductions; the result is validated. It schedules nothing and evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tang.autodiff.algebra import ZERO
from tang.autodiff.degree import stabilisers
from tang.autodiff.frame import Frame, Pull, distribute
from tang.autodiff.reductions import pull_reduction
from tang.autodiff.tape import Tape
from tang.errors import GraphError
from tang.ir.expr import REAL
from tang.ir.graph import Comprehension, Graph, Output, require_graph, without_dead
from tang.ir.validate import validate
from tang.ir.view import Ref


@dataclass(frozen=True, slots=True)
class Gradient:
    """The program that computes a loss and its gradient, and what was decided on the way."""

    graph: Graph
    notes: tuple[str, ...]


def grad(graph: Graph, loss: str, wrt: Sequence[str], *, strict: bool = False) -> Graph:
    """The program whose outputs are the loss, under its name, and `d_x` for every x of `wrt`.

    `loss` names a scalar real output, `wrt` real inputs; other outputs are dropped. With `strict`
    cotangents are multiplied as IEEE does, otherwise what a branch or guard left out stays 0 even
    against an infinite derivative. Raises GraphError for names and sorts that do not fit.
    """
    return gradient(graph, loss, wrt, strict=strict).graph


def gradient(graph: Graph, loss: str, wrt: Sequence[str], *, strict: bool = False) -> Gradient:
    """As `grad`, with the notes: which maxima were dropped by a degree proof, and which kept."""
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    seed = _loss(require_graph(graph), loss)
    _check_wrt(graph, names)
    validate(graph)
    tape = Tape(graph, strict)
    active = _active(graph, names)
    dropped, notes = stabilisers(graph, seed, active)
    tape.notes += notes
    active -= dropped
    if seed in active:
        tape.seed(seed)
    for node in reversed(graph.nodes):
        _pull_back(tape, node, active)
    gradients = [Output(gradient_name(x, loss), tape.tensor(Ref(x))) for x in names]
    if len({o.name for o in gradients}) < len(gradients):
        raise GraphError(
            f"grad: two gradients would have one name beside the loss {loss!r}: rename it"
        )
    outputs = (Output(loss, seed), *gradients)
    whole = replace(graph, nodes=(*graph.nodes, *tape.nodes), outputs=outputs)
    made = without_dead(whole)
    validate(made)
    return Gradient(made, tuple(tape.notes))


def gradient_name(x: str, loss: str) -> str:
    """The output that holds the gradient in x: d_x, or d_x_2 where the loss is itself d_x."""
    name = f"d_{x}"
    return f"{name}_2" if name == loss else name


def _loss(graph: Graph, loss: str) -> Ref:
    found = next((o.ref for o in graph.outputs if o.name == loss), None)
    known = ", ".join(repr(o.name) for o in graph.outputs)
    if found is None:
        raise GraphError(f"grad: no output {loss!r} to differentiate: one of {known}")
    if graph.sort(found) is not REAL:
        raise GraphError(
            f"grad: the loss {loss!r} is {graph.sort(found).value}, and only reals have gradients: "
            f"name a real output"
        )
    shape = graph.shape(found)
    if shape:
        text = "(" + ", ".join(map(str, shape)) + ",)" if len(shape) == 1 else str(shape)
        raise GraphError(
            f"grad: the loss {loss!r} has shape {text}, not (): sum it first, "
            f"or weight its elements and sum them"
        )
    return found


def _check_wrt(graph: Graph, names: Sequence[str]) -> None:
    if not names:
        raise GraphError("grad: wrt is empty: name at least one real input")
    known = {i.name: i for i in graph.inputs}
    for n in names:
        if n not in known:
            listed = ", ".join(map(repr, known))
            raise GraphError(f"grad: wrt names {n!r}, which is no input: one of {listed}")
        if known[n].sort is not REAL:
            raise GraphError(
                f"grad: input {n!r} is {known[n].sort.value}, and only reals have gradients: "
                f"leave it out of wrt"
            )
        if names.count(n) > 1:
            raise GraphError(f"grad: wrt names {n!r} twice: name it once")


def _active(graph: Graph, names: Sequence[str]) -> frozenset[Ref]:
    """Every real tensor that depends on an input of wrt through real values."""
    found = {Ref(n) for n in names}
    for node in graph.nodes:
        if any(r.source in found for r in node.reads):
            found |= {Ref(node.name, o) for o in node.output_names() if _is_real(node, o)}
    return frozenset(found)


def _is_real(node: Comprehension, output: str) -> bool:
    if node.monoid is None:
        return node.body[node.outputs.index(output)].sort is REAL
    parts = (*node.monoid.outputs, *node.monoid.components)
    return next(c.sort for c in parts if c.name == output) is REAL


def _pull_back(tape: Tape, node: Comprehension, active: frozenset[Ref]) -> None:
    """Send the cotangents of a node's results on to what it reads."""
    names = [o for o in node.output_names() if Ref(node.name, o) in tape.terms]
    if not names or not any(r.source in active for r in node.reads):
        return
    frame = Frame(tape, node)
    if node.monoid is not None:
        distribute(frame, pull_reduction(frame, node.monoid), active)
        return
    values = {k: frame.cotangent(o) for k, o in enumerate(node.outputs) if o in names}
    kept = {k: v for k, v in values.items() if v is not ZERO}
    distribute(frame, [Pull(node.point, kept)], active)
