"""Binding: symbolic extents become numbers.

Defines `bind`, which replaces symbols everywhere in a graph, `known_sizes`, which refuses those
that a program does not have, and `infer_sizes`, which solves them from the shapes of the inputs.
Relies on `validate`, which every bound graph must pass. It does not look at data, and it never
guesses: a symbol that no shape determines is an error.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tang.errors import GraphError
from tang.ir.derived import zero
from tang.ir.extent import Poly, poly
from tang.ir.given import shown
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, reads_of
from tang.ir.validate import validate
from tang.ir.view import Affine, Interval, Read, variable


def bind(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph with the symbols in `sizes` replaced; symbols it does not use are ignored.

    Raises GraphError for sizes that are no numbers ≥ 0 or violate a fact, and for a bound graph
    that is not legal.
    """
    checked = checked_sizes(sizes)
    for fact in graph.facts:
        if fact.symbol in checked:
            _check_fact(fact, checked[fact.symbol])
    bound = replace(
        graph,
        inputs=tuple(_bind_input(i, checked) for i in graph.inputs),
        nodes=tuple(_bind_node(graph, n, checked) for n in graph.nodes),
        facts=tuple(f for f in graph.facts if f.symbol not in checked),
    )
    validate(bound)
    return bound


def checked_sizes(sizes: object) -> dict[str, int]:
    """Sizes by symbol, once they are known to be whole numbers ≥ 0; else GraphError."""
    if not isinstance(sizes, Mapping):
        raise GraphError(f"sizes are numbers by symbol, as in {{'n': 16}}, not {shown(sizes)}")
    return {s: _size(s, n) for s, n in sizes.items()}


def known_sizes(graph: Graph, sizes: object) -> dict[str, int]:
    """A caller's sizes, once all are of symbols that the program has; else GraphError."""
    checked = checked_sizes(sizes)
    unknown = sorted(checked.keys() - graph.symbols, key=str)
    if unknown:
        known = ", ".join(sorted(graph.symbols))
        cure = f"one of {known}" if known else "all its extents are numbers: leave sizes out"
        raise GraphError(
            f"sizes name {shown(unknown[0])}, which is no symbol of the program: {cure}"
        )
    return checked


