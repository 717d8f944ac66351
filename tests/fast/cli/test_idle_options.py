"""No option is taken and then ignored: what a request leaves without effect exits with 2.

Every option of every command has a place here in every mode: it is used, or it is refused.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import typer

from tang import cli
from tang.cli import gate

ROOT = Path(__file__).resolve().parents[3]
MATMUL = str(ROOT / "examples" / "matmul.py")
ALWAYS = {"--help", "--json"}
VALUES = {
    "--rules": "none", "--math": "native", "--backends": "c", "--on": "simt", "--language": "cuda",
    "--size": "n=3", "--seeds": "1,2", "--rotate": "2", "--rung": "lower", "--table": "t.json",
    "--seed": "1", "--patience": "5", "--out": "there", "--jobs": "1", "--seconds": "5",
    "--rule": "argmax", "--samples": "2", "--percentile": "99",
}  # fmt: skip
FOREIGN = ("verify", "k.cu", "--spec", MATMUL, "--launch", "k.json")
OF_BUDGETS = (
    "--precision --rel --abs --ulp --c --percentile --budget --inputs --samples --seed --range "
    "--size --certified --whole --tune --rules --strict --html"
)
MODES = {
    "verify-graph": (
        ("verify", MATMUL),
        "--language --on",
        "--backends --seed --size --allow --math --rules --strict --budget --spec --launch",
    ),
    "verify-without-rules": (
        ("verify", MATMUL, "--rules", "none"),
        "--language --on --strict",
        "--backends --seed --size --allow --math --rules --budget --spec --launch",
    ),
    "verify-kernel": (
        FOREIGN,
        "--backends --math --rules --strict",
        "--language --on --seed --size --allow --budget --spec --launch",
    ),
    "show": (("show", MATMUL), "--size", "--plan --trace --strict"),
    "show-plan": (("show", MATMUL, "--plan"), "--size --trace --json", "--plan --strict"),
    "show-json": (("show", MATMUL, "--json"), "--size --strict --plan", "--trace"),
    "show-trace": (("show", MATMUL, "--trace"), "--plan", "--size --strict --trace"),
    "emit": (("emit", MATMUL), "", "--target"),
    "budget": (("budget", MATMUL, "--rel", "1"), "", OF_BUDGETS),
    "budget-of-data": (
        ("budget", MATMUL, "--rel", "1", "--inputs", "x.npz"),
        "--samples --size",
        OF_BUDGETS.replace("--samples ", "").replace("--size ", ""),
    ),
    "budget-certified": (
        ("budget", MATMUL, "--rel", "1", "--certified"),
        "--percentile",
        OF_BUDGETS.replace("--percentile ", ""),
    ),
    "budget-without-rules": (
        ("budget", MATMUL, "--rel", "1", "--rules", "none"),
        "--strict",
        OF_BUDGETS.replace("--strict ", ""),
    ),
    "tolerance": (
        ("tolerance", MATMUL),
        "",
        "--precision --inputs --samples --seed --range --size --math",
    ),
    "tolerance-of-data": (
        ("tolerance", MATMUL, "--inputs", "x.npz"),
        "--samples --seed --size",
        "--precision --inputs --range --math",
    ),
    "rules": (("rules",), "", ""),
    "prove": (("prove",), "", "--rule --fresh"),
    "prove-json": (("prove", "--json"), "--rule", "--fresh"),
    "atoms": (("atoms",), "--seconds --out", "--selftest --only"),
    "atoms-selftest": (("atoms", "--selftest"), "", "--selftest --only --seconds --out"),
    "doctor": (("doctor",), "", ""),
    "fuzz": (
        ("fuzz", "--backends", "none"),
        "--seeds --rotate --rung --table",
        "--backends --examples --seed --jobs --seconds --patience --out --coverage --power",
    ),
    "fuzz-coverage": (
        ("fuzz", "--coverage", "--backends", "none"),
        "--seeds --rotate --rung --table --jobs --seconds --patience --out --power",
        "--backends --examples --seed --coverage",
    ),
    "fuzz-power": (
        ("fuzz", "--power", "--backends", "c"),
        "--seed --patience --out --coverage",
        "--backends --examples --jobs --seconds --power --seeds --rotate --rung --table",
    ),
}
"""By mode: a request, the options that it refuses, and those that it uses."""

REFUSED = [(mode, option) for mode, (_, refused, _) in MODES.items() for option in refused.split()]


@pytest.fixture
def tang(monkeypatch, capsys, tmp_path):
    """Runs a command line in an empty folder: the exit code and what stderr says."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, main=cli.main):
        monkeypatch.setattr(sys, "argv", ["tang", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(("mode", "option"), REFUSED, ids=[f"{m}{o}" for m, o in REFUSED])
def test_an_option_without_effect_exits_with_2_and_names_the_option_and_the_cure(
    tang, mode, option
):
    request = MODES[mode][0]
    code, text = tang(*request, option, *([VALUES[option]] if option in VALUES else []))
    assert code == 2, text
    assert re.search(rf"{option}\b", text)
    assert "has no effect" in text or "ask for one of them" in text
    assert "leave" in text or "ask for" in text


@pytest.mark.parametrize("mode", MODES)
def test_every_option_is_used_or_refused_in_every_mode(mode):
    request, refused, used = MODES[mode]
    command = typer.main.get_command(cli.app).commands[request[0]]
    known = {max(p.opts, key=len) for p in command.params if p.param_type_name == "option"}
    listed = {*refused.split(), *used.split()}
    assert not set(refused.split()) & set(used.split())
    assert listed | ALWAYS == known | ALWAYS


def test_every_command_has_its_modes_here():
    commands = typer.main.get_command(cli.app).commands
    assert {request[0] for request, _, _ in MODES.values()} == set(commands)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", MATMUL, "--size", "n=3"), "--size n has no effect: no such symbolic extent"),
        (("show", MATMUL, "--trace", "--size", "n=3"), "--size n has no effect"),
        (("verify", "a.py", "b.py", "--size", "m=3"), "known: n"),
        (("verify", "a.py", "--size", "n=³"), "--size takes SYMBOL=NUMBER"),
        (("verify", "a.py", "--size", "n=" + "9" * 5000), "at most 19 digits"),
        (("verify", "a.py", "--size", "n=3", "--size", "n=4"), "--size n is given twice"),
        ((*FOREIGN, "--size", "n=3"), "--size n has no effect"),
        (("verify", MATMUL, "--allow", "PASS"), "--allow PASS has no effect"),
        (("verify", MATMUL, "--budget", "rel"), "--budget takes rel=1e-3,abs=1e-6"),
        (("fuzz", "--power", "--backends", "none", "--rung", "emit"), "plants nothing"),
        (("fuzz", "--power", "--backends", "m:f"), "--backends m:f has no effect with --power"),
    ],
    ids=[
        "size-of-numbers", "size-in-a-trace", "size-of-no-program", "odd-digit", "long-size",
        "size-twice", "size-of-a-spec",
        "allowed-pass", "half-a-budget", "power-on-nothing", "power-of-others",
    ],
)  # fmt: skip
def test_a_value_without_effect_exits_with_2_and_says_what_would_have_one(tang, arguments, words):
    for name, extent in (("a", "'n'"), ("b", "4")):
        Path(f"{name}.py").write_text(
            f"import tang as tg\ni = tg.dims('i')\nx = tg.input('x', ({extent},))\n"
            "graph = tg.Graph(y=tg.compute('y', i, x[i] + 1))\n"
        )
    Path("m.py").write_text("def f(): ...\n")
    code, text = tang(*arguments)
    assert (code, words in text) == (2, True), text


