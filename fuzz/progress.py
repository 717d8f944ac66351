"""Progress on a terminal.

Defines `Progress`, one line on stderr that is rewritten. Relies on nothing. Where stderr is no
terminal it prints nothing at all.
"""

from __future__ import annotations

import sys
import time


class Progress:
    """Draws done, their rate and the number of findings."""

    def __init__(self, total: int) -> None:
        self._total, self._start = total, time.monotonic()
        self._visible = sys.stderr.isatty()

    def show(self, draws: int, findings: int) -> None:
        """Rewrite the line."""
        if self._visible:
            rate = draws / max(time.monotonic() - self._start, 1e-9)
            text = f"{draws}/{self._total} draws, {rate:.1f}/s, {findings} findings"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the line."""
        if self._visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
