"""Power: does the stock campaign find every mutant, and name what it harms?

Defines `run_power` and its table. Relies on the campaign as users run it, with a mutant planted in
its workers; blame is what the ladder says, and nothing here helps it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tang.fuzz.campaign import CampaignReport, Found, Options, run_campaign
from tang.fuzz.case import draw_case
from tang.fuzz.formats import Formats
from tang.fuzz.mutants.apply import Mutant
from tang.fuzz.mutants.blame import harmed
from tang.fuzz.mutants.catalogue import MUTANTS
from tang.verify import Rung

_NARROW: Final = Formats(f64=False, i64=False)
_EXACT: Final = 0.95
"""The share of mutants that must be named exactly."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant on a backend: the draw that found it (None: not found) and what was said of it.

    named  whether a kernel was named that the mutant harms; true on rungs that run no kernel
    """

    mutant: Mutant
    seed: int
    backend: str
    draw: int | None = None
    blamed: str = ""
    verdict: str = ""
    kernel: str = ""
    named: bool = False

    @property
    def caught(self) -> bool:
        """Whether it was found."""
        return self.draw is not None

    @property
    def exact(self) -> bool:
        """Found on the right rung, with a right verdict and a kernel that it harms."""
        right = self.verdict in {v.value for v in self.mutant.verdicts}
        rung = self.blamed == self.mutant.rung.value
        return self.caught and rung and self.named and (right or self.mutant.rung != Rung.EMIT)


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


def run_power(
    seeds: Sequence[int] = (1, 2, 3),
    mutants: Sequence[Mutant] = MUTANTS,
    backends: tuple[str, ...] = ("c",),
    examples: int = 2000,
    jobs: int = 1,
    baseline: int = 0,
) -> PowerReport:
    """The stock campaign against every mutant, on those of the backends where it exists.

    A campaign ends once every backend has a finding. `baseline` draws are checked without a mutant.
    """
    stock = Options(backends=backends, examples=examples, jobs=jobs, batch=10, stop=True)
    trials = [t for m in mutants for s in seeds for t in run_trials(m, replace(stock, seed=s))]
    return PowerReport(tuple(trials), run_baseline(stock, seeds[0], baseline))


def run_baseline(stock: Options, seed: int, examples: int) -> CampaignReport | None:
    """The same campaign without a mutant, to its end."""
    if not examples:
        return None
    return _ended(run_campaign(replace(stock, seed=seed, examples=examples, stop=False)))


def run_trials(mutant: Mutant, stock: Options) -> list[Trial]:
    """One campaign: a trial per backend where the mutant exists."""
    backends = tuple(b for b in stock.backends if b in mutant.languages)
    if not backends:
        return []
    options = replace(
        stock, backends=backends, mutant=mutant.name, formats=_NARROW if mutant.narrow else None
    )
    report = _ended(run_campaign(options))
    return [_trial(mutant, options, report.found, b) for b in backends]


def _ended(report: CampaignReport) -> CampaignReport:
    """The report; an interrupted campaign interrupts everything."""
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def _trial(mutant: Mutant, options: Options, found: Sequence[Found], backend: str) -> Trial:
    ours = [f for f in found if f.finding.backend in ("", backend)]
    if not ours:
        return Trial(mutant, options.seed, backend)
    first = min(ours, key=lambda f: f.index)
    finding = first.finding
    return Trial(
        mutant,
        options.seed,
        backend,
        first.index + 1,
        finding.rung.value,
        finding.verdict.value,
        finding.kernel,
        finding.rung is not Rung.EMIT or _names(mutant, options, first),
    )


def _names(mutant: Mutant, options: Options, found: Found) -> bool:
    """Whether the finding names a kernel that the mutant harms in the draw that showed it."""
    case = draw_case(options.seed, found.first, options.drawn)
    return found.finding.kernel in harmed(mutant, case, found.finding.backend, found.texts)


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
        "exact": t.exact,
    }


def _baseline_data(report: CampaignReport) -> dict[str, object]:
    return {"draws": report.coverage.draws, "findings": len(report.found)}


def _cell(t: Trial) -> str:
    if t.draw is None:
        return f"{t.backend} not found"
    text = f"{t.backend} {t.draw} {t.verdict} {t.kernel}".rstrip()
    return text if t.exact else f"{text} (rung {t.blamed}, not exact)"
