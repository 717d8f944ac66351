"""Independent references: tensor-core dots and trees of additions on exact rationals.

Shares nothing with the emulator but tables of data. `faults` names what a wrong model would do.
"""

import math
from fractions import Fraction

from exact_rounding import reference

from tang.ir.format import ALL_FORMATS


def leading(x, emin):
    """⌊log₂|x|⌋ of a number that is not zero, at least emin."""
    x = abs(Fraction(x))
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return max(e if Fraction(2) ** e <= x else e - 1, emin)


def special_of(products, c):
    """NaN or an infinity where the terms say so, else None."""
    terms = [*products, c]
    if any(math.isnan(t) for t in terms) or {math.inf, -math.inf} <= set(terms):
        return math.nan
    return next((t for t in terms if math.isinf(t)), None)


def group(a, b, c, atom, **faults):
    """One group of terms and an addend, by the steps of the model."""
    special = special_of([x * y for x, y in zip(a, b, strict=True)], c)
    if special is not None:
        return special
    emin = ALL_FORMATS[atom.computed].emin
    fraction = atom.fraction + faults.get("fraction", 0)
    terms, top = [(Fraction(c), leading(c, -126))] if c else [], [faults.get("floor", atom.floor)]
    for x, y in zip(a, b, strict=True):
        if x and y:
            terms.append((Fraction(x) * Fraction(y), leading(x, emin) + leading(y, emin)))
        elif faults.get("zeros_count"):
            top.append(leading(x or y or 1, emin) + emin)
    unit = Fraction(2) ** (max(top + [e for _, e in terms]) - fraction)
    kept = [v / unit if faults.get("exact") else int(v / unit) for v, _ in terms]
    output = ALL_FORMATS[faults.get("output", atom.output)]
    result = reference(sum(kept) * unit, output, faults.get("rounding", atom.rounding))
    return result + 0.0


def dot(a, b, c, atom, **faults):
    """A chain of whole instructions; a and b have a multiple of k terms."""
    a, b = [list(map(float, v)) for v in (a, b)]
    for start in range(0, len(a), atom.k):
        total = c if atom.joined else 0.0
        for indices in faults.get("groups", atom.groups):
            part = [start + i for i in indices]
            total = group([a[i] for i in part], [b[i] for i in part], total, atom, **faults)
        c = total if atom.joined else plain_sum(total, c, ALL_FORMATS[atom.result])
    return c


def plain_sum(x, y, target):
    """x + y to nearest even in a format."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x + y
    exact = Fraction(x) + Fraction(y)
    return reference(exact, target) if exact else x + y
