"""Inputs for a report: drawn, or given and checked against the ranges that were stated.

Defines `drawn_inputs`, `check_ranges`, `checked_ranges`, `checked_seed`, `checked_samples` and
`Ranges`. Relies on the verifier's random inputs and on the models' convention that parameters have
a dot in their names. It reads no files.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import BudgetError
from tang.ir.bind import bind
from tang.ir.expr import REAL
from tang.ir.given import apart, shown
from tang.ir.graph import Graph, Input
from tang.models import weights
from tang.verify.inputs import random_inputs

Array = npt.NDArray[Any]
Ranges = Mapping[str, tuple[float, float]]
"""By real input its least and its largest element."""

MOST_SAMPLES: Final = 100_000
"""Sets of inputs of one question: all are in memory at once."""
LAST_SEED: Final = 2**64 - 1


def checked_ranges(graph: Graph, ranges: Ranges) -> dict[str, tuple[float, float]]:
    """The ranges, once they are known to be of real inputs and not empty; else BudgetError."""
    found = {}
    known = [i.name for i in graph.inputs if i.sort is REAL]
    if not isinstance(ranges, Mapping):
        raise BudgetError(f"ranges are pairs by input ({', '.join(known)}), not {ranges!r}")
    for name, span in ranges.items():
        if name not in known:
            raise BudgetError(
                f"a range names {name!r}, which is no real input: one of {', '.join(known)}"
            )
        found[name] = _span(name, span)
    return found


def _span(name: str, given: object) -> tuple[float, float]:
    """The ends of a range, which are numbers in order."""
    try:
        lo, hi = (float(x) for x in given)  # type: ignore[attr-defined]  # what is no pair raises
    except (TypeError, ValueError, OverflowError) as e:
        raise BudgetError(f"the range of {name!r} is a pair of numbers, not {shown(given)}") from e
    if not (np.isfinite(lo) and np.isfinite(hi) and lo <= hi):
        raise BudgetError(f"the range of {name!r} is LO:HI of finite numbers, not {lo}:{hi}")
    return lo, hi


def checked_seed(seed: object) -> int:
    """A seed that draws are made from: a whole number, 0 or more; else BudgetError."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise BudgetError(f"a seed is a whole number, 0 or more, not {shown(seed)}")
    if seed > LAST_SEED:
        raise BudgetError(f"a seed is a whole number, at most 2^64 - 1, not {shown(seed)}")
    return int(seed)


def checked_samples(samples: object, least: int = 1) -> int:
    """How many sets of inputs to draw; BudgetError naming the least and the most there are."""
    if type(samples) is int and least <= samples <= MOST_SAMPLES:
        return samples
    if type(samples) is int and samples > MOST_SAMPLES:
        raise BudgetError(
            f"samples are at most {MOST_SAMPLES:,}, not {shown(samples)}: all sets are held at "
            "once; ask again with other seeds for more"
        )
    cure = ": certified alone needs none" if type(samples) is int and samples == 0 else ""
    raise BudgetError(f"samples are {least} or more, not {shown(samples)}{cure}")


def drawn_inputs(
    graph: Graph, sizes: Mapping[str, int], ranges: Ranges, seed: int
) -> dict[str, Array]:
    """One array per input, each a pure function of its name, the sizes and the seed.

    Inputs with a range are uniform in it; parameters (a dot in their names) are as `models.weights`
    draws them, N(0, 1/fan-in); other reals are normal, indices within what gathers allow.
    """
    found = random_inputs(graph, sizes, seed)
    found |= {n: a for n, a in weights(graph, sizes, seed).items() if _is_real(graph, n)}
    bound = bind(graph, dict(sizes))
    return found | {n: _uniform(bound.input(n), r, seed) for n, r in ranges.items()}


def _is_real(graph: Graph, name: str) -> bool:
    return graph.input(name).sort is REAL


def _uniform(i: Input, span: tuple[float, float], seed: int) -> Array:
    rng = np.random.default_rng((seed, zlib.crc32(i.name.encode())))
    lo, hi = span
    shape = tuple(p.constant for p in i.shape)
    if max(abs(lo), abs(hi)) > float(np.finfo(np.float32).max):
        share = rng.random(shape)
        return np.clip(lo * (1 - share) + hi * share, lo, hi)
    return np.clip(rng.uniform(lo, hi, shape).astype(np.float32), lo, hi)


def check_ranges(inputs: Mapping[str, Array], ranges: Ranges) -> None:
    """Raise BudgetError naming the first element of an input that is outside its range."""
    for name, (lo, hi) in ranges.items():
        values = np.asarray(inputs[name], np.float64)
        outside = ~((values >= lo) & (values <= hi))
        if outside.any():
            at = np.unravel_index(int(np.argmax(outside)), values.shape)
            place = ", ".join(str(int(k)) for k in at)
            found, least, most = apart(float(values[at]), lo, hi, digits=6)
            raise BudgetError(
                f"input {name!r} holds {found} at [{place}], outside its stated range "
                f"{least}:{most} ({int(outside.sum())} of {values.size} elements are)"
            )
