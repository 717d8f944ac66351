"""T = Σ|terms| of every element of a program: the scale that rounding in sums is measured by.

Defines `terms_of`. Relies on f64 evaluation of nodes changed to sum magnitudes. It bounds nothing.

Of a reduction T sums the magnitudes of what is summed: Σ|body| of a sum, the weighted mean of |v|
of an online softmax, the mean of |x| of Welford's. Of a map T follows sums, products, negations and
choices of its sources' T; any other function starts anew with the magnitude of its value. T is
never below the magnitude of the element itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.budget.report_isolate import isolated, sources_of, split_sums
from tang.interpreter import fast_interpret
from tang.ir import derived
from tang.ir.expr import REAL, Expr, apply, arg, named, real, walk
from tang.ir.graph import Comprehension, Graph, Input
from tang.ir.monoids import ONLINE_SOFTMAX, WELFORD, is_plain_sum
from tang.ir.view import Read, Ref

Array = npt.NDArray[Any]
Tensors = Mapping[Ref, Array]


def terms_of(graph: Graph, exact: Tensors, *, through: bool = False) -> dict[Ref, Array]:
    """T of every real tensor of a program whose extents are numbers, inputs included.

    through  T of a reduction sums the T of its sources instead of their magnitudes: the program
             over |inputs| with every subtraction an addition, which whole-program bounds are of
    """
    found = {Ref(i.name): np.abs(exact[Ref(i.name)]) for i in graph.inputs if i.sort is REAL}
    for node in graph.nodes:
        found |= _of_node(graph, node, exact, found, through)
    return found


def _of_node(
    graph: Graph, node: Comprehension, exact: Tensors, terms: Tensors, through: bool
) -> dict[Ref, Array]:
    """T of every real result of a node, from the values and the T of its sources."""
    alone, names = isolated(graph, node), sources_of(node)
    data = {name: exact[ref] for ref, name in names.items()}
    summed = _summed(node)
    if node.monoid is None or (through and any(summed)):
        alone = _followed(alone, summed)
        data |= {_scale(n): terms[r] for r, n in names.items() if r in terms}
    else:
        body = zip(node.body, summed, strict=True)
        changed = tuple(_magnitude(e) if is_summed else e for e, is_summed in body)
        alone = replace(alone, nodes=(replace(alone.nodes[0], body=changed),))
    alone = split_sums(alone)
    values = fast_interpret(alone, {i.name: data[i.name] for i in alone.inputs})
    sorts = {n: node.tensor(n).sort for n in node.output_names()}
    found = {Ref(node.name, n): np.abs(a) for n, a in values.items() if sorts[n] is REAL}
    return {r: np.fmax(a, np.abs(exact[r])) for r, a in found.items()}


def _summed(node: Comprehension) -> tuple[bool, ...]:
    """Which bodies are terms of a sum; those of a map count as such."""
    count = len(node.body)
    if node.monoid == ONLINE_SOFTMAX:
        return (False, *(True for _ in node.body[1:]))
    sums = node.monoid in (None, WELFORD) or is_plain_sum(node.monoid)
    return (sums,) * count


def _magnitude(e: Expr) -> Expr:
    """|e|; of a product the product of magnitudes, which stays one of factors."""
    if e.sort is not REAL:
        return e
    if e.op == "mul":
        return apply("mul", *(_magnitude(a) for a in e.args))
    return derived.absolute(e)


def _scale(name: str) -> str:
    """The input that holds the T of a source."""
    return f"terms of {name}"


def _followed(alone: Graph, summed: tuple[bool, ...]) -> Graph:
    """The node of T: it reads its sources' values, and their T where T follows from T."""
    (node,) = alone.nodes
    reals = [i for i, r in enumerate(node.reads) if alone.sort(r.source) is REAL]
    places = {read: len(node.reads) + k for k, read in enumerate(reals)}
    reads = tuple(_scale_read(node.reads[i]) for i in reals)
    used = {r.source.node for r in reads}
    extra = tuple(Input(_scale(i.name), i.shape) for i in alone.inputs if _scale(i.name) in used)
    pairs = zip(node.body, summed, strict=True)
    body = tuple(_follow(e, places) if is_summed else e for e, is_summed in pairs)
    changed = replace(node, reads=(*node.reads, *reads), body=body)
    return replace(alone, inputs=(*alone.inputs, *extra), nodes=(changed,))


def _scale_read(read: Read) -> Read:
    """The read of a source's T: outside of the source stands the magnitude of the fill."""
    view = read.view
    if view.fill is not None:
        view = replace(view, fill=_size(view.fill))
    return Read(Ref(_scale(read.source.node)), view)


def _size(constant: Expr) -> Expr:
    """The magnitude of a real constant."""
    value = constant.payload
    if isinstance(value, Fraction):
        return real(abs(value))
    return {"-inf": named("inf"), "-0.0": real(0)}.get(str(value), constant)


def _follow(root: Expr, places: Mapping[int, int]) -> Expr:
    """T of an expression over the T of its reads."""
    if root.sort is not REAL:
        return root
    done: dict[int, Expr] = {}
    for e in walk(root):
        if e.sort is REAL:
            done[id(e)] = _step(e, done, places)
    return done[id(root)]


def _step(e: Expr, done: Mapping[int, Expr], places: Mapping[int, int]) -> Expr:
    if e.op == "arg" and isinstance(e.payload, int):
        return arg(places[e.payload])
    if e.op in ("add", "mul"):
        return apply(e.op, *(done[id(a)] for a in e.args))
    if e.op == "neg":
        return done[id(e.args[0])]
    if e.op == "select":
        return apply("select", e.args[0], *(done[id(a)] for a in e.args[1:]))
    return derived.absolute(e)
