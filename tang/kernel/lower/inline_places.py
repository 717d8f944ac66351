"""Places: which nodes have kernels and buffers of their own under a schedule.

Defines `places_of`, which reads `place` of every node and refuses what cannot be, and `Draft`,
which says node by node in whose kernel a map can be computed or why in none. Relies on graphs and
schedules alone. It lowers nothing and prefers nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tang.errors import ScheduleError
from tang.ir.graph import Comprehension, Graph, reads_of
from tang.ir.view import Affine, Read, Ref, variable
from tang.kernel.schedule import NodeSchedule, Schedule


@dataclass(frozen=True, slots=True)
class Places:
    """Who computes what.

    inlined  nodes without a kernel or a buffer: those who read them compute them
    tails    by node the epilogues that its kernel computes as well, in program order
    held     by node the results that epilogues of its kernel take from registers
    stored   the tensors that have buffers
    """

    inlined: frozenset[str]
    tails: Mapping[str, tuple[str, ...]]
    held: Mapping[str, frozenset[Ref]]
    stored: frozenset[Ref]


@dataclass(slots=True)
class Draft:
    """What is known while nodes are placed one by one, in program order.

    host   by placed node the node in whose kernel it is computed
    order  the position of each kernel
    reach  by inlined node the nodes with kernels that its value needs
    """

    nodes: dict[str, Comprehension] = field(default_factory=dict)
    host: dict[str, str] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    reach: dict[str, frozenset[str]] = field(default_factory=dict)

    def sources(self, node: Comprehension) -> frozenset[str]:
        """The nodes with kernels that a node reads, through inlined ones too."""
        names = {r.source.node for r in reads_of(node) if r.source.output}
        return frozenset[str]().union(*(self.reach.get(n, frozenset((n,))) for n in names))

    def add(self, node: Comprehension, place: str) -> None:
        """Place one more node; raises ScheduleError where it cannot be there."""
        self.nodes[node.name] = node
        if place == "inline":
            self.reach[node.name] = self.sources(node)
            return
        if place == "epilogue":
            self.host[node.name] = self.host_of(node)
            return
        self.host[node.name] = node.name
        self.order[node.name] = len(self.order)

    def host_of(self, node: Comprehension) -> str:
        """The node whose kernel can compute this one; raises ScheduleError with the reason."""
        if node.monoid is not None:
            raise _refused(node, "it is a reduction, and only maps are epilogues")
        hosts = {self.host[n] for n in self.sources(node)}
        if not hosts:
            raise _refused(node, "it reads no node that has a kernel")
        last = max(hosts, key=self.order.__getitem__)
        host = self.nodes[last]
        extents = [d.extent for d in node.point]
        if extents != [d.extent for d in host.point]:
            raise _refused(node, f"its points are not those of {last!r}, the last node it reads")
        for read in reads_of(node):
            self._check_read(node, host, read)
        return last

    def _check_read(self, node: Comprehension, host: Comprehension, read: Read) -> None:
        """Whatever comes from the host's kernel is read directly and at this very point."""
        name = read.source.node
        if not read.source.output:
            return
        reach = self.reach.get(name)
        if reach is not None:
            if any(self.host[n] == host.name for n in reach):
                raise _refused(node, f"it reads {host.name!r} through {name!r}, which is inlined")
            return
        if self.host[name] != host.name:
            return
        source = self.nodes[name]
        plain = read in node.reads and not read.view.guard and not read.view.gathers
        wanted = _point_coords(node, source, read.source.output)
        if not plain or read.view.coords[: len(wanted)] != wanted:
            raise _refused(node, f"it reads {read.source} at other points than its own")


def _point_coords(node: Comprehension, source: Comprehension, output: str) -> tuple[Affine, ...]:
    """The coordinates of the source's result at the point of a node with the same points."""
    names = dict(zip((d.name for d in source.point), (d.name for d in node.point), strict=True))
    return tuple(variable(names[d.name]) for d in source.tensor(output).dims)


def _refused(node: Comprehension, reason: str) -> ScheduleError:
    return ScheduleError(f"{node.name}: cannot be an epilogue: {reason}: materialise it")


def places_of(graph: Graph, schedule: Schedule) -> Places:
    """Where every node is computed; raises ScheduleError naming the node and the cure."""
    draft = Draft()
    chosen = schedule.by_name(graph)
    for node in graph.nodes:
        draft.add(node, chosen[node.name].place)
    _check_inlined(graph, chosen, draft)
    epilogues = [n.name for n in graph.nodes if chosen[n.name].place == "epilogue"]
    tails: dict[str, tuple[str, ...]] = {}
    held: dict[str, frozenset[Ref]] = {}
    for name in epilogues:
        host = draft.host[name]
        taken = {r.source for r in reads_of(draft.nodes[name]) if _is_at(draft, r, host)}
        tails[host] = (*tails.get(host, ()), name)
        held[host] = held.get(host, frozenset()) | taken
    return Places(frozenset(draft.reach), tails, held, _stored(graph, draft, set(epilogues)))


def _is_at(draft: Draft, read: Read, host: str) -> bool:
    return bool(read.source.output) and draft.host.get(read.source.node) == host


def _stored(graph: Graph, draft: Draft, epilogues: set[str]) -> frozenset[Ref]:
    """The tensors that are read from memory, and those that the caller wants."""
    found = {o.ref for o in graph.outputs}
    for node in graph.nodes:
        for read in reads_of(node):
            own = node.name in epilogues and _is_at(draft, read, draft.host[node.name])
            if read.source.node not in draft.reach and not own:
                found.add(read.source)
    return frozenset(found)


def _check_inlined(graph: Graph, chosen: Mapping[str, NodeSchedule], draft: Draft) -> None:
    wanted = {o.ref.node: o.name for o in graph.outputs}
    for name in draft.reach:
        if name in wanted:
            raise ScheduleError(
                f"{name}: it is inlined, so nobody stores it, but output {wanted[name]!r} is its "
                "result: materialise it"
            )
        s = chosen[name]
        if s.split > 1 or s.lanes > 1:
            raise ScheduleError(
                f"{name}: an inlined node is folded by the thread that reads it: give it neither "
                "split nor lanes, or materialise it"
            )
