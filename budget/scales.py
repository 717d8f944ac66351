"""Scales as a change of a program: what is stored narrow is divided first, multiplied when read.

Defines `scaled` and `names_in_files`. Relies on the grammar of programs and on schedules; it runs
after rewriting, so no rule can fold a division by a scale with the multiplication that undoes it.
It measures nothing.

Before → after, for a tensor X that is stored narrow with a scale per block:

    X                     as before, stored wide (f32, or f64 where it accumulates in f64)
    X_amax[…, b]          = max over e of |X[…, 32b + e]|
    X_scale[…, b]         = amax / largest, or 2^(⌊log2 amax⌋ − emax); 1 where amax is 0
    X_q[…, j]             = X[…, j] / X_scale[…, j div 32], stored narrow; it saturates
    X_scaled[…, j]        = X_q[…, j] · X_scale[…, j div 32], inlined where it can be

Whoever read X reads X_scaled through the same views, so guards fill with what they always did.
A tensor that holds NaN or an infinity gets the scale NaN, as in OCP Microscaling.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from tang.budget.scale_data import Narrow, Precise, Scale
from tang.budget.scale_nodes import Cut, amax_node, block_node, map_node, scale_node
from tang.errors import ScheduleError
from tang.ir.derived import div
from tang.ir.expr import REAL, Expr, apply, arg, real
from tang.ir.format import Format
from tang.ir.graph import Comprehension, Graph, Output
from tang.ir.validate import validate
from tang.ir.view import Read, Ref
from tang.kernel.ir import BF16, F16, F32, F64, Type
from tang.kernel.narrow import USUAL, is_coded
from tang.kernel.schedule import NodeSchedule, Schedule, check_schedule, name_of
from tang.schedule import schedule_auto
from tang.schedule.fit import fit_schedule

_SATURATE: Final = "saturate"


@dataclass(slots=True)
class _Work:
    """The program as far as it is made: nodes, their schedules, and what stands for what."""

    graph: Graph
    taken: set[str]
    nodes: list[Comprehension] = field(default_factory=list)
    chosen: dict[str, NodeSchedule] = field(default_factory=dict)
    stands: dict[Ref, Ref] = field(default_factory=dict)
    blocks: dict[tuple[int, int], Ref] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """A name that no tensor has."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def add(self, node: Comprehension, schedule: NodeSchedule) -> Ref:
        """Append a node of this module; its one result."""
        self.nodes.append(node)
        self.chosen[node.name] = schedule
        return Ref(node.name, "value")


def scaled(graph: Graph, precise: Precise) -> tuple[Graph, Schedule]:
    """The program with scales and formats of single inputs, and its schedule.

    Raises ScheduleError for a node or input that there is not, a scale of what is not stored in 8
    bits or fewer, and blocks that do not divide an axis.
    """
    check_schedule(precise.schedule, graph)
    _check_names(graph, precise)
    if precise.is_plain:
        return graph, precise.schedule
    by_name = precise.schedule.by_name(graph)
    work = _Work(graph, {n.name for n in graph.nodes} | {i.name for i in graph.inputs})
    base = F64 if precise.schedule.default.storage is F64 else F32
    for i in graph.inputs:
        if i.sort is REAL:
            _input(work, i.name, precise, base)
    for node in graph.nodes:
        _node(work, node, by_name[node.name], precise.nodes.get(node.name))
    outputs = tuple(Output(o.name, _standing(work, o)) for o in graph.outputs)
    made = replace(graph, nodes=tuple(work.nodes), outputs=outputs)
    validate(made)
    return made, _schedule(work, made, precise.schedule.default, base)


def names_in_files(graph: Graph, made: Graph) -> dict[str, str]:
    """By node that `scaled` added to a program, what a precision names: "the input A", or a node.

    Such a node reads first what it is made from; tables of blocks read nothing, and have no name.
    """
    known, found = {n.name for n in graph.nodes}, dict[str, str]()
    for node in (n for n in made.nodes if n.name not in known and n.reads):
        source = node.reads[0].source
        written = source.node if source.output else f"the input {source.node}"
        found[node.name] = found.get(source.node, written)
    return found


def _schedule(work: _Work, made: Graph, default: NodeSchedule, base: Type) -> Schedule:
    """Places and chunks of new nodes by the rules of thumb; what cannot stay is materialised."""
    usual = schedule_auto(made).by_name(made)
    known = {n.name for n in work.graph.nodes}
    for name, s in work.chosen.items():
        if name not in known:
            work.chosen[name] = replace(s, split=usual[name].split)
    fitted = fit_schedule(Schedule(nodes=tuple(work.chosen.items())), made)
    plain = NodeSchedule(storage=base, accumulate=default.accumulate, workgroup=default.workgroup)
    if not _is_wide(default.accumulate):
        plain = replace(plain, rounding=default.rounding, overflow=default.overflow)
    return replace(fitted, default=plain)


def _standing(work: _Work, output: Output) -> Ref:
    """What an output of the program is now; inputs that are outputs stay as they came."""
    return work.stands.get(output.ref, output.ref) if output.ref.output else output.ref


def _check_names(graph: Graph, precise: Precise) -> None:
    nodes, inputs = {n.name for n in graph.nodes}, {i.name for i in graph.inputs}
    for name in precise.nodes:
        if name not in nodes:
            known = ", ".join(sorted(nodes))
            raise ScheduleError(f"nodes[{name!r}].scale: no such node; the graph has {known}")
    for name in precise.inputs:
        if name not in inputs:
            known = ", ".join(sorted(inputs))
            raise ScheduleError(f"inputs[{name!r}]: no such input; the graph has {known}")
        if graph.input(name).sort is not REAL:
            raise ScheduleError(f"inputs[{name!r}]: it holds no reals, and only these have formats")


