"""The sample kernels: the correct ones pass, each faulty one is judged and explained."""

from __future__ import annotations

import json
import runpy
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tang.verify import Verdict, verify_kernel
from tang.verify.foreign.targets import _VERDICTS

FOLDER = Path(__file__).parents[2] / "examples" / "kernels"
ROWS = json.loads((FOLDER / "catalogue.json").read_text())
CORRECT = [r for r in ROWS if not r["verdicts"]]
FAULTY = [r for r in ROWS if r["verdicts"]]


@pytest.fixture(scope="module")
def specs():
    return runpy.run_path(str(FOLDER / "specs.py"))


def report_of(row, specs):
    kernel = FOLDER / row["kernel"]
    if kernel.suffix in (".cu", ".metal") and shutil.which("g++") is None:
        pytest.skip("SIMT needs g++")
    if kernel.suffix == ".cl" and find_spec("pyopencl") is None:
        pytest.skip("no pyopencl")
    return verify_kernel(
        kernel.read_text(),
        spec=specs[row["spec"]],
        launch=FOLDER / row["launch"],
        backend="simt" if kernel.suffix == ".cu" else None,
        deadline=3 if "TIMEOUT" in row["verdicts"] else 20,
        name=row["kernel"],
    )


@pytest.mark.parametrize("row", CORRECT, ids=lambda r: r["kernel"])
def test_a_correct_sample_passes(row, specs):
    report = report_of(row, specs)
    assert report.ok, report.to_text()
    assert report.results[0].elements > 0


@pytest.mark.parametrize("row", FAULTY, ids=lambda r: r["kernel"])
def test_a_faulty_sample_has_its_verdict_and_its_cause(row, specs):
    report = report_of(row, specs)
    assert report.findings, report.to_text()
    assert report.findings[0].verdict.value in row["verdicts"], report.to_text()
    assert row["words"] in report.to_text()


def test_the_catalogue_holds_five_correct_and_ten_faulty_cuda_kernels_at_least():
    assert len(CORRECT) >= 5
    assert sum(r["kernel"].endswith(".cu") for r in FAULTY) >= 10
    listed = {r["kernel"] for r in ROWS}
    assert listed == {
        p.name for p in FOLDER.iterdir() if p.suffix in (".c", ".cl", ".cu", ".metal")
    }


def test_every_kind_of_the_checks_has_a_verdict():
    from tang.device.simt import Kind

    assert _VERDICTS.keys() == set(Kind)
    assert Verdict.PASS not in _VERDICTS.values()
