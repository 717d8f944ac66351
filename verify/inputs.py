"""Random inputs for a program that came without data.

Defines `random_inputs`: seeded, valid (every index that a gather uses stays in its source), and
telling (every value differs from its neighbours). Relies on the bounds of forms. Special values
are the fuzzer's business.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from math import ceil, floor
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.errors import GraphError, LimitError
from tang.ir.bind import bind
from tang.ir.bounds import form_range
from tang.ir.expr import Sort
from tang.ir.graph import Comprehension, Graph, Input
from tang.ir.view import Affine, Read

Array = npt.NDArray[Any]


def random_inputs(graph: Graph, sizes: Mapping[str, int], seed: int) -> dict[str, Array]:
    """One array per input; reals are normal, indices uniform over what gathers allow.

    Raises GraphError when a symbolic extent has no size.
    """
    missing = sorted(graph.symbols - sizes.keys())
    if missing:
        raise GraphError(f"give a size for {', '.join(missing)}: --size {missing[0]}=16, or inputs")
    bound = bind(graph, dict(sizes))
    limits = index_limits(bound)
    try:
        return {i.name: _draw(i, limits, seed) for i in bound.inputs}
    except MemoryError as e:
        raise LimitError(f"inputs of these sizes do not fit: {e}") from e


def _draw(i: Input, limits: Mapping[str, tuple[int, int]], seed: int) -> Array:
    rng = np.random.default_rng((seed, zlib.crc32(i.name.encode())))
    shape = tuple(p.constant for p in i.shape)
    if i.sort is Sort.BOOL:
        return rng.random(shape) < 0.5
    if i.sort is Sort.REAL:
        return rng.standard_normal(shape).astype(np.float32)
    lo, hi = limits.get(i.name, (-8, 8))
    if lo > hi:
        raise GraphError(f"no index for input {i.name!r} keeps every gather inside its source")
    return rng.integers(lo, hi, shape, endpoint=True)


def index_limits(graph: Graph) -> dict[str, tuple[int, int]]:
    """Per index input that feeds a gather, the values that keep every such gather in range."""
    limits: dict[str, tuple[int, int]] = {}
    for node in graph.nodes:
        for read in node.reads:
            _limit_read(graph, node, read, limits)
    return limits


def _limit_read(
    graph: Graph, node: Comprehension, read: Read, limits: dict[str, tuple[int, int]]
) -> None:
    shape = [p.constant for p in graph.shape(read.source)]
    for k, gather in enumerate(read.view.gathers):
        _limit_read(graph, node, gather, limits)
        for form, extent in zip(read.view.coords, shape, strict=True):
            found = _solve(form, f"@{k}", extent, _dims(node))
            if found is not None:
                name = gather.source.node
                lo, hi = limits.get(name, (-(2**31) + 1, 2**31 - 1))
                limits[name] = (max(lo, found[0]), min(hi, found[1]))


def _dims(node: Comprehension) -> dict[str, int]:
    axes = node.monoid.axes if node.monoid else ()
    return {d.name: d.extent.constant for d in node.dims} | {a.name: a.size for a in axes}


def _solve(
    form: Affine, variable: str, extent: int, dims: Mapping[str, int]
) -> tuple[int, int] | None:
    """The values of a gathered variable that keep 0 ≤ form < extent at every point."""
    c = form.coefficient(variable)
    others = Affine(tuple(t for t in form.terms if not t[0].startswith("@")), form.const)
    around = form_range(others, dims)
    if not c.terms or around is None:
        return None
    factor = c.constant
    ends = sorted(((-around[0]) / factor, (extent - 1 - around[1]) / factor))
    return ceil(ends[0]), floor(ends[1])
