"""Fused dot-product-adds of tensor cores, bit for bit.

Defines `fda` and `fda_bits`. Relies on `tang.ir.tensorcore` for what each instruction does and on
f64 in NumPy, in which products of narrow formats are exact. It knows no kernels: which
instructions follow each other is said by summation atoms.

One group of terms a_i·b_i and an addend c, with e = max(⌊log₂|x|⌋, emin) of each factor:
1. a NaN, ∞·0 or infinities of both signs give NaN; else an infinity gives itself;
2. E = max(e(a_i) + e(b_i), e(c), floor) over terms that are not zero; e(c) has
   the emin of the result's format, which an H200 shows where c is a subnormal of f16;
3. T = Σ trunc(a_i·b_i·2^(F−E)) + trunc(c·2^(F−E)), truncated towards zero and added exactly;
4. T·2^(E−F) is rounded once to the output; a zero is +0, and overflow gives an infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator import fda_c
from tang.emulator.rounder_build import load
from tang.emulator.rounder_fma import fma
from tang.emulator.rounding import as_f64, require_numbers, round_to
from tang.errors import FormatError
from tang.ir.format import any_format
from tang.ir.tensorcore import FusedDot

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]

ZERO_EXPONENT: Final = -10000
"""Of a factor that is zero: no sum with it is a maximum."""
_QUIET: Final = np.uint64(1 << 51)
_WORTH_C: Final = 2**14
_CHUNK: Final = 2**15


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """Rows of factors, terms in the order of groups, padded to whole instructions.

    values     as f64
    exponents  max(⌊log₂|x|⌋, emin), ZERO_EXPONENT for zeros
    special    which rows hold NaN or an infinity
    """

    values: F64Array
    exponents: npt.NDArray[np.int16]
    special: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Dots to compute: of each of the flat results, its addend, its row of a and its row of b."""

    a: Operand
    b: Operand
    c: F64Array
    rows: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    shape: tuple[int, ...]


def fda(a: npt.ArrayLike, b: npt.ArrayLike, c: npt.ArrayLike, atom: FusedDot) -> F64Array:
    """Σ a[…, i]·b[…, i] + c as a chain of the atom's instructions; leading axes broadcast.

    A row that is no multiple of the atom's k is padded with zeros, as kernels do. Operands must be
    numbers of the atom's formats (f32 numbers where it truncates them): else FormatError. The
    result is f64 and exact; every NaN is one NaN.
    """
    work = prepare(a, b, c, atom)
    length = work.a.values.shape[1]
    if work.c.size == 0 or length == 0:
        return work.c.reshape(work.shape)
    library = load(fda_c.TEXT) if work.c.size * length >= _WORTH_C else None
    if library is None or not fda_c.suits(atom):
        return fda_numpy(work, atom).reshape(work.shape)
    return fda_c.run(work, atom, library).reshape(work.shape)


def fda_bits(a: npt.ArrayLike, b: npt.ArrayLike, c: npt.ArrayLike, atom: FusedDot) -> Array:
    """`fda` as the bits of the result's registers, with the hardware's one NaN.

    In f64 a NaN keeps its payload: an H200 takes b's, else the addend's, else a's, made quiet.
    """
    value = fda(a, b, c, atom)
    if atom.result == "f64":
        return _double_bits(a, b, c, value, atom)
    width = any_format(atom.result).bits
    bits = np.atleast_1d(value.astype(f"f{width // 8}")).view(f"u{width // 8}")
    return np.where(np.isnan(value), bits.dtype.type(atom.nan), bits.reshape(value.shape))


