"""The definition of the IR: f64, fast f64, and balls.

Gathers the names that the rest of tang uses. Relies on `tang.ir` and `tang.errors` alone, never
on rules, schedules, lowering or emitters. It does not judge: verdicts are in `tang.verify`.
"""

from tang.interpreter.balls import BallArithmetic, Balls, ball_interpret
from tang.interpreter.definition import evaluate, interpret
from tang.interpreter.equality import Decision, compare, decide
from tang.interpreter.fast import fast_interpret
from tang.interpreter.measured import Measured

__all__ = [
    "BallArithmetic",
    "Balls",
    "Decision",
    "Measured",
    "ball_interpret",
    "compare",
    "decide",
    "evaluate",
    "fast_interpret",
    "interpret",
]
