"""Every emitter and device passes the conformance suite; a planted fault is named."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tang.device.base import Crash
from tang.emit import unit
from tang.emit.dialect import infix
from tang.errors import DeviceError
from tang.kernel import ir as k
from tang.verify import Verdict
from tang.verify.backends import BACKENDS, open_backend
from tang.verify.conformance import conformance_cases, run_conformance


def named(*names):
    """Cases by name."""
    found = [c for c in conformance_cases() if c.name in names]
    assert len(found) == len(names)
    return found


@pytest.mark.gpu
@pytest.mark.parametrize("name", BACKENDS)
def test_the_backend_conforms(name):
    try:
        device = open_backend(name)
    except DeviceError as e:
        if name == "c" and os.environ.get("CI") == "true":
            raise
        pytest.skip(f"{name} does not run here: {str(e).splitlines()[0]}")
    report = run_conformance(device)
    assert report.ok, report.to_text()
    assert report.results[0].elements > 100_000


def faulty(monkeypatch, **changes):
    """C with another dialect."""
    monkeypatch.setattr(unit, "DIALECTS", {"c": replace(unit.DIALECTS["c"], **changes)})


def test_an_operation_printed_as_another_is_named(host, monkeypatch):
    cases = named("i32 add sub mul", "f32 comparisons", "grids of 2^k ± 1 threads")
    assert run_conformance(host, cases).ok
    operations = dict(unit.DIALECTS["c"].operations)
    operations["sub", k.I32] = infix("+", 4)
    faulty(monkeypatch, operations=operations)
    (finding,) = run_conformance(host, cases).findings
    assert (finding.verdict, finding.kernel) == (Verdict.WRONG, "i32 add sub mul")
    assert finding.message.startswith("i32 add sub mul (sub): out is not what the kernel IR says")


def test_a_missing_row_is_a_finding_because_no_gap_excuses_it(host, monkeypatch):
    cases = named("i32 min max", "u8 min max band")
    operations = dict(unit.DIALECTS["c"].operations)
    del operations["min", k.I32]
    faulty(monkeypatch, operations=operations)
    report = run_conformance(host, cases)
    (finding,) = report.findings
    assert (finding.verdict, finding.kernel) == (Verdict.UNSUPPORTED, "i32 min max")
    assert not report.ok
    assert report.results[0].note == "1 of 2 cases"


def test_a_text_that_does_not_compile_is_a_finding_of_its_case_alone(host, monkeypatch):
    cases = named("i32 min max", "u8 min max band", "bool")
    operations = dict(unit.DIALECTS["c"].operations)
    operations["min", k.U8] = infix("no such operator", 4)
    faulty(monkeypatch, operations=operations)
    (finding,) = run_conformance(host, cases).findings
    assert (finding.verdict, finding.kernel) == (Verdict.WRONG, "u8 min max band")
    assert "refused a kernel" in finding.message


class Broken:
    """A device whose every job crashes."""

    def __init__(self, device):
        self.device = device
        self.name, self.language = device.name, device.language
        self.profile, self.limits = device.profile, device.limits

    def compile(self, kernels):
        return self.device.compile(kernels)

    def run(self, jobs, deadline):
        return tuple(Crash("SIGSEGV") for _ in jobs)


def test_a_crash_is_a_verdict(host):
    (finding,) = run_conformance(Broken(host), named("bool")).findings
    assert (finding.verdict, finding.kernel) == (Verdict.CRASH, "bool")
