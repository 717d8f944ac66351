"""The CPU as a CUDA or Metal device: kernel text under g++, one fiber per thread.

Defines `Simt`. Relies on the toolchain, on the entries generated beside a text, and on the
isolation of jobs. `run` computes; `check` runs the same text instrumented and returns findings
besides. It decides no verdict.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from tang.device.base import (
    Allocation,
    Compiled,
    Crash,
    Job,
    Limits,
    Outcome,
    OutOfMemory,
    Ran,
)
from tang.device.compiler import CompilerOptions
from tang.device.host_c import loaded
from tang.device.isolation import Isolation
from tang.device.simt.build import Toolchain, open_toolchain
from tang.device.simt.entries import Binding, entry_lines
from tang.device.simt.lines import TEXT_NAME, with_lines
from tang.device.simt.matrices import matrix_lines
from tang.device.simt.prepare import prepare
from tang.device.simt.record import (
    MAX_BUFFERS,
    MAX_THREADS,
    Finding,
    Launch,
    Status,
    answer,
    geometry,
    request,
)
from tang.device.simt.unsupported import unsupported
from tang.device.storage import AnyArray, dtype_of
from tang.device.texts import seconds_of
from tang.emit.dialect import UnsupportedError
from tang.emit.unit import emit_unit
from tang.errors import DeviceError
from tang.kernel.ir import U8, Kernel, Param, Type
from tang.kernel.profile import IEEE

WARP: Final = 32
"""Threads of a warp, or of a SIMD group, in the headers."""

_HEADERS: Final = {"cuda": "simt_cuda.h", "msl": "simt_metal.h"}
_SHARED: Final = {"cuda": 48 << 10, "msl": 32 << 10}
_MARK: Final = f'#line 1 "{TEXT_NAME}"\n'
_END: Final = '\n#line 1 "simt_entries"\n'
_RECORD: Final = Param("simt_record", U8, True)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a job in check mode, and every fault that was seen."""

    outcome: Outcome
    findings: tuple[Finding, ...]


