"""What tang emits as CUDA and MSL computes on the CPU the bits of its C, with nothing to find."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang import api
from tang.cli.load import load_graph
from tang.device import CompilerOptions
from tang.device.simt import Simt
from tang.device.simt.nvrtc import nvrtc_check, nvrtc_missing
from tang.device.simt.spaces import space_errors, spaces_missing
from tang.errors import DeviceError
from tang.ir.expr import Sort
from tang.kernel.ir import BF16, F16
from tang.kernel.schedule import NodeSchedule, Schedule

EXAMPLES = sorted(Path(__file__).resolve().parents[2].glob("examples/*.py"))
GRAPHS = [p for p in EXAMPLES if "fuzz" not in p.name]


@pytest.fixture(scope="module", params=["cuda", "msl"])
def simt(request, tmp_path_factory):
    """A device of each language; skipped without g++, except in CI."""
    cache = tmp_path_factory.getbasetemp() / "simt"
    try:
        device = Simt(request.param, CompilerOptions(cache=cache))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield device
    device.close()


def drawn(graph):
    """Inputs of every sort, in order of their names."""
    rng = np.random.default_rng(3)
    arrays = {}
    for i in graph.inputs:
        shape = tuple(int(d.constant) for d in i.shape)
        real = rng.standard_normal(shape).astype(np.float32)
        integer = rng.integers(0, 4, shape)
        arrays[i.name] = {Sort.REAL: real, Sort.INDEX: integer, Sort.BOOL: real > 0}[i.sort]
    return arrays


def compared(simt, host, graph, inputs, monkeypatch, schedule=None):
    """Run on both devices, on this one with checks, and compare bits."""
    findings = []

    def run(jobs, deadline=30.0):
        checked = simt.check(jobs, deadline)
        findings.extend(f.message for c in checked for f in c.findings)
        return tuple(c.outcome for c in checked)

    monkeypatch.setattr(simt, "run", run)
    wanted = api.compile(graph, schedule=schedule, device=host)(inputs)
    plain = api.compile(graph, schedule=schedule, device=simt)(inputs)
    checked = api.compile(graph, schedule=schedule, device=simt, isolate=True)(inputs)
    assert findings == []
    for name, array in wanted.items():
        assert plain[name].tobytes() == array.tobytes()
        assert checked[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.stem)
def test_an_example_has_the_bits_of_c(path, simt, host, monkeypatch):
    graph = load_graph(str(path))
    compared(simt, host, graph, drawn(graph), monkeypatch)


@pytest.mark.parametrize("storage", [F16, BF16], ids=["f16", "bf16"])
def test_narrow_storage_and_accumulation_have_the_bits_of_c(storage, simt, host, monkeypatch):
    i, j, k = tg.dims("i j k")
    a, b = tg.input("A", (9, 33)), tg.input("B", (33, 7))
    graph = tg.Graph(C=tg.compute("C", (i, j), tg.sum(a[i, k] * b[k, j], over=k)))
    how = NodeSchedule(storage=storage, accumulate=storage)
    compared(simt, host, graph, drawn(graph), monkeypatch, Schedule(default=how))


@pytest.mark.skipif(nvrtc_missing() is not None, reason=f"{nvrtc_missing()}")
@pytest.mark.parametrize("path", GRAPHS[:4], ids=lambda p: p.stem)
def test_emitted_cuda_compiles_to_a_cubin(path):
    for kernel in api.kernel_texts(load_graph(str(path)), "cuda"):
        assert nvrtc_check(kernel.text, "sm_90a").startswith(b"\x7fELF")


@pytest.mark.skipif(spaces_missing() is not None, reason=f"{spaces_missing()}")
@pytest.mark.parametrize("path", GRAPHS, ids=lambda p: p.stem)
def test_emitted_metal_keeps_address_spaces_apart(path):
    for kernel in api.kernel_texts(load_graph(str(path)), "msl"):
        assert space_errors(kernel.text) == ()
