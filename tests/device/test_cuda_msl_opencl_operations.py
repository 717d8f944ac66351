"""What the tests of emitted C ask of operations, conversions and statements holds elsewhere too:
for OpenCL on its default device, for CUDA and MSL on the CPU.

The tests are those of the neighbouring files, with the fixtures of this one.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tang.device import CompilerOptions
from tang.device.opencl import OpenCL, OpenCLOptions
from tang.device.simt import Simt
from tang.emit import UnsupportedError
from tang.errors import DeviceError

OTHER = {
    "test_without_the_barrier_the_result_differs",  # undefined here, but defined in C
    "test_native_functions_are_those_of_the_host",  # every language has its own
    "test_a_stray_write_shows_in_the_guard_zone",  # in the tests of the devices
}


def sibling(name):
    """A neighbouring file as a module of its own."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"elsewhere_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opened(language, cache):
    if language == "opencl":
        return OpenCL(OpenCLOptions(optimize=False, cache=cache))
    return Simt(language, CompilerOptions(optimize="-O0", cache=cache))


class Lacking:
    """A device of a language without f64: tests that need it are skipped."""

    def __init__(self, device):
        self.run = device.run
        self.inner = device

    def compile(self, kernels):
        try:
            return self.inner.compile(kernels)
        except UnsupportedError as e:
            if "f64" not in str(e):
                raise
            pytest.skip(f"not in the language: {e}")


@pytest.fixture(scope="module", params=["opencl", "cuda", "msl"])
def host(request, tmp_path_factory):
    """A device in the place of the host; skipped where there is none, except in CI."""
    try:
        device = opened(request.param, tmp_path_factory.mktemp("programs"))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield Lacking(device) if request.param == "msl" else device
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
