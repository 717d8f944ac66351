"""The source check reads Lean text as it is meant: comments, namespaces, forbidden words."""

from __future__ import annotations

import pytest

from tang.errors import ProofError
from tang.proofs import lean, sources

HEAD = "prelude\nimport Tang.Core\nnamespace Tang\n"


def module(tmp_path, text):
    return sources.Module("Tang.X", tmp_path / "X.lean", text, ("Tang.Core",))


def test_the_project_has_no_problem():
    assert list(sources.problems(sources.read())) == []


def test_imports_come_before_importers():
    seen = set()
    for m in sources.read().modules:
        assert set(m.imports) <= seen
        seen.add(m.name)


def test_nested_comments_are_blanked_and_all_else_keeps_its_place():
    text = "a /- x /- y -/\nz -/ b -- c\nd"
    assert sources.strip_comments(text) == "a" + 13 * " " + "\n     b" + 5 * " " + "\nd"


def test_a_string_may_hold_what_looks_like_a_comment():
    assert sources.strip_comments('"/- \\" --" x') == '"/- \\" --" x'


def test_declarations_carry_their_namespace(tmp_path):
    text = HEAD + "namespace A\ntheorem t : True := trivial\nend A\nsection\ndef d := 1\nend\n"
    found = [(d.kind, d.name) for d in sources.declarations(module(tmp_path, text))]
    assert found == [("theorem", "Tang.A.t"), ("def", "Tang.d")]


def test_the_digest_of_a_declaration_ignores_white_space(tmp_path):
    one, two = (module(tmp_path, f"{HEAD}def d :={s}1\n") for s in (" ", "\n    "))
    digests = [d.digest for m in (one, two) for d in sources.declarations(m)]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("word", sources.WORDS)
def test_each_forbidden_word_is_seen_and_not_in_a_comment(word, tmp_path):
    good = f"{HEAD}theorem t : True := by\n  trivial -- {word}\nend Tang\n"
    assert list(sources._body_problems(module(tmp_path, good))) == []
    for planted in (word, f"exact 0{word}", f"exact x.{word}"):
        bad = good.replace("trivial", planted)
        found = sources._body_problems(module(tmp_path, bad))
        assert (5, f"forbidden word `{word}`; docs/proofs.md says what to write instead") in found


def test_a_wheel_with_another_library_is_refused(tmp_path):
    library = tmp_path / "libleanshared.so"
    library.write_bytes(b"something else")
    with pytest.raises(ProofError, match="sha256"):
        lean.check_library(lean.Lean((), "", "", str(library)))


def test_output_that_is_no_message_is_noise():
    outcome = lean._outcome(0, "internal exception #3\n", "")
    assert not outcome.clean
    assert "internal exception" in outcome.noise


def test_times_of_the_profiler_are_taken_out_of_the_output():
    line = '{"severity": "information", "pos": {"line": 7, "column": 0}, "data": "%s"}'
    out = line % "elaboration took 2ms\\ntype checking took 1.5s\\n"
    err = "import took 3ms\ncumulative profiling times:\n\telaboration 2ms\n"
    outcome = lean._outcome(0, out, err)
    assert outcome.clean
    assert outcome.messages == ()
    assert outcome.seconds == {7: 1.502}


def test_what_only_looks_like_a_time_stays_a_message():
    line = '{"severity": "error", "pos": {"line": 7, "column": 0}, "data": "it took 2ms\\n"}'
    assert not lean._outcome(0, line, "").clean
    assert not lean._outcome(0, "", "stack overflow, after it took 2ms in all\n").clean
