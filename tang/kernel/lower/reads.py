"""Reads: loads through views, with their guards, fills and gathers.

Defines the value of a read and how far out of loops and conditions it may move. Relies on
`address`. Order and meaning are those of `View`: guards over dims, gathers, guards over gathered
values, then the source; a gathered coordinate out of range yields NaN, −1 or False.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tang.ir.expr import INDEX
from tang.ir.extent import Poly
from tang.ir.view import GATHERED, Affine, Interval, Read, View, is_gathered, variable
from tang.kernel import ir as k
from tang.kernel.lower import address
from tang.kernel.lower.build import Value
from tang.kernel.lower.context import Context
from tang.kernel.lower.ranges import INT32, Range, below
from tang.kernel.lower.values import read_range
from tang.kernel.plan import Buffer


def read_value(ctx: Context, read: Read) -> Value:
    """The value of a read, loaded once in the outermost scope where that is safe."""
    b = ctx.builder
    b.subject = f"the read of {read.source}"
    home = home_depth(ctx, read)
    key = (read, tuple((v, ctx.env[v].expr) for v in sorted(read.view.dims())))
    found = b.find(key, home)
    if found is not None:
        return found
    with b.at(home):
        value = _plain(ctx, read) if is_plain(read.view) else _conditional(ctx, read)
    b.learn(key, value, home)
    return value


def is_plain(view: View) -> bool:
    """Whether a view is a load without conditions."""
    return not view.guard and not view.gathers


def home_depth(ctx: Context, read: Read) -> int:
    """The depth at which the read is made: out of loops if it is safe, else inside the pin."""
    depths = [ctx.env[v].depth for v in read.view.dims()]
    own = max([ctx.builder.floor, *depths])
    return ctx.builder.sunk(own, ctx.pin) if is_safe(ctx, read) else max(own, ctx.pin)


def is_safe(ctx: Context, read: Read) -> bool:
    """Whether the read stays in bounds wherever its coordinates exist."""
    if ctx.validated:
        return True
    if read.view.guard:
        return False
    shape = ctx.tensors[read.source].shape
    own = zip(read.view.coords, shape, strict=True)
    inside = all(address.proved_inside(ctx, c, n) for c, n in own)
    return inside and all(is_safe(ctx, g) for g in read.view.gathers)


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
        return Value(raw.expr, raw.depth, found, raw.height)
    return b.converted(kind, raw, found)


def store(ctx: Context, buffer: Buffer, at: Value, value: Value) -> None:
    """Emit the store of a register value, converted to the buffer's type."""
    b = ctx.builder
    param = ctx.param(buffer, writable=True)
    if value.expr.type is not param.type:
        value = b.converted(param.type, value, value.range)
    exprs = [b.settled(v, b.depth).expr for v in (at, value)]
    b.emit(k.Store(param.name, exprs[0], exprs[1]))


def _plain(ctx: Context, read: Read) -> Value:
    return ctx.builder.let(_source_value(ctx, read, read.view.coords), read.source.node)


def _source_value(ctx: Context, read: Read, coords: tuple[Affine, ...]) -> Value:
    buffer = ctx.tensors[read.source]
    at = address.linear_index(ctx, coords, buffer.shape)
    return load(ctx, buffer, at, ctx.results.get(read.source))


def _conditional(ctx: Context, read: Read) -> Value:
    b, view = ctx.builder, read.view
    ctx.param(ctx.tensors[read.source])
    sort = ctx.tensors[read.source].sort
    outside = ctx.absent(sort) if view.fill is None else ctx.literal(view.fill)
    var = k.Var(ctx.type_of(sort), b.names.fresh(read.source.node))
    b.emit(k.Declare(var, outside.expr))
    early = [i for i in view.guard if not is_gathered(i.form)]
    with _guarded(ctx, early), ExitStack() as gathered:
        for n, g in enumerate(view.gathers):
            gathered.enter_context(ctx.bound(f"{GATHERED}{n}", read_value(ctx, g)))
        b.subject = f"the read of {read.source}"
        late = [i for i in view.guard if is_gathered(i.form)]
        with _guarded(ctx, late):
            _assign(ctx, read, var)
    r = read_range(read, ctx.results) if sort is INDEX else None
    return Value(var, b.depth, r)


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


def _assign(ctx: Context, read: Read, var: k.Var) -> None:
    """Load into the register, with a range check on every gathered coordinate."""
    b, source = ctx.builder, ctx.tensors[read.source]
    pairs = list(enumerate(zip(read.view.coords, source.shape, strict=True)))
    looked_up = [(n, form, extent) for n, (form, extent) in pairs if is_gathered(form)]
    rows = {n: b.let(address.form_value(ctx, form), "row") for n, form, _ in looked_up}
    checks = [c for _, form, extent in looked_up for c in range_check(ctx, form, extent)]
    invalid = () if read.view.fill is None else (k.Assign(var, ctx.absent(source.sort).expr),)
    with ctx.branch(checks, invalid), ExitStack() as bound:
        coords = list(read.view.coords)
        for n, _, extent in looked_up:
            coords[n] = variable(f"%coordinate{n}")
            bound.enter_context(ctx.bound(f"%coordinate{n}", _checked(ctx, rows[n], extent)))
        value = _source_value(ctx, read, tuple(coords))
        b.emit(k.Assign(var, b.settled(value, b.depth).expr))


def range_check(ctx: Context, form: Affine, extent: Poly) -> list[Value]:
    """0 ≤ form < extent."""
    return address.interval_conditions(ctx, Interval(form, Poly(), extent))


def _checked(ctx: Context, row: Value, extent: Poly) -> Value:
    """A coordinate inside its range check: arithmetic with it must not move out."""
    b = ctx.builder
    return Value(row.expr, b.depth, below(b.sizes.bounds(extent)))
