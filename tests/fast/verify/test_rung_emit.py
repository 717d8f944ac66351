"""The rung `emit` judges outcomes: the clean one passes, each planted fault has its verdict.

No device runs: outcomes are made by hand, as a device would report them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tang.device.base import GUARD_BYTES, Crash, Memory, OutOfMemory, Ran, Timeout
from tang.device.storage import poison_word, poisoned
from tang.ir.extent import poly
from tang.kernel.ir import F32, Kernel, Param
from tang.kernel.plan import Launch
from tang.verify.rung_emit import POISONS, Trial, check_emit
from tang.verify.verdict import Verdict

KERNEL = Kernel("k", (Param("x", F32, False), Param("y", F32, True)), (), (), origin="Y")
X = np.arange(4, dtype=np.float32)
Y = np.array([1.0, np.nan, -0.0, 4.0], np.float32)
TRIAL = Trial(Launch(KERNEL, ("x", "y"), (), poly(4)), (X, Y), (None, Y), (), 1)


def memory(data, poison, before=None):
    """A buffer with its zones full of poison."""
    zone = poison_word(F32, poison) * (GUARD_BYTES // 4)
    return Memory(np.array(data, np.float32), before or zone, zone)


def ran(x=X, y=(Y, Y), before=None):
    """Both runs of a device that left these contents."""
    return [
        Ran((memory(x, p), memory(data, p, before)), (0.0,))
        for data, p in zip(y, POISONS, strict=True)
    ]


def verdict(runs):
    """The verdict of one trial, None for none."""
    result, findings = check_emit([TRIAL], [runs], "c")
    assert result.elements == 4
    return findings[0].verdict if findings else None


def test_the_right_bits_pass():
    assert verdict(ran()) is None


def test_another_nan_payload_passes():
    other = Y.copy()
    other.view(np.uint32)[1] = 0xFFC12345
    assert verdict(ran(y=(other, other))) is None


@pytest.mark.parametrize(("at", "value"), [(0, 1.0000001), (2, 0.0), (1, 0.0), (3, np.nan)])
def test_one_other_bit_is_wrong(at, value):
    bad = Y.copy()
    bad[at] = value
    assert verdict(ran(y=(bad, bad))) is Verdict.WRONG


def test_poison_left_in_both_runs_is_unwritten():
    runs = [np.where([False, False, False, True], poisoned(F32, (4,), p), Y) for p in POISONS]
    assert verdict(ran(y=runs)) is Verdict.UNWRITTEN


def test_two_different_runs_are_nondeterministic():
    assert verdict(ran(y=(Y, Y + 1))) is Verdict.NONDETERMINISTIC


def test_a_changed_input_is_a_stray_write():
    assert verdict(ran(x=X + 1)) is Verdict.STRAY_WRITE


def test_a_changed_guard_zone_is_a_stray_write():
    assert verdict(ran(before=b"\0" * GUARD_BYTES)) is Verdict.STRAY_WRITE


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Crash("SIGSEGV"), Verdict.CRASH),
        (OutOfMemory("needs 9 TB"), Verdict.CRASH),
        (Timeout(10.0), Verdict.TIMEOUT),
    ],
)
def test_a_kernel_that_does_not_end_well_has_a_verdict(outcome, expected):
    assert verdict([ran()[0], outcome]) is expected


def test_a_finding_names_kernel_node_and_backend():
    bad = [replace(r, memories=(r.memories[0], r.memories[0])) for r in ran()]
    (finding,) = check_emit([TRIAL], [bad], "c")[1]
    assert (finding.kernel, finding.node, finding.backend) == ("k", "Y", "c")
    assert "the first at [0]" in finding.detail
