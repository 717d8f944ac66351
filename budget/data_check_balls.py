"""Exact arithmetic for the check of data certificates: every element in balls.

Defines `Tensor`, `Exactly` and `checked_in_balls`. Relies on the interpreter's ball arithmetic
alone. It knows no schedule, and it shares no code with what made a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import flint
import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError, TangError
from tang.interpreter import ball_interpret
from tang.interpreter.ball_numbers import EITHER, UNDECIDED
from tang.ir.graph import Graph, Output
from tang.ir.view import Ref

F64Array = npt.NDArray[np.float64]
Index = tuple[int, ...]
Span = tuple[float, float]

PRECISIONS: Final = (128, 512)
"""Bits of the balls; the second for what the first leaves open."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A tensor of a certificate: the name to blame, its row, what it is in a program, numbers."""

    name: str
    stored: str
    ref: Ref
    values: F64Array
    bounds: F64Array

    def named(self, name: str, ref: Ref) -> Tensor:
        """The same numbers as a tensor of another program."""
        return replace(self, name=name, ref=ref)


@dataclass(slots=True, eq=False)
class Exactly:
    """What balls say of the elements of a tensor that have a finite bound.

    error, largest  the largest |value − exact| and |exact|, each from … to
    sizes           per element with an exact number, |exact| from … to
    undecided       the elements that no precision tells
    """

    error: Span = (0.0, 0.0)
    largest: Span = (0.0, 0.0)
    sizes: dict[Index, Span] = field(default_factory=dict)
    undecided: list[Index] = field(default_factory=list)

    def see(self, at: Index, value: float, exact: Any) -> None:  # noqa: ANN401 - an arb
        """Count an element within its bound."""
        self.error = _larger(self.error, abs(flint.arb(value) - exact))
        self.largest = _larger(self.largest, abs(exact))
        self.sizes[at] = _span(abs(exact))

    def vacuous(self, t: Tensor, slack: float) -> Span:
        """How many bounds are as large as their values, at least and at most.

        slack  what of its bound an exact number may be off
        """
        least = 0
        for at, (lo, hi) in self.sizes.items():
            bound = float(t.bounds[at])
            least += bound >= hi + slack * bound and lo > slack * bound
        most = len(self.undecided) + sum(
            float(t.bounds[at]) >= lo - slack * float(t.bounds[at])
            for at, (lo, _) in self.sizes.items()
        )
        return least, most


def _span(ball: Any) -> Span:  # noqa: ANN401 - an arb
    """A ball of numbers ≥ 0 as floats around it."""
    lo, hi = float(ball.lower()), float(ball.upper())
    return max(math.nextafter(lo, -math.inf), 0.0), math.nextafter(hi, math.inf) if hi else 0.0


def _larger(span: Span, ball: Any) -> Span:  # noqa: ANN401 - an arb
    lo, hi = _span(ball)
    return max(span[0], lo), max(span[1], hi)


def checked_in_balls(
    graph: Graph, inputs: Mapping[str, Any], tensors: list[Tensor]
) -> dict[str, Exactly]:
    """By the name of a tensor what balls say; BudgetError for an element beyond its bound."""
    named = {f"t{i}": t for i, t in enumerate(tensors)}
    found = {t.name: Exactly() for t in tensors}
    todo = {label: list(np.argwhere(np.isfinite(t.bounds))) for label, t in named.items()}
    for prec in PRECISIONS:
        wanted = tuple(Output(n, named[n].ref) for n, left in todo.items() if left)
        if not wanted:
            break
        try:
            exact = ball_interpret(replace(graph, outputs=wanted), inputs, prec)
        except TangError as e:
            raise BudgetError(f"the certificate's program cannot be evaluated: {e}") from e
        todo = {
            o.name: list(_open(named[o.name], exact[o.name].value, todo[o.name], prec, found))
            for o in wanted
        }
    for label, left in todo.items():
        found[named[label].name].undecided += [tuple(int(i) for i in at) for at in left]
    return found


def _open(
    t: Tensor,
    exact: Any,  # noqa: ANN401 - balls
    elements: list[Any],
    prec: int,
    found: dict[str, Exactly],
) -> Iterator[Any]:
    """The elements that these balls do not decide; BudgetError for one beyond its bound."""
    if np.shape(exact) != t.values.shape:
        raise BudgetError(f"{t.name}: its shape is {t.values.shape}, not {np.shape(exact)}")
    before, flint.ctx.prec = flint.ctx.prec, prec
    try:
        for element in elements:
            at = tuple(int(i) for i in element)
            holds = _holds(float(t.values[at]), exact[at], float(t.bounds[at]))
            if holds is False:
                raise BudgetError(
                    f"{t.name}{list(at)}: |{t.values[at]!r} − {exact[at]}| is above its bound "
                    f"{t.bounds[at]!r}"
                )
            if holds is None:
                yield element
            elif exact[at] is not EITHER and not isinstance(exact[at], float):
                found[t.name].see(at, float(t.values[at]), exact[at])
    finally:
        flint.ctx.prec = before


def _holds(value: float, exact: Any, bound: float) -> bool | None:  # noqa: ANN401 - a number
    """Whether |value − exact| ≤ bound; None where the ball does not tell."""
    if exact is UNDECIDED:
        return None
    if exact is EITHER:
        return math.isinf(value)
    if isinstance(exact, float):
        return value == exact or (math.isnan(value) and math.isnan(exact))
    if not math.isfinite(value):
        return False
    distance = abs(flint.arb(value) - exact)
    if distance <= flint.arb(bound):
        return True
    return False if distance > flint.arb(bound) else None
