"""Mutants of kernels' frames: signatures, grids, guards and ids that every language lays out.

Defines `TEXT_FRAMES`. Relies on the field `kernel` of a dialect and on the printer, whose methods
may be given another kernel or have their lines changed. Each must be found on the rung `emit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from tang.fuzz.mutants.apply import SIX, Mutant
from tang.kernel.ir import If, Kernel, Param, Stmt
from tang.verify import Rung, Verdict

Function = Callable[..., Any]

_KERNEL: Final = "tang.emit.{language}:{LANGUAGE}.kernel"
_ANY: Final = frozenset(
    {
        Verdict.WRONG, Verdict.UNWRITTEN, Verdict.STRAY_WRITE, Verdict.OUT_OF_BOUNDS,
        Verdict.NONDETERMINISTIC, Verdict.RACE, Verdict.CRASH, Verdict.TIMEOUT,
    }
)  # fmt: skip
_MISSED: Final = frozenset({Verdict.UNWRITTEN, Verdict.WRONG, Verdict.NONDETERMINISTIC})


def _of_another(change: Callable[[Kernel], Kernel]) -> Function:
    """A frame that is given a changed kernel."""

    def make(original: Function) -> Function:
        def kernel(printer: Any, kernel: Kernel, symbol: str) -> list[str]:  # noqa: ANN401
            lines: list[str] = original(printer, change(kernel), symbol)
            return lines

        return kernel

    return make


def _lines(*pairs: tuple[str, str]) -> Function:
    """A frame in whose lines patterns are replaced."""

    def make(original: Function) -> Function:
        def kernel(printer: Any, kernel: Kernel, symbol: str) -> list[str]:  # noqa: ANN401
            text = "\n".join(original(printer, kernel, symbol))
            for pattern, new in pairs:
                text = re.sub(pattern, new, text)
            return text.split("\n")

        return kernel

    return make


def _frame(
    name: str,
    what: str,
    make: Function,
    verdicts: frozenset[Verdict] = _ANY,
    languages: tuple[str, ...] = SIX,
) -> Mutant:
    return Mutant(name, what, _KERNEL, make, Rung.EMIT, None, languages, verdicts, blind=True)


def _swapped_scalars(kernel: Kernel) -> Kernel:
    return replace(kernel, scalars=tuple(reversed(kernel.scalars)))


def _swapped(kernel: Kernel, writable: bool) -> Kernel:
    """The first two parameters of one type and access, exchanged."""
    alike = [n for n, p in enumerate(kernel.params) if p.writable is writable]
    pair = next(((a, b) for a, b in pairwise(alike) if _same(kernel.params, a, b)), None)
    if pair is None:
        return kernel
    params = list(kernel.params)
    params[pair[0]], params[pair[1]] = params[pair[1]], params[pair[0]]
    return replace(kernel, params=tuple(params))


def _same(params: tuple[Param, ...], a: int, b: int) -> bool:
    return params[a].type is params[b].type


def _inputs_swapped(kernel: Kernel) -> Kernel:
    return _swapped(kernel, writable=False)


def _outputs_swapped(kernel: Kernel) -> Kernel:
    return _swapped(kernel, writable=True)


def _no_guard(kernel: Kernel) -> Kernel:
    """Before: the body under the guard of the last threads; after: the body."""
    return replace(kernel, body=tuple(s for outer in kernel.body for s in _opened(outer)))


def _opened(s: Stmt) -> tuple[Stmt, ...]:
    return s.then if isinstance(s, If) and not s.otherwise else (s,)


def _half_workgroup(kernel: Kernel) -> Kernel:
    return replace(kernel, workgroup=max(kernel.workgroup // 2, 1))


def _larger_workgroup(kernel: Kernel) -> Kernel:
    return replace(kernel, workgroup=kernel.workgroup + 1)


def _no_else(original: Function) -> Function:
    def branch(printer: Any, s: If, depth: int) -> list[str]:  # noqa: ANN401
        lines: list[str] = original(printer, replace(s, otherwise=()), depth)
        return lines

    return branch


def _swapped_arms(original: Function) -> Function:
    def branch(printer: Any, s: If, depth: int) -> list[str]:  # noqa: ANN401
        arms = replace(s, then=s.otherwise, otherwise=s.then) if s.otherwise else s
        lines: list[str] = original(printer, arms, depth)
        return lines

    return branch


_FRAMES: Final = (
    _frame("scalars-swapped", "two scalar parameters stand in each other's place",
           _of_another(_swapped_scalars)),
    _frame("inputs-swapped", "two inputs stand in each other's place",
           _of_another(_inputs_swapped)),
    _frame("outputs-swapped", "two outputs stand in each other's place",
           _of_another(_outputs_swapped)),
    _frame("tail-guard-dropped", "threads beyond the last one work too", _of_another(_no_guard)),
    _frame("workgroup-halved", "a workgroup counts half its threads",
           _of_another(_half_workgroup), languages=("c", "cuda", "msl", "wgsl", "glsl")),
    _frame("workgroup-too-large", "threads are numbered as if a workgroup had one more",
           _of_another(_larger_workgroup), languages=("cuda", "msl")),
    _frame("last-block-skipped", "the last workgroup does nothing",
           _lines(("group < last_group", "group < last_group - 1"),
                  (r"tang_index >= tang_scalars\[1\]", "tang_index >= tang_scalars[1] - 1")),
           _MISSED, ("c", "wgsl", "glsl")),
    _frame("last-thread-skipped", "the last thread of a workgroup does nothing",
           _lines((r"thread < (\d+)", r"thread < \1 - 1")), _MISSED, ("c",)),
    _frame("block-forgotten", "threads are numbered within their workgroup alone",
           _lines((r"get_global_id\(0\)", "get_local_id(0)"),
                  (r"\(i64\)(blockIdx\.x|group) \* \d+ \+ ", "(i64)"),
                  (r"group \* \d+ \+ thread", "thread"),
                  (r"tang_index \* \d+ \+ ", "")), _ANY),
    _frame("block-numbered-from-one", "workgroups are numbered from one",
           _lines((r"get_global_id\(0\)", "get_global_id(0) + get_local_size(0)"),
                  (r"\(i64\)(blockIdx\.x|group) \*", r"(i64)(\1 + 1) *"),
                  (r"group \* (\d+) \+ thread", r"(group + 1) * \1 + thread"),
                  (r"tang_index \* (\d+) \+", r"(tang_index + 1) * \1 +")), _ANY),
)  # fmt: skip

_BRANCHES: Final = (
    Mutant("else-dropped", "what happens otherwise is not printed",
           "tang.emit.printer:Printer._branch", _no_else, Rung.EMIT, None, SIX, _ANY, blind=True),
    Mutant("arms-exchanged", "a branch takes the other arm",
           "tang.emit.printer:Printer._branch", _swapped_arms, Rung.EMIT, None, SIX, _ANY,
           blind=True),
)  # fmt: skip

TEXT_FRAMES: Final = (*_FRAMES, *_BRANCHES)
