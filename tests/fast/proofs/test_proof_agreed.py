"""What was agreed on is compared theorem by theorem and line by line, with place and cure."""

from __future__ import annotations

import json

import pytest

from tang.proofs import agreed, gate, sources
from tang.proofs.gate import Theorem

TEXTS = {
    "Core": "prelude\n",
    "Syntax": "prelude\nimport Tang.Core\n",
    "X": "prelude\nimport Tang.Core\nnamespace Tang\nvariable {K : Type}\ndef d := 0\nend Tang\n",
    "Audit": "prelude\nimport Tang.Core\n",
}
THEOREM = Theorem("Tang.t", "∀ a, a = a", (), "Tang.X", 5, 0.0, "explicit", "source")


@pytest.fixture
def project(tmp_path):
    """A project of four small files, agreed on as it is."""
    (tmp_path / "Tang").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "Tang" / f"{name}.lean").write_text(text)
    found = sources.read(tmp_path)
    (tmp_path / agreed.FILE).write_text(json.dumps(agreed.snapshot(found, [THEOREM])))
    assert list(agreed.problems(found, [THEOREM])) == []
    return found


def changed(project, name, old, new):
    """What is said once a file holds something else."""
    file = project.root / "Tang" / f"{name}.lean"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return "\n".join(agreed.problems(sources.read(project.root), [THEOREM]))


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("Core", "prelude", "prelude\n", "Tang/Core.lean:1: foundation of Tang.Core: changed; "),
        ("X", "Type}", "Type 1}",
         "Tang/X.lean:4: outline of Tang.X: changed from `variable {K : Type}` to "),
        ("X", "def d", "open A\ndef d", "Tang/X.lean:5: outline of Tang.X: `open A` is new; "),
        ("X", "variable {K : Type}\n", "", "`variable {K : Type}` is gone; "),
        ("X", "d := 0", "d := 1", "Tang/X.lean:5: outline of Tang.X: changed from `def Tang.d"),
    ],
    ids=["foundation", "variable", "open", "gone", "definition"],
)  # fmt: skip
def test_what_theorems_rest_on_is_shown_with_its_line_and_the_cure(project, name, old, new, said):
    text = changed(project, name, old, new)
    assert said in text
    assert agreed.CURE in text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("statement", "∀ a, True", "changed from\n    ∀ a, a = a\n  to\n    ∀ a, True"),
     ("explicit", "other", "changed in an instance or another argument that is not printed"),
     ("source", "other", "changed in how it is written, or in its variables or options"),
     ("name", "Tang.u", "statements of Tang.u: not in the snapshot")],
    ids=["statement", "explicit", "source", "name"],
)  # fmt: skip
def test_a_theorem_that_states_something_else_is_shown(project, field, value, said):
    fields = {f: getattr(THEOREM, f) for f in Theorem.__dataclass_fields__}
    text = "\n".join(agreed.problems(project, [Theorem(**{**fields, field: value})]))
    assert said in text
    assert text.startswith("Tang/X.lean:5: ")


def test_a_theorem_or_a_file_that_is_gone_is_named(project):
    assert "Tang.t: in the snapshot, but gone" in "\n".join(agreed.problems(project, []))
    (project.root / "Tang" / "X.lean").unlink()
    left = sources.read(project.root)
    assert "outline of Tang.X: in the snapshot, but gone" in "\n".join(agreed.problems(left, []))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"foundation": 1}', "\x00"],
                         ids=["empty", "nothing", "list", "number", "zero"],
)  # fmt: skip
def test_a_snapshot_that_cannot_be_read_is_a_fault_and_no_crash(project, text):
    (project.root / agreed.FILE).write_text(text)
    (said,) = agreed.problems(project, [THEOREM])
    assert said.startswith("statements.json:1: cannot be read")


def test_names_that_lean_makes_up_are_numbered_and_stay_apart():
    one = "[inst._@.Tang.A.12._hygCtx._hyg.3 : P] [inst._@.Tang.A.12._hygCtx._hyg.4 : P], "
    two = one.replace("12", "77")
    first, second = "inst._@.Tang.A.12._hygCtx._hyg.3", "inst._@.Tang.A.12._hygCtx._hyg.4"
    assert gate._renamed(one + first) == gate._renamed(two + first.replace("12", "77"))
    assert gate._renamed(one + first) != gate._renamed(one + second)
