"""Mutants of emitters and devices are found on each language, by name, and nothing else is."""

from __future__ import annotations

import pytest

from tang.errors import DeviceError
from tang.fuzz import Options, run_campaign
from tang.fuzz.mutants import mutant_named
from tang.fuzz.mutants.power import PowerOptions, run_power
from tang.verify import Verdict
from tang.verify.backends import open_backend


def _runs(backend: str) -> bool:
    try:
        open_backend(backend)
    except DeviceError:
        return False
    return True


def _backends() -> tuple[str, ...]:
    found = tuple(b for b in ("c", "glsl", "cuda") if _runs(b))[:2]
    if len(found) < 2:
        pytest.skip("fewer than two languages run here")
    return found


@pytest.mark.parametrize("name", ["quotient-turned-over", "download-stale", "barriers-dropped"])
def test_a_mutant_is_found_on_two_languages_and_its_kernel_is_named(name):
    backends = _backends()
    options = PowerOptions(
        seeds=(1,), mutants=(mutant_named(name),), backends=backends, examples=60, jobs=2
    )
    report = run_power(options)
    assert {t.backend for t in report.trials} == set(backends)
    assert all(t.exact for t in report.trials), report.to_text()
    assert report.ok


def test_a_kernel_that_a_compiler_refuses_is_named():
    if not _runs("cuda"):
        pytest.skip("CUDA does not run here")
    mutants = (mutant_named("symbols-shifted"),)
    report = run_power(PowerOptions(seeds=(1,), mutants=mutants, backends=("cuda",)))
    assert report.trials[0].kernel, report.to_text()
    assert report.ok


def test_without_a_mutant_two_languages_find_nothing():
    report = run_campaign(Options(backends=_backends(), examples=20, seed=1))
    assert report.ok, report.to_text()
    assert report.count(Verdict.UNSUPPORTED) + report.count(Verdict.UNDECIDED) <= 1
