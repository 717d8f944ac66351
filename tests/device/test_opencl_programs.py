"""Whole programs on OpenCL: the examples and random graphs climb the ladder, bit for bit."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang.cli.load import load_graph
from tang.errors import DeviceError
from tang.fuzz.case import draw_batch
from tang.verify import Rung, Task, verify_batch
from tang.verify.backends import open_backend

EXAMPLES = sorted(Path(__file__).resolve().parents[2].glob("examples/*.py"))


@pytest.fixture(scope="module", autouse=True)
def _opencl():
    try:
        open_backend("opencl")
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))


def test_every_example_verifies():
    from tang.verify.inputs import random_inputs

    graphs = {p.stem: load_graph(str(p)) for p in EXAMPLES if "fuzz" not in p.name}
    tasks = [Task(graph=g, inputs=random_inputs(g, {}, 3), name=n) for n, g in graphs.items()]
    for report in verify_batch(tasks, ("opencl",)):
        assert report.ok, report.to_text()
        assert Rung.EMIT in {r.rung for r in report.results}


def test_random_programs_verify():
    cases = draw_batch(11, 12, 0)
    tasks = [Task(graph=c.graph, inputs=c.inputs, schedule=c.schedule, name=c.name) for c in cases]
    for report in verify_batch(tasks, ("opencl",)):
        assert report.ok, report.to_text()


@pytest.mark.parametrize("isolate", [False, True])
def test_a_compiled_program_gives_the_bits_of_the_host(isolate):
    i, j, k = tg.dims("i j k")
    a, b = tg.input("A", ("m", 40)), tg.input("B", (40, 5))
    graph = tg.Graph(C=tg.compute("C", (i, j), tg.sum(tg.exp(a[i, k]) * b[k, j], over=k)))
    rng = np.random.default_rng(1)
    inputs = {"A": rng.normal(size=(70, 40)), "B": rng.normal(size=(40, 5))}
    want = tg.compile(graph)(inputs)["C"]
    got = tg.compile(graph, target="opencl", isolate=isolate)(inputs)["C"]
    assert got.tobytes() == want.tobytes()
