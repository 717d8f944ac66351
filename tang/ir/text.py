"""Graphs as readable text, close to index notation.

Defines `to_text`, deterministic and of a size linear in the graph: what is shared or long gets a
name of its own (%0, %1 …). Relies on the data types and the built-in monoids. It is for people;
programs exchange JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import isfinite
from typing import Final

from tang.ir.expr import LEAVES, Expr, walk
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input
from tang.ir.monoid import Component, Monoid
from tang.ir.monoids import BUILTIN, top_k
from tang.ir.view import GATHERED, Affine, Interval, Read, Ref

LONG: Final = 72
"""An operation whose text is longer than this is named."""
SHORT: Final = 16
"""A gathered read or a shared operation of at most this length is not named."""

_INFIX: Final = {
    "or": ("or", 1),
    "and": ("and", 2),
    "eq": ("==", 4),
    "lt": ("<", 4),
    "add": ("+", 5),
    "mul": ("*", 6),
    "floordiv": ("//", 6),
    "mod": ("%", 6),
}
_PREFIX: Final = {"not": ("not ", 3), "neg": ("-", 7)}
_ATOM: Final = 9

Leaf = Callable[[Expr, Sequence[str]], str]


def to_text(graph: Graph) -> str:
    """The graph, one line per input, fact, monoid, result and output.

    `C[i:64] = sum[k:128 | i - k >= 0](A[i, k])`: point dims, reduce dims and where, body;
    static axes follow the loop after a semicolon. A guard is written
    `A[i - 1 | 0 <= i - 1 < 64 else 0.0]`, a gathered index as the read that gives it, or by name.
    Subtraction and division stand for add of neg and mul of recip.
    """
    lines = [_input(i) for i in graph.inputs]
    lines += [_fact(f) for f in graph.facts]
    for m in dict.fromkeys(n.monoid for n in graph.nodes if n.monoid is not None):
        if not _is_known(m):
            lines += _monoid(m)
    for node in graph.nodes:
        lines += _node(node)
    lines += [f"output {_name(o.name)} = {_ref(o.ref)}" for o in graph.outputs]
    return "\n".join(lines) + "\n"


def _name(name: str) -> str:
    return name if name.isidentifier() else repr(name)


def _ref(ref: Ref) -> str:
    shown = _name(ref.node)
    return shown if ref.output in ("", "value") else f"{shown}.{_name(ref.output)}"


def _input(i: Input) -> str:
    return f"input {_name(i.name)}[{', '.join(map(str, i.shape))}]: {i.sort.value}"


def _fact(f: Fact) -> str:
    parts = [f"{f.symbol} >= {f.minimum}"]
    if f.maximum is not None:
        parts.append(f"{f.symbol} <= {f.maximum}")
    if f.multiple != 1:
        parts.append(f"{f.symbol} % {f.multiple} == 0")
    return "fact " + ", ".join(parts)


def _is_known(m: Monoid) -> bool:
    rank = next((a.size for a in m.axes if a.name == "rank"), 0)
    return BUILTIN.get(m.name) == m or (rank > 0 and m == top_k(rank))


def _dims(dims: Sequence[Dim]) -> str:
    return ", ".join(f"{_name(d.name)}:{d.extent}" for d in dims)


def _node(node: Comprehension) -> Iterator[str]:
    named: list[str] = []
    reads = [_read(r, (), named) for r in node.reads]
    body = _Body(lambda e, _: _leaf(e, reads), node.body, len(named))
    head, point = _name(node.name), _dims(node.point)
    if node.monoid is None:
        for output, text in zip(node.outputs, body.results, strict=True):
            own = "" if output == "value" else f".{_name(output)}"
            yield f"{head}{own}[{point}] = {text}"
    else:
        loop = _loop(node, node.monoid)
        yield f"{head}[{point}] = {node.monoid.name}[{loop}]({', '.join(body.results)})"
    yield from (*named, *body.named)


def _loop(node: Comprehension, monoid: Monoid) -> str:
    """Reduce dims and where; then the static axes of the results."""
    where = " and ".join(f"{_form(w)} >= 0" for w in node.where)
    inner = _dims(node.reduce) + (f" | {where}" if where else "")
    shown = {a for c in (*monoid.components, *monoid.outputs) for a in c.axes}
    axes = ", ".join(f"{_name(a.name)}:{a.size}" for a in monoid.axes if a.name in shown)
    return f"{inner}; {axes}" if axes else inner


def _form(form: Affine, gathers: Sequence[str] = ()) -> str:
    parts: list[str] = []
    for v, c in form.terms:
        shown = gathers[int(v[1:])] if v.startswith(GATHERED) and gathers else _variable(v)
        factor = str(c) if len(c.terms) == 1 else f"({c})"
        signed = {"1": shown, "-1": f"-{shown}"}
        parts.append(signed.get(factor, f"{factor}*{shown}"))
    if form.const.terms or not parts:
        parts.append(str(form.const))
    return " + ".join(parts).replace("+ -", "- ")


def _variable(name: str) -> str:
    return name if name.startswith(GATHERED) else _name(name)


def _interval(i: Interval, gathers: Sequence[str]) -> str:
    return f"{i.lo} <= {_form(i.form, gathers)} < {i.hi}"


def _read(read: Read, outer: Sequence[str], named: list[str]) -> str:
    """The text of a read; gathered reads that are not short are named, so nesting stays linear."""
    view = read.view
    gathers: list[str] = []
    for g in view.gathers:
        text = _read(g, tuple(gathers), named)
        gathers.append(_naming(text, named) if len(text) > SHORT else text)
    known = gathers or outer
    coords = ", ".join(_form(c, known) for c in view.coords)
    if view.fill is None:
        return f"{_ref(read.source)}[{coords}]"
    guard = " and ".join(_interval(i, known) for i in view.guard)
    return f"{_ref(read.source)}[{coords} | {guard} else {_constant(view.fill)}]"


def _naming(text: str, named: list[str]) -> str:
    """The name of that text among the named lines, new or old."""
    values = [line.split(" = ", 1)[1] for line in named]
    if text not in values:
        named.append(f"  %{len(named)} = {text}")
        return f"%{len(values)}"
    return f"%{values.index(text)}"


class _Body:
    """The texts of some expressions; `named` are the lines of what they share."""

    def __init__(self, leaf: Leaf, roots: Sequence[Expr], start: int = 0) -> None:
        self.leaf = leaf
        self.named: list[str] = []
        self.start = start
        self.done: dict[Expr, tuple[str, int]] = {}
        order = list(walk(*roots))
        uses = Counter(a for e in order for a in e.args)
        for e in order:
            self.done[e] = self._visit(e, uses[e])
        self.results = [self.done[r][0] for r in roots]

    def _visit(self, e: Expr, uses: int) -> tuple[str, int]:
        text, strength = self._text(e)
        named = e.op not in LEAVES and e.op != "state" and uses > 0
        if named and len(text) > (SHORT if uses > 1 else LONG):
            name = f"%{self.start + len(self.named)}"
            self.named.append(f"  {name} = {text}")
            return name, _ATOM
        return text, strength

    def _text(self, e: Expr) -> tuple[str, int]:
        below = [self.done[a] for a in e.args]
        if e.op in LEAVES or e.op == "state":
            text = self.leaf(e, [t for t, _ in below])
            return text, 7 if text.startswith("-") else _ATOM
        if e.op in _INFIX:
            return self._infix(e, below)
        if e.op in _PREFIX:
            sign, strength = _PREFIX[e.op]
            return sign + _within(below[0], strength + 1), strength
        if e.op == "fold" and isinstance(e.payload, tuple):
            axis, size = e.payload
            return f"fold[{_name(str(axis))}:{size}]({below[0][0]})", _ATOM
        return f"{e.op}({', '.join(t for t, _ in below)})", _ATOM

    def _infix(self, e: Expr, below: list[tuple[str, int]]) -> tuple[str, int]:
        sign, strength = _INFIX[e.op]
        left, right = _within(below[0], strength), _within(below[1], strength + 1)
        opposite = {("add", "neg"): "-", ("mul", "recip"): "/"}.get((e.op, e.args[1].op))
        if opposite and not below[1][0].startswith("%"):
            sign, right = opposite, _within(self.done[e.args[1].args[0]], strength + 1)
        return f"{left} {sign} {right}", strength


def _within(operand: tuple[str, int], strength: int) -> str:
    text, own = operand
    return text if own >= strength else f"({text})"


def _leaf(e: Expr, reads: Sequence[str]) -> str:
    if e.op == "arg" and isinstance(e.payload, int):
        return reads[e.payload]
    if e.op == "iota":
        return _name(str(e.payload))
    if e.op == "extent":
        return f"extent({_name(str(e.payload))})"
    return _constant(e)


def _constant(e: Expr) -> str:
    """A literal; reals have a decimal point, a fraction or a name, indices do not."""
    if not isinstance(e.payload, Fraction):
        return str(e.payload).lower()
    try:
        value = float(e.payload)
    except OverflowError:
        value = float("inf")
    if isfinite(value) and Fraction(value) == e.payload:
        return repr(value)
    exact = f"{e.payload.numerator:#x}/{e.payload.denominator:#x}"
    short = e.payload.denominator < 10**6 and abs(e.payload.numerator) < 10**6
    return f"({e.payload.numerator}/{e.payload.denominator})" if short else f"({exact})"


def _monoid(m: Monoid) -> Iterator[str]:
    inputs = ", ".join(s.value for s in m.inputs)
    axes = "".join(f", {_name(a.name)}:{a.size}" for a in m.axes)
    kind = ("commutative" if m.commutative else "ordered") + ("" if m.strict else ", finite only")
    yield f"monoid {_name(m.name)}({inputs}){axes} {kind}"
    start = 0
    for part, targets, exprs in (
        ("lift", m.components, m.lift),
        ("identity", m.components, m.identity or ()),
        ("combine", m.components, m.combine),
        ("project", m.outputs, m.project),
    ):
        body = _Body(lambda e, coords: _monoid_leaf(m, e, coords), exprs, start)
        for c, text in zip(targets, body.results, strict=bool(exprs)):
            yield f"  {part} {_component(c)} = {text}"
        yield from (f"  {line}" for line in body.named)
        start += len(body.named)


def _component(c: Component) -> str:
    axes = f"[{', '.join(map(_name, c.axes))}]" if c.axes else ""
    return f"{c.name}{axes}: {c.sort.value}"


def _monoid_leaf(m: Monoid, e: Expr, coords: Sequence[str]) -> str:
    if e.op == "arg":
        return f"x{e.payload}"
    if e.op == "state" and isinstance(e.payload, tuple):
        side, c = int(e.payload[0]), int(e.payload[1])
        at = f"[{', '.join(coords)}]" if coords else ""
        return f"{('left', 'right')[side]}.{m.components[c].name}{at}"
    return _leaf(e, ())
