"""The kernels of small programs, as text: a refactor of lowering changes none of them.

Run this file as a program to write the expected texts anew, then read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tang.ir.derived import exp, sub
from tang.ir.expr import INDEX, REAL, Sort, apply, arg, iota, real
from tang.ir.extent import Poly, PolyLike, poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoids import ARGMAX, ONLINE_SOFTMAX, SUM, top_k
from tang.ir.view import Affine, Interval, Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.kernel.text import plan_text

FOLDER = Path(__file__).parent / "kernels"


def read(source: str, *coords: str | Affine, output: str = "") -> Read:
    forms = tuple(variable(c) if isinstance(c, str) else c for c in coords)
    return Read(Ref(source, output), View(forms))


def dims(**extents: PolyLike) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def given(name: str, *shape: PolyLike, sort: Sort = REAL) -> Input:
    return Input(name, tuple(poly(n) for n in shape), sort)


def matmul() -> Graph:
    node = Comprehension(
        "C",
        dims(i="m", j="n"),
        (read("A", "i", "k"), read("B", "k", "j")),
        (apply("mul", arg(0), arg(1)),),
        dims(k=64),
        monoid=SUM,
    )
    facts = (Fact("m", maximum=4096), Fact("n", maximum=4096))
    inputs = (given("A", "m", 64), given("B", 64, "n"))
    return Graph(inputs, (node,), (Output("C", Ref("C", "value")),), facts)


def softmax() -> Graph:
    """Two passes over causal scores: log-sum-exp's parts by online softmax, then the weights."""
    causal = (variable("i") - variable("t"),)
    stats = Comprehension(
        "stats", dims(i=8), (read("s", "i", "t"),), (arg(0), real(1)), dims(t=8), causal,
        ONLINE_SOFTMAX,
    )  # fmt: skip
    reads = (
        read("s", "i", "t"),
        read("stats", "i", output="m"),
        read("stats", "i", output="l"),
    )
    weight = apply("mul", exp(sub(arg(0), arg(1))), apply("recip", arg(2)))
    last = Comprehension("p", dims(i=8, t=8), reads, (weight,), outputs=("y",))
    return Graph((given("s", 8, 8),), (stats, last), (Output("p", Ref("p", "y")),))


def convolution() -> Graph:
    form = variable("o", 2) + variable("r") - 1
    view = View((variable("b"), form), (Interval(form, Poly(), poly(16)),), real(0))
    node = Comprehension(
        "conv", dims(b=2, o=8), (Read(Ref("x"), view), read("w", "r")),
        (apply("mul", arg(0), arg(1)),), dims(r=3), monoid=SUM,
    )  # fmt: skip
    return Graph((given("x", 2, 16), given("w", 3)), (node,), (Output("y", Ref("conv", "value")),))


def embedding() -> Graph:
    view = View((variable("@0"), variable("j")), (), None, (read("ids", "i"),))
    node = Comprehension("rows", dims(i="n", j=4), (Read(Ref("table"), view),), (arg(0),),
                         outputs=("y",))  # fmt: skip
    inputs = (given("ids", "n", sort=INDEX), given("table", 10, 4))
    return Graph(inputs, (node,), (Output("y", Ref("rows", "y")),))


def winners(monoid_is_top: bool) -> Graph:
    monoid = top_k(2) if monoid_is_top else ARGMAX
    node = Comprehension(
        "best", dims(i=3), (read("x", "i", "r"),), (arg(0), iota("r")), dims(r=9), monoid=monoid
    )
    name = "indices" if monoid_is_top else "index"
    return Graph((given("x", 3, 9),), (node,), (Output("at", Ref("best", name)),))


SPLIT = Schedule(default=NodeSchedule(split=4, storage=k.F16, accumulate=k.F32))
PROGRAMS = {
    "matmul": (matmul(), Schedule()),
    "matmul_split": (matmul(), SPLIT),
    "softmax": (softmax(), Schedule()),
    "convolution": (convolution(), Schedule()),
    "embedding": (embedding(), Schedule()),
    "argmax_split": (winners(False), SPLIT),
    "top_k": (winners(True), Schedule()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_kernels_are_those_on_file(name: str) -> None:
    graph, schedule = PROGRAMS[name]
    assert plan_text(lower(graph, schedule)) == (FOLDER / f"{name}.txt").read_text()


def test_every_file_belongs_to_a_program() -> None:
    assert {p.stem for p in FOLDER.glob("*.txt")} == PROGRAMS.keys()


if __name__ == "__main__":
    for program, (graph_, schedule_) in PROGRAMS.items():
        (FOLDER / f"{program}.txt").write_text(plan_text(lower(graph_, schedule_)))
