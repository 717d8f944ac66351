"""Whether one node reads, element by element, what another one reduces.

Defines `element_of` and `reduces`. Relies on views as affine forms. Reads with guards or gathers
are matched only where they are the same read, since what they read depends on more than forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tang.ir.expr import Expr
from tang.ir.graph import Comprehension, Graph
from tang.ir.view import Affine, Read, variable


@dataclass(frozen=True, slots=True)
class Reduction:
    """A node and the lift whose values it reduces."""

    node: Comprehension
    lift: Expr


@dataclass(frozen=True, slots=True)
class Frame:
    """Forms of a node's dims in the coordinates of another one."""

    forms: Mapping[str, Affine]

    @staticmethod
    def of_read(node: Comprehension, read: Read) -> Frame:
        """Of a node whose result is read: its point dims at the coordinates of the read."""
        names = (d.name for d in node.point)
        point = dict(zip(names, read.view.coords, strict=False))
        return Frame(point | {d.name: variable(f"{d.name}'") for d in node.reduce})


def is_plain(read: Read) -> bool:
    """Whether a read has neither guard nor gathers."""
    return not read.view.guard and not read.view.gathers


def arg_read(node: Comprehension, e: Expr) -> Read | None:
    """The read that an expression is, if it is a plain one."""
    if e.op != "arg" or not isinstance(e.payload, int):
        return None
    read = node.reads[e.payload]
    return read if is_plain(read) else None


def element_of(
    graph: Graph, node: Comprehension, e: Expr, found: Reduction, read: Read
) -> frozenset[str] | None:
    """Whether e is one of the values that `found` reduces, of which `read` reads the result.

    The dims of the node over which the reduction runs, if each reduce dim is one of them and all
    of its elements are met; an empty set if it is an element but they are not; None if nothing
    shows that it is one.
    """
    frame = Frame({d.name: variable(d.name) for d in node.dims})
    return reduces(graph, node, e, frame, found, read)


def reduces(
    graph: Graph, node: Comprehension, e: Expr, frame: Frame, found: Reduction, read: Read
) -> frozenset[str] | None:
    """As `element_of`, with the dims of the node where the frame puts them."""
    point = Frame.of_read(found.node, read).forms
    known = {d.name: point[d.name] for d in found.node.point}
    match = _Match(graph, node, found.node, frame.forms, known)
    if not match.same(e, found.lift) or not match.complete():
        return None
    own = {f: name for name, f in frame.forms.items()}
    dims = [own.get(match.bound[d.name]) for d in found.node.reduce]
    extents = {d.name: d.extent for d in node.dims}
    wanted = [d.extent for d in found.node.reduce]
    names = [n for n in dims if n is not None]
    moving = frozenset[str]().union(*(f.variables for n, f in point.items() if n in known))
    carried = {v for n in names for v in frame.forms[n].variables}
    single = len(set(names)) == len(dims) and not carried & moving
    single = single and match.asked() == match.here()
    if single and [extents[n] for n in names] == wanted:
        return frozenset(names)
    return frozenset()


class _Match:
    """Two expressions side by side; reduce dims of the second one are bound as they are met."""

    def __init__(
        self,
        graph: Graph,
        node: Comprehension,
        other: Comprehension,
        forms: Mapping[str, Affine],
        known: dict[str, Affine],
    ) -> None:
        self.graph = graph
        self.node = node
        self.other = other
        self.forms = forms
        self.bound = known
        self.free = {d.name: d.extent for d in other.reduce}

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether both are one value; iterative, since expressions may be deep."""
        stack, seen = [(a, b)], set()
        while stack:
            x, y = stack.pop()
            if (id(x), id(y)) in seen:
                continue
            seen.add((id(x), id(y)))
            if x.op != y.op or x.sort is not y.sort or len(x.args) != len(y.args):
                return False
            if x.op == "arg":
                if not self._same_read(x, y):
                    return False
            elif x.op in ("iota", "extent", "fold", "state") or x.payload != y.payload:
                return False
            stack.extend(zip(x.args, y.args, strict=True))
        return True

    def _same_read(self, x: Expr, y: Expr) -> bool:
        if not isinstance(x.payload, int) or not isinstance(y.payload, int):
            return False
        a, b = self.node.reads[x.payload], self.other.reads[y.payload]
        if a.source != b.source or not is_plain(a) or not is_plain(b):
            return False
        shape = self.graph.shape(a.source)
        triples = zip(a.view.coords, b.view.coords, shape, strict=True)
        return all(self._same_form(f.substitute(self.forms), g, n) for f, g, n in triples)

    def _same_form(self, here: Affine, there: Affine, extent: object) -> bool:
        """Equal forms; a reduce dim alone that runs over the whole axis takes any form."""
        names = [v for v, _ in there.terms]
        if len(names) == 1 and names[0] in self.free and there == variable(names[0]):
            bound = self.bound.get(names[0])
            if bound is None and self.free[names[0]] == extent:
                self.bound[names[0]] = here
                return True
        return there.variables <= self.bound.keys() and there.substitute(self.bound) == here

    def complete(self) -> bool:
        """Whether every reduce dim is bound, and what `where` asks holds here as well."""
        if not self.free.keys() <= self.bound.keys():
            return False
        return self.asked() <= self.here()

    def here(self) -> set[Affine]:
        """The conditions of the node."""
        return {w.substitute(self.forms) for w in self.node.where}

    def asked(self) -> set[Affine]:
        """Those of the other one, of which two may be one here."""
        return {w.substitute(self.bound) for w in self.other.where}
