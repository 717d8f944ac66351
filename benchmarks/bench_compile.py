"""What compiling C costs: many kernels in one translation unit against one unit for each.

Relies on the fuzzer's draws for realistic kernels and on the host's compiler, with a cache that
is thrown away. Prints milliseconds per kernel and the ratio; it judges no result.
Usage: python benchmarks/bench_compile.py [DRAWS] [SEED]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tang.device import CompilerOptions, HostC
from tang.emit import emit_unit
from tang.fuzz.case import draw_batch
from tang.ir.bind import bind
from tang.kernel.expand import expand_math
from tang.kernel.ir import Kernel
from tang.kernel.lower import lower

LEVELS = ("-O0", "-O1", "-O2")
SINGLES = 24
"""Kernels that are also compiled alone; alone they cost the same each, so a sample does."""


def drawn_kernels(draws: int, seed: int) -> list[Kernel]:
    """The kernels of random programs, maths expanded."""
    kernels = []
    for case in draw_batch(seed, draws):
        plan = expand_math(lower(bind(case.graph, case.sizes)))
        kernels += [step.kernel for step in plan.launches]
    return kernels


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(kernels: Sequence[Kernel], level: str) -> tuple[float, float]:
    """Seconds per kernel: batched, and one translation unit each."""
    with tempfile.TemporaryDirectory() as folder:
        device = HostC(CompilerOptions(optimize=level, cache=Path(folder)))
        batched = seconds(lambda: device.compile(kernels)) / len(kernels)
        sample = kernels[:: max(1, len(kernels) // SINGLES)]
        alone = seconds(lambda: [device.compile([k]) for k in sample]) / len(sample)
    return batched, alone


def main() -> None:
    """Measure and print."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    kernels = drawn_kernels(draws, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    printing = seconds(lambda: emit_unit(kernels)) / len(kernels)
    print(f"{len(kernels)} kernels of {draws} draws; printing {1e3 * printing:.2f} ms per kernel")
    for level in LEVELS:
        batched, alone = measure(kernels, level)
        print(
            f"{level}: batched {1e3 * batched:6.2f} ms, alone {1e3 * alone:6.2f} ms per kernel, "
            f"ratio {batched / alone:.3f}"
        )


if __name__ == "__main__":
    main()
