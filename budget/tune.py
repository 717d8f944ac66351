"""A search for cheaper formats: one move at a time, kept where the program stays within budget.

Defines `tune_precision`, `tuned`, `search`, `Tuned`, `Move` and `Point`. Relies on the measurements
of `report_run` and on the bytes of plans as lowering makes them; no device is asked. A greedy
search has no claim to the best schedule, only to one that keeps the budget by the judge that was
given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from numbers import Real
from typing import Any, Final

import numpy as np

from tang.budget.report import Standing, unsaid
from tang.budget.report_case import Case, Question, case_of
from tang.budget.report_certified import certified_rows, certified_share
from tang.budget.report_cures import INPUTS, used_under
from tang.budget.report_inputs import checked_seed
from tang.budget.report_judge import name_of as tensor_name
from tang.budget.report_judge import refs_of, wanted_of
from tang.budget.report_run import odd_inputs
from tang.budget.report_samples import measure
from tang.errors import BudgetError, ScheduleError
from tang.ir.format import Format
from tang.ir.graph import Graph
from tang.ir.view import Ref
from tang.kernel.ir import BF16, F16, Type
from tang.kernel.lower import lower
from tang.kernel.narrow import E4M3FN, is_coded
from tang.kernel.plan import Buffer, Plan
from tang.kernel.schedule import NodeSchedule, Schedule, bytes_of, name_of
from tang.schedule.serial import format_from_json

Kind = Type | Format
Judge = Callable[[Schedule], float]
"""The part of the budget that a schedule takes: 1 and below is within."""

Timer = Callable[[Schedule], float]
"""The seconds that a schedule takes: `tang.budget.tune_time` measures them."""

CANDIDATES: Final[tuple[Kind, ...]] = (BF16, F16, E4M3FN)
ACCUMULATORS: Final[tuple[Kind, ...]] = (F16, BF16)
QUICKER: Final = 0.05
"""The part of its time that a move has to save, where it saves no bytes."""


@dataclass(frozen=True, slots=True)
class Move:
    """One tensor stored, or one node computed, in another format: what it saved, and the error.

    quicker  the part of the time that it saves, where that was measured
    why      it was refused, where it keeps the budget
    """

    node: str
    before: str
    after: str
    saved: int
    used: float
    kept: bool
    accumulates: bool = False
    quicker: float | None = None
    why: str = ""

    def __str__(self) -> str:
        fate, what = "kept" if self.kept else "refused", " accumulates" if self.accumulates else ""
        time = "" if self.quicker is None else f" and {100 * self.quicker:.3g}% of the time"
        why = f": {self.why}" if self.why else ""
        return (
            f"{fate:8}{self.node}{what}: {self.before} -> {self.after}, saves {self.saved:,} bytes"
            f"{time}, takes {part_of_budget(self.used)}{why}"
        )


def part_of_budget(used: float) -> str:
    """A part of a budget in words; infinite where nothing was allowed, or a number was lost."""
    return f"{100 * used:.3g}% of the budget" if math.isfinite(used) else "more than any budget"


@dataclass(frozen=True, slots=True)
class Point:
    """A schedule on the way: bytes that its kernels move, and the part of the budget it takes."""

    bytes: int
    used: float
    formats: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Tuned:
    """What a search found.

    schedule  the cheapest that keeps the budget;  moves  all that were tried, in order
    front     schedules within the budget that no other one beats in both bytes and error
    odd       NaN and infinities in the inputs that it was judged on, "" where there are none
    """

    schedule: Schedule
    moves: tuple[Move, ...]
    front: tuple[Point, ...]
    odd: str = ""

    def lines(self) -> list[str]:
        """The moves and the Pareto front as text."""
        head = [f"{'bytes':>14}  {'of budget':>9}  after"]
        rows = [
            f"{p.bytes:>14,}  {100 * p.used:>8.3g}%  {_after(len(p.formats))}" for p in self.front
        ]
        odd = [f"judged on inputs with {self.odd}"] if self.odd else []
        return [*odd, *map(str, self.moves), "", *head, *rows]


def _after(count: int) -> str:
    if count < 2:
        return "the first move kept" if count else "nothing: the start"
    return f"the first {count} moves kept"


def tune_precision(
    graph: Graph,
    budget: object,
    *,
    inputs: Mapping[str, Any] | None = None,
    candidates: Sequence[Kind | str] = CANDIDATES,
    accumulators: Sequence[Kind | str] = ACCUMULATORS,
    timer: Timer | None = None,
    start: object = "f32",
    certified: bool = False,
    samples: int = 1,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    rules: Iterable[str] | None = None,
) -> Tuned:
    """Lower formats of storage, then of accumulation, one at a time, while a budget is kept.

    budget      an ErrorBudget, Budgets, or a mapping of them by output or node
    inputs      arrays by name; None draws `samples` sets of them from `seed`
    candidates  formats of storage, by object or name
    accumulators  formats of accumulation: a move is kept only if it saves bytes (the buffers of
                split reductions) or, with a timer, time; () leaves accumulators as they are
    timer       seconds of a schedule, of `tang.budget.tune_time.timer_on`; None measures no time
    start       the precision that the search begins with, which has to keep the budget
    certified   judge by certificate, for all inputs within `ranges`, instead of by samples
    Without a timer the result depends on the arguments alone. Raises BudgetError where nothing has
    a budget, where a result with one is a number nowhere, and where the start is over budget.
    """
    asked = Question(
        budget=budget, inputs=inputs, samples=samples, seed=seed,
        sizes={} if sizes is None else sizes, ranges={} if ranges is None else ranges,
        rules=rules, certified=certified,
    )  # fmt: skip
    return tuned(graph, start, asked, candidates, accumulators, timer)


def tuned(
    graph: Graph,
    start: object,
    asked: Question,
    candidates: Sequence[Kind | str] = CANDIDATES,
    accumulators: Sequence[Kind | str] = ACCUMULATORS,
    timer: Timer | None = None,
) -> Tuned:
    """The same for a question that was put in one piece."""
    case = case_of(graph, start, asked)
    if case.scaled:
        raise BudgetError(
            "a search starts with a precision that is a schedule: this one has scales, or formats "
            "of single inputs, which make another program; take tang.budget.applied(precision, "
            "graph), and search on that program with that schedule and rules=()"
        )
    judged = [r for r in refs_of(case.graph) if wanted_of(case.graph, case.budgets, r).judged]
    if not judged:
        names = ", ".join(o.name for o in case.graph.outputs)
        raise BudgetError(
            f"the search has nothing to keep: give a budget of an output ({names}) or a node"
        )
    if asked.certified:
        _refuse_unproved(case)
    else:
        _refuse_no_numbers(case, judged)
    judge = judge_of(case, asked)
    found = search(case.graph, case.schedule, judge, candidates, asked.seed, accumulators, timer)
    return replace(found, odd=odd_inputs(case))


def _refuse_no_numbers(case: Case, judged: Sequence[Ref]) -> None:
    """BudgetError where every format would do, since a result is a number nowhere in f64."""
    for ref in judged:
        found = [np.asarray(s.exact[ref], np.float64) for s in case.settings]
        if any(a.size for a in found) and not any(np.isfinite(a).any() for a in found):
            odd = odd_inputs(case)
            raise BudgetError(
                f"no element of {tensor_name(case.graph, ref)} is a number in f64"
                + (f", with {odd}" if odd else "")
                + ": every format would keep its budget, so give other inputs"
            )


def _refuse_unproved(case: Case) -> None:
    """BudgetError that says why a certificate does not prove the start, and what would help."""
    strength, rows = certified_rows(case, ())
    for row in rows:
        if row.judged and row.standing is not Standing.CERTIFIED:
            more = (
                ": allow more, or start with finer formats" if math.isfinite(row.certified) else ""
            )
            why = unsaid(row, by_range=strength == "range")
            raise BudgetError(f"the search starts with formats that are not proved: {why}{more}")


def judge_of(case: Case, asked: Question) -> Judge:
    """How schedules are judged: by samples, or by certificate where that is asked for."""
    if asked.certified:
        return lambda schedule: certified_share(case, schedule)
    measured = [measure(s, case.schedule, case.seed, tiles=case.tiles) for s in case.settings]
    return lambda schedule: used_under(case, measured, schedule)


def search(
    graph: Graph,
    start: Schedule,
    judge: Judge,
    candidates: Sequence[Kind | str] = CANDIDATES,
    seed: int = 0,
    accumulators: Sequence[Kind | str] = (),
    timer: Timer | None = None,
) -> Tuned:
    """The greedy search, for any judge; extents of the graph are numbers.

    Tensors are taken by the bytes that their cheapest format saves, ties in an order drawn from
    the seed; each gets the cheapest candidate with which the judge finds the program within, of
    several of one size the one with the least error.
    """
    kinds, narrow = _kinds(candidates, "candidates"), _kinds(accumulators, "accumulators")
    clock = _checked_timer(timer)
    now, used = start, judge(start)
    if not used <= 1:
        raise BudgetError(
            f"the search starts over budget, it takes {part_of_budget(used)}: allow more, or start "
            "with finer formats"
        )
    points = [Point(moved_bytes(lower(graph, start)), used, ())]
    moves: list[Move] = []
    for name in _in_order(graph, start, kinds, seed):
        for tried in _moves(graph, now, name, kinds, judge):
            best = min(tried, key=lambda pair: pair[0].used)
            kept = best[0].used <= 1
            moves += [_judged(m, best[0], kept) for m, _ in tried]
            if kept:
                now = best[1]
                size = moved_bytes(lower(graph, now))
                points.append(Point(size, best[0].used, _changes(graph, start, now)))
                break
    for node in (n.name for n in graph.nodes if n.monoid is not None):
        for kind in (k for k in narrow if _is_narrower(k, now.of(node).accumulate)):
            move, schedule = _computed(graph, now, node, kind, judge, clock)
            if move is None:
                continue
            moves.append(move)
            if move.kept:
                now = schedule
                size = moved_bytes(lower(graph, now))
                points.append(Point(size, move.used, _changes(graph, start, now)))
                break
    return Tuned(now, tuple(moves), tuple(front_of(points)))


def moved_bytes(plan: Plan) -> int:
    """The bytes of all buffers that each kernel of a plan reads or writes, once per kernel."""
    sizes = {b.name: _bytes(b) for b in plan.buffers}
    return sum(sizes[name] for launch in plan.launches for name in dict.fromkeys(launch.buffers))


def _bytes(buffer: Buffer) -> int:
    """A buffer in a device's memory, where formats of up to 8 bits are codes of one byte."""
    coded = buffer.conversion is not None and is_coded(buffer.conversion.format)
    return prod(p.constant for p in buffer.shape) * (1 if coded else buffer.type.bytes)


