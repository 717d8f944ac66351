"""What the tests of lowering share: agreement of a lowered graph with the interpreter."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tang.emulator.replay import replay
from tang.interpreter import interpret
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.kernel.lower import lower
from tang.kernel.plan import Plan
from tang.kernel.schedule import Schedule

for _name in ("some_inlined",):  # helpers that importlib mode would not find
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(f"{_name}.py"))
    if _spec is not None and _spec.loader is not None:
        sys.modules[_name] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[_name])

Inputs = Mapping[str, Any]
Agree = Callable[..., dict[str, Any]]


def _agree(graph: Graph, inputs: Inputs, schedule: Schedule | None = None) -> dict[str, Any]:
    validate(graph)
    plan = lower(graph, schedule)
    wanted = interpret(graph, inputs)
    _same(plan, inputs, wanted)
    return wanted


def _same(plan: Plan, inputs: Inputs, wanted: Mapping[str, Any]) -> None:
    got = replay(plan, inputs, domain="real")
    assert got.findings == ()
    for name, value in wanted.items():
        found = np.asarray(got.outputs[name])
        assert found.shape == value.shape
        if value.dtype.kind == "f":
            np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(found, value)


@pytest.fixture
def agree() -> Agree:
    """agree(graph, inputs, schedule): replay of the plan in f64 equals the interpreter."""
    return _agree
