"""Whether data may drive a tensor out of its format, in any order of its sums.

Defines `beyond` and its cheaper forms `fits_by_ranges` and `fits_by_terms`. Relies on certificates,
on T and on bounds of every element. It runs nothing: what it asks is given.

|computed − exact| ≤ r·T + a, and |exact| ≤ T: no partial result of a sum of plain terms, in no
order, is larger than T + r·T + a. Where a certificate for the ranges of the data knows no better,
and T does not tell, a bound by replay does: for sums in any order it is infinite where one of these
overflows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator import Certificate
from tang.ir.expr import REAL, Expr
from tang.ir.graph import Comprehension, Graph, needed_by, reads_of
from tang.ir.monoids import is_plain_sum
from tang.ir.view import Ref
from tang.kernel.schedule import NodeSchedule, Schedule, format_of, storage_of

Tensors = Mapping[Ref, npt.NDArray[Any]]

_FITS: Final = "cannot overflow"
_LEAVES: Final = ("arg", "real")


def fits_by_ranges(graph: Graph, certificate: Certificate, ref: Ref) -> bool:
    """Whether no number can leave its format, whatever inputs within the certificate's ranges.

    Nor on the way, where a decision or a minimum may hide it.
    """
    wanted = {n.name for n in needed_by(graph, (ref.node,))}
    bounds = [b for b in certificate.nodes if b.node in wanted]
    if any(b.overflow != _FITS for b in bounds):
        return False
    steps = certificate.behind(*(b.step for b in bounds))
    return all(math.isfinite(certificate.steps[n].claim.absolute) for n in steps)


def fits_by_terms(
    graph: Graph, schedule: Schedule, shape: Certificate, terms: Tensors, ref: Ref
) -> bool:
    """Whether T of every tensor says so: of sums and maps of plain terms, and finite T, alone."""
    moved = {Ref(b.node, b.output): (b.relative, b.absolute) for b in shape.nodes}
    for node in needed_by(graph, (ref.node,)):
        own = [Ref(node.name, n) for n in node.output_names()]
        read = [r.source for r in reads_of(node) if graph.sort(r.source) is REAL]
        if not _is_plain(node) or any(r not in terms for r in own):
            return False
        with np.errstate(all="ignore"):
            reach = [_most(terms[r], *moved.get(r, (0.0, 0.0))) for r in (*own, *read)]
        if not max(reach, default=0.0) <= _largest(schedule.of(node.name)):
            return False
    return True


def _most(terms: npt.NDArray[Any], relative: float, absolute: float) -> float:
    """The largest that a computed value may be; infinite where T is no number."""
    most = float(np.max(terms * (1 + relative) + absolute, initial=0.0))
    return most if most == most else math.inf


def beyond(
    graph: Graph, schedule: Schedule, exact: Tensors, bounds: Tensors, ref: Ref
) -> Ref | None:
    """A tensor that may leave its format, among those that a result is made of.

    exact and bounds  f64 results and bounds for sums in any order, of every stored tensor
    """
    nodes = (Ref(n.name, o) for n in needed_by(graph, (ref.node,)) for o in n.output_names())
    for source in (r for r in nodes if r in bounds and graph.sort(r) is REAL):
        largest = float(storage_of(schedule, source).largest)
        with np.errstate(all="ignore"):
            inside = np.abs(exact[source]) + bounds[source] <= largest
        settled = (bounds[source] == 0) & ~np.isfinite(exact[source])
        if not (inside | settled).all():
            return source
    return None


def _largest(s: NodeSchedule) -> float:
    """The largest number that all formats of a node hold."""
    kinds = (s.storage, s.accumulate, s.partial)
    return min(float(format_of(k).largest) for k in kinds if k is not None)


def _is_plain(node: Comprehension) -> bool:
    """Whether no part of a term is larger than T: sums of products of two."""
    sums = node.monoid is None or is_plain_sum(node.monoid)
    return sums and all(_is_term(e) for e in node.body)


def _is_term(e: Expr) -> bool:
    if e.op == "mul":
        return all(a.op in _LEAVES for a in e.args)
    if e.op in ("add", "neg"):
        return all(_is_term(a) for a in e.args)
    return e.op in _LEAVES
