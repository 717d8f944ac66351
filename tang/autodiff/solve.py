"""Solving a view for the dims of its reader, so that an adjoint visits readers only.

Defines `solve`: given the coordinate forms of a read, it finds the points of a *transposed* node
(its dims, the dims it sums, the conditions) and where each element of the source is found in it.
Relies on `signs`; forms with coefficient ±1 are solved, strides are split into (quotient, phase),
and only what is left becomes an equality condition. It builds no nodes.

Notation: a source coordinate q_k = form_k(v). A *parameter* is a point dim of the transposed node,
an *unknown* a dim of the reader that is not yet expressed by parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd, prod

from tang.autodiff.signs import estimate, highest, is_nonnegative, lowest
from tang.ir.extent import Poly, poly
from tang.ir.graph import Dim
from tang.ir.view import GATHERED, Affine, Interval, constant, variable


@dataclass(frozen=True, slots=True)
class Equation:
    """left = right: left over parameters, right over unknowns (and parameters)."""

    left: Affine
    right: Affine


@dataclass(frozen=True, slots=True)
class Quotient:
    """A gather by an index that is computed: ⌊(n − shift·phase) / stride⌋ or n·factor mod stride.

    With shift 0 it is ⌊n / stride⌋. `at` is n as a form over source dims and earlier gathers.
    """

    stride: int
    shift: int
    inverse: int
    is_phase: bool
    length: Poly
    at: Affine


@dataclass(slots=True)
class Solution:
    """The transposed node, and the view by which the source finds its elements there."""

    params: dict[str, Poly]
    free: dict[str, Poly]
    forms: dict[str, Affine] = field(default_factory=dict)
    where: list[Affine] = field(default_factory=list)
    found: dict[str, Affine] = field(default_factory=dict)
    guard: list[Interval] = field(default_factory=list)
    gathers: list[Quotient] = field(default_factory=list)

    @property
    def place(self) -> tuple[Affine, ...]:
        """Where an element of the source is in the transposed node, parameter by parameter."""
        return tuple(self.found[p] for p in self.params)

    @property
    def extents(self) -> dict[str, Poly]:
        return {**self.params, **self.free}


def solve(
    source: Sequence[Dim],
    extents: dict[str, Poly],
    equations: Sequence[Equation],
    where: Sequence[Affine],
    implied: frozenset[str] = frozenset(),
) -> Solution:
    """The solution of q = form(v) under `where`.

    `source` are the dims q, `extents` those of the unknowns, in order; the bounds of `implied`
    unknowns follow from the equations.
    """
    solver = _Solver(source, extents, implied)
    waiting = list(equations)
    while waiting:
        waiting = [Equation(e.left, solver.known(e.right)) for e in waiting]
        chosen = min(range(len(waiting)), key=lambda n: solver.urgency(waiting[n]))
        waiting += solver.step(waiting.pop(chosen))
    return solver.finish(where)


class _Solver:
    """One system of equations on its way to a solution."""

    def __init__(
        self, source: Sequence[Dim], extents: dict[str, Poly], implied: frozenset[str]
    ) -> None:
        self.now = Solution({d.name: d.extent for d in source}, dict(extents))
        self.now.found = {d.name: variable(d.name) for d in source}
        self.plain = {d.name for d in source}  # parameters that only their own equation uses
        self.bounds = {v: e for v, e in extents.items() if v not in implied}
        self.conditions: list[Affine] = []
        self.implied = implied
        self.used = {d.name for d in source} | extents.keys()

    def fresh(self, name: str) -> str:
        """A dim name that neither source, reader nor another split has."""
        while name in self.used:
            name += "_"
        self.used.add(name)
        return name

    # --- choosing ---

    def unknowns(self, form: Affine) -> list[str]:
        return [v for v, _ in form.terms if v in self.now.free]

    def known(self, form: Affine) -> Affine:
        return form.substitute(self.now.forms)

    def urgency(self, e: Equation) -> int:
        """Lower is earlier: constants, single unknowns, then the rest."""
        many = self.unknowns(e.right)
        if len(many) == 1:
            solvable = self._is_unit(e.right.coefficient(many[0])) or self.owns(e)
            return 1 if self.owns(e) and not self._has_params(e.right) else 2 if solvable else 4
        return 3 if many else 0

    def owns(self, e: Equation) -> bool:
        """Whether left is one parameter that nothing else uses yet."""
        plain = len(e.left.terms) == 1 and not e.left.const.terms
        return (
            plain
            and e.left.terms[0] == (e.left.terms[0][0], poly(1))
            and (e.left.terms[0][0] in self.plain)
        )

    def _has_params(self, form: Affine) -> bool:
        return any(v in self.now.params for v in form.variables)

    def _is_unit(self, c: Poly) -> bool:
        return c in (poly(1), poly(-1))

    # --- steps ---

    def step(self, e: Equation) -> list[Equation]:
        """Use up one equation; what remains to be solved of it comes back."""
        many = self.unknowns(e.right)
        if not many:
            self.equality(e)
            return []
        owned = self.owns(e) and not self._has_params(e.right)
        if owned and len(many) == 1 and self.rename(e, many[0]):
            return []
        units = [v for v in many if self._is_unit(e.right.coefficient(v))]
        split = _best_split(e.right, {v: self.now.free[v] for v in many}) if owned else None
        others = {v: estimate(self.now.free[u] for u in many if u != v) for v in units}
        best = min(units, key=lambda v: others[v], default=None)
        if split is not None and (best is None or split.cost < others[best]):
            return self.split(e, split)
        if best is None:
            self.require_equal(e)
        else:
            self.eliminate(e, best)
        return []

    def require_equal(self, e: Equation) -> None:
        """What cannot be solved: every unknown stays, and the equation is tested."""
        self.conditions += [e.left - e.right, e.right - e.left]
        self.plain -= e.left.variables

    def equality(self, e: Equation) -> None:
        """No unknown is left: a parameter that nothing else uses becomes a test, not a dim."""
        if not self.owns(e):
            self.require_equal(e)
            return
        (p,) = e.left.variables
        there = self.now.found.pop(p) - e.right.substitute(self.now.found)
        del self.now.params[p]
        self.plain.discard(p)
        self.now.guard.append(Interval(there, poly(0), poly(1)))

    def rename(self, e: Equation, v: str) -> bool:
        """q = c·v + const: the dim v itself becomes the parameter; False when c is symbolic."""
        (p,) = e.left.variables
        c = e.right.coefficient(v)
        if not c.is_constant:
            return False
        extent = self.now.free.pop(v)
        if v in self.implied:
            extent = self.now.params[p] if c == poly(1) and not e.right.const.terms else extent
        sign = 1 if c.constant > 0 else -1
        stride = abs(c.constant)
        distance = (self.now.found[p] - e.right.const).scale(sign)
        if stride == 1:
            whole = self._covers(e.right.const, sign, extent, self.now.params[p])
            self.replace(p, {v: extent}, {v: distance})
            if not whole:
                self.now.guard.append(Interval(distance, poly(0), extent))
        else:
            self.replace(p, {v: extent}, self.quotient(distance, stride, v, extent))
            self.now.guard.append(self.remainder(distance, stride, v))
        self.bounds.pop(v, None)
        return True

    def _covers(self, const: Poly, sign: int, extent: Poly, source: Poly) -> bool:
        return extent == source and const == (poly(0) if sign > 0 else source - 1)

    def replace(self, p: str, dims: dict[str, Poly], found: dict[str, Affine]) -> None:
        """Parameter p gives way to others, in its place."""
        items = [(dims.items() if n == p else [(n, e)]) for n, e in self.now.params.items()]
        self.now.params = {n: e for group in items for n, e in group}
        del self.now.found[p]
        self.now.found |= found
        self.plain.discard(p)

    def quotient(self, distance: Affine, stride: int, name: str, extent: Poly) -> dict[str, Affine]:
        """A gather of ⌊distance / stride⌋, guarded so that it is in range."""
        length = extent * stride
        self.now.guard.append(Interval(distance, poly(0), length))
        at = f"{GATHERED}{len(self.now.gathers)}"
        self.now.gathers.append(Quotient(stride, 0, 1, False, length, distance))
        return {name: variable(at)}

    def remainder(self, distance: Affine, stride: int, name: str) -> Interval:
        return Interval(distance - self.now.found[name].scale(stride), poly(0), poly(1))

    def eliminate(self, e: Equation, v: str) -> None:
        """left = ±v + rest: v = ±(left − rest)."""
        c = e.right.coefficient(v).constant
        self.define(v, (e.left - (e.right - variable(v, c))).scale(c))

    def define(self, v: str, form: Affine) -> None:
        self.now.forms = {n: f.substitute({v: form}) for n, f in self.now.forms.items()}
        self.now.forms[v] = form
        del self.now.free[v]
        self.plain -= form.variables

    def split(self, e: Equation, s: _Split) -> list[Equation]:
        """q = Σ: whole multiples of the stride become a quotient Q, the carrier's rest a phase."""
        (p,) = e.left.variables
        right, stride, r = e.right, s.stride, s.carrier
        whole = Affine(tuple((u, _divided(c, stride)) for u, c in right.terms if u != r))
        names = [self.fresh(f"{p}_quotient"), self.fresh(f"{p}_phase")]
        phases: dict[str, Poly] = {}
        d0 = 0
        if r is not None:
            c_r = right.coefficient(r).constant
            step, d0 = divmod(c_r, stride)
            phases = {names[1]: poly(stride)}
            rounds = _rounds(self.now.free[r], stride)
            inner = self.fresh(f"{r}_round")
            carried = variable(names[1])
            if rounds != poly(1):
                self.now.free[inner] = rounds
                self.bounds[inner] = rounds
                carried = carried + variable(inner, stride)
                whole = whole + variable(inner, c_r)
            whole = whole + variable(names[1], step)
            self.define(r, carried)
        box = {**self.now.free, **phases}
        low = lowest(whole, box) or poly(0)
        extent = self._reach(whole, low, box)
        if extent.is_constant and low.is_constant and right.const.is_constant:
            far = d0 * (stride - 1) if d0 > 1 else 0
            low, extent = self._clamped(p, stride, far, right.const, (low, extent))
        distance = self.now.found[p] - right.const - low * stride
        found = self.located(distance, stride, d0, names, extent)
        self.replace(p, {names[0]: extent, **phases}, found)
        self.plain.add(names[0])
        phase_part = variable(names[1], whole.coefficient(names[1])) if phases else constant(0)
        left = variable(names[0])
        right = whole - low
        if phase_part.terms:
            return [Equation(left - phase_part + low, whole - phase_part)]
        return [Equation(left, right)]

    def _clamped(
        self, p: str, stride: int, far: int, const: Poly, reach: tuple[Poly, Poly]
    ) -> tuple[Poly, Poly]:
        """Lowest quotient and their number, without those that no source element asks for."""
        low, extent = reach
        if not self.now.params[p].is_constant:
            return reach
        first = -const.constant - stride * low.constant  # of distance, at source element 0
        last = first + self.now.params[p].constant - 1
        skip = max(0, (first - far) // stride)
        count = min(extent.constant, last // stride + 1) - skip
        return (low + skip, poly(count)) if count > 0 else reach

    def _reach(self, whole: Affine, low: Poly, box: dict[str, Poly]) -> Poly:
        high = highest(whole, box)
        if high is not None and all(e.is_constant for e in box.values()):
            return high - low + 1
        return sum((box[v] * _size(c) for v, c in whole.terms), start=poly(1))

    def located(
        self, distance: Affine, stride: int, d0: int, names: list[str], extent: Poly
    ) -> dict[str, Affine]:
        """Where quotient and phase of a source element are: distance = stride·Q + d0·phase."""
        quotient, phase = names
        if d0 == 0:
            found = self.quotient(distance, stride, quotient, extent)
            there = distance - found[quotient].scale(stride)
            self.now.guard.append(Interval(there, poly(0), poly(1)))
            return found
        if d0 == 1:
            found = self.quotient(distance, stride, quotient, extent)
            return {**found, phase: distance - found[quotient].scale(stride)}
        length = (extent + d0) * stride
        self.now.guard.append(Interval(distance, poly(0), length))
        at = [f"{GATHERED}{len(self.now.gathers) + n}" for n in (0, 1)]
        inverse = pow(d0, -1, stride)
        for is_phase in (False, True):
            q = Quotient(stride, d0, inverse, is_phase, length, distance)
            self.now.gathers.append(q)
        self.now.guard.append(Interval(variable(at[0]), poly(0), extent))
        return {quotient: variable(at[0]), phase: variable(at[1])}

    # --- the end ---

    def finish(self, where: Sequence[Affine]) -> Solution:
        """The solution with its conditions; those that hold everywhere are left out."""
        forms = self.now.forms
        wanted = [*where, *self.conditions]
        for v, form in forms.items():
            if v in self.bounds:
                wanted += [form, constant(self.bounds[v] - 1) - form]
        box = self.now.extents
        kept = dict.fromkeys(w.substitute(forms) for w in wanted)
        self.now.where = [w for w in kept if not is_nonnegative(w, box)]
        return self.now


@dataclass(frozen=True, slots=True)
class _Split:
    """A stride, the unknown that carries the phase (None: everything is divisible), the cost."""

    stride: int
    carrier: str | None
    cost: int


def _best_split(form: Affine, extents: dict[str, Poly]) -> _Split | None:
    """The cheapest split of Σ c·v, by points visited for each source element."""
    if not all(c.is_constant for _, c in form.terms):
        return None
    options = [_split_by(form, extents, n) for n in _strides(form)]
    return min((o for o in options if o is not None), key=lambda o: o.cost, default=None)


def _strides(form: Affine) -> list[int]:
    sizes = [abs(c.constant) for _, c in form.terms]
    common = gcd(*sizes)
    return sorted({n for n in (*sizes, common) if n > 1})


def _split_by(form: Affine, extents: dict[str, Poly], stride: int) -> _Split | None:
    uneven = [v for v, c in form.terms if c.constant % stride]
    even = [v for v, c in form.terms if not c.constant % stride]
    if len(uneven) > 1 or not even or any(c % stride for m, c in form.const.terms if m):
        return None
    if not uneven:
        return _Split(stride, None, _rest_cost(form, extents, even, stride))
    (r,) = uneven
    if gcd(form.coefficient(r).constant, stride) != 1 or not extents[r].is_constant:
        return None
    rounds = estimate([_rounds(extents[r], stride)])
    return _Split(stride, r, rounds * _rest_cost(form, extents, even, stride))


def _rest_cost(form: Affine, extents: dict[str, Poly], even: list[str], stride: int) -> int:
    """Points of the divisible unknowns for each quotient, once one more of them is solved."""
    sizes = {v: estimate([extents[v]]) for v in even}
    every = prod(sizes.values())
    solvable = [v for v in even if abs(form.coefficient(v).constant) == stride]
    return every // max((sizes[v] for v in solvable), default=1)


def _rounds(extent: Poly, stride: int) -> Poly:
    """⌈extent / stride⌉ of a known extent."""
    return poly(-(-extent.constant // stride))


def _divided(c: Poly, by: int) -> Poly:
    return Poly(tuple((m, k // by) for m, k in c.terms))


def _size(c: Poly) -> Poly:
    return Poly(tuple((m, abs(k)) for m, k in c.terms))
