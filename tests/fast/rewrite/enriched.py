"""Random graphs with more for rules to find: copies in the way, twins, and factors.

Defines `enriched` and `faults`, which checks rules on them. Relies on the fuzzer's graphs; every
change leaves a legal graph over the same inputs, of another meaning perhaps. Nothing shrinks.
"""

from __future__ import annotations

import random
from dataclasses import replace

from structural_examples import EXAMPLES

from tang.errors import GraphError, LimitError
from tang.fuzz.case import draw_case
from tang.ir.expr import REAL, apply, arg, real
from tang.ir.graph import Comprehension, Dim, Graph, Output
from tang.ir.monoids import SUM
from tang.ir.validate import validate
from tang.ir.view import Affine, Read, Ref, View, constant, variable
from tang.rewrite import RULES, rewrite
from tang.rewrite.substitution import renamed
from tang.verify.equality import compare_graphs
from tang.verify.rewriting import checker

STRUCTURAL = [n for n in RULES if n in EXAMPLES]


def enriched(graph: Graph, seed: int) -> Graph:
    """The graph after a few random changes that keep it legal."""
    rng = random.Random(seed)  # noqa: S311 - draws, not secrets
    for _ in range(rng.randint(1, 4)):
        change = rng.choice((with_copy, with_copy, with_map, with_twin, with_factor))
        new = change(graph, rng)
        try:
            validate(new)
        except GraphError:
            continue
        graph = new
    return graph


def _inserted(graph: Graph, at: int, *nodes: Comprehension, keep: bool = False) -> Graph:
    rest = graph.nodes[at:] if keep else graph.nodes[at + 1 :]
    return replace(graph, nodes=(*graph.nodes[:at], *nodes, *rest))


def _read_of(graph: Graph, rng: random.Random) -> tuple[int, int] | None:
    places = [(n, r) for n, node in enumerate(graph.nodes) for r in range(len(node.reads))]
    return rng.choice(places) if places else None


def _map_of(graph: Graph, read: Read, rng: random.Random, body) -> tuple[Comprehension, View]:
    """A map over a tensor, perhaps reversed along some dims, and the view that reads it back."""
    shape = graph.shape(read.source)
    point = tuple(Dim(f"c{n}", e) for n, e in enumerate(shape))
    flips = [rng.random() < 0.4 for _ in shape]
    coords = tuple(_flipped(variable(d.name), d, f) for d, f in zip(point, flips, strict=True))
    name = f"copy{len(graph.nodes)}"
    node = Comprehension(name, point, (Read(read.source, View(coords)),), (body,), outputs=("o",))
    view = read.view
    back = tuple(_flipped(c, d, f) for c, d, f in zip(view.coords, point, flips, strict=True))
    return node, View(back, view.guard, view.fill, view.gathers)


def _flipped(form: Affine, dim: Dim, flip: bool) -> Affine:
    return constant(dim.extent - 1) - form if flip else form


def with_copy(graph: Graph, rng: random.Random) -> Graph:
    """A read through a copy of its tensor, or the read of a gather's index tensor."""
    found = _read_of(graph, rng)
    if found is None:
        return graph
    n, r = found
    node = graph.nodes[n]
    read = node.reads[r]
    if read.view.gathers and rng.random() < 0.5:
        gather = read.view.gathers[0]
        copy, view = _map_of(graph, gather, rng, arg(0, graph.sort(gather.source)))
        gathers = (Read(Ref(copy.name, "o"), view), *read.view.gathers[1:])
        own = View(read.view.coords, read.view.guard, read.view.fill, gathers)
        new = Read(read.source, own)
    else:
        copy, view = _map_of(graph, read, rng, arg(0, graph.sort(read.source)))
        new = Read(Ref(copy.name, "o"), view)
    reads = (*node.reads[:r], new, *node.reads[r + 1 :])
    return _inserted(graph, n, copy, replace(node, reads=reads))


