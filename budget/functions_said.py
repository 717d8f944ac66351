"""Whose functions a tolerance speaks of, in a line of its derivation.

Defines `functions_said` and `default_math`. Relies on the claims of functions and on derived forms
as bounds see them. It bounds nothing.
"""

from __future__ import annotations

import math
from typing import Final

from tang.budget.overflow import upstream
from tang.emulator.certify_forms import order, parts
from tang.emulator.certify_functions import Functions
from tang.ir.graph import Comprehension, Graph
from tang.ir.view import Ref
from tang.kernel.accuracy import Claim
from tang.kernel.ir import F64, MATH
from tang.kernel.schedule import Schedule

_INEXACT: Final = {"div": "x/y", "recip": "x/y", "sqrt": "sqrt"}
"""Operations that a library need not round correctly, and what they are called."""


def default_math(written: bool) -> str:
    """Whose functions a kernel has: a schedule describes one of tang's, a preset any other."""
    return "portable" if written else "any"


def functions_said(graph: Graph, schedule: Schedule, ref: Ref, math: str) -> tuple[str, ...]:
    """The line about the functions that a result is computed by; () where there are none."""
    nodes = upstream(graph, ref)
    wide = all(schedule.of(n.name).accumulate is F64 for n in nodes)
    type_, functions = ("f64" if wide else "f32"), Functions(math)
    claims = {name: _claim(functions, op, type_) for op, name in _operations(nodes).items()}
    listed = ", ".join(f"{name} within {claim}" for name, claim in claims.items() if claim)
    whose = {"portable": "functions as tang's own", "any": "functions as any library has them"}
    said = whose.get(math, f"functions as {math} documents them")
    return (f'{said} (math="{math}"): {listed}',) if listed else ()


def _operations(nodes: list[Comprehension]) -> dict[str, str]:
    """Operations that may be inexact, and what they are called, the first ones first."""
    found: dict[str, str] = {}
    for node in nodes:
        m = node.monoid
        folded = () if m is None else (*m.lift, *m.combine, *m.project)
        for e in order((*node.body, *folded)):
            op, _ = parts(e)
            if op in MATH:
                found[op] = op
            elif op in _INEXACT and _INEXACT[op] not in found.values():
                found[op] = _INEXACT[op]
    return found


def _claim(functions: Functions, op: str, type_: str) -> str:
    """What is claimed of an operation; "" where it is rounded correctly."""
    if op in _INEXACT:
        exact = functions.root if op == "sqrt" else functions.division
        promise = exact(type_)
        return "" if promise is None else f"{promise[0].value:g} ulp"
    rows = functions.rows(op, type_)
    if rows is None:
        return f"{functions.claims(op, type_, ())[0][0].value:g} ulp"
    everywhere = [c for c in rows if not c.signed and c.low == 0 and c.high == math.inf]
    return " or ".join(_words(c) for c in everywhere or rows) or "no bound"


def _words(claim: Claim) -> str:
    if claim.absolute:
        size = f"{claim.absolute:.3g}"
    elif claim.per:
        size = f"{claim.ulp:g} + {claim.per:g}|x| ulp"
    else:
        size = f"{claim.ulp:g} ulp"
    return size if claim.high == math.inf else f"{size} up to {claim.high:.3g}"
