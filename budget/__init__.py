"""Precision before it runs: schedules of formats, predicted bits, bounds, budgets and their search.

Gathers the names that users need. Relies on the whole compiler and on the verifier. What it says of
numbers comes from `tang.emulator`; it computes no rounding of its own.
"""

from tang.budget.emulation import emulate
from tang.budget.levels import compare_levels
from tang.budget.precision import PRESETS, precision_from

__all__ = ["PRESETS", "compare_levels", "emulate", "precision_from"]
