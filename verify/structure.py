"""Whether an expanded plan is the abstract one with calls in the places of operations.

Defines `same_structure`, which folds every call of a portable function back into the operation that
it implements and compares node by node. Relies on the kernel IR alone. Plans of one structure
replay alike on every input when calls are taken as exact; about others it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tang.kernel.ir import (
    F32,
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
)
from tang.kernel.plan import Plan

Functions = Mapping[str, Function]


def same_structure(plan: Plan, expanded: Plan) -> bool:
    """Whether both do the same, operation by operation, once calls are folded back."""
    if len(plan.launches) != len(expanded.launches):
        return False
    frames = zip(plan.launches, expanded.launches, strict=True)
    return (
        plan.buffers == expanded.buffers
        and plan.results == expanded.results
        and all(
            a.buffers == b.buffers
            and a.threads == b.threads
            and a.scalars == b.scalars
            and _same_kernel(a.kernel, b.kernel)
            for a, b in frames
        )
    )


def _same_kernel(a: Kernel, b: Kernel) -> bool:
    if (a.params, a.scalars, a.workgroup) != (b.params, b.scalars, b.workgroup):
        return False
    own = {f.name: f for f in a.functions}
    known = {f.name: f for f in b.functions}
    if any(f.implements for f in a.functions) or not own.keys() <= known.keys():
        return False
    pairs = _Pairs(known)
    return all(pairs.functions(f, known[f.name]) for f in a.functions) and pairs.blocks(
        a.body, b.body
    )


class _Pairs:
    """Comparison of an abstract kernel's parts (left) with an expanded kernel's (right)."""

    def __init__(self, known: Functions) -> None:
        self.known = known
        self.equal: set[tuple[int, int]] = set()

    def functions(self, a: Function, b: Function) -> bool:
        return (
            not b.implements
            and a.params == b.params
            and self.blocks(a.body, b.body)
            and self.exprs(a.result, b.result)
        )

    def blocks(self, a: tuple[Stmt, ...], b: tuple[Stmt, ...]) -> bool:
        return len(a) == len(b) and all(map(self.statements, a, b))

    def statements(self, a: Stmt, b: Stmt) -> bool:
        if type(a) is not type(b):
            return False
        match a, b:
            case (Let(), Let()) | (Declare(), Declare()) | (Assign(), Assign()):
                return a.var == b.var and self.exprs(a.value, b.value)
            case Store(), Store():
                same = a.target == b.target and self.exprs(a.index, b.index)
                return same and self.exprs(a.value, b.value)
            case For(), For():
                ends = self.exprs(a.lo, b.lo) and self.exprs(a.hi, b.hi)
                return a.var == b.var and ends and self.blocks(a.body, b.body)
            case If(), If():
                arms = self.blocks(a.then, b.then) and self.blocks(a.otherwise, b.otherwise)
                return arms and self.exprs(a.condition, b.condition)
            case _:
                return a == b

    def exprs(self, a: Expr, b: Expr) -> bool:
        """Without recursion, each pair of objects once: expressions may be deep and shared."""
        stack = [(a, b)]
        while stack:
            a, b = stack.pop()
            key = id(a), id(b)
            if key in self.equal:
                continue
            below = self._below(a, b)
            if below is None:
                return False
            self.equal.add(key)
            stack += below
        return True

    def _below(self, a: Expr, b: Expr) -> list[tuple[Expr, Expr]] | None:
        """The pairs of operands still to compare; None when the nodes differ."""
        folded = self._folded(b)
        if folded is not None and isinstance(a, Op):
            type_, op, args = folded
            same = (a.type, a.op, len(a.args)) == (type_, op, len(args))
            return list(zip(a.args, args, strict=True)) if same else None
        if type(a) is not type(b) or _head(a) != _head(b):
            return None
        left, right = _operands(a), _operands(b)
        return list(zip(left, right, strict=True)) if len(left) == len(right) else None

    def _folded(self, e: Expr) -> tuple[Any, str, tuple[Expr, ...]] | None:
        """The operation that a call stands for; in narrow formats it stands between conversions."""
        call = e
        if isinstance(e, Convert) and isinstance(e.value, Call):
            call = e.value
        if not isinstance(call, Call):
            return None
        function = self.known.get(call.function)
        if function is None or not function.implements or function.result.type is not call.type:
            return None
        if call is e:
            return e.type, function.implements, call.args
        if call.type is not F32 or (e.rounding, e.overflow) != ("rne", "inf"):
            return None
        wide = [a for a in call.args if isinstance(a, Convert) and a.type is F32]
        if len(wide) != len(call.args) or any(a.value.type is not e.type for a in wide):
            return None
        return e.type, function.implements, tuple(a.value for a in wide)


def _head(e: Expr) -> tuple[Any, ...]:
    """All of a node but its operands."""
    match e:
        case Const():
            return e.type, type(e.value), e.value
        case Op():
            return e.type, e.op
        case Load():
            return e.type, e.source
        case Convert():
            return e.type, e.rounding, e.overflow
        case Call():
            return e.type, e.function
        case Bitcast():
            return (e.type,)
        case _:
            return e.type, e.name


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