def front_of(points: Sequence[Point]) -> list[Point]:
    """The points that no other one beats in both, from the most bytes to the fewest."""
    kept: list[Point] = []
    for p in sorted(points, key=lambda p: (p.bytes, p.used)):
        if not kept or p.used < kept[-1].used:
            kept.append(p)
    return kept[::-1]


# --- moves ----------------------------------------------------------------------------------------


def _kinds(given: object, where: str) -> list[Kind]:
    """Formats from a caller's sequence of them, by object or name; else ScheduleError."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ScheduleError(
            f'{where} are a sequence of formats, as in ("f16", "bf16"), () for none, not {given!r}'
        )
    return [_kind(c, where) for c in given]


def _kind(given: object, where: str) -> Kind:
    if isinstance(given, Format) or (isinstance(given, Type) and given.is_float):
        return given
    return format_from_json(given, where)


def _checked_timer(timer: Timer | None) -> Timer | None:
    """A caller's timer, whose seconds are known to be such."""
    if timer is None:
        return None
    if not callable(timer):
        raise BudgetError(
            f"a timer is a function from a schedule to seconds, not {timer!r}: take timer_on of "
            "tang.budget.tune_time, or None"
        )
    return lambda schedule: _seconds(timer(schedule))


def _seconds(found: object) -> float:
    try:
        number = isinstance(found, Real) and not isinstance(found, bool)
        value = float(found) if number else math.nan  # type: ignore[arg-type]  # a number
    except OverflowError:
        value = math.inf
    if not (math.isfinite(value) and value >= 0):
        raise BudgetError(f"a timer gives seconds, a number of 0 or more, not {found!r}")
    return value


