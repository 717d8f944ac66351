"""Whether an expanded plan is the abstract one with calls in the places of operations.

Defines `same_structure`, which folds every call of a portable function back into the operation that
it implements and compares node by node. Relies on the kernel IR alone. Plans of one structure
replay alike on every input when calls are taken as exact; about others it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from tang.kernel.walk import operands

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
        left, right = _parts(a), _parts(b)
        return (
            left.names == right.names
            and len(left.exprs) == len(right.exprs)
            and len(left.blocks) == len(right.blocks)
            and all(map(self.exprs, left.exprs, right.exprs))
            and all(map(self.blocks, left.blocks, right.blocks))
        )

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
        left, right = operands(a), operands(b)
        return list(zip(left, right, strict=True)) if len(left) == len(right) else None

    def _folded(self, e: Expr) -> tuple[Any, str, tuple[Expr, ...]] | None:
        """The operation that a call stands for; in narrow formats it stands between conversions."""
        if isinstance(e, Call):
            op = self._implemented(e)
            return (e.type, op, e.args) if op else None
        if not isinstance(e, Convert) or not isinstance(e.value, Call):
            return None
        op, call = self._implemented(e.value), e.value
        if not op or call.type is not F32 or (e.rounding, e.overflow) != ("rne", "inf"):
            return None
        wide = [a for a in call.args if isinstance(a, Convert) and a.type is F32]
        if len(wide) != len(call.args) or any(a.value.type is not e.type for a in wide):
            return None
        return e.type, op, tuple(a.value for a in wide)

    def _implemented(self, call: Call) -> str:
        """The abstract function behind a call, or nothing."""
        function = self.known.get(call.function)
        same = function is not None and function.result.type is call.type
        return function.implements if function is not None and same else ""


@dataclass(frozen=True, slots=True)
class _Parts:
    """A statement taken apart; `names` is all that is neither expression nor block."""

    names: tuple[Any, ...]
    exprs: tuple[Expr, ...] = ()
    blocks: tuple[tuple[Stmt, ...], ...] = ()


def _parts(s: Stmt) -> _Parts:
    match s:
        case Let() | Declare() | Assign():
            return _Parts((s.var,), (s.value,))
        case Store():
            return _Parts((s.target,), (s.index, s.value))
        case For():
            return _Parts((s.var,), (s.lo, s.hi), (s.body,))
        case If():
            return _Parts((), (s.condition,), (s.then, s.otherwise))
        case _:
            return _Parts((s,))


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
