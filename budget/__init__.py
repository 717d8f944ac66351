"""Precision before it runs: schedules of formats, predicted bits, bounds, budgets and their search.

Gathers the names that users need. Relies on the whole compiler and on the verifier. What it says of
numbers comes from `tang.emulator`; it computes no rounding of its own.
"""

from tang.budget.data import certify_data
from tang.budget.data_certificate import DataCertificate
from tang.budget.data_check import check_data
from tang.budget.emulation import emulate
from tang.budget.files import load_inputs
from tang.budget.html import report_html
from tang.budget.levels import compare_levels
from tang.budget.precision import applied, precision_from
from tang.budget.presets import PRESETS
from tang.budget.report import BudgetReport
from tang.budget.report_run import Question, budget_report
from tang.budget.scale_data import Scale
from tang.budget.strengths import certify, check_certificate
from tang.budget.torch_import import Imported, from_exported, from_torch
from tang.budget.tune import Tuned, tune_precision

__all__ = [
    "PRESETS",
    "BudgetReport",
    "DataCertificate",
    "Imported",
    "Question",
    "Scale",
    "Tuned",
    "applied",
    "budget_report",
    "certify",
    "certify_data",
    "check_certificate",
    "check_data",
    "compare_levels",
    "emulate",
    "from_exported",
    "from_torch",
    "load_inputs",
    "precision_from",
    "report_html",
    "tune_precision",
]
