"""Makes the checks shared by the model tests importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location(
    "model_checks", Path(__file__).with_name("checks.py")
)
if _SPEC is not None and _SPEC.loader is not None and "model_checks" not in sys.modules:
    module = importlib.util.module_from_spec(_SPEC)
    sys.modules["model_checks"] = module
    _SPEC.loader.exec_module(module)
