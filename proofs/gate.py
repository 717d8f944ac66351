"""The gate: build every module from source, read every theorem's axioms, believe nothing else.

Defines `prove`, `Report` and `Theorem`. Relies on `sources` for what text may say, on `lean` for
what Lean says, and on `store` for results of unchanged text. It proves nothing about floats.
"""

from __future__ import annotations

import bisect
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from tang.proofs import sources
from tang.proofs.lean import Lean, Message, check_library, find
from tang.proofs.sources import AUDIT, FOUNDATION, Declaration, Module, Project
from tang.proofs.store import Built, Store

ALLOWED: Final = frozenset({"propext", "Quot.sound", "Classical.choice"})
"""The axioms of Lean's own library; nothing else may occur below a theorem."""

WORKERS: Final = 2
"""So many modules are compiled at once."""

SNAPSHOT: Final = "statements.json"
_AXIOMS: Final = re.compile(
    r"'(?P<name>\S+)' (?:depends on axioms: \[(?P<axioms>[^\]]*)\]|does not depend on any axioms)"
)


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem that Lean has checked: full name, statement, axioms, module, line, seconds."""

    name: str
    statement: str
    axioms: tuple[str, ...]
    module: str
    line: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """What the gate found; `problems` is empty exactly when everything is proved.

    seconds  per module, as measured when it was last built
    elapsed  seconds that this check took, cached modules included
    cached   whether nothing had changed and no Lean ran
    """

    problems: tuple[str, ...]
    theorems: tuple[Theorem, ...]
    seconds: Mapping[str, float]
    lean: str
    elapsed: float = 0.0
    cached: bool = False

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"ok": self.ok, **asdict(self)}


def prove(
    root: Path = sources.HERE,
    *,
    fresh: bool = False,
    store: Store | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Check the project; unchanged text is not checked again unless `fresh`."""
    store = store or Store.default()
    project, lean = sources.read(root), find()
    key = _key(project, lean)
    known = None if fresh else store.load(key)
    if known is not None:
        return _from_data(known)
    start = time.perf_counter()
    report = _checked(project, lean, store, fresh, say)
    report = replace(report, elapsed=time.perf_counter() - start)
    if report.ok:
        store.save(key, report.to_data())
    return report


def _key(project: Project, lean: Lean) -> str:
    """A digest of all that a verdict depends on: sources, snapshot, Lean, and this package."""
    files = [m.path for m in project.modules] + sorted(sources.HERE.glob("*.py"))
    files += [p for p in (project.root / SNAPSHOT,) if p.is_file()]
    files += sorted(project.root.rglob("*.olean*"))
    return Store.key(lean.identity, *(f"{p.name}:{Store.digest(p)}" for p in files))


def _from_data(data: Mapping[str, Any]) -> Report:
    found = (Theorem(**{**t, "axioms": tuple(t["axioms"])}) for t in data["theorems"])
    problems, seconds = tuple(data["problems"]), data["seconds"]
    return Report(problems, tuple(found), seconds, data["lean"], data["elapsed"], cached=True)


def _checked(
    project: Project, lean: Lean, store: Store, fresh: bool, say: Callable[[str], None]
) -> Report:
    faults = tuple(sources.problems(project))
    if faults:
        return Report(faults, (), {}, lean.label)
    if fresh:
        check_library(lean)
    seconds: dict[str, float] = {}
    times: dict[str, Mapping[int, float]] = {}
    audit: Built | None = None
    for name, built in build(project, lean, store, fresh=fresh):
        seconds[name], times[name] = built.seconds, built.outcome.seconds
        say(f"{name:24s} {built.seconds:6.2f} s")
        faults = tuple(_module_problems(name, built))
        if faults:
            return Report(faults, (), seconds, lean.label)
        audit = built
    found, faults = _audited(project, audit.outcome.messages if audit else (), times)
    faults += tuple(_snapshot_problems(project, found))
    return Report(faults, found, seconds, lean.label)


def build(
    project: Project, lean: Lean, store: Store, *, fresh: bool = False
) -> Iterator[tuple[str, Built]]:
    """Compile the modules into the store's stage, two at a time; in order, up to a failure.

    The audit comes last. Afterwards `store.stage(project)` holds what files may import.
    """
    keys: dict[str, str] = {}
    jobs: dict[str, Future[Built | None]] = {}
    stage = store.stage(project, lean)
    ordered = sorted(project.modules, key=lambda m: m.name == AUDIT)
    with ThreadPoolExecutor(WORKERS) as pool:
        for m in ordered:
            keys[m.name] = Store.key(lean.identity, m.name, m.digest, *(keys[i] for i in m.imports))
            compile_ = partial(store.module, keys[m.name], m, stage, lean, fresh=fresh)
            needed = [jobs[i] for i in m.imports]
            jobs[m.name] = pool.submit(_after, needed, compile_)
        for name, job in jobs.items():
            built = job.result()
            if built is None:
                return
            yield name, built


