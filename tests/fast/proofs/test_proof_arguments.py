"""What the proofs are given is read strictly: each wrong argument is named, with what to give."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tang.errors import ProofError
from tang.ir.monoids import SUM
from tang.proofs import LinearProgram, check_certificate, check_combine, dojo, loop_program, prove

ONE = Fraction(1)
LP = LinearProgram((ONE,), ((ONE,),), (ONE,))
NO_LISTS = (None, 10**5000, 0.5, "ab", {1: 2}, {1}, iter([ONE]), object)
NO_NUMBERS = (None, 0.5, "1", 1j, (ONE,), [])
NO_FOLDERS = (None, 10**5000, 0.5, ("a",), object)
WRONG_KINDS = (None, 10**5000, Fraction(1, 10**5000), "SUM" * 1000, (), LP, object, SUM)


def named(values):
    """Values with ids that stay the same."""
    return [pytest.param(v, id=f"{i}-{type(v).__name__}") for i, v in enumerate(values)]


@pytest.mark.parametrize("wrong", named(NO_LISTS))
@pytest.mark.parametrize("place", ["objective", "rows", "limits"])
def test_a_part_of_a_program_that_is_no_tuple_is_named(place, wrong):
    parts = {"objective": (ONE,), "rows": ((ONE,),), "limits": (ONE,)}
    assert LinearProgram(**parts) == LP
    with pytest.raises(ProofError, match=rf"^{place} is .*: give a tuple"):
        LinearProgram(**parts | {place: wrong})


@pytest.mark.parametrize("wrong", named(NO_LISTS))
def test_a_row_that_is_no_tuple_is_named(wrong):
    with pytest.raises(ProofError, match=r"^rows\[1\] is .*: give a tuple"):
        LinearProgram((ONE,), ((ONE,), wrong), (ONE, ONE))


@pytest.mark.parametrize("wrong", named(NO_LISTS))
@pytest.mark.parametrize("place", ["primal", "dual"])
def test_a_solution_that_is_no_tuple_is_named(place, wrong):
    given = {"primal": (ONE,), "dual": (ONE,)}
    with pytest.raises(ProofError, match=rf"^{place} is .*: give a tuple"):
        check_certificate(LP, **given | {place: wrong})


@pytest.mark.parametrize("wrong", named(NO_NUMBERS))
def test_a_number_that_is_no_rational_is_named_with_its_place(wrong):
    with pytest.raises(ProofError, match=r"^objective\[1\] is .*: write a Fraction"):
        LinearProgram((ONE, wrong), (), ())
    with pytest.raises(ProofError, match=r"^rows\[0\]\[1\] is .*: write a Fraction"):
        LinearProgram((ONE, ONE), ((ONE, wrong),), (ONE,))
    with pytest.raises(ProofError, match=r"^limits\[0\] is .*: write a Fraction"):
        LinearProgram((ONE,), ((ONE,),), (wrong,))
    with pytest.raises(ProofError, match=r"^primal\[0\] is .*: write a Fraction"):
        check_certificate(LP, (wrong,), (ONE,))
    with pytest.raises(ProofError, match=r"^dual\[0\] is .*: write a Fraction"):
        check_certificate(LP, (ONE,), (wrong,))


@pytest.mark.parametrize("size", [10**5000, Fraction(1, 10**5000)], ids=["large", "small"])
@pytest.mark.parametrize("place", ["objective", "limits", "rows"])
def test_a_number_too_long_to_write_is_named_with_its_place(place, size):
    parts = {"objective": (ONE,), "rows": ((ONE,),), "limits": (ONE,)}
    wrong = ((size,),) if place == "rows" else (size,)
    with pytest.raises(ProofError, match=rf"^{place}(\[0\])+: a number of more than 4000 digits"):
        LinearProgram(**parts | {place: wrong})


def test_a_program_does_not_change_with_the_lists_that_it_was_made_of():
    objective, rows, limits = [1], [[1]], [1]
    lp = LinearProgram(objective, rows, limits)
    assert lp == LP
    objective.append(1)
    rows[0][0] = float("nan")
    rows.append([1])
    limits.clear()
    assert lp == LP
    assert (lp.objective, lp.rows, lp.limits) == ((ONE,), ((ONE,),), (ONE,))
    assert hash(lp) == hash(LP)


@pytest.mark.parametrize("wrong", named(WRONG_KINDS))
@pytest.mark.parametrize(
    ("function", "kind"),
    [(check_combine, "Monoid"), (loop_program, "Comprehension"),
     (lambda v: check_certificate(v, (ONE,), (ONE,)), "LinearProgram")],
    ids=["check_combine", "loop_program", "check_certificate"],
)  # fmt: skip
def test_an_argument_of_another_kind_is_named_with_what_to_give(function, kind, wrong):
    wrong = None if type(wrong).__name__ == kind else wrong
    with pytest.raises(ProofError, match=rf"takes a {kind}, not .*: (take|write)"):
        function(wrong)


@pytest.mark.parametrize("wrong", named(NO_FOLDERS))
def test_what_is_no_folder_is_named(wrong):
    for function in (prove, dojo.export, dojo.repository, lambda v: dojo.theorem(v, "Tang.x")):
        with pytest.raises(ProofError, match="takes a folder, not"):
            function(wrong)


def test_a_folder_may_be_given_as_text(tmp_path):
    (tmp_path / "full").write_text("")
    with pytest.raises(ProofError, match="is not empty"):
        dojo.export(str(tmp_path))
