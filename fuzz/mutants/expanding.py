"""Mutants of expand-math: functions that are not what they claim.

Defines `EXPANDING`. Relies on the names of the portable functions' parts. Each must be found on the
rung `expand`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.verify import Rung

Function = Callable[..., Any]
_EXPAND: Final = "tang.kernel.expand"


def _first_changed(coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """The first coefficient off by one part in 4096."""
    return (coefficients[0] * (1 + 2.0**-12), *coefficients[1:])


def _naive_tanh(original: Function) -> Function:
    from tang.kernel.expand.build import Builder
    from tang.kernel.expand.exponential import at_most, exp_of

    def tanh() -> Any:  # noqa: ANN401
        b = Builder()
        x = b.param("x")
        inside = at_most(x, 10)
        return b.function("tanh", 1 - 2 / (exp_of(inside + inside) + 1))

    return tanh


def _result_alone(original: Function) -> Function:
    return lambda x, result: result


def _one_factor(original: Function) -> Function:
    from tang.kernel.expand.build import power_of_two

    return lambda y, n: y * power_of_two(n.to_i32())


EXPANDING: Final = (
    Mutant("scale-in-one-step", "2ⁿ is one factor, which overflows before the product does",
           f"{_EXPAND}.exponential:_scale", _one_factor, Rung.EXPAND),
    Mutant("clamp-dropped", "huge arguments of exponentials are not limited",
           f"{_EXPAND}.exponential:_clamp", lambda f: lambda x, limit: x, Rung.EXPAND),
    Mutant("exp2-coefficient", "the first coefficient of 2^r is off by 2⁻¹²",
           f"{_EXPAND}.coefficients:EXP2", _first_changed, Rung.EXPAND),
    Mutant("erf-coefficient", "the first coefficient of erf is off by 2⁻¹²",
           f"{_EXPAND}.coefficients:ERF", _first_changed, Rung.EXPAND),
    Mutant("sin-coefficient", "the first coefficient of sin is off by 2⁻¹²",
           f"{_EXPAND}.coefficients:SIN", _first_changed, Rung.EXPAND),
    Mutant("log-special-dropped", "log of 0, of negatives and of inf is not special",
           f"{_EXPAND}.logarithm:_special", _result_alone, Rung.EXPAND),
    Mutant("tanh-naive", "tanh cancels near 0",
           f"{_EXPAND}.functions:BUILDERS", _naive_tanh, Rung.EXPAND, "tanh"),
    Mutant("nan-lost", "an exponential of NaN is a number",
           f"{_EXPAND}.build:keep_nan", _result_alone, Rung.EXPAND),
)  # fmt: skip
