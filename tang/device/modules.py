"""What devices of whole modules have in common: the texts of many kernels as one, run by a worker.

Defines `Modules`. Relies on the emitter, on the isolation of jobs and on a runner whose libraries
are texts in files named by their content. It is `Shaders` for compilers that take any number of
entry points at once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Final

from tang.device.base import Compiled, Job, Limits, Outcome
from tang.device.isolation import CompilerCrashError, Isolation, Runner
from tang.device.texts import TextStore, check_workgroups, seconds_of
from tang.emit.unit import emit_unit
from tang.kernel.ir import Kernel

BUILD: Final = 300.0
"""Seconds that a module may take to compile."""

TIMING: Final = 60.0
"""Seconds that a job which is timed may take."""


class Modules:
    """Compiles kernels of one language in a worker, and runs jobs there."""

    def __init__(
        self,
        language: str,
        texts: TextStore,
        memory: int,
        runner: Runner,
        limits: Callable[[], tuple[Limits, str]],
        again: str = "",
    ) -> None:
        """`limits` (with the device's description) are asked when first needed.

        again  what is put before a text on which the compiler crashed, for a second try
        """
        self._language = language
        self._texts = texts
        self._limits = limits
        self._again = again
        self._isolation = Isolation(memory, runner)
        weakref.finalize(self, self._isolation.close)  # whoever forgets to close

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels as one module; the compiler may crash or hang without harm."""
        if not kernels:
            return ()
        check_workgroups(kernels, *self._limits())
        unit = emit_unit(kernels, self._language)
        library = self._library(unit.text)
        return tuple(
            Compiled(k, self._language, symbol, library)
            for k, symbol in zip(kernels, unit.symbols, strict=True)
        )

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text whose `symbol` has the parameters and scalars of `kernel`."""
        check_workgroups((kernel,), *self._limits())
        return Compiled(kernel, self._language, symbol, self._library(text), text)

    def time(self, job: Job) -> tuple[float, ...]:
        """Seconds of each repetition; raises DeviceError unless the job ran."""
        (outcome,) = self.run((job,), TIMING)
        return seconds_of(job, outcome)

    def run(self, jobs: Sequence[Job], deadline: float) -> tuple[Outcome, ...]:
        """Run jobs, each within the deadline in seconds."""
        return self._isolation.run(jobs, deadline)

    def close(self) -> None:
        """End the worker; a later `run` starts another."""
        self._isolation.close()

    def _library(self, text: str) -> str:
        """The file of a text, which the worker has compiled."""
        path = str(self._texts.path(text))
        try:
            self._isolation.build(path, BUILD)
        except CompilerCrashError:
            if not self._again:
                raise
            path = str(self._texts.path(self._again + text))
            self._isolation.build(path, BUILD)
        return path
