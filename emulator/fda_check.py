"""What a probe of tensor cores asks, and its verdict.

Defines `questions`, `answers` and `judge`. Relies on the models, on the vectors that separate
hypotheses and on random bits from a seed. It launches nothing: whoever has a device passes a
function that answers in bits.

A probe compiles one kernel per instruction, fills row i of A and column i of B with the bits of
question i, and returns the bits of the results; everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.emulator.fda import fda_bits
from tang.emulator.fda_vectors import vectors
from tang.emulator.formats_codes import decode, encode
from tang.emulator.rounding import round_to
from tang.errors import DeviceError
from tang.ir.format import any_format
from tang.ir.tensorcore import FusedDot

Array = npt.NDArray[Any]

REGIMES: Final = ("near", "cancelling", "wide", "floor", "full", "bits", "rare", "special")
"""Exponents within 4 of 1; the same with pairs that cancel; within 14; products about the least
exponent; all exponents; any bits with 0, 0.3 and 3 % of NaN and infinities."""
VECTORS: Final = "vectors"
"""The regime of questions that separate hypotheses, which come first."""
_SHARE: Final = {"bits": 0.0, "rare": 0.003, "special": 0.03}


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """Dots to ask for: bits of a and b, shape (n, k), and of c, shape (n,), of the formats that
    `FusedDot.operands` and `FusedDot.result` name; operands in tf32 are bits of f32.

    names  of questions, where they have one
    """

    regime: str
    a: Array
    b: Array
    c: Array
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a device computes what the model says, bit for bit.

    wrong  mismatches of each regime; example: the first one in words, "" where there is none
    """

    key: tuple[str, ...]
    asked: int
    wrong: tuple[tuple[str, int], ...]
    example: str = ""

    @property
    def certified(self) -> bool:
        return self.asked > 0 and not any(n for _, n in self.wrong)

    def __str__(self) -> str:
        total = sum(n for _, n in self.wrong)
        word = "certified" if self.certified else "refused"
        where = ", ".join(f"{regime} {n}" for regime, n in self.wrong if n)
        rest = f" ({where}); {self.example}" if self.example else ""
        return f"{' '.join(self.key)}: {word}, {total} of {self.asked} differ{rest}"

    def to_data(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "key": list(self.key), "certified": self.certified, "asked": self.asked,
            "wrong": dict(self.wrong), "example": self.example,
        }  # fmt: skip


def judge(
    atom: FusedDot, ask: Callable[[Questions], Array], count: int = 12_500, seed: int = 0
) -> Verdict:
    """Ask the vectors and `count` questions of every regime.

    Answers are one a question, or several of which every one must be right: shape (n, copies).
    Raises DeviceError where they have another shape.
    """
    asked, wrong, example = 0, [], ""
    for q in (vector_questions(atom), *questions(atom, count, seed)):
        wanted, given = answers(q, atom), np.asarray(ask(q))
        if given.shape[:1] != wanted.shape or given.ndim > 2 or given.dtype != wanted.dtype:
            raise DeviceError(
                f"{' '.join(atom.key)}: {wanted.shape} answers of {wanted.dtype} were expected, "
                f"not {given.shape} of {given.dtype}"
            )
        apart = given.reshape(wanted.size, -1) != wanted[:, None]
        differ = np.flatnonzero(apart.any(axis=1))
        asked += wanted.size
        wrong.append((q.regime, int(differ.size)))
        if differ.size and not example:
            i = int(differ[0])
            copy = int(np.argmax(apart[i]))
            got, name = int(given.reshape(wanted.size, -1)[i, copy]), q.names[i] if q.names else i
            place = f", copy {copy} of {apart.shape[1]}" if apart.shape[1] > 1 else ""
            example = f"{q.regime} {name}: {got:#x}{place}, the model says {int(wanted[i]):#x}"
    return Verdict(atom.key, asked, tuple(wrong), example)


