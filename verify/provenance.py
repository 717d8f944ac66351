"""Provenance: what a wrong buffer holds instead of the right answer.

Defines the closed list `Cause` and `explain`, which finds the first cause that accounts for the
wrong elements. Relies on the two poisons, on the right answer and on what else was in memory. It
decides no verdict, and says nothing rather than guess: a cause needs enough distinct values.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.storage import Poison, pack, poison_word, unpack
from tang.kernel.ir import Type
from tang.verify.compare import memory_equal
from tang.verify.regions import Region, Shape, region_of

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Near = Callable[[Array, Array], Mask]

ENOUGH: Final = 0.75
"""Share of the elements concerned that a copy must account for."""
_DISTINCT: Final = 3
_LONGEST_STRIDE: Final = 16
_TIGHT: Final = 0.02
"""Largest spread of a factor's or an offset's effect, relative to that effect."""
_GOLDEN: Final = 0.6180339887498949
"""Multiples of it fall evenly into the unit interval, and into no period of a layout."""
_MANY: Final = 1 << 20
"""Larger buffers are searched for copies in their first elements only."""


class Cause(enum.Enum):
    """Why a buffer is wrong: the closed list."""

    POISON = "poison"
    ZEROS = "zeros"
    NANS = "nans"
    CONSTANT = "constant"
    STALE = "stale"
    OTHER_BUFFER = "other-buffer"
    SHIFTED = "shifted"
    STRIDED = "strided"
    TRANSPOSED = "transposed"
    REVERSED = "reversed"
    SCALED = "scaled"
    OFFSET = "offset"
    ROUNDED = "rounded"
    LAST_BITS = "last-bits"
    REGION = "region"


@dataclass(frozen=True, slots=True)
class Provenance:
    """A cause, where it applies, and one short sentence for the reader."""

    cause: Cause
    region: Region
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Something else that was in memory: what to call it, its elements in memory format.

    earlier  whether it is a result of an earlier launch
    """

    name: str
    element: Type
    data: Array
    earlier: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One wrong buffer; got and want are values (floats as f64), flat ones beside them."""

    element: Type
    memory: Array
    got: Array
    want: Array
    bad: Mask
    near: Near
    region: Region


def exactly(a: Array, b: Array) -> Mask:
    """Equal values, all NaNs equal."""
    return np.asarray((a == b) | ((a != a) & (b != b)))


def nearly(relative: float, absolute: float) -> Near:
    """Values within a relative or an absolute distance, all NaNs equal."""

    def near(a: Array, b: Array) -> Mask:
        with np.errstate(all="ignore"):
            size = np.maximum(np.abs(a), np.abs(b))
            close = np.abs(a - b) <= relative * size + absolute
        return np.asarray(close | exactly(a, b))

    return near


def explain(
    got: Array,
    want: Array,
    element: Type,
    *,
    known: Sequence[Known] = (),
    near: Near = exactly,
    bad: Mask | None = None,
) -> Provenance | None:
    """Why `got` is not `want`, both in memory format and of one shape; None when nothing fits.

    known  what else was in memory: inputs, right answers of other buffers and earlier launches
    near   when two values count as one; exactly by default
    bad    which elements are wrong; by default those that are not near
    """
    if got.shape != want.shape or not got.size:
        return None
    wrong = _wrong(got, want, element, near) if bad is None else bad
    if not wrong.any():
        return None
    case = _Case(
        element, got, _values(got, element), _values(want, element), wrong, near, region_of(wrong)
    )
    for search in _SEARCHES:
        found = search(case, known)
        if found is not None:
            return Provenance(found[0], case.region, found[1])
    return None


def _wrong(got: Array, want: Array, element: Type, near: Near) -> Mask:
    if near is exactly:
        return ~memory_equal(got, want, element)
    return ~near(_values(got, element), _values(want, element))


def _values(memory: Array, element: Type) -> Array:
    values = unpack(memory, element)
    with np.errstate(invalid="ignore"):  # of signalling NaNs
        return values.astype(np.float64 if element.is_float else np.int64)


_Found = tuple[Cause, str] | None

# --- what the wrong elements hold, one by one -----------------------------------------------------


def _poison(case: _Case, known: Sequence[Known]) -> _Found:
    held = is_poison(case.memory, case.element) & case.bad
    count, all_bad = int(held.sum()), int(case.bad.sum())
    if not count:
        return None
    if count == all_bad:
        return Cause.POISON, f"{case.region.words}: still poison, never written"
    return Cause.POISON, f"{region_of(held).words}: still poison, never written"


def is_poison(memory: Array, element: Type) -> Mask:
    """Where an element holds either poison, which no computation is likely to make."""
    raw = np.ascontiguousarray(memory).reshape(-1).view(np.uint8).reshape(-1, element.bytes)
    found = np.zeros(len(raw), np.bool_)
    if element.bytes > 1:
        for poison in Poison:
            found |= (raw == np.frombuffer(poison_word(element, poison), np.uint8)).all(axis=1)
    return found.reshape(memory.shape)


def _zeros(case: _Case, known: Sequence[Known]) -> _Found:
    if (case.got[case.bad] == 0).all() and not _trivial_zero(case):
        return Cause.ZEROS, f"{case.region.words}: zero instead of the result"
    return None


def _trivial_zero(case: _Case) -> bool:
    """Whether zero says nothing: truth values and single indices are often zero."""
    return case.element in (Type.BOOL, Type.U8) and case.bad.sum() < _DISTINCT


def _nans(case: _Case, known: Sequence[Known]) -> _Found:
    held = case.got[case.bad]
    if case.element.is_float and np.isnan(held).all():
        return Cause.NANS, f"{case.region.words}: NaN"
    return None


def _constant(case: _Case, known: Sequence[Known]) -> _Found:
    held = case.got[case.bad]
    if len(held) < _DISTINCT or not (held == held[0]).all() or case.element is Type.BOOL:
        return None
    if len(np.unique(case.want[case.bad])) == 1:
        return None  # a constant answer that is wrong by a factor is not a missing computation
    return Cause.CONSTANT, f"{case.region.words}: the constant {held[0]:g} everywhere"


# --- copies ---------------------------------------------------------------------------------------


def _other(case: _Case, known: Sequence[Known]) -> _Found:
    if not _telling(case):
        return None
    for other in known:
        words = _window(case, other)
        if words:
            cause = Cause.STALE if other.earlier else Cause.OTHER_BUFFER
            return cause, f"{case.region.words}: {words}"
    return None


def _telling(case: _Case) -> bool:
    """Whether the wrong elements have enough distinct finite values to recognise a copy."""
    held = case.got[case.bad][:_MANY]
    return len(np.unique(held[np.isfinite(held)])) > _DISTINCT


def _window(case: _Case, other: Known) -> str:
    """How the wrong elements are a window of another buffer; "" when they are not."""
    shift = _shift_of(case, _values(np.ravel(other.data), other.element))
    if shift == 0:
        same = other.data.size == case.got.size
        return (
            f"a copy of {other.name}" if same else f"a copy of the first elements of {other.name}"
        )
    if shift is not None:
        return f"a copy of {other.name} shifted by {-shift:+d} elements"
    at = _byte_shift(case, other)
    return "" if at is None else f"the bytes of {other.name} shifted by {at:+d} bytes"


def _shift_of(case: _Case, other: Array) -> int | None:
    """d such that got[i] is near other[i + d] for most of the wrong elements."""
    got, bad = np.ravel(case.got), np.ravel(case.bad)
    for d in itertools.islice(_candidates(case, got, bad, other), 64):
        lo, hi = max(0, -d), min(len(got), len(other) - d)
        if hi <= lo:
            continue
        among = bad[lo:hi]
        same = case.near(got[lo:hi], other[lo + d : hi + d])
        enough = same[among].sum() >= ENOUGH * max(bad.sum(), 1)
        if enough and len(np.unique(got[lo:hi][among & same])) > _DISTINCT:
            return d
    return None


def _candidates(case: _Case, got: Array, bad: Mask, other: Array) -> Iterator[int]:
    """Shifts under which a telling wrong element and its two neighbours recur, 0 first."""
    yield 0
    at = np.flatnonzero(bad & np.isfinite(got) & (got != 0))
    seen = {0}
    for i in (at[int(len(at) * (k * _GOLDEN % 1))] for k in range(1, 8) if len(at)):
        width = min(3, len(got) - i)
        if len(other) < width:
            continue
        hits = np.ones(len(other) - width + 1, np.bool_)
        for j in range(width):
            hits &= case.near(np.full(len(hits), got[i + j]), other[j : j + len(hits)])
        for p in np.flatnonzero(hits)[:8]:
            d = int(p) - int(i)
            if d not in seen:
                seen.add(d)
                yield d


def _byte_shift(case: _Case, other: Known) -> int | None:
    """By how many bytes, no whole elements, the wrong run lies away from its place in another."""
    run = case.region
    size = case.element.bytes
    raw = np.ascontiguousarray(case.memory).tobytes()
    needle = raw[(run.start + 1) * size : (run.stop - 1) * size]
    hay = np.ascontiguousarray(other.data).tobytes()
    if len(needle) < 4 * size:
        return None
    at = hay.find(needle)
    return None if at < 0 else (run.start + 1) * size - at


def _moved(case: _Case, known: Sequence[Known]) -> _Found:
    """The right answer at other places."""
    if not _telling(case):
        return None
    shift = _shift_of(case, np.ravel(case.want))
    if shift:
        return (
            Cause.SHIFTED,
            f"{case.region.words}: the right answer shifted by {-shift:+d} elements",
        )
    return _permuted(case) or _strided(case)


def _permuted(case: _Case) -> _Found:
    want, got = case.want, np.ravel(case.got)
    if _matches(case, got, np.ravel(want)[::-1]):
        return Cause.REVERSED, "the right answer in reverse order"
    for axis in range(want.ndim if want.ndim > 1 else 0):
        if _matches(case, got, np.ravel(np.flip(want, axis))):
            return Cause.REVERSED, f"the right answer reversed along axis {axis}"
    for axes in itertools.permutations(range(want.ndim)) if want.ndim < 5 else ():
        moved = np.transpose(want, axes)
        if axes != tuple(range(want.ndim)) and _matches(case, got, np.ravel(moved)):
            how = "transposed" if want.ndim == 2 else f"with its axes in the order {list(axes)}"
            return Cause.TRANSPOSED, f"the right answer {how}"
    return None


def _strided(case: _Case) -> _Found:
    got, want = np.ravel(case.got), np.ravel(case.want)
    for step in range(2, min(_LONGEST_STRIDE, len(got) // 4) + 1):
        part = want[::step]
        if _matches(case, got[: len(part)], part):
            return Cause.STRIDED, f"every {step}th element of the right answer, side by side"
        part = got[::step]
        if _matches(case, part, want[: len(part)]):
            return Cause.STRIDED, f"the right answer with a stride of {step} elements"
    return None


def _matches(case: _Case, a: Array, b: Array) -> bool:
    """Whether nearly all of two arrays are near, and more than a few values of them differ."""
    same = case.near(a, b)
    return bool(same.mean() >= 0.95) and len(np.unique(a[same])) > _DISTINCT


# --- arithmetic -----------------------------------------------------------------------------------


def _last_bits(case: _Case, known: Sequence[Known]) -> _Found:
    """A few units in the last place: contraction, another order or another function."""
    if not case.element.is_float or case.near is not exactly:
        return None
    got, want = case.got[case.bad], case.want[case.bad]
    if not (np.isfinite(got) & np.isfinite(want)).all() or (want == 0).any():
        return None
    bits = {Type.F64: 52, Type.F32: 23, Type.F16: 10, Type.BF16: 7}[case.element]
    ulps = np.abs(got - want) / np.ldexp(1.0, np.frexp(want)[1] - 1 - bits)
    worst = float(ulps.max())
    if worst > 8:
        return None
    return Cause.LAST_BITS, f"{case.region.words}: right up to {worst:.0f} units in the last place"


def _scaled(case: _Case, known: Sequence[Known]) -> _Found:
    got, want = case.got[case.bad], case.want[case.bad]
    usable = np.isfinite(got) & np.isfinite(want) & (want != 0)
    if not case.element.is_float or usable.sum() < _DISTINCT or usable.mean() < ENOUGH:
        return None
    with np.errstate(all="ignore"):
        factor = float(np.median(got[usable] / want[usable]))
        spread = np.abs(got[usable] - factor * want[usable])
        room = min(1e-3 * abs(factor), _TIGHT * abs(factor - 1))
        tight = spread <= room * np.abs(want[usable])
    if tight.mean() < 0.95 or len(np.unique(want[usable])) < _DISTINCT:
        return None
    if not np.isfinite(factor) or factor in (0, 1):
        return None
    return Cause.SCALED, f"{case.region.words}: the right answer times {_factor(factor)}"


def _factor(x: float) -> str:
    near = Fraction(x).limit_denominator(64)
    simple = near != 0 and abs(float(near) - x) <= 1e-4 * abs(x)
    return str(near) if simple else f"{x:.4g}"


def _offset(case: _Case, known: Sequence[Known]) -> _Found:
    got, want = case.got[case.bad], case.want[case.bad]
    usable = np.isfinite(got) & np.isfinite(want)
    if usable.sum() < _DISTINCT or len(np.unique(want[usable])) < _DISTINCT:
        return None
    gap = got[usable] - want[usable]
    middle = float(np.median(gap))
    if not middle or not (np.abs(gap - middle) <= _TIGHT * abs(middle)).all():
        return None
    return Cause.OFFSET, f"{case.region.words}: the right answer plus {middle:.4g}"


def _rounded(case: _Case, known: Sequence[Known]) -> _Found:
    """The right answer rounded once more, to a shorter format than its own."""
    shorter = {Type.F64: (Type.F32, Type.F16, Type.BF16), Type.F32: (Type.F16, Type.BF16)}
    got, want = case.got, case.want
    for short in shorter.get(case.element, ()):
        through = _values(pack(want, short), short)
        exact = _values(pack(got, short), short)
        fits = exactly(exact, got) & nearly(2.0**-6, 0.0)(got, through)
        if fits.all() and case.bad.sum() >= _DISTINCT and len(np.unique(got)) > 1:
            return Cause.ROUNDED, f"{case.region.words}: results are numbers of {short.value}"
    return None


def _region(case: _Case, known: Sequence[Known]) -> _Found:
    telling = (Shape.TAIL, Shape.HEAD, Shape.SLICE, Shape.EDGE, Shape.EVERY, Shape.RUN)
    if case.region.shape not in telling:
        return None
    return Cause.REGION, f"right but for {case.region.words}"


_SEARCHES: Final = (
    _poison, _zeros, _nans, _last_bits, _constant, _moved, _other, _scaled, _offset, _rounded,
    _region,
)  # fmt: skip
"""In order: what needs no right answer, then copies, arithmetic, and where the fault lies."""
