"""Cases: every verification that a configuration asks for, with its cache key.

Defines `Case`, `programs_of`, `cases_of` and `key_of`. Relies on the snapshot's discovery and texts
and on identities. It runs no kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tang.device.base import Device
from tang.errors import DeviceError, ScheduleError
from tang.ir.graph import Graph
from tang.ir.serial import to_json
from tang.kernel.schedule import check_schedule
from tang.rewrite import rewrite
from tang.schedule import schedule_from_json
from tang.verify.backends import BACKENDS, available, open_backend
from tang.verify.gate.config import Config, ConfigError, Settings
from tang.verify.gate.identity import device_identity, digest, tang_identity
from tang.verify.gate.snapshot import MissingError, discover, matches, texts


@dataclass(frozen=True, slots=True)
class Subject:
    """A program with its settings.

    schedule  JSON text of its schedule, "" for the automatic one
    graph     the program; `json` is the same as text
    """

    name: str
    graph: Graph
    json: str
    settings: Settings
    schedule: str


@dataclass(frozen=True, slots=True)
class Case:
    """One verification: a program under one binding and one seed."""

    subject: Subject
    name: str
    sizes: tuple[tuple[str, int], ...]
    seed: int


def programs_of(
    config: Config, patterns: Sequence[str] = (), backends: Sequence[str] = ()
) -> tuple[list[Subject], list[str]]:
    """The programs that patterns name, and notes for the reader.

    patterns  of the command line; without any, the configuration's
    backends  win over the configuration's
    Raises ConfigError for patterns without programs and for unreadable schedules.
    """
    try:
        programs, notes = discover(config.root, patterns or config.graphs)
    except MissingError as e:
        raise ConfigError(str(e) if patterns else f"{config.file}: {e}") from e
    subjects = []
    for p in programs:
        settings = config.settings_of(p.name, matches)
        settings = replace(settings, backends=chosen_backends(backends or settings.backends))
        schedule = _schedule(config, settings.schedule, p.graph)
        subjects.append(Subject(p.name, p.graph, to_json(p.graph), settings, schedule))
    return subjects, notes


def unused_overrides(config: Config, subjects: Sequence[Subject]) -> list[str]:
    """Patterns of overrides that match no program."""
    names = [s.name for s in subjects]
    return [
        f"{config.file}, [{o.table}], graphs: {pattern!r} matches none of the programs"
        for o in config.overrides
        for pattern in o.graphs
        if not any(matches(pattern, n) for n in names)
    ]


def chosen_backends(names: Sequence[str]) -> tuple[str, ...]:
    """Backend names; "available" stands for all that run here, "all" for all there are."""
    found: dict[str, None] = {}
    for name in names:
        if name == "available":
            found |= dict.fromkeys(n for n, reason in available().items() if not reason)
        elif name == "all":
            found |= dict.fromkeys(BACKENDS)
        elif name not in BACKENDS:
            known = ", ".join((*BACKENDS, "available", "all"))
            raise ConfigError(f"unknown backend {name!r}: one of {known}")
        else:
            found[name] = None
    if names and not found:
        raise ConfigError("no backend runs here: see `tang doctor`, or say backends = []")
    return tuple(found)


def _schedule(config: Config, file: str, graph: Graph) -> str:
    if not file:
        return ""
    path = config.root / file
    try:
        text = path.read_text(encoding="utf-8")
        check_schedule(schedule_from_json(text), rewrite(graph).graph)
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{config.file}: cannot read the schedule {path}: {e}") from e
    except ScheduleError as e:
        raise ConfigError(f"{path}: {e}") from e
    return text


def cases_of(config: Config, subject: Subject) -> list[Case]:
    """Every binding and seed of a program; raises ConfigError when a symbol has no size."""
    bindings = _bindings(config, subject)
    several = len(bindings) * len(subject.settings.seeds) > 1
    found = []
    for sizes in bindings:
        for seed in subject.settings.seeds:
            parts = [*(f"{s}={n}" for s, n in sizes), f"seed {seed}"]
            name = f"{subject.name} [{', '.join(parts)}]" if several else subject.name
            found.append(Case(subject, name, sizes, seed))
    return found


def _bindings(config: Config, subject: Subject) -> list[tuple[tuple[str, int], ...]]:
    symbols = subject.graph.symbols
    if not symbols:
        return [()]
    given = subject.settings.sizes
    found = dict.fromkeys(tuple((s, n) for s, n in b if s in symbols) for b in given)
    if not found:
        found = {(): None}
    for binding in found:
        missing = sorted(symbols - dict(binding).keys())
        if missing:
            raise ConfigError(
                f"{config.file}: {subject.name} needs a size for {', '.join(missing)}: "
                f"add sizes = [{{{missing[0]} = 16}}]"
            )
    return list(found)


def kernels_of(subject: Subject) -> dict[str, str]:
    """Texts of a program's kernels in the languages of its backends; {} when lowering fails.

    What makes lowering fail is found again by the ladder, which reports it.
    """
    try:
        return texts(subject.name, subject.graph, subject.schedule, languages_of(subject))
    except Exception:  # noqa: BLE001 — whatever lowering or an emitter raises, the ladder reports
        return {}


def languages_of(subject: Subject) -> list[str]:
    """The languages of a program's backends, each once."""
    return list(dict.fromkeys(opened(b).language for b in subject.settings.backends))


def opened(name: str) -> Device:
    """The backend as users have it; raises ConfigError when it cannot run here."""
    try:
        return open_backend(name, quick=False)
    except DeviceError as e:
        raise ConfigError(f"backend {name} does not run here: {e}") from e


def key_of(case: Case, kernels: Mapping[str, str]) -> str | None:
    """A hash of everything that a case's result depends on; None when that is not known.

    Not part of it: the program's name and allowed verdicts, since only passes are kept.
    """
    s = case.subject
    devices = [device_identity(b, opened(b)) for b in s.settings.backends]
    known = [d for d in devices if d is not None]
    if len(known) != len(devices) or not kernels:
        return None
    given = (s.json, s.schedule, repr(case.sizes), str(case.seed), repr(s.settings.budget))
    own = [part for name in sorted(kernels) for part in (name.removeprefix(s.name), kernels[name])]
    return digest([tang_identity(), *known, *given, *own])
