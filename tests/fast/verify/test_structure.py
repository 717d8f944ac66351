"""Plans that differ in their calls alone have one structure; any other change shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.emulator.replay import replay
from tang.kernel.expand import expand_math
from tang.kernel.ir import BF16, BOOL, F16, F32, Call, Const, Convert, Expr, If, Op, Store
from tang.kernel.lower import lower
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import rung_expand
from tang.verify.structure import same_structure
from tang.verify.subject import Task, prepare

X = np.random.default_rng(0).standard_normal(9).astype(np.float32)


def program():
    """atan2 and exp, in one kernel."""
    i = tg.dims("i")
    x = tg.input("x", (9,))
    y = tg.exp(x[i]) * tg.atan2(x[i], x[8 - i] + 2)
    return tg.Graph(y=tg.compute("y", i, y))


def plans(schedule=None):
    plan = lower(program(), schedule or Schedule())
    return plan, expand_math(plan)


def edited(plan, change):
    """The plan with every expression of its kernels rewritten from the operands up."""

    def expr(e: Expr) -> Expr:
        if isinstance(e, Op | Call):
            e = replace(e, args=tuple(map(expr, e.args)))
        elif isinstance(e, Convert):
            e = replace(e, value=expr(e.value))
        return change(e)

    def stmt(s):
        if isinstance(s, If):
            return If(s.condition, tuple(map(stmt, s.then)), tuple(map(stmt, s.otherwise)))
        return replace(s, value=expr(s.value)) if hasattr(s, "value") else s

    steps = [
        replace(e, kernel=replace(e.kernel, body=tuple(map(stmt, e.kernel.body))))
        for e in plan.launches
    ]
    return replace(plan, launches=tuple(steps))


def test_an_expanded_plan_has_the_structure_of_the_abstract_one():
    plan, expanded = plans()
    assert expanded != plan
    assert same_structure(plan, expanded)


@pytest.mark.parametrize("format_", [F16, BF16])
def test_calls_between_conversions_are_operations_of_narrow_formats(format_):
    node = NodeSchedule(accumulate=format_)
    plan, expanded = plans(Schedule(nodes=(("y", node),)))
    assert "Convert(type=<Type.F32: 'f32'>" in repr(expanded.launches[0].kernel.body)
    assert same_structure(plan, expanded)


FAULTS = {
    "another function": lambda e: (
        replace(e, function="exp_f32", args=e.args[:1])
        if isinstance(e, Call) and e.function == "atan2_f32"
        else e
    ),
    "swapped operands": lambda e: replace(e, args=e.args[::-1]) if isinstance(e, Call) else e,
    "another operation": lambda e: (
        replace(e, op="add") if isinstance(e, Op) and e.op == "mul" else e
    ),
    "one operation more": lambda e: Op(F32, "neg", (e,)) if isinstance(e, Call) else e,
    "another constant": lambda e: replace(e, value=e.value + 1) if isinstance(e, Const) else e,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_changes_the_structure(fault):
    plan, expanded = plans()
    changed = edited(expanded, FAULTS[fault])
    assert changed != expanded
    assert not same_structure(plan, changed)


def test_a_missing_statement_and_another_branch_change_the_structure():
    plan, expanded = plans()
    (launch,) = expanded.launches
    body = tuple(s for s in launch.kernel.body if not isinstance(s, Store | If))
    for wrong in (body, (If(Const(BOOL, True), launch.kernel.body),)):
        changed = replace(launch, kernel=replace(launch.kernel, body=wrong))
        assert not same_structure(plan, replace(expanded, launches=(changed,)))


def test_a_fault_of_the_structure_is_found_by_the_rung():
    subject = prepare(Task(graph=program(), inputs={"x": X}))
    _, findings, _ = rung_expand.check_expand(subject)
    assert not findings
    changed = edited(subject.expanded, FAULTS["swapped operands"])
    _, findings, _ = rung_expand.check_expand(replace(subject, expanded=changed))
    assert [f.origin for f in findings] == ["structure"]


def test_the_values_of_a_shadow_and_the_calls_it_shows_are_those_of_formats():
    subject = prepare(Task(graph=program(), inputs={"x": X}))
    seen = {"formats": [], "shadow": []}
    done = {
        domain: replay(
            subject.expanded, subject.stored, domain=domain,
            observer=lambda f, a, r, s=shown: s.append((f.name, *map(np.asarray, (*a, r)))),
        )
        for domain, shown in seen.items()
    }  # fmt: skip
    for name, values in done["formats"].buffers.items():
        assert done["shadow"].buffers[name].tobytes() == values.tobytes()
    assert len(seen["formats"]) == 2
    for a, b in zip(seen["formats"], seen["shadow"], strict=True):
        assert a[0] == b[0]
        assert all(x.tobytes() == y.tobytes() for x, y in zip(a[1:], b[1:], strict=True))


def test_balls_are_asked_only_for_what_a_buffer_depends_on():
    i = tg.dims("i")
    x = tg.input("x", (9,))
    a = tg.compute("a", i, x[i] + 1)
    b = tg.compute("b", i, x[i] * 3)
    c = tg.compute("c", i, a[i] * a[i])
    graph = tg.Graph(b=b, c=c, a=a)
    subject = prepare(Task(graph=graph, inputs={"x": X}))
    name = next(n for n in subject.reference if n.startswith("c"))
    assert [e.kernel.origin for e in subject.plan_of({name}).launches] == ["a", "c"]
    assert list(subject.reference_balls(128, {name})) == [name]
