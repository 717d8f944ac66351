"""The gate's configuration: the table `[tool.tang.verify]` of a pyproject.toml.

Defines `Settings` (how a program is verified), `Config` and `read_config`. Relies on the standard
library's TOML reader. Every error names file, table and key; no file of the project is opened yet.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tang.emulator.budget import ErrorBudget, budget_from
from tang.errors import BudgetError, TangError
from tang.verify.verdict import Verdict

TABLE: Final = "tool.tang.verify"
BINDINGS: Final = 2**31 - 1


class ConfigError(TangError):
    """The configuration, or what it names, is wrong; exit code 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one program is verified.

    backends  names, or "available" for all that run here
    seeds     one verification per seed of the random inputs
    sizes     one per binding of symbolic extents; a program takes the symbols that it has
    budget    what the rung `round` must stay within; None: the derived bound alone
    schedule  a schedule's JSON file, relative to the project; "" for the automatic one
    allow     verdicts that do not fail the gate
    """

    backends: tuple[str, ...] = ("c",)
    seeds: tuple[int, ...] = (0,)
    sizes: tuple[tuple[tuple[str, int], ...], ...] = ()
    budget: ErrorBudget | None = None
    schedule: str = ""
    allow: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Override:
    """Settings for the programs that match one of its patterns."""

    graphs: tuple[str, ...]
    changes: Mapping[str, Any]
    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a project verifies.

    graphs     patterns of FILE.json, FILE.py or FILE.py:NAME, relative to `root`
    overrides  later ones win
    cache      folder of the results of unchanged programs, None for the user's cache folder
    """

    file: Path
    root: Path
    graphs: tuple[str, ...] = ()
    settings: Settings = Settings()
    overrides: tuple[Override, ...] = field(default=())
    cache: Path | None = None

    def settings_of(self, name: str, matches: Callable[[str, str], bool]) -> Settings:
        """The settings of a program by name, under the overrides that match it."""
        found = self.settings
        for o in self.overrides:
            if any(matches(p, name) for p in o.graphs):
                found = replace(found, **o.changes)
        return found


def read_config(file: Path, optional: bool = False) -> Config:
    """The configuration in a pyproject.toml; raises ConfigError naming file, table and key.

    optional  a file without the table stands for an empty one
    """
    table = _table_of(file, optional)
    where = _Where(file, TABLE)
    _known(table, (*READERS, "graphs", "cache", "overrides"), where)
    cache = _string(table["cache"], where.at("cache")) if "cache" in table else None
    return Config(
        file=file,
        root=file.resolve().parent,
        graphs=_patterns(table, where) if "graphs" in table else (),
        settings=replace(Settings(), **_changes(table, where)),
        overrides=_overrides(table.get("overrides", []), where),
        cache=None if cache is None else file.resolve().parent / cache,
    )


def _table_of(file: Path, optional: bool) -> dict[str, Any]:
    try:
        whole = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as e:
        raise ConfigError(f"no file {file}: give --config, or graphs on the command line") from e
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"cannot read {file}: {e}") from e
    except tomllib.TOMLDecodeError as e:
        raise ConfigError(f"{file} is no TOML: {e}") from e
    found: Any = whole
    for name in TABLE.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    if found is None and optional:
        return {}
    if found is None:
        raise ConfigError(f'{file} has no table [{TABLE}]: add one with `graphs = ["…"]`')
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: {TABLE} is a table, not {_kind(found)}")
    return found


@dataclass(frozen=True, slots=True)
class _Where:
    """A place in the configuration, for messages."""

    file: Path
    table: str
    key: str = ""

    def at(self, key: str) -> _Where:
        return _Where(self.file, self.table, key)

    def error(self, message: str) -> ConfigError:
        key = f"{self.key}: " if self.key else ""
        return ConfigError(f"{self.file}, [{self.table}], {key}{message}")


