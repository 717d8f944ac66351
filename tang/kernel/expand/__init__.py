"""Portable maths: f32 functions that give the same bits on every IEEE device, and their insertion.

Re-exports `expand_math`, `expand_kernel`, `portable`, and `pack_codes` for buffers of narrow
formats. Relies on the kernel IR and on plans. It does not choose between portable and native maths:
that is the caller's.
"""

from tang.kernel.expand.expand import expand_kernel, expand_math
from tang.kernel.expand.functions import portable
from tang.kernel.expand.pack import pack_codes

__all__ = ["expand_kernel", "expand_math", "pack_codes", "portable"]
