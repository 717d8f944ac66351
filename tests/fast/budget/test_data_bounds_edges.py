"""Bounds for given data at the ends of f64: overflows of both sides, functions far from zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tang as tg
from tang.budget import check_data
from tang.budget.data_certificate import DataRow
from tang.emulator import bounds
from tang.errors import BudgetError, TangBugError
from tang.ir.graph import Graph
from tang.kernel.ir import BF16, F32
from tang.kernel.schedule import NodeSchedule, Schedule

NARROW = Schedule(default=NodeSchedule(storage=BF16, accumulate=F32))
LARGE = np.array([1000.0, 500.0, 1.0, np.inf, -np.inf, np.nan])


def _row(graph: Graph, data: dict[str, np.ndarray], precision: object = "f32") -> DataRow:
    """The certificate's row of the output, after its check in balls."""
    certificate = tg.certify(graph, precision, inputs=data)
    check_data(certificate.to_json(), graph, data)
    return certificate.row("o")


def _map(f: Callable[..., object], **data: list[float]) -> tuple[Graph, dict[str, np.ndarray]]:
    i = tg.dims("i")
    reads = [tg.input(name, (len(values),))[i] for name, values in data.items()]
    graph = tg.Graph(o=tg.compute("o", (i,), f(*reads)))
    return graph, {name: np.asarray(values) for name, values in data.items()}


def test_an_overflow_of_both_sides_has_no_bound_and_an_exact_infinity_has_bound_0() -> None:
    row = _row(*_map(tg.exp, x=list(LARGE)))
    assert row.values[:2].tolist() == [np.inf, np.inf]
    assert row.exact[0] == np.inf
    assert np.isinf(row.bounds[:2]).all()
    assert np.isfinite(row.bounds[2:]).all()
    assert row.bounds[[3, 5]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("op", ["product", "quotient", "narrowed"])
def test_numbers_above_f64_are_no_infinities(op: str) -> None:
    forms = {"product": lambda a, b: a * b, "quotient": lambda a, b: a / (1 / b)}
    form = forms.get(op, lambda a, b: a * b + 1)
    precision = "f16" if op == "narrowed" else "f64"
    row = _row(*_map(form, a=[1e200, np.inf, 1.0], b=[1e200, 2.0, 2.0]), precision)
    assert np.isinf(row.bounds).tolist() == [True, False, False]
    assert row.values[1] == np.inf


def test_certificates_that_take_equal_overflows_for_exact_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "_is_exactly_no_number", lambda op, x, e: True)
    with pytest.raises(BudgetError, match="above its bound"):
        _row(*_map(tg.exp, x=list(LARGE)))


def test_what_decides_by_overflows_has_no_bound() -> None:
    less = _row(*_map(lambda x: tg.select(tg.exp(x) < tg.exp(2 * x), 1.0, 0.0), x=[1000.0, 1.0]))
    assert np.isinf(less.bounds).tolist() == [True, False]
    floors = _row(*_map(lambda x: tg.floor(tg.exp(x)), x=[1000.0, 1.0]))
    assert np.isinf(floors.bounds).tolist() == [True, False]


def test_poles_and_domains_left_by_exact_numbers_have_bound_0() -> None:
    for f, x in ((lambda x: 1 / x, 0.0), (tg.log, 0.0), (tg.log, -1.0), (tg.sqrt, -2.0)):
        row = _row(*_map(f, x=[x, 4.0]))
        assert row.bounds[0] == 0.0
        assert not np.isfinite(row.values[0])


@pytest.mark.parametrize("name", ["exp2", "exp"])
def test_a_function_that_underflows_in_f64_is_bounded_by_its_operands_error(name: str) -> None:
    """x is −1084 instead of −80: 2^x is 0, and 2^(x + 1004) is not."""
    f = {"exp2": tg.exp2, "exp": lambda x: tg.exp(x * 0.7)}[name]
    graph, data = _map(lambda a, b: f(a - b - 60), a=[131572.0], b=[131592.0])
    row = _row(graph, data, NARROW)
    assert row.values[0] == 0
    assert row.bounds[0] >= row.exact[0] > 0


def test_the_product_of_2_to_x_and_2_to_e_less_1_is_no_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, data = _map(lambda a, b: tg.exp2(a - b - 60), a=[131572.0], b=[131592.0])
    before = {**bounds._SUPREMA, "exp2": lambda x, e: np.exp2(x) * np.expm1(e * np.log(2))}
    monkeypatch.setattr(bounds, "_SUPREMA", before)
    with pytest.raises(TangBugError, match="exceeds its derived bound"):
        _row(graph, data, NARROW)


def test_a_certificate_without_a_bound_says_that_it_confirms_nothing() -> None:
    graph, data = _map(lambda x: x * 1.1, x=[1.5, 2.5])
    certificate = tg.certify(graph, "f32", inputs=data)
    assert certificate.to_text().startswith("o.value (f32): error ")
    checked = check_data(certificate.to_json(), graph, data)
    assert (
        str(checked) == "1 tensors: 2 elements within their bounds, 0 without a bound, 0 undecided"
    )
    rows = [replace(r, bounds=np.full(2, np.inf)) for r in certificate.rows]
    empty = replace(certificate, rows=tuple(rows))
    assert empty.to_text() == "o.value (f32): nothing is known; 2 without a bound, of 2"
    text = str(check_data(empty.to_json(), graph, data))
    assert text.endswith("2 without a bound, 0 undecided: nothing is confirmed")
