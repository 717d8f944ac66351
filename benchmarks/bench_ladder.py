"""How many random graphs the ladder checks in a second, and where the time goes.

Draws N graphs of a seed, checks them in batches on one process and prints the processor time of
each stage, this process and the C compiler apart. Relies on the fuzzer's draws. It judges nothing.
Run: python benchmarks/bench_ladder.py [--seed 3] [--draws 50] [--repeat 3] [--json]

Every number is the median over the repetitions, in milliseconds of processor time per graph.
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from unittest import mock

from tang.device import CompilerOptions, HostC
from tang.fuzz.case import draw_batch
from tang.verify import Report, Task, ladder, rung_expand, rung_lower, subject, verify_batch

P = ParamSpec("P")
T = TypeVar("T")

BATCH = 50
STAGES = (
    (ladder, "prepare", "prepare"),
    (subject, "lower", "prepare: lower"),
    (subject, "expand_math", "prepare: expand"),
    (ladder, "check_lower", "rung lower"),
    (subject, "evaluate", "rung lower: interpret"),
    (rung_lower, "replay", "rung lower: replay"),
    (rung_lower, "decide", "rung lower: decide"),
    (ladder, "check_expand", "rung expand"),
    (rung_expand, "replay", "rung expand: replay"),
    (ladder, "check_round", "rung round"),
    (ladder, "_run", "emit, launch"),
    (ladder, "check_emit", "rung emit"),
)
"""Functions as the ladder finds them, and the stage to which their time goes."""


class Clock:
    """Processor seconds by stage; stages nest, so they do not add up."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def timed(self, stage: str, function: Callable[P, T]) -> Callable[P, T]:
        """The function, its time counted."""

        def call(*args: P.args, **options: P.kwargs) -> T:
            with self.stage(stage):
                return function(*args, **options)

        return call

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of a block."""
        start = time.process_time()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - start


@contextmanager
def instrumented(clock: Clock, device: HostC) -> Iterator[None]:
    """The ladder with every stage timed and a device whose cache is empty."""
    patches = [mock.patch.object(ladder, "open_backend", return_value=device)]
    patches += [
        mock.patch.object(module, name, clock.timed(stage, getattr(module, name)))
        for module, name, stage in STAGES
    ]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in reversed(patches):
            patch.stop()


def checked(seed: int, start: int, count: int, clock: Clock) -> list[Report]:
    """The reports of a batch of draws."""
    with clock.stage("draw"):
        cases = draw_batch(seed, count, start)
    tasks = [Task(graph=c.graph, inputs=c.inputs, schedule=c.schedule, name=c.name) for c in cases]
    return verify_batch(tasks)


def children() -> float:
    """Processor seconds of the processes that have ended: compilers, and the worker."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(seed: int, draws: int) -> dict[str, float]:
    """One run: milliseconds per graph by stage, and how many reports passed."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        device = HostC(CompilerOptions(optimize="-O0", cache=Path(folder)))
        before, start, wall = children(), time.process_time(), time.perf_counter()
        with instrumented(clock, device):
            reports = [
                r
                for first in range(0, draws, BATCH)
                for r in checked(seed, first, min(BATCH, draws - first), clock)
            ]
        device.close()
        own, other = time.process_time() - start, children() - before
    spent = {"python": own, "compiler and worker": other, "wall": time.perf_counter() - wall}
    spent |= clock.spent
    found = {name: seconds / draws * 1000 for name, seconds in spent.items()}
    return found | {"passed": float(sum(r.ok for r in reports))}


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """The median of every number that all runs have."""
    names = [n for n in runs[0] if all(n in r for r in runs)]
    return {n: statistics.median(r[n] for r in runs) for n in names}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="graphs per second of the ladder")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = medians([measure(options.seed, options.draws) for _ in range(options.repeat)])
    passed = int(found.pop("passed"))
    rate = 1000 / (found["python"] + found["compiler and worker"])
    result = {
        "command": shlex.join(["python", *sys.argv]),
        "draws": options.draws,
        "repeat": options.repeat,
        "passed": passed,
        "graphs per second and core": rate,
        "ms per graph": found,
    }
    print(json.dumps(result, indent=2) if options.json else text(result, found))


def text(result: dict[str, Any], found: dict[str, float]) -> str:
    """The table for a reader."""
    head = (
        f"{result['command']}\n{result['draws']} graphs, {result['passed']} passed, median of "
        f"{result['repeat']}: {result['graphs per second and core']:.1f} graphs a second and core"
    )
    return "\n".join([head, *(f"{n:28} {v:8.2f} ms/graph" for n, v in found.items())])


if __name__ == "__main__":
    main()
