"""Decayed sums whose gate is inside the exponential, the sum or the product: Mamba-2's forms.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`. A gate becomes a `where` only where the body is neutral outside of it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from derivation_checks import derive, monoids_of

import tang as tg
from tang.errors import RewriteError
from tang.frontend.values import Value
from tang.ir.graph import Graph
from tang.ir.scans import scan_of
from tang.rewrite import rewrite
from tang.rewrite.rules import scan
from tang.verify.rewriting import checker

N = 5
NINF = float("-inf")
t, s, r, p = tg.dim("t", N), tg.dim("s", N), tg.dim("r", N), tg.dim("p", 2)
a, b = tg.input("a", (N,)), tg.input("b", (N, 2))
GATE = (s < r) & (r <= t)


def bit(condition: Value) -> Value:
    return tg.select(condition, 1.0, 0.0)


def masked(decay: Value) -> Graph:
    """Σ over s ≤ t of decay · b, the decay in a tensor of its own."""
    kept = tg.compute("decay", [t, s], decay)
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(kept[t, s] * b[s, p], s, [s <= t])))


def everywhere(decay: Value) -> Graph:
    """The same without a where: the decay itself is 0 for s > t."""
    kept = tg.compute("decay", [t, s], decay)
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(kept[t, s] * b[s, p], s)))


def running() -> Value:
    """A running sum, gated too."""
    low = tg.compute("low", t, tg.sum(tg.select(r <= t, a[r], 0.0), r))
    return low[t] - low[s]


def segment() -> Value:
    return tg.sum(tg.select(GATE, a[r], 0.0), r)


def in_two_tensors() -> Graph:
    """As in the paper: −inf above the diagonal of the segment sums, then exp."""
    seg = tg.compute("seg", [t, s], tg.select(s <= t, segment(), NINF))
    return everywhere(tg.exp(seg[t, s]))


def with_bias() -> Graph:
    """Something of s alone beside the segment sum."""
    c = tg.input("c", (N,))
    return masked(tg.exp(segment() + c[s]))


FOUND: dict[str, Callable[[], Graph]] = {
    "sum where": lambda: masked(tg.exp(tg.sum(a[r], r, [s < r, r <= t]))),
    "gated sum": lambda: masked(tg.exp(segment())),
    "gated sum with its own step": lambda: masked(
        tg.exp(tg.sum(tg.select((r <= t) & (s <= r), a[r], 0.0), r))
    ),
    "scaled": lambda: masked(tg.exp2(-3 * segment())),
    "multiplied gate": lambda: masked(tg.exp(tg.sum(bit(GATE) * a[r], r))),
    "two gates": lambda: masked(tg.exp(tg.sum(bit(r <= t) * tg.select(s < r, a[r], 0.0), r))),
    "gated product": lambda: masked(tg.prod(tg.select(GATE, a[r], 1.0), r)),
    "product of gated exponentials": lambda: masked(tg.prod(tg.exp(tg.select(GATE, a[r], 0.0)), r)),
    "product of multiplied gates": lambda: masked(tg.prod(1 + bit(GATE) * (a[r] - 1), r)),
    "select outside": lambda: everywhere(tg.select(s <= t, tg.exp(segment()), 0.0)),
    "gate outside": lambda: everywhere(bit(t >= s) * tg.exp(segment())),
    "select of a product": lambda: everywhere(
        tg.select(s > t, 0.0, tg.prod(tg.select(GATE, a[r], 1.0), r))
    ),
    "minus infinity": lambda: everywhere(tg.exp(tg.select(s <= t, segment(), NINF))),
    "minus infinity in two tensors": in_two_tensors,
    "difference of gated sums": lambda: everywhere(tg.select(s <= t, tg.exp(running()), 0.0)),
    "difference and minus infinity": lambda: everywhere(tg.exp(tg.select(s <= t, running(), NINF))),
    "beside a bias": with_bias,
}


@pytest.mark.parametrize("name", FOUND)
def test_a_gated_decay_is_the_scan_of_its_where_form(name: str) -> None:
    judge = checker()
    after = rewrite(FOUND[name](), check=judge).graph
    assert judge.checked
    assert monoids_of(after) == ["affine_scan"]
    found = scan_of(after.nodes[0])
    assert found is not None
    assert (found.offset, found.reverse) == (0, False)
    derive(FOUND[name]())


@pytest.mark.parametrize("name", ["gated sum", "multiplied gate", "minus infinity"])
def test_in_strict_mode_nothing_is_reassociated(name: str) -> None:
    found = rewrite(FOUND[name](), strict=True, check=checker())
    assert "affine_scan" not in monoids_of(found.graph)


def gate(value: Value) -> Graph:
    return tg.Graph(o=tg.compute("o", [t, s], value))


def test_a_gate_deep_in_a_body_is_found_and_exact() -> None:
    """exp(0) = 1 is neutral in a product; the rule keeps NaN and infinities."""
    found = derive(gate(tg.prod(tg.exp(tg.select(GATE, a[r], 0.0)), r)), "gate-to-where")
    assert len(found.graph.nodes[0].where) == 2
    kept = derive(gate(tg.max(tg.select(r <= t, a[r] * a[s], NINF), r)), "gate-to-where")
    assert len(kept.graph.nodes[0].where) == 1


def test_the_part_of_a_condition_that_is_on_dims_becomes_a_where() -> None:
    """A causal mask and one from data: the first skips points, the second stays a select."""
    flag = tg.input("flag", (N,), "bool")
    found = derive(gate(tg.sum(tg.select((r <= t) & flag[r], a[r] * a[s], 0.0), r)))
    (node,) = (n for n in found.graph.nodes if n.where)
    assert len(node.where) == 1
    assert "lt" not in {x.op for x in node.body[0].args}


def causal(score: Value) -> Value:
    return tg.select(r <= t, score, NINF)


def test_a_causal_mask_of_scores_skips_what_it_masks() -> None:
    """Exactly in a logsumexp; over finite values in an online softmax, which adds 0 · value."""
    x, value = tg.input("x", (N, N)), tg.input("value", (N, N))
    lse = gate(tg.logsumexp(causal(x[t, r] * a[s]), r))
    assert len(derive(lse, "gate-to-where").graph.nodes[0].where) == 1
    flash = gate(tg.online_softmax(causal(x[t, r]), value[r, s], r))
    assert not any(n.where for n in rewrite(flash, strict=True).graph.nodes)
    found = derive(flash)
    assert len(found.graph.nodes[0].where) == 1
    assert {b.op for b in found.graph.nodes[0].body} == {"arg"}


NO_GATE: dict[str, Callable[[], Value]] = {
    "exp in a sum": lambda: tg.sum(tg.exp(tg.select(GATE, a[r], 0.0)), r),
    "zero in a product": lambda: tg.prod(tg.select(GATE, a[r], 0.0), r),
    "exp of one": lambda: tg.prod(tg.exp(tg.select(GATE, a[r], 1.0)), r),
    "added": lambda: tg.sum(tg.select(GATE, a[r], 0.0) + a[s], r),
    "on data": lambda: tg.sum(bit(a[r] < a[s]) * a[r], r),
    "on neither dim of the fold": lambda: tg.sum(bit(s <= t) * a[r], r),
    "either": lambda: tg.sum(bit((r <= t) | (r <= s)) * a[r], r),
}


@pytest.mark.parametrize("name", NO_GATE)
def test_a_body_that_is_not_neutral_outside_keeps_all_points(name: str) -> None:
    rules = ["gate-to-where", "zero-gate-to-where"]
    assert not rewrite(gate(NO_GATE[name]()), rules).trace


def test_a_zero_gate_needs_finite_operands_and_is_looked_for_once() -> None:
    graph = gate(tg.sum(bit(r <= t) * a[r] * a[s], r))
    assert not rewrite(graph, ["gate-to-where"]).trace
    assert not rewrite(graph, ["zero-gate-to-where"], strict=True).trace
    found = derive(graph, "zero-gate-to-where")
    assert len(found.trace) == 1
    assert len(rewrite(found.graph).graph.nodes[0].where) == 1


def symmetric() -> Graph:
    """|t − s| decays in both directions: no gate."""
    return everywhere(tg.exp(tg.sum(tg.select((s < r) & (r <= t), a[r], 0.0), r)))


def other_start() -> Graph:
    return masked(tg.exp(tg.sum(tg.select((s + 1 < r) & (r <= t), a[r], 0.0), r)))


def other_end() -> Graph:
    return masked(tg.exp(tg.sum(tg.select((s < r) & (r < t), a[r], 0.0), r)))


def of_both() -> Graph:
    x = tg.input("x", (N, N))
    return masked(tg.exp(tg.sum(tg.select(GATE, x[t, r], 0.0), r)))


def squared() -> Graph:
    """The square of a segment sum adds nothing from step to step."""
    total = tg.compute("total", [t, s], segment())
    return masked(tg.exp(total[t, s] * total[t, s]))


def beside_t() -> Graph:
    return masked(tg.exp(segment() + tg.input("x", (N, N))[t, s]))


def of_zero() -> Graph:
    """A product gated by 0 is 0 wherever a step lies outside."""
    return masked(tg.prod(tg.select(GATE, a[r], 0.0), r))


@pytest.mark.parametrize(
    "spelling", [symmetric, other_start, other_end, of_both, squared, beside_t, of_zero]
)
def test_what_only_looks_like_a_gated_decay_is_no_scan(spelling: Callable[[], Graph]) -> None:
    found = derive(spelling())
    assert "affine_scan" not in monoids_of(found.graph)


def planted_neutral(patch: pytest.MonkeyPatch) -> tuple[str, Graph]:
    """Whatever a body is outside of a gate counts as neutral."""
    patch.setattr(scan, "_vanishes", lambda e, neutral: True)
    return "zero-gate-to-where", gate(tg.sum(bit(r <= t) * a[r] + a[s], r))


def planted_step(patch: pytest.MonkeyPatch) -> tuple[str, Graph]:
    """A segment sum counts as one that holds the element's own step, and conversely."""
    honest = scan._step

    def exchanged(*args: object) -> object:
        found = honest(*args)
        return found and (not found[0], found[1])

    patch.setattr(scan, "_step", exchanged)
    return "recognise-scan", masked(tg.exp(tg.sum(a[r], r, [s < r, r <= t])))


@pytest.mark.parametrize("plant", [planted_neutral, planted_step])
def test_a_planted_fault_is_caught_and_its_rule_named(
    plant: Callable[[pytest.MonkeyPatch], tuple[str, Graph]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as clean:
        rule, graph = plant(clean)
    rewrite(graph, [rule], check=checker())  # identity first
    plant(monkeypatch)
    with pytest.raises(RewriteError, match=f"rule {rule} "):
        rewrite(graph, [rule], check=checker())
