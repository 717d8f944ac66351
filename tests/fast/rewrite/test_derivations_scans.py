"""Decayed sums become affine scans, and long scans of any monoid are cut into chunks.

Defines spellings as functions that make a graph. Relies on the frontend, the checked engine and
`derivation_checks`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from derivation_checks import FINITE_KINDS, agree, derive, draw, monoids_of

import tang as tg
from tang.frontend.values import Value
from tang.ir import monoids
from tang.ir.graph import Graph
from tang.ir.scans import Scan, scan_of
from tang.rewrite import rewrite
from tang.rewrite.rules import chunk
from tang.verify.rewriting import checker

Spelling = Callable[[], Graph]
N = 6


def dims(n: int = N) -> tuple[Value, Value, Value, Value]:
    return tg.dim("t", n), tg.dim("s", n), tg.dim("r", n), tg.dim("p", 2)


def inputs(n: int = N) -> tuple[tg.Tensor, tg.Tensor]:
    return tg.input("a", (n,)), tg.input("b", (n, 2))


def products() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    decay = tg.compute("decay", [t, s], tg.prod(a[r], r, [s < r, r <= t]))
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(decay[t, s] * b[s, p], s, [s <= t])))


def products_renamed() -> Graph:
    """Other names and orders; the factor of the element itself counts too."""
    (q, k, m, c), (a, b) = dims(), inputs()
    kept = tg.compute("sum", [k, q], tg.prod(a[m], m, [m <= q, k <= m]))
    return tg.Graph(o=tg.compute("max", [c, q], tg.sum(b[k, c] * kept[k, q] * 2, k, [q >= k])))


def inside_one_formula() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    decay = tg.prod(1 / (1 + tg.exp(a[r])), r, [s < r, r <= t])
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(decay * tg.exp(b[s, p]), s, [s <= t])))


def difference_of_sums() -> Graph:
    """Mamba-2's segment sum: exp(L(t) − L(s)) for a running sum L."""
    (t, s, r, p), (a, b) = dims(), inputs()
    low = tg.compute("low", t, tg.sum(-(a[r] * a[r]), r, [r <= t]))
    weight = tg.exp(low[t] - low[s])
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(weight * b[s, p], s, [s <= t])))


def ratio_of_products() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    whole = tg.compute("whole", t, tg.prod(tg.exp(a[r]), r, [r <= t]))
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(whole[t] / whole[s] * b[s, p], s, [s <= t])))


def gated() -> Graph:
    """The condition as a select instead of a where, in the sum and in the product."""
    (t, s, r, p), (a, b) = dims(), inputs()
    decay = tg.compute("decay", [t, s], tg.prod(tg.select((s < r) & (r <= t), a[r], 1.0), r))
    value = tg.select(s <= t, decay[t, s] * b[s, p], 0.0)
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(value, s)))


def state_of_mamba() -> Graph:
    """h[t, n, p] = Σ decay · B[s, n] · x[s, p], read out by C."""
    (t, s, r, p), (a, b) = dims(), inputs()
    n, write, read = tg.dim("n", 3), tg.input("B", (N, 3)), tg.input("C", (N, 3))
    decay = tg.compute("decay", [t, s], tg.prod(tg.exp(-(a[r] * a[r])), r, [s < r, r <= t]))
    h = tg.compute("h", [t, n, p], tg.sum(decay[t, s] * write[s, n] * b[s, p], s, [s <= t]))
    return tg.Graph(y=tg.compute("y", [t, p], tg.sum(read[t, n] * h[t, n, p], n)))


SPELLINGS = (
    products, products_renamed, inside_one_formula, difference_of_sums, ratio_of_products, gated,
    state_of_mamba,
)  # fmt: skip
RULES = ("gate-to-where", "recognise-scan", "dead-node")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_decayed_sum_is_an_affine_scan_however_it_is_written(spelling: Spelling) -> None:
    judge = checker()
    rewrite(spelling(), RULES, check=judge)
    assert judge.checked
    found = derive(spelling(), *RULES)
    kinds = [k for k in monoids_of(found.graph) if k != "map"]
    assert kinds == ["affine_scan", *(["sum"] if spelling is state_of_mamba else [])]
    scans = [scan_of(n) for n in found.graph.nodes]
    assert any(s is not None and s.offset == 0 and not s.reverse for s in scans)


def decay_reversed() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    decay = tg.compute("decay", [t, s], tg.prod(a[r], r, [t < r, r <= s]))
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(decay[t, s] * b[s, p], s, [s <= t])))


def decay_of_everything() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    decay = tg.compute("decay", [t, s], tg.prod(a[r], r, [r <= t]))
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(decay[t, s] * b[s, p], s, [s <= t])))


def future_too() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    decay = tg.compute("decay", [t, s], tg.prod(a[r], r, [s < r, r <= t]))
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(decay[t, s] * b[s, p], s)))


def decay_depends_on_both() -> Graph:
    (t, s, r, p), (_, b) = dims(), inputs()
    a = tg.input("a", (N, N))
    decay = tg.compute("decay", [t, s], tg.prod(a[t, r], r, [s < r, r <= t]))
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(decay[t, s] * b[s, p], s, [s <= t])))


def score_times_decay() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    g = tg.input("g", (N, N))
    decay = tg.compute("decay", [t, s], tg.prod(a[r], r, [s < r, r <= t]))
    value = g[t, s] * decay[t, s] * b[s, p]
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(value, s, [s <= t])))


