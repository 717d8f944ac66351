"""Makes the hand-written kernels and the exact references importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

_HELPERS = {
    "emulator_kernels": "kernels.py",
    "exact_rounding": "exact_rounding.py",
    "exact_dots": "exact_dots.py",
    "certified": "certified.py",
    "certified_programs": "certified_programs.py",
    "tampering": "tampering.py",
    "forging": "forging.py",
}

for _name, _file in _HELPERS.items():
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(_file))
    if _spec is not None and _spec.loader is not None and _name not in sys.modules:
        module = importlib.util.module_from_spec(_spec)
        sys.modules[_name] = module
        _spec.loader.exec_module(module)


@pytest.fixture(autouse=True)
def _own_numbers(request, monkeypatch):
    """A module's random numbers start anew with each test, whichever tests ran before it."""
    if isinstance(getattr(request.module, "RNG", None), np.random.Generator):
        seed = crc32(request.node.nodeid.encode())
        monkeypatch.setattr(request.module, "RNG", np.random.default_rng(seed))
