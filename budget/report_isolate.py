"""One node of a program as a program of its own, whole or a tile of it.

Defines `Tile`, `tile_of`, `whole`, `isolated`, `sources_of`, `fed`, `feed_name` and `split_sums`.
Relies on the IR alone: a tile is the same node over fewer points, its dims shifted. It evaluates
nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np

from tang.ir.expr import Expr, apply, arg, extent, index, iota, substitute
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output, reads_of
from tang.ir.monoids import SUM, is_plain_sum
from tang.ir.view import Affine, Read, Ref, View, variable

SIDE: Final = 64
"""Points along each of the two dims of a tile that have more than one."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Some points of a node: by point dim the first coordinate and how many."""

    spans: tuple[tuple[str, int, int], ...]

    def of(self, dims: tuple[Dim, ...]) -> tuple[slice, ...]:
        """Where the tile lies in a tensor of some of the node's dims (axes behind stay whole)."""
        where = {name: slice(start, start + count) for name, start, count in self.spans}
        return tuple(where.get(d.name, slice(None)) for d in dims)

    @property
    def points(self) -> int:
        return prod(count for _, _, count in self.spans)


def whole(node: Comprehension) -> Tile:
    """All points of a node."""
    return Tile(tuple((d.name, 0, d.extent.constant) for d in node.point))


def tile_of(node: Comprehension, seed: int, side: int = SIDE) -> Tile:
    """A tile of side × side points along the last two dims that have several, one point of others.

    A node of no more points than that is taken whole. Where it lies depends on the seed and on the
    node's name alone.
    """
    extents = [d.extent.constant for d in node.point]
    if prod(extents) <= side * side:
        return whole(node)
    rng = np.random.default_rng((seed, zlib.crc32(node.name.encode())))
    spans: list[tuple[str, int, int]] = []
    wide = 2
    for d in reversed(node.point):
        n = d.extent.constant
        count = min(n, side) if wide and n > 1 else 1
        wide -= n > 1 and wide > 0
        spans.append((d.name, int(rng.integers(0, n - count + 1)), count))
    return Tile(tuple(reversed(spans)))


def isolated(graph: Graph, node: Comprehension, tile: Tile | None = None) -> Graph:
    """The node alone: every tensor that it reads is an input, called as `sources_of` says.

    Outputs are all its results, by their names; with a tile only its points are left.
    Extents are numbers.
    """
    names = sources_of(node)
    inputs = tuple(Input(n, graph.shape(s), graph.sort(s)) for s, n in names.items())
    alone = _shifted(node, tile) if tile is not None else node
    alone = replace(alone, reads=tuple(_renamed(r, names) for r in alone.reads))
    outputs = tuple(Output(n, Ref(node.name, n)) for n in node.output_names())
    return Graph(inputs, (alone,), outputs)


def sources_of(node: Comprehension) -> dict[Ref, str]:
    """The tensors that a node reads, and what it calls them when it stands alone."""
    found = dict.fromkeys(r.source for r in reads_of(node))
    return {ref: _other(f"source {k}", node) for k, ref in enumerate(found)}


def _other(name: str, node: Comprehension) -> str:
    """The name, changed where the node has it."""
    return name + "'" if name == node.name else name


def _renamed(read: Read, names: Mapping[Ref, str]) -> Read:
    gathers = tuple(_renamed(g, names) for g in read.view.gathers)
    view = replace(read.view, gathers=gathers) if gathers else read.view
    return Read(Ref(names[read.source]), view)


def _shifted(node: Comprehension, tile: Tile) -> Comprehension:
    starts = {name: start for name, start, _ in tile.spans}
    counts = {name: count for name, _, count in tile.spans}
    full = {d.name: d.extent.constant for d in node.point}
    forms = {name: variable(name) + start for name, start in starts.items()}
    at: dict[Expr, Expr] = {}
    for name, start in starts.items():
        at[iota(name)] = apply("add", iota(name), index(start)) if start else iota(name)
        at[extent(name)] = index(full[name])
    return replace(
        node,
        point=tuple(Dim(d.name, poly(counts[d.name])) for d in node.point),
        reads=tuple(Read(r.source, _moved(r.view, forms)) for r in node.reads),
        body=tuple(substitute(e, at) for e in node.body),
        where=tuple(w.substitute(forms) for w in node.where),
    )


def _moved(view: View, forms: Mapping[str, Affine]) -> View:
    return view.map_forms(lambda form: form.substitute(dict(forms)))


def fed(alone: Graph) -> Graph:
    """An isolated node whose sources are maps over inputs: these can be scheduled, formats and all.

    The maps have the names of the sources, their inputs those of `feed_name`.
    """
    inputs = tuple(replace(i, name=feed_name(i.name)) for i in alone.inputs)
    maps = tuple(_copy(i) for i in alone.inputs)
    (node,) = alone.nodes
    reads = tuple(_of_maps(r) for r in node.reads)
    return replace(alone, inputs=inputs, nodes=(*maps, replace(node, reads=reads)))


def feed_name(source: str) -> str:
    """The input behind the map that stands for a source."""
    return f"{source} as given"


def _copy(i: Input) -> Comprehension:
    dims = tuple(Dim(f"d{k}", n) for k, n in enumerate(i.shape))
    view = View(tuple(variable(d.name) for d in dims))
    read = Read(Ref(feed_name(i.name)), view)
    return Comprehension(i.name, dims, (read,), (arg(0, i.sort),), outputs=(COPIED,))


COPIED: Final = "value"
"""The output of a map that stands for a source."""


def _of_maps(read: Read) -> Read:
    gathers = tuple(_of_maps(g) for g in read.view.gathers)
    view = replace(read.view, gathers=gathers) if gathers else read.view
    return Read(Ref(read.source.node, COPIED), view)


def split_sums(graph: Graph) -> Graph:
    """An isolated sum of several bodies as several sums, which f64 evaluates much faster."""
    (node,) = graph.nodes
    if len(node.body) < 2 or not is_plain_sum(node.monoid):
        return graph
    parts, outputs = [], []
    for k, body in enumerate(node.body):
        name = _other(f"part {k}", node)
        parts.append(replace(node, name=name, body=(body,), monoid=SUM))
        outputs.append(Output(f"p{k}_value", Ref(name, "value")))
        outputs.append(Output(f"p{k}_acc", Ref(name, "acc")))
    return replace(graph, nodes=tuple(parts), outputs=tuple(outputs))
