"""Inputs of a program: bound extents and checked arrays.

Defines `prepare`. Relies on `tang.ir.bind` for the sizes of symbolic extents; it does not
evaluate anything. Every error names the input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tang.errors import GraphError
from tang.interpreter.arithmetic import INDEX_HIGH, Array
from tang.ir.bind import bind, infer_sizes
from tang.ir.expr import Sort
from tang.ir.graph import Graph, Input


def prepare(graph: Graph, inputs: Mapping[str, Any]) -> tuple[Graph, dict[str, Array]]:
    """The program with all extents bound, and its inputs as f64, int64 and bool arrays.

    Raises GraphError naming an input that is missing, unknown, of the wrong shape or sort.
    """
    _check_names(graph, inputs)
    arrays = {i.name: _converted(i, _array(i, inputs[i.name])) for i in graph.inputs}
    bound = graph
    if graph.symbols:
        bound = bind(graph, infer_sizes(graph, {n: a.shape for n, a in arrays.items()}))
    for i in bound.inputs:
        _check_shape(i, arrays[i.name])
    return bound, arrays


def _check_names(graph: Graph, inputs: Mapping[str, Any]) -> None:
    known = {i.name for i in graph.inputs}
    missing, unknown = sorted(known - inputs.keys()), sorted(inputs.keys() - known)
    if missing:
        raise GraphError(f"no data for input {missing[0]!r}: give one array per input")
    if unknown:
        listed = ", ".join(sorted(known)) or "no inputs"
        raise GraphError(f"unknown input {unknown[0]!r}: the program has {listed}")


def _check_shape(i: Input, array: Array) -> None:
    expected = tuple(p.constant for p in i.shape)
    if array.shape != expected:
        raise GraphError(f"input {i.name!r} has shape {array.shape}, expected {expected}")


def _array(i: Input, data: object) -> Array:
    try:
        return np.asarray(data)
    except ValueError as e:
        raise GraphError(f"input {i.name!r} is no array: {e}") from e


def _converted(i: Input, array: Array) -> Array:
    kind = array.dtype.kind
    if i.sort is Sort.BOOL:
        if kind != "b":
            raise GraphError(f"input {i.name!r} takes bools, not {array.dtype}")
        return array
    if i.sort is Sort.INDEX:
        return _index(i, array)
    if kind in "fiu" or array.dtype.name.startswith(("bfloat", "float")):
        return array.astype(np.float64, copy=False)
    raise GraphError(f"input {i.name!r} takes reals, not {array.dtype}: convert it explicitly")


def _index(i: Input, array: Array) -> Array:
    if array.dtype.kind not in "iu" and array.size:
        raise GraphError(f"input {i.name!r} takes integers, not {array.dtype}: cast explicitly")
    outside = (array > INDEX_HIGH) | (array < -INDEX_HIGH)
    if np.any(outside):
        worst = array[outside].flat[0]
        raise GraphError(f"input {i.name!r} holds {worst}, beyond ±{INDEX_HIGH}")
    return array.astype(np.int64)
