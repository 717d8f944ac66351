"""Random data for the inputs of a drawn graph.

Defines `draw_inputs`. Relies on the plans that the graph was drawn with: profile of a real input,
range of an index input. Every real is exactly an f32, so no side of a comparison rounds its inputs.
Shrinks to ones, then small integers, then dyadic numbers, then floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tang.fuzz.program import InputPlan
from tang.fuzz.source import Source, between, choose, weighted
from tang.ir.expr import BOOL, INDEX

Array = NDArray[Any]

_SPECIALS: Final = {
    "zeros": (0.0, -0.0),
    "tiny": (1e-45, -1e-40, 1.1754942e-38, 1.1754944e-38),
    "huge": (2.0**100, -(2.0**99), 1e30),
    "edges": (65536.0, -1e5, 65519.0, -65520.0, 3.0 * 2**-26, -(2.0**-25), 2.0**-24, 6.1e-5),
    "nonfinite": (float("inf"), float("-inf"), float("nan")),
}


def draw_inputs(source: Source, plans: Sequence[InputPlan]) -> Mapping[str, Array]:
    """Arrays for every input: half of all draws small dyadic numbers, the others mixed floats."""
    kind = weighted(source, ((2, "ones"), (6, "integers"), (42, "dyadic"), (50, "mixed")))
    return {p.name: source.part(partial(_draw_array, p, kind)) for p in plans}


def _draw_array(plan: InputPlan, kind: str, source: Source) -> Array:
    shape = tuple(s.value for s in plan.shape)
    generator = np.random.default_rng(source.below(2**16))
    if plan.sort is BOOL:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if plan.sort is INDEX:
        return generator.integers(plan.low, plan.high, shape, dtype=np.int64, endpoint=True)
    values = _reals(generator, shape, "dyadic" if plan.profile == "dyadic" else kind)
    if plan.profile in _SPECIALS and values.size:
        _place_specials(source, values, _SPECIALS[plan.profile])
    return values


def _reals(generator: np.random.Generator, shape: tuple[int, ...], kind: str) -> Array:
    """Values in −8 … 8 that are exactly f32."""
    if kind == "ones":
        return np.ones(shape)
    if kind == "integers":
        return generator.integers(-3, 3, shape, endpoint=True).astype(np.float64)
    if kind == "dyadic":
        return generator.integers(-64, 64, shape, endpoint=True) / 8.0
    return _mixed(generator, shape)


def _mixed(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Four of five near 1, the others of any magnitude in 2⁻²⁰ … 2³."""
    wide = generator.random(shape) < 0.2
    exponents = np.where(wide, generator.uniform(-20, 3, shape), generator.uniform(-3, 2, shape))
    signs = generator.integers(0, 2, shape) * 2.0 - 1.0
    return (signs * np.exp2(exponents)).astype(np.float32).astype(np.float64)


def _place_specials(source: Source, values: Array, specials: Sequence[float]) -> None:
    flat = values.reshape(-1)
    for _ in range(between(source, 1, 3)):
        special = np.float64(np.float32(choose(source, specials)))
        flat[source.below(flat.size)] = special
