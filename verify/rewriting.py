"""The rung `rewrite`: a program against what rules made of it, and each step on its own.

Defines `checker`, which judges the local pair of every application (checked mode), and
`check_rewrite`, which compares whole programs and names the rule at fault. Relies on `equality`
and on the interpreter. It edits no program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.errors import GraphError, LimitError, RewriteError
from tang.interpreter import interpret
from tang.ir.bind import bind
from tang.ir.expr import REAL
from tang.ir.graph import Fact, Graph
from tang.ir.validate import validate
from tang.rewrite import Rewritten, Step, rewrite
from tang.rewrite.local import Application
from tang.rewrite.program import Program
from tang.rewrite.rule import Requirement
from tang.verify.equality import Comparison, compare_graphs
from tang.verify.inputs import random_inputs
from tang.verify.report import Finding, RungResult
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]

POINTS: Final = 200_000
"""Applications with more points (of one node) than this are not evaluated, but counted."""

_SPECIALS: Final = (float("inf"), float("-inf"), float("nan"), 0.0)


@dataclass(slots=True)
class LocalChecker:
    """Judges applications on small data; equal applications are evaluated once.

    checked, unchecked  how many were judged, and how many were too large or refused the data
    """

    seed: int = 0
    checked: int = 0
    unchecked: int = 0
    known: dict[Application, str | None] = field(default_factory=dict)

    def __call__(self, application: Application) -> str | None:
        if application not in self.known:
            self.known[application] = self._judge(application)
        return self.known[application]

    def _judge(self, a: Application) -> str | None:
        sizes = small_sizes(a.before.symbols | a.after.symbols, a.before.facts)
        before = bind(a.before, sizes)
        try:
            after = bind(a.after, sizes)
            validate(after)
        except GraphError as e:
            return f"the program after is illegal at {sizes}: {e}"
        if max(map(_points, (before, after))) > POINTS:
            self.unchecked += 1
            return None
        taken = 0
        for inputs in data_of(before, self.seed, specials=a.strict):
            if not _takes(before, inputs):
                continue
            taken += 1
            try:
                wrong = _first(compare_graphs(before, after, inputs, strict=a.strict), sizes)
            except (GraphError, LimitError) as e:
                wrong = f"the program before takes the data, the one after does not: {e}"
            if wrong is not None:
                return wrong
        self.checked += taken > 0
        self.unchecked += taken == 0
        return None


def _takes(graph: Graph, inputs: Mapping[str, Array]) -> bool:
    """Whether a program can be run on these data."""
    try:
        interpret(graph, inputs)
    except (GraphError, LimitError):
        return False
    return True


def checker(seed: int = 0) -> LocalChecker:
    """A checker for `rewrite(graph, check=checker())`; its counts say how much was evaluated."""
    return LocalChecker(seed)


def _first(found: Iterable[Comparison], sizes: Mapping[str, int]) -> str | None:
    for c in found:
        if c.different:
            at = ", ".join(f"{s} = {n}" for s, n in sorted(sizes.items()))
            return f"result {c.name} changed{' at ' + at if at else ''}:\n{c.detail()}"
    return None


def small_sizes(symbols: Iterable[str], facts: Iterable[Fact]) -> dict[str, int]:
    """Small sizes, different where facts allow, so that exchanged extents show."""
    known = {f.symbol: f for f in facts}
    numbers = count(3)
    return {s: _size(known.get(s, Fact(s)), next(numbers)) for s in sorted(symbols)}


def _size(f: Fact, wanted: int) -> int:
    size = -(-max(wanted, f.minimum) // f.multiple) * f.multiple
    return size if f.maximum is None or size <= f.maximum else f.maximum // f.multiple * f.multiple


def data_of(graph: Graph, seed: int, *, specials: bool) -> list[dict[str, Array]]:
    """Dyadic numbers, on which most arithmetic is exact, floats, and floats with specials."""
    try:
        floats = random_inputs(graph, {}, seed)
        dyadic = random_inputs(graph, {}, seed + 1)
    except (GraphError, LimitError):
        return []
    sorts = {i.name: i.sort for i in graph.inputs}
    real = [n for n, s in sorts.items() if s is REAL]
    dyadic |= {n: np.round(np.asarray(dyadic[n], np.float64) * 4) / 4 for n in real}
    found = [dyadic, floats]
    if specials and real:
        rng = np.random.default_rng(seed)
        special = {n: _with_specials(np.asarray(dyadic[n]), rng) for n in real}
        found.append({**dyadic, **special})
    return found


def _with_specials(array: Array, rng: np.random.Generator) -> Array:
    chosen = rng.random(array.shape) < 0.2
    return np.where(chosen, rng.choice(_SPECIALS, array.shape), array)


def _points(graph: Graph) -> int:
    sizes = [prod(d.extent.constant for d in n.dims) for n in graph.nodes]
    return max([*sizes, *(prod(p.constant for p in i.shape) for i in graph.inputs), 0])


@dataclass(frozen=True, slots=True)
class Checked:
    """The rung's result, its findings, and what the rules made of the program."""

    result: RungResult
    findings: tuple[Finding, ...]
    rewritten: Rewritten | None


