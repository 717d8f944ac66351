"""Cases: sizes and data on which a foreign kernel is run, with what it must answer.

Defines `Case`, `cases_of` and the choice of sizes. Relies on the interpreter for the reference and
on `freedom` for the enclosure of all honest results. It runs no kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tang.device.storage import pack
from tang.errors import GraphError, LimitError
from tang.interpreter import interpret
from tang.ir.bind import bind, infer_sizes
from tang.ir.expr import Sort
from tang.ir.format import format_named
from tang.ir.graph import Fact, Graph
from tang.ir.view import Ref
from tang.kernel.ir import Type
from tang.verify.foreign.binding import BoundLaunch, Buffer, Slot, bind_launch
from tang.verify.foreign.launch import LaunchError, LaunchSpec
from tang.verify.foreign.memory import stored_values
from tang.verify.freedom import Allowed, allowed, stored
from tang.verify.inputs import random_inputs
from tang.verify.provenance import Known
from tang.verify.subject import checked_inputs

Array = npt.NDArray[Any]

WORK: Final = 1 << 18
"""Points of a graph, reduce points included, up to which sizes are chosen unasked."""


@dataclass(frozen=True, eq=False)
class Case:
    """One binding of the extents with data.

    graph     the specification with numbers for its symbols
    inputs    as the kernel sees them: reals rounded to the format of their buffer
    previous  the case that runs before this one, whose results may turn out to be stale
    """

    sizes: Mapping[str, int]
    graph: Graph
    launch: BoundLaunch
    compute: str
    inputs: Mapping[str, Array] = field(repr=False)
    previous: Case | None = field(default=None, repr=False)

    @functools.cached_property
    def reference(self) -> dict[str, Array]:
        """The interpreter's answer."""
        found = interpret(self.graph, self.inputs)
        return {n: np.asarray(v) for n, v in found.items()}

    @functools.cached_property
    def bounds(self) -> dict[str, Allowed]:
        """What an honest evaluation in the format of computation may answer."""
        found = allowed(self.graph, self.inputs, format_named(self.compute))
        return {n: self._narrowed(n, b) for n, b in found.items()}

    def _narrowed(self, output: str, bounds: Allowed) -> Allowed:
        buffer, _ = self.place(output)
        if not buffer.type.is_float:
            return bounds
        return stored(bounds, format_named(buffer.type.value))

    def place(self, output: str) -> tuple[Buffer, Slot]:
        """The buffer and the slot that hold an output."""
        return next((b, s) for b in self.launch.buffers for s in b.slots if s.result == output)

    def ref(self, output: str) -> Ref:
        """The tensor behind an output."""
        return next(o.ref for o in self.graph.outputs if o.name == output)

    def right(self, output: str) -> Array:
        """The reference in memory format, row-major."""
        want, buffer = self.reference[output], self.place(output)[0]
        return pack(want, buffer.type).reshape(want.shape)

    def known(self, apart: str = "") -> list[Known]:
        """What may turn up in a wrong buffer: right answers, inputs, earlier right answers."""
        names = [o.name for o in self.graph.outputs if o.name != apart]
        found = [Known(n, self.place(n)[0].type, self.right(n)) for n in names]
        for buffer in self.launch.buffers:
            for slot in buffer.slots:
                if slot.source:
                    data = pack(self.inputs[slot.source], buffer.type)
                    found.append(Known(slot.source, buffer.type, data))
        return found + ([] if self.previous is None else self.previous._results())

    def _results(self) -> list[Known]:
        names = [o.name for o in self.graph.outputs]
        return [
            Known(f"{n} of the launch before", self.place(n)[0].type, self.right(n), earlier=True)
            for n in names
        ]

    def text(self) -> str:
        """The sizes, for the reader."""
        return ", ".join(f"{s} = {n}" for s, n in sorted(self.sizes.items()))


def cases_of(
    graph: Graph,
    launch: LaunchSpec,
    inputs: Mapping[str, Any] | None,
    sizes: Sequence[Mapping[str, int]] | Mapping[str, int] | None,
    seed: int,
    specials: bool,
) -> list[Case]:
    """The cases in the order in which they run.

    The caller's inputs alone, or, for each binding, random ones; the first binding twice, with
    other data, so that a kernel that remembers shows. Every other case has dyadic reals: sums and
    products of them are exact, so that a lost term shows however long the sum.
    """
    if inputs is not None:
        arrays = checked_inputs(graph, inputs)
        found = infer_sizes(graph, {n: a.shape for n, a in arrays.items()})
        return [_case(graph, launch, found, arrays, None)]
    bindings = chosen_sizes(graph, launch, sizes)
    cases = list[Case]()
    for number, binding in enumerate([bindings[0], *bindings]):
        data = random_inputs(graph, binding, seed + number)
        data = dyadic(data, seed + number) if number % 2 else data
        cases.append(_case(graph, launch, binding, data, cases[-1] if cases else None))
    if specials:
        binding = bindings[-1]
        data = with_specials(random_inputs(graph, binding, seed), seed)
        cases.append(_case(graph, launch, binding, data, cases[-1]))
    return cases


