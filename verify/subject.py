"""Subjects: one program with its schedule, data and plans, ready for the ladder.

Defines `Subject`, `prepare` and the data that both sides of every rung share. Relies on lowering
and expand-math, which are under test here, and on storage for rounding inputs once. It compares
nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tang.device.narrow import pack_buffer, unpack_buffer
from tang.device.storage import checked_input
from tang.emulator.budget import ErrorBudget
from tang.errors import GraphError
from tang.interpreter import Balls, ball_interpret
from tang.interpreter.measured import Measured
from tang.ir.bind import bind, infer_sizes
from tang.ir.expr import Sort
from tang.ir.graph import Graph, Output
from tang.ir.validate import validate
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.ir import Type
from tang.kernel.lower import lower
from tang.kernel.plan import Buffer, Launch, Plan, Role
from tang.kernel.schedule import Schedule
from tang.schedule import schedule_auto
from tang.schedule.fit import fit_schedule
from tang.verify.derive import Derivation
from tang.verify.equality import measured, narrowed

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a caller wants verified: a program, its data, a schedule, an error budget.

    With a derivation the program is first rewritten, and the schedule fitted to the result, or
    made for it where a function is given. None takes `schedule_auto`.
    """

    graph: Graph
    inputs: Mapping[str, Array]
    schedule: Schedule | Callable[[Graph], Schedule] | None = field(default_factory=Schedule)
    derivation: Derivation | None = None
    budget: ErrorBudget | None = None
    name: str = "graph"
    math: Literal["portable", "native"] = "portable"


@dataclass(frozen=True, eq=False)
class Subject:
    """A task after lowering; reference values are computed once, when first asked for.

    inputs    as every side sees them: reals rounded once to the input buffers' storage format
    plan      with abstract maths;  `expanded` has portable functions in their place, or, for
              native maths and one language, only where that has no builtin
    packed    the expanded plan as devices run it: buffers of narrow formats hold codes
    bound     the program with numbers for its symbols
    """

    task: Task
    plan: Plan
    expanded: Plan
    bound: Graph
    sizes: Mapping[str, int]
    inputs: Mapping[str, Array] = field(repr=False)

    @functools.cached_property
    def packed(self) -> Plan:
        """The expanded plan, with codes in memory where formats are that narrow."""
        return pack_codes(self.expanded)

    @functools.cached_property
    def schedule(self) -> Schedule:
        """How every node is computed."""
        return scheduled(self.task)

    @functools.cached_property
    def traced(self) -> Graph:
        """The bound program with an output for every buffer that holds one of its tensors."""
        outputs = tuple(Output(b.name, b.ref) for b in computed(self.plan) if b.ref is not None)
        return replace(self.bound, outputs=outputs)

    @functools.cached_property
    def stored(self) -> dict[str, Array]:
        """The inputs as replay takes them: bools in the form in which buffers hold them."""
        return {n: a.view(np.uint8) if a.dtype.kind == "b" else a for n, a in self.inputs.items()}

    @functools.cached_property
    def reference(self) -> dict[str, Measured]:
        """The interpreter's value and error of every buffer that holds a tensor, by buffer."""
        return measured(self.traced, self.inputs)

    def reference_balls(self, prec: int, names: Collection[str]) -> dict[str, Balls]:
        """The same in ball arithmetic, of some buffers."""
        outputs = tuple(o for o in self.traced.outputs if o.name in names)
        return ball_interpret(narrowed(self.traced, outputs), self.inputs, prec)

    def plan_of(self, names: Collection[str]) -> Plan:
        """The abstract plan without the launches on which none of these buffers depends."""
        needed, kept = set(names), []
        for launch in reversed(self.plan.launches):
            if needed.intersection(written(launch)):
                needed.update(launch.buffers)
                kept.append(launch)
        return replace(self.plan, launches=tuple(reversed(kept)))


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """A task whose program and data are legal: sizes, the bound program, checked arrays."""

    task: Task
    sizes: Mapping[str, int]
    bound: Graph
    arrays: Mapping[str, Array] = field(repr=False)


