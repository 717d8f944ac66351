"""Features: what a case exercises, read off the program itself.

Defines `CELLS`, the closed list of coverage cells, and `features`, the cells that a case falls
into. Relies on the IR alone, so that shrunk and hand-written cases count like drawn ones. It judges
nothing: a cell says that something was there, not that it was checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from tang.fuzz.case import Case
from tang.fuzz.derivations import derivation_cells
from tang.fuzz.formats import ALL, Formats, schedule_cells
from tang.fuzz.forms import FORMS, recognised
from tang.fuzz.places import PLACES, place_cells
from tang.fuzz.precisions import PRECISIONS, is_narrow, precision_cells
from tang.fuzz.schedules import LANES, SPLITS, WORKGROUPS, needs_functions
from tang.fuzz.viewkinds import VIEW_KINDS, WHERE_KINDS, view_kinds, where_kind
from tang.ir.expr import BOOL, INDEX, NAMED, OPS, REAL, Expr, walk
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.ir.monoid import Monoid
from tang.ir.monoids import BUILTIN
from tang.kernel.ir import BF16, F16
from tang.kernel.schedule import NodeSchedule, name_of

USER_MONOIDS: Final = ("max_plus", "parity", "last", "matrix_product")
MONOIDS: Final = ("map", *BUILTIN, "top_k", "product", *USER_MONOIDS)
INDEX_OPS: Final = ("add", "mul", "neg", "lt", "eq", "select")
EXTENTS: Final = ("0", "1", "2", "3-8", "9-33")
STRUCTURES: Final = (
    "reduction", "several-nodes", "chain", "several-map-outputs", "several-graph-outputs",
    "state-read", "zero-d", "empty", "symbolic", "index-input", "bool-input", "fact",
)  # fmt: skip
DATA: Final = (
    "dyadic", "mixed", "nan", "+inf", "-inf", "-0.0", "subnormal", "huge", "beyond-f16",
    "below-f16", "index-out-of-range",
)  # fmt: skip
SCHEDULES: Final = (
    *(f"split-{n}" for n in SPLITS),
    "split-ordered",
    *(f"lanes-{n}" for n in LANES),
    "lanes-ordered",
    "lanes-split",
    *schedule_cells(ALL),
    "functions-in-f16",
    "functions-in-bf16",
    *PLACES,
    *PRECISIONS,
    *(f"workgroup-{n}" for n in sorted(WORKGROUPS)),
)
CELLS: Final = tuple(
    f"{group}:{name}"
    for group, names in (
        ("op", (*OPS, "iota", "extent", *(f"{op}-index" for op in INDEX_OPS))),
        ("op", ("eq-bool", "select-bool")),
        ("form", FORMS),
        ("constant", (*NAMED, "inexact")),
        ("view", VIEW_KINDS),
        ("where", WHERE_KINDS),
        ("monoid", MONOIDS),
        ("sort", ("real", "index", "bool")),
        ("graph", STRUCTURES),
        ("extent", EXTENTS),
        ("schedule", SCHEDULES),
        ("data", DATA),
    )
    for name in names
)
"""Every coverage cell there is for draws in all formats, in the order of reports."""


def cells_of(formats: Formats) -> tuple[str, ...]:
    """The cells that can occur in draws of some formats, in the order of reports."""
    gone = set(schedule_cells(ALL)) - set(schedule_cells(formats))
    own = (cell for cell in CELLS if cell.removeprefix("schedule:") not in gone)
    return (*own, *derivation_cells())


def features(case: Case) -> frozenset[str]:
    """The cells that the case falls into."""
    graph = case.graph
    found = {f"graph:{name}" for name in _structures(graph)}
    for node in graph.nodes:
        found.update(_node_features(graph, node))
    if 0 in _extents(case):
        found.add("graph:empty")
    found.update(f"extent:{_extent_class(n)}" for n in _extents(case))
    found.update(f"schedule:{name}" for name in _schedule(case))
    found.update(f"data:{name}" for name in _data(case))
    return frozenset(found)


# --- nodes ---------------------------------------------------------------------------------------


def _node_features(graph: Graph, node: Comprehension) -> Iterator[str]:
    for e in walk(*node.body):
        yield from _expression(e)
    yield from (f"form:{name}" for name in recognised(node.body))
    for read in reads_of(node):
        yield from (f"view:{kind}" for kind in view_kinds(graph, node, read))
    if node.where:
        yield f"where:{where_kind(node.where)}"
    yield f"monoid:{_monoid_name(node)}"
    yield from (f"sort:{node.tensor(name).sort.value}" for name in node.output_names())


def _expression(e: Expr) -> Iterator[str]:
    if e.op == "real":
        if isinstance(e.payload, str):
            yield f"constant:{e.payload}"
        elif isinstance(e.payload, Fraction) and e.payload.denominator & (
            e.payload.denominator - 1
        ):
            yield "constant:inexact"
    elif e.op in OPS or e.op in ("iota", "extent"):
        yield f"op:{e.op}"
        sort = e.args[-1].sort if e.args else INDEX
        if sort is INDEX and e.op in INDEX_OPS:
            yield f"op:{e.op}-index"
        if sort is BOOL and e.op in ("eq", "select"):
            yield f"op:{e.op}-bool"


def _monoid_name(node: Comprehension) -> str:
    if node.monoid is None:
        return "map"
    name = node.monoid.name
    for family in ("top_k", "product", "matrix_product"):
        if name.startswith(family):
            return family
    return name


# --- the graph -----------------------------------------------------------------------------------


def _structures(graph: Graph) -> Iterator[str]:
    nodes = {n.name for n in graph.nodes}
    reads = [r for n in graph.nodes for r in reads_of(n)]
    checks = {
        "reduction": any(n.monoid for n in graph.nodes),
        "several-nodes": len(nodes) > 1,
        "chain": any(r.source.node in nodes for r in reads),
        "several-map-outputs": any(len(n.outputs) > 1 for n in graph.nodes),
        "several-graph-outputs": len(graph.outputs) > 1,
        "state-read": any(_is_state(graph, r.source.node, r.source.output) for r in reads),
        "zero-d": any(not n.point for n in graph.nodes),
        "symbolic": bool(graph.symbols),
        "index-input": any(i.sort is INDEX for i in graph.inputs),
        "bool-input": any(i.sort is BOOL for i in graph.inputs),
        "fact": bool(graph.facts),
    }
    yield from (name for name, holds in checks.items() if holds)


def _is_state(graph: Graph, node: str, output: str) -> bool:
    monoid = next((n.monoid for n in graph.nodes if n.name == node), None)
    return monoid is not None and any(c.name == output for c in monoid.components)


def _extents(case: Case) -> list[int]:
    return [d.extent.evaluate(case.sizes) for n in case.graph.nodes for d in n.dims]


def _extent_class(extent: int) -> str:
    if extent <= 2:
        return str(extent)
    return "3-8" if extent <= 8 else "9-33"


def _schedule(case: Case) -> Iterator[str]:
    if any(i.sort is REAL for i in case.graph.inputs):
        stored = case.schedule.default.storage
        yield "inputs-narrow" if isinstance(stored, Format) else f"inputs-{name_of(stored)}"
    for node in case.graph.nodes:
        chosen = case.schedule.of(node.name)
        if node.monoid is not None:
            yield f"split-{chosen.split}"
            if chosen.split > 1 and not node.monoid.commutative:
                yield "split-ordered"
            yield from _lanes(node.monoid, chosen)
        yield from precision_cells(chosen)
        if not is_narrow(chosen):
            yield f"store-{name_of(chosen.storage)}-add-{name_of(chosen.accumulate)}"
        if chosen.accumulate in (F16, BF16) and needs_functions(node):
            yield f"functions-in-{name_of(chosen.accumulate)}"
        yield from place_cells(node, chosen)
        if chosen.workgroup in WORKGROUPS:  # lanes may round it up to others
            yield f"workgroup-{chosen.workgroup}"


def _lanes(monoid: Monoid, chosen: NodeSchedule) -> Iterator[str]:
    yield f"lanes-{chosen.lanes}"
    if chosen.lanes > 1 and not monoid.commutative:
        yield "lanes-ordered"
    if chosen.lanes > 1 and chosen.split > 1:
        yield "lanes-split"


# --- data ----------------------------------------------------------------------------------------


def _data(case: Case) -> Iterator[str]:
    reals = [np.ravel(a) for a in case.inputs.values() if a.dtype.kind == "f"]
    values = np.concatenate(reals) if reals else np.zeros(0)
    finite = values[np.isfinite(values)]
    large = np.abs(finite)
    moderate = finite[(large <= 8) & ((large == 0) | (large > 1e-30))]
    grid = bool(np.all(moderate * 8 == np.floor(moderate * 8)))
    checks = {
        "dyadic": grid,
        "mixed": not grid,
        "nan": bool(np.isnan(values).any()),
        "+inf": bool((values == np.inf).any()),
        "-inf": bool((values == -np.inf).any()),
        "-0.0": bool((np.signbit(values) & (values == 0)).any()),
        "subnormal": bool(((large > 0) & (large < 2.0**-126)).any()),
        "huge": bool((large >= 1e29).any()),
        "beyond-f16": bool(((large > 65504) & (large < 1e29)).any()),
        "below-f16": bool(((large >= 2.0**-126) & (large < 2.0**-24)).any()),
        "index-out-of-range": _leaves_range(case),
    }
    yield from (name for name, holds in checks.items() if holds)


def _leaves_range(case: Case) -> bool:
    """Whether an index input read by a guarded gather holds a value outside the source."""
    graph = case.graph
    for read in (r for n in graph.nodes for r in reads_of(n)):
        for at, gather in enumerate(read.view.gathers):
            data = case.inputs.get(gather.source.node)
            if data is None or not data.size or not read.view.guard:
                continue
            shape = graph.shape(read.source)
            for form, extent in zip(read.view.coords, shape, strict=True):
                size = extent.evaluate(case.sizes)
                if f"@{at}" in form.variables and (data.min() < 0 or data.max() >= size):
                    return True
    return False
