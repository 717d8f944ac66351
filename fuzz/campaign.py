"""Campaigns: many draws, many checks, few findings.

Defines `Options`, `run_campaign` and `CampaignReport`. Relies on workers in processes of their
own; a worker's death is traced to the draw that caused it. It judges nothing: checks do.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tang.fuzz.case import draw_case
from tang.fuzz.check import is_foreign
from tang.fuzz.coverage import Coverage
from tang.fuzz.findings import write_finding
from tang.fuzz.formats import Formats, formats_of
from tang.fuzz.ladder import accused
from tang.fuzz.pace import Pace
from tang.fuzz.pool import Died, Pool
from tang.fuzz.progress import Progress
from tang.fuzz.worker import Batch, Batched, Hit, Setup, Shrink, Shrunk
from tang.verify import Finding, Verdict

Bucket = tuple[str, str, str, str]
_LEAST_OVERTIME: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a campaign does.

    backends    names ("c") and factories ("package.module:factory"); empty: up to replay
    examples    draws
    seconds     no batch begins later: batches are as large as the time left allows, and one that
                has not ended a quarter later (`overtime`), at least 3 seconds, is cut off
    batch       draws that are compiled together
    out         where findings are written; None writes none
    patience    seconds that a batch, and a foreign backend's answer, may take
    stop        end once every backend has a finding
    mutant      a planted fault, applied in the workers alone
    formats     what draws may ask for; None: what every backend can run
    """

    backends: tuple[str, ...] = ("c",)
    examples: int = 500
    seed: int = 0
    jobs: int = 1
    seconds: float | None = None
    batch: int = 50
    out: Path | None = None
    patience: float = 20.0
    shrink: bool = True
    shrink_seconds: float = 60.0
    stop: bool = False
    mutant: str = ""
    max_buckets: int = 20
    formats: Formats | None = None

    @property
    def overtime(self) -> float:
        """Seconds that a batch may take beyond the limit of the campaign."""
        return max(_LEAST_OVERTIME, (self.seconds or 0.0) / 4)

    @property
    def drawn(self) -> Formats:
        """What draws may ask for."""
        return self.formats or formats_of(self.backends)


