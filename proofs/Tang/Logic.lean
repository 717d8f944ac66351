prelude
import Tang.Core
import Tang.Syntax
/-! # Tang.Logic — decidable propositions and natural numbers -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

/-! ## Decidable propositions -/
theorem and_intro {p q : Prop} (hp : p) (hq : q) : p ∧ q := ⟨hp, hq⟩

instance decAnd {p q : Prop} [hp : Decidable p] [hq : Decidable q] : Decidable (p ∧ q) :=
  match hp, hq with
  | .isTrue h, .isTrue k => .isTrue ⟨h, k⟩
  | .isFalse h, _ => .isFalse (fun a => h a.left)
  | _, .isFalse k => .isFalse (fun a => k a.right)
instance decOr {p q : Prop} [hp : Decidable p] [hq : Decidable q] : Decidable (p ∨ q) :=
  match hp, hq with
  | .isTrue h, _ => .isTrue (.inl h)
  | _, .isTrue k => .isTrue (.inr k)
  | .isFalse h, .isFalse k => .isFalse (fun o => o.elim h k)
instance decNot {p : Prop} [hp : Decidable p] : Decidable (¬ p) :=
  match hp with
  | .isTrue h => .isFalse (fun n => n h)
  | .isFalse h => .isTrue h
instance decTrue : Decidable True := .isTrue trivial
instance decFalse : Decidable False := .isFalse (fun h => h)

theorem if_pos {α : Sort u} {c : Prop} [h : Decidable c] (hc : c) {t e : α} : ite c t e = t :=
  match h with
  | .isTrue _ => rfl
  | .isFalse n => absurd hc n
theorem if_neg {α : Sort u} {c : Prop} [h : Decidable c] (hc : ¬ c) {t e : α} : ite c t e = e :=
  match h with
  | .isTrue y => absurd y hc
  | .isFalse _ => rfl
theorem dif_pos {α : Sort u} {c : Prop} [h : Decidable c] (hc : c) {t : c → α} {e : ¬ c → α} :
    dite c t e = t hc :=
  match h with
  | .isTrue _ => rfl
  | .isFalse n => absurd hc n
theorem dif_neg {α : Sort u} {c : Prop} [h : Decidable c] (hc : ¬ c) {t : c → α} {e : ¬ c → α} :
    dite c t e = e hc :=
  match h with
  | .isTrue y => absurd y hc
  | .isFalse _ => rfl
theorem if_same {α : Sort u} {c : Prop} [h : Decidable c] (t : α) : ite c t t = t :=
  match h with
  | .isTrue _ => rfl
  | .isFalse _ => rfl
/-- Whatever two decision procedures say about equivalent conditions, the choice is the same. -/
theorem if_congr {α : Sort u} {c d : Prop} [Decidable c] [Decidable d] (h : c ↔ d) {t e t' e' : α}
    (ht : c → t = t') (he : ¬ c → e = e') : ite c t e = ite d t' e' := by
  by_cases k : c
  · rw [if_pos k, if_pos (h.mp k), ht k]
  · rw [if_neg k, if_neg (fun x => k (h.mpr x)), he k]
/-- A function commutes with a choice. -/
theorem apply_if {α : Sort u} {β : Sort v} (f : α → β) {c : Prop} [Decidable c] (t e : α) :
    f (ite c t e) = ite c (f t) (f e) := by
  by_cases k : c
  · rw [if_pos k, if_pos k]
  · rw [if_neg k, if_neg k]
theorem not_not {p : Prop} [Decidable p] (h : ¬ ¬ p) : p := by
  by_cases k : p
  · exact k
  · exact absurd k h

theorem decide_true {p : Prop} [d : Decidable p] (h : p) : Decidable.decide p = true :=
  match d with
  | .isTrue _ => rfl
  | .isFalse n => absurd h n
theorem decide_false {p : Prop} [d : Decidable p] (h : ¬ p) : Decidable.decide p = false :=
  match d with
  | .isTrue y => absurd y h
  | .isFalse _ => rfl

