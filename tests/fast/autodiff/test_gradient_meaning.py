"""What gradients mean: ties, zeros against infinities, degree proofs, names, errors."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.autodiff import gradient
from tang.errors import GraphError
from tang.interpreter import interpret
from tang.verify.gradient import check_gradient

X = tg.input("x", (6,))
i, j = tg.dims("i j")
INF = float("inf")


def total(value, name="L"):
    """Σ value over i, as the loss."""
    return tg.Graph(**{name: tg.compute("total", (), tg.sum(value, over=i))})


def gradient_of(graph, strict=False, **inputs):
    made = tg.grad(graph, "L", ["x"], strict=strict)
    return interpret(made, {n: np.asarray(a) for n, a in inputs.items()})["d_x"]


# --- ties and indices ---------------------------------------------------------------------------


def test_the_first_of_equal_maxima_takes_the_whole_gradient():
    graph = tg.Graph(L=tg.max(X))
    found = gradient_of(graph, x=[1.0, 3.0, 3.0, 2.0, 3.0, 0.0])
    assert found.tolist() == [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_equal_values_that_are_not_the_maximum_take_nothing():
    i2 = tg.dim("i2", 6)
    peak = tg.compute("peak", i2, tg.max(X[i], over=i, where=[i <= i2]))
    graph = tg.Graph(L=tg.compute("L", (), tg.sum(peak[i], over=i)))
    found = gradient_of(graph, x=[2.0, 2.0, 1.0, 2.0, 2.0, 3.0])
    assert found.tolist() == [5.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def test_ranks_of_equal_values_take_one_element_each():
    values, _ = tg.top_k(X, 3)
    k = tg.dim("k")
    graph = tg.Graph(L=tg.compute("L", (), tg.sum(values[k] * tg.real(k + 1), over=k)))
    found = gradient_of(graph, x=[2.0, 5.0, 2.0, 5.0, 2.0, 0.0])
    assert found.tolist() == [3.0, 1.0, 0.0, 2.0, 0.0, 0.0]


def test_a_gather_out_of_range_has_the_same_policy_in_both_directions():
    table, index = tg.input("x", (4,)), tg.input("n", (3,), "index")
    graph = total(table.at(index[i], fill=9.0))
    found = gradient_of(graph, x=[1.0, 2.0, 3.0, 4.0], n=[0, 3, 9])
    assert found.tolist() == [1.0, 0.0, 0.0, 1.0]


# --- infinities ---------------------------------------------------------------------------------


def test_masked_elements_of_logsumexp_take_nothing_and_a_row_of_nothing_gives_zeros():
    mask = tg.input("m", (6,), "bool")
    masked = tg.compute("masked", i, tg.select(mask[i], X[i], -INF))
    graph = tg.Graph(L=tg.logsumexp(masked))
    only = np.array([True, False, False, False, False, False])
    found = gradient_of(graph, x=[0.0, 100.0, 700.0, 1e300, -1.0, 2.0], m=only)
    assert found.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    nothing = gradient_of(graph, x=np.zeros(6), m=np.zeros(6, np.bool_))
    assert nothing.tolist() == [0.0] * 6


def root_behind_a_branch():
    root = tg.compute("root", i, tg.sqrt(X[i]))
    return total(tg.select(X[i] > 0.0, root[i], 0.0))


def test_what_a_branch_left_out_stays_zero_against_an_infinite_derivative():
    found = gradient_of(root_behind_a_branch(), x=[0.0, 4.0, 1.0, 0.0, 16.0, 0.25])
    assert found.tolist() == [0.0, 0.25, 0.5, 0.0, 0.125, 1.0]


def test_strict_gradients_multiply_as_ieee_does():
    found = gradient_of(root_behind_a_branch(), strict=True, x=[0.0, 4.0, 1.0, 0.0, 16.0, 0.25])
    assert np.isnan(found).tolist() == [True, False, False, True, False, False]


def test_a_branch_within_one_expression_is_left_out_too():
    graph = total(tg.select(X[i] > 0.0, tg.sqrt(X[i]), 0.0))
    found = gradient_of(graph, x=[0.0, 4.0, -1.0, 0.0, 16.0, 0.25])
    assert found.tolist() == [0.0, 0.25, 0.0, 0.0, 0.125, 1.0]


def test_elements_that_nothing_reads_get_zero_even_behind_an_infinite_derivative():
    root = tg.compute("root", i, tg.sqrt(X[i]))
    p = tg.dim("p", 5)
    later = tg.compute("later", p, root[p + 1])
    graph = tg.Graph(L=tg.sum(later))
    assert gradient_of(graph, x=[0.0, 1.0, 1.0, 1.0, 1.0, 4.0]).tolist() == [
        0.0, 0.5, 0.5, 0.5, 0.5, 0.25,
    ]  # fmt: skip


def test_a_plain_chain_of_products_has_no_tests_for_zero():
    a, b = tg.input("a", (3, 4)), tg.input("b", (4, 5))
    c = tg.matmul(a, b)
    graph = tg.Graph(L=tg.compute("L", (), tg.sum(c[i, j] * c[i, j], over=[i, j])))
    made = tg.grad(graph, "L", ["a", "b"])
    from tang.ir.expr import walk

    assert all(e.op != "select" for n in made.nodes for body in n.body for e in walk(body))


def test_the_fill_of_a_guard_takes_nothing():
    p = tg.dim("p", 8)
    wide = tg.compute("wide", p, X.at(p - 1, fill=3.0))
    graph = tg.Graph(L=tg.compute("L", (), tg.sum(tg.exp(wide[p]), over=p)))
    found = gradient_of(graph, x=[0.0] * 6)
    assert found.tolist() == [1.0] * 6


# --- degree proofs ------------------------------------------------------------------------------


def stabilised(scale):
    """exp(x − scale·max) / Σ exp(x − scale·max)."""
    top = tg.compute("top", (), tg.max(X[i], over=i))
    weight = tg.compute("weight", i, tg.exp(X[i] - scale * top[()]))
    mass = tg.compute("mass", (), tg.sum(weight[i], over=i))
    return weight, mass


def test_a_stabilising_maximum_gets_no_gradient_and_the_notes_say_why():
    weight, mass = stabilised(1.0)
    made = gradient(total(weight[i] / mass[()] * X[i]), "L", ["x"])
    (note,) = made.notes
    start = "top: free, so it gets no gradient: weight is a scale of degree -1; "
    assert note.replace("weight.value", "weight").startswith(start)
    assert not any("winner" in n.name for n in made.graph.nodes)


def test_a_maximum_that_the_loss_depends_on_is_kept_and_the_notes_say_why():
    weight, _ = stabilised(1.0)
    made = gradient(total(weight[i] * X[i]), "L", ["x"])
    (note,) = made.notes
    assert note.startswith("top: kept, its gradient goes to the element that won, by index")
    assert any("winner" in n.name for n in made.graph.nodes)


FREE = {
    "softmax": lambda: tg.softmax(X),
    "log_softmax": lambda: tg.log_softmax(X),
    "masked_softmax": lambda: tg.masked_softmax(X),
}


@pytest.mark.parametrize("name", FREE)
def test_library_softmaxes_are_proved_free_of_their_maximum(name):
    y = FREE[name]()
    made = gradient(total(y[i] * X[i]), "L", ["x"])
    assert all("free, so it gets no gradient" in n for n in made.notes)
    assert made.notes


KEPT = {
    "half a shift": lambda: stabilised(0.5)[0],
    "a square": lambda: tg.compute(
        "y", i, (X[i] - tg.max(X[j], over=j)) * (X[i] - tg.max(X[j], over=j))
    ),
    "a sum over maxima": lambda: tg.compute(
        "y", i, tg.exp(X[i]) / tg.sum(tg.exp(X[j] - tg.max(X[j], over=j)), over=j)
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_free_of_its_maximum_is_differentiated_through_it(name):
    data = {"x": np.array([0.5, 2.0, -1.0, 1.5, 0.25, 1.0])}
    graph = tg.Graph(out=KEPT[name]())
    assert check_gradient(graph, "out", ["x"], data) is None


def test_dropping_a_maximum_does_not_change_the_gradient():
    y = tg.softmax(X)
    data = {"x": np.array([0.5, 2.0, -1.0, 1.5, 0.25, 1.0])}
    assert check_gradient(tg.Graph(out=y), "out", ["x"], data) is None


# --- names and errors ---------------------------------------------------------------------------


def test_outputs_are_the_loss_and_one_gradient_per_input_in_the_order_given():
    y = tg.input("y", (6,))
    graph = total(X[i] * y[i])
    assert [o.name for o in tg.grad(graph, "L", ["y", "x"]).outputs] == ["L", "d_y", "d_x"]


def test_the_same_program_gives_the_same_gradient_twice():
    y = tg.softmax(X)
    graph = total(y[i] * X[i])
    assert tg.grad(graph, "L", ["x"]) == tg.grad(graph, "L", ["x"])


def test_an_input_without_influence_has_a_gradient_of_zeros():
    y = tg.input("y", (3,))
    graph = total(X[i] + tg.floor(y[0]))
    made = tg.grad(graph, "L", ["y"])
    found = interpret(made, {"x": np.ones(6), "y": np.ones(3)})
    assert found["d_y"].tolist() == [0.0] * 3


ERRORS = {
    "unknown loss": (("M", ["x"]), "no output 'M' to differentiate: one of 'L', 'y', 'n'"),
    "vector loss": (("y", ["x"]), "has shape (6,), not (): sum it first"),
    "index loss": (("n", ["x"]), "is index, and only reals have gradients"),
    "no input": (("L", ["z"]), "names 'z', which is no input: one of 'x', 'k'"),
    "index input": (("L", ["k"]), "input 'k' is index, and only reals have gradients"),
    "nothing": (("L", []), "wrt is empty: name at least one real input"),
    "twice": (("L", ["x", "x"]), "names 'x' twice: name it once"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_a_call_that_cannot_be_right_is_refused_with_the_cure(name):
    index = tg.input("k", (6,), "index")
    y = tg.compute("y", i, X[i] * tg.real(index[i]))
    loss = tg.compute("total", (), tg.sum(y[i], over=i))
    graph = tg.Graph(L=loss, y=y, n=tg.argmax(y))
    call, message = ERRORS[name]
    with pytest.raises(GraphError, match="grad: ") as found:
        tg.grad(graph, *call)
    assert message in str(found.value)
