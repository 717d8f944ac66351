"""Reduction of decisions: a shorter, smaller list that still builds a failing case.

Defines `reduce_choices`, a first and coarse stage of shrinking that drops whole parts of a draw,
which hypothesis would find out number by number. Relies on `ReplaySource`. Order of lists:
shorter first, then smaller; it only ever moves down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tang.fuzz.source import ReplaySource

Choices = tuple[int, ...]
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Draw:
    """Decisions as they were used, and the parts among them."""

    choices: Choices
    spans: Spans

    @property
    def key(self) -> tuple[int, Choices]:
        return len(self.choices), self.choices


def reduce_choices(choices: Choices, fails: Callable[[ReplaySource], bool]) -> Choices:
    """A smaller list of decisions for which `fails` still holds, or the same.

    `fails` builds a case from the source and checks it.
    """
    current = _replay(choices, fails)
    if current is None:
        return choices
    while True:
        found = _one_round(current, fails)
        if found is current:
            return current.choices
        current = found


def _one_round(current: _Draw, fails: Callable[[ReplaySource], bool]) -> _Draw:
    for candidates in (_zeroed_parts, _without_parts, _hoisted_parts, _windows, _smaller_values):
        current = _descend(current, candidates, fails)
    return current


def _descend(
    current: _Draw,
    candidates: Callable[[_Draw], Iterator[Choices]],
    fails: Callable[[ReplaySource], bool],
) -> _Draw:
    """Apply a pass once; after a success it goes on where it was, over the smaller draw."""
    tried: set[Choices] = {current.choices}
    position, progress = 0, True
    while progress:
        progress = False
        for at, choices in enumerate(candidates(current)):
            if at < position or choices in tried:
                continue
            tried.add(choices)
            found = _replay(choices, fails)
            if found is not None and found.key < current.key:
                current, position, progress = found, at, True
                break
    return current


def _replay(choices: Choices, fails: Callable[[ReplaySource], bool]) -> _Draw | None:
    source = ReplaySource(choices)
    if not fails(source):
        return None
    return _Draw(tuple(source.choices), tuple(source.spans))


def _largest_first(draw: _Draw) -> list[tuple[int, int]]:
    return sorted(set(draw.spans), key=lambda s: (s[0] - s[1], s[0]))


def _zeroed_parts(draw: _Draw) -> Iterator[Choices]:
    """before part after → before 0 after."""
    for start, end in _largest_first(draw):
        yield (*draw.choices[:start], 0, *draw.choices[end:])


def _without_parts(draw: _Draw) -> Iterator[Choices]:
    """before part after → before after, one decision ahead of it (a count, say) lowered by one."""
    for start, end in _largest_first(draw):
        rest = draw.choices[end:]
        ahead = [at for at in range(start) if draw.choices[at]]
        for at in ahead[:6] + ahead[-2:]:
            yield (
                *draw.choices[:at],
                draw.choices[at] - 1,
                *draw.choices[at + 1 : start],
                *rest,
            )


def _hoisted_parts(draw: _Draw) -> Iterator[Choices]:
    """before (… inner …) after → before inner after, for the largest few inner parts."""
    spans = _largest_first(draw)
    for start, end in spans:
        inner = [s for s in spans if start <= s[0] and s[1] <= end and s != (start, end)]
        for low, high in inner[:4]:
            yield draw.choices[:start] + draw.choices[low:high] + draw.choices[end:]


def _windows(draw: _Draw) -> Iterator[Choices]:
    """Runs of decisions dropped."""
    count = len(draw.choices)
    for width in (16, 4, 2, 1):
        for start in range(0, count, max(width // 2, 1)):
            yield draw.choices[:start] + draw.choices[min(start + width, count) :]


def _smaller_values(draw: _Draw) -> Iterator[Choices]:
    """One decision made smaller, the largest steps first."""
    for at, value in enumerate(draw.choices):
        for smaller in dict.fromkeys((0, value // 2, value - 1)):
            if 0 <= smaller < value:
                yield (*draw.choices[:at], smaller, *draw.choices[at + 1 :])