@dataclass(slots=True)
class Found:
    """One bucket of findings: one of them, the first draw that showed it, how many did.

    first, texts  the draw of this finding; where a mutant is planted, its kernels' texts
    """

    finding: Finding
    index: int
    draws: int = 1
    folder: Path | None = None
    first: int = 0
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CampaignReport:
    """What a campaign did and found; `interrupted` when it was stopped by Ctrl-C.

    cut  draws that were begun and cut off by the limit of seconds; they are not counted otherwise
    """

    options: Options
    coverage: Coverage
    found: tuple[Found, ...]
    seconds: float
    interrupted: bool = False
    cut: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing was found; UNSUPPORTED and UNDECIDED are counted, not findings."""
        return not self.found

    @property
    def unwritten(self) -> int:
        """Findings that have no folder although folders were asked for."""
        return 0 if self.options.out is None else sum(f.folder is None for f in self.found)

    def count(self, verdict: Verdict) -> int:
        """Draws with that verdict on some backend."""
        return sum(n for (_, v), n in self.coverage.outcomes.items() if v == verdict.value)

    def to_text(self) -> str:
        """Coverage, then outcomes, then findings."""
        rate = self.coverage.draws / max(self.seconds, 1e-9)
        backends = ", ".join(self.options.backends) or "none (up to replay)"
        lines = [
            f"campaign: seed {self.options.seed}, {self.coverage.draws} draws, "
            f"backends {backends}, {self.seconds:.1f} s, {rate:.1f} draws/s",
            *(["interrupted: draws and findings are those up to then"] if self.interrupted else []),
            *([f"cut off by the limit of seconds: {self.cut} draws"] if self.cut else []),
            self.coverage.text(),
            f"findings: {len(self.found)}{self._unwritten_text()}",
        ]
        for found in self.found:
            lines.append("")
            lines.append(found.finding.to_text())
            lines.append(f"  draws: {found.draws}, the first: {self._draw(found.index)}")
            if found.folder is not None:
                lines.append(
                    f"  run again: python {os.fspath(found.folder.absolute() / 'repro.py')}"
                )
        return "\n".join(lines)

    def to_data(self) -> dict[str, object]:
        """The report as plain data, for JSON."""
        return {
            "seed": self.options.seed,
            "draws": self.coverage.draws,
            "composed": self.coverage.composed,
            "backends": list(self.options.backends),
            "formats": self.coverage.formats.text() or "all",
            "seconds": round(self.seconds, 3),
            "ok": self.ok,
            "interrupted": self.interrupted,
            "cut": self.cut,
            "unwritten": self.unwritten,
            "cells": self.coverage.counts(),
            "outcomes": {f"{b}: {v}": n for (b, v), n in sorted(self.coverage.outcomes.items())},
            "findings": [_found_data(f) for f in self.found],
        }

    def _unwritten_text(self) -> str:
        most = self.options.max_buckets
        return f", {self.unwritten} without a folder (at most {most})" if self.unwritten else ""

    def _draw(self, index: int) -> str:
        return f"seed {self.options.seed}, index {index}"


def _found_data(found: Found) -> dict[str, object]:
    f = found.finding
    return {
        "rung": f.rung.value,
        "verdict": f.verdict.value,
        "backend": f.backend,
        "kernel": f.kernel,
        "node": f.node,
        "origin": f.origin,
        "message": f.message,
        "draws": found.draws,
        "index": found.index,
        "folder": None if found.folder is None else os.fspath(found.folder),
    }


def run_campaign(options: Options) -> CampaignReport:
    """Draw, check, shrink and write; returns when every draw has been accounted for.

    Ctrl-C ends it earlier, with the report of what was done until then.
    """
    start = time.monotonic()
    coverage = Coverage(formats=options.drawn)
    campaign = _Campaign(options, start, coverage, Pace(options.seconds, options.overtime, start))
    setup = Setup(
        options.backends,
        options.seed,
        options.patience,
        options.mutant,
        options.formats,
        shrink_seconds=options.shrink_seconds,
    )
    pool = Pool("tang.fuzz.worker:serve", (setup,), max(1, options.jobs))
    interrupted = False
    try:
        campaign.run(pool)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        pool.close()
    found, seconds = tuple(campaign.found.values()), time.monotonic() - start
    return CampaignReport(
        options, campaign.coverage, found, seconds, interrupted, campaign.pace.cut
    )


_Task = Batch | Shrink
_BATCH_FACTOR: Final = 15
"""A batch may take so many times the patience for one backend's answer, and each answer."""
_FOREIGN_BATCH: Final = 10
"""Foreign backends compile case by case: small batches lose nothing, and little to a hang."""
_ANSWERS: Final = 2
"""A foreign backend is asked twice about every case."""


