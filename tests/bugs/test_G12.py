"""G12: an update of a broadcast tensor writes no shared storage (pytorch#183986, #182765, #180771).

Programs have no scatter: an update by index is a reduction over the updates that hit a row.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.interpreter import fast_interpret, interpret

ROWS = np.array([0, 1, 0])
DATA = {"base": np.zeros((1, 8)), "at": ROWS, "ones": np.ones((3, 8))}


def program():
    """base, one row seen as four, with ones added to the rows `at`; and the base itself."""
    r, c, k = tg.dims(r=4), tg.dims(c=8), tg.dims(k=3)
    base, ones = tg.input("base", (1, 8)), tg.input("ones", (3, 8))
    at = tg.input("at", (3,), "index")
    wide = tg.broadcast_to(base, (4, 8))
    hits = tg.sum(tg.select(at[k] == r, ones[k, c], 0.0), k)
    added = tg.compute("added", (r, c), wide[r, c] + hits)
    return tg.Graph(added=added, wide=wide, base=base, back=tg.embedding(added, at))


def check(found, data=DATA):
    want = np.repeat(data["base"], 4, 0)
    np.add.at(want, ROWS, data["ones"])
    np.testing.assert_array_equal(found["added"], want)
    np.testing.assert_array_equal(found["back"], want[ROWS])
    np.testing.assert_array_equal(found["wide"], np.repeat(data["base"], 4, 0))
    np.testing.assert_array_equal(found["base"], data["base"])


def test_the_reported_rows_are_two_one_zero_zero():
    found = interpret(program(), DATA)
    assert found["added"][:, 0].tolist() == [2, 1, 0, 0]
    check(found)
    check(fast_interpret(program(), DATA))


@pytest.mark.parametrize("split", [1, 2, 3])
def test_compiled_programs_agree_at_every_call(split, compiled):
    run = compiled(program(), split=split)
    check(run(DATA))
    other = {**DATA, "base": np.arange(8.0).reshape(1, 8), "ones": np.full((3, 8), 0.5)}
    check(run(other), other)
    check(run(DATA))


def test_every_rung_agrees(verified):
    verified([(program(), DATA)], splits=(1, 2))
