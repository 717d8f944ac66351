"""The table of rules writes its own tests: each row's example is found, and keeps its meaning."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from derivation_checks import agree, draw
from structural_examples import EXAMPLES

from tang.ir.graph import Graph, Output
from tang.ir.view import Ref
from tang.rewrite import PIPELINE, RULES, Requirement, rewrite
from tang.rewrite.program import redirected
from tang.rewrite.substitution import renamed
from tang.verify.rewriting import checker

SIZES = (1, 2, 5)
KINDS = ("dyadic", "random", "wide")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_rule_finds_its_example_and_then_nothing_more(name):
    example = EXAMPLES[name]()
    done = rewrite(example.before, [name])
    assert [s.rule for s in done.trace] == [name] * example.times
    assert example.after(done.graph)
    assert rewrite(done.graph, [name]).trace == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_rule_keeps_the_meaning_of_its_example(name):
    example = EXAMPLES[name]()
    strict = RULES[name].strict
    after = rewrite(example.before, [name], strict, check=checker()).graph
    kinds = (*KINDS, "special") if strict else KINDS
    for n, (size, kind) in enumerate(itertools.product(SIZES, kinds)):
        sizes = dict.fromkeys(example.before.symbols, size)
        data = draw(example.before, n, kind, sizes)
        assert agree(example.before, after, data, strict), (size, kind)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pipeline_keeps_the_meaning_of_every_example(name):
    before = EXAMPLES[name]().before
    after = rewrite(before).graph
    for n, (size, kind) in enumerate(itertools.product(SIZES, KINDS)):
        data = draw(before, n, kind, dict.fromkeys(before.symbols, size))
        assert agree(before, after, data), (size, kind)


@pytest.mark.parametrize("name", RULES)
def test_a_row_is_complete(name):
    row = RULES[name]
    assert row.name == name
    assert "→" in row.doc
    assert row.algebra
    assert row.theorem == "Tang." + name.replace("-", "_")
    assert all(isinstance(p, Requirement) for p in row.preconditions)


def under_other_names(graph: Graph) -> Graph:
    """The graph with every node and dim renamed."""
    new = {Ref(n.name, o): Ref(f"w_{n.name}", o) for n in graph.nodes for o in n.output_names()}
    nodes = []
    for n in graph.nodes:
        moved = renamed(redirected(n, new), {d.name: f"{d.name}_w" for d in n.dims})
        nodes.append(replace(moved, name=f"w_{n.name}"))
    outputs = tuple(Output(o.name, new.get(o.ref, o.ref)) for o in graph.outputs)
    return replace(graph, nodes=tuple(nodes), outputs=outputs)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_rule_does_not_look_at_names(name):
    example = EXAMPLES[name]()
    done = rewrite(under_other_names(example.before), [name])
    assert [s.rule for s in done.trace] == [name] * example.times


def test_strict_mode_leaves_out_what_needs_finite_operands():
    example = EXAMPLES["hoist-invariant-factors"]()
    assert rewrite(example.before, ["hoist-invariant-factors"], strict=True).trace == ()


def test_the_pipeline_lists_rules_of_the_table():
    assert set(PIPELINE) <= set(RULES)
