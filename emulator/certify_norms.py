"""Quotients by the root of a mean of squares: no element of a norm exceeds √n.

Defines `most_of_norm`. Relies on matching, as the other relations do: c/√(V + ε) with ε > 0 is at
most √n in size where n·V = Σ c² over elements of which c is one, be V a quotient, a node that
holds it, or the variance of a Welford reduction whose average c was freed of.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tang.emulator.certify_forms import parts
from tang.emulator.certify_matching import Frame, Reduction, arg_read, element_of
from tang.emulator.certify_monoids import groups_of
from tang.ir.expr import Expr
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoids import WELFORD
from tang.ir.view import Read, View


def most_of_norm(graph: Graph, node: Comprehension, above: Expr, below: Expr) -> float | None:
    """The largest |above / below| where that is such a quotient, or None."""
    if below.op != "sqrt" or below.args[0].op != "add":
        return None
    for spread, rest in (below.args[0].args, below.args[0].args[::-1]):
        if rest.op == "real" and isinstance(rest.payload, Fraction) and rest.payload > 0:
            n = _count(graph, node, above, spread)
            if n is not None:
                return math.sqrt(n) * (1 + 2.0**-40)
    return None


def _count(graph: Graph, node: Comprehension, c: Expr, spread: Expr) -> int | None:
    """n, where spread is the mean of n squares of which c² is one."""
    found = _mean(node, spread)
    if found is not None:
        return _squares(graph, node, c, *found)
    read = arg_read(node, spread)
    source = None if read is None else _node(graph, read)
    if read is None or source is None:
        return None
    if source.monoid is not None:
        return _welford(graph, node, c, read, source)
    body = source.body[source.outputs.index(read.source.output)]
    inner = _mean(source, body)
    if inner is None:
        return None
    forms = Frame.of_read(source, read).forms
    coords = tuple(f.substitute(forms) for f in inner[0].view.coords)
    return _squares(graph, node, c, Read(inner[0].source, View(coords)), inner[1])


def _node(graph: Graph, read: Read) -> Comprehension | None:
    return next((n for n in graph.nodes if n.name == read.source.node), None)


def _mean(node: Comprehension, e: Expr) -> tuple[Read, int] | None:
    """Of Σ/n: the read of the sum, and n."""
    name, operands = parts(e)
    if name != "div":
        return None
    read, n = arg_read(node, operands[0]), _number(node, operands[1])
    return None if read is None or n is None else (read, n)


def _number(node: Comprehension, e: Expr) -> int | None:
    """The whole number that an expression is."""
    e = e.args[0] if e.op == "to_real" else e
    if e.op == "extent":
        return next((d.extent.constant for d in node.dims if d.name == e.payload), None)
    if e.op not in ("real", "index") or not isinstance(e.payload, int | Fraction):
        return None
    value = Fraction(e.payload)
    return value.numerator if value.denominator == 1 else None


def _squares(graph: Graph, node: Comprehension, c: Expr, read: Read, n: int) -> int | None:
    source = _node(graph, read)
    for group in groups_of(source) if source is not None else ():
        lift = group.lift[0]
        square = lift.op == "mul" and lift.args[0] is lift.args[1]
        if source is None or group.kind != "sum" or not square:
            continue
        if not _reads(source, read, group.components[0]) or n != _terms(source):
            continue
        if element_of(graph, node, c, Reduction(source, lift.args[0]), read) is not None:
            return n
    return None


def _terms(source: Comprehension) -> int:
    return math.prod(d.extent.constant for d in source.reduce)


def _reads(source: Comprehension, read: Read, component: int) -> bool:
    """Whether a read is of that component, or of an output that is just that."""
    monoid, name = source.monoid, read.source.output
    if monoid is None:
        return False
    if monoid.components[component].name == name:
        return len(source.tensor(name).dims) == len(source.point)
    pairs = zip(monoid.outputs, monoid.project, strict=True)
    return any(o.name == name and e.payload == (0, component) and e.op == "state" for o, e in pairs)


def _welford(
    graph: Graph, node: Comprehension, c: Expr, read: Read, source: Comprehension
) -> int | None:
    """Of x − average, both by one Welford reduction at one point."""
    name, operands = parts(c)
    average = arg_read(node, operands[1]) if name == "sub" else None
    kinds = [g for g in groups_of(source) if g.kind == "welford"]
    if average is None or len(kinds) != 1 or source.monoid is None:
        return None
    names = [o.name for o in source.monoid.outputs]
    same = average.source.node == read.source.node and average.view == read.view
    told = [r.source.output for r in (average, read)]
    own = source.monoid.project == WELFORD.project and kinds[0].components == (0, 1, 2)
    if not same or told != names or not own:
        return None
    lift = kinds[0].lift[1]
    if element_of(graph, node, operands[0], Reduction(source, lift), read) is None:
        return None
    return _terms(source)
