"""Memory of 32-bit words: what WGSL and GLSL share in the frame of a kernel.

Defines which parameters are packed, which arrays a workgroup shares, and the refusal of 64-bit
integers. Relies on the kernel IR. Small elements are stored by two atomic operations on their
word, clear and set: threads that write neighbours touch distinct bits, so no order matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from tang.errors import LimitError
from tang.kernel.ir import (
    Array,
    Declare,
    Expr,
    For,
    If,
    Kernel,
    Let,
    Load,
    Scope,
    Stmt,
    Type,
    Var,
)
from tang.kernel.text import expr_text
from tang.kernel.walk import postorder, statements, subexpressions

PACKED: Final = {Type.BOOL: 1, Type.U8: 1, Type.F16: 2, Type.BF16: 2}
"""Types whose elements share a word, with their bytes."""


def packed_names(kernel: Kernel) -> frozenset[str]:
    """The parameters whose elements share words."""
    return frozenset(p.name for p in kernel.params if p.type in PACKED)


def packing(t: Type) -> tuple[int, int, int]:
    """Of a packed type: log2 of the elements in a word, log2 of its bits, and the mask."""
    size = PACKED[t]
    return 3 - size, 2 + size, 2 ** (8 * size) - 1


def shared_arrays(body: Iterable[Stmt]) -> tuple[Array, ...]:
    """The arrays that a workgroup shares, wherever they are declared."""
    found = (s for s in statements(body) if isinstance(s, Array) and s.scope is Scope.WORKGROUP)
    return tuple(dict.fromkeys(found))


def without_shared(body: Iterable[Stmt]) -> tuple[Stmt, ...]:
    """The statements without declarations of shared arrays."""
    return tuple(_inner(s) for s in body if not _is_shared(s))


def _is_shared(s: Stmt) -> bool:
    return isinstance(s, Array) and s.scope is Scope.WORKGROUP


def _inner(s: Stmt) -> Stmt:
    match s:
        case For():
            return replace(s, body=without_shared(s.body))
        case If():
            then, otherwise = without_shared(s.then), without_shared(s.otherwise)
            return replace(s, then=then, otherwise=otherwise)
        case _:
            return s


def refuse_wide_integers(kernel: Kernel, language: str) -> None:
    """Raise LimitError for a kernel that needs 64-bit integers; names the first that does."""
    culprit = next(_wide(kernel), None)
    if culprit is not None:
        raise LimitError(
            f"kernel {kernel.name!r} of node {kernel.origin!r}: {culprit} needs 64 bits, and "
            f"{language} has 32-bit integers: make the extents or the index values smaller, "
            "or declare the largest extent as a fact"
        )


def _wide(kernel: Kernel) -> Iterator[str]:
    wide = Type.I64
    yield from (f"buffer {p.name}" for p in kernel.params if p.type is wide)
    yield from (f"extent {s.name}" for s in kernel.scalars if s.type is wide)
    for s in statements(kernel.body):
        if isinstance(s, Let | Declare) and s.var.type is wide:
            yield f"index {s.var.name} = {expr_text(s.value)}"
        elif isinstance(s, For) and s.var.type is wide:
            yield f"index {s.var.name} in {expr_text(s.lo)} .. {expr_text(s.hi)}"
    for e in subexpressions(kernel.body):
        if isinstance(e, Load) and e.index.type is wide:
            yield f"index {expr_text(e.index)} of {e.source}"
        elif e.type is wide:
            yield f"index {expr_text(e)}"
    for f in kernel.functions:
        roots: tuple[Expr, ...] = (*(s.value for s in f.body), f.result, *f.params)
        if any(e.type is wide for root in roots for e in postorder(root)):
            yield f"function {f.name}"


def builtins_used(kernel: Kernel) -> dict[str, Var]:
    """The thread ids that a kernel reads, by name."""
    names = ("global_id", "local_id", "group_id")
    found = subexpressions(kernel.body)
    return {e.name: e for e in found if isinstance(e, Var) and e.name in names}


def scalar_places(kernel: Kernel) -> Iterator[tuple[Var, int]]:
    """Each scalar and the first of its words, after the zero and the number of workgroups."""
    at = 2
    for s in kernel.scalars:
        yield s, at
        at += s.type.bytes // 4


def scalar_words(kernel: Kernel, groups: int, scalars: Sequence[int]) -> list[int]:
    """The unsigned words of `tang_scalars` for a launch."""
    words = [0, groups]
    for s, value in zip(kernel.scalars, scalars, strict=True):
        words += [(value >> 32 * i) & 0xFFFFFFFF for i in range(s.type.bytes // 4)]
    return words
