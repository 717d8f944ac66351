"""Random scalar expressions, each with the range of its value.

Defines `draw_value` for the three sorts over a `Scope` that supplies reads and dims. Relies on the
derived forms and on ranges, which keep values inside f32 and decisions decidable. It knows no
tensors and no views. A draw shrinks to a single read, then to constants 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log2, pi
from typing import Final, Protocol

from tang.fuzz import ranges as rg
from tang.fuzz.ranges import Range
from tang.fuzz.source import Source, between, chance, choose, weighted
from tang.ir import derived
from tang.ir.expr import BOOL, INDEX, REAL, Expr, Sort, apply, boolean, extent, index, iota, real
from tang.ir.expr import named as constant_named


@dataclass(frozen=True, slots=True)
class Value:
    """An expression and the range of its value."""

    expr: Expr
    range: Range


class Scope(Protocol):
    """What an expression may use."""

    @property
    def sizes(self) -> dict[str, int]:
        """Dims that the expression may depend on, with their sizes."""

    @property
    def axes(self) -> frozenset[str]:
        """Those of them that are static axes, whose size is no extent."""

    @property
    def clean(self) -> bool:
        """Whether NaN and infinities are to be avoided altogether."""

    @property
    def wide(self) -> bool:
        """Whether indices may need 64 bits on the way."""

    def read(self, source: Source, sort: Sort) -> Value:
        """A read of some tensor of that sort."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The state of one draw: decisions, scope, and how deep it may still go."""

    source: Source
    scope: Scope
    fuel: int

    def deeper(self) -> Draw:
        return replace(self, fuel=self.fuel - 1)

    def value(self, sort: Sort) -> Value:
        return draw_value(self.deeper(), sort)

    def real(self, limit: float = 2.0**40) -> Value:
        """A real operand of magnitude at most `limit`."""
        return tame(self.value(REAL), limit)


def draw_value(draw: Draw, sort: Sort) -> Value:
    """A random expression of that sort; shrinks to one read."""
    if draw.fuel <= 0 or chance(draw.source, 15):
        return _leaf(draw, sort)
    table = {REAL: _REAL, INDEX: _INDEX, BOOL: _BOOL}[sort]
    maker = weighted(draw.source, table)
    return draw.source.part(lambda s: maker(replace(draw, source=s)))


def tame(value: Value, limit: float) -> Value:
    """The value scaled by a power of two so that its magnitude stays within `limit`."""
    if value.range.size <= limit:
        return value
    shift = ceil(log2(value.range.size / limit))
    factor = real(Fraction(1, 2**shift))
    return Value(apply("mul", value.expr, factor), rg.scaled(value.range, 2.0**-shift))


def fit_index(value: Value, limit: int = rg.I32_HIGH) -> Value:
    """The index, reduced by `mod` where it could leave ±limit."""
    if value.range.size <= limit:
        return value
    modulus = min(97, limit)
    return Value(apply("mod", value.expr, index(modulus)), Range(0, modulus - 1))


def decidable(value: Value) -> Value:
    """The value, moved by 13/97 where ties with simple numbers could not be decided."""
    if value.range.exact:
        return value
    offset = Fraction(13, 97)
    moved = rg.plus(value.range, rg.point(float(offset), exact=False))
    return Value(apply("add", value.expr, real(offset)), moved)


# --- leaves --------------------------------------------------------------------------------------


def _leaf(draw: Draw, sort: Sort) -> Value:
    kind = weighted(draw.source, ((74, "read"), (15, "constant"), (11, "coordinate")))
    if kind == "read" or (kind == "coordinate" and sort is BOOL):
        return draw.scope.read(draw.source, sort)
    if kind == "constant":
        return _constant(draw, sort)
    coordinate = _coordinate(draw)
    return coordinate if sort is INDEX else _cast(coordinate)


