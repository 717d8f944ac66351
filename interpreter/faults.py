"""Errors that a program's data cause, worded for the reader.

Defines `out_of_range`. Relies on NumPy's broadcasting of the definition's slots; it decides
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tang.errors import GraphError
from tang.interpreter.arithmetic import Indices, Mask
from tang.ir.view import Read


def out_of_range(
    node: str,
    label: str,
    read: Read,
    size: tuple[int, ...],
    iotas: Mapping[str, Indices],
    outside: Mask,
    coords: Sequence[Indices],
) -> GraphError:
    """The error for the first lane outside the source, naming its dims and its coordinates."""
    shape = np.broadcast_shapes(outside.shape, *(c.shape for c in iotas.values()))
    lane = tuple(np.argwhere(np.broadcast_to(outside, shape))[0])

    def at(a: Indices) -> int:
        return int(np.broadcast_to(a, shape)[lane])

    point = ", ".join(f"{name}={at(c)}" for name, c in iotas.items())
    where = ", ".join(str(at(c)) for c in coords)
    return GraphError(
        f"node {node!r}, {label} of {read.source} at ({point}): coordinates ({where}) are "
        f"outside {size}; add a guard with a fill"
    )
