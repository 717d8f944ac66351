"""Workgroups in order: a kernel with barriers for a language that runs threads one by one.

Defines `split_phases` and `group_lines`: the body is cut at its barriers, each phase becomes a
loop over the threads, and registers that outlive a phase become arrays with one element per
thread. Relies on barriers standing in uniform control flow; anything else is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tang.emit.dialect import UnsupportedError
from tang.emit.names import Kind, mangle
from tang.emit.printer import INDENT, Printer
from tang.kernel.ir import Array, Barrier, Declare, For, If, Kernel, Let, Load, Scope, Stmt, Var
from tang.kernel.walk import (
    defined_names,
    expressions,
    nested,
    postorder,
    statements,
    used_names,
    variables,
)


@dataclass(frozen=True, slots=True)
class Phase:
    """Statements between two barriers: run by one thread after the other."""

    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """A loop or branch that all threads take together; its parts hold barriers."""

    head: For | If
    then: tuple[Part, ...]
    otherwise: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Shared:
    """A statement of the whole group: a workgroup array, or a value equal for all threads."""

    stmt: Let | Array


Part = Phase | Together | Shared


def needs_fission(kernel: Kernel) -> bool:
    """Whether threads of a group must advance together."""
    return any(
        isinstance(s, Barrier) or (isinstance(s, Array) and s.scope is Scope.WORKGROUP)
        for s in statements(kernel.body)
    )


def split_phases(kernel: Kernel) -> tuple[Part, ...]:
    """The parts of a kernel's body in order; raises UnsupportedError off uniform control flow."""
    uniform = frozenset(v.name for v in kernel.scalars) | {"group_id"}
    return _parts(kernel.body, uniform)


def group_lines(printer: Printer, parts: tuple[Part, ...], workgroup: int, depth: int) -> list[str]:
    """The lines that run one workgroup through its parts."""
    return _Group(printer, workgroup, frozenset(_outliving(parts))).lines(parts, depth)


def thread_head(body: Iterable[Stmt], workgroup: int, depth: int) -> list[str]:
    """The line that opens the loop over threads, and the ids that the body uses."""
    used = variables(body)
    pad = INDENT * depth
    lines = [f"{pad}for (i64 thread = 0; thread < {workgroup}; ++thread) {{"]
    for name, value in (("local_id", "thread"), ("global_id", f"group * {workgroup} + thread")):
        if name in used:
            t = used[name].type.value
            text = value if t == "i64" else f"({t})({value})"
            lines.append(f"{pad}{INDENT}const {t} {mangle(name)} = {text};")
    return lines


def _parts(body: Iterable[Stmt], uniform: frozenset[str]) -> tuple[Part, ...]:
    parts: list[Part] = []
    phase: list[Stmt] = []

    def close() -> None:
        if phase:
            parts.append(Phase(tuple(phase)))
            phase.clear()

    for s in body:
        if isinstance(s, Barrier):
            close()
        elif isinstance(s, Array) and s.scope is Scope.WORKGROUP:
            parts.append(Shared(s))  # before the open phase, which cannot know it yet
        elif isinstance(s, Let) and _is_uniform(s, uniform):
            uniform |= {s.var.name}
            parts.append(Shared(s))
        elif any(_is_shared(inner) for inner in statements(nested(s))):
            close()
            parts.append(_together(s, uniform))
        else:
            phase.append(s)
    close()
    return tuple(parts)


def _together(s: Stmt, uniform: frozenset[str]) -> Part:
    if not _is_uniform(s, uniform):
        raise UnsupportedError("C cannot express a barrier in control flow that threads may leave")
    if isinstance(s, For):
        return Together(s, _parts(s.body, uniform | {s.var.name}))
    if isinstance(s, If):
        return Together(s, _parts(s.then, uniform), _parts(s.otherwise, uniform))
    raise UnsupportedError(f"C cannot express a barrier in {type(s).__name__}")


