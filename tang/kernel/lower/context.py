"""What the parts of lowering share while one kernel is built.

Defines `Context`: the builder, the node, the coordinates bound so far, the buffers, and helpers
for loops and branches. Relies on the builder; it takes no decision about the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tang.errors import TangBugError
from tang.ir.derived import absent
from tang.ir.expr import BOOL, REAL, Expr, Sort
from tang.ir.extent import Poly
from tang.ir.format import FORMATS
from tang.ir.graph import Comprehension, Dim
from tang.ir.view import Affine, Read, Ref
from tang.kernel import ir as k
from tang.kernel.lower.build import Builder, Value
from tang.kernel.lower.ranges import Range, below, point
from tang.kernel.narrow import Conversion, holds
from tang.kernel.plan import Buffer
from tang.kernel.schedule import Precision, Promotion

CHUNK = "%chunk"
THREAD = "%thread"
"""Coordinates that are no dims: the chunk of a split, and the linear thread index."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to compute a node inside the kernel of another one.

    states  ranges of its index components;  dims  by result the point dims that it has
    """

    node: Comprehension
    precision: Precision
    states: Mapping[int, Range]
    dims: Mapping[str, tuple[Dim, ...]]
    promotion: Promotion | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A result that a thread has in registers: by coordinates, and in which format."""

    precision: Precision
    at: Callable[[tuple[Value, ...]], Value]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an inlined node is wanted: coordinates by point dim, those along the static axes.

    targets  the results that are read at these point dims, in the node's order
    ground   depth outside of which it is not known that the node has points at all
    """

    point: Mapping[str, Value]
    axes: tuple[Value, ...]
    targets: tuple[str, ...]
    ground: int


Recompute = Callable[["Context", Ref, Place], Value]
"""The value of a result of an inlined node, in the register type of that node."""


def never_recomputed(ctx: Context, ref: Ref, place: Place) -> Value:
    """What recomputes where nothing is inlined."""
    raise TangBugError(f"{ref} is not inlined in the kernel of {ctx.node.name!r}")


@dataclass(slots=True)
class Context:
    """One kernel being built for one node.

    precision  the register type of reals, and how every result is rounded to a narrower format
    promotion  the runs in which the node folds its terms, each with a precision of its own
    env        coordinates by dim, static axis, or gathered value
    threads    the dims over which threads are laid out, with extents, slowest first
    pin        depth outside of which a read that is not proved safe must not move
    validated  whether every read is in bounds at every point (no condition excludes points)
    ground     depth outside of which that does not hold, as points may not exist there
    dims       by result of the node the point dims that it has
    tensors    the buffer of each tensor that a kernel may read or write; of an inlined one the
               buffer that it would have
    used       the reads of the node that this kernel makes
    recipes    the nodes that are computed where they are read, by `recompute`
    held       results of this very point that the thread has in registers
    """

    builder: Builder
    node: Comprehension
    precision: Precision
    tensors: Mapping[Ref, Buffer]
    results: Mapping[Ref, Range]
    states: Mapping[int, Range]
    dims: Mapping[str, tuple[Dim, ...]]
    env: dict[str, Value] = field(default_factory=dict)
    threads: tuple[tuple[str, Poly], ...] = ()
    pin: int = 0
    validated: bool = True
    params: dict[str, k.Param] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    ground: int = 0
    used: tuple[Read, ...] = ()
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    recompute: Recompute = never_recomputed
    held: Mapping[Ref, Held] = field(default_factory=dict)
    promotion: Promotion | None = None

    @property
    def accumulate(self) -> k.Type:
        """The register type of reals."""
        return self.precision.type

    def has_format_of(self, buffer: Buffer) -> bool:
        """Whether reals in registers are numbers of the buffer's format; names do not tell that."""
        return has_format_of(self.precision, buffer)

    def rounded(self, value: Value) -> Value:
        """A result of f32 arithmetic as a number of the node's own format."""
        conversion = self.precision.conversion
        return value if conversion is None else self.converted(value, conversion)

    def converted(self, value: Value, conversion: Conversion) -> Value:
        """A real rounded to a narrow format, as f32."""
        b = self.builder
        if value.expr.type not in (k.F32, k.F64):
            value = b.converted(k.F32, value)
        return b.op(k.F32, conversion.op, value)

    def type_of(self, sort: Sort) -> k.Type:
        """The register type of a sort."""
        if sort is REAL:
            return self.accumulate
        return k.BOOL if sort is BOOL else self.builder.index

    def param(self, buffer: Buffer, writable: bool = False) -> k.Param:
        """The parameter that stands for a buffer, made at its first use."""
        if buffer.name not in self.params:
            name = self.builder.names.fresh(buffer.name)
            self.params[buffer.name] = k.Param(name, buffer.type, writable)
            self.buffers[buffer.name] = buffer
        return self.params[buffer.name]

    def literal(self, e: Expr, nearest: bool = False) -> Value:
        """The value of a constant expression.

        nearest  an infinity that the format does not hold is its largest number, as it is of an
                 identity: no overflow, since it stands for a bound of all numbers there are
        """
        if e.payload is None or isinstance(e.payload, tuple):
            raise TangBugError(f"{e.op} is no constant")
        if e.sort is Sort.INDEX and isinstance(e.payload, int):
            return self.builder.literal(e.payload)
        value = Value(k.Const(self.type_of(e.sort), e.payload), 0)
        conversion = self.precision.conversion
        if e.sort is not REAL or conversion is None or holds(conversion.format, e.payload):
            return value
        if nearest and e.payload in ("inf", "-inf"):
            return self.converted(value, conversion.saturating)
        return self.rounded(value)

    def absent(self, sort: Sort) -> Value:
        """NaN, −1 or False as a literal."""
        return self.literal(absent(sort))

    def axis_sizes(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """Sizes of static axes of the node's monoid."""
        monoid = self.node.monoid
        if monoid is None:
            raise TangBugError(f"map {self.node.name!r} has no static axes {names}")
        return tuple(monoid.axis_size(n) for n in names)

    @contextmanager
    def bound(self, name: str, value: Value) -> Iterator[None]:
        """Give a coordinate a value for a while."""
        before = self.env.get(name)
        self.env[name] = value
        try:
            yield
        finally:
            if before is None:
                del self.env[name]
            else:
                self.env[name] = before

    @contextmanager
    def loop(self, name: str, lo: Value, hi: Value, extent: Range) -> Iterator[None]:
        """A loop over a coordinate from lo to hi − 1; without one where it runs once from 0."""
        b = self.builder
        if lo.integer == 0 and hi.integer == 1:
            with self.bound(name, b.literal(0)):
                yield
            return
        var = k.Var(b.index, b.names.fresh(name.strip("%")))
        b.demand(extent)
        start, stop = (b.settled(v, b.depth).expr for v in (lo, hi))
        with b.nested(is_loop=True) as scope, self.bound(name, Value(var, b.depth, below(extent))):
            yield
        b.emit(k.For(var, start, stop, tuple(scope.statements)))

    @contextmanager
    def axis_loops(self, names: tuple[str, ...]) -> Iterator[None]:
        """Nested loops over static axes, the last one innermost."""
        if not names:
            yield
            return
        (size,) = self.axis_sizes(names[:1])
        b = self.builder
        with (
            self.loop(names[0], b.literal(0), b.literal(size), point(size)),
            self.axis_loops(names[1:]),
        ):
            yield

    @contextmanager
    def branch(self, conditions: list[Value], otherwise: tuple[k.Stmt, ...] = ()) -> Iterator[None]:
        """A branch on a conjunction; no branch where there is no condition."""
        b = self.builder
        if not conditions:
            yield
            return
        condition = b.settled(b.both(conditions), b.depth).expr
        with b.nested() as scope:
            yield
        b.emit(k.If(condition, tuple(scope.statements), otherwise))

    def linear(self, coords: tuple[Value, ...], sizes: tuple[int, ...]) -> Value:
        """Row-major position in an array of static sizes."""
        b = self.builder
        total = b.literal(0)
        for c, n in zip(coords, sizes, strict=True):
            total = b.add(b.mul(total, b.literal(n)), c)
        return total


def row_major(shape: tuple[Poly, ...]) -> tuple[Poly, ...]:
    """The stride of each dimension of a contiguous array."""
    strides: list[Poly] = []
    step = Poly((((), 1),))
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


def linear_form(coords: tuple[Affine, ...], shape: tuple[Poly, ...]) -> Affine:
    """The form of the row-major position of a coordinate."""
    total = Affine()
    for c, stride in zip(coords, row_major(shape), strict=True):
        total = total + c.scale(stride)
    return total


def has_format_of(precision: Precision, buffer: Buffer) -> bool:
    """Whether reals of that precision are numbers of the buffer's format."""
    own, theirs = precision.conversion, buffer.conversion
    mine = FORMATS[precision.type.value] if own is None else own.format
    return mine == (FORMATS.get(buffer.type.value) if theirs is None else theirs.format)
