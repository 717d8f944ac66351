"""Power: does the stock campaign find every mutant, and name what it harms?

Defines `run_power`, its options and its table. Relies on `trials`, which run the campaign's draws
through the ladder with a mutant planted; blame is what the ladder says, and nothing here helps it.
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tang.fuzz.campaign import CampaignReport, Options, run_campaign
from tang.fuzz.formats import Formats, formats_of
from tang.fuzz.mutants.apply import SIX, Mutant
from tang.fuzz.mutants.catalogue import MUTANTS, mutant_named
from tang.fuzz.mutants.trials import Ask, Trial, trial_of
from tang.fuzz.pool import Died, Pool
from tang.verify import Rung, Verdict

_NARROW: Final = Formats(f64=False, i64=False)
_EXACT: Final = 0.95
"""The share of mutants that must be named exactly."""
NOWHERE: Final = "derivation"
"""In place of a backend for mutants that are found before anything is lowered."""
_PATIENCE: Final = 7200.0
"""Seconds after which a process that tries a mutant is given up."""


@dataclass(frozen=True, slots=True)
class PowerReport:
    """All trials, mutant by mutant, and the findings without any mutant (None: not asked)."""

    trials: tuple[Trial, ...]
    baseline: CampaignReport | None = None

    @property
    def ok(self) -> bool:
        """All caught, 95 of 100 named exactly, and nothing found without a mutant."""
        exact = sum(t.exact for t in self.trials) >= _EXACT * len(self.trials)
        clean = self.baseline is None or self.baseline.ok
        return clean and exact and all(t.caught for t in self.trials)

    def to_data(self) -> dict[str, object]:
        """The table as plain data, for JSON."""
        return {
            "ok": self.ok,
            "mutants": len({t.mutant.name for t in self.trials}),
            "blind": len({t.mutant.name for t in self.trials if t.mutant.blind}),
            "trials": len(self.trials),
            "caught": sum(t.caught for t in self.trials),
            "exact": sum(t.exact for t in self.trials),
            "baseline": None if self.baseline is None else _baseline_data(self.baseline),
            "rows": [_row_data(t) for t in self.trials],
        }

    def to_text(self) -> str:
        """A row per mutant and seed, with a cell per backend; then the totals."""
        lines = [f"{'mutant':<30} {'rung':<7} by backend: draws until found, verdict, kernel"]
        for mutant, seed in dict.fromkeys((t.mutant.name, t.seed) for t in self.trials):
            row = [t for t in self.trials if (t.mutant.name, t.seed) == (mutant, seed)]
            cells = ", ".join(_cell(t) for t in row)
            lines.append(f"{mutant:<30} {row[0].mutant.rung.value:<7} seed {seed}: {cells}")
        return "\n".join([*lines, *self._totals()])

    def _totals(self) -> list[str]:
        every = Counter(t.backend for t in self.trials)
        caught = Counter(t.backend for t in self.trials if t.caught)
        exact = Counter(t.backend for t in self.trials if t.exact)
        lines = [
            f"  {b}: caught {caught[b]} of {n}, named exactly {exact[b]} of {n}"
            for b, n in every.items()
        ]
        total = len(self.trials)
        lines.append(
            f"caught {caught.total()} of {total}, named exactly {exact.total()} of {total}"
        )
        if self.baseline is not None:
            found, draws = len(self.baseline.found), self.baseline.coverage.draws
            lines.append(f"without a mutant: {found} findings in {draws} draws")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerOptions:
    """What is asked: every mutant, with every seed, on those of the backends where it exists.

    examples  draws after which a mutant counts as missed
    baseline  draws that are checked without a mutant
    jobs      processes at work at once
    seconds   after so long no trial is begun any more; those that are left are not in the report
    table     a file of rows to go on from, which grows with every trial
    """

    seeds: tuple[int, ...] = (1, 2, 3)
    mutants: tuple[Mutant, ...] = MUTANTS
    backends: tuple[str, ...] = ("c",)
    examples: int = 2000
    jobs: int = 1
    baseline: int = 0
    seconds: float | None = None
    table: Path | None = None


def run_power(options: PowerOptions) -> PowerReport:
    """The stock campaign's draws and ladder against every mutant, until each has been found.

    Rows of the table are not asked again. Ctrl-C raises, and the table keeps what was found.
    """
    known = read_table(options.table)
    asks = [a for a in _asks(options) if (a.mutant, a.backend, a.seed) not in known]
    trials = list(known.values())
    baseline = run_baseline(options)
    for trial in _run(options, asks):
        trials.append(trial)
        if options.table is not None:
            write_table(options.table, PowerReport(_in_order(options, trials), baseline))
    return PowerReport(_in_order(options, trials), baseline)


def run_baseline(options: PowerOptions) -> CampaignReport | None:
    """The same campaign without a mutant, to its end."""
    if not options.baseline:
        return None
    plain = Options(
        backends=options.backends,
        examples=options.baseline,
        seed=options.seeds[0],
        jobs=options.jobs,
        batch=10,
    )
    report = run_campaign(plain)
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def _asks(options: PowerOptions) -> list[Ask]:
    """One backend after the other for each mutant, so that two processes run different ones."""
    drawn = formats_of(options.backends)
    return [
        Ask(m.name, b, s, _NARROW if m.narrow else drawn, options.examples)
        for m in options.mutants
        for s in options.seeds
        for b in _places(m, options.backends)
    ]


def _places(mutant: Mutant, backends: Sequence[str]) -> Sequence[str]:
    """Where a mutant is tried: on the backends that have it, one of a rule once, on none."""
    if mutant.rung is Rung.REWRITE:
        return (NOWHERE,)
    return [b for b in backends if b in mutant.languages]


def _run(options: PowerOptions, asks: Sequence[Ask]) -> Iterator[Trial]:
    """The trials as they end."""
    pool = Pool("tang.fuzz.mutants.trials:serve", (), max(1, options.jobs))
    start, waiting = time.monotonic(), deque(asks)
    try:
        while waiting or pool.busy:
            over = options.seconds is not None and time.monotonic() - start > options.seconds
            if over:
                waiting.clear()
            while waiting and pool.idle:
                pool.submit(waiting.popleft(), _PATIENCE)
            for ask, answer in pool.results():
                yield _trial(ask, answer)
    finally:
        pool.close()


def _trial(ask: Ask, answer: dict[str, Any] | Died) -> Trial:
    """A child that died found something, and named nothing."""
    if isinstance(answer, Died):
        verdict = Verdict.TIMEOUT if answer.timeout else Verdict.CRASH
        return Trial(mutant_named(ask.mutant), ask.seed, ask.backend, 0, "", verdict.value)
    return trial_of(ask, answer)


def _in_order(options: PowerOptions, trials: Sequence[Trial]) -> tuple[Trial, ...]:
    order = {m.name: n for n, m in enumerate(MUTANTS)}
    backends = (NOWHERE, *options.backends, *SIX)
    place = {b: n for n, b in reversed(list(enumerate(backends)))}
    ranked = sorted(trials, key=lambda t: (order[t.mutant.name], t.seed, place[t.backend]))
    return tuple(ranked)


# --- tables ---------------------------------------------------------------------------------------


def read_table(path: Path | None) -> dict[tuple[str, str, int], Trial]:
    """The trials in a file by mutant, backend and seed; those of unknown mutants are left out."""
    if path is None or not path.exists():
        return {}
    names = {m.name for m in MUTANTS}
    rows = [r for r in json.loads(path.read_text()).get("rows", ()) if r["mutant"] in names]
    return {(r["mutant"], r["backend"], r["seed"]): _from_row(r) for r in rows}


def write_table(path: Path, report: PowerReport) -> None:
    """The report as JSON, in place of what was there."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(report.to_data(), indent=1, ensure_ascii=False) + "\n")
    part.replace(path)


def _from_row(row: dict[str, Any]) -> Trial:
    return Trial(
        mutant_named(row["mutant"]),
        row["seed"],
        row["backend"],
        row["draw"],
        row["blamed"],
        row["verdict"],
        row["kernel"],
        row["named"],
        row.get("origin", ""),
    )


def _row_data(t: Trial) -> dict[str, object]:
    return {
        "mutant": t.mutant.name,
        "what": t.mutant.what,
        "rung": t.mutant.rung.value,
        "blind": t.mutant.blind,
        "backend": t.backend,
        "seed": t.seed,
        "draw": t.draw,
        "blamed": t.blamed,
        "verdict": t.verdict,
        "kernel": t.kernel,
        "named": t.named,
        "origin": t.origin,
        "exact": t.exact,
    }


def _baseline_data(report: CampaignReport) -> dict[str, object]:
    return {"draws": report.coverage.draws, "findings": len(report.found)}


def _cell(t: Trial) -> str:
    if t.draw is None:
        return f"{t.backend} not found"
    text = f"{t.backend} {t.draw} {t.verdict} {t.kernel or t.origin}".rstrip()
    return text if t.exact else f"{text} (rung {t.blamed}, not exact)"