def _after(needed: Sequence[Future[Built | None]], compile_: Callable[[], Built]) -> Built | None:
    """The module, once all that it imports is there; None if any of that failed.

    Jobs start in order: what one waits for has started before it, so none blocks another.
    """
    ready = all(b is not None and b.outcome.clean for b in (job.result() for job in needed))
    return compile_() if ready else None


def _module_problems(name: str, built: Built) -> Iterator[str]:
    """Anything that a module said; only the audit may speak."""
    file, outcome = f"{name.replace('.', '/')}.lean", built.outcome
    for m in outcome.messages:
        if m.severity != "information" or name != AUDIT:
            yield f"{file}:{m.line}:{m.column}: {m.severity}: {m.text}"
    if outcome.noise.strip():
        yield f"{file}: Lean printed {outcome.noise.strip()[:500]!r}"
    if outcome.status:
        yield f"{file}: Lean ended with status {outcome.status}"


def _audited(
    project: Project, messages: tuple[Message, ...], times: Mapping[str, Mapping[int, float]]
) -> tuple[tuple[Theorem, ...], tuple[str, ...]]:
    """Theorems with the statement and axioms that Lean printed, and what is wrong with them."""
    axioms, statements = _printed(messages)
    took = {m.name: _per_declaration(m, times.get(m.name, {})) for m in project.modules}
    found: list[Theorem] = []
    faults: list[str] = []
    for d, module in sources.theorems(project):
        if d.name not in axioms or d.name not in statements:
            faults.append(f"{d.name}: Lean did not print its axioms and its statement")
            continue
        bad = sorted(set(axioms[d.name]) - ALLOWED)
        faults += [f"{_place(module, d)}: {d.name} depends on the axiom {a}" for a in bad]
        spent = took[module].get(d.line, 0.0)
        found.append(Theorem(d.name, statements[d.name], axioms[d.name], module, d.line, spent))
    return tuple(found), tuple(faults)


def _per_declaration(m: Module, times: Mapping[int, float]) -> dict[int, float]:
    """Line of a declaration → seconds; a command counts for the declaration that it begins."""
    lines = sorted(d.line for d in sources.declarations(m))
    found: dict[int, float] = {}
    for line, spent in times.items():
        at = bisect.bisect_left(lines, line)
        if at < len(lines):
            found[lines[at]] = found.get(lines[at], 0.0) + spent
    return found


def _place(module: str, d: Declaration) -> str:
    return f"{module.replace('.', '/')}.lean:{d.line}"


def _printed(messages: tuple[Message, ...]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    axioms: dict[str, tuple[str, ...]] = {}
    statements: dict[str, str] = {}
    for m in messages:
        found = _AXIOMS.fullmatch(m.text.strip())
        if found:
            listed = (found["axioms"] or "").split(",")
            axioms[found["name"]] = tuple(a.strip() for a in listed if a.strip())
        else:
            name, _, statement = m.text.removeprefix("@").partition(" : ")
            statements[name] = " ".join(statement.split())
    return axioms, statements


def axioms_of(messages: tuple[Message, ...]) -> dict[str, tuple[str, ...]]:
    """Theorem → the axioms that Lean printed for it."""
    return _printed(messages)[0]


def snapshot(project: Project, found: tuple[Theorem, ...]) -> dict[str, Any]:
    """What must not change unseen: statements, definitions, and the foundation's text."""
    definitions = {
        m.name: [
            f"{d.kind} {d.name} {d.digest}" for d in sources.declarations(m) if d.kind != "theorem"
        ]
        for m in project.modules
        if m.name not in (*FOUNDATION, AUDIT)
    }
    return {
        "foundation": {name: project.module(name).digest for name in FOUNDATION},
        "definitions": definitions,
        "statements": {t.name: t.statement for t in found},
    }


def _snapshot_problems(project: Project, found: tuple[Theorem, ...]) -> Iterator[str]:
    """Differences between what is proved and what was agreed on."""
    file = project.root / SNAPSHOT
    agreed = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    now = snapshot(project, found)
    for part in ("foundation", "definitions", "statements"):
        old, new = agreed.get(part, {}), now[part]
        for name in sorted({*old, *new}):
            if old.get(name) != new.get(name):
                yield f"{part} of {name}: {_difference(old.get(name), new.get(name))}"


def _difference(old: object, new: object) -> str:
    if old is None:
        return "not in the snapshot; if it is meant, run python -m tang.proofs.snapshot"
    if new is None:
        return "in the snapshot, but gone"
    if isinstance(old, list) and isinstance(new, list):
        changed = [x for x in (*new, *old) if (x in new) != (x in old)]
        return f"changed: {', '.join(changed[:4])}"
    return f"changed from\n    {old}\n  to\n    {new}"
