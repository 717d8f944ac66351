"""WGSL: the dialect table and the frame of a kernel.

Defines `WGSL`. Relies on nothing that WGSL leaves open: drivers rewrite float expressions, so each
float passes as bits through an exclusive or with a zero that only the run time knows (`keep`), as
do literals and comparisons. Registers of f16 and bf16 are f32 that hold representable values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.emit.dialect import (
    ADD,
    ATOM,
    BITS,
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
)
from tang.emit.literal import decimal_or_hex, integer, rounded, special_bits, value_bits
from tang.emit.names import Kind, mangle
from tang.emit.printer import INDENT, Printer
from tang.emit.wgsl_helpers import HELPERS, accessors
from tang.emit.words import (
    PACKED,
    builtins_used,
    packed_names,
    refuse_wide_integers,
    scalar_places,
    shared_arrays,
    without_shared,
)
from tang.ir.format import FORMATS
from tang.kernel.ir import Array, Const, Kernel, Param, Type

_FLOATS: Final = (Type.F16, Type.BF16, Type.F32)
_INTEGERS: Final = (Type.U8, Type.I32, Type.U32)
_TYPES: Final = (Type.BOOL, *_INTEGERS, *_FLOATS)
_NARROW: Final = {Type.F16: "f16", Type.BF16: "bf16"}
_WORD: Final = {Type.U8: "u32", Type.U32: "u32", Type.I32: "i32"}
_NATIVE: Final = ("exp2", "log2", "sin", "atan2", "exp", "log", "tanh", "cos")
_SMALL: Final = 2**16
"""Integers from here on get a suffix: as abstract numbers they would not convert freely."""

PRELUDE: Final = """\
/* tang_scalars: a zero, the number of workgroups, then the scalars of the kernel */
@group(0) @binding(0) var<storage, read> tang_scalars: array<i32>;
var<private> tang_zero: u32;
"""


def _literal(c: Const) -> Text:
    if c.type is Type.BOOL:
        return Text("true" if c.value else "false")
    if c.type.is_int:
        return _integer(c)
    value = rounded(c)
    if not isinstance(value, str):
        text = decimal_or_hex(value)
        if "p" not in text:
            return Text(f"tang_keep({text})")
        return Text(f"tang_f32({value_bits(value, FORMATS['f32']):#x}u)")
    bits = 2**31 if value == "-0.0" else special_bits(value, FORMATS["f32"])
    return Text(f"tang_f32({bits:#x}u)")


def _integer(c: Const) -> Text:
    value = integer(c)
    if c.type is not Type.I32:
        return Text(f"{value}u")
    if value < 0:  # as a constant expression it could not index, even where nothing runs
        return Text(f"tang_i32({value}i)" if value > -(2**31) else "tang_i32(-2147483647i - 1i)")
    return Text(f"{value}" if value < _SMALL else f"{value}i")


def _kept(t: Type, form: Form) -> Form:
    keep = f"tang_round_{_NARROW[t]}" if t in _NARROW else "tang_keep"
    return Form(f"{keep}({form.template})", ATOM, form.needs)


def _float_operations(t: Type) -> Iterator[tuple[str, Form]]:
    yield "add", _kept(t, infix("+", ADD))
    yield "sub", _kept(t, Form("{0} - tang_apart({1})", ADD, (ADD, SELECT)))
    yield "mul", _kept(t, infix("*", MUL))
    yield "div", _kept(t, Form("{0} / tang_apart({1})", MUL, (MUL, SELECT)))
    yield "neg", _kept(Type.F32, prefix("-"))
    yield "sqrt", _kept(t, call("sqrt", 1))
    yield "floor", _kept(Type.F32, call("floor", 1))
    yield "isnan", call("tang_isnan", 1)
    for op, symbol in (("lt", "<"), ("le", "<="), ("eq", "==")):
        yield op, Form(f"tang_flag({{0}} {symbol} tang_apart({{1}}))", ATOM, (ADD, SELECT))
    for name in _NATIVE:
        yield name, _kept(t, call(name, 2 if name == "atan2" else 1))


def _integer_operations(t: Type) -> Iterator[tuple[str, Form]]:
    for op, symbol, level in (("add", "+", ADD), ("sub", "-", ADD), ("mul", "*", MUL)):
        form = infix(symbol, level)
        yield op, _byte(t, form)
        runtime = Form(f"tang_{_WORD[t]}({{0}}) {symbol} {{1}}", level)
        yield f"{op} consts", _byte(t, runtime)  # a constant expression may not wrap
    signed = t is Type.I32
    yield "neg", prefix("-") if signed else _byte(t, Form("0u - {0}", ADD, (MUL,)))
    yield "floordiv", call("tang_floordiv", 2) if signed else infix("/", MUL)
    yield "mod", call("tang_mod", 2) if signed else infix("%", MUL)
    yield "min", call("min", 2)
    yield "max", call("max", 2)
    for op, symbol in (("lt", "<"), ("le", "<="), ("eq", "==")):
        yield op, Form(f"({{0}} {symbol} {{1}})", ATOM, (ADD, ADD))
    if not signed:
        yield from _bit_operations(t)


def _bit_operations(t: Type) -> Iterator[tuple[str, Form]]:
    for op, symbol in (("band", "&"), ("bor", "|"), ("bxor", "^")):
        yield op, infix(symbol, BITS, UNARY)
    for op, symbol in (("shl", "<<"), ("shr", ">>")):
        shift = Form(f"{{0}} {symbol} ({{1}} & {8 * t.bytes - 1}u)", BITS, (UNARY, UNARY))
        yield op, _byte(t, shift)
        yield f"{op} const", _byte(t, infix(symbol, BITS, UNARY))
        yield f"{op} consts", _byte(t, Form(f"tang_u32({{0}}) {symbol} {{1}}", BITS))


def _byte(t: Type, form: Form) -> Form:
    return Form(f"(({form.template}) & 255u)", ATOM, form.needs) if t is Type.U8 else form


def _operations() -> Iterator[tuple[tuple[str, Type], Form]]:
    for t in _TYPES:
        yield ("select", t), Form("select({2}, {1}, {0})")
    for t in _FLOATS:
        yield from (((op, t), form) for op, form in _float_operations(t))
    for t in _INTEGERS:
        yield from (((op, t), form) for op, form in _integer_operations(t))
    yield ("and", Type.BOOL), infix("&", BITS, UNARY)
    yield ("or", Type.BOOL), infix("|", BITS, UNARY)
    yield ("not", Type.BOOL), prefix("!")
    yield ("eq", Type.BOOL), Form("({0} == {1})", ATOM, (ADD, ADD))


_SAME: Final = Form("{0}", ATOM, (ATOM,))


def _conversion(a: Type, b: Type) -> Form:
    if a is b or (b is Type.F32 and a in _NARROW):
        return _SAME
    if b is Type.BOOL:
        zero = "(tang_bits({0}) << 1u)" if a.is_float else "{0}"
        return Form(f"({zero} != 0)" if a is Type.I32 else f"({zero} != 0u)", ATOM, (ADD,))
    if b in _NARROW:
        exact = f"tang_sticky_{a.value}({{0}})" if a in (Type.I32, Type.U32) else "{0}"
        wide = exact if a.is_float else f"f32({exact})"
        return Form(f"tang_round_{_NARROW[b]}({wide})")
    if b is Type.F32:
        return Form("tang_keep(f32({0}))")
    if b is Type.I32:
        return Form("tang_i32(i32({0}))" if a.is_float else "i32({0})")
    whole = Form("tang_u32(u32({0}))" if a.is_float else "u32({0})")
    return _byte(b, whole) if a is not Type.BOOL else whole


def _bitcasts() -> Iterator[tuple[tuple[Type, Type], Form]]:
    for t in _TYPES:
        yield (t, t), _SAME
    yield (Type.F32, Type.U32), call("tang_bits", 1)
    yield (Type.U32, Type.F32), call("tang_f32", 1)
    yield (Type.F32, Type.I32), Form("i32(tang_bits({0}))")
    yield (Type.I32, Type.F32), Form("tang_f32(u32({0}))")
    yield (Type.I32, Type.U32), call("u32", 1)
    yield (Type.U32, Type.I32), call("i32", 1)
    yield (Type.BOOL, Type.U8), call("u32", 1)
    yield (Type.F16, Type.BF16), Form("tang_bf16_value(tang_f16_bits({0}))")
    yield (Type.BF16, Type.F16), Form("tang_f16_value(tang_bf16_bits({0}))")


def _kernel(printer: Printer, kernel: Kernel, symbol: str) -> list[str]:
    refuse_wide_integers(kernel, "WGSL")
    arrays = shared_arrays(kernel.body)
    names = [p.name for p in kernel.params] + [a.name for a in arrays]
    places = {(n, Kind.MEMORY): f"{symbol}Zx_{mangle(n, Kind.MEMORY)}" for n in names}
    flags = frozenset(a.name for a in arrays if a.type is Type.BOOL)
    inner = printer.with_places(places).with_packed(packed_names(kernel) | flags)
    lines = []
    for binding, p in enumerate(kernel.params, 1):
        lines += _parameter(inner, p, binding)
    for a in arrays:
        lines += _shared(inner, a)
    return [
        *lines,
        f"@compute @workgroup_size({kernel.workgroup})",
        f"fn {symbol}(",
        f"{INDENT}@builtin(workgroup_id) tang_group: vec3<u32>,",
        f"{INDENT}@builtin(num_workgroups) tang_groups: vec3<u32>,",
        f"{INDENT}@builtin(local_invocation_index) tang_local: u32,",
        ") {",
        *_head(kernel),
        *inner.block(without_shared(kernel.body), 1),
        "}",
    ]


def _shared(printer: Printer, a: Array) -> list[str]:
    """A shared array; bools as words, since NVIDIA's driver loses bools in workgroup memory."""
    name, flags = printer.memory_name(a.name), a.type is Type.BOOL
    head = f"var<workgroup> {name}: array<{'u32' if flags else printer.storage(a.type)}, {a.size}>;"
    if not flags:
        return [head]
    return [
        head,
        f"fn {name}_get(i: i32) -> bool {{",
        f"{INDENT}return {name}[i] != 0u;",
        "}",
        f"fn {name}_set(i: i32, x: bool) {{",
        f"{INDENT}{name}[i] = select(0u, 1u, x);",
        "}",
    ]


