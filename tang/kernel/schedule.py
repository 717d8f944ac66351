"""Schedules as data: how each node is computed, never what.

Defines `Schedule` and `NodeSchedule`, and what they say of formats (`storage_of` of a tensor).
Relies on the kernel types and the narrow formats; choosing a schedule is the work of
`tang.schedule`, obeying it that of lowering, checking that of `check_schedule`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Final

from tang.errors import FormatError, ScheduleError
from tang.ir.expr import Sort
from tang.ir.format import FORMATS, Format
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoid import Monoid
from tang.ir.view import Ref
from tang.kernel.ir import BF16, F16, F32, Type
from tang.kernel.narrow import (
    NARROW,
    OVERFLOWS,
    ROUNDINGS,
    USUAL,
    Conversion,
    is_coded,
    refusal,
)

WORKGROUP_BYTES: Final = 16384
"""Memory of a workgroup that every device has: WebGPU's maxComputeWorkgroupStorageSize."""

_WORD: Final = 4
"""Bytes that a small element may take: WGSL keeps f16 and bools of workgroups in words."""

PLACES: Final = ("materialise", "inline", "epilogue")
"""Where a node is computed."""


@dataclass(frozen=True, slots=True)
class Precision:
    """A machine type, and how numbers are rounded to a format narrower than it."""

    type: Type
    conversion: Conversion | None = None


@dataclass(frozen=True, slots=True)
class Promotion:
    """Runs of so many terms, each folded with a precision of its own."""

    every: int
    precision: Precision


def name_of(format_: Type | Format) -> str:
    """The name of a format of a schedule."""
    return format_.name if isinstance(format_, Format) else str(format_.value)


def format_of(format_: Type | Format) -> Format:
    """What a format of a schedule can represent."""
    return format_ if isinstance(format_, Format) else FORMATS[format_.value]


def includes(wide: Format, narrow: Format) -> bool:
    """Whether one format holds every number, infinity and NaN of another one."""
    numbers = wide.p >= narrow.p and wide.quantum <= narrow.quantum
    specials = wide.has_infinity >= narrow.has_infinity and wide.has_nan >= narrow.has_nan
    return numbers and specials and wide.largest >= narrow.largest


