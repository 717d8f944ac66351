"""The program under rewriting: nodes by name, who reads whom, and an order that survives edits.

Defines `Program`. Relies on the IR types alone. It knows no rules; it refuses an edit that would
break the order, a shape or a sort, but whether the edit keeps the meaning is not its question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from tang.errors import TangBugError
from tang.ir.expr import Sort
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Fact, Graph, Input, Output, Tensor, reads_of
from tang.ir.view import Read, Ref, View

Key = tuple[int, ...]
Type = tuple[tuple[Poly, ...], Sort]
T = TypeVar("T")
Question = tuple[str, ...]
"""What was asked ("node", "readers", "used", "wanted", "precedes"; "notes" of a rule), of whom."""


class Program:
    """A graph that rules read and the engine edits; every query costs about what it returns.

    Nodes have keys, compared lexicographically, that give the program order: a node inserted in
    the place of another gets the other's key with a number appended, so no edit renumbers.
    """

    def __init__(self, graph: Graph, *, strict: bool = False) -> None:
        self.inputs: Final[dict[str, Input]] = {i.name: i for i in graph.inputs}
        self.facts: Final[tuple[Fact, ...]] = graph.facts
        self.strict: Final = strict
        self.outputs: list[Output] = list(graph.outputs)
        self._wanted: dict[str, frozenset[str]] = _by_node(self.outputs)
        self._nodes: Final[dict[str, Comprehension]] = {}
        self._keys: Final[dict[str, Key]] = {}
        self._readers: Final[dict[str, dict[str, None]]] = {name: {} for name in self.inputs}
        self._serial: Final[dict[str, int]] = {}
        self._notes: Final[dict[str, set[str]]] = {}
        self._asked: dict[Question, None] = {}
        self._clock = 0
        self._changed: Final[dict[Question, int]] = {}
        for n, node in enumerate(graph.nodes):
            self._add(node, (n,))

    # --- queries -------------------------------------------------------------------------------

    def watched(self, ask: Callable[[], T]) -> tuple[T, list[Question]]:
        """What a search of the program finds, and the questions that it put to the program."""
        self._asked = {}
        found = ask()
        return found, list(self._asked)

    def time(self) -> int:
        """A number that grows with every edit and note."""
        return self._clock

    def stands(self, questions: Iterable[Question], since: int) -> bool:
        """Whether the answers to all of these are what they were at that time."""
        changed = self._changed
        return all(changed.get(q, 0) <= since for q in questions)

    def __contains__(self, name: str) -> bool:
        self._asked["node", name] = None
        return name in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, name: str) -> Comprehension | None:
        """The comprehension of that name, None for an input or a node that is gone."""
        self._asked["node", name] = None
        return self._nodes.get(name)

    def peek(self, name: str) -> Comprehension | None:
        """The same for one that is not watched."""
        return self._nodes.get(name)

    def nodes(self) -> list[Comprehension]:
        """Every node in program order."""
        return [self._nodes[n] for n in sorted(self._nodes, key=self._keys.__getitem__)]

    def readers(self, name: str) -> list[Comprehension]:
        """The nodes that read a tensor of this node or input, in program order."""
        self._asked["readers", name] = None
        found = self._readers.get(name, {})
        return [self._nodes[n] for n in sorted(found, key=self._keys.__getitem__)]

    def is_output(self, name: str) -> bool:
        """Whether the caller wants a result of this node."""
        self._asked["wanted", name] = None
        return name in self._wanted

    def wanted(self, name: str) -> frozenset[str]:
        """The results of a node that the caller wants."""
        self._asked["wanted", name] = None
        return self._wanted.get(name, frozenset())

    def used(self, name: str) -> frozenset[str]:
        """The results of a node that somebody reads or the caller wants."""
        self._asked["used", name] = None
        reads = (r.source for n in self._readers.get(name, ()) for r in reads_of(self._nodes[n]))
        return self._wanted.get(name, frozenset()).union(r.output for r in reads if r.node == name)

    def tensor(self, ref: Ref) -> Tensor:
        """Dims, axes and sort of a result of a node; inputs have `shape` and `sort_of` only."""
        self._asked["node", ref.node] = None
        return self._nodes[ref.node].tensor(ref.output)

    def type_of(self, ref: Ref) -> Type:
        """Shape and sort of an input or a result."""
        self._asked["node", ref.node] = None
        if ref.node in self.inputs:
            i = self.inputs[ref.node]
            return i.shape, i.sort
        tensor = self.tensor(ref)
        return tensor.shape, tensor.sort

    def precedes(self, name: str, other: str) -> bool:
        """Whether an input or node lies before a node in program order."""
        self._asked["precedes", name, other] = None
        return name in self.inputs or self._keys[name] < self._keys[other]

    def order(self, name: str) -> Key:
        """The place of a node in program order; compare with another's."""
        return self._keys[name]

    def fresh(self, stem: str, taken: Sequence[str] = ()) -> str:
        """A name that no tensor has: the stem itself, or with the first free number."""
        if not self._taken(stem, taken):
            return stem
        n = self._serial.get(stem, 2)
        while self._taken(f"{stem}_{n}", taken):
            n += 1
        self._serial[stem] = n
        return f"{stem}_{n}"

    def _taken(self, name: str, taken: Sequence[str]) -> bool:
        return name in self.inputs or name in self._nodes or name in taken

    def remember(self, rule: str, node: str) -> None:
        """Note for a rule that it has been at a node, whose new form may not show it."""
        self._clock += 1
        self._changed["notes", rule] = self._clock
        self._notes.setdefault(rule, set()).add(node)

    def remembered(self, rule: str) -> frozenset[str]:
        """The nodes that a rule has noted."""
        self._asked["notes", rule] = None
        return frozenset(self._notes.get(rule, ()))

    def graph(self) -> Graph:
        """The program as a graph, in program order."""
        inputs = tuple(self.inputs.values())
        return Graph(inputs, tuple(self.nodes()), tuple(self.outputs), self.facts)

    # --- edits ---------------------------------------------------------------------------------

    def replace(
        self,
        remove: Sequence[str],
        insert: Sequence[Comprehension],
        at: str,
        redirect: Mapping[Ref, Ref],
        update: Sequence[Comprehension] = (),
    ) -> list[str]:
        """Carry out an edit; returns the names of nodes that changed, readers included.

        Raises TangBugError when the order, a shape or a sort would break.
        """
        self._clock += 1
        base = self._keys[at]
        updated = [n.name for n in update]
        before = {r: self.type_of(r) for r in self._needed([*remove, *updated])}
        readers = {r.name: r for name in remove for r in self.readers(name)}
        for name in remove:
            self._drop(name)
        for n, node in enumerate(insert):
            self._add(node, (*base, n))
        for node in update:
            self._swap(node)
        moved = [r for r in readers if r in self._nodes and r not in {i.name for i in insert}]
        if redirect:
            for name in moved:
                self._swap(redirected(self._nodes[name], redirect))
            self._move_outputs(redirect)
        self._check([*insert, *update], moved, before, redirect)
        return [*(i.name for i in insert), *updated, *moved]

    def _needed(self, names: Sequence[str]) -> Iterator[Ref]:
        inside = set(names)
        for name in names:
            for reader in self.readers(name):
                if reader.name not in inside:
                    yield from (r.source for r in reads_of(reader) if r.source.node == name)
            yield from (Ref(name, output) for output in self.wanted(name))

    def _move_outputs(self, redirect: Mapping[Ref, Ref]) -> None:
        if any(r.output in self.wanted(r.node) for r in redirect):
            for r in (*redirect, *redirect.values()):
                self._touch_readers(r.node)
            self.outputs = [Output(o.name, redirect.get(o.ref, o.ref)) for o in self.outputs]
            self._wanted = _by_node(self.outputs)

    def _check(
        self,
        insert: Sequence[Comprehension],
        moved: Sequence[str],
        before: Mapping[Ref, Type],
        redirect: Mapping[Ref, Ref],
    ) -> None:
        for old, kind in before.items():
            new = redirect.get(old, old)
            if new.node not in self._nodes and new.node not in self.inputs:
                raise TangBugError(f"{old} is still needed, but {new.node!r} is gone")
            if self.type_of(new) != kind:
                raise TangBugError(f"{old} of {kind} became {new} of {self.type_of(new)}")
        for name in (*(i.name for i in insert), *moved):
            for read in reads_of(self._nodes[name]):
                source = read.source.node
                known = source in self.inputs or source in self._nodes
                if not known or not self.precedes(source, name):
                    raise TangBugError(f"{name!r} reads {source!r}, which does not lie before it")

    def _add(self, node: Comprehension, key: Key) -> None:
        if node.name in self._nodes or node.name in self.inputs:
            raise TangBugError(f"two tensors would be named {node.name!r}")
        self._nodes[node.name] = node
        self._keys[node.name] = key
        self._readers.setdefault(node.name, {})
        self._changed["node", node.name] = self._clock
        for read in reads_of(node):
            self._touch_readers(read.source.node)
            self._readers.setdefault(read.source.node, {})[node.name] = None

    def _drop(self, name: str) -> None:
        self._changed["node", name] = self._clock
        for read in reads_of(self._nodes.pop(name)):
            self._touch_readers(read.source.node)
            self._readers[read.source.node].pop(name, None)
        del self._keys[name]

    def _touch_readers(self, name: str) -> None:
        for kind in ("readers", "used", "wanted"):
            self._changed[kind, name] = self._clock

    def _swap(self, node: Comprehension) -> None:
        key = self._keys[node.name]
        self._drop(node.name)
        self._add(node, key)


def _by_node(outputs: Sequence[Output]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for o in outputs:
        found.setdefault(o.ref.node, set()).add(o.ref.output)
    return {node: frozenset(names) for node, names in found.items()}


def redirected(node: Comprehension, redirect: Mapping[Ref, Ref]) -> Comprehension:
    """The node with every read of a renamed result, gathers included, taken from the new one."""
    reads = tuple(_moved(r, redirect) for r in node.reads)
    return node if reads == node.reads else with_reads(node, reads)


def with_reads(node: Comprehension, reads: tuple[Read, ...]) -> Comprehension:
    """The node with other reads."""
    return Comprehension(
        node.name, node.point, reads, node.body, node.reduce, node.where, node.monoid, node.outputs
    )


def _moved(read: Read, redirect: Mapping[Ref, Ref]) -> Read:
    view = read.view
    gathers = tuple(_moved(g, redirect) for g in view.gathers)
    if gathers != view.gathers:
        view = View(view.coords, view.guard, view.fill, gathers)
    source = redirect.get(read.source, read.source)
    return read if source is read.source and view is read.view else Read(source, view)