def test_a_size_may_belong_to_one_program_of_several(tang):
    for name, extent in (("a", "'n'"), ("b", "4")):
        Path(f"{name}.py").write_text(
            f"import tang as tg\ni = tg.dims('i')\nx = tg.input('x', ({extent},))\n"
            "graph = tg.Graph(y=tg.compute('y', i, x[i] + 1))\n"
        )
    assert tang("verify", "a.py", "b.py", "--size", "n=3", "--backends", "")[0] == 0


@pytest.mark.parametrize(("budget", "code"), [("rel=1e-3", 0), ("rel=1e-12", 1)])
def test_a_budget_counts_for_graphs_too(tang, budget, code):
    arguments = ("verify", MATMUL, "--backends", "", "--budget", budget)
    assert tang(*arguments)[0] == code


def test_the_gate_refuses_a_missing_configuration_and_reports_that_replace_each_other(tang):
    code, text = tang(MATMUL, "--config", "pyproject.toml", main=gate.main)
    assert (code, "no file pyproject.toml" in text) == (2, True)
    code, text = tang(MATMUL, "--report", "json=a", "--report", "sarif=./a", main=gate.main)
    assert (code, "two reports go to" in text) == (2, True)
    code, text = tang(MATMUL, "--allow", "PASS", main=gate.main)
    assert code == 2
