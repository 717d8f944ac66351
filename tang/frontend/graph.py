"""`Graph`: from tensors to a validated program.

Defines the assembly of IR graphs: what is reachable, in order of creation, under final names.
Relies on nodes and on `tang.ir.validate`. Names that users chose are kept as they are or refused;
names that helpers made up get a number when they are taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tang.frontend.lowering import unique
from tang.frontend.site import failure
from tang.frontend.tensors import InputNode, Node, Tensor, token
from tang.ir import graph as ir
from tang.ir.validate import validate
from tang.ir.view import Read, Ref

Outputs = Tensor | Mapping[str, Tensor]


def fact(symbol: str, minimum: int = 0, maximum: int | None = None, multiple: int = 1) -> ir.Fact:
    """What is known of a symbolic extent: bounds and divisibility."""
    return ir.Fact(symbol, minimum, maximum, multiple)


def Graph(  # noqa: N802 - reads as the type that it returns
    *outputs: Outputs, facts: Sequence[ir.Fact] | Tensor = (), **named: Tensor
) -> ir.Graph:
    """The program that computes the tensors, under their own names or under given ones.

    `Graph(C, D)`, `Graph(result=C)`, and `Graph({"any name": C})`; `facts` come from `tg.fact`.
    """
    if isinstance(facts, Tensor):
        named["facts"] = facts
        facts = ()
    wanted = _wanted(outputs, named)
    reachable = _reachable([t for _, t in wanted])
    names = _final_names(reachable)
    inputs = {names[n]: n for n in reachable if isinstance(n, InputNode)}
    final = {token(n): name for n, name in names.items()}
    nodes = [_renamed(n, final) for n in reachable if isinstance(n, Node)]
    results = [(k or _default_name(t, names), t) for k, t in wanted]
    _refuse_twice([k for k, _ in results])
    built = ir.Graph(
        tuple(ir.Input(k, n.shape, n.sort) for k, n in inputs.items()),
        tuple(nodes),
        tuple(ir.Output(k, Ref(names[t.node], t.output_name)) for k, t in results),
        tuple(facts),
    )
    validate(built)
    return built


def _wanted(
    outputs: tuple[Outputs, ...], named: Mapping[str, Tensor]
) -> list[tuple[str | None, Tensor]]:
    found: list[tuple[str | None, Tensor]] = []
    for o in outputs:
        pairs = o.items() if isinstance(o, Mapping) else [(None, o)]
        found.extend(pairs)
    found.extend(named.items())
    for _, t in found:
        if not isinstance(t, Tensor):
            raise failure(f"tg.Graph takes tensors made by tg.compute or a helper, not {t!r}")
    if not found:
        raise failure("tg.Graph needs at least one tensor")
    return found


def _reachable(tensors: Sequence[Tensor]) -> list[Node | InputNode]:
    """Every node behind the tensors, sources before users."""
    seen: dict[Node | InputNode, None] = {}
    stack: list[Node | InputNode] = [t.node for t in tensors]
    while stack:
        n = stack.pop()
        if n not in seen:
            seen[n] = None
            stack.extend(n.sources if isinstance(n, Node) else ())
    return sorted(seen, key=lambda n: n.serial)


def _final_names(nodes: Sequence[Node | InputNode]) -> dict[Node | InputNode, str]:
    chosen: dict[str, Node | InputNode] = {}
    for n in nodes:
        if isinstance(n, InputNode) or not n.auto:
            _refuse_clash(chosen.setdefault(n.name, n), n)
    taken = set(chosen)
    return {n: unique(n.name, taken) if isinstance(n, Node) and n.auto else n.name for n in nodes}


def _refuse_clash(first: Node | InputNode, second: Node | InputNode) -> None:
    if first is second:
        return
    if isinstance(first, InputNode) and isinstance(second, InputNode):
        if (first.shape, first.sort) == (second.shape, second.sort):
            return
        raise failure(
            f"input {second.name!r} is declared twice, as {first.shape} {first.sort.value} at "
            f"{first.site} and as {second.shape} {second.sort.value} at {second.site}"
        )
    raise failure(
        f"two tensors are called {second.name!r}, at {first.site} and at {second.site}: rename one"
    )


def _refuse_twice(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for n in names:
        if n in seen:
            raise failure(f"two outputs are called {n!r}: name them, tg.Graph(a=…, b=…)")
        seen.add(n)


def _default_name(t: Tensor, names: Mapping[Node | InputNode, str]) -> str:
    name = names[t.node]
    if isinstance(t.node, InputNode):
        return name
    first = t.node.comprehension.output_names()[0]
    return name if t.output_name == first else f"{name}.{t.output_name}"


def _renamed(node: Node, final: Mapping[str, str]) -> ir.Comprehension:
    name = final[token(node)]
    return replace(node.comprehension, name=name, reads=_reads(node.comprehension.reads, final))


def _reads(reads: tuple[Read, ...], final: Mapping[str, str]) -> tuple[Read, ...]:
    return tuple(
        Read(
            Ref(final[r.source.node], r.source.output),
            replace(r.view, gathers=_reads(r.view.gathers, final)),
        )
        for r in reads
    )
