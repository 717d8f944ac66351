"""Which additions lowering promises for a sum: the schedule of a node as a summation atom.

Defines `summation_of`. Relies on orders of summation as data and on the schedule's fields. It adds
nothing and lowers nothing: tests show that replay and devices give the bits of the atom it names.

A thread folds its elements one after the other from +0, products rounded before they are added: no
schedule fuses them. Chunks are of the first reduce dim, whole rows of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from tang.errors import ScheduleError
from tang.ir.graph import Comprehension
from tang.ir.monoids import SUM
from tang.ir.summation import Seq, Split, Summation, Tree
from tang.kernel.schedule import NodeSchedule

LANES = Tree("adjacent")
"""How the states of lanes meet."""


def summation_of(
    node: Comprehension, schedule: NodeSchedule, sizes: Mapping[str, int]
) -> Summation:
    """The order in which a sum adds its elements, in lexicographic order of its reduce dims.

    sizes  of the symbols in its extents
    Elements that its `where` excludes count as +0, which changes no sum. Raises ScheduleError for
    a node that is no sum.

    before: sum over (r, s), split=2, lanes=4 → after: split(2, split(4, seq; tree); seq)
    """
    if node.monoid != SUM:
        kind = "a map" if node.monoid is None else f"a fold with {node.monoid.name}"
        raise ScheduleError(f"{node.name} is {kind}: only sums have an order of summation")
    if not node.reduce or (schedule.split == 1 and schedule.lanes == 1):
        return Seq()
    first, *others = (d.extent.evaluate(sizes) for d in node.reduce)
    row = prod(others)
    chunk = -(-first // (schedule.split * schedule.lanes)) * row
    if schedule.lanes == 1:
        return Split(schedule.split, Seq(), Seq(), size=chunk)
    team = Split(schedule.lanes, Seq(), LANES, size=chunk)
    if schedule.split == 1:
        return team
    return Split(schedule.split, team, Seq(), size=schedule.lanes * chunk)
