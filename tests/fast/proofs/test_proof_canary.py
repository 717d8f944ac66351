"""A `lean` that does not answer as Lean does is not believed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tang.proofs import canary
from tang.proofs.lean import Lean, Message, Outcome

QUESTIONS = {"truths": canary.truths, "falsehoods": canary.falsehoods}


def drawn():
    """The same questions in every run of the tests."""
    return random.Random(7)  # noqa: S311 (nothing secret)


def question(kind):
    return QUESTIONS[kind]("nonce", drawn())


def answers(asked):
    """What Lean says of a question, as far as it matters."""
    said = tuple(Message(severity, line, 0, text) for line, severity, text in asked.expected)
    return Outcome(asked.status, said, "")


def without(outcome, i):
    return replace(outcome, messages=outcome.messages[:i] + outcome.messages[i + 1 :])


@pytest.fixture
def fake(tmp_path):
    """A command in place of Lean: a line of shell; \"$FILE\" is the file that it is given."""

    def make(line):
        file = tmp_path / "lean"
        file.write_text(f"#!/bin/sh\nfor FILE; do :; done\n{line}\n")
        file.chmod(0o755)
        return Lean((str(file),), "fake", "fake")

    return make


@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_answers_of_lean_are_believed_and_each_that_is_missing_is_not(kind):
    asked = question(kind)
    assert canary.judge(asked, answers(asked)) is None
    for i in range(len(asked.expected)):
        assert "nothing" in canary.judge(asked, without(answers(asked), i))


@pytest.mark.parametrize("kind", QUESTIONS)
def test_another_answer_status_or_output_is_not_believed(kind):
    asked = question(kind)
    right = answers(asked)
    last = right.messages[-1]
    for wrong in (
        replace(right, status=1 - right.status),
        replace(right, noise="ok"),
        replace(right, messages=(*right.messages, last)),
        replace(right, messages=(*right.messages, replace(last, line=3))),
        replace(right, messages=(*right.messages[:-1], replace(last, text="yes"))),
        replace(right, messages=(*right.messages[:-1], replace(last, severity="warning"))),
    ):
        assert canary.judge(asked, wrong) is not None


def test_no_two_questions_are_the_same_and_some_sums_are_false():
    draw = drawn()
    first, second = (canary.falsehoods(n, draw) for n in ("a", "b"))
    assert [e[0] for e in first.expected] != [e[0] for e in second.expected]
    assert 3 < len(first.expected) < canary.SUMS


def test_what_is_expected_of_a_sum_is_arithmetic():
    for line, severity, says in question("truths").expected:
        if severity == "information" and " : " in says:
            left, right = says.split(" : ")[1].split(" = ")
            assert sum(map(int, left.split(" + "))) == int(right), line


@pytest.mark.parametrize(
    "line",
    ["exit 0", "exit 1", "echo ok", 'grep -n theorem "$FILE"',
     """echo '{"severity":"information","pos":{"line":5,"column":0},"data":"proved"}'"""],
    ids=["silent", "failing", "talking", "echoing", "by-rote"],
)  # fmt: skip
def test_a_fake_lean_is_named_with_its_place_and_the_cure(fake, tmp_path, line):
    found = list(canary.problems(fake(line), tmp_path))
    assert len(found) == 1
    assert found[0].startswith(f"{tmp_path}/lean: is not believed: of `#check @canary_")
    assert "pip install '.[proofs]' in a checkout" in found[0]
