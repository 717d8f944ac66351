"""The fast evaluator against the definition, on random nodes that use every kind of view."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tang.errors import GraphError
from tang.interpreter import evaluate, fast, fast_interpret
from tang.interpreter.f64 import F64
from tang.ir.derived import exp, sub
from tang.ir.expr import BOOL, INDEX, REAL, apply, arg, index, iota, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import BUILTIN, MAX, SUM, top_k
from tang.ir.view import Interval, Read, Ref, View, constant, variable

MONOIDS = [*BUILTIN.values(), top_k(2)]
NORMAL = st.floats(-4, 4, width=16)
DYADIC = st.integers(-8, 8).map(lambda n: n / 4)
SPECIAL = st.sampled_from([0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])
CALM = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True)
def tiny_limits(monkeypatch):
    """Boxes of a few lanes, and no node too small for the fast paths."""
    monkeypatch.setattr(fast, "_SMALL", 0)
    monkeypatch.setattr(fast, "_CACHED_LANES", 24)


class Drawn(NamedTuple):
    """A program with its data, printed briefly."""

    graph: Graph
    data: dict[str, Any]

    def __repr__(self) -> str:
        (node,) = self.graph.nodes
        dims = ", ".join(f"{d.name} < {d.extent}" for d in node.dims)
        reads = "; ".join(f"{r.source}[{', '.join(map(str, r.view.coords))}]" for r in node.reads)
        where = " and ".join(f"{w} ≥ 0" for w in node.where)
        return f"{node.monoid and node.monoid.name} over {dims} of {reads} {where} on {self.data}"


@st.composite
def reads(draw, name, dims):
    """A read of `name`, and the shape of the source: picks, strides, flips, pads, gathers."""
    forms, guard, shape, gathers = [], [], [], []
    for d in draw(st.lists(st.sampled_from(dims), max_size=3, unique=True)):
        n = d.extent.constant
        kind = draw(st.sampled_from(["pick", "stride", "flip", "window", "pad", "shift", "gather"]))
        form, size = variable(d.name), n
        if kind == "stride":
            form, size = form.scale(2) + 1, 2 * n
        elif kind == "flip":
            form = constant(n - 1) - form
        elif kind == "window":
            other = draw(st.sampled_from(dims))
            form = form + variable(other.name)
            size = n + other.extent.constant
        elif kind == "pad":
            form = form - 1
            guard.append(Interval(form, poly(0), poly(n)))
        elif kind == "shift":
            guard.append(Interval(form + 1, poly(0), poly(n)))
        elif kind == "gather":
            gathers.append(Read(Ref("index"), View((form,))))
            form, size = variable(f"@{len(gathers) - 1}"), 3
        forms.append(form)
        shape.append(size)
    fill = real(draw(DYADIC)) if guard else None
    view = View(tuple(forms), tuple(guard), fill, tuple(gathers))
    return Read(Ref(name), view), tuple(shape)


@st.composite
def nodes(draw, values):
    """A reduction or a map of one to three reads, and data for it."""
    point = [Dim(n, poly(draw(st.integers(1, 4)))) for n in draw(st.sampled_from(["", "i", "ij"]))]
    folded = [Dim(n, poly(draw(st.integers(1, 5)))) for n in draw(st.sampled_from(["k", "kl"]))]
    dims = [*point, *folded]
    monoid = draw(st.sampled_from(MONOIDS))
    found = [draw(reads(f"x{n}", dims)) for n in range(draw(st.integers(1, 3)))]
    product = arg(0)
    for n in range(1, len(found)):
        product = apply("mul", product, arg(n))
    place = iota("k")
    for d in folded[1:]:
        place = apply("add", apply("mul", place, index(5)), iota(d.name))
    bodies = {REAL: product, INDEX: place, BOOL: apply("lt", arg(0), real(0.5))}
    body = [bodies[s] for s in monoid.inputs]
    if monoid.inputs == (REAL, REAL):
        body[1] = arg(len(found) - 1)
    where = draw(st.sampled_from([(), (variable("k") - 1,), (constant(1) - variable("k"),)]))
    node = Comprehension("node", tuple(point), tuple(r for r, _ in found), tuple(body),
                         tuple(folded), where, monoid)  # fmt: skip
    data = {f"x{n}": draw(hnp.arrays(np.float64, s, elements=values))
            for n, (_, s) in enumerate(found)}  # fmt: skip
    data["index"] = draw(hnp.arrays(np.int64, (10,), elements=st.integers(0, 2)))
    inputs = tuple(Input(n, tuple(map(poly, a.shape)), INDEX if n == "index" else REAL)
                   for n, a in data.items())  # fmt: skip
    outputs = tuple(Output(o, Ref("node", o)) for o in node.output_names())
    return Drawn(Graph(inputs, (node,), outputs), data)


def both(graph, data, memory=fast.DEFAULT_MEMORY):
    slow, quick = evaluate(graph, data, F64), fast_interpret(graph, data, memory)
    for name, value in slow.items():
        assert quick[name].shape == value.shape, name
        assert quick[name].dtype == value.dtype, name
    return [(n, slow[n], quick[n]) for n in slow]


EXACT = {"sum", "max", "min", "argmax", "argmin", "count", "any", "all", "top_k_2"}


@CALM
@given(nodes(DYADIC))
def test_on_dyadic_data_exact_reductions_are_equal(program):
    graph, data = program
    for name, slow, quick in both(graph, data):
        if graph.nodes[0].monoid.name in EXACT:
            np.testing.assert_array_equal(quick, slow, name)
        else:
            np.testing.assert_allclose(quick, slow, 1e-9, 1e-12, err_msg=name)


@CALM
@given(nodes(NORMAL))
def test_on_any_finite_data_values_agree_up_to_rounding(program):
    for name, slow, quick in both(*program):
        np.testing.assert_allclose(quick, slow, 1e-9, 1e-9, err_msg=name)


@CALM
@given(nodes(SPECIAL))
def test_on_special_values_the_classes_agree(program):
    for name, slow, quick in both(*program):
        np.testing.assert_allclose(quick, slow, 1e-9, 1e-9, err_msg=name)


@CALM
@given(nodes(DYADIC), st.sampled_from([64, 600, 4000]))
def test_little_memory_changes_no_value(program, memory):
    for name, slow, quick in both(*program, memory):
        np.testing.assert_allclose(quick, slow, 1e-9, 1e-12, err_msg=name)


@CALM
@given(st.data())
def test_maps_are_equal_bit_for_bit(data):
    dims = [Dim("i", poly(data.draw(st.integers(1, 9)))), Dim("j", poly(4))]
    read, shape = data.draw(reads("x", dims))
    x = data.draw(hnp.arrays(np.float64, shape, elements=SPECIAL | NORMAL))
    places = data.draw(hnp.arrays(np.int64, (13,), elements=st.integers(0, 2)))
    body = (exp(sub(arg(0), real(0.3))), apply("lt", arg(0), real(0)), iota("j"))
    node = Comprehension("node", tuple(dims), (read,), body, outputs=("a", "b", "c"))
    inputs = (Input("x", tuple(map(poly, shape))), Input("index", (poly(13),), INDEX))
    outputs = tuple(Output(o, Ref("node", o)) for o in node.outputs)
    for _, slow, quick in both(Graph(inputs, (node,), outputs), {"x": x, "index": places}):
        assert slow.tobytes() == quick.tobytes()


def test_what_was_seen_has_only_the_dims_of_where(program):
    """Nothing is included, and the state does not depend on the point."""
    dims = (Dim("i", poly(2)),), (Dim("k", poly(1)),)
    node = Comprehension("node", dims[0], (Read(Ref("x"), View(())),), (arg(0), iota("k")),
                         dims[1], (variable("k") - 1,), BUILTIN["argmax"])  # fmt: skip
    data = {"x": np.array(0.0)}
    assert fast_interpret(program(node, data), data)["index"].tolist() == [-1, -1]


def test_an_infinite_factor_is_not_taken_out_of_a_sum(program):
    """Σ a·b with b = inf constant along k: inf − inf is NaN, although inf · Σ a is not."""
    k = (Dim("k", poly(2)),)
    node = Comprehension("node", (), (Read(Ref("a"), View((variable("k"),))),
                                      Read(Ref("b"), View(()))),
                         (apply("mul", arg(0), arg(1)),), k, (), SUM)  # fmt: skip
    data = {"a": np.array([1.0, -2.0]), "b": np.array(np.inf)}
    assert np.isnan(fast_interpret(program(node, data), data)["value"])


def test_an_unguarded_read_out_of_range_raises_as_the_definition_does(program):
    k = (Dim("k", poly(3)),)
    for monoid in (SUM, MAX):
        node = Comprehension("node", (), (Read(Ref("a"), View((variable("k"),))),), (arg(0),), k,
                             (), monoid)  # fmt: skip
        data = {"a": np.zeros(2)}
        with pytest.raises(GraphError, match=r"node 'node', read 0 of a at \(k=2\)"):
            fast_interpret(program(node, data), data)


def test_a_fast_sum_that_drops_its_last_term_would_be_caught(rows, monkeypatch):
    """The planted fault."""
    graph, data = rows(SUM, np.array([[1.0, 2.0, 4.0]]))
    honest = fast.contract
    monkeypatch.setattr(fast, "contract", lambda a, s, n: honest([x[:-1] for x in a], s, n))
    (_, slow, quick), *_ = both(graph, data)
    assert (slow[0], quick[0]) == (7.0, 3.0)
