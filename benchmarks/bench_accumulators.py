"""How far predictions of accumulators are from what devices compute: folds against schedules.

Runs five sums under several orders and formats on every CPU stack that is here, and prints the
measured error beside the prediction of a sequential fold, that of the schedule, and the bound of
the data. Relies on `tang.budget`. Fails when the schedule's prediction is not what every device
gave, bit for bit, or when an error exceeds its bound; it judges nothing else.
Run: python benchmarks/bench_accumulators.py [--json] [--backends c,opencl,wgsl,glsl] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

import tang as tg
from tang.budget import certify_data, emulate
from tang.interpreter import fast_interpret
from tang.ir.graph import Graph, Output
from tang.ir.summation import describe
from tang.ir.view import Ref
from tang.kernel.ir import BF16, F16, F32, Type
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.models.vision import adain, convnext_block
from tang.schedule.sums import summation_of
from tang.verify.backends import available, open_backend

Inputs = Mapping[str, np.ndarray]
CHAIN = NodeSchedule()
TREE = NodeSchedule(lanes=256, workgroup=256)
SPLIT = NodeSchedule(split=8)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A sum of a program, its data, and the orders and formats in which it is tried.

    before  sums that it reads, computed in the same order and in f32
    """

    name: str
    graph: Graph
    node: str
    inputs: Inputs
    orders: tuple[NodeSchedule, ...]
    formats: tuple[Type, ...]
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One case in one order and format; errors are the largest over all elements.

    measured   on every device, against f64;  elements  how many were compared bit for bit
    fold       as a sequential fold in the same formats predicts it;  faithful  as the schedule does
    bound      on the error for these data;  largest  of |f64|
    """

    case: str
    terms: int
    order: str
    format: str
    devices: str
    elements: int
    largest: float
    measured: float
    fold: float
    faithful: float
    bound: float

    @property
    def misled(self) -> float:
        """By what factor the fold's error is off."""
        low, high = sorted((self.fold, self.measured))
        return 1.0 if low == high else high / low if low else float("inf")

    @property
    def slack(self) -> float:
        """The bound over the error."""
        return self.bound / self.measured if self.measured else float("inf")


def cases(rng: np.random.Generator) -> Iterator[Case]:
    """The five sums."""
    yield adain_variance(rng)
    yield conv1d(rng)
    yield convnext_statistic(rng)
    yield pointwise(rng)
    yield matmul(rng)


def only(graph: Graph, node: str) -> Graph:
    """The program with one sum as its output."""
    return replace(graph, outputs=(Output("sum", Ref(node, "value")),))


def adain_variance(rng: np.random.Generator) -> Case:
    """The variance of 32 channels of 8,192 pixels, two-pass, each term divided by the count."""
    graph = adain(batch=1, width=32, height=2048, across=4, style_height=1, style_across=1)
    content = rng.normal(0.3, 1.0, (1, 32, 2048, 4)).astype(np.float32)
    style = np.zeros((1, 32, 1, 1), np.float32)
    inputs = {"content": content, "style": style}
    node = "content.deviation.sum"
    orders, formats = (CHAIN, TREE), (F16, F32)
    mean = ("content.mean",)
    return Case("AdaIN variance", only(graph, node), node, inputs, orders, formats, mean)


def conv1d(rng: np.random.Generator) -> Case:
    """512 channels and 7 taps, 16 positions, 4 filters; inputs after a rectifier."""
    o, c, r, t = tg.dims("o c r", t=16)
    x, w = tg.input("x", (512, 22)), tg.input("w", (4, 512, 7))
    graph = tg.Graph(tg.compute("conv", (o, t), tg.sum(x[c, t + r] * w[o, c, r], over=(c, r))))
    inputs = {
        "x": np.maximum(rng.normal(size=(512, 22)), 0).astype(np.float32),
        "w": rng.normal(0.02, 0.05, (4, 512, 7)).astype(np.float32),
    }
    return Case("conv1d", only(graph, "conv"), "conv", inputs, (CHAIN, TREE), (F16, BF16, F32))


def convnext_statistic(rng: np.random.Generator) -> Case:
    """The sum of squares of a ConvNeXt block's layer norm, over 768 channels of 16 pixels."""
    graph = convnext_block(batch=1, width=768, height=4, across=4, expansion=1)
    inputs = {
        i.name: rng.normal(0, 0.2, [e.evaluate({}) for e in i.shape]).astype(np.float32)
        for i in graph.inputs
    }
    node, mean = "norm.variance.sum", ("norm.mean.sum",)
    orders, formats = (CHAIN, TREE), (F16, BF16, F32)
    return Case("ConvNeXt norm statistic", only(graph, node), node, inputs, orders, formats, mean)


def pointwise(rng: np.random.Generator) -> Case:
    """A 1 × 1 convolution of 1,024 channels, split in eight."""
    n, p, f, c = tg.dims("n p f c")
    x, w = tg.input("x", (2, 1024, 16)), tg.input("w", (8, 1024))
    graph = tg.Graph(tg.compute("pointwise", (n, f, p), tg.sum(x[n, c, p] * w[f, c], over=c)))
    inputs = {
        "x": np.maximum(rng.normal(size=(2, 1024, 16)), 0).astype(np.float32),
        "w": rng.normal(0.02, 0.05, (8, 1024)).astype(np.float32),
    }
    orders, formats = (CHAIN, SPLIT), (F16, BF16, F32)
    return Case("pointwise matmul", only(graph, "pointwise"), "pointwise", inputs, orders, formats)


