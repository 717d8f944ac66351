"""A state that has been overwritten is read again, also where no loop closes a scope.

With a reduction of one element and a single rank, top-k has no loop at all: the value that its
combine had read before the update must not stand for the state after it.
"""

from __future__ import annotations

import numpy as np

import tang as tg
from tang.kernel.lower import build
from tang.kernel.schedule import Schedule
from tang.verify import Rung, verify


def report():
    """One element, one rank, read as a state without the point dim."""
    i, r = tg.dims(i=3, r=1)
    x = tg.input("x", (1,))
    best = tg.compute("best", (i,), tg.top_k(x[r] + 0.5, 1, over=r))
    y = tg.compute("y", (i,), best.output("best")[0] * 2)
    return verify(
        tg.Graph(y=y), {"x": np.array([1.0], np.float32)}, backends=(), schedule=Schedule()
    )


def test_a_state_read_after_the_only_step_is_the_new_one():
    assert report().ok, report().to_text()


def test_a_builder_that_forgets_nothing_is_found_out(monkeypatch):
    monkeypatch.setattr(build.Builder, "forget", lambda self, names: None)
    (finding,) = report().findings
    assert (finding.rung, finding.node) == (Rung.LOWER, "best")
