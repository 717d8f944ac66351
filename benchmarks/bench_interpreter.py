"""How fast the interpreter is: the fast evaluator against NumPy, the definition per step.

Prints medians and ratios taken in one run, each pair alternating, or JSON with --json. Relies on
the language for its programs. It judges no value: tests do.
Run: python benchmarks/bench_interpreter.py [--json] [--repeats N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

import tang.frontend as tg
from tang.interpreter import ball_interpret, fast_interpret, interpret

Run = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Row:
    """Medians in milliseconds of ours and of what it is compared with."""

    name: str
    ours_ms: float
    other: str
    other_ms: float

    @property
    def ratio(self) -> float:
        return self.ours_ms / self.other_ms


def medians(ours: Run, other: Run, repeats: int) -> tuple[float, float]:
    """Milliseconds of both, run in turns after one warm-up each."""
    times: tuple[list[float], list[float]] = ([], [])
    for n in range(repeats + 1):
        for run, kept in zip((ours, other), times, strict=True):
            start = time.perf_counter()
            run()
            if n:
                kept.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[0]), statistics.median(times[1])


def matmul(repeats: int, generator: np.random.Generator) -> Row:
    """f64 product of two 512 × 512 matrices."""
    a, b = generator.normal(size=(2, 512, 512))
    graph = tg.Graph(tg.matmul(tg.input("a", a.shape), tg.input("b", b.shape)))
    ours, other = medians(
        lambda: fast_interpret(graph, {"a": a, "b": b}),
        lambda: np.einsum("ik,kj->ij", a, b, optimize=True),
        repeats,
    )
    return Row("fast matmul 512³", ours, "numpy.einsum(optimize=True)", other)


def attention(repeats: int, generator: np.random.Generator) -> Row:
    """8 heads, length 512, dim 64."""
    inputs = dict(zip("qkv", generator.normal(size=(3, 8, 512, 64)), strict=True))
    q, k, v = (tg.input(n, x.shape) for n, x in inputs.items())
    graph = tg.Graph(tg.attention(q, k, v))

    def plain() -> object:
        scores = np.matmul(inputs["q"], inputs["k"].transpose(0, 2, 1)) * 0.125
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.matmul(weights / weights.sum(-1, keepdims=True), inputs["v"])

    ours, other = medians(lambda: fast_interpret(graph, inputs), plain, repeats)
    return Row("fast attention 8×512×64", ours, "the same in NumPy", other)


def convolution(repeats: int, generator: np.random.Generator) -> Row:
    """3 × 3 with padding and stride 2 on 16 channels of 56²."""
    x, w = generator.normal(size=(1, 16, 56, 56)), generator.normal(size=(32, 16, 3, 3))
    graph = tg.Graph(tg.conv2d(tg.input("x", x.shape), tg.input("w", w.shape), stride=2, padding=1))

    def plain() -> object:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
        return np.einsum("nchwrs,ocrs->nohw", windows, w, optimize=True)

    ours, other = medians(lambda: fast_interpret(graph, {"x": x, "w": w}), plain, repeats)
    return Row("fast conv2d 56², stride 2", ours, "sliding windows in NumPy", other)


def definition(repeats: int, generator: np.random.Generator) -> Row:
    """A small product, as a campaign evaluates by the thousand: 16 steps over 8 × 8 points."""
    a, b = generator.normal(size=(8, 16)), generator.normal(size=(16, 8))
    graph = tg.Graph(tg.matmul(tg.input("a", a.shape), tg.input("b", b.shape)))
    ours, other = medians(
        lambda: interpret(graph, {"a": a, "b": b}),
        lambda: interpret(graph, {"a": a, "b": b}, err=True),
        10 * repeats,
    )
    return Row("definition 8×16×8", ours, "the same with errors", other)


def steps(repeats: int, generator: np.random.Generator) -> Row:
    """A sum of 10,000 elements against a loop of as many NumPy additions."""
    x = generator.normal(size=(8, 10_000))
    graph = tg.Graph(tg.sum(tg.input("x", x.shape), axis=1))

    def plain() -> object:
        total = np.zeros(8)
        for column in x.T:
            total = total + column
        return total

    ours, other = medians(lambda: interpret(graph, {"x": x}), plain, repeats)
    return Row("definition, 10,000 steps", ours, "a loop of NumPy additions", other)


def balls(repeats: int, generator: np.random.Generator) -> Row:
    """A softmax of 16 rows of 32 at 128 bits, against f64."""
    x = generator.normal(size=(16, 32))
    graph = tg.Graph(tg.softmax(tg.input("x", x.shape)))
    ours, other = medians(
        lambda: ball_interpret(graph, {"x": x}), lambda: interpret(graph, {"x": x}), repeats
    )
    return Row("balls, softmax 16×32", ours, "the definition in f64", other)


CASES = (matmul, attention, convolution, definition, steps, balls)


def main() -> int:
    """Measure and print every case."""
    parser = argparse.ArgumentParser(description="Time the interpreter.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    rows = [case(options.repeats, generator) for case in CASES]
    if options.json:
        print(json.dumps([{**asdict(r), "ratio": r.ratio} for r in rows], indent=1))
        return 0
    for r in rows:
        print(f"{r.name:26} {r.ours_ms:9.3f} ms  {r.ratio:6.2f} × {r.other} ({r.other_ms:.3f} ms)")
    print(f"medians of {options.repeats}; python {' '.join(sys.argv)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
