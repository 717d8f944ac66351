"""What tests of processes share."""

from __future__ import annotations

import time
from pathlib import Path

import pytest


@pytest.fixture
def is_gone():
    """Whether a process has ended, or ends within seconds; a zombie has."""

    def gone(pid: int, seconds: float = 5.0) -> bool:
        stat = Path(f"/proc/{pid}/stat")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            time.sleep(0.05)
        return False

    return gone
