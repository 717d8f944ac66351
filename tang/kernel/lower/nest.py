"""The loop nest of a reduction: chunks, conditions, and one element at a time.

Defines the loops over the reduce dims in lexicographic order, the bounds of a chunk of a split,
and where the conditions of `where` are tested. Relies on the state; it stores no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tang.ir.extent import Poly
from tang.ir.graph import Dim
from tang.ir.view import Affine
from tang.kernel.lower import address
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import CHUNK, Context

Bounds = tuple[Value, Value]


def over_elements(ctx: Context, split: int, element: Callable[[], None]) -> None:
    """Emit `element` for every element of this thread's chunk that `where` does not exclude."""
    if any(d.extent == Poly() for d in ctx.node.reduce):
        return
    with _conditions(ctx, _ready(ctx, set())):
        _loops(ctx, ctx.node.reduce, split, element)


def _loops(ctx: Context, dims: tuple[Dim, ...], split: int, element: Callable[[], None]) -> None:
    if not dims:
        pin, ctx.pin = ctx.pin, ctx.builder.depth
        element()
        ctx.pin = pin
        return
    b = ctx.builder
    dim, before = dims[0], set(ctx.env)
    lo, hi = chunk_bounds(ctx, dim, split) if split > 1 else (b.literal(0), b.extent(dim.extent))
    with ctx.loop(dim.name, lo, hi, b.sizes.bounds(dim.extent)):
        _inner(ctx, before, dims[1:], element)


def _inner(
    ctx: Context, before: set[str], dims: tuple[Dim, ...], element: Callable[[], None]
) -> None:
    with _conditions(ctx, _ready(ctx, before)):
        _loops(ctx, dims, 1, element)


def chunk_bounds(ctx: Context, dim: Dim, split: int) -> Bounds:
    """Chunk c of n elements holds c·⌈n/split⌉ … min((c+1)·⌈n/split⌉, n) − 1; it may be empty."""
    b = ctx.builder
    total = b.extent(dim.extent)
    size = b.let(b.floordiv(b.add(total, b.literal(split - 1)), b.literal(split)), "size")
    lo = b.let(b.mul(ctx.env[CHUNK], size), "lo")
    hi = b.let(b.integer("min", b.add(lo, size), total), "hi")
    return lo, hi


def _ready(ctx: Context, before: set[str]) -> list[Affine]:
    """The conditions whose last coordinate has just been bound."""
    bound = set(ctx.env)
    forms = (w for w in ctx.node.where if w.variables <= bound)
    return [w for w in forms if not before or not w.variables <= before]


@contextmanager
def _conditions(ctx: Context, forms: list[Affine]) -> Iterator[None]:
    """A branch in which these forms are at least 0."""
    conditions = [c for form in forms for c in where_condition(ctx, form)]
    with ctx.branch(conditions):
        yield


def where_condition(ctx: Context, form: Affine) -> list[Value]:
    """form ≥ 0, unless it always holds."""
    b = ctx.builder
    b.subject = "a condition of where"
    value, zero = address.form_value(ctx, form), b.literal(0)
    return [] if address.always(zero, value, 0) else [b.le(zero, value)]
