"""The compiler as one call: graph in, program out.

Defines `compile`, `Program`, `emit` and `kernel_texts`. Relies on lowering, expand-math, the
emitters and the devices. It does not verify anything: `tang.verify` does, from outside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tang.device.base import Allocation, Compiled, Device, Job, Ran
from tang.device.compiler import CompilerOptions
from tang.device.host_c import HostC
from tang.device.narrow import pack_buffer, unpack_buffer
from tang.device.storage import AnyArray, Poison, checked_input, poisoned
from tang.emit.unit import DIALECTS, builtins_of, emit
from tang.errors import DeviceError, GraphError, LimitError, ScheduleError, TangBugError
from tang.ir.bind import bind, infer_sizes
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.kernel.expand import expand_math, pack_codes
from tang.kernel.ir import Kernel, Type
from tang.kernel.lower import lower
from tang.kernel.plan import Buffer, Plan, Role
from tang.kernel.schedule import Schedule
from tang.rewrite import Rewritten, rewrite
from tang.schedule import schedule_auto

__all__ = ["KernelText", "Program", "compile", "emit", "kernel_texts"]

Math = Literal["portable", "native"]

_ISOLATED_DEADLINE: Final = 60.0
_BINDINGS: Final = 64


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel as text: its name, its language, and a complete text that holds it alone."""

    name: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class _Step:
    """A launch with its numbers: scalars and the count of workgroups."""

    compiled: Compiled
    buffers: tuple[str, ...]
    scalars: tuple[int, ...]
    groups: int


@dataclass(frozen=True, slots=True)
class _Bound:
    """A plan under one binding: shapes of its buffers, launches that have threads."""

    shapes: Mapping[str, tuple[int, ...]]
    steps: tuple[_Step, ...]


