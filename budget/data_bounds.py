"""Bounds of every element for given inputs, for a kernel of some formats or for one schedule.

Defines `element_bounds`. Relies on replay in the domains `strict` and `any order`. It bounds no
rounding of the inputs: they are as the kernel stores them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.budget.report_samples import Setting, stored_everywhere
from tang.emulator.any_order import any_order
from tang.emulator.replay import replay
from tang.emulator.strict import STRICT
from tang.ir.view import Ref
from tang.kernel.expand import expand_math
from tang.kernel.lower import lower
from tang.kernel.schedule import Schedule

F64Array = npt.NDArray[np.float64]


def element_bounds(
    setting: Setting,
    schedule: Schedule,
    refs: Collection[Ref],
    *,
    free: bool,
    math: str = "portable",
) -> Mapping[Ref, F64Array]:
    """How far each element of real tensors may be from exact arithmetic; infinite where unknown.

    free  whether the kernel may add up its sums in any order, not in that of the schedule alone
    math  "portable" functions, or a language whose own ones the kernel uses
    """
    portable = math == "portable"
    plan = lower(setting.graph, stored_everywhere(setting.graph, schedule))
    done = replay(
        expand_math(plan) if portable else plan,
        dict(setting.inputs),
        domain=any_order(math) if free or not portable else STRICT,
        sizes={},
        sanitize=False,
    )
    names = {b.ref: b.name for b in plan.buffers if b.name in done.planes}
    return {ref: _known(done.planes[names[ref]]) for ref in refs if ref in names}


def _known(planes: Mapping[str, npt.NDArray[Any]]) -> F64Array:
    return np.asarray(np.where(planes["taint"], np.inf, planes["bound"]), np.float64)
