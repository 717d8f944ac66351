"""Scalar expressions: the body of every comprehension.

Defines `Expr`, immutable and hash-consed (equal expressions are one object, so `is` decides
equality), the operation table `OPS` with the sorts of each operation, and checked constructors.
Constants are keyed by sort and bits: −0.0 ≠ 0.0 and 1 ≠ True. It does not evaluate anything.
"""

from __future__ import annotations

import enum
import math
import weakref
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Final

from tang.errors import GraphError


class Sort(enum.Enum):
    """What a value is; index and bool arithmetic is exact and never passes through floats."""

    REAL = "real"
    INDEX = "index"
    BOOL = "bool"


REAL, INDEX, BOOL = Sort.REAL, Sort.INDEX, Sort.BOOL

NAMED: Final = ("inf", "-inf", "nan", "-0.0", "ln2", "log2e", "pi")
"""Real constants that are no rational, or whose bits a rational cannot carry."""

Payload = Fraction | int | bool | str | tuple[int, int] | tuple[str, int] | None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Expr:
    """One operation; build it with the constructors below, never directly.

    Grammar (op: payload; args):
      real: Fraction | NAMED        index: int                bool: bool
      arg: i (position; sort fixed) iota: dim name            extent: dim name
      state: (side, component); static-axis coordinates       fold: (axis, extent); body
      every row of OPS: None; operands
    """

    op: str
    sort: Sort
    payload: Payload
    args: tuple[Expr, ...]
    names: frozenset[str] = field(repr=False)
    """Dims and static axes on which the value depends syntactically (folded ones are bound)."""
    below: tuple[Expr, ...] | None = field(default=None, repr=False)
    """What `walk` has found below a small expression; None before the first walk."""

    def __reduce__(self) -> tuple[object, ...]:
        return _intern, (self.op, self.sort, self.payload, self.args)


@dataclass(frozen=True, slots=True)
class Signature:
    """Operand sorts and result sort of one overload of an operation."""

    operands: tuple[Sort, ...]
    result: Sort


def _real(n: int) -> tuple[Signature, ...]:
    return (Signature((REAL,) * n, REAL),)


def _arith(n: int) -> tuple[Signature, ...]:
    return tuple(Signature((s,) * n, s) for s in (REAL, INDEX))


OPS: Final[dict[str, tuple[Signature, ...]]] = {
    "add": _arith(2),
    "mul": _arith(2),
    "neg": _arith(1),
    "recip": _real(1),
    "sqrt": _real(1),
    "sin": _real(1),
    "atan2": _real(2),
    "exp2": _real(1),
    "log2": _real(1),
    "erf": _real(1),
    "floor": _real(1),
    "lt": tuple(Signature((s, s), BOOL) for s in (REAL, INDEX)),
    "eq": tuple(Signature((s, s), BOOL) for s in (REAL, INDEX, BOOL)),
    "isnan": (Signature((REAL,), BOOL),),
    "and": (Signature((BOOL, BOOL), BOOL),),
    "or": (Signature((BOOL, BOOL), BOOL),),
    "not": (Signature((BOOL,), BOOL),),
    "select": tuple(Signature((BOOL, s, s), s) for s in (REAL, INDEX, BOOL)),
    "to_real": (Signature((INDEX,), REAL),),
    "to_index": (Signature((REAL,), INDEX),),
    "floordiv": (Signature((INDEX, INDEX), INDEX),),
    "mod": (Signature((INDEX, INDEX), INDEX),),
}
"""Every operation with its overloads.

`to_index` floors; it saturates at −2³¹ and 2³¹−1, and NaN gives −1. `floordiv` and `mod` round
towards −∞ and take a positive constant or an extent as divisor. `select` evaluates one branch.
"""

_FEW: Final = 64
"""So many subexpressions are remembered with an expression."""

LEAVES: Final = frozenset({"real", "index", "bool", "arg", "iota", "extent"})

_Key = tuple[str, Sort, object, tuple[int, ...]]
_INTERNED: weakref.WeakValueDictionary[_Key, Expr] = weakref.WeakValueDictionary()


def _intern(op: str, sort: Sort, payload: Payload, args: tuple[Expr, ...] = ()) -> Expr:
    key = (op, sort, (type(payload), payload), tuple(id(a) for a in args))
    found = _INTERNED.get(key)
    if found is None:
        found = Expr(op, sort, payload, args, _names(op, payload, args))
        _INTERNED[key] = found
    return found


def _names(op: str, payload: Payload, args: tuple[Expr, ...]) -> frozenset[str]:
    if op == "iota" and isinstance(payload, str):
        return frozenset((payload,))
    below = frozenset[str]().union(*(a.names for a in args))
    if op == "fold" and isinstance(payload, tuple):
        return below - {str(payload[0])}
    return below


def real(value: float | Fraction) -> Expr:
    """An exact real constant; floats keep their exact value, −0.0, ±inf and NaN their bits."""
    if isinstance(value, bool):
        raise GraphError(f"{value!r} is a bool, not a real constant: write 1.0 or 0.0")
    if isinstance(value, float) and (not math.isfinite(value) or _is_negative_zero(value)):
        return named(_special_name(value))
    return _intern("real", REAL, Fraction(value))


