prelude
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Cone — quotients, and an order from its non-negative elements -/
set_option autoImplicit false
universe u v w
noncomputable section
namespace Tang

/-! ## Functions on quotients -/
section
variable {D : Type u} {E : Type v} {r : D → D → Prop} {s : E → E → Prop}
/-- A function of two arguments that respects the relation, at a fixed first argument. -/
def lift₁ (refl : ∀ a, r a a) (f : D → D → E)
    (h : ∀ {a a' b b' : D}, r a a' → r b b' → s (f a b) (f a' b')) (a : D) : Quot r → Quot s :=
  Quot.lift (fun b => Quot.mk s (f a b)) (fun _ _ k => Quot.sound (h (refl a) k))
/-- … and on the quotient in both. -/
def lift₂ (refl : ∀ a, r a a) (f : D → D → E)
    (h : ∀ {a a' b b' : D}, r a a' → r b b' → s (f a b) (f a' b')) (x y : Quot r) : Quot s :=
  Quot.lift (fun a => lift₁ refl f h a y)
    (fun a a' k => Quot.ind (β := fun y => lift₁ refl f h a y = lift₁ refl f h a' y)
      (fun b => Quot.sound (h k (refl b))) y) x
/-- Equal classes come from related elements, where the relation is an equivalence. -/
theorem related (refl : ∀ a, r a a) (symm : ∀ {a b}, r a b → r b a)
    (trans : ∀ {a b c}, r a b → r b c → r a c) {a b : D} (h : Quot.mk r a = Quot.mk r b) : r a b := by
  have e : Quot.lift (r := r) (fun c => r a c)
      (fun _ _ k => propext ⟨fun j => trans j k, fun j => trans j (symm k)⟩) (Quot.mk r b) := by
    rw [← h]
    exact refl a
  exact e
end

/-! ## An order from a cone -/
section
variable {K : Type u}
/-- The order in which `a ≤ b` says that `b - a` is in the cone `P`. -/
@[reducible] def orderOfCone (R : CommRing K) (P : K → Prop) (dec : ∀ a, Decidable (P a)) (ne : (0 : K) ≠ 1)
    (zero : P 0) (add : ∀ {a b}, P a → P b → P (a + b)) (mul : ∀ {a b}, P a → P b → P (a * b))
    (pointed : ∀ {a}, P a → P (-a) → a = 0) (total : ∀ a, P a ∨ P (-a)) : OrderedRing K where
  le a b := P (b - a)
  le_refl a := by
    show P (a - a)
    rw [sub_self]
    exact zero
  le_trans := by
    intro a b c h k
    show P (c - a)
    rw [show c - a = (c - b) + (b - a) from ring_eq [a, b, c] (by rfl)]
    exact add k h
  le_antisymm := by
    intro a b h k
    apply Eq.symm
    apply eq_of_sub_eq_zero
    apply pointed h
    rw [show -(b - a) = a - b from ring_eq [a, b] (by rfl)]
    exact k
  le_total a b := by
    cases total (b - a) with
    | inl h => exact .inl h
    | inr h =>
      apply Or.inr
      rw [show -(b - a) = a - b from ring_eq [a, b] (by rfl)] at h
      exact h
  decLe a b := dec (b - a)
  add_le_add_right := by
    intro a b c h
    show P (b + c - (a + c))
    rw [show b + c - (a + c) = b - a from ring_eq [a, b, c] (by rfl)]
    exact h
  mul_nonneg := by
    intro a b h k
    have h' : P (a - 0) := h
    have k' : P (b - 0) := k
    rw [sub_zero] at h' k'
    show P (a * b - 0)
    rw [sub_zero]
    exact mul h' k'
  zero_ne_one := ne
end
end Tang
