"""Orders of summation as data: which additions are done, and where they are rounded.

Defines the six atoms `Seq`, `Tree`, `Fma`, `Fda`, `Promote` and `Split`, their check and their JSON
form. Relies on tensor cores as data. It adds nothing up: `emulator/atoms.py` does, and lowering
and bounds read the same objects.

A sum has n terms, each a number or a product of two factors, and an accumulator's format. Chains
start from +0, as the sum monoid does; a sum of no terms is +0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from tang.errors import FormatError
from tang.ir.format import any_format
from tang.ir.tensorcore import ATOMS, FusedDot, atom_named

PAIRS: Final = ("adjacent", "halves")
DEALS: Final = ("blocks", "cyclic")


@dataclass(frozen=True, slots=True)
class Seq:
    """acc ← acc + x for each term in order; products are rounded before they are added."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Terms added in pairs, level by level; products are rounded first, a single term stays.

    adjacent  level n: a term at a multiple of 2ⁿ⁺¹ takes the one 2ⁿ further, where there is one
    halves    with h the largest power of two below the number left: term i takes term i + h
    """

    pairs: str = "adjacent"


@dataclass(frozen=True, slots=True)
class Fma:
    """acc ← a·b + acc for each pair of factors in order, rounded once."""


@dataclass(frozen=True, slots=True)
class Fda:
    """A chain of one tensor-core instruction; the accumulator has its result's format."""

    model: FusedDot


@dataclass(frozen=True, slots=True)
class Promote:
    """acc ← acc + inner(next terms) for every so many terms.

    partial  the accumulator's format within, where it is another one
    """

    every: int
    inner: Summation
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """The terms dealt out in parts, each summed by `inner`; the parts summed in `order`.

    blocks  contiguous parts of `size` terms, the last ones shorter or empty; size 0: ⌈n/parts⌉
    cyclic  part j has the terms j, j + parts, …
    """

    parts: int
    inner: Summation
    order: Summation = Seq()
    deal: str = "blocks"
    size: int = 0


Summation = Seq | Tree | Fma | Fda | Promote | Split

KINDS: Final[Mapping[str, type[Summation]]] = {
    "seq": Seq, "tree": Tree, "fma": Fma, "fda": Fda, "promote": Promote, "split": Split,
}  # fmt: skip


def needs_factors(sum_: Summation) -> bool:
    """Whether the terms must be products."""
    match sum_:
        case Fma() | Fda():
            return True
        case Promote() | Split():
            return needs_factors(sum_.inner)
        case Seq() | Tree():
            return False


def check_summation(sum_: Summation) -> None:
    """Raise FormatError for parts that do not fit together."""
    match sum_:
        case Tree():
            _one_of("tree pairs", sum_.pairs, PAIRS)
        case Promote():
            _positive("promote every", sum_.every)
            if sum_.partial:
                any_format(sum_.partial)
            check_summation(sum_.inner)
        case Split():
            _positive("split parts", sum_.parts)
            _one_of("split deal", sum_.deal, DEALS)
            if type(sum_.size) is not int or sum_.size < 0:
                raise FormatError(f"split size: an int of at least 0, not {sum_.size!r}")
            if sum_.size and sum_.deal != "blocks":
                raise FormatError(f"split size is for blocks, not for {sum_.deal}")
            if needs_factors(sum_.order):
                raise FormatError(f"split order sums parts, not products: {describe(sum_.order)}")
            check_summation(sum_.inner)
            check_summation(sum_.order)
        case Seq() | Fma() | Fda():
            pass


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise FormatError(f"{what}: {value!r} is none of {', '.join(known)}")


def _positive(what: str, value: int) -> None:
    if type(value) is not int or value < 1:
        raise FormatError(f"{what}: an int of at least 1, not {value!r}")


