"""A small program for every rule whose pair is exported: to it exactly that rule is applied.

Defines `EXAMPLES`, rule name → function that makes the graph. Relies on the frontend and the IR.
Extents are small numbers, names are those of the exported text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import tang as tg
from tang.ir.expr import Expr, apply, arg, real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.monoids import PROD, SUM, WELFORD, product
from tang.ir.view import Interval, Read, Ref, View, variable

N: Final = 4


def simplify_expr() -> Graph:
    i, x = tg.dim("i", N), tg.input("x", (N,))
    return tg.Graph(o=tg.compute("o", i, x[i] * 1 + 0))


def common_subexpression() -> Graph:
    i, x, y = tg.dim("i", N), tg.input("x", (N,)), tg.input("y", (N,))
    a, b = tg.compute("a", i, x[i] + y[i]), tg.compute("b", i, y[i] + x[i])
    return tg.Graph(o=tg.compute("o", i, a[i] * b[i]))


def _padded(source: Ref, before: int, size: int) -> Read:
    """The first elements of a tensor, some places to the right, with 0 outside."""
    form = variable("i") - before
    return Read(source, View((form,), (Interval(form, poly(0), poly(size)),), real(0)))


def _map(name: str, size: int, read: Read, body: Expr) -> Comprehension:
    return Comprehension(name, (Dim("i", poly(size)),), (read,), (body,), outputs=("value",))


def compose_views() -> Graph:
    """A pad of a pad."""
    inner = _map("inner", N + 2, _padded(Ref("x"), 0, N), arg(0))
    outer = _map("o", N + 4, _padded(Ref("inner", "value"), 0, N + 2), apply("neg", arg(0)))
    return Graph((Input("x", (poly(N),)),), (inner, outer), (Output("o", Ref("o", "value")),))


def substitute_maps() -> Graph:
    """x + 1 read one place to the left."""
    plus = _map("plus", N, Read(Ref("x"), View((variable("i"),))), apply("add", arg(0), real(1)))
    outer = _map("o", N + 1, _padded(Ref("plus", "value"), 1, N), apply("neg", arg(0)))
    return Graph((Input("x", (poly(N),)),), (plus, outer), (Output("o", Ref("o", "value")),))


def dead_output() -> Graph:
    """Two outputs of a map, one of which nobody reads."""
    point, read = (Dim("i", poly(N)),), Read(Ref("x"), View((variable("i"),)))
    body = (apply("add", arg(0), real(1)), apply("neg", arg(0)))
    node = Comprehension("o", point, (read,), body, outputs=("value", "other"))
    return Graph((Input("x", (poly(N),)),), (node,), (Output("o", Ref("o", "value")),))


def dead_part() -> Graph:
    """A sum and a product in one loop, the product unread."""
    read = Read(Ref("x"), View((variable("j"),)))
    node = Comprehension("o", (), (read,), (arg(0), arg(0)), (Dim("j", poly(N)),), (),
                         product(SUM, PROD))  # fmt: skip
    return Graph((Input("x", (poly(N),)),), (node,), (Output("o", Ref("o", "p0_value")),))


def dead_node() -> Graph:
    """A node that no output needs, before one that is wanted."""
    read = Read(Ref("x"), View((variable("i"),)))
    unread = _map("unread", N, read, apply("neg", arg(0)))
    wanted = _map("o", N, read, apply("add", arg(0), real(1)))
    return Graph((Input("x", (poly(N),)),), (unread, wanted), (Output("o", Ref("o", "value")),))


def read_back_mean() -> Graph:
    """−Σ x beside a Welford of x."""
    read = Read(Ref("x"), View((variable("j"),)))
    reduce = (Dim("j", poly(N)),)
    moments = Comprehension("w", (), (read,), (arg(0),), reduce, (), WELFORD)
    total = Comprehension("total", (), (read,), (arg(0),), reduce, (), SUM)
    plain = Read(Ref("total", "value"), View(()))
    shifted = Comprehension("o", (), (plain,), (apply("neg", arg(0)),), outputs=("value",))
    outputs = (Output("o", Ref("o", "value")), Output("v", Ref("w", "variance")))
    return Graph((Input("x", (poly(N),)),), (moments, total, shifted), outputs)


def stop_max_gradient() -> Graph:
    """d_m = −Σ d_e·e, by hand."""
    j, x, v = tg.dim("j", N), tg.input("x", (N,)), tg.input("v", (N,))
    m = tg.compute("m", [], tg.max(x[j], j))
    e = tg.exp(x[j] - m[()])
    mass, acc = tg.compute("mass", [], tg.sum(e, j)), tg.compute("acc", [], tg.sum(e * v[j], j))
    d_e = v[j] - acc[()] / mass[()]
    return tg.Graph(o=tg.compute("o", [], tg.sum(d_e * e, j)), mass=mass, acc=acc, m=m)


def _softmax(shift: bool) -> Graph:
    j, s, v = tg.dim("j", N), tg.input("s", (N,)), tg.input("v", (N,))
    e = tg.exp(s[j] - tg.compute("m", [], tg.max(s[j], j))[()]) if shift else tg.exp(s[j])
    return tg.Graph(o=tg.compute("o", [], tg.sum(v[j] * e, j) / tg.sum(e, j)))


def stabilize_softmax() -> Graph:
    return _softmax(True)


def shift_softmax() -> Graph:
    return _softmax(False)


def logsumexp() -> Graph:
    j, x = tg.dim("j", N), tg.input("x", (N,))
    m = tg.compute("m", [], tg.max(x[j], j))
    total = tg.sum(tg.exp(x[j] - m[()]), j)
    return tg.Graph(o=tg.compute("o", [], m[()] + tg.log(total)))


def welford() -> Graph:
    j, x = tg.dim("j", N), tg.input("x", (N,))
    mean = tg.compute("mean", [], tg.sum(x[j], j) / N)
    d = x[j] - mean[()]
    return tg.Graph(o=tg.compute("o", [], tg.sum(d * d, j)))


def gate_to_where() -> Graph:
    i, j, x = tg.dim("i", N), tg.dim("j", N), tg.input("x", (N,))
    return tg.Graph(o=tg.compute("o", i, tg.sum(tg.select(j <= i, x[j], 0.0), j)))


def zero_gate_to_where() -> Graph:
    """The gate is a factor, not the whole body."""
    i, j = tg.dim("i", N), tg.dim("j", N)
    x, w = tg.input("x", (N,)), tg.input("w", (N,))
    gate = tg.select(j <= i, w[j], 0.0)
    return tg.Graph(o=tg.compute("o", i, tg.sum(gate * x[j], j)))


def read_back_mass() -> Graph:
    """The mass beside a logsumexp."""
    j, s = tg.dim("j", N), tg.input("s", (N,))
    m = tg.compute("m", [], tg.max(s[j], j))
    kept = tg.compute("kept", [], tg.logsumexp(s[j], j))
    return tg.Graph(o=tg.compute("o", [], -tg.sum(tg.exp(s[j] - m[()]), j)), kept=kept)


def recognise_scan() -> Graph:
    t, s, r = (tg.dim(n, N) for n in "tsr")
    a, b = tg.input("a", (N,)), tg.input("b", (N,))
    decay = tg.compute("decay", [t, s], tg.prod(a[r], r, [s < r, r <= t]))
    return tg.Graph(o=tg.compute("o", t, tg.sum(decay[t, s] * b[s], s, [s <= t])))


def argmax() -> Graph:
    j, x = tg.dim("j", N), tg.input("x", (N,))
    m = tg.compute("m", [], tg.max(x[j], j))
    return tg.Graph(o=tg.compute("o", [], tg.min(tg.select(x[j] == m[()], j, N), j)))


def gather_at_argmax() -> Graph:
    j, x = tg.dim("j", N), tg.input("x", (N,))
    at = tg.compute("at", [], tg.argmax(x[j], j))
    return tg.Graph(o=tg.compute("o", [], x[at[()]]), at=at)


def read_back() -> Graph:
    j, s = tg.dim("j", N), tg.input("s", (N,))
    at = tg.compute("at", [], tg.argmax(s[j], j))
    return tg.Graph(o=tg.compute("o", [], tg.max(s[j], j)), at=at)


def hoist_invariant_factors() -> Graph:
    i, j = tg.dim("i", N), tg.dim("j", N)
    c, x = tg.input("c", (N,)), tg.input("x", (N,))
    return tg.Graph(o=tg.compute("o", i, tg.sum(c[i] * x[j], j)))


def merge_siblings() -> Graph:
    j, x = tg.dim("j", N), tg.input("x", (N,))
    return tg.Graph(o=tg.compute("o", [], tg.sum(x[j], j)), p=tg.compute("p", [], tg.prod(x[j], j)))


def chunk_scan() -> Graph:
    """h ← a·h + b over more positions than a chunk holds."""
    t, s = tg.dim("t", 66), tg.dim("s", 66)
    a, b = tg.input("a", (66,)), tg.input("b", (66,))
    return tg.Graph(o=tg.compute("o", t, tg.affine_scan(a[s], b[s], s, [s <= t])))


def segment_sum() -> Graph:
    """A sum over blocks of two, by their number."""
    k, n, x = tg.dim("k", 3), tg.dim("n", 6), tg.input("x", (6,))
    return tg.Graph(o=tg.compute("o", k, tg.sum(tg.select(n // 2 == k, x[n], 0.0), n)))


def top_k() -> Graph:
    """The positions of the two largest: each is the one that as many precede as its rank says."""
    i, j, r, x = tg.dim("i", N), tg.dim("j", N), tg.dim("r", 2), tg.input("x", (N,))
    before = (x[j] < x[i]) | ((x[j] == x[i]) & (i < j))
    rank = tg.compute("rank", j, tg.count(before, i))
    return tg.Graph(o=tg.compute("o", r, tg.sum(tg.select(rank[j] == r, j, 0), j)))


def merge_dims() -> Graph:
    i, j, x = tg.dim("i", 3), tg.dim("j", N), tg.input("x", (3 * N,))
    return tg.Graph(o=tg.compute("o", [], tg.sum(x[i * N + j], [i, j])))


EXAMPLES: Final[Mapping[str, Callable[[], Graph]]] = {
    f.__name__.replace("_", "-"): f
    for f in (
        simplify_expr, common_subexpression, compose_views, substitute_maps, stop_max_gradient,
        stabilize_softmax, shift_softmax, logsumexp, welford, gate_to_where, zero_gate_to_where,
        read_back_mass, recognise_scan, argmax, gather_at_argmax, read_back, read_back_mean,
        dead_node, dead_output, dead_part, hoist_invariant_factors, merge_siblings, merge_dims,
        chunk_scan, segment_sum, top_k,
    )
}  # fmt: skip
