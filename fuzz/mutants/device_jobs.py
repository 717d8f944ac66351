"""Mutants of devices: right texts, wrongly launched, on wrong memory.

Defines `DEVICE_JOBS`. Relies on the functions of the isolation of jobs, which every device uses,
and on how units name kernels. Each must be found on the rung `emit`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from tang.fuzz.mutants.apply import SIX, Mutant
from tang.kernel.ir import Kernel, Param
from tang.verify import Rung, Verdict

Function = Callable[..., Any]

_ISOLATION: Final = "tang.device.isolation:"
_ANY: Final = frozenset(
    {
        Verdict.WRONG, Verdict.UNWRITTEN, Verdict.STRAY_WRITE, Verdict.OUT_OF_BOUNDS,
        Verdict.NONDETERMINISTIC, Verdict.RACE, Verdict.CRASH, Verdict.TIMEOUT,
    }
)  # fmt: skip
_MISSED: Final = frozenset({Verdict.UNWRITTEN, Verdict.WRONG, Verdict.NONDETERMINISTIC})
_STRAY: Final = frozenset({Verdict.STRAY_WRITE})
_BY_REQUEST: Final = ("c", "opencl", "wgsl", "glsl")
"""Languages whose scalars and grid are in the request: SIMT has them in a record of its own."""
_GUARD: Final = 256
_RECORD: Final = "simt_record"
"""How SIMT calls a buffer of its own."""


def _request(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Function:
    """A job that is described otherwise to the worker."""

    def make(original: Function) -> Function:
        def described(job: Any, placed: Any) -> dict[str, Any]:  # noqa: ANN401
            found: dict[str, Any] = original(job, placed)
            return {**found, **change(found)}

        return described

    return make


def _first_two_buffers(job: dict[str, Any]) -> dict[str, Any]:
    return {key: (*reversed(job[key][:2]), *job[key][2:]) for key in ("buffers", "sizes")}


def _reversed_scalars(job: dict[str, Any]) -> dict[str, Any]:
    values = [v for _, v in job["scalars"]]
    pairs = zip(job["scalars"], reversed(values), strict=True)
    return {"scalars": [(kind, value) for (kind, _), value in pairs]}


def _short_scalars(job: dict[str, Any]) -> dict[str, Any]:
    return {"scalars": [(kind, value & 3) for kind, value in job["scalars"]]}


def _one_group_less(job: dict[str, Any]) -> dict[str, Any]:
    return {"groups": job["groups"] - 1 if job["groups"] > 1 else job["groups"]}


def _next_element(job: dict[str, Any]) -> dict[str, Any]:
    return {"buffers": [job["buffers"][0] + 4, *job["buffers"][1:]]}


def _first_buffer_twice(job: dict[str, Any]) -> dict[str, Any]:
    first = job["buffers"][0]
    return {"buffers": [first, first, *job["buffers"][2:]]}


def _results(change: Callable[[Any, Any], Any]) -> Function:
    """Every memory that a kernel may write to is read back changed.

    change  gives the new contents from the memory and from what it held before the launch
    """

    def make(original: Function) -> Function:
        def read(arena: Any, job: Any, placed: Any, seconds: Any) -> Any:  # noqa: ANN401
            ran = original(arena, job, placed, seconds)
            rows = zip(job.compiled.kernel.params, ran.memories, job.buffers, strict=True)
            return replace(ran, memories=tuple(_changed(change, *row) for row in rows))

        return read

    return make


def _changed(change: Callable[[Any, Any], Any], param: Param, memory: Any, before: Any) -> Any:  # noqa: ANN401
    if not param.writable or param.name == _RECORD or not memory.data.size:
        return memory
    flat = change(memory.data.reshape(-1), before.reshape(-1))
    return replace(memory, data=flat.reshape(memory.data.shape).copy())


def _one_late(data: Any, before: Any) -> Any:  # noqa: ANN401
    return np.roll(data, -1)


def _stale(data: Any, before: Any) -> Any:  # noqa: ANN401
    return before


def _one_short(data: Any, before: Any) -> Any:  # noqa: ANN401
    return np.concatenate((data[:-1], before[-1:]))


def _backwards(data: Any, before: Any) -> Any:  # noqa: ANN401
    return data[::-1]


def _zone_after_missing(original: Function) -> Function:
    """The zones behind buffers are not filled."""

    def write(arena: Any, job: Any, placed: Any) -> None:  # noqa: ANN401
        original(arena, job, placed)
        for data, at in zip(job.buffers, placed.offsets, strict=True):
            arena[at + data.nbytes : at + data.nbytes + _GUARD] = bytes(_GUARD)

    return write


def _zone_overwritten(original: Function) -> Function:
    """The zone before a buffer ends too early by one byte."""

    def write(arena: Any, job: Any, placed: Any) -> None:  # noqa: ANN401
        original(arena, job, placed)
        for at in placed.offsets:
            arena[at - 1 : at] = b"\0"

    return write


def _shifted_upload(original: Function) -> Function:
    """Inputs arrive with their elements moved by one place."""

    def write(arena: Any, job: Any, placed: Any) -> None:  # noqa: ANN401
        original(arena, job, placed)
        params = job.compiled.kernel.params
        for param, data, at in zip(params, job.buffers, placed.offsets, strict=True):
            if not param.writable and data.size > 1:
                arena[at : at + data.nbytes] = np.roll(data.reshape(-1), -1).tobytes()

    return write


def _stale_upload(original: Function) -> Function:
    """Inputs keep the zeros of fresh memory."""

    def write(arena: Any, job: Any, placed: Any) -> None:  # noqa: ANN401
        original(arena, job, placed)
        params = job.compiled.kernel.params
        for param, data, at in zip(params, job.buffers, placed.offsets, strict=True):
            if not param.writable:
                arena[at : at + data.nbytes] = bytes(data.nbytes)

    return write


def _half_upload(original: Function) -> Function:
    """The second half of an input does not arrive."""

    def write(arena: Any, job: Any, placed: Any) -> None:  # noqa: ANN401
        original(arena, job, placed)
        params = job.compiled.kernel.params
        for param, data, at in zip(params, job.buffers, placed.offsets, strict=True):
            if not param.writable:
                half = data.nbytes // 2
                arena[at + half : at + data.nbytes] = bytes(data.nbytes - half)

    return write


def _shared_pages(original: Function) -> Function:
    """All jobs of a request lie on the pages of the first."""

    def layout(jobs: Any, limit: int, align: int) -> Any:  # noqa: ANN401
        count, placed, size = original(jobs, limit, align)
        if not placed:
            return count, placed, size
        start = placed[0].start
        moved = [
            replace(p, start=start, offsets=tuple(at - p.start + start for at in p.offsets))
            for p in placed
        ]
        return count, moved, size

    return layout


def _next_symbols(original: Function) -> Function:
    """Every kernel of a unit has its neighbour's symbol."""

    def emit_unit(kernels: Any, language: str = "c") -> Any:  # noqa: ANN401
        unit = original(kernels, language)
        return replace(unit, symbols=(*unit.symbols[1:], *unit.symbols[:1]))

    return emit_unit


