"""Programs of one node, built from the IR: fixtures shared by the interpreter's tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort, arg, iota
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoid import Monoid
from tang.ir.view import Read, Ref, View, variable

SORTS = {"f": REAL, "i": INDEX, "b": BOOL}


def sort_of(array: np.ndarray[Any, Any]) -> Sort:
    return SORTS[array.dtype.kind]


def pick(source: str | Ref, *dims: str) -> Read:
    """A read by dims alone."""
    ref = source if isinstance(source, Ref) else Ref(source)
    return Read(ref, View(tuple(variable(d) for d in dims)))


def single(node: Comprehension, inputs: dict[str, Any]) -> Graph:
    """A program that returns every result of one node."""
    arrays = {n: np.asarray(a) for n, a in inputs.items()}
    declared = tuple(Input(n, tuple(map(poly, a.shape)), sort_of(a)) for n, a in arrays.items())
    outputs = tuple(Output(o, Ref(node.name, o)) for o in node.output_names())
    return Graph(declared, (node,), outputs)


def row_reduction(monoid: Monoid, shape: Sequence[int], inputs: Sequence[str]) -> Comprehension:
    """Every row of matrices folded; an index input of the monoid is the column."""
    names = iter(range(len(inputs)))
    body: tuple[Expr, ...] = tuple(
        iota("k") if s is INDEX else arg(next(names), s) for s in monoid.inputs
    )
    dims = (Dim("i", poly(shape[0])), Dim("k", poly(shape[1])))
    reads = tuple(pick(n, "i", "k") for n in inputs)
    return Comprehension("node", dims[:1], reads, body, reduce=dims[1:], monoid=monoid)


@pytest.fixture
def rows() -> Callable[..., tuple[Graph, dict[str, Any]]]:
    """(monoid, *matrices) → a program folding their rows, and its inputs."""

    def build(monoid: Monoid, *matrices: Any) -> tuple[Graph, dict[str, Any]]:
        inputs = {f"x{n}": np.asarray(m) for n, m in enumerate(matrices)}
        node = row_reduction(monoid, inputs["x0"].shape, tuple(inputs))
        return single(node, inputs), inputs

    return build


@pytest.fixture
def program() -> Callable[[Comprehension, dict[str, Any]], Graph]:
    """(node, inputs) → a program that returns every result of the node."""
    return single


@pytest.fixture
def formula() -> Callable[..., tuple[Graph, dict[str, Any]]]:
    """(expression over arg(0), …, *vectors) → a map over them, and its inputs."""

    def build(body: Expr, *vectors: Any) -> tuple[Graph, dict[str, Any]]:
        inputs = {f"x{n}": np.asarray(v) for n, v in enumerate(vectors)}
        dims = (Dim("i", poly(len(inputs["x0"]))),)
        reads = tuple(pick(n, "i") for n in inputs)
        node = Comprehension("node", dims, reads, (body,), outputs=("value",))
        return single(node, inputs), inputs

    return build
