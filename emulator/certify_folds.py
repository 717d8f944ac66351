"""Reductions as steps: which monoid a group of components is, and its closed form.

Defines `Order`, how many combinations an element passes, and `Folder`, which gives the steps of
state components and outputs. Relies on the built-in monoids, whose very combines are compared; a
monoid that is none of them has no bound. It reads no tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tang.emulator.certificate import Parameter
from tang.emulator.certify_arithmetic import Arithmetic
from tang.emulator.certify_masks import is_position
from tang.emulator.certify_monoids import Group, groups_of
from tang.emulator.ranges_folds import counts, mean_error
from tang.emulator.ranges_numbers import INF, over, times
from tang.ir.expr import INDEX, REAL, Expr
from tang.ir.graph import Comprehension
from tang.kernel.schedule import NodeSchedule


@dataclass(frozen=True, slots=True)
class Order:
    """How n elements meet: chains, then levels of a tree and chunks of a split.

    adds    combinations that an element passes, at most
    chain   the longest chain;  levels  combinations after it
    full    whether all n elements are there
    """

    n: int
    full: bool
    adds: int
    chain: int
    levels: int


def order_of(node: Comprehension, s: NodeSchedule, free: bool, alone: bool) -> Order:
    """The order of a reduction under a schedule.

    free   any order is possible, as in WGSL
    alone  one thread folds everything: of a component that has a kernel of its own
    """
    extents = [d.extent.constant for d in node.reduce]
    n = math.prod(extents)
    full = not node.where
    if free or alone or s.place != "materialise" or not extents:
        return Order(n, full, max(n - 1, 0), n, n if free else 0)
    chunks = s.split * s.lanes
    chain = -(-extents[0] // chunks) * math.prod(extents[1:])
    levels = (s.lanes - 1).bit_length() + (s.split if s.split > 1 else 0)
    tree = (s.lanes - 1).bit_length() + s.split - 1
    return Order(n, full, max(chain - 1, 0) + tree, chain, levels)


class Folder:
    """The components of one reduction as steps.

    value     the step of an expression over the reads of the node, for a lift
    standard  where the error of a variance should be small; None: where it is largest
    sums      what is known of some lifts, see `Hints`
    """

    def __init__(
        self,
        a: Arithmetic,
        node: Comprehension,
        order: Order,
        value: Callable[[Expr], int],
        standard: float | None,
        sums: Mapping[Expr, tuple[str, tuple[Expr, ...]]],
    ) -> None:
        self.a = a
        self.node = node
        self.sums = sums
        self.order = order
        self.value = value
        self.standard = standard
        self.semigroup = node.monoid is not None and node.monoid.identity is None

    def components(self) -> dict[int, int]:
        """Component → step."""
        found: dict[int, int] = {}
        for group in groups_of(self.node):
            made = getattr(self, f"_{group.kind}")(group)
            found |= dict(zip(group.components, made, strict=True))
        kinds = self.node.monoid.components if self.node.monoid is not None else ()
        return {
            n: self.a.kept(step) if kinds[n].sort is REAL else step for n, step in found.items()
        }

    def _params(self) -> dict[str, Parameter]:
        return self.a.fold_params()

    def _first(self, group: Group) -> list[int]:
        return self._last(group)

    def _last(self, group: Group) -> list[int]:
        """One of the elements: of a semigroup, since nothing is neutral here."""
        return [self.value(group.lift[0])] if self.semigroup else self._unknown(group)

    def _truth(self, group: Group) -> list[int]:
        """Truth values: exact if all of them are, whatever is done to them."""
        trail = self.a.trail
        step = trail.add("given", lo=0.0, hi=1.0)
        exact = all(trail[self.value(e)].exact for e in group.lift)
        return [step if exact else trail.add("jump", step) for _ in group.components]

    def _unknown(self, group: Group) -> list[int]:
        return [self.a.trail.add("unknown") for _ in group.components]

    # --- one component ----------------------------------------------------------------------------

    def _sum(self, group: Group) -> list[int]:
        o, (lift,) = self.order, group.lift
        term = self.value(lift)
        if lift.sort is INDEX:
            return [self.a.trail.add("count", term, n=o.n, full=o.full)]
        o, trail = self.order, self.a.trail
        plain = trail.add("sum", term, n=o.n, full=o.full, adds=o.adds, **self._params())
        kind, operands = self.sums.get(lift, ("", ()))
        return [self._known_sum(kind, operands, plain)]

    def _known_sum(self, kind: str, operands: tuple[Expr, ...], plain: int) -> int:
        """The better of a sum by itself and by what is known of its terms."""
        trail, steps = self.a.trail, [plain]
        if kind == "guarded":
            kind = "" if "-inf" in trail[self.value(operands[0])].special else "exp"
        if kind in ("exp", "peak"):
            steps = [trail.add("at_least", plain, least=1.0, why="the largest term is exp 0")]
        if kind == "exp":
            steps.append(self._sum_exp(self.value(operands[0])))
        if kind == "weighted" and trail[self.value(operands[0])].lo >= 0:
            o, (w, v) = self.order, (self.value(x) for x in operands)
            steps.append(trail.add("weighted", w, v, n=o.n, adds=o.adds, prods=1, **self._params()))
        return min(steps, key=self._badness)

    def _badness(self, step: int) -> tuple[float, float, float]:
        c = self.a.trail[step]
        return (c.absolute, c.relative, c.top) if self.a.trail.shape else (c.error, c.top, 0.0)

    def _sum_exp(self, z: int) -> int:
        """By the entropy's bound; in the way of 2^(z·log₂e) too, which rounds z twice more."""
        if not self.a.trail.shape:
            z = self.a.rounded(self.a.rounded(z))
        o = self.order
        ulp = max(self._ulp("exp"), self._ulp("exp2"))
        return self.a.trail.add(
            "sum_exp", z, n=o.n, adds=o.adds, rounded=1, ulp=ulp,
            format=self.a.function_format(), **self._params(),
        )  # fmt: skip

    def _prod(self, group: Group) -> list[int]:
        term = self.value(group.lift[0])
        if group.lift[0].sort is INDEX:
            return self._unknown(group)
        return [self.a.trail.add("prod", term, n=self.order.n, **self._params())]

    def _index_max(self, group: Group) -> list[int]:
        return self._whole_extremum(group)

    def _index_min(self, group: Group) -> list[int]:
        return self._whole_extremum(group)

    def _whole_extremum(self, group: Group) -> list[int]:
        """Of indices: one of them, unless there is none."""
        if not self.order.full or not self.order.n:
            return self._unknown(group)
        return [self.value(group.lift[0])]

    def _max(self, group: Group) -> list[int]:
        return [self._best(self.value(group.lift[0]), "max", "-inf")]

    def _min(self, group: Group) -> list[int]:
        return [self._best(self.value(group.lift[0]), "min", "inf")]

    def _best(self, x: int, kind: str, empty: str) -> int:
        full = self.order.full and self.order.n > 0
        if not full and not self.a.has_infinity:
            return self.a.trail.add("unknown")
        return self.a.trail.add("extremum", x, kind=kind, empty=empty, full=full)

    def _any(self, group: Group) -> list[int]:
        return [self.a.trail.add("any_of", self.value(group.lift[0]), op="any")]

    def _all(self, group: Group) -> list[int]:
        return [self.a.trail.add("any_of", self.value(group.lift[0]), op="all")]

    # --- winners ----------------------------------------------------------------------------------

    def _argmax(self, group: Group) -> list[int]:
        return self._winner(group, "max")

    def _argmin(self, group: Group) -> list[int]:
        return self._winner(group, "min")

    def _winner(self, group: Group, kind: str) -> list[int]:
        x, at = (self.value(e) for e in group.lift)
        best = self._best(x, kind, "nan")
        return [best, self.a.trail.add("winner", x, at, full=self.order.full and self.order.n > 0)]

    def _top_k(self, group: Group) -> list[int]:
        """Sorting is continuous: the k-th of the computed values is off by at most their error."""
        x, at = (self.value(e.args[1]) for e in group.lift)
        ranks = group.size
        full = self.order.full and self.order.n >= ranks
        if not (self.a.has_infinity and self._are_positions(group.lift[1].args[1], at)):
            return self._unknown(group)
        best = self.a.trail.add("extremum", x, kind="max", empty="-inf", full=full)
        return [best, self.a.trail.add("winner", x, at, full=full)]

    def _are_positions(self, e: Expr, at: int) -> bool:
        """Whether elements have indices ≥ 0 of their own, by which ties of a top-k are broken."""
        c = self.a.trail[at]
        return c.exact and c.lo >= 0 and is_position(self.node, e)

    # --- rescaled sums ----------------------------------------------------------------------------

    def _rescaling(self) -> dict[str, Parameter]:
        o = self.order
        ulp = max(self._ulp("exp"), self._ulp("exp2"))
        return {
            "n": o.n, "full": o.full and o.n > 0, "hops": o.adds + 2, "ulp": ulp,
            "format": self.a.function_format(), **self._params(),
        }  # fmt: skip

    def _ulp(self, op: str) -> float:
        """Of exponentials, whose arguments are at most 0 and of any size."""
        kind = str(self.a.precision.type.value)
        least = -1100.0 if kind == "f64" else -256.0  # below it results are 0
        claims = self.a.functions.claims(op, kind, ((least, 0.0),))
        return max(self.a.trail.constant(c) for c, _ in claims)

    def _logsumexp(self, group: Group) -> list[int]:
        if not self.a.has_infinity:
            return self._unknown(group)
        x = self.value(group.lift[0])
        m = self._best(x, "max", "-inf")
        return [m, self.a.trail.add("rescaled", x, **self._rescaling())]

    def _online_softmax(self, group: Group) -> list[int]:
        if not self.a.has_infinity:
            return self._unknown(group)
        x, v = self.value(group.lift[0]), self.value(group.lift[2].args[1])
        m, total = self._logsumexp(group)
        acc = self.a.trail.add("rescaled_sum", x, v, **self._rescaling())
        return [m, total, acc]

    def weighted_mean(self, group: Group, steps: dict[int, int]) -> int:
        """acc / l of an online softmax."""
        total, acc = (steps[c] for c in group.components[1:])
        v = self.value(group.lift[2].args[1])
        return self.a.trail.add(
            "weighted_mean", total, acc, v, divisions=2, **self.a.quotients(), **self._params()
        )

    # --- the others -------------------------------------------------------------------------------

    def _welford(self, group: Group) -> list[int]:
        o, trail = self.order, self.a.trail
        if not self.a.has_ends:  # its combine asks whether a difference is less than ∞
            return self._unknown(group)
        x = self.value(group.lift[1])
        common: dict[str, Parameter] = {
            "n": o.n, "chain": o.chain, "levels": o.levels, **self.a.quotients(), **self._params()
        }  # fmt: skip
        n = trail.add("given", lo=float(o.n if o.full else 0), hi=float(o.n))
        n = n if counts(common, trail.formats.known) else trail.add("unknown")
        error = self._own_error(x, common)
        mean = trail.add("welford_mean", x, error=error, **common)
        theta = self._theta(mean, common)
        adds = 2 * (o.chain + o.levels)
        m2 = trail.add("welford_m2", x, mean, theta=theta, adds=adds, **common)
        return [n, self._or_identity(mean, "0"), m2]

    def _or_identity(self, step: int, value: str) -> int:
        """A state that may be that of no elements."""
        if self.order.full and self.order.n:
            return step
        return self.a.trail.add("hull", step, self.a.trail.add("constant", value=value))

    def _own_error(self, x: int, params: dict[str, Parameter]) -> float:
        """A bound of the means' error that reproduces itself."""
        c, facts = self.a.trail[x], self.a.trail.formats.known
        if c.empty or c.special:
            return 0.0
        error = mean_error(c, params, facts, 0.0)
        for _ in range(60):
            more = mean_error(c, params, facts, error * (1 + 2.0**-20))
            if more <= error * (1 + 2.0**-20):
                return error * (1 + 2.0**-20)
            error = more
        return INF

    def _theta(self, mean: int, params: dict[str, Parameter]) -> float:
        """θ that splits 2·σ·η well where the variance is `standard`, else where it is largest."""
        c = self.a.trail[mean]
        error, n = c.error, self.order.n
        largest = times((c.hi - c.lo) / 2, (c.hi - c.lo) / 2)
        target = largest if self.standard is None else self.standard
        if not error or math.isinf(error) or not n or not math.isfinite(target):
            return 2.0**-20
        weight = times(1.0 + self.order.levels / 2, 4.0, error, error)
        return min(max(over(math.sqrt(weight), math.sqrt(target)), 1e-30), 1.0)

    def _affine_scan(self, group: Group) -> list[int]:
        a, b = (self.value(e) for e in group.lift)
        trail, o = self.a.trail, self.order
        powers = trail.add("prod", a, n=o.n, **self._params())
        if not o.full:
            powers = trail.add("hull", powers, self.a.literal(1))
        return [powers, trail.add("scan", a, b, n=o.n, **self._params())]
