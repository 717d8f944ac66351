"""Time of certificates: a transformer layer by ranges and by shape, and its check.

`python benchmarks/bench_certificates.py` prints the best of five, in seconds of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tang.emulator import certify, check_certificate
from tang.kernel.schedule import Schedule
from tang.models import TransformerSizes, transformer_block
from tang.schedule import schedule_auto

SIZES = {"batch": 1, "seq": 512}


def best(work: Callable[[], object]) -> float:
    """The least processor time of five runs."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print one line per job."""
    graph = transformer_block(TransformerSizes(width=1024, heads=16, hidden=4096))
    reals = (i.name for i in graph.inputs if i.sort.value == "real")
    ranges = {n: (-3.0, 3.0) if n == "x" else (-0.1, 0.1) for n in reals}
    for name, schedule in (("as written", Schedule()), ("schedule_auto", schedule_auto(graph))):
        made = certify(graph, schedule, SIZES, ranges)
        by_ranges = best(lambda s=schedule: certify(graph, s, SIZES, ranges))  # type: ignore[misc]
        by_shape = best(lambda s=schedule: certify(graph, s, SIZES))  # type: ignore[misc]
        checked = best(lambda c=made: check_certificate(c))  # type: ignore[misc]
        print(f"{name}: {len(graph.nodes)} nodes, {len(made.steps)} steps")
        print(f"  range {by_ranges:.3f} s, shape {by_shape:.3f} s, check {checked:.3f} s")


if __name__ == "__main__":
    main()
