"""The conformance suite and the ladder on every backend of a machine with a GPU.

Usage: python tools/gpu.py [--draws N] [--out FILE.json]. Prints a line per backend and writes the
figures as JSON. Relies on `tang.verify.conformance` and on the fuzzer's draws; a backend that does
not run here is reported with its reason. Exits with 1 when a backend that runs has a finding.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tang.device import survey
from tang.errors import DeviceError
from tang.fuzz.case import draw_batch
from tang.verify import Report, Task, verify_batch
from tang.verify.backends import available, open_backend
from tang.verify.conformance import run_conformance


def conformance(name: str) -> dict[str, Any]:
    """The suite on one backend."""
    start = time.monotonic()
    report = run_conformance(open_backend(name))
    return {
        "ok": report.ok,
        "elements": sum(r.elements for r in report.results),
        "exact": sum(r.exact for r in report.results),
        "cases": [r.note for r in report.results],
        "unsupported": sorted({r.unsupported for r in report.results if r.unsupported}),
        "findings": [f.to_text() for f in report.findings][:20],
        "seconds": round(time.monotonic() - start, 1),
    }


def ladder(name: str, draws: int) -> dict[str, Any]:
    """Random programs through every rung on one backend."""
    start = time.monotonic()
    outcomes: Counter[str] = Counter()
    findings: list[str] = []
    for first in range(0, draws, 50):
        cases = draw_batch(5, min(50, draws - first), first)
        tasks = [
            Task(graph=c.graph, inputs=c.inputs, schedule=c.schedule, name=c.name) for c in cases
        ]
        for report in verify_batch(tasks, (name,)):
            outcomes[outcome(report)] += 1
            findings += [f"{report.name}: {f.to_text()}" for f in report.findings]
    seconds = round(time.monotonic() - start, 1)
    return {"outcomes": dict(outcomes), "findings": findings[:20], "seconds": seconds}


def commit() -> str:
    """The commit tested; "" where the sources are no checkout."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def profile(name: str) -> str:
    """How a backend is followed, in words, or why it is not."""
    try:
        return open_backend(name).profile.to_text()
    except DeviceError as e:
        return str(e)


def outcome(report: Report) -> str:
    """One word for a report."""
    if report.findings:
        return "FINDING"
    return "PASS" if report.ok else ", ".join(v.value for v in report.verdicts())


def main() -> int:
    """Run everything; 1 when a backend that runs has a finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("build/gpu.json"))
    options = parser.parse_args()
    found: dict[str, Any] = {"commit": commit(), "survey": [row.to_data() for row in survey()]}
    bad = False
    for name, reason in available().items():
        if reason:
            found[name] = {"missing": reason}
        else:
            found[name] = {"device": open_backend(name).name, "profile": profile(name)}
            found[name]["conformance"] = conformance(name)
            found[name]["ladder"] = ladder(name, options.draws)
            bad |= not found[name]["conformance"]["ok"] or bool(found[name]["ladder"]["findings"])
        print(name, json.dumps(found[name], ensure_ascii=False)[:3000], flush=True)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
