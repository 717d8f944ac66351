"""Validation accepts exactly the reads that stay inside, judged by visiting every point."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tang.errors import GraphError
from tang.ir.expr import arg, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.validate import validate
from tang.ir.view import Affine, Interval, Read, Ref, View, constant, variable

NAMES = ("i", "j", "k")


def _form(coefficients: dict[str, int], const: int) -> Affine:
    return sum((variable(v, c) for v, c in coefficients.items()), start=constant(const))


forms = st.builds(
    _form, st.dictionaries(st.sampled_from(NAMES), st.integers(-2, 3)), st.integers(-3, 3)
)
intervals = st.builds(
    lambda f, lo, size: Interval(f, poly(lo), poly(lo + size)),
    forms,
    st.integers(-2, 2),
    st.integers(0, 8),
)


def _value(f: Affine, point: dict[str, int]) -> int:
    return f.const.constant + sum(c.constant * point[v] for v, c in f.terms)


def _stays_inside(node: Comprehension, size: int) -> bool:
    view = node.reads[0].view
    for place in itertools.product(*(range(d.extent.constant) for d in node.dims)):
        point = dict(zip(NAMES, place, strict=True))
        alive = all(_value(w, point) >= 0 for w in node.where)
        read = all(i.lo.constant <= _value(i.form, point) < i.hi.constant for i in view.guard)
        if alive and read and not 0 <= _value(view.coords[0], point) < size:
            return False
    return True


@given(
    forms,
    st.lists(intervals, max_size=2),
    st.lists(forms, max_size=2),
    st.tuples(*[st.integers(0, 4)] * 3),
    st.integers(0, 9),
)
@settings(max_examples=500, deadline=None)
def test_a_read_is_legal_exactly_when_no_point_leaves_the_source(
    coord: Affine,
    guard: list[Interval],
    where: list[Affine],
    extents: tuple[int, int, int],
    size: int,
) -> None:
    view = View((coord,), tuple(guard), real(0) if guard else None)
    dims = [Dim(n, poly(e)) for n, e in zip(NAMES, extents, strict=True)]
    node = Comprehension(
        "y",
        tuple(dims[:2]),
        (Read(Ref("x"), view),),
        (arg(0),),
        reduce=tuple(dims[2:]),
        where=tuple(where),
        monoid=SUM,
    )
    graph = Graph((Input("x", (poly(size),)),), (node,), (Output("y", Ref("y", "value")),))
    assert _is_legal(graph) == _stays_inside(node, size)


def _is_legal(graph: Graph) -> bool:
    try:
        validate(graph)
    except GraphError as e:
        if "ranges over" not in str(e):
            raise
        return False
    return True
