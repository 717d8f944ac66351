"""What the devices of shader languages have in common: texts of single kernels, run by a worker.

Defines `Shaders` and `ShaderOptions`. Relies on the emitter, the isolation of jobs and a runner
whose libraries are JSON files of texts by symbol. Kernels have texts of their own, because drivers
compile a module anew for each of its entry points; equal texts are compiled once.
"""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tang.device.base import Compiled, Job, Outcome
from tang.device.compiler import default_cache
from tang.device.isolation import Isolation, Runner
from tang.device.texts import TextStore, made_folder
from tang.emit.unit import emit_unit
from tang.kernel.ir import Kernel

BUILD: Final = 300.0
"""Seconds that a batch of texts may take to compile."""

QUICK: Final = {"GALLIVM_PERF": "nopt", "LP_NATIVE_VECTOR_WIDTH": "128"}
"""Mesa without optimisation: the same bits, in half the time. Mesa's cache tells them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShaderOptions:
    """How kernels are built.

    optimize   whether a software driver optimises in the worker
    cache      folder of texts; None is `tang` in the user's cache folder
    memory     bytes that the buffers of a request may need
    """

    optimize: bool = True
    cache: Path | None = None
    memory: int = 2**31


class Shaders:
    """Compiles kernels of one language in a worker, and runs jobs there."""

    def __init__(self, language: str, script: str, options: ShaderOptions | None = None) -> None:
        """`script` is that of the runner, beside this file."""
        chosen = options or ShaderOptions()
        self._language = language
        self._texts = TextStore(made_folder(chosen.cache or default_cache()), f".{language}.json")
        runner = Runner(
            script=Path(__file__).with_name(script),
            flags=("-P",),
            env={} if chosen.optimize else QUICK,
            threads=os.cpu_count() or 1,
            patience=10.0,
        )
        self._isolation = Isolation(chosen.memory, runner)
        weakref.finalize(self, self._isolation.close)  # whoever forgets to close

    def compile(self, kernels: Sequence[Kernel]) -> tuple[Compiled, ...]:
        """Compile kernels; raises DeviceError with the driver's words when it refuses one."""
        if not kernels:
            return ()
        found = [self._emitted(k) for k in kernels]
        library = self._library(found)
        return tuple(
            Compiled(k, self._language, symbol, library)
            for k, (symbol, _) in zip(kernels, found, strict=True)
        )

    def compile_text(self, kernel: Kernel, text: str, symbol: str) -> Compiled:
        """Compile a foreign text that binds what an emitted one would."""
        return Compiled(kernel, self._language, symbol, self._library([(symbol, text)]), text)

    def text(self, compiled: Compiled) -> str:
        """The text that a library holds for a kernel."""
        texts: dict[str, str] = json.loads(Path(compiled.library).read_text("utf-8"))
        return texts[compiled.symbol]

    def start(self) -> None:
        """Start the worker; raises DeviceError when the device cannot run here."""
        self._library([])

    def run(self, jobs: Sequence[Job], deadline: float) -> tuple[Outcome, ...]:
        """Run jobs in the worker, each within the deadline in seconds."""
        return self._isolation.run(jobs, deadline)

    def close(self) -> None:
        """End the worker; a later `run` starts another."""
        self._isolation.close()

    def _emitted(self, kernel: Kernel) -> tuple[str, str]:
        unit = emit_unit((kernel,), self._language)
        digest = hashlib.blake2b(unit.text.encode(), digest_size=6).hexdigest()
        return f"{unit.symbols[0]}@{digest}", unit.text

    def _library(self, texts: Iterable[tuple[str, str]]) -> str:
        path = str(self._texts.path(json.dumps(dict(texts), indent=1)))
        self._isolation.build(path, BUILD)
        return path
