"""Derivations: what is done to a program before it is lowered, with each step judged.

Defines `Derivation` and `derive`. Relies on the rules, which are under test here,
and on `rewriting`. It lowers nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from tang.ir.graph import Graph
from tang.verify.report import Finding, RungResult
from tang.verify.rewriting import check_rewrite

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """What happens to a program before lowering: the rules.

    rules     names in the order in which they are tried; None takes the pipeline, () none
    strict    NaN and infinities keep their meaning exactly
    """

    rules: tuple[str, ...] | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived program, None when a step failed, and what the rung has to say."""

    graph: Graph | None
    results: tuple[RungResult, ...]
    findings: tuple[Finding, ...]


def derive(graph: Graph, inputs: Mapping[str, Array], derivation: Derivation) -> Derived:
    """Rewrite a program, checking it on the given data."""
    results: list[RungResult] = []
    if derivation.rules == ():
        return Derived(graph, tuple(results), ())
    checked = check_rewrite(graph, inputs, derivation.rules, strict=derivation.strict)
    done = None if checked.rewritten is None or checked.findings else checked.rewritten.graph
    return Derived(done, (*results, checked.result), checked.findings)
