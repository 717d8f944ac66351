"""The accuracy that each portable function claims, in ulps of the f32 result.

Defines the table `ULP`: measured maxima, rounded up, over all 2³² arguments (atan2: over samples).
docs/maths.md says what an ulp is and gives the arguments; `tests/slow` measures again. It does not
bound what a device does that flushes subnormals or contracts expressions.
"""

from __future__ import annotations

from typing import Final

ULP: Final[dict[str, float]] = {
    "exp2": 1.08,
    "log2": 0.87,
    "sin": 0.9,
    "cos": 0.91,
    "atan2": 1.6,
    "erf": 1.18,
    "exp": 0.9,
    "log": 0.85,
    "tanh": 1.33,
    "sigmoid": 2.41,
}
