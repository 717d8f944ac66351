"""Whose mistake an error is: the caller's is raised, a suspect's is a finding."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.errors import GraphError
from tang.verify import Rung, Verdict, ladder, verify


def gather():
    """Rows of E by index."""
    i = tg.dims(i=3)
    e, idx = tg.input("E", (4,)), tg.input("idx", (3,), "index")
    return tg.Graph(y=tg.compute("y", (i,), e[idx[i]] * 2))


DATA = {"E": np.arange(4, dtype=np.float32), "idx": np.array([0, 3, 1])}


def test_a_gather_out_of_range_is_the_callers():
    with pytest.raises(GraphError, match="outside"):
        verify(gather(), {**DATA, "idx": np.array([0, 9, 1])}, backends=())


def test_a_graph_error_inside_a_suspect_is_a_finding(monkeypatch):
    assert verify(gather(), DATA, backends=()).ok

    def broken(*_):
        raise GraphError("buffer 'E' takes integers")

    monkeypatch.setattr(ladder, "check_lower", broken)
    (finding,) = verify(gather(), DATA, backends=()).findings
    assert (finding.rung, finding.verdict) == (Rung.LOWER, Verdict.WRONG)
    assert "takes integers" in finding.message
