"""A question about a precision, and the program made ready to answer it.

Defines `Question`, `Case`, `case_of` and `work_of`. Relies on the rewriter, on the precision's
schedule and on the exact values of `report_samples`. It measures and judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

import numpy.typing as npt

from tang.budget.precision import applied
from tang.budget.report_inputs import (
    Ranges,
    check_ranges,
    checked_ranges,
    checked_samples,
    checked_seed,
    drawn_inputs,
)
from tang.budget.report_samples import Setting, setting_of
from tang.budget.report_terms import terms_of
from tang.budget.scales import names_in_files
from tang.emulator.budget import Budgets, budgets_from
from tang.errors import BudgetError, GraphError
from tang.ir.bind import bind, infer_sizes, known_sizes
from tang.ir.given import flag, shown
from tang.ir.graph import Graph
from tang.ir.validate import validate
from tang.ir.view import Ref
from tang.kernel.schedule import Schedule
from tang.rewrite import rewrite
from tang.verify.subject import checked_inputs

Array = npt.NDArray[Any]

LIMIT: Final = 2**25
"""Steps of folds and points of maps up to which a program is replayed whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a precision.

    budget    an ErrorBudget, Budgets, or a mapping of them by output or node
    inputs    arrays by name; None draws `samples` sets of them from `seed`
    sizes     of symbolic extents, where inputs are drawn
    ranges    of real inputs: what is drawn lies in them, what is given must
    certified  judge by certificate: for all inputs within `ranges`, or, without any, for all that
              overflow nowhere; samples may then be 0
    rules     what the program is rewritten by first: None takes the pipeline, () nothing
    whole     replay every element, however large the program is
    """

    budget: object = None
    inputs: Mapping[str, Any] | None = None
    samples: int = 1
    seed: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    ranges: Ranges = field(default_factory=dict)
    certified: bool = False
    rules: Iterable[str] | None = None
    strict: bool = False
    whole: bool = False
    cures: bool = True


_FLAGS: Final = ("certified", "strict", "whole", "cures")


@dataclass(slots=True, eq=False)
class Case:
    """A program ready to be measured: rewritten, its precision chosen, its data there.

    scaled  whether the precision made another program of it: it has scales, or formats of inputs
    names   of nodes that it added, by what a precision file calls them
    """

    graph: Graph
    schedule: Schedule
    settings: list[Setting]
    budgets: Budgets
    ranges: Ranges
    tiles: bool
    seed: int
    scaled: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    _terms: dict[int, Mapping[Ref, Array]] = field(default_factory=dict)

    def terms(self, sample: int, ref: Ref) -> Array:
        """T of a tensor, computed when it is first asked for."""
        if sample not in self._terms:
            setting = self.settings[sample]
            self._terms[sample] = terms_of(setting.graph, setting.exact)
        return self._terms[sample][ref]


def case_of(graph: Graph, precision: object, question: Question) -> Case:
    """The program as it will be compiled, with its data checked and its exact values computed."""
    validate(graph)
    if not isinstance(question, Question):
        raise BudgetError(
            f"what is asked is a tang.budget.Question(budget=…), not {shown(question)}"
        )
    for name in _FLAGS:
        flag(getattr(question, name), name, BudgetError)
    budgets = budgets_from(question.budget)
    checked_seed(question.seed)
    ranges = checked_ranges(graph, question.ranges)
    sizes = known_sizes(graph, question.sizes)
    sets = _inputs(graph, question, ranges)
    if sets:
        sizes = infer_sizes(graph, {n: a.shape for n, a in sets[0].items()})
    bound = bind(graph, sizes) if graph.symbols else graph
    plain = rewrite(bound, question.rules, question.strict).graph
    made, schedule = applied(precision, plain)
    _check_budgets(budgets, bound, made)
    if made.symbols:
        raise GraphError(f"give a size for {', '.join(sorted(made.symbols))}")
    tiles = not question.whole and work_of(made) > LIMIT
    settings = [setting_of(made, s) for s in sets]
    names = names_in_files(plain, made)
    return Case(
        made, schedule, settings, budgets, ranges, tiles, question.seed, made is not plain, names
    )


def _check_budgets(budgets: Budgets, written: Graph, made: Graph) -> None:
    """BudgetError for a budget of what there is not; of a node that rules removed it says so."""
    outputs, nodes = [o.name for o in made.outputs], [n.name for n in made.nodes]
    gone = {n.name for n in written.nodes} - {*outputs, *nodes}
    for name in budgets.named:
        if name in gone:
            known = ", ".join(dict.fromkeys((*outputs, *nodes)))
            raise BudgetError(
                f"a budget names {name!r}, which rules made something else of: budgets name nodes "
                f"as they are after rewriting (`tang show` prints them), one of {known}; without "
                "rules (`--rules none`, in Python rules=()) they are named as written"
            )
    budgets.check(outputs, nodes)


def _inputs(graph: Graph, question: Question, ranges: Ranges) -> list[dict[str, Array]]:
    if question.inputs is not None:
        given = checked_inputs(graph, question.inputs)
        check_ranges(given, ranges)
        return [given]
    samples = checked_samples(question.samples, 0 if question.certified else 1)
    seeds = range(question.seed, question.seed + samples)
    return [drawn_inputs(graph, question.sizes, ranges, s) for s in seeds]


def work_of(graph: Graph) -> int:
    """Steps of folds and points of maps of a program whose extents are numbers."""
    return sum(prod(d.extent.constant for d in n.dims) for n in graph.nodes)