class Program:
    """A compiled graph: call it with arrays by input name, get arrays by output name.

    Symbolic extents are taken from the shapes of the inputs at each call. Inputs are never
    written to and never returned.

    graph  as it was given;  trace  how it was rewritten;  plan  buffers and launches of the result
    unchecked  rewrites that check=True could not evaluate: their numeric extents are too large
    """

    def __init__(
        self,
        graph: Graph,
        rewritten: Rewritten,
        plan: Plan,
        device: Device,
        isolate: bool,
        unchecked: int = 0,
    ) -> None:
        self.graph: Final = graph
        self.trace: Final = rewritten.trace
        self.unchecked: Final = unchecked
        self.plan: Final = plan
        self._device: Final = device
        self._isolate: Final = isolate
        kernels = [step.kernel for step in plan.launches]
        self._compiled: Final = device.compile(kernels)
        self._bound: Final = functools.lru_cache(maxsize=_BINDINGS)(self._bind)

    @functools.cached_property
    def kernels(self) -> tuple[KernelText, ...]:
        """The kernels in program order."""
        return tuple(KernelText(c.kernel.name, c.language, c.text) for c in self._compiled)

    def __call__(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, AnyArray]:
        """Run the program; raises GraphError for inputs that do not fit, naming them.

        Sizes under which a view leaves its source, or a reduction lacks elements, do not fit.
        """
        arrays = _checked(self.graph, inputs)
        bound = self._bound(tuple((name, a.shape) for name, a in arrays.items()))
        held = self._isolated(bound, arrays) if self._isolate else self._direct(bound, arrays)
        return self._results(bound, held)

    def _direct(self, bound: _Bound, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        device = self._device
        held: dict[str, Allocation] = {}
        for b in self.plan.buffers:
            if b.role is Role.INPUT:
                held[b.name] = device.upload(b.type, _packed(b, arrays))
            else:
                held[b.name] = _allocated(device, b.name, b.type, bound.shapes[b.name])
        for s in bound.steps:
            device.launch(s.compiled, [held[n] for n in s.buffers], s.scalars, s.groups)
        wanted = {r.buffer for r in self.plan.results}
        return {name: device.download(held[name]) for name in wanted}

    def _isolated(self, bound: _Bound, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        held: dict[str, AnyArray] = {}
        for b in self.plan.buffers:
            if b.role is Role.INPUT:
                held[b.name] = _packed(b, arrays)
            else:
                held[b.name] = poisoned(b.type, bound.shapes[b.name], Poison.NAN)
        for s in bound.steps:
            job = Job(s.compiled, tuple(held[n] for n in s.buffers), s.scalars, s.groups)
            (outcome,) = self._device.run((job,), _ISOLATED_DEADLINE)
            if not isinstance(outcome, Ran):
                raise DeviceError(f"kernel {s.compiled.kernel.name!r} ended with {outcome}")
            held.update(zip(s.buffers, (m.data for m in outcome.memories), strict=True))
        return held

    def _results(self, bound: _Bound, held: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        results: dict[str, AnyArray] = {}
        given: set[str] = set()
        for r in self.plan.results:
            b = self.plan.buffer(r.buffer)
            array = unpack_buffer(held[b.name].reshape(bound.shapes[b.name]), b)
            shared = b.role is Role.INPUT or b.name in given
            results[r.name] = array.copy() if shared else array
            given.add(b.name)
        return results

    def _bind(self, given: tuple[tuple[str, tuple[int, ...]], ...]) -> _Bound:
        sizes = infer_sizes(self.graph, dict(given))
        self._check_facts(sizes)
        validate(bind(self.graph, sizes))
        shapes = {b.name: tuple(p.evaluate(sizes) for p in b.shape) for b in self.plan.buffers}
        steps = []
        for launch, compiled in zip(self.plan.launches, self._compiled, strict=True):
            groups = -(-launch.threads.evaluate(sizes) // launch.kernel.workgroup)
            scalars = tuple(p.evaluate(sizes) for p in launch.scalars)
            _check_scalars(launch.kernel, scalars)
            if groups > 0:
                steps.append(_Step(compiled, launch.buffers, scalars, groups))
        return _Bound(shapes, tuple(steps))

    def _check_facts(self, sizes: Mapping[str, int]) -> None:
        for f in self.plan.facts:
            n = sizes.get(f.symbol)
            if n is None:
                continue
            if n < f.minimum or (f.maximum is not None and n > f.maximum) or n % f.multiple:
                top = "" if f.maximum is None else f" ≤ {f.maximum}"
                raise LimitError(
                    f"{f.symbol} = {n}, but the program was compiled for {f.minimum} ≤ "
                    f"{f.symbol}{top}, a multiple of {f.multiple}: compile it for this size"
                )


def compile(
    graph: Graph,
    target: str = "c",
    schedule: Schedule | None = None,
    math: Math = "portable",
    *,
    rules: Iterable[str] | None = None,
    strict: bool = False,
    check: bool = False,
    isolate: bool = False,
    device: Device | None = None,
) -> Program:
    """A program that computes the graph, which is first rewritten.

    rules=None takes the pipeline of `tang.rewrite`, () none; strict=True keeps NaN and infinities
    exactly, where the default assumes finite operands for the rules that say so.
    check=True evaluates every rewrite on a small instance, before and after; RewriteError names
    the rule, the node and the first differing value.
    schedule=None takes that of `schedule_auto`; a schedule names nodes of the rewritten graph
    (`tang.rewrite(graph).graph`, or `program.plan.graph`).
    math="portable" gives the same bits on every device; "native" uses the device's functions,
    and portable ones where its language has none.
    isolate=True runs kernels in a process of their own, where a crash becomes a DeviceError.
    `device` overrides the target's usual one. Raises DeviceError for an unknown target.
    """
    found = device if device is not None else _device(target)
    done, unchecked = _rewritten(graph, rules, strict, check)
    plan = _plan(done.graph, schedule, math, found.language)
    return Program(graph, done, plan, found, isolate, unchecked)


def kernel_texts(
    graph: Graph, target: str = "c", *, rules: Iterable[str] | None = None
) -> tuple[KernelText, ...]:
    """The kernels that a graph compiles to, in program order; needs no compiler or device.

    `target` is a language of `emit`, whether or not a device for it exists here; `rules` are
    those of `compile`.
    """
    _check_target(target, DIALECTS)
    plan = _plan(rewrite(graph, rules).graph, None, "portable", target)
    kernels = (step.kernel for step in plan.launches)
    return tuple(KernelText(k.name, target, emit(k, target)) for k in kernels)


def _rewritten(
    graph: Graph, rules: Iterable[str] | None, strict: bool, check: bool
) -> tuple[Rewritten, int]:
    """The derivation, and how many of its steps could not be checked where that was asked for."""
    if not check:
        return rewrite(graph, rules, strict), 0
    from tang.verify.rewriting import checker  # an oracle, loaded by who asks for it

    judge = checker()
    return rewrite(graph, rules, strict, check=judge), judge.unchecked


def _plan(graph: Graph, schedule: Schedule | None, math: Math, language: str) -> Plan:
    validate(graph)
    if math not in ("portable", "native"):
        raise ScheduleError(f"math is 'portable' or 'native', not {math!r}")
    plan = lower(graph, schedule_auto(graph) if schedule is None else schedule)
    kept = frozenset() if math == "portable" else builtins_of(language)
    cure = "compile with math='native'" if math == "portable" else ""
    return pack_codes(expand_math(plan, kept, cure=cure))


def _host_c() -> Device:
    return HostC(CompilerOptions(optimize="-O2"))


def _opencl() -> Device:
    from tang.device.opencl import OpenCL

    return OpenCL()


def _cuda() -> Device:
    from tang.device.cuda import Cuda

    return Cuda()


def _webgpu() -> Device:
    from tang.device.webgpu import WebGPU

    return WebGPU()


def _opengl() -> Device:
    from tang.device.opengl import OpenGL

    return OpenGL()


_TARGETS: Final[Mapping[str, Callable[[], Device]]] = {
    "c": _host_c,
    "opencl": _opencl,
    "cuda": _cuda,
    "wgsl": _webgpu,
    "glsl": _opengl,
}


def _check_target(target: str, known: Collection[str]) -> None:
    if target not in known:
        raise DeviceError(f"unknown target {target!r}: one of {', '.join(known)}")


@functools.cache
def _device(target: str) -> Device:
    _check_target(target, _TARGETS)
    return _TARGETS[target]()


def _checked(graph: Graph, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, AnyArray]:
    sorts = {i.name: i.sort for i in graph.inputs}
    for name in inputs:
        if name not in sorts:
            raise GraphError(f"no input {name!r}: one of {', '.join(sorts) or '(none)'}")
    return {name: checked_input(name, array, sorts[name]) for name, array in inputs.items()}


def _packed(b: Buffer, arrays: Mapping[str, AnyArray]) -> AnyArray:
    if b.ref is None:
        raise TangBugError(f"input buffer {b.name!r} names no input")
    return pack_buffer(arrays[b.ref.node], b)


def _allocated(device: Device, name: str, t: Type, shape: Sequence[int]) -> Allocation:
    try:
        return device.allocate(t, prod(shape))
    except (MemoryError, ValueError) as e:
        raise LimitError(f"buffer {name!r} of shape {tuple(shape)} does not fit: {e}") from e


def _check_scalars(kernel: Kernel, scalars: Sequence[int]) -> None:
    for var, value in zip(kernel.scalars, scalars, strict=True):
        limit = np.iinfo(np.int32 if var.type is Type.I32 else np.int64).max
        if not -limit - 1 <= value <= limit:
            raise LimitError(
                f"kernel {kernel.name!r}: extent {var.name} = {value} exceeds {var.type.value}"
            )
