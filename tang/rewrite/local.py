"""The local pair of a rewrite: the nodes that change, alone, before and after.

Defines `Application` and `application`, which cuts an edit out of a program and gives it canonical
names, so that equal rewrites in two layers of a model are equal values. Relies on the IR. It
evaluates nothing: whoever checks takes the two graphs from here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tang.ir.graph import Comprehension, Graph, Input, Output, reads_of
from tang.ir.view import Ref
from tang.rewrite.program import Program, redirected
from tang.rewrite.rule import Edit, Rule


@dataclass(frozen=True, slots=True)
class Application:
    """One use of a rule: the changed nodes before and after, with outputs of the same names.

    Inputs ("i0", "i1" …) are what the nodes read from elsewhere; nodes are "n0", "n1" … on each
    side. `strict` says that NaN and infinities count: in strict mode, and for every rule that does
    not need finite operands.
    """

    rule: str
    before: Graph
    after: Graph
    strict: bool


Checker = Callable[[Application], str | None]
"""Says what is wrong with an application, or None."""


def application(program: Program, rule: Rule, edit: Edit) -> Application:
    """The local pair of an edit that has not been applied yet."""
    updated = [n.name for n in edit.update]
    old = _in_order(program, [*edit.remove, *edit.context, *updated])
    context = _in_order(program, edit.context)
    new = _sorted([*context, *edit.insert, *edit.update])
    wanted = _wanted(program, [*edit.remove, *updated])
    cut = _Cut(program)
    before, renamed = cut.nodes(old)
    after, renamed_after = cut.nodes(new)
    outputs = [(f"o{n}", ref, edit.redirect.get(ref, ref)) for n, ref in enumerate(wanted)]
    left = tuple(Output(o, _named(r, renamed, cut.names)) for o, r, _ in outputs)
    right = tuple(Output(o, _named(r, renamed_after, cut.names)) for o, _, r in outputs)
    inputs = tuple(cut.inputs)
    symbols = Graph(inputs, (*before, *after), left).symbols
    facts = tuple(f for f in program.facts if f.symbol in symbols)
    return Application(
        rule.name,
        Graph(inputs, before, left, facts),
        Graph(inputs, after, right, facts),
        program.strict or rule.strict,
    )


@dataclass(slots=True)
class _Cut:
    """The inputs of a local pair, made as they are met."""

    program: Program
    names: dict[Ref, Ref] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)

    def nodes(
        self, nodes: Sequence[Comprehension]
    ) -> tuple[tuple[Comprehension, ...], dict[str, str]]:
        """The nodes under canonical names, reading only each other and the inputs."""
        inside = {n.name: f"n{k}" for k, n in enumerate(nodes)}
        moved = []
        for node in nodes:
            new = {r.source: self._source(r.source, inside) for r in reads_of(node)}
            moved.append(replace(redirected(node, new), name=inside[node.name]))
        return tuple(moved), inside

    def _source(self, ref: Ref, inside: dict[str, str]) -> Ref:
        return Ref(inside[ref.node], ref.output) if ref.node in inside else self.input(ref)

    def input(self, ref: Ref) -> Ref:
        """The input that stands for a tensor from elsewhere."""
        if ref not in self.names:
            shape, sort = self.program.type_of(ref)
            self.inputs.append(Input(f"i{len(self.inputs)}", shape, sort))
            self.names[ref] = Ref(self.inputs[-1].name)
        return self.names[ref]


def _named(ref: Ref, inside: dict[str, str], outside: dict[Ref, Ref]) -> Ref:
    return Ref(inside[ref.node], ref.output) if ref.node in inside else outside[ref]


def _wanted(program: Program, names: Sequence[str]) -> list[Ref]:
    """The results of the named nodes that other nodes read or the caller wants."""
    inside = set(names)
    found: dict[Ref, None] = {}
    for name in dict.fromkeys(names):
        for reader in program.readers(name):
            if reader.name not in inside:
                found |= {r.source: None for r in reads_of(reader) if r.source.node == name}
        found |= {Ref(name, o): None for o in sorted(program.wanted(name))}
    return list(found)


def _in_order(program: Program, names: Sequence[str]) -> list[Comprehension]:
    found = [n for n in (program.node(name) for name in dict.fromkeys(names)) if n is not None]
    return sorted(found, key=lambda n: program.order(n.name))


def _sorted(nodes: Sequence[Comprehension]) -> list[Comprehension]:
    """The nodes, each after those it reads."""
    left = {n.name: n for n in nodes}
    done: list[Comprehension] = []
    while left:
        ready = [n for n in left.values() if not any(r.source.node in left for r in reads_of(n))]
        done += ready
        for n in ready or list(left.values()):
            del left[n.name]
    return done
