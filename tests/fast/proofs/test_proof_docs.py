"""docs/proofs.md names only theorems that exist, and every open rule."""

from __future__ import annotations

import re
from pathlib import Path

from tang.proofs import pairs, sources
from tang.rewrite import RULES

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "proofs.md").read_text()


def test_every_name_in_the_page_is_declared():
    project = sources.read()
    declared = {d.name for m in project.modules for d in sources.declarations(m)}
    named = set(re.findall(r"`(Tang\.[\w.']+)`", TEXT))
    assert named - declared == set()


def test_every_rule_without_a_pair_is_named():
    assert all(f"`{rule}`" in TEXT for rule in pairs.OPEN)
    assert f"{len(pairs.PAIRS)} of {len(RULES)} rules" in TEXT


def test_every_file_has_a_title():
    for m in sources.read().modules:
        assert f"/-! # {m.name}" in m.text