class Simt:
    """Kernels of one language, "cuda" or "msl", on this machine; see `Device` for the methods."""

    profile: Final = IEEE

    def __init__(
        self,
        language: Literal["cuda", "msl"] = "cuda",
        options: CompilerOptions | None = None,
        memory: int = 2**31,
    ) -> None:
        if language not in _HEADERS:
            raise DeviceError(f"SIMT runs cuda and msl text, not {language!r}")
        self.language: Final[str] = language
        self.name: Final = f"simt-{language}"
        self.limits: Final = Limits(
            workgroup=MAX_THREADS, shared_bytes=_SHARED[language], buffers=MAX_BUFFERS
        )
        self._toolchain: Toolchain = open_toolchain(options or CompilerOptions())
        self._isolation = Isolation(memory)
        weakref.finalize(self, self._isolation.close)  # whoever forgets to close
        self._functions: dict[tuple[str, str], Callable[..., None]] = {}
        self._checked: dict[str, str] = {}

    @property
    def subgroup(self) -> int:
        """The lanes of a warp or SIMD group here, as the headers have it."""
        return WARP

    @property
    def identity(self) -> tuple[str, ...]:
        """The compiler, its version, its flags and the headers' hash."""
        c = self._toolchain.plain
        return (*c.command, c.version, *c.flags, self._toolchain.headers)

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels as one translation unit, once per text."""
        if not kernels:
            return ()
        unit = emit_unit(kernels, self.language)
        bindings = [Binding(symbol) for symbol in unit.symbols]
        library = self._library(unit.text, list(zip(kernels, bindings, strict=True)))
        return tuple(
            Compiled(k, self.language, b.export, library)
            for k, b in zip(kernels, bindings, strict=True)
        )

    def compile_text(
        self, kernel: Kernel, text: str, symbol: str, binding: Binding | None = None
    ) -> Compiled:
        """Compile a foreign text whose `symbol` has the parameters of `kernel`, buffers first
        unless a binding says otherwise; raises UnsupportedError with the line of what is outside.
        """
        return self.compile_texts(((kernel, binding or Binding(symbol)),), text)[0]

    def compile_texts(
        self, kernels: Sequence[tuple[Kernel, Binding]], text: str
    ) -> tuple[Compiled, ...]:
        """Compile one foreign text that holds several kernels."""
        outside = unsupported(text, self.language)
        if outside is not None:
            raise UnsupportedError(f"line {outside[0]}: {outside[1]}")
        library = self._library(text, kernels)
        return tuple(Compiled(k, self.language, b.export, library, text) for k, b in kernels)

    def allocate(self, element: Type, count: int) -> Allocation:
        """Uninitialised memory of this process."""
        return Allocation(element, count, np.empty(count, dtype_of(element)))

    def upload(self, element: Type, data: AnyArray) -> Allocation:
        """The array itself, flattened: kernels never write to what they only read."""
        flat = np.ascontiguousarray(data, dtype_of(element)).reshape(-1)
        return Allocation(element, flat.size, flat)

    def launch(
        self,
        compiled: Compiled,
        buffers: Sequence[Allocation],
        scalars: Sequence[Any],
        groups: int,
    ) -> None:
        """Run the kernel in this process; raises DeviceError when its threads diverge."""
        arrays = [b.handle for b in buffers]
        record = request(compiled.kernel, arrays, scalars, groups, Launch())
        asked = record.copy()
        pointers = [a.ctypes.data for a in (*arrays, record)]
        self._function(compiled)(*pointers, 0, groups)
        status, findings = answer(compiled.kernel, asked, record)
        if status is not Status.ENDED:
            raise DeviceError(_reason(compiled.kernel, status, findings))

    def download(self, memory: Allocation) -> AnyArray:
        """The memory itself."""
        found = memory.handle
        if not isinstance(found, np.ndarray):
            raise DeviceError("this memory belongs to another device")
        return found

    def time(self, job: Job) -> tuple[float, ...]:
        """Seconds of each repetition, measured in the worker."""
        (outcome,) = self.run((job,), deadline=60.0)
        return seconds_of(job, outcome)

    def run(
        self,
        jobs: Sequence[Job],
        deadline: float = 10.0,
        launches: Sequence[Launch] | None = None,
    ) -> tuple[Outcome, ...]:
        """Run jobs in the worker; threads that diverge are a crash with the reason."""
        return tuple(c.outcome for c in self._run(jobs, deadline, launches, checked=False))

    def check(
        self,
        jobs: Sequence[Job],
        deadline: float = 30.0,
        launches: Sequence[Launch] | None = None,
    ) -> tuple[Checked, ...]:
        """Run jobs instrumented: outcomes and findings; compiles what was not checked before."""
        checked = [replace(j, compiled=self._instrumented(j.compiled)) for j in jobs]
        results = self._run(checked, deadline, launches, checked=True)
        return tuple(
            self._explained(r, j.compiled) if r.findings else r
            for r, j in zip(results, checked, strict=True)
        )

    def close(self) -> None:
        """End the worker; a later `run` starts another."""
        self._isolation.close()

    # --- running

    def _run(
        self,
        jobs: Sequence[Job],
        deadline: float,
        launches: Sequence[Launch] | None,
        checked: bool,
    ) -> list[Checked]:
        hows = launches or [Launch()] * len(jobs)
        told = [_recorded(job, how, checked) for job, how in zip(jobs, hows, strict=True)]
        outcomes = self._isolation.run(told, deadline)
        return [_judged(job, outcome) for job, outcome in zip(told, outcomes, strict=True)]

    def _explained(self, result: Checked, compiled: Compiled) -> Checked:
        """The result with the lines of its findings, also in the reason of a crash."""
        findings = with_lines(result.findings, compiled.library, self._text(compiled))
        known, outcome = result.findings[-1].message, result.outcome
        if isinstance(outcome, Crash) and outcome.reason == known:
            outcome = Crash(findings[-1].message)
        return Checked(outcome, findings)

    def _function(self, compiled: Compiled) -> Callable[..., None]:
        key = (compiled.library, compiled.symbol)
        function = self._functions.get(key)
        if function is None:
            pointers = [ctypes.c_void_p] * (len(compiled.kernel.params) + 1)
            function = self._functions[key] = loaded(compiled, pointers)
        return function

    # --- texts and libraries

    def _library(self, text: str, kernels: Sequence[tuple[Kernel, Binding]]) -> str:
        entries = dict.fromkeys(
            "\n".join(entry_lines(kernel, binding, text, self.language))
            for kernel, binding in kernels
        )
        head = f"// {self._toolchain.headers}\n"
        includes = f'#include "{_HEADERS[self.language]}"\n#include "simt_entry.h"\n'
        includes += matrix_lines(text)
        whole = head + includes + _MARK + prepare(text, self.language) + _END + "\n".join(entries)
        return str(self._toolchain.plain.library(whole + "\n"))

    def _source(self, compiled: Compiled) -> str:
        """The whole text of a plain library, which the cache keeps beside it."""
        path = Path(compiled.library).with_suffix(".c")
        try:
            return path.read_text(encoding="ascii")
        except OSError as e:
            raise DeviceError(f"the cache lost the text of {compiled.library}: {e}") from e

    def _instrumented(self, compiled: Compiled) -> Compiled:
        checked = self._checked.get(compiled.library)
        if checked is None:
            checked = str(self._toolchain.checked.library(self._source(compiled)))
            self._checked[compiled.library] = checked
        return replace(compiled, library=checked)

    def _text(self, compiled: Compiled) -> str:
        """The kernels' own text, numbered as the compiler numbers it."""
        return compiled.foreign or self._source(compiled).split(_MARK, 1)[1].split(_END, 1)[0]


def _recorded(job: Job, launch: Launch, checked: bool) -> Job:
    """The job with its record as one more buffer, which carries the scalars too."""
    kernel = job.compiled.kernel
    grid, _ = geometry(kernel, job.groups, launch)
    record = request(kernel, job.buffers, job.scalars, job.groups, launch, checked)
    told = replace(kernel, params=(*kernel.params, _RECORD), scalars=())
    return replace(
        job,
        compiled=replace(job.compiled, kernel=told),
        buffers=(*job.buffers, record),
        scalars=(),
        groups=grid[0] * grid[1] * grid[2],
    )


def _judged(job: Job, outcome: Outcome) -> Checked:
    if not isinstance(outcome, Ran):
        return Checked(outcome, ())
    kernel = job.compiled.kernel
    status, findings = answer(kernel, job.buffers[-1], outcome.memories[-1].data)
    if status is Status.ENDED:
        return Checked(replace(outcome, memories=outcome.memories[:-1]), findings)
    if status is Status.OUT_OF_MEMORY:
        return Checked(OutOfMemory("the runtime got no memory for stacks or shadows"), findings)
    return Checked(Crash(_reason(kernel, status, findings)), findings)


def _reason(kernel: Kernel, status: Status, findings: Sequence[Finding]) -> str:
    if status is Status.ABANDONED and findings:
        return findings[-1].message
    return f"kernel {kernel.name!r}: the launch ended as {status.name.lower()}"
