"""C: the dialect table, and the loops that stand for a grid of threads.

Defines `C`. Relies on a compiler that keeps IEEE arithmetic (`-ffp-contract=off`, no fast maths,
no excess precision), which the prelude checks where it can. Registers of f16 and bf16 are f32
that hold representable values; in memory they are 16-bit words.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final

from tang.emit.c_helpers import HELPERS
from tang.emit.dialect import (
    ADD,
    ATOM,
    BITS,
    COMPARE,
    LOGIC,
    MUL,
    SELECT,
    UNARY,
    Dialect,
    Form,
    Syntax,
    Text,
    call,
    infix,
    prefix,
    wrapped,
)
from tang.emit.fission import group_lines, needs_fission, split_phases, thread_head
from tang.emit.literal import decimal_or_hex, integer, rounded, special_bits
from tang.emit.names import mangle
from tang.emit.printer import INDENT, Printer
from tang.ir.format import FORMATS
from tang.kernel.ir import Const, Kernel, Type
from tang.kernel.walk import variables

_FLOATS: Final = (Type.F16, Type.BF16, Type.F32, Type.F64)
_INTEGERS: Final = (Type.U8, Type.I32, Type.U32, Type.I64)
_NARROW: Final = {Type.F16: "f16", Type.BF16: "bf16"}
_LIBM: Final = ("exp2", "log2", "sin", "atan2", "erf", "exp", "log", "tanh", "cos")

PRELUDE: Final = """\
#include <math.h>

