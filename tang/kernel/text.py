"""Readable text of kernels and plans.

Defines one line per statement and per buffer, stable enough for snapshots. Relies on the kernel
IR. The text is for people; nothing parses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from tang.kernel import ir as k
from tang.kernel.plan import Launch, Plan

INFIX: Final = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%",
    "lt": "<", "le": "<=", "eq": "==", "and": "and", "or": "or",
    "band": "&", "bor": "|", "bxor": "^", "shl": "<<", "shr": ">>",
}  # fmt: skip
"""Operations that are written between their operands."""


def kernel_text(kernel: k.Kernel) -> str:
    """A kernel as indented text."""
    return "\n".join(_kernel_lines(kernel)) + "\n"


def plan_text(plan: Plan) -> str:
    """A plan as text: buffers, results, then launches with their kernels."""
    lines = ["buffers"]
    for b in plan.buffers:
        shape = ", ".join(str(n) for n in b.shape)
        held = b.type.value if b.format == b.type.value else f"{b.format} in {b.type.value}"
        lines.append(f"  {b.name}: {held}[{shape}] {b.role.value} {b.ref or ''}".rstrip())
    lines += ["results", *(f"  {r.name} = {r.buffer}" for r in plan.results)]
    for launch in plan.launches:
        lines += ["", _launch_line(launch), *_kernel_lines(launch.kernel)]
    return "\n".join(lines) + "\n"


def _launch_line(launch: Launch) -> str:
    given = ", ".join([*launch.buffers, *(str(s) for s in launch.scalars)])
    return f"launch {launch.kernel.name}({given}) on {launch.threads} threads"


def _kernel_lines(kernel: k.Kernel) -> Iterator[str]:
    params = [f"{'out ' if p.writable else ''}{p.name}: {p.type.value}*" for p in kernel.params]
    params += [f"{s.name}: {s.type.value}" for s in kernel.scalars]
    yield f"kernel {kernel.name}({', '.join(params)})"
    yield f"  # {kernel.role} of {kernel.origin}, {kernel.workgroup} threads per workgroup"
    for f in kernel.functions:
        yield from _function_lines(f)
    yield from _block_lines(kernel.body, "  ")


def _function_lines(f: k.Function) -> Iterator[str]:
    params = ", ".join(f"{p.name}: {p.type.value}" for p in f.params)
    yield f"  function {f.name}({params}) -> {f.result.type.value}"
    yield from _block_lines(f.body, "    ")
    yield f"    return {expr_text(f.result)}"


def _block_lines(body: tuple[k.Stmt, ...], indent: str) -> Iterator[str]:
    for s in body:
        yield from (indent + line for line in _statement_lines(s))


def _statement_lines(s: k.Stmt) -> Iterator[str]:
    match s:
        case k.For():
            yield f"for {s.var.name} in {expr_text(s.lo)} .. {expr_text(s.hi)}"
            yield from _block_lines(s.body, "  ")
        case k.If():
            yield f"if {expr_text(s.condition)}"
            yield from _block_lines(s.then, "  ")
            if s.otherwise:
                yield "else"
                yield from _block_lines(s.otherwise, "  ")
        case _:
            yield statement_text(s)


def statement_text(s: k.Stmt) -> str:
    """A statement on one line; of a loop or a branch, its head."""
    match s:
        case k.Let():
            return f"let {s.var.name}: {s.var.type.value} = {expr_text(s.value)}"
        case k.Declare():
            return f"var {s.var.name}: {s.var.type.value} = {expr_text(s.value)}"
        case k.Assign():
            return f"{s.var.name} = {expr_text(s.value)}"
        case k.Array():
            return f"array {s.name}: {s.type.value}[{s.size}] {s.scope.value}"
        case k.Store():
            return f"{s.target}[{expr_text(s.index)}] = {expr_text(s.value)}"
        case k.Barrier():
            return f"barrier {s.scope.value}"
        case k.For() | k.If():
            return next(iter(_statement_lines(s)))


def expr_text(e: k.Expr) -> str:
    """An expression; operations between operands are always in parentheses below the top."""
    text = _expr(e)
    return text[1:-1] if isinstance(e, k.Op) and e.op in INFIX else text


def _expr(e: k.Expr) -> str:
    match e:
        case k.Const():
            return _constant(e)
        case k.Var():
            return e.name
        case k.Op():
            args = [_expr(a) for a in e.args]
            if e.op in INFIX:
                return f"({args[0]} {INFIX[e.op]} {args[1]})"
            return f"{e.op}({', '.join(args)})"
        case k.Load():
            return f"{e.source}[{expr_text(e.index)}]"
        case k.Convert():
            return _convert(e)
        case k.Bitcast():
            return f"bits_{e.type.value}({expr_text(e.value)})"
        case k.Call():
            return f"{e.function}({', '.join(expr_text(a) for a in e.args)})"


def _constant(e: k.Const) -> str:
    if not e.type.is_float:
        return str(e.value)
    if isinstance(e.value, str):
        return e.value
    value = Fraction(e.value)
    return f"{value.numerator}.0" if value.denominator == 1 else f"({value})"


def _convert(e: k.Convert) -> str:
    modes = [m for m, usual in ((e.rounding, "rne"), (e.overflow, "inf")) if m != usual]
    return f"{e.type.value}({', '.join([expr_text(e.value), *modes])})"
