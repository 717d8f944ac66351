"""The rule of the affine scan h ← a·h + b.

Defines `pull_affine_scan`. In scan form (`where s ≤ t`, forwards or backwards) the gradient is one
more affine scan in the other direction, λ_s = g_s + a_{s+1}·λ_{s+1}, with db = λ and da_s =
λ_s·h_{s−1} (Griewank & Walther 2008, §3.2, on recurrences). Any other affine scan goes through
prefix and suffix states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tang.autodiff.algebra import ONE, choose
from tang.autodiff.element import compact_all, renamed_read
from tang.autodiff.factors import Factor
from tang.autodiff.frame import Frame, Pull
from tang.autodiff.general import pull_any
from tang.autodiff.shared import domain
from tang.ir.derived import zero
from tang.ir.expr import REAL, Expr, Sort, apply, arg, extent, index, iota, real, substitute, walk
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim
from tang.ir.monoid import Monoid
from tang.ir.monoids import AFFINE_SCAN
from tang.ir.view import Affine, Interval, Read, Ref, View, constant, variable


@dataclass(frozen=True, slots=True)
class ScanForm:
    """`where step ≤ τ(time)`: τ(time) is the time itself, or, reversed, its mirror image."""

    time: Dim
    step: Dim
    reversed: bool

    def time_of(self, place: Affine) -> Affine:
        """The time dim's coordinate at which the scan has come to a place."""
        return constant(self.step.extent - 1) - place if self.reversed else place


def scan_form(node: Comprehension, dims: Sequence[Dim]) -> ScanForm | None:
    """The scan form of a node with the given element dims; None when it has none."""
    if len(node.reduce) != 1 or len(node.where) != 1:
        return None
    (step,), (where,) = node.reduce, node.where
    used = {v for r in node.reads for v in r.view.dims()} | {v for b in node.body for v in b.names}
    for time in dims:
        if time == step or time.extent != step.extent or time.name in used:
            continue
        if where == variable(time.name) - variable(step.name):
            return ScanForm(time, step, False)
        if where == constant(step.extent - 1) - variable(time.name) - variable(step.name):
            return ScanForm(time, step, True)
    return None


def pull_affine_scan(frame: Frame, monoid: Monoid, factor: Factor) -> list[Pull]:
    """db and da at every element."""
    dims = domain(frame, factor.components)
    form = scan_form(frame.node, dims)
    a, b = (monoid.components[c].name for c in factor.components)
    plain = Ref(frame.node.name, a) not in frame.tape.terms
    if form is None or not plain or len(factor.inputs) != 2:
        return pull_any(frame, monoid, factor)
    weight, added = _inputs(monoid, factor)
    kept = tuple(d for d in dims if d != form.time)
    carried = _reverse_scan(frame, form, b, weight, kept)
    if carried is None:
        return []
    before = _state_before(frame, form, b)
    times = frame.derivative().times
    return [Pull(kept, {added: carried, weight: times(carried, before)}, ())]


def _inputs(monoid: Monoid, factor: Factor) -> tuple[int, int]:
    a, b = (monoid.lift[c].payload for c in factor.components)
    return int(str(a)), int(str(b))


def _reverse_scan(
    frame: Frame, form: ScanForm, state: str, weight: int, dims: tuple[Dim, ...]
) -> Expr | None:
    """λ at every element: the affine scan from the last element down to it."""
    node, tape = frame.node, frame.tape
    found = tape.cotangent(Ref(node.name, state))
    if found is None:
        return None
    back = Dim(_unused(f"{form.step.name}_back", {d.name for d in frame.dims}), form.step.extent)
    last = constant(form.step.extent - 1)
    here = last - variable(back.name)  # the element u, from the last down
    reads, decay = _next_weight(frame, form, weight, back, dims)
    added = found.constant
    if found.ref is not None:
        names = [d.name for d in node.tensor(state).dims]
        coords = (form.time_of(here) if n == form.time.name else variable(n) for n in names)
        reads.append(Read(found.ref, View(tuple(coords))))
        added = arg(len(reads) - 1)
    where = (here - variable(form.step.name),)
    kept, bodies = compact_all(reads, [decay, added])
    name = tape.fresh(f"d_{node.name}_scan")
    made = Comprehension(name, dims, kept, tuple(bodies), (back,), where, AFFINE_SCAN)
    tape.append(made)
    at = View(tuple(variable(d.name) for d in dims))
    return frame.read(Ref(name, "value"), at, REAL, found.masked)


def _next_weight(
    frame: Frame, form: ScanForm, weight: int, back: Dim, dims: tuple[Dim, ...]
) -> tuple[list[Read], Expr]:
    """a at the element after u = n − 1 − back, and 1 at the last, where λ is still 0."""
    after = constant(form.step.extent) - variable(back.name)
    body = frame.within(frame.node.body[weight], (*dims, form.step))
    sorts = {e.payload: e.sort for e in walk(body) if e.op == "arg"}
    reads = [
        _guarded(renamed_read(r, {form.step.name: after}), back, sorts.get(i, REAL))
        for i, r in enumerate(frame.reads)
    ]
    swaps = {iota(form.step.name): _index(form.step.extent.is_constant, form, back)}
    swaps[extent(form.step.name)] = extent(back.name)
    moved = substitute(body, swaps)
    first = apply("eq", iota(back.name), index(0))
    return reads, choose(first, ONE, moved)


def _index(is_known: bool, form: ScanForm, back: Dim) -> Expr:
    size = index(form.step.extent.constant) if is_known else extent(back.name)
    return apply("add", size, apply("neg", iota(back.name)))


def _guarded(read: Read, back: Dim, sort: Sort) -> Read:
    """The read where there is a next element."""
    view = read.view
    guard = (Interval(variable(back.name), poly(1), back.extent), *view.guard)
    fill = zero(sort) if view.fill is None else view.fill
    return Read(read.source, View(view.coords, guard, fill, view.gathers))


def _state_before(frame: Frame, form: ScanForm, state: str) -> Expr:
    """h after the element before, 0 before the first."""
    node = frame.node
    before = variable(form.step.name) - 1
    coords = []
    for d in node.tensor(state).dims:
        coords.append(form.time_of(before) if d == form.time else variable(d.name))
    guard = (Interval(before, poly(0), form.step.extent),)
    return frame.read(Ref(node.name, state), View(tuple(coords), guard, real(0)))


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