def _in_order(graph: Graph, start: Schedule, kinds: Sequence[Kind], seed: int) -> list[str]:
    """The tensors whose format can be lowered, those first that save most."""
    full = moved_bytes(lower(graph, start))
    saved: dict[str, int] = {}
    for name in (INPUTS, *(n.name for n in graph.nodes)):
        sizes = [moved_bytes(lower(graph, stored_as(start, graph, name, k))) for k in kinds]
        saved[name] = full - min(sizes, default=full)
    rng = np.random.default_rng(checked_seed(seed))
    ties = {name: float(rng.random()) for name in saved}
    return sorted((n for n in saved if saved[n] > 0), key=lambda n: (-saved[n], ties[n]))


def _moves(
    graph: Graph, now: Schedule, name: str, kinds: Sequence[Kind], judge: Judge
) -> Iterable[list[tuple[Move, Schedule]]]:
    """A tensor in every cheaper format, judged; formats of one size together, the smallest first.

    None is kept yet.
    """
    before = now.default.storage if name == INPUTS else now.of(name).storage
    full = moved_bytes(lower(graph, now))
    for size in sorted({bytes_of(k) for k in kinds}):
        tried = []
        for kind in (k for k in kinds if bytes_of(k) == size):
            schedule = stored_as(now, graph, name, kind)
            saved = full - moved_bytes(lower(graph, schedule))
            if saved > 0:
                move = Move(name, name_of(before), name_of(kind), saved, judge(schedule), False)
                tried.append((move, schedule))
        if tried:
            yield tried


