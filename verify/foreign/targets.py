"""Targets: where foreign kernel text runs, unmodified.

Defines `Target`, `open_target` and the targets behind it: host C, OpenCL, CUDA on a GPU, CUDA and
MSL on the CPU. Relies on tang's devices and their isolation, so that whatever a kernel does becomes
an outcome. It judges nothing but what the checks of SIMT report, which become faults here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Final, Protocol

from tang.device import simt
from tang.device.base import Compiled, Job, Outcome, Ran
from tang.device.compiler import CompilerOptions, default_cache, open_compiler
from tang.device.isolation import Isolation, Runner
from tang.device.opencl import ALIGN, _variables
from tang.device.texts import TextStore, made_folder
from tang.errors import DeviceError, LimitError
from tang.kernel.ir import Kernel, Param, Type, Var
from tang.verify.foreign.binding import BoundLaunch, Buffer, Scalar, Shared
from tang.verify.foreign.cases import Case
from tang.verify.foreign.criterion import Fault
from tang.verify.foreign.judge import REPEATS
from tang.verify.foreign.launch import LaunchError
from tang.verify.foreign.memory import filled
from tang.verify.verdict import Verdict

_BUILD: Final = 300.0
_MEMORY: Final = 2**31
_ALIGNED: Final = 16


class Target(Protocol):
    """One text on one device. Every method raises DeviceError for what the target cannot run."""

    @property
    def name(self) -> str: ...
    @property
    def note(self) -> str:
        """What the reader must know of these runs; "" for nothing."""
        ...

    def build(self, launch: BoundLaunch) -> None:
        """Compile the text, once."""
        ...

    def run(self, case: Case, deadline: float) -> tuple[Outcome, ...]:
        """One outcome per entry of REPEATS; the first alone when it fails."""
        ...

    def check(self, case: Case, deadline: float) -> list[Fault]:
        """What an instrumented run shows; empty where there is none."""
        ...

    def close(self) -> None:
        """End processes."""
        ...


def open_target(language: str, backend: str | None, text: str, symbol: str) -> Target:
    """The target for a language; raises DeviceError when it is unknown or cannot run here."""
    name = backend or _default(language)
    known = {"c": ("c",), "opencl": ("opencl",), "cuda": ("cuda", "simt"), "msl": ("simt",)}
    if language not in known:
        raise DeviceError(f"foreign kernels are {', '.join(known)}, not {language!r}")
    if name not in known[language]:
        raise DeviceError(f"{language} runs on {' or '.join(known[language])}, not {name!r}")
    if name == "simt":
        return OnSimt(language, text, symbol)
    return OnDevice(name, text, symbol)


def _default(language: str) -> str:
    if language == "msl":
        return "simt"
    if language == "cuda":
        return "cuda" if _has_gpu() else "simt"
    return language


def _has_gpu() -> bool:
    from tang.device.cuda import Cuda

    try:
        Cuda().close()
    except DeviceError:
        return False
    return True


def kernel_of(launch: BoundLaunch, symbol: str) -> Kernel:
    """The parameters as a kernel without a body: buffers, then scalars."""
    return Kernel(
        symbol,
        tuple(Param(b.name, b.type, b.writable) for b in launch.buffers),
        tuple(Var(s.type, s.name) for s in launch.scalars),
        (),
        prod(launch.workgroup or (1, 1, 1)),
    )


class OnSimt:
    """CUDA and MSL text on the CPU, plain runs and checked ones."""

    note: Final = ""

    def __init__(self, language: str, text: str, symbol: str) -> None:
        self.name: Final = f"simt-{language}"
        self._device = simt.Simt("msl" if language == "msl" else "cuda", memory=_MEMORY)
        self._text, self._symbol = text, symbol
        self._compiled: Compiled | None = None

    def build(self, launch: BoundLaunch) -> None:
        """Compile the text against the parameters of the launch."""
        names = tuple(p.name for p in launch.parameters if not isinstance(p, Shared))
        binding = simt.Binding(self._symbol, names, self._areas(launch)[0])
        kernel = kernel_of(launch, self._symbol)
        self._compiled = self._device.compile_text(kernel, self._text, self._symbol, binding)

    def run(self, case: Case, deadline: float) -> tuple[Outcome, ...]:
        """Both poisons twice, threads in ascending order and in others."""
        launches = [self._launch(case, order) for order in range(len(REPEATS))]

        def some(jobs: Sequence[Job], places: slice) -> tuple[Outcome, ...]:
            return self._device.run(jobs, deadline, launches[places])

        return _first_alone(self._jobs(case), some)

    def check(self, case: Case, deadline: float) -> list[Fault]:
        """Races, uninitialised reads, accesses out of bounds and divergent barriers."""
        (checked,) = self._device.check(self._jobs(case)[:1], deadline, [self._launch(case, 0)])
        return [_fault(f, self._text) for f in checked.findings]

    def close(self) -> None:
        """End the worker."""
        self._device.close()

    def _areas(self, launch: BoundLaunch) -> tuple[tuple[int, ...], int]:
        """Where each shared parameter starts, and the bytes of all of them."""
        starts, at = [], 0
        for p in launch.parameters:
            if isinstance(p, Shared):
                starts.append(at)
                at += -(-p.bytes // _ALIGNED) * _ALIGNED
        return tuple(starts) or (0,), at

    def _launch(self, case: Case, order: int) -> simt.Launch:
        launch = case.launch
        shared = launch.shared + self._areas(launch)[1]
        return simt.Launch(
            grid=launch.grid, block=launch.workgroup, shared=shared, order=order, lenient=True
        )

    def _jobs(self, case: Case) -> list[Job]:
        return _jobs(case, _built(self._compiled), with_scalars=True)


def _first_alone(
    jobs: Sequence[Job], run: Callable[[Sequence[Job], slice], tuple[Outcome, ...]]
) -> tuple[Outcome, ...]:
    """Outcomes of all jobs; a kernel that crashes or hangs does it once."""
    first = run(jobs[:1], slice(0, 1))
    if not isinstance(first[0], Ran):
        return first
    return first + run(jobs[1:], slice(1, None))


def _built(compiled: Compiled | None) -> Compiled:
    if compiled is None:
        raise DeviceError("the text was not built")
    return compiled


def _jobs(case: Case, compiled: Compiled, with_scalars: bool) -> list[Job]:
    launch = case.launch
    scalars = tuple(s.value for s in launch.scalars) if with_scalars else ()
    grid = prod(launch.grid or (1, 1, 1))
    return [
        Job(
            compiled,
            tuple(filled(b, case.inputs, poison) for b in launch.buffers),
            scalars,  # type: ignore[arg-type]  # the record of SIMT holds floats as well
            grid,
            poison,
        )
        for poison in REPEATS
    ]


_VERDICTS: Final = {
    simt.Kind.RACE: Verdict.RACE,
    simt.Kind.UNINITIALISED: Verdict.NONDETERMINISTIC,
    simt.Kind.OUT_OF_BOUNDS: Verdict.OUT_OF_BOUNDS,
    simt.Kind.BARRIER_DIVERGENCE: Verdict.RACE,
    simt.Kind.WARP_DIVERGENCE: Verdict.RACE,
    simt.Kind.MISALIGNED: Verdict.CRASH,
    simt.Kind.CONSTANT_WRITE: Verdict.STRAY_WRITE,
    simt.Kind.UNDEFINED: Verdict.WRONG,
    simt.Kind.ASSERTION: Verdict.CRASH,
    simt.Kind.FAULT: Verdict.CRASH,
    simt.Kind.REFUSED: Verdict.CRASH,
}
"""Every kind of finding has a verdict; a test asserts that the table is complete."""


def _fault(finding: simt.Finding, text: str) -> Fault:
    detail = f"line {finding.line}: {finding.source}" if finding.line else ""
    cause = finding.kind.name.lower().replace("_", "-")
    return Fault(_VERDICTS[finding.kind], finding.message, finding.place, cause, detail)


class OnDevice:
    """C, OpenCL and CUDA text on their own devices, through the runner of foreign kernels."""

    def __init__(self, language: str, text: str, symbol: str) -> None:
        self.name: Final = language
        self._text, self._symbol = _ascii(text), symbol
        self._library = self._file(language)
        self._isolation = Isolation(_MEMORY, _runner(language, symbol))
        self._kernel: Kernel | None = None
        self._instrumented: OnSimt | None = None
        self.note = "" if language == "c" else "no check for races"

    def build(self, launch: BoundLaunch) -> None:
        """Compile the text in the worker; CUDA on the CPU as well, for the instrumented runs."""
        for p in launch.parameters:
            wrong = isinstance(p, Shared) and self.name != "opencl"
            wrong = wrong or (isinstance(p, Scalar) and p.type is Type.BF16)
            if wrong or (self.name == "c" and isinstance(p, Scalar) and p.type is Type.F16):
                raise LaunchError(f"parameter {p.name!r}: {self.name} takes none of its kind")
        if (launch.grid or launch.workgroup) and self.name == "c":
            raise LaunchError("grid: a C kernel is one call; leave out grid and workgroup")
        self._kernel = kernel_of(launch, self._symbol)
        self._isolation.build(self._library, _BUILD)
        if self.name == "cuda":
            self._instrument(launch)

    def _instrument(self, launch: BoundLaunch) -> None:
        """Prepare instrumented runs on the CPU, or say why there are none."""
        try:
            checker = OnSimt("cuda", self._text, self._symbol)
            checker.build(launch)
        except (DeviceError, LimitError) as e:
            self.note = f"no check for races: {str(e).splitlines()[0]}"
        else:
            self._instrumented, self.note = checker, "races checked on the CPU"

    def run(self, case: Case, deadline: float) -> tuple[Outcome, ...]:
        """Both poisons twice."""
        if self._kernel is None:
            raise DeviceError("the text was not built")
        how = _symbol(case.launch, self._symbol)
        kernel = Kernel(self._kernel.name, self._kernel.params, (), ())
        compiled = Compiled(kernel, self.name, how, self._library, self._text)
        jobs = _jobs(case, compiled, with_scalars=False)
        return _first_alone(jobs, lambda some, _: self._isolation.run(some, deadline))

    def check(self, case: Case, deadline: float) -> list[Fault]:
        """CUDA text on the CPU, as far as it runs there; nothing for other languages."""
        return [] if self._instrumented is None else self._instrumented.check(case, deadline)

    def close(self) -> None:
        """End the workers."""
        self._isolation.close()
        if self._instrumented is not None:
            self._instrumented.close()

    def _file(self, language: str) -> str:
        if language == "c":
            return str(open_compiler(CompilerOptions()).library(self._text))
        return str(TextStore(made_folder(default_cache()), f".{language}").path(self._text))


def _symbol(launch: BoundLaunch, symbol: str) -> str:
    """How to launch, for the runner."""
    arguments: list[list[object]] = []
    buffers = 0
    for p in launch.parameters:
        if isinstance(p, Buffer):
            arguments.append(["buffer", buffers])
            buffers += 1
        elif isinstance(p, Shared):
            arguments.append(["shared", p.bytes])
        else:
            arguments.append(["scalar", p.type.value, p.value])
    return json.dumps(
        {
            "symbol": symbol,
            "arguments": arguments,
            "grid": launch.grid or (1, 1, 1),
            "workgroup": launch.workgroup or (1, 1, 1),
            "shared": launch.shared,
        }
    )


@dataclass(frozen=True, slots=True)
class _Base:
    """tang's own runner of a language, and what it needs."""

    file: str
    options: dict[str, object]
    flags: tuple[str, ...] = ("-I",)
    align: int = 256


def _runner(language: str, symbol: str) -> Runner:
    bases = {
        "c": _Base("", {}, ("-I", "-S")),
        "opencl": _Base("runner_opencl.py", {"device": "", "optimize": True}, align=ALIGN),
        "cuda": _Base("runner_cuda.py", {"number": 0, "symbol": symbol}),
    }
    base = bases[language]
    device = Path(simt.__file__).parent.parent
    return Runner(
        script=Path(__file__).with_name("runner.py"),
        options={"language": language, "base": str(device / base.file), **base.options},
        flags=base.flags,
        env=_variables(default_cache()) if language == "opencl" else {},
        align=base.align,
    )


def _ascii(text: str) -> str:
    """The text with characters beyond ASCII, which only comments may have, replaced."""
    return text.encode("ascii", "replace").decode("ascii")
