"""How often a thread goes round loops: drivers exist that stop counting and go on.

Defines `iterations` and `check_iterations`. Relies on bounds that scalars decide; a loop whose
bounds depend on data or on the thread counts with what can be known, once. Mesa's llvmpipe and
lavapipe leave every loop of an invocation after 65,535 rounds in all, without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tang.errors import LimitError
from tang.kernel.ir import Const, Convert, Expr, For, If, Kernel, Let, Op, Stmt, Var

MESA: Final = 65_535
"""Rounds after which Mesa's software drivers leave loops."""


def check_iterations(kernel: Kernel, scalars: Sequence[int], device: str) -> None:
    """Raise LimitError for a launch that goes round more often than Mesa's drivers do."""
    count = iterations(kernel, scalars)
    if count > MESA:
        raise LimitError(
            f"kernel {kernel.name!r} of node {kernel.origin!r}: a thread goes {count} times round "
            f"loops, and {device} stops after {MESA}: split the reduction in its schedule"
        )


def iterations(kernel: Kernel, scalars: Sequence[int]) -> int:
    """Rounds of all loops of a thread under given scalars, as far as scalars decide."""
    names = (s.name for s in kernel.scalars)
    return _rounds(kernel.body, dict(zip(names, scalars, strict=True)))


def _rounds(body: Iterable[Stmt], known: Mapping[str, int]) -> int:
    values, total = dict(known), 0
    for s in body:
        match s:
            case Let():
                value = _value(s.value, values)
                if value is not None:
                    values[s.var.name] = value
            case For():
                lo, hi = _value(s.lo, values), _value(s.hi, values)
                trips = 1 if lo is None or hi is None else max(hi - lo, 0)
                total += trips * (1 + _rounds(s.body, values))
            case If():
                total += max(_rounds(s.then, values), _rounds(s.otherwise, values))
            case _:
                continue
    return total


def _value(e: Expr, known: Mapping[str, int]) -> int | None:
    """The value of an index that scalars decide."""
    match e:
        case Const() if isinstance(e.value, int):
            return int(e.value)
        case Var():
            return known.get(e.name)
        case Convert():
            return _value(e.value, known)
        case Op() if e.op in _ARITHMETIC and len(e.args) == 2:
            a, b = (_value(x, known) for x in e.args)
            return None if a is None or b is None else _computed(e.op, a, b)
        case _:
            return None


_ARITHMETIC: Final = ("add", "sub", "mul", "floordiv", "min", "max")


def _computed(op: str, a: int, b: int) -> int | None:
    if op == "floordiv":
        return a // b if b > 0 else None
    return {"add": a + b, "sub": a - b, "mul": a * b, "min": min(a, b), "max": max(a, b)}[op]
