"""Every rule by name, and the order in which they are tried.

Defines `RULES` and `PIPELINE`. Relies on the modules of `tang.rewrite.rules`. It applies nothing.
"""

from __future__ import annotations

from typing import Final

from tang.rewrite.rule import Rule
from tang.rewrite.rules.dead import DEAD_NODE

_ROWS: Final = (DEAD_NODE,)

RULES: Final[dict[str, Rule]] = {r.name: r for r in _ROWS}
"""The rules by name."""

PIPELINE: Final = tuple(r.name for r in _ROWS)
"""The rules that `rewrite` applies unless told otherwise, in this order."""
