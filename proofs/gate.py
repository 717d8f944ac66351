"""The gate: build every module from source, read every theorem's axioms, believe nothing else.

Defines `prove`, `Report` and `Theorem`. Relies on `sources` for what text may say, on `lean` for
what Lean says, on `canary` for whether to believe it, and on `store` for results of unchanged
text. It proves nothing about floats.
"""

from __future__ import annotations

import bisect
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from tang.proofs import agreed, canary, layout, sources
from tang.proofs.arguments import folder_of
from tang.proofs.lean import Lean, Message, check_library, find, library_state
from tang.proofs.sources import AUDIT, FOUNDATION, Module, Project
from tang.proofs.store import Built, Store

ALLOWED: Final = frozenset({"propext", "Quot.sound"})
"""The axioms of Tang/Core, which are two of Lean's own; nothing else may occur below a theorem."""

WORKERS: Final = 2
"""So many modules are compiled at once."""

ELIDED: Final = ("⋯", "failed to pretty print")
"""What Lean prints in place of what it leaves out or cannot print."""

_RAW: Final = re.compile(r"^\[Error pretty printing expression: .*? to raw printer\.\] ")
_MADE_UP: Final = re.compile(r"[\w.]+\._@\.[\w.@]+")
_AXIOMS: Final = re.compile(
    r"'(?P<name>\S+)' (?:depends on axioms: \[(?P<axioms>[^\]]*)\]|does not depend on any axioms)"
)


@dataclass(frozen=True, slots=True)
class Theorem:
    """A theorem that Lean has checked: full name, statement, axioms, module, line, seconds.

    explicit  digest of the statement with every argument, instance, universe and type
    source    digest of the statement as written, with the commands in whose scope it stands
    """

    name: str
    statement: str
    axioms: tuple[str, ...]
    module: str
    line: int
    seconds: float
    explicit: str
    source: str


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
    project, lean = sources.read(folder_of(root, "prove")), find()
    pin(lean, store, fresh=fresh)
    key = _key(project, lean)
    known = None if fresh else store.load(key)
    report = _from_data(known) if known is not None else None
    if report is not None:
        return report
    start = time.perf_counter()
    report = checked(project, lean, store, fresh=fresh, say=say)
    if report.ok:
        report = replace(report, problems=tuple(agreed.problems(project, report.theorems)))
    report = replace(report, elapsed=time.perf_counter() - start)
    if report.ok:
        store.save(key, report.to_data())
    return report


def pin(lean: Lean, store: Store, *, fresh: bool = False) -> None:
    """Raise ProofError unless the wheel's library is the pinned one.

    It is read again when it was written to since, when it is another file, and if `fresh`.
    """
    key = Store.key("library", library_state(lean))
    if fresh or store.load(key) is None:
        check_library(lean)
        store.save(key, {"pinned": True})


def _key(project: Project, lean: Lean) -> str:
    """A digest of all that a verdict depends on: sources, snapshot, Lean, and this package."""
    root = project.root
    files = [m.path for m in project.modules] + sorted(root.rglob("*.olean*"))
    files += [p for p in (root / agreed.FILE,) if p.is_file()]
    parts = [f"{p.relative_to(root)}:{Store.digest(p)}" for p in files]
    parts += [f"{p.name}:{Store.digest(p)}" for p in sorted(sources.HERE.glob("*.py"))]
    return Store.key(lean.identity, *parts)


def _from_data(data: Mapping[str, Any]) -> Report | None:
    """A saved verdict, or None if it is of another form or not that all is proved."""
    try:
        found = tuple(Theorem(**{**t, "axioms": tuple(t["axioms"])}) for t in data["theorems"])
        if data["problems"] or data["ok"] is not True or not found:
            return None
        return Report((), found, data["seconds"], data["lean"], data["elapsed"], cached=True)
    except (KeyError, TypeError, ValueError):
        return None


