"""Rule `simplify-expr`: bodies made smaller by identities, conditions that always hold dropped.

Defines `SIMPLIFY_EXPR`. Relies on the identities of `scalar` and on proofs about coordinates. It
leaves monoids alone, and nothing that it does needs finite operands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tang.ir.graph import Comprehension
from tang.ir.view import Affine, Read
from tang.rewrite.cost import operations
from tang.rewrite.matching import in_reach, keeps_types, tidy
from tang.rewrite.program import Program
from tang.rewrite.proofs import Domain
from tang.rewrite.rule import Edit, Rule
from tang.rewrite.scalar import simplifier
from tang.rewrite.substitution import proved


def _find(program: Program, node: Comprehension) -> Edit | None:
    """body → the body after all identities; a guard or where without what always holds."""
    simple = simplifier(node, program.facts)
    domain = simple.domain
    new = replace(
        node,
        body=tuple(map(simple, node.body)),
        reads=tuple(Read(r.source, proved(r.view, domain)) for r in node.reads),
        where=_proved_where(node.where, domain),
    )
    if new == node or not (keeps_types(program, node, new) and in_reach(program, new)):
        return None
    return Edit((node.name,), (tidy(new),), node.name, _text(node, new))


def _proved_where(where: tuple[Affine, ...], domain: Domain) -> tuple[Affine, ...]:
    """The conditions that do not hold by the extents and the other conditions alone."""
    kept = list(dict.fromkeys(where))
    for w in tuple(kept):
        others = tuple(k for k in kept if k != w)
        inside = Domain(domain.extents, domain.minimum, others)
        if inside.at_least(w, w.const - w.const):
            kept = list(others)
    return tuple(kept) if len(kept) < len(where) else where


def _text(old: Comprehension, new: Comprehension) -> str:
    before, after = operations(*old.body), operations(*new.body)
    guards = sum(len(r.view.guard) for r in old.reads) - sum(len(r.view.guard) for r in new.reads)
    dropped = guards + len(old.where) - len(new.where)
    what = f"a body of cost {before} → {after}" if old.body != new.body else "the same body"
    return what + (f", {dropped} conditions that always hold → nothing" if dropped else "")


SIMPLIFY_EXPR: Final = Rule(
    "simplify-expr",
    "x + 0, x · 1, −(−x), select(c, x, x), operations on constants, conditions that always hold "
    "→ x, their value, nothing",
    "extended reals with NaN and unsigned zeros",
    frozenset(),
    "Tang.simplify_expr",
    _find,
    recalled=True,
)
