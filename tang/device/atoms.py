"""A GPU asked what its tensor cores, builtins and operations give.

Defines `AtomProbe` with its answers `Scan` and `Sampled`. Relies on the texts of `atoms_text.py`
and `atoms_functions.py`, compiled and launched by a CUDA device, so that a crash is an outcome;
SIMT runs all but matrix instructions. It judges nothing: `budget/selftest.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from tang.device.atoms_functions import THREADS, check_symbol, functions_text, scan_symbol
from tang.device.atoms_text import (
    QUESTIONS,
    askable,
    atoms_text,
    copies_of,
    symbol_of,
    threads_of,
)
from tang.device.base import Compiled, Job, Outcome, Ran
from tang.device.storage import AnyArray
from tang.errors import DeviceError
from tang.ir.format import any_format
from tang.ir.tensorcore import FusedDot
from tang.kernel import ir as k

EVERY: Final = 2**32
"""Arguments of a function of one f32, and samples of anything else."""

_DEADLINE: Final = 120.0
_GROUPS: Final = 1024
_OWN: Final = {"sm_90": "sm_90a"}
"""Architectures whose matrix instructions are not in the common set."""


class Asked(Protocol):
    """What a probe needs of a device: see `Device`."""

    def compile_text(self, kernel: k.Kernel, text: str, symbol: str) -> Compiled: ...
    def run(self, jobs: Sequence[Job], deadline: float = 10.0) -> tuple[Outcome, ...]: ...


@dataclass(frozen=True, slots=True)
class Scan:
    """A function over many arguments.

    ulp, at        the largest error of normal arguments and results, in ulps, and where
    small, at_small  the same where the argument or the result is subnormal
    wrong, at_wrong  results of another kind (NaN, infinities), and the first of them
    """

    function: str
    count: int
    ulp: float
    at: tuple[float, ...]
    small: float
    at_small: tuple[float, ...]
    wrong: int
    at_wrong: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sampled:
    """An operation over samples: how many results are not those of IEEE, and the first in words."""

    operation: str
    count: int
    wrong: int
    example: str = ""


class AtomProbe:
    """Asks one device of an architecture such as "sm_90"; DeviceError where it does not answer."""

    def __init__(self, device: Asked, architecture: str, atoms: Sequence[FusedDot] = ()) -> None:
        """`atoms` are those that will be asked: their kernels are compiled together."""
        self._device = device
        self._text = _pragma(architecture) + atoms_text([a for a in atoms if askable(a)])
        self._functions = functions_text()

    def ask(self, atom: FusedDot, a: AnyArray, b: AnyArray, c: AnyArray) -> AnyArray:
        """Bits of the results, shape (n, copies), for bits of factors (n, k) and addends (n,)."""
        count = len(c)
        whole = -(-count // QUESTIONS) * QUESTIONS
        params = (*(_words(n, False) for n in "abc"), _words("d", True))
        kernel = k.Kernel("ask", params, (), (), workgroup=threads_of(atom))
        compiled = self._device.compile_text(kernel, self._text, symbol_of(atom))
        result = np.dtype(f"u{any_format(atom.result).bits // 8}")
        out = np.full(whole * copies_of(atom) * result.itemsize // 4, 0xA5A5A5A5, np.uint32)
        given = tuple(_padded(x, whole) for x in (a, b, c))
        (done,) = self._ran([Job(compiled, (*given, out), (), whole // QUESTIONS)], symbol_of(atom))
        answers = done.memories[-1].data.view(result).reshape(whole, copies_of(atom))
        return np.ascontiguousarray(answers[:count])

    def scan(self, function: str, first: int = 0, count: int = EVERY) -> Scan:
        """A function over the arguments whose bits are first … first + count − 1, or samples."""
        n = _GROUPS * THREADS
        params = (_words("at", True), k.Param("worst", k.F64, True), k.Param("wrong", k.I64, True))
        buffers = (np.zeros(6 * n, np.uint32), np.zeros(2 * n), np.zeros(n, np.int64))
        at, worst, wrong = self._many(scan_symbol(function), params, buffers, first, count)
        places = at.view(np.float32).reshape(n, 3, 2)
        errors = worst.reshape(n, 2)
        most, small, bad = (int(np.argmax(x)) for x in (errors[:, 0], errors[:, 1], wrong))
        arity = 2 if function == "atan2" else 1
        found = [tuple(map(float, places[i, j, :arity])) for j, i in enumerate((most, small, bad))]
        return Scan(
            function=function,
            count=count,
            ulp=float(errors[most, 0]),
            at=found[0],
            small=float(errors[small, 1]),
            at_small=found[1],
            wrong=int(wrong.sum()),
            at_wrong=found[2],
        )

    def check(self, operation: str, first: int = 0, count: int = EVERY) -> Sampled:
        """An operation over so many samples against IEEE arithmetic."""
        n = _GROUPS * THREADS
        params = (_words("at", True), k.Param("wrong", k.I64, True))
        buffers = (np.zeros(5 * n, np.uint32), np.zeros(n, np.int64))
        at, wrong = self._many(check_symbol(operation), params, buffers, first, count)
        total, worst = int(wrong.sum()), int(np.argmax(wrong))
        if not total:
            return Sampled(operation, count, 0)
        x, y, z, got, right = (float(v) for v in at.view(np.float32).reshape(n, 5)[worst])
        example = f"of {x!r}, {y!r}, {z!r} it gives {got!r}, not {right!r}"
        return Sampled(operation, count, total, example)

    def _many(
        self, symbol: str, params: tuple[k.Param, ...], buffers: tuple[AnyArray, ...],
        first: int, count: int,
    ) -> tuple[AnyArray, ...]:  # fmt: skip
        scalars = (k.Var(k.I64, "first"), k.Var(k.I64, "count"))
        kernel = k.Kernel(symbol, params, scalars, (), workgroup=THREADS)
        compiled = self._device.compile_text(kernel, self._functions, symbol)
        (done,) = self._ran([Job(compiled, buffers, (first, count), _GROUPS)], symbol)
        return tuple(m.data for m in done.memories)

    def _ran(self, jobs: Sequence[Job], what: str) -> list[Ran]:
        found = []
        for outcome in self._device.run(jobs, _DEADLINE):
            if not isinstance(outcome, Ran):
                raise DeviceError(f"{what} did not run: {outcome}")
            found.append(outcome)
        return found


def _pragma(architecture: str) -> str:
    """What the CUDA runner reads as a further option: of two architectures the last one counts."""
    own = _OWN.get(architecture)
    return f"/* nvrtc: --gpu-architecture={own} */\n" if own else ""


def _words(name: str, writable: bool) -> k.Param:
    return k.Param(name, k.U32, writable)


def _padded(bits: AnyArray, rows: int) -> AnyArray:
    """Bits as 32-bit words, with rows of zeros after them."""
    full = np.zeros((rows, *bits.shape[1:]), bits.dtype)
    full[: len(bits)] = bits
    return np.ascontiguousarray(full).reshape(-1).view(np.uint32)


__all__ = ["EVERY", "Asked", "AtomProbe", "Sampled", "Scan"]
