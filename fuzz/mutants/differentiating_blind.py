"""Mutants of differentiation by someone who had read `tang.autodiff` alone, none of its checks.

Defines `DIFFERENTIATING_BLIND` and `RULE_OF`. Relies on the names of `tang.autodiff`. Each must be
found on the rung `rewrite` as a wrong gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tang.fuzz.mutants.apply import Mutant
from tang.ir.expr import Expr, apply, index, iota, real, substitute
from tang.ir.extent import poly
from tang.ir.view import Interval, Ref, View, variable
from tang.verify import Rung

Function = Callable[..., Any]
_AD: Final = "tang.autodiff"


def _other_sign(original: Function) -> Function:
    def atan2(self: Any, a: Any, t: Any) -> Any:  # noqa: ANN401
        return apply("neg", original(self, a, t))

    return atan2


def _whole_root(original: Function) -> Function:
    def slope(e: Expr, a: Expr) -> Any:  # noqa: ANN401
        return apply("recip", e) if e.op == "sqrt" else original(e, a)

    return slope


def _both_branches(original: Function) -> Function:
    def step(self: Any, e: Expr, t: list[Expr]) -> Any:  # noqa: ANN401
        return apply("add", t[1], t[2]) if e.op == "select" else original(self, e, t)

    return step


def _once(original: Function) -> Function:
    def welford(frame: Any, monoid: Any, factor: Any) -> Any:  # noqa: ANN401
        half = {real(2): real(1)}
        return [
            replace(p, values={k: substitute(v, half) for k, v in p.values.items()})
            for p in original(frame, monoid, factor)
        ]

    return welford


def _state_after(original: Function) -> Function:
    def state_before(frame: Any, form: Any, state: str) -> Any:  # noqa: ANN401
        node, here = frame.node, variable(form.step.name)
        coords = tuple(
            form.time_of(here) if d == form.time else variable(d.name)
            for d in node.tensor(state).dims
        )
        guard = (Interval(here, poly(0), form.step.extent),)
        return frame.read(Ref(node.name, state), View(coords, guard, real(0)))

    return state_before


def _exchanged(original: Function) -> Function:
    def division(self: Any, op: str, a: Any) -> Any:  # noqa: ANN401
        return original(self, "mod" if op == "floordiv" else "floordiv", a)

    return division


def _short_sum(original: Function) -> Function:
    def unrolled(axis: str, size: int, body: Expr) -> Any:  # noqa: ANN401
        if size < 2:
            return original(axis, size, body)
        return original(
            axis, size - 1, substitute(body, {iota(axis): apply("add", iota(axis), index(1))})
        )

    return unrolled


def _inputs_swapped(original: Function) -> Function:
    def inputs(monoid: Any, factor: Any) -> Any:  # noqa: ANN401
        return tuple(reversed(original(monoid, factor)))

    return inputs


def _row(name: str, what: str, path: str, make: Callable[[Any], Any], key: object = None) -> Mutant:
    return Mutant(name, what, f"{_AD}.{path}", make, Rung.REWRITE, key, blind=True)


DIFFERENTIATING_BLIND: Final = (
    _row("grad-atan2-sign", "the derivative of atan2 has the other sign",
         "derivative:Derivative._atan2", _other_sign),
    _row("grad-sqrt-half", "the derivative of a root lacks its half", "derivative:slope",
         _whole_root),
    _row("grad-both-branches", "both branches of a select contribute",
         "derivative:Derivative._step", _both_branches),
    _row("grad-spread-half", "the square of a deviation has half its derivative",
         "reductions:RULES", _once, "welford"),
    _row("grad-state-after", "a scan's factor meets the state after it", "recurrence:_state_before",
         _state_after),
    _row("grad-quotient-for-phase", "a gathered quotient is taken for the phase",
         "indices:_Parse._division", _exchanged),
    _row("grad-static-sum-short", "a sum over a static axis forgets its first entry",
         "project:_unrolled", _short_sum),
)  # fmt: skip

RULE_OF: Final = {
    "grad-atan2-sign": "grad:atan2",
    "grad-sqrt-half": "grad:sqrt",
    "grad-both-branches": "grad:select",
    "grad-spread-half": "grad:welford",
    "grad-state-after": "grad:affine-scan",
    "grad-quotient-for-phase": "grad:gather",
    "grad-static-sum-short": "grad:project",
}
