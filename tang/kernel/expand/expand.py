"""The pass `expand_math`: abstract functions become calls of portable ones.

Defines the pass over plans and over single kernels. Relies on the table of portable functions and
on the kernel IR. It does not lower, simplify or check anything else; applying it twice changes
nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from tang.errors import ScheduleError, TangBugError
from tang.kernel.expand.functions import portable
from tang.kernel.ir import (
    F16,
    F32,
    F64,
    MATH,
    Assign,
    Bitcast,
    Call,
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
)
from tang.kernel.plan import Plan

Rewrite = Callable[[Expr], Expr]


def expand_math(plan: Plan) -> Plan:
    """Replace every operation of MATH by a call: exp2(x) → exp2_f32(x).

    In f16 and bf16 the argument is converted to f32 and the result back, once. Raises
    ScheduleError for f64, which has no portable functions.
    """
    launches = (replace(e, kernel=expand_kernel(e.kernel)) for e in plan.launches)
    return replace(plan, launches=tuple(launches))


def expand_kernel(kernel: Kernel) -> Kernel:
    """The same kernel with calls; the functions it needs come before its own, each once."""
    needed: dict[str, Function] = {}
    rewrite = partial(_expand, kernel=kernel, needed=needed)
    body = _statements(kernel.body, rewrite)
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


def _statements(body: Iterable[Stmt], rewrite: Rewrite) -> tuple[Stmt, ...]:
    return tuple(_statement(s, rewrite) for s in body)


def _statement(s: Stmt, rewrite: Rewrite) -> Stmt:
    match s:
        case Let() | Declare() | Assign():
            return replace(s, value=rewrite(s.value))
        case Store():
            return replace(s, index=rewrite(s.index), value=rewrite(s.value))
        case For():
            body = _statements(s.body, rewrite)
            return replace(s, lo=rewrite(s.lo), hi=rewrite(s.hi), body=body)
        case If():
            then, otherwise = _statements(s.then, rewrite), _statements(s.otherwise, rewrite)
            return If(rewrite(s.condition), then, otherwise)
        case _:
            return s


def _function(f: Function, rewrite: Rewrite) -> Function:
    body = tuple(Let(s.var, rewrite(s.value)) for s in f.body)
    return replace(f, body=body, result=rewrite(f.result))


def _expand(root: Expr, kernel: Kernel, needed: dict[str, Function]) -> Expr:
    """Rewrite from the operands up, without recursion: expressions may be deep."""
    done: dict[int, Expr] = {}
    for e in _postorder(root):
        args = tuple(done[id(a)] for a in _operands(e))
        if isinstance(e, Op) and e.op in MATH:
            done[id(e)] = _call(e, args, kernel, needed)
        else:
            done[id(e)] = _rebuild(e, args)
    return done[id(root)]


def _call(e: Op, args: tuple[Expr, ...], kernel: Kernel, needed: dict[str, Function]) -> Expr:
    if e.type is F64:
        raise ScheduleError(_no_f64(kernel, e.op))
    function = portable(e.op)
    needed[function.name] = function
    if e.type is F32:
        return Call(F32, function.name, args)
    wide = tuple(Convert(F32, a) for a in args)
    return Convert(e.type, Call(F32, function.name, wide))


def _no_f64(kernel: Kernel, op: str) -> str:
    return (
        f"node {kernel.origin!r} (kernel {kernel.name!r}) computes {op} in f64: portable maths "
        f"exist in {F32.value}, {F16.value} and bf16; accumulate in one of these, or compile with "
        f"math='native'"
    )


def _operands(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Op() | Call():
            return e.args
        case Load():
            return (e.index,)
        case Convert() | Bitcast():
            return (e.value,)
        case _:
            return ()


def _rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    if all(a is b for a, b in zip(args, _operands(e), strict=True)):
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


def _postorder(root: Expr) -> Iterator[Expr]:
    """Every distinct subexpression object, operands first."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        e, ready = stack.pop()
        if ready:
            yield e
        elif id(e) not in seen:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((a, False) for a in _operands(e))
