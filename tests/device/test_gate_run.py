"""The gate on small projects: exit codes, the cache's swap test, reports, revisions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from tang.verify import backends
from tang.verify.gate import ConfigError, Gate, cases, read_config, run, run_gate

MODEL = """
import tang as tg
i, k = tg.dims("i k")
A = tg.input("A", (4, {n}))
graph = tg.Graph(tg.compute("{name}", (i,), tg.sum(A[i, k] * {factor}, over=k)))
"""
CONFIG = """
[tool.tang.verify]
graphs = ["models/*.py"]
cache = ".tang"
"""


def model(n=8, name="s", factor=2):
    return MODEL.format(n=n, name=name, factor=factor)


@pytest.fixture
def project(tmp_path, host):
    """A project of two programs; needs a compiler."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "one.py").write_text(model())
    (tmp_path / "models" / "two.py").write_text(model(5, "t", 3))
    (tmp_path / "pyproject.toml").write_text(CONFIG)
    return tmp_path


def gate(project, **options):
    return run_gate(Gate(config=read_config(project / "pyproject.toml"), **options))


def command(project, *arguments):
    """A finished `tang-verify` in the project's folder."""
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", "tang.cli.gate", *arguments],
        cwd=project, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def git(project, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=project, check=True, capture_output=True)


@pytest.fixture
def committed(project):
    """The same in a repository with one commit."""
    (project / ".gitignore").write_text(".tang\n")
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    return project


# --- the cache ------------------------------------------------------------------------------------


def test_unchanged_programs_are_not_run_again(project, monkeypatch):
    first = gate(project)
    assert (first.ok, first.hits, len(first.reports)) == (True, 0, 2)
    monkeypatch.setattr(run, "_one", lambda packed: pytest.fail(f"ran {packed[0]}"))
    second = gate(project)
    assert (second.ok, second.hits) == (True, 2)
    assert [r.results for r in second.reports] == [r.results for r in first.reports]


def test_a_program_that_moves_is_still_unchanged(project):
    gate(project)
    (project / "models" / "one.py").rename(project / "models" / "three.py")
    found = gate(project)
    assert found.hits == 2
    assert [r.name for r in found.reports] == ["models/three.py:graph", "models/two.py:graph"]


SWAPS = {
    "constant of the same name": lambda p: (p / "models/one.py").write_text(model(factor=7)),
    "extent": lambda p: (p / "models/one.py").write_text(model(n=9)),
    "swapped files' contents do hit": lambda p: None,
    "seed": lambda p: (p / "pyproject.toml").write_text(CONFIG + "seeds = [1]\n"),
    "budget": lambda p: (p / "pyproject.toml").write_text(CONFIG + "budget = {rel = 1}\n"),
    "schedule": lambda p: (
        (p / "s.json").write_text('{"version": 1, "default": {"split": 2}}'),
        (p / "pyproject.toml").write_text(CONFIG + 'schedule = "s.json"\n'),
    ),
}


@pytest.mark.parametrize("what", SWAPS)
def test_whatever_a_result_depends_on_misses_when_swapped(project, what):
    gate(project)
    SWAPS[what](project)
    changed = {"constant of the same name": 1, "extent": 1, "swapped files' contents do hit": 0}
    assert gate(project).hits == 2 - changed.get(what, 2)


def test_another_flag_of_the_compiler_misses(project, monkeypatch):
    gate(project)
    device = backends.open_backend("c", quick=False)
    monkeypatch.setattr(type(device), "identity", property(lambda self: ("cc", "-O3")))
    assert gate(project).hits == 0


def test_another_tang_misses(project, monkeypatch):
    gate(project)
    monkeypatch.setattr(cases, "tang_identity", lambda: "another")
    assert gate(project).hits == 0


def test_another_kernel_text_of_the_same_program_misses(project, monkeypatch):
    gate(project)
    usual = cases.texts
    monkeypatch.setattr(
        cases, "texts", lambda *a: {n: t + "/* changed */" for n, t in usual(*a).items()}
    )
    assert gate(project).hits == 0


def test_a_device_that_does_not_say_what_it_is_keeps_nothing(project, monkeypatch):
    device = backends.open_backend("c", quick=False)
    monkeypatch.setattr(type(device), "identity", property(lambda self: None))
    assert gate(project).hits == 0
    found = gate(project)
    assert found.hits == 0
    assert found.notes == ("backend c does not say its version: nothing is cached",)


