"""Monoids: what a reduction does with the values of its body.

Defines `Monoid` (lift, identity or none, combine, project) with its components, static axes and
outputs as data, and checks its grammar. Relies on expressions; the built-in monoids are in
`monoids`, the law check is in `laws`. It does not know any point or reduce dims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tang.errors import GraphError
from tang.ir.expr import INDEX, Expr, Sort, walk


@dataclass(frozen=True, slots=True)
class Axis:
    """A static axis of a state: a name and a size that no binding changes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Component:
    """One tensor of the state, or one output: name, sort, the static axes it has."""

    name: str
    sort: Sort
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Monoid:
    """A reduction.

    state of one element = lift(args);  state = combine(left, right);  outputs = project(state).

    lift      one expression per component over arg(0…), iota/extent of the dims of the node
              excluded, iota(static axis) allowed
    identity  one constant expression per component, or None: a semigroup, whose empty fold has
              outputs NaN (real), −1 (index), False (bool)
    combine   over state(0, c, …) and state(1, c, …)
    project   one expression per output over state(0, c, …)
    A component with axes is read with one coordinate per axis; fold() sums over a static axis.
    `commutative` allows any order; otherwise only contiguous ordered chunks may be split off.
    `strict`: the laws hold with NaN and infinities too, on folds that start from the identity
    (or, in a semigroup, from a lift); otherwise over finite values only.
    """

    name: str
    inputs: tuple[Sort, ...]
    components: tuple[Component, ...]
    lift: tuple[Expr, ...]
    identity: tuple[Expr, ...] | None
    combine: tuple[Expr, ...]
    outputs: tuple[Component, ...]
    project: tuple[Expr, ...]
    commutative: bool
    axes: tuple[Axis, ...] = ()
    strict: bool = True

    def __post_init__(self) -> None:
        check_monoid(self)

    def component(self, name: str) -> int:
        """The position of a component by name."""
        return next(i for i, c in enumerate(self.components) if c.name == name)

    def axis_size(self, name: str) -> int:
        return next(a.size for a in self.axes if a.name == name)


def check_monoid(m: Monoid) -> None:
    """Raise GraphError unless types, sorts, arities, axes and leaves agree with the grammar."""
    _check_types(m)
    names = [c.name for c in (*m.components, *m.outputs)]
    _require(m, len(set(names)) == len(names), f"two components or outputs share a name: {names}")
    _require(m, all(n.isidentifier() for n in names), f"names must be identifiers: {names}")
    _require(m, bool(m.components) and bool(m.outputs), "needs a component and an output")
    _require(m, len({a.name for a in m.axes}) == len(m.axes), "two axes share a name")
    _require(m, all(a.size > 0 for a in m.axes), "a static axis needs a positive size")
    known = {a.name for a in m.axes}
    for c in (*m.components, *m.outputs):
        _require(m, set(c.axes) <= known, f"{c.name} has an unknown axis among {c.axes}")
    _check_part(m, "lift", m.lift, m.components, {"arg"}, ())
    if m.identity is not None:
        _check_part(m, "identity", m.identity, m.components, set(), ())
    _check_part(m, "combine", m.combine, m.components, {"state"}, (0, 1))
    _check_part(m, "project", m.project, m.outputs, {"state"}, (0,))


def _check_types(m: Monoid) -> None:
    """Fields that are no expressions: what is printed, written as JSON and asked by proofs."""
    _require(m, isinstance(m.name, str), f"its name must be a str, not {m.name!r}")
    for flag in ("commutative", "strict"):
        value = getattr(m, flag)
        _require(m, isinstance(value, bool), f"{flag} must be True or False, not {value!r}")
    for a in m.axes:
        whole = isinstance(a.size, int) and not isinstance(a.size, bool)
        _require(m, isinstance(a.name, str), f"the name of an axis must be a str, not {a.name!r}")
        _require(m, whole, f"the size of axis {a.name} must be an int, not {a.size!r}")
    for c in (*m.components, *m.outputs):
        _require(m, isinstance(c.name, str), f"a component's name must be a str, not {c.name!r}")
        _require(m, isinstance(c.sort, Sort), f"the sort of {c.name} must be a Sort")


def _check_part(
    m: Monoid,
    part: str,
    exprs: tuple[Expr, ...],
    targets: tuple[Component, ...],
    leaves: set[str],
    sides: tuple[int, ...],
) -> None:
    count = f"{part} has {len(exprs)} expressions for {len(targets)} components"
    _require(m, len(exprs) == len(targets), count)
    for e, target in zip(exprs, targets, strict=True):
        where = f"{part} of {target.name}"
        _require(m, e.sort is target.sort, f"{where} is {e.sort.value}, not {target.sort.value}")
        free = sorted(e.names - set(target.axes))
        _require(m, not free, f"{where} depends on {free}, which are not its axes")
        _check_leaves(m, where, walk(e), leaves, sides)


def _check_leaves(
    m: Monoid, where: str, exprs: Iterable[Expr], leaves: set[str], sides: tuple[int, ...]
) -> None:
    for e in exprs:
        if e.op in ("arg", "state"):
            _require(m, e.op in leaves, f"{where} may not use {e.op}")
        if e.op == "arg":
            _check_arg(m, where, e)
        elif e.op == "state":
            _check_state(m, where, e, sides)
        elif e.op == "fold" and isinstance(e.payload, tuple):
            axis = Axis(str(e.payload[0]), int(e.payload[1]))
            _require(m, axis in m.axes, f"{where} folds over {axis}, which is not an axis")
        _require(m, e.op != "extent", f"{where} may not use extents of dims: pass them as input")


def _check_arg(m: Monoid, where: str, e: Expr) -> None:
    i = e.payload
    _require(m, isinstance(i, int) and 0 <= i < len(m.inputs), f"{where} uses unknown input {i}")
    sort = m.inputs[i] if isinstance(i, int) else INDEX
    _require(m, e.sort is sort, f"{where} takes input {i} as {e.sort.value}, it is {sort.value}")


def _check_state(m: Monoid, where: str, e: Expr, sides: tuple[int, ...]) -> None:
    side, i = e.payload if isinstance(e.payload, tuple) else (-1, -1)
    _require(m, side in sides, f"{where} may not read side {side}")
    ok = isinstance(i, int) and 0 <= i < len(m.components)
    _require(m, ok, f"{where} reads unknown component {i}")
    c = m.components[int(i)]
    _require(m, e.sort is c.sort, f"{where} takes {c.name} as {e.sort.value}")
    _require(m, len(e.args) == len(c.axes), f"{where} gives {len(e.args)} coordinates to {c.name}")


def _require(m: Monoid, condition: bool, message: str) -> None:
    if not condition:
        raise GraphError(f"monoid {m.name!r}: {message}")