def vector_questions(atom: FusedDot) -> Questions:
    """The vectors of an atom as bits."""
    asked = vectors(atom)
    a, b = np.zeros((2, len(asked), atom.k))
    for i, v in enumerate(asked):
        for j, (x, y) in enumerate(v.pairs):
            a[i, j], b[i, j] = x, y
    c = _bits(np.array([v.c for v in asked]), atom.result)
    left, right = _bits(a, atom.operands), _bits(b, atom.operands)
    for i, v in enumerate(asked):
        if v.raw_a is not None:
            left[i, 0] = v.raw_a
        if v.raw_c is not None:
            c[i] = v.raw_c
    return Questions(VECTORS, left, right, c, tuple(v.name for v in asked))


def answers(q: Questions, atom: FusedDot) -> Array:
    """What the model says, as bits."""
    a, b = (values_of(bits, atom.operands) for bits in (q.a, q.b))
    return fda_bits(a, b, values_of(q.c, atom.result), atom)


def questions(atom: FusedDot, count: int, seed: int) -> Iterator[Questions]:
    """`count` dots of every regime; the same for the same seed."""
    for i, regime in enumerate(REGIMES):
        rng = np.random.default_rng((seed, i))
        small, sums = _least_exponents(atom)
        a, b = (_draw(rng, atom.operands, (count, atom.k), regime, small) for _ in range(2))
        c = _draw(rng, atom.result, (count,), regime, sums)
        c[rng.random(count) < 0.3] = 0
        if regime == "cancelling":
            sign = a.dtype.type(1 << (_bits_of(atom.operands) - 1))
            a[:, 1::2], b[:, 1::2] = a[:, ::2] ^ sign, b[:, ::2]
            some = rng.random((count, 1)) < 0.7  # the others cancel to nothing
            last = b.dtype.type(1 << 13 if atom.truncated else 1)
            b[:, 1::2] ^= (some & (rng.random(b[:, 1::2].shape) < 0.5)) * last
            b = _without_specials(b, atom.operands)
        if regime == "floor":
            half = count // 2
            if _reaches_floor(atom):
                a[:half], b[:half] = _about_the_floor(rng, atom, half)
                c[:half] = 0
            elif atom.result == "f16":
                a[:half], b[:half] = _ties(rng, atom, half)
                c[:half] = 0
        yield Questions(regime, a, b, c)


