"""Factors of a monoid: reductions that run side by side in one loop.

Defines `factors`, which splits a monoid into parts that do not depend on each other, and `joined`,
their product. Relies on `monoids.product` and its prefixes. Whether two nodes may share a loop is
not its question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tang.ir.expr import Expr, walk
from tang.ir.monoid import Axis, Component, Monoid
from tang.ir.monoids import product
from tang.ir.renumber import renumbered
from tang.rewrite.matching import args_of

_PREFIX = re.compile(r"p\d+_(?=[A-Za-z_])")


@dataclass(frozen=True, slots=True)
class Factor:
    """An independent part of a monoid.

    inputs  positions in the monoid of its inputs
    names   its outputs and components → their names in the monoid
    axes    its static axes → their names in the monoid
    """

    monoid: Monoid
    inputs: tuple[int, ...]
    names: dict[str, str]
    axes: dict[str, str]


def factors(m: Monoid) -> list[Factor]:
    """The parts of a monoid that do not depend on each other, in order; itself if it has one."""
    groups = _groups(m)
    if len(groups) < 2:
        names = {c.name: c.name for c in (*m.outputs, *m.components)}
        return [Factor(m, tuple(range(len(m.inputs))), names, {a.name: a.name for a in m.axes})]
    labels = _labels(m.name, len(groups))
    return [_factor(m, g, label) for g, label in zip(groups, labels, strict=True)]


def joined(parts: Sequence[Factor]) -> tuple[Monoid, list[dict[str, str]], list[dict[str, str]]]:
    """The product of factors, and for each the names of results and of axes in it."""
    monoids = [p.monoid for p in parts]
    alone = len(parts) == 1
    whole = monoids[0] if alone else product(*monoids)
    prefixes = ["" if alone else f"p{n}_" for n in range(len(parts))]
    names = [{k: pre + k for k in p.names} for pre, p in zip(prefixes, parts, strict=True)]
    axes = [{k: pre + k for k in p.axes} for pre, p in zip(prefixes, parts, strict=True)]
    return whole, names, axes


def _groups(m: Monoid) -> list[tuple[list[int], list[int]]]:
    """Components and outputs that combine or project together; every output is in one group."""
    leader = list(range(len(m.components)))

    def find(i: int) -> int:
        while leader[i] != i:
            i = leader[i]
        return i

    def union(members: Sequence[int]) -> None:
        for i in members[1:]:
            a, b = sorted((find(members[0]), find(i)))
            leader[b] = a

    projected = [_states(e) for e in m.project]
    for c, e in enumerate(m.combine):
        union([c, *_states(e)])
    for states in projected:
        union(states or [0])
    found: dict[int, tuple[list[int], list[int]]] = {}
    for c in range(len(m.components)):
        found.setdefault(find(c), ([], []))[0].append(c)
    for o, states in enumerate(projected):
        found[find(states[0] if states else 0)][1].append(o)
    return list(found.values()) if all(outputs for _, outputs in found.values()) else []


def _states(e: Expr) -> list[int]:
    pairs = (x.payload for x in walk(e) if x.op == "state" and isinstance(x.payload, tuple))
    return list(dict.fromkeys(int(p[1]) for p in pairs))


def _labels(name: str, count: int) -> list[str]:
    """The names of the parts if the monoid's name is that of a product of so many."""
    found = _flat(name)
    return found if len(found) == count else [f"{name}.{n}" for n in range(count)]


def _flat(name: str) -> list[str]:
    if not (name.startswith("product(") and name.endswith(")")):
        return [name]
    parts, depth = [""], 0
    for c in name[len("product(") : -1]:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [x for p in parts for x in _flat(p.strip())]


def _factor(m: Monoid, group: tuple[list[int], list[int]], label: str) -> Factor:
    components, outputs = group
    inputs = args_of(m.lift[c] for c in components)
    exprs = [*(m.lift[c] for c in components), *(m.combine[c] for c in components),
             *(m.project[o] for o in outputs)]  # fmt: skip
    kept = _axes(m, exprs, [m.components[c] for c in components] + [m.outputs[o] for o in outputs])
    old = [*(m.outputs[o].name for o in outputs), *(m.components[c].name for c in components)]
    names, axes = _short(old), _short([a.name for a in kept])
    move = _Move({i: n for n, i in enumerate(inputs)}, {c: n for n, c in enumerate(components)},
                 axes)  # fmt: skip

    def parts(found: Sequence[Component], indices: Sequence[int]) -> tuple[Component, ...]:
        return tuple(
            replace(found[i], name=names[found[i].name], axes=tuple(axes[a] for a in found[i].axes))
            for i in indices
        )

    monoid = Monoid(
        label,
        inputs=tuple(m.inputs[i] for i in inputs),
        components=parts(m.components, components),
        lift=tuple(move(m.lift[c]) for c in components),
        identity=None if m.identity is None else tuple(move(m.identity[c]) for c in components),
        combine=tuple(move(m.combine[c]) for c in components),
        outputs=parts(m.outputs, outputs),
        project=tuple(move(m.project[o]) for o in outputs),
        commutative=m.commutative,
        axes=tuple(Axis(axes[a.name], a.size) for a in kept),
        strict=m.strict,
    )
    return Factor(
        monoid, tuple(inputs), {n: o for o, n in names.items()}, {n: o for o, n in axes.items()}
    )


def _axes(m: Monoid, exprs: Sequence[Expr], parts: Sequence[Component]) -> list[Axis]:
    used = {a for c in parts for a in c.axes}
    for e in walk(*exprs):
        if e.op == "fold" and isinstance(e.payload, tuple):
            used.add(str(e.payload[0]))
        if e.op == "iota":
            used.add(str(e.payload))
    return [a for a in m.axes if a.name in used]


def _short(names: Sequence[str]) -> dict[str, str]:
    """Names without the prefixes that all of them carry."""
    short = list(names)
    while short and len({_prefix(n) for n in short}) == 1 and _prefix(short[0]):
        short = [n[len(_prefix(n)) :] for n in short]
    return dict(zip(names, short, strict=True))


def _prefix(name: str) -> str:
    found = _PREFIX.match(name)
    return found.group() if found else ""


@dataclass(frozen=True, slots=True)
class _Move:
    """Inputs and components in new places, static axes under new names."""

    inputs: dict[int, int]
    components: dict[int, int]
    axes: dict[str, str]

    def __call__(self, root: Expr) -> Expr:
        places = self.inputs.__getitem__, self.components.__getitem__
        return renumbered(root, *places, lambda axis: self.axes.get(axis, axis))
