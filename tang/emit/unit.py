"""Translation units: kernels of any number of plans as one text.

Defines `emit`, `emit_unit` and `supports`. Relies on the printer and a dialect; equal helpers,
functions and kernels are printed once, different ones of one name get different symbols. It
compiles nothing and knows no device.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tang.emit.c import C
from tang.emit.cuda import CUDA
from tang.emit.dialect import Dialect, UnsupportedError
from tang.emit.glsl import GLSL
from tang.emit.msl import MSL
from tang.emit.names import Kind, mangle
from tang.emit.opencl import OPENCL
from tang.emit.printer import Printer
from tang.emit.wgsl import WGSL
from tang.errors import DeviceError, LimitError
from tang.kernel.ir import MATH, Call, Declare, Function, Kernel, Type
from tang.kernel.walk import postorder, statements

DIALECTS: Final[Mapping[str, Dialect]] = {
    "c": C,
    "opencl": OPENCL,
    "cuda": CUDA,
    "msl": MSL,
    "wgsl": WGSL,
    "glsl": GLSL,
}
"""The languages by name."""

_HOLE: Final = "\0"
"""Stands for a symbol that is not chosen yet; no text holds it otherwise."""

_HELPER: Final = re.compile(r"\btang_\w+")


_SYMBOL: Final = "\0symbol\0"
"""Stands for a definition's own symbol until its text is known to be new."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A text, and the symbol of each kernel it was made of (equal kernels share one)."""

    language: str
    text: str
    symbols: tuple[str, ...]


def emit(kernels: Kernel | Sequence[Kernel], language: str = "c") -> str:
    """The text of kernels in a language; raises UnsupportedError when it cannot say them."""
    return emit_unit((kernels,) if isinstance(kernels, Kernel) else kernels, language).text


def emit_unit(kernels: Sequence[Kernel], language: str = "c") -> Unit:
    """The text of kernels with their symbols, in order."""
    unit = _Building(dialect_named(language))
    symbols = tuple(unit.add(k) for k in kernels)
    return Unit(language, unit.text(), symbols)


def supports(kernel: Kernel, language: str = "c") -> str | None:
    """Why a language cannot say a kernel; None when it can."""
    try:
        emit(kernel, language)
    except (UnsupportedError, LimitError) as reason:
        return str(reason)
    return None


def dialect_named(language: str) -> Dialect:
    """The dialect of a language; raises DeviceError naming the known ones."""
    found = DIALECTS.get(language)
    if found is None:
        raise DeviceError(f"unknown language {language!r}: one of {', '.join(DIALECTS)}")
    return found


def builtins_of(language: str) -> frozenset[tuple[str, Type]]:
    """The functions of MATH that a language has of its own, with the formats it has them in."""
    rows = dialect_named(language).operations
    return frozenset((op, t) for op, t in rows if op in MATH)


@dataclass(slots=True)
class _Building:
    """A unit under construction: definitions in order, and which text has which symbol.

    `seen` has the callees of each function by identity and keeps it alive, so that its identity
    stays its own; `printed` has the symbol that a function got with these callees.
    """

    dialect: Dialect
    pieces: list[str] = field(default_factory=list)
    known: dict[tuple[str, Kind], dict[str, str]] = field(default_factory=dict)
    seen: dict[int, tuple[Function, tuple[str, ...]]] = field(default_factory=dict)
    printed: dict[tuple[int, tuple[str, ...]], str] = field(default_factory=dict)

    def add(self, kernel: Kernel) -> str:
        """Print a kernel after its functions, unless it is there; its symbol."""
        functions: dict[str, str] = {}
        for f in self._in_order(kernel.functions):
            functions[f.name] = self._function(f, functions)
        mutable = (s.var.name for s in statements(kernel.body) if isinstance(s, Declare))
        printer = Printer(self.dialect, functions, frozenset(mutable))

        def lines(symbol: str) -> list[str]:
            return [*_origin(kernel), *self.dialect.kernel(printer, kernel, symbol)]

        return self._place(kernel.name, Kind.KERNEL, lines)

    def _function(self, f: Function, known: Mapping[str, str]) -> str:
        """The symbol of a function; printed once per object, since plans share them."""
        calls = tuple(known[name] for name in self._callees(f))
        if (id(f), calls) not in self.printed:
            printer = Printer(self.dialect, known)
            symbol = self._place(f.name, Kind.FUNCTION, lambda s: printer.function(f, s))
            self.printed[id(f), calls] = symbol
        return self.printed[id(f), calls]

    def _callees(self, f: Function) -> tuple[str, ...]:
        """Names of the functions that a function calls."""
        if id(f) not in self.seen:
            roots = (*(s.value for s in f.body), f.result)
            calls = (e for root in roots for e in postorder(root) if isinstance(e, Call))
            self.seen[id(f)] = (f, tuple(dict.fromkeys(c.function for c in calls)))
        return self.seen[id(f)][1]

    def _in_order(self, functions: Iterable[Function]) -> list[Function]:
        """Functions of a kernel, each after those it calls (calls never form a cycle)."""
        by_name = {f.name: f for f in functions}
        order: dict[str, Function] = {}

        def visit(f: Function) -> None:
            if f.name not in order:
                for name in self._callees(f):
                    visit(by_name[name])
                order[f.name] = f

        for f in by_name.values():
            visit(f)
        return list(order.values())

    def _place(self, name: str, kind: Kind, lines: Callable[[str], list[str]]) -> str:
        """The symbol of a definition, which is printed unless an equal one was."""
        text = "\n".join(lines(_HOLE))
        symbols = self.known.setdefault((name, kind), {})
        if text not in symbols:
            symbols[text] = mangle(name, kind, len(symbols) + 1)
            self.pieces.append(text.replace(_HOLE, symbols[text]))
        return symbols[text]

    def text(self) -> str:
        """Prelude, the helpers that are mentioned, then the definitions."""
        helpers = _mentioned(self.pieces, self.dialect.helpers)
        return "\n\n".join([self.dialect.prelude.rstrip(), *helpers, *self.pieces]) + "\n"


def _origin(kernel: Kernel) -> list[str]:
    if not kernel.origin:
        return []
    return [f"/* node {_plain(kernel.origin)}, {_plain(kernel.role)} */"]


def _plain(text: str) -> str:
    """The text with everything replaced that could end a comment or a line."""
    return re.sub(r"[^A-Za-z0-9_ .:-]", "?", text)


def _mentioned(pieces: Iterable[str], helpers: Mapping[str, str]) -> list[str]:
    """Definitions of the helpers that the pieces mention, each after those it mentions."""
    order: dict[str, str] = {}

    def visit(name: str) -> None:
        if name in helpers and name not in order:
            for inner in _HELPER.findall(helpers[name]):
                if inner != name:
                    visit(inner)
            order[name] = helpers[name]

    for piece in pieces:
        for name in _HELPER.findall(piece):
            visit(name)
    return list(order.values())
