"""Rule `merge-dims`: two dims that always occur as a row-major pair become one.

Defines `MERGE_DIMS`. Relies on the coefficients of every form of a node: (a, b) is such a pair when
that of a is everywhere the extent of b times that of b. Results of the node change shape, so its
readers change their views; a result that the caller wants keeps its dims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from tang.ir.expr import walk
from tang.ir.graph import Comprehension, Dim, reads_of
from tang.ir.view import Affine, Read, Ref, View, is_gathered, variable
from tang.rewrite.matching import fits, in_reach
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Rule


def _find(program: Program, node: Comprehension) -> Edit | None:
    """[a:A, b:B] with forms k·(B·a + b) → [a:A·B] with forms k·a."""
    forms = list(_forms(node))
    for pair in pairwise(node.reduce):
        if _is_row_major(node, forms, *pair):
            new = _merged(node, *pair)
            return Edit((node.name,), (new,), node.name, _text(node, *pair))
    if program.is_output(node.name):
        return None
    for pair in pairwise(node.point):
        if _is_row_major(node, forms, *pair):
            edit = _with_readers(program, node, *pair)
            if edit is not None:
                return edit
    return None


def _text(node: Comprehension, a: Dim, b: Dim) -> str:
    both = Dim(a.name, a.extent * b.extent)
    return f"dims {a.name}:{a.extent}, {b.name}:{b.extent} of {node.name} → {a.name}:{both.extent}"


def _forms(node: Comprehension) -> Iterator[Affine]:
    for read in reads_of(node):
        yield from read.view.forms()
    yield from node.where


def _is_row_major(node: Comprehension, forms: Sequence[Affine], a: Dim, b: Dim) -> bool:
    used = {e.payload for e in walk(*node.body) if e.op in ("iota", "extent")}
    if {a.name, b.name} & used:
        return False
    return all(f.coefficient(a.name) == b.extent * f.coefficient(b.name) for f in forms)


def _merged(node: Comprehension, a: Dim, b: Dim) -> Comprehension:
    """The node with b gone and a running over both."""

    def form(f: Affine) -> Affine:
        rest = Affine(tuple((v, c) for v, c in f.terms if v not in (a.name, b.name)), f.const)
        return rest + variable(a.name, f.coefficient(b.name))

    both = Dim(a.name, a.extent * b.extent)

    def dims(old: tuple[Dim, ...]) -> tuple[Dim, ...]:
        return tuple(both if d == a else d for d in old if d != b)

    return replace(
        node,
        point=dims(node.point),
        reduce=dims(node.reduce),
        where=tuple(map(form, node.where)),
        reads=tuple(Read(r.source, r.view.map_forms(form)) for r in node.reads),
    )


def _with_readers(program: Program, node: Comprehension, a: Dim, b: Dim) -> Edit | None:
    new = _merged(node, a, b)
    olds = program.readers(node.name)
    if any(_gathers(r, node, a) for r in olds):
        return None
    readers = [_reading(r, node, a, b) for r in olds]
    known = {Ref(node.name, o): new.tensor(o).shape for o in program.used(node.name)}
    legal = in_reach(program, new) and all(in_reach(program, r, known) for r in readers)
    if not legal or not all(map(fits, readers)):
        return None
    return Edit((node.name,), (new,), node.name, _text(node, a, b), update=tuple(readers))


def _gathers(reader: Comprehension, node: Comprehension, a: Dim) -> bool:
    """Whether the pair is read at gathered positions: one out of range would become another's."""
    for read in reads_of(reader):
        if read.source.node == node.name:
            names = [d.name for d in node.tensor(read.source.output).dims]
            at = names.index(a.name) if a.name in names else len(names)
            if any(map(is_gathered, read.view.coords[at : at + 2])):
                return True
    return False


def _reading(reader: Comprehension, node: Comprehension, a: Dim, b: Dim) -> Comprehension:
    """The reader with the two coordinates of the pair as one."""

    def moved(read: Read) -> Read:
        view = read.view
        gathers = tuple(map(moved, view.gathers))
        coords = view.coords
        if read.source.node == node.name:
            names = [d.name for d in node.tensor(read.source.output).dims]
            if a.name in names:
                coords = _joined(coords, names.index(a.name), b)
        return Read(read.source, View(coords, view.guard, view.fill, gathers))

    return replace(reader, reads=tuple(map(moved, reader.reads)))


def _joined(coords: tuple[Affine, ...], at: int, b: Dim) -> tuple[Affine, ...]:
    both = coords[at].scale(b.extent) + coords[at + 1]
    return (*coords[:at], both, *coords[at + 2 :])


MERGE_DIMS: Final = Rule(
    "merge-dims",
    "two neighbouring dims that occur only as extent·a + b → one dim",
    "any",
    frozenset(),
    "Tang.merge_dims",
    _find,
    recalled=True,
)
