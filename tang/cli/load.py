"""Program files on the command line: a graph from `FILE.json` or `FILE.py:NAME`.

Defines `load_graph`, `load_factory`, `parse_sizes` and `parse_budget`. Relies on the IR's JSON
reader, which never executes anything, and on `runpy` for Python files, which the user asked to run.
It verifies nothing.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tang.errors import GraphError, TangError
from tang.ir import from_json
from tang.ir.given import shown
from tang.ir.graph import Graph

if TYPE_CHECKING:
    from tang.emulator.budget import ErrorBudget


_DIGITS: Final = 19
"""Of a size: no index is larger than 2^63."""
KERNELS: Final = {".c": "c", ".cl": "opencl", ".cu": "cuda", ".cuh": "cuda", ".metal": "msl"}
"""Languages of foreign kernels by the ending of a file, which is no program."""


class UsageError(TangError):
    """The command line asks for something that does not exist; exit code 2."""


def load_graph(argument: str) -> Graph:
    """The graph named by `FILE.json`, `FILE.py:NAME` or `FILE.py` (its variable `graph`).

    Raises UsageError for a missing file or name, GraphError for a malformed program.
    """
    path, name = _split(argument)
    if path.is_dir() or not path.exists():
        raise UsageError(f"no file {path}: give FILE.json or FILE.py:NAME")
    if path.suffix == ".py":
        return _from_python(path, name or "graph")
    if name:
        raise UsageError(f"{argument}: only a .py file takes a :NAME")
    if path.suffix in KERNELS:
        raise UsageError(
            f"{path} is a kernel, not a program: give the graph that it must compute and how it "
            f"is launched: tang verify {path} --spec GRAPH --launch LAUNCH.json (docs/foreign.md)"
        )
    try:
        return from_json(path.read_bytes())
    except GraphError as e:
        raise GraphError(f"{path}: {e}") from e


def _object(argument: str) -> object:
    """The object named by `package.module:attribute` or `FILE.py:attribute`.

    Modules are found on the path or in this folder.
    """
    module, _, attribute = argument.rpartition(":")
    if not module or not attribute:
        raise UsageError(f"{argument!r}: give package.module:attribute")
    here = str(Path.cwd())
    if module.endswith(".py"):
        if not Path(module).is_file():
            raise UsageError(f"no file {module}: give FILE.py:{attribute} or a module on the path")
        here, module = str(Path(module).resolve().parent), Path(module).stem
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as e:
        raise UsageError(f"cannot load {argument!r}: {e}") from e
    except (Exception, SystemExit) as e:
        raise UsageError(f"cannot load {argument!r}: {type(e).__name__}: {e}") from e


def load_factory(argument: str) -> Callable[[], object]:
    """The class or function named by `package.module:attribute` or `FILE.py:attribute`, which
    makes a backend of the user's.

    Raises UsageError for what is neither; it is not called here.
    """
    found = _object(argument)
    makes = "a class with the methods supports and run, or a function that returns such an object"
    lacks = [m for m in ("supports", "run") if not callable(getattr(found, m, None))]
    if not callable(found):
        kind = type(found).__name__
        hint = "" if lacks else f" (its class {kind} would be one)"
        raise UsageError(f"{argument!r} is a {kind}, no factory of backends{hint}: give {makes}")
    if isinstance(found, type) and lacks:
        raise UsageError(f"{argument!r} has no method {lacks[0]!r}: give {makes}")
    return found


def parse_sizes(texts: Iterable[str], graphs: Iterable[Graph]) -> dict[str, int]:
    """Every `--size SYMBOL=NUMBER`; raises UsageError for what none of the graphs can use."""
    sizes: dict[str, int] = {}
    for text in texts:
        symbol, _, number = text.partition("=")
        if not symbol or not number.isdecimal() or len(number) > _DIGITS:
            raise UsageError(
                f"--size takes SYMBOL=NUMBER, as in seq=16, at most {_DIGITS} digits, "
                f"not {shown(text)}"
            )
        if symbol in sizes:
            raise UsageError(f"--size {symbol} is given twice: give it once")
        sizes[symbol] = int(number)
    known = sorted({s for g in graphs for s in g.symbols})
    unknown = sorted(sizes.keys() - set(known))
    if unknown:
        listed = ", ".join(known) or "none, all extents are numbers"
        raise UsageError(
            f"--size {unknown[0]} has no effect: no such symbolic extent; known: {listed}"
        )
    return sizes


def parse_budget(text: str) -> ErrorBudget | None:
    """`rel=1e-3,abs=1e-6` as a budget; None for ""."""
    from tang.emulator.budget import budget_from

    if not text:
        return None
    settings = {}
    for item in text.split(","):
        name, _, number = item.partition("=")
        try:
            settings[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f"--budget takes rel=1e-3,abs=1e-6, not {text!r}") from None
    return budget_from(settings)


def _split(argument: str) -> tuple[Path, str]:
    """Path and name; a colon counts only behind a .py (a path may hold colons)."""
    stem, colon, name = argument.rpartition(":")
    if colon and stem.endswith(".py"):
        return Path(stem), name
    return Path(argument), ""


def _from_python(path: Path, name: str) -> Graph:
    sys.path.insert(0, str(path.resolve().parent))
    try:
        names = runpy.run_path(str(path), run_name=path.stem)
    except TangError:
        raise
    except (Exception, SystemExit) as e:
        raise UsageError(f"{path}: {type(e).__name__}: {e}") from e
    finally:
        sys.path.pop(0)
    found = names.get(name)
    if isinstance(found, Graph):
        return found
    known = ", ".join(n for n, v in names.items() if isinstance(v, Graph)) or "none"
    raise UsageError(f"{path} has no graph named {name!r}; graphs there: {known}")
