"""Graphs a second on all six languages at once, and the seconds of each.

Draws cases as `tang fuzz --backends all` does and times three things: the whole ladder on every
language that runs here, the rungs that need no device, and each language alone. Relies on
`verify_batch`; kernels that the caches know would tell nothing, so every run needs a seed of its
own (the clock's, unless given).

    python benchmarks/bench_six.py [draws] [seed]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tang.fuzz.campaign import Options, run_campaign
from tang.fuzz.case import Case, draw_batch
from tang.fuzz.formats import formats_of
from tang.fuzz.ladder import Ladder
from tang.verify.backends import available


def main(draws: int, seed: int) -> None:
    """Print one line per language, then the rate of a campaign with two workers."""
    backends = tuple(name for name, reason in available().items() if not reason)
    formats = formats_of(backends)
    base = _seconds((), draw_batch(seed, draws, formats=formats))
    print(f"{draws} draws, seed {seed}; rungs up to replay: {base:.1f} s")
    for at, name in enumerate(backends, 1):
        cases = draw_batch(seed + at, draws, formats=formats)
        spent = _seconds((name,), cases) - _seconds((), cases)
        print(f"  {name:<7} {spent:6.1f} s, {1000 * spent / draws:4.0f} ms a graph")
    options = Options(backends=backends, examples=draws, seed=seed, jobs=2, batch=draws // 2)
    report = run_campaign(options)
    rate = report.coverage.draws / report.seconds
    print(f"campaign on {', '.join(backends)}: {rate:.2f} graphs/s ({report.seconds:.1f} s)")


def _seconds(backends: Sequence[str], cases: Sequence[Case]) -> float:
    """The wall time of a batch, after the devices have started."""
    ladder = Ladder(backends)
    ladder.check(cases[:1])
    start = time.perf_counter()
    ladder.check(cases)
    return time.perf_counter() - start


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    main(numbers[0] if numbers else 40, numbers[1] if len(numbers) > 1 else int(time.time()))
