"""Every planted fault in autodiff is found by dual numbers on small programs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tang as tg
from tang.errors import GraphError
from tang.fuzz.mutants.apply import _find
from tang.fuzz.mutants.differentiating import DIFFERENTIATING, RULE_OF
from tang.ir.expr import REAL
from tang.verify import Rung
from tang.verify.gradient import check_gradient, with_scalar_loss

RNG = np.random.default_rng(11)
X = tg.input("x", (4, 6))
DATA = {"x": RNG.permutation(24).reshape(4, 6) / 8.0 - 1.0}
TIES = {"x": np.ones((4, 6))}
i, j, k, s = tg.dims("i j k s")
TIME = tg.dim("t", 6)


def gathered():
    table, index = tg.input("e", (5, 3)), tg.input("n", (4,), "index")
    data = {"e": RNG.normal(size=(5, 3)), "n": np.array([0, 2, 2, 4])}
    return tg.Graph(out=tg.embedding(table, index)), data


def convolved(stride, dilation):
    x, w = tg.input("x", (1, 1, 11)), tg.input("w", (1, 1, 3))
    y = tg.conv1d(x, w, stride=stride, dilation=dilation, padding=1)
    return tg.Graph(out=y), {"x": RNG.normal(size=(1, 1, 11)), "w": RNG.normal(size=(1, 1, 3))}


def guarded():
    """x[i] where 1 ≤ i < 4, else 7, of a tensor that goes further."""
    from tang.ir.expr import arg, real
    from tang.ir.extent import poly
    from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
    from tang.ir.view import Interval, Read, Ref, View, variable

    at = variable("i")
    view = View((at,), (Interval(at, poly(1), poly(4)),), real(7))
    node = Comprehension("y", (Dim("i", poly(6)),), (Read(Ref("x"), view),), (arg(0),),
                         outputs=("value",))  # fmt: skip
    graph = Graph((Input("x", (poly(6),)),), (node,), (Output("out", Ref("y", "value")),))
    return graph, {"x": RNG.normal(size=6)}


def equal_reads():
    """x[i] · x[i] with two reads, which the language would make one."""
    from tang.ir.expr import apply, arg
    from tang.ir.extent import poly
    from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
    from tang.ir.view import Read, Ref, View, variable

    read = Read(Ref("x"), View((variable("i"),)))
    node = Comprehension("y", (Dim("i", poly(6)),), (read, read),
                         (apply("mul", arg(0), arg(1)),), outputs=("value",))  # fmt: skip
    graph = Graph((Input("x", (poly(6),)),), (node,), (Output("out", Ref("y", "value")),))
    return graph, {"x": RNG.normal(size=6)}


def scanned():
    a, b = tg.input("a", (6,)), tg.input("b", (6,))
    h = tg.compute("h", TIME, tg.affine_scan(a[s], b[s], over=s, where=[s <= TIME]))
    return tg.Graph(out=h), {"a": RNG.normal(size=6), "b": RNG.normal(size=6)}


def root_behind_a_branch():
    x = tg.input("x", (4,))
    root = tg.compute("root", i, tg.sqrt(x[i]))
    y = tg.compute("y", i, tg.select(x[i] > 0.0, root[i], 0.0))
    return tg.Graph(out=y), {"x": np.array([0.0, 4.0, 1.0, 0.25])}


def twice_differentiated():
    graph = with_scalar_loss(tg.Graph(out=tg.matmul(X, tg.transpose(X))), "out")
    first = tg.grad(graph, "out", ["x"])
    return type(first)(first.inputs, first.nodes, first.outputs[1:]), DATA


def of_x(tensor, data=DATA):
    return lambda: (tg.Graph(out=tensor()), data)


PROGRAMS = {
    "gather": gathered,
    "maximum": of_x(lambda: tg.max(X, axis=1)),
    "maximum of ties": of_x(lambda: tg.max(X, axis=(0, 1)), TIES),
    "first of a column": of_x(
        lambda: tg.max(X, axis=(0, 1)), {"x": np.eye(4, 6)[::-1].copy()}
    ),
    "convolution with a stride": lambda: convolved(2, 1),
    "convolution with a dilation": lambda: convolved(1, 2),
    "guard": guarded,
    "cumulative sum": of_x(lambda: tg.cumsum(X, axis=1)),
    "mean": of_x(lambda: tg.mean(X, axis=0)),
    "scan": scanned,
    "branch": root_behind_a_branch,
    "online softmax": of_x(
        lambda: tg.compute("o", (i, k), tg.online_softmax(X[i, j], X[k, j], over=j))
    ),
    "variance": of_x(lambda: tg.var(X, axis=1)),
    "product": of_x(lambda: tg.prod(X, axis=1)),
    "half a shift": of_x(
        lambda: tg.compute("y", (i, j), tg.exp(X[i, j] - 0.5 * tg.max(X[i, k], over=k)))
    ),
    "reciprocal": of_x(lambda: tg.compute("y", (i, j), 1.0 / (X[i, j] + 3.0))),
    "equal reads": equal_reads,
    "top-k": of_x(lambda: tg.top_k(X, 3)[0]),
    "two readers": of_x(lambda: tg.concatenate([X, X], axis=1)),
    "second derivative": twice_differentiated,
}  # fmt: skip


def findings():
    """What is found in the programs, one after the other."""
    for name in PROGRAMS:
        graph, data = PROGRAMS[name]()
        wrt = [a.name for a in graph.inputs if a.sort is REAL]
        try:
            text = check_gradient(graph, graph.outputs[0].name, wrt, data)
        except (GraphError, KeyError, ValueError, StopIteration) as e:
            text = f"{type(e).__name__}: {e}"
        if text is not None:
            yield f"{name}: {text}"


def plant(monkeypatch, mutant):
    """As `apply_mutant`, but undone with the test."""
    (path,) = mutant.paths
    original, owner, name = _find(path)
    if mutant.key is not None:
        monkeypatch.setitem(original, mutant.key, mutant.make(original[mutant.key]))
    elif isinstance(owner, type):
        monkeypatch.setattr(owner, name, mutant.make(original))
    else:
        replacement = mutant.make(original)
        for module in [m for n, m in list(sys.modules.items()) if n.startswith("tang.")]:
            for attribute, value in list(vars(module).items()):
                if value is original:
                    monkeypatch.setattr(module, attribute, replacement)


def test_without_a_fault_nothing_is_found():
    assert list(findings()) == []


@pytest.mark.parametrize("mutant", DIFFERENTIATING, ids=lambda m: m.name)
def test_a_planted_fault_is_found(monkeypatch, mutant):
    assert mutant.rung is Rung.REWRITE
    plant(monkeypatch, mutant)
    assert next(findings(), None) is not None


def test_every_mutant_names_the_rule_that_it_breaks():
    assert set(RULE_OF) == {m.name for m in DIFFERENTIATING}
    assert all(rule.startswith("grad:") for rule in RULE_OF.values())