def accept(task: Task) -> Accepted:
    """The caller's part of a task, checked; raises GraphError for his mistakes alone."""
    validate(task.graph)
    if task.math not in ("portable", "native"):
        raise GraphError(f"math is 'portable' or 'native', not {task.math!r}")
    arrays = checked_inputs(task.graph, task.inputs)
    sizes = infer_sizes(task.graph, {n: a.shape for n, a in arrays.items()})
    return Accepted(task, sizes, bind(task.graph, sizes) if sizes else task.graph, arrays)


_NATIVE: Final = "verify with math='native'"


def lowered(accepted: Accepted, cure: str = _NATIVE) -> Subject:
    """The suspects' part: lower and expand; raises whatever they raise.

    cure  of functions in f64, for the error
    """
    task = accepted.task
    plan = lower(task.graph, scheduled(task))
    inputs = snapped(plan, accepted.arrays)
    expanded = expand_math(plan, cure=cure) if task.math == "portable" else plan
    return Subject(task, plan, expanded, accepted.bound, accepted.sizes, inputs)


def scheduled(task: Task) -> Schedule:
    """The task's schedule, that of `schedule_auto` when it leaves the choice."""
    if callable(task.schedule):
        return task.schedule(task.graph)
    return schedule_auto(task.graph) if task.schedule is None else task.schedule


def derived(task: Task, graph: Graph) -> Task:
    """The task on the program that its derivation made."""
    given = task.schedule
    fitted = fit_schedule(given, graph) if isinstance(given, Schedule) else given
    return replace(task, graph=graph, schedule=fitted, derivation=None)


def prepare(task: Task, cure: str = _NATIVE) -> Subject:
    """Both: a task ready for the ladder."""
    return lowered(accept(task), cure)


def checked_inputs(graph: Graph, inputs: object) -> dict[str, Array]:
    """The inputs as arrays of their sorts; raises GraphError naming the one that does not fit."""
    known = [i.name for i in graph.inputs]
    if not isinstance(inputs, Mapping):
        raise GraphError(
            f"inputs are arrays by name, of {', '.join(known) or 'nothing'}, not "
            f"{type(inputs).__name__}: give a mapping"
        )
    unknown = sorted(set(inputs) - set(known), key=str)
    if unknown:
        raise GraphError(f"no input {unknown[0]!r}: one of {', '.join(known) or '(none)'}")
    missing = [n for n in known if n not in inputs]
    if missing:
        raise GraphError(f"no data for input {missing[0]!r}: give one array per input")
    return {i.name: checked_input(i.name, inputs[i.name], i.sort) for i in graph.inputs}


def snapped(plan: Plan, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Inputs that every side can hold exactly: reals rounded once to their storage format."""
    types = {b.ref.node: b for b in plan.buffers if b.role is Role.INPUT and b.ref is not None}
    return {n: _snap(a, types.get(n)) for n, a in arrays.items()}


def _snap(array: Array, buffer: Buffer | None) -> Array:
    if buffer is None or buffer.sort is not Sort.REAL:
        return array
    stored = unpack_buffer(pack_buffer(np.asarray(array, np.float64), buffer), buffer)
    kind = np.float64 if buffer.type is Type.F64 else np.float32
    return np.asarray(stored, kind).reshape(array.shape)


def computed(plan: Plan) -> list[Buffer]:
    """Buffers that launches fill, in program order of their launches."""
    names = [n for launch in plan.launches for n in written(launch)]
    return [plan.buffer(n) for n in dict.fromkeys(names)]


def written(launch: Launch) -> list[str]:
    """Buffers that a launch may write to."""
    pairs = zip(launch.buffers, launch.kernel.params, strict=True)
    return [name for name, param in pairs if param.writable]
