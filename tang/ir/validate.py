"""Legality of graphs: names, references, sorts, variables and limits.

Defines `validate`, which every pass runs after its edits; a GraphError names node, read and dim
and says what to do. Relies on the grammar checks of expressions, views and monoids and on
`reach` for whether a view can leave its source. It edits nothing and evaluates nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable
from math import prod
from typing import Final

from tang.errors import GraphError
from tang.ir.expr import INDEX, Expr, Sort, walk
from tang.ir.extent import Poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, nameless, reads_of, require_graph
from tang.ir.monoid import Monoid
from tang.ir.reach import Prover
from tang.ir.view import GATHERED, Affine, Read, Ref, View

MAX_NODES: Final = 10_000
MAX_DIMS: Final = 64
"""Dims and axes of a node, rank of a tensor, reads' gathers, constraints, outputs of a node."""
MAX_READS: Final = 1024
MAX_GATHER_DEPTH: Final = 8
MAX_NAME: Final = 256
MAX_EXTENT: Final = 2**63 - 1
MAX_POLY: Final = 64
"""Terms of a polynomial extent, and factors of one term."""
MAX_CONSTANT_BITS: Final = 16_384
"""Bits of numerator and of denominator of a real constant."""

MAX_WORK: Final = 1_000_000
"""Operations visited while checking one graph: what is shared counts once per use."""

Type = tuple[tuple[Poly, ...], Sort]


def validate(graph: Graph) -> None:
    """Raise GraphError unless the graph is legal; concrete extents are checked for bounds too."""
    require_graph(graph)
    _require(len(graph.nodes) <= MAX_NODES, f"more than {MAX_NODES} nodes: split the program")
    _unique("tensor", [i.name for i in graph.inputs] + [n.name for n in graph.nodes])
    _unique("fact about symbol", [f.symbol for f in graph.facts])
    for fact in graph.facts:
        _check_fact(fact)
    scope = _Scope()
    for i in graph.inputs:
        _check_shape(f"input {i.name!r}", i.shape)
        scope.tensors[i.name] = i
    later = {n.name for n in graph.nodes}
    prover = Prover()
    known: dict[Hashable, int] = {}
    for node in graph.nodes:
        later.discard(node.name)
        key = _key(node, scope)
        if key is None or key not in known:
            before = scope.work
            _NodeCheck(node, scope, later | {node.name}, prover).run()
            known[key] = scope.work - before
        else:
            scope.spend(known[key])
        scope.tensors[node.name] = node
    _check_outputs(graph, scope)


def _key(node: Comprehension, scope: _Scope) -> Hashable:
    """All that the legality of a node depends on; None when it reads what is not known."""
    try:
        types = tuple(scope.type_of(r.source) for r in reads_of(node))
    except (GraphError, KeyError):
        return None
    return nameless(node), types


class _Scope:
    """The tensors known so far, their types, and the work spent on checking."""

    def __init__(self) -> None:
        self.tensors: dict[str, Input | Comprehension] = {}
        self.types: dict[Ref, Type] = {}
        self.sizes: dict[int, int] = {}
        self.work = 0

    def spend(self, operations: int) -> None:
        self.work += operations
        _require(self.work <= MAX_WORK, f"over {MAX_WORK} operations in bodies: split the program")

    def monoid_size(self, monoid: Monoid) -> int:
        """Operations in lift and combine, counted once per monoid object."""
        if id(monoid) not in self.sizes:
            parts = (*monoid.lift, *monoid.combine)
            self.sizes[id(monoid)] = sum(sum(1 for _ in walk(e)) for e in parts)
        return self.sizes[id(monoid)]

    def type_of(self, ref: Ref) -> Type:
        """Shape and sort of a known tensor; raises GraphError for an unknown output."""
        if ref not in self.types:
            self.types[ref] = self._find(self.tensors[ref.node], ref)
        return self.types[ref]

    def _find(self, source: Input | Comprehension, ref: Ref) -> Type:
        if isinstance(source, Input):
            _require(not ref.output, f"{ref.node!r} is an input: it has no output {ref.output!r}")
            return source.shape, source.sort
        if source.monoid is not None:
            self.spend(self.monoid_size(source.monoid))
        tensor = source.tensor(ref.output)
        return tensor.shape, tensor.sort


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise GraphError(message)


