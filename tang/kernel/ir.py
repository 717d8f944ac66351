"""The kernel IR: what one launch does, thread by thread.

Defines types, expressions, statements, functions and kernels; the grammar fits this file. Relies
on nothing but the errors. Its executable meaning is `emulator/replay.py`, its legality
`kernel/check.py`, its text the emitters; nothing here knows a language or a device.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import Final


class Type(enum.Enum):
    """A machine type; the value is its name in text."""

    BOOL = "bool"
    U8 = "u8"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"

    @property
    def is_float(self) -> bool:
        return self._value_ in ("f16", "bf16", "f32", "f64")

    @property
    def is_int(self) -> bool:
        return self._value_ in ("u8", "i32", "u32", "i64")

    @property
    def bytes(self) -> int:
        return _BYTES[self.value]


_BYTES = {"bool": 1, "u8": 1, "i32": 4, "u32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
BOOL, U8, I32, U32, I64 = Type.BOOL, Type.U8, Type.I32, Type.U32, Type.I64
F16, BF16, F32, F64 = Type.F16, Type.BF16, Type.F32, Type.F64

# --- expressions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: Fraction or a name of `tang.ir.expr.NAMED` for floats, int, bool.

    A float constant is exact here; it is rounded to nearest even where a format is applied.
    """

    type: Type
    value: Fraction | str | int | bool


@dataclass(frozen=True, slots=True)
class Var:
    """A named value: a let, a mutable, a loop counter, a scalar parameter or a builtin."""

    type: Type
    name: str


@dataclass(frozen=True, slots=True)
class Op:
    """A row of `OPS` or of `MATH`; operands share `type` unless the row says otherwise.

    Or a rounding of an f32 or an f64 to a narrower format, as f32: `kernel/narrow.py` names them.
    """

    type: Type
    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """Element `index` of a buffer parameter or an array."""

    type: Type
    source: str
    index: Expr


@dataclass(frozen=True, slots=True)
class Convert:
    """A value conversion. To a float: `rounding` and `overflow` say how; never removable.

    From float to int the value is an integer in range (lowering clamps first).
    """

    type: Type
    value: Expr
    rounding: str = "rne"
    overflow: str = "inf"


@dataclass(frozen=True, slots=True)
class Bitcast:
    """The same bits as another type of the same size."""

    type: Type
    value: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the kernel's own functions."""

    type: Type
    function: str
    args: tuple[Expr, ...]


Expr = Const | Var | Op | Load | Convert | Bitcast | Call

OPS: Final[dict[str, int]] = {
    # float and int; integers never overflow (lowering proves it); u32 wraps
    "add": 2, "sub": 2, "mul": 2, "neg": 1,
    # float, IEEE to nearest even; fma is fused
    "div": 2, "sqrt": 1, "fma": 3, "floor": 1,
    # int; divisor positive, rounded towards −∞
    "floordiv": 2, "mod": 2, "min": 2, "max": 2,
    # unsigned int; shift counts below the width
    "band": 2, "bor": 2, "bxor": 2, "shl": 2, "shr": 2,
    # result BOOL over operands of one type; comparisons with NaN are false
    "lt": 2, "le": 2, "eq": 2, "isnan": 1,
    # bool; both operands are evaluated
    "and": 2, "or": 2, "not": 1,
    # (BOOL, t, t) → t; both branches are evaluated, one is taken
    "select": 3,
}  # fmt: skip
"""Operations and their arity."""

MATH: Final[dict[str, int]] = {
    "exp2": 1, "log2": 1, "sin": 1, "atan2": 2, "erf": 1,
    "exp": 1, "log": 1, "tanh": 1, "sigmoid": 1, "cos": 1,
}  # fmt: skip
"""Abstract functions over floats: replayed as such, or replaced by calls in `expand-math`."""

BUILTINS: Final = ("global_id", "local_id", "group_id")
"""Index variables of type I32 or I64 that every thread is given (dimension x)."""

# --- statements ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Let:
    """Name a value; never assigned again."""

    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Declare:
    """A mutable register with its first value."""

    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """A new value for a declared register."""

    var: Var
    value: Expr


class Scope(enum.Enum):
    """Who shares an array, or takes part in a barrier."""

    THREAD = "thread"
    WORKGROUP = "workgroup"


@dataclass(frozen=True, slots=True)
class Array:
    """An array of `size` elements, uninitialised; loads and stores name it like a buffer."""

    name: str
    type: Type
    size: int
    scope: Scope = Scope.THREAD


@dataclass(frozen=True, slots=True)
class Store:
    """target[index] = value, where target is a writable parameter or an array."""

    target: str
    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class For:
    """for var in lo … hi−1, in order."""

    var: Var
    lo: Expr
    hi: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class If:
    """A branch; the condition may differ between threads."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the workgroup arrive; their writes to workgroup arrays become visible."""

    scope: Scope = Scope.WORKGROUP


Stmt = Let | Declare | Assign | Array | Store | For | If | Barrier

# --- functions, kernels -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """A pure helper: straight-line lets and a result.

    `implements` names the abstract function of MATH that it computes, `ulp` its largest error
    in units in the last place of the result's format (0: none is claimed); or the rounding or
    coding of `kernel/narrow.py` that it is, without any error.
    """

    name: str
    params: tuple[Var, ...]
    body: tuple[Let, ...]
    result: Expr
    implements: str = ""
    ulp: float = 0.0


@dataclass(frozen=True, slots=True)
class Param:
    """A buffer parameter of a kernel."""

    name: str
    type: Type
    writable: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launchable program.

    scalars    symbolic extents, passed as I64 (I32 where the index type is I32)
    workgroup  threads per workgroup
    origin     the graph node it computes, for provenance
    role       what it does of that node: "point", "partial", "combine"
    """

    name: str
    params: tuple[Param, ...]
    scalars: tuple[Var, ...]
    body: tuple[Stmt, ...]
    workgroup: int = 64
    functions: tuple[Function, ...] = ()
    origin: str = ""
    role: str = "point"
