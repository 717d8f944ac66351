"""Small graphs that between them use every feature of the IR."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from tang.ir.derived import sub, tanh
from tang.ir.expr import (
    BOOL,
    INDEX,
    REAL,
    apply,
    arg,
    boolean,
    extent,
    index,
    iota,
    named,
    real,
    state,
)
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import ARGMAX, MAX, ONLINE_SOFTMAX, SUM, top_k
from tang.ir.view import Interval, Read, Ref, View, constant, variable

I0, J, K = variable("i"), variable("j"), variable("k")


def dims(**extents: int | str) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def shape(*extents: int | str) -> tuple[object, ...]:
    return tuple(poly(e) for e in extents)


def read(source: str, *coords: object, output: str = "") -> Read:
    return Read(Ref(source, output), View(tuple(coords)))


def matmul() -> Graph:
    product = apply("mul", arg(0), arg(1))
    reads = (read("A", I0, K), read("B", K, J))
    node = Comprehension("C", dims(i=64, j=32), reads, (product,), reduce=dims(k=128), monoid=SUM)
    inputs = (Input("A", shape(64, 128)), Input("B", shape(128, 32)))
    return Graph(inputs, (node,), (Output("C", Ref("C", "value")),))


def symbolic_softmax() -> Graph:
    n = poly("n")
    scores = Comprehension(
        "best", dims(i="m"), (read("X", I0, K),), (arg(0),), reduce=dims(k="n"), monoid=MAX
    )
    flat = variable("i", n) + K
    shifted = Comprehension(
        "shift d",
        dims(i="m", k="n"),
        (read("F", flat), read("best", I0, output="value")),
        (sub(arg(0), arg(1)), tanh(arg(0))),
        outputs=("value", "tanh"),
    )
    inputs = (Input("X", shape("m", "n")), Input("F", (poly("m") * n,)))
    outputs = (Output("y", Ref("shift d", "value")), Output("t", Ref("shift d", "tanh")))
    facts = (Fact("n", 1, 4096, 4), Fact("m", 0))
    return Graph(inputs, (scores, shifted), outputs, facts)


def gathered() -> Graph:
    at = variable("@0")
    guard = (Interval(at, poly(0), poly(5)), Interval(I0 + 1, poly(0), poly(8)))
    index_read = Read(Ref("idx"), View((I0 + 1,), guard[1:], index(-1)))
    view = View((at, J), guard, named("-0.0"), (index_read,))
    second = View(
        (variable("@1"), J), (), None, (index_read, Read(Ref("idx"), View((variable("@0"),))))
    )
    body = apply("select", apply("lt", iota("i"), extent("j")), arg(0), apply("neg", arg(1)))
    node = Comprehension(
        "G",
        dims(i=8, j=3),
        (Read(Ref("E"), view), Read(Ref("E"), second), read("ok", I0)),
        (apply("select", arg(2, BOOL), body, named("nan")),),
        outputs=("value",),
    )
    inputs = (Input("E", shape(5, 3)), Input("idx", shape(8), INDEX), Input("ok", shape(8), BOOL))
    return Graph(inputs, (node,), (Output("G", Ref("G", "value")),))


def scan() -> Graph:
    body = (arg(0), apply("add", iota("s"), index(3)))
    lag = variable("t") - variable("s")
    node = Comprehension(
        "best so far",
        dims(t=16),
        (read("x", lag),),
        body,
        reduce=dims(s=16),
        where=(lag,),
        monoid=ARGMAX,
    )
    return Graph((Input("x", shape(16)),), (node,), (Output("at", Ref("best so far", "index")),))


def attention() -> Graph:
    score = apply("mul", arg(0), real(Fraction(1, 3)))
    node = Comprehension(
        "o",
        dims(q=4, d=2),
        (read("S", variable("q"), K), read("V", K, variable("d"))),
        (score, arg(1)),
        reduce=dims(k=8),
        monoid=ONLINE_SOFTMAX,
    )
    state = Comprehension(
        "l2", dims(q=4), (read("o", variable("q"), output="l"),), (arg(0),), outputs=("value",)
    )
    outputs = (Output("o", Ref("o", "value")), Output("l", Ref("l2", "value")))
    inputs = (Input("S", shape(4, 8)), Input("V", shape(8, 2)))
    return Graph(inputs, (node, state), outputs)


def ranked() -> Graph:
    body = (arg(0), iota("k"))
    node = Comprehension(
        "T", dims(i=2), (read("X", I0, K),), body, reduce=dims(k=5), monoid=top_k(3)
    )
    return Graph((Input("X", shape(2, 5)),), (node,), (Output("v", Ref("T", "values")),))


def outer_sum() -> Graph:
    """A monoid with a static axis that the reads use: a vector of sums."""
    acc = Component("acc", REAL, ("w",))
    here, there = (apply("select", boolean(True), _state(side), _state(side)) for side in (0, 1))
    vector = Monoid(
        "vector_sum",
        (REAL,),
        (acc,),
        (arg(0),),
        (real(0),),
        (apply("add", here, there),),
        (Component("value", REAL, ("w",)),),
        (_state(0),),
        commutative=True,
        axes=(Axis("w", 3),),
    )
    node = Comprehension(
        "V", (), (read("X", K, variable("w")),), (arg(0),), reduce=dims(k=4), monoid=vector
    )
    return Graph((Input("X", shape(4, 3)),), (node,), (Output("V", Ref("V", "value")),))


def _state(side: int) -> object:

    return state(side, 0, REAL, (iota("w"),))


def constants() -> Graph:
    numbers = [real(0.1), real(Fraction(22, 7)), real(2.0**-1074), real(-1e308), named("pi")]
    numbers += [real(-0.0), real(float("nan")), real(float("inf")), real(3), real(10**400)]
    body = (*numbers, index(2**62), index(-7), boolean(False))
    names = tuple(f"c{n}" for n in range(len(body)))
    node = Comprehension("c", (), (), body, outputs=names)
    outputs = tuple(Output(n, Ref("c", n)) for n in names)
    return Graph((), (node,), outputs)


def broadcast() -> Graph:
    view = View((constant(0), variable("i", 2)))
    node = Comprehension(
        "Ж half", dims(i=4, j=3), (Read(Ref("new"), view),), (arg(0),), outputs=("a__b",)
    )
    return Graph((Input("new", shape(1, 7)),), (node,), (Output("out", Ref("Ж half", "a__b")),))


SAMPLES: dict[str, Callable[[], Graph]] = {
    f.__name__: f
    for f in (
        matmul,
        symbolic_softmax,
        gathered,
        scan,
        attention,
        ranked,
        outer_sum,
        constants,
        broadcast,
    )
}


@pytest.fixture(params=sorted(SAMPLES))
def sample(request: pytest.FixtureRequest) -> Graph:
    """Each sample graph in turn."""
    return SAMPLES[request.param]()


@pytest.fixture(scope="session")
def graphs() -> dict[str, Callable[[], Graph]]:
    """Makers of sample graphs by name."""
    return SAMPLES
