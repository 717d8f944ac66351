"""The one printer: kernel IR to text, in whatever language a dialect describes.

Defines `Printer`: expressions with as few parentheses as are safe, statements one per line.
Relies on the dialect's tables and on name mangling. It does not lay out buffers, entry points or
workgroups: that is the frame of each dialect, which calls `block`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tang.emit.dialect import SELECT, Dialect, Form, Text, UnsupportedError
from tang.emit.names import Kind, mangle
from tang.errors import TangBugError
from tang.kernel.ir import (
    Array,
    Assign,
    Barrier,
    Bitcast,
    Call,
    Const,
    Convert,
    Declare,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    Op,
    Scope,
    Stmt,
    Store,
    Type,
    Var,
)
from tang.kernel.walk import operands, postorder

INDENT = "    "
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class Printer:
    """Prints under a dialect.

    functions  the emitted symbol of each function of the kernel
    mutable    values that are assigned more than once
    places     text that replaces a mangled name (a register kept in an array, say)
    packed     memories that the packed rows of the dialect load from and store to
    """

    dialect: Dialect
    functions: Mapping[str, str] = field(default_factory=dict)
    mutable: frozenset[str] = frozenset()
    places: Mapping[tuple[str, Kind], str] = field(default_factory=dict)
    packed: frozenset[str] = frozenset()

    def with_places(self, places: Mapping[tuple[str, Kind], str]) -> Printer:
        """The same printer with further replacements."""
        return replace(self, places={**self.places, **places})

    def with_packed(self, names: frozenset[str]) -> Printer:
        """The same printer, with packed elements in some memories."""
        return replace(self, packed=names)

    # --- names and types

    def value_name(self, name: str) -> str:
        """The text of a value."""
        return self.places.get((name, Kind.VALUE)) or mangle(name)

    def memory_name(self, name: str) -> str:
        """The text of a buffer or an array."""
        return self.places.get((name, Kind.MEMORY)) or mangle(name, Kind.MEMORY)

    def register(self, t: Type) -> str:
        """The type of a value; raises UnsupportedError when the language lacks it."""
        return _find(self.dialect.registers, t, self.dialect, f"values of type {t.value}")

    def storage(self, t: Type) -> str:
        """The type of an element in memory."""
        return _find(self.dialect.storage, t, self.dialect, f"{t.value} in memory")

    # --- expressions

    def expr(self, root: Expr, level: int = SELECT) -> str:
        """The text of an expression, in parentheses if weaker than `level`."""
        if isinstance(root, Const | Var):
            return self._one(root, ()).at_least(level)
        done: dict[int, Text] = {}
        for e in postorder(root):
            done[id(e)] = self._one(e, tuple(done[id(a)] for a in operands(e)))
        return done[id(root)].at_least(level)

    def _one(self, e: Expr, args: tuple[Text, ...]) -> Text:
        match e:
            case Const():
                return self.dialect.literal(e)
            case Var():
                return Text(self.value_name(e.name))
            case Load():
                d = self.dialect
                rows = d.packed_loads if e.source in self.packed else d.loads
                form = _find(rows, e.type, d, f"loads of {e.type.value}")
                index = self._index(e.index, args[0])
                return form.fill((Text(self.memory_name(e.source)), index))
            case Call():
                return Text(f"{self._function(e.function)}({', '.join(a.text for a in args)})")
            case Op() | Convert() | Bitcast():
                return self._form(e).fill(args)

    def _form(self, e: Op | Convert | Bitcast) -> Form:
        match e:
            case Op():
                t = e.args[-1].type
                found = self._constant_row(e, t)
                what = f"{e.op} over {t.value}"
                return found or _find(self.dialect.operations, (e.op, t), self.dialect, what)
            case Convert():
                what = f"conversion of {e.value.type.value} to {e.type.value}"
                if e.type.is_float and (e.rounding, e.overflow) != ("rne", "inf"):
                    raise _unsupported(self.dialect, f"{what} ({e.rounding}, {e.overflow})")
                return _find(self.dialect.conversions, (e.value.type, e.type), self.dialect, what)
            case Bitcast():
                what = f"bit cast of {e.value.type.value} to {e.type.value}"
                return _find(self.dialect.bitcasts, (e.value.type, e.type), self.dialect, what)

    def _constant_row(self, e: Op, t: Type) -> Form | None:
        """The row for constant operands: all of them, or the last one."""
        rows, constant = self.dialect.operations, [isinstance(a, Const) for a in e.args]
        found = rows.get((f"{e.op} consts", t)) if all(constant) else None
        return found or (rows.get((f"{e.op} const", t)) if constant[-1] else None)

    def _function(self, name: str) -> str:
        symbol = self.functions.get(name)
        if symbol is None:
            raise TangBugError(f"a call of function {name!r}, which the kernel does not have")
        return symbol

    # --- statements

    def block(self, body: Iterable[Stmt], depth: int) -> list[str]:
        """The lines of some statements at an indentation depth."""
        return [line for s in body for line in self.stmt(s, depth)]

    def stmt(self, s: Stmt, depth: int) -> list[str]:
        """The lines of a statement."""
        pad = INDENT * depth
        match s:
            case Let() | Declare():
                return [pad + self._definition(s)]
            case Assign():
                return [f"{pad}{self.value_name(s.var.name)} = {self.expr(s.value)};"]
            case Store():
                return [pad + self._store(s)]
            case Array():
                return [pad + self._array(s)]
            case For():
                head, close = pad + self.loop_head(s), pad + self._loop_close(s)
                return [head, *self.block(s.body, depth + 1), close]
            case If():
                return self._branch(s, depth)
            case Barrier():
                return [pad + self._barrier(s)]

    def _definition(self, s: Let | Declare) -> str:
        place = self.places.get((s.var.name, Kind.VALUE))
        if place is not None:
            return f"{place} = {self.expr(s.value)};"
        syntax = self.dialect.syntax
        template = syntax.let if isinstance(s, Let) else syntax.declare
        return template.format(
            type=self.register(s.var.type), name=mangle(s.var.name), value=self.expr(s.value)
        )

    def _store(self, s: Store) -> str:
        t = s.value.type
        rows = self.dialect.packed_stores if s.target in self.packed else self.dialect.stores
        form = _find(rows, t, self.dialect, f"stores of {t.value}")
        index = self._index(s.index, Text(self.expr(s.index)))
        value = Text(self.expr(s.value, form.needs[2]))
        return form.fill((Text(self.memory_name(s.target)), index, value)).text

    def _index(self, index: Expr, text: Text) -> Text:
        form = self.dialect.indices.get(index.type)
        return text if form is None else form.fill((text,))

    def _array(self, s: Array) -> str:
        if s.scope is not Scope.THREAD:
            raise TangBugError(f"array {s.name!r} is shared: the frame of the kernel declares it")
        packed = self.dialect.packed_arrays.get(s.type) if s.name in self.packed else None
        element = packed or self.storage(s.type)
        return self.dialect.syntax.array.format(
            type=element, name=self.memory_name(s.name), size=s.size
        )

    def loop_head(self, s: For) -> str:
        """The line that opens a loop; its bound is evaluated once."""
        syntax = self.dialect.syntax
        return (syntax.loop if self._steady(s) else syntax.loop_once).format(
            type=self.register(s.var.type),
            name=mangle(s.var.name),
            lo=self.expr(s.lo),
            hi=self.expr(s.hi),
            end=mangle(s.var.name) + "end",
        )

    def _steady(self, s: For) -> bool:
        """Whether the bound of a loop is a literal or never changes."""
        named = isinstance(s.hi, Var) and s.hi.name not in self.mutable
        return named or isinstance(s.hi, Const)

    def _loop_close(self, s: For) -> str:
        syntax = self.dialect.syntax
        return syntax.loop_close if self._steady(s) else syntax.loop_once_close or syntax.loop_close

    def _branch(self, s: If, depth: int) -> list[str]:
        pad = INDENT * depth
        lines = [f"{pad}if ({self.expr(s.condition)}) {{", *self.block(s.then, depth + 1)]
        if s.otherwise:
            lines += [f"{pad}}} else {{", *self.block(s.otherwise, depth + 1)]
        return [*lines, f"{pad}}}"]

    def _barrier(self, s: Barrier) -> str:
        if not self.dialect.syntax.barrier:
            raise TangBugError("a barrier reached the printer of a language without barriers")
        return self.dialect.syntax.barrier

    def function(self, f: Function, symbol: str) -> list[str]:
        """The lines of a helper function under a symbol."""
        syntax = self.dialect.syntax
        params = ", ".join(
            syntax.parameter.format(type=self.register(p.type), name=mangle(p.name))
            for p in f.params
        )
        head = syntax.function.format(type=self.register(f.result.type), name=symbol, params=params)
        result = f"{INDENT}return {self.expr(f.result)};"
        return [head, *self.block(f.body, 1), result, "}"]


def _find(table: Mapping[_K, _V], key: _K, dialect: Dialect, what: str) -> _V:
    found = table.get(key)
    if found is None:
        raise _unsupported(dialect, what)
    return found


def _unsupported(dialect: Dialect, what: str) -> UnsupportedError:
    return UnsupportedError(f"{dialect.language} cannot express {what}")
