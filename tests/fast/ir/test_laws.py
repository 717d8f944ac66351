"""The law check accepts every built-in monoid and refuses planted faults of each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tang.errors import GraphError
from tang.ir.derived import lt, select, sub
from tang.ir.exact import Evaluator
from tang.ir.expr import (
    INDEX,
    REAL,
    Expr,
    Sort,
    apply,
    arg,
    fold,
    index,
    iota,
    named,
    real,
    state,
    walk,
)
from tang.ir.laws import check_laws
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import (
    AFFINE_SCAN,
    ARGMAX,
    BUILTIN,
    LOGSUMEXP,
    MAX,
    MIN,
    ONLINE_SOFTMAX,
    SUM,
    WELFORD,
    product,
    simple,
    top_k,
)

MORE = (top_k(1), top_k(3), product(SUM, ARGMAX, WELFORD), product(AFFINE_SCAN, top_k(2)))


@pytest.mark.parametrize("monoid", [*BUILTIN.values(), *MORE], ids=lambda m: m.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_built_in_monoid_obeys_its_laws(monoid: Monoid, seed: int) -> None:
    check_laws(monoid, seed)


def matrix(commutative: bool) -> Monoid:
    """2×2 matrices under multiplication: a state with two axes and a fold."""
    left = state(0, 0, REAL, (iota("r"), iota("m")))
    right = state(1, 0, REAL, (iota("m"), iota("c")))
    own = state(0, 0, REAL, (iota("r"), iota("c")))
    one = select(apply("eq", iota("r"), iota("c")), real(1), real(0))
    return Monoid(
        "matrix",
        (REAL,),
        (Component("a", REAL, ("r", "c")),),
        (arg(0),),
        (one,),
        (fold("m", 2, apply("mul", left, right)),),
        (Component("value", REAL, ("r", "c")),),
        (own,),
        commutative,
        (Axis("r", 2), Axis("c", 2), Axis("m", 2)),
        strict=False,
    )


def test_matrix_multiplication_is_a_monoid_over_axes():
    check_laws(matrix(commutative=False))


def test_matrix_multiplication_is_not_strict():
    with pytest.raises(GraphError, match=r"or strict=False if only NaN and ∞ break it"):
        check_laws(replace(matrix(commutative=False), strict=True))


def test_an_affine_scan_is_not_strict():
    with pytest.raises(GraphError, match=r"breaks associativity in (value|b)"):
        check_laws(replace(AFFINE_SCAN, strict=True))


def test_matrix_multiplication_is_not_commutative():
    with pytest.raises(GraphError, match=r"breaks commutativity in a\[\d, \d\].*commutative=False"):
        check_laws(matrix(commutative=True))


def nan_dropping(a: Expr, b: Expr) -> Expr:
    return select(lt(a, b), b, a)


def mean(a: Expr, b: Expr) -> Expr:
    return apply("mul", real(0.5), apply("add", a, b))


def last(a: Expr, b: Expr) -> Expr:
    return apply("add", apply("mul", real(0), a), b)


def rounded_sum(a: Expr, b: Expr) -> Expr:
    return apply("add", apply("add", a, b), apply("mul", real(2.0**-55), a))


def late_argmax() -> Monoid:
    """Ties keep the right operand: the index order is lost (G04)."""
    wins = apply("not", lt(state(1, 0), state(0, 0)))
    at = select(wins, state(1, 1, INDEX), state(0, 1, INDEX))
    return replace(ARGMAX, combine=(select(wins, state(1, 0), state(0, 0)), at))


def unscaled(m: Monoid) -> Monoid:
    """Sums added without rescaling them to the joint maximum."""
    plain = tuple(apply("add", state(0, c), state(1, c)) for c in range(1, len(m.components)))
    return replace(m, combine=(m.combine[0], *plain))


def _max(identity: Expr) -> Monoid:
    return replace(MAX, identity=(identity,))


def unweighted_welford() -> Monoid:
    """The merge averages the means whatever their counts."""
    combine = WELFORD.combine
    return replace(
        WELFORD, identity=None, combine=(combine[0], mean(state(0, 1), state(1, 1)), combine[2])
    )


def _projected(m: Monoid) -> Monoid:
    return replace(m, identity=None)


WRONG: dict[str, tuple[Callable[[], Monoid], str]] = {
    "max of negatives from 0": (lambda: _max(real(0)), "identity in acc"),
    "max from the lowest float": (
        lambda: _max(real(-1.7976931348623157e308)),
        "identity in (value|acc)",
    ),
    "min from 0": (lambda: replace(MIN, identity=(real(0),)), "identity in acc"),
    "sum from 1": (lambda: replace(SUM, identity=(real(1),)), "identity in acc"),
    "index maximum from 0": (
        lambda: simple("imax", lambda a, b: select(lt(a, b), b, a), index(0)),
        "identity in acc",
    ),
    "difference": (lambda: _projected(simple("sub", sub, real(0))), "associativity in acc"),
    "mean of two": (lambda: _projected(simple("mean", mean, real(0))), "associativity in acc"),
    "maximum that drops NaN": (
        lambda: simple("max", nan_dropping, named("-inf")),
        "(identity|associativity|commutativity) in acc",
    ),
    "last one, declared commutative": (
        lambda: _projected(simple("last", last, real(0))),
        "commutativity in acc",
    ),
    "affine scan, declared commutative": (
        lambda: replace(AFFINE_SCAN, commutative=True),
        "commutativity in b",
    ),
    "a sum that errs by 2^-55": (
        lambda: simple("sum", rounded_sum, real(0)),
        "(identity|associativity) in acc",
    ),
    "argmax that keeps the later tie": (late_argmax, "commutativity in at"),
    "means merged without weights": (unweighted_welford, "associativity in mean"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_wrong_monoid_is_refused(name: str, seed: int) -> None:
    make, message = WRONG[name]
    with pytest.raises(GraphError, match=f"breaks {message}"):
        check_laws(make(), seed)


def test_a_lawful_combine_with_another_meaning_is_accepted():
    check_laws(unscaled(LOGSUMEXP))  # associative, though not what logsumexp means
    check_laws(unscaled(ONLINE_SOFTMAX))


def test_a_state_read_outside_its_axis_is_refused():
    wild = state(0, 0, REAL, (apply("add", iota("r"), index(1)), iota("c")))
    with pytest.raises(GraphError, match=r"reads a at 1…2, outside its axis of size 2"):
        check_laws(replace(matrix(False), combine=(wild,)))


def test_a_state_too_large_to_check_is_refused():
    big = matrix(False)
    axes = tuple(Axis(a.name, 512) for a in big.axes)
    combine = (fold("m", 512, big.combine[0].args[0]),)
    with pytest.raises(GraphError, match="its laws cannot be checked"):
        check_laws(replace(big, axes=axes, combine=combine))


def test_a_deep_combine_needs_no_recursion():
    def padded(a: Expr, b: Expr) -> Expr:
        total = apply("add", a, b)
        for _ in range(1000):
            total = apply("neg", apply("neg", total))
        return total

    check_laws(simple("sum", padded, real(0)))


def test_towers_of_powers_end_quickly():
    def tower(a: Expr, b: Expr) -> Expr:
        total = apply("add", a, b)
        for _ in range(40):
            total = apply("exp2", apply("mul", total, total))
        return apply("sin", total)

    with pytest.raises(GraphError, match="breaks"):
        check_laws(simple("tower", tower, real(0)))


SPECIALS = [
    ("recip", (0.0,), "inf"),
    ("recip", (float("-inf"),), "0.0"),
    ("sqrt", (-1.0,), "nan"),
    ("log2", (0.0,), "-inf"),
    ("log2", (-1.0,), "nan"),
    ("log2", (float("inf"),), "inf"),
    ("exp2", (float("-inf"),), "0.0"),
    ("exp2", (float("inf"),), "inf"),
    ("sin", (float("inf"),), "nan"),
    ("erf", (float("inf"),), "1.0"),
    ("atan2", (float("nan"), 1.0), "nan"),
    ("floor", (float("-inf"),), "-inf"),
    ("mul", (0.0, float("inf")), "nan"),
    ("add", (float("inf"), float("-inf")), "nan"),
]


@pytest.mark.parametrize(("op", "operands", "result"), SPECIALS)
def test_the_evaluator_treats_special_values_as_the_ir_does(
    op: str, operands: tuple[float, ...], result: str
) -> None:
    assert str(_value(apply(op, *map(real, operands)), REAL)) == result


@pytest.mark.parametrize(
    ("x", "result"),
    [(2.5, 2), (-2.5, -3), (1e30, 2**31 - 1), (-1e30, -(2**31)), (float("nan"), -1)],
)
def test_the_evaluator_floors_and_saturates_indices(x: float, result: int) -> None:
    assert _value(apply("to_index", real(x)), INDEX) == result


def test_the_evaluator_covers_every_operation():
    from tang.ir.expr import OPS

    assert set(Evaluator(SUM)._functions) == set(OPS)


def _value(e: Expr, sort: Sort) -> object:
    add = state(0, 0, sort)
    m = Monoid(
        "m", (), (Component("a", sort),), (e,), None, (add,), (Component("v", sort),), (add,), True
    )
    assert list(walk(e))
    return Evaluator(m).lift(())[0][()]


def indices(combine: Callable[[Expr, Expr], Expr], identity: int) -> Monoid:
    return simple("of_indices", combine, index(identity))


def largest(a: Expr, b: Expr) -> Expr:
    return select(lt(a, b), b, a)


def saturated(a: Expr, b: Expr) -> Expr:
    total = apply("add", a, b)
    return select(lt(index(1000), total), index(1000), total)


@pytest.mark.parametrize("fault", [indices(largest, -100), indices(saturated, 0)])
def test_a_fault_that_only_large_indices_meet_is_refused(fault: Monoid) -> None:
    with pytest.raises(GraphError, match="of_indices"):
        check_laws(fault)


def test_products_of_indices_beyond_what_can_be_held_refuse_nothing() -> None:
    affine = replace(
        AFFINE_SCAN,
        inputs=(INDEX, INDEX),
        components=tuple(replace(c, sort=INDEX) for c in AFFINE_SCAN.components),
        lift=(arg(0, INDEX), arg(1, INDEX)),
        identity=(index(1), index(0)),
        combine=(
            apply("mul", state(1, 0, INDEX), state(0, 0, INDEX)),
            apply(
                "add",
                apply("mul", state(1, 0, INDEX), state(0, 1, INDEX)),
                state(1, 1, INDEX),
            ),
        ),
        outputs=(Component("value", INDEX),),
        project=(state(0, 1, INDEX),),
    )
    for seed in range(4):
        check_laws(affine, seed)


def test_a_fault_that_only_long_folds_meet_is_refused() -> None:
    n, more = state(0, 0, INDEX), state(1, 0, INDEX)
    twice = apply("add", n, apply("mul", index(2), more))
    counted = replace(
        indices(lambda a, b: apply("add", a, b), 0),
        lift=(index(1),),
        combine=(select(lt(index(20), n), twice, apply("add", n, more)),),
        commutative=False,
    )
    with pytest.raises(GraphError, match=r"breaks associativity.* times over"):
        check_laws(counted)
