"""Rewrite rules as data: what a rule is, what it needs, and the edit that it proposes.

Defines `Rule`, `Requirement` and `Edit`. Relies on the IR and on `program.Program`, which a rule
reads but never changes. It applies nothing: `engine` does, and validates what comes out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tang.ir.graph import Comprehension
from tang.ir.view import Ref
from tang.rewrite.program import Program


class Requirement(enum.Enum):
    """What must hold of values or monoids for a rule to keep the meaning."""

    FINITE = "needs-finite"
    """Operands are finite: the rule is off in strict mode, and the default documents it."""
    COMMUTATIVE = "needs-commutative"
    """The order of the fold is changed: the monoid must be commutative."""
    REASSOCIATES = "reassociates"
    """Equal over the reals; rounding differs."""
    DEGREE = "needs-degree-proof"
    """A degree analysis has shown the result free of the value that is dropped."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A local change of a program, proposed by a rule and applied by the engine.

    remove    names of the nodes that go; each of their results that somebody else reads is
              redirected, or made again by an inserted node of that name
    insert    nodes that come, in order, in the place of `at`
    at        the removed node whose place the inserted ones take: what they read lies before it,
              what reads them after it
    text      one line, "before → after", in the words of the program
    redirect  old result → new result, of equal shape and sort
    context   nodes that stay but explain the change: a local check needs them on both sides
    update    nodes that stay in their own places, in another form: readers of a result whose
              shape changes; their own results keep theirs
    """

    remove: tuple[str, ...]
    insert: tuple[Comprehension, ...]
    at: str
    text: str
    redirect: Mapping[Ref, Ref] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    update: tuple[Comprehension, ...] = ()


Find = Callable[[Program, Comprehension], Edit | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named equality between programs, read from left to right.

    name           kebab-case
    doc            "before → after", a sentence for people
    algebra        the structure over whose elements the two sides are equal
    preconditions  what must hold besides, as data
    theorem        name of the Lean theorem that states it (`proofs/`)
    find           the edit rooted at a node, or None; must make progress: applied again and
                   again it ends
    recalled       `find` looks at no name of a node and its answer depends on the node, the facts
                   and what it asks of the program alone: where it has found nothing, it is not
                   asked again, nor at a place that differs in names alone
    """

    name: str
    doc: str
    algebra: str
    preconditions: frozenset[Requirement]
    theorem: str
    find: Find
    recalled: bool = False

    @property
    def strict(self) -> bool:
        """Whether the rule keeps NaN and infinities exactly."""
        return Requirement.FINITE not in self.preconditions
