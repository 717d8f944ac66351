"""What the tests of emitted C ask of operations, conversions and statements holds on OpenCL too.

The tests are those of the neighbouring files, with the fixtures of this one.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tang.device.opencl import OpenCL, OpenCLOptions
from tang.errors import DeviceError

OTHER = {
    "test_without_the_barrier_the_result_differs",  # undefined here, but defined in fissioned C
    "test_native_functions_are_those_of_the_host",  # OpenCL has functions of its own
    "test_a_stray_write_shows_in_the_guard_zone",  # in the file beside this one
}


def sibling(name):
    """A neighbouring file as a module of its own."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"opencl_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The OpenCL device in the place of the host; skipped where there is none, except in CI."""
    cache = tmp_path_factory.mktemp("programs")
    try:
        device = OpenCL(OpenCLOptions(optimize=False, cache=cache))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield device
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
