"""Applying a mutant: one function or one row of a table is replaced, in this process alone.

Defines `Mutant` and `apply_mutant`. Relies on import paths and on the garbage collector, which finds
every module that imported a replaced function by name. It cannot be undone: the process must end.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tang.errors import TangBugError
from tang.verify import Rung


@dataclass(frozen=True, slots=True)
class Mutant:
    """A planted fault.

    path     "module:attribute" or "module:TABLE" of what is replaced
    make     the replacement, made from the original
    key      the row of the table that is replaced, None for a function
    rung     where the ladder must find it
    """

    name: str
    what: str
    path: str
    make: Callable[[Any], Any]
    rung: Rung
    key: object = None


def apply_mutant(name: str) -> None:
    """Plant the fault of that name in this process; raises TangBugError for an unknown name."""
    from tang.fuzz.mutants.catalogue import MUTANTS

    mutant = next((m for m in MUTANTS if m.name == name), None)
    if mutant is None:
        raise TangBugError(f"no mutant {name!r}: one of {', '.join(m.name for m in MUTANTS)}")
    module_name, _, attribute = mutant.path.partition(":")
    module = importlib.import_module(module_name)
    original = getattr(module, attribute)
    if mutant.key is not None:
        table = dict(original)
        table[mutant.key] = mutant.make(original[mutant.key])
        _refill(original, table)
        return
    replacement = mutant.make(original)
    for other in list(sys.modules.values()):
        names = getattr(other, "__dict__", {})
        for known, value in list(names.items()):
            if value is original and str(getattr(other, "__name__", "")).startswith("tang."):
                setattr(other, known, replacement)


def _refill(table: Any, rows: dict[Any, Any]) -> None:  # noqa: ANN401 - any mutable mapping
    table.clear()
    table.update(rows)
