"""Draws: valid by construction, the same everywhere, and worth checking."""

from __future__ import annotations

import functools

import numpy as np
from hypothesis import HealthCheck, given, settings

from tang.fuzz.case import Case, draw_batch, draw_case
from tang.fuzz.strategies import graphs, monoids, schedules
from tang.interpreter import interpret
from tang.ir import bind, from_json, infer_sizes, to_json, validate
from tang.ir.laws import check_laws
from tang.kernel.schedule import check_schedule

RELAXED = settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@functools.cache
def some_cases() -> tuple[Case, ...]:
    return tuple(draw_batch(seed=7, count=150))


def test_every_draw_is_a_legal_program_with_and_without_its_sizes():
    for case in some_cases():
        validate(case.graph)
        bind(case.graph, case.sizes)


def test_every_schedule_fits_its_graph():
    for case in some_cases():
        check_schedule(case.schedule, case.graph)


def test_the_shapes_of_the_inputs_give_the_sizes_away():
    for case in some_cases():
        shapes = {name: a.shape for name, a in case.inputs.items()}
        assert infer_sizes(case.graph, shapes) == dict(case.sizes)


def test_a_case_is_drawn_alone_as_in_its_batch():
    for case in some_cases()[::30]:
        assert draw_case(7, case.index).digest() == case.digest()


def test_another_seed_draws_other_cases():
    assert draw_case(8, 0).digest() != draw_case(7, 0).digest()


def test_a_drawn_graph_survives_json():
    for case in some_cases()[::10]:
        assert from_json(to_json(case.graph)) == case.graph


def test_real_inputs_are_exactly_f32():
    for case in some_cases():
        for array in case.inputs.values():
            if array.dtype.kind == "f":
                np.testing.assert_array_equal(array, array.astype(np.float32).astype(np.float64))


def test_most_values_are_finite_and_no_value_overflows_f32():
    finite = total = 0
    for case in some_cases():
        for value in interpret(case.graph, case.inputs).values():
            if value.dtype.kind == "f":
                kept = value[np.isfinite(value)]
                finite, total = finite + kept.size, total + value.size
                assert not (np.abs(kept) > np.finfo(np.float32).max).any(), case
    assert finite > 0.85 * total


def test_outputs_depend_on_inputs_in_most_draws():
    changed = [_depends_on_inputs(case) for case in some_cases()[:100]]
    assert sum(changed) >= 70


def _depends_on_inputs(case: Case) -> bool:
    """Whether other data of the same kinds gives another result."""
    before = interpret(case.graph, case.inputs)
    generator = np.random.default_rng(0)
    other = {n: generator.permuted(a.reshape(-1)).reshape(a.shape) for n, a in case.inputs.items()}
    other = {n: a * 0.75 + 0.3 if a.dtype.kind == "f" else a for n, a in other.items()}
    after = interpret(case.graph, other)
    empty = all(v.size == 0 for v in before.values())
    return empty or any(
        not np.array_equal(before[n], after[n], equal_nan=before[n].dtype.kind == "f")
        for n in before
    )


def test_at_least_half_of_the_draws_have_two_nodes_and_a_reduction():
    composed = [
        len(c.graph.nodes) > 1 and any(n.monoid for n in c.graph.nodes) for c in some_cases()
    ]
    assert sum(composed) >= len(composed) / 2


@RELAXED
@given(graphs())
def test_graphs_drawn_by_hypothesis_are_legal(graph):
    validate(graph)


@RELAXED
@given(graphs().flatmap(lambda g: schedules(g).map(lambda s: (g, s))))
def test_schedules_drawn_by_hypothesis_are_legal(pair):
    check_schedule(pair[1], pair[0])


@settings(RELAXED, max_examples=10)
@given(monoids())
def test_monoids_drawn_by_hypothesis_obey_their_laws(monoid):
    check_laws(monoid)
