"""Decisions under data certificates: what f64 cannot tell from a tie has no bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tang as tg
from tang.budget import check_data, data
from tang.budget.data_certificate import DataRow
from tang.emulator import strict
from tang.errors import BudgetError
from tang.ir.graph import Graph

Form = Callable[..., object]
ABSORBED: dict[str, tuple[Form, list[float], list[float]]] = {
    "less": (lambda a, b: tg.select((a + b) - a > 0, 1.0, 0.0), [2.0**60, 1.0], [1.0, 1.0]),
    "tiny": (lambda a, b: tg.select(a * b > 0, 1.0, 0.0), [1e-200, 1.0], [1e-200, 1.0]),
    "floor": (lambda a, b: tg.floor(tg.erf(a) * b), [7.0, 0.5], [1.0, 1.0]),
    "sqrt": (lambda a, b: tg.sqrt((a + b) - a), [2.0**60, 1.0], [-1.0, 1.0]),
}
"""Per kind of decision a form that f64 decides wrongly at the first element, and its data."""


def _of(name: str) -> tuple[Graph, dict[str, np.ndarray]]:
    form, *values = ABSORBED[name]
    i = tg.dims("i")
    a, b = (tg.input(n, (2,))[i] for n in "ab")
    graph = tg.Graph(o=tg.compute("o", (i,), form(a, b)))
    return graph, {n: np.asarray(v) for n, v in zip("ab", values, strict=True)}


def _row(graph: Graph, inputs: dict[str, np.ndarray], precision: str = "f32") -> DataRow:
    certificate = tg.certify(graph, precision, inputs=inputs)
    check_data(certificate.to_json(), graph, inputs)
    return certificate.row("o")


@pytest.mark.parametrize("name", ABSORBED)
def test_what_f64_decides_wrongly_has_no_bound_and_what_is_clear_has_one(name: str) -> None:
    row = _row(*_of(name))
    assert np.isinf(row.bounds).tolist() == [True, False]
    assert row.doubtful == 1


@pytest.mark.parametrize("name", ABSORBED)
def test_the_decisions_of_f64_alone_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "STRICT", strict.SHADOW)
    with pytest.raises(BudgetError, match="above its bound"):
        _row(*_of(name))


def test_ties_of_exact_operands_are_decided() -> None:
    i = tg.dims("i")
    a, b = (tg.input(n, (3,))[i] for n in "ab")
    graph = tg.Graph(o=tg.compute("o", (i,), tg.select(a < b, tg.floor(a), a * 2)))
    row = _row(graph, {"a": np.array([1.0, 2.0, 0.0]), "b": np.array([1.0, 2.5, 0.0])})
    assert row.doubtful == 0
    assert row.values.tolist() == [2.0, 2.0, 0.0]


def test_f64_is_trusted_with_nothing_in_f64_itself() -> None:
    i = tg.dims("i")
    a, b = (tg.input(n, (2,))[i] for n in "ab")
    graph = tg.Graph(o=tg.compute("o", (i,), tg.select(a - b < a, a, b)))
    row = _row(graph, {"a": np.array([1.0, 2.0]), "b": np.array([1e-30, 1.0])}, "f64")
    assert np.isinf(row.bounds).tolist() == [True, False]


def test_a_wave_of_an_argument_that_is_off_by_2_or_more_has_no_bound() -> None:
    i = tg.dims("i")
    x = tg.input("x", (2,))[i]
    graph = tg.Graph(o=tg.compute("o", (i,), tg.sin(x * x)))
    row = _row(graph, {"x": np.array([1e15 + 1.0, 3.0])})
    assert np.isinf(row.bounds).tolist() == [True, False]
