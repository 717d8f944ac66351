"""docs/budget.md and docs/precision.md: their Python runs, their commands print what is shown.

A comment behind an expression, or on the lines below it, begins with what the expression gives; a
line below `$ tang …` is a line of the output, up to an ellipsis.
"""

from __future__ import annotations

import ast
import io
import json
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.report_inputs import drawn_inputs
from tang.emulator import (
    ATOMS,
    ErrorBudget,
    certify,
    check_certificate,
    evaluate,
    fda,
    round_to,
    shape_bound,
)
from tang.emulator.fda_check import judge
from tang.errors import TangError
from tang.ir.summation import Fda, Fma, Promote, Seq, Split, Tree, describe, to_data
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.schedule.sums import summation_of
from tang.testing import assert_within
from tang.toolchain import find_compiler

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = DOCS.parent / "examples"
PAGES = ("budget.md", "precision.md")


def blocks(page, kind):
    """The fenced blocks of a kind ("" for those without one), with the line that each begins at."""
    lines = (DOCS / page).read_text().split("\n")
    found, start, tag = [], None, ""
    for n, line in enumerate(lines):
        if line.startswith("```"):
            if start is None:
                start, tag = n, line[3:]
            else:
                found += [(start + 1, "\n".join(lines[start + 1 : n]))] if tag == kind else []
                start = None
    return found


def remarks(source, node):
    """The text of the comments that belong to a statement, its lines joined."""
    lines = source.split("\n")
    tail = lines[node.end_lineno - 1][node.end_col_offset :]
    found = [tail.partition("#")[2].strip()]
    for line in lines[node.end_lineno :]:
        if not line.startswith("#"):
            break
        found.append(line[1:].strip())
    return " ".join(t for t in found if t)


def spaced(text):
    return re.sub(r"\s+", " ", str(text)).strip()


def run(source, names, where):
    """Run a block; what its expressions give must be what its comments say."""
    checked = 0
    for node in ast.parse(source).body:
        code = ast.get_source_segment(source, node)
        printed = io.StringIO()
        with redirect_stdout(printed):
            if isinstance(node, ast.Expr):
                value = eval(compile(code, where, "eval"), names)  # noqa: S307 - our own page
                given = printed.getvalue() or value
            else:
                exec(compile(code, where, "exec"), names)  # noqa: S102 - our own page
                given = printed.getvalue() or None
        said = remarks(source, node)
        if said and given is not None:
            assert says(spaced(said), given), (where, code, given, said)
            checked += 1
    return checked


def says(said, given):
    """Whether a remark begins with a value as it is printed, or with a number near it."""
    if isinstance(given, dict | list):
        return bool(json.loads(said) == given)
    if any(said.startswith(spaced(t)) for t in (given, repr(given))):
        return True
    numbers = said[1:].partition("]")[0].split() if said[0] == "[" else [said.partition(",")[0]]
    try:
        told = np.array([float(n) for n in numbers])
        return bool(np.allclose(np.ravel(np.asarray(given, np.float64)), told, rtol=1e-5))
    except (TypeError, ValueError):
        return False


def in_bf16(a, b):
    """A product that stores its operands and its result in bf16."""
    return round_to(round_to(a, "bf16") @ round_to(b, "bf16"), "bf16")


def layers():
    """What the Python of the two pages is about."""
    i, j, d, k, r = tg.dims("i j d k r")
    a, b = tg.input("A", (64, 128)), tg.input("B", (128, 32))
    graph = tg.Graph(C=tg.compute("C", (i, j), tg.sum(a[i, d] * b[d, j], d)))
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((64, 128)), rng.standard_normal((128, 32))
    x = tg.input("x", (4, "n"))
    rows = tg.Graph(s=tg.compute("s", (i,), tg.sum(x[i, k], over=k)))
    return {
        "graph": graph, "a": left, "b": right, "my_kernel": in_bf16, "r": r,
        "node": rows.nodes[0],
    }  # fmt: skip