def _constant(draw: Draw, sort: Sort) -> Value:
    if sort is BOOL:
        return Value(boolean(chance(draw.source, 50)), rg.BOOLEAN)
    if sort is INDEX:
        number = choose(draw.source, (0, 1, 2, 3, -1, 7, -5))
        return Value(index(number), rg.point(number))
    if not draw.scope.clean and chance(draw.source, 60):
        name = choose(draw.source, ("inf", "-inf", "nan"))
        return Value(constant_named(name), rg.unbounded(rg.point(0)))
    return weighted(draw.source, _CONSTANTS)


def _real_constant(value: Fraction | float) -> Value:
    dyadic = isinstance(value, float) or value.denominator & (value.denominator - 1) == 0
    return Value(real(value), rg.point(float(value), exact=dyadic))


def _named_constant(name: str, value: float) -> Value:
    return Value(constant_named(name), rg.point(value, exact=False))


_CONSTANTS: Final = (
    *((6, _real_constant(Fraction(n))) for n in (0, 1, 2, -1, 3)),
    *((4, _real_constant(Fraction(n, 8))) for n in (4, -12, 1)),
    *((2, _real_constant(f)) for f in (Fraction(1, 3), Fraction(-7, 10), Fraction(22, 7))),
    *((1, _real_constant(Fraction(x))) for x in (0.1, 16777217.0, 1e-30)),
    (3, _named_constant("ln2", 0.6931471805599453)),
    (3, _named_constant("log2e", 1.4426950408889634)),
    (3, _named_constant("pi", pi)),
    (7, _real_constant(-0.0)),
)


def _coordinate(draw: Draw) -> Value:
    names = list(draw.scope.sizes)
    if not names:
        return _constant(draw, INDEX)
    name = choose(draw.source, names)
    size = draw.scope.sizes[name]
    if name not in draw.scope.axes and chance(draw.source, 35):
        return Value(extent(name), rg.point(size))
    return Value(iota(name), Range(0, max(size - 1, 0)))


# --- reals ---------------------------------------------------------------------------------------

Maker = Callable[[Draw], Value]


def _binary(op: str, limit: float, move: Callable[[Range, Range], Range]) -> Maker:
    def make(draw: Draw) -> Value:
        a, b = draw.real(limit), draw.real(limit)
        return Value(apply(op, a.expr, b.expr), rg.computed(move(a.range, b.range)))

    return make


def _sub(draw: Draw) -> Value:
    a, b = draw.real(), draw.real()
    return Value(derived.sub(a.expr, b.expr), rg.computed(rg.plus(a.range, rg.negated(b.range))))


def _neg(draw: Draw) -> Value:
    a = draw.real()
    return Value(apply("neg", a.expr), rg.negated(a.range))


def _bounded(build: Callable[[Expr], Expr], limit: float, low: float, high: float) -> Maker:
    """A smooth function whose values stay in low … high for arguments up to `limit`."""

    def make(draw: Draw) -> Value:
        a = draw.real(limit)
        return Value(build(a.expr), rg.clipped(a.range, low, high))

    return make


def _divisor(draw: Draw) -> Value:
    """A value that stays away from zero, or, rarely, an input's own value as it comes."""
    a = draw.real(2.0**20)
    if a.range.away_from_zero:
        return a
    if a.range.plain and not draw.scope.clean and chance(draw.source, 40):
        return Value(a.expr, rg.unbounded(a.range))
    return _positive(draw, a)


def _positive(draw: Draw, a: Value) -> Value:
    """1 + a², or |a| + 1/2."""
    if chance(draw.source, 50):
        half = real(Fraction(1, 2))
        bounds = Range(0.5, a.range.size + 0.5, a.range.finite, a.range.exact)
        return Value(apply("add", derived.absolute(a.expr), half), bounds)
    bounds = Range(1, a.range.size**2 + 1, a.range.finite, a.range.exact)
    return Value(apply("add", real(1), apply("mul", a.expr, a.expr)), bounds)


def _reciprocal_range(a: Range) -> Range:
    return Range(-(2.0**20), 2.0**20, a.finite, exact=False)


def _recip(draw: Draw) -> Value:
    a = _divisor(draw)
    return Value(apply("recip", a.expr), _reciprocal_range(a.range))


