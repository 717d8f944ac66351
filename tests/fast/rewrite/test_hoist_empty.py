"""A factor leaves a fold that may be empty only where it is finite for finite inputs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tang as tg
from tang.ir import Graph
from tang.rewrite import rewrite
from tang.rewrite.rules import hoist
from tang.verify import verify
from tang.verify.rewriting import checker

t, a = tg.dim("t", 4), tg.dim("a", 5)
x, w = tg.input("x", (4, 5)), tg.input("w", (4,))
BEFORE = [a <= t - 1]
UPTO = [a <= t]


def scaled(by: tg.Tensor, where: list[tg.Value]) -> Graph:
    return tg.Graph(tg.compute("y", [t], tg.sum(x[t, a] * by[t], a, where)))


def largest() -> tg.Tensor:
    """−∞ on the empty first row."""
    return tg.compute("m", [t], tg.max(x[t, a], a, BEFORE))


def reciprocal() -> tg.Tensor:
    """1/0 on the empty first row."""
    mass = tg.compute("l", [t], tg.sum(tg.exp(x[t, a]), a, BEFORE))
    return tg.compute("r", [t], 1 / mass[t])


def behind_a_map() -> tg.Tensor:
    m = largest()
    return tg.compute("d", [t], m[t] * 0.5)


def total() -> tg.Tensor:
    return tg.compute("s", [t], tg.sum(x[t, a], a, BEFORE))


@pytest.mark.parametrize("factor", [largest, reciprocal, behind_a_map])
def test_what_may_be_infinite_stays_in_a_fold_that_may_be_empty(
    factor: Callable[[], tg.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = scaled(factor(), BEFORE)
    assert not rewrite(graph, ["hoist-invariant-factors"], check=checker()).trace
    rules = ["hoist-invariant-factors"]
    assert verify(graph, backends=(), rules=rules).ok
    monkeypatch.setattr(hoist, "_is_finite", lambda *_: True)
    (finding,) = verify(graph, backends=(), rules=rules).findings
    assert finding.origin == "rule hoist-invariant-factors"


@pytest.mark.parametrize("factor", [largest, reciprocal, behind_a_map])
def test_it_leaves_a_fold_that_has_an_element_at_every_point(
    factor: Callable[[], tg.Tensor],
) -> None:
    assert rewrite(scaled(factor(), UPTO), ["hoist-invariant-factors"]).trace


def test_finite_factors_leave_any_fold() -> None:
    for factor in (w, total()):
        graph = scaled(factor, BEFORE)
        assert rewrite(graph, ["hoist-invariant-factors"], check=checker()).trace
