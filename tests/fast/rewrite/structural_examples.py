"""An example of every structural rule: a graph and what the rule makes of it, as checks of shape.

Defines `EXAMPLES`, rule name → `Example`. Relies on the IR alone. Names of nodes, dims and outputs
are arbitrary on purpose: no rule may match on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tang.ir.expr import REAL, Expr, Sort, apply, arg, extent, iota, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoid import Monoid
from tang.ir.monoids import MAX, SUM, product
from tang.ir.view import Affine, Interval, Read, Ref, View, constant, variable

I0, J, R, P = (variable(n) for n in "ijrp")


def dims(**extents: int | str) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def vector(name: str, *extents: int | str, sort: Sort = REAL) -> Input:
    return Input(name, tuple(poly(e) for e in extents), sort)


def read(source: str, *coords: Affine, fill: Expr | None = None, gathers=(), guard=()) -> Read:
    node, _, output = source.partition(".")
    return Read(Ref(node, output), View(coords, tuple(guard), fill, tuple(gathers)))


def between(form: Affine, lo: int | str, hi: int | str) -> Interval:
    return Interval(form, poly(lo), poly(hi))


def mapped(name: str, point, reads, *body: Expr) -> Comprehension:
    return Comprehension(name, point, tuple(reads), body, outputs=("u", "v", "w")[: len(body)])


def folded(name: str, point, reduce, reads, *body: Expr, monoid: Monoid = SUM, where=()):
    return Comprehension(name, point, tuple(reads), body, reduce, tuple(where), monoid)


def graph(inputs, nodes, *outputs: str, facts: tuple[Fact, ...] = ()) -> Graph:
    found = []
    for n, o in enumerate(outputs):
        node, _, output = o.partition(".")
        found.append(Output(f"out{n}", Ref(node, output)))
    return Graph(tuple(inputs), tuple(nodes), tuple(found), facts)


def add(a: Expr, b: Expr) -> Expr:
    return apply("add", a, b)


def mul(a: Expr, b: Expr) -> Expr:
    return apply("mul", a, b)


@dataclass(frozen=True)
class Example:
    """A graph to which exactly this rule is applied, how often, and what the result must be."""

    before: Graph
    times: int
    after: Callable[[Graph], bool]


X = vector("x", "n")
N = dims(i="n")


def dead_node() -> Example:
    nodes = [mapped("a", N, [read("x", I0)], apply("neg", arg(0))),
             mapped("b", N, [read("x", I0)], add(arg(0), real(1)))]  # fmt: skip
    return Example(graph([X], nodes, "b.u"), 1, lambda g: [n.name for n in g.nodes] == ["b"])


def dead_output() -> Example:
    nodes = [mapped("a", N, [read("x", I0), read("x", constant(0))], arg(1), apply("neg", arg(0)))]
    facts = (Fact("n", minimum=1),)

    def after(g: Graph) -> bool:
        return len(g.nodes[0].body) == len(g.nodes[0].reads) == 1

    return Example(graph([X], nodes, "a.v", facts=facts), 1, after)


def dead_part() -> Example:
    both = product(SUM, MAX)
    node = folded("a", (), dims(r="n"), [read("x", R)], arg(0), apply("neg", arg(0)), monoid=both)
    return Example(graph([X], [node], "a.p1_value"), 1, lambda g: g.nodes[0].monoid == MAX)


def substitute_maps() -> Example:
    """x + 1 read one to the left: at −1 the fill, not 1."""
    plus = mapped("a", N, [read("x", I0)], add(arg(0), real(1)))
    left = read("a.u", I0 - 1, fill=real(7), guard=[between(I0 - 1, 0, "n")])
    twice = mapped("b", N, [left], mul(arg(0), real(2)))
    return Example(
        graph([X], [plus, twice], "b.u"), 1, lambda g: g.nodes[-1].reads[0].source.node == "x"
    )


def compose_views() -> Example:
    """A flip read through a pad."""
    flip = mapped("a", N, [read("x", constant("n") - 1 - I0)], arg(0))
    padded = read("a.u", I0 - 1, fill=real(0), guard=[between(I0 - 1, 0, "n")])
    pad = mapped("b", dims(i=poly("n") + 2), [padded], apply("neg", arg(0)))

    def after(g: Graph) -> bool:
        r = g.nodes[-1].reads[0]
        return r.source.node == "x" and r.view.coords[0] == constant("n") - I0

    return Example(graph([X], [flip, pad], "b.u"), 1, after)


def merge_siblings() -> Example:
    """Two products with one left side, their dims called differently."""
    a = folded("a", dims(i="n", j=3), dims(r=4), [read("x", I0, R), read("y", J, R)],
               mul(arg(0), arg(1)))  # fmt: skip
    k, s = variable("k"), variable("s")
    b = folded("b", dims(k="n", i=3), dims(s=4), [read("z", I0, s), read("x", k, s)],
               mul(arg(1), arg(0)))  # fmt: skip
    inputs = [vector("x", "n", 4), vector("y", 3, 4), vector("z", 3, 4)]
    return Example(
        graph(inputs, [a, b], "a.value", "b.value"), 1,
        lambda g: len(g.nodes) == 1 and len(g.nodes[0].reads) == 3,
    )  # fmt: skip


def merge_dims() -> Example:
    flat = read("x", I0.scale(4) + J)
    a = mapped("a", dims(i="n", j=4), [flat], apply("neg", arg(0)))
    b = folded("b", (), dims(i="n", j=4), [read("a.u", I0, J), read("x", I0.scale(4) + J)],
               mul(arg(0), arg(1)))  # fmt: skip
    x = Input("x", (poly("n") * 4,))
    return Example(
        graph([x], [a, b], "b.value"), 2, lambda g: all(len(n.dims) == 1 for n in g.nodes)
    )


def common_subexpression() -> Example:
    """x + y and y + x, over dims of other names."""
    inputs = [X, vector("y", "n")]
    a = mapped("a", N, [read("x", I0), read("y", I0)], add(arg(0), arg(1)))
    b = mapped("b", dims(j="n"), [read("y", J), read("x", J)], add(arg(0), arg(1)))
    c = mapped("c", N, [read("a.u", I0), read("b.u", I0)], mul(arg(0), arg(1)))
    return Example(graph(inputs, [a, b, c], "c.u"), 1, lambda g: len(g.nodes) == 2)


def simplify_expr() -> Example:
    always = apply("lt", iota("i"), extent("i"))
    body = apply("select", always, add(mul(arg(0), real(1)), real(0)), real(5))
    guarded = read("x", I0, fill=real(3), guard=[between(I0, 0, "n")])
    node = mapped("a", N, [guarded], body)

    def after(g: Graph) -> bool:
        return g.nodes[0].body == (arg(0),) and not g.nodes[0].reads[0].view.guard

    return Example(graph([X], [node], "a.u"), 1, after)


def hoist_invariant_factors() -> Example:
    """Σ_r −(c[i] · x[r] · 3) → c[i] · (−3) · Σ_r x[r]."""
    inputs = [vector("x", 4), vector("c", "n")]
    body = apply("neg", mul(mul(arg(0), arg(1)), real(3)))
    node = folded("a", N, dims(r=4), [read("c", I0), read("x", R)], body)
    return Example(
        graph(inputs, [node], "a.value"), 1,
        lambda g: len(g.nodes) == 2 and g.nodes[0].body == (arg(0),) and g.nodes[1].name == "a",
    )  # fmt: skip


EXAMPLES: dict[str, Callable[[], Example]] = {
    f.__name__.replace("_", "-"): f
    for f in (
        dead_node, dead_output, dead_part, substitute_maps, compose_views, merge_siblings,
        merge_dims, common_subexpression, simplify_expr, hoist_invariant_factors,
    )
}  # fmt: skip
