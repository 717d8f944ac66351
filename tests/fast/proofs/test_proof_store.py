"""What is kept is used as it was saved, or not at all."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from tang.proofs import gate, sources
from tang.proofs.gate import Report, Theorem
from tang.proofs.lean import Lean, Message, Outcome
from tang.proofs.store import Built, Store

SAID = Outcome(0, (Message("information", 3, 0, "so"),), "", {3: 0.5}, ((3, 0, 4, 2),))
THEOREM = Theorem("Tang.t", "True", (), "Tang.X", 5, 0.0, "explicit", "source")


class Once(Lean):
    """A Lean that compiles everything to the same bytes, and counts how often."""

    runs: list[str] = []  # noqa: RUF012

    def compile(self, file, root, path, output=None, timeout=0.0):
        Once.runs.append(file.read_text())
        assert file.relative_to(root).parts == ("Tang", "X.lean")
        output.write_bytes(b"compiled")
        return SAID


@pytest.fixture
def kept(tmp_path):
    """A store that has a module, the arguments to ask for it, and its entry's file."""
    Once.runs.clear()
    store = Store(tmp_path / "store")
    stage = tmp_path / "stage"
    (stage / "Tang").mkdir(parents=True)
    m = sources.Module("Tang.X", tmp_path / "X.lean", "prelude\n", ())

    def ask():
        return store.module("key", m, stage, Once((), "", ""), fresh=False)

    assert ask() == Built(SAID, pytest.approx(0, abs=5))
    return ask, store.folder / "key.json"


def test_a_module_that_is_kept_comes_back_as_it_was(kept):
    ask, _ = kept
    assert ask().outcome == SAID
    assert len(Once.runs) == 1


def test_the_text_that_was_checked_is_compiled_whatever_its_file_holds_by_then(kept, tmp_path):
    ask, entry = kept
    entry.unlink()
    (tmp_path / "X.lean").write_text("prelude\naxiom bad : False\n")
    assert ask().outcome == SAID
    assert Once.runs == ["prelude\n", "prelude\n"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("[3, 0, 4, 2]", "[3, 0, 4]"), ('"commands"', '"cmds"'), ('"olean"', '"other"'),
     ('"severity"', '"sev"'), ('{"3": 0.5}', "7"), ("{", "[")],
    ids=["short", "field", "digest", "message", "times", "broken"],
)  # fmt: skip
def test_an_entry_of_another_form_is_built_again_and_does_not_crash(kept, old, new):
    ask, entry = kept
    assert old in entry.read_text()
    entry.write_text(entry.read_text().replace(old, new))
    assert ask().outcome == SAID
    assert len(Once.runs) == 2


NO_ENTRIES = {
    "deep": lambda file: file.write_text("[" * 100_000 + "]" * 100_000),
    "deep mapping": lambda file: file.write_text('{"a":' * 100_000 + "1" + "}" * 100_000),
    "no text": lambda file: file.write_bytes(b"\xff\xfe"),
    "folder": lambda file: file.mkdir(),
    "full folder": lambda file: (file / "more").mkdir(parents=True),
}


@pytest.mark.parametrize("name", NO_ENTRIES)
@pytest.mark.parametrize("part", ["key.json", "key.olean"])
def test_what_lies_in_the_place_of_an_entry_is_no_entry_and_is_written_over(kept, name, part):
    ask, entry = kept
    (entry.parent / part).unlink()
    NO_ENTRIES[name](entry.parent / part)
    assert ask().outcome == SAID
    assert len(Once.runs) == 2
    assert ask().outcome == SAID
    assert len(Once.runs) == 2


@pytest.mark.parametrize("name", NO_ENTRIES)
def test_a_verdict_is_saved_where_something_else_lay(tmp_path, name):
    store = Store(tmp_path)
    NO_ENTRIES[name](tmp_path / "key.json")
    assert store.load("key") is None
    store.save("key", {"proved": True})
    assert store.load("key") == {"proved": True}


def test_a_folder_in_the_place_of_a_compiled_module_is_built_over(kept, tmp_path):
    ask, _ = kept
    place = tmp_path / "stage" / "Tang" / "X.olean"
    place.unlink()
    (place / "more").mkdir(parents=True)
    assert ask().outcome == SAID
    assert place.read_bytes() == b"compiled"


@pytest.mark.parametrize(
    "fault",
    [{"ok": False}, {"problems": ["x"]}, {"theorems": []}, {"theorems": [{"name": "x"}]},
     {"theorems": 3}, {"ok": 1}],
    ids=["not-ok", "problems", "nothing", "fields", "number", "one"],
)  # fmt: skip
def test_a_saved_verdict_that_is_no_verdict_is_not_believed(fault):
    report = Report((), (THEOREM,), {}, "Lean")
    data = report.to_data()
    assert gate._from_data(data).theorems == (THEOREM,)
    assert asdict(gate._from_data(data)) == {**asdict(report), "cached": True}
    assert gate._from_data({**data, **fault}) is None