def _case(
    graph: Graph,
    launch: LaunchSpec,
    sizes: Mapping[str, int],
    arrays: Mapping[str, Array],
    previous: Case | None,
) -> Case:
    bound = bind(graph, dict(sizes))
    at = bind_launch(launch, bound, sizes)
    types = {s.source: b.type for b in at.buffers for s in b.slots if s.source}
    data = {i.name: _held(arrays[i.name], types.get(i.name), i.sort) for i in bound.inputs}
    return Case(sizes, bound, at, launch.compute, data, previous)


def _held(array: Array, t: Type | None, sort: Sort) -> Array:
    """An input as its buffer holds it; one that no parameter takes stays as it is."""
    if t is None:
        return stored_values(array, Type.F32, sort)
    return stored_values(array, t, sort)


def dyadic(inputs: Mapping[str, Array], seed: int) -> dict[str, Array]:
    """The same inputs with reals that are quarters from 1/4 to 8, of either sign."""
    rng = np.random.default_rng((seed, 5))
    found = dict(inputs)
    for name, array in inputs.items():
        if array.dtype.kind == "f":
            quarters = rng.integers(1, 33, array.shape) * rng.choice([-1, 1], array.shape)
            found[name] = np.asarray(quarters / 4, np.float32).reshape(array.shape)
    return found


def with_specials(inputs: dict[str, Array], seed: int) -> dict[str, Array]:
    """Inputs with NaN and infinities in a few places of every real tensor."""
    rng = np.random.default_rng((seed, 7))
    found = {}
    for name, array in inputs.items():
        changed = array.copy()
        if array.dtype.kind == "f" and array.size:
            count = max(1, array.size // 32)
            at = rng.choice(array.size, min(count, array.size), replace=False)
            changed.reshape(-1)[at] = rng.choice([np.nan, np.inf, -np.inf], len(at))
        found[name] = changed
    return found


# --- sizes ----------------------------------------------------------------------------------------


def chosen_sizes(
    graph: Graph,
    launch: LaunchSpec,
    sizes: Sequence[Mapping[str, int]] | Mapping[str, int] | None,
) -> list[Mapping[str, int]]:
    """The caller's bindings, the description's, or a few around the size of a workgroup."""
    if sizes:
        return [sizes] if isinstance(sizes, Mapping) else list(sizes)
    if launch.sizes:
        return list(launch.sizes)
    if not graph.symbols:
        return [{}]
    facts = {f.symbol: f for f in graph.facts}
    found = list[Mapping[str, int]]()
    for values in _patterns(_block(launch), len(graph.symbols)):
        symbols = sorted(graph.symbols)
        binding = {s: _allowed(n, facts.get(s)) for s, n in zip(symbols, values, strict=True)}
        if binding not in found and _runs(graph, launch, binding):
            found.append(binding)
    if not found:
        raise LaunchError(
            f"no size for {', '.join(sorted(graph.symbols))} was found that suits the description; "
            f'give some: "sizes": [{{...}}]'
        )
    return found


def _patterns(block: int, symbols: int) -> list[tuple[int, ...]]:
    """Values per symbol: below, at and above the block, and never a multiple in the end."""
    around = (block - block // 3, block, block + 1, 2 * block + block // 3 + 1)
    if symbols == 1:
        return [(max(n, 1),) for n in (*around, 1)]
    return [
        tuple((13, 7, 19, 5)[i % 4] for i in range(symbols)),
        tuple((16, 32, 8, 4)[i % 4] for i in range(symbols)),
        tuple((33, 17, 40, 9)[(i + 1) % 4] for i in range(symbols)),
        tuple((around[2], 3, 5, 2)[i % 4] for i in range(symbols)),
        tuple((3, around[2], 2, 5)[i % 4] for i in range(symbols)),
    ]


def _block(launch: LaunchSpec) -> int:
    """Threads of a workgroup where the description says it in numbers; else 64."""
    if launch.workgroup and not any(e.names for e in launch.workgroup):
        return max(1, prod(e.integer({}) for e in launch.workgroup))
    return 64


def _allowed(n: int, fact: Fact | None) -> int:
    """The nearest size from n on that a declared fact allows."""
    if fact is None:
        return n
    multiple = max(fact.multiple, 1)
    up = -(-max(n, fact.minimum) // multiple) * multiple
    return up if fact.maximum is None or up <= fact.maximum else fact.maximum


def _runs(graph: Graph, launch: LaunchSpec, binding: Mapping[str, int]) -> bool:
    """Whether a binding is legal, not too much work, and has a launch."""
    try:
        bound = bind(graph, dict(binding))
        bind_launch(launch, bound, binding)
    except (GraphError, LimitError, LaunchError):
        return False
    return sum(prod(d.extent.constant for d in n.dims) for n in bound.nodes) <= WORK
