"""Makes the fake GPU importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("fake_gpu", Path(__file__).with_name("fake_gpu.py"))
if _SPEC is not None and _SPEC.loader is not None and "fake_gpu" not in sys.modules:
    module = importlib.util.module_from_spec(_SPEC)
    sys.modules["fake_gpu"] = module
    _SPEC.loader.exec_module(module)