def named(name: str) -> Expr:
    """A named real constant, one of NAMED."""
    if name not in NAMED:
        raise GraphError(f"unknown constant {name!r}: one of {', '.join(NAMED)}")
    return _intern("real", REAL, name)


def index(value: int) -> Expr:
    """An exact index constant."""
    if isinstance(value, bool):
        raise GraphError(f"{value!r} is a bool, not an index constant")
    return _intern("index", INDEX, int(value))


def boolean(value: bool) -> Expr:
    """A bool constant."""
    return _intern("bool", BOOL, bool(value))


def arg(position: int, sort: Sort = REAL) -> Expr:
    """The value of read `position` in a body, or of input `position` in a lift."""
    return _intern("arg", sort, position)


def iota(dim: str) -> Expr:
    """The coordinate along a dim or a static axis."""
    return _intern("iota", INDEX, dim)


def extent(dim: str) -> Expr:
    """The size of a dim."""
    return _intern("extent", INDEX, dim)


def state(side: int, component: int, sort: Sort = REAL, coords: tuple[Expr, ...] = ()) -> Expr:
    """A state component of the left (0) or right (1) operand of combine; project reads side 0."""
    if any(c.sort is not INDEX for c in coords):
        raise GraphError("coordinates of a state component are indices")
    return _intern("state", sort, (side, component), coords)


def fold(axis: str, size: int, body: Expr) -> Expr:
    """Σ of body over a static axis, in increasing order, starting from zero."""
    if body.sort is BOOL:
        raise GraphError("a fold sums reals or indices: turn the bool into one with select")
    return _intern("fold", body.sort, (axis, size), (body,))


def apply(op: str, *args: Expr) -> Expr:
    """An operation of OPS; raises GraphError when no overload takes these sorts."""
    overloads = OPS.get(op)
    if overloads is None:
        raise GraphError(f"unknown operation {op!r}: one of {', '.join(OPS)}")
    sorts = tuple(a.sort for a in args)
    for signature in overloads:
        if signature.operands == sorts:
            _check_divisor(op, args)
            return _intern(op, signature.result, None, args)
    came = ", ".join(s.value for s in sorts)
    want = " or ".join("(" + ", ".join(s.value for s in o.operands) + ")" for o in overloads)
    raise GraphError(f"{op} takes {want}, not ({came}): cast explicitly")


def is_constant(e: Expr) -> bool:
    """Whether the expression is a literal."""
    return e.op in ("real", "index", "bool")


def walk(*roots: Expr) -> Iterator[Expr]:
    """Every distinct subexpression, operands before operations; iterative, so depth is free."""
    if len(roots) == 1:
        return chain(_below(roots[0]), roots)
    return iter(dict.fromkeys(chain.from_iterable((*_below(r), r) for r in roots)))


def _below(root: Expr) -> tuple[Expr, ...]:
    """The distinct subexpressions without the root itself, remembered while they are few."""
    if root.below is not None:
        return root.below
    found = tuple(_postorder(root))[:-1]
    if len(found) <= _FEW:
        object.__setattr__(root, "below", found)
    return found


def _postorder(root: Expr) -> Iterator[Expr]:
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        e, ready = stack.pop()
        if ready:
            yield e
        elif id(e) not in seen:
            seen.add(id(e))
            stack.append((e, True))
            stack.extend((a, False) for a in reversed(e.args))


def walk_unknown(root: Expr, known: Container[Expr]) -> Iterator[Expr]:
    """The subexpressions that are not known, operands before operations.

    Whoever asks for the next one has made the last one known; below a known one nothing is looked
    at, so that asking for every subexpression in turn is linear in all.
    """
    stack = [root]
    while stack:
        e = stack[-1]
        if e in known:
            stack.pop()
            continue
        missing = [a for a in e.args if a not in known]
        if not missing:
            yield e
        stack.extend(reversed(missing))


def rebuild(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """The same operation over other operands of the same sorts."""
    return e if args == e.args else _intern(e.op, e.sort, e.payload, args)


def substitute(root: Expr, replacement: dict[Expr, Expr]) -> Expr:
    """Replace subexpressions everywhere at once (not recursively into replacements)."""
    done: dict[int, Expr] = {}
    for e in walk(root):
        new = replacement.get(e)
        done[id(e)] = new if new is not None else rebuild(e, tuple(done[id(a)] for a in e.args))
    return done[id(root)]


def _check_divisor(op: str, args: tuple[Expr, ...]) -> None:
    if op not in ("floordiv", "mod"):
        return
    d = args[1]
    if d.op != "extent" and not (d.op == "index" and isinstance(d.payload, int) and d.payload > 0):
        raise GraphError(f"{op} divides by a positive constant or an extent, not by {d.op}")


def _is_negative_zero(x: float) -> bool:
    return x == 0 and math.copysign(1.0, x) < 0


def _special_name(x: float) -> str:
    if math.isnan(x):
        return "nan"
    return "-0.0" if x == 0 else ("inf" if x > 0 else "-inf")
