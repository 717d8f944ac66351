"""What kernels look like: hoisting, guards, index types, recognition, buffers and names."""

from __future__ import annotations

import pytest

from tang.errors import LimitError, ScheduleError
from tang.ir import derived
from tang.ir.expr import INDEX, REAL, Expr, Sort, apply, arg, iota, named, real
from tang.ir.extent import Poly, PolyLike, poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoids import ARGMAX, MAX, ONLINE_SOFTMAX, SUM
from tang.ir.view import Affine, Interval, Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.lower import lower
from tang.kernel.lower.cleanup import expressions, walk_expression, walk_statements
from tang.kernel.lower.recognise import forms, recognise
from tang.kernel.plan import Plan, Role
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.kernel.text import kernel_text


def read(source: str, *coords: str | Affine, output: str = "") -> Read:
    forms = tuple(variable(c) if isinstance(c, str) else c for c in coords)
    return Read(Ref(source, output), View(forms))


def dims(**extents: PolyLike) -> tuple[Dim, ...]:
    return tuple(Dim(n, poly(e)) for n, e in extents.items())


def given(name: str, *shape: PolyLike, sort: Sort = REAL) -> Input:
    return Input(name, tuple(poly(n) for n in shape), sort)


def matmul(m: PolyLike, n: PolyLike, l: PolyLike, facts: tuple[Fact, ...] = ()) -> Graph:  # noqa: E741
    node = Comprehension(
        "C",
        dims(i=m, j=n),
        (read("A", "i", "k"), read("B", "k", "j")),
        (apply("mul", arg(0), arg(1)),),
        dims(k=l),
        monoid=SUM,
    )
    output = Output("C", Ref("C", "value"))
    return Graph((given("A", m, l), given("B", l, n)), (node,), (output,), facts)


def mapped(body: Expr, *inputs: Input, extent: PolyLike = 8) -> Graph:
    reads = tuple(read(i.name, "i") for i in inputs)
    node = Comprehension("y", dims(i=extent), reads, (body,), outputs=("v",))
    return Graph(inputs, (node,), (Output("y", Ref("y", "v")),))


def body_of(plan: Plan, kernel: int = 0) -> tuple[k.Stmt, ...]:
    return plan.launches[kernel].kernel.body


def loops(body: tuple[k.Stmt, ...]) -> list[k.For]:
    return [s for s in walk_statements(body) if isinstance(s, k.For)]


def operations(body: tuple[k.Stmt, ...]) -> list[str]:
    found = (x for s in walk_statements(body) for e in expressions(s) for x in walk_expression(e))
    return [x.op for x in found if isinstance(x, k.Op)]


def loads(body: tuple[k.Stmt, ...]) -> list[str]:
    found = (x for s in walk_statements(body) for e in expressions(s) for x in walk_expression(e))
    return [x.source for x in found if isinstance(x, k.Load)]


def test_every_body_is_under_the_tail_guard() -> None:
    for split in (1, 4):
        schedule = Schedule(default=NodeSchedule(split=split))
        for launch in lower(matmul(3, 4, 5), schedule).launches:
            (*lets, guard) = launch.kernel.body
            assert all(isinstance(s, k.Let) for s in lets)
            assert isinstance(guard, k.If)
            assert "global_id < " in kernel_text(launch.kernel).splitlines()[2 + len(lets)]


def test_a_read_that_does_not_depend_on_the_loop_is_loaded_before_it() -> None:
    node = Comprehension(
        "f",
        dims(i=4),
        (read("x", "r"), read("s", "i")),
        (apply("mul", arg(0), arg(1)),),
        dims(r=5),
        monoid=SUM,
    )
    graph = Graph((given("x", 5), given("s", 4)), (node,), (Output("f", Ref("f", "value")),))
    (loop,) = loops(body_of(lower(graph)))
    assert loads(loop.body) == ["x"]


def test_a_read_that_is_not_proved_in_bounds_stays_under_where() -> None:
    shifted = variable("i") - 2
    node = Comprehension(
        "f", dims(i=4), (read("x", shifted),), (arg(0),), dims(r=5), (shifted,), SUM
    )
    graph = Graph((given("x", 2),), (node,), (Output("f", Ref("f", "value")),))
    body = body_of(lower(graph))
    inner = [s for s in walk_statements(body) if isinstance(s, k.If)][1]
    assert loads(inner.then) == ["x"]
    assert loads(body) == ["x"]


