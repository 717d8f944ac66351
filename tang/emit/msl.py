"""Metal Shading Language: the dialect table.

Defines `MSL`. Relies on C's tables and on maths in safe mode without contraction, which the
prelude asks for (`-fno-fast-math` does too); Metal may flush subnormals of f32. There is no f64,
so conversions to f16 and bf16 round integers to odd 24-bit values first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from tang.emit.c import C
from tang.emit.dialect import Dialect, Form, Text, UnsupportedError, call
from tang.emit.kin import body, functions, helpers, short_longs, shortened, syntax
from tang.emit.literal import decimal_or_hex, rounded
from tang.emit.msl_helpers import HELPERS
from tang.emit.printer import INDENT, Printer
from tang.kernel.ir import Const, Kernel, Type

_FLOATS: Final = (Type.F16, Type.BF16, Type.F32)
_NARROW: Final = {Type.F16: "f16", Type.BF16: "bf16"}
_PRECISE: Final = ("sqrt", "exp2", "log2", "sin", "atan2", "exp", "log", "tanh", "cos")
_PAIRS: Final = (("f32", "u32"), ("u32", "f32"), ("f32", "i32"), ("i32", "f32"))

PRELUDE: Final = """\
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

typedef uchar u8;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef float f32;
"""


def _literal(c: Const) -> Text:
    """C's literal; where that is hexadecimal, which C++14 lacks, the bits."""
    if c.type is Type.F64:
        raise UnsupportedError("msl cannot express values of type f64")
    value = rounded(c) if c.type.is_float else ""
    if isinstance(value, str) or "p" not in decimal_or_hex(value):
        return shortened(C.literal(c))
    (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
    return Text(f"tang_f32_of_u32({bits:#x}u)")


def _operations() -> Iterator[tuple[tuple[str, Type], Form]]:
    missing = {("erf", t) for t in _FLOATS}
    rows = C.operations.items()
    yield from ((k, f) for k, f in rows if k[1] is not Type.F64 and k not in missing)
    yield from functions({n: f"precise::{n}" for n in _PRECISE}, _FLOATS)
    yield from ((("floor", t), call("floor", 1)) for t in _FLOATS)
    yield ("fma", Type.F32), call("fma", 3)


def _conversions() -> Iterator[tuple[tuple[Type, Type], Form]]:
    for (a, b), form in C.conversions.items():
        if Type.F64 not in (a, b):
            whole = b in _NARROW and not a.is_float
            yield (a, b), Form(f"tang_round_{_NARROW[b]}(tang_odd_f32({{0}}))") if whole else form


def _helpers() -> dict[str, str]:
    casts = {pair: f"as_type<{pair[0]}>(x)" for pair in _PAIRS}
    found = {**helpers("static inline", casts), **HELPERS}
    short = {n: short_longs(t).replace("0x1p-24f", "5.9604645e-8f") for n, t in found.items()}
    return {n: t for n, t in short.items() if "f64" not in t}


def _kernel(printer: Printer, kernel: Kernel, symbol: str) -> list[str]:
    ids = {"group_id": "group", "local_id": "tid"}
    ids["global_id"] = f"(i64)group * {kernel.workgroup} + tid"
    return [
        f"kernel void {symbol}(",
        ",\n".join(INDENT + p for p in _parameters(printer, kernel)) + ")",
        *body(printer, kernel, "threadgroup", ids),
    ]


def _parameters(printer: Printer, kernel: Kernel) -> Iterator[str]:
    for n, p in enumerate(kernel.params):
        const = "" if p.writable else "const "
        name = printer.memory_name(p.name)
        yield f"device {const}{printer.storage(p.type)}* {name} [[buffer({n})]]"
    for n, s in enumerate(kernel.scalars, len(kernel.params)):
        name = printer.value_name(s.name)
        yield f"constant {printer.register(s.type)}& {name} [[buffer({n})]]"
    yield "uint group [[threadgroup_position_in_grid]]"
    yield "uint tid [[thread_position_in_threadgroup]]"


MSL: Final = Dialect(
    language="msl",
    registers={t: "bool" if t is Type.BOOL else r for t, r in C.registers.items() if r != "f64"},
    storage={t: r for t, r in C.storage.items() if r != "f64"},
    operations=dict(_operations()),
    conversions=dict(_conversions()),
    bitcasts={k: form for k, form in C.bitcasts.items() if Type.F64 not in k},
    loads=C.loads,
    stores=C.stores,
    literal=_literal,
    syntax=syntax("static", "threadgroup_barrier(mem_flags::mem_threadgroup);"),
    helpers=_helpers(),
    prelude=PRELUDE,
    kernel=_kernel,
)
"""The Metal Shading Language."""
