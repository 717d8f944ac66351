"""Applying a mutant: one function or one row of a table is replaced, in this process alone.

Defines `Mutant` and `apply_mutant`. Relies on import paths; a replaced function is replaced in
every module of tang that imported it by name. It cannot be undone: the process must end.
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

    path  "module:name" or "module:object.field" of the function or table
    make  the replacement, made from the original function or row
    rung  where the ladder must find it
    key   the row of the table, None when `path` is a function or a constant
    """

    name: str
    what: str
    path: str
    make: Callable[[Any], Any]
    rung: Rung
    key: object = None


def apply_mutant(mutant: Mutant) -> None:
    """Plant the fault in this process; raises TangBugError when there is nothing to replace."""
    original, module = _find(mutant.path)
    if mutant.key is not None:
        if mutant.key not in original:
            raise TangBugError(f"mutant {mutant.name}: {mutant.path} has no row {mutant.key!r}")
        original[mutant.key] = mutant.make(original[mutant.key])
        return
    _replace_everywhere(original, mutant.make(original), module)


def _find(path: str) -> tuple[Any, str]:
    module, _, names = path.partition(":")
    found: Any = importlib.import_module(module)
    for name in names.split("."):
        if not hasattr(found, name):
            raise TangBugError(f"{path} does not exist: the catalogue of mutants is out of date")
        found = getattr(found, name)
    return found, module


def _replace_everywhere(original: object, replacement: object, home: str) -> None:
    for name, module in list(sys.modules.items()):
        if module is None or not (name == home or name.startswith("tang.")):
            continue
        for attribute, value in list(vars(module).items()):
            if value is original:
                setattr(module, attribute, replacement)
