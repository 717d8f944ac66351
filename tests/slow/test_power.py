"""Power: the stock campaign finds every mutant for seeds 1, 2 and 3 and blames the right rung."""

from __future__ import annotations

import pytest

from tang.fuzz.mutants import MUTANTS
from tang.fuzz.mutants.power import PowerOptions, run_power

ON_C = [m for m in MUTANTS if "c" in m.languages]


@pytest.mark.parametrize("mutant", ON_C, ids=[m.name for m in ON_C])
def test_every_mutant_is_found_and_blamed(mutant):
    report = run_power(PowerOptions(mutants=(mutant,)))
    assert report.ok, report.to_text()
