"""Removal of names that nobody uses and of branches that do nothing.

Defines a pass over statements. Relies on the kernel IR alone. It keeps every store and never
changes a value.
"""

from __future__ import annotations

from collections.abc import Iterator

from tang.kernel import ir as k


def without_dead_code(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """before: let x = … (unused) → after: nothing; repeated until nothing changes."""
    while True:
        used = set(_names_used(body))
        smaller = _kept(body, used)
        if smaller == body:
            return body
        body = smaller


def _kept(body: tuple[k.Stmt, ...], used: set[str]) -> tuple[k.Stmt, ...]:
    found: list[k.Stmt] = []
    for s in body:
        if isinstance(s, k.Let) and s.var.name not in used:
            continue
        if isinstance(s, k.For):
            s = k.For(s.var, s.lo, s.hi, _kept(s.body, used))
            if not s.body:
                continue
        if isinstance(s, k.If):
            s = k.If(s.condition, _kept(s.then, used), _kept(s.otherwise, used))
            if not s.then and not s.otherwise:
                continue
        found.append(s)
    return tuple(found)


def _names_used(body: tuple[k.Stmt, ...]) -> Iterator[str]:
    for s in walk_statements(body):
        for e in expressions(s):
            for x in walk_expression(e):
                if isinstance(x, k.Var):
                    yield x.name
                elif isinstance(x, k.Load):
                    yield x.source


def walk_statements(body: tuple[k.Stmt, ...]) -> Iterator[k.Stmt]:
    """Every statement, outer ones first."""
    for s in body:
        yield s
        if isinstance(s, k.For):
            yield from walk_statements(s.body)
        elif isinstance(s, k.If):
            yield from walk_statements(s.then)
            yield from walk_statements(s.otherwise)


def expressions(s: k.Stmt) -> tuple[k.Expr, ...]:
    """The expressions that a statement evaluates itself."""
    match s:
        case k.Let() | k.Declare() | k.Assign():
            return (s.value,)
        case k.Store():
            return (s.index, s.value)
        case k.For():
            return (s.lo, s.hi)
        case k.If():
            return (s.condition,)
        case k.Array() | k.Barrier():
            return ()


def walk_expression(e: k.Expr) -> Iterator[k.Expr]:
    """An expression and everything below it."""
    yield e
    for a in below(e):
        yield from walk_expression(a)


def below(e: k.Expr) -> tuple[k.Expr, ...]:
    """The operands of an expression."""
    match e:
        case k.Op() | k.Call():
            return e.args
        case k.Load():
            return (e.index,)
        case k.Convert() | k.Bitcast():
            return (e.value,)
        case k.Const() | k.Var():
            return ()