def with_map(graph: Graph, rng: random.Random) -> Graph:
    """A read of a real through a map."""
    found = _read_of(graph, rng)
    if found is None or graph.sort(graph.nodes[found[0]].reads[found[1]].source) is not REAL:
        return graph
    n, r = found
    node = graph.nodes[n]
    one = apply("add", arg(0), real(rng.choice((0.0, 1.0, -0.5))))
    body = rng.choice((one, apply("neg", arg(0)), apply("mul", arg(0), real(0.5))))
    made, view = _map_of(graph, node.reads[r], rng, body)
    reads = (*node.reads[:r], Read(Ref(made.name, "o"), view), *node.reads[r + 1 :])
    return _inserted(graph, n, made, replace(node, reads=reads))


def with_twin(graph: Graph, rng: random.Random) -> Graph:
    """A node beside another, with other names of dims, equal or with one body negated."""
    n = rng.randrange(len(graph.nodes))
    node = graph.nodes[n]
    twin = renamed(node, {d.name: f"{d.name}{d.name}" for d in node.dims})
    if rng.random() < 0.6:
        body = tuple(apply("neg", b) if b.sort is REAL else b for b in twin.body)
        twin = replace(twin, body=body)
    twin = replace(twin, name=f"twin{len(graph.nodes)}")
    wanted = rng.choice(node.output_names())
    output = Output(f"more{len(graph.outputs)}", Ref(twin.name, wanted))
    changed = _inserted(graph, n + 1, twin, keep=True)
    return replace(changed, outputs=(*graph.outputs, output))


def with_factor(graph: Graph, rng: random.Random) -> Graph:
    """A sum of something of this node's shape times an invariant factor, as one more output."""
    n = rng.randrange(len(graph.nodes))
    node = graph.nodes[n]
    name = node.output_names()[0]
    tensor = node.tensor(name)
    if tensor.sort is not REAL or tensor.axes or not tensor.dims:
        return graph
    *point, last = (Dim(f"q{k}", d.extent) for k, d in enumerate(tensor.dims))
    coords = tuple(variable(d.name) for d in (*point, last))
    flipped = (*coords[:-1], constant(last.extent - 1) - coords[-1])
    reads = (Read(Ref(node.name, name), View(coords)), Read(Ref(node.name, name), View(flipped)))
    value = rng.choice((arg(0), apply("mul", arg(0), arg(1))))
    body = apply("mul", value, real(rng.choice((2.0, -0.25))))
    total = Comprehension(f"sum{len(graph.nodes)}", tuple(point), reads, (body,), (last,), (), SUM)
    output = Output(f"more{len(graph.outputs)}", Ref(total.name, "value"))
    changed = _inserted(graph, n + 1, total, keep=True)
    return replace(changed, outputs=(*graph.outputs, output))


def faults(name: str, seed: int, start: int, count: int) -> list[str]:
    """What is wrong after a rule (or "pipeline") on enriched draws; half of them in strict mode.

    Every application is checked alone, and the whole program on the draw's data.
    """
    rules = STRUCTURAL if name == "pipeline" else [name]
    local, found = checker(), []
    for n in range(start, start + count):
        case = draw_case(seed, n)
        graph, strict = enriched(case.graph, n), n % 2 == 0
        done = rewrite(graph, rules, strict, check=local)
        exact = strict or all(RULES[s.rule].strict for s in done.trace)
        if done.trace and _takes(graph, case.inputs):
            results = compare_graphs(graph, done.graph, case.inputs, strict=exact)
            found += [f"draw {n}: {c.detail()}" for c in results if c.different]
    return found


def _takes(graph: Graph, inputs) -> bool:
    """Whether the interpreter takes the data: a gather may lie outside its source."""
    try:
        compare_graphs(graph, graph, inputs, strict=True)
    except (GraphError, LimitError):
        return False
    return True
