"""What a kernel computes: rounding, replay over arithmetic domains, and error budgets.

Gathers the names that the rest of tang uses. Relies on `tang.ir`, on the data types of
`tang.kernel` and on the interpreter's arithmetic, never on lowering or emitters. It does not judge:
verdicts are in `tang.verify`.
"""

from tang.emulator.atoms import evaluate
from tang.emulator.budget import (
    Budgets,
    ErrorBudget,
    accepts,
    budget_from,
    budgets_from,
    within,
)
from tang.emulator.certificate import (
    Certificate,
    ShapeBound,
    certificate_from_json,
    certificate_to_json,
)
from tang.emulator.certificate_check import Checked, check_certificate
from tang.emulator.certify import certify, shape_bound
from tang.emulator.domains import balls, domain_named
from tang.emulator.fda import fda, fda_bits
from tang.emulator.functions import call_function
from tang.emulator.ranges_atoms import AtomBound, bound_of
from tang.emulator.records import Decision, Finding, Kind
from tang.emulator.replay import Replay, replay, replay_launch
from tang.emulator.rounder_fma import fma
from tang.emulator.rounding import round_to
from tang.ir.format import ALL_FORMATS as FORMATS
from tang.ir.tensorcore import ATOMS

__all__ = [
    "ATOMS",
    "FORMATS",
    "AtomBound",
    "Budgets",
    "Certificate",
    "Checked",
    "Decision",
    "ErrorBudget",
    "Finding",
    "Kind",
    "Replay",
    "ShapeBound",
    "accepts",
    "balls",
    "bound_of",
    "budget_from",
    "budgets_from",
    "call_function",
    "certificate_from_json",
    "certificate_to_json",
    "certify",
    "check_certificate",
    "domain_named",
    "evaluate",
    "fda",
    "fda_bits",
    "fma",
    "replay",
    "replay_launch",
    "round_to",
    "shape_bound",
    "within",
]
