"""Random derivations: which rules a program goes through before it is lowered, and gradients.

Defines `Recipe`, `draw_recipe` and the plain-data form of recipes. Relies on the names of the rules
alone. It applies none: that is the ladder's work, where they are under test. Shrinks to none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, Final

from tang.fuzz.formats import Formats
from tang.fuzz.graphs import DrawnGraph
from tang.fuzz.precisions import draw_precisions
from tang.fuzz.schedules import draw_schedule
from tang.fuzz.source import SeededSource, Source, chance, choose
from tang.ir.expr import REAL, Expr, apply, arg, index, iota
from tang.ir.graph import Comprehension, Dim, Graph, Output
from tang.ir.monoids import SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.schedule import Schedule
from tang.rewrite import PIPELINE, RULES, rewrite
from tang.verify.derive import Derivation, Gradient, differentiated

LOSS: Final = "loss"
"""Name of the output that gradients are taken of."""

_MOST: Final = 400
"""Elements of a tensor that is summed into a loss at most, and of an input differentiated by."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A derivation, and how the derived program is scheduled.

    schedule  a number from which the schedule is drawn once the program is known; 0 is the default
    """

    derivation: Derivation
    schedule: int = 0

    def scheduler(self, formats: Formats) -> Callable[[Graph], Schedule]:
        """The schedule of a derived program, a function of its structure and of the number."""
        return partial(_scheduled, self.schedule, formats)


def _scheduled(number: int, formats: Formats, graph: Graph) -> Schedule:
    if number == 0:
        return Schedule()
    lenient = frozenset(n.name for n in graph.nodes if n.monoid and not n.monoid.strict)
    source = SeededSource(number, 0)
    schedule = draw_schedule(source, graph, lenient, formats)
    return draw_precisions(source, graph, schedule, lenient)


@dataclass(frozen=True, slots=True)
class _Habit:
    """Rates, of 100: programs with a recipe, the pipeline, strict rewriting, gradients."""

    recipe: int = 95
    pipeline: int = 85
    strict: int = 25
    gradient: int = 12
    weighted: int = 60


_RANDOM: Final = _Habit(recipe=35, pipeline=55, strict=50, gradient=35)
_HABITS: Final = {"": _RANDOM, "gradient": _Habit(gradient=90)}
"""By what a program is there for; the default for rules, which mostly need finite operands."""


def draw_recipe(source: Source, drawn: DrawnGraph) -> tuple[Graph, Recipe | None]:
    """A recipe and the graph that it starts from, which has a loss where one is needed."""
    graph, sizes = drawn.graph, drawn.sizes
    habit = _HABITS.get(drawn.motif, _Habit())
    if not chance(source, habit.recipe):
        return graph, None
    rules = _draw_rules(source, habit.pipeline)
    if rules is None and drawn.motif in RULES:
        rules = (drawn.motif, *PIPELINE)
    strict = chance(source, habit.strict)
    number = source.below(2**16)
    wrt = _draw_wrt(source, graph, sizes) if chance(source, habit.gradient) else ()
    summed = _summable(graph, sizes) if wrt else []
    if not summed:
        return graph, Recipe(Derivation(rules=rules, strict=strict), number)
    made = Derivation(rules=rules, strict=strict, gradient=Gradient(LOSS, wrt))
    uneven = chance(source, habit.weighted)
    return _with_loss(graph, choose(source, summed), uneven), Recipe(made, number)


def _draw_rules(source: Source, percent: int) -> tuple[str, ...] | None:
    """The pipeline at that rate, or some rules in any order; shrinks to a single rule."""
    if chance(source, percent):
        return None
    left = list(RULES)
    wanted = 1 + source.below(len(left))
    return tuple(left.pop(source.below(len(left))) for _ in range(wanted))


def _draw_wrt(source: Source, graph: Graph, sizes: Mapping[str, int]) -> tuple[str, ...]:
    names = [
        i.name
        for i in graph.inputs
        if i.sort is REAL and prod(p.evaluate(sizes) for p in i.shape) <= _MOST
    ]
    if not names:
        return ()
    kept = tuple(n for n in names if chance(source, 60))
    return kept or (choose(source, names),)


def _summable(graph: Graph, sizes: Mapping[str, int]) -> list[Output]:
    def small(o: Output) -> bool:
        return prod(p.evaluate(sizes) for p in graph.shape(o.ref)) <= _MOST

    taken = any(o.name == LOSS for o in graph.outputs)
    found = (o for o in graph.outputs if o.ref.output and graph.sort(o.ref) is REAL and small(o))
    return [] if taken else list(found)


def _with_loss(graph: Graph, summed: Output, uneven: bool) -> Graph:
    """The graph with the sum of one of its results, perhaps weighted, as a further output."""
    dims = tuple(Dim(f"r{n}", extent) for n, extent in enumerate(graph.shape(summed.ref)))
    read = Read(summed.ref, View(tuple(variable(d.name) for d in dims)))
    names = {n.name for n in graph.nodes} | {i.name for i in graph.inputs}
    name = next(n for n in (LOSS, *(f"{LOSS}{k}" for k in range(len(names) + 1))) if n not in names)
    body = apply("mul", _weight(dims), arg(0)) if uneven and dims else arg(0)
    node = Comprehension(name, (), (read,), (body,), dims, (), SUM)
    outputs = (*graph.outputs, Output(LOSS, Ref(name, "value")))
    return replace(graph, nodes=(*graph.nodes, node), outputs=outputs)


def _weight(dims: Sequence[Dim]) -> Expr:
    """((1 + 2·r0 + 3·r1 + …) mod 7) − 3, so that neither sums nor symmetric terms vanish."""
    total = index(1)
    for n, d in enumerate(dims):
        total = apply("add", total, apply("mul", index(n + 2), iota(d.name)))
    return apply("to_real", apply("add", apply("mod", total, index(7)), index(-3)))


# --- plain data ----------------------------------------------------------------------------------


def recipe_data(recipe: Recipe | None, formats: Formats) -> dict[str, Any] | None:
    """The recipe as plain data, for repro files, with the formats that its schedule may use."""
    if recipe is None:
        return None
    derivation, gradient = recipe.derivation, recipe.derivation.gradient
    return {
        "rules": None if derivation.rules is None else list(derivation.rules),
        "strict": derivation.strict,
        "loss": gradient.loss if gradient else None,
        "wrt": list(gradient.wrt) if gradient else [],
        "schedule": recipe.schedule,
        "f64": formats.f64,
        "i64": formats.i64,
    }


def recipe_from(data: Mapping[str, Any]) -> tuple[Recipe, Formats]:
    """The recipe and the formats that `recipe_data` wrote."""
    rules = data["rules"]
    gradient = Gradient(data["loss"], tuple(data["wrt"])) if data["loss"] else None
    names = None if rules is None else tuple(rules)
    made = Derivation(rules=names, strict=bool(data["strict"]), gradient=gradient)
    formats = Formats(f64=bool(data["f64"]), i64=bool(data["i64"]))
    return Recipe(made, int(data["schedule"])), formats


def derived_program(
    graph: Graph, recipe: Recipe, formats: Formats
) -> tuple[Graph, Schedule, frozenset[str]]:
    """What the recipe makes of a program, unchecked, and the rules that had something to do.

    Raises whatever autodiff and the rules raise.
    """
    made = recipe.derivation
    done = rewrite(differentiated(graph, made), made.rules, made.strict)
    applied = frozenset(s.rule for s in done.trace)
    return done.graph, recipe.scheduler(formats)(done.graph), applied


# --- coverage ------------------------------------------------------------------------------------


def drawn_cells(recipe: Recipe | None) -> Iterable[str]:
    """What coverage counts of a drawn recipe."""
    if recipe is None:
        return
    derivation = recipe.derivation
    yield "derived:strict" if derivation.strict else "derived:default"
    yield "derived:pipeline" if derivation.rules is None else "derived:some-rules"
    if derivation.gradient is not None:
        yield "derived:gradient"


def derivation_cells() -> tuple[str, ...]:
    """Every cell of these two groups."""
    kinds = ("strict", "default", "pipeline", "some-rules", "gradient")
    return (*(f"derived:{k}" for k in kinds), *(f"applied:{name}" for name in RULES))
