"""What the tests of emitted C ask of operations, conversions and statements holds on OpenGL too.

The tests are those of the neighbouring files, with the fixtures of this one; what GLSL cannot say
is skipped with its own words.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tang.device.opengl import OpenGL, OpenGLOptions
from tang.emit import UnsupportedError
from tang.errors import DeviceError

OTHER = {
    "test_without_the_barrier_the_result_differs",  # undefined here, but defined in fissioned C
    "test_native_functions_are_those_of_the_host",  # OpenGL has functions of its own
    "test_a_stray_write_shows_in_the_guard_zone",  # in test_opengl_device.py
}


def sibling(name):
    """A neighbouring file as a module of its own."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"opengl_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Patient:
    """The device, for tests that skip what its language cannot say."""

    def __init__(self, device):
        self.device = device
        self.run = device.run

    def compile(self, kernels):
        try:
            return self.device.compile(kernels)
        except UnsupportedError as e:
            pytest.skip(str(e))


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The OpenGL device in the place of the host; skipped where there is none, except in CI."""
    cache = tmp_path_factory.mktemp("texts")
    try:
        device = OpenGL(OpenGLOptions(optimize=False, cache=cache))
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
