"""How fast the rounder is: elements per second of every mode, in NumPy and in C, on one core.

Prints medians of processor time over random numbers and their ratio to what is asked of the
rounder: 150 M elements/s in C, 50 M in NumPy. Relies on `tang.emulator`. It judges no result:
tests do.
Run: python benchmarks/bench_rounder.py [--millions 4] [--repeats 7] [--json]
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

from tang.emulator import fma
from tang.emulator.formats_codes import decode, encode
from tang.emulator.rounder import round_array, rounder
from tang.emulator.rounder_build import load
from tang.emulator.rounder_c import TEXT, round_array_c
from tang.emulator.rounding import ROUNDINGS, round_to
from tang.ir.format import ALL_FORMATS

NAMES = ("f32", "tf32", "fp22", "f16", "bf16", "e5m2", "e4m3fn", "e3m2", "e2m3", "e2m1")
ASKED = {"NumPy": 50.0, "C": 150.0}


@dataclass(frozen=True, slots=True)
class Row:
    """A format and a mode: M elements/s in both languages; `c` is 0 without a compiler."""

    format: str
    mode: str
    numpy: float
    c: float


def rate(work: Callable[[], object], count: int, repeats: int) -> float:
    """Millions of elements per second of processor time, the median of several runs."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return count / statistics.median(times) / 1e6


def rows_of(x: np.ndarray, repeats: int) -> list[Row]:
    """Every format in every mode."""
    library = load(TEXT)
    found = []
    for name in NAMES:
        for mode in ROUNDINGS:
            how = rounder(ALL_FORMATS[name], mode, "saturate", False, 1)
            plain = rate(partial(round_array, x, how), x.size, repeats)
            fast = 0.0
            if library is not None:
                fast = rate(partial(round_array_c, x, how, 0, library), x.size, repeats)
            found.append(Row(name, mode, plain, fast))
    return found


def calls(x: np.ndarray, repeats: int) -> dict[str, float]:
    """Whole calls of the functions that users have."""
    narrow, y = round_to(x, "f16"), round_to(x, "f32")
    codes = encode(narrow, "f16")
    works: dict[str, Callable[[], object]] = {
        "round_to f16": lambda: round_to(x, "f16"),
        "encode f16": lambda: encode(narrow, "f16"),
        "decode f16": lambda: decode(codes, "f16"),
        "fma f32": lambda: fma(y, y, y, "f32"),
        "fma f64": lambda: fma(x, x, x, "f64"),
    }
    return {name: rate(work, x.size, repeats) for name, work in works.items()}


def text(rows: list[Row], whole: dict[str, float]) -> str:
    """Rates by format, the least of each mode over what is asked, and the calls."""
    lines = [f"{'NumPy / C':9}" + "".join(f"{m:>14}" for m in ROUNDINGS)]
    for name in NAMES:
        cells = [r for r in rows if r.format == name]
        lines.append(f"{name:9}" + "".join(f"{r.numpy:7.0f} /{r.c:5.0f}" for r in cells))
    for label, asked in ASKED.items():
        least = {m: min(getattr(r, label.lower()) for r in rows if r.mode == m) for m in ROUNDINGS}
        ratios = ", ".join(f"{m} {rate_ / asked:.2f}" for m, rate_ in least.items())
        lines.append(f"{label}, the slowest format over the {asked:.0f} M/s asked: {ratios}")
    lines += [f"{name}, whole call: {value:.0f}" for name, value in whole.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="speed of the rounder")
    parser.add_argument("--millions", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    x = np.random.default_rng(0).standard_normal(options.millions * 2**20)
    rows, whole = rows_of(x, options.repeats), calls(x, options.repeats)
    if options.json:
        print(json.dumps({"asked": ASKED, "rows": [asdict(r) for r in rows], "calls": whole}))
        return
    print(f"M elements/s on {x.size} f64 numbers, processor time, median of {options.repeats}")
    print(text(rows, whole))


if __name__ == "__main__":
    main()
