"""The emulator refuses a process in which a library switched subnormals off."""

import os
import platform
import shutil
import subprocess
import sys

import pytest

SOURCE = """
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
"""
PROGRAM = """
import ctypes, sys
from tang.emulator.rounding import require_subnormals
from tang.errors import DeviceError
require_subnormals()
ctypes.CDLL(sys.argv[1])
try:
    require_subnormals()
except DeviceError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="sets MXCSR of x86")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_replay_refuses_a_host_that_flushes_subnormals(tmp_path):
    text, library = tmp_path / "flush.c", tmp_path / "flush.so"
    text.write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, text], check=True)
    command = [sys.executable, "-c", PROGRAM, str(library)]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    got = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert got.stdout.startswith("refused:")
    assert "FTZ" in got.stdout