def _parameter(printer: Printer, p: Param, binding: int) -> list[str]:
    name = printer.memory_name(p.name)
    element = printer.storage(p.type)
    if p.type in PACKED:
        element = "atomic<u32>" if p.writable else "u32"
    access = "read_write" if p.writable else "read"
    head = f"@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}>;"
    return [head, *accessors(name, p)]


def _head(kernel: Kernel) -> Iterator[str]:
    """What a kernel knows before its body: the zero, its thread's ids, its scalars."""
    yield f"{INDENT}tang_zero = u32(tang_scalars[0]);"
    yield f"{INDENT}let tang_index = i32(tang_group.x + tang_group.y * tang_groups.x);"
    yield f"{INDENT}if (tang_index >= tang_scalars[1]) {{"
    yield f"{INDENT * 2}return;"
    yield f"{INDENT}}}"
    values = {
        "group_id": "tang_index",
        "local_id": "i32(tang_local)",
        "global_id": f"tang_index * {kernel.workgroup} + i32(tang_local)",
    }
    for name in builtins_used(kernel):
        yield f"{INDENT}let {mangle(name)} = {values[name]};"
    for s, position in scalar_places(kernel):
        word = f"tang_scalars[{position}]"
        value = word if s.type is Type.I32 else f"u32({word})"
        yield f"{INDENT}let {mangle(s.name)} = {value};"


