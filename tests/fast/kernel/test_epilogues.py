"""Epilogues are computed by the threads of the node that they follow, with its very bits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from some_inlined import (
    dims,
    fold_of,
    formats,
    given,
    graph_of,
    guarded,
    map_of,
    numbers,
    placed,
    read,
    same_bits,
)

from tang.errors import ScheduleError
from tang.ir.expr import INDEX, apply, arg, iota, real
from tang.ir.graph import Graph, Output
from tang.ir.monoids import WELFORD, top_k
from tang.ir.view import Ref, constant, variable
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule

PRODUCT = apply("mul", arg(0), arg(1))
DIFFERENCE = apply("add", arg(0), apply("neg", arg(1)))


def summed() -> Graph:
    """f[i] = Σ_r x[i, r]; g[j] = f[j] · b[j]; h[j] = g[j] − f[j]."""
    f = fold_of("f", dims(i=6), (read("x", "i", "r"),), dims(r=9))
    g = map_of("g", dims(j=6), (read("f", "j", output="value"), read("b", "j")), PRODUCT)
    own = (read("g", "j", output="y"), read("f", "j", output="value"))
    h = map_of("h", dims(j=6), own, DIFFERENCE)
    return graph_of((given("x", 6, 9), given("b", 6)), f, g, h)


@pytest.mark.parametrize("storage", [F32, F16, BF16, F64], ids=lambda t: t.value)
@pytest.mark.parametrize("kind", ["plain", "split", "lanes", "both"])
def test_a_chain_of_epilogues_needs_no_buffer_but_its_result(storage, kind):
    graph, base = summed(), formats(storage)
    team = {
        "plain": {},
        "split": {"split": 3},
        "lanes": {"lanes": 4},
        "both": {"split": 2, "lanes": 2},
    }
    fold = ("f", replace(base, **team[kind]))
    rows = (fold, *((n, replace(base, place="epilogue")) for n in ("g", "h")))
    plan = same_bits(
        graph,
        numbers(graph),
        Schedule(nodes=rows, default=base),
        Schedule(nodes=(fold,), default=base),
    )
    assert [b.name for b in plan.buffers if "partial" not in b.name] == ["x", "b", "h_y"]
    assert len(plan.launches) == (2 if "split" in team[kind] else 1)


def test_what_others_read_as_well_is_stored_too():
    graph = summed()
    shifted = guarded("f", variable("i") - 1, 6, real(0), "value")
    last = map_of("last", dims(i=6), (shifted, read("h", "i", output="y")), PRODUCT)
    whole = Graph(
        graph.inputs,
        (*graph.nodes, last),
        (Output("out", Ref("last", "y")), Output("g", Ref("g", "y"))),
    )
    plan = same_bits(whole, numbers(whole), placed(g="epilogue", h="epilogue"), Schedule())
    names = [b.name for b in plan.buffers]
    assert names == ["x", "b", "f_value", "g_y", "h_y", "last_y"]
    assert [s.kernel.name for s in plan.launches] == ["f", "last"]


def test_outputs_components_and_static_axes_are_taken_from_registers():
    stats = fold_of("stats", dims(i=4), (read("x", "i", "r"),), dims(r=5), monoid=WELFORD)
    mean, m2 = stats.output_names()[0], WELFORD.components[-1].name
    reads = (read("stats", "i", output=mean), read("stats", "i", output=m2))
    graph = graph_of((given("x", 4, 5),), stats, map_of("g", dims(i=4), reads, PRODUCT))
    same_bits(graph, numbers(graph), placed(g="epilogue"), Schedule())
    best = fold_of("best", dims(i=4), (read("x", "i", "r"),), dims(r=5), arg(0), iota("r"),
                   monoid=top_k(3))  # fmt: skip
    pair = tuple(read("best", "i", constant(n), output="indices") for n in (0, 2))
    last = map_of("g", dims(i=4), pair, apply("add", arg(0, INDEX), arg(1, INDEX)))
    graph = graph_of((given("x", 4, 5),), best, last)
    same_bits(graph, numbers(graph), placed(g="epilogue"), Schedule())


def test_a_map_may_follow_a_map_and_read_inlined_nodes_beside_it():
    host = map_of("host", dims(i=4, j=3), (read("x", "i", "j"),), apply("exp2", arg(0)))
    beside = fold_of("beside", dims(j=3), (read("x", "r", "j"),), dims(r=4))
    reads = (read("host", "a", "b", output="y"), read("beside", "b", output="value"))
    last = map_of("last", dims(a=4, b=3), reads, PRODUCT)
    graph = graph_of((given("x", 4, 3),), host, beside, last)
    plan = same_bits(graph, numbers(graph), placed(beside="inline", last="epilogue"), Schedule())
    assert [b.name for b in plan.buffers] == ["x", "last_y"]


def refused(graph: Graph, **places: str) -> str:
    with pytest.raises(ScheduleError) as error:
        lower(graph, placed(**places))
    return str(error.value)


def test_what_cannot_be_an_epilogue_says_why():
    x, f = given("x", 4, 4), fold_of("f", dims(i=4), (read("x", "i", "r"),), dims(r=4))
    own = read("f", "i", output="value")
    assert refused(graph_of((x,), f), f="epilogue").startswith("f: cannot be an epilogue: it is a")
    alone = map_of("g", dims(i=4), (read("x", "i", "i"),), arg(0))
    assert "it reads no node that has a kernel" in refused(graph_of((x,), alone), g="epilogue")
    wide = map_of("g", dims(i=4, j=4), (own,), arg(0))
    assert "its points are not those of 'f'" in refused(graph_of((x,), f, wide), g="epilogue")
    turned = map_of(
        "g", dims(i=4), (own, read("f", variable("i", -1) + 3, output="value")), PRODUCT
    )
    text = refused(graph_of((x,), f, turned), g="epilogue")
    assert text == (
        "g: cannot be an epilogue: it reads f.value at other points than its own: materialise it"
    )
    through = map_of("n", dims(i=4), (own,), arg(0))
    last = map_of("g", dims(i=4), (own, read("n", "i", output="y")), PRODUCT)
    text = refused(graph_of((x,), f, through, last), n="inline", g="epilogue")
    assert "it reads 'f' through 'n', which is inlined" in text


def test_a_schedule_that_names_formats_of_an_epilogue_obeys_them():
    graph = summed()
    rows = (
        ("g", NodeSchedule(storage=BF16, place="epilogue")),
        ("h", NodeSchedule(accumulate=F64)),
    )
    plain = (("g", NodeSchedule(storage=BF16)), ("h", NodeSchedule(accumulate=F64)))
    same_bits(graph, numbers(graph), Schedule(nodes=rows), Schedule(nodes=plain))
