"""Logsumexp and Welford are found however they are written; near misses are left alone.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from derivation_checks import derive, monoids_of

import tang as tg
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.rewrite import rewrite
from tang.verify.rewriting import checker

Spelling = Callable[[], Graph]


def dims() -> tuple[Value, Value]:
    return tg.dim("i", 3), tg.dim("j", 5)


def matrix(name: str = "x") -> tg.Tensor:
    return tg.input(name, (3, 5))


# --- logsumexp -----------------------------------------------------------------------------------


def stable() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, m[i] + tg.log(tg.sum(tg.exp(x[i, j] - m[i]), j))))


def stable_renamed() -> Graph:
    (a, b), x = dims(), matrix()
    top = tg.compute("sum", a, tg.max(x[a, b], b))
    mass = tg.compute("max", a, tg.sum(tg.exp(-top[a] + x[a, b]), b))
    return tg.Graph(o=tg.compute("softmax", a, tg.log(mass[a]) + 3 + top[a]))


def unstable() -> Graph:
    (i, j), x = dims(), matrix()
    return tg.Graph(o=tg.compute("o", i, tg.log(tg.sum(tg.exp(x[i, j] * 0.5), j))))


def in_log_softmax() -> Graph:
    return tg.Graph(o=tg.log_softmax(matrix()))


def in_cross_entropy() -> Graph:
    (i, _), x = dims(), matrix()
    target = tg.input("y", (3,), "index")
    p = tg.log_softmax(x)
    return tg.Graph(o=tg.compute("loss", [], tg.sum(-p[i, target[i]], i) / 3))


def with_where() -> Graph:
    (i, j), x = dims(), matrix()
    keep = [j <= i + 1]
    m = tg.compute("m", i, tg.max(x[i, j], j, keep))
    s = tg.compute("s", i, tg.sum(tg.exp(x[i, j] - m[i]), j, keep))
    return tg.Graph(o=tg.compute("o", i, tg.log(s[i]) + m[i]))


def masked_score() -> Graph:
    (i, j), x = dims(), matrix()
    mask = tg.input("mask", (3, 5), "bool")
    score = tg.select(mask[i, j], x[i, j], float("-inf"))
    m = tg.compute("m", i, tg.max(score, j))
    return tg.Graph(o=tg.compute("o", i, m[i] + tg.log(tg.sum(tg.exp(score - m[i]), j))))


LOGSUMEXP = (
    stable, stable_renamed, unstable, in_log_softmax, in_cross_entropy, with_where, masked_score,
)  # fmt: skip


@pytest.mark.parametrize("spelling", LOGSUMEXP)
def test_logsumexp_is_found_however_it_is_written(spelling: Spelling) -> None:
    judge = checker()
    rewrite(spelling(), ["logsumexp"], check=judge)
    assert judge.checked
    found = derive(spelling(), "logsumexp", "dead-node")
    kinds = monoids_of(found.graph)
    assert "logsumexp" in kinds
    assert "max" not in kinds


def test_a_shift_that_is_not_the_maximum_stays_part_of_the_exponent() -> None:
    """Found by drawn instances: the shift was dropped from the exponent and not from the sum."""
    (i, j), x, y = dims(), matrix(), matrix("y")
    m = tg.compute("m", i, tg.max(y[i, j], j))
    o = tg.compute("o", i, tg.log(tg.sum(tg.exp(x[i, j] - m[i]), j)) + m[i])
    found = derive(tg.Graph(o=o), "logsumexp", "dead-node")
    assert "logsumexp" in monoids_of(found.graph)


def test_logsumexp_is_off_in_strict_mode() -> None:
    """A row of −inf alone is NaN as it is written and −inf as logsumexp."""
    assert not rewrite(stable(), ["logsumexp"], strict=True).trace


def other_maximum() -> Graph:
    """The maximum that is added is not the one that is subtracted."""
    (i, j), x, y = dims(), matrix(), matrix("y")
    m = tg.compute("m", i, tg.max(x[i, j], j))
    n = tg.compute("n", i, tg.max(y[i, j], j))
    return tg.Graph(o=tg.compute("o", i, n[i] + tg.log(tg.sum(tg.exp(x[i, j] - m[i]), j))))


def weighted() -> Graph:
    (i, j), x, y = dims(), matrix(), matrix("y")
    return tg.Graph(o=tg.compute("o", i, tg.log(tg.sum(tg.exp(x[i, j]) * y[i, j], j))))


def log_inside() -> Graph:
    (i, j), x = dims(), matrix()
    return tg.Graph(o=tg.compute("o", i, tg.sum(tg.log(tg.exp(x[i, j]) + 1), j)))


def product_of_exponentials() -> Graph:
    (i, j), x = dims(), matrix()
    return tg.Graph(o=tg.compute("o", i, tg.log(tg.prod(tg.exp(x[i, j]), j))))


@pytest.mark.parametrize("spelling", [other_maximum, weighted, log_inside, product_of_exponentials])
def test_what_only_looks_like_logsumexp_is_left_alone(spelling: Spelling) -> None:
    assert not rewrite(spelling(), ["logsumexp"]).trace


# --- Welford -------------------------------------------------------------------------------------


def two_passes() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    v = tg.sum((x[i, j] - m[i]) * (x[i, j] - m[i]), j) / 5
    return tg.Graph(o=tg.compute("v", i, v), mean=m)


def renamed_and_reordered() -> Graph:
    (a, b), x = dims(), matrix()
    total = tg.compute("max", a, tg.sum(x[a, b], b))
    deviation = tg.compute("p", [a, b], total[a] / 5 - x[a, b])
    v = tg.sum(deviation[a, b] * -(x[a, b] - (1 / tg.real(tg.extent(b))) * total[a]), b)
    return tg.Graph(o=tg.compute("q", a, 0.25 * v))


def mean_of_parts() -> Graph:
    """The division inside both sums."""
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j] / 5, j))
    d = x[i, j] - m[i]
    return tg.Graph(o=tg.compute("v", i, tg.sum(d * d / 5, j)))


def moments() -> Graph:
    """Mean of squares − square of mean."""
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j) / 5)
    y = (x[i, j] - m[i]) / tg.sqrt(q[i] - m[i] * m[i] + 1e-5)
    return tg.Graph(o=tg.compute("y", [i, j], y))


def sum_of_squares() -> Graph:
    """Σx² − (Σx)²/n, divided by n − 1."""
    (i, j), x = dims(), matrix()
    s = tg.compute("s", i, tg.sum(x[i, j], j))
    q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j))
    return tg.Graph(o=tg.compute("v", i, (-(s[i] * s[i]) / 5 + q[i]) / 4))


def over_two_dims() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", [], tg.sum(x[i, j], [i, j]) / 15)
    v = tg.sum((x[i, j] - m[()]) * (x[i, j] - m[()]), [j, i]) / 15
    return tg.Graph(o=tg.compute("v", [], v))


def of_an_expression() -> Graph:
    (i, j), x, y = dims(), matrix(), matrix("y")
    e = x[i, j] * 2 + y[i, j]
    m = tg.compute("m", i, tg.sum(e, j) / 5)
    return tg.Graph(o=tg.compute("v", i, tg.sum((e - m[i]) * (e - m[i]), j) / 5))


def multiplied_out() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    square = x[i, j] * x[i, j] - 2 * x[i, j] * m[i] + m[i] * m[i]
    return tg.Graph(o=tg.compute("v", i, tg.sum(square, j) / 5))


def means_of_the_library() -> Graph:
    x = matrix()
    squares = tg.elementwise(lambda e: e * e, x)
    v = tg.elementwise(lambda q, m: q - m * m, tg.mean(squares, axis=1), tg.mean(x, axis=1))
    return tg.Graph(o=v)


def mean_and_sum() -> Graph:
    (i, j), x = dims(), matrix()
    m, q = tg.mean(x, axis=1), tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j))
    return tg.Graph(o=tg.compute("v", i, (q[i] - 5 * m[i] * m[i]) / 4))


def textbook() -> Graph:
    """(n · Σx² − (Σx)²) / n²."""
    (i, j), x = dims(), matrix()
    s = tg.compute("s", i, tg.sum(x[i, j], j))
    q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j))
    return tg.Graph(o=tg.compute("v", i, (5 * q[i] - s[i] * s[i]) / 25))


def moments_of_parts() -> Graph:
    """The division inside both sums of the moments."""
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j] / 5, j))
    q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j] / 5, j))
    return tg.Graph(o=tg.compute("v", i, q[i] - m[i] * m[i]))


WELFORD = (
    two_passes, renamed_and_reordered, mean_of_parts, moments, sum_of_squares, over_two_dims,
    of_an_expression, multiplied_out, means_of_the_library, mean_and_sum, textbook,
    moments_of_parts,
)  # fmt: skip


@pytest.mark.parametrize("spelling", WELFORD)
def test_mean_and_variance_become_one_pass(spelling: Spelling) -> None:
    rules = ["welford", "read-back-mean", "dead-node"]
    judge = checker()
    rewrite(spelling(), rules, check=judge)
    assert judge.checked
    kinds = set(monoids_of(derive(spelling(), *rules).graph))
    assert "welford" in kinds
    if spelling is not moments:  # there the mean lies before the pass
        assert kinds <= {"welford", "map"}


def test_a_variance_about_a_mean_that_welford_gave_reads_the_same_pass() -> None:
    (i, j), x = dims(), matrix()
    m = tg.mean(x, axis=1)
    v = tg.compute("v", i, tg.sum((x[i, j] - m[i]) * (x[i, j] - m[i]), j) / 5)
    found = derive(tg.Graph(v=v, m=m), "welford", "dead-node")
    assert monoids_of(found.graph).count("welford") == 1
    assert "sum" not in monoids_of(found.graph)


def test_a_mean_is_read_back_where_the_program_counts_the_elements() -> None:
    (i, j), x = dims(), matrix()
    n = tg.compute("n", i, tg.sum(1.0, j, [j <= i]))
    mean = tg.compute("mean", i, tg.sum(x[i, j], j, [j <= i]) / n[i])
    d = x[i, j] - mean[i]
    graph = tg.Graph(mean=mean, var=tg.compute("var", i, tg.sum(d * d, j, [j <= i]) / n[i]))
    judge = checker()
    done = rewrite(graph, ["welford", "read-back-mean", "dead-node"], check=judge)
    assert {"welford", "read-back-mean"} <= {s.rule for s in done.trace}
    assert judge.checked


def test_a_symbolic_number_of_elements_is_recognised() -> None:
    i, j = tg.dim("i", 3), tg.dim("j", "n")
    x, n = tg.input("x", (3, "n")), tg.real(tg.extent(j))
    s = tg.compute("s", i, tg.sum(x[i, j], j))
    d = x[i, j] - s[i] / n
    v = tg.compute("v", i, tg.sum(d * d, j))
    y = tg.compute("y", [i, j], d / tg.sqrt(v[i] / n + 1e-5))
    found = derive(tg.Graph(y=y), "welford", "read-back-mean", "dead-node", sizes={"n": 4})
    assert monoids_of(found.graph) == ["welford", "map"]


def other_tensor() -> Graph:
    (i, j), x, y = dims(), matrix(), matrix("y")
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    return tg.Graph(o=tg.compute("v", i, tg.sum((y[i, j] - m[i]) * (y[i, j] - m[i]), j) / 5))


def square_of_another() -> Graph:
    (i, j), x, y = dims(), matrix(), matrix("y")
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    q = tg.compute("q", i, tg.sum(x[i, j] * y[i, j], j) / 5)
    return tg.Graph(o=tg.compute("v", i, q[i] - m[i] * m[i]))


def covariance() -> Graph:
    (i, j), x, y = dims(), matrix(), matrix("y")
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    n = tg.compute("n", i, tg.sum(y[i, j], j) / 5)
    return tg.Graph(o=tg.compute("v", i, tg.sum((x[i, j] - m[i]) * (y[i, j] - n[i]), j) / 5))


def other_count() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 4)
    return tg.Graph(o=tg.compute("v", i, tg.sum((x[i, j] - m[i]) * (x[i, j] - m[i]), j) / 4))


def other_where() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j], j, [j <= i]) / 5)
    return tg.Graph(o=tg.compute("v", i, tg.sum((x[i, j] - m[i]) * (x[i, j] - m[i]), j) / 5))


def other_sign() -> Graph:
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, tg.sum(x[i, j], j) / 5)
    q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j) / 5)
    return tg.Graph(o=tg.compute("v", i, q[i] + m[i] * m[i]))


def mean_over_other_dims() -> Graph:
    i, j, x = tg.dim("i", 4), tg.dim("j", 4), tg.input("x", (4, 4))
    m = tg.compute("m", j, tg.sum(x[i, j], i) / 4)
    return tg.Graph(o=tg.compute("v", i, tg.sum((x[i, j] - m[j]) * (x[i, j] - m[j]), j) / 4))


def mean_not_squared() -> Graph:
    x = matrix()
    squares = tg.elementwise(lambda e: e * e, x)
    v = tg.elementwise(lambda q, m: q - m, tg.mean(squares, axis=1), tg.mean(x, axis=1))
    return tg.Graph(o=v)


def twice_the_square() -> Graph:
    (i, j), x = dims(), matrix()
    s = tg.compute("s", i, tg.sum(x[i, j], j))
    q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j))
    return tg.Graph(o=tg.compute("v", i, 5 * q[i] - 2 * s[i] * s[i]))


NEAR = (
    other_tensor, square_of_another, covariance, other_count, other_where, other_sign,
    mean_over_other_dims, mean_not_squared, twice_the_square,
)  # fmt: skip


@pytest.mark.parametrize("spelling", NEAR)
def test_what_only_looks_like_a_variance_is_left_alone(spelling: Spelling) -> None:
    assert not rewrite(spelling(), ["welford"]).trace


def test_a_decimal_that_is_not_the_constant_is_another_constant() -> None:
    """0.2 is not 1/5 and 1.4426950408889634 is not log₂e: over the reals those differ."""
    (i, j), x = dims(), matrix()
    m = tg.compute("m", i, 0.2 * tg.sum(x[i, j], j))
    v = tg.compute("v", i, tg.sum((x[i, j] - m[i]) * (x[i, j] - m[i]), j))
    assert not rewrite(tg.Graph(v=v), ["welford"]).trace
    top = tg.compute("top", i, tg.max(x[i, j], j))
    mass = tg.sum(tg.exp2(1.4426950408889634 * (x[i, j] - top[i])), j)
    lse = tg.compute("lse", i, tg.log(mass) + top[i])
    assert not rewrite(tg.Graph(lse=lse), ["logsumexp"]).trace


@pytest.mark.parametrize("centred", [True, False])
def test_a_spread_of_no_elements_is_left_alone(centred: bool) -> None:
    (i, j), x = tg.dims("i j"), tg.input("x", (3, 0))
    m = tg.compute("m", i, tg.sum(x[i, j], j))
    if centred:
        v = tg.compute("v", i, tg.sum((x[i, j] - m[i]) * (x[i, j] - m[i]), j))
    else:
        q = tg.compute("q", i, tg.sum(x[i, j] * x[i, j], j))
        v = tg.compute("v", i, q[i] - m[i] * m[i] / 5)
    assert not rewrite(tg.Graph(v), ["welford"]).trace