def test_a_guarded_read_is_loaded_only_where_its_guard_holds() -> None:
    form = variable("i") - 1
    view = View((form,), (Interval(form, Poly(), poly(3)),), real(9))
    node = Comprehension("y", dims(i=5), (Read(Ref("x"), view),), (arg(0),), outputs=("v",))
    graph = Graph((given("x", 3),), (node,), (Output("y", Ref("y", "v")),))
    guard = [s for s in walk_statements(body_of(lower(graph))) if isinstance(s, k.If)][1]
    assert loads(guard.then) == ["x"]
    assert set(operations((k.Let(k.Var(k.BOOL, "c"), guard.condition),))) >= {"le", "lt"}


def test_a_guard_that_always_holds_costs_nothing() -> None:
    form = variable("i")
    view = View((form,), (Interval(form, Poly(), poly(3)),), real(9))
    node = Comprehension("y", dims(i=3), (Read(Ref("x"), view),), (arg(0),), outputs=("v",))
    graph = Graph((given("x", 3),), (node,), (Output("y", Ref("y", "v")),))
    assert sum(isinstance(s, k.If) for s in walk_statements(body_of(lower(graph)))) == 1


def test_an_elementwise_map_needs_no_division() -> None:
    node = Comprehension(
        "y", dims(i=3, j=4, k=5), (read("x", "i", "j", "k"),), (arg(0),), outputs=("v",)
    )
    graph = Graph((given("x", 3, 4, 5),), (node,), (Output("y", Ref("y", "v")),))
    assert operations(body_of(lower(graph))) == ["lt"]


@pytest.mark.parametrize(
    ("op", "build", "arity"),
    [
        ("exp", derived.exp, 1),
        ("log", derived.log, 1),
        ("tanh", derived.tanh, 1),
        ("sigmoid", derived.sigmoid, 1),
        ("cos", derived.cos, 1),
        ("sub", derived.sub, 2),
        ("div", derived.div, 2),
    ],
)
def test_a_derived_form_becomes_one_operation(op: str, build: object, arity: int) -> None:
    assert callable(build)
    inputs = tuple(given(n, 8) for n in "ab"[:arity])
    graph = mapped(build(*(arg(i) for i in range(arity))), *inputs)
    assert [o for o in operations(body_of(lower(graph))) if o != "lt"] == [op]


def test_recognition_takes_commuted_products_and_nothing_near() -> None:
    x = arg(0)
    assert recognise(apply("exp2", apply("mul", named("log2e"), x))) == ("exp", (x,))
    assert recognise(apply("exp2", apply("mul", named("ln2"), x))) is None
    assert recognise(apply("add", x, apply("recip", x))) is None
    assert len(forms()) == len({(f.op, f.pattern.sort) for f in forms()})


def test_small_extents_take_32_bit_indices_and_large_ones_64() -> None:
    assert lower(matmul(64, 64, 64)).launches[0].kernel.body != ()
    small = lower(matmul(46340, 46340, 8)).launches[0].kernel
    large = lower(matmul(46341, 46341, 8)).launches[0].kernel
    assert "i64" not in kernel_text(small)
    assert "i32" not in kernel_text(large)


def test_a_partial_sum_decides_the_index_type_too() -> None:
    coord = variable("i", 67108864)
    node = Comprehension("y", dims(i=64), (read("x", coord),), (arg(0),), outputs=("v",))
    graph = Graph((given("x", 2**32),), (node,), (Output("y", Ref("y", "v")),))
    assert "i32" not in kernel_text(lower(graph).launches[0].kernel)


def test_declared_maxima_keep_symbolic_kernels_at_32_bits() -> None:
    facts = tuple(Fact(s, maximum=1024) for s in "mnl")
    bounded = lower(matmul("m", "n", "l", facts))
    assert "i64" not in kernel_text(bounded.launches[0].kernel)
    free = lower(matmul("m", "n", "l"))
    assert "i32" not in kernel_text(free.launches[0].kernel)
    assert [f.maximum for f in free.facts] == [2**31 - 1] * 3


def test_an_index_beyond_64_bits_is_refused_by_extent() -> None:
    with pytest.raises(LimitError, match=r"node 'C'.*i = 8589934592"):
        lower(matmul(2**33, 2**33, 1))


def test_an_iota_beyond_64_bits_is_refused() -> None:
    body = apply("mul", iota("i"), apply("mul", iota("i"), iota("i")))
    with pytest.raises(LimitError, match="an index mul"):
        lower(mapped(body, extent=2**31))


