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
    least = ALL_FORMATS[atom.result].emin
    terms, top = [(Fraction(c), leading(c, least))] if c else [], [faults.get("floor", atom.floor)]
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


def rounded(exact, zero, how):
    """An exact number by the reference; an exact zero keeps IEEE's sign, which the caller knows."""
    return reference(exact, *how) if exact else zero


def add(x, y, how):
    """x + y rounded once; `how` is (format, rounding, overflow, ftz)."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x + y
    return rounded(Fraction(x) + Fraction(y), x + y, how)


def fused(x, y, z, how):
    """x·y + z rounded once."""
    if not all(map(math.isfinite, (x, y, z))):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    zero = z + math.copysign(0.0, x * y) if not Fraction(x) * Fraction(y) else 0.0
    return rounded(exact, zero, how)


def multiply(x, y, how):
    """x·y rounded once."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y
    sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    return rounded(Fraction(x) * Fraction(y), sign * 0.0, how)


def adjacent(x, how):
    """The first power of two of terms, and the rest: no levels."""
    if len(x) == 1:
        return x[0]
    half = 1
    while half * 2 < len(x):
        half *= 2
    return add(adjacent(x[:half], how), adjacent(x[half:], how), how)


def halves(x, how):
    """Terms of even and of odd index: no distances."""
    if len(x) == 1:
        return x[0]
    return add(halves(x[::2], how), halves(x[1::2], how), how)


def total(data, terms, how):
    """A sum described by JSON data; terms are numbers or pairs."""
    kind = data["kind"]
    if kind in ("seq", "tree"):
        x = [multiply(*t, how) if isinstance(t, tuple) else t for t in terms]
        if kind == "tree":
            return (adjacent if data["pairs"] == "adjacent" else halves)(x, how) if x else 0.0
        result = 0.0
        for t in x:
            result = add(result, t, how)
        return result
    if kind == "fma":
        result = 0.0
        for a, b in terms:
            result = fused(a, b, result, how)
        return result
    if kind == "promote":
        within = (ALL_FORMATS[data["partial"]], *how[1:]) if data["partial"] else how
        result, every = 0.0, data["every"]
        for i in range(0, len(terms), every):
            result = add(result, total(data["inner"], terms[i : i + every], within), how)
        return result
    parts, n = data["parts"], len(terms)
    size = (n + parts - 1) // parts
    where = {
        "blocks": [terms[j * size : (j + 1) * size] for j in range(parts)],
        "cyclic": [[t for i, t in enumerate(terms) if i % parts == j] for j in range(parts)],
    }
    partial = [total(data["inner"], part, how) for part in where[data["deal"]]]
    return total(data["order"], partial, how)
