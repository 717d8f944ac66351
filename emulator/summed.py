"""Values of the domain `any order`: what is added up in them, and bounds around their shadows.

Defines `Summed`, `around` and `tie`. Relies on `bounds` for how far operands move a result. It
knows no operations of kernels.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from tang.emulator.bounds import SLACK, Own, propagated, total
from tang.emulator.machine import Value
from tang.ir.format import Format

Sums = tuple[Value, Value, Value, Value]
"""Σ e of terms, log Π (1 + u) of the roundings so far, Σ (|x| + e) of terms, and the largest number
of the formats that parts of the sum have gone through: another order may overflow them."""
_LARGEST: Final = float(np.finfo(np.float64).max)


class Summed(NamedTuple):
    """A value, its shadow and its bound as in `shadow`.

    sums     what is added up in it, if it is a sum
    product  whether it may be a product in registers, whose rounding a difference may leave out
    """

    value: Any
    shadow: Any
    bound: Any
    sides: tuple[tuple[tuple[Any, ...], Any], ...] = ()
    sums: Sums | None = None
    product: bool = False


def is_product(x: Any) -> bool:  # noqa: ANN401 - Shadowed or Summed
    """Whether a value may be a product in registers."""
    return getattr(x, "product", False)


def sums_of(x: Any) -> Sums:  # noqa: ANN401 - Shadowed or Summed
    """What is added up in a value: itself, where it is no sum. An infinity adds no size."""
    found: Sums | None = getattr(x, "sums", None)
    if found is not None:
        return found
    size = np.where(np.isfinite(x.shadow), np.abs(x.shadow) + x.bound, 0.0)
    return x.bound, 0.0, size[()], np.inf


@cache
def tie(target: Format) -> float:
    """From where on numbers round beyond the largest one, less what bounds may be off by."""
    halfway = float(target.largest) / SLACK + 2.0 ** (target.emax - target.p) / SLACK
    return min(halfway, _LARGEST)


def around(
    op: str,
    operands: tuple[Any, ...],
    value: Value,
    shadow: Value,
    own: Own,
    limit: float = np.inf,
    growth: Value = 1.0,
) -> Value:
    """The bound of a result around its shadow, for any operands within their bounds of theirs.

    limit   from where on results overflow: there is no bound where operands within theirs reach it
    growth  the factor by which a result may exceed its exact value before it is rounded
    """
    x, e = tuple(o.shadow for o in operands), tuple(o.bound for o in operands)
    moved = propagated(op, x, e)
    size = (np.abs(shadow) + moved) * growth
    known = np.isfinite(value) & np.isfinite(size)
    reach = size if known.all() else np.where(known, size, value)[()]
    bound = total(op, x, e, reach, shadow, own, moved)
    over = size >= limit
    if not over.any():
        return bound
    return np.where(over & (moved > 0) & np.isfinite(value), np.inf, bound)[()]
