"""Terms with other variables, and with terms for variables.

Defines `renamed`, `count` and `substituted`. Relies on `terms`. Nothing is simplified: what comes
out is what Lean is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

from tang.proofs.terms import Term


def renamed(t: Term, names: Mapping[str, str]) -> Term:
    """The term with other variables."""
    if t.op in ("var", "bvar"):
        return Term(t.op, name=names.get(t.name, t.name))
    return Term(t.op, tuple(renamed(a, names) for a in t.args))


def count(t: Term, sizes: Mapping[str, int]) -> int:
    """The operations and variables of a term, of which some variables are worth as many."""
    if t.op in ("var", "bvar"):
        return sizes.get(t.name, 1)
    return 1 + sum(count(a, sizes) for a in t.args)


def substituted(t: Term, values: Mapping[str, Term]) -> Term:
    """The term with terms for variables, all at once."""
    if t.op in ("var", "bvar"):
        return values.get(t.name, t)
    return Term(t.op, tuple(substituted(a, values) for a in t.args))
