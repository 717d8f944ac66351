"""CUDA text of the probe that asks tensor cores: one kernel per matrix instruction.

Defines `atoms_text`, `symbol_of` and `copies_of`. Relies on tensor cores as data and on inline PTX,
so nothing but a GPU runs it. It judges nothing: `emulator/fda_check.py` asks and compares.

A tile holds eight questions. Row i of A and column i of B are question i mod 8, so a tile's
diagonals hold its answers, once for every eight rows of A: every row of an instruction, and for
wgmma both places of A (registers, shared memory), must give the same one.

Fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16" (a thread's group is its lane over 4);
descriptors: "Matrix Descriptor", K-major without swizzle, core matrices of 8 rows of 16 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tang.errors import DeviceError
from tang.ir.format import any_format
from tang.ir.tensorcore import FusedDot

QUESTIONS: Final = 8
"""Of a tile."""

_PTX: Final = {"e4m3fn": "e4m3", "f16": "f16", "bf16": "bf16", "tf32": "tf32", "e5m2": "e5m2"}
_COPIES: Final = {"mma": 2, "wgmma": 16}

_HEAD: Final = """\
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

/* Of two neighbours in a row, the one on the diagonal. */
static __device__ inline float picked(u32 row, float x, float y) { return row & 1 ? y : x; }
static __device__ inline double picked(u32 row, double x, double y) { return row & 1 ? y : x; }
static __device__ inline u16 picked(u32 row, u32 pair) { return row & 1 ? pair >> 16 : pair; }
"""

_PLACE: Final = """\
    const u32 lane = threadIdx.x & 31, row = lane >> 2, t = lane & 3, warp = threadIdx.x >> 5;
    const u64 first = (u64)blockIdx.x * 8, mine = first + row;
"""

_C: Final = {
    "f32": """\
    float d0 = c[first + 2 * t], d1 = c[first + 2 * t + 1], d2 = d0, d3 = d1;
""",
    "f16": """\
    u32 d0 = c[first + 2 * t] | (u32)c[first + 2 * t + 1] << 16, d1 = d0;
""",
}
_STORE: Final = {
    "f32": """\
    if (row >> 1 == t) {
        d[mine * %(copies)d + %(at)s] = picked(row, d0, d1);
        d[mine * %(copies)d + %(at)s + 1] = picked(row, d2, d3);
    }
""",
    "f16": """\
    if (row >> 1 == t) {
        d[mine * %(copies)d + %(at)s] = picked(row, d0);
        d[mine * %(copies)d + %(at)s + 1] = picked(row, d1);
    }
""",
}
_OUT: Final = {
    "f32": ("{%0, %1, %2, %3}", '"+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)', 4),
    "f16": ("{%0, %1}", '"+r"(d0), "+r"(d1)', 2),
}
_REGISTER: Final = {"f32": "float", "f16": "u16", "f64": "double"}

_SHARED: Final = """\
    __shared__ alignas(128) u32 sa[512], sb[64];
    for (u32 i = threadIdx.x; i < 512; i += 128) {
        const u32 r = i >> 3, w = i & 7, core = (r >> 3) * 2 + (w >> 2);
        sa[core * 32 + (r & 7) * 4 + (w & 3)] = a[(first + (r & 7)) * 8 + w];
        if (r < 8) sb[(w >> 2) * 32 + r * 4 + (w & 3)] = b[(first + r) * 8 + w];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u64 da = (u64)__cvta_generic_to_shared(sa) >> 4 | 8ull << 16 | 16ull << 32;
    const u64 db = (u64)__cvta_generic_to_shared(sb) >> 4 | 8ull << 16 | 8ull << 32;
"""

_DOUBLE: Final = """\
    double x[8], y[4], d0 = c[first + 2 * t], d1 = c[first + 2 * t + 1], d2 = d0, d3 = d1;
    for (int i = 0; i < 4; i++) {
        x[2 * i] = x[2 * i + 1] = a[mine * 16 + t + 4 * i];
        y[i] = b[mine * 16 + t + 4 * i];
    }
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
        : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]), "d"(x[7]),
          "d"(y[0]), "d"(y[1]), "d"(y[2]), "d"(y[3]));
"""


def atoms_text(atoms: Sequence[FusedDot]) -> str:
    """One kernel per atom; DeviceError for an instruction that no kernel asks."""
    return "\n".join([_HEAD, *(_kernel(a) for a in atoms)])


def symbol_of(atom: FusedDot) -> str:
    """The name of an atom's kernel."""
    return "ask_" + "_".join(atom.key).replace(".", "_")


