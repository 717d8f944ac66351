"""Lowering: graphs to plans.

Defines `lower`, in `program`; the other modules are its parts. Relies on the IR and the kernel
IR. It does not choose schedules, expand functions or print text.
"""

from tang.kernel.lower.program import lower

__all__ = ["lower"]
