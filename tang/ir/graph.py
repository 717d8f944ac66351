"""Graphs: inputs, comprehensions in program order, and named outputs.

Defines what a program is. Relies on expressions, views, extents and monoids. Legality (names,
sorts, bounds) is in `validate`, substitution of sizes in `bind`, text and JSON in their modules;
nothing here evaluates a program.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from tang.errors import GraphError
from tang.ir.expr import Expr, Sort, walk
from tang.ir.extent import Poly, poly
from tang.ir.given import shown
from tang.ir.monoid import Component, Monoid
from tang.ir.view import Affine, Read, Ref


@dataclass(frozen=True, slots=True)
class Dim:
    """A named dim of one comprehension and its extent."""

    name: str
    extent: Poly


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor given by the caller."""

    name: str
    shape: tuple[Poly, ...]
    sort: Sort = Sort.REAL


@dataclass(frozen=True, slots=True)
class Comprehension:
    """For every point: fold the body over the reduce dims in lexicographic order.

    point, reduce  dims, names distinct from each other and from the monoid's static axes
    where          conjunction of affine forms ≥ 0 over point and reduce dims: other points
                   contribute nothing and read nothing (only with a monoid)
    reads          `arg(i)` in body is the value of reads[i]
    body           the monoid's inputs, or, in a map, the outputs
    monoid         None makes it a map: no reduce dims, no where
    outputs        names of a map's outputs; of a reduction they are the monoid's
    Static axes of the monoid may be used in reads and body as if they were dims.
    """

    name: str
    point: tuple[Dim, ...]
    reads: tuple[Read, ...]
    body: tuple[Expr, ...]
    reduce: tuple[Dim, ...] = ()
    where: tuple[Affine, ...] = ()
    monoid: Monoid | None = None
    outputs: tuple[str, ...] = ()

    @property
    def dims(self) -> tuple[Dim, ...]:
        return self.point + self.reduce

    def output_names(self) -> tuple[str, ...]:
        """The results that can be read: outputs first, then state components."""
        if self.monoid is None:
            return self.outputs
        return tuple(c.name for c in (*self.monoid.outputs, *self.monoid.components))

    def component_dims(self) -> tuple[tuple[str, ...], ...]:
        """Per state component the point dims on which it depends, in point order.

        Derived: dims of the reads and iotas that its lift uses, closed under combine, plus the
        point dims of `where`. (So a declaration can never go stale.)
        """
        return _component_dims(self)

    def tensor(self, output: str) -> Tensor:
        """Dims, static axes and sort of one result; raises GraphError for an unknown name.

        An output has every point dim; a state component only those it depends on.
        """
        if self.monoid is None:
            if output not in self.outputs:
                raise _unknown_output(self, output)
            body = self.body[self.outputs.index(output)]
            return Tensor(self.point, (), body.sort)
        return _reduction_tensor(self, self.monoid, output)


@dataclass(frozen=True, slots=True)
class Tensor:
    """The type of a result: its dims, then static axes (name, size), and its sort."""

    dims: tuple[Dim, ...]
    axes: tuple[tuple[str, int], ...]
    sort: Sort

    @property
    def shape(self) -> tuple[Poly, ...]:
        return (*(d.extent for d in self.dims), *(poly(n) for _, n in self.axes))


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a symbolic extent: minimum ≤ symbol ≤ maximum, divisible by `multiple`."""

    symbol: str
    minimum: int = 0
    maximum: int | None = None
    multiple: int = 1


@dataclass(frozen=True, slots=True)
class Output:
    """A result of the program: the caller's name for a tensor."""

    name: str
    ref: Ref


@dataclass(frozen=True, slots=True)
class Graph:
    """A program; nodes read inputs and earlier nodes only. Validate with `validate.validate`."""

    inputs: tuple[Input, ...]
    nodes: tuple[Comprehension, ...]
    outputs: tuple[Output, ...]
    facts: tuple[Fact, ...] = ()

    def node(self, name: str) -> Comprehension:
        """The comprehension of that name; raises GraphError naming the known ones."""
        for n in self.nodes:
            if n.name == name:
                return n
        raise GraphError(f"no node {name!r}: one of {', '.join(n.name for n in self.nodes)}")

    def input(self, name: str) -> Input:
        """The input of that name; raises GraphError naming the known ones."""
        for i in self.inputs:
            if i.name == name:
                return i
        raise GraphError(f"no input {name!r}: one of {', '.join(i.name for i in self.inputs)}")

    def shape(self, ref: Ref) -> tuple[Poly, ...]:
        if ref.output == "":
            return self.input(ref.node).shape
        return self.node(ref.node).tensor(ref.output).shape

    def sort(self, ref: Ref) -> Sort:
        if ref.output == "":
            return self.input(ref.node).sort
        return self.node(ref.node).tensor(ref.output).sort

    @property
    def symbols(self) -> frozenset[str]:
        """Every symbolic extent of the program."""
        shapes = [p for i in self.inputs for p in i.shape]
        shapes += [d.extent for n in self.nodes for d in n.dims]
        return frozenset(s for p in shapes for s in p.symbols)


