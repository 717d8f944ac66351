"""Reduction of decisions: a smaller tree that still builds a failing case.

Defines `reduce_choices`, a first stage of shrinking that drops whole parts of a draw, which
hypothesis would have to find out number by number. Relies on `TreeSource`. Order of trees: fewer
decisions first, then smaller ones; it only ever moves down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tang.fuzz.source import ReplaySource, Source, Tree, TreeSource

Choices = tuple[int, ...]
Path = tuple[int, ...]
Fails = Callable[[Source], bool]


@dataclass(frozen=True, slots=True)
class _Draw:
    """Decisions as they were used, flat and as a tree."""

    choices: Choices
    tree: Tree

    @property
    def key(self) -> tuple[int, Choices]:
        return len(self.choices), self.choices


def reduce_choices(choices: Choices, fails: Fails) -> Choices:
    """A smaller list of decisions for which `fails` still holds, or the same.

    `fails` builds a case from the source and checks it.
    """
    source = ReplaySource(choices)
    if not fails(source):
        return choices
    current = _Draw(tuple(source.choices), source.tree)
    while True:
        found = current
        for candidates in (_emptied, _removed, _hoisted, _moved, _smaller):
            found = _descend(found, candidates, fails)
        if found is current:
            return current.choices
        current = found


def _descend(current: _Draw, candidates: Callable[[Tree], Iterator[Tree]], fails: Fails) -> _Draw:
    """Apply a pass once; after a success it goes on where it was, over the smaller draw."""
    position, progress = 0, True
    while progress:
        progress = False
        for at, tree in enumerate(candidates(current.tree)):
            if at < position:
                continue
            source = TreeSource(tree)
            if not fails(source):
                continue
            found = _Draw(tuple(source.choices), source.tree)
            if found.key < current.key:
                current, position, progress = found, at, True
                break
    return current


def _parts(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Every part with its path, outer ones first."""
    for at, item in enumerate(tree):
        if isinstance(item, list):
            yield (*path, at), item
            yield from _parts(item, (*path, at))


def _size(tree: Tree) -> int:
    return sum(_size(i) if isinstance(i, list) else 1 for i in tree)


def _largest_first(tree: Tree) -> list[tuple[Path, Tree]]:
    return sorted(_parts(tree), key=lambda p: -_size(p[1]))


def _edited(tree: Tree, path: Path, items: Tree, lowered: int | None = None) -> Tree:
    """The tree with the item at the path replaced by items; one number beside it lowered by one."""
    head, *rest = path
    changed = list(tree)
    if rest:
        inner = tree[head]
        changed[head] = _edited(
            inner if isinstance(inner, list) else [], tuple(rest), items, lowered
        )
        return changed
    if lowered is not None:
        number = tree[lowered]
        changed[lowered] = number - 1 if isinstance(number, int) else number
    changed[head : head + 1] = items
    return changed


def _emptied(tree: Tree) -> Iterator[Tree]:
    """Every decision of a part taken to be 0."""
    for path, part in _largest_first(tree):
        if part:
            yield _edited(tree, path, [[]])


def _removed(tree: Tree) -> Iterator[Tree]:
    """A part dropped, and a number beside it (how many there are, say) lowered by one."""
    for path, _ in _largest_first(tree):
        parent = _at(tree, path[:-1])
        for at, item in enumerate(parent):
            if isinstance(item, int) and item:
                yield _edited(tree, path, [], at)


def _hoisted(tree: Tree) -> Iterator[Tree]:
    """A part replaced by one of its own largest parts."""
    for path, part in _largest_first(tree):
        for _, inner in _largest_first(part)[:4]:
            yield _edited(tree, path, [inner])


def _moved(tree: Tree) -> Iterator[Tree]:
    """A part takes the place of an earlier one beside it, and leaves its own empty."""
    for path, part in _largest_first(tree):
        parent = _at(tree, path[:-1])
        for at in range(path[-1]):
            if part and isinstance(parent[at], list):
                yield _edited(_edited(tree, path, [[]]), (*path[:-1], at), [part])


def _smaller(tree: Tree) -> Iterator[Tree]:
    """One decision made smaller, the largest steps first."""
    for path, value in list(_numbers(tree)):
        for smaller in dict.fromkeys((0, value // 2, value - 1)):
            if 0 <= smaller < value:
                yield _edited(tree, path, [smaller])


def _numbers(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, int]]:
    for at, item in enumerate(tree):
        if isinstance(item, list):
            yield from _numbers(item, (*path, at))
        else:
            yield (*path, at), item


def _at(tree: Tree, path: Path) -> Tree:
    for step in path:
        inner = tree[step]
        tree = inner if isinstance(inner, list) else []
    return tree
