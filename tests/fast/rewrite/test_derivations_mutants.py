"""Every planted fault of a rule is caught by the checker, with the rule named.

Defines a graph per mutant on which it shows. Relies on `tang.fuzz.mutants.rewriting` and on the
checked engine. Faults are planted in this process and taken out again after each test.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import tang as tg
from tang.errors import RewriteError
from tang.fuzz.mutants.apply import Mutant, apply_mutant, replacements
from tang.fuzz.mutants.rewriting import REWRITING, RULE_OF
from tang.ir.graph import Graph
from tang.rewrite import RULES, rewrite
from tang.rewrite.rules import chunk
from tang.verify import Rung
from tang.verify.rewriting import checker

NINF = float("-inf")
i, j, k, e = tg.dim("i", 5), tg.dim("j", 5), tg.dim("k", 5), tg.dim("e", 2)
x, y, v = tg.input("x", (5, 5)), tg.input("y", (5, 5)), tg.input("v", (5, 2))
a = tg.input("a", (5,))


def guarded_map() -> Graph:
    one = tg.compute("one", i, a[i] + 1)
    return tg.Graph(o=tg.compute("o", i, 2 * one.at(i - 1, fill=0)))


def two_fills() -> Graph:
    shifted = tg.compute("shifted", i, a.at(i - 1, fill=3))
    return tg.Graph(o=tg.compute("o", i, shifted.at(i - 1, fill=4)))


def two_gathers() -> Graph:
    p, q = tg.input("p", (5,), "index"), tg.input("q", (5,), "index")
    first = tg.compute("first", i, a[p[i]])
    return tg.Graph(o=tg.compute("o", i, first[q[i]]))


def strided() -> Graph:
    n, m = tg.dim("n", 3), tg.dim("m", 3)
    long = tg.input("long", (11,))
    d = tg.dim("d", 11)
    copy = tg.compute("copy", d, long[d] * 2)
    return tg.Graph(o=tg.compute("o", [n, m], copy[2 * n + 3 * m]))


def siblings_apart() -> Graph:
    left = tg.compute("left", i, tg.sum(x[i, j], j, [j <= i]))
    return tg.Graph(left=left, right=tg.compute("right", i, tg.sum(x[i, j], j, [j < i])))


def rows_and_columns() -> Graph:
    rows = tg.compute("rows", i, tg.sum(x[i, j] * a[0], j))
    return tg.Graph(rows=rows, tops=tg.compute("tops", i, tg.max(x[i, j] * a[0], j)))


def both_ways() -> Graph:
    rows = tg.compute("rows", i, tg.sum(x[i, j], j))
    return tg.Graph(rows=rows, columns=tg.compute("columns", i, tg.sum(x[j, i], j)))


def scaled_maximum() -> Graph:
    return tg.Graph(o=tg.compute("o", i, tg.max(a[i] * x[i, j], j)))


def scaled_sum() -> Graph:
    return tg.Graph(o=tg.compute("o", i, tg.sum(a[i] * x[i, j] * a[i], j)))


def pair_with_where() -> Graph:
    p, q, long = tg.dim("p", 3), tg.dim("q", 2), tg.input("long", (6,))
    return tg.Graph(o=tg.compute("o", [], tg.sum(long[2 * p + q], [p, q], [2 * p + q <= 3])))


def softmax(score: tg.frontend.values.Value) -> Graph:
    m = tg.compute("m", i, tg.max(score, j))
    w = tg.exp(score - m[i])
    return tg.Graph(o=tg.compute("o", [i, e], tg.sum(w * v[j, e], j) / tg.sum(w, j)))


def masked_softmax() -> Graph:
    return softmax(tg.select(tg.input("mask", (5, 5), "bool")[i, j], x[i, j], NINF))


def scaled_softmax() -> Graph:
    m = tg.compute("m", i, tg.max(x[i, j], j))
    w = tg.exp(0.5 * (x[i, j] - m[i]))
    return tg.Graph(o=tg.compute("o", [i, e], tg.sum(w * v[j, e], j) / tg.sum(w, j)))


def masked_weights() -> Graph:
    w = tg.select(tg.input("mask", (5, 5), "bool")[i, j], tg.exp(x[i, j]), 0.0)
    return tg.Graph(o=tg.compute("o", [i, e], tg.sum(w * v[j, e], j) / tg.sum(w, j)))


def other_mass() -> Graph:
    w = tg.exp(x[i, j])
    return tg.Graph(o=tg.compute("o", [i, e], tg.sum(w * v[j, e], j, [j <= i]) / tg.sum(w, j)))


def partial_mean() -> Graph:
    m = tg.compute("m", i, tg.sum(x[i, j], j, [j <= i]) / 5)
    d = x[i, j] - m[i]
    return tg.Graph(o=tg.compute("o", i, tg.sum(d * d, j, [j <= i])))


def decayed() -> Graph:
    decay = tg.compute("decay", [i, j], tg.prod(a[k], k, [j < k, k <= i]))
    return tg.Graph(o=tg.compute("o", [i, e], tg.sum(decay[i, j] * v[j, e], j, [j <= i])))


def long_scan() -> Graph:
    t, s, b = tg.dim("t", 6), tg.dim("s", 6), tg.input("b", (6, 2))
    return tg.Graph(o=tg.compute("o", t, tg.affine_scan(b[s, 0], b[s, 1], s, [s <= t])))


def long_product() -> Graph:
    t, s, b = tg.dim("t", 6), tg.dim("s", 6), tg.input("b", (6,))
    return tg.Graph(o=tg.compute("o", t, tg.prod(b[s] + 3, s, [s <= t])))


def gated_maximum() -> Graph:
    return tg.Graph(o=tg.compute("o", i, tg.max(tg.select(j <= i, x[i, j] - 4, 0.0), j)))


def scatter() -> Graph:
    key = tg.input("key", (5,), "index")
    return tg.Graph(o=tg.compute("o", [k, e], tg.sum(tg.select(key[j] == k, v[j, e], 0.0), j)))


def position_or_three() -> Graph:
    m = tg.compute("m", i, tg.max(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, tg.min(tg.select(x[i, j] == m[i], j, 1), j)))


def later_ties_first() -> Graph:
    r, rounded = tg.dim("r", 2), tg.compute("rounded", [i, j], tg.floor(x[i, j]))
    z = rounded
    before = (z[i, k] > z[i, j]) | ((z[i, k] == z[i, j]) & (j < k))
    rank = tg.compute("rank", [i, j], tg.count(before, k))
    return tg.Graph(o=tg.compute("o", [i, r], tg.sum(tg.select(rank[i, j] == r, j, 0), j)))


def another_maximum() -> Graph:
    other = tg.compute("other", i, tg.max(x[i, j] * x[i, j], j))
    lse = tg.compute("lse", i, tg.logsumexp(x[i, j], j))
    return tg.Graph(o=tg.compute("o", i, other[i] + lse[i]))


def cotangent() -> Graph:
    m = tg.compute("m", i, tg.max(x[i, j], j))
    w = tg.exp(x[i, j] - m[i])
    mass = tg.compute("mass", i, tg.sum(w, j))
    return tg.Graph(o=tg.compute("o", i, a[i] + tg.sum(w * a[i] / mass[i], j)), m=mass)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "outer-guard-forgotten": guarded_map,
    "two-fills-merged": two_fills,
    "gathers-not-renumbered": two_gathers,
    "stride-and-dilation-exchanged": strided,
    "siblings-of-another-where": siblings_apart,
    "reduce-dim-captured": rows_and_columns,
    "equal-but-for-where": siblings_apart,
    "dims-told-by-extent": both_ways,
    "hoisted-from-any-fold": scaled_maximum,
    "epilogue-factor-lost": scaled_sum,
    "merged-dim-strides": pair_with_where,
    "mask-dropped-from-score": masked_softmax,
    "scale-dropped-from-score": scaled_softmax,
    "mask-dropped-from-weight": masked_weights,
    "where-not-compared": other_mass,
    "count-ignores-where": partial_mean,
    "decay-of-own-step": decayed,
    "carry-on-the-right": long_scan,
    "chunks-added": long_scan,
    "carry-from-zero": long_product,
    "gate-of-any-value": gated_maximum,
    "any-index-is-sorted": scatter,
    "beyond-not-compared": position_or_three,
    "rank-ties-backwards": later_ties_first,
    "maximum-of-anything": another_maximum,
    "every-sum-cancels": cotangent,
}


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """The fault, for the time of the block: whatever is replaced is put back."""
    ((original, _),) = replacements(mutant)
    before = {
        (name, attribute): value
        for name, module in sys.modules.items()
        if name.startswith("tang.") and module is not None
        for attribute, value in vars(module).items()
        if mutant.key is None and value is original
    }
    classes = [c for c in _owners(mutant) if isinstance(c, type)]
    members = [(c, mutant.path.rpartition(".")[2]) for c in classes]
    tables = [t for t in _owners(mutant) if isinstance(t, dict)]
    apply_mutant(mutant)
    try:
        yield
    finally:
        for (name, attribute), value in before.items():
            setattr(sys.modules[name], attribute, value)
        for owner, member in members:
            setattr(owner, member, original)
        for table in tables:
            table[mutant.key] = original


def _owners(mutant: Mutant) -> list[object]:
    """The table of a row, or the class of a method."""
    module, _, names = mutant.path.partition(":")
    found = sys.modules[module]
    if mutant.key is not None:
        return [getattr(found, names)]
    return [getattr(found, names.partition(".")[0])] if "." in names else []


def test_every_mutant_names_a_rule_and_has_a_graph() -> None:
    assert len(REWRITING) >= 14
    assert set(RULE_OF) == set(GRAPHS) == {m.name for m in REWRITING}
    assert set(RULE_OF.values()) <= RULES.keys()
    assert {m.rung for m in REWRITING} == {Rung.REWRITE}


@pytest.mark.parametrize("mutant", REWRITING, ids=lambda m: m.name)
def test_the_checker_finds_it_and_names_the_rule(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, graph = RULE_OF[mutant.name], GRAPHS[mutant.name]()
    monkeypatch.setattr(chunk, "CHUNK", 2)
    rewrite(graph, [rule], check=checker())  # identity first
    with planted(mutant), pytest.raises(RewriteError, match=f"rule {rule} "):
        rewrite(graph, [rule], check=checker())
    rewrite(graph, [rule], check=checker())
