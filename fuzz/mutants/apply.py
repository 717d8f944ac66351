"""Applying a mutant: one function or one row of a table is replaced, in this process alone.

Defines `Mutant` and `apply_mutant`. Relies on import paths; a replaced function is replaced in
every module of tang that imported it by name. It cannot be undone: the process must end.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tang.errors import TangBugError
from tang.kernel.ir import Kernel
from tang.verify import Rung, Verdict

SIX: Final = ("c", "opencl", "cuda", "msl", "wgsl", "glsl")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A planted fault.

    path  "module:name" or "module:object.field" of the function, field or table; {language} and
          {LANGUAGE} stand for a language and its dialect
    make  the replacement, made from the original function, field or row
    rung  where the ladder must find it
    key   the row of the table, None when `path` is a function or a constant
    languages  where the fault exists
    verdicts   what it may be called
    where      the kernels that it can harm; None: those whose text it changes, or all of them
               when it changes none
    narrow     shows only where f16 and bf16 are drawn
    blind      written by someone who has not read the checks
    """

    name: str
    what: str
    path: str
    make: Callable[[Any], Any]
    rung: Rung
    key: object = None
    languages: tuple[str, ...] = ("c",)
    verdicts: frozenset[Verdict] = frozenset({Verdict.WRONG})
    where: Callable[[Kernel], bool] | None = None
    narrow: bool = False
    blind: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Where it is planted: once, or in the dialect of every language."""
        found = (self.path.format(language=n, LANGUAGE=n.upper()) for n in self.languages)
        return tuple(dict.fromkeys(found))


def apply_mutant(mutant: Mutant) -> None:
    """Plant the fault in this process; raises TangBugError when there is nothing to replace."""
    done: set[int] = set()
    for path in mutant.paths:
        original, owner, name = _find(path)
        if mutant.key is None:
            _replace(owner, name, original, mutant.make(original))
        elif mutant.key not in original:
            raise TangBugError(f"mutant {mutant.name}: {path} has no row {mutant.key!r}")
        elif id(original) not in done:  # languages may share a table
            done.add(id(original))
            original[mutant.key] = mutant.make(original[mutant.key])


def replacements(mutant: Mutant) -> list[tuple[Any, Any]]:
    """What the mutant would replace, and with what, place by place; nothing is planted."""
    originals = [_find(path)[0] for path in mutant.paths]
    rows = [o if mutant.key is None else o[mutant.key] for o in originals]
    return [(row, mutant.make(row)) for row in rows]


def _find(path: str) -> tuple[Any, Any, str]:
    """What a path names, what holds it, and its name there."""
    module, _, names = path.partition(":")
    found: Any = importlib.import_module(module)
    owner, last = found, ""
    for name in names.split("."):
        if not hasattr(found, name):
            raise TangBugError(f"{path} does not exist: the catalogue of mutants is out of date")
        owner, last, found = found, name, getattr(found, name)
    return found, owner, last


def _replace(owner: Any, name: str, original: object, replacement: object) -> None:  # noqa: ANN401
    if isinstance(owner, type):
        setattr(owner, name, replacement)
    elif isinstance(owner, type(sys)):
        _replace_everywhere(original, replacement, owner.__name__)
    else:
        object.__setattr__(owner, name, replacement)  # a field of a frozen dialect


def _replace_everywhere(original: object, replacement: object, home: str) -> None:
    for name, module in list(sys.modules.items()):
        if module is None or not (name == home or name.startswith("tang.")):
            continue
        for attribute, value in list(vars(module).items()):
            if value is original:
                setattr(module, attribute, replacement)
