"""A percentile counts wherever a budget does: on the rung `round`, too."""

from __future__ import annotations

import numpy as np
import pytest
from budget_programs import chain_graph

from tang.emulator import ErrorBudget
from tang.kernel.ir import BF16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import verify


@pytest.mark.parametrize(("percentile", "ok"), [(100, False), (99, False), (98, True)])
def test_one_element_of_sixty_four_is_forgiven_by_a_percentile_below_it(percentile, ok):
    data = {"x": np.r_[np.ones(63), 1 + 2.0**-9].astype(np.float32)}
    schedule = Schedule(nodes=(("stage1", NodeSchedule(storage=BF16)),))
    budget = ErrorBudget(abs=1e-6, rel=1e-4, percentile=percentile)
    report = verify(chain_graph(), data, (), schedule=schedule, budget=budget, rules=())
    assert report.ok is ok
