"""Where random decisions come from: one question, "a number below n", and who answers it.

Defines `Source`, answered by a seeded generator (fast, recorded), by a list of earlier answers, or
by hypothesis, and the weighted choices built on it. Every choice lists its simplest option first,
because numbers shrink towards 0; nothing here knows a graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Tree = list["int | Tree"]
"""Decisions, those of every part in a list of their own."""


class Source(Protocol):
    """Answers every decision of a draw."""

    def below(self, n: int) -> int:
        """A number in 0 … n−1; towards 0 when shrinking. A choice of one is not a choice."""

    def option(self, weights: tuple[int, ...]) -> int:
        """The position of an option drawn by weight; towards 0 when shrinking."""

    def part(self, build: Callable[[Source], T]) -> T:
        """The result of `build`, marked as one part, so that shrinking can drop it whole."""


class SeededSource:
    """Decisions from (seed, index) alone: the same on every machine and version of anything.

    `choices` records them, so that shrinking can take over where a check failed.
    """

    def __init__(self, seed: int, index: int) -> None:
        self._random = random.Random(f"tang/{seed}/{index}").random  # noqa: S311 - no secret
        self.choices: list[int] = []

    def below(self, n: int) -> int:
        if n == 1:
            return 0
        choice = int(self._random() * n)
        self.choices.append(choice)
        return choice

    def option(self, weights: tuple[int, ...]) -> int:
        left = self._random() * sum(weights)
        choice = 0
        while choice < len(weights) - 1 and left >= weights[choice]:
            left -= weights[choice]
            choice += 1
        self.choices.append(choice)
        return choice

    def part(self, build: Callable[[Source], T]) -> T:
        return build(self)


class ReplaySource:
    """Decisions read from a list, 0 when it is exhausted and never out of range.

    `choices` are those that were used, `tree` the same with every part as a list of its own.
    """

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self.choices: list[int] = []
        self.tree: Tree = []

    def below(self, n: int) -> int:
        if n == 1:
            return 0
        at = len(self.choices)
        return self._used(min(self._script[at], n - 1) if at < len(self._script) else 0)

    def option(self, weights: tuple[int, ...]) -> int:
        return self.below(len(weights))

    def part(self, build: Callable[[Source], T]) -> T:
        outer = self.tree
        self.tree = []
        result = build(self)
        outer.append(self.tree)
        self.tree = outer
        return result

    def _used(self, choice: int) -> int:
        self.choices.append(choice)
        self.tree.append(choice)
        return choice


class TreeSource:
    """Decisions read from a tree: a part that needs more or fewer leaves the others alone."""

    def __init__(self, script: Tree) -> None:
        self._left = list(reversed(script))
        self.choices: list[int] = []
        self.tree: Tree = []

    def below(self, n: int) -> int:
        if n == 1:
            return 0
        found = self._left[-1] if self._left else 0
        choice = 0
        if isinstance(found, int) and self._left:
            self._left.pop()
            choice = min(found, n - 1)
        self.choices.append(choice)
        self.tree.append(choice)
        return choice

    def option(self, weights: tuple[int, ...]) -> int:
        return self.below(len(weights))

    def part(self, build: Callable[[Source], T]) -> T:
        outer, left = self.tree, self._left
        while left and isinstance(left[-1], int):
            left.pop()
        script = left.pop() if left else []
        self.tree, self._left = [], list(reversed(script if isinstance(script, list) else []))
        result = build(self)
        outer.append(self.tree)
        self.tree, self._left = outer, left
        return result


class HypothesisSource:
    """Decisions drawn by hypothesis: for shrinking, and for strategies in anybody's own tests.

    Options are drawn without their weights, so that the same choices mean the same everywhere.
    """

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return 0 if n == 1 else int(self._draw(_numbers(n)))

    def option(self, weights: tuple[int, ...]) -> int:
        return self.below(len(weights))

    def part(self, build: Callable[[Source], T]) -> T:
        result: T = self._draw(_part(build))
        return result


@cache
def _numbers(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


@st.composite
def _part(draw: st.DrawFn, build: Callable[[Source], T]) -> T:
    return build(HypothesisSource(draw))


def choose(source: Source, options: Sequence[T]) -> T:
    """One of the options, all equally likely; shrinks towards the first."""
    return options[source.below(len(options))]


def weighted(source: Source, options: Sequence[tuple[int, T]]) -> T:
    """One of two or more options by integer weight; shrinks towards the first."""
    return options[source.option(tuple(weight for weight, _ in options))][1]


def chance(source: Source, percent: int) -> bool:
    """True in so many of 100 draws; shrinks towards False."""
    return source.option((100 - percent, percent)) == 1


def between(source: Source, low: int, high: int) -> int:
    """An integer in low … high; shrinks towards low."""
    return low + source.below(high - low + 1)
