"""Sizes that `verify` is given are of extents that the program has."""

from __future__ import annotations

import pytest

import tang as tg
from tang.errors import GraphError
from tang.verify import verify

x = tg.input("x", ("n",))
DOUBLED = tg.Graph(y=tg.elementwise(lambda a: a * 2.0, x))


def test_a_size_of_no_extent_is_refused_with_those_that_there_are():
    assert verify(DOUBLED, backends=(), sizes={"n": 5}).ok
    with pytest.raises(GraphError, match="no extent is named 'm': one of n"):
        verify(DOUBLED, backends=(), sizes={"n": 5, "m": 3})
