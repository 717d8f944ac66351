"""Recall saves searches and changes nothing: the same steps, the same program."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from enriched import enriched

import tang as tg
from tang.autodiff import grad
from tang.fuzz.case import draw_case
from tang.ir.graph import Comprehension, Graph
from tang.models.transformer import TransformerSizes, transformer_loss
from tang.rewrite import PIPELINE, RULES, Edit, Rule
from tang.rewrite.engine import apply_rules
from tang.rewrite.program import Program
from tang.rewrite.recall import Recall

DRAWS = 24


def both(graph: Graph, *, strict: bool) -> None:
    """The same rewrite with and without recall."""
    rules = [RULES[n] for n in PIPELINE]
    asked = apply_rules(graph, [replace(r, recalled=False) for r in rules], strict=strict)
    recalled = apply_rules(graph, rules, strict=strict)
    assert [str(s) for s in recalled.trace] == [str(s) for s in asked.trace]
    assert recalled.graph == asked.graph


def gradients(layers: int) -> Graph:
    loss = transformer_loss(layers, TransformerSizes())
    return grad(loss, "loss", ["x"])


def chain(length: int, last: float = 1.0) -> Graph:
    """x + 1 + 1 … over four points, with another constant at the end."""
    x = tg.input("x", (4,))
    for n in range(length):
        i = tg.dim("i", 4)
        x = tg.compute(f"n{n}", [i], x[i] + (1.0 if n < length - 1 else last))
    return tg.Graph(y=x)


def counted(find, seen: Counter[str]) -> Rule:
    """A rule that counts where it was asked."""

    def asked(program: Program, node: Comprehension) -> Edit | None:
        seen[node.name] += 1
        return find(program, node)

    return Rule("test-rule", "a → b", "any", frozenset(), "Tang.test", asked, recalled=True)


@pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
def test_random_graphs_are_rewritten_alike_with_and_without_recall(strict):
    for n in range(DRAWS):
        both(enriched(draw_case(17, n).graph, n), strict=strict)


def test_a_transformer_with_gradients_is_rewritten_alike_with_and_without_recall():
    both(gradients(2), strict=False)


def test_a_rule_is_not_asked_again_at_a_place_that_differs_in_names_alone():
    seen: Counter[str] = Counter()
    apply_rules(chain(6), [counted(lambda program, node: None, seen)])
    assert sorted(seen) == ["n0", "n1"]  # one that reads an input, one that reads a node


def test_what_a_rule_looked_at_elsewhere_counts():
    """A search that looks at readers is repeated where the readers differ."""
    seen: Counter[str] = Counter()

    def find(program: Program, node: Comprehension) -> Edit | None:
        program.readers(node.name)
        return None

    apply_rules(chain(6, last=2.0), [counted(find, seen)])
    assert len(seen) == 4  # the first, those before an equal one, the one before last, the last


def test_a_change_of_a_node_that_was_looked_at_is_seen():
    graph = chain(3)
    program = Program(graph)
    recall = Recall(program)
    _, questions = program.watched(lambda: program.node("n1"))
    recall.remember("rule", "n2", questions)
    assert recall.is_nothing("rule", "n2")
    changed = chain(2, last=3.0).node("n1")
    program.replace(["n1"], [changed], "n1", {})
    assert not recall.is_nothing("rule", "n2")


def test_a_note_of_the_rule_is_seen():
    """A planted difference: where the rule has noted a node, its answer may be another."""
    program = Program(chain(3))
    recall = Recall(program)

    def ask() -> frozenset[str]:
        program.node("n1")
        return program.remembered("rule")

    _, questions = program.watched(ask)
    recall.remember("rule", "n2", questions)
    assert recall.is_nothing("rule", "n2")
    program.remember("rule", "n0")
    assert not recall.is_nothing("rule", "n2")


def test_a_rule_that_looks_at_names_is_asked_everywhere():
    seen: Counter[str] = Counter()
    apply_rules(chain(6), [replace(counted(lambda program, node: None, seen), recalled=False)])
    assert len(seen) == 6