def _div(draw: Draw) -> Value:
    a, b = draw.real(2.0**20), _divisor(draw)
    quotient = rg.times(a.range, _reciprocal_range(b.range))
    return Value(derived.div(a.expr, b.expr), quotient)


def _of_positive(build: Callable[[Expr], Expr], low: float, high: float) -> Maker:
    """A function of positive arguments; rarely of an input's own value, whatever its sign."""

    def make(draw: Draw) -> Value:
        a = draw.real(2.0**20)
        if a.range.plain and not draw.scope.clean and chance(draw.source, 40):
            return Value(build(a.expr), rg.unbounded(rg.clipped(a.range, low, high)))
        b = _positive(draw, a)
        return Value(build(b.expr), rg.clipped(b.range, low, high))

    return make


def _atan2(draw: Draw) -> Value:
    a, b = draw.real(), draw.real()
    both = rg.hull((a.range, b.range))
    return Value(apply("atan2", a.expr, b.expr), rg.clipped(both, -pi, pi))


def _floor(draw: Draw) -> Value:
    a = decidable(draw.real())
    bounds = Range(a.range.low - 1, a.range.high, a.range.finite)
    return Value(apply("floor", a.expr), bounds)


def _extremum(build: Callable[[Expr, Expr], Expr]) -> Maker:
    def make(draw: Draw) -> Value:
        a, b = draw.real(), draw.real()
        return Value(build(a.expr, b.expr), rg.computed(rg.hull((a.range, b.range))))

    return make


def _absolute(draw: Draw) -> Value:
    a = draw.real()
    bounds = replace(a.range, low=0.0, high=a.range.size)
    return Value(derived.absolute(a.expr), rg.computed(bounds))


def _select(sort: Sort) -> Maker:
    def make(draw: Draw) -> Value:
        condition = draw.value(BOOL)
        a, b = draw.value(sort), draw.value(sort)
        bounds = rg.computed(rg.hull((a.range, b.range)))
        return Value(apply("select", condition.expr, a.expr, b.expr), bounds)

    return make


def _cast(value: Value) -> Value:
    return Value(apply("to_real", value.expr), rg.computed(value.range))


def _to_real(draw: Draw) -> Value:
    return _cast(draw.value(INDEX))


def _primitive(op: str) -> Callable[[Expr], Expr]:
    return lambda a: apply(op, a)


_REAL: Final[tuple[tuple[int, Maker], ...]] = (
    (14, _binary("add", 2.0**40, rg.plus)),
    (16, _binary("mul", 2.0**30, rg.times)),
    (8, _sub),
    (5, _neg),
    (6, _select(REAL)),
    (5, _to_real),
    (5, _extremum(derived.maximum)),
    (4, _extremum(derived.minimum)),
    (4, _absolute),
    (4, _floor),
    (4, _div),
    (3, _recip),
    (4, _of_positive(_primitive("sqrt"), 0, 2.0**21)),
    (3, _bounded(_primitive("sin"), 64, -1, 1)),
    (3, _bounded(derived.cos, 64, -1, 1)),
    (3, _atan2),
    (4, _bounded(_primitive("exp2"), 16, 0, 2.0**16)),
    (4, _bounded(derived.exp, 12, 0, 2.0**18)),
    (3, _of_positive(_primitive("log2"), -150, 128)),
    (4, _of_positive(derived.log, -104, 89)),
    (4, _bounded(_primitive("erf"), 2.0**40, -1, 1)),
    (4, _bounded(derived.tanh, 32, -1, 1)),
    (4, _bounded(derived.sigmoid, 32, 0, 1)),
)

# --- indices -------------------------------------------------------------------------------------


def _index_binary(op: str, limit: int, move: Callable[[Range, Range], Range]) -> Maker:
    def make(draw: Draw) -> Value:
        a = fit_index(draw.value(INDEX), limit)
        b = fit_index(draw.value(INDEX), limit)
        return Value(apply(op, a.expr, b.expr), move(a.range, b.range))

    return make