def _least_exponents(atom: FusedDot) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of operands and of addends whose sums are about the least exponent that can be seen.

    Those are the floor of alignment, or the least products of formats that do not reach it.
    """
    target = any_format(atom.operands)
    least = target.emin - target.p + 1
    half = atom.result == "f16"
    small = (-24, -9) if half else (-80, -66)
    if small[1] > least:
        return small, (-24, -9) if half else (-149, -130)
    return (least, least + 8), (max(2 * least, -24) if half else 2 * least, 2 * least + 20)


def _reaches_floor(atom: FusedDot) -> bool:
    """Whether products can be so small that the floor is seen."""
    return atom.operands in ("bf16", "tf32") or (atom.operands, atom.result) == ("f16", "f16")


def _about_the_floor(rng: np.random.Generator, atom: FusedDot, count: int) -> tuple[Array, Array]:
    """Terms whose last bits decide the result, and lie about the last bit that a floor keeps.

    In f16: half a quantum and a tiny product. In f32: pairs 2ⁱ·(1 ± m·2^(2−p))·2ʲ, whose sum is a
    multiple of the quantum.
    """
    a, b = np.zeros((2, count, atom.k))
    if atom.result == "f16":
        tiny, i = rng.integers(-48, -38, count), rng.integers(-24, -14, count)
        a[:, 0], b[:, 0] = 2.0**-12, 2.0**-13
        a[:, 1], b[:, 1] = np.exp2(i), np.exp2(np.maximum(tiny - i, -24))
    else:
        p = any_format(atom.operands).p
        total = rng.integers(-156, -146, (count, 1))
        i = rng.integers(-80, -70, (count, 1))
        part = rng.integers(1, 2 ** (p - 2), (count, atom.k // 2)) * 2.0 ** (2 - p)
        a[:] = np.ldexp(1.0, i)
        b[:, ::2], b[:, 1::2] = np.ldexp(1 + part, total - i), np.ldexp(1 - part, total - i)
    return _bits(a, atom.operands), _bits(b, atom.operands)


def _ties(rng: np.random.Generator, atom: FusedDot, count: int) -> tuple[Array, Array]:
    """A power of two, half a unit of f16, and a product about the last bit kept, in some order."""
    e = rng.integers(10, 16, count)
    sizes = np.stack([e, e - 11, e - rng.integers(22, 29, count)], axis=1)
    a, b = np.zeros((2, count, atom.k))
    a[:, :3], b[:, :3] = np.exp2(sizes // 2), np.exp2(sizes - sizes // 2)
    order = rng.permutation(atom.k)
    return _bits(a[:, order], atom.operands), _bits(b[:, order], atom.operands)


def _bits(x: Array, format: str) -> Array:
    width = _bits_of(format)
    return x.astype(f"f{width // 8}").view(f"u{width // 8}") if width >= 32 else encode(x, format)


def values_of(bits: Array, format: str) -> Array:
    """Numbers of bit patterns; those of tf32 operands stay f32, whose low bits count."""
    if format in ("f32", "tf32", "f64"):
        wide = bits.view(np.float64 if format == "f64" else np.float32)
        with np.errstate(invalid="ignore"):
            return wide if format == "tf32" else wide.astype(np.float64)
    return decode(bits, format)


def _bits_of(format: str) -> int:
    return 32 if format == "tf32" else any_format(format).bits


def _draw(
    rng: np.random.Generator,
    format: str,
    shape: tuple[int, ...],
    regime: str,
    small: tuple[int, int],
) -> Array:
    """Bits of a regime, whose exponents are `small` about the floor."""
    width = _bits_of(format)
    dtype = np.dtype(f"u{width // 8}")
    if regime in _SHARE:
        raw = rng.integers(0, 2**width, shape, np.uint64).astype(dtype)
        keep = rng.random(shape) < _SHARE[regime]
        special = _special_bits(rng, format, shape).astype(dtype)
        return np.where(keep, special, _without_specials(raw, format))
    target = any_format("f32" if format == "tf32" else format)
    low, high = _exponents(format, regime, small)
    # every operand of tf32 gets low bits too: dropping them is part of the model
    x = np.ldexp(1 + rng.random(shape), rng.integers(low, high + 1, shape))
    x = round_to(x * rng.choice([-1.0, 1.0], shape), target, "rz", "saturate")
    return _bits(x, format)


def _exponents(format: str, regime: str, small: tuple[int, int]) -> tuple[int, int]:
    target = any_format(format)
    least, most = target.emin - target.p + 1, target.emax - 1
    reach = {"near": 4, "cancelling": 4, "wide": 14}.get(regime)
    if reach is not None:
        return max(-reach, least), min(reach, most)
    if regime == "floor":
        return max(small[0], least), small[1]
    return least, most


def _without_specials(bits: Array, format: str) -> Array:
    """NaN and infinities with their exponent cleared."""
    target = any_format("f32" if format == "tf32" else format)
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(values_of(bits, format))
    keep = (1 << (target.p - 1)) - 1 | 1 << (target.bits - 1)
    return np.where(finite, bits, bits & bits.dtype.type(keep))


def _special_bits(rng: np.random.Generator, format: str, shape: tuple[int, ...]) -> Array:
    """Infinities, and NaN with any payload, of both signs."""
    target = any_format("f32" if format == "tf32" else format)
    sign = rng.integers(0, 2, shape, np.uint64) << np.uint64(target.bits - 1)
    if not target.has_infinity:
        return sign | np.uint64(2 ** (target.bits - 1) - 1)
    top = np.uint64((2 ** (target.bits - target.p) - 1) << (target.p - 1))
    payload = rng.integers(0, 2 ** (target.p - 1), shape, np.uint64)
    return np.asarray(sign | top | np.where(rng.random(shape) < 0.7, np.uint64(0), payload))
