"""Inlined nodes have no kernel and no buffer, and change no bit of what others compute."""

from __future__ import annotations

import numpy as np
import pytest
from some_inlined import (
    attention,
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
from tang.ir.extent import Poly, poly
from tang.ir.graph import Graph, Output
from tang.ir.monoids import ARGMAX, MAX, ONLINE_SOFTMAX, SUM, WELFORD, top_k
from tang.ir.view import Interval, Ref, constant, variable
from tang.kernel import ir as k
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.lower import inline, lower
from tang.kernel.plan import Plan
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.kernel.text import plan_text
from tang.kernel.walk import statements

PRODUCT = apply("mul", arg(0), arg(1))
SQUARE = apply("mul", arg(0), arg(0))
PLUS_ONE = apply("add", arg(0), real(1))
TWICE = apply("add", arg(0, INDEX), arg(0, INDEX))


def names(plan: Plan) -> list[str]:
    return [b.name for b in plan.buffers]


def loops(plan: Plan) -> int:
    return sum(isinstance(s, k.For) for s in statements(plan.launches[-1].kernel.body))


def test_an_inlined_map_is_computed_in_the_kernel_that_reads_it():
    double = map_of("double", dims(i=5), (read("x", "i"),), apply("add", arg(0), arg(0)))
    square = map_of("square", dims(i=5), (read("double", "i", output="y"),), SQUARE)
    graph = graph_of((given("x", 5),), double, square)
    plan = same_bits(graph, numbers(graph), placed(double="inline"), Schedule())
    assert (names(plan), [s.kernel.name for s in plan.launches]) == (["x", "square_y"], ["square"])


@pytest.mark.parametrize("storage", [F32, F16, BF16, F64], ids=lambda t: t.value)
def test_an_inlined_value_is_rounded_as_if_it_had_been_stored(storage):
    third = map_of("third", dims(i=64), (read("x", "i"),), apply("mul", arg(0), real(1 / 3)))
    total = fold_of("total", dims(), (read("third", "i", output="y"),), dims(i=64))
    graph = graph_of((given("x", 64),), third, total)
    default = formats(storage)
    rows = (("third", NodeSchedule(storage=storage, place="inline")), ("total", NodeSchedule()))
    schedule = Schedule(nodes=rows, default=default)
    plain = Schedule(nodes=(("third", default), ("total", NodeSchedule())), default=default)
    same_bits(graph, numbers(graph), schedule, plain)


def test_guards_stay_outside_and_the_nodes_own_guards_inside():
    x = guarded("x", variable("i") - 1, 4, real(10))
    plus = map_of("plus", dims(i=4), (x,), PLUS_ONE)
    shifted = guarded("plus", variable("j") - 2, 4, real(-7), "y")
    last = map_of("last", dims(j=7), (shifted,), arg(0))
    graph = graph_of((given("x", 4),), plus, last)
    plan = same_bits(graph, numbers(graph), placed(plus="inline"), Schedule())
    assert names(plan) == ["x", "last_y"]


@pytest.mark.parametrize("monoid", [SUM, MAX, WELFORD, ARGMAX, top_k(2)], ids=lambda m: m.name)
def test_an_inlined_fold_is_an_inner_loop_in_maps_folds_splits_and_lanes(monoid):
    body = (arg(0),) if len(monoid.inputs) == 1 else (arg(0), iota("r"))
    inner = fold_of("inner", dims(i=6), (read("x", "i", "r"),), dims(r=5), *body, monoid=monoid,
                    where=(variable("i") - variable("r"),))  # fmt: skip
    axes = inner.tensor(inner.output_names()[0]).axes
    at = ("i", *(constant(0) for _ in axes))
    name = inner.output_names()[0]
    sort = inner.tensor(name).sort
    value = arg(0, sort) if sort is not INDEX else apply("to_real", arg(0, INDEX))
    outer = fold_of("outer", dims(j=3), (read("inner", *at, output=name), read("y", "j", "i")),
                    dims(i=6), apply("mul", value, arg(1)))  # fmt: skip
    graph = graph_of((given("x", 6, 5), given("y", 3, 6)), inner, outer)
    for other in ({}, {"split": 2}, {"lanes": 2, "workgroup": 8}):
        last = ("outer", NodeSchedule(**other))
        schedule = Schedule(nodes=(("inner", NodeSchedule(place="inline")), last))
        same_bits(graph, numbers(graph), schedule, Schedule(nodes=(last,)))


def test_flash_attention_computes_every_score_once_per_query_and_key():
    graph = attention("n", 4)
    plan = same_bits(graph, numbers(graph, n=7), placed(scores="inline"), Schedule())
    assert (names(plan), loops(plan)) == (["Q", "K", "V", "attend_value"], 2)


def test_several_results_at_one_point_share_one_loop():
    scores = fold_of("stats", dims(i=3, c=2), (read("s", "i", "k"), read("v", "k", "c")), dims(k=4),
                     arg(0), arg(1), monoid=ONLINE_SOFTMAX)  # fmt: skip
    value, m, l_ = ONLINE_SOFTMAX.outputs[0].name, "m", "l"
    reads = (
        read("stats", "i", "c", output=value),
        read("stats", "i", output=m),
        read("stats", "i", output=l_),
    )
    total = apply("add", arg(0), apply("mul", arg(1), arg(2)))
    last = map_of("last", dims(i=3, c=2), reads, total)
    graph = graph_of((given("s", 3, 4), given("v", 4, 2)), scores, last)
    plan = same_bits(graph, numbers(graph), placed(stats="inline"), Schedule())
    assert loops(plan) == 1


def test_reads_through_one_guard_share_one_branch_and_one_loop():
    stats = fold_of("stats", dims(i=4), (read("x", "i", "r"),), dims(r=3), monoid=WELFORD)
    first, second = stats.output_names()[:2]
    shift = variable("j") - 1
    reads = (
        guarded("stats", shift, 4, real(0), first),
        guarded("stats", shift, 4, real(5), second),
    )
    last = map_of("last", dims(j=6), reads, PRODUCT)
    graph = graph_of((given("x", 4, 3),), stats, last)
    plan = same_bits(graph, numbers(graph), placed(stats="inline"), Schedule())
    assert loops(plan) == 1


def test_a_gather_reads_an_inlined_node_by_an_inlined_index():
    row = map_of("row", dims(i=5), (read("ids", "i"),), TWICE)
    rows = fold_of("rows", dims(j=6), (read("x", "j", "r"),), dims(r=3))
    coordinate = variable("@0")
    taken = read("rows", coordinate, output="value", gathers=(read("row", "i", output="y"),),
                 guard=(Interval(coordinate, Poly(), poly(9)),), fill=real(-1))  # fmt: skip
    last = map_of("last", dims(i=5), (taken,), arg(0))
    graph = graph_of((given("ids", 5, sort=INDEX), given("x", 6, 3)), row, rows, last)
    schedule = placed(row="inline", rows="inline")
    plan = same_bits(graph, numbers(graph), schedule, Schedule())
    assert names(plan) == ["ids", "x", "last_y"]


def test_inlining_nests_to_any_depth_up_to_the_bound():
    nodes = [fold_of("n0", dims(i=2), (read("x", "i", "r"),), dims(r=2))]
    for n in range(1, inline.MOST_NESTED + 2):
        before = read(f"n{n - 1}", "r", output="value")
        nodes.append(fold_of(f"n{n}", dims(i=2), (before, read("x", "i", "r")), dims(r=2), PRODUCT))
    graph = graph_of((given("x", 2, 2),), *nodes)
    inlined = [n.name for n in nodes[:-1]]
    fine = placed(**dict.fromkeys(inlined[-inline.MOST_NESTED :], "inline"))
    assert loops(lower(graph, fine)) == inline.MOST_NESTED + 1
    with pytest.raises(ScheduleError, match=r"n0: inlined 17 levels deep, 16 at most: materialise"):
        lower(graph, placed(**dict.fromkeys(inlined, "inline")))


def test_code_that_multiplies_beyond_all_bounds_is_refused():
    nodes = [map_of("n0", dims(i=64), (read("x", "i"),), arg(0))]
    for n in range(1, 13):
        pair = tuple(guarded(f"n{n - 1}", variable("i") + by, 64, real(0), "y") for by in (-1, n))
        nodes.append(map_of(f"n{n}", dims(i=64), pair, apply("add", arg(0), arg(1))))
    graph = graph_of((given("x", 64),), *nodes)
    with pytest.raises(ScheduleError, match="more than 1024 times in one kernel: materialise"):
        lower(graph, placed(**{n.name: "inline" for n in nodes[:-1]}))


def test_what_cannot_be_inlined_is_refused_with_a_cure():
    node = fold_of("f", dims(i=2), (read("x", "i", "r"),), dims(r=3))
    last = map_of("g", dims(i=2), (read("f", "i", output="value"),), arg(0))
    graph = graph_of((given("x", 2, 3),), node, last)
    both = Graph(graph.inputs, graph.nodes, (*graph.outputs, Output("f", Ref("f", "value"))))
    with pytest.raises(ScheduleError, match=r"f: it is inlined.*output 'f'.*materialise it"):
        lower(both, placed(f="inline"))
    for other in ({"split": 2}, {"lanes": 2}):
        row = ("f", NodeSchedule(place="inline", **other))
        with pytest.raises(ScheduleError, match=r"f: an inlined node.*neither split nor lanes"):
            lower(graph, Schedule(nodes=(row,)))
    with pytest.raises(ScheduleError, match="place is one of"):
        lower(graph, placed(f="inlined"))
    with pytest.raises(ScheduleError, match="default: place 'inline' is for nodes by name"):
        lower(graph, Schedule(default=NodeSchedule(place="inline")))


def test_recomputed_coordinates_get_64_bits_where_they_need_them():
    def plan(step: int) -> str:
        inner = map_of("inner", dims(i=2**31 + 1), (read("x", "i"),), arg(0))
        at = variable("i", step)
        outer = fold_of("outer", dims(i=3), (read("inner", at, output="y"),), dims(r=1))
        graph = graph_of((given("x", 2**31 + 1),), inner, outer)
        return plan_text(lower(graph, placed(inner="inline"))).split("launch")[1]

    assert "i64" in plan(2**30)
    assert "i64" not in plan(2**30 - 1)


def test_a_guarded_number_beyond_the_source_is_never_read():
    rows = fold_of("rows", dims(), (read("x", "r"),), dims(r=4), arg(0), iota("r"), monoid=top_k(2))
    mask = (Interval(variable("i"), poly(5), poly(6)),)
    outside = read("rows", constant(7), output="values", guard=mask, fill=real(3))
    last = map_of("last", dims(i=3), (outside,), arg(0))
    graph = graph_of((given("x", 4),), rows, last)
    same_bits(graph, numbers(graph), placed(rows="inline"), Schedule())


def test_an_empty_inlined_semigroup_is_absent():
    earlier = (variable("i") - variable("r") - 1,)
    best = fold_of("best", dims(i=3), (read("x", "r"),), dims(r=3), arg(0), iota("r"),
                   monoid=ARGMAX, where=earlier)  # fmt: skip
    last = map_of("last", dims(i=3), (read("best", "i", output="index"),), TWICE)
    graph = graph_of((given("x", 3),), best, last)
    same_bits(graph, {"x": np.ones(3, np.float32)}, placed(best="inline"), Schedule())