def _known(table: Mapping[str, Any], names: tuple[str, ...], where: _Where) -> None:
    for key in table:
        if key not in names:
            raise where.error(f"unknown key {key!r}: one of {', '.join(names)}")


def _patterns(table: Mapping[str, Any], where: _Where) -> tuple[str, ...]:
    found = _strings(table["graphs"], where.at("graphs"))
    if not found:
        raise where.at("graphs").error("expected at least one pattern of files")
    return found


def _overrides(value: object, where: _Where) -> tuple[Override, ...]:
    if not isinstance(value, list):
        raise where.at("overrides").error(f"expected [[{TABLE}.overrides]], not {_kind(value)}")
    return tuple(_override(v, _Where(where.file, f"{TABLE}.overrides[{n}]"))
                 for n, v in enumerate(value))  # fmt: skip


def _override(table: object, where: _Where) -> Override:
    if not isinstance(table, dict):
        raise where.error(f"expected a table, not {_kind(table)}")
    _known(table, ("graphs", *READERS), where)
    if "graphs" not in table:
        raise where.error('says not for which graphs: add `graphs = ["…"]`')
    return Override(_patterns(table, where), _changes(table, where), where.table)


def _changes(table: Mapping[str, Any], where: _Where) -> dict[str, Any]:
    return {key: read(table[key], where.at(key)) for key, read in READERS.items() if key in table}


# --- values -------------------------------------------------------------------------------------


def _kind(value: object) -> str:
    names = {dict: "a table", list: "a list", str: "a string", bool: "a bool", int: "an integer"}
    return f"{names.get(type(value), type(value).__name__)} ({value!r})"


def _list(value: object, where: _Where, of: str) -> list[object]:
    if not isinstance(value, list):
        raise where.error(f"expected a list of {of}, not {_kind(value)}")
    return value


def _string(value: object, where: _Where) -> str:
    if not isinstance(value, str) or not value:
        raise where.error(f"expected a string, not {_kind(value)}")
    return value


def _strings(value: object, where: _Where) -> tuple[str, ...]:
    return tuple(_string(v, where) for v in _list(value, where, "strings"))


def _integer(value: object, where: _Where) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= BINDINGS:
        raise where.error(f"expected an integer from 0 to {BINDINGS}, not {_kind(value)}")
    return value


def _seeds(value: object, where: _Where) -> tuple[int, ...]:
    found = tuple(_integer(v, where) for v in _list(value, where, "integers"))
    if not found:
        raise where.error("expected at least one seed")
    return found


def _sizes(value: object, where: _Where) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(_binding(v, where) for v in _list(value, where, "tables such as {seq = 16}"))


def _binding(value: object, where: _Where) -> tuple[tuple[str, int], ...]:
    if not isinstance(value, dict):
        raise where.error(f"expected a table such as {{seq = 16}}, not {_kind(value)}")
    return tuple(sorted((symbol, _integer(n, where)) for symbol, n in value.items()))


def _budget(value: object, where: _Where) -> ErrorBudget:
    if not isinstance(value, dict):
        raise where.error(f"expected a table such as {{rel = 1e-6}}, not {_kind(value)}")
    _known(value, ("abs", "rel", "ulp"), where)
    try:
        return budget_from(value)
    except BudgetError as e:
        raise where.error(str(e)) from e


def _allow(value: object, where: _Where) -> tuple[Verdict, ...]:
    names = _strings(value, where)
    for name in names:
        if name not in Verdict.__members__:
            known = ", ".join(Verdict.__members__)
            raise where.error(f"unknown verdict {name!r}: one of {known}")
    return tuple(Verdict[name] for name in names)


READERS: Final[Mapping[str, Callable[[object, _Where], Any]]] = {
    "backends": _strings,
    "seeds": _seeds,
    "sizes": _sizes,
    "budget": _budget,
    "schedule": _string,
    "allow": _allow,
}
"""Every key of `Settings` and how its value is read."""
