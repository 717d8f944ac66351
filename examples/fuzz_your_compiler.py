"""Fuzz your own compiler: tang fuzz --backends examples/fuzz_your_compiler.py:Mine"""

from dataclasses import replace

import numpy as np

from tang.interpreter import evaluate
from tang.interpreter.f64 import F64
from tang.ir import REAL, Graph


def floor(x: np.ndarray) -> np.ndarray:
    """Rounds towards zero: the bug."""
    return np.trunc(x)


class Mine:
    """Stands for your compiler: here, NumPy with a floor of its own."""

    name = "mine"

    def supports(self, graph: Graph) -> str | None:
        """None, or why this graph cannot be run: counted as UNSUPPORTED."""
        return "too many nodes" if len(graph.nodes) > 4 else None

    def run(self, graph: Graph, inputs: dict) -> dict:
        """An array per output of the graph, whose extents are all numbers."""
        numpy = replace(F64, ops={**F64.ops, ("floor", REAL): floor})
        return evaluate(graph, inputs, numpy)
