"""Languages akin to C: what OpenCL C, CUDA C++ and MSL share with C and with each other.

Defines how C's helpers and literals are spelled there, and the frame of a kernel whose threads
the device runs at once. Relies on the tables of C, from which each of these dialects differs in a
few rows. It prints no signature and no prelude.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from tang.emit.c_helpers import HELPERS
from tang.emit.dialect import Form, Syntax, Text, UnsupportedError, call, wrapped
from tang.emit.names import Kind, mangle
from tang.emit.printer import INDENT, Printer
from tang.emit.words import without_shared
from tang.kernel.ir import Array, Kernel, Scope, Type
from tang.kernel.walk import statements, variables

ROUND: Mapping[Type, str] = {
    Type.F16: "tang_round_f16", Type.BF16: "tang_round_bf16", Type.F32: "", Type.F64: "",
}  # fmt: skip
"""What the result of an operation over each float format passes through."""

_WORDS: Final = {"_Bool": "bool", "half": "middle"}
"""Words of C's helpers that are others elsewhere: half is a type of OpenCL C and MSL."""


def short_longs(text: str) -> str:
    """The text with `l` where C says `ll`: a long has 64 bits in OpenCL C and MSL."""
    return re.sub(r"(?<=[0-9a-f])(u?)ll\b", r"\1l", text)


def shortened(text: Text) -> Text:
    """The same of an expression."""
    return Text(short_longs(text.text), text.level)


def helpers(qualifier: str, casts: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """C's helpers with another qualifier; casts are templates over x by (to, from)."""
    found = {}
    for name, text in HELPERS.items():
        qualified = re.sub(r"^static (inline )?", qualifier + " ", text)
        found[name] = re.sub(r"\b(_Bool|half)\b", lambda m: _WORDS[m[0]], qualified)
    for (b, a), value in casts.items():
        name = f"tang_{b}_of_{a}"
        found[name] = f"{qualifier} {b} {name}({a} x) {{\n    return {value};\n}}"
    return found


def functions(
    names: Mapping[str, str], types: Iterable[Type], binary: Iterable[str] = ("atan2",)
) -> Iterator[tuple[tuple[str, Type], Form]]:
    """Rows that call a function: operation → its name, for every type."""
    two = frozenset(binary)
    for t in types:
        for op, name in names.items():
            yield (op, t), wrapped(ROUND[t], call(name, 2 if op in two else 1))


def syntax(function: str, barrier: str) -> Syntax:
    """C's statements, with the head of a helper function and a barrier."""
    return Syntax(
        let="const {type} {name} = {value};",
        declare="{type} {name} = {value};",
        array="{type} {name}[{size}];",
        loop="for ({type} {name} = {lo}; {name} < {hi}; ++{name}) {{",
        loop_once="for ({type} {name} = {lo}, {end} = {hi}; {name} < {end}; ++{name}) {{",
        loop_close="}",
        function=function + " {type} {name}({params})\n{{",
        parameter="const {type} {name}",
        barrier=barrier,
    )


def body(printer: Printer, kernel: Kernel, shared: str, ids: Mapping[str, str]) -> list[str]:
    """The braces of a kernel and all between them.

    shared   what stands before the type of an array of the workgroup; these come first
    ids      by builtin: its value
    """
    arrays = _shared(kernel)
    used = variables(kernel.body)
    lines = ["{"]
    for a in arrays:
        name = mangle(a.name, Kind.MEMORY)
        lines.append(f"{INDENT}{shared} {printer.storage(a.type)} {name}[{a.size}];")
    for builtin, value in ids.items():
        if builtin in used:
            t = printer.register(used[builtin].type)
            lines.append(f"{INDENT}const {t} {mangle(builtin)} = ({t})({value});")
    return [*lines, *printer.block(without_shared(kernel.body), 1), "}"]


def _shared(kernel: Kernel) -> list[Array]:
    """Arrays of the workgroup; refuses two of one name, which could not both come first."""
    stmts = statements(kernel.body)
    arrays = [s for s in stmts if isinstance(s, Array) and s.scope is Scope.WORKGROUP]
    if len({a.name for a in arrays}) < len(arrays):
        raise UnsupportedError(f"kernel {kernel.name!r} has two workgroup arrays of one name")
    return arrays
