"""The linear program of a comprehension's loops and arrays, for certificates of its traffic.

Defines `loop_program`. Relies on the reads of a comprehension: each array is taken by the loops
that index it. It solves nothing, and it knows no kernel: fusion may read less than a node alone.
"""

from __future__ import annotations

from fractions import Fraction

from tang.errors import ProofError
from tang.ir.graph import Comprehension
from tang.ir.view import Affine, View
from tang.proofs.arguments import check_kind
from tang.proofs.certificate import LinearProgram


def loop_program(node: Comprehension) -> LinearProgram:
    """Maximise Σ xₗ over loops l, point dims first, where every array's loops have Σ xₗ ≤ 1.

    A tile of Mˣ steps per loop touches at most M elements of each array. A dual solution weighs
    the arrays so that every loop has weight at least 1: `Tang.traffic_loads` says what follows.
    """
    check_kind(node, Comprehension, "loop_program", "take a node, such as graph.nodes[-1]")
    loops = [d.name for d in node.dims]
    arrays = [frozenset(d.name for d in node.point)]
    arrays += [_loops(r.view, loops, node.name) for r in node.reads]
    kept = [a for a in dict.fromkeys(arrays) if a]
    one, zero = Fraction(1), Fraction(0)
    rows = tuple(tuple(one if name in a else zero for name in loops) for a in kept)
    return LinearProgram((one,) * len(loops), rows, (one,) * len(rows))


def _loops(view: View, loops: list[str], name: str) -> frozenset[str]:
    """The loops that index an array; ProofError where a coordinate is of another kind."""
    if view.guard or view.gathers:
        raise ProofError(f"{name}: a guarded or gathered read does not need an element per point")
    return frozenset(v for c in view.coords for v in _one(c, loops, name))


def _one(form: Affine, loops: list[str], name: str) -> list[str]:
    found = [v for v, _ in form.terms]
    if len(found) > 1 or not set(found) <= set(loops):
        raise ProofError(f"{name}: the coordinate {form} is not one loop and a constant")
    return found
