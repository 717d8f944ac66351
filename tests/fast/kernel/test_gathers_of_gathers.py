"""An index read by a gathered value belongs to that value, not to the read's own dims alone."""

from __future__ import annotations

from some_inlined import dims, given, graph_of, map_of, numbers, read

from tang.interpreter import interpret
from tang.ir.expr import INDEX, apply, arg
from tang.ir.view import variable
from tang.kernel.lower import lower, reads

SECOND = read("next", variable("@0"))


def two_chains():
    """y[i] = x[next[a[i]]] + x[next[b[i]]]: the same second gather after different first ones."""
    chains = tuple(read("x", variable("@1"), gathers=(read(n, "i"), SECOND)) for n in "ab")
    node = map_of("y", dims(i=4), chains, apply("add", arg(0), arg(1)))
    indices = [given(n, 4, sort=INDEX) for n in ("a", "b", "next")]
    return graph_of((given("x", 4), *indices), node)


def agree():
    from tang.emulator.replay import replay

    graph = two_chains()
    data = numbers(graph) | {"a": [0, 1, 2, 3], "b": [3, 0, 0, 1], "next": [1, 2, 3, 0]}
    found = replay(lower(graph), data, domain="real").outputs["out"]
    return (found == interpret(graph, data)["out"]).all()


def test_the_second_gather_of_two_chains_is_read_for_each():
    assert agree()


def test_a_key_without_the_gathered_values_is_found_out(monkeypatch):
    monkeypatch.setattr(reads, "_gathered", lambda view: iter(()))
    assert not agree()
