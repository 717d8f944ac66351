"""User monoids: reductions written as Python functions over symbolic states.

Defines `monoid`, which calls lift, combine and project once with symbols. Relies on the IR's
monoid grammar and on `tang.ir.laws`, which tests associativity and identity before the monoid is
accepted. States with static axes are built with `tang.ir.Monoid` directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

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
    Functions return a mapping by component name, or the bare value when there is one component.
    """
    components = tuple(Component(n, Sort(s)) for n, s in state.items())
    sorts = tuple(Sort(s) for s in inputs)
    elements = [Value(expr.arg(i, s)) for i, s in enumerate(sorts)]
    left, right = (_state(components, side) for side in (0, 1))
    shown = _outputs(name, components, outputs, project)
    projected = left if project is None else project(left)
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


def _state(components: tuple[Component, ...], side: int) -> SimpleNamespace:
    values = {c.name: Value(expr.state(side, i, c.sort)) for i, c in enumerate(components)}
    return SimpleNamespace(**values)


def _outputs(
    name: str,
    components: tuple[Component, ...],
    outputs: Mapping[str, str] | None,
    project: Callable[[State], Parts] | None,
) -> tuple[Component, ...]:
    if outputs is not None:
        return tuple(Component(n, Sort(s)) for n, s in outputs.items())
    if project is None and len(components) != 1:
        raise failure(f"monoid {name!r} has {len(components)} components: give it a project")
    return (Component("value", components[0].sort),)


def _projected(
    name: str,
    projected: object,
    components: tuple[Component, ...],
    outputs: tuple[Component, ...],
) -> tuple[Expr, ...]:
    if isinstance(projected, SimpleNamespace):
        projected = getattr(projected, components[0].name)
    return _parts(name, "project", projected, outputs)


def _parts(
    name: str, part: str, result: object, targets: tuple[Component, ...]
) -> tuple[Expr, ...]:
    """One expression per target, from a mapping or from the bare value of a single target."""
    if not isinstance(result, Mapping):
        if len(targets) != 1:
            names = ", ".join(t.name for t in targets)
            raise failure(f"monoid {name!r}: {part} returns a mapping with {names}")
        result = {targets[0].name: result}
    parts: dict[str, Any] = dict(result)
    if set(parts) != {t.name for t in targets}:
        names = ", ".join(t.name for t in targets)
        raise failure(f"monoid {name!r}: {part} gives {', '.join(parts)}, not {names}")
    return tuple(want(parts[t.name], t.sort, f"{name}.{t.name}").expr for t in targets)
