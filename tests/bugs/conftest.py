"""What tests of public bugs share: compiled programs, and climbs of the whole ladder.

Defines the fixtures `compiled`, which gives programs on the host, and `verified`, which takes
programs with data through every rung in several splits. Relies on a C compiler for both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from tang import api
from tang.device import CompilerOptions, HostC
from tang.device.compiler import find_compiler
from tang.errors import DeviceError
from tang.ir.graph import Graph
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Task, verify_batch

Case = tuple[Graph, Mapping[str, Any]]


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostC]:
    """The host device; skipped without a compiler, except in CI."""
    try:
        find_compiler()
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    device = HostC(CompilerOptions(cache=tmp_path_factory.mktemp("libraries")))
    yield device
    device.close()


def schedule_of(**choice: Any) -> Schedule:
    """The same choice for every node."""
    return Schedule(default=NodeSchedule(**choice))


@pytest.fixture(scope="session")
def compiled(host: HostC) -> Callable[..., api.Program]:
    """compiled(graph, split=…, storage=…, …): the program, every node scheduled alike."""

    def build(graph: Graph, **choice: Any) -> api.Program:
        return api.compile(graph, schedule=schedule_of(**choice), device=host)

    return build


@pytest.fixture
def verified(host: HostC) -> Callable[..., None]:
    """verified(cases, splits, …): each case in each split passes every rung, device included."""

    def check(cases: Sequence[Case], splits: Sequence[int] = (1, 2, 3), **choice: Any) -> None:
        tasks = [
            Task(graph=g, inputs=data, schedule=schedule_of(split=s, **choice), name=f"{n}/{s}")
            for n, (g, data) in enumerate(cases)
            for s in splits
        ]
        for report in verify_batch(tasks):
            assert report.ok, report.to_text()

    return check
