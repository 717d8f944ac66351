"""Reads: loads through views, with their guards, fills and gathers.

Defines the value of a read and how far out of loops and conditions it may move; of an inlined node
the value is computed in the place of the load. Relies on `address`. Order and meaning are those of
`View`: guards over dims, gathers, guards over gathered values, then the source; a gathered
coordinate out of range yields NaN, −1 or False.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from tang.ir.expr import INDEX, REAL
from tang.ir.extent import Poly
from tang.ir.view import GATHERED, Affine, Interval, Read, Ref, View, is_gathered, variable
from tang.kernel import ir as k
from tang.kernel.lower import address
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import Context, Place, has_format_of
from tang.kernel.lower.ranges import INT32, Range, below
from tang.kernel.lower.values import read_range
from tang.kernel.plan import Buffer
from tang.kernel.schedule import Precision


def read_value(ctx: Context, read: Read) -> Value:
    """The value of a read, loaded or computed once in the outermost scope where that is safe."""
    b = ctx.builder
    b.subject = f"the read of {read.source}"
    if read.source in ctx.held:
        return _held_value(ctx, read)
    home = home_depth(ctx, read)
    found = b.find(_key(ctx, read), home)
    if found is not None:
        return found
    with b.at(home):
        if is_plain(read.view):
            value = _plain(ctx, read)
            b.learn(_key(ctx, read), value, home)
            return value
        reads = twins(ctx, read)
        values = _conditional(ctx, reads)
    for twin, value in zip(reads, values, strict=True):
        b.learn(_key(ctx, twin), value, home)
    return values[reads.index(read)]


def _key(ctx: Context, read: Read) -> Hashable:
    """What tells a read value from others: the read, its coordinates, its precision."""
    coordinates = tuple((v, ctx.env[v].expr) for v in sorted(_variables(ctx, read)))
    return (read, coordinates, ctx.precision)


def _variables(ctx: Context, read: Read) -> set[str]:
    """The coordinates on which the value of a read depends, as it is computed.

    The read of an index tensor may use the values of gathers before it.
    """
    found = {*read.view.dims(), *(v for v in _gathered(read.view) if v in ctx.env)}
    if is_plain(read.view):
        for form in _point_forms(ctx, leader(ctx, read)).values():
            found |= form.variables
    return found


def _gathered(view: View) -> Iterator[str]:
    for form in view.forms():
        yield from (v for v in form.variables if v.startswith(GATHERED))
    for g in view.gathers:
        yield from _gathered(g.view)


def is_plain(view: View) -> bool:
    """Whether a view is a load without conditions."""
    return not view.guard and not view.gathers


def home_depth(ctx: Context, read: Read) -> int:
    """The depth at which the read is made: out of loops if it is safe, else inside the pin."""
    depths = [ctx.env[v].depth for v in _variables(ctx, read)]
    own = max([ctx.builder.floor, *depths])
    if not is_safe(ctx, read):
        return max(own, ctx.pin)
    if own < ctx.ground and not _is_proved(ctx, read):
        own = ctx.ground
    return ctx.builder.sunk(own, ctx.pin)


def is_safe(ctx: Context, read: Read) -> bool:
    """Whether the read stays in bounds wherever its coordinates exist."""
    return ctx.validated or _is_proved(ctx, read)


def _is_proved(ctx: Context, read: Read) -> bool:
    lead = leader(ctx, read)
    return _is_inside(ctx, read) and (lead is read or _is_inside(ctx, lead))


def _is_inside(ctx: Context, read: Read) -> bool:
    if read.view.guard:
        return False
    shape = ctx.tensors[read.source].shape
    own = zip(read.view.coords, shape, strict=True)
    inside = all(address.proved_inside(ctx, c, n) for c, n in own)
    return inside and all(_is_proved(ctx, g) for g in read.view.gathers)


def load(ctx: Context, buffer: Buffer, at: Value, r: Range | None = None) -> Value:
    """An element of a buffer as a value of the kernel's register type, in the innermost scope."""
    param = ctx.param(buffer)
    b = ctx.builder
    index = b.settled(at, b.depth)
    raw = Value(k.Load(param.type, param.name, index.expr), b.depth, None, index.height + 1)
    found = (r or INT32) if buffer.sort is INDEX else None
    b.demand(found)
    kind = ctx.type_of(buffer.sort)
    if param.type is kind:
        return _loaded(ctx, buffer, Value(raw.expr, raw.depth, found, raw.height))
    return _loaded(ctx, buffer, b.converted(kind, raw, found))


