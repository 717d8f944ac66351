"""User monoids whose laws hold over finite values only."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import interpret


def affine(*, strict):
    """h ← a·h + b as a user writes it."""
    return tg.monoid(
        "decay",
        {"a": "real", "b": "real"},
        lift=lambda a, b: {"a": a, "b": b},
        combine=lambda x, y: {"a": y.a * x.a, "b": y.a * x.b + y.b},
        project=lambda s: s.b,
        identity={"a": 1.0, "b": 0.0},
        inputs=("real", "real"),
        strict=strict,
    )


def test_an_affine_map_is_refused_as_strict_and_the_message_says_what_to_do():
    with pytest.raises(tg.GraphError, match="strict=False"):
        affine(strict=True)


def test_an_affine_map_is_accepted_over_finite_values_and_means_the_recurrence():
    t = tg.dims("t")
    a, b = tg.input("a", (3,)), tg.input("b", (3,))
    h = tg.compute("h", (), tg.reduce(affine(strict=False), a[t], b[t], over=t))
    data = {"a": np.array([2.0, 3.0, 0.5]), "b": np.array([1.0, 1.0, 4.0])}
    assert interpret(tg.Graph(h), data)["h"] == 6.0


def total(**changed):
    """A sum as a user writes it, with something changed."""
    parts = {
        "state": {"acc": "real"},
        "lift": lambda x: x,
        "combine": lambda x, y: x.acc + y.acc,
        "identity": 0.0,
    }
    return tg.monoid("total", **(parts | changed))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"state": {"acc": "float"}}, "'total': state: a sort is real, index or bool, not 'float'"),
        ({"state": {}}, "state maps one name or more"),
        ({"inputs": "real"}, r"inputs is a tuple of sorts, \('real',\)"),
        ({"inputs": ("float",)}, "inputs: a sort is"),
        ({"combine": lambda x, y: x.acc + y.sum}, "no component 'sum': one of acc"),
        ({"lift": lambda x: x * tg.input("w", (3,))[0]}, r"lift uses w\[0\].*an input of the"),
        ({"combine": lambda x, y: x.acc + y.acc * tg.real(tg.dims("i"))}, "combine uses i, but"),
    ],
    ids=lambda v: v if isinstance(v, str) else next(iter(v), ""),
)
def test_a_malformed_monoid_is_refused_with_the_cure(changed, words):
    with pytest.raises(tg.GraphError, match=words):
        total(**changed)


def test_a_combine_may_return_one_of_its_states():
    assert total(combine=lambda x, y: x, identity=None).name == "total"


def test_a_projected_value_is_an_output_of_its_own_sort():
    found = tg.monoid(
        "mean",
        {"n": "index", "acc": "real"},
        lift=lambda x: {"n": 1, "acc": x},
        combine=lambda x, y: {"n": x.n + y.n, "acc": x.acc + y.acc},
        project=lambda s: s.acc / tg.real(s.n),
        strict=False,
    )
    assert [(o.name, o.sort.value) for o in found.outputs] == [("value", "real")]


def test_numpy_ints_are_sizes_and_ranks():
    x = tg.input("x", np.int64(4))
    values, _ = tg.top_k(x, np.int64(2))
    data = {"x": np.array([1.0, 4.0, 2.0, 3.0])}
    assert interpret(tg.Graph(v=values), data)["v"].tolist() == [4.0, 3.0]
