"""The engine applies rules to their end, keeps order and shapes, and names who is at fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tang as tg
from tang.errors import GraphError, RewriteError, TangBugError
from tang.ir.expr import real
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Graph, Output
from tang.ir.view import Ref
from tang.rewrite import RULES, Application, Edit, Requirement, Rule, rewrite
from tang.rewrite.engine import apply_rules
from tang.rewrite.program import Program


def chain(length: int = 3) -> Graph:
    """x + 1 + 1 … over four points."""
    x = tg.input("x", (4,))
    for n in range(length):
        i = tg.dim("i", 4)
        x = tg.compute(f"n{n}", [i], x[i] + 1.0)
    return tg.Graph(y=x)


def rule(find, name="test-rule", needs=frozenset()) -> Rule:
    return Rule(name, "a → b", "any", needs, "Tang.test", find)


def zeroed(program: Program, node: Comprehension) -> Edit | None:
    """Replaces the last node's body by zero: legal, and wrong."""
    if node.name != "n2" or not node.reads:
        return None
    new = replace(node, reads=(), body=(real(0),))
    return Edit((node.name,), (new,), node.name, "n2 → 0")


def test_dead_nodes_go_and_their_sources_after_them():
    graph = chain()
    first = replace(graph, outputs=(Output("y", Ref("n0", graph.nodes[0].outputs[0])),))
    done = rewrite(first, ["dead-node"])
    assert [n.name for n in done.graph.nodes] == ["n0"]
    assert [(s.rule, s.node) for s in done.trace] == [("dead-node", "n2"), ("dead-node", "n1")]


def test_a_graph_without_matches_is_the_same_graph():
    graph = chain()
    done = rewrite(graph, ["dead-node"])
    assert done.graph == graph
    assert done.trace == ()


def test_the_package_can_be_called_and_read():
    assert tg.rewrite(chain(), ["dead-node"]).trace == ()
    assert tg.rewrite.RULES is RULES


def test_the_package_takes_all_that_its_function_takes():
    """Type checkers see the function, and so must callers."""
    steps: list[str] = []
    graph = chain()
    first = replace(graph, outputs=(Output("y", Ref("n0", graph.nodes[0].outputs[0])),))
    tg.rewrite(first, ["dead-node"], observe=lambda step, _: steps.append(step.node))
    assert steps == ["n2", "n1"]
    assert tg.rewrite(graph, ["dead-node"], check=lambda a: "wrong").trace == ()


def test_an_unknown_rule_names_the_known_ones():
    with pytest.raises(GraphError, match=r"no rule 'dead'.*dead-node"):
        rewrite(chain(), ["dead"])


def test_a_string_is_no_list_of_rules():
    with pytest.raises(GraphError, match="sequence of names"):
        rewrite(chain(), "dead-node")


def test_a_checker_sees_each_application_alone_and_under_canonical_names():
    seen: list[Application] = []

    def check(a: Application) -> str | None:
        seen.append(a)
        return "not equal"

    with pytest.raises(RewriteError, match=r"test-rule at 'n2'.*n2 → 0.*not equal") as caught:
        apply_rules(chain(), [rule(zeroed)], check=check)
    assert (caught.value.rule, caught.value.node) == ("test-rule", "n2")
    (a,) = seen
    assert [i.name for i in a.before.inputs] == ["i0"]
    assert [n.name for n in a.before.nodes] == ["n0"]
    assert [o.name for o in a.after.outputs] == ["o0"]


def test_equal_rewrites_in_two_places_are_equal_applications():
    seen: list[Application] = []

    def both(program: Program, node: Comprehension) -> Edit | None:
        if node.body == (real(0),):
            return None
        return Edit((node.name,), (replace(node, reads=(), body=(real(0),)),), node.name, "→ 0")

    apply_rules(chain(), [rule(both)], check=lambda a: seen.append(a))
    assert len(seen) == 3
    assert seen[0] == seen[1] == seen[2]


def test_a_rule_that_needs_finite_operands_is_off_in_strict_mode():
    needs = frozenset({Requirement.FINITE})
    assert apply_rules(chain(), [rule(zeroed, needs=needs)], strict=True).trace == ()
    done = apply_rules(chain(), [rule(zeroed, needs=needs)])
    assert done.assumptions() == needs


def test_an_edit_that_changes_a_shape_is_refused():
    def find(program: Program, node: Comprehension) -> Edit | None:
        wider = replace(node, point=(Dim("i", poly(5)),), reads=(), body=(real(0),))
        return Edit((node.name,), (wider,), node.name, "wider") if node.name == "n2" else None

    with pytest.raises((TangBugError, RewriteError)) as caught:
        apply_rules(chain(), [rule(find)])
    assert "test-rule" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_an_edit_that_reads_a_later_node_is_refused():
    def find(program: Program, node: Comprehension) -> Edit | None:
        if node.name != "n0":
            return None
        later = program.node("n2")
        new = replace(later, name="n0", reads=(replace(later.reads[0], source=Ref("n1", "y")),))
        return Edit(("n0",), (new,), "n0", "backwards")

    with pytest.raises((TangBugError, GraphError, RewriteError)):
        apply_rules(chain(), [rule(find)])


def test_a_rule_without_end_is_stopped_and_named():
    def find(program: Program, node: Comprehension) -> Edit | None:
        return Edit((node.name,), (node,), node.name, "again")

    with pytest.raises(TangBugError, match="test-rule does not end"):
        apply_rules(chain(), [rule(find)])


def test_every_step_is_observed_with_the_program_after_it():
    sizes: list[int] = []
    graph = chain()
    first = replace(graph, outputs=(Output("y", Ref("n0", graph.nodes[0].outputs[0])),))
    rewrite(first, ["dead-node"], observe=lambda step, program: sizes.append(len(program)))
    assert sizes == [2, 1]


def test_fresh_names_are_free():
    program = Program(chain())
    assert program.fresh("new") == "new"
    assert program.fresh("n0") == "n0_2"
    assert program.fresh("n0", ("n0_2", "n0_3")) == "n0_4"