def _loaded(ctx: Context, buffer: Buffer, value: Value) -> Value:
    """A real as the node computes with it: rounded, unless it was stored in the node's format."""
    known = buffer.sort is not REAL or ctx.has_format_of(buffer)
    return value if known else ctx.rounded(value)


def _as_stored(ctx: Context, buffer: Buffer, value: Value, own: Precision) -> Value:
    """A real of that precision rounded as the buffer's numbers are, unless it is one of them."""
    if buffer.conversion is None or has_format_of(own, buffer):
        return value
    return ctx.converted(value, buffer.conversion)


def store(ctx: Context, buffer: Buffer, at: Value, value: Value) -> None:
    """Emit the store of a register value, converted to the buffer's type."""
    b = ctx.builder
    param = ctx.param(buffer, writable=True)
    value = _as_stored(ctx, buffer, value, ctx.precision)
    if value.expr.type is not param.type:
        value = b.converted(param.type, value, value.range)
    exprs = [b.settled(v, b.depth).expr for v in (at, value)]
    b.emit(k.Store(param.name, exprs[0], exprs[1]))


def _plain(ctx: Context, read: Read) -> Value:
    pinned = 0 if is_safe(ctx, read) else ctx.pin
    value = _source_value(ctx, read, read.view.coords, pinned)
    return ctx.builder.let(value, read.source.node)


def _source_value(ctx: Context, read: Read, coords: tuple[Affine, ...], pinned: int) -> Value:
    if read.source.node in ctx.recipes:
        return _recomputed(ctx, read, coords, pinned)
    buffer = ctx.tensors[read.source]
    at = address.linear_index(ctx, coords, buffer.shape)
    return load(ctx, buffer, at, ctx.results.get(read.source))


def _conditional(ctx: Context, reads: Sequence[Read]) -> list[Value]:
    """The values of reads that differ in nothing but the result of an inlined node and the fill."""
    b, view = ctx.builder, reads[0].view
    registers = [_register(ctx, read) for read in reads]
    early = [i for i in view.guard if not is_gathered(i.form)]
    with _guarded(ctx, early), ExitStack() as gathered:
        for n, g in enumerate(view.gathers):
            gathered.enter_context(ctx.bound(f"{GATHERED}{n}", read_value(ctx, g)))
        b.subject = f"the read of {reads[0].source}"
        late = [i for i in view.guard if is_gathered(i.form)]
        with _guarded(ctx, late):
            _assign(ctx, reads, registers)
    ranges = (_range(ctx, read) for read in reads)
    return [Value(v, b.depth, r) for v, r in zip(registers, ranges, strict=True)]


def _register(ctx: Context, read: Read) -> k.Var:
    """Declare what holds a read, with the value that it has outside of the guard."""
    b, buffer = ctx.builder, ctx.tensors[read.source]
    if read.source.node not in ctx.recipes:
        ctx.param(buffer)
    fill = read.view.fill
    outside = ctx.absent(buffer.sort) if fill is None else ctx.literal(fill)
    var = k.Var(ctx.type_of(buffer.sort), b.names.fresh(read.source.node))
    b.emit(k.Declare(var, outside.expr))
    return var


def _range(ctx: Context, read: Read) -> Range | None:
    return read_range(read, ctx.results) if ctx.tensors[read.source].sort is INDEX else None


