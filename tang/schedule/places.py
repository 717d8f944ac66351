"""Where nodes are computed: inline, in an epilogue, or in a kernel of their own.

Defines `choose_places`, which weighs the operations that inlining repeats against the bytes that
need not be written and read, with both numbers for every node. Relies on `counts`, and on lowering
for what an epilogue may be. It runs nothing; nodes are judged one by one, readers first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tang.errors import ScheduleError
from tang.ir.expr import BOOL
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.ir.view import Read, Ref
from tang.kernel.lower.inline_places import Draft
from tang.schedule.counts import (
    Sizes,
    bytes_of,
    degree,
    evaluations,
    is_same_point,
    operations,
    sizes_of,
    written,
)

RATIO: Final = 24
"""Repeated operations that a saved byte is worth: an H200 does 14 of f32 while one travels."""

LAUNCH: Final = 4096
"""Bytes that the launch of a kernel counts as."""

LARGE_RATIO: Final = 16384
"""The same for a tensor that outgrows all that the caller gives and wants, as scores of attention
do: every input and output is smaller, or grows less with the symbols. Memory runs out first."""

OUTGROWN: Final = 16
"""A tensor that many times larger than all that the caller gives and wants (or of a higher degree
in the symbols) is recomputed at any cost. Masks, which are bools, do not count as given."""

BUSY: Final = 4096
LONG: Final = 65536
"""A kernel with fewer threads than `BUSY` is given no node that adds more operations than `LONG` to
each of them: in a kernel of its own the node would have threads of its own."""

DEEPEST: Final = 8
"""Levels of inlined nodes in inlined nodes."""

MOST_CODE: Final = 4096
"""Operations written in one kernel, copies of inlined nodes included. An instruction cache of
128 KiB holds 8192 instructions of an H200, and half of them go to what is not counted here: bounds,
conversions, portable functions. Beyond it a kernel is also slow to lower and to compile."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A node's place and the numbers behind it.

    repeated  operations that inlining does more often than a kernel of the node would, those of
              what the node reads included where that is too large to be stored
    saved     bytes of its results, written once and read once by every node that reads them
    limit     operations per byte up to which it is inlined; its launch counts as `LAUNCH` bytes
    """

    place: str
    repeated: int
    saved: int
    limit: int
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.place}: {self.reason} (inlining repeats {self.repeated} operations and saves "
            f"{self.saved} bytes, limit {self.limit} a byte)"
        )


@dataclass(frozen=True, slots=True)
class _Use:
    """One read of a node by another."""

    node: Comprehension
    read: Read


@dataclass(slots=True)
class _Judge:
    """What is known while nodes are judged, readers before what they read.

    demand  by node how often its body is evaluated
    copies  by inlined node and by kernel how often its code stands there
    level   by inlined node how deeply
    code    by kernel how many operations are written there
    lengths by node the operations in its own code
    folds   by node whether it ends a fold
    costs   by node the operations of one point
    threads by node those of its kernel
    """

    graph: Graph
    sizes: Sizes
    real: int
    uses: Mapping[str, tuple[_Use, ...]]
    order: Mapping[str, int]
    wanted: frozenset[str]
    splits: Mapping[str, int]
    largest: int
    degree: int
    demand: dict[str, int] = field(default_factory=dict)
    copies: dict[str, dict[str, int]] = field(default_factory=dict)
    level: dict[str, int] = field(default_factory=dict)
    code: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    folds: dict[str, bool] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)
    threads: dict[str, int] = field(default_factory=dict)

    def count(self, node: Comprehension) -> None:
        """The operations of a point, with those of what it reads that is too large to be stored."""
        self.costs[node.name] = operations(node, self.sizes) + sum(
            evaluations(node, r, self.sizes) * self.costs[r.source.node]
            for r in reads_of(node)
            if r.source.output and self._is_large(r.source)
        )

    places: dict[str, Weighed] = field(default_factory=dict)

    def judge(self, node: Comprehension) -> None:
        """Whether a node is inlined."""
        points = self.sizes.points(node.point)
        uses = self.uses.get(node.name, ())
        times = [self.demand[u.node.name] * evaluations(u.node, u.read, self.sizes) for u in uses]
        repeated = max(sum(times) - points, 0) * self.costs[node.name]
        refs = sorted({u.read.source for u in uses}, key=str)
        saved = sum(self._traffic(ref) for ref in refs)
        limit = LARGE_RATIO if any(self._is_large(ref) for ref in refs) else RATIO
        outgrows = any(map(self._outgrows, refs))
        obstacle = self._obstacle(node, uses, sum(times), outgrows=outgrows)
        place = "materialise"
        if not obstacle:
            cheap = outgrows or repeated <= limit * (saved + LAUNCH)
            obstacle = "few operations for the bytes" if cheap else "too many operations"
            obstacle = "it outgrows all that is given and wanted" if outgrows else obstacle
            place = "inline" if cheap else place
        self.places[node.name] = Weighed(place, repeated, saved, limit, obstacle)
        self.demand[node.name] = points
        self.threads[node.name] = max(points, 1) * self.splits.get(node.name, 1)
        if place == "inline":
            self._inline(node, sum(times), uses)

    def _traffic(self, ref: Ref) -> int:
        readers = {u.node.name for u in self.uses[ref.node] if u.read.source == ref}
        tensor = self.graph.nodes[self.order[ref.node]].tensor(ref.output)
        return (1 + len(readers)) * bytes_of(tensor, self.sizes, self.real)

    def _is_large(self, ref: Ref) -> bool:
        shape = self.graph.nodes[self.order[ref.node]].tensor(ref.output).shape
        if any(extent.symbols for extent in shape):
            return degree(shape) > self.degree
        return self.sizes.volume(shape) > self.largest

    def _outgrows(self, ref: Ref) -> bool:
        """Whether a tensor is never stored: scores of attention would fill the memory first."""
        shape = self.graph.nodes[self.order[ref.node]].tensor(ref.output).shape
        if any(extent.symbols for extent in shape):
            return degree(shape) > self.degree
        return self.sizes.volume(shape) > OUTGROWN * self.largest

    def _obstacle(
        self, node: Comprehension, uses: tuple[_Use, ...], times: int, *, outgrows: bool
    ) -> str:
        """Why a node is not even weighed, or nothing."""
        if node.name in self.wanted:
            return "its result is wanted"
        if not uses:
            return "nothing reads it"
        if self.splits.get(node.name, 1) > 1:
            return "several threads fold it"
        if not outgrows and all(self._could_follow(u, node) for u in uses):
            return "what reads it can be its epilogue"
        if self._level(uses) > DEEPEST:
            return f"nodes are inlined {DEEPEST} deep in what reads it"
        code = self._copies(uses)
        threads = min(self.threads[kernel] for kernel in code)
        starved = threads < BUSY and times * self.costs[node.name] > LONG * threads
        if starved and not outgrows:
            return f"the {threads} threads that would compute it are few"
        own = self._length(node)
        if any(self._code(kernel) + n * own > MOST_CODE for kernel, n in code.items()):
            return f"a kernel that reads it would have more than {MOST_CODE} operations"
        return ""

    def _code(self, kernel: str) -> int:
        """The operations written in a kernel so far."""
        if kernel not in self.code:
            self.code[kernel] = self._length(self.graph.nodes[self.order[kernel]])
        return self.code[kernel]

    def _length(self, node: Comprehension) -> int:
        if node.name not in self.lengths:
            self.lengths[node.name] = written(node)
        return self.lengths[node.name]

    def _could_follow(self, use: _Use, node: Comprehension) -> bool:
        """Whether a map that has a kernel could be the epilogue of a fold with the same points."""
        if use.node.monoid is not None or self._is_inlined(use.node):
            return False
        return self._continued(use.node) is node and self._ends_a_fold(node)

    def _ends_a_fold(self, node: Comprehension) -> bool:
        """Whether a node is a fold, or a map of the last node it reads that ends one."""
        way, last = [node.name], node
        while last.name not in self.folds and (source := self._continued(last)) is not None:
            way.append(source.name)
            last = source
        found = self.folds.get(last.name, last.monoid is not None)
        self.folds.update(dict.fromkeys(way, found))
        return found

    def _continued(self, node: Comprehension) -> Comprehension | None:
        """Of a map, the last node that it reads, if it reads that at its own point."""
        reads = [r for r in reads_of(node) if r.source.output]
        if node.monoid is not None or not reads:
            return None
        read = max(reads, key=lambda r: self.order[r.source.node])
        source = self.graph.nodes[self.order[read.source.node]]
        return source if is_same_point(node, source, read) else None

    def _is_inlined(self, node: Comprehension) -> bool:
        return self.places[node.name].place == "inline"

    def _level(self, uses: tuple[_Use, ...]) -> int:
        return 1 + max(self.level.get(u.node.name, 0) for u in uses)

    def _copies(self, uses: tuple[_Use, ...]) -> dict[str, int]:
        found: dict[str, int] = {}
        for u in uses:
            own = {u.node.name: 1} if not self._is_inlined(u.node) else self.copies[u.node.name]
            for kernel, n in own.items():
                found[kernel] = found.get(kernel, 0) + n
        return found

    def _inline(self, node: Comprehension, times: int, uses: tuple[_Use, ...]) -> None:
        self.demand[node.name] = times
        self.level[node.name] = self._level(uses)
        self.copies[node.name] = self._copies(uses)
        for kernel, n in self.copies[node.name].items():
            self.code[kernel] = self._code(kernel) + n * self._length(node)


def choose_places(graph: Graph, real: int, splits: Mapping[str, int]) -> dict[str, Weighed]:
    """A place for every node, with the numbers behind it.

    real    bytes of a real in memory
    splits  chunks of nodes that several threads fold, which are not inlined
    """
    sizes = sizes_of(graph)
    given = [i.shape for i in graph.inputs if i.sort is not BOOL]
    given += [graph.shape(o.ref) for o in graph.outputs]
    judge = _Judge(
        graph,
        sizes,
        real,
        _uses(graph),
        {n.name: i for i, n in enumerate(graph.nodes)},
        frozenset(o.ref.node for o in graph.outputs),
        splits,
        max((sizes.volume(shape) for shape in given), default=0),
        max((degree(shape) for shape in given), default=0),
    )
    for node in graph.nodes:
        judge.count(node)
    for node in reversed(graph.nodes):
        judge.judge(node)
    return _with_epilogues(graph, judge.places)


def _uses(graph: Graph) -> dict[str, tuple[_Use, ...]]:
    found: dict[str, list[_Use]] = {}
    for node in graph.nodes:
        for read in dict.fromkeys(reads_of(node)):
            if read.source.output:
                found.setdefault(read.source.node, []).append(_Use(node, read))
    return {name: tuple(uses) for name, uses in found.items()}


def _with_epilogues(graph: Graph, places: Mapping[str, Weighed]) -> dict[str, Weighed]:
    """The same with every map that can be an epilogue in the place of one."""
    draft, found = Draft(), {}
    for node in graph.nodes:
        weighed = places[node.name]
        if weighed.place == "materialise" and node.monoid is None and _follows(draft, node):
            host = draft.host[node.name]
            reason = f"{weighed.reason}, and {host!r} has what it reads"
            weighed = replace(weighed, place="epilogue", reason=reason)
        else:
            draft.add(node, weighed.place)
        found[node.name] = weighed
    return found


def _follows(draft: Draft, node: Comprehension) -> bool:
    """Whether a map can be an epilogue; it then is one in the draft."""
    try:
        draft.add(node, "epilogue")
    except ScheduleError:
        return False
    return True
