"""The range of a form over a domain, against enumeration; big numbers stay exact."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tang.errors import GraphError
from tang.ir import bounds
from tang.ir.bounds import form_range, magnitude
from tang.ir.extent import poly
from tang.ir.view import Affine, constant, variable

NAMES = ("i", "j", "k")


def form(coefficients: dict[str, int], const: int = 0) -> Affine:
    total = constant(const)
    for v, c in coefficients.items():
        total = total + variable(v, c)
    return total


def value(f: Affine, point: dict[str, int]) -> int:
    return f.const.constant + sum(c.constant * point[v] for v, c in f.terms)


def by_enumeration(f: Affine, dims: dict[str, int], where: list[Affine]) -> tuple[int, int] | None:
    points = (
        dict(zip(dims, p, strict=True))
        for p in itertools.product(*(range(n) for n in dims.values()))
    )
    values = [value(f, p) for p in points if all(value(w, p) >= 0 for w in where)]
    return (min(values), max(values)) if values else None


forms = st.builds(
    form,
    st.dictionaries(st.sampled_from(NAMES), st.integers(-4, 4), max_size=3),
    st.integers(-8, 8),
)
boxes = st.fixed_dictionaries({v: st.integers(0, 5) for v in NAMES})


@given(forms, boxes, st.lists(forms, max_size=3))
@settings(max_examples=300, deadline=None)
def test_a_small_domain_has_the_range_of_its_points(
    f: Affine, dims: dict[str, int], where: list[Affine]
) -> None:
    assert form_range(f, dims, where) == by_enumeration(f, dims, where)


@given(forms, boxes, st.lists(forms, max_size=3))
@settings(max_examples=300, deadline=None)
def test_without_enumeration_the_range_is_sound(
    f: Affine, dims: dict[str, int], where: list[Affine]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "ENUMERATED", 0)
        found = form_range(f, dims, where)
    exact = by_enumeration(f, dims, where)
    if exact is not None:
        assert found is not None
        assert found[0] <= exact[0] <= exact[1] <= found[1]


def test_a_dim_without_points_leaves_no_range():
    assert form_range(variable("i"), {"i": 4, "j": 0}) is None


def test_contradictory_constraints_leave_no_range():
    where = [form({"i": 1}, -3), form({"i": -1}, 2)]
    assert form_range(variable("i"), {"i": 1 << 40}, where) is None


def test_a_scan_over_a_long_sequence_is_bounded_by_its_where():
    dims = {"t": 1 << 20, "s": 1 << 20}
    lag = form({"t": 1, "s": -1})
    assert form_range(lag, dims, [lag]) == (0, (1 << 20) - 1)
    assert form_range(lag, dims) == (1 - (1 << 20), (1 << 20) - 1)


def test_constraints_combine_over_a_large_domain():
    dims = {"a": 1 << 20, "b": 1 << 20, "c": 1 << 20}
    chain = [form({"a": 1, "b": -1}), form({"b": 1, "c": -1})]
    assert form_range(form({"a": 1, "c": -1}), dims, chain) == (0, (1 << 20) - 1)


def test_a_window_of_a_strided_convolution_is_exact():
    dims = {"i": 10**6, "r": 3}
    window = form({"i": 2, "r": 1}, -1)
    assert form_range(window, dims) == (-1, 2 * (10**6 - 1) + 1)
    assert form_range(window, dims, [window]) == (0, 2 * (10**6 - 1) + 1)


def test_many_dims_of_one_point_do_not_meet_numpys_limit_of_dims():
    dims = {f"d{n}": 1 for n in range(80)} | {"i": 4}
    f = form(dict.fromkeys(dims, 1))
    assert form_range(f, dims, [form(dict.fromkeys(dims, 1), -2)]) == (2, 3)


def test_offsets_beyond_64_bits_stay_exact():
    f = form({"i": 1 << 62, "j": -(1 << 62)}, 1 << 70)
    high = (1 << 70) + 7 * (1 << 62)
    low = (1 << 70) - 7 * (1 << 62)
    assert form_range(f, {"i": 8, "j": 8}) == (low, high)
    assert form_range(f, {"i": 8, "j": 8}, [form({"i": 1, "j": -1})])[1] == high


def test_magnitude_counts_terms_that_cancel():
    f = form({"i": 1 << 40, "j": -(1 << 40)})
    assert magnitude(f, {"i": 2, "j": 2}) == 1 << 41
    assert magnitude(form({}, -5), {}) == 5
    assert magnitude(form({"i": 3}), {"i": 0}) == 0


def test_an_unknown_variable_or_a_symbol_is_refused():
    with pytest.raises(GraphError, match="z are not among"):
        form_range(variable("z"), {"i": 2})
    with pytest.raises(GraphError, match="bind"):
        form_range(variable("i", poly("n")), {"i": 2})
