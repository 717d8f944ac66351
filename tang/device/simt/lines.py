"""From places in a library to lines of the kernel's text.

Defines `with_lines`. Relies on addr2line of binutils, which comes with g++, and on the line tables
of checked libraries. Without either, findings keep line 0.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from tang.device.simt.record import Finding

TEXT_NAME: Final = "simt_kernel_text"
"""The name under which `#line` shows a kernel's text to the compiler."""


def with_lines(findings: Sequence[Finding], library: str, text: str) -> tuple[Finding, ...]:
    """The findings with the line of their access, and with that line's text."""
    known = _lines(library, {f.pc for f in findings if f.pc})
    source = text.splitlines()
    done = []
    for f in findings:
        line = f.line or known.get(f.pc, 0)
        words = source[line - 1].strip() if 0 < line <= len(source) else ""
        done.append(replace(f, line=line, source=words))
    return tuple(done)


def _lines(library: str, places: Iterable[int]) -> dict[int, int]:
    """The line of each return address, one past a call: the outermost inlined frame is not it."""
    tool, wanted = shutil.which("addr2line"), sorted(places)
    if tool is None or not wanted:
        return {}
    command = [tool, "-a", "-i", "-e", library, *(hex(p - 1) for p in wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    found: dict[int, int] = {}
    place = 0
    for row in done.stdout.splitlines():
        if row.startswith("0x"):
            place = int(row, 16) + 1
        elif (at := re.search(rf"{TEXT_NAME}:(\d+)", row)) and place not in found:
            found[place] = int(at[1])
    return found
