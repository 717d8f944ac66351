"""Rule `common-subexpression`: what is computed twice is computed once.

Defines `COMMON_SUBEXPRESSION`. Relies on the readers of a shared tensor to find equal nodes, so
nodes that read nothing are not compared. Nodes are equal up to the names of dims and nodes, the
order of reads, and the order of operands of commutative operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tang.ir.expr import Expr, walk
from tang.ir.graph import Comprehension
from tang.ir.view import Read, Ref, variable
from tang.rewrite.program import Program
from tang.rewrite.rule import Edit, Rule
from tang.rewrite.substitution import at_forms

COMMUTATIVE: Final = frozenset({"add", "mul", "and", "or", "eq"})
MOST_COMPARED: Final = 32

Table = dict[object, int]


def _find(program: Program, node: Comprehension) -> Edit | None:
    """b = f(x), where a = f(x) lies before it → readers of b read a."""
    used = program.used(node.name)
    for other in _candidates(program, node):
        same = _same_results(other, node, used)
        if same is not None:
            redirect = {Ref(node.name, o): Ref(other.name, s) for o, s in same.items()}
            text = f"{node.name}, which computes what {other.name} does → {other.name}"
            return Edit((node.name,), (), node.name, text, redirect, context=(other.name,))
    return None


def _candidates(program: Program, node: Comprehension) -> Sequence[Comprehension]:
    """Earlier nodes that read the tensor with the fewest readers among those of this node."""
    sources = dict.fromkeys(r.source.node for r in node.reads)
    readers = min((program.readers(s) for s in sources), key=len, default=[])
    earlier = [r for r in readers if program.precedes(r.name, node.name)]
    return [r for r in earlier[:MOST_COMPARED] if _alike(r, node)]


def _alike(a: Comprehension, b: Comprehension) -> bool:
    """A quick look: extents and monoid."""
    points = [d.extent for d in a.point] == [d.extent for d in b.point]
    elements = [d.extent for d in a.reduce] == [d.extent for d in b.reduce]
    return points and elements and a.monoid == b.monoid


def _same_results(
    a: Comprehension, b: Comprehension, used: frozenset[str]
) -> dict[str, str] | None:
    """For every used result of b the equal one of a; None when one is missing."""
    table: Table = {}
    ours, theirs = (_numbers(n, table) for n in (a, b))
    if b.monoid is not None:
        where = (frozenset(_where(n)) for n in (a, b))
        equal = ours == theirs and len(set(where)) == 1
        return {o: o for o in b.output_names()} if equal else None
    found = dict(zip(reversed(ours), reversed(a.outputs), strict=True))
    results = dict(zip(b.outputs, theirs, strict=True))
    if any(results[o] not in found for o in used):
        return None
    return {o: found[results[o]] for o in b.outputs if o in used}


def _names(node: Comprehension) -> dict[str, str]:
    return {d.name: f"#{n}" for n, d in enumerate(node.dims)}


def _where(node: Comprehension) -> list[object]:
    forms = {old: variable(new) for old, new in _names(node).items()}
    return [w.substitute(forms) for w in node.where]


def _numbers(node: Comprehension, table: Table) -> tuple[int, ...]:
    """Numbers of the bodies; equal numbers in one table mean equal values."""
    names = _names(node)
    forms = {old: variable(new) for old, new in names.items()}
    reads = [Read(r.source, at_forms(r.view, forms)) for r in node.reads]
    done: dict[Expr, int] = {}
    for e in walk(*node.body):
        args = [done[a] for a in e.args]
        operands = tuple(sorted(args) if e.op in COMMUTATIVE else args)
        payload = _payload(e, reads, names)
        key = (e.op, e.sort, type(payload), payload, operands)
        done[e] = table.setdefault(key, len(table))
    return tuple(done[b] for b in node.body)


def _payload(e: Expr, reads: Sequence[Read], names: dict[str, str]) -> object:
    if e.op == "arg" and isinstance(e.payload, int):
        return reads[e.payload]
    if e.op in ("iota", "extent"):
        return names.get(str(e.payload), e.payload)
    return e.payload


COMMON_SUBEXPRESSION: Final = Rule(
    "common-subexpression",
    "a node equal to an earlier one → the earlier one",
    "any",
    frozenset(),
    "Tang.common_subexpression",
    _find,
    recalled=True,
)
