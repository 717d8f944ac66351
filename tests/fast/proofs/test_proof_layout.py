"""What Lean could read otherwise than the source check does is refused, at its line."""

from __future__ import annotations

import pytest

from tang.proofs import layout, sources

CLEAN = """prelude
import Tang.Core
import Tang.Syntax
/-! # Tang.X -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang
section
variable {K : Type u} [LE K] -- an order
/-- A definition. -/
def d (n : Nat) : Nat := n
@[simp] theorem t (a b : K) (h : a ≤ b) :
    a ≤ b := by
  exact h
theorem by_cases : Nat → True
  | _ => trivial
end
end Tang
"""


def module(text):
    return sources.Module("Tang.X", sources.HERE / "X.lean", text, layout.imports(text))


def found(text):
    """All that the source check says of a text."""
    m = module(text)
    names, seen = {*m.imports, m.name}, set(m.imports)
    return [*sources._header_problems(m, names, seen), *sources._body_problems(m)]


def planted(old, new):
    """The clean text with a fault in it; the clean text has none."""
    assert found(CLEAN) == []
    assert CLEAN.count(old) == 1
    return CLEAN.replace(old, new)


INDENTED = (
    "instance bad : LE Nat := ⟨fun _ _ => True⟩", "def bad : Nat := 0", "theorem bad : True := h",
    "@[simp] theorem bad : True := h", "open Nat", "variable (c : Nat)", "namespace Bad",
    "set_option autoImplicit false", "section", "end", "noncomputable def bad : Nat := 0",
    "structure Bad where", "class Bad where", "inductive Bad where", "abbrev Bad := Nat",
    "export Nat (add)", "universe v", "local instance bad : LE Nat := x", "scoped notation a := b",
    "macro bad : tactic => x", "private def bad := 0", "example : True := h", "include K",
    "attribute bad", "omit bad", "mutual", "deriving instance x",
)  # fmt: skip


@pytest.mark.parametrize("text", INDENTED)
def test_an_indented_command_is_refused(text):
    bad = planted("  exact h\n", f"  exact h\n  {text}\n")
    assert 16 in {line for line, _ in found(bad)}


@pytest.mark.parametrize("text", INDENTED)
@pytest.mark.parametrize("before", ["exact h ", "exact h 0", "exact (h)", "exact λ"],
                         ids=["space", "digit", "bracket", "lambda"],
)  # fmt: skip
def test_a_command_behind_other_text_is_refused(text, before):
    bad = planted("  exact h\n", f"  {before}{text}\n")
    assert 15 in {line for line, _ in found(bad)}


@pytest.mark.parametrize("text", INDENTED)
def test_a_command_behind_a_comment_or_another_command_is_refused(text):
    for line in (f"/- x -/{text}", f"/- x -/ {text}", f"variable (e : K) {text}"):
        assert 16 in {n for n, _ in found(planted("  exact h\n", f"  exact h\n{line}\n"))}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("def d", "private def d", 12), ("def d", "local instance d", 12),
        ("def d", "protected def d", 12), ("@[simp] ", "@[instance] ", 13),
        ("@[simp] ", "@[simp, instance] ", 13), ("@[simp] ", "@[simp]\n", 13),
        ("def d (", "def «d» (", 12), ("def d (", "def\n  d (", 12),
        ("variable {", "open Nat in\nvariable {", 10),
        ("exact h", "exact h; exact h", 15), ("exact h", "exact `h", 15),
        ("exact h", "exact 'h'", 15), ("exact h", 'exact "h"', 15), ("exact h", "exact h#eval", 15),
        ("  exact h", "#eval 0", 15), ("universe u", "foo u", 6),
        ("end Tang\n", "end Tang\nend\n", 20),
        ("section\nvariable", "section S\nvariable", 18), ("namespace Tang", "namespace Tong", 12),
    ],
)  # fmt: skip
def test_what_is_not_plain_is_refused(old, new, line):
    assert line in {n for n, _ in found(planted(old, new))}


@pytest.mark.parametrize(
    ("text", "line"),
    [("trivial--x", 17), ("trivial/-x-/", 17), ("trivial /--/ x -/", 17), ("trivial /- x", 17),
     ("trivial //- x -/", 17), ("trivial\u2028", 17), ("trivial\t", 17), ("trivial\r", 17),
     ("trivial\u200b", 17), ("trivial\x0c", 17)],
)  # fmt: skip
def test_comments_and_characters_that_are_read_in_two_ways_are_refused(text, line):
    assert line in {n for n, _ in found(planted("=> trivial", f"=> {text}"))}


