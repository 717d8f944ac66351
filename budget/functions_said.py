"""Whose functions a tolerance or a certificate speaks of, in words.

Defines `functions_said`, `functions_of` and `default_math`. Relies on the claims of
functions and on derived forms as bounds see them. It bounds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from tang.emulator.certify_forms import order, parts
from tang.emulator.certify_functions import Functions
from tang.ir.graph import Comprehension, Graph, needed_by
from tang.ir.view import Ref
from tang.kernel.accuracy import FROM_RN, Claim
from tang.kernel.ir import MATH
from tang.kernel.schedule import Schedule

_INEXACT: Final = {"div": "x/y", "recip": "x/y", "sqrt": "sqrt"}
"""Operations that a library need not round correctly, and what they are called."""


def default_math(written: bool) -> str:
    """Whose functions a kernel has: a schedule describes one of tang's, a preset any other."""
    return "portable" if written else "any"


def functions_said(graph: Graph, schedule: Schedule, ref: Ref, math: str) -> tuple[str, ...]:
    """A line about the functions that a result is computed by for each format in which they are.

    () where there are none. What is said are the constants of certificates.
    """
    functions, found = Functions(math), dict[str, list[Comprehension]]()
    for node in needed_by(graph, (ref.node,)):
        type_ = functions.computed(str(schedule.of(node.name).computed.type.value))
        found.setdefault(type_, []).append(node)
    lines = (_line(functions, type_, nodes) for type_, nodes in found.items())
    return tuple(line for line in lines if line)


def functions_of(graph: Graph) -> tuple[str, ...]:
    """The functions by which a program is computed, each once."""
    return tuple(op for op in _operations(graph.nodes) if op in MATH)


def _line(functions: Functions, type_: str, nodes: list[Comprehension]) -> str:
    claims = {name: _claim(functions, op, type_) for op, name in _operations(nodes).items()}
    listed = ", ".join(f"{name} within {claim}" for name, claim in claims.items() if claim)
    whose = {"portable": "functions as tang's own", "any": "functions as any library has them"}
    said = whose.get(functions.math, f"functions as {functions.math} documents them")
    format_ = "" if type_ == "f32" else f", in {type_}"
    return f'{said} (math="{functions.math}"){format_}: {listed}' if listed else ""


def _operations(nodes: Iterable[Comprehension]) -> dict[str, str]:
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
    return " or ".join(map(_words, rows)) or "no bound"


def _words(claim: Claim) -> str:
    if claim.absolute:
        size = f"{claim.absolute:.3g}"
    elif claim.per:
        size = f"{claim.ulp + FROM_RN:g} + {claim.per:g}|x| ulp"
    else:
        size = f"{claim.ulp + FROM_RN:g} ulp"
    return f"{size}{_where(claim)}"


def _where(claim: Claim) -> str:
    """The arguments of which a claim is made."""
    if claim.low == -math.inf:
        return f" below {claim.high:.3g}"
    if claim.signed:
        return f" from {claim.low:.3g} to {claim.high:.3g}"
    return "" if claim.high == math.inf else f" up to {claim.high:.3g}"
