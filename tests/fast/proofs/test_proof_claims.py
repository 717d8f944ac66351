"""A claim holds what its fields are for: none can bring a command of its own to Lean."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tang.errors import ProofError
from tang.proofs import check_certificate, check_combine, session
from tang.proofs.lean import Message, Outcome
from tang.proofs.session import Claim, Definition

CLEAN = Claim(
    "total", "variable {K : Type u} [CommSemiring K]", "(x y : K)", "x + y", "K", "y + x",
    ("exact add_comm x y",), "a sum", ("Tang.Sum",),
)  # fmt: skip

DEFINED = Definition("total", "(x : Nat)", "x + x", "Nat", "a sum", ("Tang.Sum",))


@pytest.fixture
def asked(monkeypatch):
    """No Lean runs: what reaches it is an error of its own."""

    def find():
        raise LookupError("Lean was asked")

    monkeypatch.setattr(session, "find", find)


def test_a_plain_claim_reaches_lean(asked):
    with pytest.raises(LookupError):
        session.check([CLEAN])


@pytest.mark.parametrize("field", ["scope", "binders", "body", "type", "goal"])
@pytest.mark.parametrize(
    "text",
    ["\ninstance : LE K := x", " theorem bad : True := trivial", "; exact h", " sorry", "#eval x",
     "\u2028", ' "x"', " in", "@[simp]"],
    ids=["line", "theorem", "second", "sorry", "eval", "separator", "string", "in", "attribute"],
)  # fmt: skip
def test_a_field_that_says_more_is_refused_before_lean_is_asked(asked, field, text):
    wrong = session.check([CLEAN, replace(CLEAN, **{field: getattr(CLEAN, field) + text})])
    assert wrong.subject == "a sum"
    assert "may not be part of a claim" in wrong.text


def test_a_tactic_or_a_name_that_says_more_is_refused_too(asked):
    tactics = (*CLEAN.tactics, "end\naxiom bad : False")
    assert "a claim" in session.check([replace(CLEAN, tactics=tactics)]).text
    assert "plain name" in session.check([replace(CLEAN, name="a : P\naxiom b")]).text


@pytest.mark.parametrize("field", ["binders", "body", "type"])
@pytest.mark.parametrize(
    "text", ["\naxiom bad : False", " sorry", "; exact h", "@[simp]"],
    ids=["line", "sorry", "second", "attribute"],
)  # fmt: skip
def test_a_definition_holds_no_command_either(asked, field, text):
    with pytest.raises(LookupError):
        session.check([DEFINED, CLEAN])
    wrong = session.check([replace(DEFINED, **{field: getattr(DEFINED, field) + text}), CLEAN])
    assert wrong.subject == "a sum"
    assert "may not be part of a claim" in wrong.text


def outcome(*texts, status=1, noise=""):
    """What Lean said of the line of the theorem of CLEAN, severities aside."""
    text = session.source([CLEAN])
    line = next(n for n, x in enumerate(text.splitlines(), 1) if "exact add_comm" in x)
    return text, Outcome(status, tuple(Message("error", line, 2, t) for t in texts), noise)


GIVEN_UP = (
    "maximum recursion depth has been reached\nuse `set_option maxRecDepth <num>`",
    "(deterministic) timeout at `isDefEq`, maximum number of heartbeats (200000) has been reached",
    "(kernel) deep recursion detected",
    "failed to synthesize instance of type class\n  Ring.Reify (t0 :: List.nil)",
)
REFUSED = ("Tactic `decide` proved that the proposition is false", "unsolved goals",
           "failed to synthesize instance of type class\n  Exponential K ?m.2")  # fmt: skip


@pytest.mark.parametrize("said", REFUSED, ids=["decided", "unsolved", "class"])
def test_what_lean_refuses_names_its_subject(said):
    wrong = session._judge([CLEAN], *outcome(said))
    assert (wrong.component, wrong.undecided) == ("a sum", False)
    assert wrong.message.startswith("Lean refuses a sum: ")


@pytest.mark.parametrize("said", GIVEN_UP, ids=["depth", "time", "kernel", "instances"])
def test_what_lean_gives_up_is_neither_proved_nor_refuted_and_blames_nothing(said):
    wrong = session._judge([CLEAN], *outcome(said))
    assert (wrong.component, wrong.undecided) == ("", True)
    assert wrong.message.startswith("neither proved nor refuted, too large for Lean's limits: ")
    assert session._judge([CLEAN], *outcome(REFUSED[0], said)).component == "a sum"


@pytest.mark.parametrize(
    ("status", "noise", "undecided"),
    [(-1, "Lean took longer than 300 s", True), (134, "Stack overflow detected. Aborting.", True),
     (-9, "", True), (1, "unknown option", False)],
    ids=["time", "stack", "killed", "option"],
)  # fmt: skip
def test_a_lean_that_did_not_end_well_proves_nothing(status, noise, undecided):
    wrong = session._judge([CLEAN], *outcome(status=status, noise=noise))
    assert wrong.undecided == undecided
    assert "Lean failed: " in wrong.text


@pytest.mark.parametrize("given", [None, "sum"])
def test_what_is_no_monoid_and_no_program_is_refused_by_name(given):
    with pytest.raises(ProofError, match=f"takes a Monoid, not {given!r}"):
        check_combine(given)
    with pytest.raises(ProofError, match=f"takes a LinearProgram, not {given!r}"):
        check_certificate(given, (), ())
