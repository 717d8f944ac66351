"""Certificates of a program: one pass over its nodes, whatever their extents.

Defines `certify` and `shape_bound`. Relies on the rules of `ranges`, on schedules as data and on
what kernels do to every node: its operations in the accumulation format, then one rounding to the
storage format, inlined or not. It reads no data and no kernels; the strength "data" is replay's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tang.emulator.certificate import (
    Certificate,
    NodeBound,
    ShapeBound,
    digest_of,
)
from tang.emulator.certify_arithmetic import Trail
from tang.emulator.certify_functions import Functions
from tang.emulator.certify_nodes import Pass
from tang.emulator.certify_report import bound_of_step, derivation
from tang.emulator.ranges_numbers import unit
from tang.errors import BudgetError
from tang.ir.bind import bind
from tang.ir.expr import Sort
from tang.ir.given import flag, one_of
from tang.ir.graph import Graph, require_graph
from tang.ir.serial import to_json
from tang.ir.view import Ref
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule, name_of

FREEDOMS: Final = ("ieee", "wgsl")
"""Arithmetic as IEEE 754 has it; or as WGSL allows it: either neighbour, any order, flushing."""

Ranges = Mapping[str, tuple[float, float]]


def certify(
    graph: Graph,
    schedule: Schedule,
    sizes: Mapping[str, int],
    ranges: Ranges | None = None,
    *,
    freedom: str = "ieee",
    math: str = "portable",
    quantised: bool = False,
) -> Certificate:
    """Sound bounds of every result of every node, for all inputs within ranges.

    sizes      a number for every symbol of the program
    ranges     input → (lo, hi) of its values; an input without one has the format's whole range.
               None gives the strength "shape": bounds relative to magnitudes, no overflow assumed
    freedom    "ieee", or "wgsl": either neighbour, any order of sums, subnormals flushed
    math       "portable" functions, or the builtins of a language of `tang.kernel.accuracy`
    quantised  whether rounding inputs to their storage format counts as error: if not, a program
               is meant over inputs as they are stored
    Raises BudgetError for unknown inputs, ranges that are none, and unknown options.
    """
    one_of(freedom, FREEDOMS, "freedom", BudgetError)
    flag(quantised, "quantised", BudgetError)
    check_schedule(schedule, require_graph(graph))
    _refuse_runs(graph, schedule)
    bound = bind(graph, sizes)
    if bound.symbols:
        raise BudgetError(f"give a size for {', '.join(sorted(bound.symbols))}")
    found = _checked(bound, ranges)
    work = Pass(bound, schedule, Trail(ranges is None), freedom, Functions(math))
    for i in bound.inputs:
        work.input(i, found.get(i.name), quantised)
    for node in bound.nodes:
        work.node(node)
    made = _certificate(graph, schedule, sizes, work, found)
    return replace(made, quantised=quantised)


def _certificate(
    graph: Graph, schedule: Schedule, sizes: Mapping[str, int], work: Pass, ranges: Ranges
) -> Certificate:
    trail = work.trail
    return Certificate(
        strength="shape" if trail.shape else "range",
        graph=digest_of(to_json(graph)),
        schedule=tree_hash(schedule, graph),
        freedom=work.freedom,
        math=work.functions.math,
        sizes=tuple(sorted((str(s), int(n)) for s, n in sizes.items() if s in graph.symbols)),
        ranges=tuple((n, float(lo), float(hi)) for n, (lo, hi) in ranges.items()),
        assumed=tuple(i.name for i in graph.inputs if i.name not in ranges),
        formats=tuple(trail.formats.known.values()),
        constants=tuple(trail.constants.values()),
        steps=tuple(trail.steps),
        nodes=tuple(
            bound_of_step(trail, ref, step, work.formats.get(ref, ""))
            for ref, step in work.results.items()
            if ref.output
        ),
    )


def _refuse_runs(graph: Graph, schedule: Schedule) -> None:
    """Steps of a fold in runs are not described here: no bound is better than a wrong one."""
    for node in graph.nodes:
        s = schedule.of(node.name)
        if s.promotion_of(node.monoid) is not None:
            raise BudgetError(
                f"{node.name}: it folds in runs of {s.promote} terms, which bounds for ranges and "
                "shapes do not know: certify it for given inputs, or leave promote at 0"
            )


def _checked(graph: Graph, ranges: Ranges | None) -> dict[str, tuple[float, float]]:
    known = {i.name: i for i in graph.inputs}
    found: dict[str, tuple[float, float]] = {}
    if ranges is not None and not isinstance(ranges, Mapping):
        raise BudgetError(f"ranges are pairs by input ({', '.join(known)}), not {ranges!r}")
    for name, given in (ranges or {}).items():
        if name not in known:
            raise BudgetError(f"ranges name {name!r}: the inputs are {', '.join(known)}")
        found[name] = _range(name, given)
    return found


def _range(name: str, given: object) -> tuple[float, float]:
    where = f"the range of {name!r}"
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise BudgetError(f"{where} is a pair (lo, hi), not {given!r}")
    try:
        lo, hi = (float(x) for x in given)
    except (TypeError, ValueError, OverflowError) as e:
        raise BudgetError(f"{where} is a pair of numbers, not {given!r}") from e
    if math.isnan(lo) or math.isnan(hi):
        raise BudgetError(f"{where} holds NaN: {given!r}")
    if not lo <= hi:
        raise BudgetError(f"{where} is empty: {lo!r} > {hi!r}")
    if math.isinf(lo) or math.isinf(hi):
        raise BudgetError(f"{where} is not finite: leave it out to allow the whole format")
    return lo, hi


def tree_hash(schedule: Schedule, graph: Graph) -> str:
    """The digest of all that decides roundings: formats, splits and lanes of every node."""
    chosen = schedule.by_name(graph)
    lines = [f"inputs {_row(schedule.default)}"]
    lines += [f"{n.name} {_row(chosen[n.name])}" for n in graph.nodes]
    return digest_of("\n".join(lines))


def _row(s: NodeSchedule) -> str:
    formats = f"{name_of(s.storage)} {name_of(s.accumulate)}"
    runs = f" {s.promotion}" if s.promote else ""
    return f"{s.split} {s.lanes} {formats} {s.rounding} {s.overflow}{runs}"


def shape_bound(
    graph: Graph,
    schedule: Schedule,
    sizes: Mapping[str, int],
    output: str,
    *,
    freedom: str = "ieee",
    math: str = "portable",
) -> ShapeBound:
    """c and tau with |computed − exact| ≤ c·u·T + tau, whatever the inputs, unless they overflow.

    output  an output of the program by name, or a node's first result. Raises BudgetError.
    """
    certificate = certify(graph, schedule, sizes, freedom=freedom, math=math)
    ref = _output(graph, output)
    b = certificate.bound(ref.node, ref.output)
    if graph.sort(ref) is not Sort.REAL:
        raise BudgetError(f"{output!r} holds no reals: its tolerance is equality")
    return _shape(certificate, b)


def _shape(certificate: Certificate, b: NodeBound) -> ShapeBound:
    facts = next(f for f in certificate.formats if f.name == b.format)
    u = unit(facts, "rne")
    c = b.relative / u
    lines = derivation(certificate, b)
    terms = "|x|" if b.pure else "Σ|terms|"
    reason = b.reason if not _said(b, u) else ""
    return ShapeBound(b.node, b.output, c, u, b.format, b.absolute, terms, lines, reason)


def _said(b: NodeBound, u: float) -> bool:
    return math.isfinite(b.absolute) and b.relative < 1


def _output(graph: Graph, name: str) -> Ref:
    refs = {n.name: Ref(n.name, n.output_names()[0]) for n in graph.nodes}
    refs |= {o.name: o.ref for o in graph.outputs}
    if isinstance(name, str) and name in refs:
        return refs[name]
    known = ", ".join((*(o.name for o in graph.outputs), *(n.name for n in graph.nodes)))
    raise BudgetError(f"no output or node {name!r}: one of {known}")
