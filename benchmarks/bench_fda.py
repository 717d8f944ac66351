"""How fast tensor cores are emulated: multiply-adds per second, in NumPy and in C, on one core.

Prints medians of processor time of a square product of random numbers, the ratio of the two, and
that of C to the 100 M multiply-adds/s asked. Relies on `tang.emulator`. It judges no result: tests
do.
Run: python benchmarks/bench_fda.py [--size 256] [--repeats 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from tang.emulator import ATOMS, fda, fda_c, round_to
from tang.emulator.fda import fda_numpy, prepare
from tang.emulator.rounder_build import load

ASKED = 100.0


@dataclass(frozen=True, slots=True)
class Row:
    """M multiply-adds/s of one instruction: NumPy, C (0 without a compiler), a whole call."""

    atom: str
    numpy: float
    c: float
    call: float


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Processor seconds, the median of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def rows_of(size: int, repeats: int) -> list[Row]:
    """Every model that truncates."""
    rng = np.random.default_rng(0)
    library = load(fda_c.TEXT)
    found = []
    for key, atom in ATOMS.items():
        if atom.fraction is None:
            continue
        a, b = round_to(rng.standard_normal((2, size, size)), atom.operands, overflow="saturate")
        work = prepare(a[:, None], b[None], 0.0, atom)
        plain = seconds(partial(fda_numpy, work, atom), 1)
        call = seconds(partial(fda, a[:, None], b[None], 0.0, atom), repeats)
        fast = float("inf")
        if library is not None:
            fast = seconds(partial(fda_c.run, work, atom, library), repeats)
        rates = (size**3 / s / 1e6 for s in (plain, fast, call))
        found.append(Row(" ".join(key), *rates))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="speed of tensor-core models")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = rows_of(options.size, options.repeats)
    if options.json:
        print(json.dumps({"asked": ASKED, "rows": [asdict(r) for r in rows]}))
        return
    print(
        f"M multiply-adds/s of a {options.size}³ product, processor time, median of "
        f"{options.repeats} (NumPy: one run)"
    )
    for r in rows:
        print(
            f"{r.atom:22} NumPy {r.numpy:4.0f}, C {r.c:4.0f}, whole call {r.call:4.0f}; C over "
            f"NumPy {r.c / r.numpy:4.1f}, over what is asked {r.c / ASKED:4.2f}"
        )


if __name__ == "__main__":
    main()
