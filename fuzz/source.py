"""Where random decisions come from: one question, "a number below n", and two who answer it.

Defines `Source`, answered by a seeded generator (fast, recorded) or by hypothesis (shrinkable), and
the weighted choices built on it. Relies on hypothesis for the second alone. Every choice lists its
simplest option first, because hypothesis shrinks numbers towards 0; nothing here knows a graph.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Source(Protocol):
    """Answers every decision of a draw."""

    def below(self, n: int) -> int:
        """A number in 0 … n−1; towards 0 when shrinking. A choice of one is not a choice."""

    def part(self, build: Callable[[Source], T]) -> T:
        """The result of `build`, marked as one part, so that shrinking can drop it whole."""


class SeededSource:
    """Decisions from (seed, index) alone: the same on every machine and version of anything.

    `choices` records them, so that hypothesis can take over where a check failed.
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

    def part(self, build: Callable[[Source], T]) -> T:
        return build(self)


class HypothesisSource:
    """Decisions drawn by hypothesis: for shrinking, and for strategies in anybody's own tests."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return 0 if n == 1 else int(self._draw(_numbers(n)))

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
    """One of the options by integer weight; shrinks towards the first."""
    left = source.below(sum(weight for weight, _ in options))
    for weight, option in options:
        if left < weight:
            return option
        left -= weight
    return options[-1][1]


def chance(source: Source, percent: int) -> bool:
    """True in so many of 100 draws; shrinks towards False."""
    return source.below(100) >= 100 - percent


def between(source: Source, low: int, high: int) -> int:
    """An integer in low … high; shrinks towards low."""
    return low + source.below(high - low + 1)
