"""Power: does the stock campaign find every mutant?

Defines `run_power` and its table. Relies on the campaign as users run it, with a mutant planted in
its workers; blame is what the ladder says, and nothing here helps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tang.fuzz.campaign import Options, run_campaign
from tang.fuzz.mutants.apply import Mutant
from tang.fuzz.mutants.catalogue import MUTANTS


@dataclass(frozen=True, slots=True)
class Trial:
    """One campaign against one mutant: the draw that found it (None: not found) and the blame."""

    mutant: Mutant
    seed: int
    draw: int | None
    blamed: str

    @property
    def ok(self) -> bool:
        """Found, and blamed on the right rung."""
        return self.draw is not None and self.blamed == self.mutant.rung.value


@dataclass(frozen=True, slots=True)
class PowerReport:
    """All trials, mutant by mutant."""

    trials: tuple[Trial, ...]

    @property
    def ok(self) -> bool:
        return all(t.ok for t in self.trials)

    def to_data(self) -> dict[str, object]:
        """The table as plain data, for JSON."""
        rows = [
            {
                "mutant": t.mutant.name,
                "what": t.mutant.what,
                "rung": t.mutant.rung.value,
                "seed": t.seed,
                "draw": t.draw,
                "blamed": t.blamed,
                "ok": t.ok,
            }
            for t in self.trials
        ]
        return {"ok": self.ok, "good": sum(t.ok for t in self.trials), "trials": rows}

    def to_text(self) -> str:
        """A row per mutant: draws until found for each seed, and the rungs blamed."""
        lines = [f"{'mutant':<28} {'rung':<7} draws until found, by seed"]
        for mutant in dict.fromkeys(t.mutant for t in self.trials):
            trials = [t for t in self.trials if t.mutant == mutant]
            cells = [f"{t.seed}: {_cell(t)}" for t in trials]
            lines.append(f"{mutant.name:<28} {mutant.rung.value:<7} {', '.join(cells)}")
        good = sum(t.ok for t in self.trials)
        lines.append(f"{good} of {len(self.trials)} found and blamed on the right rung")
        return "\n".join(lines)


def run_power(
    seeds: Sequence[int] = (1, 2, 3),
    mutants: Sequence[Mutant] = MUTANTS,
    backends: tuple[str, ...] = ("c",),
    examples: int = 2000,
    jobs: int = 1,
) -> PowerReport:
    """The stock campaign against every mutant, stopped at its first finding."""
    trials = [_trial(m, s, backends, examples, jobs) for m in mutants for s in seeds]
    return PowerReport(tuple(trials))


def _trial(mutant: Mutant, seed: int, backends: tuple[str, ...], examples: int, jobs: int) -> Trial:
    options = Options(
        backends=backends,
        examples=examples,
        seed=seed,
        jobs=jobs,
        batch=10,
        stop=True,
        mutant=mutant.name,
    )
    report = run_campaign(options)
    if report.interrupted:
        raise KeyboardInterrupt
    if not report.found:
        return Trial(mutant, seed, None, "")
    first = min(report.found, key=lambda f: f.index)
    return Trial(mutant, seed, first.index + 1, first.finding.rung.value)


def _cell(trial: Trial) -> str:
    if trial.draw is None:
        return "not found"
    return f"{trial.draw}" if trial.ok else f"{trial.draw} (blamed {trial.blamed})"