def needed_by(graph: Graph, names: Iterable[str]) -> tuple[Comprehension, ...]:
    """The nodes of these names and all that they are computed from, in program order."""
    needed = set(names)
    kept: list[Comprehension] = []
    for node in reversed(graph.nodes):
        if node.name in needed:
            kept.append(node)
            needed |= {r.source.node for r in reads_of(node)}
    return tuple(reversed(kept))


def without_dead(graph: Graph) -> Graph:
    """The program without nodes that no output needs."""
    return replace(graph, nodes=needed_by(graph, (o.ref.node for o in graph.outputs)))


def nameless(node: Comprehension) -> Hashable:
    """What a node computes, whatever it and the tensors that it reads are called."""
    reads = tuple(map(_nameless, node.reads))
    return node.point, reads, node.body, node.reduce, node.where, node.monoid, node.outputs


def _nameless(read: Read) -> Hashable:
    v = read.view
    return read.source.output, v.coords, v.guard, v.fill, tuple(map(_nameless, v.gathers))


def require_graph(value: object) -> Graph:
    """The value, when it is a graph; GraphError otherwise, which says how to get one."""
    if isinstance(value, Graph):
        return value
    raise GraphError(
        f"a program must be a Graph, not {type(value).__name__} {shown(value)}: "
        f"build one with tang.Graph(name=tensor), or read its JSON with tang.ir.from_json"
    )


def reads_of(node: Comprehension) -> Iterator[Read]:
    """Every read of a node, the reads of index tensors before the read that gathers by them."""
    for read in node.reads:
        if read.view.gathers:
            yield from _nested(read)
        else:
            yield read


def _nested(read: Read) -> Iterator[Read]:
    for gather in read.view.gathers:
        yield from _nested(gather)
    yield read


def _reduction_tensor(node: Comprehension, monoid: Monoid, output: str) -> Tensor:
    for c in monoid.outputs:
        if c.name == output:
            return Tensor(node.point, _sized(monoid, c), c.sort)
    for c, names in zip(monoid.components, node.component_dims(), strict=True):
        if c.name == output:
            dims = tuple(d for d in node.point if d.name in names)
            return Tensor(dims, _sized(monoid, c), c.sort)
    raise _unknown_output(node, output)


def _sized(monoid: Monoid, c: Component) -> tuple[tuple[str, int], ...]:
    return tuple((a, monoid.axis_size(a)) for a in c.axes)


def _unknown_output(node: Comprehension, output: str) -> GraphError:
    known = ", ".join(node.output_names())
    return GraphError(f"node {node.name!r} has no output {output!r}: one of {known}")


def _component_dims(node: Comprehension) -> tuple[tuple[str, ...], ...]:
    if node.monoid is None:
        return ()
    body = [_body_dims(node, e) for e in node.body]
    where = frozenset[str]().union(*(w.variables for w in node.where))
    found = [where.union(*(body[i] for i in _payloads(e, "arg"))) for e in node.monoid.lift]
    needs = [{c for _, c in _states(e)} for e in node.monoid.combine]
    for _ in needs:
        found = [f.union(*(found[c] for c in n)) for f, n in zip(found, needs, strict=True)]
    return tuple(tuple(d.name for d in node.point if d.name in f) for f in found)


def _body_dims(node: Comprehension, e: Expr) -> frozenset[str]:
    reads = (node.reads[i].view.dims() for i in _payloads(e, "arg"))
    return e.names.union(*reads)


def _payloads(e: Expr, op: str) -> list[int]:
    return [x.payload for x in walk(e) if x.op == op and isinstance(x.payload, int)]


def _states(e: Expr) -> list[tuple[int, int]]:
    pairs = [x.payload for x in walk(e) if x.op == "state" and isinstance(x.payload, tuple)]
    return [(int(a), int(b)) for a, b in pairs]
