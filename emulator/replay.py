"""Replay: the executable meaning of plans and kernels.

Defines `replay` for a whole plan, `replay_launch` for one kernel on given buffers, and
`call_function` for one helper function. Relies on the compiled form of kernels and on the
domains. It shares no code with lowering or emitters, and it compares nothing.

Buffers are flat in memory as a device has them: bf16 as u16 bits, bool as one byte. Outputs and
buffers come back in that form from `formats` (bf16 outputs as f32 values), as f64 from `real`,
as in `tang.interpreter.Balls` from balls; what else a domain knows of them is in `planes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.emulator.domain import Domain
from tang.emulator.domains import domain_named
from tang.emulator.formats import load_form
from tang.emulator.ints import RANGE, STORED
from tang.emulator.machine import Machine, Observer, Value
from tang.emulator.memory import Cells
from tang.emulator.profiled import Native, no_native
from tang.emulator.records import Decision, Finding, Journal, Kind
from tang.emulator.rounding import require_subnormals
from tang.emulator.statements import allocate, compiled
from tang.errors import GraphError, LimitError
from tang.ir.bind import infer_sizes
from tang.kernel.ir import Type
from tang.kernel.plan import Buffer, Launch, Plan, Role
from tang.kernel.profile import IEEE, Profile

Array = npt.NDArray[Any]
Planes = Mapping[str, Mapping[str, Array]]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What a replay computed and saw.

    planes    per buffer of a float type what its domain knows, by plane: "value", and "err", or
              "shadow" and "bound"; "taint" where a doubtful decision was involved
    doubts    per buffer of any type where a doubtful decision was involved, if the domain tracks it
    written   per buffer which elements were written by some launch
    """

    outputs: dict[str, Array]
    buffers: dict[str, Array]
    findings: tuple[Finding, ...]
    decisions: tuple[Decision, ...]
    planes: dict[str, dict[str, Array]] = field(repr=False)
    doubts: dict[str, Array] = field(repr=False)
    written: dict[str, Array] = field(repr=False)


@dataclass(slots=True, eq=False)
class _Memory:
    """One buffer between launches."""

    name: str
    type: Type
    shape: tuple[int, ...]
    planes: tuple[Array, ...]
    valid: Array | None
    taint: Array | None
    written: Array
    kernel: str = ""


def replay(
    plan: Plan,
    inputs: Mapping[str, Any],
    *,
    domain: str | Domain = "formats",
    sizes: Mapping[str, int] | None = None,
    sanitize: bool = True,
    abstracted: bool = False,
    observer: Observer | None = None,
    profile: Profile = IEEE,
    native: Native = no_native,
    planes: Planes | None = None,
) -> Replay:
    """Run every launch of a plan on its inputs.

    inputs      arrays by input name; reals of any float dtype, bf16 also as u16 bits
    domain      "formats", "real", "measured", "shadow", "balls", or a Domain
    sizes       of the symbols; inferred from the shapes of the inputs when not given
    abstracted  evaluate calls of functions with `implements` as the abstract function
    observer    receives (function, args, result) of every call, all lanes at once; from "shadow"
                the values in formats alone
    profile     of the device that is followed, in "formats" and "shadow"
    native      gives the results of rows that it rounds in its own way
    planes      by buffer and plane what is known of inputs beyond their values: the "shadow" and
                the "bound" of data that was rounded before
    Raises GraphError for missing, unknown or misshapen inputs.
    """
    chosen = domain_named(domain, profile, native) if isinstance(domain, str) else domain
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    if sizes is None:
        sizes = infer_sizes(plan.graph, {n: a.shape for n, a in arrays.items()})
    session = _Session(chosen, dict(sizes), sanitize, abstracted, observer, planes or {})
    _check_names(plan, arrays)
    memory = {b.name: session.buffer(b, arrays) for b in plan.buffers}
    for launch in plan.launches:
        session.launch(launch, memory)
    named = {r.name: memory[r.buffer] for r in plan.results}
    for used in dict.fromkeys(m.name for m in named.values()):
        session.check_written(memory[used])
    return session.result(memory, named)


