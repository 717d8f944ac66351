"""The conformance suite: what every emitter and device must get right, to the last bit.

Gathers the cases, the features that a language may lack, and the run on a device. Relies on replay
for every expected bit. A seventh language is a dialect table, a device, and this suite.
"""

from tang.verify.conformance.case import Case
from tang.verify.conformance.gaps import GAPS, gaps_of
from tang.verify.conformance.run import conformance_cases, run_conformance

__all__ = ["GAPS", "Case", "conformance_cases", "gaps_of", "run_conformance"]
