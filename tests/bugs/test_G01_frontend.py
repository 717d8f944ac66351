"""G01: a fully masked softmax row is NaN in `softmax` and 0 in `masked_softmax`, at any length.

Defines the smallest tests of the report. Relies on the interpreter; that every lowering agrees is
the business of the ladder.
"""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg

LENGTHS = (1, 31, 32, 33, 127, 128, 129, 1023, 1025)


@pytest.mark.parametrize("n", LENGTHS)
def test_a_fully_masked_row_is_what_was_declared_at_every_length(n: int) -> None:
    x = tg.input("x", (2, n))
    data = np.zeros((2, n))
    data[1] = -np.inf
    graph = tg.Graph(plain=tg.softmax(x), masked=tg.masked_softmax(x))
    got = tg.interpreter.interpret(graph, {"x": data})
    assert np.isnan(got["plain"][1]).all()
    assert (got["masked"][1] == 0).all()
    np.testing.assert_allclose(got["plain"][0], 1 / n)
    np.testing.assert_allclose(got["masked"][0], 1 / n)
