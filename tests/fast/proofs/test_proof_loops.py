"""The linear program of a comprehension has a row per array, with the loops that index it."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tang as tg
from tang.errors import ProofError
from tang.proofs import LinearProgram, loop_program

ONE, ZERO = Fraction(1), Fraction(0)


def node(make):
    """The last comprehension of a graph."""
    return make().nodes[-1]


def matmul():
    i, j, k = tg.dims(i=4, j=5, k=6)
    a, b = tg.input("a", (4, 6)), tg.input("b", (6, 5))
    return tg.Graph(o=tg.compute("o", [i, j], tg.sum(a[i, k] * b[k, j], k)))


def shifted():
    i, x = tg.dim("i", 4), tg.input("x", (9,))
    return tg.Graph(o=tg.compute("o", i, x[i + 0] * x[i + 1] * x[2 * i]))


def scalar():
    i, x, c = tg.dim("i", 4), tg.input("x", (4,)), tg.input("c", ())
    return tg.Graph(o=tg.compute("o", (), tg.sum(x[i] * c[()], i)))


def convolution():
    i, k, x, w = tg.dim("i", 4), tg.dim("k", 3), tg.input("x", (6,)), tg.input("w", (3,))
    return tg.Graph(o=tg.compute("o", i, tg.sum(x[i + k] * w[k], k)))


def test_a_matrix_product_has_three_arrays_of_two_loops():
    lp = loop_program(node(matmul))
    assert lp.objective == lp.limits == (ONE,) * 3
    assert set(lp.rows) == {(ONE, ONE, ZERO), (ONE, ZERO, ONE), (ZERO, ONE, ONE)}


@pytest.mark.parametrize("make", [shifted, scalar], ids=["shifted", "scalar"])
def test_one_loop_is_one_row(make):
    assert loop_program(node(make)) == LinearProgram((ONE,), ((ONE,),), (ONE,))


def test_a_coordinate_of_two_loops_is_refused():
    with pytest.raises(ProofError, match="not one loop"):
        loop_program(node(convolution))


def test_a_gather_is_refused():
    def gather():
        i, x = tg.dim("i", 4), tg.input("x", (9,))
        at = tg.input("at", (4,), "index")
        return tg.Graph(o=tg.compute("o", i, x[at[i]]))

    with pytest.raises(ProofError, match="gathered"):
        loop_program(node(gather))
