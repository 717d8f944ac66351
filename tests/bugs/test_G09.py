"""G09: a combine that is not associative is refused (triton#3485)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import pytest

from tang.errors import GraphError
from tang.ir.expr import Expr, apply, real
from tang.ir.laws import check_laws
from tang.ir.monoids import AFFINE_SCAN, simple


def decayed(a: Expr, b: Expr) -> Expr:
    return apply("add", apply("mul", real(0.5), a), b)


def test_serial_and_tree_differ_for_the_reported_case():
    def c(a: float, b: float) -> float:
        return 0.5 * a + b

    assert reduce(c, [1.0] * 4) == 1.875
    assert c(c(1.0, 1.0), c(1.0, 1.0)) == 2.25


def test_a_decayed_sum_is_refused_with_a_counterexample():
    monoid = simple("decayed", decayed, real(0))
    message = r"breaks (identity|associativity) in acc: .*x = lift\(1\.0\)"
    with pytest.raises(GraphError, match=message):
        check_laws(monoid)


def test_a_decayed_sum_without_identity_breaks_associativity():
    monoid = replace(simple("decayed", decayed, real(0)), identity=None)
    with pytest.raises(GraphError, match=r"= 1\.75, but combine\(x, combine\(y, z\)\) = 2\.0"):
        check_laws(monoid)


def test_the_same_sum_with_its_decay_in_the_state_is_accepted():
    check_laws(AFFINE_SCAN)
