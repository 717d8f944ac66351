"""Portable maths: f32 functions that give the same bits on every IEEE device, and their insertion.

Re-exports `expand_math`, `expand_kernel` and `portable`. Relies on the kernel IR and on plans. It
does not choose between portable and native maths: that is the caller's.
"""

from tang.kernel.expand.expand import expand_kernel, expand_math
from tang.kernel.expand.functions import portable

__all__ = ["expand_kernel", "expand_math", "portable"]