def sums_of_other_tensors() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    c = tg.input("c", (N,))
    low = tg.compute("low", t, tg.sum(a[r], r, [r <= t]))
    other = tg.compute("other", t, tg.sum(c[r], r, [r <= t]))
    weight = tg.exp(low[t] - other[s])
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(weight * b[s, p], s, [s <= t])))


def exclusive_sums() -> Graph:
    (t, s, r, p), (a, b) = dims(), inputs()
    low = tg.compute("low", t, tg.sum(a[r], r, [r < t]))
    weight = tg.exp(low[t] - low[s])
    return tg.Graph(h=tg.compute("h", [t, p], tg.sum(weight * b[s, p], s, [s <= t])))


NEAR = (
    decay_reversed, decay_of_everything, future_too, decay_depends_on_both, score_times_decay,
    sums_of_other_tensors, exclusive_sums,
)  # fmt: skip


@pytest.mark.parametrize("spelling", NEAR)
def test_what_only_looks_like_a_decayed_sum_is_left_alone(spelling: Spelling) -> None:
    assert not rewrite(spelling(), ["recognise-scan"]).trace


def test_a_gate_on_data_is_no_where() -> None:
    t, s, _, _ = dims()
    x = tg.input("x", (N,))
    for gate in (x[s] < 1.0, (s <= t) | (s < 2)):
        total = tg.compute("o", t, tg.sum(tg.select(gate, x[s], 0.0), s))
        assert not rewrite(tg.Graph(o=total), ["gate-to-where"]).trace
    other = tg.compute("o", t, tg.max(tg.select(s <= t, x[s], 0.0), s))
    assert not rewrite(tg.Graph(o=other), ["gate-to-where"]).trace


def test_the_form_of_a_scan_is_told_from_its_condition() -> None:
    x = tg.input("x", (2, N))
    (node,) = tg.Graph(o=tg.cumsum(x)).nodes
    assert scan_of(node) == Scan(node.point[1], node.reduce[0], 0, False)
    (node,) = tg.Graph(o=tg.cumsum(x, reverse=True, exclusive=True)).nodes
    assert scan_of(node) == Scan(node.point[1], node.reduce[0], 1, True)
    t, s, _, _ = dims()
    y = tg.input("y", (N, N))
    for body, where in ((y[t, s], [s <= t]), (y[s, s], [s < 3]), (y[s, s], [])):
        (node,) = tg.Graph(o=tg.compute("o", t, tg.sum(body, s, where))).nodes
        assert scan_of(node) is None


def scan_over(monoid: str, n: int, exclusive: bool = False) -> Graph:
    """A scan of a stock monoid over n elements beside another dim."""
    (t, s, _, p), (a, b) = dims(n), inputs(n)
    keep = [s < t] if exclusive else [s <= t]
    if monoid == "affine_scan":
        decay = tg.exp(-(a[s] * a[s]))
        return tg.Graph(h=tg.compute("h", [p, t], tg.affine_scan(decay, b[s, p], s, keep)))
    if monoid == "online_softmax":
        value = tg.online_softmax(a[s], b[s, p], s, keep)
        return tg.Graph(h=tg.compute("h", [p, t], value))
    fold = tg.reduce(monoids.BUILTIN[monoid], b[s, p] + tg.real(s), over=s, where=keep)
    return tg.Graph(h=tg.compute("h", [t, p], fold))


CASES = ("sum", "prod", "max", "min", "logsumexp", "online_softmax", "welford", "affine_scan")


@pytest.mark.parametrize("monoid", CASES)
@pytest.mark.parametrize("exclusive", [False, True], ids=["inclusive", "exclusive"])
def test_a_scan_in_chunks_is_the_scan(
    monoid: str, exclusive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk, "CHUNK", 4)
    before = scan_over(monoid, 12, exclusive)
    judge = checker()
    found = rewrite(before, ["chunk-scan"], check=judge)
    assert [s.rule for s in found.trace] == ["chunk-scan"]
    assert judge.checked
    for kind in FINITE_KINDS[:2]:
        assert agree(before, found.graph, draw(before, 1, kind))


def test_chunks_are_cut_again_until_none_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """27 elements in chunks of 3: the scan of 9 totals is cut too, so the cost is linear."""
    monkeypatch.setattr(chunk, "CHUNK", 3)
    before = scan_over("affine_scan", 27)
    after = rewrite(before, ["chunk-scan"]).graph
    assert agree(before, after, draw(before, 1, "random"))
    assert max(d.extent.constant for n in after.nodes for d in n.reduce) == 3


def test_the_chunked_form_of_mamba_is_derived_and_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk, "CHUNK", 3)
    found = derive(state_of_mamba(), "recognise-scan", "chunk-scan", "dead-node")
    assert [s.rule for s in found.trace][:2] == ["recognise-scan", "chunk-scan"]
    scans = [n for n in found.graph.nodes if n.monoid and n.monoid.name == "affine_scan"]
    assert len(scans) == 3


def test_scans_that_do_not_divide_or_are_short_stay() -> None:
    assert not rewrite(scan_over("sum", chunk.CHUNK), ["chunk-scan"]).trace
    assert not rewrite(scan_over("sum", 67), ["chunk-scan"]).trace
    assert "chunk-scan" not in {s.rule for s in rewrite(scan_over("sum", 128)).trace}
