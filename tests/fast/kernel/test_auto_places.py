"""What `schedule_auto` inlines, with both numbers, and that it stays linear in the graph."""

from __future__ import annotations

import cProfile
import pstats
import time

import pytest
from some_inlined import attention, dims, fold_of, given, graph_of, map_of, numbers, read, same_bits

import tang as tg
from tang.ir.expr import Expr, apply, arg, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Graph
from tang.kernel.ir import F16
from tang.kernel.lower import lower
from tang.kernel.plan import Buffer, Role
from tang.kernel.schedule import Schedule
from tang.kernel.text import plan_text
from tang.schedule import explain, schedule_auto
from tang.schedule import places as places_module
from tang.schedule.places import MOST_CODE

PRODUCT = apply("mul", arg(0), arg(1))


def places(graph: Graph) -> dict[str, str]:
    return {c.node: c.placed.place for c in explain(graph).choices}


def matmuls(*widths: int) -> Graph:
    """x·w₀·w₁·… with the given widths."""
    nodes, inputs = [], [given("x", 8, widths[0])]
    for n in range(len(widths) - 1):
        inputs.append(given(f"w{n}", *widths[n : n + 2]))
        source = read("x", "i", "r") if not n else read(f"m{n - 1}", "i", "r", output="value")
        point, over = dims(i=8, j=widths[n + 1]), dims(r=widths[n])
        nodes.append(fold_of(f"m{n}", point, (source, read(f"w{n}", "r", "j")), over, PRODUCT))
    return graph_of(tuple(inputs), *nodes)


def chain(count: int) -> Graph:
    """Pointwise maps, every fourth a product with a square matrix."""
    nodes, before = [], read("x", "i", "j")
    for n in range(count):
        name, point = f"n{n}", dims(i=64, j=64)
        if n % 4 == 0:
            rows = read(before.source.node, "i", "r", output=before.source.output)
            nodes.append(fold_of(name, point, (rows, read("w", "r", "j")), dims(r=64), PRODUCT))
        else:
            nodes.append(map_of(name, point, (before,), apply("add", arg(0), real(1))))
        before = read(name, "i", "j", output=nodes[-1].output_names()[0])
    return graph_of((given("x", 64, 64), given("w", 64, 64)), *nodes)


def test_pointwise_chains_become_one_kernel():
    nodes = [map_of("n0", dims(i="n"), (read("x", "i"),), apply("exp2", arg(0)))]
    for n in range(1, 6):
        reads = (read(f"n{n - 1}", "i", output="y"),)
        nodes.append(map_of(f"n{n}", dims(i="n"), reads, apply("add", arg(0), real(1))))
    graph = graph_of((given("x", "n"),), *nodes)
    plan = same_bits(graph, numbers(graph, n=9), schedule_auto(graph), Schedule())
    assert len(plan.launches) == 1


@pytest.mark.parametrize("length", ["n", 32, 12, 200])
def test_scores_are_inlined_and_nothing_is_as_large_as_length_by_length(length):
    graph = attention(length, 8)
    plan = same_bits(graph, numbers(graph, n=9), schedule_auto(graph), Schedule())
    assert [s.kernel.name for s in plan.launches] == ["attend"]
    square = poly(length) * poly(length)
    assert [
        b for b in plan.buffers if len(b.shape) == 2 and b.shape[0] * b.shape[1] == square
    ] == []
    assert [b.role for b in plan.buffers].count(Role.TEMPORARY) == 0


def test_a_product_read_by_a_wide_product_stays_in_memory():
    graph = matmuls(64, 32, 512)
    assert places(graph) == {"m0": "materialise", "m1": "materialise"}
    assert "too many operations (inlining repeats" in str(explain(graph))


def test_a_narrow_product_is_repeated_since_that_is_cheap():
    assert places(matmuls(4, 4, 4)) == {"m0": "inline", "m1": "materialise"}


def test_a_fold_is_not_given_to_a_kernel_with_too_few_threads():
    def sums(rows: int, columns: int) -> Graph:
        f = fold_of("f", dims(i=rows), (read("x", "i", "r"),), dims(r=columns))
        total = fold_of("total", dims(), (read("f", "i", output="value"),), dims(i=rows))
        return graph_of((given("x", rows, columns),), f, total)

    assert places(sums(100, 100)) == {"f": "inline", "total": "materialise"}
    assert places(sums(500, 500)) == {"f": "materialise", "total": "materialise"}
    assert "the 1 threads that would compute it are few" in str(explain(sums(500, 500)))


