"""The gate itself: configured programs through the ladder, unchanged ones from the cache.

Defines `Gate`, `GateResult` and `run_gate`. Relies on cases, cache, revisions and `verify`. It
prints nothing and decides nothing: `Report.ok` does.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tang.errors import GraphError
from tang.ir.serial import from_json
from tang.schedule import schedule_from_json
from tang.verify.gate.cache import Cache, usual_folder
from tang.verify.gate.cases import (
    Case,
    Subject,
    cases_of,
    kernels_of,
    key_of,
    languages_of,
    opened,
    programs_of,
    unused_overrides,
)
from tang.verify.gate.config import Config, ConfigError, read_config
from tang.verify.gate.diff import KernelDiff, kernel_diff
from tang.verify.gate.identity import device_identity
from tang.verify.gate.revision import holds_tang, state_at, tree_at
from tang.verify.gate.snapshot import matches
from tang.verify.ladder import verify
from tang.verify.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What one run of the gate is asked for.

    patterns  programs to verify instead of the configuration's
    backends  win over the configuration's
    since     a revision: verify only what differs from it
    cached    whether passes of unchanged programs are taken from the cache
    jobs      processes that verify at the same time
    """

    config: Config
    patterns: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    since: str = ""
    cached: bool = True
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a run found.

    reports    one per case, in order of configuration
    hits       cases that were taken from the cache
    programs   all that were named;  `skipped` of them are as they were at the revision
    diff       the kernels that differ from the revision; None without one
    notes      what the reader should know besides
    since      the revision, "" without one
    one_tang   whether the installed tang made the kernels of both sides
    """

    reports: tuple[Report, ...]
    hits: int = 0
    programs: int = 0
    skipped: int = 0
    diff: KernelDiff | None = None
    notes: tuple[str, ...] = ()
    since: str = ""
    one_tang: bool = False

    @property
    def ok(self) -> bool:
        """Every report is."""
        return all(r.ok for r in self.reports)

    def summary(self) -> str:
        """One line: how many cases, from where, with which end."""
        if self.diff is not None and not self.reports:
            return self._nothing(self.diff)
        failed = sum(not r.ok for r in self.reports)
        text = f"{len(self.reports) - failed} of {len(self.reports)} verifications passed"
        text += f", {self.hits} of them unchanged since they last did" if self.hits else ""
        if self.diff is not None:
            text += f"; {self.skipped} of {self.programs} programs are as they were"
        return text

    def _nothing(self, diff: KernelDiff) -> str:
        """That no program was looked at, and what can have changed all the same."""
        text = f"nothing was verified: {self.skipped} of {self.programs} programs are as they were "
        text += f"at {self.since} ({diff.summary()})"
        if not self.one_tang:
            return f"{text}; a change of tang that leaves kernels alone shows only without --since"
        return (
            f"{text}; the installed tang made both sides: its own changes show only without --since"
        )


def run_gate(gate: Gate) -> GateResult:
    """Verify what the gate asks for; raises ConfigError for a wrong request."""
    config = gate.config
    patterns = gate.patterns or config.graphs
    if not patterns:
        raise ConfigError(f'{config.file}: no graphs: add `graphs = ["…"]`, or name some')
    subjects, notes = programs_of(config, gate.patterns, gate.backends)
    unused = [] if gate.patterns else unused_overrides(config, subjects)
    if unused:
        raise ConfigError(unused[0])
    kernels = {s.name: kernels_of(s) for s in subjects}
    diff, chosen, one_tang = None, subjects, False
    if gate.since:
        diff, chosen, one_tang = _changed(gate, patterns, subjects, kernels)
    cases = [c for s in chosen for c in cases_of(config, s)]
    reports, hits, unkeyed = _verified(gate, cases, kernels)
    notes += [f"backend {b} does not say its version: nothing is cached" for b in unkeyed]
    skipped = len(subjects) - len(chosen)
    found = GateResult(tuple(reports), hits, len(subjects), skipped, diff, tuple(notes))
    return replace(found, since=gate.since, one_tang=one_tang)


# --- what differs from a revision ---------------------------------------------------------------


def _changed(
    gate: Gate,
    patterns: Sequence[str],
    subjects: Sequence[Subject],
    kernels: Mapping[str, Mapping[str, str]],
) -> tuple[KernelDiff, list[Subject], bool]:
    """The kernels that differ from the revision, the programs to verify therefore, and whether
    the installed tang made both sides.
    """
    with tree_at(gate.config.root, gate.since) as tree:
        one_tang = not holds_tang(tree)
        before = _config_at(gate.config, tree)
        old = state_at(tree, _request(before, patterns, subjects))
    texts = {n: t for p in old.values() for n, t in p["texts"].items()}
    diff = kernel_diff(texts, {n: t for k in kernels.values() for n, t in k.items()})
    chosen = [
        s
        for s in subjects
        if _differs(s, old.get(s.name), kernels[s.name]) or _asked_anew(gate, before, s)
    ]
    return diff, chosen, one_tang


def _config_at(config: Config, tree: Path) -> Config:
    """The configuration of the revision, an empty one where it had none."""
    file = tree / config.file.name
    try:
        return read_config(file, optional=True)
    except ConfigError:
        return Config(file=file, root=tree)


def _asked_anew(gate: Gate, before: Config, s: Subject) -> bool:
    """Whether the configuration asks for a program that it did not name, or in another way."""
    if before.settings_of(s.name, matches) != gate.config.settings_of(s.name, matches):
        return True
    return not gate.patterns and not any(matches(p, s.name) for p in before.graphs)


def _request(
    config: Config, patterns: Sequence[str], subjects: Sequence[Subject]
) -> dict[str, Any]:
    """What `snapshot.state` needs, with the revision's schedules and today's languages."""
    schedules = [("", config.settings.schedule)]
    for o in config.overrides:
        if "schedule" in o.changes:
            schedules += [(pattern, o.changes["schedule"]) for pattern in o.graphs]
    every = dict.fromkeys(x for s in subjects for x in languages_of(s))
    languages = [("", list(every)), *((s.name, languages_of(s)) for s in subjects)]
    return {"patterns": list(patterns), "schedules": schedules, "languages": languages}


def _differs(s: Subject, old: Mapping[str, Any] | None, kernels: Mapping[str, str]) -> bool:
    if old is None or old["error"] or not kernels:
        return True
    return bool(old["graph"] != s.json or old["texts"] != kernels)


# --- running --------------------------------------------------------------------------------------


def _verified(
    gate: Gate, cases: Sequence[Case], kernels: Mapping[str, Mapping[str, str]]
) -> tuple[list[Report], int, list[str]]:
    """A report per case, how many came from the cache, and backends that have no identity."""
    cache = Cache(gate.config.cache or usual_folder())
    keys = [key_of(c, kernels[c.subject.name]) if gate.cached else None for c in cases]
    found: dict[int, Report] = {}
    for n, (case, key) in enumerate(zip(cases, keys, strict=True)):
        report = cache.get(key, case.name) if key else None
        if report is not None:
            found[n] = report
    left = [n for n in range(len(cases)) if n not in found]
    for n, report in zip(left, _run([cases[n] for n in left], gate.jobs), strict=True):
        key = keys[n]
        if key:
            cache.put(key, report)
        found[n] = report
    allowed = [found[n].allow(c.subject.settings.allow) for n, c in enumerate(cases)]
    unkeyed = _without_identity(cases) if gate.cached else []
    return allowed, len(cases) - len(left), unkeyed


def _without_identity(cases: Sequence[Case]) -> list[str]:
    names = dict.fromkeys(b for c in cases for b in c.subject.settings.backends)
    return [b for b in names if device_identity(b, opened(b)) is None]


_Packed = tuple[str, str, str, tuple[tuple[str, int], ...], int, Any, tuple[str, ...]]


def _run(cases: Sequence[Case], jobs: int) -> Iterator[Report]:
    """Reports in order; in processes of their own when there are several jobs."""
    packed = [_pack(c) for c in cases]
    if jobs <= 1 or len(cases) <= 1:
        yield from map(_one, packed)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(cases)), mp_context=context) as pool:
        yield from pool.map(_one, packed)


def _pack(c: Case) -> _Packed:
    s = c.subject
    return c.name, s.json, s.schedule, c.sizes, c.seed, s.settings.budget, s.settings.backends


def _one(packed: _Packed) -> Report:
    """The report of one case; raises ConfigError when its inputs cannot be made."""
    name, graph, schedule, sizes, seed, budget, backends = packed
    try:
        return verify(
            from_json(graph),
            backends=backends,
            seed=seed,
            schedule=schedule_from_json(schedule) if schedule else None,
            budget=budget,
            sizes=dict(sizes),
            name=name,
        )
    except GraphError as e:
        raise ConfigError(f"{name}: {e}") from e
