"""Sums in a given order and format, every rounding done as the order says.

Defines `evaluate`. Relies on summation atoms as data, on the exact fma and on the models of tensor
cores. It knows no kernels: that a kernel adds in this order is for lowering to promise and for
replay to show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.emulator import formats
from tang.emulator.exact import odd_sum
from tang.emulator.fda import fda
from tang.emulator.rounder_fma import fma
from tang.emulator.rounding import as_f64, check_rounding, require_numbers, round_to
from tang.errors import FormatError
from tang.ir.format import FORMATS, Format, any_format
from tang.ir.summation import (
    Fda,
    Fma,
    Promote,
    Seq,
    Split,
    Summation,
    Tree,
    check_summation,
    needs_factors,
)
from tang.kernel.ir import Type

Array = npt.NDArray[Any]
F64Array = npt.NDArray[np.float64]
Terms = tuple[F64Array, ...]
"""(x,), or (a, b) for products; terms lie along the last axis."""
Operation = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A format and how results are rounded to it."""

    format: Format
    rounding: str = "rne"
    overflow: str = "inf"
    ftz: bool = False


@dataclass(frozen=True, slots=True)
class _Arithmetic:
    """Operations whose results are numbers of the accumulator's format, in some dtype."""

    dtype: Any
    add: Operation
    multiply: Operation
    fma: Operation


def evaluate(
    atom: Summation,
    terms: npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike],
    format: str | Format,
    rounding: str = "rne",
    overflow: str = "inf",
    ftz: bool = False,
) -> F64Array:
    """The sum over the last axis of `terms`, or of the products of a tuple (a, b), in f64.

    Terms and factors must be numbers of the format (of `partial` within a promotion, of the
    operands of a tensor-core model): a conversion is never hidden here. Raises FormatError.
    """
    check_summation(atom)
    target = any_format(format)
    if rounding == "stochastic":
        raise FormatError("sums are evaluated in deterministic roundings, not stochastic")
    check_rounding(target, rounding, overflow, None)
    arrays = terms if isinstance(terms, tuple) else (terms,)
    if needs_factors(atom) and len(arrays) != 2:
        raise FormatError("this order sums products: pass a tuple of two arrays of factors")
    if len(arrays) not in (1, 2):
        raise FormatError(f"terms are one array, or two of factors, not {len(arrays)}")
    given = tuple(np.asarray(a) if _keeps_bits(a) else as_f64(a) for a in arrays)
    if not all(a.ndim for a in given) or len({a.shape[-1] for a in given}) > 1:
        raise FormatError(f"terms lie along the last axis: {[a.shape for a in given]} do not fit")
    with np.errstate(all="ignore"):
        accumulator = Accumulator(target, rounding, overflow, bool(ftz))
        return np.asarray(_sum(atom, given, accumulator), np.float64)


def _keeps_bits(a: object) -> bool:
    """f32 arrays stay so: tensor cores see the bits of tf32 operands."""
    return isinstance(a, np.ndarray) and a.dtype == np.float32


def _sum(atom: Summation, terms: Terms, acc: Accumulator) -> F64Array:
    match atom:
        case Seq():
            return _chain(_addends(terms, acc), acc)
        case Tree():
            return _tree(_addends(terms, acc), atom.pairs, acc)
        case Fma():
            return _fma_chain(terms, acc)
        case Fda():
            return _dots(atom, terms, acc)
        case Promote():
            within = any_format(atom.partial) if atom.partial else acc.format
            inner = Accumulator(within, acc.rounding, acc.overflow, acc.ftz)
            parts = _pieces(terms, atom.every)
            return _chain(_stacked(atom.inner, parts, inner), acc)
        case Split():
            parts = _dealt(terms, atom)
            return _sum(atom.order, (_stacked(atom.inner, parts, acc),), acc)


def _stacked(inner: Summation, parts: list[Terms], acc: Accumulator) -> F64Array:
    if not parts:
        return np.zeros((0,))
    return np.stack([_sum(inner, part, acc) for part in parts], axis=-1)


def _pieces(terms: Terms, every: int) -> list[Terms]:
    """At least one piece, so that the sum of nothing has its shape."""
    count = terms[0].shape[-1]
    starts = range(0, max(count, 1), every)
    return [tuple(t[..., s : s + every] for t in terms) for s in starts]


