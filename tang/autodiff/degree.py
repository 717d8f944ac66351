"""Degrees: proofs that a loss does not depend on a maximum that only stabilises it.

Defines `stabilisers`, which finds the maxima and minima of a program that its loss is free of. A
tensor has degree k in m when it becomes t + k·δ (a shift) or t·exp(k·δ) (a scale) as m becomes
m + δ. Relies on the graph alone. It proves nothing by sampling: what it cannot show is kept.

The degrees are derivatives: conditions count as fixed, since no rule differentiates them, and
`m = −inf` as false, since no finite δ reaches it.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tang.autodiff.algebra import ZERO
from tang.autodiff.factors import Factor, factors_of
from tang.ir.expr import REAL, Expr, walk
from tang.ir.graph import Comprehension, Graph
from tang.ir.monoid import Monoid
from tang.ir.view import Affine, Read, Ref, is_gathered, variable


@dataclass(frozen=True, slots=True)
class Degree:
    """How a value changes with m: kind "shift" or "scale", by k = factor · log₂e^power.

    `place` says which element of m: its coordinates as forms. Kind "free": not at all, and
    "zero": the value is the constant 0, a scale of any degree.
    """

    kind: str
    factor: Fraction = Fraction(0)
    power: int = 0
    place: tuple[Affine, ...] = ()

    def __str__(self) -> str:
        if self.kind in ("free", "zero"):
            return "free of it"
        return f"{self.kind} of degree {self.factor}" + (f"·log2e^{self.power}" * bool(self.power))


_FREE = Degree("free")
_ZERO = Degree("zero")


class _UnprovedError(Exception):
    """The analysis cannot go on; the text says at what."""


def stabilisers(graph: Graph, loss: Ref, active: Collection[Ref]) -> tuple[set[Ref], list[str]]:
    """Results of active maxima and minima of which the loss is free, and a verdict on each."""
    dropped: set[Ref] = set()
    notes: list[str] = []
    flow = _Flow.of(graph, loss)
    for at, node in enumerate(graph.nodes):
        if node.monoid is None or at not in flow.relevant:
            continue
        for factor in factors_of(node.monoid):
            if factor.rule not in ("max", "min"):
                continue
            results = _results(node, node.monoid, factor)
            if not results.isdisjoint(active):
                steps = flow.proof(at, results)
                notes.append(f"{node.name}: {steps}")
                dropped |= results if steps.startswith("free") else set()
    return dropped, notes


def _results(node: Comprehension, monoid: Monoid, factor: Factor) -> set[Ref]:
    """The component of an extremum, and the outputs that are no more than it."""
    (c,) = factor.components
    names = [monoid.components[c].name]
    for o, e in zip(monoid.outputs, monoid.project, strict=True):
        if e.op == "state" and e.payload == (0, c):
            names.append(o.name)
    return {Ref(node.name, n) for n in names}


@dataclass(slots=True)
class _Flow:
    """Which nodes read which, on the way to the loss."""

    nodes: tuple[Comprehension, ...]
    loss: Ref
    readers: dict[str, list[int]] = field(default_factory=dict)
    relevant: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, graph: Graph, loss: Ref) -> _Flow:
        flow = cls(graph.nodes, loss)
        wanted = {loss.node}
        for at in range(len(graph.nodes) - 1, -1, -1):
            node = graph.nodes[at]
            if node.name in wanted:
                flow.relevant.add(at)
                wanted |= {r.source.node for r in node.reads}
        for at in sorted(flow.relevant):
            for name in dict.fromkeys(r.source.node for r in graph.nodes[at].reads):
                flow.readers.setdefault(name, []).append(at)
        return flow

    def proof(self, at: int, results: set[Ref]) -> str:
        """Follow the degree downstream: "free: …" with the steps, or "kept: …" with the reason."""
        node = self.nodes[at]
        known = {r: _own(node, r) for r in results}
        waiting = list(self.readers.get(node.name, []))
        heapq.heapify(waiting)
        steps: list[str] = []
        seen: set[int] = set()
        try:
            self._check(node, known)
            while waiting:
                n = heapq.heappop(waiting)
                if n in seen:
                    continue
                seen.add(n)
                found = _Degrees(self.nodes[n], known).results()
                known |= found
                self._check(self.nodes[n], known)
                steps += [f"{r} is a {d}" for r, d in found.items()]
                if found:
                    for reader in self.readers.get(self.nodes[n].name, []):
                        heapq.heappush(waiting, reader)
                else:
                    steps.append(f"{self.nodes[n].name} is free of it")
        except _UnprovedError as e:
            return f"kept, its gradient goes to the element that won, by index: {e}"
        return "free, so it gets no gradient: " + ("; ".join(steps) or "nothing reads it")

    def _check(self, node: Comprehension, known: Mapping[Ref, Degree]) -> None:
        if self.loss in known and self.loss.node == node.name:
            raise _UnprovedError(f"the loss is a {known[self.loss]}")


def _own(node: Comprehension, ref: Ref) -> Degree:
    """The degree of m in itself."""
    rank = len(node.tensor(ref.output).shape)
    return Degree("shift", Fraction(1), 0, tuple(variable(f"#{k}") for k in range(rank)))


@dataclass(slots=True)
class _Degrees:
    """The degrees of the results of one node, given those of what it reads."""

    node: Comprehension
    known: Mapping[Ref, Degree]

    def results(self) -> dict[Ref, Degree]:
        """Every real result that depends on m."""
        reads = [self._read(r) for r in self.node.reads]
        body = [self._expr(b, reads, ()) for b in self.node.body]
        if self.node.monoid is None:
            found = dict(zip(self.node.outputs, body, strict=True))
        else:
            found = self._reduced(self.node.monoid, body)
        return {
            Ref(self.node.name, n): self._stored(n, d)
            for n, d in found.items()
            if d.kind in ("shift", "scale")
        }

    def _stored(self, output: str, degree: Degree) -> Degree:
        """The degree with its place over the positions of the tensor's dims."""
        tensor = self.node.tensor(output)
        names = [*(d.name for d in tensor.dims), *(a for a, _ in tensor.axes)]
        moves = {n: variable(f"#{k}") for k, n in enumerate(names)}
        place = tuple(f.substitute(moves) for f in degree.place)
        loose = {v for f in place for v in f.variables if not v.startswith("#")}
        if loose:
            raise _UnprovedError(f"{self.node.name} mixes elements along {sorted(loose)}")
        return replace(degree, place=place)

    def _read(self, read: Read) -> Degree:
        degree = self.known.get(read.source)
        if degree is None:
            return _FREE
        view = read.view
        if any(is_gathered(c) for c in view.coords):
            raise _UnprovedError(f"{self.node.name} gathers from {read.source}")
        if view.fill is not None and not (degree.kind == "scale" and view.fill is ZERO):
            raise _UnprovedError(f"{self.node.name} reads {read.source} with a fill")
        moves = {f"#{k}": c for k, c in enumerate(view.coords)}
        return replace(degree, place=tuple(f.substitute(moves) for f in degree.place))

    def _expr(self, root: Expr, args: list[Degree], states: tuple[Degree, ...]) -> Degree:
        done: dict[Expr, Degree] = {}
        for e in walk(root):
            done[e] = self._step(e, done, args, states)
        return done[root]

    def _step(
        self, e: Expr, done: Mapping[Expr, Degree], args: list[Degree], states: tuple[Degree, ...]
    ) -> Degree:
        if e.sort is not REAL or e.op in ("floor", "to_real"):
            return _FREE
        if e.op == "arg" and isinstance(e.payload, int):
            return args[e.payload]
        if e.op == "state" and isinstance(e.payload, tuple):
            return states[int(e.payload[1])]
        if not e.args:
            return _ZERO if e is ZERO else _FREE
        return self._operation(e, [done[a] for a in e.args], done)

    def _operation(self, e: Expr, a: list[Degree], done: Mapping[Expr, Degree]) -> Degree:
        if e.op == "select":
            return a[2] if _is_unreachable(e.args[0], done) else self._either(e.op, a[1], a[2])
        if all(d.kind in ("free", "zero") for d in a):
            return _ZERO if e.op in ("mul", "neg") and _ZERO in a else _FREE
        match e.op, a[0].kind:
            case "add", _:
                return self._sum(a[0], a[1])
            case "mul", _:
                return self._product(e, a)
            case "neg", "shift":
                return replace(a[0], factor=-a[0].factor)
            case "neg", _:
                return a[0]
            case "recip", "scale":
                return replace(a[0], factor=-a[0].factor)
            case "sqrt", "scale":
                return replace(a[0], factor=a[0].factor / 2)
            case "exp2", "shift":
                return replace(a[0], kind="scale", power=a[0].power - 1)
            case "log2", "scale":
                return replace(a[0], kind="shift", power=a[0].power + 1)
        raise _UnprovedError(f"{self.node.name} takes {e.op} of a {a[0]}")

    def _either(self, what: str, a: Degree, b: Degree) -> Degree:
        """The degree of something that is one or the other."""
        if a == b or (b.kind == "zero" and a.kind in ("scale", "free")):
            return a
        if a.kind == "zero" and b.kind in ("scale", "free"):
            return b
        raise _UnprovedError(f"{self.node.name} joins by {what} what is {a} and what is {b}")

    def _sum(self, a: Degree, b: Degree) -> Degree:
        if "shift" in (a.kind, b.kind) and "scale" not in (a.kind, b.kind):
            return self._added(a, b)
        return self._either("add", a, b)

    def _added(self, a: Degree, b: Degree) -> Degree:
        """Degrees add up: of a sum of shifts, of a product of scales."""
        if a.kind in ("free", "zero"):
            return b
        if b.kind in ("free", "zero"):
            return a
        if (a.power, a.place) != (b.power, b.place):
            raise _UnprovedError(f"{self.node.name} joins different elements or units of it")
        total = a.factor + b.factor
        return replace(a, factor=total) if total else _FREE

    def _product(self, e: Expr, a: list[Degree]) -> Degree:
        if _ZERO in a:
            return _ZERO
        if "shift" not in (a[0].kind, a[1].kind):
            return self._added(a[0], a[1])
        shift, other = (a[0], e.args[1]) if a[0].kind == "shift" else (a[1], e.args[0])
        if other.op == "real" and isinstance(other.payload, Fraction):
            return replace(shift, factor=shift.factor * other.payload)
        if other.op == "real" and other.payload in ("log2e", "ln2"):
            return replace(shift, power=shift.power + (1 if other.payload == "log2e" else -1))
        raise _UnprovedError(f"{self.node.name} multiplies a {shift}")

    def _reduced(self, monoid: Monoid, body: list[Degree]) -> dict[str, Degree]:
        """Components factor by factor, then the outputs."""
        states = [_FREE] * len(monoid.components)
        for factor in factors_of(monoid):
            inputs = [body[k] for k in factor.inputs if monoid.inputs[k] is REAL]
            if any(d.kind in ("shift", "scale") for d in inputs):
                self._apart(inputs)
                for c, d in zip(factor.components, self._factor(factor, inputs), strict=True):
                    states[c] = d
        found = {c.name: d for c, d in zip(monoid.components, states, strict=True)}
        for o, e in zip(monoid.outputs, monoid.project, strict=True):
            found[o.name] = self._expr(e, [], tuple(states))
        return found

    def _apart(self, inputs: list[Degree]) -> None:
        """Every element of a fold depends on the same element of m."""
        steps = {d.name for d in self.node.reduce}
        for d in inputs:
            if any(f.variables & steps for f in d.place):
                raise _UnprovedError(f"{self.node.name} sums over elements of it")

    def _factor(self, factor: Factor, a: list[Degree]) -> list[Degree]:
        """The degrees of a factor's components, given those of its real inputs."""
        x = a[0]
        match factor.rule:
            case "sum" if x.kind in ("scale", "zero"):
                return [x]
            case "max" | "min" if x.kind in ("shift", "scale"):
                return [x]
            case "argmax" | "argmin" | "top-k" if x.kind in ("shift", "scale"):
                return [x, _FREE]
            case "logsumexp" if x.kind == "shift":
                return [x, _FREE]
            case "online-softmax" if x.kind in ("shift", "free") and a[1].kind != "shift":
                return [x, _FREE, a[1]]
            case "welford" if x.kind == "shift":
                return [_FREE, x, _FREE]
            case "welford" if x.kind == "scale":
                return [_FREE, x, replace(x, factor=2 * x.factor)]
        raise _UnprovedError(f"{self.node.name} folds a {x} by another monoid")


def _is_unreachable(condition: Expr, done: Mapping[Expr, Degree]) -> bool:
    """Whether the condition says that something that shifts with m is infinite."""
    if condition.op != "eq":
        return False
    for a, b in (condition.args, tuple(reversed(condition.args))):
        if b.op == "real" and b.payload in ("inf", "-inf"):
            return done[a].kind == "shift"
    return False
