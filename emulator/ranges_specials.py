"""Infinities and NaN in bounds: which of them an operation can give.

Defines `of_specials` and `comparisons`. Relies on IEEE arithmetic over one representative per class
of operands. It says nothing of results that overflow or leave a domain: those have no bound at all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from tang.emulator.certificate import Claim

_FLOATS: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add, "mul": np.multiply, "recip": np.reciprocal, "sqrt": np.sqrt, "exp2": np.exp2,
    "log2": np.log2, "sin": np.sin, "tanh": np.tanh, "atan2": np.arctan2,
    "erf": lambda x: math.erf(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip


def of_specials(op: str, operands: tuple[Claim, ...]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The specials that special operands give, and the finite results that they give."""
    if not any(c.special for c in operands):
        return (), ()
    return _outcomes(op, tuple(_classes(c) for c in operands))


def _classes(c: Claim) -> tuple[float, ...]:
    finite = [] if c.empty else [s for s, has in _signs(c) if has]
    return (*finite, *(float(s) for s in c.special))


def _signs(c: Claim) -> tuple[tuple[float, bool], ...]:
    return (-1.0, c.lo < 0), (0.0, c.lo <= 0 <= c.hi), (1.0, c.hi > 0)


@lru_cache(maxsize=4096)
def _outcomes(
    op: str, classes: tuple[tuple[float, ...], ...]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    special, finite = set(), set()
    with np.errstate(all="ignore"):
        for operands in itertools.product(*classes):
            if all(math.isfinite(x) for x in operands):
                continue
            result = float(_FLOATS[op](*(np.float64(x) for x in operands)))
            if math.isfinite(result):
                finite.add(result + 0.0)
            else:
                special.add(str(result))
    return tuple(sorted(special)), tuple(sorted(finite))


def comparisons(op: str, a: Claim, b: Claim) -> tuple[float, ...]:
    """What lt or eq may give where an operand is special."""
    left, right = _compared(a), _compared(b)
    pairs = [(x, y) for x in left for y in right if not (math.isfinite(x) and math.isfinite(y))]
    return tuple({float(x < y if op == "lt" else x == y) for x, y in pairs})


def _compared(c: Claim) -> tuple[float, ...]:
    return (*(() if c.empty else (0.0,)), *(float(s) for s in c.special))
