"""Be the command `lean`, by calling `lean_main` of the wheel's shared library.

Run as a script of its own (never imported by the package), with the library's path in
TANG_LEAN_LIBRARY. Relies on ctypes alone, and does nothing but pass its arguments on.
"""

from __future__ import annotations

import ctypes
import os
import sys


def main(arguments: list[str]) -> int:
    """Run Lean with these arguments; its exit status."""
    library = ctypes.CDLL(os.environ["TANG_LEAN_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
    words = [b"lean", *(os.fsencode(a) for a in arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    library.lean_main.restype = ctypes.c_int
    return int(library.lean_main(len(words), argv))


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # no teardown of Lean's runtime, which takes longer than the work