# --- what is narrow -------------------------------------------------------------------------------


def _input(work: _Work, name: str, precise: Precise, base: Type) -> None:
    """An input in its format: given wide, rounded by a node of its own."""
    default = precise.schedule.default
    usual = Narrow(storage=default.storage, rounding=default.rounding, overflow=default.overflow)
    own = precise.inputs.get(name, usual)
    if own.storage is base:
        if own.scale is not None:
            narrow_format(f"inputs[{name!r}].scale", name, own.storage)
        return
    narrow = NodeSchedule(
        storage=own.storage, accumulate=base, rounding=own.rounding, overflow=own.overflow
    )
    _stored(work, Ref(name), name, narrow, own.scale, f"inputs[{name!r}].scale")


def _node(work: _Work, node: Comprehension, s: NodeSchedule, scale: Scale | None) -> None:
    """A node, reading what stands for its operands; its results scaled where that is asked."""
    work.nodes.append(replace(node, reads=tuple(_moved(work, r) for r in node.reads)))
    work.chosen[node.name] = s
    if scale is None:
        return
    place = f"nodes[{node.name!r}].scale"
    narrow_format(place, node.name, s.storage)
    wide = F64 if s.accumulate is F64 else F32
    usual = {"rounding": "rne", "overflow": USUAL} if _is_wide(s.accumulate) else {}
    work.chosen[node.name] = replace(s, storage=wide, **usual)  # type: ignore[arg-type]
    narrow = replace(s, accumulate=wide, split=1, lanes=1, place="materialise")
    names = [n for n in node.output_names() if node.tensor(n).sort is REAL]
    names = [n for n in names if node.monoid is None or n in {o.name for o in node.monoid.outputs}]
    for n in names:
        label = node.name if len(names) == 1 else f"{node.name}_{n}"
        _stored(work, Ref(node.name, n), label, narrow, scale, place)


def _moved(work: _Work, read: Read) -> Read:
    view = read.view
    if view.gathers:
        view = replace(view, gathers=tuple(_moved(work, g) for g in view.gathers))
    return Read(work.stands.get(read.source, read.source), view)


def _is_wide(format_: Type | Format) -> bool:
    return not isinstance(format_, Format) and format_ not in (F16, BF16)


def narrow_format(place: str, name: str, storage: Type | Format) -> Format:
    """The format of a tensor that has a scale; ScheduleError where it needs none."""
    if isinstance(storage, Format) and is_coded(storage):
        return storage
    raise ScheduleError(
        f"{place}: {name} is stored in {name_of(storage)}, which needs no scale: scales are "
        "for formats of 8 bits and fewer"
    )


def _stored(
    work: _Work, ref: Ref, label: str, narrow: NodeSchedule, scale: Scale | None, place: str
) -> None:
    """Add the nodes that store a tensor narrow, and let the last one stand for it."""
    cut = Cut(ref, work.graph.shape(ref), scale)
    if scale is None:
        node = map_node(work.fresh(f"{label}_stored"), cut, (cut.read(ref),), arg(0))
        work.stands[ref] = work.add(node, replace(narrow, place=_inlined(work, ref)))
        return
    format_ = narrow_format(place, label, narrow.storage)
    wide = NodeSchedule(
        storage=narrow.accumulate, accumulate=narrow.accumulate, workgroup=narrow.workgroup
    )
    cut.check(place, label)
    narrow = narrow if narrow.overflow != USUAL else replace(narrow, overflow=_SATURATE)
    factor, more = _factor(work, cut, label, format_, wide)
    q = map_node(work.fresh(f"{label}_q"), cut, (cut.read(ref), *more), div(arg(0), factor))
    kept = work.add(q, narrow)
    back = (cut.read(kept), *more)
    node = map_node(work.fresh(f"{label}_scaled"), cut, back, apply("mul", arg(0), factor))
    work.stands[ref] = work.add(node, replace(wide, place=_inlined(work, ref)))


def _inlined(work: _Work, ref: Ref) -> str:
    """An output of the program needs a buffer."""
    wanted = ref.output and any(o.ref == ref for o in work.graph.outputs)
    return "materialise" if wanted else "inline"


def _factor(
    work: _Work, cut: Cut, label: str, format_: Format, wide: NodeSchedule
) -> tuple[Expr, tuple[Read, ...]]:
    """The scale of a point as an expression over what is read second, and that read."""
    scale = cut.scale
    if scale is None or not scale.amax:
        return real(Fraction(1.0 if scale is None else scale.value)), ()
    amax = work.add(amax_node(work.fresh(f"{label}_amax"), cut), wide)
    node = scale_node(work.fresh(f"{label}_scale"), cut, amax, format_)
    blocks = _blocks(work, cut, scale.block, wide) if scale.per == "block" else None
    return arg(1), (cut.of_piece(work.add(node, wide), blocks),)


def _blocks(work: _Work, cut: Cut, size: int, wide: NodeSchedule) -> Ref:
    """The table of blocks of an axis, made once."""
    key = cut.length, size
    if key not in work.blocks:
        node = block_node(work.fresh(f"block_{cut.length}_{size}"), *key)
        work.blocks[key] = work.add(node, replace(wide, place="inline"))
    return work.blocks[key]
