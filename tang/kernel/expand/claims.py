"""The accuracy that each portable function claims, in ulps of the f32 result.

Names the table `ULP` of `tang.kernel.accuracy`, where bounds read it too. Relies on that table. It
measures nothing: `tests/slow` does.
"""

from __future__ import annotations

from tang.kernel.accuracy import PORTABLE as ULP

__all__ = ["ULP"]
