"""Where the user's program is: the file and line that an error should name.

Defines `call_site` and `failure`, which prefixes a message with it. Relies on the interpreter's
frames; frames of this package are skipped. It does not decide what is wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tang.errors import GraphError

_PACKAGE: Final = str(Path(__file__).resolve().parent)


def call_site() -> str:
    """`file:line` of the innermost frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def failure(message: str, where: str | None = None) -> GraphError:
    """The error to raise: the message behind the user's file and line."""
    return GraphError(f"{where or call_site()}: {message}")
