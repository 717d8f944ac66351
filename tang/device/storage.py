"""Storage: how values of every sort and type lie in memory, and the two poisons.

Defines `dtype_of`, `pack`, `unpack` and `poisoned`. Relies on NumPy; bf16 is kept as 16-bit
words, which NumPy lacks. It converts whole arrays, each value rounded once to nearest even; it
allocates no device memory.
"""

from __future__ import annotations

import enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import GraphError, LimitError, TangError
from tang.ir.expr import Sort
from tang.kernel.ir import Type

AnyArray = npt.NDArray[Any]

_DTYPES: Final = {
    Type.BOOL: np.uint8, Type.U8: np.uint8, Type.I32: np.int32, Type.U32: np.uint32,
    Type.I64: np.int64, Type.F16: np.float16, Type.BF16: np.uint16, Type.F32: np.float32,
    Type.F64: np.float64,
}  # fmt: skip

INDEX_LIMIT: Final = 2**31 - 1
"""Index inputs lie in [−limit, limit]: they are stored in 32 bits."""


class Poison(enum.Enum):
    """What fresh memory holds: a NaN with a payload, or an innocent number."""

    NAN = "nan"
    FINITE = "finite"


_WORDS: Final = {
    (Poison.NAN, 1): "u1:a5", (Poison.NAN, 4): "u4:80a5a5a5",
    (Poison.NAN, 8): "u8:80a5a5a5a5a5a5a5",
    (Poison.FINITE, 1): "u1:5a", (Poison.FINITE, 2): "u2:5a5a",
    (Poison.FINITE, 4): "u4:5a5a5a5a", (Poison.FINITE, 8): "u8:5a5a5a5a5a5a5a5a",
}  # fmt: skip

_NANS: Final = {
    Type.F16: "u2:7e5a", Type.BF16: "u2:7fe5", Type.F32: "u4:7fe5a5a5",
    Type.F64: "u8:7ff9a5a5a5a5a5a5",
}  # fmt: skip


def dtype_of(t: Type) -> np.dtype[Any]:
    """The NumPy type of an element in memory."""
    return np.dtype(_DTYPES[t])


def poison_word(t: Type, poison: Poison) -> bytes:
    """The bytes of one poisoned element: for floats a NaN with a payload or a finite number."""
    key = _NANS.get(t) if poison is Poison.NAN else None
    kind, digits = (key or _WORDS[(poison, t.bytes)]).split(":")
    return np.array(int(digits, 16), dtype=kind).tobytes()


def poisoned(t: Type, shape: tuple[int, ...], poison: Poison) -> AnyArray:
    """A fresh array full of poison."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(bytearray(poison_word(t, poison) * count), dtype_of(t)).reshape(shape)


def pack(array: AnyArray, t: Type) -> AnyArray:
    """Values of a program as a contiguous array in memory format, each rounded once.

    Takes reals for float types (float64 holds them exactly), integers for integer types, bools
    for BOOL; shares memory with the argument when nothing changes.
    """
    if t is Type.BF16:
        return _to_bf16(np.asarray(array, dtype=np.float64))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.ascontiguousarray(array, dtype=dtype_of(t))
    except MemoryError as e:
        raise LimitError(f"data of shape {array.shape} does not fit: {e}") from e


def unpack(memory: AnyArray, t: Type, sort: Sort = Sort.REAL) -> AnyArray:
    """Memory as values: bf16 becomes float32, bools become bool, the rest stays as it is."""
    if t is Type.BF16:
        return (memory.astype(np.uint32) << 16).view(np.float32)
    return memory != 0 if sort is Sort.BOOL or t is Type.BOOL else memory


def array_of(value: object, what: str, error: type[TangError] = GraphError) -> AnyArray:
    """A caller's value as an array, whatever its conversion raises; nothing masked gets through.

    what  names the value in the error
    """
    try:
        found, masked = np.asarray(value), _is_masked(value)
    except Exception as e:  # whatever the caller's own `__array__` raises
        reason = str(e) or type(e).__name__
        raise error(f"{what} is no array: {reason}") from e
    if masked:
        raise error(
            f"{what} has masked elements, and a program knows no masks: fill them first, with "
            ".filled(value)"
        )
    return found


def is_extension(dtype: np.dtype[Any]) -> bool:
    """Whether it is a number of an extension of NumPy, as those of ml_dtypes are."""
    return dtype.kind == "V" and dtype.names is None and np.can_cast(dtype, np.float64)


def _is_masked(value: object) -> bool:
    """Whether an element is masked, in an array or in the sequences around arrays."""
    if isinstance(value, list | tuple):
        return any(_is_masked(v) for v in value)
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def checked_input(name: str, array: object, sort: Sort) -> AnyArray:
    """An input as an array of its sort; raises GraphError that names the input otherwise.

    Reals of NumPy's extensions (ml_dtypes' bfloat16 and narrower) become f32, which holds them.
    """
    found = array_of(array, f"input {name!r}")
    if sort is Sort.REAL and is_extension(found.dtype):
        found = found.astype(np.float32)
    kinds = {Sort.REAL: "fiu", Sort.INDEX: "iu", Sort.BOOL: "b"}[sort]
    if found.dtype.kind not in kinds:
        raise GraphError(
            f"input {name!r} is {sort.value}: it takes {_WANTED[sort]}, not {found.dtype}; "
            f"convert it explicitly"
        )
    if sort is Sort.INDEX and found.size:
        lo, hi = int(found.min()), int(found.max())
        if lo < -INDEX_LIMIT or hi > INDEX_LIMIT:
            raise GraphError(
                f"input {name!r} holds the index {lo if lo < -INDEX_LIMIT else hi}, outside "
                f"±{INDEX_LIMIT}: indices are stored in 32 bits"
            )
    return found


_WANTED: Final = {
    Sort.REAL: "floats or integers",
    Sort.INDEX: "integers",
    Sort.BOOL: "numpy bools",
}


def _to_bf16(x: npt.NDArray[np.float64]) -> npt.NDArray[np.uint16]:
    """bf16 words: first f32 rounded to odd, then to nearest even, so there is one rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = x.astype(np.float32)
    bits = np.ascontiguousarray(near).view(np.uint32)
    wide = near.astype(np.float64)
    inexact = (wide < x) | (wide > x)
    too_large = (x > 0) == (wide > x)
    odd = (bits - (inexact & too_large)) | inexact
    even = (odd + np.uint32(0x7FFF) + ((odd >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return np.where(np.isnan(x), quiet, even).astype(np.uint16)
