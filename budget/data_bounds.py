"""Bounds of every element for given inputs, for a kernel of some formats or for one schedule.

Defines `element_bounds`. Relies on replay in the domains `strict` and `any order`. It bounds no
rounding of the inputs: they are as the kernel stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.budget.report_samples import Setting, stored_everywhere
from tang.emulator.any_order import any_order
from tang.emulator.printed import as_printed
from tang.emulator.replay import Replay, replay
from tang.emulator.strict import STRICT
from tang.ir.expr import REAL
from tang.ir.view import Ref
from tang.kernel.expand import expand_math
from tang.kernel.lower import lower
from tang.kernel.schedule import Schedule

_CURE: Final = "say whose functions the kernel has (math='any', or a language)"
"""Of functions in f64, of which tang has none."""

F64Array = npt.NDArray[np.float64]
Bounds = Mapping[Ref, F64Array]


def element_bounds(
    setting: Setting,
    schedule: Schedule,
    *,
    free: bool,
    math: str = "portable",
    printed: bool = True,
) -> Bounds:
    """How far each element of every tensor may be from its f64 result; infinite where unknown.

    0 at an infinity or NaN that no other order or library makes anything else, and of indices and
    bools where no inexact value decides them.

    free     whether the kernel may add up its sums in any order, not in that of the schedule alone
    math     "portable" functions, or a language whose own ones the kernel uses
    printed  whether f64 evaluates functions as they are printed; else it is taken for exact
    """
    portable = math == "portable"
    strict = as_printed(STRICT) if printed else STRICT
    domain = any_order(math, printed=printed) if free or not portable else strict
    plan = lower(setting.graph, stored_everywhere(setting.graph, schedule))
    done = replay(
        expand_math(plan, cure=_CURE) if portable else plan,
        dict(setting.inputs),
        domain=domain,
        sizes={},
        sanitize=False,
    )
    sort = setting.graph.sort
    return {
        b.ref: _numbers(done, b.name, setting.exact[b.ref])
        if sort(b.ref) is REAL
        else np.where(done.doubts[b.name], np.inf, 0.0)
        for b in plan.buffers
        if b.ref is not None
    }


def _numbers(done: Replay, name: str, exact: npt.NDArray[Any]) -> F64Array:
    """The bounds of a buffer of reals; of what is no number in f64 they say that, or nothing."""
    bound = np.where(done.doubts[name], np.inf, done.planes[name]["bound"])
    return np.where((bound > 0) & ~np.isfinite(exact), np.inf, bound)
