"""Emitters: kernel IR to the text of a language.

Re-exports `emit`, `emit_unit` and `supports`. Relies on the kernel IR. It compiles nothing.
"""

from tang.emit.dialect import UnsupportedError
from tang.emit.unit import Unit, emit, emit_unit, supports

__all__ = ["Unit", "UnsupportedError", "emit", "emit_unit", "supports"]
