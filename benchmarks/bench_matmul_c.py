"""The C matmul that the schedule gives against NumPy's BLAS, in one run.

Relies on `tang.api.compile`. Prints processor seconds of the best of three calls and their ratio;
it judges no result. Usage: python benchmarks/bench_matmul_c.py [SIZE]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from tang.api import compile as compile_graph
from tang.ir.expr import apply, arg
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable


def matmul() -> Graph:
    """C[i, j] = Σ A[i, k] · B[k, j], sizes open."""
    i, j, k = (Dim(name, poly(extent)) for name, extent in zip("ijk", "mno", strict=True))
    inputs = (Input("A", (poly("m"), poly("o"))), Input("B", (poly("o"), poly("n"))))
    views = (View((variable("i"), variable("k"))), View((variable("k"), variable("j"))))
    reads = tuple(Read(Ref(x.name), v) for x, v in zip(inputs, views, strict=True))
    body = (apply("mul", arg(0), arg(1)),)
    node = Comprehension("C", (i, j), reads, body, reduce=(k,), monoid=SUM)
    return Graph(inputs, (node,), (Output("C", Ref("C", SUM.outputs[0].name)),))


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of three calls."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Measure and print."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 512
    a, b = np.random.default_rng(0).random((2, size, size), np.float32)
    program = compile_graph(matmul())
    ours, blas = seconds(lambda: program({"A": a, "B": b})), seconds(lambda: a @ b)
    print(f"matmul {size}³ f32: C {1e3 * ours:.1f} ms, BLAS {1e3 * blas:.1f} ms, ", end="")
    print(f"ratio {ours / blas:.1f}")


if __name__ == "__main__":
    main()
