"""Small programs and schedules for certificates: together they reach every rule of a checker."""

from __future__ import annotations

import tang.frontend as tg
from tang.frontend import Graph, compute, dim, dims, input
from tang.frontend.attention import attention
from tang.frontend.functions import gelu
from tang.frontend.norms import layer_norm, log_softmax, rms_norm, softmax
from tang.ir.expr import apply, real
from tang.ir.monoids import simple
from tang.kernel.ir import BF16, F16
from tang.kernel.narrow import E4M3FN, E5M2, TF32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.models import TransformerSizes, transformer_block

SCHEDULES = {
    "f32": {},
    "f16": {"storage": F16, "accumulate": F16},
    "bf16": {"storage": BF16, "accumulate": BF16},
    "f16-storage": {"storage": F16},
    "e4m3-storage": {"storage": E4M3FN},
    "e5m2": {"storage": E5M2, "accumulate": E5M2},
    "e4m3-accumulate": {"storage": F16, "accumulate": E4M3FN},
    "tf32-rz": {"storage": TF32, "accumulate": TF32, "rounding": "rz"},
    "split-lanes": {"split": 3, "lanes": 4},
    "f16-split-lanes": {"split": 2, "lanes": 8, "accumulate": F16},
}


def schedule_of(graph, name):
    """Splits and lanes go to reductions alone."""
    given = SCHEDULES[name]
    plain = {k: v for k, v in given.items() if k not in ("split", "lanes")}
    folds = tuple((n.name, NodeSchedule(**given)) for n in graph.nodes if n.monoid is not None)
    return Schedule(default=NodeSchedule(**plain), nodes=folds)


def _matmul():
    a, b = input("a", (4, "k")), input("b", ("k", 3))
    i, j, k = dims("i j k")
    g = Graph(y=compute("mm", (i, j), tg.sum(a[i, k] * b[k, j], k)))
    return g, {"k": 64}, {"a": (-2, 2), "b": (-1, 3)}


def _row(make, ranges, n=33):
    x = input("x", (5, "n"))
    return Graph(y=make(x)), {"n": n}, {"x": ranges}


def _attention(**more):
    q, k, v = input("q", (6, 8)), input("k", (7, 8)), input("v", (7, 4))
    return Graph(y=attention(q, k, v, **more)), {}, {"q": (-1, 1), "k": (-1, 1), "v": (-2, 1)}


def _winners():
    x = input("x", (5, "n"))
    values, at = tg.top_k(x, 3)
    i, k = dim("i", 5), dim("k", "n")
    winner = compute("winner", (i,), tg.argmax(x[i, k] * 0.3, k))
    g = Graph(a=tg.max(x, axis=1), b=winner, c=values, d=at)
    return g, {"n": 20}, {"x": (-5, 1.5)}


def _functions():
    u = input("u", (6, 8))
    i, j = dims("i j")
    x = u[i, j]
    g = Graph(
        a=compute("a", (i, j), tg.exp(x) * tg.tanh(x) + tg.sigmoid(x) / tg.sqrt(x * x + 1.0)),
        b=compute("b", (i, j), gelu(x)),
        c=compute("c", (i, j), tg.cos(x) + tg.log(x + 9.0)),
        d=compute("d", (i, j), tg.maximum(x, 0.5) - tg.absolute(x) + tg.minimum(x, 1.0)),
        e=compute("e", (i, j), tg.atan2(x, x * x + 2.0)),
    )
    return g, {}, {"u": (-4, 4)}


def _decisions():
    u = input("u", (6, 8))
    i, j = dim("i", 6), dim("j", 8)
    x = u[i, j] * u[i, j]
    near = (x < 2.0) & (u[i, j] > -1.0) | ~(x < 9.0)
    at = tg.index(u[i, j] * 0.7) + 2 * j
    g = Graph(
        e=compute("e", (i, j), tg.select(tg.isnan(x / x), -1.0, x)),
        f=compute("f", (i, j), tg.select(at < 3, 1.0, 2.0)),
        a=compute("a", (i, j), tg.select(near, u[i, j], 3.0)),
        b=compute("b", (i, j), tg.floor(u[i, j] * 0.3)),
        c=compute("c", (i,), tg.count(x < 2.0, j)),
        d=compute("d", (i,), tg.any(x < 2.0, j)),
    )
    return g, {}, {"u": (-4, 4)}


def _gathered():
    t, at = input("table", (9, 4)), input("at", (6,), "index")
    i, j = dim("i", 6), dim("j", 4)
    w = input("w", (6,))
    found = compute("found", (i,), tg.index(w[i] * 4.9))
    g = Graph(
        y=compute("y", (i, j), t[at[i], j] * 2.5),
        z=compute("z", (i, j), t[found[i], j]),
    )
    return g, {}, {"table": (-3, 3), "at": (0, 8), "w": (0.1, 1.5)}


def _unknown_monoid():
    """√(a² + b²) is associative over numbers ≥ 0, and none of the built-in monoids."""
    length = simple("length", lambda a, b: apply("sqrt", _squares(a, b)), real(0))
    x = input("x", (5, "n"))
    i, k = dim("i", 5), dim("k", "n")
    g = Graph(y=compute("y", (i,), tg.reduce(length, tg.absolute(x[i, k]), over=k)))
    return g, {"n": 6}, {"x": (1, 2)}


def _squares(a, b):
    return apply("add", apply("mul", a, a), apply("mul", b, b))


def _scan():
    d, e = input("d", (5, 12)), input("e", (5, 12))
    i, s, t = dim("i", 5), dim("s", 12), dim("t", 12)
    decay = tg.exp(0.0 - tg.absolute(d[i, s]))
    g = Graph(
        y=compute("h", (i, t), tg.affine_scan(d[i, s], e[i, s], s, [s <= t])),
        z=compute("g", (i, t), tg.affine_scan(decay, e[i, s], s, [s <= t])),
    )
    return g, {}, {"d": (-1, 1), "e": (-2, 2)}


def _online():
    q, k = input("q", (6, 8)), input("k", (7, 8))
    i, j, s = dims("i j s")
    g = Graph(y=compute("o", (i, j), tg.online_softmax(q[i, s] * 1.5, k[j, s] * 1.0, s)))
    return g, {}, {"q": (-5, 3), "k": (-1, 1)}


def _block():
    g = transformer_block(TransformerSizes(width=8, heads=2, hidden=16))
    reals = (i.name for i in g.inputs if i.sort.value == "real")
    return g, {"batch": 2, "seq": 5}, {n: (-2, 2) if n == "x" else (-0.5, 0.5) for n in reals}


PROGRAMS = {
    "matmul": _matmul,
    "softmax": lambda: _row(softmax, (-8, 8)),
    "log-softmax": lambda: _row(log_softmax, (-8, 8)),
    "layer-norm": lambda: _row(layer_norm, (-2, 3)),
    "rms-norm": lambda: _row(rms_norm, (-1, 5)),
    "variance": lambda: _row(lambda x: tg.var(x, axis=1), (-1, 5)),
    "logsumexp": lambda: _row(lambda x: tg.logsumexp(x, axis=1), (-8, 8), 50),
    "product": lambda: _row(lambda x: tg.prod(x, axis=1), (0.5, 1.5), 20),
    "attention": _attention,
    "causal-attention": lambda: _attention(causal=True),
    "winners": _winners,
    "functions": _functions,
    "decisions": _decisions,
    "gathered": _gathered,
    "scan": _scan,
    "online-softmax": _online,
    "transformer-block": _block,
    "unknown-monoid": _unknown_monoid,
}