def _dealt(terms: Terms, atom: Split) -> list[Terms]:
    count, parts = terms[0].shape[-1], atom.parts
    if atom.deal == "cyclic":
        return [tuple(t[..., j::parts] for t in terms) for j in range(parts)]
    size = atom.size or -(-count // parts)
    if size * parts < count:
        raise FormatError(f"{count} terms do not fit in {parts} parts of {size}")
    return [tuple(t[..., j * size : (j + 1) * size] for t in terms) for j in range(parts)]


# --- arithmetic -----------------------------------------------------------------------------------


def _arithmetic(acc: Accumulator) -> _Arithmetic:
    """The kernel's own operations for its types as they are, else the exact fma."""
    usual = (acc.rounding, acc.overflow, acc.ftz) == ("rne", "inf", False)
    if usual and FORMATS.get(acc.format.name) == acc.format:
        type_ = Type(acc.format.name)
        add, multiply, fused = (formats.function(op, type_) for op in ("add", "mul", "fma"))
        return _Arithmetic(formats.COMPUTED[type_], add, multiply, fused)
    how = (acc.format, acc.rounding, acc.overflow, acc.ftz)

    narrow = _is_narrow(acc.format)

    def add_once(x: F64Array, y: F64Array) -> F64Array:
        total = np.asarray(x + y)
        if not narrow or not total.size:
            return fma(x, 1.0, y, *how)
        return round_to(odd_sum(x, y, total), *how).reshape(total.shape)

    def multiply_once(a: F64Array, b: F64Array) -> F64Array:
        product = a * b
        return round_to(product, *how) if narrow else fma(a, b, np.copysign(0.0, product), *how)

    return _Arithmetic(np.float64, add_once, multiply_once, lambda a, b, c: fma(a, b, c, *how))


def _is_narrow(target: Format) -> bool:
    """Whether f64 holds every product, so that a sum rounded to odd there can be rounded again."""
    return target.p <= 26 and target.emin - target.p + 1 >= -500 and target.emax < 500


def _addends(terms: Terms, acc: Accumulator) -> F64Array:
    """Terms as numbers of the format; products are rounded to it."""
    for name, t in zip(("x",) if len(terms) == 1 else ("a", "b"), terms, strict=True):
        require_numbers(np.asarray(t, np.float64), acc.format, name)
    if len(terms) == 1:
        return np.asarray(terms[0], np.float64)
    arithmetic = _arithmetic(acc)
    a, b = np.broadcast_arrays(*(t.astype(arithmetic.dtype) for t in terms))
    return np.asarray(arithmetic.multiply(a, b), np.float64)


def _chain(x: F64Array, acc: Accumulator) -> F64Array:
    require_numbers(x, acc.format, "partial sums")
    arithmetic = _arithmetic(acc)
    total = np.zeros(x.shape[:-1], arithmetic.dtype)
    for column in np.moveaxis(x.astype(arithmetic.dtype), -1, 0):
        total = np.asarray(arithmetic.add(total, column))
    return np.asarray(total, np.float64)


def _tree(x: F64Array, pairs: str, acc: Accumulator) -> F64Array:
    arithmetic = _arithmetic(acc)
    level = x.astype(arithmetic.dtype)
    if level.shape[-1] == 0:
        return np.zeros(x.shape[:-1])
    while level.shape[-1] > 1:
        count = level.shape[-1]
        if pairs == "adjacent":
            left, right = level[..., 0 : count - count % 2 : 2], level[..., 1::2]
            rest = level[..., count - count % 2 :]
        else:
            half = 1 << ((count - 1).bit_length() - 1)
            left, right = level[..., : count - half], level[..., half:]
            rest = level[..., count - half : half]
        joined = np.asarray(arithmetic.add(left, right))
        level = np.concatenate([joined.reshape(left.shape), rest], axis=-1)
    return np.asarray(level[..., 0], np.float64)


def _fma_chain(terms: Terms, acc: Accumulator) -> F64Array:
    arithmetic = _arithmetic(acc)
    for name, t in zip("ab", terms, strict=True):
        require_numbers(np.asarray(t, np.float64), acc.format, name)
    a, b = np.broadcast_arrays(*(t.astype(arithmetic.dtype) for t in terms))
    total = np.zeros(a.shape[:-1], arithmetic.dtype)
    for i in range(a.shape[-1]):
        total = np.asarray(arithmetic.fma(a[..., i], b[..., i], total)).reshape(total.shape)
    return np.asarray(total, np.float64)


def _dots(atom: Fda, terms: Terms, acc: Accumulator) -> F64Array:
    model = atom.model
    if any_format(model.result) != acc.format:
        raise FormatError(
            f"{' '.join(model.key)} accumulates in {model.result}, not in {acc.format.name}"
        )
    return fda(terms[0], terms[1], 0.0, model)
