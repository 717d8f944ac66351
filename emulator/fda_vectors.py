"""Questions to tensor cores that separate one hypothesis from another, each with its name.

Defines `vectors`. Relies on the formats of an atom alone: no answer is stated here, models and
devices give them. Random questions are in `emulator/fda_check.py`.

Sources: the feature tests of Fasi et al., PeerJ CS 7:e330 (2021), and of Li et al., FTTN,
arXiv 2403.00232; the floor as in Khattak and Mikaitis, arXiv 2512.07004; probes of an H200.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tang.ir.format import any_format
from tang.ir.tensorcore import FusedDot

Pair = tuple[float, float]

_LARGEST: Final = (2.0 - 2.0**-23) * 2.0**127


@dataclass(frozen=True, slots=True)
class Vector:
    """A question in numbers: pairs of factors, zeros after them, and an addend.

    raw_a, raw_c  bits of the first factor and of the addend instead of numbers
    """

    name: str
    pairs: tuple[Pair, ...] = ()
    c: float = 0.0
    raw_a: int | None = None
    raw_c: int | None = None


def vectors(atom: FusedDot) -> tuple[Vector, ...]:
    """Those that the atom's formats can hold."""
    found = (
        *_kept_bits(atom),
        *_rounding(atom),
        *_blocks(atom),
        *_floor(atom),
        *_exponents(atom),
        *_addend(atom),
        *_signs(atom),
        *_specials(atom),
    )
    return tuple(v for v in found if _held(v, atom))


def _held(vector: Vector, atom: FusedDot) -> bool:
    """Whether every number of a question is a number of its format."""
    factors = [x for pair in vector.pairs for x in pair]
    return len(vector.pairs) <= atom.k and (
        all(_is_number(x, atom.operands) for x in factors) and _is_number(vector.c, atom.result)
    )


def _is_number(x: float, format: str) -> bool:
    target = any_format(format)
    if x == 0:
        return True
    fraction, exponent = math.frexp(abs(x))
    scaled = math.ldexp(fraction, exponent + target.p - 1 - max(exponent - 1, target.emin))
    return abs(x) <= float(target.largest) and scaled.is_integer()


