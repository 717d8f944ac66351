"""Each planted fault in lowering changes a result or is seen by the sanitizer."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tang.ir.expr import INDEX, REAL, Expr, apply, arg, iota, real
from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import ARGMAX, ONLINE_SOFTMAX, SUM
from tang.ir.view import Interval, Read, Ref, View, constant, variable
from tang.kernel import ir as k
from tang.kernel.lower import address, kernels, nest, recognise, state
from tang.kernel.lower.build import Builder, Value
from tang.kernel.lower.context import Context, linear_form
from tang.kernel.schedule import NodeSchedule, Schedule

Agree = Callable[..., dict[str, Any]]
DIM_I, DIM_J, DIM_R = (Dim(n, poly(e)) for n, e in (("i", 3), ("j", 2), ("r", 7)))
_RECOGNISE = recognise.recognise
SPLIT = Schedule(nodes=(("f", NodeSchedule(split=3)),))


def view(*names: str) -> View:
    return View(tuple(variable(n) for n in names))


def x_of(*shape: int) -> Input:
    return Input("x", tuple(poly(n) for n in shape), REAL)


def total() -> Graph:
    """Causal sums of a square, so that every condition and coordinate matters."""
    point = (DIM_I, DIM_J)
    read = Read(Ref("x"), view("i", "r", "j"))
    where = (variable("r", 2) - variable("i") - 1, constant(6) - variable("r") - variable("j"))
    node = Comprehension("f", point, (read,), (arg(0),), (DIM_R,), where, SUM)
    return Graph((x_of(3, 7, 2),), (node,), (Output("y", Ref("f", "value")),))


def attention() -> Graph:
    reads_ = (Read(Ref("x"), view("i", "r")), Read(Ref("x"), view("j", "r")))
    node = Comprehension(
        "f", (DIM_I, DIM_J), reads_, (arg(0), arg(1)), (DIM_R,), monoid=ONLINE_SOFTMAX
    )
    outputs = tuple(Output(n, Ref("f", n)) for n in ("value", "m", "l"))
    return Graph((x_of(3, 7),), (node,), outputs)


def winner() -> Graph:
    read = Read(Ref("x"), view("i", "r"))
    node = Comprehension("f", (DIM_I,), (read,), (arg(0), iota("r")), (DIM_R,), monoid=ARGMAX)
    return Graph((x_of(3, 7),), (node,), (Output("y", Ref("f", "index")),))


def looked_up() -> Graph:
    row = variable("@0")
    gather = View((row, variable("j")), (Interval(row, Poly(), poly(3)),), real(5), (_ids(),))
    node = Comprehension("f", (DIM_I, DIM_J), (Read(Ref("x"), gather),), (arg(0),), outputs=("y",))
    ids = Input("ids", (poly(3),), INDEX)
    return Graph((ids, x_of(3, 2)), (node,), (Output("y", Ref("f", "y")),))


def _ids() -> Read:
    return Read(Ref("ids"), view("i"))


def quotient() -> Graph:
    body = apply("mul", arg(0), apply("recip", apply("add", arg(0), real(9))))
    node = Comprehension("f", (DIM_I,), (Read(Ref("x"), view("i")),), (body,), outputs=("y",))
    return Graph((x_of(3),), (node,), (Output("y", Ref("f", "y")),))


def no_conditions(*_: object) -> list[Value]:
    return []


def loose_guard(b: Builder, thread: Value, count: Value) -> Value:
    return b.le(thread, count)


def short_chunks(ctx: Context, dim: Dim, split: int) -> tuple[Value, Value]:
    b = ctx.builder
    size = b.literal(dim.extent.constant // split)
    lo = b.mul(ctx.env["%chunk"], size)
    return lo, b.add(lo, size)


def swapped_division(e: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    found = _RECOGNISE(e)
    return (found[0], found[1][::-1]) if found and found[0] == "div" else found


def always_seen(ctx: Context, slots: Any, seen: object, right: Any) -> None:
    state.combine(ctx, slots, right)


def first_is_zero(ctx: Context, slots: Any) -> None:
    for slot in slots.values():
        zero = Value(k.Const(slot.var.type, 0), 0)
        state.declare(ctx, slot, lambda zero=zero: zero)  # type: ignore[misc]


def transposed(ctx: Context, coords: Any, shape: Any) -> Value:
    return address.form_value(ctx, linear_form(coords[::-1], shape))


MUTANTS: dict[str, tuple[ModuleType, str, Any, Graph, Schedule]] = {
    "tail guard": (kernels, "tail_guard", loose_guard, total(), Schedule()),
    "where": (nest, "where_condition", no_conditions, total(), Schedule()),
    "where in a split": (nest, "where_condition", no_conditions, total(), SPLIT),
    "chunk bounds": (nest, "chunk_bounds", short_chunks, total(), SPLIT),
    "linear index": (address, "linear_index", transposed, total(), Schedule()),
    "store condition": (kernels, "store_condition", no_conditions, attention(), Schedule()),
    "identity": (state, "initialise", first_is_zero, attention(), Schedule()),
    "first element": (state, "accumulate", always_seen, winner(), Schedule()),
    "empty chunk": (state, "accumulate", always_seen, winner(), SPLIT),
    "guard": (address, "interval_conditions", no_conditions, looked_up(), Schedule()),
    "division": (recognise, "recognise", swapped_division, quotient(), Schedule()),
}


def _inputs(graph: Graph) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    found: dict[str, Any] = {}
    for i in graph.inputs:
        shape = tuple(p.constant for p in i.shape)
        integers = rng.integers(-8, 0, shape)
        found[i.name] = np.array([2, 3, -1]) if i.sort is INDEX else integers / 4.0
    return found


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_seen(name: str, agree: Agree, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, replacement, graph, schedule = MUTANTS[name]
    agree(graph, _inputs(graph), schedule)
    monkeypatch.setattr(module, function, replacement)
    with pytest.raises(AssertionError):
        agree(graph, _inputs(graph), schedule)
