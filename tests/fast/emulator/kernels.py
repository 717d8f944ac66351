"""Hand-written kernels and plans for the tests of the emulator."""

from __future__ import annotations

from fractions import Fraction

from tang.ir.expr import Sort
from tang.ir.extent import poly
from tang.ir.graph import Graph, Input
from tang.ir.view import Ref
from tang.kernel.ir import (
    BOOL,
    F32,
    I64,
    Const,
    Expr,
    If,
    Kernel,
    Load,
    Op,
    Param,
    Stmt,
    Store,
    Type,
    Var,
)
from tang.kernel.plan import Buffer, Launch, Plan, Result, Role

GID = Var(I64, "global_id")
N = Var(I64, "n")


def i(value: int, type: Type = I64) -> Const:
    return Const(type, value)


def f(value: float, type: Type = F32) -> Const:
    return Const(type, Fraction(value))


def op(name: str, *args: Expr) -> Op:
    type_ = BOOL if name in ("lt", "le", "eq", "isnan", "and", "or", "not") else args[-1].type
    return Op(type_, name, args)


def load(source: str, index: Expr = GID, type: Type = F32) -> Load:
    return Load(type, source, index)


def store(value: Expr, target: str = "out", index: Expr = GID) -> Store:
    return Store(target, index, value)


def guarded(*body: Stmt) -> tuple[Stmt, ...]:
    """if global_id < n: body"""
    return (If(op("lt", GID, N), body),)


def kernel(*body: Stmt, inputs: dict[str, Type] | None = None, out: Type = F32, **more: object):
    given = {"x": F32} if inputs is None else inputs
    params = tuple(Param(n, t, False) for n, t in given.items())
    return Kernel("k", (*params, Param("out", out, True)), (N,), body, origin="node", **more)


def sort_of(type: Type) -> Sort:
    if type.is_float:
        return Sort.REAL
    return Sort.BOOL if type is BOOL else Sort.INDEX


def plan_of(
    k: Kernel, shapes: dict[str, str | int], out: str | int = "n", threads: str | int = "n"
):
    """A plan of one launch; inputs have one dim each."""
    types = {p.name: p.type for p in k.params}
    inputs = tuple(Input(n, (poly(s),), sort_of(types[n])) for n, s in shapes.items())
    buffers = tuple(
        Buffer(n, (poly(s),), sort_of(types[n]), types[n], Role.INPUT, Ref(n))
        for n, s in shapes.items()
    )
    output = Buffer("out", (poly(out),), sort_of(types["out"]), types["out"], Role.OUTPUT)
    names = tuple(p.name for p in k.params)
    scalars = tuple(poly(s.name) for s in k.scalars)
    launch = Launch(k, names, scalars, poly(threads))
    graph = Graph(inputs, (), ())
    return Plan(graph, (*buffers, output), (launch,), (Result("y", "out"),))