def test_failures_are_run_again_and_no_cache_runs_all(project):
    text = CONFIG + '[[tool.tang.verify.overrides]]\ngraphs = ["models/two.py"]\nbudget = {}\n'
    (project / "models" / "two.py").write_text(model(5, "t", "A[i, k]"))
    (project / "pyproject.toml").write_text(text)
    assert [r.ok for r in gate(project).reports] == [True, False]
    assert gate(project).hits == 1
    assert gate(project, cached=False).hits == 0


# --- the command ----------------------------------------------------------------------------------


def test_the_command_passes_with_0_and_fails_with_1(project):
    done = command(project)
    assert done.returncode == 0, done.stderr
    assert "models/one.py:graph: PASS" in done.stdout
    assert "tang-verify: 2 of 2 verifications passed" in done.stderr
    (project / "models" / "two.py").write_text(model(5, "t", "A[i, k]"))
    (project / "pyproject.toml").write_text(CONFIG + "budget = {}\n")
    done = command(project, "--jobs", "2")
    assert done.returncode == 1
    assert "OVER_BUDGET at rung round" in done.stdout
    done = command(project, "--allow", "over_budget")
    assert done.returncode == 0


def test_reports_of_every_format_are_written(project):
    reports = ["--report", "sarif=s.sarif", "--report", "github=g.txt", "--report", "json=j.json"]
    done = command(project, "--format", "junit", "--output", "j.xml", *reports)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    root = ElementTree.parse(project / "j.xml").getroot()  # noqa: S314 — our own text
    assert [s.get("name") for s in root] == ["models/one.py:graph", "models/two.py:graph"]
    assert json.loads((project / "s.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((project / "j.json").read_text())["ok"] is True
    assert (project / "g.txt").read_text() == ""


def test_named_programs_need_no_configuration(project):
    (project / "pyproject.toml").unlink()
    done = command(project, "models/one.py")
    assert done.returncode == 0, done.stderr
    assert "1 of 1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.py",), "ConfigError: no file /"),
        (("models/none.py",), "ConfigError: models/none.py has no graph: name another file"),
        (("k.cu",), "k.cu is a kernel, not a program"),
        (("k.cu",), "tang verify k.cu --spec GRAPH --launch LAUNCH.json (docs/foreign.md)"),
        (("models/one.py:nope",), "no graph named 'nope'; graphs there: graph"),
        (("--config", "x.toml"), "no file x.toml"),
        (("--backends", "zzz"), "unknown backend 'zzz'"),
        (("--format", "pdf"), "unknown format 'pdf'"),
        (("--report", "sarif"), "--report takes FORMAT=FILE"),
        (("--allow", "FINE"), "unknown verdict 'FINE'"),
        (("--output", "no/such/folder"), "cannot write no/such/folder"),
        (("--since", "HEAD"), "git rev-parse failed"),
    ],
)
def test_a_wrong_request_exits_with_2(project, arguments, words):
    (project / "models" / "none.py").write_text("NOTHING = 0\n")
    (project / "k.cu").write_text("__global__ void k() {}\n")
    done = command(project, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('graphs = ["none/*.py"]', "pattern 'none/*.py' names no graph"),
        ('graphs = ["models/*.py"]\nschedule = "s.json"', "cannot read the schedule"),
        (
            'graphs = ["models/*.py"]\noverrides = [{graphs = ["old.py"], seeds = [1]}]',
            "'old.py' matches none of the programs",
        ),
        ('graphs = ["models/*.py"]\nbackends = ["fortran"]', "unknown backend 'fortran'"),
    ],
)
def test_a_configuration_that_names_nothing_exits_with_2(project, line, words):
    (project / "pyproject.toml").write_text(f"[tool.tang.verify]\n{line}\n")
    done = command(project)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_symbol_without_a_size_is_an_error_and_each_binding_a_case(project):
    text = 'import tang as tg\ni = tg.dims("i")\nX = tg.input("X", ("n",))\n'
    text += 'graph = tg.Graph(tg.compute("y", (i,), X[i] + 1))\n'
    (project / "models" / "one.py").write_text(text)
    done = command(project)
    assert done.returncode == 2
    assert "models/one.py:graph needs a size for n: add sizes = [{n = 16}]" in done.stderr
    sizes = "sizes = [{n = 0}, {n = 1}, {n = 65, unused = 3}]\nseeds = [0, 1]\n"
    (project / "pyproject.toml").write_text(CONFIG + sizes)
    names = [r.name for r in gate(project).reports]
    assert names[:2] == ["models/one.py:graph [n=0, seed 0]", "models/one.py:graph [n=0, seed 1]"]
    assert len(names) == 8