def bytes_of(format_: Type | Format) -> int:
    """Of an element in memory: one for formats of 8 bits and fewer, a word for tf32."""
    if isinstance(format_, Type):
        return format_.bytes
    return 1 if is_coded(format_) else F32.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSchedule:
    """How one node is computed.

    split       number of contiguous chunks of the first reduce dim that are folded by different
                threads; a second kernel combines the partial states in order (1: no split)
    lanes       number of threads of one workgroup that fold one point together: each a contiguous
                chunk of the first reduce dim (of a split's chunk), then a tree over workgroup
                arrays combines neighbours in order (1: one thread a point). A workgroup is a
                multiple of it and holds several points
    storage     format in which real results are stored: f64, f32, f16 or bf16 of the kernel types,
                or a narrower `tang.ir.format.Format`, as TF32, E5M2, E4M3FN, E3M2, E2M3 and E2M1
                of `tang.kernel.narrow`
    accumulate  format of body, state and partial states, of the same kinds; of a `Format` every
                operation is one of f32 whose result is then rounded
    rounding    how numbers are rounded to formats narrower than f32: "rne" to nearest even, "rz"
                towards zero, "rna" to nearest, ties away from zero
    overflow    what becomes of numbers beyond the largest one of such a format: "inf", "nan" or
                "saturate", as far as the format has them; "usual" is infinity where it has one,
                else the largest number
    promote     terms of a run (0: no runs): a reduction folds its terms in runs of so many, each
                from the identity with body and state in the format `partial`, and combines the
                state of each run into one of the format `accumulate`. A chunk of a split or of a
                lane has runs of its own; points that `where` excludes are no terms
    partial     the format within a run, whose numbers `accumulate` must hold; None: `accumulate`
    workgroup   threads per workgroup
    place       "materialise": a kernel and buffers of its own; "inline": neither, the value is
                computed wherever it is read, and rounded to `storage` there as if it had been
                stored; "epilogue" (of maps): computed in the kernel of the last node that it
                reads, by the thread that has that node's results (workgroup has no effect)
    """

    split: int = 1
    storage: Type | Format = F32
    accumulate: Type | Format = F32
    workgroup: int = 64
    lanes: int = 1
    place: str = "materialise"
    rounding: str = "rne"
    overflow: str = USUAL
    promote: int = 0
    partial: Type | Format | None = None

    @property
    def stored(self) -> Precision:
        """What results are in memory: tf32 and formats of codes as the f32 they stand for."""
        if not isinstance(self.storage, Format) and not self._emulates(self.storage):
            return Precision(self.storage)
        machine = F32 if isinstance(self.storage, Format) else self.storage
        return Precision(machine, self._conversion(self.storage))

    @property
    def computed(self) -> Precision:
        """The register type of reals, and the rounding after each operation."""
        return self._registers(self.accumulate)

    @property
    def promotion(self) -> Promotion | None:
        """The runs of a reduction, where it has any."""
        if not self.promote:
            return None
        within = self.accumulate if self.partial is None else self.partial
        return Promotion(self.promote, self._registers(within))

    def promotion_of(self, monoid: Monoid | None) -> Promotion | None:
        """The runs of a node: what a default says of them, nodes without an identity ignore."""
        has_runs = monoid is not None and monoid.identity is not None
        return self.promotion if has_runs else None

    def _registers(self, format_: Type | Format) -> Precision:
        if not isinstance(format_, Format) and not self._emulates(format_):
            return Precision(format_)
        return Precision(F32, self._conversion(format_))

    def _emulates(self, format_: Type) -> bool:
        """Whether a machine type is rounded to otherwise than machines do."""
        usual = self.rounding == "rne" and self.overflow in (USUAL, "inf")
        return format_ in (F16, BF16) and not usual

    def _conversion(self, format_: Type | Format) -> Conversion:
        narrow = format_ if isinstance(format_, Format) else FORMATS[format_.value]
        return Conversion(narrow, self.rounding, self.overflow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Per node name a NodeSchedule; nodes not named take `default`."""

    nodes: tuple[tuple[str, NodeSchedule], ...] = ()
    default: NodeSchedule = NodeSchedule()

    def of(self, node: str) -> NodeSchedule:
        return next((s for n, s in self.nodes if n == node), self.default)

    def by_name(self, graph: Graph) -> dict[str, NodeSchedule]:
        """The schedule of every node of a graph."""
        named = dict(reversed(self.nodes))
        return {n.name: named.get(n.name, self.default) for n in graph.nodes}


def storage_of(schedule: Schedule, ref: Ref) -> Format:
    """The format in which a schedule stores a tensor."""
    return format_of(schedule.of(ref.node).storage)


def check_schedule(schedule: Schedule, graph: Graph) -> None:
    """Raise ScheduleError for unknown nodes, bad numbers, types that are no floats, and lanes
    whose states do not fit in the memory of a workgroup."""
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a schedule is a tang.kernel.schedule.Schedule, not {schedule!r}")
    known = {n.name for n in graph.nodes}
    for name, s in _pairs(schedule):
        if name not in known:
            raise ScheduleError(_unknown(name, graph, sorted(known)))
        _check_node(name, s)
    _check_node("default", schedule.default)
    if schedule.default.place != "materialise":
        raise ScheduleError(
            f"default: place {schedule.default.place!r} is for nodes by name: whether it is "
            "possible depends on who reads them"
        )
    chosen = schedule.by_name(graph)
    for node in graph.nodes:
        _check_shared(node, chosen[node.name])
    for name, s in schedule.nodes:
        _check_promotion(name, s, graph.node(name).monoid)


def _unknown(name: str, graph: Graph, known: Iterable[str]) -> str:
    """What is wrong with the name of no node, and the cure."""
    if any(name == i.name for i in graph.inputs):
        return (
            f"schedule names {name!r}, which is an input: only nodes have schedules; the format of "
            f'an input stands under "inputs" of a precision, beside "nodes"'
        )
    return (
        f"schedule names {name!r}; the graph has {', '.join(known)}: schedules name nodes after "
        f"rewriting (rules=() keeps a program as it is written)"
    )


def _pairs(schedule: Schedule) -> Iterable[tuple[str, NodeSchedule]]:
    """The schedules of nodes by name, once these and the default are known to be schedules."""
    pairs: object = schedule.nodes
    if not isinstance(pairs, tuple) or not all(
        isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str) for p in pairs
    ):
        raise ScheduleError(
            f"the nodes of a schedule are a tuple of (name, NodeSchedule), not {pairs!r}"
        )
    for name, s in (("default", schedule.default), *pairs):
        if not isinstance(s, NodeSchedule):
            raise ScheduleError(f"{name}: its schedule is a NodeSchedule, not {s!r}")
    return schedule.nodes


def _check_promotion(name: str, s: NodeSchedule, monoid: Monoid | None) -> None:
    """Runs start from the identity: a node that has runs by name is a reduction with one."""
    if s.promote and monoid is None:
        raise ScheduleError(f"{name}: promote {s.promote} needs a reduction; the node is a map")
    if s.promote and monoid is not None and monoid.identity is None:
        raise ScheduleError(
            f"{name}: promote {s.promote} folds every run from the identity, and {monoid.name} "
            "has none: leave promote at 0"
        )


def _check_node(name: str, s: NodeSchedule) -> None:
    if not all(type(n) is int and n >= 1 for n in (s.split, s.workgroup, s.lanes)):
        raise ScheduleError(
            f"{name}: split, workgroup and lanes are ints of at least 1, "
            f"not {s.split}, {s.workgroup}, {s.lanes}"
        )
    if s.workgroup % s.lanes:
        raise ScheduleError(
            f"{name}: a workgroup holds whole points, and {s.workgroup} threads are no multiple "
            f"of {s.lanes} lanes"
        )
    if s.place not in PLACES:
        raise ScheduleError(f"{name}: place is one of {', '.join(PLACES)}, not {s.place!r}")
    if type(s.promote) is not int or s.promote < 0:
        raise ScheduleError(
            f"{name}: promote is the number of terms of a run, 0 for none, not {s.promote!r}"
        )
    _check_precision(name, s)
    _check_partial(name, s)


def _check_partial(name: str, s: NodeSchedule) -> None:
    """There are runs, and the state of a run is one of the whole fold, without a rounding."""
    if s.partial is None:
        return
    if not s.promote:
        raise ScheduleError(
            f"{name}: partial {name_of(s.partial)} is the format within runs: say how many terms "
            "a run has with promote"
        )
    inner, outer = format_of(s.partial), format_of(s.accumulate)
    if not includes(outer, inner):
        raise ScheduleError(
            f"{name}: accumulate {outer.name} does not hold every number of partial {inner.name}, "
            "and promoting a state rounds nothing: take a wider accumulate"
        )


def _check_precision(name: str, s: NodeSchedule) -> None:
    labelled = [("storage", s.storage), ("accumulate", s.accumulate)]
    if s.partial is not None:
        labelled.append(("partial", s.partial))
    for label, t in labelled:
        if isinstance(t, Format):
            _check_format(f"{name}: {label}", t)
        elif not (isinstance(t, Type) and t.is_float):
            listed = ", ".join(NARROW)
            shown = (
                t.value
                if isinstance(t, Type)
                else f"{t!r}: take one of tang.kernel.ir, or of tang.kernel.narrow ({listed})"
            )
            raise ScheduleError(f"{name}: {label} is a float format, not {shown}")
    if s.rounding not in ROUNDINGS:
        raise ScheduleError(
            f"{name}: rounding is one of {', '.join(ROUNDINGS)}, not {s.rounding!r}"
        )
    if s.overflow not in OVERFLOWS:
        raise ScheduleError(
            f"{name}: overflow is one of {', '.join(OVERFLOWS)}, not {s.overflow!r}"
        )
    _check_rounding(name, s)


def _check_format(place: str, format_: Format) -> None:
    if format_.name in FORMATS:
        name = format_.name.upper()
        raise ScheduleError(f"{place}: {format_.name} is a type: take tang.kernel.ir.{name}")
    reason = refusal(format_)
    if reason:
        listed = ", ".join((*FORMATS, *NARROW))
        raise ScheduleError(
            f"{place}: {format_.name} cannot be held in f32: {reason}; of the formats with names "
            f"these can: {listed}"
        )


def _check_rounding(name: str, s: NodeSchedule) -> None:
    """Rounding and overflow fit the narrow formats among the two, and there is one to fit."""
    try:
        precisions = [s.stored, s.computed, *([s.promotion.precision] if s.promotion else [])]
    except FormatError as e:
        raise ScheduleError(f"{name}: {e}") from e
    plain = s.rounding == "rne" and s.overflow in (USUAL, "inf")
    if not plain and all(p.conversion is None for p in precisions):
        raise ScheduleError(
            f"{name}: rounding {s.rounding!r} with overflow {s.overflow!r} needs a storage, "
            "accumulate or partial format narrower than f32; f32 and f64 round to nearest even, "
            "to infinity"
        )


def shared_bytes(monoid: Monoid, s: NodeSchedule) -> int:
    """At most so many bytes of workgroup memory hold the states of a workgroup with lanes."""
    sizes = {Sort.REAL: max(s.computed.type.bytes, _WORD), Sort.INDEX: 8, Sort.BOOL: _WORD}
    parts = (sizes[c.sort] * prod(monoid.axis_size(a) for a in c.axes) for c in monoid.components)
    return s.workgroup * (sum(parts) + (_WORD if monoid.identity is None else 0))


def _check_shared(node: Comprehension, s: NodeSchedule) -> None:
    if s.lanes == 1 or node.monoid is None:
        return
    needed = shared_bytes(node.monoid, s)
    if needed > WORKGROUP_BYTES:
        raise ScheduleError(
            f"{node.name}: with lanes, the states of {s.workgroup} threads take up to {needed} "
            f"bytes of workgroup memory, and {WORKGROUP_BYTES} are there: make workgroup smaller"
        )
