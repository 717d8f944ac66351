"""What f64 results are off by because functions are evaluated as they are printed.

Defines `as_printed`, a domain whose bounds hold against the interpreter's f64. Relies on the forms
in `tang.ir.derived`. Operations that are printed by their own name err by less than `bounds` grants
a shadow, and have no part here.

With v = 2⁻⁵³, a power within 4v of the truth and each other operation within v:

exp      2^(x·log2 e): the constant and the product by v each, so (4 + 2·|x|)·v of the result
sigmoid  1/(1 + exp(−x)): the same, the sum and the reciprocal, (6 + 2·|x|)·v. Beyond −709 the
         exponential overflows, and the share is 0
tanh     1 − q, q = 2/(exp(2x) + 1), of which exp(2x) has the part (1 + t)/2:
         ((1 − t²)/2·(4 + 4·|x|) + 2·(1 − t) + |t|)·v, at most 6.1·v (at −0.9); 0 is exact
cos      sin(x + π/2): the sum is rounded, by (|x| + 1.6)·v at most, and π/2 by less than v
x/y      x·(1/y), whose reciprocal may overflow or underflow
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tang.emulator.domain import Domain, Operation
from tang.emulator.machine import Site, Value
from tang.errors import TangBugError
from tang.kernel.ir import Function, Type

UNIT: Final = 2.0**-53
_FARTHEST: Final = 1100.0
"""Beyond it exp is 0 or infinite in f64."""
_NORMAL: Final = (2.0**-1022, 2.0**1022)
"""Divisors whose reciprocal is a normal number of f64."""


def _exp(y: Value, x: Any) -> Value:  # noqa: ANN401
    return np.abs(y) * (2 * np.minimum(np.abs(x.shadow), _FARTHEST) + 6) * UNIT


def _sigmoid(y: Value, x: Any) -> Value:  # noqa: ANN401
    return _exp(y, x) + np.where(x.shadow < -700.0, np.abs(y), 0.0)


def _tanh(y: Value, x: Any) -> Value:  # noqa: ANN401
    return np.where((x.shadow == 0) & (x.bound == 0), 0.0, 8 * UNIT)


def _cos(y: Value, x: Any) -> Value:  # noqa: ANN401
    return (np.abs(x.shadow) + 3) * UNIT


def _div(y: Value, a: Any, b: Any) -> Value:  # noqa: ANN401
    size = np.abs(b.shadow)
    rough = (size < _NORMAL[0]) | (size > _NORMAL[1])
    return np.where(rough & (size > 0) & np.isfinite(size), np.inf, 0.0)


_ERRORS: Final[dict[str, Callable[..., Any]]] = {
    "exp": _exp, "sigmoid": _sigmoid, "tanh": _tanh, "cos": _cos, "div": _div,
}  # fmt: skip


def as_printed(domain: Domain) -> Domain:
    """A domain of shadows with bounds against the f64 of programs as they are printed."""
    inner, called = domain.operation, domain.call

    def operation(op: str, type_: Type, site: Site) -> Operation:
        done = inner(op, type_, site)
        return Operation(_wrapped(op, done.function, 1 if done.impure else 0), done.impure)

    def call(function: Function, site: Site) -> Callable[..., Any]:
        if called is None:
            raise TangBugError(f"the domain {domain.name!r} has no calls")
        return _wrapped(function.implements, called(function, site), 2)

    return replace(domain, name=f"{domain.name}, as printed", operation=operation, call=call)


def _wrapped(op: str, function: Callable[..., Any], first: int) -> Callable[..., Any]:
    """A function whose operands start at that argument, with the error of the form in its bound."""
    error = _ERRORS.get(op)
    if error is None:
        return function

    def apply(*given: Any) -> Any:  # noqa: ANN401 - of the domain that asks
        done = function(*given)
        off = error(done.shadow, *given[first:])
        more = np.where(np.isfinite(done.shadow), off, 0.0)
        return done._replace(bound=(done.bound + more)[()])

    return apply
