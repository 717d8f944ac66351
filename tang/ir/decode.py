"""JSON values to graphs.

Defines `from_json`, which checks everything and executes nothing: every error is a GraphError
that names the place. Relies on `parse` for limits on the text, on the constructors for the
grammar and on `validate` for legality. It reads the one version that `serial` writes.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, TypeVar

from tang.errors import GraphError
from tang.ir.expr import (
    NAMED,
    Expr,
    Sort,
    apply,
    arg,
    boolean,
    extent,
    fold,
    index,
    iota,
    named,
    real,
    state,
)
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.parse import Cursor, parse
from tang.ir.validate import (
    MAX_DIMS,
    MAX_EXTENT,
    MAX_GATHER_DEPTH,
    MAX_NAME,
    MAX_NODES,
    MAX_POLY,
    MAX_READS,
    validate,
)
from tang.ir.view import Affine, Interval, Read, Ref, View, variable

FORMAT: Final = "tang-graph"
VERSION: Final = 1
MAX_EXPRESSIONS: Final = 200_000
MAX_NAME_ENTRIES: Final = 4_000_000
"""Names of dims on which the expressions depend, summed over the expressions."""

_HEX_FLOAT: Final = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-][0-9]{1,4}", re.ASCII)
_FRACTION: Final = re.compile(r"(-?)0x([0-9a-f]{1,4096})/0x([0-9a-f]{1,4096})", re.ASCII)
_SORTS: Final = {s.value: s for s in Sort}
T = TypeVar("T")


def from_json(text: str | bytes) -> Graph:
    """The graph that `to_json` wrote; raises GraphError naming the place of the first fault."""
    names = ("inputs", "facts", "expressions", "monoids", "nodes", "outputs")
    fields = parse(text).fields("format", "version", *names)
    if fields["format"].string() != FORMAT:
        fields["format"].fail(f"expected {FORMAT!r}")
    fields["version"].integer(VERSION, VERSION)
    table = _expressions(fields["expressions"])
    reader = _Reader(table)
    reader.monoids = [reader.monoid(c) for c in fields["monoids"].items(MAX_NODES)]
    graph = Graph(
        tuple(_input(c) for c in fields["inputs"].items(MAX_NODES)),
        tuple(reader.node(c) for c in fields["nodes"].items(MAX_NODES)),
        tuple(_output(c) for c in fields["outputs"].items(MAX_NODES)),
        tuple(_fact(c) for c in fields["facts"].items(MAX_NODES)),
    )
    validate(graph)
    return graph


def _expressions(c: Cursor) -> list[Expr]:
    table: list[Expr] = []
    entries = 0
    for item in c.items(MAX_EXPRESSIONS):
        try:
            e = _expression(item, table)
        except GraphError as error:
            raise _placed(item, error) from error
        entries += len(e.names)
        if entries > MAX_NAME_ENTRIES:
            item.fail("too many expressions depend on too many dims: split the program")
        table.append(e)
    return table


def _placed(c: Cursor, error: GraphError) -> GraphError:
    """The error with its place in front, unless it has one already."""
    text = str(error)
    return error if text.startswith(c.place) else GraphError(f"{c.place}: {text}")


def _expression(c: Cursor, table: list[Expr]) -> Expr:
    value = c.value if isinstance(c.value, dict) else {}
    op = Cursor(value.get("op"), f"{c.place}.op").string() if "op" in value else ""
    match op:
        case "real":
            return _real(c.fields("op", "value")["value"])
        case "index":
            return index(c.fields("op", "value")["value"].integer(-MAX_EXTENT, MAX_EXTENT))
        case "bool":
            return boolean(c.fields("op", "value")["value"].boolean())
        case "arg":
            f = c.fields("op", "position", "sort")
            return arg(f["position"].integer(0, MAX_READS - 1), _sort(f["sort"]))
        case "iota":
            return iota(_name(c.fields("op", "dim")["dim"]))
        case "extent":
            return extent(_name(c.fields("op", "dim")["dim"]))
        case "state":
            return _state(c, table)
        case "fold":
            return _fold(c, table)
        case _:
            f = c.fields("op", "args")
            return apply(op, *_earlier(f["args"], table, 3))


def _state(c: Cursor, table: list[Expr]) -> Expr:
    f = c.fields("op", "side", "component", "sort", "args")
    coords = _earlier(f["args"], table, MAX_DIMS)
    component = f["component"].integer(0, MAX_DIMS - 1)
    return state(f["side"].integer(0, 1), component, _sort(f["sort"]), coords)


def _fold(c: Cursor, table: list[Expr]) -> Expr:
    f = c.fields("op", "axis", "size", "args")
    args = _earlier(f["args"], table, 1)
    if len(args) != 1:
        f["args"].fail("a fold has one operand")
    return fold(_name(f["axis"]), f["size"].integer(1, MAX_EXTENT), args[0])


def _earlier(c: Cursor, table: list[Expr], limit: int) -> tuple[Expr, ...]:
    return tuple(_one_of(item, table, "expression") for item in c.items(limit))


def _one_of(c: Cursor, table: list[T], kind: str) -> T:
    n = c.integer(-MAX_EXTENT, MAX_EXTENT)
    if not 0 <= n < len(table):
        c.fail(f"no earlier {kind} {n}: references only go backwards, to 0…{len(table) - 1}")
    return table[n]


def _real(c: Cursor) -> Expr:
    text = c.string()
    if text in NAMED:
        return named(text)
    if _HEX_FLOAT.fullmatch(text):
        try:
            return real(float.fromhex(text))
        except OverflowError:
            c.fail(f"{text!r} exceeds the largest float: write a fraction")
    found = _FRACTION.fullmatch(text)
    if found is None:
        c.fail(
            f"{text[:32]!r} is no real: write a hexadecimal float like 0x1.8p+1, "
            f"a fraction like 0x16/0x7, or one of {', '.join(NAMED)}"
        )
    sign, numerator, denominator = found.groups()
    if int(denominator, 16) == 0:
        c.fail("a fraction with denominator 0")
    return real(Fraction(int(sign + numerator, 16), int(denominator, 16)))


def _sort(c: Cursor) -> Sort:
    text = c.string()
    if text not in _SORTS:
        c.fail(f"unknown sort {text[:32]!r}: one of {', '.join(_SORTS)}")
    return _SORTS[text]


def _name(c: Cursor) -> str:
    text = c.string()
    if not text or len(text) > MAX_NAME:
        c.fail(f"a name has 1…{MAX_NAME} characters, not {len(text)}")
    return text


def _integer(c: Cursor) -> int:
    return c.integer(-MAX_EXTENT, MAX_EXTENT)


def _poly(c: Cursor) -> Poly:
    if c.is_integer:
        n = _integer(c)
        return Poly((((), n),)) if n else Poly()
    total = Poly()
    for item in c.items(MAX_POLY):
        coefficient, symbols = item.pair()
        monomial = tuple(sorted(_symbol(s) for s in symbols.items(MAX_POLY)))
        n = _integer(coefficient)
        total = total + (Poly(((monomial, n),)) if n else Poly())
    return total


def _symbol(c: Cursor) -> str:
    text = _name(c)
    if not text.isidentifier():
        c.fail(f"{text[:32]!r} cannot name an extent: use an identifier")
    return text


def _form(c: Cursor) -> Affine:
    f = c.fields("terms", "const")
    total = Affine((), _poly(f["const"]))
    for item in f["terms"].items(2 * MAX_DIMS):
        name, coefficient = item.pair()
        total = total + variable(_name(name), _poly(coefficient))
    return total


def _input(c: Cursor) -> Input:
    f = c.fields("name", "shape", "sort")
    shape = tuple(_poly(p) for p in f["shape"].items(MAX_DIMS))
    return Input(_name(f["name"]), shape, _sort(f["sort"]))


def _output(c: Cursor) -> Output:
    f = c.fields("name", "node", "output")
    return Output(_name(f["name"]), Ref(_name(f["node"]), f["output"].string()))


def _fact(c: Cursor) -> Fact:
    f = c.fields("symbol", "minimum", "maximum", "multiple")
    top = f["maximum"]
    maximum = None if top.is_null else _integer(top)
    return Fact(_symbol(f["symbol"]), _integer(f["minimum"]), maximum, _integer(f["multiple"]))


def _dims(c: Cursor) -> tuple[Dim, ...]:
    fields = (item.fields("name", "extent") for item in c.items(MAX_DIMS))
    return tuple(Dim(_name(f["name"]), _poly(f["extent"])) for f in fields)


def _components(c: Cursor) -> tuple[Component, ...]:
    fields = (item.fields("name", "sort", "axes") for item in c.items(MAX_DIMS))
    return tuple(
        Component(
            _name(f["name"]), _sort(f["sort"]), tuple(_name(a) for a in f["axes"].items(MAX_DIMS))
        )
        for f in fields
    )


class _Reader:
    """Reads what refers to the tables of expressions and monoids."""

    def __init__(self, table: list[Expr]) -> None:
        self.table = table
        self.monoids: list[Monoid] = []

    def exprs(self, c: Cursor) -> tuple[Expr, ...]:
        return _earlier(c, self.table, MAX_DIMS)

    def monoid(self, c: Cursor) -> Monoid:
        head = ("name", "inputs", "components", "lift", "identity", "combine")
        f = c.fields(*head, "outputs", "project", "commutative", "axes", "strict")
        axes = (item.fields("name", "size") for item in f["axes"].items(MAX_DIMS))
        identity = f["identity"]
        try:
            return Monoid(
                f["name"].string(),
                tuple(_sort(s) for s in f["inputs"].items(MAX_DIMS)),
                _components(f["components"]),
                self.exprs(f["lift"]),
                None if identity.is_null else self.exprs(identity),
                self.exprs(f["combine"]),
                _components(f["outputs"]),
                self.exprs(f["project"]),
                f["commutative"].boolean(),
                tuple(Axis(_name(a["name"]), a["size"].integer(1, MAX_EXTENT)) for a in axes),
                f["strict"].boolean(),
            )
        except GraphError as error:
            raise _placed(c, error) from error

    def node(self, c: Cursor) -> Comprehension:
        head = ("name", "point", "reduce", "where", "reads", "body", "monoid", "outputs")
        f = c.fields(*head)
        monoid = None if f["monoid"].is_null else _one_of(f["monoid"], self.monoids, "monoid")
        return Comprehension(
            _name(f["name"]),
            _dims(f["point"]),
            tuple(self.read(r, MAX_GATHER_DEPTH) for r in f["reads"].items(MAX_READS)),
            self.exprs(f["body"]),
            _dims(f["reduce"]),
            tuple(_form(w) for w in f["where"].items(MAX_DIMS)),
            monoid,
            tuple(_name(o) for o in f["outputs"].items(MAX_DIMS)),
        )

    def read(self, c: Cursor, depth: int) -> Read:
        if depth == 0:
            c.fail(f"gathers nest over {MAX_GATHER_DEPTH} deep")
        f = c.fields("source", "view")
        source = f["source"].fields("node", "output")
        ref = Ref(_name(source["node"]), source["output"].string())
        return Read(ref, self.view(f["view"], depth))

    def view(self, c: Cursor, depth: int) -> View:
        f = c.fields("coords", "guard", "fill", "gathers")
        fill = None if f["fill"].is_null else _one_of(f["fill"], self.table, "expression")
        try:
            return View(
                tuple(_form(p) for p in f["coords"].items(MAX_DIMS)),
                tuple(self.interval(g) for g in f["guard"].items(MAX_DIMS)),
                fill,
                tuple(self.read(g, depth - 1) for g in f["gathers"].items(MAX_DIMS)),
            )
        except GraphError as error:
            raise _placed(c, error) from error

    def interval(self, c: Cursor) -> Interval:
        f = c.fields("form", "lo", "hi")
        return Interval(_form(f["form"]), _poly(f["lo"]), _poly(f["hi"]))