def _two_scalars(kernel: Kernel) -> bool:
    return len(kernel.scalars) > 1


def _any_scalar(kernel: Kernel) -> bool:
    return bool(kernel.scalars)


def _any_input(kernel: Kernel) -> bool:
    return any(not p.writable for p in kernel.params)


def _two_buffers(kernel: Kernel) -> bool:
    return len(kernel.params) > 1


def _job(
    name: str,
    what: str,
    function: str,
    make: Function,
    verdicts: frozenset[Verdict] = _ANY,
    where: Callable[[Kernel], bool] | None = None,
    languages: tuple[str, ...] = SIX,
) -> Mutant:
    path = _ISOLATION + function
    return Mutant(name, what, path, make, Rung.EMIT, None, languages, verdicts, where, blind=True)


_LAUNCHES: Final = (
    _job("bindings-swapped", "the first two buffers of a launch are exchanged", "_described",
         _request(_first_two_buffers), where=_two_buffers),
    _job("one-buffer-for-two", "the first two parameters are bound to one buffer", "_described",
         _request(_first_buffer_twice), where=_two_buffers),
    _job("launch-scalars-swapped", "scalars are passed in reverse", "_described",
         _request(_reversed_scalars), where=_two_scalars, languages=_BY_REQUEST),
    _job("launch-scalars-short", "two bits of a scalar are passed", "_described",
         _request(_short_scalars), where=_any_scalar, languages=_BY_REQUEST),
    _job("grid-one-short", "the last workgroup is not launched", "_described",
         _request(_one_group_less), _MISSED, languages=_BY_REQUEST),
    _job("buffer-four-bytes-late", "the first buffer is bound from its second word on",
         "_described", _request(_next_element), languages=("c", "cuda", "msl")),
)  # fmt: skip

_MEMORIES: Final = (
    _job("download-one-late", "results are read from their second element on", "_read",
         _results(_one_late), _MISSED),
    _job("download-stale", "memories are what they were before the launch", "_read",
         _results(_stale), _MISSED),
    _job("download-one-short", "the last element is not read back", "_read",
         _results(_one_short), _MISSED),
    _job("download-backwards", "memories are read backwards", "_read",
         _results(_backwards), _MISSED),
    _job("guard-not-filled", "the zone behind a buffer is not filled", "_write",
         _zone_after_missing, _STRAY),
    _job("guard-overwritten", "the last byte before a buffer is overwritten", "_write",
         _zone_overwritten, _STRAY),
    _job("upload-shifted", "inputs arrive one place off", "_write", _shifted_upload,
         where=_any_input),
    _job("upload-stale", "inputs are what the memory held before", "_write", _stale_upload,
         where=_any_input),
    _job("upload-half", "half of an input arrives", "_write", _half_upload, where=_any_input),
    _job("pages-shared", "all jobs lie on the same pages", "_layout", _shared_pages),
)  # fmt: skip

_UNITS: Final = (
    Mutant("symbols-shifted", "a kernel is launched under its neighbour's symbol",
           "tang.emit.unit:emit_unit", _next_symbols, Rung.EMIT, None,
           ("c", "opencl", "cuda", "msl"), _ANY, blind=True),
)  # fmt: skip

DEVICE_JOBS: Final = (*_LAUNCHES, *_MEMORIES, *_UNITS)
