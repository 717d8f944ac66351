"""Makes the helpers of these tests importable under importlib mode."""

import importlib.util
import sys
from pathlib import Path

for _name in ("derivation_checks", "structural_examples", "enriched"):
    _SPEC = importlib.util.spec_from_file_location(_name, Path(__file__).with_name(f"{_name}.py"))
    if _SPEC is not None and _SPEC.loader is not None and Path(str(_SPEC.origin)).exists():
        module = importlib.util.module_from_spec(_SPEC)
        sys.modules.setdefault(_name, module)
        _SPEC.loader.exec_module(sys.modules[_name])
