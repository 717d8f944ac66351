"""The pass `expand_math`: abstract functions become calls of portable ones.

Defines the pass over plans and over single kernels. Relies on the table of portable functions and
on the kernel IR. It does not lower, simplify or check anything else; applying it twice changes
nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final

from tang.errors import ScheduleError, TangBugError
from tang.kernel.expand.functions import portable
from tang.kernel.expand.rounding import rounder
from tang.kernel.ir import (
    F16,
    F32,
    F64,
    MATH,
    Assign,
    Bitcast,
    Call,
    Const,
    Convert,
    Declare,
    Expr,
    For,
    Function,
    If,
    Kernel,
    Let,
    Load,
    Op,
    Stmt,
    Store,
    Type,
    Var,
)
from tang.kernel.narrow import conversion_named
from tang.kernel.plan import Plan
from tang.kernel.walk import operands, postorder

Rewrite = Callable[[Expr], Expr]
Row = tuple[str, Type]
"""A function of MATH and its format."""


def _sigmoid() -> Function:
    """1 / (1 + exp(−x)) by the language's own exp, which no language has as a builtin."""
    x, one = Var(F64, "x"), Const(F64, Fraction(1))
    exp = Op(F64, "exp", (Op(F64, "neg", (x,)),))
    result = Op(F64, "div", (one, Op(F64, "add", (one, exp))))
    return Function("sigmoid_f64", (x,), (), result, "sigmoid", 8.0)


SIGMOID_F64: Final = _sigmoid()
"""Three roundings and the error of exp, which no documented bound puts above 5 ulp."""


def expand_math(plan: Plan, keep: Collection[Row] = frozenset(), *, cure: str = "") -> Plan:
    """Replace operations of MATH by calls: exp2(x) → exp2_f32(x).

    In f16 and bf16 the argument is converted to f32 and the result back, once. Raises
    ScheduleError for f64, which has no portable functions. Roundings to narrow formats become calls
    as well, from f32 and from f64.

    keep  operations that stay, by name and type: the builtins of a language, for native maths
    cure  of f64, beside another format: what else the caller can be asked for
    """
    launches = (replace(e, kernel=expand_kernel(e.kernel, keep, cure)) for e in plan.launches)
    return replace(plan, launches=tuple(launches))


def expand_kernel(kernel: Kernel, keep: Collection[Row] = frozenset(), cure: str = "") -> Kernel:
    """The same kernel with calls; the functions it needs come before its own, each once."""
    needed: dict[str, Function] = {}
    rewrite = partial(_expand, kernel=kernel, needed=needed, keep=keep, cure=cure)
    body = rewritten(kernel.body, rewrite)
    own = tuple(_function(f, rewrite) for f in kernel.functions)
    return replace(kernel, body=body, functions=_merge(kernel, needed, own))


def _merge(
    kernel: Kernel, needed: dict[str, Function], own: tuple[Function, ...]
) -> tuple[Function, ...]:
    present = {f.name: f for f in own}
    for name, function in needed.items():
        if present.get(name, function) != function:
            raise TangBugError(f"kernel {kernel.name!r} already has another function {name!r}")
    new = tuple(needed[name] for name in sorted(needed) if name not in present)
    return new + own


def rewritten(body: Iterable[Stmt], rewrite: Rewrite) -> tuple[Stmt, ...]:
    """Statements with every expression in them rewritten, nested ones too."""
    return tuple(_statement(s, rewrite) for s in body)


def _statement(s: Stmt, rewrite: Rewrite) -> Stmt:
    match s:
        case Let() | Declare() | Assign():
            return replace(s, value=rewrite(s.value))
        case Store():
            return replace(s, index=rewrite(s.index), value=rewrite(s.value))
        case For():
            body = rewritten(s.body, rewrite)
            return replace(s, lo=rewrite(s.lo), hi=rewrite(s.hi), body=body)
        case If():
            then, otherwise = rewritten(s.then, rewrite), rewritten(s.otherwise, rewrite)
            return If(rewrite(s.condition), then, otherwise)
        case _:
            return s


def _function(f: Function, rewrite: Rewrite) -> Function:
    body = tuple(Let(s.var, rewrite(s.value)) for s in f.body)
    return replace(f, body=body, result=rewrite(f.result))


def _expand(
    root: Expr, kernel: Kernel, needed: dict[str, Function], keep: Collection[Row], cure: str
) -> Expr:
    """Rewrite from the operands up, without recursion: expressions may be deep."""
    done: dict[int, Expr] = {}
    for e in postorder(root):
        args = tuple(done[id(a)] for a in operands(e))
        conversion = conversion_named(e.op) if isinstance(e, Op) else None
        if conversion is not None:
            function = rounder(conversion, args[0].type)
            needed[function.name] = function
            done[id(e)] = Call(e.type, function.name, args)
        elif isinstance(e, Op) and e.op in MATH and (e.op, e.type) not in keep:
            done[id(e)] = _call(e, args, kernel, needed, keep, cure)
        else:
            done[id(e)] = rebuilt(e, args)
    return done[id(root)]


def _call(
    e: Op,
    args: tuple[Expr, ...],
    kernel: Kernel,
    needed: dict[str, Function],
    keep: Collection[Row],
    cure: str,
) -> Expr:
    if e.type is F64 and e.op == "sigmoid" and ("exp", F64) in keep:
        needed[SIGMOID_F64.name] = SIGMOID_F64
        return Call(F64, SIGMOID_F64.name, args)
    if e.type is F64:
        raise ScheduleError(_no_f64(kernel, e.op, cure))
    function = portable(e.op)
    needed[function.name] = function
    if e.type is F32:
        return Call(F32, function.name, args)
    wide = tuple(Convert(F32, a) for a in args)
    return Convert(e.type, Call(F32, function.name, wide))


def _no_f64(kernel: Kernel, op: str, cure: str) -> str:
    return (
        f"node {kernel.origin!r} (kernel {kernel.name!r}) computes {op} in f64: portable maths "
        f"exist in {F32.value}, {F16.value} and bf16; accumulate in one of these"
        + (f", or {cure}" if cure else "")
    )


def rebuilt(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """The expression over other operands, itself where these are its own."""
    if all(a is b for a, b in zip(args, operands(e), strict=True)):
        return e
    match e:
        case Op() | Call():
            return replace(e, args=args)
        case Load():
            return replace(e, index=args[0])
        case Convert() | Bitcast():
            return replace(e, value=args[0])
        case _:
            return e
