"""What the tests of emitted C ask of operations, conversions and statements holds on WebGPU too.

The tests are those of the neighbouring files, with the fixtures of this one: 64-bit indices of
their kernels become 32-bit ones; what WGSL cannot say is skipped with its own words.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tang.device.webgpu import WebGPU, WebGPUOptions
from tang.emit import UnsupportedError
from tang.errors import DeviceError, LimitError
from tang.kernel import ir as k

OTHER = {
    "test_without_the_barrier_the_result_differs",  # undefined here, but defined in fissioned C
    "test_native_functions_are_those_of_the_host",  # WebGPU has functions of its own
    "test_a_stray_write_shows_in_the_guard_zone",  # in test_webgpu_device.py
}


def sibling(name):
    """A neighbouring file as a module of its own."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"webgpu_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def narrowed(x):
    """The same with 32-bit indices, unless it is a kernel on 64-bit data."""
    if isinstance(x, k.Kernel) and any(p.type is k.I64 for p in x.params):
        return x
    if isinstance(x, tuple):
        return tuple(narrowed(v) for v in x)
    if dataclasses.is_dataclass(x):
        return replace(x, **{f.name: narrowed(getattr(x, f.name)) for f in dataclasses.fields(x)})
    return k.I32 if x is k.I64 else x


class Patient:
    """The device, for tests that skip what its language cannot say."""

    def __init__(self, device):
        self.device = device
        self.run = device.run

    def compile(self, kernels):
        try:
            return self.device.compile([narrowed(k) for k in kernels])
        except (UnsupportedError, LimitError) as e:
            pytest.skip(str(e))


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The WebGPU device in the place of the host; skipped where there is none, except in CI."""
    cache = tmp_path_factory.mktemp("texts")
    try:
        device = WebGPU(WebGPUOptions(optimize=False, cache=cache))
        device.start()
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield Patient(device)
    device.close()


@pytest.fixture(scope="module")
def evaluate(host):
    return sibling("conftest").evaluator(host)


OPERATIONS = sibling("test_c_operations")
t = OPERATIONS.t
pytestmark = OPERATIONS.pytestmark
for _module in (OPERATIONS, sibling("test_c_conversions"), sibling("test_c_statements")):
    globals().update(
        {n: f for n, f in vars(_module).items() if n.startswith("test_") and n not in OTHER}
    )