def _double_bits(
    a: npt.ArrayLike, b: npt.ArrayLike, c: npt.ArrayLike, value: F64Array, atom: FusedDot
) -> Array:
    """Bits of f64 results: where one is NaN, the chain once more with the NaN that it carries."""
    bits = np.atleast_1d(value).view(np.uint64).reshape(-1)
    lanes = np.flatnonzero(np.isnan(value).reshape(-1))
    if not lanes.size:
        return bits.reshape(value.shape)
    left, right = (
        np.broadcast_to(np.asarray(x, np.float64), (*value.shape, np.shape(x)[-1])) for x in (a, b)
    )
    x, y = (v.reshape(-1, v.shape[-1])[lanes] for v in (left, right))
    total = np.broadcast_to(np.asarray(c, np.float64), value.shape).reshape(-1)[lanes]
    for i in range(-(-x.shape[1] // atom.k) * atom.k):
        inside = i < x.shape[1]
        p, q = (x[:, i], y[:, i]) if inside else (np.zeros_like(total), np.zeros_like(total))
        with np.errstate(all="ignore"):
            fused = fma(p, q, total, "f64")
        made = np.where(np.isnan(fused), np.uint64(atom.nan), fused.view(np.uint64))
        for v in (p, total, q):  # the last one that is NaN counts
            kept = np.ascontiguousarray(v).view(np.uint64) | _QUIET
            made = np.where(np.isnan(v), kept, made)
        total = made.view(np.float64)
    bits = bits.copy()
    bits[lanes] = total.view(np.uint64)
    return bits.reshape(value.shape)


def prepare(a: npt.ArrayLike, b: npt.ArrayLike, c: npt.ArrayLike, atom: FusedDot) -> Work:
    """The arguments of `fda`, checked and taken apart once."""
    if not isinstance(atom, FusedDot):
        raise FormatError(
            f"an atom is a FusedDot, such as atom_named('sm_90', 'mma', 'f16'), not {atom!r}"
        )
    left, right = np.asarray(a), np.asarray(b)
    if not left.ndim or not right.ndim or left.shape[-1] != right.shape[-1]:
        raise FormatError(f"a and b need one length of terms, not {left.shape} and {right.shape}")
    addend = as_f64(c)
    require_numbers(addend, atom.result, "c")
    try:
        shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1], addend.shape)
    except ValueError as e:
        raise FormatError(f"{left.shape}, {right.shape}, {addend.shape} do not broadcast") from e
    x, y = _operand(left, atom, "a"), _operand(right, atom, "b")
    rows = (_row_numbers(left.shape[:-1], shape), _row_numbers(right.shape[:-1], shape))
    flat = np.ascontiguousarray(np.broadcast_to(addend, shape)).reshape(-1)
    return Work(x, y, flat, rows, shape)