def _judged(move: Move, best: Move, kept: bool) -> Move:
    """A move that was kept or refused, and why where the budget is no reason."""
    if move is best or not kept:
        return replace(move, kept=kept and move is best)
    if move.used > 1:
        return move
    tie = move.used == best.used
    return replace(
        move, why=f"{best.after} is as small and " + ("as exact" if tie else "errs less")
    )


def _is_narrower(kind: Kind, than: Kind) -> bool:
    return bytes_of(kind) < bytes_of(than)


def _computed(
    graph: Graph, now: Schedule, name: str, kind: Kind, judge: Judge, timer: Timer | None
) -> tuple[Move | None, Schedule]:
    """A fold in a narrower accumulator; no move where it could save nothing."""
    chosen = now.by_name(graph)
    before = chosen[name]
    nodes = tuple((n, replace(s, accumulate=kind) if n == name else s) for n, s in chosen.items())
    schedule = replace(now, nodes=nodes)
    saved = moved_bytes(lower(graph, now)) - moved_bytes(lower(graph, schedule))
    if before.promote or (saved <= 0 and timer is None):
        return None, now
    used, quicker = judge(schedule), None
    if timer is not None and used <= 1:
        seconds = timer(now)
        quicker = 1 - timer(schedule) / seconds if seconds > 0 else 0.0
    worth = saved > 0 or (quicker is not None and quicker > QUICKER)
    why = "too little" if used <= 1 and not worth else ""
    move = Move(
        name, name_of(before.accumulate), name_of(kind), saved, used, used <= 1 and worth,
        True, quicker, why,
    )  # fmt: skip
    return move, schedule


def stored_as(schedule: Schedule, graph: Graph, name: str, kind: Kind) -> Schedule:
    """The schedule with one node's results, or all inputs, stored in a format."""
    chosen = schedule.by_name(graph)
    nodes = tuple((n, _stored(s, kind) if n == name else s) for n, s in chosen.items())
    default = _stored(schedule.default, kind) if name == INPUTS else schedule.default
    return replace(schedule, nodes=nodes, default=default)


def _stored(s: NodeSchedule, kind: Kind) -> NodeSchedule:
    return replace(s, storage=kind)


def _changes(graph: Graph, start: Schedule, now: Schedule) -> tuple[tuple[str, str], ...]:
    """What is stored or computed otherwise than at the start."""
    found = []
    if now.default.storage != start.default.storage:
        found.append((INPUTS, name_of(now.default.storage)))
    for n in graph.nodes:
        if now.of(n.name).storage != start.of(n.name).storage:
            found.append((n.name, name_of(now.of(n.name).storage)))
        if now.of(n.name).accumulate != start.of(n.name).accumulate:
            found.append((f"{n.name} accumulates", name_of(now.of(n.name).accumulate)))
    return tuple(found)
