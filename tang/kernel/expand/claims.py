"""The accuracy that each portable function claims, in ulps of the f32 result.

Defines the table `ULP`: measured maxima, rounded up, over all 2³² arguments (atan2: over samples).
docs/maths.md says what an ulp is and gives the arguments; `tests/slow` measures again. It does not
bound what a device does that flushes subnormals or contracts expressions.
"""

from __future__ import annotations

from typing import Final

ULP: Final[dict[str, float]] = {
    "exp2": 2.0,
    "log2": 2.0,
    "sin": 2.0,
    "cos": 2.0,
    "atan2": 3.0,
    "erf": 3.0,
    "exp": 4.0,
    "log": 4.0,
    "tanh": 4.0,
    "sigmoid": 4.0,
}
