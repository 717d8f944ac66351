"""OpenCL C 1.2: the dialect table.

Defines `OPENCL`. Relies on C's tables and on a device whose single operations are IEEE: build
with `-cl-fp32-correctly-rounded-divide-sqrt` where the device knows it, never with fast maths.
f64 needs cl_khr_fp64; f16 and bf16 are f32 registers over 16-bit words, without cl_khr_fp16.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.emit.c import C
from tang.emit.dialect import Dialect, Form, Text, call
from tang.emit.kin import body, functions, helpers, short_longs, shortened, syntax
from tang.emit.printer import INDENT, Printer
from tang.kernel.ir import Const, Kernel, Type

_FLOATS: Final = (Type.F16, Type.BF16, Type.F32, Type.F64)
_NAMES: Final = (
    "sqrt", "exp2", "log2", "sin", "atan2", "erf", "exp", "log", "tanh", "cos",
)  # fmt: skip
_IDS: Final = {
    "group_id": "get_group_id(0)", "local_id": "get_local_id(0)", "global_id": "get_global_id(0)",
}  # fmt: skip
_BUILTIN: Final = {
    "f32": "float", "u32": "uint", "i32": "int", "f64": "double", "i64": "long", "u64": "ulong",
}  # fmt: skip
_PAIRS: Final = (("f32", "u32"), ("f32", "i32"), ("f64", "i64"), ("f64", "u64"))

PRELUDE: Final = """\
#pragma OPENCL FP_CONTRACT OFF
#ifdef __FAST_RELAXED_MATH__
#error "build without fast maths: results would differ"
#endif

typedef uchar u8;
typedef ushort u16;
typedef int i32;
typedef uint u32;
typedef long i64;
typedef ulong u64;
typedef float f32;
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
#endif
"""


def _literal(c: Const) -> Text:
    return shortened(C.literal(c))


def _operations() -> Iterator[tuple[tuple[str, Type], Form]]:
    yield from functions({name: name for name in _NAMES}, _FLOATS)
    yield from ((("floor", t), call("floor", 1)) for t in _FLOATS)
    yield ("fma", Type.F32), call("fma", 3)
    yield ("fma", Type.F64), call("fma", 3)


def _kernel(printer: Printer, kernel: Kernel, symbol: str) -> list[str]:
    return [
        f"__kernel __attribute__((reqd_work_group_size({kernel.workgroup}, 1, 1)))",
        f"void {symbol}(",
        ",\n".join(INDENT + p for p in _parameters(printer, kernel)) + ")",
        *body(printer, kernel, "__local", _IDS),
    ]


def _parameters(printer: Printer, kernel: Kernel) -> Iterator[str]:
    for p in kernel.params:
        const = "" if p.writable else "const "
        yield f"__global {const}{printer.storage(p.type)}* restrict {printer.memory_name(p.name)}"
    for s in kernel.scalars:
        yield f"const {printer.register(s.type)} {printer.value_name(s.name)}"


def _helpers() -> dict[str, str]:
    pairs = (*_PAIRS, *((b, a) for a, b in _PAIRS))
    casts = {(b, a): f"as_{_BUILTIN[b]}(x)" for a, b in pairs}
    return {n: short_longs(text) for n, text in helpers("static inline", casts).items()}


OPENCL: Final = Dialect(
    language="opencl",
    registers={**C.registers, Type.BOOL: "bool"},
    storage=C.storage,
    operations={**C.operations, **dict(_operations())},
    conversions=C.conversions,
    bitcasts=C.bitcasts,
    loads=C.loads,
    stores=C.stores,
    literal=_literal,
    syntax=syntax("static", "barrier(CLK_LOCAL_MEM_FENCE);"),
    helpers=_helpers(),
    prelude=PRELUDE,
    kernel=_kernel,
)
"""OpenCL C."""