def _is_shared(s: Stmt) -> bool:
    return isinstance(s, Barrier) or (isinstance(s, Array) and s.scope is Scope.WORKGROUP)


def _is_uniform(s: Stmt, uniform: frozenset[str]) -> bool:
    """Whether the statement's own expressions are equal for all threads: no loads, known names."""
    found = [e for root in expressions(s) for e in postorder(root)]
    return all(not isinstance(e, Load) for e in found) and all(
        e.name in uniform for e in found if isinstance(e, Var)
    )


def _phases(parts: Iterable[Part]) -> Iterator[Phase]:
    for p in parts:
        if isinstance(p, Phase):
            yield p
        elif isinstance(p, Together):
            yield from _phases((*p.then, *p.otherwise))


def _outliving(parts: tuple[Part, ...]) -> Iterator[str]:
    """Names defined in one phase and used in another that does not define them."""
    phases = list(_phases(parts))
    defined = [defined_names(p.body) for p in phases]
    for p, own in zip(phases, defined, strict=True):
        elsewhere = set[str]().union(*(d for d in defined if d is not own))
        yield from (used_names(p.body) - own) & elsewhere


@dataclass(frozen=True, slots=True)
class _Group:
    printer: Printer
    workgroup: int
    kept: frozenset[str]

    def lines(self, parts: tuple[Part, ...], depth: int) -> list[str]:
        printer = self._placed(parts)
        inner = _Group(printer, self.workgroup, self.kept)
        return [line for p in parts for line in inner._part(p, depth)]

    def _placed(self, parts: tuple[Part, ...]) -> Printer:
        places: dict[tuple[str, Kind], str] = {}
        for s in (s for p in parts if isinstance(p, Phase) for s in p.body):
            if isinstance(s, Let | Declare) and s.var.name in self.kept:
                places[(s.var.name, Kind.VALUE)] = f"{mangle(s.var.name)}[thread]"
            elif isinstance(s, Array) and s.name in self.kept:
                places[(s.name, Kind.MEMORY)] = f"{mangle(s.name, Kind.MEMORY)}[thread]"
        return self.printer.with_places(places)

    def _part(self, p: Part, depth: int) -> list[str]:
        pad = INDENT * depth
        if isinstance(p, Shared):
            return self._shared(p, depth)
        if isinstance(p, Phase):
            body = [s for s in p.body if not (isinstance(s, Array) and s.name in self.kept)]
            head = thread_head(body, self.workgroup, depth)
            return [
                *self._keepers(p, depth),
                *head,
                *self.printer.block(body, depth + 1),
                f"{pad}}}",
            ]
        if isinstance(p.head, For):
            return [pad + self.printer.loop_head(p.head), *self.lines(p.then, depth + 1), pad + "}"]
        test = f"{pad}if ({self.printer.expr(p.head.condition)}) {{"
        lines = [test, *self.lines(p.then, depth + 1)]
        if p.otherwise:
            lines += [f"{pad}}} else {{", *self.lines(p.otherwise, depth + 1)]
        return [*lines, f"{pad}}}"]

    def _shared(self, p: Shared, depth: int) -> list[str]:
        if isinstance(p.stmt, Let):
            return self.printer.stmt(p.stmt, depth)
        array = Array(p.stmt.name, p.stmt.type, p.stmt.size)
        return self.printer.stmt(array, depth)

    def _keepers(self, p: Phase, depth: int) -> list[str]:
        """Declarations of the arrays that hold registers of this phase for later ones."""
        pad = INDENT * depth
        lines = []
        for s in p.body:
            if isinstance(s, Let | Declare) and s.var.name in self.kept:
                t = self.printer.register(s.var.type)
                lines.append(f"{pad}{t} {mangle(s.var.name)}[{self.workgroup}];")
            elif isinstance(s, Array) and s.name in self.kept:
                t, name = self.printer.storage(s.type), mangle(s.name, Kind.MEMORY)
                lines.append(f"{pad}{t} {name}[{self.workgroup}][{s.size}];")
        return lines
