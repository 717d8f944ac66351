"""The rung `rewrite`: equal programs pass, a planted fault is found and its rule named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tang as tg
import tang.rewrite.rules.dead as dead
from tang.ir.expr import apply, arg, real
from tang.ir.graph import Comprehension, Fact, Graph
from tang.rewrite import RULES, Edit, Requirement, Rule
from tang.rewrite.program import Program
from tang.verify import Task, verify_batch
from tang.verify.derive import Derivation
from tang.verify.equality import compare_graphs
from tang.verify.inputs import random_inputs
from tang.verify.rewriting import check_rewrite, checker, data_of, small_sizes
from tang.verify.verdict import Rung, Verdict


def doubled() -> Graph:
    """2x + x of a symbolic length, and a node that nobody needs."""
    x = tg.input("x", ("n",))
    i = tg.dim("i", "n")
    twice = tg.compute("twice", [i], x[i] * 2.0)
    return tg.Graph(y=tg.compute("thrice", [i], twice[i] + x[i]))


def tripled(program: Program, node: Comprehension) -> Edit | None:
    """2x → 3x: wrong wherever x is not zero."""
    two, three = apply("mul", arg(0), real(2)), apply("mul", arg(0), real(3))
    if node.body != (two,):
        return None
    return Edit((node.name,), (replace(node, body=(three,)),), node.name, "2x → 3x")


@pytest.fixture
def faulty(monkeypatch):
    row = Rule("triple", "2x → 3x", "none", frozenset(), "Tang.none", tripled)
    monkeypatch.setitem(RULES, "triple", row)


def test_a_program_equals_itself():
    graph = doubled()
    (found,) = compare_graphs(graph, graph, {"x": np.arange(4.0)}, strict=True)
    assert not found.different
    assert found.undecided == 0


def test_a_right_derivation_passes():
    done = check_rewrite(doubled(), {"x": np.arange(4.0)}, ["dead-node"])
    assert done.findings == ()
    assert done.result.elements == 4


@pytest.mark.usefixtures("faulty")
def test_a_wrong_rule_is_named_by_the_local_check():
    done = check_rewrite(doubled(), {"x": np.arange(4.0)}, ["dead-node", "triple"])
    (finding,) = done.findings
    assert (finding.rung, finding.verdict) == (Rung.REWRITE, Verdict.WRONG)
    assert finding.origin == "rule triple"
    assert finding.node == "twice"
    assert "2x → 3x" in finding.message


@pytest.mark.usefixtures("faulty")
def test_a_wrong_rule_is_named_by_bisection_when_its_local_check_saw_nothing(monkeypatch):
    monkeypatch.setattr("tang.verify.rewriting.POINTS", 0)
    local = checker()
    done = check_rewrite(doubled(), {"x": np.arange(4.0)}, ["dead-node", "triple"], local=local)
    assert local.unchecked == 1
    assert done.result.note == "1 steps, 1 of them only as a whole"
    assert [f.origin for f in done.findings] == ["rule triple"]


@pytest.mark.usefixtures("faulty")
def test_a_rule_that_raises_is_a_finding(monkeypatch):
    def broken(program: Program, node: Comprehension) -> Edit | None:
        raise KeyError("lost")

    monkeypatch.setitem(RULES, "triple", replace(RULES["triple"], find=broken))
    (finding,) = check_rewrite(doubled(), {"x": np.arange(4.0)}, ["triple"]).findings
    assert finding.origin == "rule triple"
    assert "KeyError" in finding.message


@pytest.mark.usefixtures("faulty")
def test_the_ladder_climbs_the_derived_program_and_reports_its_rule():
    inputs = {"x": np.arange(4.0)}
    right = Task(graph=doubled(), inputs=inputs, derivation=Derivation(rules=("dead-node",)))
    wrong = replace(right, derivation=Derivation(rules=("triple",)))
    good, bad = verify_batch([right, wrong], backends=())
    assert good.ok
    assert next(r.rung for r in good.results) is Rung.REWRITE
    assert [f.origin for f in bad.findings] == ["rule triple"]


def test_what_differs_after_a_non_finite_is_skipped_outside_strict_alone():
    x = tg.input("x", (3,))
    i = tg.dim("i", 3)
    left = tg.Graph(y=tg.compute("y", [i], x[i] * 0.0))
    right = tg.Graph(y=tg.compute("y", [i], x[i] - x[i] + (x[i] * 0.0 - x[i] * 0.0)))
    zero = replace(left, nodes=(replace(left.nodes[0], reads=(), body=(real(0),)),))
    data = {"x": np.array([1.0, np.inf, 2.0])}
    assert not any(c.different for c in compare_graphs(left, right, data, strict=True))
    (loose,) = compare_graphs(left, zero, data, strict=False)
    assert not loose.different
    assert loose.skipped.tolist() == [False, True, False]
    (tight,) = compare_graphs(left, zero, data, strict=True)
    assert tight.different


def test_equal_applications_are_evaluated_once():
    local = checker()
    graph = doubled()
    for _ in range(2):
        check_rewrite(graph, {"x": np.arange(4.0)}, ["dead-node"], local=local)
    assert local.checked <= 1


def test_small_sizes_differ_and_obey_facts():
    facts = (Fact("a", multiple=8), Fact("b", minimum=1, maximum=2), Fact("c"))
    assert small_sizes({"a", "b", "c"}, facts) == {"a": 8, "b": 2, "c": 5}


def test_local_data_hold_specials_in_strict_mode_alone():
    graph = tg.Graph(y=tg.sum(tg.input("x", (50,)), axis=0))
    plain = data_of(graph, 0, specials=False)
    special = data_of(graph, 0, specials=True)
    assert all(np.isfinite(d["x"]).all() for d in plain)
    assert not np.isfinite(special[-1]["x"]).all()


def test_the_dead_node_rule_is_strict():
    assert dead.DEAD_NODE.strict
    assert Requirement.FINITE not in dead.DEAD_NODE.preconditions
    assert random_inputs(doubled(), {"n": 3}, 0)["x"].shape == (3,)


def test_a_fault_behind_an_infinity_is_no_skipped_element(monkeypatch):
    """A step that needs finite operands elsewhere does not hide one that keeps infinities."""
    monkeypatch.setattr("tang.verify.rewriting.POINTS", 0)  # local checks see nothing
    x, w = tg.input("x", (3, 4)), tg.input("w", (3,))
    i, k = tg.dim("i", 3), tg.dim("k", 4)
    twice = tg.compute("twice", [i, k], x[i, k] * 2.0)
    graph = tg.Graph(y=tg.compute("y", [i], tg.sum(w[i] * tg.exp(twice[i, k]), over=k)))
    data = {"x": np.array([[0.0, -np.inf, 1.0, 2.0]] * 3), "w": np.arange(3.0)}
    hoist = ["hoist-invariant-factors"]
    right = check_rewrite(graph, data, hoist)
    assert right.rewritten is not None
    assert [s.rule for s in right.rewritten.trace] == hoist
    assert not right.findings
    row = Rule("triple", "2x → 3x", "none", frozenset(), "Tang.none", tripled)
    monkeypatch.setitem(RULES, "triple", row)
    found = check_rewrite(graph, data, ["triple", *hoist]).findings
    assert [f.origin for f in found] == ["rule triple"]