def infer_sizes(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """The size of every symbol of the graph, from the shape of every input.

    A dim linear in one unknown symbol gives it, all others are checked. Raises GraphError naming
    input and dim for a missing, unknown or contradictory shape, and for symbols left unknown.
    """
    _check_inputs(graph, shapes)
    equations = [e for i in graph.inputs for e in _equations(i, shapes[i.name])]
    solved = _solve(equations)
    sizes = {s: k.value for s, k in solved.items()}
    unknown = sorted(_all_symbols(graph) - sizes.keys())
    if unknown:
        raise GraphError(
            f"the shapes of the inputs do not determine {', '.join(unknown)}: "
            f"give an input a dim that is just that symbol, or bind it to a number"
        )
    for e in equations:
        _check_equation(e, solved)
    for fact in graph.facts:
        if fact.symbol in sizes:
            _check_fact(fact, sizes[fact.symbol])
    return sizes


@dataclass(frozen=True, slots=True)
class _Equation:
    """Dim `dim` of an input, declared as `extent`, has size `size`."""

    input: str
    dim: int
    extent: Poly
    size: int

    def __str__(self) -> str:
        return f"input {self.input!r} dim {self.dim}"


@dataclass(frozen=True, slots=True)
class _Known:
    """A solved symbol and the equation that gave it."""

    value: int
    source: _Equation


def _size(symbol: str, size: object) -> int:
    try:
        whole = operator.index(size)  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        whole = None
    if whole is None or isinstance(size, bool):
        raise GraphError(f"the size of {symbol!r} is an int, not {shown(size)}")
    if whole < 0:
        raise GraphError(f"the size of {symbol!r} is {shown(whole)}: sizes are at least 0")
    return whole


def _check_fact(fact: Fact, size: int) -> None:
    promise = f"{fact.symbol} = {size} violates the declared fact {fact.symbol}"
    if size < fact.minimum:
        raise GraphError(f"{promise} >= {fact.minimum}")
    if fact.maximum is not None and size > fact.maximum:
        raise GraphError(f"{promise} <= {fact.maximum}")
    if size % fact.multiple:
        raise GraphError(f"{promise} % {fact.multiple} == 0")


def _bind_input(i: Input, sizes: Mapping[str, int]) -> Input:
    return replace(i, shape=tuple(p.bind(sizes) for p in i.shape))


def _bind_node(graph: Graph, node: Comprehension, sizes: Mapping[str, int]) -> Comprehension:
    bound = replace(
        node,
        point=_bind_dims(node.point, sizes),
        reduce=_bind_dims(node.reduce, sizes),
        where=tuple(w.bind(sizes) for w in node.where),
        reads=tuple(Read(r.source, r.view.bind(sizes)) for r in node.reads),
    )
    return bound if node.monoid is None else _with_rank_of(graph, node, bound)


def _with_rank_of(graph: Graph, node: Comprehension, bound: Comprehension) -> Comprehension:
    """The bound node with its states' dims as they were, by conditions that always hold.

    A state has the point dims that occur in `where` and in views (`component_dims`), and n·i
    vanishes with n = 0: without them a result's rank would hang on its sizes.
    """
    before = frozenset[str]().union(*(w.variables for w in node.where))
    after = frozenset[str]().union(*(w.variables for w in bound.where))
    lost = [variable(d.name) for d in bound.point if d.name in before - after]
    pairs = zip(node.reads, bound.reads, strict=True)
    reads = tuple(_with_dims_of(graph, bound.point, *pair) for pair in pairs)
    return replace(bound, where=(*bound.where, *lost), reads=reads)


def _with_dims_of(graph: Graph, point: tuple[Dim, ...], read: Read, bound: Read) -> Read:
    lost = read.view.dims() - bound.view.dims()
    held = tuple(Interval(variable(d.name), poly(0), d.extent) for d in point if d.name in lost)
    if not held:
        return bound
    fill = bound.view.fill or zero(graph.sort(read.source))
    return Read(bound.source, replace(bound.view, guard=(*bound.view.guard, *held), fill=fill))


def _bind_dims(dims: tuple[Dim, ...], sizes: Mapping[str, int]) -> tuple[Dim, ...]:
    return tuple(Dim(d.name, d.extent.bind(sizes)) for d in dims)


def _check_inputs(graph: Graph, shapes: Mapping[str, tuple[int, ...]]) -> None:
    names = [i.name for i in graph.inputs]
    for name in shapes:
        if name not in names:
            raise GraphError(f"no input {name!r}: one of {', '.join(names) or '(none)'}")
    for i in graph.inputs:
        if i.name not in shapes:
            raise GraphError(f"input {i.name!r} is missing: it has shape {_shape(i)}")
        shape = tuple(shapes[i.name])
        if len(shape) != len(i.shape):
            raise GraphError(f"input {i.name!r} has shape {_shape(i)}, but {shape} came")


def _shape(i: Input) -> str:
    return "(" + ", ".join(str(p) for p in i.shape) + ")"


def _equations(i: Input, shape: tuple[int, ...]) -> Iterator[_Equation]:
    for dim, (extent, size) in enumerate(zip(i.shape, shape, strict=True)):
        yield _Equation(i.name, dim, extent, _size(f"dim {dim} of input {i.name}", size))


def _solve(equations: list[_Equation]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    waiting = [e for e in equations if not e.extent.is_constant]
    while True:
        left = [e for e in waiting if not _solved(e, known)]
        if len(left) == len(waiting):
            return known
        waiting = left


def _solved(e: _Equation, known: dict[str, _Known]) -> bool:
    """Solve coefficient · symbol + constant = size; True when nothing is left to find in e."""
    rest = e.extent.bind({s: k.value for s, k in known.items()})
    if rest.is_constant:
        return True
    constant = next((c for m, c in rest.terms if m == ()), 0)
    terms = [(m, c) for m, c in rest.terms if m != ()]
    if len(terms) != 1 or len(terms[0][0]) != 1:
        return False
    (symbol,), coefficient = terms[0]
    value, remainder = divmod(e.size - constant, coefficient)
    if remainder or value < 0:
        raise GraphError(
            f"{e} is {e.extent}, which cannot be {e.size} for any size {symbol} ≥ 0"
            + _given(e, known)
        )
    known[symbol] = _Known(value, e)
    return True


def _check_equation(e: _Equation, known: Mapping[str, _Known]) -> None:
    value = e.extent.evaluate({s: k.value for s, k in known.items()})
    if value != e.size:
        declared = str(e.extent) if e.extent.is_constant else f"{e.extent} = {value}"
        raise GraphError(f"{e} is {declared}, but {e.size} came" + _given(e, known))


def _given(e: _Equation, known: Mapping[str, _Known]) -> str:
    used = [(s, known[s]) for s in sorted(e.extent.symbols) if s in known]
    parts = [f"{s} = {k.value} by {k.source} of size {k.source.size}" for s, k in used]
    return f" ({'; '.join(parts)})" if parts else ""


def _all_symbols(graph: Graph) -> frozenset[str]:
    """Every symbol in shapes, dims, views and where: what a full binding must give."""
    polys: list[Poly] = []
    for node in graph.nodes:
        polys += [p for w in node.where for p in _polys(w)]
        for read in reads_of(node):
            polys += [p for f in read.view.forms() for p in _polys(f)]
            polys += [p for i in read.view.guard for p in (i.lo, i.hi)]
    return graph.symbols.union(*(p.symbols for p in polys))


def _polys(form: Affine) -> Iterator[Poly]:
    yield form.const
    yield from (c for _, c in form.terms)
