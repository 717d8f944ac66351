"""User monoids: reductions written as Python functions over symbolic states.

Defines `monoid`, which calls lift, combine and project once with symbols. Relies on the IR's
monoid grammar and on `tang.ir.laws`, which tests associativity and identity before the monoid is
accepted. States with static axes are built with `tang.ir.Monoid` directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from tang.frontend.describe import name_of_leaf
from tang.frontend.site import failure
from tang.frontend.values import Operand, Value, want
from tang.ir import expr
from tang.ir.expr import Expr, Sort
from tang.ir.laws import check_laws
from tang.ir.monoid import Component, Monoid

Parts = Operand | Mapping[str, Operand]
State = Any
"""A namespace with one value per component."""


def monoid(
    name: str,
    state: Mapping[str, str],
    lift: Callable[..., Parts],
    combine: Callable[[State, State], Parts],
    project: Callable[[State], Parts] | None = None,
    *,
    identity: Parts | None = None,
    inputs: Sequence[str] = ("real",),
    outputs: Mapping[str, str] | None = None,
    commutative: bool = False,
    strict: bool = True,
    check: bool = True,
) -> Monoid:
    """A reduction by user functions, refused when it breaks a law on reachable states.

    state     component names and sorts; the functions get states as namespaces (`left.acc`)
    lift      from one element's inputs to a state; combine, from two states to one
    project   from a state to the outputs; by default the single component as output `value`
    identity  constants per component, or None for a semigroup
    strict    whether the laws hold with NaN and infinities too (a·0 is NaN for a = inf, so affine
              maps need strict=False)
    Functions return a state or a mapping by component name, or the bare value when there is one
    component. Without `outputs` a projected value is the output `value`, of its own sort.
    """
    components = _named(name, "state", state)
    if isinstance(inputs, str):
        raise failure(f"monoid {name!r}: inputs is a tuple of sorts, ({inputs!r},)")
    sorts = tuple(_sort(name, "inputs", s) for s in inputs)
    elements = [Value(expr.arg(i, s)) for i, s in enumerate(sorts)]
    left, right = (_state(components, side) for side in (0, 1))
    projected = left if project is None else project(left)
    shown = _outputs(name, components, outputs, None if project is None else projected)
    found = Monoid(
        name,
        sorts,
        components,
        _parts(name, "lift", lift(*elements), components),
        None if identity is None else _parts(name, "identity", identity, components),
        _parts(name, "combine", combine(left, right), components),
        shown,
        _projected(name, projected, components, shown),
        commutative,
        strict=strict,
    )
    if check:
        check_laws(found)
    return found


class _State(SimpleNamespace):
    """One value per component; an unknown name is an error that lists the known ones."""

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        raise failure(f"the state has no component {name!r}: one of {', '.join(vars(self))}")


def _state(components: tuple[Component, ...], side: int) -> _State:
    values = {c.name: Value(expr.state(side, i, c.sort)) for i, c in enumerate(components)}
    return _State(**values)


def _named(name: str, what: str, sorts: object) -> tuple[Component, ...]:
    if not isinstance(sorts, Mapping) or not sorts:
        raise failure(f"monoid {name!r}: {what} maps one name or more to sorts, not {sorts!r}")
    return tuple(Component(n, _sort(name, what, s)) for n, s in sorts.items())


def _sort(name: str, what: str, sort: object) -> Sort:
    if not isinstance(sort, Sort) and sort not in [s.value for s in Sort]:
        raise failure(f"monoid {name!r}: {what}: a sort is real, index or bool, not {sort!r}")
    return Sort(sort)


def _outputs(
    name: str,
    components: tuple[Component, ...],
    outputs: Mapping[str, str] | None,
    projected: object,
) -> tuple[Component, ...]:
    if outputs is not None:
        return _named(name, "outputs", outputs)
    if projected is None and len(components) != 1:
        raise failure(f"monoid {name!r} has {len(components)} components: give it a project")
    sort = projected.sort if isinstance(projected, Value) else components[0].sort
    return (Component("value", sort),)


def _projected(
    name: str,
    projected: object,
    components: tuple[Component, ...],
    outputs: tuple[Component, ...],
) -> tuple[Expr, ...]:
    if isinstance(projected, _State) and len(components) == 1:
        projected = getattr(projected, components[0].name)
    return _parts(name, "project", projected, outputs)


def _parts(
    name: str, part: str, result: object, targets: tuple[Component, ...]
) -> tuple[Expr, ...]:
    """One expression per target, from a mapping or from the bare value of a single target."""
    if isinstance(result, _State):
        result = vars(result)
    if not isinstance(result, Mapping):
        if len(targets) != 1:
            names = ", ".join(t.name for t in targets)
            raise failure(f"monoid {name!r}: {part} returns a mapping with {names}")
        result = {targets[0].name: result}
    parts: dict[str, Any] = dict(result)
    if set(parts) != {t.name for t in targets}:
        names = ", ".join(t.name for t in targets)
        raise failure(f"monoid {name!r}: {part} gives {', '.join(parts)}, not {names}")
    found = [want(parts[t.name], t.sort, f"{name}.{t.name}") for t in targets]
    for leaf in (leaf for v in found for leaf in v.leaves.values()):
        raise failure(
            f"monoid {name!r}: {part} uses {name_of_leaf(leaf)}, but sees its own arguments only: "
            "make it an input of the monoid"
        )
    return tuple(v.expr for v in found)
