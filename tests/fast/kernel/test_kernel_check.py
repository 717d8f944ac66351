"""Kernel and plan checks: what is legal passes, each planted fault is named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tang.errors import TangBugError
from tang.ir.expr import REAL, arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel import ir as k
from tang.kernel.check import EXPRESSIONS, OPERANDS, STATEMENTS, check_kernel, check_plan
from tang.kernel.lower import lower
from tang.kernel.plan import Plan, Result, Role
from tang.kernel.schedule import NodeSchedule, Schedule

ZERO = k.Const(k.I32, 0)
ONE = k.Const(k.F32, Fraction(1))
X = k.Var(k.F32, "x")
N = k.Var(k.I32, "n")
THREAD = k.Var(k.I32, "global_id")
TRUE = k.Const(k.BOOL, True)


def kernel(*body: k.Stmt, functions: tuple[k.Function, ...] = ()) -> k.Kernel:
    params = (k.Param("a", k.F32, False), k.Param("out", k.F32, True))
    return k.Kernel("demo", params, (N,), body, functions=functions)


def summed() -> Plan:
    reads = (Read(Ref("x"), View((variable("i"), variable("r")))),)
    node = Comprehension(
        "f", (Dim("i", poly("m")),), reads, (arg(0),), (Dim("r", poly(4)),), monoid=SUM
    )
    graph = Graph(
        (Input("x", (poly("m"), poly(4)), REAL),), (node,), (Output("y", Ref("f", "value")),)
    )
    return lower(graph, Schedule(default=NodeSchedule(split=2)))


LEGAL: dict[str, tuple[k.Stmt, ...]] = {
    "store": (k.Store("out", THREAD, k.Load(k.F32, "a", THREAD)),),
    "let": (k.Let(X, ONE), k.Store("out", ZERO, X)),
    "register": (k.Declare(X, ONE), k.Assign(X, k.Op(k.F32, "add", (X, ONE)))),
    "array": (k.Array("t", k.F32, 3), k.Store("t", ZERO, ONE)),
    "loop": (k.For(k.Var(k.I32, "i"), ZERO, N, (k.Store("out", k.Var(k.I32, "i"), ONE),)),),
    "siblings": (k.If(TRUE, (k.Let(X, ONE),), (k.Let(X, ONE),)),),
    "barrier": (k.For(k.Var(k.I32, "i"), ZERO, N, (k.Barrier(),)),),
    "convert": (k.Let(k.Var(k.F64, "d"), k.Convert(k.F64, ONE)),),
    "bits": (k.Let(k.Var(k.U32, "u"), k.Bitcast(k.U32, ONE)),),
    "maths": (k.Let(X, k.Op(k.F32, "atan2", (ONE, ONE))),),
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_legal_statement_passes(name: str) -> None:
    check_kernel(kernel(*LEGAL[name]))


def let(value: k.Expr) -> k.Stmt:
    return k.Let(k.Var(value.type, "v"), value)


DIVERGENT = k.Op(k.BOOL, "lt", (THREAD, N))
FAULTS: dict[str, tuple[tuple[k.Stmt, ...], str]] = {
    "unknown name": ((let(X),), "x is not declared"),
    "used after its scope": ((k.If(TRUE, (k.Let(X, ONE),)), k.Store("out", ZERO, X)), "not decl"),
    "wrong type of a name": ((k.Let(X, ONE), let(k.Var(k.F64, "x"))), "x is f32, used as f64"),
    "two of a name": ((k.Let(X, ONE), k.Let(X, ONE)), "already a name"),
    "name of a scalar": ((k.Let(k.Var(k.F32, "n"), ONE),), "already a name"),
    "assigned let": ((k.Let(X, ONE), k.Assign(X, ONE)), "not a declared register"),
    "let of another type": ((k.Let(X, ZERO),), "expected f32, not i32"),
    "store to an input": ((k.Store("a", ZERO, ONE),), "a cannot be written"),
    "store of another type": ((k.Store("out", ZERO, ZERO),), "expected f32, not i32"),
    "float index": ((k.Store("out", ONE, ONE),), "f32 is no index"),
    "load from nowhere": ((let(k.Load(k.F32, "b", ZERO)),), "b is no buffer"),
    "load of another type": ((let(k.Load(k.F64, "a", ZERO)),), "a holds f32, not f64"),
    "empty array": ((k.Array("t", k.F32, 0),), "at least one element"),
    "unknown operation": ((let(k.Op(k.F32, "pow", (ONE, ONE))),), "unknown operation pow"),
    "arity": ((let(k.Op(k.F32, "add", (ONE,))),), "add takes 2 operands"),
    "mixed operands": ((let(k.Op(k.F32, "add", (ONE, ZERO))),), "differ in type"),
    "float mod": ((let(k.Op(k.F32, "mod", (ONE, ONE))),), "mod does not take f32"),
    "maths of ints": ((let(k.Op(k.I32, "exp2", (ZERO,))),), "exp2 does not take i32"),
    "result of a comparison": ((let(k.Op(k.F32, "lt", (ONE, ONE))),), "lt gives bool, not f32"),
    "select by a float": ((let(k.Op(k.F32, "select", (ONE, ONE, ONE))),), "takes a bool first"),
    "division by zero": ((let(k.Op(k.I32, "floordiv", (N, ZERO))),), "a divisor is positive"),
    "float literal": ((let(k.Const(k.F32, "tau")),), "'tau' is no f32"),
    "wide literal": ((let(k.Const(k.I32, 2**31)),), "is no i32"),
    "negative byte": ((let(k.Const(k.U8, -1)),), "is no u8"),
    "bool literal": ((let(k.Const(k.BOOL, 1)),), "1 is no bool"),
    "float loop": ((k.For(X, ONE, ONE, ()),), "counts in I32 or I64"),
    "loop bounds": ((k.For(k.Var(k.I64, "i"), ZERO, N, ()),), "expected i64, not i32"),
    "condition": ((k.If(ONE, ()),), "expected bool, not f32"),
    "bool conversion": ((let(k.Convert(k.F32, TRUE)),), "bools are not converted"),
    "rounding": ((let(k.Convert(k.F32, ONE, "up")),), "unknown rounding up"),
    "overflow": ((let(k.Convert(k.F32, ONE, "rne", "wrap")),), "unknown overflow mode wrap"),
    "bit cast of another size": ((let(k.Bitcast(k.I64, ONE)),), "no bit cast"),
    "unknown function": ((let(k.Call(k.F32, "f", (ONE,))),), "unknown function f"),
    "divergent barrier": ((k.If(DIVERGENT, (k.Barrier(),)),), "not every thread"),
    "barrier in a divergent loop": (
        (k.For(k.Var(k.I32, "i"), ZERO, THREAD, (k.Barrier(),)),),
        "not every thread",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_kernel(name: str) -> None:
    body, message = FAULTS[name]
    with pytest.raises(TangBugError, match="kernel 'demo'") as caught:
        check_kernel(kernel(*body))
    assert message in str(caught.value)


def test_every_operation_statement_and_expression_has_a_rule() -> None:
    assert OPERANDS.keys() == k.OPS.keys() | k.MATH.keys()
    assert STATEMENTS.keys() == set(k.Stmt.__args__)
    assert EXPRESSIONS.keys() == set(k.Expr.__args__)


def test_functions_are_checked_with_their_calls() -> None:
    double = k.Function("double", (X,), (), k.Op(k.F32, "add", (X, X)))
    call = let(k.Call(k.F32, "double", (ONE,)))
    check_kernel(kernel(call, functions=(double,)))
    with pytest.raises(TangBugError, match="takes other operands"):
        check_kernel(kernel(let(k.Call(k.F32, "double", ())), functions=(double,)))
    with pytest.raises(TangBugError, match="two functions"):
        check_kernel(kernel(call, functions=(double, double)))
    with pytest.raises(TangBugError, match="x is not declared"):
        check_kernel(kernel(functions=(replace(double, params=()),)))
    with pytest.raises(TangBugError, match="no function of MATH"):
        check_kernel(kernel(functions=(replace(double, implements="double"),)))


def test_a_lowered_plan_passes() -> None:
    check_plan(summed())


def broken_plans() -> dict[str, tuple[Plan, str]]:
    plan = summed()
    first, second = plan.launches
    named = replace(second, kernel=replace(second.kernel, name=first.kernel.name))
    renamed = tuple(replace(b, name="x") for b in plan.buffers)
    typed = tuple(replace(b, type=k.F64) for b in plan.buffers)
    input_out = tuple(replace(b, role=Role.INPUT) for b in plan.buffers)
    nowhere = ("nowhere", *second.buffers[1:])
    return {
        "order": (replace(plan, launches=(second, first)), "before it is written"),
        "missing launch": (replace(plan, launches=(first,)), "never written"),
        "kernel names": (replace(plan, launches=(first, named)), "two kernels share a name"),
        "buffer names": (replace(plan, buffers=renamed), "two buffers share a name"),
        "types": (replace(plan, buffers=typed), "is not f32"),
        "written input": (replace(plan, buffers=input_out), "writes the input"),
        "result": (replace(plan, results=(Result("y", "z"),)), "never written"),
        "scalars": (replace(plan, launches=(replace(first, scalars=()), second)), "scalars"),
        "buffers": (replace(plan, launches=(replace(first, buffers=()), second)), "params differ"),
        "unknown": (
            replace(plan, launches=(first, replace(second, buffers=nowhere))),
            "unknown buffer 'nowhere'",
        ),
    }


@pytest.mark.parametrize("name", sorted(broken_plans()))
def test_a_broken_plan_is_refused(name: str) -> None:
    plan, message = broken_plans()[name]
    with pytest.raises(TangBugError, match=message):
        check_plan(plan)
