"""Trials of mutants: what a process knew before a mutant was planted does not hide it."""

from __future__ import annotations

from fractions import Fraction

from tang.emit.c import C
from tang.fuzz.mutants import mutant_named
from tang.fuzz.mutants.trials import forget, is_late
from tang.kernel import ir as k


def test_cached_texts_are_forgotten(monkeypatch):
    infinity = k.Const(k.F32, "-inf")
    before = C.literal(infinity).text
    monkeypatch.setattr("tang.emit.c.special_bits", lambda name, form: 0)
    assert C.literal(infinity).text == before
    forget()
    assert C.literal(infinity).text != before
    assert C.literal(k.Const(k.F32, Fraction(1, 2))).text == "0.5f"
    monkeypatch.undo()
    forget()
    assert C.literal(infinity).text == before


def test_mutants_of_emitters_and_devices_share_references():
    assert is_late(mutant_named("sum-is-difference"))
    assert is_late(mutant_named("download-stale"))
    assert not is_late(mutant_named("where-is-strict"))
    assert not is_late(mutant_named("exp2-coefficient"))
