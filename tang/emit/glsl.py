"""GLSL: the dialect table and the frame of a kernel, for OpenGL compute shaders.

Defines `GLSL`. Relies on nothing that GLSL leaves open: values are `precise`, and each float, as
literals and comparisons, passes as bits through a zero that only the run time knows. Programs hold
one `main`: compile a text once per kernel, with the kernel's symbol defined as a macro.
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
from tang.emit.glsl_helpers import HELPERS, NATIVE, accessors
from tang.emit.literal import decimal_or_hex, integer, rounded, special_bits, value_bits
from tang.emit.names import mangle
from tang.emit.printer import INDENT, Printer
from tang.emit.words import (
    PACKED,
    builtins_used,
    packed_names,
    scalar_places,
    shared_arrays,
    without_shared,
)
from tang.ir.format import FORMATS
from tang.kernel.ir import Array, Const, Kernel, Param, Scope, Type
from tang.kernel.walk import statements

_FLOATS: Final = (Type.F16, Type.BF16, Type.F32, Type.F64)
_INTEGERS: Final = (Type.U8, Type.I32, Type.U32, Type.I64)
_NARROW: Final = {Type.F16: "f16", Type.BF16: "bf16"}
PRELUDE: Final = """\
#version 450
#extension GL_ARB_gpu_shader_int64 : enable