def replay_launch(
    launch: Launch,
    buffers: Mapping[str, Any],
    sizes: Mapping[str, int],
    *,
    domain: str | Domain = "formats",
    valid: Mapping[str, Array] | None = None,
    sanitize: bool = True,
    abstracted: bool = False,
    observer: Observer | None = None,
    profile: Profile = IEEE,
    native: Native = no_native,
    planes: Planes | None = None,
) -> Replay:
    """Run one launch on the given state of its buffers, which stays unchanged.

    Buffers that the kernel may write count as uninitialised unless `valid` says which elements
    hold data; each of their elements must be written. The result's `buffers` has the new state.
    `planes` says of buffers what their values do not, as for `replay`.
    """
    chosen = domain_named(domain, profile, native) if isinstance(domain, str) else domain
    session = _Session(chosen, dict(sizes), sanitize, abstracted, observer, planes or {})
    known = dict(valid or {})
    memory: dict[str, _Memory] = {}
    writable = {n for n, p in zip(launch.buffers, launch.kernel.params, strict=True) if p.writable}
    for name, param in zip(launch.buffers, launch.kernel.params, strict=True):
        array = np.asarray(buffers[name])
        found = session.given(name, param.type, array.shape, array)
        if name in writable:
            mask = known.get(name, np.zeros(array.shape, np.bool_))
            found.valid = np.array(mask, np.bool_).reshape(-1)
        memory[name] = found
    session.launch(launch, memory)
    for name in sorted(writable):
        session.check_written(memory[name])
    return session.result(memory, {})


