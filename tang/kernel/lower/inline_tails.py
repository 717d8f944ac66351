"""Epilogues: maps computed by the threads of the node whose results they read.

Defines `Tail` and the context in which one is computed, with the thread's own results in the place
of reads. Relies on contexts and on results as functions of coordinates. It stores nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tang.ir.graph import Comprehension
from tang.ir.view import Ref
from tang.kernel.lower import results
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import THREAD, Context, Held, Recipe


@dataclass(frozen=True, slots=True)
class Tail:
    """One epilogue: how it is computed, and which of its results are stored or read by others."""

    recipe: Recipe
    stored: tuple[str, ...]
    targets: tuple[str, ...]


def tail_context(ctx: Context, tail: Tail, held: Mapping[Ref, Held]) -> Context:
    """The context of an epilogue in the kernel of a node with the same points."""
    node = tail.recipe.node
    pairs = zip(ctx.node.point, node.point, strict=True)
    names = {mine.name: theirs.name for mine, theirs in pairs}
    env = {new: ctx.env[old] for old, new in names.items()}
    if THREAD in ctx.env:
        env[THREAD] = ctx.env[THREAD]
    return Context(
        builder=ctx.builder,
        node=node,
        precision=tail.recipe.precision,
        tensors=ctx.tensors,
        results=ctx.results,
        states=tail.recipe.states,
        dims=tail.recipe.dims,
        env=env,
        threads=tuple((names.get(n, n), extent) for n, extent in ctx.threads),
        pin=ctx.builder.depth,
        params=ctx.params,
        buffers=ctx.buffers,
        used=results.used_reads(node, tail.targets),
        recipes=ctx.recipes,
        recompute=ctx.recompute,
        held=held,
    )


def held_axes(node: Comprehension, output: str, coords: tuple[Value, ...]) -> tuple[Value, ...]:
    """Of the coordinates of a result, those along its static axes."""
    return coords[len(node.tensor(output).dims) :]
