"""Certificates of drawn programs: any monoids, views, schedules and formats that campaigns have."""

from dataclasses import replace

import numpy as np
import pytest
from certified import compare

from tang.emulator import certify, check_certificate
from tang.errors import BudgetError
from tang.fuzz import draw_case
from tang.fuzz.precisions import formats_in
from tang.ir.expr import REAL, apply, arg, named
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import LOGSUMEXP
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.narrow import USUAL
from tang.kernel.schedule import NodeSchedule, Schedule


def ranges_of(case):
    """The ranges of a draw's data; None where it holds infinities or NaN."""
    found = {i.name: (0.0, 0.0) for i in case.graph.inputs if i.sort.value != "bool"}
    for name, array in case.inputs.items():
        if array.dtype.kind != "b" and array.size:
            x = np.asarray(array, np.float64)
            if not np.isfinite(x).all():
                return None
            found[name] = (float(x.min()), float(x.max()))
    return found


DRAWS = [(91, n) for n in (0, 1, 4, 7, 11, 16, 20)] + [
    (91, 110),  # NaN among the reference's errors
    (91, 187),  # inputs beyond the format that stores them
    (91, 238),  # an infinity times a number that its format rounds to 0
]


def plain(chosen):
    """Without runs, and without their rounding where nothing is left that is rounded to."""
    chosen = replace(chosen, promote=0, partial=None)
    if {*formats_in(chosen)} <= {F32, F64}:
        return replace(chosen, rounding="rne", overflow=USUAL)
    return chosen


def without_runs(schedule):
    nodes = tuple((n, plain(s)) for n, s in schedule.nodes)
    return Schedule(nodes=nodes, default=schedule.default)


def test_runs_are_refused_by_name():
    case = draw_case(91, 187)
    assert case.schedule.of("n3").promote
    with pytest.raises(BudgetError, match="n3: it folds in runs"):
        certify(case.graph, case.schedule, case.sizes, ranges_of(case))


@pytest.mark.parametrize("accumulate", [F32, BF16, F16], ids=str)
@pytest.mark.parametrize("split", [1, 2])
def test_a_logsumexp_of_infinity_alone_is_covered(accumulate, split):
    """Once a draw: the states of one term +inf, of which one chunk has none at all."""
    body = apply("add", arg(0, REAL), named("inf"))
    read = Read(Ref("x"), View((variable("r"),)))
    one = (Dim("i", poly(1)), Dim("r", poly(1)))
    node = Comprehension("s", one[:1], (read,), (body,), one[1:], (), LOGSUMEXP)
    names = ("value", *(c.name for c in LOGSUMEXP.components))
    outputs = tuple(Output(n, Ref("s", n)) for n in names)
    graph = Graph((Input("x", (poly(1),), REAL),), (node,), outputs)
    schedule = Schedule(nodes=(("s", NodeSchedule(split=split, accumulate=accumulate)),))
    certificate = certify(graph, schedule, {}, {"x": (-1.0, 1.0)})
    assert check_certificate(certificate)
    with np.errstate(all="ignore"):
        wrong, _ = compare(graph, schedule, {"x": np.array([-1e-5])}, certificate)
    assert not wrong, wrong


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(("seed", "index"), DRAWS, ids=[f"{s}-{n}" for s, n in DRAWS])
def test_no_result_of_a_drawn_program_is_further_off_than_its_bound(
    seed, index, narrow, monkeypatch
):
    if not narrow:
        monkeypatch.setattr("tang.fuzz.case.draw_precisions", lambda source, graph, s, _: s)
    case = draw_case(seed, index)
    case = replace(case, schedule=without_runs(case.schedule))
    ranges = ranges_of(case)
    assert case.recipe is None
    assert ranges is not None
    certificate = certify(case.graph, case.schedule, case.sizes, ranges)
    checked = check_certificate(certificate)
    assert checked, checked.message
    with np.errstate(all="ignore"):
        wrong, _ = compare(case.graph, case.schedule, case.inputs, certificate)
    assert not wrong, wrong