@contextmanager
def _guarded(ctx: Context, intervals: list[Interval]) -> Iterator[None]:
    """A branch in which the guards hold; reads inside may not move out of it."""
    conditions = [c for i in intervals for c in address.interval_conditions(ctx, i)]
    pin, validated = ctx.pin, ctx.validated
    with ctx.branch(conditions):
        if conditions:
            ctx.pin, ctx.validated = ctx.builder.depth, False
        try:
            yield
        finally:
            ctx.pin, ctx.validated = pin, validated


def _assign(ctx: Context, reads: Sequence[Read], registers: Sequence[k.Var]) -> None:
    """Load into the registers, with a range check on every gathered coordinate."""
    b, view, shape = ctx.builder, reads[0].view, ctx.tensors[reads[0].source].shape
    pairs = list(enumerate(zip(view.coords, shape, strict=True)))
    looked_up = [(n, form, extent) for n, (form, extent) in pairs if is_gathered(form)]
    rows = {n: b.let(address.form_value(ctx, form), "row") for n, form, _ in looked_up}
    checks = [c for _, form, extent in looked_up for c in range_check(ctx, form, extent)]
    with ctx.branch(checks, _invalid(ctx, reads, registers)), ExitStack() as bound:
        coords = list(view.coords)
        for n, _, extent in looked_up:
            coords[n] = variable(f"%coordinate{n}")
            bound.enter_context(ctx.bound(f"%coordinate{n}", _checked(ctx, rows[n], extent)))
        pin, ctx.pin = ctx.pin, b.depth
        for read, var in zip(reads, registers, strict=True):
            value = _source_value(ctx, read, tuple(coords), b.depth)
            b.emit(k.Assign(var, b.settled(value, b.depth).expr))
        ctx.pin = pin


def _invalid(
    ctx: Context, reads: Sequence[Read], registers: Sequence[k.Var]
) -> tuple[k.Assign, ...]:
    """What a failed range check leaves in registers that hold a fill: NaN, −1 or False."""
    pairs = zip(reads, registers, strict=True)
    filled = [(ctx.tensors[r.source].sort, v) for r, v in pairs if r.view.fill is not None]
    return tuple(k.Assign(v, ctx.absent(sort).expr) for sort, v in filled)


def range_check(ctx: Context, form: Affine, extent: Poly) -> list[Value]:
    """0 ≤ form < extent."""
    return address.interval_conditions(ctx, Interval(form, Poly(), extent))


def _checked(ctx: Context, row: Value, extent: Poly) -> Value:
    """A coordinate inside its range check: arithmetic with it must not move out."""
    b = ctx.builder
    return Value(row.expr, b.depth, below(b.sizes.bounds(extent)))


# --- inlined nodes --------------------------------------------------------------------------------


def _point_forms(ctx: Context, read: Read) -> dict[str, Affine]:
    """Of the read of an inlined node, the form of each of its point dims."""
    recipe = ctx.recipes.get(read.source.node)
    if recipe is None:
        return {}
    dims = recipe.dims[read.source.output]
    return {d.name: form for d, form in zip(dims, read.view.coords, strict=False)}


def leader(ctx: Context, read: Read) -> Read:
    """The read of the same inlined node at the same point with the most dims that exist here.

    A state component without some dims is computed along with results that have them.
    """
    if read.source.node not in ctx.recipes or not is_plain(read.view):
        return read
    own, best = _point_forms(ctx, read), read
    for other in ctx.used:
        if other.source.node != read.source.node or not is_plain(other.view):
            continue
        forms = _point_forms(ctx, other)
        exist = all(f.variables <= ctx.env.keys() for f in forms.values())
        if exist and own.items() <= forms.items():
            best = other if len(forms) > len(_point_forms(ctx, best)) else best
    return best