def test_what_a_program_prints_is_no_part_of_the_report(project):
    (project / "models" / "one.py").write_text("print('hello')\n" + model())
    done = command(project, "--format", "json")
    assert json.loads(done.stdout)["ok"] is True
    assert "hello" in done.stderr


def test_a_program_that_exits_does_not_pass_the_gate(project):
    (project / "models" / "one.py").write_text(model() + "import sys\nsys.exit(0)\n")
    done = command(project)
    assert done.returncode == 2
    assert "one.py: SystemExit" in done.stderr


def test_no_backend_at_all_is_an_error_unless_asked_for(project, monkeypatch):
    monkeypatch.setattr(cases, "available", lambda: {"c": "no compiler"})
    with pytest.raises(ConfigError, match="no backend runs here"):
        gate(project, backends=("available",))
    (project / "pyproject.toml").write_text(CONFIG + "backends = []\n")
    found = gate(project)
    assert (found.ok, found.hits) == (True, 0)


# --- revisions ------------------------------------------------------------------------------------


def test_without_a_change_nothing_is_verified(committed):
    found = gate(committed, since="HEAD")
    assert (found.reports, found.skipped, found.ok) == ((), 2, True)
    assert found.diff is not None
    assert found.diff.summary() == "0 of 2 kernels changed"
    assert found.summary() == (
        "nothing was verified: 2 of 2 programs are as they were at HEAD (0 of 2 kernels changed); "
        "the installed tang made both sides: its own changes show only without --since"
    )


def test_where_the_revision_has_a_tang_of_its_own_the_summary_says_so(committed):
    found = replace(gate(committed, since="HEAD"), one_tang=False)
    assert found.summary().endswith(
        "; a change of tang that leaves kernels alone shows only without --since"
    )


def test_only_changed_programs_are_verified_and_their_diff_is_shown(committed):
    (committed / "models" / "one.py").write_text(model(factor=7))
    done = command(committed, "--since", "HEAD")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 kernels changed\n  changed  models/one.py:graph s.sum [c]" in done.stderr
    assert "1 of 1 verifications passed; 1 of 2 programs are as they were" in done.stderr
    assert [line[0] for line in done.stderr.splitlines() if "7.0f" in line] == ["+"]


def test_new_and_lost_programs_are_added_and_removed_kernels(committed):
    (committed / "models" / "one.py").rename(committed / "models" / "three.py")
    found = gate(committed, since="HEAD")
    assert [r.name for r in found.reports] == ["models/three.py:graph"]
    assert found.diff.summary() == "2 of 3 kernels changed (1 added, 1 removed)"


def test_a_tighter_budget_is_a_change_too(committed):
    (committed / "pyproject.toml").write_text(CONFIG + "budget = {rel = 1e-3}\n")
    found = gate(committed, since="HEAD")
    assert (len(found.reports), found.diff.summary()) == (2, "0 of 2 kernels changed")


def test_a_helper_module_counts_as_of_its_revision(committed):
    (committed / "models" / "parts.py").write_text("FACTOR = 4\n")
    text = model().replace("import tang as tg", "import tang as tg\nfrom parts import FACTOR")
    (committed / "models" / "one.py").write_text(text.replace("* 2", "* FACTOR"))
    git(committed, "add", "-A")
    git(committed, "commit", "-qm", "second")
    (committed / "models" / "parts.py").write_text("FACTOR = 5\n")
    found = gate(committed, since="HEAD")
    assert found.diff.changed == ("models/one.py:graph s.sum [c]",)
    assert any("parts.py has no graph" in n for n in found.notes)


@pytest.mark.parametrize("revision", ["nope", "--output=x"])
def test_an_unknown_revision_is_an_error(committed, revision):
    with pytest.raises(ConfigError, match=f"--since {revision}: git knows no such commit"):
        gate(committed, since=revision)


def test_a_project_in_a_new_folder_is_new_as_a_whole(committed):
    inner = committed / "inner"
    (inner / "models").mkdir(parents=True)
    (inner / "models" / "one.py").write_text(model())
    (inner / "pyproject.toml").write_text(CONFIG)
    found = gate(inner, since="HEAD")
    assert (len(found.reports), found.diff.summary()) == (1, "1 of 1 kernels changed (1 added)")


def test_a_program_that_was_broken_then_is_verified_now(committed):
    (committed / "models" / "one.py").write_text("raise ValueError('no')\n")
    git(committed, "commit", "-qam", "broken")
    (committed / "models" / "one.py").write_text(model())
    found = gate(committed, since="HEAD")
    assert [r.name for r in found.reports] == ["models/one.py:graph"]
    assert found.diff.summary() == "1 of 2 kernels changed (1 added)"