@pytest.mark.parametrize(
    "header",
    ["import Tang.Core import Tang.Bad", "import all Tang.Bad", "public import Tang.Bad",
     "meta import Tang.Bad", "import Tang.Core /- x -/ import Tang.Bad", "import\n  Tang.Bad",
     " import Tang.Bad", "/- x -/ import Tang.Bad", "-- x\nimport Tang.Bad", "\nimport Tang.Bad",
     "import «Tang».Bad", "import Init", "import Tang.Bad.", "import Tang.Bad -- x", "module",
     "import Tang.Core\u00a0import Tang.Bad", "public meta import Tang.Bad",
     "import runtime Tang.Bad", "import private Tang.Bad"],
)  # fmt: skip
def test_an_import_that_is_not_plain_is_refused(header):
    bad = planted("import Tang.Core\n", f"import Tang.Core\n{header}\n")
    assert found(bad) != []
    assert "Tang.Bad" not in layout.imports(bad)


@pytest.mark.parametrize("first", ["", "module\n", "-- x\n", "/- x -/ ", "\ufeff", " "],
                         ids=["nothing", "module", "comment", "block", "mark", "space"],
)  # fmt: skip
def test_a_file_that_does_not_begin_with_prelude_is_refused(first):
    bad = first + (CLEAN if first else CLEAN.removeprefix("prelude\n"))
    assert any(n == 1 and "make that the whole" in what for n, what in found(bad))


def test_a_circle_of_imports_is_refused(tmp_path):
    (tmp_path / "Tang").mkdir()
    for one, two in (("A", "B"), ("B", "A")):
        (tmp_path / "Tang" / f"{one}.lean").write_text(f"prelude\nimport Tang.{two}\n")
    faults = list(sources.problems(sources.read(tmp_path)))
    assert any("break the circle" in f for f in faults)


@pytest.mark.parametrize(
    ("old", "new"),
    [("→ True\n", "→ let x := True\n  x\n"), ("→ True\n", "→ match 0 with\n"),
     ("→ True\n", "→ P fun\n"), ("=> trivial\n", "=> trivial\n  where aux : Prop := True\n"),
     ("=> trivial\n", "=> by\n    let  rec aux : Prop := True\n"), ("  | _ => trivial\n", "")],
    ids=["let", "match", "fun", "where", "let-rec", "no-proof"],
)  # fmt: skip
def test_a_theorem_whose_statement_has_no_plain_end_is_refused(old, new):
    assert 16 in {n for n, _ in found(planted(old, new))}


def test_a_statement_ends_where_the_proof_begins():
    says = {c.name: layout.statement(c) for c in layout.commands(CLEAN) if c.kind == "theorem"}
    assert says["t"].endswith("a ≤ b")
    assert says["by_cases"] == "theorem by_cases : Nat → True"
    inside = CLEAN.replace("(h : a ≤ b)", "(n : Nat := 0) (h : a ≤ b)")
    assert layout.statement(layout.commands(inside)[7]).endswith(") :\n    a ≤ b")


def stated(text, name="Tang.t"):
    return next(d.stated for d in sources.declarations(module(text)) if d.name == name)


def test_a_proof_and_comments_may_change_and_a_statement_and_its_scope_may_not():
    for old, new in (("exact h", "exact  h.elim"), ("-- an order", ""), ("A def", "The def"),
                     ("(a b : K)", "(a   b : K)")):  # fmt: skip
        assert stated(planted(old, new)) == stated(CLEAN)
    for old, new in (("(a b : K)", "(a b c : K)"), ("[LE K]", "[LE K] [Add K]"),
                     ("@[simp] ", ""), ("variable {", "open Nat\nvariable {"),
                     ("autoImplicit false", "synthInstance.maxSize 2000")):  # fmt: skip
        assert stated(planted(old, new)) != stated(CLEAN)


def test_the_outline_sees_every_change_outside_of_theorems():
    def outline(text):
        return [entry for _, entry in sources.outline(module(text))]

    assert outline(planted("exact h", "exact h.elim")) == outline(CLEAN)
    for old, new in (("Nat := n", "Nat := 0"), ("section\nv", "section A\nv"), ("[LE K]", ""),
                     ("universe u", "universe u v"), ("import Tang.Syntax\n", ""),
                     ("@[simp] theorem", "instance x : P := y\ntheorem"),
                     ("variable {", "open Nat\nvariable {")):  # fmt: skip
        assert outline(planted(old, new)) != outline(CLEAN)
