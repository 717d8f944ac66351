"""What is not a program is refused by every entry, in the same words."""

from __future__ import annotations

from typing import Any

import pytest

import tang as tg
from tang.errors import GraphError
from tang.ir.graph import Graph, require_graph
from tang.schedule import schedule_auto
from tang.verify import verify

ENTRIES = {
    "compile": lambda g: tg.compile(g),
    "grad": lambda g: tg.grad(g, loss="y", wrt=["x"]),
    "rewrite": lambda g: tg.rewrite(g),
    "schedule_auto": lambda g: schedule_auto(g),
    "verify": lambda g: verify(g, backends=()),
}


def _graph() -> Graph:
    return tg.Graph(y=tg.sum(tg.input("x", (3,))))


@pytest.mark.parametrize("entry", sorted(ENTRIES))
@pytest.mark.parametrize("value", ["graph.json", None, 3])
def test_an_entry_names_what_it_got_and_how_to_get_a_graph(entry: str, value: Any) -> None:
    ENTRIES[entry](_graph())
    with pytest.raises(GraphError, match=r"must be a Graph, not \w+ .*tang\.Graph\("):
        ENTRIES[entry](value)


def test_a_graph_is_handed_on() -> None:
    graph = _graph()
    assert require_graph(graph) is graph
