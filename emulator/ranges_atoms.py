"""Bounds of summation atoms in closed form: chains, trees, fma, tensor cores, promotion, splits.

Defines `bound_of` and `AtomBound`. Relies on atoms as data and on outward arithmetic. It adds
nothing up (`atoms.py` does), and it says nothing of sums that overflow.

|computed − Σ| ≤ relative·T + absolute, T = Σ|terms|, each at most so often rounded as it is deep in
the order (N. Higham 2002, §4.2). Of a tensor core with F bits below the largest exponent, a group
of g terms and an addend c loses at most (g + 1)·2^(E−F), where 2^E is at most the largest |a·b| or
|c|, or what subnormals and the floor make of it; then the result is rounded to the output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tang.emulator.ranges_numbers import compound, facts_of, lost, plus, quantum, times, unit
from tang.errors import FormatError
from tang.ir.format import Format, any_format
from tang.ir.summation import (
    Fda,
    Fma,
    Promote,
    Seq,
    Split,
    Summation,
    Tree,
    check_summation,
    needs_factors,
)
from tang.ir.tensorcore import FusedDot


@dataclass(frozen=True, slots=True)
class AtomBound:
    """|computed − Σ| ≤ relative·T + absolute, where T = Σ|terms| and nothing overflows."""

    relative: float
    absolute: float

    def of(self, terms: float) -> float:
        """The bound at a value of T."""
        return plus(times(self.relative, terms), self.absolute)


@dataclass(frozen=True, slots=True)
class _How:
    """The accumulator, whether terms are products, and the largest factors of these."""

    format: Format
    rounding: str
    ftz: bool
    products: bool
    factors: tuple[float, float] | None

    @property
    def u(self) -> float:
        return unit(facts_of(self.format), self.rounding)

    @property
    def h(self) -> float:
        """What a product or a fused sum may lose to underflow."""
        return lost(facts_of(self.format), self.rounding, "flush" if self.ftz else "gradual")

    @property
    def added(self) -> float:
        """What a sum may lose: nothing unless it is flushed."""
        return self.h if self.ftz else 0.0


def bound_of(
    atom: Summation,
    n: int,
    format: str | Format,
    *,
    products: bool | None = None,
    rounding: str = "rne",
    ftz: bool = False,
    factors: tuple[float, float] | None = None,
) -> AtomBound:
    """The bound of `evaluate(atom, …)` over n terms in a format.

    products  whether terms are products of two factors; None: as the atom needs
    factors   the largest |a| and |b|; of tensor cores, where None takes their format's largest
    Raises FormatError for what `evaluate` refuses.
    """
    check_summation(atom)
    if n < 0:
        raise FormatError(f"a sum has 0 terms or more, not {n}")
    if rounding not in ("rne", "rna", "rz"):
        raise FormatError(f"no bound for rounding {rounding!r}: one of rne, rna, rz")
    needed = needs_factors(atom)
    if needed and products is False:
        raise FormatError("this order sums products")
    how = _How(any_format(format), rounding, ftz, needed or bool(products), factors)
    return _bound(atom, n, how)


def _bound(atom: Summation, n: int, how: _How) -> AtomBound:
    match atom:
        case Seq():
            return _chained(n, max(n - 1, 0), how)
        case Tree():
            return _chained(n, max(n - 1, 0).bit_length(), how)
        case Fma():
            return AtomBound(_often(how.u, n), times(n, how.h, plus(1.0, _often(how.u, n))))
        case Fda():
            return _dots(atom.model, n, how)
        case Promote():
            partial = any_format(atom.partial) if atom.partial else how.format
            inner = _bound(atom.inner, min(n, atom.every), replace(how, format=partial))
            return _combined(inner, -(-n // atom.every), Seq(), how)
        case Split():
            inner = _bound(atom.inner, min(n, atom.size) or -(-n // atom.parts), how)
            return _combined(inner, atom.parts, atom.order, how)


def _often(u: float, count: float) -> float:
    return compound((u, count))


def _chained(n: int, adds: int, how: _How) -> AtomBound:
    """Terms that are rounded once if they are products, and pass so many additions."""
    rounds = adds + (1 if how.products else 0)
    more = _often(how.u, rounds)
    each = plus(how.h if how.products else 0.0, how.added)
    return AtomBound(more, times(n, each, plus(1.0, more)))


def _combined(inner: AtomBound, parts: int, order: Summation, how: _How) -> AtomBound:
    """The sum of parts, each with its own error."""
    outer = _bound(order, parts, replace(how, products=False))
    r = compound((inner.relative, 1), (outer.relative, 1))
    a = plus(times(parts, inner.absolute, plus(1.0, outer.relative)), outer.absolute)
    return AtomBound(r, a)


def _dots(model: FusedDot, n: int, how: _How) -> AtomBound:
    """A chain of instructions; terms of one that is not full are zeros."""
    if any_format(model.result) != how.format:
        raise FormatError(
            f"{' '.join(model.key)} accumulates in {model.result}, not in {how.format.name}"
        )
    calls = -(-n // model.k)
    if model.fraction is None:
        own = replace(how, format=any_format(model.output), rounding=model.rounding, ftz=False)
        return _bound(Fma(), calls * model.k, own)
    each, small = _group(model, how)
    groups = len(model.groups)
    if model.joined:
        more = compound(*((u, calls * groups) for u in each))
        bound = AtomBound(more, times(calls * groups, small, plus(1.0, more)))
    else:
        added = unit(facts_of(model.result), "rne")
        more = compound(*((u, groups) for u in each), (added, calls))
        bound = AtomBound(more, times(calls * groups, small, plus(1.0, more)))
    return _truncated(bound, n, model, how) if model.truncated else bound


def _group(model: FusedDot, how: _How) -> tuple[tuple[float, float], float]:
    """Of the largest group: relative losses in alignment and in rounding, and absolute ones."""
    size = max(len(g) for g in model.groups) + 1
    aligned = math.ldexp(float(size), -(model.fraction or 0))
    operand, output = facts_of(model.computed), facts_of(model.output)
    a, b = _factors(model, how)
    tiny = math.ldexp(1.0, operand.emin)
    floors = plus(times(tiny, a), times(tiny, b), times(tiny, tiny), math.ldexp(1.0, model.floor))
    floors = plus(floors, math.ldexp(1.0, any_format(model.result).emin))  # of an addend
    half = 0.5 if model.rounding == "rne" else 1.0
    absolute = plus(times(aligned, floors), quantum(output) * half)
    return (aligned, unit(output, model.rounding)), absolute


def _factors(model: FusedDot, how: _How) -> tuple[float, float]:
    if how.factors is not None:
        return how.factors
    largest = float(any_format(model.operands).largest)
    return largest, largest


def _truncated(bound: AtomBound, n: int, model: FusedDot, how: _How) -> AtomBound:
    """Factors are f32 numbers whose low bits are dropped: 2^(1−11) of each, or below 2^−136."""
    facts = facts_of("tf32")
    cut, step = unit(facts, "rz"), quantum(facts)
    a, b = _factors(model, how)
    r = compound((cut, 2), (bound.relative, 1))
    lost_small = times(n, step, plus(a, b, step), plus(1.0, bound.relative))
    return AtomBound(r, plus(bound.absolute, lost_small))
