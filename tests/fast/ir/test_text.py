"""The text form: snapshots of every sample graph, and a bounded size for shared expressions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tang.ir.expr import INDEX, Expr, apply, arg, index
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Input, Output
from tang.ir.text import to_text
from tang.ir.validate import validate
from tang.ir.view import Interval, Read, Ref, View, variable

SNAPSHOTS = {
    "matmul": """\
input A[64, 128]: real
input B[128, 32]: real
C[i:64, j:32] = sum[k:128](A[i, k] * B[k, j])
output C = C
""",
    "symbolic_softmax": """\
input X[m, n]: real
input F[m*n]: real
fact n >= 1, n <= 4096, n % 4 == 0
fact m >= 0
best[i:m] = max[k:n](X[i, k])
'shift d'[i:m, k:n] = F[n*i + k] - best[i]
'shift d'.tanh[i:m, k:n] = 1.0 - 2.0 / (exp2(F[n*i + k] * 2.0 * log2e) + 1.0)
output y = 'shift d'
output t = 'shift d'.tanh
""",
    "gathered": """\
input E[5, 3]: real
input idx[8]: index
input ok[8]: bool
G[i:8, j:3] = select(ok[i], %1, nan)
  %0 = idx[i + 1 | 0 <= i + 1 < 8 else -1]
  %1 = select(i < extent(j), E[%0, j | 0 <= %0 < 5 and 0 <= i + 1 < 8 else -0.0], -E[idx[%0], j])
output G = G
""",
    "scan": """\
input x[16]: real
'best so far'[t:16] = argmax[s:16 | -s + t >= 0](x[-s + t], s + 3)
output at = 'best so far'.index
""",
    "attention": """\
input S[4, 8]: real
input V[8, 2]: real
o[q:4, d:2] = online_softmax[k:8](S[q, k] * (1/3), V[k, d])
l2[q:4] = o.l[q]
output o = o
output l = l2
""",
    "ranked": """\
input X[2, 5]: real
T[i:2] = top_k_3[k:5; rank:3](X[i, k], k)
output v = T.values
""",
    "broadcast": """\
input new[1, 7]: real
'Ж half'.a__b[i:4, j:3] = new[0, 2*i]
output out = 'Ж half'.a__b
""",
}
Graphs = dict[str, Callable[[], Graph]]


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_the_text_of_a_graph_is_stable(graphs: Graphs, name: str) -> None:
    assert to_text(graphs[name]()) == SNAPSHOTS[name]


def test_a_monoid_of_the_user_is_spelled_out(graphs: Graphs) -> None:
    lines = to_text(graphs["outer_sum"]()).splitlines()
    assert lines[1:4] == [
        "monoid vector_sum(real), w:3 commutative",
        "  lift acc[w]: real = x0",
        "  identity acc[w]: real = 0.0",
    ]
    assert lines[-2:] == ["V[] = vector_sum[k:4; w:3](X[k, w])", "output V = V"]


def test_constants_keep_their_value(graphs: Graphs) -> None:
    values = [line.split(" = ")[1] for line in to_text(graphs["constants"]()).splitlines()]
    assert values[:9] == ["0.1", "(22/7)", "5e-324", "-1e+308", "pi", "-0.0", "nan", "inf", "3.0"]
    assert values[10:13] == ["4611686018427387904", "-7", "false"]


def scalar_map(body: Expr, *reads: Read, inputs: tuple[Input, ...] = ()) -> Graph:
    node = Comprehension("y", (Dim("i", poly(8)),), reads, (body,), outputs=("value",))
    return Graph(inputs, (node,), (Output("y", Ref("y", "value")),))


X = Read(Ref("x"), View((variable("i"),)))
INPUT = (Input("x", (poly(8),)),)
A = arg(0)


def line(body: Expr) -> str:
    return to_text(scalar_map(body, X, inputs=INPUT)).splitlines()[1]


def _sub(a: Expr, b: Expr) -> Expr:
    return apply("add", a, apply("neg", b))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (_sub(A, _sub(A, A)), "x[i] - (x[i] - x[i])"),
        (_sub(_sub(A, A), A), "x[i] - x[i] - x[i]"),
        (apply("mul", A, apply("add", A, A)), "x[i] * (x[i] + x[i])"),
        (apply("neg", apply("add", A, A)), "-(x[i] + x[i])"),
        (apply("neg", apply("neg", A)), "-(-x[i])"),
        (apply("mul", apply("neg", A), A), "-x[i] * x[i]"),
        (apply("neg", apply("mul", A, A)), "-(x[i] * x[i])"),
        (apply("recip", apply("mul", A, apply("recip", A))), "recip(x[i] / x[i])"),
        (apply("select", apply("lt", A, A), A, A), "select(x[i] < x[i], x[i], x[i])"),
    ],
)
def test_parentheses_show_the_tree(body: Expr, text: str) -> None:
    assert line(body) == f"y[i:8] = {text}"


def test_a_shared_tower_has_text_of_linear_size():
    body = A
    for _ in range(2000):
        body = apply("add", apply("mul", body, body), A)
    assert len(to_text(scalar_map(body, X, inputs=INPUT))) < 2000 * 120


def test_a_deep_chain_has_text_of_linear_size():
    body = A
    for _ in range(20_000):
        body = apply("sqrt", body)
    assert len(to_text(scalar_map(body, X, inputs=INPUT))) < 20_000 * 40


def test_nested_gathers_have_text_of_linear_size():
    view = View((variable("i"),))
    for _ in range(6):
        at = variable("@0")
        guard = tuple(Interval(at + n, poly(0), poly(8)) for n in range(20))
        view = View((at,), guard, index(-1), (Read(Ref("t"), view),))
    graph = scalar_map(arg(0, INDEX), Read(Ref("t"), view), inputs=(Input("t", (poly(8),), INDEX),))
    validate(graph)
    assert len(to_text(graph)) < 10_000
