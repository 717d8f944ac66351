"""Translation units: kernels of any number of plans as one text.

Defines `emit`, `emit_unit` and `supports`. Relies on the printer and a dialect; equal helpers,
functions and kernels are printed once, different ones of one name get different symbols. It
compiles nothing and knows no device.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tang.emit.c import C
from tang.emit.dialect import Dialect, UnsupportedError
from tang.emit.names import Kind, mangle
from tang.emit.printer import Printer
from tang.emit.walk import postorder, statements
from tang.errors import DeviceError, TangBugError
from tang.kernel.ir import Call, Declare, Function, Kernel

DIALECTS: Final[Mapping[str, Dialect]] = {"c": C}
"""The languages by name."""

_HELPER = re.compile(r"\btang_\w+")


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
    except UnsupportedError as reason:
        return str(reason)
    return None


def dialect_named(language: str) -> Dialect:
    """The dialect of a language; raises DeviceError naming the known ones."""
    found = DIALECTS.get(language)
    if found is None:
        raise DeviceError(f"unknown language {language!r}: one of {', '.join(DIALECTS)}")
    return found


@dataclass(slots=True)
class _Building:
    """A unit under construction: definitions in order, and which symbol has which text."""

    dialect: Dialect
    pieces: list[str] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)

    def add(self, kernel: Kernel) -> str:
        """Print a kernel after its functions, unless it is there; its symbol."""
        functions: dict[str, str] = {}
        for f in _callees_first(kernel.functions):
            functions[f.name] = self._function(f, functions)
        mutable = (s.var.name for s in statements(kernel.body) if isinstance(s, Declare))
        printer = Printer(self.dialect, functions, frozenset(mutable))

        def lines(symbol: str) -> list[str]:
            return [*_origin(kernel), *self.dialect.kernel(printer, kernel, symbol)]

        return self._place(kernel.name, Kind.KERNEL, lines)

    def _function(self, f: Function, known: Mapping[str, str]) -> str:
        printer = Printer(self.dialect, known)
        return self._place(f.name, Kind.FUNCTION, lambda symbol: printer.function(f, symbol))

    def _place(self, name: str, kind: Kind, lines: Callable[[str], list[str]]) -> str:
        for copy in itertools.count(1):
            symbol = mangle(name, kind, copy)
            text = "\n".join(lines(symbol))
            if symbol not in self.taken:
                self.taken[symbol] = text
                self.pieces.append(text)
            if self.taken[symbol] == text:
                return symbol
        raise TangBugError("symbols ran out")

    def text(self) -> str:
        """Prelude, the helpers that are mentioned, then the definitions."""
        helpers = _mentioned(self.pieces, self.dialect.helpers)
        return "\n\n".join([self.dialect.prelude.rstrip(), *helpers, *self.pieces]) + "\n"


def _callees_first(functions: Iterable[Function]) -> list[Function]:
    """The functions of a kernel, each after those it calls (calls never form a cycle)."""
    by_name = {f.name: f for f in functions}
    order: dict[str, Function] = {}

    def visit(f: Function) -> None:
        if f.name in order:
            return
        for root in (*(s.value for s in f.body), f.result):
            for e in postorder(root):
                if isinstance(e, Call) and e.function != f.name:
                    visit(by_name[e.function])
        order[f.name] = f

    for f in by_name.values():
        visit(f)
    return list(order.values())


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
