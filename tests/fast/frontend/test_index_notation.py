"""Index notation: what a formula means, and which nodes it makes.

Defines one small program per construct with its value in NumPy. Relies on the interpreter.
Messages of refused formulas are in `test_frontend_errors`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tang as tg
from tang.ir.extent import poly
from tang.ir.graph import Graph

Array = np.ndarray[Any, np.dtype[Any]]


def run(t: tg.Tensor, **data: Array) -> Array:
    found: dict[str, Array] = tg.interpreter.interpret(tg.Graph(out=t), data)
    return found["out"]


def test_the_matrix_product_of_the_readme() -> None:
    i, j, k = tg.dims("i j k")
    a, b = tg.input("A", (3, 4)), tg.input("B", (4, 2))
    c = tg.compute("C", (i, j), tg.sum(a[i, k] * b[k, j], over=k))
    graph = tg.Graph(c)
    assert isinstance(graph, Graph)
    assert [n.name for n in graph.nodes] == ["C"]
    x, y = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2)
    assert (tg.interpreter.interpret(graph, {"A": x, "B": y})["C"] == x @ y).all()


def test_dims_come_bare_or_in_a_tuple() -> None:
    assert isinstance(tg.dims("i"), tg.Value)
    assert isinstance(tg.dims(i=64), tg.Value)
    assert len(tg.dims("i, j", k=3)) == 3


def test_a_dim_may_have_another_extent_in_another_computation() -> None:
    i = tg.dims("i")
    a, b = tg.input("a", (3,)), tg.input("b", (5,))
    p, q = tg.compute("p", i, 2 * a[i]), tg.compute("q", i, 2 * b[i])
    assert [str(e) for t in (p, q) for e in t.shape] == ["3", "5"]


def test_affine_subscripts_and_guards_read_a_padded_window() -> None:
    p, r = tg.dims(p=4, r=3)
    x = tg.input("x", (7,))
    y = tg.compute("y", p, tg.sum(x.at(2 * p + r - 1, fill=0), over=r))
    data = np.arange(1.0, 8)
    wide = np.pad(data, 1)
    assert (run(y, x=data) == [wide[2 * n : 2 * n + 3].sum() for n in range(4)]).all()


def test_at_guards_only_coordinates_that_can_leave_the_source() -> None:
    i, j = tg.dims("j", i=5)[::-1]
    x = tg.input("x", (5, "n"))
    graph = tg.Graph(y=tg.compute("y", (i, j), x.at(i - 1, j, fill=0) + x.at(4 - i, j, fill=0)))
    views = [r.view for r in graph.nodes[0].reads]
    assert [len(v.guard) for v in views] == [1, 0]


def test_a_fill_is_what_is_read_outside() -> None:
    i = tg.dims(i=4)
    x = tg.input("x", (2,))
    assert run(tg.compute("y", i, x.at(i - 1, fill=2.5) + 1), x=np.array([1.0, 2])).tolist() == [
        3.5, 2, 3, 3.5,
    ]  # fmt: skip


def test_where_takes_inequalities_and_their_conjunction() -> None:
    s, t = tg.dims(s=6, t=6)
    x = tg.input("x", (6,))
    data = np.arange(1.0, 7)

    def summed(*where: Any) -> list[float]:
        values: list[float] = run(tg.compute("y", t, tg.sum(x[s], s, where)), x=data).tolist()
        return values

    assert summed(s <= t) == np.cumsum(data).tolist()
    assert summed(s < t) == (np.cumsum(data) - data).tolist()
    assert summed(s == t) == data.tolist()
    assert summed((t - 2 < s) & (s <= t)) == summed(t - 2 < s, s <= t) == [1, 3, 5, 7, 9, 11]
    assert summed(s >= t, s > 4) == [6, 6, 6, 6, 6, 6]


def test_gathers_nest_and_take_affine_arithmetic() -> None:
    i, j = tg.dims("i j")
    e, idx = tg.input("E", (6, 2)), tg.input("idx", (4,), "index")
    table, at = np.arange(12.0).reshape(6, 2), np.array([3, 0, 1, 2])
    data = {"E": table, "idx": at}
    assert (run(tg.compute("y", (i, j), e[idx[i] + 2, j]), **data) == table[at + 2]).all()
    assert (run(tg.compute("y", (i, j), e[5 - idx[idx[i]], j]), **data) == table[5 - at[at]]).all()
    got = run(tg.compute("y", (i, j), e.at(2 * idx[i], j, fill=-1)), **data)
    assert (got[1:] == table[2 * at[1:]]).all()
    i2 = tg.dims(i=5)
    got = run(tg.compute("y", (i2, j), e.at(idx.at(i2 - 1, fill=4), j, fill=0)), **data)
    assert (got == table[[4, 3, 0, 1, 2]]).all()


def test_a_gather_by_an_argmax_reads_the_winner() -> None:
    i, k = tg.dims("i k")
    x, y = tg.input("x", (3, 4)), tg.input("y", (3, 4))
    t = tg.compute("t", i, y[i, tg.argmax(x[i, k], over=k)])
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4))
    assert (run(t, x=a, y=b) == b[np.arange(3), a.argmax(1)]).all()


def test_a_reduction_inside_an_expression_becomes_a_node_of_its_own() -> None:
    i, k = tg.dims("i k")
    x = tg.input("x", (3, 64))
    graph = tg.Graph(tg.compute("D", (i,), tg.sum(x[i, k], over=k) / 64))
    assert [n.name for n in graph.nodes] == ["D.sum", "D"]
    assert [d.name for d in graph.nodes[0].point] == ["i"]


def test_equal_reductions_in_a_formula_share_a_node() -> None:
    i, k = tg.dims("i k")
    x = tg.input("x", (3, 4))
    e = tg.exp(x[i, k] - tg.max(x[i, k], over=k))
    f = tg.exp(x[i, k] - tg.max(x[i, k], over=k))
    graph = tg.Graph(tg.compute("S", (i, k), e / tg.sum(f, over=k)))
    assert [n.name for n in graph.nodes] == ["S.max", "S.sum", "S"]


def test_reductions_nest() -> None:
    i, k, m = tg.dims("i k m")
    x = tg.input("x", (3, 4, 5))
    t = tg.compute("t", i, tg.sum(tg.max(x[i, k, m], over=m), over=k))
    data = np.random.default_rng(0).normal(size=(3, 4, 5))
    np.testing.assert_allclose(run(t, x=data), data.max(2).sum(1), rtol=1e-14)


def test_states_and_outputs_can_be_read() -> None:
    i, k = tg.dims("i k")
    x = tg.input("x", (3, 4))
    w = tg.compute("w", i, tg.welford(x[i, k], over=k))
    data = np.random.default_rng(0).normal(size=(3, 4))
    graph = tg.Graph(w, w.output("variance"), m2=w.output("m2"), n=w.output("n"))
    got = tg.interpreter.interpret(graph, {"x": data})
    assert list(got) == ["w", "w.variance", "m2", "n"]
    np.testing.assert_allclose(got["w.variance"], data.var(1))
    assert got["n"].shape == ()


def test_a_mapping_makes_several_outputs() -> None:
    i = tg.dims("i")
    x = tg.input("x", (3,))
    t = tg.compute("t", i, {"twice": 2 * x[i], "odd": x[i] > 1})
    got = tg.interpreter.interpret(tg.Graph(t, odd=t.output("odd")), {"x": np.arange(3.0)})
    assert got["t"].tolist() == [0, 2, 4]
    assert got["odd"].tolist() == [False, False, True]


def test_scalars_of_python_and_numpy_are_constants_on_both_sides() -> None:
    i = tg.dims("i")
    x = tg.input("x", (2,))
    formula = np.float32(0.5) * x[i] + np.int64(2) - Fraction(1, 4) + 1
    assert run(tg.compute("y", i, formula), x=np.array([1.0, 2])).tolist() == [3.25, 3.75]
    picked = x[np.int64(1)] + 0 * x[i]
    assert run(tg.compute("y", i, picked), x=np.array([1.0, 2])).tolist() == [2, 2]
    assert run(tg.compute("z", (), 3)) == 3


def test_index_values_floor_divide_compare_and_cast() -> None:
    i = tg.dims(i=7)
    y = tg.compute("y", i, tg.select(i % 3 == 1, tg.real(i // 3), -tg.real(tg.extent(i))))
    n = np.arange(7)
    assert (run(y) == np.where(n % 3 == 1, n // 3, -7)).all()
    x = tg.input("x", (7,))
    z = tg.compute("z", i, tg.index(x[i]) + abs(i - 3))
    assert (run(z, x=n + 0.75) == n + abs(n - 3)).all()


def test_logic_and_functions_follow_numpy() -> None:
    i = tg.dims("i")
    x, y = tg.input("x", (6,)), tg.input("y", (6,))
    a = np.array([0.5, 1, np.nan, 3, -2, 0])
    b = np.array([1.0, 1, 2, -3, np.nan, 0.25])
    bools = tg.compute("p", i, ~((x[i] < y[i]) | (x[i] == y[i])) & (x[i] != 3))
    assert (run(bools, x=a, y=b) == ~((a < b) | (a == b)) & (a != 3)).all()
    reals = tg.maximum(x[i], y[i]) + tg.minimum(x[i], 1.0) + tg.clip(x[i], -1, 1) + x[i] ** 3
    with np.errstate(invalid="ignore"):
        expected = np.maximum(a, b) + np.minimum(a, 1) + np.clip(a, -1, 1) + a**3
    np.testing.assert_allclose(run(tg.compute("q", i, reals), x=a, y=b), expected, rtol=1e-14)
    more = tg.sqrt(abs(x[i])) + tg.tanh(x[i]) + tg.atan2(x[i], y[i]) + tg.floor(x[i]) + tg.cos(x[i])
    expected = np.sqrt(abs(a)) + np.tanh(a) + np.arctan2(a, b) + np.floor(a) + np.cos(a)
    np.testing.assert_allclose(run(tg.compute("r", i, more), x=a, y=b), expected, rtol=1e-12)


def test_symbolic_extents_multiply_subscripts() -> None:
    a, b = tg.dims(a="rows", b="cols")
    x = tg.input("x", (poly("rows") * poly("cols"),))
    like = tg.input("like", ("rows", "cols"))
    t = tg.compute("t", (a, b), x[a * tg.size("cols") + b] + 0 * like[a, b])
    data = np.arange(6.0)
    assert (run(t, x=data, like=np.zeros((2, 3))) == data.reshape(2, 3)).all()


def test_counting_and_quantifiers() -> None:
    i, k = tg.dims("i k")
    x = tg.input("x", (2, 3))
    data = np.array([[1.0, -1, 2], [1, 1, 1]])
    positive = x[i, k] > 0
    assert run(tg.compute("n", i, tg.count(positive, over=k)), x=data).tolist() == [2, 3]
    assert run(tg.compute("n", i, tg.all(positive, over=k)), x=data).tolist() == [False, True]
    assert run(tg.compute("n", i, tg.any(~positive, over=k)), x=data).tolist() == [True, False]


def test_online_softmax_equals_the_naive_one() -> None:
    t, s, d = tg.dims("t s d")
    score, v = tg.input("score", (3, 5)), tg.input("v", (5, 2))
    y = tg.compute("y", (t, d), tg.online_softmax(score[t, s], v[s, d], over=s))
    a, b = (
        np.random.default_rng(0).normal(size=(3, 5)),
        np.random.default_rng(1).normal(size=(5, 2)),
    )
    e = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(run(y, score=a, v=b), e / e.sum(1, keepdims=True) @ b, rtol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_affine_scans_run_in_order_in_both_directions(reverse: bool) -> None:
    s, t = tg.dims(s=3, t=3)
    a, b = tg.input("a", (3,)), tg.input("b", (3,))
    at = 2 - s if reverse else s
    y = tg.compute("y", t, tg.affine_scan(a[at], b[at], over=s, where=[s <= t]))
    got = run(y, a=np.array([2, 3, 0.5]), b=np.array([1.0, 1, 4]))
    assert got.tolist() == ([4, 13, 27] if reverse else [1, 4, 6])


def test_a_user_monoid_reduces() -> None:
    biggest = tg.monoid(
        "biggest",
        {"size": "real"},
        lift=abs,
        combine=lambda left, right: tg.maximum(left.size, right.size),
        identity=0.0,
        commutative=True,
    )
    i, k = tg.dims("i k")
    x = tg.input("x", (2, 3))
    t = tg.compute("t", i, tg.reduce(biggest, x[i, k], over=k))
    assert run(t, x=np.array([[1.0, -3, 2], [0, 0, -0.5]])).tolist() == [3, 0.5]


def test_a_user_monoid_of_several_components_projects() -> None:
    average = tg.monoid(
        "average",
        {"n": "real", "total": "real"},
        lift=lambda x: {"n": 1.0, "total": x},
        combine=lambda a, b: {"n": a.n + b.n, "total": a.total + b.total},
        project=lambda a: a.total / a.n,
        identity={"n": 0, "total": 0},
        commutative=True,
    )
    i, k = tg.dims("i k")
    x = tg.input("x", (2, 4))
    t = tg.compute("t", i, tg.reduce(average, x[i, k], over=k))
    assert run(t, x=np.array([[1.0, 2, 3, 4], [0, 0, 2, 2]])).tolist() == [2.5, 1]


def test_a_monoid_that_is_not_associative_is_refused() -> None:
    with pytest.raises(tg.GraphError, match="decayed"):
        tg.monoid(
            "decayed",
            {"acc": "real"},
            lift=lambda x: x,
            combine=lambda left, right: 0.5 * left.acc + right.acc,
        )


def test_made_up_names_give_way_and_chosen_names_stay() -> None:
    x = tg.input("softmax", (3, 4))
    graph = tg.Graph(a=tg.softmax(x), b=tg.softmax(tg.softmax(x)))
    names = [n.name for n in graph.nodes]
    assert len(set(names)) == len(names)
    assert "softmax" not in names
    assert [i.name for i in graph.inputs] == ["softmax"]


def test_inputs_declared_alike_are_one() -> None:
    i = tg.dims("i")
    t = tg.compute("t", i, tg.input("x", (3,))[i] + tg.input("x", (3,))[i])
    assert len(tg.Graph(t).inputs) == 1
