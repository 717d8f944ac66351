"""Walking the kernel IR: operands, subexpressions, statements, and the names they use.

Defines iterators over the grammar of `tang.kernel.ir`. Relies on it alone; iterative where depth
is a user's choice. It changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tang.kernel.ir import (
    Array,
    Assign,
    Bitcast,
    Call,
    Convert,
    Declare,
    Expr,
    For,
    If,
    Let,
    Load,
    Op,
    Stmt,
    Store,
    Var,
)


def operands(e: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions."""
    match e:
        case Op() | Call():
            return e.args
        case Load():
            return (e.index,)
        case Convert() | Bitcast():
            return (e.value,)
        case _:
            return ()


def postorder(root: Expr) -> Iterator[Expr]:
    """Every distinct subexpression object, operands first; depth costs no stack."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        e, ready = stack.pop()
        if ready:
            yield e
        elif id(e) not in seen:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(operands(e)))


def statements(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """Every statement, nested ones after the one that holds them."""
    for s in body:
        yield s
        yield from statements(nested(s))


def nested(s: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside a loop or a branch."""
    match s:
        case For():
            return s.body
        case If():
            return s.then + s.otherwise
        case _:
            return ()


def expressions(s: Stmt) -> tuple[Expr, ...]:
    """The expressions of a statement itself, not of nested ones."""
    match s:
        case Let() | Declare() | Assign():
            return (s.value,)
        case Store():
            return (s.index, s.value)
        case For():
            return (s.lo, s.hi)
        case If():
            return (s.condition,)
        case _:
            return ()


def subexpressions(body: Iterable[Stmt]) -> Iterator[Expr]:
    """Every distinct subexpression object of every statement, in no particular order."""
    seen: set[int] = set()
    stack = [e for s in statements(body) for e in expressions(s)]
    while stack:
        e = stack.pop()
        if id(e) not in seen:
            seen.add(id(e))
            stack.extend(operands(e))
            yield e


def variables(body: Iterable[Stmt]) -> dict[str, Var]:
    """The values that are read, by name."""
    return {e.name: e for e in subexpressions(body) if isinstance(e, Var)}


def used_names(body: Iterable[Stmt]) -> set[str]:
    """Names read, assigned or addressed: values and memories alike."""
    stmts = list(statements(body))
    found = {s.var.name for s in stmts if isinstance(s, Assign)}
    found |= {s.target for s in stmts if isinstance(s, Store)}
    for e in subexpressions(stmts):
        if isinstance(e, Var):
            found.add(e.name)
        elif isinstance(e, Load):
            found.add(e.source)
    return found


def defined_names(body: Iterable[Stmt]) -> set[str]:
    """Names that the statements introduce at their own level."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, Let | Declare):
            found.add(s.var.name)
        elif isinstance(s, Array):
            found.add(s.name)
    return found
