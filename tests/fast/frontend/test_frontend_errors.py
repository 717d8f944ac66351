"""Refused formulas: every message names the tensor, the place in this file, and the cure.

Defines one wrong program per mistake with words that its message must contain. Relies on
`GraphError`; nothing is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tang as tg

R, J, K = tg.dims("i j k")
X = tg.input("X", (4, 6))
V = tg.input("V", (6,))
IDX = tg.input("idx", (4,), "index")
FLAG = tg.input("flag", (4,), "bool")

MISTAKES: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "a product of dims": (lambda: X[R * J, K], ("X[", "i*j", "not affine", "index tensor")),
    "a quotient": (lambda: X[R // 2, K], ("i // 2", "not affine")),
    "a float subscript": (lambda: X[1.5, K], ("X", "1.5", "float")),
    "a bool subscript": (lambda: X[True, K], ("X", "bool")),
    "a real subscript": (lambda: X[V[R], K], ("X", "V[i]", "tg.index")),
    "a slice": (lambda: X[R, :], ("X", "tg.slice")),
    "a tensor as subscript": (lambda: X[IDX, K], ("idx", "idx[i")),
    "the wrong rank": (lambda: X[R], ("X", "rank 2", "1 subscripts")),
    "an unbound dim": (lambda: tg.compute("C", R, X[R, K]), ("'C'", "'k'", "not bound", "reduce")),
    "two extents": (lambda: tg.compute("C", R, X[R, R]), ("'C'", "'i'", "4", "6", "'X'")),
    "a given extent that differs": (
        lambda: tg.compute("C", d := tg.dims(d=5), V[d]),
        ("'d'", "given as 5", "6", "+ 0"),
    ),
    "an extent that nothing gives": (
        lambda: tg.compute("C", R, V[2 * R]),
        ("'C'", "'i'", "cannot be inferred", "V[… 2*i …]", "tg.dims(i=…)"),
    ),
    "a read that leaves its source": (
        lambda: tg.compute("C", d := tg.dims(d=6), V[d + 1]),
        ("V[… d + 1 …]", "axis 0", "extent is 6", "V.at("),
    ),
    "arithmetic on a bool": (lambda: FLAG[R] + 1, ("flag[i]", "select")),
    "a real plus an index": (lambda: V[R] + R, ("V[i]", "tg.real")),
    "a float plus an index": (lambda: R + 0.5, ("i", "index", "tg.real")),
    "truth of a comparison": (lambda: 1 if V[R] < 2 else 0, ("V[i] < 2", "tg.select")),
    "and between comparisons": (lambda: (V[R] < 2) and (V[R] > 1), ("truth", "&")),
    "a chained comparison": (lambda: 0 < V[R] < 2, ("chained", "&")),
    "iterating a tensor": (lambda: list(X), ("'X'", "iterated", "dim")),
    "iterating a value": (lambda: list(V[R]), ("V[i]", "one scalar")),
    "a negated tensor": (lambda: -X, ("'X'", "X[i")),
    "a matrix product by @": (lambda: X @ X, ("'X'", "tg.matmul")),
    "a number for dims": (lambda: tg.dims(3), ("3", "tg.dims(i=64)")),
    "no shape": (lambda: tg.input("Y", None), ("None", "extent")),
    "no sort": (lambda: tg.input("Y", (3,), None), ("'Y'", "None", "real, index or bool")),
    "an array as exponent": (lambda: V[R] ** np.ones(3), ("exponent", "tg.exp")),
    "a complex constant": (lambda: V[R] * np.complex64(1), ("complex64", "real")),
    "a bare condition": (lambda: tg.sum(V[R], over=R, where=False), ("where=[False]", "dims")),
    "a name for a monoid": (lambda: tg.reduce("sum", V[R], over=R), ("'sum'", "tg.monoid")),
    "k that is no int": (lambda: tg.top_k(V, "n"), ("int k", "'n'")),
    "a tensor without subscripts": (lambda: X + 1, ("'X'", "X[i")),
    "a tensor in a formula": (lambda: V[R] * X, ("X", "without subscripts", "X[i")),
    "an array in a formula": (lambda: V[R] * np.ones(6), ("(6,)", "tg.input")),
    "a dim both point and reduced": (
        lambda: tg.compute("C", (R, K), tg.sum(X[R, K], over=K)), ("'C'", "'k'", "both"),
    ),
    "a dim twice": (lambda: tg.compute("C", (R, R), V[R]), ("'C'", "'i'", "twice")),
    "no dim to reduce over": (lambda: tg.sum(X[R, K], over=()), ("sum", "over")),
    "a name for a dim": (lambda: tg.sum(X[R, K], over="k"), ("'k'", "tg.dims")),  # type: ignore[call-overload]
    "where over data": (
        lambda: tg.sum(X[R, K], over=K, where=[IDX[R] < 3]), ("idx[i]", "dims only", "select"),
    ),
    "where that is no comparison": (
        lambda: tg.sum(X[R, K], over=K, where=[V[K] < 3.0]), ("where", "V[k]", "select"),
    ),
    "a sum of bools": (lambda: tg.sum(FLAG[R], over=R), ("flag[i]", "tg.count")),
    "a fill of the wrong sort": (lambda: IDX.at(R - 1, fill=0.5), ("idx", "fill", "index")),
    "a fill that varies": (lambda: V.at(R - 1, fill=V[R]), ("V", "constant", "select")),
    "an unknown output": (lambda: tg.compute("C", R, V[R]).output("m"), ("'C'", "'m'", "value")),
    "outputs of an input": (lambda: V.output("m"), ("'V'", "input")),
    "a static axis in an expression": (
        lambda: tg.compute("C", R, tg.top_k(X[R, K], 2, over=K) * 2), ("rank", "tg.compute"),
    ),
    "a graph of nothing": (lambda: tg.Graph(), ("at least one",)),
    "a value as a graph's output": (lambda: tg.Graph(V[R]), ("tensors",)),  # type: ignore[arg-type]
    "two tensors of one name": (
        lambda: tg.Graph(a=tg.compute("V", R, V[R])), ("'V'", "rename", "test_frontend_errors.py:"),
    ),
    "two inputs of one name": (
        lambda: tg.Graph(a=tg.compute("C", (R, J), V[R] + tg.input("V", (7,))[J])),
        ("'V'", "twice"),
    ),
    "two outputs of one name": (
        lambda: tg.Graph(V, {"V": tg.compute("C", R, V[R])}), ("'V'", "name them"),
    ),
    "an unknown sort": (lambda: tg.input("Y", (3,), "float"), ("'Y'", "real, index or bool")),
    "a negative extent": (lambda: tg.input("Y", (-3,)), ("'Y'", "-3")),
    "a power by a fraction": (lambda: V[R] ** 0.3, ("0.3", "tg.exp")),
    "division of indices": (lambda: R / 2, ("i", "//")),
    "division by an index from data": (lambda: R // IDX[R], ("//", "positive")),
    "an axis that is not there": (lambda: tg.softmax(X, 2), ("'X'", "axis", "2")),
    "shapes that do not broadcast": (lambda: tg.maximum(X, IDX), ("broadcast", "6", "4")),
    "a product of shapes that do not meet": (lambda: tg.matmul(X, X), ("matmul", "6", "4")),
    "heads that do not share": (
        lambda: tg.attention(
            tg.input("q", (3, 2, 4)), tg.input("k", (2, 2, 4)), tg.input("v", (2, 2, 4))
        ),
        ("3", "2", "evenly"),
    ),
    "groups that do not divide": (
        lambda: tg.conv1d(tg.input("x", (1, 3, 5)), tg.input("w", (4, 1, 2)), groups=2),
        ("conv1d", "groups", "3"),
    ),
    "a mask of numbers": (lambda: tg.masked_softmax(X, X), ("mask", "bool")),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_cure(mistake: str) -> None:
    attempt, words = MISTAKES[mistake]
    with pytest.raises(tg.TangError) as caught:
        attempt()
    message = str(caught.value)
    for word in (*words, "test_frontend_errors.py:"):
        assert word in message


def test_an_unused_reduce_dim_multiplies() -> None:
    i, k = tg.dims("i", k=5)
    got = tg.interpreter.interpret(
        tg.Graph(y=tg.compute("y", i, tg.sum(V[i], over=k))), {"V": np.ones(6)}
    )
    assert got["y"].tolist() == [5.0] * 6