USUAL = {
    "np": np, "tg": tg, "round_to": round_to, "evaluate": evaluate, "ATOMS": ATOMS, "fda": fda,
    "Seq": Seq, "Tree": Tree, "Split": Split, "Promote": Promote, "Fda": Fda, "Fma": Fma,
    "to_data": to_data, "describe": describe, "Schedule": Schedule, "F16": F16,
    "NodeSchedule": NodeSchedule,
    "summation_of": summation_of, "certify": certify, "check_certificate": check_certificate,
    "shape_bound": shape_bound, "assert_within": assert_within, "judge": judge,
    "budget_report": budget_report, "Question": Question, "ErrorBudget": ErrorBudget,
}  # fmt: skip
EXPECTED = {"budget.md": 0, "precision.md": 20}
"""Comments that say what an expression gives, at least."""


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs_and_gives_what_it_says(page):
    names, checked = USUAL | layers(), 0
    for line, source in blocks(page, "python"):
        if "from_torch" in source:
            continue  # needs PyTorch: tests of imported modules have it
        if "tg.compile" in source and not compiles():
            continue
        checked += run(source, names, f"{page}:{line + 1}")
    assert checked >= EXPECTED[page]


def compiles():
    """Whether there is a C compiler."""
    try:
        return bool(find_compiler())
    except TangError:
        return False


def test_a_page_that_says_something_else_is_found():
    with pytest.raises(AssertionError):
        run("1 + 1  # 3", {}, "made up")
    assert run("1 + 1  # 2, as always", {}, "made up") == 1


def files():
    """The files that a page shows by `$ cat`."""
    found = {}
    for _, text in blocks("budget.md", ""):
        for part in ("\n" + text).split("\n$ cat ")[1:]:
            name, _, rest = part.partition("\n")
            found[name] = rest.split("\n$ ")[0]
    return found


def commands():
    """(line, command, lines that it must print) of the pages."""
    for page in PAGES:
        for line, text in blocks(page, ""):
            found = []
            for shown in text.split("\n"):
                if shown.startswith("$ tang "):
                    found.append((shown[2:], []))
                elif shown.startswith("$ "):
                    found.append(("", []))
                elif found and shown.strip() and not shown.startswith("…"):
                    found[-1][1].append(shown)
            yield from ((f"{page}:{line}", *f) for f in found if f[0] and SLOW not in f[0])


SLOW = "models.py"
"""Layers take seconds: tests/slow/test_docs_of_layers.py has them."""


@pytest.mark.parametrize(
    ("command", "wanted"), [c[1:] for c in commands()], ids=[c[0] for c in commands()]
)
def test_a_command_of_a_page_prints_what_is_shown(command, wanted, tang, tmp_path):
    (tmp_path / "examples").symlink_to(EXAMPLES)
    source = next(s for _, s in blocks("budget.md", "python") if "models.py" in s)
    (tmp_path / "models.py").write_text(source)
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    _, out, err = tang(*shlex.split(command)[1:])
    printed = {spaced(line) for line in out.split("\n")}
    for line in wanted:
        assert spaced(line) in printed, (line, out, err)


def test_the_files_of_a_page_are_shown():
    shown = files()
    assert set(shown) == {"precision.json", "plain.json", "scaled.json"}
    assert all(json.loads(text)["version"] == 1 for text in shown.values())


def test_inputs_are_drawn_as_the_page_says_by_the_dot_in_their_names():
    i, k = tg.dims("i k")
    x, w = tg.input("x", (64, 256)), tg.input("layer.w", (64, 256))
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k] * w[i, k], k)))
    page = (DOCS / "budget.md").read_text()
    assert "reals from N(0, 1), or as weights, N(0, 1/fan-in), where their name has a dot" in page
    drawn = drawn_inputs(graph, {}, {}, 0)
    assert np.std(drawn["x"]) == pytest.approx(1, rel=0.05)
    assert np.std(drawn["layer.w"]) == pytest.approx(1 / 16, rel=0.05)
