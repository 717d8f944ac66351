prelude
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Lattice — equality of maxima (and of minima) by reflection; tools for exported combines

`max_eq [a, b, c] (by rfl) : max (max a b) c = max b (max c a)`. -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

namespace Lattice
/-- A nest of one associative, commutative, idempotent operation over numbered atoms. -/
inductive E where
  | var (i : Nat)
  | op (a b : E)
/-- Into an ascending list without repetitions. -/
def ins (i : Nat) : List Nat → List Nat
  | .nil => [i]
  | .cons j l => cond (Nat.beq i j) (j :: l) (cond (Nat.ble i j) (i :: j :: l) (j :: ins i l))
def norm : E → List Nat → List Nat
  | .var i, l => ins i l
  | .op a b, l => norm a (norm b l)

section
variable {A : Type u} (op : A → A → A) (get : Nat → A)
def eval : E → A
  | .var i => get i
  | .op a b => op (eval a) (eval b)
/-- The meaning of a list: nothing, or the operation over its atoms. -/
def evalL : List Nat → Option A
  | .nil => .none
  | .cons i l => match evalL l with
    | .none => .some (get i)
    | .some x => .some (op (get i) x)
def push (a : A) : Option A → A
  | .none => a
  | .some x => op a x
/-- The laws of a semilattice. -/
structure Laws : Prop where
  assoc : ∀ a b c, op (op a b) c = op a (op b c)
  comm : ∀ a b, op a b = op b a
  idem : ∀ a, op a a = a
theorem evalL_cons (i : Nat) (l : List Nat) : evalL op get (i :: l) = .some (push op (get i) (evalL op get l)) := by
  show (match evalL op get l with
    | .none => Option.some (get i)
    | .some x => .some (op (get i) x)) = _
  cases evalL op get l with
  | none => rfl
  | some x => rfl
theorem push_push (laws : Laws op) (a b : A) (o : Option A) : push op a (.some (push op b o)) = push op b (.some (push op a o)) := by
  cases o with
  | none => exact laws.comm a b
  | some x =>
    show op a (op b x) = op b (op a x)
    rw [← laws.assoc, laws.comm a b, laws.assoc]
theorem push_self (laws : Laws op) (a : A) (o : Option A) : push op a (.some (push op a o)) = push op a o := by
  cases o with
  | none => exact laws.idem a
  | some x =>
    show op a (op a x) = op a x
    rw [← laws.assoc, laws.idem]
theorem evalL_ins (laws : Laws op) (i : Nat) : ∀ l, evalL op get (ins i l) = .some (push op (get i) (evalL op get l))
  | .nil => rfl
  | .cons j l => by
      show evalL op get (cond (Nat.beq i j) (j :: l) (cond (Nat.ble i j) (i :: j :: l) (j :: ins i l))) = _
      have same : Nat.beq i j = true → evalL op get (j :: l) = .some (push op (get i) (evalL op get (j :: l))) := by
        intro h
        rw [Ring.natEq i j h, evalL_cons, push_self op laws]
      generalize Nat.beq i j = b at same
      cases b with
      | true => exact same rfl
      | false =>
        show evalL op get (cond (Nat.ble i j) (i :: j :: l) (j :: ins i l)) = _
        cases Nat.ble i j with
        | true => exact evalL_cons op get i (j :: l)
        | false =>
          show evalL op get (j :: ins i l) = _
          rw [evalL_cons, evalL_ins laws i l, evalL_cons, push_push op laws]
theorem push_append (laws : Laws op) (a b : A) (o : Option A) : push op a (.some (push op b o)) = push op (op a b) o := by
  cases o with
  | none => rfl
  | some x => exact (laws.assoc a b x).symm
theorem evalL_norm (laws : Laws op) : ∀ (e : E) (l : List Nat), evalL op get (norm e l) = .some (push op (eval op get e) (evalL op get l))
  | .var i, l => evalL_ins op get laws i l
  | .op a b, l => by
      show evalL op get (norm a (norm b l)) = _
      rw [evalL_norm laws a, evalL_norm laws b, push_append op laws]
      rfl
theorem sound (laws : Laws op) (a b : E) (h : Ring.eqL (norm a .nil) (norm b .nil) = true) : eval op get a = eval op get b := by
  have x := evalL_norm op get laws a .nil
  have y := evalL_norm op get laws b .nil
  rw [Ring.eqL_sound _ _ h] at x
  have e := x.symm.trans y
  injection e
end

/-! ## Reading goals back -/
section
variable {A : Type u} [TotalOrder A]
def get (d : A) : List A → Nat → A
  | .nil, _ => d
  | .cons a _, .zero => a
  | .cons _ l, .succ n => get d l n
class Atom (d : A) (ρ : List A) (a : A) (n : outParam Nat) : Prop where
  eq : get d ρ n = a
instance atomHere (d a : A) (ρ : List A) : Atom d (a :: ρ) a .zero := ⟨rfl⟩
instance (priority := 900) atomThere (d a b : A) (ρ : List A) (n : Nat) [h : Atom d ρ a n] :
    Atom d (b :: ρ) a n.succ := ⟨h.eq⟩
class Reify (op : A → A → A) (d : A) (ρ : List A) (a : A) (e : outParam E) : Prop where
  eq : eval op (get d ρ) e = a
