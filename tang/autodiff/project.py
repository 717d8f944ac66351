"""Projections: cotangents of outputs become cotangents of state components.

Defines `pull_outputs`, which treats the projection as a map over the state, and `as_reads`, which
turns the state of an expression into reads. Relies on frames; sums over static axes are written
out, since a body has none. It knows no monoid.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from tang.autodiff.algebra import ZERO
from tang.autodiff.element import identity_view
from tang.autodiff.frame import Frame, Pull, distribute
from tang.errors import GraphError
from tang.ir.derived import zero
from tang.ir.expr import (
    INDEX,
    REAL,
    Expr,
    apply,
    arg,
    boolean,
    index,
    iota,
    rebuild,
    substitute,
    walk,
)
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Monoid
from tang.ir.view import Affine, Read, Ref, View, constant, variable

Source = Callable[[int, int], tuple[Ref, View]]
"""Where a state component of a side is read: the tensor, and the view at the present dims."""


def pull_outputs(frame: Frame, monoid: Monoid, done: Collection[str]) -> None:
    """Send the cotangents of outputs, those in `done` aside, on to the components."""
    node, tape = frame.node, frame.tape
    for output, project in zip(monoid.outputs, monoid.project, strict=True):
        ref = Ref(node.name, output.name)
        if output.name in done or output.sort is not REAL or ref not in tape.terms:
            continue
        axes = tuple(Dim(a, poly(monoid.axis_size(a))) for a in output.axes)
        reads: list[Read] = []
        body = as_reads(project, monoid, lambda _, c: _component(node, monoid, c), reads)
        point = (*node.point, *axes)
        virtual = Comprehension(node.name, point, tuple(reads), (body,), outputs=(output.name,))
        inner = Frame(tape, virtual)
        cotangent = inner.cotangent(output.name)
        active = {r.source for r in reads}
        if cotangent is not ZERO:
            distribute(inner, [Pull(point, {0: cotangent})], active)


def _component(node: Comprehension, monoid: Monoid, c: int) -> tuple[Ref, View]:
    dims = node.component_dims()[c]
    return Ref(node.name, monoid.components[c].name), identity_view(dims)


def as_reads(root: Expr, monoid: Monoid, source: Source, reads: list[Read]) -> Expr:
    """The expression with every state entry an argument; appends to `reads`.

    A coordinate that is no affine form of static axes is looked up entry by entry.
    """
    flat = written_out(root)
    done: dict[Expr, Expr] = {}
    for e in walk(flat):
        args = tuple(done[a] for a in e.args)
        done[e] = _entry(e, args, monoid, source, reads) if e.op == "state" else rebuild(e, args)
    return done[flat]


def _entry(
    e: Expr, coords: tuple[Expr, ...], monoid: Monoid, source: Source, reads: list[Read]
) -> Expr:
    side, c = e.payload if isinstance(e.payload, tuple) else (0, 0)
    ref, view = source(int(side), int(c))
    forms = [affine(x) for x in coords]
    known = [f for f in forms if f is not None]
    if len(known) == len(forms):
        reads.append(Read(ref, replace(view, coords=(*view.coords, *known))))
        return arg(len(reads) - 1, e.sort)
    which = next(n for n, f in enumerate(forms) if f is None)
    axis = monoid.components[int(c)].axes[which]
    chosen: Expr = zero(e.sort)
    for k in range(monoid.axis_size(axis)):
        at = (*coords[:which], index(k), *coords[which + 1 :])
        entry = _entry(rebuild(e, at), at, monoid, source, reads)
        chosen = apply("select", apply("eq", coords[which], index(k)), entry, chosen)
    return chosen


def written_out(root: Expr) -> Expr:
    """The expression with every sum over a static axis written out."""
    done: dict[Expr, Expr] = {}
    for e in walk(root):
        args = tuple(done[a] for a in e.args)
        if e.op == "fold" and isinstance(e.payload, tuple):
            done[e] = _unrolled(str(e.payload[0]), int(e.payload[1]), args[0])
        else:
            done[e] = rebuild(e, args)
    return done[root]


def _unrolled(axis: str, size: int, body: Expr) -> Expr:
    total: Expr | None = None
    for k in range(size):
        term = folded(substitute(body, {iota(axis): index(k)}))
        total = term if total is None else apply("add", total, term)
    if total is None:
        raise GraphError(f"a sum over the static axis {axis!r} of size 0 has no gradient")
    return total


def folded(root: Expr) -> Expr:
    """The expression with comparisons of known indices decided."""
    done: dict[Expr, Expr] = {}
    for e in walk(root):
        done[e] = _decided(rebuild(e, tuple(done[a] for a in e.args)))
    return done[root]


def _decided(e: Expr) -> Expr:
    known = [a.payload for a in e.args if a.op == "index" and isinstance(a.payload, int)]
    if e.op in ("eq", "lt") and len(known) == 2 and e.args[0].sort is INDEX:
        return boolean(known[0] == known[1] if e.op == "eq" else known[0] < known[1])
    if e.op == "select" and e.args[0].op == "bool":
        return e.args[1] if e.args[0].payload else e.args[2]
    return e


def affine(e: Expr) -> Affine | None:
    """An index expression as a form over static axes; None when it is not affine."""
    match e.op, e.payload:
        case "index", int(n):
            return constant(n)
        case "iota", str(axis):
            return variable(axis)
        case "neg", None:
            inner = affine(e.args[0])
            return None if inner is None else -inner
        case "add", None:
            a, b = (affine(x) for x in e.args)
            return None if a is None or b is None else a + b
        case "mul", None:
            a, b = (affine(x) for x in e.args)
            if a is None or b is None or (a.terms and b.terms):
                return None
            return a.scale(b.const) if not b.terms else b.scale(a.const)
        case _:
            return None