def describe(sum_: Summation) -> str:
    """One line, as reports print it: split(4 blocks, fma; tree adjacent)."""
    match sum_:
        case Seq() | Fma():
            return "seq" if isinstance(sum_, Seq) else "fma"
        case Tree():
            return f"tree {sum_.pairs}"
        case Fda():
            return f"fda {' '.join(sum_.model.key)}"
        case Promote():
            within = f" in {sum_.partial}" if sum_.partial else ""
            return f"promote({sum_.every}, {describe(sum_.inner)}{within})"
        case Split():
            inner, order = describe(sum_.inner), describe(sum_.order)
            size = f" of {sum_.size}" if sum_.size else ""
            return f"split({sum_.parts} {sum_.deal}{size}, {inner}; {order})"


def to_data(sum_: Summation) -> dict[str, Any]:
    """The JSON form: {"kind": …} and the fields; a known instruction is written as its key."""
    data: dict[str, Any] = {"kind": _kind_of(sum_)}
    for field in fields(sum_):
        value = getattr(sum_, field.name)
        if isinstance(value, FusedDot):
            value = list(value.key) if ATOMS.get(value.key) == value else asdict(value)
        elif isinstance(value, Seq | Tree | Fma | Fda | Promote | Split):
            value = to_data(value)
        data[field.name] = value
    return data


def _kind_of(sum_: Summation) -> str:
    return next(name for name, kind in KINDS.items() if type(sum_) is kind)


def from_data(data: object) -> Summation:
    """A checked summation of its JSON form; FormatError says what is wrong, and where."""
    found = _read(data, "summation")
    check_summation(found)
    return found


def _read(data: object, where: str) -> Summation:
    if not isinstance(data, Mapping):
        raise FormatError(f"{where}: an object with a kind, not {data!r}")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"{where}: kind {kind!r} is none of {', '.join(KINDS)}")
    known = {f.name for f in fields(KINDS[kind])}
    wrong = sorted(set(data) - known - {"kind"})
    if wrong:
        raise FormatError(f"{where}: {kind} has no {wrong[0]!r}")
    values = {k: _value(k, v, f"{where}.{k}") for k, v in data.items() if k != "kind"}
    try:
        return KINDS[kind](**values)
    except TypeError as e:
        raise FormatError(f"{where}: {kind} needs all of {', '.join(sorted(known))}") from e


def _value(name: str, value: object, where: str) -> Any:  # noqa: ANN401 - a field of any type
    if name in ("inner", "order"):
        return _read(value, where)
    if name == "model":
        return _model(value, where)
    if name in ("pairs", "deal", "partial") and not isinstance(value, str):
        raise FormatError(f"{where}: a string, not {value!r}")
    return value


def _model(value: object, where: str) -> FusedDot:
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        return atom_named(*value)
    names = {f.name for f in fields(FusedDot)}
    if not isinstance(value, Mapping) or not set(value) <= names:
        raise FormatError(f"{where}: the key of a tensor-core model or its fields, not {value!r}")
    for name, part in value.items():
        _check_part(name, part, f"{where}.{name}")
    groups = tuple(tuple(g) for g in value.get("groups", ()))
    try:
        return FusedDot(**{**value, "groups": groups})
    except TypeError as e:
        raise FormatError(f"{where}: a model needs {', '.join(sorted(names))}") from e


def _check_part(name: str, part: object, where: str) -> None:
    """A part of a model is of its kind: no number is rounded to an integer, and true is none."""
    if name == "groups":
        rows = part if isinstance(part, (list, tuple)) else [part]
        for row in rows:
            if not isinstance(row, (list, tuple)) or any(type(n) is not int for n in row):
                raise FormatError(f"{where}: lists of integers, as [[0, 1], [2, 3]], not {row!r}")
    elif name in ("joined", "truncated"):
        if type(part) is not bool:
            raise FormatError(f"{where}: true or false, not {part!r}")
    elif name in ("k", "fraction", "floor"):
        if type(part) is not int and not (name == "fraction" and part is None):
            raise FormatError(f"{where}: an integer, as 16, not {part!r}")
    elif not isinstance(part, str):
        raise FormatError(f"{where}: a string, not {part!r}")