def copies_of(atom: FusedDot) -> int:
    """How many answers a kernel gives to each question."""
    return _COPIES[_instruction(atom)]


def threads_of(atom: FusedDot) -> int:
    """The threads of a tile: a warp, or the four of a warp group."""
    return 128 if _instruction(atom) == "wgmma" else 32


def askable(atom: FusedDot) -> bool:
    """Whether there is a kernel: the instruction of sm_70 has fragments of its own."""
    return atom.architecture != "sm_70"


def _instruction(atom: FusedDot) -> str:
    return atom.instruction.partition(".")[0]


def _kernel(atom: FusedDot) -> str:
    if not askable(atom):
        raise DeviceError(f"{' '.join(atom.key)}: there is no kernel that asks this instruction")
    element = "double" if atom.operands == "f64" else "u32"
    register = _REGISTER[atom.result]
    head = (
        f'extern "C" __global__ void __launch_bounds__({threads_of(atom)}) {symbol_of(atom)}(\n'
        f"    const {element} *a, const {element} *b, const {register} *c, {register} *d) {{\n"
    )
    if atom.operands == "f64":
        body = _DOUBLE + _stored("f32", 2, "0")
    elif _instruction(atom) == "wgmma":
        body = _wgmma(atom)
    else:
        body = _mma(atom)
    return f"{head}{_PLACE}{body}}}\n"


def _stored(result: str, copies: int, at: str) -> str:
    return _STORE[result] % {"copies": copies, "at": at}


def _words(atom: FusedDot) -> int:
    """32-bit words of a row: 8, or 4 of a short instruction."""
    width = 32 if atom.operands == "tf32" else any_format(atom.operands).bits
    return atom.k * width // 32


def _loads(atom: FusedDot, names: str = "ab") -> str:
    words = _words(atom)
    return "".join(
        f"    const u32 {n}{i} = {n}[mine * {words} + t + {4 * i}];\n"
        for n in names
        for i in range(words // 4)
    )


def _mma(atom: FusedDot) -> str:
    """Rows `row` and `row + 8` of A are the same question, hence each register of A twice."""
    places, operands, start = _OUT[atom.result]
    count = _words(atom) // 4
    kind = _PTX[atom.operands]
    left = [f'"r"(a{i})' for i in range(count) for _ in range(2)]
    right = [f'"r"(b{i})' for i in range(count)]
    first = ", ".join(f"%{start + i}" for i in range(2 * count))
    second = ", ".join(f"%{start + 2 * count + i}" for i in range(count))
    name = f"mma.sync.aligned.m16n8k{atom.k}.row.col.{atom.result}.{kind}.{kind}.{atom.result}"
    return (
        _C[atom.result]
        + _loads(atom)
        + f'    asm volatile("{name} {places}, "\n'
        + f'        "{{{first}}}, {{{second}}}, {places};"\n'
        + f"        : {operands} : {', '.join(left + right)});\n"
        + _stored(atom.result, copies_of(atom), "0")
    )


def _wgmma(atom: FusedDot) -> str:
    """First with A in registers, then with A in shared memory."""
    parts = [_SHARED, _loads(atom, "a")]
    places, operands, start = _OUT[atom.result]
    turns = ", 0" if atom.operands in ("f16", "bf16") else ""
    kind = _PTX[atom.operands]
    name = f"wgmma.mma_async.sync.aligned.m64n8k{atom.k}.{atom.result}.{kind}.{kind}"
    registers = ", ".join(f"%{start + i}" for i in range(4))
    forms = (
        (f"{{{registers}}}, %{start + 4}", '"r"(a0), "r"(a0), "r"(a1), "r"(a1), "l"(db)', turns),
        (f"%{start}, %{start + 1}", '"l"(da), "l"(db)', turns * 2),
    )
    for i, (given, values, flags) in enumerate(forms):
        parts.append(
            f"    {{\n{_C[atom.result]}"
            '    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");\n'
            '    asm volatile("{\\n.reg .pred p;\\nsetp.eq.u32 p, 0, 0;\\n"\n'
            f'        "{name} {places}, "\n'
            f'        "{given}, p, 1, 1{flags};\\n}}"\n'
            f"        : {operands} : {values});\n"
            '    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");\n'
            '    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");\n'
            + _stored(atom.result, copies_of(atom), f"{8 * i} + 2 * warp")
            + "    }\n"
        )
    return "".join(parts)