def _unique(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        _check_name(kind, name)
        _require(name not in seen, f"two {kind}s are named {name!r}: names are unique")
        seen.add(name)


def _check_name(kind: str, name: str) -> None:
    _require(isinstance(name, str) and name != "", f"a {kind} needs a non-empty name")
    _require(len(name) <= MAX_NAME, f"a {kind} name has over {MAX_NAME} characters: {name[:32]!r}…")
    bad = any(unicodedata.category(c) in ("Cc", "Cs") for c in name)
    _require(not bad, f"{kind} name {name!r} contains a control character or a lone surrogate")


def _check_fact(f: Fact) -> None:
    _require(f.symbol.isidentifier(), f"fact about {f.symbol!r}: a symbol is an identifier")
    _require(f.multiple >= 1, f"fact about {f.symbol}: multiple {f.multiple} is not positive")
    _require(f.minimum >= 0, f"fact about {f.symbol}: minimum {f.minimum} is negative")
    empty = f.maximum is not None and f.maximum < f.minimum
    _require(not empty, f"fact about {f.symbol}: maximum {f.maximum} is below {f.minimum}")
    numbers = (f.minimum, f.multiple, f.maximum or 0)
    _require(max(numbers) <= MAX_EXTENT, f"fact about {f.symbol}: a bound exceeds 2^63")


def _check_shape(where: str, shape: tuple[Poly, ...]) -> None:
    _require(len(shape) <= MAX_DIMS, f"{where} has rank {len(shape)}, over {MAX_DIMS}")
    for n, extent in enumerate(shape):
        _check_extent(f"{where} dim {n}", extent)


def _check_extent(where: str, extent: Poly) -> None:
    _check_poly(where, extent)
    if extent.is_constant:
        _require(extent.constant >= 0, f"{where} has extent {extent}: extents are at least 0")
        _require(extent.constant <= MAX_EXTENT, f"{where} has extent {extent}, beyond 2^63")


def _check_poly(where: str, p: Poly) -> None:
    small = len(p.terms) <= MAX_POLY and all(len(m) <= MAX_POLY for m, _ in p.terms)
    _require(small, f"{where}: a polynomial with over {MAX_POLY} terms or factors")
    for monomial, c in p.terms:
        _require(abs(c) <= MAX_EXTENT, f"{where}: coefficient beyond 2^63")
        for s in monomial:
            ok = s.isidentifier() and len(s) <= MAX_NAME
            _require(ok, f"{where}: {s!r} cannot name an extent: use a Python identifier")


def _check_outputs(graph: Graph, scope: _Scope) -> None:
    _unique("output", [o.name for o in graph.outputs])
    _require(bool(graph.outputs), "a graph needs an output: nothing else can be observed")
    for o in graph.outputs:
        known = o.ref.node in scope.tensors
        _require(known, f"output {o.name!r} names the unknown tensor {o.ref.node!r}")
        try:
            scope.type_of(o.ref)
        except GraphError as e:
            raise GraphError(f"output {o.name!r}: {e}") from e


class _NodeCheck:
    """The checks of one node; `scope` holds what it may read."""

    def __init__(self, node: Comprehension, scope: _Scope, later: set[str], prover: Prover) -> None:
        self.node = node
        self.scope = scope
        self.later = later
        self.prover = prover
        self.axes = {a.name: a.size for a in node.monoid.axes} if node.monoid else {}
        self.variables = {d.name for d in node.dims} | self.axes.keys()
        self.sorts: list[Sort] = []

    def run(self) -> None:
        self.check_dims()
        self.check_where()
        self.require(len(self.node.reads) <= MAX_READS, f"over {MAX_READS} reads")
        for n, read in enumerate(self.node.reads):
            self.sorts.append(self.check_read(f"reads[{n}]", read, frozenset(), 1))
        for n, body in enumerate(self.node.body):
            self.check_body(f"body[{n}]", body)
        if self.node.monoid is None:
            self.check_map()
        else:
            self.check_reduction(self.node.monoid)
        self.prover.check(self.node, lambda ref: self.scope.type_of(ref)[0])

    def require(self, condition: bool, message: str) -> None:
        if not condition:
            raise GraphError(f"node {self.node.name!r}: {message}")

    def check_dims(self) -> None:
        names = [*(d.name for d in self.node.dims), *self.axes]
        _unique(f"dim or axis of node {self.node.name!r}: dim", names)
        self.require(len(names) <= MAX_DIMS, f"{len(names)} dims and axes, over {MAX_DIMS}")
        for d in self.node.dims:
            _check_extent(f"node {self.node.name!r}: dim {d.name!r}", d.extent)
        for name in names:
            plain = not name.startswith(GATHERED)
            self.require(plain, f"dim {name!r} starts with @, which marks gathered values")
        for name, size in self.axes.items():
            self.require(size <= MAX_EXTENT, f"axis {name!r} has size {size}, beyond 2^63")

    def check_where(self) -> None:
        self.require(len(self.node.where) <= MAX_DIMS, f"over {MAX_DIMS} where conditions")
        dims = {d.name for d in self.node.dims}
        for n, w in enumerate(self.node.where):
            self.check_form(f"where[{n}]", w, dims, "point and reduce dims")

    def check_form(self, place: str, form: Affine, known: set[str], kinds: str) -> None:
        unknown = sorted(form.variables - known)
        self.require(
            not unknown, f"{place} = {form} uses {unknown}: the {kinds} are {sorted(known)}"
        )
        for p in (form.const, *(c for _, c in form.terms)):
            _check_poly(f"node {self.node.name!r}: {place}", p)

    def check_read(self, place: str, read: Read, outer: frozenset[str], depth: int) -> Sort:
        """Check a read and its gathers; `outer` are the gathered values of an enclosing view."""
        self.require(depth <= MAX_GATHER_DEPTH, f"{place}: gathers nest over {MAX_GATHER_DEPTH}")
        shape, sort = self.source(place, read.source)
        view = read.view
        count = f"{place} gives {len(view.coords)} coordinates to {str(read.source)!r}"
        self.require(len(view.coords) == len(shape), f"{count} of rank {len(shape)}")
        if view.fill is not None and view.fill.sort is not sort:
            came = f"{place}: the fill is {view.fill.sort.value}, {str(read.source)!r} holds"
            self.require(False, f"{came} {sort.value}: give a fill of that sort")
        self.check_gathers(place, view, depth)
        own = frozenset(f"{GATHERED}{k}" for k in range(len(view.gathers)))
        self.check_view(place, view, set(self.variables | (own or outer)))
        return sort

    def source(self, place: str, ref: Ref) -> Type:
        if ref.node in self.later:
            when = "itself" if ref.node == self.node.name else f"the later node {ref.node!r}"
            self.require(False, f"{place} reads {when}: nodes read inputs and earlier nodes only")
        self.require(
            ref.node in self.scope.tensors, f"{place} reads the unknown tensor {ref.node!r}"
        )
        try:
            return self.scope.type_of(ref)
        except GraphError as e:
            raise GraphError(f"node {self.node.name!r}: {place}: {e}") from e

    def check_gathers(self, place: str, view: View, depth: int) -> None:
        self.require(len(view.gathers) <= MAX_DIMS, f"{place} has over {MAX_DIMS} gathers")
        for k, gather in enumerate(view.gathers):
            earlier = frozenset(f"{GATHERED}{j}" for j in range(k))
            at = f"{place}.view.gathers[{k}]"
            sort = self.check_read(at, gather, earlier, depth + 1)
            came = f"{at} takes indices from {str(gather.source)!r}, which holds {sort.value}"
            self.require(sort is INDEX, f"{came}: indices have sort index")

    def check_view(self, place: str, view: View, known: set[str]) -> None:
        kinds = "dims, axes and earlier gathers"
        self.require(len(view.guard) <= MAX_DIMS, f"{place}: over {MAX_DIMS} guard intervals")
        for n, c in enumerate(view.coords):
            self.check_form(f"{place}.view.coords[{n}]", c, known, kinds)
        for n, i in enumerate(view.guard):
            at = f"{place}.view.guard[{n}]"
            self.check_form(at, i.form, known, kinds)
            for p in (i.lo, i.hi):
                _check_poly(f"node {self.node.name!r}: {at}", p)

    def check_body(self, place: str, body: Expr) -> None:
        dims = {d.name for d in self.node.dims}
        for e in walk(body):
            self.scope.spend(1)
            if e.op == "arg":
                self.check_arg(place, e)
            elif e.op == "iota":
                known = e.payload in self.variables
                self.require(known, f"{place} uses the coordinate of the unknown dim {e.payload!r}")
            elif e.op == "extent":
                cure = "the size of a static axis is a constant" if e.payload in self.axes else ""
                known = e.payload in dims
                self.require(known, f"{place} uses the extent of no dim {e.payload!r} {cure}")
            elif e.op in ("state", "fold"):
                self.require(False, f"{place} uses {e.op}, which belongs into a monoid")
            else:
                self.check_constant(place, e)

    def check_arg(self, place: str, e: Expr) -> None:
        i, n = e.payload, len(self.sorts)
        ok = isinstance(i, int) and not isinstance(i, bool) and 0 <= i < n
        self.require(ok, f"{place} uses arg {i!r}, but there are {n} reads")
        sort = self.sorts[i] if isinstance(i, int) else INDEX
        self.require(
            e.sort is sort, f"{place} takes reads[{i}] as {e.sort.value}, not {sort.value}"
        )

    def check_constant(self, place: str, e: Expr) -> None:
        if e.op == "index" and isinstance(e.payload, int):
            self.require(abs(e.payload) <= MAX_EXTENT, f"{place}: index constant beyond 2^63")
        elif e.op == "real" and not isinstance(e.payload, str | tuple | None):
            bits = max(e.payload.numerator.bit_length(), e.payload.denominator.bit_length())
            self.require(bits <= MAX_CONSTANT_BITS, f"{place}: a constant of {bits} bits")

    def check_map(self) -> None:
        node = self.node
        self.require(not node.reduce, "a map has no reduce dims: give a monoid")
        self.require(not node.where, "a map has no where: guard the read or use select")
        _unique(f"output of node {node.name!r}: output", list(node.outputs))
        self.require(bool(node.outputs), "a map needs an output")
        count = f"{len(node.body)} bodies for {len(node.outputs)} outputs"
        self.require(len(node.body) == len(node.outputs), count)
        self.require(len(node.body) <= MAX_DIMS, f"over {MAX_DIMS} outputs")

    def check_reduction(self, monoid: Monoid) -> None:
        node, inputs = self.node, monoid.inputs
        self.require(not node.outputs, f"outputs are those of {monoid.name}: leave them empty")
        small = max(len(monoid.components), len(monoid.outputs), len(inputs)) <= MAX_DIMS
        self.require(small, f"{monoid.name} has over {MAX_DIMS} inputs, components or outputs")
        self.scope.spend(self.scope.monoid_size(monoid))
        came = tuple(b.sort for b in node.body)
        if came != inputs:
            want = ", ".join(s.value for s in inputs)
            have = ", ".join(s.value for s in came)
            self.require(False, f"{monoid.name} takes ({want}), the body gives ({have})")
        self.check_axes(monoid)
        self.check_empty(monoid)

    def check_axes(self, monoid: Monoid) -> None:
        """A component may depend only on its own axes, also through its inputs."""
        if not monoid.axes:
            return
        below = [self.body_axes(b) for b in self.node.body]
        for c, e in zip(monoid.components, monoid.lift, strict=True):
            extra = sorted(_free_axes(e, below) - set(c.axes))
            self.require(
                not extra,
                f"component {c.name} of {monoid.name} depends on axes {extra} through the body, "
                f"but has axes {list(c.axes)}",
            )

    def body_axes(self, body: Expr) -> frozenset[str]:
        used = (e.payload for e in walk(body) if e.op == "arg" and isinstance(e.payload, int))
        reads = (self.node.reads[i].view.dims() for i in used)
        return body.names.union(*reads) & self.axes.keys()

    def check_empty(self, monoid: Monoid) -> None:
        """Where extents are known: no empty semigroup fold, no top-k of fewer than k elements.

        Top-k is known by its monoid's name (`monoids.top_k` calls it top_k_3, and products keep
        the name), since only its order makes a missing rank an error.
        """
        points, size = _volume(self.node.point), _volume(self.node.reduce)
        if points == 0 or size is None:
            return
        dims = ", ".join(f"{d.name}:{d.extent}" for d in self.node.reduce)
        if size == 0 and monoid.identity is None:
            self.require(False, f"{monoid.name} of nothing: the reduce dims [{dims}] are empty")
        k = max(map(int, re.findall(r"top_k_(\d{1,18})", monoid.name)), default=0)
        self.require(k <= size, f"{monoid.name} of {size} elements: [{dims}] has fewer than {k}")


def _volume(dims: Iterable[Dim]) -> int | None:
    """The number of points, 0 if any extent is 0, None when it depends on a symbol."""
    extents = [d.extent for d in dims]
    if any(e.is_constant and e.constant == 0 for e in extents):
        return 0
    if not all(e.is_constant for e in extents):
        return None
    return prod(e.constant for e in extents)


def _free_axes(root: Expr, below: list[frozenset[str]]) -> frozenset[str]:
    """Axes on which a lift depends, given those of each input; folds bind theirs."""
    free: dict[int, frozenset[str]] = {}
    for e in walk(root):
        found = frozenset[str]().union(*(free[id(a)] for a in e.args))
        if e.op == "arg" and isinstance(e.payload, int):
            found |= below[e.payload]
        elif e.op == "iota" and isinstance(e.payload, str):
            found |= {e.payload}
        elif e.op == "fold" and isinstance(e.payload, tuple):
            found -= {str(e.payload[0])}
        free[id(e)] = found
    return free[id(root)]
