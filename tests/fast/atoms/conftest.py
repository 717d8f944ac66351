"""Makes the helpers of this folder importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path

for _name in ("fake_gpu", "scheduled_sums"):
    _spec = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(f"{_name}.py"))
    if _spec is not None and _spec.loader is not None and _name not in sys.modules:
        module = importlib.util.module_from_spec(_spec)
        sys.modules[_name] = module
        _spec.loader.exec_module(module)
