"""Graphs as JSON, written.

Defines `to_json`, which writes the flat form published in `schema.json`, and passes on
`from_json` of `decode`. Relies on `validate`: only legal graphs are written. It does not depend
on how Python prints floats: reals are hexadecimal or exact fractions.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import isfinite

from tang.errors import GraphError
from tang.ir.decode import FORMAT, VERSION, from_json
from tang.ir.expr import Expr, walk
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoid import Component, Monoid
from tang.ir.parse import MAX_BYTES
from tang.ir.validate import validate
from tang.ir.view import Affine, Read, View

__all__ = ["from_json", "to_json"]

Json = dict[str, object]


def to_json(graph: Graph) -> str:
    """The graph as JSON text, one list element per line; equal graphs give equal text.

    Raises GraphError when the graph is not legal or the text would exceed what is read back.
    """
    validate(graph)
    writer = _Writer(graph)
    text = _lines(writer.document())
    if len(text) > MAX_BYTES:
        raise GraphError(f"the JSON of the graph exceeds {MAX_BYTES} bytes: split the program")
    return text


def _lines(document: Json) -> str:
    parts = []
    for key, value in document.items():
        items = value if isinstance(value, list) and value else None
        text = json.dumps(value) if items is None else _listing(items)
        parts.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _listing(items: list[object]) -> str:
    return "[\n" + ",\n".join(f"    {json.dumps(i)}" for i in items) + "\n  ]"


class _Writer:
    """Numbers the distinct expressions and monoids of a graph, operands first."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.monoids: dict[Monoid, int] = {}
        self.numbers: dict[Expr, int] = {}
        self.expressions: list[Json] = []

    def document(self) -> Json:
        g = self.graph
        nodes = [self.node(n) for n in g.nodes]
        monoids = [self.monoid(m) for m in self.monoids]
        return {
            "format": FORMAT,
            "version": VERSION,
            "inputs": [_input(i) for i in g.inputs],
            "facts": [_fact(f) for f in g.facts],
            "expressions": self.expressions,
            "monoids": monoids,
            "nodes": nodes,
            "outputs": [_output(o) for o in g.outputs],
        }

    def expr(self, root: Expr) -> int:
        if root not in self.numbers:
            for e in walk(root):
                if e not in self.numbers:
                    row = _expression(e, [self.numbers[a] for a in e.args])
                    self.numbers[e] = len(self.expressions)
                    self.expressions.append(row)
        return self.numbers[root]

    def exprs(self, roots: tuple[Expr, ...]) -> list[int]:
        return [self.expr(e) for e in roots]

    def monoid(self, m: Monoid) -> Json:
        return {
            "name": m.name,
            "inputs": [s.value for s in m.inputs],
            "components": [_component(c) for c in m.components],
            "lift": self.exprs(m.lift),
            "identity": None if m.identity is None else self.exprs(m.identity),
            "combine": self.exprs(m.combine),
            "outputs": [_component(c) for c in m.outputs],
            "project": self.exprs(m.project),
            "commutative": m.commutative,
            "strict": m.strict,
            "axes": [{"name": a.name, "size": a.size} for a in m.axes],
        }

    def node(self, n: Comprehension) -> Json:
        monoid = None if n.monoid is None else self.monoids.setdefault(n.monoid, len(self.monoids))
        return {
            "name": n.name,
            "point": [_dim(d) for d in n.point],
            "reduce": [_dim(d) for d in n.reduce],
            "where": [_form(w) for w in n.where],
            "reads": [self.read(r) for r in n.reads],
            "body": self.exprs(n.body),
            "monoid": monoid,
            "outputs": list(n.outputs),
        }

    def read(self, r: Read) -> Json:
        source = {"node": r.source.node, "output": r.source.output}
        return {"source": source, "view": self.view(r.view)}

    def view(self, v: View) -> Json:
        guard = [{"form": _form(i.form), "lo": _poly(i.lo), "hi": _poly(i.hi)} for i in v.guard]
        return {
            "coords": [_form(c) for c in v.coords],
            "guard": guard,
            "fill": None if v.fill is None else self.expr(v.fill),
            "gathers": [self.read(g) for g in v.gathers],
        }


def _expression(e: Expr, args: list[int]) -> Json:
    """One row of the expression table; the payload is written under a name of its own."""
    match e.op, e.payload:
        case "real", payload:
            return {"op": "real", "value": _real(payload)}
        case "index" | "bool", payload:
            return {"op": e.op, "value": payload}
        case "arg", payload:
            return {"op": "arg", "position": payload, "sort": e.sort.value}
        case "iota" | "extent", payload:
            return {"op": e.op, "dim": payload}
        case "state", (side, component):
            at: Json = {"side": side, "component": component, "sort": e.sort.value}
            return {"op": "state", **at, "args": args}
        case "fold", (axis, size):
            return {"op": "fold", "axis": axis, "size": size, "args": args}
        case _:
            return {"op": e.op, "args": args}


def _real(payload: object) -> str:
    """A named constant, a float in hexadecimal, or numerator/denominator in hexadecimal."""
    if not isinstance(payload, Fraction):
        return str(payload)
    try:
        value = float(payload)
    except OverflowError:
        value = float("inf")
    if isfinite(value) and Fraction(value) == payload:
        return value.hex()
    return f"{payload.numerator:#x}/{payload.denominator:#x}"


def _poly(p: Poly) -> object:
    if p.is_constant:
        return p.constant
    return [[c, list(m)] for m, c in p.terms]


def _form(a: Affine) -> Json:
    return {"terms": [[v, _poly(c)] for v, c in a.terms], "const": _poly(a.const)}


def _input(i: Input) -> Json:
    return {"name": i.name, "shape": [_poly(p) for p in i.shape], "sort": i.sort.value}


def _dim(d: Dim) -> Json:
    return {"name": d.name, "extent": _poly(d.extent)}


def _component(c: Component) -> Json:
    return {"name": c.name, "sort": c.sort.value, "axes": list(c.axes)}


def _fact(f: Fact) -> Json:
    bounds: Json = {"minimum": f.minimum, "maximum": f.maximum, "multiple": f.multiple}
    return {"symbol": f.symbol, **bounds}


def _output(o: Output) -> Json:
    return {"name": o.name, "node": o.ref.node, "output": o.ref.output}
