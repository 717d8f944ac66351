"""The closed vocabulary of results: rungs of the ladder and verdicts.

Defines `Rung` and `Verdict`. Relies on nothing. *Undecided* and *unsupported* are never success:
only PASS is, unless a caller allows another verdict by name.
"""

from __future__ import annotations

import enum


class Rung(enum.Enum):
    """Which equality of the ladder was tested; each has one suspect."""

    REWRITE = "rewrite"
    LOWER = "lower"
    EXPAND = "expand"
    EMIT = "emit"
    ROUND = "round"
    BACKEND = "backend"
    FOREIGN = "foreign"


SUSPECT = {
    Rung.REWRITE: "the named rule",
    Rung.LOWER: "schedule or lowering",
    Rung.EXPAND: "portable maths",
    Rung.EMIT: "emitter text, vendor compiler or driver",
    Rung.ROUND: "the precision schedule",
    Rung.BACKEND: "the compiler behind the backend",
    Rung.FOREIGN: "the foreign kernel",
}
"""Whom a finding on a rung accuses."""


class Verdict(enum.Enum):
    """What one check found."""

    PASS = "PASS"  # noqa: S105 — a verdict, not a password
    WRONG = "WRONG"
    UNWRITTEN = "UNWRITTEN"
    STRAY_WRITE = "STRAY_WRITE"
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    NONDETERMINISTIC = "NONDETERMINISTIC"
    RACE = "RACE"
    OVER_BUDGET = "OVER_BUDGET"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"
    UNSUPPORTED = "UNSUPPORTED"
    UNDECIDED = "UNDECIDED"