#if defined __FAST_MATH__ || (defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0)
#error "compile without fast maths and without excess precision: results would differ"
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
"""


@functools.lru_cache(maxsize=4096)
def _literal(c: Const) -> Text:
    if c.type is Type.BOOL:
        return Text("1" if c.value else "0")
    if c.type.is_int:
        return _integer(c)
    value = rounded(c)
    wide = c.type is Type.F64
    if value in ("inf", "-inf", "nan"):
        return _special(str(value), wide)
    text = "-0.0" if isinstance(value, str) else decimal_or_hex(value)
    return Text(text + ("" if wide else "f"), UNARY if text.startswith("-") else ATOM)


def _special(name: str, wide: bool) -> Text:
    bits = special_bits(name, FORMATS["f64" if wide else "f32"])
    return Text(f"tang_f64_of_u64({bits:#x}ull)" if wide else f"tang_f32_of_u32({bits:#x}u)")


def _integer(c: Const) -> Text:
    value = integer(c)
    suffix = {Type.U32: "u", Type.I64: "ll"}.get(c.type, "")
    lowest = -(2 ** (8 * c.type.bytes - 1))
    if value == lowest and c.type in (Type.I32, Type.I64):
        return Text(f"({value + 1}{suffix} - 1)")
    return Text(f"{value}{suffix}", UNARY if value < 0 else ATOM)


def _float_operations(t: Type) -> Iterator[tuple[str, Form]]:
    round_to = f"tang_round_{_NARROW[t]}" if t in _NARROW else ""
    suffix = "" if t is Type.F64 else "f"
    for op, symbol, level in (("add", "+", ADD), ("sub", "-", ADD), ("mul", "*", MUL)):
        yield op, wrapped(round_to, infix(symbol, level))
    yield "div", wrapped(round_to, infix("/", MUL))
    yield "neg", prefix("-")
    yield "sqrt", wrapped(round_to, call(f"sqrt{suffix}", 1))
    yield "floor", call(f"floor{suffix}", 1)
    yield "fma", call(f"tang_fma_{_NARROW[t]}" if t in _NARROW else f"fma{suffix}", 3)
    yield "isnan", call("tang_isnan_f64" if t is Type.F64 else "tang_isnan_f32", 1)
    for name in _LIBM:
        yield name, wrapped(round_to, call(name + suffix, 2 if name == "atan2" else 1))


def _integer_operations(t: Type) -> Iterator[tuple[str, Form]]:
    narrow = "(u8)" if t is Type.U8 else ""
    for op, symbol, level in (("add", "+", ADD), ("sub", "-", ADD), ("mul", "*", MUL)):
        yield op, wrapped(narrow, infix(symbol, level))
    yield "neg", wrapped(narrow, prefix("-"))
    signed = t in (Type.I32, Type.I64)
    yield "floordiv", call(f"tang_floordiv_{t.value}", 2) if signed else infix("/", MUL)
    yield "mod", call(f"tang_mod_{t.value}", 2) if signed else infix("%", MUL)
    yield "min", call(f"tang_min_{t.value}", 2)
    yield "max", call(f"tang_max_{t.value}", 2)
    if not signed:
        yield from _bit_operations(8 * t.bytes, narrow)


def _bit_operations(width: int, narrow: str) -> Iterator[tuple[str, Form]]:
    for op, symbol in (("band", "&"), ("bor", "|"), ("bxor", "^")):
        yield op, infix(symbol, BITS, UNARY)
    for op, symbol, outer in (("shl", "<<", narrow), ("shr", ">>", "")):
        masked = Form(f"{{0}} {symbol} ({{1}} & {width - 1}u)", BITS, (UNARY, UNARY))
        yield op, wrapped(outer, masked)
        yield f"{op} const", wrapped(outer, infix(symbol, BITS, UNARY))


def _operations() -> Iterator[tuple[tuple[str, Type], Form]]:
    for t in Type:
        for op, symbol in (("lt", "<"), ("le", "<="), ("eq", "==")):
            yield (op, t), infix(symbol, COMPARE, ADD)
        yield ("select", t), Form("{0} ? {1} : {2}", SELECT, (COMPARE, LOGIC, LOGIC))
    for t in _FLOATS:
        yield from (((op, t), form) for op, form in _float_operations(t))
    for t in _INTEGERS:
        yield from (((op, t), form) for op, form in _integer_operations(t))
    yield ("and", Type.BOOL), infix("&&", LOGIC, COMPARE)
    yield ("or", Type.BOOL), infix("||", LOGIC, COMPARE)
    yield ("not", Type.BOOL), prefix("!")


def _cast(t: str) -> Form:
    return Form(f"({t}){{0}}", UNARY, (UNARY,))


_SAME: Final = Form("{0}", ATOM, (ATOM,))


def _conversion(a: Type, b: Type) -> Form:
    if a is b:
        return _SAME
    if b is Type.BOOL:
        return Form("{0} != 0", COMPARE, (ADD,))
    if b in _NARROW:
        return _narrowing(a, _NARROW[b])
    if b is Type.F32 and a in _NARROW:
        return _SAME
    return _cast(b.value)


def _narrowing(a: Type, narrow: str) -> Form:
    if a in (Type.F32, *_NARROW):
        return call(f"tang_round_{narrow}", 1)
    if a is Type.F64:
        return call(f"tang_narrow_{narrow}", 1)
    exact = "tang_sticky_i64({0})" if a is Type.I64 else "({0})"
    return Form(f"tang_narrow_{narrow}((f64){exact})")


def _bitcasts() -> Iterator[tuple[tuple[Type, Type], Form]]:
    for a in Type:
        yield (a, a), _SAME
    f, d, i, u, n = Type.F32, Type.F64, Type.I32, Type.U32, Type.I64
    for a, b in ((f, i), (i, f), (f, u), (u, f), (d, n), (n, d)):
        yield (a, b), call(f"tang_{b.value}_of_{a.value}", 1)
    yield (i, u), _cast("u32")
    yield (u, i), _cast("i32")
    yield (Type.BOOL, Type.U8), _cast("u8")
    yield (Type.F16, Type.BF16), Form("tang_bf16_value(tang_f16_bits({0}))")
    yield (Type.BF16, Type.F16), Form("tang_f16_value(tang_bf16_bits({0}))")


def _loads(t: Type) -> Form:
    if t in _NARROW:
        return Form(f"tang_{_NARROW[t]}_value({{0}}[{{1}}])")
    return Form("{0}[{1}] != 0", COMPARE) if t is Type.BOOL else Form("{0}[{1}]")


def _stores(t: Type) -> Form:
    value = f"tang_{_NARROW[t]}_bits({{2}})" if t in _NARROW else "{2}"
    return Form(f"{{0}}[{{1}}] = {value};")


def _kernel(printer: Printer, kernel: Kernel, symbol: str) -> list[str]:
    fission = needs_fission(kernel)
    parts = split_phases(kernel) if fission else ()
    lines = [
        f"void {symbol}(",
        ",\n".join(INDENT + p for p in _parameters(printer, kernel)) + ")",
        "{",
        f"{INDENT}for (i64 group = first_group; group < last_group; ++group) {{",
    ]
    group = variables(kernel.body).get("group_id")
    if group is not None:
        t = group.type.value
        value = "group" if t == "i64" else f"({t})group"
        lines.append(f"{INDENT * 2}const {t} {mangle('group_id')} = {value};")
    if fission:
        lines += group_lines(printer, parts, kernel.workgroup, 2)
    else:
        lines += thread_head(kernel.body, kernel.workgroup, 2)
        lines += [*printer.block(kernel.body, 3), f"{INDENT * 2}}}"]
    return [*lines, f"{INDENT}}}", "}"]


def _parameters(printer: Printer, kernel: Kernel) -> Iterator[str]:
    for p in kernel.params:
        const = "" if p.writable else "const "
        yield f"{const}{printer.storage(p.type)}* restrict {printer.memory_name(p.name)}"
    for s in kernel.scalars:
        yield f"const {printer.register(s.type)} {printer.value_name(s.name)}"
    yield "const i64 first_group"
    yield "const i64 last_group"


_REGISTERS: Final = {
    Type.BOOL: "_Bool", Type.U8: "u8", Type.I32: "i32", Type.U32: "u32", Type.I64: "i64",
    Type.F16: "f32", Type.BF16: "f32", Type.F32: "f32", Type.F64: "f64",
}  # fmt: skip

C: Final = Dialect(
    language="c",
    registers=_REGISTERS,
    storage={**_REGISTERS, Type.BOOL: "u8", Type.F16: "u16", Type.BF16: "u16"},
    operations=dict(_operations()),
    conversions={(a, b): _conversion(a, b) for a in Type for b in Type},
    bitcasts=dict(_bitcasts()),
    loads={t: _loads(t) for t in Type},
    stores={t: _stores(t) for t in Type},
    literal=_literal,
    syntax=Syntax(
        let="const {type} {name} = {value};",
        declare="{type} {name} = {value};",
        array="{type} {name}[{size}];",
        loop="for ({type} {name} = {lo}; {name} < {hi}; ++{name}) {{",
        loop_once="for ({type} {name} = {lo}, {end} = {hi}; {name} < {end}; ++{name}) {{",
        loop_close="}",
        function="static {type} {name}({params})\n{{",
        parameter="const {type} {name}",
        barrier="",
    ),
    helpers=HELPERS,
    prelude=PRELUDE,
    kernel=_kernel,
)
"""The C language."""
