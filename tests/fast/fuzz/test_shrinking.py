"""Shrinking: planted faults end as the smallest program that shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tang.fuzz.case import Case, draw_case
from tang.fuzz.features import features
from tang.fuzz.fewer import smaller_programs
from tang.fuzz.reduce import reduce_choices
from tang.fuzz.shrink import shrink
from tang.fuzz.source import ReplaySource, SeededSource, TreeSource, chance
from tang.interpreter import interpret
from tang.ir import infer_sizes, to_text, validate
from tang.ir.graph import reads_of
from tang.kernel.schedule import Schedule, check_schedule


def first_case(holds: Callable[[Case], bool]) -> Case:
    """The first random graph that shows it (motifs and derived programs end elsewhere)."""
    drawn = (draw_case(5, i) for i in range(600))
    plain = (c for c in drawn if c.recipe is None and c.graph.nodes[0].name == "n0")
    return next(c for c in plain if holds(c))


def smallest(cell: str) -> Case:
    """What a fault that needs this feature shrinks to."""

    def holds(case: Case) -> bool:
        return cell in features(case)

    found = shrink(first_case(holds), holds, calls=2000, seconds=120)
    assert holds(found)
    validate(found.graph)
    return found


@pytest.mark.parametrize("op", ["sin", "erf", "sqrt", "exp2"])
def test_a_fault_of_one_operation_shrinks_to_that_operation(op):
    case = smallest(f"op:{op}")
    assert len(case.graph.nodes) == 1
    assert len(case.graph.outputs) == 1
    assert case.schedule == Schedule()
    assert all(array.size <= 1 for array in case.inputs.values())
    assert len(to_text(case.graph).splitlines()) <= 5


def test_a_fault_of_a_monoid_shrinks_to_one_fold_of_one_element():
    case = smallest("monoid:welford")
    assert len(case.graph.nodes) == 1
    (node,) = case.graph.nodes
    assert node.monoid is not None
    assert node.monoid.name == "welford"
    assert all(d.extent.constant == 1 for d in node.dims)
    assert all(not a.any() for a in case.inputs.values())


def test_a_fault_of_split_schedules_keeps_one_split_node():
    case = smallest("schedule:split-3")
    splits = [s.split for _, s in case.schedule.nodes]
    assert max(splits) == 3
    assert len(splits) == 1


def test_a_fault_of_special_data_keeps_one_special_value():
    case = smallest("data:nan")
    values = np.concatenate([np.ravel(a) for a in case.inputs.values() if a.dtype.kind == "f"])
    assert np.isnan(values).sum() == 1
    assert not values[~np.isnan(values)].any()


def test_results_that_a_fault_does_not_need_are_left_out():
    case = next(c for c in map(partial(draw_case, 5), range(60)) if len(c.graph.outputs) > 2)
    wanted = case.graph.outputs[1]

    def holds(c: Case) -> bool:
        return wanted in c.graph.outputs

    found = shrink(replace(case, choices=(), recipe=None), holds)
    validate(found.graph)
    check_schedule(found.schedule, found.graph)
    assert found.graph.outputs == (wanted,)
    assert {i.name for i in found.graph.inputs} == found.inputs.keys()
    assert set(found.sizes) == found.graph.symbols
    last = {o.ref.node for o in found.graph.outputs}
    assert all(n.name in last or _is_read(found, n.name) for n in found.graph.nodes)


def _is_read(case: Case, name: str) -> bool:
    return any(r.source.node == name for n in case.graph.nodes for r in reads_of(n))


def test_a_result_that_a_faulty_node_reads_is_given_instead_of_computed():
    case = next(c for c in map(partial(draw_case, 5), range(90)) if len(c.graph.nodes) > 3)
    last = case.graph.nodes[-1]

    def holds(c: Case) -> bool:
        return any(n.body == last.body and n.monoid == last.monoid for n in c.graph.nodes)

    found = shrink(replace(case, choices=(), recipe=None), holds)
    validate(found.graph)
    assert len(found.graph.nodes) == 1
    interpret(found.graph, found.inputs)


@pytest.mark.parametrize("index", [39, 133, 279, 329])
def test_a_smaller_program_still_tells_its_sizes(index):
    for smaller in smaller_programs(draw_case(7000, index)):
        shapes = {n: a.shape for n, a in smaller.inputs.items()}
        assert infer_sizes(smaller.graph, shapes) == dict(smaller.sizes)
        validate(smaller.graph)


def test_a_loss_and_what_it_is_differentiated_by_stay():
    recipes = (c for c in map(partial(draw_case, 5), range(200)) if c.recipe)
    case = next(c for c in recipes if c.recipe.derivation.gradient and len(c.graph.outputs) > 1)
    gradient = case.recipe.derivation.gradient
    found = shrink(replace(case, choices=()), lambda c: True)
    assert [o.name for o in found.graph.outputs] == [gradient.loss]
    assert set(gradient.wrt) <= {i.name for i in found.graph.inputs}


def test_a_case_that_does_not_fail_again_is_returned_as_it_is():
    case = draw_case(5, 0)
    assert shrink(case, lambda c: False) is case


def test_no_case_is_checked_twice():
    seen: list[str] = []

    def fails(case: Case) -> bool:
        seen.append(case.digest())
        return "op:sin" in features(case)

    shrink(first_case(lambda c: "op:sin" in features(c)), fails, calls=300)
    assert len(seen) == len(set(seen))


def test_a_recorded_draw_is_replayed_from_its_choices():
    case = draw_case(3, 4)
    source = ReplaySource(case.choices)
    from tang.fuzz.case import build_case

    assert build_case(source).digest() == case.digest()
    assert build_case(TreeSource(source.tree)).digest() == case.digest()


def test_reduction_of_choices_drops_parts_and_lowers_numbers():
    def total(source) -> int:
        return sum(source.part(lambda s: s.below(10)) for _ in range(source.below(6)))

    start = next(
        s for s in (_recorded(total, i) for i in range(100)) if sum(s[1:]) >= 20 and len(s) > 4
    )
    reduced = reduce_choices(start, lambda source: total(source) >= 12)
    assert len(reduced) == 3
    assert sum(reduced[1:]) == 12


def _recorded(build, index: int) -> tuple[int, ...]:
    source = SeededSource(1, index)
    build(source)
    return tuple(source.choices)


def test_a_chance_shrinks_to_no():
    assert chance(ReplaySource([]), 99) is False