def _row_numbers(own: tuple[int, ...], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    count = int(np.prod(own, dtype=np.int64))
    numbers = np.arange(count, dtype=np.int64).reshape(own)
    return np.ascontiguousarray(np.broadcast_to(numbers, shape)).reshape(-1)


def _operand(given: Array, atom: FusedDot, name: str) -> Operand:
    value = _truncated(given, name) if atom.truncated else as_f64(given)
    if not atom.truncated:
        require_numbers(value, atom.operands, name)
    length = given.shape[-1]
    whole = -(-length // atom.k) * atom.k
    rows = np.zeros((int(np.prod(given.shape[:-1], dtype=np.int64)), whole))
    rows[:, :length] = value.reshape(-1, length) if length else 0
    order = np.array([i for group in atom.groups for i in group])
    blocks = rows.reshape(rows.shape[0], whole // atom.k, atom.k)[:, :, order]
    values = np.ascontiguousarray(blocks).reshape(rows.shape)
    finite = np.isfinite(values)
    exponents = np.frexp(np.where(finite, values, 0.0))[1] - 1
    exponents = np.maximum(exponents, any_format(atom.computed).emin)
    exponents = np.where(finite & (values != 0), exponents, ZERO_EXPONENT).astype(np.int16)
    return Operand(values, exponents, ~finite.all(axis=1))


def _truncated(given: Array, name: str) -> F64Array:
    """f32 numbers without their low 13 bits; a NaN that had none but those becomes an infinity."""
    if given.dtype == np.float32:
        single = np.ascontiguousarray(given)
    else:
        value = as_f64(given)
        require_numbers(value, "f32", name)
        single = value.astype(np.float32)
    bits = single.view(np.uint32) & np.uint32(0xFFFFE000)
    with np.errstate(invalid="ignore"):
        return bits.view(np.float32).astype(np.float64).reshape(given.shape)


def fda_numpy(work: Work, atom: FusedDot) -> F64Array:
    """The flat results in NumPy, some rows at a time."""
    out = np.empty_like(work.c)
    size = max(1, _CHUNK // atom.k)
    chain = _chain if atom.fraction is not None else _fma_chain
    with np.errstate(all="ignore"):
        for lo in range(0, out.size, size):
            part = slice(lo, lo + size)
            rows = (work.rows[0][part], work.rows[1][part])
            out[part] = chain(work.a, work.b, work.c[part], rows, atom)
    return out


Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def _chain(x: Operand, y: Operand, c: F64Array, rows: Rows, atom: FusedDot) -> F64Array:
    special = bool((x.special[rows[0]] | y.special[rows[1]]).any())
    for start in range(0, x.values.shape[1], atom.k):
        total = c if atom.joined else np.zeros_like(c)
        at = start
        for group in atom.groups:
            part = slice(at, at + len(group))
            at += len(group)
            product = x.values[rows[0], part] * y.values[rows[1], part]
            exponent = x.exponents[rows[0], part] + y.exponents[rows[1], part]
            total = _group(product, exponent, total, atom, special)
        c = total if atom.joined else _added(total, c, atom)
    return c


def _group(
    product: F64Array, exponent: Array, c: F64Array, atom: FusedDot, special: bool
) -> F64Array:
    finite = np.isfinite(c)
    if special or not finite.all():
        found = _special(product, c)
        product = np.where(np.isfinite(product), product, 0.0)
        result = _aligned(product, exponent, np.where(finite, c, 0.0), atom)
        return np.where(found == 0, result, found)
    return _aligned(product, exponent, c, atom)


def _special(product: F64Array, c: F64Array) -> F64Array:
    """NaN or an infinity where step 1 says so, else 0."""
    nan = np.isnan(product).any(axis=1) | np.isnan(c)
    plus = (product == np.inf).any(axis=1) | (c == np.inf)
    minus = (product == -np.inf).any(axis=1) | (c == -np.inf)
    infinite = np.where(plus, np.inf, np.where(minus, -np.inf, 0.0))
    return np.where(nan | (plus & minus), np.nan, infinite)


def _aligned(product: F64Array, exponent: Array, c: F64Array, atom: FusedDot) -> F64Array:
    least = any_format(atom.result).emin
    own = np.where(c == 0, ZERO_EXPONENT, np.maximum(np.frexp(c)[1] - 1, least))
    largest = np.maximum(np.maximum(exponent.max(axis=1), own), atom.floor)
    shift = (atom.fraction or 0) - largest.astype(np.int32)
    scale = np.ldexp(1.0, shift)
    total = np.trunc(product * scale[:, None]).sum(axis=1) + np.trunc(c * scale)
    value = np.ldexp(total, -shift)
    return round_to(value, atom.output, atom.rounding) + 0.0


def _added(total: F64Array, c: F64Array, atom: FusedDot) -> F64Array:
    """One IEEE addition in the result's format."""
    kind = "f2" if atom.result == "f16" else "f4"
    return np.asarray(total.astype(kind) + c.astype(kind), np.float64)


def _fma_chain(x: Operand, y: Operand, c: F64Array, rows: Rows, atom: FusedDot) -> F64Array:
    """Groups of one exact term: fma after fma."""
    for i in range(x.values.shape[1]):
        c = fma(x.values[rows[0], i], y.values[rows[1], i], c, atom.output, atom.rounding)
    return c