def _power(exponent: int, atom: FusedDot) -> Pair:
    """Two powers of two with that product, both of the format where there are such."""
    target = any_format(atom.operands)
    low, high = target.emin - target.p + 1, target.emax
    first = min(max(exponent // 2, low), high)
    return 2.0**first, 2.0 ** (exponent - first)


def _minus(pair: Pair) -> Pair:
    return -pair[0], pair[1]


def _kept_bits(atom: FusedDot) -> Iterator[Vector]:
    one = (1.0, 1.0)
    for j in range(8, 31):
        small = _power(-j, atom)
        yield Vector(f"1 − 1 + 2^-{j}", (one, _minus(one), small))
        yield Vector(f"1 − 1 + c = 2^-{j}", (one, _minus(one)), 2.0**-j)
        yield Vector(f"−1 + 2^-{j} + c = 1", (_minus(one), small), 1.0)
        yield Vector(f"−2^-{j} + 1", (_minus(small), one))


def _rounding(atom: FusedDot) -> Iterator[Vector]:
    p = any_format(atom.output).p
    half, quarter = _power(-p, atom), _power(-p - 1, atom)
    for sign, word in ((1.0, ""), (-1.0, "−")):
        one, h, q = ((sign * x, y) for x, y in ((1.0, 1.0), half, quarter))
        unit = (sign * _power(1 - p, atom)[0], _power(1 - p, atom)[1])
        yield Vector(f"{word}(1 + 2^-{p} + 2^-{p + 1})", (one, h, q))
        yield Vector(f"{word}(1 + 2^-{p}), a tie", (one, h))
        yield Vector(f"{word}(1 + 2^-{p - 1} + 2^-{p}), a tie", (one, unit, h))
        yield Vector(f"{word}(1 + 2^-{p - 1} + 2^-{p} + 2^-{p + 1})", (one, unit, h, q))


def _blocks(atom: FusedDot) -> Iterator[Vector]:
    """A large term, its negative and ones: those of the same block as a large term are lost."""
    for extra in (0, 1):
        exponent = (atom.fraction or 52) + extra
        large = _power(exponent, atom)
        for i in range(1, atom.k):
            pairs = [(1.0, 1.0)] * atom.k
            pairs[0], pairs[i] = large, _minus(large)
            yield Vector(f"2^{exponent} at 0, −2^{exponent} at {i}, ones", tuple(pairs))


def _floor(atom: FusedDot) -> Iterator[Vector]:
    for m in range(1, 8):
        for first, second in ((-76, -77), (-76, -76)):
            up, down = (2.0**second * (1 + s * 2.0**-m) for s in (1, -1))
            pairs = ((2.0**first, up), (2.0**first, down)) * (atom.k // 2)
            name = f"{atom.k} terms 2^{first + second}·(1 ± 2^-{m})"
            yield Vector(name, pairs)
            yield Vector(f"{name} + c = 2^-149", pairs, 2.0**-149)
    if atom.result == "f16":
        for q in range(26, 50):
            yield Vector(f"2^-25 + 2^-{q}", (_power(-25, atom), _power(-q, atom)))
            for c in (-24, -23, -15, -14):  # an even last bit below the tie, but for 2^-24
                pairs = (_power(-25, atom), _power(-q, atom))
                yield Vector(f"2^-25 + 2^-{q} + c = 2^{c}", pairs, 2.0**c)


def _exponents(atom: FusedDot) -> Iterator[Vector]:
    """Zeros have no exponent; exponents of products may exceed those of f32."""
    big = 2.0 ** (any_format(atom.operands).emax)
    least = _power(2 * (any_format(atom.operands).emin // 2), atom)
    for e in (-30, -20, -12):
        yield Vector(f"0·{big:g} + 2^{e}", ((0.0, big), _power(e, atom)))
    yield Vector("0·largest + smallest", ((0.0, big), least))
    yield Vector("large² − large² + c = 1", ((big, big), (-big, big)), 1.0)
    yield Vector("large²", ((big, big),))
    yield Vector("−large²", ((-big, big),))
    yield Vector("2^64·2^64 − 2^127", ((2.0**64, 2.0**64), (-(2.0**127), 1.0)))
    target = any_format(atom.operands)
    tiny = 2.0 ** (target.emin - target.p + 1)
    yield Vector("smallest·1", ((tiny, 1.0),))
    yield Vector("smallest·smallest", ((tiny, tiny),))
    for e in (-149, -150):
        yield Vector(f"2^{e}", (_power(e, atom),))
        yield Vector(f"2^{e} + 2^{e}", (_power(e, atom), _power(e, atom)))


def _addend(atom: FusedDot) -> Iterator[Vector]:
    for j in range(9, 24):
        yield Vector(f"c = 1 + 2^-{j}", (), 1 + 2.0**-j)
        yield Vector(f"c = −1 − 2^-{j}", (), -1 - 2.0**-j)
    if atom.result == "f32":
        yield Vector("c = largest", (), _LARGEST)
        for e in (102, 103, 104):
            yield Vector(f"c = largest, + 2^{e}", (_power(e, atom),), _LARGEST)
        yield Vector("c = 2^-149", (), 2.0**-149)
    if atom.result == "f16":
        for x in (15.9921875, 16.0, 16.0078125):
            yield Vector(f"c = 65504, + {x}", ((x, 1.0),), 65504.0)
        yield Vector("c = 2^-24", (), 2.0**-24)


def _signs(atom: FusedDot) -> Iterator[Vector]:
    k = atom.k
    yield Vector("c = −0", (), -0.0)
    yield Vector("(−1)·0 everywhere, c = −0", ((-1.0, 0.0),) * k, -0.0)
    yield Vector("1·(−0) everywhere, c = −0", ((1.0, -0.0),) * k, -0.0)
    yield Vector("1 − 1", ((1.0, 1.0), (-1.0, 1.0)))
    yield Vector("1, c = −1", ((1.0, 1.0),), -1.0)
    yield Vector("−1, c = 1", ((-1.0, 1.0),), 1.0)


def _specials(atom: FusedDot) -> Iterator[Vector]:
    operand, result = any_format("f32" if atom.truncated else atom.operands), atom.result
    nan = {"f16": 0x7E01, "f32": 0x7FC00001, "f64": 0x7FF8000000000001}[result]
    infinity = {"f16": 0x7C00, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[result]
    sign = infinity + (1 << (any_format(result).bits - 1))
    yield Vector("c = NaN with a payload", raw_c=nan)
    yield Vector("c = ∞", ((1.0, 1.0),), raw_c=infinity)
    yield Vector("c = −∞", ((1.0, 1.0),), raw_c=sign)
    if not operand.has_infinity:
        yield Vector("NaN·1", ((0.0, 1.0),), raw_a=2 ** (operand.bits - 1) - 1)
        return
    top = (2 ** (operand.bits - operand.p) - 1) << (operand.p - 1)
    low = 1 << (operand.bits - 1)
    yield Vector("∞·0", raw_a=top)
    yield Vector("∞·1", ((0.0, 1.0),), raw_a=top)
    yield Vector("−∞·1", ((0.0, 1.0),), raw_a=top | low)
    yield Vector("−∞·1, c = ∞", ((0.0, 1.0),), raw_a=top | low, raw_c=infinity)
    yield Vector("−∞·1, c = NaN", ((0.0, 1.0),), raw_a=top | low, raw_c=nan)
    yield Vector("NaN·1, the payload in the last bit", ((0.0, 1.0),), raw_a=top | 1)
    quiet = top | 1 << (operand.p - 2)
    yield Vector("a quiet NaN·1", ((0.0, 1.0),), raw_a=quiet)
    if atom.truncated:
        for low_bits in (0x1000, 0x1FFF, 0x0001):
            one = 0x3F800000 | low_bits
            yield Vector(f"1 with the low bits {low_bits:#x}", ((0.0, 1.0),), raw_a=one)
