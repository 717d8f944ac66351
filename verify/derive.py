"""Derivations: what is done to a program before it is lowered, each step judged.

Defines `Derivation` and `derive`. Relies on autodiff and on the rules, which are under test here,
and on the checks of `gradient` and `rewriting`. It lowers nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tang.autodiff import grad
from tang.errors import LimitError
from tang.ir.graph import Graph
from tang.verify.gradient import check_gradient
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
    strict    NaN and infinities keep their meaning exactly
    gradient  None: the program itself
    """

    rules: tuple[str, ...] | None = None
    strict: bool = False
    gradient: Gradient | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived program, None when a step failed, and what the rung has to say."""

    graph: Graph | None
    results: tuple[RungResult, ...]
    findings: tuple[Finding, ...]


def derive(graph: Graph, inputs: Mapping[str, Array], derivation: Derivation) -> Derived:
    """Differentiate and rewrite a program, checking both on the given data."""
    results: list[RungResult] = []
    if derivation.gradient is not None:
        loss, wrt = derivation.gradient.loss, derivation.gradient.wrt
        try:
            wrong = check_gradient(graph, loss, wrt, inputs)
            made = grad(graph, loss, wrt)
        except LimitError:
            raise
        except Exception as e:  # noqa: BLE001 - autodiff that raises anything at all is a finding
            text = f"{type(e).__name__}: {e}"
            return Derived(None, (), (_gradient_finding(text, loss, wrt, Verdict.CRASH),))
        if wrong is not None:
            return Derived(None, (), (_gradient_finding(wrong, loss, wrt, Verdict.WRONG),))
        elements = sum(np.asarray(inputs[name]).size for name in wrt)
        results.append(RungResult(Rung.REWRITE, elements=elements, note=f"gradient of {loss}"))
        graph = made
    if derivation.rules == ():
        return Derived(graph, tuple(results), ())
    checked = check_rewrite(graph, inputs, derivation.rules, strict=derivation.strict)
    done = None if checked.rewritten is None or checked.findings else checked.rewritten.graph
    return Derived(done, (*results, checked.result), checked.findings)


def _gradient_finding(wrong: str, loss: str, wrt: tuple[str, ...], verdict: Verdict) -> Finding:
    head, _, rest = wrong.partition("\n")
    return Finding(
        Rung.REWRITE,
        verdict,
        f"gradient of {loss} with respect to {', '.join(wrt)}: {head}",
        detail=rest,
        origin="rule grad",
    )
