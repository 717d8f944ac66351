"""V01: a kernel that computes nothing passes no check (KernelBench#165, accelerator-agents#50).

The rung `emit` judges what a mutant would leave behind; a mutated text climbs the whole ladder.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.device import CompilerOptions, HostC
from tang.device.base import GUARD_BYTES, Memory, Ran
from tang.device.storage import poison_word, poisoned
from tang.emit import emit
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Rung, Task, Verdict, ladder, verify_batch
from tang.verify.rung_emit import POISONS, check_emit, trials
from tang.verify.rung_expand import check_expand
from tang.verify.subject import prepare

COLUMNS = 4096


def graphs():
    """Outputs far below 1e-2, a norm, a minimum."""
    x = tg.input("x", (COLUMNS,))
    i = tg.dims("i")
    norm = tg.compute("norm", (), tg.sqrt(tg.sum(x[i] * x[i], i)))
    return {"softmax": tg.Graph(tg.softmax(x)), "norm": tg.Graph(norm), "min": tg.Graph(tg.min(x))}


def last_trial(graph):
    """The last launch of a program with a random input, and what it must write."""
    x = np.random.default_rng(1).standard_normal(COLUMNS).astype(np.float32)
    schedule = Schedule(default=NodeSchedule(split=64))
    subject = prepare(Task(graph=graph, inputs={"x": x}, schedule=schedule))
    return trials(subject, check_expand(subject)[2])[-1]


def outcome(trial, change):
    """Both runs of a device that leaves change(expected, the trial's inputs, its own poison)."""
    given = [b for b, e in zip(trial.before, trial.expected, strict=True) if e is None]
    runs = []
    for poison in POISONS:
        memories = []
        for before, expected, param in zip(
            trial.before, trial.expected, trial.launch.kernel.params, strict=True
        ):
            fresh = poisoned(param.type, before.shape, poison)
            data = before if expected is None else change(expected, given, fresh)
            zone = poison_word(param.type, poison) * (GUARD_BYTES // param.type.bytes)
            memories.append(Memory(np.array(data, before.dtype), zone, zone))
        runs.append(Ran(tuple(memories), (0.0,)))
    return runs


MUTANTS = {
    "zeros": lambda want, given, fresh: np.zeros_like(want),
    "constant": lambda want, given, fresh: np.full_like(want, 2.5e-6),
    "copy": lambda want, given, fresh: np.resize(given[0], want.shape),
    "shifted": lambda want, given, fresh: np.roll(want, 1) if want.size > 1 else want + 1,
    "one off": lambda want, given, fresh: np.nextafter(want, np.float32(np.inf)),
    "stale": lambda want, given, fresh: fresh,
    "half": lambda want, given, fresh: np.where(np.arange(want.size) % 2, want, fresh),
}


@pytest.mark.parametrize("name", graphs())
def test_every_mutant_is_rejected(name):
    trial = last_trial(graphs()[name])
    assert check_emit([trial], [outcome(trial, lambda want, *_: want)], "c")[1] == []
    for mutant, change in MUTANTS.items():
        (finding,) = check_emit([trial], [outcome(trial, change)], "c")[1]
        stale = mutant in ("stale", "half")
        assert finding.verdict is (Verdict.UNWRITTEN if stale else Verdict.WRONG), mutant


class Mutant(HostC):
    """A host whose compiler stores something else."""

    stored = "0.0f"

    def compile(self, kernels):
        return tuple(self._mutated(k) for k in kernels)

    def _mutated(self, kernel):
        target = next(p.name for p in kernel.params if p.writable) + "_b["
        lines = emit(kernel).splitlines()
        changed = [self._line(t) if t.strip().startswith(target) else t for t in lines]
        return self.compile_text(kernel, "\n".join(changed), f"{kernel.name}_k")

    def _line(self, line):
        return f"{line.split(' = ')[0]} = {self.stored};" if self.stored else ""


@pytest.mark.parametrize("stored", ["0.0f", "1.0f", "x_b[0]", ""])
def test_a_mutated_text_is_blamed_on_the_emitter(stored, tmp_path, monkeypatch):
    device = Mutant(CompilerOptions(cache=tmp_path))
    device.stored = stored
    monkeypatch.setattr(ladder, "open_backend", lambda name: device)
    x = np.random.default_rng(0).standard_normal(8).astype(np.float32)
    graph = tg.Graph(y=tg.exp(tg.input("x", (8,))))
    (report,) = verify_batch([Task(graph=graph, inputs={"x": x})])
    device.close()
    assert [(f.rung, f.verdict) for f in report.findings] == [
        (Rung.EMIT, Verdict.WRONG if stored else Verdict.UNWRITTEN)
    ]