class _Session:
    """One replay: its domain, options and journal."""

    def __init__(
        self,
        domain: Domain,
        sizes: dict[str, int],
        sanitize: bool,
        abstracted: bool,
        observer: Observer | None,
        planes: Planes,
    ) -> None:
        require_subnormals()
        self.domain = domain
        self.sizes = sizes
        self.sanitize = sanitize
        self.abstracted = abstracted
        self.observer = observer
        self.planes = planes
        self.journal = Journal()

    # --- buffers --------------------------------------------------------------------------------

    def buffer(self, b: Buffer, arrays: Mapping[str, Array]) -> _Memory:
        """A buffer of the plan: the caller's data, or blank."""
        shape = tuple(p.evaluate(self.sizes) for p in b.shape)
        if b.role is Role.INPUT:
            return self.given(b.name, b.type, shape, _input(b, shape, arrays))
        count = prod(shape)
        planes = allocate(self.domain, b.type, count)
        blank = np.zeros(len(planes[0]), np.bool_)
        return self._memory(b.name, b.type, shape, planes, blank)

    def given(self, name: str, type_: Type, shape: tuple[int, ...], array: Array) -> _Memory:
        """A buffer that holds the given data (copied)."""
        flat = array.reshape(-1)
        if type_.is_float:
            with np.errstate(all="ignore"):
                parts = tuple(np.array(p) for p in self.domain.read(type_, flat))
            parts = self._known(name, parts)
        else:
            parts = (_exact(name, type_, flat),)
        if not flat.size:
            parts = allocate(self.domain, type_, 0)
        return self._memory(name, type_, shape, parts, None)

    def _known(self, name: str, parts: Value) -> Value:
        """The planes of a buffer, with what the caller knows of them."""
        known = self.planes.get(name)
        if known is None:
            return parts
        pairs = zip(self.domain.planes, parts, strict=True)
        return tuple(np.array(known.get(n, p), p.dtype).reshape(-1) for n, p in pairs)

    def _memory(
        self, name: str, type_: Type, shape: tuple[int, ...], planes: Value, valid: Array | None
    ) -> _Memory:
        blank = np.zeros(len(planes[0]), np.bool_)
        taint = blank.copy() if self.domain.tracks else None
        return _Memory(name, type_, shape, planes, valid, taint, blank)

    def check_written(self, memory: _Memory) -> None:
        """Report the elements of a buffer that hold nothing."""
        count = prod(memory.shape)
        if not self.sanitize or memory.valid is None or memory.valid[:count].all():
            return
        empty = np.flatnonzero(~memory.valid[:count])
        first = int(empty[0])
        text = f"{memory.name}[{first}] is never written; {len(empty)} of {count} elements are not"
        self.journal.find(
            Finding(Kind.UNWRITTEN, memory.kernel, "", memory.name, -1, first, text, len(empty))
        )

    # --- launches -------------------------------------------------------------------------------

    def launch(self, launch: Launch, memory: Mapping[str, _Memory]) -> None:
        """Run one kernel; buffers bound to several parameters are one memory."""
        kernel = launch.kernel
        wanted = launch.threads.evaluate(self.sizes)
        groups = -(-wanted // kernel.workgroup)
        if groups <= 0:
            return
        form = compiled(kernel, self.domain, abstracted=self.abstracted)
        machine = Machine(
            kernel,
            groups * kernel.workgroup,
            len(form.slots),
            self.journal,
            sanitize=self.sanitize,
            tracks=self.domain.tracks,
            observer=self.observer,
        )
        self._bind_scalars(launch, form.slots, machine)
        cells = self._bind_buffers(launch, form.loaded, form.stored, machine, memory)
        with np.errstate(all="ignore"):
            form.run(machine)
        for name, used in cells.items():
            self._settle(memory[name], used, name, kernel.name)

    def _bind_scalars(self, launch: Launch, slots: Mapping[str, int], machine: Machine) -> None:
        for var, value in zip(launch.kernel.scalars, launch.scalars, strict=True):
            number = value.evaluate(self.sizes)
            lo, hi = RANGE[var.type]
            if not lo <= number <= hi:
                raise LimitError(
                    f"kernel {launch.kernel.name}: {var.name} = {value} = {number} does not fit "
                    f"{var.type.value}"
                )
            if var.name in slots:
                machine.regs[slots[var.name]] = number

    def _bind_buffers(
        self,
        launch: Launch,
        loaded: frozenset[str],
        stored: frozenset[str],
        machine: Machine,
        memory: Mapping[str, _Memory],
    ) -> dict[str, Cells]:
        cells: dict[str, Cells] = {}
        written = set()
        for name, param in zip(launch.buffers, launch.kernel.params, strict=True):
            m = memory[name]
            if name not in cells:
                cells[name] = Cells(name, m.planes, prod(m.shape), None, taint=m.taint)
                cells[name].valid = m.valid
            machine.cells[param.name] = cells[name]
            if param.name in stored:
                written.add(name)
        for name in written:
            if memory[name].valid is None:
                cells[name].valid = np.ones(len(memory[name].planes[0]), np.bool_)
            if self.sanitize:
                cells[name].track_races()
        return cells

    def _settle(self, memory: _Memory, used: Cells, name: str, kernel: str) -> None:
        if used.writer is not None:
            memory.written |= used.writer >= 0
            memory.kernel = kernel
        elif used.valid is not None:
            memory.written = used.valid
        if used.valid is not None and used.valid[: prod(memory.shape)].all():
            memory.valid = None

    # --- results --------------------------------------------------------------------------------

    def result(self, memory: Mapping[str, _Memory], named: Mapping[str, _Memory]) -> Replay:
        return Replay(
            outputs={n: self._output(m) for n, m in named.items()},
            buffers={n: self._value(m) for n, m in memory.items()},
            findings=self.journal.findings,
            decisions=self.journal.decisions,
            planes={n: self._planes(m) for n, m in memory.items() if m.type.is_float},
            doubts={n: _shaped(m, m.taint) for n, m in memory.items() if m.taint is not None},
            written={n: _shaped(m, m.written) for n, m in memory.items()},
        )

    def _value(self, m: _Memory) -> Array:
        return _shaped(m, self.domain.show("value", m.type, m.planes[0], m.taint))

    def _output(self, m: _Memory) -> Array:
        array = self._value(m)
        if array.dtype == np.uint16:
            return np.asarray(load_form(m.type, array))
        return array

    def _planes(self, m: _Memory) -> dict[str, Array]:
        show = self.domain.show
        found = {
            name: _shaped(m, show(name, m.type, plane, m.taint))
            for name, plane in zip(self.domain.planes, m.planes, strict=True)
        }
        if m.taint is not None:
            found["taint"] = _shaped(m, m.taint)
        return found


def _shaped(m: _Memory, flat: Array) -> Array:
    return flat[: prod(m.shape)].reshape(m.shape)


def _check_names(plan: Plan, arrays: Mapping[str, Array]) -> None:
    known = {_input_name(b) for b in plan.buffers if b.role is Role.INPUT}
    known |= {i.name for i in plan.graph.inputs}
    unknown = sorted(arrays.keys() - known)
    if unknown:
        raise GraphError(f"unknown input {unknown[0]!r}: the plan has {', '.join(sorted(known))}")


def _input_name(b: Buffer) -> str:
    return b.ref.node if b.ref is not None else b.name


def _input(b: Buffer, shape: tuple[int, ...], arrays: Mapping[str, Array]) -> Array:
    name = _input_name(b)
    if name not in arrays:
        raise GraphError(f"no data for input {name!r}: give one array per input")
    array = arrays[name]
    if array.shape != shape:
        raise GraphError(f"input {name!r} has shape {array.shape}, expected {shape}")
    return array


def _exact(name: str, type_: Type, flat: Array) -> Array:
    kind = STORED[type_]
    if kind is np.bool_:
        if flat.dtype == np.bool_ or flat.dtype == np.uint8:
            return np.array(flat != 0)
        raise GraphError(f"buffer {name!r} takes bools, not {flat.dtype}")
    if flat.size and flat.dtype.kind not in "iu":
        raise GraphError(f"buffer {name!r} takes integers, not {flat.dtype}")
    lo, hi = RANGE[type_]
    if flat.size and (int(flat.min()) < lo or int(flat.max()) > hi):
        raise GraphError(f"buffer {name!r} holds a value that does not fit {type_.value}")
    return flat.astype(kind)