def _index_neg(draw: Draw) -> Value:
    a = fit_index(draw.value(INDEX))
    return Value(apply("neg", a.expr), rg.negated(a.range))


def _divided(op: str) -> Maker:
    def make(draw: Draw) -> Value:
        a = _dividend(draw)
        by, size = _index_divisor(draw)
        if op == "mod":
            return Value(apply("mod", a.expr, by), Range(0, size - 1))
        return Value(apply(op, a.expr, by), Range(a.range.low // size, a.range.high // size))

    return make


def _dividend(draw: Draw) -> Value:
    """An index; every other one negative half of the time, and within 32 bits whatever it was."""
    a = draw.value(INDEX)
    if not chance(draw.source, 50):
        return a
    width = choose(draw.source, (8, 3, 97))
    middle = width // 2
    moved = apply("add", apply("mod", a.expr, index(width)), index(-middle))
    return Value(moved, Range(-middle, width - 1 - middle))


def _index_divisor(draw: Draw) -> tuple[Expr, int]:
    scope = draw.scope
    sizes = [(n, s) for n, s in scope.sizes.items() if s > 0 and n not in scope.axes]
    if sizes and chance(draw.source, 30):
        name, size = choose(draw.source, sizes)
        return extent(name), size
    number = choose(draw.source, (2, 3, 1, 5, 8))
    return index(number), number


def _to_index(draw: Draw) -> Value:
    a = decidable(draw.real())
    if a.range.finite and draw.scope.wide:
        low, high = max(a.range.low - 1, rg.I32_LOW), min(a.range.high, rg.I32_HIGH)
        return Value(apply("to_index", a.expr), Range(min(low, rg.I32_HIGH), max(high, -1)))
    return Value(apply("to_index", a.expr), Range(rg.I32_LOW, rg.I32_HIGH))


_INDEX: Final[tuple[tuple[int, Maker], ...]] = (
    (5, _index_binary("add", 2**30, rg.plus)),
    (4, _index_binary("mul", 2**15, rg.times)),
    (3, _index_neg),
    (4, _divided("mod")),
    (4, _divided("floordiv")),
    (3, _to_index),
    (3, _select(INDEX)),
)

# --- bools ---------------------------------------------------------------------------------------


def _less(draw: Draw) -> Value:
    a = draw.real()
    if a.range.exact:
        b = draw.real()
        if b.range.exact:
            return Value(apply("lt", a.expr, b.expr), rg.BOOLEAN)
    threshold = Fraction(between(draw.source, -6, 12), 97) + 1
    return Value(apply("lt", real(threshold), a.expr), rg.BOOLEAN)


def _equal(draw: Draw) -> Value:
    a, b = draw.real(), draw.real()
    if a.range.exact and b.range.exact:
        return Value(apply("eq", a.expr, b.expr), rg.BOOLEAN)
    return _compare_indices("eq")(draw)


def _compare_indices(op: str) -> Maker:
    def make(draw: Draw) -> Value:
        a, b = draw.value(INDEX), draw.value(INDEX)
        if not a.expr.args and not b.expr.args and a.expr.op != "arg":
            b = draw.scope.read(draw.source, INDEX)
        return Value(apply(op, a.expr, b.expr), rg.BOOLEAN)

    return make


def _isnan(draw: Draw) -> Value:
    return Value(apply("isnan", draw.real().expr), rg.BOOLEAN)


def _logic(op: str, count: int) -> Maker:
    def make(draw: Draw) -> Value:
        operands = [draw.value(BOOL).expr for _ in range(count)]
        return Value(apply(op, *operands), rg.BOOLEAN)

    return make


_BOOL: Final[tuple[tuple[int, Maker], ...]] = (
    (8, _less),
    (4, _equal),
    (4, _compare_indices("lt")),
    (4, _compare_indices("eq")),
    (4, _isnan),
    (4, _logic("not", 1)),
    (4, _logic("and", 2)),
    (4, _logic("or", 2)),
    (3, _logic("eq", 2)),
    (4, _select(BOOL)),
)
