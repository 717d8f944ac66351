"""Fuzzing: random programs, campaigns, foreign backends and mutants.

Gathers the names that users rely on. Relies on `tang.verify` for every verdict. Strategies for
hypothesis are in `tang.fuzz.strategies`.
"""

from tang.fuzz.backend import Backend
from tang.fuzz.campaign import CampaignReport, Options, run_campaign
from tang.fuzz.case import Case, draw_batch, draw_case
from tang.fuzz.reproduce import reproduce

__all__ = [
    "Backend",
    "CampaignReport",
    "Case",
    "Options",
    "draw_batch",
    "draw_case",
    "reproduce",
    "run_campaign",
]
