"""Addresses: affine forms and row-major positions as index arithmetic.

Defines the value of a form, of a linear index and of a thread's coordinates, and what can be
proved about bounds. Relies on the builder for folding and hoisting. It loads and stores nothing.
"""

from __future__ import annotations

from tang.ir.extent import Poly, poly
from tang.ir.graph import Comprehension
from tang.ir.view import Affine, Interval, is_gathered, variable
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import THREAD, Context, linear_form
from tang.kernel.lower.ranges import Range, Sizes, below

ONE = poly(1)


def form_value(ctx: Context, form: Affine) -> Value:
    """The value of an affine form; outer coordinates come first, so that prefixes hoist."""
    b, trusted = ctx.builder, is_gathered(form)
    total = b.extent(form.const)
    terms = [(ctx.env[v], c) for v, c in form.terms]
    for coordinate, c in sorted(terms, key=lambda t: t[0].depth):
        negative = c.is_constant and c.constant < 0
        factor = b.literal(-c.constant) if negative else b.extent(c)
        term = b.integer("mul", coordinate, factor, trusted=trusted)
        total = b.integer("sub" if negative else "add", total, term, trusted=trusted)
    return total


def thread_form(ctx: Context) -> Affine:
    """The linear thread index as a form in the thread coordinates, unit dims left out."""
    names = tuple(variable(n) for n, _ in ctx.threads)
    return drop_units(ctx, linear_form(names, tuple(e for _, e in ctx.threads)))


def drop_units(ctx: Context, form: Affine) -> Affine:
    """The form without coordinates that are always 0."""
    return Affine(tuple((v, c) for v, c in form.terms if ctx.env[v].integer != 0), form.const)


def collapsed(ctx: Context, form: Affine) -> Affine:
    """before: …+ f·(row-major form of all thread dims) → after: …+ f·thread."""
    form, whole = drop_units(ctx, form), thread_form(ctx)
    fastest = next((v for v, c in whole.terms if c == ONE), None)
    if fastest is None or THREAD not in ctx.env:
        return form
    factor = form.coefficient(fastest)
    if not factor.terms or any(form.coefficient(v) != c * factor for v, c in whole.terms):
        return form
    return form - whole.scale(factor) + variable(THREAD).scale(factor)


def linear_index(ctx: Context, coords: tuple[Affine, ...], shape: tuple[Poly, ...]) -> Value:
    """The row-major position of a coordinate in an array of that shape."""
    return form_value(ctx, collapsed(ctx, linear_form(coords, shape)))


def thread_coordinates(ctx: Context, thread: Value) -> None:
    """Bind the thread dims to the coordinates of a linear thread index, the last one fastest."""
    b = ctx.builder
    ctx.env[THREAD] = thread
    rest = thread
    for position in reversed(range(len(ctx.threads))):
        name, extent = ctx.threads[position]
        if extent == ONE:
            ctx.env[name] = b.literal(0)
            continue
        slowest = all(e == ONE for _, e in ctx.threads[:position])
        at = rest if slowest else b.mod(rest, b.extent(extent))
        ctx.env[name] = b.let(_limited(at, below(b.sizes.bounds(extent))), name.strip("%"))
        rest = rest if slowest else b.let(b.floordiv(rest, b.extent(extent)))


def _limited(value: Value, r: Range) -> Value:
    return Value(value.expr, value.depth, r, value.height)


def interval_conditions(ctx: Context, interval: Interval) -> list[Value]:
    """lo ≤ form < hi as comparisons, without those that always hold."""
    b = ctx.builder
    form = form_value(ctx, interval.form)
    lo, hi = b.extent(interval.lo), b.extent(interval.hi)
    found = [] if always(lo, form, 0) else [b.le(lo, form)]
    return found if always(form, hi, 1) else [*found, b.lt(form, hi)]


def always(low: Value, high: Value, gap: int) -> bool:
    """Whether low + gap ≤ high for all values in their ranges."""
    if low.range is None or high.range is None:
        return False
    return low.range.hi + gap <= high.range.lo


def proved_inside(ctx: Context, form: Affine, extent: Poly) -> bool:
    """Whether 0 ≤ form < extent whenever the coordinates in the form exist."""
    if is_gathered(form):
        return True  # checked when it runs
    extents = {d.name: d.extent for d in ctx.node.dims}
    if form.const == Poly() and len(form.terms) == 1 and form.terms[0][1] == ONE:
        return extents.get(form.terms[0][0]) == extent or _inside(ctx, form, extent)
    return _inside(ctx, form, extent)


def _inside(ctx: Context, form: Affine, extent: Poly) -> bool:
    sizes = ctx.builder.sizes
    lo, hi = sizes.bounds(form.const).lo, sizes.bounds(form.const).hi
    for v, c in form.terms:
        at, by = ctx.env[v].range or below(sizes.bounds(extent)), sizes.bounds(c)
        corners = [x * y for x in (at.lo, at.hi) for y in (by.lo, by.hi)]
        lo, hi = lo + min(corners), hi + max(corners)
    return lo >= 0 and hi < sizes.bounds(extent).lo


def always_iterates(node: Comprehension, sizes: Sizes) -> bool:
    """Whether every point has an element: nothing is excluded and no reduce dim can be empty."""
    return not node.where and all(sizes.never_empty(d.extent) for d in node.reduce)
