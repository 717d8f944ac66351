"""What was agreed on: the statements of all theorems, and all that they rest on.

Defines `snapshot`, the content of `statements.json`, and `problems`, the differences from it.
Relies on the theorems as the gate found them. It does not judge whether a statement says what is
meant: that is for the reader of its diff.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from tang.proofs import sources
from tang.proofs.sources import AUDIT, FOUNDATION, Module, Project

if TYPE_CHECKING:
    from tang.proofs.gate import Theorem

FILE: Final = "statements.json"
CURE: Final = "restore it, or if it is meant, run python -m tang.proofs.snapshot and read the diff"


def snapshot(project: Project, found: Sequence[Theorem]) -> dict[str, Any]:
    """What must not change unseen: the foundation's text, all but the theorems, statements."""
    outlines = {m.name: [text for _, text in sources.outline(m)] for m in _bodies(project)}
    return {
        "foundation": {name: project.module(name).digest for name in FOUNDATION},
        "outline": outlines,
        "statements": {
            t.name: {"says": t.statement, "explicit": t.explicit, "source": t.source} for t in found
        },
    }


def _bodies(project: Project) -> list[Module]:
    return [m for m in project.modules if m.name not in (*FOUNDATION, AUDIT)]


def problems(project: Project, found: Sequence[Theorem]) -> Iterator[str]:
    """Differences between what is proved and what was agreed on, as `file:line: what; cure`."""
    try:
        agreed = json.loads((project.root / FILE).read_text(encoding="utf-8"))
        old = {part: dict(agreed[part]) for part in ("foundation", "outline", "statements")}
    except (OSError, ValueError, KeyError, TypeError) as e:
        yield f"{FILE}:1: cannot be read ({type(e).__name__}: {e}); {CURE}"
        return
    now = snapshot(project, found)
    for name in FOUNDATION:
        if old["foundation"].get(name) != now["foundation"][name]:
            yield f"{project.module(name).file}:1: foundation of {name}: changed; {CURE}"
    for m in _bodies(project):
        yield from (f"{p}; {CURE}" for p in _outline_problems(m, old["outline"].get(m.name, [])))
    for name in sorted(set(old["outline"]) - set(now["outline"])):
        yield f"{FILE}:1: outline of {name}: in the snapshot, but gone; {CURE}"
    yield from (f"{p}; {CURE}" for p in _statement_problems(project, found, old["statements"]))


def _outline_problems(m: Module, old: Sequence[str]) -> Iterator[str]:
    """Where the definitions, variables, options and scopes of a file are others than agreed."""
    lines, new = [line for line, _ in sources.outline(m)], [text for _, text in sources.outline(m)]
    for tag, a, b, c, d in SequenceMatcher(None, list(old), new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        line = lines[c] if c < len(lines) else lines[-1]
        was, is_ = (", ".join(f"`{x}`" for x in part) for part in (old[a:b], new[c:d]))
        what = f"changed from {was} to {is_}" if was and is_ else f"{was} is gone"
        yield f"{m.file}:{line}: outline of {m.name}: {what if was else f'{is_} is new'}"


def _statement_problems(
    project: Project, found: Sequence[Theorem], old: Mapping[str, Any]
) -> Iterator[str]:
    """Which theorems are new, gone, or state something else."""
    for t in found:
        place = f"{project.module(t.module).file}:{t.line}: statements of {t.name}"
        was = old.get(t.name)
        if was is None:
            yield f"{place}: not in the snapshot"
        elif not isinstance(was, dict) or was.get("says") != t.statement:
            says = was.get("says") if isinstance(was, dict) else was
            yield f"{place}: changed from\n    {says}\n  to\n    {t.statement}\n "
        elif was.get("explicit") != t.explicit:
            yield f"{place}: changed in an instance or another argument that is not printed"
        elif was.get("source") != t.source:
            yield f"{place}: changed in how it is written, or in its variables or options"
    for name in sorted(set(old) - {t.name for t in found}):
        yield f"{FILE}:1: statements of {name}: in the snapshot, but gone"
