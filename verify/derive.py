"""Derivations: what is done to a program before it is lowered, each step judged.

Defines `Derivation` and `derive`. Relies on autodiff and on the rules, which are under test here,
and on the checks of `gradient` and `rewriting`. It lowers nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from tang.autodiff import grad
from tang.errors import LimitError
from tang.ir.graph import Graph
from tang.verify.gradient import judge_gradient
from tang.verify.report import Finding, RungResult
from tang.verify.rewriting import check_rewrite
from tang.verify.verdict import Rung, Verdict

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Gradient:
    """Of which output, and with respect to which inputs."""

    loss: str
    wrt: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """What happens to a program before lowering: first the gradient, then the rules.

    rules     names in the order in which they are tried; None takes the pipeline, () none
    strict    NaN and infinities keep their meaning exactly: the gradient multiplies as IEEE does,
              and rules that need finite operands are off
    gradient  None: the program itself
    """

    rules: tuple[str, ...] | None = None
    strict: bool = False
    gradient: Gradient | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived program, None when a step failed, and what the rung has to say of each step."""

    graph: Graph | None
    results: tuple[RungResult, ...]
    findings: tuple[Finding, ...]


def differentiated(graph: Graph, derivation: Derivation) -> Graph:
    """The program that the rules of a derivation start from, unchecked."""
    of = derivation.gradient
    return graph if of is None else grad(graph, of.loss, of.wrt, strict=derivation.strict)


def derive(graph: Graph, inputs: Mapping[str, Array], derivation: Derivation) -> Derived:
    """Differentiate and rewrite a program, checking both on the given data."""
    first = _differentiate(graph, inputs, derivation)
    if first.graph is None or derivation.rules == ():
        return first
    checked = check_rewrite(first.graph, inputs, derivation.rules, strict=derivation.strict)
    done = None if checked.rewritten is None or checked.findings else checked.rewritten.graph
    return Derived(done, (*first.results, checked.result), checked.findings)


def _differentiate(graph: Graph, inputs: Mapping[str, Array], derivation: Derivation) -> Derived:
    """The gradient, where one is wanted, held against dual numbers."""
    of, strict = derivation.gradient, derivation.strict
    if of is None:
        return Derived(graph, (), ())
    try:
        made = differentiated(graph, derivation)
        found = judge_gradient(graph, made, of.loss, of.wrt, inputs, strict=strict)
    except LimitError:
        raise
    except Exception as e:  # noqa: BLE001 - autodiff that raises anything at all is a finding
        text = f"{type(e).__name__}: {e}"
        return Derived(None, (), (_gradient_finding(text, of, Verdict.CRASH),))
    if found.wrong is not None:
        return Derived(None, (), (_gradient_finding(found.wrong, of, Verdict.WRONG),))
    result = RungResult(
        Rung.REWRITE,
        elements=found.elements,
        undecided=found.undecided,
        skipped=found.skipped,
        note=f"gradient of {of.loss}",
    )
    return Derived(made, (result,), ())


def _gradient_finding(wrong: str, of: Gradient, verdict: Verdict) -> Finding:
    head, _, rest = wrong.partition("\n")
    return Finding(
        Rung.REWRITE,
        verdict,
        f"gradient of {of.loss} with respect to {', '.join(of.wrt)}: {head}",
        detail=rest,
        origin="rule grad",
    )