/* tang_scalars: a zero, the number of workgroups, then the scalars of the kernel */
layout(std430, binding = 0) readonly buffer tang_scalars_block { int tang_scalars[]; };
uint tang_zero;
"""

_REGISTERS: Final = {
    Type.BOOL: "bool", Type.U8: "uint", Type.I32: "int", Type.U32: "uint", Type.I64: "int64_t",
    Type.F16: "float", Type.BF16: "float", Type.F32: "float", Type.F64: "double",
}  # fmt: skip


def _literal(c: Const) -> Text:
    if c.type is Type.BOOL:
        return Text("true" if c.value else "false")
    if c.type.is_int:
        return _integer(c)
    value = rounded(c)
    form = FORMATS["f64" if c.type is Type.F64 else "f32"]
    text = "p" if isinstance(value, str) else decimal_or_hex(value)
    if "p" not in text:
        return Text(f"tang_keep_f64({text}LF)" if c.type is Type.F64 else f"tang_keep({text})")
    if not isinstance(value, str):
        bits = value_bits(value, form)
    else:
        bits = 1 << (form.bits - 1) if value == "-0.0" else special_bits(value, form)
    if c.type is Type.F64:
        return Text(f"tang_f64({bits >> 32:#x}u, {bits & 0xFFFFFFFF:#x}u)")
    return Text(f"tang_f32({bits:#x}u)")


def _integer(c: Const) -> Text:
    value = integer(c)
    suffix = {Type.U8: "u", Type.U32: "u", Type.I64: "L"}.get(c.type, "")
    if value >= 0:
        return Text(f"{value}{suffix}")
    lowest = value == -(2 ** (8 * c.type.bytes - 1))
    text = f"{value + 1}{suffix} - 1{suffix}" if lowest else f"{value}{suffix}"
    return Text(f"tang_{c.type.value}({text})")  # a negative constant could not index


def _kept(t: Type, form: Form) -> Form:
    keep = "tang_keep_f64" if t is Type.F64 else "tang_keep"
    name = f"tang_round_{_NARROW[t]}" if t in _NARROW else keep
    return Form(f"{name}({form.template})", ATOM, form.needs)


def _float_operations(t: Type) -> Iterator[tuple[str, Form]]:
    wide = Type.F64 if t is Type.F64 else Type.F32
    suffix = "_f64" if t is Type.F64 else ""
    right = f"tang_apart{suffix}({{1}})"
    yield "add", _kept(t, infix("+", ADD))
    yield "sub", _kept(t, Form(f"{{0}} - {right}", ADD, (ADD, SELECT)))
    yield "mul", _kept(t, infix("*", MUL))
    yield "div", _kept(t, Form(f"{{0}} / {right}", MUL, (MUL, SELECT)))
    yield "neg", _kept(wide, prefix("-"))
    yield "sqrt", _kept(t, call("sqrt", 1))
    yield "floor", _kept(wide, call("floor", 1))
    yield "isnan", call(f"tang_isnan{suffix}", 1)
    for op, symbol in (("lt", "<"), ("le", "<="), ("eq", "==")):
        yield op, Form(f"tang_flag({{0}} {symbol} {right})", ATOM, (ADD, SELECT))
    if t is not Type.F64:
        yield "fma", call(f"tang_fma_{t.value}", 3)
        for name in NATIVE:
            yield name, _kept(t, call(f"tang_{name}", 2 if name == "atan2" else 1))


def _integer_operations(t: Type) -> Iterator[tuple[str, Form]]:
    for op, symbol, level in (("add", "+", ADD), ("sub", "-", ADD), ("mul", "*", MUL)):
        yield op, _byte(t, infix(symbol, level))
        word = "u32" if t is Type.U8 else t.value
        yield f"{op} consts", _byte(t, Form(f"tang_{word}({{0}}) {symbol} {{1}}", level))
    yield "neg", _byte(t, prefix("-"))
    signed = t in (Type.I32, Type.I64)
    yield "floordiv", call(f"tang_floordiv_{t.value}", 2) if signed else infix("/", MUL)
    yield "mod", call(f"tang_mod_{t.value}", 2) if signed else infix("%", MUL)
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


def _byte(t: Type, form: Form) -> Form:
    return Form(f"(({form.template}) & 255u)", ATOM, form.needs) if t is Type.U8 else form


def _operations() -> Iterator[tuple[tuple[str, Type], Form]]:
    for t in Type:
        yield ("select", t), Form("mix({2}, {1}, {0})")
    for t in _FLOATS:
        yield from (((op, t), form) for op, form in _float_operations(t))
    for t in _INTEGERS:
        yield from (((op, t), form) for op, form in _integer_operations(t))
    yield ("and", Type.BOOL), call("tang_and", 2)
    yield ("or", Type.BOOL), call("tang_or", 2)
    yield ("not", Type.BOOL), prefix("!")
    yield ("eq", Type.BOOL), Form("({0} == {1})", ATOM, (ADD, ADD))


_SAME: Final = Form("{0}", ATOM, (ATOM,))


def _conversion(a: Type, b: Type) -> Form:
    if a is b or (b is Type.F32 and a in _NARROW):
        return _SAME
    if b is Type.BOOL:
        return _truth(a)
    if b in _NARROW:
        return _narrowing(a, _NARROW[b])
    plain = f"{_REGISTERS[b]}({{0}})"
    if b.is_float:
        return _kept(b, Form(plain))
    if a.is_float:  # lest a conversion there and back be taken for a truncation
        return _byte(b, Form(f"tang_{'u32' if b is Type.U8 else b.value}({plain})"))
    if b is Type.I64:  # Mesa 22 compares widened integers with constants wrongly
        return Form(f"tang_i64({plain})")
    return _byte(b, Form(plain)) if a is not Type.BOOL else Form(plain)


def _truth(a: Type) -> Form:
    if a is Type.F64:
        return call("tang_truth_f64", 1)
    if a.is_float:
        return Form("((tang_bits({0}) << 1u) != 0u)")
    zero = {Type.I32: "0", Type.I64: "0L"}.get(a, "0u")
    return Form(f"({{0}} != {zero})", ATOM, (ADD,))


def _narrowing(a: Type, narrow: str) -> Form:
    if a is Type.F64:
        return call(f"tang_narrow_{narrow}", 1)
    if a is Type.I64:
        return Form(f"tang_narrow_{narrow}(double(tang_sticky_i64({{0}})))")
    exact = f"tang_sticky_{a.value}({{0}})" if a in (Type.I32, Type.U32) else "{0}"
    return Form(f"tang_round_{narrow}({exact if a.is_float else f'float({exact})'})")


def _bitcasts() -> Iterator[tuple[tuple[Type, Type], Form]]:
    for t in Type:
        yield (t, t), _SAME
    yield (Type.F32, Type.U32), call("tang_bits", 1)
    yield (Type.U32, Type.F32), call("tang_f32", 1)
    yield (Type.F32, Type.I32), Form("int(tang_bits({0}))")
    yield (Type.I32, Type.F32), Form("tang_f32(uint({0}))")
    yield (Type.F64, Type.I64), Form("tang_i64(doubleBitsToInt64({0}))")
    yield (Type.I64, Type.F64), Form("tang_keep_f64(int64BitsToDouble({0}))")
    yield (Type.I32, Type.U32), call("uint", 1)
    yield (Type.U32, Type.I32), call("int", 1)
    yield (Type.BOOL, Type.U8), call("uint", 1)
    yield (Type.F16, Type.BF16), Form("tang_bf16_value(tang_f16_bits({0}))")
    yield (Type.BF16, Type.F16), Form("tang_f16_value(tang_bf16_bits({0}))")


def _doubles(kernel: Kernel) -> frozenset[str]:
    """Arrays of doubles that a thread owns: NVIDIA's compiler keeps their elements as floats."""
    arrays = (s for s in statements(kernel.body) if isinstance(s, Array))
    return frozenset(a.name for a in arrays if (a.type, a.scope) == (Type.F64, Scope.THREAD))


