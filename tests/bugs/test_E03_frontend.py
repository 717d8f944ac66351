"""E03, the language's side: any name that a user can write is accepted and kept.

Defines programs whose tensors and dims carry names that are keywords or builtins elsewhere.
Relies on the interpreter; mangling by the emitters is tested with them.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

NAMES = [
    "packed", "thread", "new", "half", "sampler", "type", "a__b", "gl_x", "assert", "main", "out",
    "e1", "_", "größe", "名前", "lambda", "x.y", "two words", "@0", "C.sum", "$3",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_serves_as_input_node_output_and_dim(name: str) -> None:
    i, k = tg.dim(name), tg.dim(name)
    x = tg.input("in " + name, (3, 4))
    t = tg.compute(name, i, tg.sum(x[i, k], over=k) + 1)
    graph = tg.Graph({name: t})
    assert [o.name for o in graph.outputs] == [name]
    assert graph.nodes[-1].name == name
    data = np.arange(12.0).reshape(3, 4)
    got = tg.interpreter.interpret(graph, {"in " + name: data})[name]
    assert (got == data.sum(1) + 1).all()


def test_a_node_and_an_input_keep_names_that_differ_in_punctuation_alone() -> None:
    i = tg.dims("i")
    t = tg.compute("a__b", i, tg.input("a.b", (3,))[i] + tg.input("a b", (3,))[i])
    graph = tg.Graph(t)
    assert {n.name for n in graph.inputs} | {n.name for n in graph.nodes} == {"a.b", "a b", "a__b"}