def twins(ctx: Context, read: Read) -> tuple[Read, ...]:
    """The reads of an inlined node through one view, whatever their fills: one branch for all."""
    if read.source.node not in ctx.recipes:
        return (read,)
    view = read.view
    same = (
        r
        for r in ctx.used
        if r.source.node == read.source.node
        and (r.view.coords, r.view.guard, r.view.gathers) == (view.coords, view.guard, view.gathers)
    )
    return tuple(dict.fromkeys((read, *same)))


def _targets(ctx: Context, read: Read, lead: Read) -> tuple[str, ...]:
    """The results that are read where this read is, in the order of the node."""
    if is_plain(read.view):
        forms = _point_forms(ctx, lead).items()
        near = [r for r in ctx.used if r.source.node == read.source.node and is_plain(r.view)]
        found = {r.source.output for r in near if _point_forms(ctx, r).items() <= forms}
    else:
        found = {r.source.output for r in twins(ctx, read)}
    found.add(read.source.output)
    names = ctx.recipes[read.source.node].node.output_names()
    return tuple(n for n in names if n in found)


def _recomputed(ctx: Context, read: Read, coords: tuple[Affine, ...], pinned: int) -> Value:
    """The value of an inlined node at coordinates that exist from the depth `pinned` inwards."""
    lead, recipe = leader(ctx, read), ctx.recipes[read.source.node]
    dims = recipe.dims[read.source.output]
    forms = coords if lead is read else lead.view.coords
    leading = zip(recipe.dims[lead.source.output], forms, strict=False)
    point = {d.name: _coordinate(ctx, form, d.extent, pinned) for d, form in leading}
    sizes = ctx.tensors[read.source].shape[len(dims) :]
    along = zip(coords[len(dims) :], sizes, strict=True)
    axes = tuple(_coordinate(ctx, form, size, pinned) for form, size in along)
    ground = max([pinned, *(v.depth for v in point.values())])
    if ctx.validated and is_plain(read.view):
        ground = min(ground, ctx.ground) if _is_proved(ctx, read) else ctx.ground
    place = Place(point, axes, _targets(ctx, read, lead), ground)
    return recalled(ctx, read.source, ctx.recompute(ctx, read.source, place), recipe.precision)


def _coordinate(ctx: Context, form: Affine, extent: Poly, pinned: int) -> Value:
    """A coordinate of a source, of which it is known that it lies inside.

    A number outside means that the guard never holds: 0 then stands for it, since what is
    computed from numbers alone may move out of the guard.
    """
    b = ctx.builder
    value = b.let(address.form_value(ctx, form), "at")
    inside = below(b.sizes.bounds(extent))
    if value.integer is not None and not inside.lo <= value.integer <= inside.hi:
        value = b.literal(0)
    r = inside if value.range is None else value.range.limited(inside)
    depth = max([pinned, value.depth, *(ctx.env[v].depth for v in form.variables)])
    return Value(value.expr, depth, r, value.height)


def recalled(ctx: Context, ref: Ref, value: Value, own: Precision) -> Value:
    """A result of that precision in the kernel's register type, as if stored and loaded."""
    b, buffer = ctx.builder, ctx.tensors[ref]
    if buffer.sort is INDEX:
        b.demand(value.range)
        return value
    if buffer.sort is not REAL:
        return value
    if buffer.conversion is not None:
        value = _as_stored(ctx, buffer, b.let(value), own)
    for kind in (buffer.type, ctx.accumulate):
        if value.expr.type is not kind:
            value = b.converted(kind, b.let(value))
    return _loaded(ctx, buffer, value)


def _held_value(ctx: Context, read: Read) -> Value:
    """A result of this very point that the thread still has."""
    coords = tuple(address.form_value(ctx, c) for c in read.view.coords)
    held = ctx.held[read.source]
    value = recalled(ctx, read.source, held.at(coords), held.precision)
    return ctx.builder.let(value, read.source.node)
