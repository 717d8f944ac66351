"""The errors and the warning that a user can meet, one class per kind of mistake.

Every message says what was expected, what came, where (node, dim, file:line) and what to do.
Two further classes are internal: `ImpossibleError` ends a draw, `TangBugError` is never caught.
"""

from __future__ import annotations


class TangError(Exception):
    """Base of every error that tang raises on purpose."""


class GraphError(TangError):
    """A program is ill-formed: names, sorts, shapes, views, monoids or JSON."""


class RewriteError(TangError):
    """A rewrite rule changed the meaning of a program, or made an illegal one."""

    def __init__(self, message: str, rule: str = "", node: str = "") -> None:
        super().__init__(message)
        self.rule = rule
        self.node = node


class ScheduleError(TangError):
    """A schedule names an unknown node or asks for something illegal."""


class LimitError(TangError):
    """An extent or an index exceeds what a device or an index type can hold."""


class DeviceError(TangError):
    """A device, driver or compiler is missing or failed."""


class BudgetError(TangError):
    """An error budget is malformed or cannot be met."""


class UnjudgedWarning(UserWarning):
    """A test left elements out, of which nothing is known: as many as it says."""


class FormatError(TangError):
    """An unknown number format, rounding or overflow mode."""


class ProofError(TangError):
    """A proof is missing, wrong or could not be checked."""


class ImpossibleError(Exception):
    """Internal: this random draw cannot be completed; the fuzzer discards it."""


class TangBugError(Exception):
    """Internal: tang itself is wrong. Never caught, always reported."""
