"""Makes the hand-written kernels importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location(
    "emulator_kernels", Path(__file__).with_name("kernels.py")
)
if _SPEC is not None and _SPEC.loader is not None and "emulator_kernels" not in sys.modules:
    module = importlib.util.module_from_spec(_SPEC)
    sys.modules["emulator_kernels"] = module
    _SPEC.loader.exec_module(module)
