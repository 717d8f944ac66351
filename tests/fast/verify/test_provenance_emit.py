"""The rung `emit` says what a wrong buffer holds."""

from __future__ import annotations

import numpy as np

import tang as tg
from tang.device.base import GUARD_BYTES, Memory, Ran
from tang.device.storage import poison_word, poisoned
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify import Task, Verdict
from tang.verify.rung_emit import POISONS, check_emit, trials
from tang.verify.rung_expand import check_expand
from tang.verify.subject import prepare


def chain():
    """Two kernels over one input: y = 2x, then z = y² + 1."""
    x = tg.input("x", (40,))
    i = tg.dims("i")
    y = tg.compute("y", (i,), x[i] * 2)
    z = tg.compute("z", (i,), y[i] * y[i] + 1)
    x_data = np.random.default_rng(3).standard_normal(40).astype(np.float32)
    schedule = Schedule(default=NodeSchedule())
    subject = prepare(Task(graph=tg.Graph(y, z), inputs={"x": x_data}, schedule=schedule))
    return trials(subject, check_expand(subject)[2])


def judged(tests, last):
    """The report of a device that leaves last(expected, poisoned) in the last launch's output."""
    outcomes = []
    for trial in tests:
        runs = []
        for poison in POISONS:
            memories = []
            for before, expected, param in zip(
                trial.before, trial.expected, trial.launch.kernel.params, strict=True
            ):
                fresh = poisoned(param.type, before.shape, poison)
                right = before if expected is None else expected
                wrong = trial is tests[-1] and expected is not None
                data = last(expected, fresh) if wrong else right
                zone = poison_word(param.type, poison) * (GUARD_BYTES // param.type.bytes)
                memories.append(Memory(np.array(data, before.dtype), zone, zone))
            runs.append(Ran(tuple(memories), (0.0,)))
        outcomes.append(runs)
    return check_emit(tests, outcomes, "c")[1]


def test_a_right_device_has_no_finding():
    assert not judged(chain(), lambda want, fresh: want)


def test_the_output_of_an_earlier_kernel_is_recognised():
    tests = chain()
    earlier = tests[0].expected[-1]
    (finding,) = judged(tests, lambda want, fresh: earlier)
    assert finding.verdict is Verdict.WRONG
    assert "a copy of y" in finding.message


def test_a_missing_tail_is_described():
    def last(want, fresh):
        out = want.copy()
        out[-8:] = fresh[-8:]
        return out

    (finding,) = judged(chain(), last)
    assert finding.verdict is Verdict.UNWRITTEN
    assert "the last 8 elements of 40: still poison" in finding.message


def test_a_shifted_answer_is_described():
    (finding,) = judged(chain(), lambda want, fresh: np.roll(want, 1))
    assert "the right answer shifted by +1 elements" in finding.message
