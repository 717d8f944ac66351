"""Mutants of barriers and workgroup arrays: texts in which threads do not meet as the kernel says.

Defines `TEXT_BARRIERS`. Relies on the field `kernel` of a dialect, which may be given another
kernel, and on the row of its syntax for barriers. Each must be found on the rung `emit`; where a
language cannot say a fault, or a device runs the threads concerned in lockstep, it does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tang.emit.names import Kind, mangle
from tang.fuzz.mutants.apply import SIX, Mutant
from tang.kernel.ir import Array, Barrier, Const, For, If, Kernel, Op, Scope, Stmt, Type
from tang.verify import Rung, Verdict

Function = Callable[..., Any]
Body = tuple[Stmt, ...]

_KERNEL: Final = "tang.emit.{language}:{LANGUAGE}.kernel"
_ANY: Final = frozenset(
    {
        Verdict.WRONG, Verdict.UNWRITTEN, Verdict.STRAY_WRITE, Verdict.OUT_OF_BOUNDS,
        Verdict.NONDETERMINISTIC, Verdict.RACE, Verdict.CRASH, Verdict.TIMEOUT,
    }
)  # fmt: skip
_APART: Final = ("c", "opencl", "cuda", "msl")
"""Where threads run one by one between barriers; Mesa runs eight of them in lockstep."""
_FREE: Final = ("opencl", "cuda", "msl")
"""Where a barrier can be passed by: C refuses to print such a kernel, and Mesa runs both arms of a
branch, so that the barrier inside is reached by all."""


def _of_body(change: Callable[[Body], Body]) -> Function:
    """A frame that is given a kernel with a changed body."""

    def make(original: Function) -> Function:
        def kernel(printer: Any, kernel: Kernel, symbol: str) -> list[str]:  # noqa: ANN401
            changed = replace(kernel, body=change(kernel.body))
            lines: list[str] = original(printer, changed, symbol)
            return lines

        return kernel

    return make


def _inside(change: Callable[[Body], Body], body: Body) -> Body:
    """The change made to the bodies of loops, as deep as they go."""
    return tuple(replace(s, body=change(s.body)) if isinstance(s, For) else s for s in body)


def _without_barriers(body: Body) -> Body:
    kept = tuple(s for s in body if not isinstance(s, Barrier))
    return _inside(_without_barriers, kept)


def _late(body: Body) -> Body:
    """Before: barrier, s; after: s, barrier."""
    found = list(body)
    for n in range(len(found) - 1):
        if isinstance(found[n], Barrier):
            found[n], found[n + 1] = found[n + 1], found[n]
            break
    return _inside(_late, tuple(found))


def _in_lockstep(threads: int, body: Body) -> Body:
    """No barrier before the levels whose partners are within so many threads."""
    levels = (threads - 1).bit_length()
    plain = tuple(s for s in body if not isinstance(s, Barrier))
    return tuple(_from_level(levels, s) if isinstance(s, For) else s for s in plain)


def _from_level(levels: int, s: For) -> For:
    if not any(isinstance(inner, Barrier) for inner in s.body):
        return s
    reached = Op(Type.BOOL, "le", (Const(s.var.type, levels), s.var))
    guarded = (If(reached, (b,)) if isinstance(b, Barrier) else b for b in s.body)
    return replace(s, body=tuple(guarded))


def _divergent(body: Body) -> Body:
    """Before: barrier, if (c) { s }; after: if (c) { barrier, s }."""
    found: list[Stmt] = []
    for s in body:
        if isinstance(s, If) and found and isinstance(found[-1], Barrier):
            s = replace(s, then=(found.pop(), *s.then))
        found.append(s)
    return _inside(_divergent, tuple(found))


def _arrays(change: Callable[[Array], Array]) -> Function:
    def changed(body: Body) -> Body:
        return tuple(change(s) if _is_shared(s) else s for s in body)  # type: ignore[arg-type]

    return _of_body(changed)


def _is_shared(s: Stmt) -> bool:
    return isinstance(s, Array) and s.scope is Scope.WORKGROUP


def _of_one_point(array: Array) -> Array:
    return replace(array, size=max(array.size // 2, 1))


def _of_a_thread(array: Array) -> Array:
    return replace(array, scope=Scope.THREAD)


def _one_place(original: Function) -> Function:
    """All workgroup arrays of a type are used where the first of them lies."""

    def kernel(printer: Any, kernel: Kernel, symbol: str) -> list[str]:  # noqa: ANN401
        first: dict[Type, str] = {}
        places = {}
        for s in kernel.body:
            if isinstance(s, Array) and s.scope is Scope.WORKGROUP:
                home = first.setdefault(s.type, s.name)
                places[s.name, Kind.MEMORY] = mangle(home, Kind.MEMORY)
        lines: list[str] = original(printer.with_places(places), kernel, symbol)
        return lines

    return kernel


def _meets(kernel: Kernel) -> bool:
    return any(isinstance(s, Array) and s.scope is Scope.WORKGROUP for s in kernel.body)


def _frame(name: str, what: str, make: Function, languages: tuple[str, ...] = SIX) -> Mutant:
    return Mutant(name, what, _KERNEL, make, Rung.EMIT, None, languages, _ANY, _meets)


def _syntax(name: str, what: str, new: str, language: str) -> Mutant:
    path = "tang.emit.{language}:{LANGUAGE}.syntax.barrier"
    return Mutant(name, what, path, lambda old: new, Rung.EMIT, None, (language,), _ANY, _meets)


def _lost(original: Function) -> Function:
    return lambda parts: iter(())


def _never_set(original: Function) -> Function:
    def shared(printer: Any, a: Array) -> list[str]:  # noqa: ANN401
        return [line.replace("select(0u, 1u, x)", "0u") for line in original(printer, a)]

    return shared


TEXT_BARRIERS: Final = (
    _frame("barriers-dropped", "threads do not wait for each other",
           _of_body(_without_barriers)),
    _frame("barrier-one-late", "threads wait after the statement that needs it",
           _of_body(_late), _APART),
    _frame("subgroup-of-32-assumed", "32 threads are taken to run in lockstep",
           _of_body(partial(_in_lockstep, 32))),
    _frame("subgroup-of-8-assumed", "8 threads are taken to run in lockstep",
           _of_body(partial(_in_lockstep, 8)), _APART),
    _frame("barrier-in-divergence", "threads that do not join pass by the barrier",
           _of_body(_divergent), _FREE),
    _frame("workgroup-array-halved", "a workgroup array has room for half its threads",
           _arrays(_of_one_point)),
    _frame("workgroup-array-private", "every thread has a workgroup array of its own",
           _arrays(_of_a_thread)),
    _frame("workgroup-arrays-at-one-place", "workgroup arrays of a type lie on each other",
           _one_place, ("opencl", "cuda", "msl")),
    _syntax("fence-for-barrier-in-opencl", "a fence stands for the barrier",
            "mem_fence(CLK_LOCAL_MEM_FENCE);", "opencl"),
    _syntax("fence-for-barrier-in-cuda", "a fence stands for the barrier",
            "__threadfence_block();", "cuda"),
    _syntax("subgroup-barrier-in-msl", "a barrier spans a subgroup",
            "simdgroup_barrier(mem_flags::mem_threadgroup);", "msl"),
    _syntax("fence-for-barrier-in-glsl", "a fence stands for the barrier",
            "memoryBarrierShared();", "glsl"),
    Mutant("register-lost-at-barrier", "registers do not outlive a barrier",
           "tang.emit.fission:_outliving", _lost, Rung.EMIT, None, ("c",), _ANY, _meets),
    Mutant("shared-flags-never-set", "truth values of a workgroup stay false",
           "tang.emit.wgsl:_shared", _never_set, Rung.EMIT, None, ("wgsl",), _ANY, _meets),
)  # fmt: skip
