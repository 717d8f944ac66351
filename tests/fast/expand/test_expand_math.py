"""expand-math replaces every abstract function by a call, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tang.errors import ScheduleError, TangBugError
from tang.ir.extent import poly
from tang.ir.graph import Graph
from tang.kernel.check import check_kernel
from tang.kernel.expand import expand_kernel, expand_math, portable
from tang.kernel.expand.functions import BUILDERS
from tang.kernel.ir import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    MATH,
    OPS,
    U32,
    Bitcast,
    Call,
    Const,
    Convert,
    Expr,
    For,
    Function,
    If,
    Kernel,
    Let,
    Load,
    Op,
    Param,
    Stmt,
    Store,
    Type,
    Var,
)
from tang.kernel.plan import Launch, Plan

I = Var(I32, "global_id")  # noqa: E741
PARAMS = (Param("x", F32, False), Param("out", F32, True))


def op(name: str, *args: Expr, type: Type = F32) -> Op:
    """An operation whose result has the type of its operands."""
    return Op(type, name, args)


def load() -> Load:
    """An element of the input."""
    return Load(F32, "x", I)


def kernel(*body: Stmt, functions: tuple[Function, ...] = ()) -> Kernel:
    """A kernel that computes a node called softmax."""
    return Kernel("k0", PARAMS, (), body, functions=functions, origin="softmax")


def store(value: Expr) -> Store:
    """A store of the result."""
    return Store("out", I, value)


def test_a_kernel_without_maths_is_unchanged():
    k = kernel(store(op("add", load(), load())))
    assert expand_kernel(k) == k


@pytest.mark.parametrize("name", sorted(MATH))
def test_each_abstract_function_becomes_a_call_of_its_portable_one(name: str):
    args = (load(),) * MATH[name]
    expanded = expand_kernel(kernel(store(op(name, *args))))
    assert expanded.body == (store(Call(F32, f"{name}_f32", args)),)
    assert expanded.functions == (portable(name),)
    assert portable(name).implements == name
    check_kernel(expanded)


def test_every_row_of_the_maths_table_has_a_portable_function():
    assert sorted(BUILDERS) == sorted(MATH)


def test_maths_inside_loops_branches_indices_and_conditions_is_found():
    inner = op("add", op("log2", op("exp2", load())), Const(F32, Fraction(1)))
    condition = Op(Type.BOOL, "lt", (op("sin", load()), Const(F32, Fraction(0))))
    loop = For(Var(I32, "i"), Const(I32, 0), Const(I32, 3), (Let(Var(F32, "a"), inner),))
    index = Convert(I32, op("floor", op("cos", load())))
    branch = If(condition, (loop,), (Store("out", index, op("erf", load())),))
    expanded = expand_kernel(kernel(branch))
    names = [f.name for f in expanded.functions]
    assert names == ["cos_f32", "erf_f32", "exp2_f32", "log2_f32", "sin_f32"]
    assert "Op(type=<Type.F32: 'f32'>, op='exp2'" not in repr(expanded.body)


def test_a_function_that_is_used_twice_is_added_once_and_sharing_is_kept():
    e = op("exp2", load())
    expanded = expand_kernel(kernel(store(op("mul", e, e)), store(op("exp2", load()))))
    assert [f.name for f in expanded.functions] == ["exp2_f32"]
    product = expanded.body[0]
    assert isinstance(product, Store)
    assert isinstance(product.value, Op)
    assert product.value.args[0] is product.value.args[1]


def test_expanding_twice_changes_nothing_more():
    once = expand_kernel(kernel(store(op("tanh", load()))))
    assert expand_kernel(once) == once


def test_a_kernels_own_functions_are_expanded_and_come_after_what_they_call():
    x = Var(F32, "x")
    own = Function("gelu", (x,), (Let(Var(F32, "e"), op("erf", x)),), Var(F32, "e"))
    k = kernel(store(Call(F32, "gelu", (load(),))), functions=(own,))
    expanded = expand_kernel(k)
    assert [f.name for f in expanded.functions] == ["erf_f32", "gelu"]
    assert expanded.functions[1].body[0].value == Call(F32, "erf_f32", (x,))


def test_another_function_of_the_same_name_is_a_bug():
    other = replace(portable("exp2"), ulp=9.0)
    with pytest.raises(TangBugError, match="exp2_f32"):
        expand_kernel(kernel(store(op("exp2", load())), functions=(other,)))


@pytest.mark.parametrize("narrow", [F16, BF16])
def test_narrow_formats_compute_in_f32_and_convert_back(narrow: Type):
    value = Convert(narrow, load())
    expanded = expand_kernel(kernel(store(Convert(F32, op("tanh", value, type=narrow)))))
    call = Call(F32, "tanh_f32", (Convert(F32, value),))
    assert expanded.body == (store(Convert(F32, Convert(narrow, call))),)


def test_f64_is_refused_with_the_node_and_what_to_do():
    k = kernel(store(Convert(F32, op("log", Convert(F64, load()), type=F64))))
    with pytest.raises(ScheduleError, match=r"'softmax'.*log in f64.*accumulate in one of these"):
        expand_kernel(k)


def test_deep_expressions_cost_no_stack():
    e: Expr = load()
    for _ in range(20_000):
        e = op("exp2", e)
    body = expand_kernel(kernel(store(e))).body[0]
    assert isinstance(body, Store)
    depth, value = 0, body.value
    while isinstance(value, Call):
        depth, value = depth + 1, value.args[0]
    assert depth == 20_000


def test_plans_are_expanded_launch_by_launch():
    k = kernel(store(op("sigmoid", load())))
    launch = Launch(k, ("a", "b"), (), poly(64))
    plan = Plan(Graph((), (), ()), (), (launch, replace(launch, threads=poly(32))), ())
    expanded = expand_math(plan)
    assert [e.kernel for e in expanded.launches] == [expand_kernel(k)] * 2
    assert [e.threads for e in expanded.launches] == [poly(64), poly(32)]
    assert replace(expanded, launches=plan.launches) == plan


@pytest.mark.parametrize("name", sorted(MATH))
def test_portable_functions_are_straight_lines_of_single_ieee_operations(name: str):
    function = portable(name)
    known = {p.name for p in function.params}
    for let in function.body:
        value = let.value
        assert isinstance(value, Op | Convert | Bitcast)
        operands = value.args if isinstance(value, Op) else (value.value,)
        assert all(
            isinstance(a, Const) or (isinstance(a, Var) and a.name in known) for a in operands
        )
        assert not isinstance(value, Op) or (value.op in OPS and value.op != "fma")
        assert let.var.type in (F32, U32, I32, Type.BOOL)
        assert let.var.name not in known
        known.add(let.var.name)
    assert isinstance(function.result, Var)
    assert function.result.name in known
