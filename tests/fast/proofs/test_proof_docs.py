"""docs/proofs.md names only theorems that exist, and every combine that is not proved."""

from __future__ import annotations

import re
from pathlib import Path

from tang.proofs import pairs, sources
from tang.proofs.names import UNPROVED
from tang.rewrite import RULES

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "proofs.md").read_text()


def test_every_name_in_the_page_is_declared():
    project = sources.read()
    declared = {d.name for m in project.modules for d in sources.declarations(m)}
    named = set(re.findall(r"`(Tang\.[\w.']+)`", TEXT))
    assert named - declared == set()


def test_the_number_of_pairs_is_that_of_the_rules():
    assert f"all {len(RULES)} rules" in TEXT
    assert len(pairs.PAIRS) == len(RULES)


def test_every_monoid_that_is_not_proved_is_named():
    assert all(f"`{monoid}`" in TEXT for monoid in UNPROVED)


def test_every_file_has_a_title():
    for m in sources.read().modules:
        assert f"/-! # {m.name}" in m.text