def _kernel(printer: Printer, kernel: Kernel, symbol: str) -> list[str]:
    inner = printer.with_packed(packed_names(kernel) | _doubles(kernel))
    lines = [f"#ifdef {symbol}", f"layout(local_size_x = {kernel.workgroup}) in;"]
    for binding, p in enumerate(kernel.params, 1):
        lines += _parameter(inner, p, binding)
    for a in shared_arrays(kernel.body):
        lines.append(f"shared {inner.storage(a.type)} {inner.memory_name(a.name)}[{a.size}];")
    return [
        *lines,
        "void main() {",
        *_head(inner, kernel),
        *inner.block(without_shared(kernel.body), 1),
        "}",
        "#endif",
    ]


def _parameter(printer: Printer, p: Param, binding: int) -> list[str]:
    name = printer.memory_name(p.name)
    element = "uint" if p.type in PACKED else printer.storage(p.type)
    access = "" if p.writable else "readonly "
    block = f"{access}buffer {name}lock {{ {element} {name}[]; }};"
    return [f"layout(std430, binding = {binding}) {block}", *accessors(name, p)]


def _head(printer: Printer, kernel: Kernel) -> Iterator[str]:
    """What a kernel knows before its body: the zero, its thread's ids, its scalars."""
    yield f"{INDENT}tang_zero = uint(tang_scalars[0]);"
    yield f"{INDENT}int tang_index = int(gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x);"
    yield f"{INDENT}if (tang_index >= tang_scalars[1]) {{"
    yield f"{INDENT * 2}return;"
    yield f"{INDENT}}}"
    for name, v in builtins_used(kernel).items():
        group, local = "tang_index", "int(gl_LocalInvocationIndex)"
        if v.type is Type.I64:
            group, local = f"tang_i64(int64_t({group}))", f"tang_i64(int64_t({local}))"
        whole = f"{group} * {kernel.workgroup} + {local}"
        value = {"group_id": group, "local_id": local}.get(name, whole)
        yield f"{INDENT}{printer.register(v.type)} {mangle(name)} = {value};"
    for s, position in scalar_places(kernel):
        word = f"tang_scalars[{position}]"
        if s.type is Type.I64:
            word = f"packInt2x32(ivec2({word}, tang_scalars[{position + 1}]))"
        yield f"{INDENT}{printer.register(s.type)} {mangle(s.name)} = {word};"


GLSL: Final = Dialect(
    language="glsl",
    registers=_REGISTERS,
    storage=_REGISTERS,
    operations=dict(_operations()),
    conversions={(a, b): _conversion(a, b) for a in Type for b in Type},
    bitcasts=dict(_bitcasts()),
    loads={t: Form("{0}[{1}]") for t in Type},
    stores={t: Form("{0}[{1}] = {2};") for t in Type},
    packed_loads={t: Form("{0}_get({1})") for t in PACKED}
    | {Type.F64: Form("packDouble2x32({0}[{1}])")},
    packed_stores={t: Form("{0}_set({1}, {2});") for t in PACKED}
    | {Type.F64: Form("{0}[{1}] = unpackDouble2x32({2});")},
    packed_arrays={Type.F64: "uvec2"},
    indices={Type.I64: Form("int({0})")},
    literal=_literal,
    syntax=Syntax(
        let="precise {type} {name} = {value};",
        declare="precise {type} {name} = {value};",
        array="{type} {name}[{size}];",
        loop="for ({type} {name} = {lo}; {name} < {hi}; ++{name}) {{",
        loop_once="for ({type} {name} = {lo}, {end} = {hi}; {name} < {end}; ++{name}) {{",
        loop_close="}",
        function="{type} {name}({params}) {{",
        parameter="{type} {name}",
        barrier="memoryBarrierShared(); barrier();",
    ),
    helpers=HELPERS,
    prelude=PRELUDE,
    kernel=_kernel,
)
"""The OpenGL shading language."""
