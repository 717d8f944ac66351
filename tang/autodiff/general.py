"""The rule of any monoid: prefix and suffix states.

Defines `pull_any`: with L the fold of the elements before one and R that of those after, the total
is combine(combine(L, lift(x)), R), which is differentiated in x. Relies on two more folds of the
same monoid per element, so n elements cost about n² combines until a schedule knows scans; it
needs neither commutativity, division nor an identity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce as fold_left

from tang.autodiff.algebra import ONE, ZERO, both, choose
from tang.autodiff.element import compact_all, identity_view, renamed_read
from tang.autodiff.factors import Factor
from tang.autodiff.frame import Frame, Pull
from tang.autodiff.project import affine, folded, written_out
from tang.autodiff.shared import domain
from tang.errors import GraphError
from tang.ir.derived import absent
from tang.ir.expr import (
    BOOL,
    REAL,
    Expr,
    apply,
    arg,
    boolean,
    extent,
    index,
    iota,
    rebuild,
    state,
    substitute,
    walk,
)
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Component, Monoid
from tang.ir.view import Affine, Ref, View, constant, variable

LEFT, RIGHT, INPUT = 0, 1, 2
Entries = Callable[[int, tuple[Expr, ...]], Expr]
"""A state as a function: the entry of a component at coordinates."""


def pull_any(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """The cotangent of every real input at every element, component by component."""
    part = restricted(monoid, factor)
    dims = domain(frame, factor.components)
    scans = [_scan(frame, part, factor, dims, is_after) for is_after in (False, True)]
    rule = _AnyRule(frame, part, factor, scans)
    pulls = []
    for c, position in enumerate(factor.components):
        if monoid.components[position].sort is REAL:
            pulls += rule.pulls_of(c)
    return pulls


def restricted(monoid: Monoid, factor: Factor) -> Monoid:
    """The factor as a monoid of its own whose outputs are its state and whether it is anything."""
    new = {c: n for n, c in enumerate(factor.components)}
    inputs = {k: n for n, k in enumerate(factor.inputs)}
    components = tuple(monoid.components[c] for c in factor.components)
    lift = tuple(_renumbered(monoid.lift[c], new, inputs) for c in factor.components)
    combine = tuple(_renumbered(monoid.combine[c], new, inputs) for c in factor.components)
    known = monoid.identity
    identity = None if known is None else tuple(known[c] for c in factor.components)
    if identity is None:
        seen = len(components)
        identity = (*(absent(c.sort) for c in components), boolean(False))
        here = [state(side, seen, BOOL) for side in (0, 1)]
        combine = (
            *(_optional(c, e, n, here) for n, (c, e) in enumerate(zip(components, combine,
                                                                       strict=True))),
            apply("or", here[0], here[1]),
        )  # fmt: skip
        lift = (*lift, boolean(True))
        components = (*components, Component(_unused("seen", components), BOOL))
    return Monoid(
        f"{monoid.name}_state", tuple(monoid.inputs[k] for k in factor.inputs), components, lift,
        identity, combine, tuple(Component(f"at_{c.name}", c.sort, c.axes) for c in components),
        tuple(_whole(n, c, 0) for n, c in enumerate(components)), monoid.commutative,
        monoid.axes, monoid.strict,
    )  # fmt: skip


def _unused(name: str, components: Sequence[Component]) -> str:
    names = {c.name for c in components}
    while name in names:
        name += "_"
    return name


def _whole(n: int, c: Component, side: int) -> Expr:
    return state(side, n, c.sort, tuple(iota(a) for a in c.axes))


def _optional(c: Component, joined: Expr, n: int, seen: list[Expr]) -> Expr:
    """The component of two states of which either may be nothing."""
    right = apply("select", seen[1], joined, _whole(n, c, 0))
    return apply("select", seen[0], right, _whole(n, c, 1))


def _renumbered(root: Expr, components: dict[int, int], inputs: dict[int, int]) -> Expr:
    done: dict[Expr, Expr] = {}
    for e in walk(root):
        args = tuple(done[a] for a in e.args)
        if e.op == "arg" and isinstance(e.payload, int):
            done[e] = arg(inputs[e.payload], e.sort)
        elif e.op == "state" and isinstance(e.payload, tuple):
            done[e] = state(int(e.payload[0]), components[int(e.payload[1])], e.sort, args)
        else:
            done[e] = rebuild(e, args)
    return done[root]


def _scan(
    frame: Frame, part: Monoid, factor: Factor, dims: tuple[Dim, ...], is_after: bool
) -> Comprehension:
    """The node that folds, for every element, the elements before or after it."""
    node = frame.node
    taken = {d.name for d in frame.dims}
    others = {d.name: _other(d.name, taken) for d in node.reduce}
    forms = {old: variable(new) for old, new in others.items()}
    swaps = {iota(o): iota(n) for o, n in others.items()}
    swaps |= {extent(o): extent(n) for o, n in others.items()}
    inside = [frame.within(node.body[k], dims) for k in factor.inputs]
    bodies = [substitute(e, swaps) for e in inside]
    reads, bodies = compact_all([renamed_read(r, forms) for r in frame.reads], bodies)
    place = _place(node.reduce)
    gap = place.substitute(forms) - place if is_after else place - place.substitute(forms)
    where = (*(w.substitute(forms) for w in node.where), gap - 1)
    reduce = tuple(Dim(others[d.name], d.extent) for d in node.reduce)
    word = "after" if is_after else "before"
    name = frame.tape.fresh(f"{node.name}_{word}")
    return frame.tape.append(Comprehension(name, dims, reads, tuple(bodies), reduce, where, part))


def _other(name: str, taken: set[str]) -> str:
    found = f"{name}_other"
    while found in taken:
        found += "_"
    taken.add(found)
    return found


def _place(reduce: Sequence[Dim]) -> Affine:
    """The number of a reduce point in lexicographic order, as a form."""
    total = constant(0)
    for d in reduce:
        total = total.scale(d.extent) + variable(d.name)
    return total


@dataclass(slots=True)
class _AnyRule:
    """combine(combine(L, lift(x)), R) and its derivatives, entry by entry."""

    frame: Frame
    part: Monoid
    factor: Factor
    scans: list[Comprehension]
    reads: dict[Expr, Expr] = field(default_factory=dict)
    bodies: dict[int, Expr] = field(default_factory=dict)

    def pulls_of(self, c: int) -> list[Pull]:
        """What the cotangent of component c sends to every real input."""
        component = self.part.components[c]
        ref = Ref(self.frame.node.name, component.name)
        found = self.frame.tape.cotangent(ref)
        if found is None:
            return []
        own = {a: f"{a}_of_{component.name}" for a in component.axes}
        coords = tuple(iota(n) for n in own.values())
        cotangent = found.constant
        if found.ref is not None:
            names = [d.name for d in self.frame.node.tensor(component.name).dims]
            view = identity_view([*names, *own.values()])
            cotangent = self.frame.read(found.ref, view, REAL, found.masked)
        total = self.total(c, coords)
        summed = tuple(Dim(n, poly(self.part.axis_size(a))) for a, n in own.items())
        dims = domain(self.frame, (self.factor.components[c],))
        pulls = []
        for k, position in enumerate(self.factor.inputs):
            if self.part.inputs[k] is REAL:
                value = self._slope(total, k)
                value = self.frame.derivative().times(cotangent, value)
                axes = tuple(d for d in self.frame.axes if d.name in self.axes_of(k))
                pulls.append(Pull((*dims, *axes, *summed), {position: value}))
        return pulls

    def axes_of(self, k: int) -> tuple[str, ...]:
        """The static axes along which input k varies."""
        node = self.frame.node
        body = node.body[self.factor.inputs[k]]
        used = [node.reads[int(str(e.payload))].view.dims() for e in walk(body) if e.op == "arg"]
        names = body.names.union(*used)
        return tuple(a.name for a in self.part.axes if a.name in names)

    def total(self, c: int, coords: tuple[Expr, ...]) -> Expr:
        """An entry of combine(combine(L, lift(x)), R)."""
        left, right = self.leaf(LEFT), self.leaf(RIGHT)
        return self.joined(lambda n, at: self.joined(left, self.lifted, n, at), right, c, coords)

    def leaf(self, side: int) -> Entries:
        return lambda c, at: state(side, c, self.part.components[c].sort, at)

    def joined(self, left: Entries, right: Entries, c: int, coords: tuple[Expr, ...]) -> Expr:
        """An entry of combine(left, right)."""
        root = self.at(written_out(self.part.combine[c]), c, coords)
        done: dict[Expr, Expr] = {}
        for e in walk(root):
            args = tuple(done[a] for a in e.args)
            if e.op == "state" and isinstance(e.payload, tuple):
                side, n = e.payload
                done[e] = (right if side else left)(int(n), args)
            else:
                done[e] = rebuild(e, args)
        return folded(done[root])

    def at(self, e: Expr, c: int, coords: tuple[Expr, ...]) -> Expr:
        """An expression over the axes of component c, at coordinates."""
        names = self.part.components[c].axes
        return substitute(e, {iota(a): x for a, x in zip(names, coords, strict=True)})

    def lifted(self, c: int, coords: tuple[Expr, ...]) -> Expr:
        """An entry of lift(x), over entries of the inputs."""
        place = dict(zip(self.part.components[c].axes, coords, strict=True))
        root = written_out(self.part.lift[c])
        entries = {
            e: state(INPUT, int(str(e.payload)), e.sort,
                     tuple(place[a] for a in self.axes_of(int(str(e.payload)))))
            for e in walk(root) if e.op == "arg"
        }  # fmt: skip
        return folded(substitute(self.at(root, c, coords), entries))

    def _slope(self, total: Expr, k: int) -> Expr:
        """∂ total / ∂ input k at the present axes, over reads."""
        axes = self.axes_of(k)

        def seed(e: Expr) -> Expr:
            if not isinstance(e.payload, tuple) or e.payload != (INPUT, k):
                return ZERO
            test = boolean(True)
            for a, x in zip(axes, e.args, strict=True):
                same = x is iota(a)
                test = test if same else both(test, folded(apply("eq", x, iota(a))))
            return choose(test, ONE, ZERO)

        return self._over_reads(self.frame.derivative().of(total, seed))

    def _over_reads(self, root: Expr) -> Expr:
        done: dict[Expr, Expr] = {}
        for e in walk(root):
            args = tuple(done[a] for a in e.args)
            if e.op == "state" and isinstance(e.payload, tuple):
                done[e] = self._entry(rebuild(e, args))
            else:
                done[e] = rebuild(e, args)
        return done[root]

    def _entry(self, e: Expr) -> Expr:
        """A leaf as a read: of the scans, or of what the body reads."""
        if e not in self.reads:
            side, c = e.payload if isinstance(e.payload, tuple) else (0, 0)
            forms = [_affine(x) for x in e.args]
            if side == INPUT:
                self.reads[e] = self._input(int(c), forms)
            else:
                scan, name = self.scans[int(side)], self.part.components[int(c)].name
                dims = identity_view([d.name for d in scan.tensor(name).dims])
                view = View((*dims.coords, *forms))
                self.reads[e] = self.frame.read(Ref(scan.name, name), view, e.sort)
        return self.reads[e]

    def _input(self, k: int, forms: list[Affine]) -> Expr:
        """Input k of the present element at coordinates along its axes."""
        node = self.frame.node
        body = node.body[self.factor.inputs[k]]
        places = dict(zip(self.axes_of(k), forms, strict=True))
        if all(f == variable(a) for a, f in places.items()):
            return body
        moves: dict[Expr, Expr] = {}
        for e in walk(body):
            if e.op == "arg":
                read = renamed_read(node.reads[int(str(e.payload))], places)
                moves[e] = self.frame.read(read.source, read.view, e.sort)
            elif e.op == "iota" and e.payload in places:
                moves[e] = _index_of(places[str(e.payload)])
        return substitute(body, moves)


def _affine(x: Expr) -> Affine:
    found = affine(x)
    if found is None:
        raise GraphError(
            "grad: a combine reads a state at a coordinate that is no affine form of static axes: "
            "write it with sums over the axis and comparisons of coordinates"
        )
    return found


def _index_of(form: Affine) -> Expr:
    terms = [
        iota(v) if c == poly(1) else apply("mul", index(c.constant), iota(v)) for v, c in form.terms
    ]
    if form.const.terms or not terms:
        terms.append(index(form.const.constant))
    return fold_left(lambda a, b: apply("add", a, b), terms)
