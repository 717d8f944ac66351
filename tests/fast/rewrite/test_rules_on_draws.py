"""Rules keep the meaning of random graphs, each alone and all together."""

from __future__ import annotations

import pytest
from enriched import STRUCTURAL, faults

DRAWS = 12


@pytest.mark.parametrize("name", [*STRUCTURAL, "pipeline"])
def test_a_rule_keeps_the_meaning_of_random_graphs(name):
    assert faults(name, seed=11, start=0, count=DRAWS) == []
