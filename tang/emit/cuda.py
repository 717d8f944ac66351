"""CUDA C++: the dialect table.

Defines `CUDA`. Relies on C's tables; products, quotients and roots are the `_rn` intrinsics,
which no option can fuse or make inexact, but flushing of subnormals is an option's to refuse
(`-ftz=false`). Under `__SIMT_HOST__`, on a processor, the intrinsics are plain operations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.emit.c import C
from tang.emit.dialect import Dialect, Form, call, wrapped
from tang.emit.kin import ROUND, body, helpers, syntax
from tang.emit.printer import INDENT, Printer
from tang.kernel.ir import Kernel, Type

_MATH: Final = ("exp2", "log2", "sin", "atan2", "erf", "exp", "log", "tanh", "cos")

_OPAQUE: Final = {
    "tang_opaque_f32": """\
static __device__ inline f32 tang_opaque_f32(f32 x) {
    return __uint_as_float(__float_as_uint(x) ^ blockIdx.z);
}""",
    "tang_opaque_f64": """\
static __device__ inline f64 tang_opaque_f64(f64 x) {
    return __longlong_as_double(__double_as_longlong(x) ^ (i64)blockIdx.z);
}""",
}
"""NVRTC folds functions of constants, to other bits than the GPU finds. Grids have one dim, so
`blockIdx.z` is a zero that only the run time knows."""

_CASTS: Final = {
    ("u32", "f32"): "__float_as_uint(x)",
    ("f32", "u32"): "__uint_as_float(x)",
    ("i32", "f32"): "__float_as_int(x)",
    ("f32", "i32"): "__int_as_float(x)",
    ("i64", "f64"): "__double_as_longlong(x)",
    ("f64", "i64"): "__longlong_as_double(x)",
    ("u64", "f64"): "(u64)__double_as_longlong(x)",
    ("f64", "u64"): "__longlong_as_double((i64)x)",
}

PRELUDE: Final = """\
#if defined __SIMT_HOST__ && !defined __fmul_rn
#define __fmul_rn(a, b) ((a) * (b))
#define __fdiv_rn(a, b) ((a) / (b))
#define __fsqrt_rn(a) sqrtf(a)
#define __dmul_rn(a, b) ((a) * (b))
#define __ddiv_rn(a, b) ((a) / (b))
#define __dsqrt_rn(a) sqrt(a)
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


def _operations() -> Iterator[tuple[tuple[str, Type], Form]]:
    for t in (Type.F16, Type.BF16, Type.F32, Type.F64):
        kind = "d" if t is Type.F64 else "f"
        for op, arity in (("mul", 2), ("div", 2), ("sqrt", 1)):
            yield (op, t), wrapped(ROUND[t], call(f"__{kind}{op}_rn", arity))
        for op in _MATH:
            yield (op, t), wrapped(ROUND[t], _function(op, wide=t is Type.F64))


def _function(op: str, *, wide: bool) -> Form:
    """The library's function of operands that the compiler cannot know."""
    name, opaque = (op, "tang_opaque_f64") if wide else (f"{op}f", "tang_opaque_f32")
    operands = ("{0}", "{1}")[: 2 if op == "atan2" else 1]
    return Form(f"{name}({', '.join(f'{opaque}({o})' for o in operands)})")


def _ids(kernel: Kernel) -> dict[str, str]:
    return {
        "group_id": "blockIdx.x",
        "local_id": "threadIdx.x",
        "global_id": f"(i64)blockIdx.x * {kernel.workgroup} + threadIdx.x",
    }


def _kernel(printer: Printer, kernel: Kernel, symbol: str) -> list[str]:
    return [
        f'extern "C" __global__ void __launch_bounds__({kernel.workgroup}) {symbol}(',
        ",\n".join(INDENT + p for p in _parameters(printer, kernel)) + ")",
        *body(printer, kernel, "__shared__", _ids(kernel)),
    ]


def _parameters(printer: Printer, kernel: Kernel) -> Iterator[str]:
    for p in kernel.params:
        const = "" if p.writable else "const "
        yield f"{const}{printer.storage(p.type)}* __restrict__ {printer.memory_name(p.name)}"
    for s in kernel.scalars:
        yield f"const {printer.register(s.type)} {printer.value_name(s.name)}"


CUDA: Final = Dialect(
    language="cuda",
    registers={**C.registers, Type.BOOL: "bool"},
    storage=C.storage,
    operations={**C.operations, **dict(_operations())},
    conversions=C.conversions,
    bitcasts=C.bitcasts,
    loads=C.loads,
    stores=C.stores,
    literal=C.literal,
    syntax=syntax("static __device__", "__syncthreads();"),
    helpers={**helpers("static __device__ inline", _CASTS), **_OPAQUE},
    prelude=PRELUDE,
    kernel=_kernel,
)
"""CUDA C++."""