def matmul(rng: np.random.Generator) -> Case:
    """A product of 1,024 terms in one chain: a fold of equal length, which a fold predicts."""
    i, j, k = tg.dims("i j k")
    a, b = tg.input("a", (16, 1024)), tg.input("b", (1024, 16))
    graph = tg.Graph(tg.compute("matmul", (i, j), tg.sum(a[i, k] * b[k, j], over=k)))
    inputs = {
        "a": rng.normal(size=(16, 1024)).astype(np.float32),
        "b": rng.normal(size=(1024, 16)).astype(np.float32),
    }
    formats = (F16, BF16, F32)
    return Case("matmul, one chain", only(graph, "matmul"), "matmul", inputs, (CHAIN,), formats)


def rows_of(case: Case, backends: Sequence[str]) -> Iterator[Row]:
    """Every order and format of a case."""
    truth = np.asarray(fast_interpret(case.graph, case.inputs)["sum"], np.float64)
    node = next(n for n in case.graph.nodes if n.name == case.node)
    for format_ in case.formats:
        for order in case.orders:
            own = replace(order, accumulate=format_)
            schedule = Schedule(nodes=((case.node, own), *((n, order) for n in case.before)))
            predicted = emulate(case.graph, case.inputs, schedule, rules=())["sum"]
            folded = emulate(case.graph, case.inputs, schedule, "fold", rules=())["sum"]
            measured = 0.0
            for backend in backends:
                got = measure(case, schedule, backend)
                require_equal(case, own, backend, got, predicted)
                measured = max(measured, error(got, truth))
            certificate = certify_data(case.graph, schedule, case.inputs, rules=())
            tensor = certificate.outputs["sum"]
            bound = next(r.bound for r in certificate.rows if r.name == tensor)
            yield Row(
                case=case.name,
                terms=int(np.prod([d.extent.evaluate({}) for d in node.reduce])),
                order=describe(summation_of(node, own, {})),
                format=format_.value,
                devices=" ".join(backends),
                elements=int(truth.size),
                largest=float(np.abs(truth).max()),
                measured=measured,
                fold=error(folded, truth),
                faithful=error(predicted, truth),
                bound=bound,
            )


def error(value: np.ndarray, truth: np.ndarray) -> float:
    """The largest distance from f64."""
    return float(np.abs(value.astype(np.float64) - truth).max())


def measure(case: Case, schedule: Schedule, backend: str) -> np.ndarray:
    """What a device gives."""
    device = open_backend(backend)
    program = tg.compile(case.graph, schedule=schedule, rules=(), device=device, isolate=True)
    return program(case.inputs)["sum"]


def require_equal(
    case: Case, own: NodeSchedule, backend: str, got: np.ndarray, predicted: np.ndarray
) -> None:
    """Exit with 1 where a device gave other bits than the schedule's prediction."""
    word = f"u{predicted.dtype.itemsize}"
    same = got.dtype == predicted.dtype and got.shape == predicted.shape
    if same and np.array_equal(got.view(word), predicted.view(word)):
        return
    sys.exit(f"{case.name} on {backend} under {own} is not as predicted: {got} and {predicted}")


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    head = (
        f"{'sum':24}{'terms':>7} {'order':46}{'format':>7}{'|f64|':>10}{'measured':>10}"
        f"{'fold':>10}{'off by':>8}{'schedule':>10}{'bound':>10}{'/error':>8}"
    )
    lines = [head]
    lines += [
        f"{r.case:24}{r.terms:7} {r.order:46}{r.format:>7}{r.largest:10.3g}{r.measured:10.2e}"
        f"{r.fold:10.2e}{r.misled:8.3g}{r.faithful:10.2e}{r.bound:10.2e}{r.slack:8.3g}"
        for r in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, compare and print."""
    parser = argparse.ArgumentParser(description="folds, schedules, bounds and devices")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--backends", default="c,opencl,wgsl,glsl", help="where they run here")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wanted = options.backends.split(",")
    missing = {b: why for b, why in available().items() if b in wanted and why}
    for name, why in missing.items():
        print(f"{name} does not run here: {why}", file=sys.stderr)
    backends = [b for b in wanted if b not in missing]
    if not backends:
        sys.exit(f"none of {options.backends} runs here")
    rng = np.random.default_rng(options.seed)
    rows = [row for case in cases(rng) for row in rows_of(case, backends)]
    if options.json:
        data: list[dict[str, Any]] = [asdict(r) for r in rows]
        print(json.dumps({"backends": backends, "seed": options.seed, "rows": data}, indent=1))
        return
    print(f"on {', '.join(backends)}: every element as the schedule predicts, bit for bit")
    print(table(rows))


if __name__ == "__main__":
    main()
