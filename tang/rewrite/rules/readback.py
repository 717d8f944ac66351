"""Rule `read-back`: a maximum or mean that a larger reduction keeps in its state is read there.

Defines `READ_BACK`. Relies on normal forms and opened nodes. It makes no reduction: another rule
has made the larger one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tang.ir.graph import Comprehension, reads_of
from tang.ir.view import Ref, variable
from tang.rewrite.kinds import kind_of, value_names
from tang.rewrite.normal import Ring
from tang.rewrite.opened import NotHereError, Opened, Space, conditions
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Rule

_KEEPS: Final = ("online_softmax", "logsumexp")
"""Monoids whose first component is the maximum of their first input."""


def _find(program: Program, node: Comprehension) -> Edit | None:
    if kind_of(node) != "max":
        return None
    for larger in _candidates(program, node):
        if not _after(program, node, larger) or not _same(program, node, larger):
            continue
        top = larger.monoid.components[0].name if larger.monoid else ""
        new = Ref(larger.name, top)
        redirect = {Ref(node.name, o): new for o in value_names(node)}
        redirect = {r: n for r, n in redirect.items() if r.output in program.used(node.name)}
        if redirect and all(program.type_of(r) == program.type_of(new) for r in redirect):
            text = f"{node.name} → {new}, the maximum that {larger.name} keeps"
            return Edit(
                (node.name,), (), node.name, text, redirect, context=_context(program, larger)
            )
    return None


def _candidates(program: Program, node: Comprehension) -> Iterator[Comprehension]:
    """Larger reductions over something that the node reads too, or that is read through a map."""
    seen: dict[str, None] = {}
    sources = [r.source.node for r in reads_of(node)]
    for reader in (r for s in sources for r in program.readers(s)):
        seen[reader.name] = None
        if reader.monoid is None:
            seen.update(dict.fromkeys(r.name for r in program.readers(reader.name)))
    found = (program.node(name) for name in seen)
    yield from (n for n in found if n is not None and kind_of(n) in _KEEPS)


def _after(program: Program, node: Comprehension, larger: Comprehension) -> bool:
    """Whether everyone who reads the maximum comes after the larger reduction."""
    readers = program.readers(node.name)
    return all(r.name != larger.name and program.precedes(larger.name, r.name) for r in readers)


def _same(program: Program, node: Comprehension, larger: Comprehension) -> bool:
    top = larger.monoid.components[0].name if larger.monoid else ""
    kept = larger.tensor(top).dims
    if tuple(d.extent for d in kept) != tuple(d.extent for d in node.point):
        return False
    space, ring = Space(program, larger.dims), Ring(exact=True)
    names = {d.name: variable(k.name) for d, k in zip(node.point, kept, strict=True)}
    inner = Opened(space, node, names)
    try:
        score = ring.canonical(
            space.full(space.moved(larger.body[0], larger.reads, larger.dims, {}))
        )
        for naming in inner.namings([(d.name, d.extent) for d in larger.reduce]):
            same = inner.where(naming) == conditions(larger, {})
            if same and ring.canonical(space.full(inner.body(naming))) is score:
                return not ring.lossy
    except NotHereError:
        return False
    return False


def _context(program: Program, larger: Comprehension) -> tuple[str, ...]:
    """The larger reduction and the maps that it reads."""
    nodes = (program.node(r.source.node) for r in reads_of(larger))
    return (larger.name, *dict.fromkeys(n.name for n in nodes if n is not None and not n.monoid))


READ_BACK: Final = Rule(
    "read-back",
    "max s, where an online softmax or a logsumexp of s is at hand → its state m",
    "extended reals with NaN",
    frozenset(),
    "Tang.read_back",
    _find,
)
