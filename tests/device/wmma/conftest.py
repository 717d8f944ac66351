"""The SIMT device of these tests, and their cases importable under importlib mode."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tang.device import CompilerOptions
from tang.device.simt import Simt
from tang.errors import DeviceError

_SPEC = importlib.util.spec_from_file_location("wmma_cases", Path(__file__).with_name("cases.py"))
if _SPEC is not None and _SPEC.loader is not None and "wmma_cases" not in sys.modules:
    sys.modules["wmma_cases"] = importlib.util.module_from_spec(_SPEC)
    _SPEC.loader.exec_module(sys.modules["wmma_cases"])


@pytest.fixture(scope="session")
def cuda(tmp_path_factory):
    """CUDA text on the CPU; skipped without g++, except in CI."""
    try:
        device = Simt(
            "cuda", CompilerOptions(optimize="-O1", cache=tmp_path_factory.getbasetemp() / "simt")
        )
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield device
    device.close()
