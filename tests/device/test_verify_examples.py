"""Every example program climbs the whole ladder on the C backend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang.cli.load import load_graph
from tang.emulator.budget import ErrorBudget
from tang.errors import DeviceError, GraphError
from tang.verify import Rung, Verdict, verify

EXAMPLES = sorted(Path(__file__).resolve().parents[2].glob("examples/*.py"))
PROGRAMS = [p for p in EXAMPLES if "fuzz" not in p.name]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_an_example_verifies(path):
    report = verify(load_graph(str(path)), seed=3)
    assert report.ok, report.to_text()
    assert {r.rung for r in report.results} == set(Rung) - {Rung.BACKEND, Rung.FOREIGN}


def product():
    """A small matrix product."""
    i, j, k = tg.dims("i j k")
    a, b = tg.input("A", (3, 4)), tg.input("B", (4, 5))
    return tg.Graph(C=tg.compute("C", (i, j), tg.sum(a[i, k] * b[k, j], over=k)))


def test_a_budget_that_holds_passes_and_one_that_does_not_is_over_budget():
    assert verify(product(), budget=ErrorBudget(rel=1e-3, abs=1e-3)).ok
    report = verify(product(), budget=ErrorBudget(ulp=0.01))
    assert [f.verdict for f in report.findings] == [Verdict.OVER_BUDGET]
    assert report.findings[0].node == "C"


def test_wrong_inputs_are_the_callers_mistake():
    with pytest.raises(GraphError, match="no data for input 'B'"):
        verify(product(), {"A": np.zeros((3, 4), np.float32)})
    with pytest.raises(GraphError, match="input 'B' dim 0"):
        verify(product(), {"A": np.zeros((3, 4)), "B": np.zeros((5, 5))})


def test_an_unknown_backend_is_named():
    with pytest.raises(DeviceError, match="unknown backend 'cuda7'"):
        verify(product(), backends=("cuda7",))


def test_without_backends_the_rungs_up_to_replay_run():
    report = verify(product(), backends=())
    assert report.ok
    assert {r.rung for r in report.results} == {Rung.REWRITE, Rung.LOWER, Rung.EXPAND, Rung.ROUND}