def checked(
    project: Project,
    lean: Lean,
    store: Store,
    *,
    fresh: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """What `prove` reports, but for what was agreed on: statements may be any."""
    faults = (*sources.problems(project), *sources.foundation_problems(project))
    if faults:
        return Report(faults, (), {}, lean.label)
    seconds: dict[str, float] = {}
    times: dict[str, Mapping[int, float]] = {}
    audit: Built | None = None
    for name, built in build(project, lean, store, fresh=fresh):
        seconds[name], times[name] = built.seconds, built.outcome.seconds
        say(f"{name:24s} {built.seconds:6.2f} s")
        faults = tuple(_module_problems(project.module(name), built))
        if name in FOUNDATION and not faults and seconds.keys() >= set(FOUNDATION):
            faults = _doubts(project, lean, store, fresh=fresh)
        if faults:
            return Report(faults, (), seconds, lean.label)
        audit = built
    found, faults = _audited(project, audit.outcome.messages if audit else (), times)
    return Report(faults, found, seconds, lean.label)


def _doubts(project: Project, lean: Lean, store: Store, *, fresh: bool) -> tuple[str, ...]:
    """Why this Lean is not to be believed, asked once for each Lean and foundation."""
    digests = (project.module(name).digest for name in FOUNDATION)
    key = Store.key("canary", lean.identity, *digests)
    if not fresh and store.load(key) is not None:
        return ()
    found = tuple(canary.problems(lean, store.stage(project, lean)))
    if not found:
        store.save(key, {"believed": True})
    return found


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


def _module_problems(m: Module, built: Built) -> Iterator[str]:
    """Anything that a module said; only the audit may speak."""
    outcome = built.outcome
    for said in outcome.messages:
        if said.severity != "information" or m.name != AUDIT:
            yield f"{m.file}:{said.line}:{said.column}: {said.severity}: {said.text}"
    if outcome.noise.strip():
        yield f"{m.file}: Lean printed {outcome.noise.strip()[:500]!r}; {_ALONE}"
    if outcome.status:
        yield f"{m.file}: Lean ended with status {outcome.status}; {_ALONE}"
    if m.name not in (*FOUNDATION, AUDIT):
        yield from (f"{m.file}:{line}: {what}" for line, what in _unseen(m, outcome.commands))


_ALONE: Final = "run tang prove --fresh, and if it stays, reinstall tang with its extra proofs"


def _unseen(m: Module, places: Sequence[tuple[int, int, int, int]]) -> Iterator[tuple[int, str]]:
    """Where Lean saw other commands than `layout` does: each of its commands is one of ours.

    Commands that Lean makes out of one (such as those of `def A.b`) lie within it.
    """
    ours, lines = [c.line for c in layout.commands(m.text)], m.text.split("\n")
    end = (0, 0)
    for line, column, last, stop in sorted(places, key=lambda p: (p[0], p[1], -p[2], -p[3])):
        if (last, stop) <= end:
            continue
        held = [n for n in ours if end[0] < n <= last]
        silent = not held and (lines[line - 1].startswith("/-!") or line == len(lines))
        if column or line <= end[0] or not (len(held) == 1 or silent):
            yield line, f"Lean sees a command at column {column} that the text does not: {_CURE}"
        end = (last, stop)
    yield from ((n, f"Lean sees no command here: {_CURE}") for n in ours if n > end[0])


_CURE: Final = "begin each command at column 0, on a line of its own"


def _audited(
    project: Project, messages: tuple[Message, ...], times: Mapping[str, Mapping[int, float]]
) -> tuple[tuple[Theorem, ...], tuple[str, ...]]:
    """Theorems with the statement and axioms that Lean printed, and what is wrong with them."""
    said = _printed(project, messages)
    took = {m.name: _per_declaration(m, times.get(m.name, {})) for m in project.modules}
    found: list[Theorem] = []
    faults: list[str] = []
    for d, module in sources.theorems(project):
        place = f"{project.module(module).file}:{d.line}: {d.name}"
        answers = {what: said.get((what, d.name), "") for what in ("statement", "explicit")}
        axioms = _listed(d.name, said.get(("axioms", d.name), ""))
        if axioms is None or not all(answers.values()):
            faults.append(f"{place}: Lean did not print its axioms and its statement; {_ALONE}")
            continue
        for mark in (e for e in ELIDED for text in answers.values() if e in text):
            faults.append(f"{place}: Lean left out a part of its statement ({mark}); shorten it")
        bad = sorted(set(axioms) - ALLOWED)
        faults += [f"{place} depends on the axiom {a}; prove it without" for a in bad]
        spent = took[module].get(d.line, 0.0)
        explicit, says = sources.digest(answers["explicit"]), answers["statement"]
        found.append(Theorem(d.name, says, axioms, module, d.line, spent, explicit, d.stated))
    return tuple(found), tuple(faults)


def _renamed(text: str) -> str:
    """A term with the names that Lean makes up numbered in order: they hold file positions."""
    made = dict.fromkeys(_MADE_UP.findall(text))
    numbers = {name: f"✝{i}" for i, name in enumerate(made)}
    return _MADE_UP.sub(lambda found: numbers[found[0]], text)


def _per_declaration(m: Module, times: Mapping[int, float]) -> dict[int, float]:
    """Line of a declaration → seconds; a command counts for the declaration that it begins."""
    lines = sorted(d.line for d in sources.declarations(m))
    found: dict[int, float] = {}
    for line, spent in times.items():
        at = bisect.bisect_left(lines, line)
        if at < len(lines):
            found[lines[at]] = found.get(lines[at], 0.0) + spent
    return found


def _printed(project: Project, messages: tuple[Message, ...]) -> dict[tuple[str, str], str]:
    """(What was asked, theorem) → what Lean said, by the line of the audit that asks.

    Statements come without the name in front, on one line.
    """
    said: dict[tuple[str, str], str] = {}
    start = len(sources.audit_head(project))
    lines = sources.audit_lines(project)
    for m in messages:
        what, name, _ = lines[m.line - start - 1] if m.line > start else ("", "", "")
        text = " ".join(m.text.split())
        if what in ("statement", "explicit"):
            found = re.fullmatch(rf"@?{re.escape(name)}(?:\.\{{[^}}]*\}})? : (.*)", text)
            text = _renamed(_RAW.sub("", found[1])) if found else ""
        said[what, name] = text
    return said


def _listed(name: str, text: str) -> tuple[str, ...] | None:
    """The axioms in what Lean printed of a theorem, or None if it is not about them."""
    found = _AXIOMS.fullmatch(text.strip())
    if found is None or found["name"] != name:
        return None
    listed = (found["axioms"] or "").split(",")
    return tuple(a.strip() for a in listed if a.strip())


def axioms_of(messages: tuple[Message, ...]) -> dict[str, tuple[str, ...]]:
    """Theorem → the axioms that Lean printed for it."""
    found = ((_AXIOMS.fullmatch(m.text.strip()), m.text) for m in messages)
    listed = {f["name"]: _listed(f["name"], text) for f, text in found if f}
    return {name: axioms for name, axioms in listed.items() if axioms is not None}