/-! ## Natural numbers -/
namespace Nat
theorem add_zero (n : Nat) : n + 0 = n := rfl
theorem add_succ (n m : Nat) : n + Nat.succ m = Nat.succ (n + m) := rfl
theorem zero_add (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg Nat.succ ih
theorem succ_add (n m : Nat) : Nat.succ n + m = Nat.succ (n + m) := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg Nat.succ ih
theorem add_comm (n m : Nat) : n + m = m + n := by
  induction m with
  | zero => exact (zero_add n).symm
  | succ m ih => rw [succ_add, add_succ, ih]
theorem add_assoc (a b c : Nat) : a + b + c = a + (b + c) := by
  induction c with
  | zero => rfl
  | succ c ih => exact congrArg Nat.succ ih
theorem mul_succ (n m : Nat) : n * Nat.succ m = n * m + n := rfl
theorem mul_zero (n : Nat) : n * 0 = 0 := rfl
theorem succ_mul (n m : Nat) : Nat.succ n * m = n * m + m := by
  induction m with
  | zero => rfl
  | succ m ih =>
    rw [mul_succ, mul_succ, ih, add_assoc, add_assoc, add_succ, add_comm m n]
    rfl
theorem zero_mul (m : Nat) : 0 * m = 0 := by
  induction m with
  | zero => rfl
  | succ m ih => rw [mul_succ, ih]
theorem mul_comm (n m : Nat) : n * m = m * n := by
  induction m with
  | zero => exact (zero_mul n).symm
  | succ m ih => rw [mul_succ, succ_mul, ih]
theorem mul_add (a b c : Nat) : a * (b + c) = a * b + a * c := by
  induction c with
  | zero => rfl
  | succ c ih => rw [add_succ, mul_succ, mul_succ, ih, add_assoc]
theorem mul_assoc (a b c : Nat) : a * b * c = a * (b * c) := by
  induction c with
  | zero => rfl
  | succ c ih => rw [mul_succ, mul_succ, mul_add, ih]
theorem mul_one (n : Nat) : n * 1 = n := zero_add n
theorem succ_inj {n m : Nat} (h : Nat.succ n = Nat.succ m) : n = m := congrArg Nat.pred h
theorem succ_ne_zero (n : Nat) : Nat.succ n ≠ 0 := fun h => nomatch h
theorem add_right_cancel {a b : Nat} (c : Nat) (h : a + c = b + c) : a = b := by
  induction c with
  | zero => exact h
  | succ c ih => exact ih (succ_inj h)
theorem eq_zero_of_add {a b : Nat} (h : a + b = 0) : b = 0 :=
  match b, h with
  | .zero, _ => rfl
  | .succ _, h => absurd h (succ_ne_zero _)

/-! ### Order -/
instance le : LE Nat := ⟨fun n m => ∃ k, n + k = m⟩
instance lt : LT Nat := ⟨fun n m => Nat.succ n ≤ m⟩
theorem le_refl (n : Nat) : n ≤ n := ⟨0, rfl⟩
theorem le_trans {a b c : Nat} (h : a ≤ b) (k : b ≤ c) : a ≤ c := by
  obtain ⟨x, hx⟩ := h
  obtain ⟨y, hy⟩ := k
  exact ⟨x + y, by rw [← add_assoc, hx, hy]⟩
theorem zero_le (n : Nat) : 0 ≤ n := ⟨n, zero_add n⟩
theorem succ_le_succ {n m : Nat} (h : n ≤ m) : Nat.succ n ≤ Nat.succ m := by
  obtain ⟨k, hk⟩ := h
  exact ⟨k, by rw [succ_add, hk]⟩
theorem le_of_succ_le_succ {n m : Nat} (h : Nat.succ n ≤ Nat.succ m) : n ≤ m := by
  obtain ⟨k, hk⟩ := h
  exact ⟨k, succ_inj (by rw [← succ_add, hk])⟩
theorem not_succ_le_zero (n : Nat) : ¬ Nat.succ n ≤ 0 := by
  intro h
  obtain ⟨k, hk⟩ := h
  rw [succ_add] at hk
  exact succ_ne_zero _ hk
instance decLe : (n m : Nat) → Decidable (n ≤ m)
  | .zero, m => .isTrue (zero_le m)
  | .succ n, .zero => .isFalse (not_succ_le_zero n)
  | .succ n, .succ m =>
    match decLe n m with
    | .isTrue h => .isTrue (succ_le_succ h)
    | .isFalse h => .isFalse (fun k => h (le_of_succ_le_succ k))
instance decLt (n m : Nat) : Decidable (n < m) := decLe (Nat.succ n) m
theorem le_add_right (n k : Nat) : n ≤ n + k := ⟨k, rfl⟩
theorem le_add_left (n k : Nat) : n ≤ k + n := ⟨k, add_comm n k⟩
theorem le_succ (n : Nat) : n ≤ Nat.succ n := ⟨1, rfl⟩
theorem lt_succ_self (n : Nat) : n < Nat.succ n := le_refl _
theorem lt_succ_of_lt {n m : Nat} (h : n < m) : n < Nat.succ m := le_trans h (le_succ m)
theorem le_of_lt {n m : Nat} (h : n < m) : n ≤ m := le_trans (le_succ n) h
theorem not_lt_zero (n : Nat) : ¬ n < 0 := not_succ_le_zero n
theorem lt_irrefl (n : Nat) : ¬ n < n := by
  intro h
  induction n with
  | zero => exact not_lt_zero _ h
  | succ n ih => exact ih (le_of_succ_le_succ h)
theorem le_antisymm {a b : Nat} (h : a ≤ b) (k : b ≤ a) : a = b := by
  obtain ⟨x, hx⟩ := h
  obtain ⟨y, hy⟩ := k
  have z : a + (x + y) = a + 0 := by rw [← add_assoc, hx, hy, add_zero]
  have w : x + y = 0 := add_right_cancel a (by rw [add_comm, z, add_comm])
  have v : x = 0 := eq_zero_of_add (a := y) (by rw [add_comm, w])
  rw [← hx, v, add_zero]
theorem le_total (a b : Nat) : a ≤ b ∨ b ≤ a := by
  induction a generalizing b with
  | zero => exact .inl (zero_le b)
  | succ a ih =>
    cases b with
    | zero => exact .inr (zero_le _)
    | succ b =>
      cases ih b with
      | inl h => exact .inl (succ_le_succ h)
      | inr h => exact .inr (succ_le_succ h)
theorem lt_or_ge (a b : Nat) : a < b ∨ b ≤ a := by
  induction a generalizing b with
  | zero =>
    cases b with
    | zero => exact .inr (le_refl _)
    | succ b => exact .inl (succ_le_succ (zero_le b))
  | succ a ih =>
    cases b with
    | zero => exact .inr (zero_le _)
    | succ b =>
      cases ih b with
      | inl h => exact .inl (succ_le_succ h)
      | inr h => exact .inr (succ_le_succ h)
theorem lt_of_le_of_ne {a b : Nat} (h : a ≤ b) (n : a ≠ b) : a < b := by
  cases lt_or_ge a b with
  | inl k => exact k
  | inr k => exact absurd (le_antisymm h k) n
theorem le_of_not_lt {a b : Nat} (h : ¬ a < b) : b ≤ a := by
  cases lt_or_ge a b with
  | inl k => exact absurd k h
  | inr k => exact k
theorem not_le_of_lt {a b : Nat} (h : a < b) : ¬ b ≤ a := fun k => lt_irrefl a (le_trans h k)
theorem ne_of_lt {a b : Nat} (h : a < b) : a ≠ b := by
  intro e
  rw [e] at h
  exact lt_irrefl b h
theorem le_of_lt_succ {a b : Nat} (h : a < Nat.succ b) : a ≤ b := le_of_succ_le_succ h
theorem add_le_add_left {a b : Nat} (c : Nat) (h : a ≤ b) : c + a ≤ c + b := by
  obtain ⟨k, hk⟩ := h
  exact ⟨k, by rw [add_assoc, hk]⟩
theorem add_lt_add_left {a b : Nat} (c : Nat) (h : a < b) : c + a < c + b := by
  have k := add_le_add_left c h
  rw [add_succ] at k
  exact k
end Nat
end Tang