def test_a_map_after_a_fold_is_its_epilogue():
    graph = chain(4)
    assert places(graph) == {"n0": "materialise", **dict.fromkeys(("n1", "n2", "n3"), "epilogue")}
    assert len(lower(graph, schedule_auto(graph)).launches) == 1


def test_the_numbers_are_those_of_the_graph():
    (scores, attend) = explain(attention(32, 8)).choices
    # 32·32 scores of 8 products and 8 sums each, for 8 columns instead of once
    assert scores.placed.repeated == 32 * 32 * 16 * 7
    assert scores.placed.saved == 2 * 4 * 32 * 32
    assert (attend.placed.repeated, attend.placed.saved) == (0, 0)
    assert explain(attention("n", 8)) == explain(attention("n", 8))


def test_choosing_and_lowering_take_time_in_proportion_to_the_graph():
    def seconds(count: int) -> float:
        graph, best = chain(count), float("inf")
        for _ in range(2):
            begin = time.process_time()
            lower(graph, schedule_auto(graph))
            best = min(best, time.process_time() - begin)
        return best

    assert seconds(160) < 8 * seconds(40)


def stencils(levels: int, length: int) -> Graph:
    """A product of two vectors, then sums of three neighbours in a body of `length` squares, each
    too large to be stored; the last is summed over its columns."""
    i, j = tg.dim("i", 2048), tg.dim("j", 2048)
    x, y = tg.input("x", (2048,)), tg.input("y", (2048,))
    table = tg.compute("s0", [i, j], x[i] * y[j])
    for n in range(1, levels + 1):
        total = table[i, j] + table.at(i + 1, j, fill=0) + table.at(i, j + 1, fill=0)
        for k in range(length):
            total = total * total + k
        table = tg.compute(f"s{n}", [i, j], total)
    return tg.Graph(o=tg.compute("o", i, tg.sum(table[i, j], j)))


def largest_kernel(graph: Graph) -> int:
    """The operations of the largest kernel, as they are written."""
    kernels = plan_text(lower(graph, schedule_auto(graph))).split("kernel ")
    return max(sum(text.count(f" {op} ") for op in "+*") for text in kernels)


@pytest.mark.parametrize("levels", [4, 6])
def test_code_is_bounded_however_long_the_bodies_that_multiply(levels):
    """Copies times their operations count: twice the length takes fewer copies, not more text."""
    short = largest_kernel(stencils(levels, 4))
    sizes = [largest_kernel(stencils(levels, length)) for length in (40, 80)]
    assert short <= MOST_CODE
    assert all(size <= MOST_CODE for size in sizes)
    assert any("operations" in c.placed.reason for c in explain(stencils(levels, 80)).choices)


def test_copies_alone_would_not_bound_the_code(monkeypatch):
    """A planted fault: every node counts as one operation."""
    bounded = largest_kernel(stencils(4, 40))
    monkeypatch.setattr(places_module, "written", lambda node: 1)
    assert largest_kernel(stencils(4, 60)) > MOST_CODE >= bounded


def test_a_buffer_tells_its_format_and_its_bytes():
    plan = lower(attention("n", 8), Schedule())
    scores = next(b for b in plan.buffers if b.name == "scores_value")
    assert (scores.format, scores.bytes) == ("f32", poly("n") * poly("n") * 4)
    assert scores.bytes.evaluate({"n": 3}) == 36
    fixed = Buffer("b", (poly(3), poly(5)), scores.sort, F16, Role.INPUT)
    assert (fixed.format, fixed.bytes) == ("f16", 30)


def calls_of_dense(count: int) -> int:
    """Function calls of scheduling maps each of which reads all before it: count² / 2 reads."""
    nodes: list[Comprehension] = []
    for n in range(count):
        reads = [read("x", "i", "j"), *(read(m.name, "i", "j", output="y") for m in nodes)]
        nodes.append(map_of(f"n{n}", dims(i=64, j=64), tuple(reads), added(len(reads))))
    graph = graph_of((given("x", 64, 64),), *nodes)
    profile = cProfile.Profile()
    profile.enable()
    schedule_auto(graph)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def added(count: int) -> Expr:
    total = arg(0)
    for n in range(1, count):
        total = apply("add", total, arg(n))
    return total


def test_dense_graphs_take_time_linear_in_their_reads():
    calls_of_dense(4)
    assert calls_of_dense(40) < 6 * calls_of_dense(20)  # four times the reads
