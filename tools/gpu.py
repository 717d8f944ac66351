"""Profiles, the conformance suites and the ladder on every backend of a machine with a GPU.

Usage: python tools/gpu.py [--draws N] [--seconds S] [--out FILE.json]. Prints a line per stage and
writes the figures as JSON after each, so that what was done survives a time limit. Relies on
`tang.verify.conformance` and on the fuzzer's draws; a backend that does not run here is reported
with its reason. Exits with 1 when a backend that runs has a finding.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tang.device import Device
from tang.device.profiling import measured, profiled
from tang.errors import DeviceError
from tang.fuzz.case import draw_batch
from tang.verify import Report, Task, verify_batch
from tang.verify.backends import available, open_backend
from tang.verify.conformance import run_conformance
from tang.verify.conformance.native import run_native

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
from tree import commit_of

Found = dict[str, Any]
ORDER = ("cuda", "opencl", "wgsl", "glsl", "c", "msl")
"""What a GPU runs comes first."""
BATCH = 20


def measured_profile(name: str) -> Found:
    """How a backend computes, with the accuracies of its builtins; or why it is not followed."""
    device = open_backend(name)
    found: Found = {"device": device.name, "followed": profile(name)}
    try:
        whole = profiled(device)
    except DeviceError as e:
        return {**found, "refusal": str(e), "functions": functions(device)}
    return {**found, "profile": whole.to_data(), "lines": whole.measured_lines()}


def functions(device: Device) -> list[dict[str, Any]]:
    """The accuracies alone, of a device that fits no hypothesis."""
    try:
        return [f.to_data() for f in measured(device).functions]
    except DeviceError:
        return []


def conformance(name: str) -> Found:
    """The suite on one backend."""
    return summary(run_conformance(open_backend(name)))


def native(name: str) -> Found:
    """Builtins in every surrounding, bit for bit as alone."""
    return summary(run_native(open_backend(name)))


def summary(report: Report) -> Found:
    """The figures of a suite."""
    return {
        "ok": report.ok,
        "elements": sum(r.elements for r in report.results),
        "exact": sum(r.exact for r in report.results),
        "cases": [r.note for r in report.results],
        "unsupported": sorted({r.unsupported for r in report.results if r.unsupported}),
        "findings": [f.to_text() for f in report.findings][:20],
    }


@dataclass(slots=True)
class Campaign:
    """Random programs through every rung, on all backends at once."""

    names: tuple[str, ...]
    math: Literal["portable", "native"]
    drawn: int = 0
    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    findings: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0

    def batch(self, count: int) -> None:
        """Draw and check some more programs."""
        start = time.monotonic()
        cases = draw_batch(5, count, self.drawn)
        tasks = [
            Task(
                graph=c.graph, inputs=c.inputs, schedule=c.schedule, name=c.name, math=self.math
            )
            for c in cases
        ]  # fmt: skip
        for report in verify_batch(tasks, self.names):
            for name in self.names:
                self.outcomes.setdefault(name, Counter())[outcome(report, name)] += 1
            for f in report.findings:
                kept = self.findings.setdefault(f.backend, [])
                if len(kept) < 20:
                    kept.append(f"{report.name}: {f.to_text()}")
        self.drawn += count
        self.seconds += time.monotonic() - start

    def to_data(self) -> Found:
        """The figures so far."""
        return {
            "drawn": self.drawn,
            "outcomes": {n: dict(c) for n, c in self.outcomes.items()},
            "findings": self.findings,
            "seconds": round(self.seconds, 1),
        }


def outcome(report: Report, name: str) -> str:
    """One word for a report on one backend."""
    if any(f.backend in (name, "") for f in report.findings):
        return "FINDING"
    if any(r.unsupported for r in report.results if r.backend in (name, "")):
        return "UNSUPPORTED"
    return "PASS" if not any(r.undecided for r in report.results) else "UNDECIDED"


def profile(name: str) -> str:
    """How a backend is followed, in words, or why it is not."""
    try:
        return open_backend(name).profile.to_text()
    except DeviceError as e:
        return str(e)


class Record:
    """What was found, written after every stage."""

    def __init__(self, out: Path, seconds: float) -> None:
        self.found: Found = {"commit": commit_of()}
        self.bad = False
        self._out = out
        self._start = time.monotonic()
        self._seconds = seconds

    @property
    def left(self) -> float:
        """Seconds until no further stage may start."""
        return self._seconds - (time.monotonic() - self._start)

    def stage(self, name: str, what: str, run: Callable[[], Found]) -> None:
        """Run a stage unless the time is over; note what it says, or what it raised."""
        start = time.monotonic()
        if self.left <= 0:
            found: Found = {"left out": "the time was over"}
        else:
            try:
                found = run()
            except Exception as e:  # noqa: BLE001 — the other stages are worth having
                found = {"ok": False, "raised": f"{type(e).__name__}: {e}"[:2000]}
        found["seconds"] = round(time.monotonic() - start, 1)
        self.bad |= found.get("ok") is False
        self.found.setdefault(name, {})[what] = found
        self.save(f"{name} {what}", {k: v for k, v in found.items() if k not in LONG})

    def save(self, label: str, shown: Found) -> None:
        """Print a line and write everything."""
        text = json.dumps(shown, ensure_ascii=False)[:1500]
        print(f"{self._seconds - self.left:6.1f} s  {label}: {text}", flush=True)
        self._out.parent.mkdir(parents=True, exist_ok=True)
        self._out.write_text(json.dumps(self.found, indent=1, ensure_ascii=False) + "\n")


LONG = ("profile", "functions")


def campaigns(record: Record, names: tuple[str, ...], draws: int) -> None:
    """Both kinds of maths, in batches until the draws or the time are used up."""
    for math, share in (("native", max(1, draws // 4)), ("portable", draws)):
        run = Campaign(names, "native" if math == "native" else "portable")
        while run.drawn < share and record.left > 0:
            run.batch(min(BATCH, share - run.drawn))
            record.found[f"{math} draws"] = run.to_data()
            record.save(f"{math} draws", run.to_data())
        record.bad |= any(run.findings.values())


def main() -> int:
    """Run everything; 1 when a backend that runs has a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=400.0)
    parser.add_argument("--out", type=Path, default=Path("build/gpu.json"))
    parser.add_argument("--backends", default=",".join(ORDER))
    options = parser.parse_args()
    record = Record(options.out, options.seconds)
    reasons = available()
    chosen = [n for n in options.backends.split(",") if n in reasons]
    for name in chosen:
        if reasons[name]:
            record.found[name] = {"missing": reasons[name]}
    names = tuple(n for n in chosen if not reasons[n])
    for what, run in (("profile", measured_profile), ("conformance", conformance)):
        for name in names:
            record.stage(name, what, functools.partial(run, name))
    for name in names:
        record.stage(name, "native", functools.partial(native, name))
    campaigns(record, names, options.draws)
    print("FINDINGS" if record.bad else "no findings", flush=True)
    return int(record.bad)


if __name__ == "__main__":
    sys.exit(main())
