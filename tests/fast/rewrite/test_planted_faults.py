"""A fault in a rule is found on its example, and the rule is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structural_examples import EXAMPLES

from tang.errors import RewriteError
from tang.ir.expr import boolean, real
from tang.ir.view import View, constant
from tang.rewrite import rewrite, substitution
from tang.rewrite.rules import cse, dims, hoist, siblings, views
from tang.verify.rewriting import checker


def guard_lost(patch):
    """The guard of the read is forgotten: x + 1 at −1 is 1."""
    patch.setattr(substitution._Inlining, "inside", lambda self: boolean(True))


def fill_lost(patch):
    """Outside the guard a 1 is read, whatever the views say."""

    def filled(inner, forms, outer, domain):
        found = substitution.copied_through(inner, forms, outer, domain)
        return View(found.coords, found.guard, real(1) if found.guard else None, found.gathers)

    patch.setattr(views, "copied_through", filled)


def factor_lost(patch):
    honest = hoist._epilogue
    patch.setattr(hoist, "_epilogue", lambda n, i, o, fixed: honest(n, i, o, fixed[:-1]))


def inner_reversed(patch):
    """The inner dim of the pair runs backwards in the reader."""

    def joined(coords, at, b):
        both = coords[at].scale(b.extent) + (constant(b.extent - 1) - coords[at + 1])
        return (*coords[:at], both, *coords[at + 2 :])

    patch.setattr(dims, "_joined", joined)


def results_exchanged(patch):
    honest = siblings._merged_folds

    def exchanged(a, b):
        new, redirect = honest(a, b)
        targets = list(redirect.values())
        half = len(targets) // 2
        return new, dict(zip(redirect, targets[half:] + targets[:half], strict=True))

    patch.setattr(siblings, "_merged_folds", exchanged)


def operands_forgotten(patch):
    honest = cse._numbers
    patch.setattr(cse, "_numbers", lambda n, table: honest(replace(n, body=n.body), {}))


FAULTS = {
    "substitute-maps": guard_lost,
    "compose-views": fill_lost,
    "hoist-invariant-factors": factor_lost,
    "merge-dims": inner_reversed,
    "merge-siblings": results_exchanged,
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_its_rule_named(name, monkeypatch):
    example = EXAMPLES[name]()
    assert rewrite(example.before, [name], check=checker()).trace
    FAULTS[name](monkeypatch)
    with pytest.raises(RewriteError) as caught:
        rewrite(example.before, [name], check=checker())
    assert caught.value.rule == name


def test_numbers_of_two_tables_make_different_nodes_equal(monkeypatch):
    """Equality of nodes is equality in one table; x + y and x · y count alike in two."""
    before = EXAMPLES["common-subexpression"]().before
    body = before.nodes[2].body[0]
    product = replace(before.nodes[1], body=(body,))
    graph = replace(before, nodes=(before.nodes[0], product, before.nodes[2]))
    assert rewrite(graph, ["common-subexpression"], check=checker()).trace == ()
    operands_forgotten(monkeypatch)
    with pytest.raises(RewriteError):
        rewrite(graph, ["common-subexpression"], check=checker())