def check_rewrite(
    graph: Graph,
    inputs: Mapping[str, Array],
    rules: Iterable[str] | None = None,
    *,
    strict: bool = False,
    local: LocalChecker | None = None,
) -> Checked:
    """Rewrite a program, judging every step, and compare the whole on the given data."""
    names = None if rules is None else tuple(rules)
    judge = local or checker()
    before = judge.unchecked
    try:
        done = rewrite(graph, names, strict, check=judge)
    except RewriteError as e:
        return Checked(RungResult(Rung.REWRITE), (_finding(e.rule, e.node, str(e)),), None)
    except Exception as e:  # noqa: BLE001 - a rule that raises anything at all is a finding
        return Checked(RungResult(Rung.REWRITE), (_raised(e),), None)
    whole = _tried(graph, done.graph, inputs, exact=True)
    if isinstance(whole, list) and not any(c.different for c in whole):
        staged = _Staged()
    else:
        staged = _stage_by_stage(_walked(graph, names, strict=strict), inputs, strict=strict)
    found = whole if isinstance(whole, list) and not staged.findings else []
    applied = tuple(dict.fromkeys(s.rule for s in done.trace))
    result = RungResult(
        Rung.REWRITE,
        elements=sum(c.decisions.size for c in found),
        undecided=sum(c.undecided for c in found),
        skipped=staged.skipped,
        note=_steps(len(done.trace), judge.unchecked - before),
        rules=applied,
    )
    return Checked(result, staged.findings, done)


def _steps(count: int, unchecked: int) -> str:
    return f"{count} steps" + (f", {unchecked} of them only as a whole" if unchecked else "")


@dataclass(frozen=True, slots=True)
class _Walk:
    """A derivation: the program at first and after every step."""

    graphs: list[Graph]
    steps: list[Step]

    def keep(self, step: Step, program: Program) -> None:
        self.graphs.append(program.graph())
        self.steps.append(step)

    def stages(self) -> Iterator[tuple[int, int, bool]]:
        """Runs of steps, first … last + 1, that all need finite operands, or none of them does."""
        start = 0
        for n in range(1, len(self.steps) + 1):
            last = n == len(self.steps)
            if last or _needs_finite(self.steps[n]) != _needs_finite(self.steps[start]):
                yield start, n, not _needs_finite(self.steps[start])
                start = n


def _walked(graph: Graph, rules: tuple[str, ...] | None, *, strict: bool) -> _Walk:
    """The derivation once more, with every program on the way: only a difference needs them."""
    walk = _Walk([graph], [])
    rewrite(graph, rules, strict, observe=walk.keep)
    return walk


@dataclass(frozen=True, slots=True)
class _Staged:
    """What the stages of a derivation have to say: elements skipped, and the first fault."""

    skipped: int = 0
    findings: tuple[Finding, ...] = ()


def _stage_by_stage(walk: _Walk, inputs: Mapping[str, Array], *, strict: bool) -> _Staged:
    """Compare the programs at the ends of every stage.

    Only in a stage whose rules need finite operands may an element differ behind a NaN or an
    infinity, so that no such value hides the fault of a rule that keeps them.
    """
    skipped = 0
    for start, end, keeps in walk.stages():
        exact = strict or keeps
        found = _tried(walk.graphs[start], walk.graphs[end], inputs, exact=exact)
        if isinstance(found, str) or any(c.different for c in found):
            return _Staged(findings=(_blamed(walk, start, end, inputs, exact=exact),))
        skipped += sum(int(c.skipped.sum()) for c in found)
    return _Staged(skipped)


def _tried(
    left: Graph, right: Graph, inputs: Mapping[str, Array], *, exact: bool
) -> list[Comparison] | str:
    """The comparisons; why there are none, when the right side refuses what the left one takes."""
    try:
        return compare_graphs(left, right, inputs, strict=exact)
    except GraphError as e:
        return str(e)


def _needs_finite(step: Step) -> bool:
    return Requirement.FINITE in step.requires


def _blamed(
    walk: _Walk, start: int, end: int, inputs: Mapping[str, Array], *, exact: bool
) -> Finding:
    """The finding on the first step of a stage after which the program differs."""
    low, high = start, end - 1
    while low < high:
        middle = (low + high) // 2
        if _wrong(walk, start, middle, inputs, exact=exact) is None:
            low = middle + 1
        else:
            high = middle
    what, detail = _wrong(walk, start, low, inputs, exact=exact) or ("changed the program", "")
    step = walk.steps[low]
    return _finding(step.rule, step.node, f"{step} {what}", detail)


def _wrong(
    walk: _Walk, start: int, step: int, inputs: Mapping[str, Array], *, exact: bool
) -> tuple[str, str] | None:
    """What is wrong after a step, against the beginning of its stage; None when nothing is."""
    found = _tried(walk.graphs[start], walk.graphs[step + 1], inputs, exact=exact)
    if isinstance(found, str):
        return f"made a program that refuses the data: {found}", ""
    different = next((c for c in found if c.different), None)
    return None if different is None else (f"changed output {different.name}", different.detail())


def _raised(error: Exception) -> Finding:
    """The finding on a rule that raised; the engine notes which rule was at work."""
    notes = getattr(error, "__notes__", [""])
    rule = notes[0].removeprefix("in rule ").partition(" ")[0]
    return _finding(rule, "", f"{type(error).__name__}: {error} ({notes[0]})")


def _finding(rule: str, node: str, message: str, detail: str = "") -> Finding:
    head, _, rest = message.partition("\n")
    return Finding(
        Rung.REWRITE,
        Verdict.WRONG,
        head,
        node=node,
        detail=detail or rest,
        origin=f"rule {rule}",
    )
