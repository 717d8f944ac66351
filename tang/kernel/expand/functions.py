"""The table of portable functions: one kernel-IR `Function` for each row of MATH.

Defines `portable`, which builds a function once. Relies on the modules of this package for the
text. It does not insert calls: that is `expand_math`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from tang.kernel.expand.arctangent import atan2
from tang.kernel.expand.error_function import erf
from tang.kernel.expand.exponential import exp, exp2, sigmoid, tanh
from tang.kernel.expand.logarithm import log, log2
from tang.kernel.expand.trigonometric import cos, sin
from tang.kernel.ir import Function

BUILDERS: Final[dict[str, Callable[[], Function]]] = {
    "exp2": exp2,
    "log2": log2,
    "sin": sin,
    "atan2": atan2,
    "erf": erf,
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "sigmoid": sigmoid,
    "cos": cos,
}


@cache
def portable(op: str) -> Function:
    """The f32 function that computes `op`, a row of MATH."""
    return BUILDERS[op]()
