"""How fast tensor cores are emulated: multiply-adds per second, in NumPy and in C, on one core.

Relies on `tang.emulator`. It judges no result: tests do.
Usage: python benchmarks/bench_fda.py [SIZE]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from tang.emulator import ATOMS, fda, fda_c, round_to
from tang.emulator.fda import fda_numpy, prepare
from tang.emulator.rounder_build import load


def seconds(work: Callable[[], object], repeat: int) -> float:
    """Processor seconds of the fastest of several runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Measure one square product per instruction and print."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    rng = np.random.default_rng(0)
    library = load(fda_c.TEXT)
    print(f"M multiply-adds/s of a {size}³ product, processor time, best of 5 (NumPy: one run)")
    for key, atom in ATOMS.items():
        if atom.fraction is None:
            continue
        a, b = round_to(rng.standard_normal((2, size, size)), atom.operands, overflow="saturate")
        work = prepare(a[:, None], b[None], 0.0, atom)
        plain = seconds(partial(fda_numpy, work, atom), 1)
        whole = seconds(partial(fda, a[:, None], b[None], 0.0, atom), 5)
        line = f"{' '.join(key):22} NumPy {size**3 / plain / 1e6:5.0f}"
        if library is not None:
            fast = seconds(partial(fda_c.run, work, atom, library), 5)
            line += f", C {size**3 / fast / 1e6:5.0f}"
        print(f"{line}, whole call {size**3 / whole / 1e6:5.0f}")


if __name__ == "__main__":
    main()
