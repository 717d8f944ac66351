"""Dialects: what the printer must know of a language, as one frozen record of tables.

Defines `Form` (how one operation is written), `Syntax` (how statements are written), `Dialect`
and `UnsupportedError`. Relies on the kernel types alone. A dialect holds no logic besides its
literals and the frame around a kernel's body; the printer does the rest for every language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tang.errors import DeviceError
from tang.kernel.ir import Const, Kernel, Type

if TYPE_CHECKING:
    from tang.emit.printer import Printer


class UnsupportedError(DeviceError):
    """A kernel needs what a language cannot say; the message names it."""


SELECT: Final = 0
LOGIC: Final = 1
BITS: Final = 2
COMPARE: Final = 3
ADD: Final = 4
MUL: Final = 5
UNARY: Final = 6
ATOM: Final = 7
"""How strongly an expression holds together; a weaker operand is put in parentheses."""


@dataclass(frozen=True, slots=True)
class Text:
    """A printed expression and how strongly it holds together."""

    text: str
    level: int = ATOM

    def at_least(self, level: int) -> str:
        """The text, in parentheses when it is weaker than `level`."""
        return self.text if self.level >= level else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Form:
    """A template over operands {0}, {1}, …, its strength, and the strength operands need."""

    template: str
    level: int = ATOM
    needs: tuple[int, ...] = (SELECT, SELECT, SELECT)

    def fill(self, operands: tuple[Text, ...]) -> Text:
        """The template with the operands in place."""
        pairs = zip(operands, self.needs, strict=False)
        return Text(self.template.format(*(o.at_least(n) for o, n in pairs)), self.level)


def infix(symbol: str, level: int, operands: int | None = None) -> Form:
    """`{0} symbol {1}`, grouping to the left unless `operands` asks for stronger operands."""
    needs = (level, level + 1) if operands is None else (operands, operands)
    return Form(f"{{0}} {symbol} {{1}}", level, needs)


def prefix(symbol: str) -> Form:
    """`symbol{0}`; the operand must be an atom, so no two signs meet."""
    return Form(f"{symbol}{{0}}", UNARY, (ATOM,))


def call(name: str, arity: int) -> Form:
    """`name({0}, …)`."""
    return Form(f"{name}({', '.join(f'{{{i}}}' for i in range(arity))})")


def wrapped(function: str, form: Form) -> Form:
    """`function(form)`: the same operation with its result passed through a function."""
    return form if not function else Form(f"{function}({form.template})", ATOM, form.needs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """Templates of statements; fields in braces as each line shows.

    let, declare  {type} {name} {value}
    array         {type} {name} {size}, of a thread
    loop          {type} {name} {lo} {hi}: hi is a literal or never changes
    loop_once     {type} {name} {lo} {hi} {end}: `end` names hi, evaluated once
    loop_once_close   where it is not loop_close
    function      {type} {name} {params}, each parameter {type} {name}
    """

    let: str
    declare: str
    array: str
    loop: str
    loop_once: str
    loop_close: str
    function: str
    parameter: str
    barrier: str
    loop_once_close: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One language.

    registers    type of a value;      storage  type of an element in memory
    operations   (operation, type of its last operand) → form; a row "shl consts" takes precedence
                 where all operands are constants, else "shl const" where the last one is
    conversions, bitcasts   (from, to) → form
    loads        type → form over memory {0} and index {1};   stores  … and value {2}
    packed_loads, packed_stores   the same for memories whose elements are not of the storage type
    packed_arrays                 the type of their elements, for arrays of a thread
    indices      how an index of a type is written where that is not its own text
    literal      a constant as text
    helpers      name (always `tang_…`) → definition; those a text mentions are put before it
    prelude      what starts every text
    kernel       the lines of a kernel: signature, frame and body, under the given symbol
    """

    language: str
    registers: Mapping[Type, str]
    storage: Mapping[Type, str]
    operations: Mapping[tuple[str, Type], Form]
    conversions: Mapping[tuple[Type, Type], Form]
    bitcasts: Mapping[tuple[Type, Type], Form]
    loads: Mapping[Type, Form]
    stores: Mapping[Type, Form]
    literal: Callable[[Const], Text]
    syntax: Syntax
    helpers: Mapping[str, str]
    prelude: str
    kernel: Callable[[Printer, Kernel, str], list[str]]
    packed_loads: Mapping[Type, Form] = field(default_factory=dict)
    packed_stores: Mapping[Type, Form] = field(default_factory=dict)
    packed_arrays: Mapping[Type, str] = field(default_factory=dict)
    indices: Mapping[Type, Form] = field(default_factory=dict)
