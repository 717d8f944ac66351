"""The self-test of a GPU: whether models, function claims and profile are what it computes.

Defines `selftest` with its report `SelfTest`, and `chosen`. Relies on a probe that answers
(`tang/device/atoms.py` on a GPU), on the questions of `emulator/fda_check.py` and on what CUDA
documents. It measures nothing itself and mends nothing: it certifies or refuses.

Every answer of a tensor core must be the model's bit for bit. A function may be off by what its
document says and half an ulp, since documents count from the correctly rounded result, over all
2³² arguments; where a device's profile has measured less, that must be no more. An operation must
give IEEE's bits on every sample exactly where the profile says that it does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

import numpy.typing as npt

from tang.device.atoms import Sampled, Scan
from tang.device.atoms_functions import FUNCTIONS, OPERATIONS, PAIRS
from tang.device.atoms_text import askable
from tang.emulator.fda_check import Questions, Verdict, judge
from tang.errors import FormatError
from tang.ir.tensorcore import ATOMS, FusedDot
from tang.kernel.accuracy import DOCUMENTED
from tang.kernel.ir import F32
from tang.kernel.profile import IEEE, Profile

Array = npt.NDArray[Any]

PARTS: Final = ("functions", "operations")
"""What can be asked besides tensor cores."""

QUESTIONS: Final = 12_500
"""Of each regime and round; an exact fma is slow to model, so f64 gets fewer."""

_SLOW: Final = 25
_ROUNDED: Final = 0.5
_FURTHER_CLAIMS: Final[Mapping[str, float]] = {"rsqrt": 2.0}
"""Of functions that the IR has none of: CUDA C++ Programming Guide, Mathematical Functions."""


class Probe(Protocol):
    """Answers of one device; see `AtomProbe`."""

    def ask(self, atom: FusedDot, a: Array, b: Array, c: Array) -> Array: ...
    def scan(self, function: str) -> Scan: ...
    def check(self, operation: str) -> Sampled: ...


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """A function, the ulps it may be off, what the device's profile measured, and what is wrong."""

    scan: Scan
    allowed: float
    measured: float | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation, whether the profile says that it gives IEEE's bits, and what is wrong."""

    sampled: Sampled
    ieee: bool
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """What a device answered.

    unasked  models of the architecture for which there is no kernel
    """

    device: Mapping[str, str]
    atoms: tuple[Verdict, ...]
    functions: tuple[FunctionRow, ...]
    operations: tuple[OperationRow, ...]
    unasked: tuple[str, ...]
    rounds: int
    seconds: float

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything for which the device is refused, one line each."""
        wrong = [str(v) for v in self.atoms if not v.certified]
        wrong += [fault for row in self.functions for fault in row.faults]
        wrong += [fault for row in self.operations for fault in row.faults]
        return (*wrong, *(f"{name}: there is no kernel that asks it" for name in self.unasked))

    @property
    def certified(self) -> bool:
        """Whether something was asked and nothing was wrong."""
        return bool(self.atoms or self.functions or self.operations) and not self.faults

    def to_data(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "certified": self.certified,
            "device": dict(self.device),
            "faults": list(self.faults),
            "atoms": [v.to_data() for v in self.atoms],
            "functions": [asdict(row) for row in self.functions],
            "operations": [asdict(row) for row in self.operations],
            "unasked": list(self.unasked),
            "rounds": self.rounds,
            "seconds": round(self.seconds, 1),
        }

    def to_text(self) -> str:
        """The report, the verdict first."""
        word = "certified" if self.certified else "refused"
        asked = sum(v.asked for v in self.atoms)
        lines = [
            f"{', '.join(self.device.values())}: {word}; {len(self.atoms)} models on {asked} "
            f"questions, {len(self.functions)} functions, {len(self.operations)} operations, "
            f"{self.seconds:.0f} s",
            *(f"  {fault}" for fault in self.faults),
            *(str(v) for v in self.atoms),
            *(_function_line(row) for row in self.functions),
            *(_operation_line(row) for row in self.operations),
        ]
        return "\n".join(lines)


def _function_line(row: FunctionRow) -> str:
    s = row.scan
    at = ", ".join(f"{x:.9g}" for x in s.at)
    known = "" if row.measured is None else f"; profile {row.measured:.3g}"
    return (
        f"f32 {s.function}: at most {s.ulp:.4g} ulp at {at}, {s.small:.3g} about subnormals, "
        f"{s.wrong} of another kind; allowed {row.allowed:.3g}{known}; {s.count} arguments"
    )


def _operation_line(row: OperationRow) -> str:
    s = row.sampled
    return f"f32 {s.operation}: {s.wrong} of {s.count} samples are not IEEE's"


def chosen(architecture: str, only: str = "") -> tuple[tuple[FusedDot, ...], tuple[str, ...]]:
    """Models and parts to ask: all, or those that hold every word of `only`.

    Raises FormatError where there is none, which names what there is.
    """
    own = tuple(a for a in ATOMS.values() if a.architecture == architecture)
    words = set(only.replace("-", " ").split())
    atoms = tuple(a for a in own if words <= set(a.key))
    parts = PARTS if not words else tuple(p for p in PARTS if words == {p})
    if not own:
        known = ", ".join(sorted({a.architecture for a in ATOMS.values()}))
        raise FormatError(f"there are no models of {architecture}'s tensor cores, only of {known}")
    if not atoms and not parts:
        known = "; ".join(" ".join(a.key) for a in own)
        raise FormatError(f"--only {only!r} names nothing: there are {'; '.join(PARTS)}; {known}")
    return atoms, parts


def selftest(
    probe: Probe,
    device: Mapping[str, str],
    atoms: Sequence[FusedDot],
    parts: Sequence[str] = PARTS,
    profile: Profile = IEEE,
    *,
    count: int = QUESTIONS,
    seconds: float = 0.0,
    say: Callable[[str], None] = lambda line: None,
) -> SelfTest:
    """Ask once, then put further questions to tensor cores while there is time left."""
    start = time.monotonic()
    verdicts: dict[tuple[str, ...], Verdict] = {}
    asked = [a for a in atoms if askable(a)]
    _round(probe, asked, count, 0, verdicts, say)
    functions, operations = [], []
    if "functions" in parts:
        for name in (*FUNCTIONS, *PAIRS):
            functions.append(_function(probe.scan(name), profile))
        say(f"{len(functions)} functions over all their arguments")
    if "operations" in parts:
        operations = [_operation(probe.check(name), profile) for name in OPERATIONS]
        say(f"{len(operations)} operations")
    rounds = 1
    while asked and time.monotonic() - start < seconds:
        _round(probe, asked, count, rounds, verdicts, say, start + seconds)
        rounds += 1
    return SelfTest(
        device=device,
        atoms=tuple(verdicts.values()),
        functions=tuple(functions),
        operations=tuple(operations),
        unasked=tuple(" ".join(a.key) for a in atoms if not askable(a)),
        rounds=rounds,
        seconds=time.monotonic() - start,
    )


def _round(
    probe: Probe, atoms: Sequence[FusedDot], count: int, seed: int,
    verdicts: dict[tuple[str, ...], Verdict], say: Callable[[str], None],
    until: float = float("inf"),
) -> None:  # fmt: skip
    for atom in atoms:
        if time.monotonic() >= until:
            return

        def ask(q: Questions, atom: FusedDot = atom) -> Array:
            return probe.ask(atom, q.a, q.b, q.c)

        here = max(1, count // _SLOW) if atom.fraction is None else count
        found = judge(atom, ask, here, seed)
        before = verdicts.get(atom.key)
        verdicts[atom.key] = found if before is None else _joined(before, found)
        say(str(found))


def _joined(first: Verdict, second: Verdict) -> Verdict:
    counts = dict(first.wrong)
    for regime, n in second.wrong:
        counts[regime] = counts.get(regime, 0) + n
    asked = first.asked + second.asked
    return Verdict(first.key, asked, tuple(counts.items()), first.example or second.example)


def _function(scan: Scan, profile: Profile) -> FunctionRow:
    name = scan.function
    claims = DOCUMENTED["cuda"].claims(name, F32)
    promised = claims[0].ulp if claims else _FURTHER_CLAIMS[name]
    allowed = promised + _ROUNDED
    known = {a.row: a.ulp for a in profile.functions}.get(f"f32 {name}")
    faults = []
    if scan.ulp > allowed:
        faults.append(
            f"f32 {name}: {scan.ulp:.4g} ulp at {scan.at}, where {allowed:.3g} are allowed"
        )
    if scan.small > allowed:
        faults.append(
            f"f32 {name}: {scan.small:.4g} ulp at {scan.at_small}, where something is subnormal "
            f"and {allowed:.3g} are allowed"
        )
    if scan.wrong:
        faults.append(
            f"f32 {name}: {scan.wrong} results of another kind, the first at {scan.at_wrong}"
        )
    if known is not None and name in FUNCTIONS and known > scan.ulp + 1e-3:
        faults.append(
            f"f32 {name}: the profile measured {known:.4g} ulp, all arguments {scan.ulp:.4g}"
        )
    return FunctionRow(scan, allowed, known, tuple(faults))


def _operation(sampled: Sampled, profile: Profile) -> OperationRow:
    ieee = _says_ieee(sampled.operation, profile)
    faults: tuple[str, ...] = ()
    if bool(sampled.wrong) == ieee:
        said = "the profile says IEEE" if ieee else "the profile says otherwise"
        faults = (
            f"f32 {sampled.operation}: {sampled.wrong} of {sampled.count} samples are not IEEE's "
            f"and {said}; {sampled.example or 'no example'}",
        )
    return OperationRow(sampled, ieee, faults)


def _says_ieee(operation: str, profile: Profile) -> bool:
    """Whether a profile says that an operation of f32, or each of several, gives IEEE's bits."""
    rows = {f"f32 {op}" for op in operation.split(", ")}
    changed = {*profile.reads_zero, *profile.flushes, *profile.native}
    fused_wrongly = operation == "fma" and not profile.fused
    rewritten = "," in operation and (profile.contracts or profile.reassociates)
    return not (rows & changed or fused_wrongly or rewritten)


__all__ = ["PARTS", "FunctionRow", "OperationRow", "Probe", "SelfTest", "chosen", "selftest"]