_REGISTERS: Final = {
    Type.BOOL: "bool", Type.U8: "u32", Type.I32: "i32", Type.U32: "u32",
    Type.F16: "f32", Type.BF16: "f32", Type.F32: "f32",
}  # fmt: skip

WGSL: Final = Dialect(
    language="wgsl",
    registers=_REGISTERS,
    storage=_REGISTERS,
    operations=dict(_operations()),
    conversions={(a, b): _conversion(a, b) for a in _TYPES for b in _TYPES},
    bitcasts=dict(_bitcasts()),
    loads={t: Form("{0}[{1}]") for t in _TYPES},
    stores={t: Form("{0}[{1}] = {2};") for t in _TYPES},
    packed_loads={t: Form("{0}_get({1})") for t in PACKED},
    packed_stores={t: Form("{0}_set({1}, {2});") for t in PACKED},
    literal=_literal,
    syntax=Syntax(
        let="let {name}: {type} = {value};",
        declare="var {name}: {type} = {value};",
        array="var {name}: array<{type}, {size}>;",
        loop="for (var {name}: {type} = {lo}; {name} < {hi}; {name}++) {{",
        loop_once="{{ let {end} = {hi}; "
        "for (var {name}: {type} = {lo}; {name} < {end}; {name}++) {{",
        loop_close="}",
        loop_once_close="}}",
        function="fn {name}({params}) -> {type} {{",
        parameter="{name}: {type}",
        barrier="workgroupBarrier();",
    ),
    helpers=HELPERS,
    prelude=PRELUDE,
    kernel=_kernel,
)
"""The WebGPU shading language."""
