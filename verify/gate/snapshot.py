"""Programs of a folder and their kernel texts: what the gate compares between two revisions.

Defines `discover` and `texts`, and a program that prints both as JSON for a request on stdin. It is
run by path under the tang of another revision, so it relies on nothing but the standard library
and on tang's oldest names. It verifies nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from tang.errors import GraphError, TangError
from tang.ir.graph import Graph
from tang.ir.serial import from_json, to_json

T = TypeVar("T")

KERNELS: Final = (".c", ".cl", ".cu", ".cuh", ".metal")
"""Endings of foreign kernels, which are no programs."""


class MissingError(TangError):
    """A pattern that names no program."""


@dataclass(frozen=True, slots=True)
class Program:
    """A graph and its name: FILE.json or FILE.py:NAME, relative to the root."""

    name: str
    graph: Graph


def discover(root: Path, patterns: Sequence[str]) -> tuple[list[Program], list[str]]:
    """Every program that the patterns name, once each, and notes on files without any.

    Raises MissingError for a pattern that names none, GraphError for a malformed one.
    """
    found: dict[str, Program] = {}
    notes: dict[str, None] = {}
    for pattern in patterns:
        programs = list(_matching(root, pattern, notes))
        if not programs and not _is_pattern(pattern):
            raise MissingError(
                f"{pattern} has no graph: name another file, or give a pattern in quotes "
                "('models/*.py'), which passes over files without one"
            )
        if not programs:
            raise MissingError(f"pattern {pattern!r} names no graph in {root}")
        found |= {p.name: p for p in programs}
    return list(found.values()), list(notes)


def _matching(root: Path, pattern: str, notes: dict[str, None]) -> Iterator[Program]:
    stem, name = split(pattern)
    for path in _files(root, stem):
        shown = path.relative_to(root) if path.is_relative_to(root) else path
        if path.suffix != ".py":
            yield Program(shown.as_posix(), _from_json(path))
            continue
        graphs = _graphs(root, path)
        if name and name not in graphs:
            known = ", ".join(graphs) or "none"
            raise MissingError(f"{shown} has no graph named {name!r}; graphs there: {known}")
        if not graphs:
            notes[f"{shown} has no graph"] = None
        chosen = [name] if name else graphs
        yield from (Program(f"{shown.as_posix()}:{n}", graphs[n]) for n in chosen)


def split(pattern: str) -> tuple[str, str]:
    """File and name of FILE.py:NAME; of anything else the whole and ""."""
    stem, colon, name = pattern.rpartition(":")
    return (stem, name) if colon and stem.endswith(".py") else (pattern, "")


def matches(pattern: str, program: str) -> bool:
    """Whether a pattern names a program; `*` stays within a folder, `**` does not."""
    stem, name = split(pattern)
    file, own = split(program)
    parts = re.split(r"(\*\*/|\*|\?)", stem)
    words = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    regex = "".join(words.get(p, re.escape(p)) for p in parts)
    return re.fullmatch(regex, file) is not None and name in ("", own)


def _is_pattern(stem: str) -> bool:
    return re.search(r"[*?\[]", stem) is not None


def _files(root: Path, stem: str) -> list[Path]:
    if not _is_pattern(stem):
        path = root / stem
        if not path.is_file():
            raise MissingError(f"no file {path}")
        return [path]
    if Path(stem).is_absolute():
        raise MissingError(f"pattern {stem!r}: a pattern is relative to {root}")
    kinds = (".py", ".json")
    return sorted(p for p in root.glob(stem) if p.is_file() and p.suffix in kinds)


def _from_json(path: Path) -> Graph:
    if path.suffix in KERNELS:
        raise MissingError(
            f"{path} is a kernel, not a program; the gate takes programs, and a kernel of your own "
            f"is checked by tang verify {path.name} --spec GRAPH --launch LAUNCH.json "
            "(docs/foreign.md)"
        )
    try:
        return from_json(path.read_bytes())
    except GraphError as e:
        raise GraphError(f"{path}: {e}") from e


def _graphs(root: Path, path: Path) -> dict[str, Graph]:
    """Every graph that a Python file defines under a public name, by its first name.

    Modules of the project that it imports are forgotten again: another file may mean others.
    """
    before, places = set(sys.modules), [str(p) for p in (path.parent, root, root / "src")]
    sys.path[:0] = places
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what it prints is no part of a report
            names = runpy.run_path(str(path), run_name=path.stem)
    except TangError:
        raise
    except (Exception, SystemExit) as e:
        raise MissingError(f"{path}: {type(e).__name__}: {e}") from e
    finally:
        del sys.path[: len(places)]
        for name in set(sys.modules) - before:
            if _belongs(sys.modules[name], root):
                del sys.modules[name]
    found: dict[int, tuple[str, Graph]] = {}
    for name, value in names.items():
        if isinstance(value, Graph) and not name.startswith("_"):
            found.setdefault(id(value), (name, value))
    return dict(found.values())


def _belongs(module: ModuleType, root: Path) -> bool:
    file = module.__file__
    own = module.__name__.split(".")[0] != "tang"
    return own and file is not None and Path(file).is_relative_to(root)


def texts(name: str, graph: Graph, schedule: str, languages: Sequence[str]) -> dict[str, str]:
    """The text of every kernel of a program in every language, by name.

    schedule  JSON of the schedule, "" for the automatic one
    What a language cannot say has its reason for a text.
    """
    from tang.emit.unit import emit
    from tang.kernel.expand import expand_math, pack_codes
    from tang.kernel.lower import lower
    from tang.rewrite import rewrite
    from tang.schedule import schedule_auto, schedule_from_json

    made = rewrite(graph).graph
    chosen = schedule_from_json(schedule) if schedule else schedule_auto(made)
    plan = pack_codes(expand_math(lower(made, chosen)))
    found = {}
    for language in languages:
        for launch in plan.launches:
            try:
                text = emit(launch.kernel, language)
            except TangError as e:
                text = f"{type(e).__name__}: {e}\n"
            found[f"{name} {launch.kernel.name} [{language}]"] = text
    return found


def last(rules: Sequence[tuple[str, T]], name: str) -> T:
    """The value of the last rule whose pattern names a program; the first holds for all."""
    return next(v for p, v in reversed(rules) if not p or matches(p, name))


def state(request: Mapping[str, Any]) -> dict[str, Any]:
    """Programs at a revision: name → graph, texts, or the error that kept it from being built."""
    root = Path(request["root"])
    found: dict[str, Any] = {}
    for pattern in request["patterns"]:
        for file in _each(root, pattern):
            try:
                programs, _ = discover(root, [file])
            except TangError:
                continue  # could not be read then, so everything of it has changed
            found |= {p.name: _built(root, p, request) for p in programs}
    return found


def _each(root: Path, pattern: str) -> list[str]:
    """A pattern for every single file of a pattern; none for a file that did not exist."""
    stem, name = split(pattern)
    try:
        files = [os.path.relpath(path, root) for path in _files(root, stem)]
    except MissingError:
        return []
    return [f"{file}:{name}" if name else file for file in files]


def _built(root: Path, p: Program, request: Mapping[str, Any]) -> dict[str, Any]:
    file = last(request["schedules"], p.name)
    try:
        schedule = (root / file).read_text(encoding="utf-8") if file else ""
        kernels = texts(p.name, p.graph, schedule, last(request["languages"], p.name))
    except Exception as e:  # noqa: BLE001 — that revision's own fault, whatever it was
        return {"graph": to_json(p.graph), "texts": {}, "error": f"{type(e).__name__}: {e}"}
    return {"graph": to_json(p.graph), "texts": kernels, "error": ""}


def main() -> None:
    """Answer the request on stdin."""
    import tang

    request = json.load(sys.stdin)
    place = Path(tang.__path__[0])
    if request["tang"] and not place.is_relative_to(request["tang"]):
        print(f"tang comes from {place}, not from {request['tang']}", file=sys.stderr)
        sys.exit(3)
    out, sys.stdout = sys.stdout, sys.stderr  # what project files print is no answer
    json.dump(state(request), out)


if __name__ == "__main__":
    main()