def test_results_that_nobody_needs_are_not_stored() -> None:
    node = Comprehension(
        "f", dims(i=2), (read("x", "i", "r"),), (arg(0), iota("r")), dims(r=3), monoid=ARGMAX
    )
    graph = Graph((given("x", 2, 3),), (node,), (Output("at", Ref("f", "index")),))
    plan = lower(graph)
    assert [b.name for b in plan.buffers] == ["x", "f_index"]
    assert plan.buffer("f_index").type is k.I32


def test_components_that_nobody_needs_are_not_folded() -> None:
    node = Comprehension(
        "a",
        dims(i=2, j=3),
        (read("s", "i", "t"), read("v", "t", "j")),
        (arg(0), arg(1)),
        dims(t=4),
        monoid=ONLINE_SOFTMAX,
    )
    graph = Graph((given("s", 2, 4), given("v", 4, 3)), (node,), (Output("m", Ref("a", "m")),))
    assert loads(body_of(lower(graph))) == ["s"]


def test_a_split_has_two_kernels_with_partials_in_the_accumulation_format() -> None:
    schedule = Schedule(
        nodes=(("C", NodeSchedule(split=4, storage=k.F16, accumulate=k.F64, workgroup=32)),)
    )
    plan = lower(matmul(2, 3, 9), schedule)
    assert [launch.kernel.role for launch in plan.launches] == ["partial", "combine"]
    assert [launch.threads for launch in plan.launches] == [poly(24), poly(6)]
    assert [launch.kernel.origin for launch in plan.launches] == ["C", "C"]
    assert plan.buffer("C_acc_partial").type is k.F64
    assert plan.buffer("C_acc_partial").shape == (poly(4), poly(2), poly(3))
    assert plan.buffer("C_value").type is k.F16


def test_names_that_meet_stay_apart() -> None:
    first = Comprehension("x", dims(i=2), (read("x_v", "i"),), (arg(0),), outputs=("v",))
    second = Comprehension("y", dims(x_v=2), (read("x_v", "x_v"),), (arg(0),), outputs=("v",))
    outputs = (Output("a", Ref("x", "v")), Output("b", Ref("y", "v")))
    plan = lower(Graph((given("x_v", 2),), (first, second), outputs))
    names = [b.name for b in plan.buffers]
    assert names == ["x_v", "x_v_1", "y_v"]


def test_roles_say_what_a_buffer_is_to_the_caller() -> None:
    first = Comprehension("f", dims(i=2), (read("x", "i"),), (arg(0),), outputs=("v",))
    last = Comprehension("g", dims(i=2), (read("f", "i", output="v"),), (arg(0),), outputs=("v",))
    graph = Graph((given("x", 2),), (first, last), (Output("y", Ref("g", "v")),))
    plan = lower(graph)
    assert [b.role for b in plan.buffers] == [Role.INPUT, Role.TEMPORARY, Role.OUTPUT]


def test_a_split_of_a_map_is_an_error_that_names_it() -> None:
    schedule = Schedule(nodes=(("y", NodeSchedule(split=2)),))
    with pytest.raises(ScheduleError, match="y: split 2 needs a reduction"):
        lower(mapped(arg(0), given("x", 8)), schedule)


def test_storage_and_accumulation_formats_meet_in_conversions() -> None:
    schedule = Schedule(default=NodeSchedule(storage=k.F16, accumulate=k.F32))
    kernel = lower(matmul(2, 2, 2), schedule).launches[0].kernel
    text = kernel_text(kernel)
    assert "f32(A[" in text
    assert "= f16(acc)" in text
    assert {p.type for p in kernel.params} == {k.F16}


def test_conditions_over_outer_dims_are_tested_outside_of_the_loop() -> None:
    node = Comprehension(
        "f", dims(i=4), (read("x", "r"),), (arg(0),), dims(r=5), (variable("i") - 2,), MAX
    )
    graph = Graph((given("x", 5),), (node,), (Output("f", Ref("f", "value")),))
    (loop,) = loops(body_of(lower(graph)))
    assert not any(isinstance(s, k.If) for s in walk_statements(loop.body))


def test_sorts_have_their_types_in_memory() -> None:
    below = apply("lt", arg(0), real(0))
    plan = lower(mapped(below, given("x", 8)))
    assert plan.buffer("y_v").type is k.BOOL
    plan = lower(mapped(apply("add", arg(0, INDEX), iota("i")), given("x", 8, sort=INDEX)))
    assert plan.buffer("x").type is k.I32
    assert plan.buffer("y_v").type is k.I64
