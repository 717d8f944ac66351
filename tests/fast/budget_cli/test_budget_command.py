"""`tang budget` and `tang tolerance`: sentences, exit codes, machine forms and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tang.ir import to_json
from tang.schedule import schedule_from_json

ROOT = Path(__file__).resolve().parents[3]
MATMUL = str(ROOT / "examples" / "matmul.py")


def test_safe_exits_with_0_and_opens_with_one_sentence(tang):
    code, out, _ = tang("budget", MATMUL, "--precision", "f32", "--rel", "1e-3", "--abs", "1e-4")
    assert code == 0
    first, blank, head, *_ = out.splitlines()
    assert first.startswith("SAFE on 1 random input set: in f32 every output keeps rel=0.001")
    assert blank == ""
    for column in ("format", "error", "bound", "ratio", "mostly", "bias", "overflow", "verdict"):
        assert column in head


def test_over_budget_exits_with_1_and_names_node_and_cure(tang):
    code, out, _ = tang("budget", MATMUL, "--precision", "bf16", "--rel", "1e-3", "--abs", "1e-4")
    assert code == 1
    assert out.startswith("NOT SAFE: in bf16, C at [")
    assert "No single node in f32 cures it (all tried); f32 everywhere does." in out


def test_certified_takes_nothing_but_proof(tang):
    unit = ("--range", "A=-1:1", "--range", "B=-1:1", "--certified", "--samples", "0")
    assert tang("budget", MATMUL, "--abs", "1e-2", *unit)[0] == 0
    code, out, _ = tang("budget", MATMUL, "--abs", "1e-5", *unit)
    assert code == 1
    assert out.startswith("NOT CERTIFIED: in f32, the bound of C takes")


def test_the_json_form_is_json_and_has_a_row_per_tensor(tang):
    code, out, _ = tang("budget", MATMUL, "--precision", "bf16", "--abs", "1e-3", "--json")
    data = json.loads(out, parse_constant=pytest.fail)
    assert (code, data["ok"]) == (1, False)
    assert [r["name"] for r in data["rows"]] == ["A", "B", "C"]
    assert data["cure"]["everywhere"] is True


def test_inputs_come_from_a_file_and_precision_too(tang, matmul):
    Path("g.json").write_text(to_json(matmul))
    np.savez("in.npz", A=np.ones((6, 40)), B=np.ones((40, 5)))
    Path("p.json").write_text('{"version": 1, "nodes": {"C": {"accumulate": "f16"}}}')
    code, out, _ = tang(
        "budget", "g.json", "--precision", "p.json", "--inputs", "in.npz", "--abs", "0"
    )
    assert code == 0, out
    assert "1 given input set" in out


def test_budgets_may_be_given_by_name(tang):
    loose = ("--abs", "100", "--budget", "C:abs=1e-9")
    code, out, _ = tang("budget", MATMUL, "--precision", "bf16", *loose)
    assert code == 1
    assert "what abs=1e-09 allows" in out


def test_the_page_is_written_beside_the_text(tang):
    code, _, _ = tang("budget", MATMUL, "--abs", "1", "--html", "out.html")
    assert code == 0
    assert Path("out.html").read_text().startswith("<!DOCTYPE html>")
    assert [p.name for p in Path().iterdir()] == ["out.html"]


def test_tune_prints_the_front_and_gives_the_schedule(tang):
    arguments = ("budget", MATMUL, "--abs", "0.5", "--tune")
    code, out, _ = tang(*arguments)
    assert code == 0
    assert "kept    the inputs: f32 -> f16" in out
    assert "nothing: the start" in out
    found = json.loads(tang(*arguments, "--json")[1])
    assert schedule_from_json(json.dumps(found["schedule"])).default.storage.value == "f16"


def test_tune_refuses_inputs_that_are_no_numbers_and_names_what_a_proof_lacks(tang, matmul):
    Path("g.json").write_text(to_json(matmul))
    np.savez("in.npz", A=np.full((6, 40), np.nan), B=np.ones((40, 5)))
    arguments = ("budget", "g.json", "--tune", "--abs", "1", "--inputs", "in.npz")
    code, out, err = tang(*arguments)
    assert (code, out) == (2, "")
    assert "no element of C is a number in f64, with NaN in A (240 of 240 elements)" in err
    code, out, err = tang("budget", MATMUL, "--tune", "--certified", "--rel", "1e-2")
    assert (code, out) == (2, "")
    assert "give abs, and c for sums of inputs or ranges of inputs for the size of terms" in err


BAD = {
    "no-budget": ((), "give a budget"),
    "nan": (("--rel", "nan"), "rel must be a finite number"),
    "negative": (("--abs", "-1"), "abs must be a finite number"),
    "percentile-alone": (("--percentile", "99"), "--percentile has no effect without"),
    "percentile": (("--rel", "1", "--percentile", "0"), "percentile must be above 0"),
    "precision": (("--rel", "1", "--precision", "f12"), "unknown precision 'f12': one of"),
    "half-a-range": (("--rel", "1", "--range", "A=1"), "--range takes NAME=LO:HI"),
    "range-twice": (("--rel", "1", "--range", "A=0:1", "--range", "A=0:2"), "given twice"),
    "range-of-none": (("--rel", "1", "--range", "Q=0:1"), "'Q', which is no real input"),
    "half-a-budget": (("--budget", "C"), "--budget takes NAME:"),
    "budget-of-none": (("--budget", "D:rel=1"), "'D', which is no output or node: one of C"),
    "no-file": (("--rel", "1", "--inputs", "no.npz"), "no file no.npz"),
    "no-samples": (("--rel", "1", "--samples", "0"), "samples are 1 or more"),
    "no-place": (("--rel", "1", "--html", "no/where.html"), "cannot write there"),
    "a-folder": (("--rel", "1", "--html", "."), "this is a folder: name a file in it"),
    "size": (("--rel", "1", "--size", "n=3"), "--size n has no effect"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_wrong_request_exits_with_2_and_says_what_is_wrong(case, tang):
    arguments, words = BAD[case]
    code, out, err = tang("budget", MATMUL, *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("command", [("budget", "--rel", "1"), ("tolerance",)], ids=lambda c: c[0])
def test_more_samples_than_can_be_held_and_longer_seeds_exit_with_2(tang, command):
    name, *more = command
    huge = str(10**400)
    for option, words in (("--samples", "at most 100,000"), ("--seed", "at most 2^64 - 1")):
        code, out, err = tang(name, MATMUL, *more, option, huge)
        assert (code, out, words in err) == (2, "", True), err


def test_a_precision_that_names_a_missing_node_exits_with_2(tang):
    Path("p.json").write_text('{"version": 1, "nodes": {"Q": {}}}')
    code, _, err = tang("budget", MATMUL, "--rel", "1", "--precision", "p.json")
    assert code == 2
    assert "p.json: schedule names 'Q'; the graph has C" in err


def test_a_schedule_that_names_an_input_is_told_where_inputs_stand(tang):
    Path("p.json").write_text('{"version": 1, "nodes": {"A": {"storage": "f16"}}}')
    code, _, err = tang("budget", MATMUL, "--rel", "1", "--precision", "p.json")
    assert code == 2
    assert "p.json: schedule names 'A', which is an input" in err
    assert 'the format of an input stands under "inputs"' in err
    Path("p.json").write_text('{"version": 1, "inputs": {"A": {"storage": "f16"}}}')
    assert tang("budget", MATMUL, "--rel", "1", "--abs", "1", "--precision", "p.json")[0] == 0


def test_every_error_about_a_precision_file_names_it_once(tang):
    for text, words in (
        ("{}", 'version: it is missing: write "version": 1'),
        ('{"version": 1, "inputs": {"C": {}}}', "inputs['C']: no such input"),
        ('{"version": 1, "inputs": {"A": {"scale": {}}}}', "inputs['A'].scale: A is stored in f32"),
    ):
        Path("p.json").write_text(text)
        err = tang("budget", MATMUL, "--rel", "1", "--precision", "p.json")[2]
        assert f"p.json: {words}" in err
        assert err.count("p.json") == 1


WRONG = {
    "key": ('{"version": 1, "nodez": {}}', "unknown field 'nodez'"),
    "type": ('{"version": 1, "default": []}', "default: expected an object, not list"),
    "twice": ('{"version": 1, "default": {"storage": "f16", "storage": "f32"}}', "occurs twice"),
    "format": ('{"version": 1, "default": {"storage": "f17"}}', "default.storage: expected one"),
    "input": ('{"version": 1, "inputs": {"Q": {"storage": "e5m2"}}}', "inputs['Q']: no such input"),
    "half": ('{"version": 1,', "is no JSON"),
    "list": ("[]", "expected an object, not list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_precision_file_that_is_wrong_exits_with_2_and_names_the_place(case, tang):
    text, words = WRONG[case]
    Path("p.json").write_text(text)
    code, out, err = tang("budget", MATMUL, "--rel", "1", "--precision", "p.json")
    assert (code, out) == (2, "")
    assert words in err
    assert "p.json" in err or case == "input"


def test_tolerance_prints_formula_and_derivation(tang):
    code, out, _ = tang("tolerance", MATMUL)
    assert code == 0
    assert out.startswith("C (f32): |actual - f64| <= 7.63e-06 T + ")
    assert "a sum of 128 terms, 127 additions deep, in f32" in out
    (row,) = json.loads(tang("tolerance", MATMUL, "--precision", "bf16", "--json")[1])
    assert (row["output"], row["format"], row["kind"]) == ("C", "bf16", "shape")


def test_tolerance_takes_ranges_and_the_functions_of_a_language(tang):
    Path("g.py").write_text(
        "import tang as tg\ni = tg.dim('i', 4)\nx = tg.input('x', (4,))\n"
        "graph = tg.Graph(y=tg.compute('y', i, tg.exp(x[i] + 1.0)))\n"
    )
    options = ((), ("--math", "any"), ("--math", "cuda"), ("--math", "portable"))
    found = [
        json.loads(tang("tolerance", "g.py", "--range", "x=-1:1", *more, "--json")[1])[0]
        for more in options
    ]
    assert {t["kind"] for t in found} == {"range"}
    default, library, cuda, own = (t["atol"] for t in found)
    assert default == library > cuda > own
    assert tang("tolerance", "g.py", "--math", "fortran")[0] == 2


def test_help_teaches_both_commands(tang):
    for command in ("budget", "tolerance"):
        assert "Example" in tang(command, "--help")[1]
        assert f"tang {command}" in tang("--help")[1]


ATOMS = {
    "model": (("--only", "nope"), "names no model: there are"),
    "idle": (("--seconds", "3"), "--seconds has no effect without --selftest"),
    "nan": (("--selftest", "--seconds", "nan"), "give a number of seconds"),
    "negative": (("--selftest", "--seconds", "-1"), "give a number of seconds"),
    "folder": (("--selftest", "--out", "."), "this is a folder: name a file in it"),
    "nowhere": (("--selftest", "--out", "no/where.json"), "there is no folder no"),
}


@pytest.mark.parametrize("case", ATOMS)
def test_bad_options_of_atoms_exit_with_2_before_a_gpu_is_asked(case, tang):
    arguments, words = ATOMS[case]
    code, out, err = tang("atoms", *arguments)
    assert (code, out) == (2, "")
    assert words in err
