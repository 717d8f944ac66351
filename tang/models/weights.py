"""Random parameters for the graphs of this package.

Defines `parameters`, which tells parameters from data by their names, and `weights`, which draws
them. Relies on a convention of the models: the name of a parameter has a dot, that of data has
none. It trains nothing and loads no checkpoint.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.errors import GraphError
from tang.ir.graph import Graph, Input

Array = npt.NDArray[Any]


def parameters(graph: Graph) -> tuple[Input, ...]:
    """The inputs that are parameters: those with a dot in their names."""
    return tuple(i for i in graph.inputs if "." in i.name)


def weights(
    graph: Graph, sizes: Mapping[str, int] | None = None, seed: int = 0
) -> dict[str, Array]:
    """An f32 array per parameter: vectors near 1 (weights) or 0 (biases), others N(0, 1/fan-in).

    `sizes` gives the symbolic extents that parameters have; GraphError names a missing one. An
    array depends on its name, shape and seed alone.
    """
    known = dict(sizes or {})
    return {i.name: _draw(i, _shape(i, known), seed) for i in parameters(graph)}


def _shape(i: Input, sizes: Mapping[str, int]) -> tuple[int, ...]:
    try:
        return tuple(e.evaluate(sizes) for e in i.shape)
    except GraphError as e:
        raise GraphError(f"parameter {i.name!r}: {e}") from None


def _draw(i: Input, shape: tuple[int, ...], seed: int) -> Array:
    rng = np.random.default_rng((seed, zlib.crc32(i.name.encode())))
    drawn = rng.standard_normal(shape)
    if i.name.endswith(".bias"):
        return (0.1 * drawn).astype(np.float32)
    if len(shape) < 2:
        return (1.0 + 0.1 * drawn).astype(np.float32)
    fan_in = math.prod(shape[1:])
    return (drawn / math.sqrt(max(1, fan_in))).astype(np.float32)