@dataclass(slots=True)
class _Campaign:
    """The state of a running campaign."""

    options: Options
    start: float
    coverage: Coverage
    pace: Pace
    found: dict[Bucket, Found] = field(default_factory=dict)
    shrinking: Counter[Bucket] = field(default_factory=Counter)

    def run(self, pool: Pool) -> None:
        """Feed the pool until all draws are done and all findings are written."""
        progress = Progress(self.options.examples)
        drawn = 0
        while True:
            while pool.idle and drawn < self.options.examples and self._may_draw():
                most = min(self._batch(), self.options.examples - drawn)
                batch = Batch(drawn, self.pace.size(most))
                pool.submit(batch, self.pace.begin(batch, self._limit(batch.count)))
                drawn += batch.count
            if not pool.busy:
                break
            for task, answer in pool.results():
                self._take(pool, task, answer)
            progress.show(self.coverage.draws, len(self.found))
        progress.clear()

    def _foreign(self) -> int:
        return sum(is_foreign(b) for b in self.options.backends)

    def _batch(self) -> int:
        batch = self.options.batch
        return min(batch, _FOREIGN_BATCH) if self._foreign() else batch

    def _limit(self, count: int) -> float:
        return self.options.patience * (_BATCH_FACTOR + count * _ANSWERS * self._foreign())

    def _may_draw(self) -> bool:
        if self.options.stop and self._found_everywhere():
            return False
        return self.pace.left > 0

    def _found_everywhere(self) -> bool:
        known = {f.finding.backend for f in self.found.values()}
        return "" in known or (bool(known) and known >= set(self.options.backends))

    def _take(self, pool: Pool, task: _Task, answer: Batched | Shrunk | Died) -> None:
        if isinstance(task, Batch) and self.pace.ended(task, answer):
            return
        if isinstance(answer, Batched):
            self.coverage.merge(answer.coverage)
            for hit in answer.hits:
                self._record(pool, hit)
        elif isinstance(answer, Shrunk) and isinstance(task, Shrink):
            self._write(task, answer)
        elif isinstance(answer, Died) and isinstance(task, Batch):
            self._bisect(pool, task, answer)
        elif isinstance(answer, Died) and isinstance(task, Shrink):
            self._write_as_drawn(task)

    def _record(self, pool: Pool, hit: Hit) -> None:
        bucket = hit.finding.bucket
        known = self.found.get(bucket)
        if known is not None:
            known.draws, known.index = known.draws + 1, min(known.index, hit.index)
            return
        self.found[bucket] = Found(hit.finding, hit.index, first=hit.index, texts=hit.texts)
        if self.options.out is not None and len(self.found) <= self.options.max_buckets:
            self._shrink(pool, hit)

    def _shrink(self, pool: Pool, hit: Hit) -> None:
        seconds = self.options.shrink_seconds if self.options.shrink else 0.0
        pool.submit(Shrink(hit.index, hit.finding), seconds + self.options.patience * 5)

    def _write(self, task: Shrink, shrunk: Shrunk) -> None:
        found = self.found[task.finding.bucket]
        found.finding = shrunk.finding
        if self.options.out is not None:
            formats = self.options.drawn.text()
            origin = f"tang fuzz, seed {self.options.seed}, draw {task.index}"
            origin += f", drawn {formats}" if formats else ""
            taken = {f.folder for f in self.found.values() if f.folder and f is not found}
            found.folder = write_finding(
                self.options.out, shrunk, self.options.backends, origin, taken
            )

    def _write_as_drawn(self, task: Shrink) -> None:
        """A finding that could not be shrunk: its first draw, without kernels, which may hang."""
        formats = formats_of(self.options.backends)
        case = draw_case(self.options.seed, task.index, formats)
        self._write(task, Shrunk(case, task.finding, task.finding.to_text(), {}))

    def _bisect(self, pool: Pool, task: Batch, died: Died) -> None:
        """A batch killed its worker: run its halves, down to the draw that does it."""
        if task.count > 1:
            half = task.count // 2
            rest = task.count - half
            pool.submit(Batch(task.start, half), self._limit(half))
            pool.submit(Batch(task.start + half, rest), self._limit(rest))
            return
        rung, frame = accused(died.reason)
        verdict = Verdict.TIMEOUT if died.timeout else Verdict.CRASH
        message = f"the checking process died: {died.reason.strip().splitlines()[-1]}"
        finding = Finding(rung, verdict, message, detail=died.reason, origin=frame)
        self.coverage.draws += 1
        self.coverage.outcomes["replay", verdict.value] += 1
        self._record_death(finding, task.start)

    def _record_death(self, finding: Finding, index: int) -> None:
        known = self.found.get(finding.bucket)
        if known is not None:
            known.draws, known.index = known.draws + 1, min(known.index, index)
            return
        self.found[finding.bucket] = Found(finding, index)
        if len(self.found) <= self.options.max_buckets:
            self._write_as_drawn(Shrink(index, finding))
