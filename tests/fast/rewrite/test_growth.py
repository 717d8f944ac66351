"""Rewriting takes time linear in the size of the program."""

from __future__ import annotations

import cProfile
import pstats

from enriched import STRUCTURAL

from tang.models.transformer import TransformerSizes, transformer
from tang.rewrite import rewrite


def calls(layers: int) -> int:
    """Function calls of a rewrite: unlike seconds, the same on a busy machine."""
    graph = transformer(layers, TransformerSizes())
    profile = cProfile.Profile()
    profile.enable()
    rewrite(graph, STRUCTURAL)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_twice_the_layers_take_at_most_2_2_times_the_work():
    calls(1)
    assert calls(6) <= 2.2 * calls(3)
