"""Hypothesis strategies for programs, for use in anybody's own tests.

Gathers `cases`, `graphs`, `schedules` and `monoids`. Relies on the generators behind campaigns;
hypothesis draws without their weights, so that shrinking and replay agree. Nothing is checked here.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tang.fuzz.graphs import draw_graph
from tang.fuzz.monoids import draw_reduction
from tang.fuzz.precisions import draw_precisions
from tang.fuzz.schedules import draw_schedule
from tang.fuzz.shrink import cases
from tang.fuzz.source import HypothesisSource
from tang.ir.graph import Graph
from tang.ir.monoid import Monoid
from tang.kernel.schedule import Schedule

__all__ = ["cases", "graphs", "monoids", "schedules"]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Valid graphs, perhaps with symbolic extents; shrinks to a map that copies an input."""
    return draw_graph(HypothesisSource(draw)).graph


@st.composite
def monoids(draw: st.DrawFn) -> Monoid:
    """Built-in monoids, top-k, products and a few of a user's kind; shrinks to the sum."""
    return draw_reduction(HypothesisSource(draw)).monoid


@st.composite
def schedules(draw: st.DrawFn, graph: Graph) -> Schedule:
    """Schedules for a graph; shrinks to the default schedule."""
    finite_only = {n.name for n in graph.nodes if n.monoid and not n.monoid.strict}
    source = HypothesisSource(draw)
    return draw_precisions(source, graph, draw_schedule(source, graph, finite_only), finite_only)