instance (priority := 100) reifyVar (op : A → A → A) (d : A) (ρ : List A) (a : A) (n : Nat) [h : Atom d ρ a n] :
    Reify op d ρ a (.var n) := ⟨h.eq⟩
instance reifyMax (d : A) (ρ : List A) (a b : A) (x y : E) [ha : Reify max d ρ a x] [hb : Reify max d ρ b y] :
    Reify max d ρ (max a b) (.op x y) :=
  ⟨by
    show max (eval max (get d ρ) x) (eval max (get d ρ) y) = _
    rw [ha.eq, hb.eq]⟩
instance reifyMin (d : A) (ρ : List A) (a b : A) (x y : E) [ha : Reify min d ρ a x] [hb : Reify min d ρ b y] :
    Reify min d ρ (min a b) (.op x y) :=
  ⟨by
    show min (eval min (get d ρ) x) (eval min (get d ρ) y) = _
    rw [ha.eq, hb.eq]⟩
end
end Lattice

section
variable {A : Type u} [TotalOrder A]
theorem max_eq (d : A) (ρ : List A) {a b : A} {x y : Lattice.E} [ha : Lattice.Reify max d ρ a x]
    [hb : Lattice.Reify max d ρ b y] (h : Ring.eqL (Lattice.norm x .nil) (Lattice.norm y .nil) = true) : a = b := by
  rw [← ha.eq, ← hb.eq]
  exact Lattice.sound max _ ⟨max_assoc, max_comm, max_idem⟩ x y h
theorem min_idem (a : A) : min a a = a := if_pos (le_refl a)
theorem min_eq (d : A) (ρ : List A) {a b : A} {x y : Lattice.E} [ha : Lattice.Reify min d ρ a x]
    [hb : Lattice.Reify min d ρ b y] (h : Ring.eqL (Lattice.norm x .nil) (Lattice.norm y .nil) = true) : a = b := by
  rw [← ha.eq, ← hb.eq]
  exact Lattice.sound min _ ⟨min_assoc, min_comm, min_idem⟩ x y h
end

section
variable {K : Type u} [OrderedRing K]
theorem min_add (a b c : K) : min a b + c = min (a + c) (b + c) := by
  by_cases h : a ≤ b
  · rw [show min a b = a from if_pos h]
    exact (if_pos (add_le_add_right c h)).symm
  · rw [show min a b = b from if_neg h]
    have k : ¬ a + c ≤ b + c := fun k => h (le_of_add_le_add_right k)
    exact (if_neg k).symm
theorem add_min (a b c : K) : c + min a b = min (c + a) (c + b) := by
  rw [add_comm, min_add, add_comm a, add_comm b]
end

/-! ## Identities up to relations `x = 1` -/
section
variable {K : Type u} [CommRing K]
/-- What a cofactor multiplies is zero. -/
theorem cofactor {x : K} (q : K) (h : x = 1) : q * (x - 1) = 0 := by rw [h, sub_self, mul_zero]
/-- `a = b` from `a - b = r` and `r = 0`. -/
theorem eq_of_cofactors {a b r : K} (h : a - b = r) (k : r = 0) : a = b := eq_of_sub_eq_zero (h.trans k)
theorem add_zeros {a b : K} (h : a = 0) (k : b = 0) : a + b = 0 := by rw [h, k, add_zero]
end

/-! ## What is not negative -/
section
variable {K : Type u} [OrderedRing K]
theorem sign_add {a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ a + b := by
  have h := add_le_add ha hb
  rw [add_zero] at h
  exact h
theorem sign_max_left {a b : K} (ha : 0 ≤ a) : 0 ≤ max a b := le_trans ha (le_max_left a b)
theorem sign_max_right {a b : K} (hb : 0 ≤ b) : 0 ≤ max a b := le_trans hb (le_max_right a b)
theorem sign_if {c : Prop} [Decidable c] {a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ if c then a else b := by
  by_cases h : c
  · rw [if_pos h]
    exact ha
  · rw [if_neg h]
    exact hb
theorem sign_neg {a : K} (h : a ≤ 0) : 0 ≤ -a := by
  have k := add_le_add_right (-a) h
  rw [add_neg, zero_add] at k
  exact k
/-- An absolute value, as the compiler writes it. -/
theorem sign_abs (a : K) : 0 ≤ if a < 0 then -a else a := by
  by_cases h : a < 0
  · rw [if_pos h]
    exact sign_neg (le_of_lt h)
  · rw [if_neg h]
    exact not_not h
theorem sign_square (a : K) : 0 ≤ a * a := by
  cases le_total 0 a with
  | inl h => exact mul_nonneg h h
  | inr h =>
    have s := mul_nonneg (sign_neg h) (sign_neg h)
    rw [show -a * -a = a * a from ring_eq [a] (by rfl)] at s
    exact s
theorem sign_one : (0 : K) ≤ 1 := by
  have s := sign_square (1 : K)
  rw [mul_one] at s
  exact s
theorem positive_one : (0 : K) < 1 := lt_of_le_of_ne sign_one zero_ne_one
theorem positive_add {a b : K} (ha : 0 < a) (hb : 0 ≤ b) : 0 < a + b := by
  apply lt_of_lt_of_le ha
  have h := add_le_add (le_refl a) hb
  rw [add_zero] at h
  exact h
end

/-! ## Booleans -/
/-- Whether two booleans are equal. -/
def same (a b : Bool) : Bool := cond a b b.not
end Tang
