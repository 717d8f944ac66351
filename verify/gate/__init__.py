"""The merge gate: which programs of a project to verify, what is unchanged, what is at fault.

Gathers the names that the command `tang-verify` and other programs use. Relies on the ladder for
every verdict. It compiles and judges nothing by itself.
"""

from tang.verify.gate.cache import Cache
from tang.verify.gate.config import Config, ConfigError, Settings, read_config
from tang.verify.gate.diff import KernelDiff, kernel_diff
from tang.verify.gate.run import Gate, GateResult, run_gate

__all__ = [
    "Cache",
    "Config",
    "ConfigError",
    "Gate",
    "GateResult",
    "KernelDiff",
    "Settings",
    "kernel_diff",
    "read_config",
    "run_gate",
]
