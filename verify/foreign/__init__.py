"""Foreign kernels and callables against a tang graph: see `docs/foreign.md`.

Gathers the names that users rely on. Relies on everything in this folder. It does nothing else.
"""

from tang.verify.foreign.callables import verify_callable
from tang.verify.foreign.kernel import verify_kernel
from tang.verify.foreign.launch import LaunchError, LaunchSpec, load_launch

__all__ = ["LaunchError", "LaunchSpec", "load_launch", "verify_callable", "verify_kernel"]
