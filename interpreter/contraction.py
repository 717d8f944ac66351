"""Sums of products as matrix products.

Defines `factors_of`, which recognises a product, and `contract`, which sums one over slots with
BLAS. Relies on NumPy; it requires finite operands (see `is_tame`), because it factors sums, which
is false for infinities. It does not evaluate the factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

import numpy as np

from tang.interpreter.arithmetic import Array
from tang.ir.expr import Expr


def factors_of(e: Expr) -> tuple[Expr, ...]:
    """The leaves of a tree of multiplications, left to right."""
    if e.op != "mul":
        return (e,)
    return factors_of(e.args[0]) + factors_of(e.args[1])


def is_tame(operands: Sequence[Array], terms: int) -> bool:
    """Whether every product and every partial sum of up to that many terms stays finite."""
    bound = float(max(terms, 1))
    for a in operands:
        if a.size:
            bound *= max(1.0, float(np.max(a)), -float(np.min(a)))
    return bound < 2.0**1000


@dataclass(frozen=True, slots=True)
class _Operand:
    """An array and the slot of each of its axes."""

    array: Array
    slots: tuple[int, ...]


def contract(arrays: Sequence[Array], shape: Sequence[int], summed: int) -> Array:
    """Σ over the first `summed` slots of the product; each array has one axis per slot.

    Axes of extent 1 mean that the array does not depend on that slot. The result has the
    remaining slots, with extent 1 where nothing depends on them.
    """
    operands = [_squeezed(a, shape) for a in arrays]
    present = {s for o in operands for s in o.slots}
    repeats = prod(shape[s] for s in range(summed) if s not in present)
    keep = tuple(s for s in range(summed, len(shape)) if s in present)
    while len(operands) > 1:
        i, j = _next_pair(operands, keep, shape)
        rest = [o for k, o in enumerate(operands) if k not in (i, j)]
        needed = {s for o in rest for s in o.slots} | set(keep)
        operands = [*rest, _product(operands[i], operands[j], needed)]
    total = _summed(operands[0], set(keep))
    ordered = total.array.transpose([total.slots.index(s) for s in keep])
    if repeats != 1:
        ordered = ordered * float(repeats)
    return ordered.reshape([shape[s] if s in keep else 1 for s in range(summed, len(shape))])


def _squeezed(a: Array, shape: Sequence[int]) -> _Operand:
    padded = a.reshape((1,) * (len(shape) - a.ndim) + a.shape)
    kept = tuple(s for s, n in enumerate(padded.shape) if n > 1)
    index = tuple(slice(None) if s in kept else 0 for s in range(len(shape)))
    return _Operand(np.asarray(padded[index]), kept)


def _next_pair(
    operands: Sequence[_Operand], keep: tuple[int, ...], shape: Sequence[int]
) -> tuple[int, int]:
    """The first pair of NumPy's greedy contraction order."""
    if len(operands) == 2:
        return 0, 1

    def letters(slots: Sequence[int]) -> str:
        return "".join(ascii_letters[s] for s in slots)

    subscripts = ",".join(letters(o.slots) for o in operands) + "->" + letters(keep)
    path, _ = np.einsum_path(subscripts, *(o.array for o in operands), optimize="greedy")
    chosen = tuple(path[1])
    return (int(chosen[0]), int(chosen[1])) if len(chosen) == 2 else (0, 1)


def _summed(a: _Operand, needed: set[int]) -> _Operand:
    axes = tuple(k for k, s in enumerate(a.slots) if s not in needed)
    if not axes:
        return a
    return _Operand(
        np.asarray(np.sum(a.array, axis=axes)), tuple(s for s in a.slots if s in needed)
    )


def _product(a: _Operand, b: _Operand, needed: set[int]) -> _Operand:
    """The product of two operands as one matrix product, summed over slots not needed."""
    a = _summed(a, needed | set(b.slots))
    b = _summed(b, needed | set(a.slots))
    shared = [s for s in a.slots if s in b.slots]
    batch = [s for s in shared if s in needed]
    inner = [s for s in shared if s not in needed]
    left = [s for s in a.slots if s not in b.slots]
    right = [s for s in b.slots if s not in a.slots]
    extent = dict(zip(a.slots, a.array.shape, strict=True))
    extent |= dict(zip(b.slots, b.array.shape, strict=True))
    x, y = _ordered(a, [*batch, *left, *inner]), _ordered(b, [*batch, *inner, *right])
    rows, depth, columns = (prod(extent[s] for s in g) for g in (left, inner, right))
    batches = [extent[s] for s in batch]
    out = np.matmul(x.reshape([*batches, rows, depth]), y.reshape([*batches, depth, columns]))
    kept = (*batch, *left, *right)
    return _Operand(out.reshape([extent[s] for s in kept]), kept)


def _ordered(a: _Operand, slots: Sequence[int]) -> Array:
    return a.array.transpose([a.slots.index(s) for s in slots])
