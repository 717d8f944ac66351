"""Rewriting: named rules that turn a graph into an equal one, with a trace.

Offers `RULES`, `PIPELINE` and `rewrite`; the package itself can be called, so `tang.rewrite(g)`
and `tang.rewrite.RULES` both work. Relies on the IR. It never imports an interpreter: a checker is
passed in.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import ModuleType

from tang.ir.graph import Graph
from tang.rewrite.catalogue import PIPELINE, RULES
from tang.rewrite.engine import Observer, Rewritten, Step, apply_rules, chosen
from tang.rewrite.local import Application, Checker
from tang.rewrite.rule import Edit, Requirement, Rule

__all__ = [
    "PIPELINE",
    "RULES",
    "Application",
    "Checker",
    "Edit",
    "Observer",
    "Requirement",
    "Rewritten",
    "Rule",
    "Step",
    "rewrite",
]


def rewrite(
    graph: Graph,
    rules: Iterable[str] | None = None,
    strict: bool = False,
    *,
    check: Checker | None = None,
    observe: Observer | None = None,
) -> Rewritten:
    """The graph with rules applied until none is left to apply, and the derivation.

    rules    names in `RULES`, in the order in which they are tried; None takes `PIPELINE`
    strict   NaN and infinities keep their meaning exactly: rules that need finite operands are
             off. The default assumes finite operands where a rule says needs-finite.
    check    judges every application (`tang.verify.rewriting.checker()`); RewriteError on a fault
    Raises GraphError for an unknown rule or an illegal graph.
    """
    selected = chosen(PIPELINE if rules is None else rules, RULES)
    return apply_rules(graph, selected, strict=strict, check=check, observe=observe)


class _Callable(ModuleType):
    """A module that can be called like its main function."""

    __call__ = staticmethod(rewrite)


sys.modules[__name__].__class__ = _Callable
