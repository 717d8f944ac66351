"""Makes the tampering with JSON of the emulator's tests importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path

_PLACE = Path(__file__).parent.parent / "emulator" / "tampering.py"
_spec = importlib.util.spec_from_file_location("tampering", _PLACE)
if _spec is not None and _spec.loader is not None and "tampering" not in sys.modules:
    module = importlib.util.module_from_spec(_spec)
    sys.modules["tampering"] = module
    _spec.loader.exec_module(module)
