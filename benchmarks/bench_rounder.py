"""How fast the rounder is: elements per second of every mode, in NumPy and in C, on one core.

Relies on `tang.emulator`. It judges no result: tests do.
Usage: python benchmarks/bench_rounder.py [MILLIONS OF ELEMENTS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from tang.emulator import fma
from tang.emulator.formats_codes import decode, encode
from tang.emulator.rounder import round_array, rounder
from tang.emulator.rounder_build import load
from tang.emulator.rounder_c import TEXT, round_array_c
from tang.emulator.rounding import ROUNDINGS, round_to
from tang.ir.format import ALL_FORMATS

NAMES = ("f32", "tf32", "fp22", "f16", "bf16", "e5m2", "e4m3fn", "e3m2", "e2m3", "e2m1")


def rate(work: Callable[[], object], count: int, repeat: int = 7) -> float:
    """Millions of elements per second of processor time, the best of several runs."""
    work()
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return count / best / 1e6


def report_modes(x: np.ndarray) -> None:
    library = load(TEXT)
    for name in NAMES:
        columns = []
        for mode in ROUNDINGS:
            how = rounder(ALL_FORMATS[name], mode, "saturate", False, 1)
            plain = rate(partial(round_array, x, how), x.size)
            columns.append(f"{mode} {plain:4.0f}")
            if library is not None:
                fast = rate(partial(round_array_c, x, how, 0, library), x.size)
                columns[-1] += f" / {fast:4.0f}"
        print(f"{name:7} NumPy / C: {', '.join(columns)}")


def report_rest(x: np.ndarray) -> None:
    narrow = round_to(x, "f16")
    codes = encode(narrow, "f16")
    y = round_to(x, "f32")
    print(f"round_to f16, whole call: {rate(lambda: round_to(x, 'f16'), x.size):.0f}")
    print(f"encode f16: {rate(lambda: encode(narrow, 'f16'), x.size):.0f}")
    print(f"decode f16: {rate(lambda: decode(codes, 'f16'), x.size):.0f}")
    print(f"fma f32: {rate(lambda: fma(y, y, y, 'f32'), x.size):.0f}")
    print(f"fma f64: {rate(lambda: fma(x, x, x, 'f64'), x.size):.0f}")


def main() -> None:
    """Measure and print."""
    millions = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    x = np.random.default_rng(0).standard_normal(millions * 2**20)
    print(f"M elements/s on {x.size} f64 numbers, processor time, best of 7")
    report_modes(x)
    report_rest(x)


if __name__ == "__main__":
    main()
