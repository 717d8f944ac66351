"""MSL's address spaces, checked by clang without running anything.

Defines `space_errors` and `spaces_missing`. Relies on clang++ (or `python -m ziglang clang`), whose
`address_space` attribute keeps pointers to device, constant and threadgroup memory apart; g++ has
none, so running a text does not show such mistakes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

from tang.device.simt.build import INCLUDE
from tang.device.simt.lines import TEXT_NAME
from tang.device.simt.prepare import prepare
from tang.errors import DeviceError

_FLAGS: Final = (
    "-target", "aarch64-linux-gnu",  # whose clang has _Float16 in every version
    "-std=c++17", "-fsyntax-only", "-nostdinc++", "-Wno-everything", "-x", "c++",
)  # fmt: skip
_ERROR: Final = re.compile(rf"{TEXT_NAME}:(\d+):\d+: error: (.*)")


def spaces_missing() -> str | None:
    """Why address spaces cannot be checked here; None when they can."""
    return None if _clang() is not None else "needs clang++ on PATH, or pip install ziglang"


def space_errors(text: str) -> tuple[tuple[int, str], ...]:
    """Lines of an MSL text that mix address spaces (or do not compile), with clang's words."""
    command = _clang()
    if command is None:
        raise DeviceError(f"the check of address spaces {spaces_missing()}")
    header = f'#include "{INCLUDE}/metal_spaces.h"\n#line 1 "{TEXT_NAME}"\n'
    try:
        done = subprocess.run(
            [*command, *_FLAGS, "-"], input=header + _spaced(text), capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip
    except subprocess.TimeoutExpired as e:
        raise DeviceError("clang took longer than 60 s to check address spaces") from e
    found = tuple((int(m[1]), m[2]) for m in _ERROR.finditer(done.stderr))
    if done.returncode != 0 and not found:
        raise DeviceError(f"clang could not check the text:\n{done.stderr.strip()[-2000:]}")
    return found


def _spaced(text: str) -> str:
    """Storage that C++ knows: threadgroup arrays and program-scope constants are static."""
    text = prepare(text, "msl").replace("SIMT_SHARED", "static threadgroup")
    return re.sub(r"^constant\b", "static constant", text, flags=re.MULTILINE)


def _clang() -> tuple[str, ...] | None:
    path = shutil.which("clang++")
    if path is not None:
        return (path,)
    return (sys.executable, "-m", "ziglang", "clang") if find_spec("ziglang") else None
