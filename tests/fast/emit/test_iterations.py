"""Rounds of loops: counted where scalars decide, nested ones multiplied."""

from __future__ import annotations

import pytest

from tang.device.iterations import check_iterations, iterations
from tang.errors import LimitError
from tang.kernel.ir import BOOL, I32, Const, For, If, Kernel, Let, Load, Op, Var

N, M, R, S = (Var(I32, n) for n in "nmrs")


def number(n):
    return Const(I32, n)


def op(name, a, b):
    return Op(I32, name, (a, b))


def kernel(*body):
    return Kernel("k", (), (N,), body, origin="node")


def test_nested_loops_multiply_and_neighbours_add():
    inner = For(S, number(0), number(10), ())
    assert iterations(kernel(For(R, number(2), N, (inner,)), inner), (5,)) == 3 * 11 + 10


def test_bounds_are_computed_from_scalars():
    half = Let(M, op("floordiv", op("add", N, number(1)), number(2)))
    assert iterations(kernel(half, For(R, number(0), op("min", M, number(7)), ())), (9,)) == 5


def test_what_data_decides_counts_once():
    data = Load(I32, "x", number(0))
    assert iterations(kernel(For(R, number(0), data, ())), (9,)) == 1


def test_of_two_branches_the_longer_counts():
    long, short = (For(R, number(0), number(n), ()) for n in (8, 3))
    assert iterations(kernel(If(Const(BOOL, True), (short,), (long,))), (0,)) == 8


def test_a_launch_beyond_the_limit_is_refused():
    loop = kernel(For(R, number(0), N, ()))
    check_iterations(loop, (65_535,), "llvmpipe")
    with pytest.raises(LimitError, match=r"'node'.*65536 times.*llvmpipe"):
        check_iterations(loop, (65_536,), "llvmpipe")
