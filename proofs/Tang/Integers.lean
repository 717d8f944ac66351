prelude
import Tang.Cone
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Integers — the integers, as an ordered ring: no class of Tang.Algebra is empty -/
set_option autoImplicit false
noncomputable section
namespace Tang

/-- A formal difference of natural numbers. -/
structure Diff where
  pos : Nat
  neg : Nat
namespace Diff
theorem ext {a b : Diff} (h : a.pos = b.pos) (k : a.neg = b.neg) : a = b := by
  cases a
  cases b
  cases h
  cases k
  rfl
def Same (a b : Diff) : Prop := a.pos + b.neg = b.pos + a.neg
theorem refl (a : Diff) : Same a a := rfl
theorem symm {a b : Diff} (h : Same a b) : Same b a := Eq.symm h
theorem trans {a b c : Diff} (h : Same a b) (k : Same b c) : Same a c := by
  apply Nat.add_right_cancel b.neg
  have h' : a.pos + b.neg = b.pos + a.neg := h
  have k' : b.pos + c.neg = c.pos + b.neg := k
  calc a.pos + c.neg + b.neg
    _ = a.pos + b.neg + c.neg := semiring_eq [a.pos, c.neg, b.neg] (by rfl)
    _ = b.pos + a.neg + c.neg := by rw [h']
    _ = b.pos + c.neg + a.neg := semiring_eq [b.pos, a.neg, c.neg] (by rfl)
    _ = c.pos + b.neg + a.neg := by rw [k']
    _ = c.pos + a.neg + b.neg := semiring_eq [c.pos, b.neg, a.neg] (by rfl)
def add (a b : Diff) : Diff := ⟨a.pos + b.pos, a.neg + b.neg⟩
def neg' (a : Diff) : Diff := ⟨a.neg, a.pos⟩
def mul (a b : Diff) : Diff := ⟨a.pos * b.pos + a.neg * b.neg, a.pos * b.neg + a.neg * b.pos⟩
theorem add_same {a a' b b' : Diff} (h : Same a a') (k : Same b b') : Same (add a b) (add a' b') := by
  have h' : a.pos + a'.neg = a'.pos + a.neg := h
  have k' : b.pos + b'.neg = b'.pos + b.neg := k
  show a.pos + b.pos + (a'.neg + b'.neg) = a'.pos + b'.pos + (a.neg + b.neg)
  calc a.pos + b.pos + (a'.neg + b'.neg)
    _ = (a.pos + a'.neg) + (b.pos + b'.neg) := semiring_eq [a.pos, b.pos, a'.neg, b'.neg] (by rfl)
    _ = (a'.pos + a.neg) + (b'.pos + b.neg) := by rw [h', k']
    _ = a'.pos + b'.pos + (a.neg + b.neg) := semiring_eq [a'.pos, b'.pos, a.neg, b.neg] (by rfl)
theorem mul_comm (a b : Diff) : mul a b = mul b a := by
  show Diff.mk _ _ = Diff.mk _ _
  rw [Tang.mul_comm a.pos b.pos, Tang.mul_comm a.neg b.neg, Tang.mul_comm a.pos b.neg,
    Tang.mul_comm a.neg b.pos, Tang.add_comm (b.neg * a.pos)]
theorem mul_left_same {a a' : Diff} (b : Diff) (h : Same a a') : Same (mul a b) (mul a' b) := by
  have h' : a.pos + a'.neg = a'.pos + a.neg := h
  show a.pos * b.pos + a.neg * b.neg + (a'.pos * b.neg + a'.neg * b.pos)
    = a'.pos * b.pos + a'.neg * b.neg + (a.pos * b.neg + a.neg * b.pos)
  calc a.pos * b.pos + a.neg * b.neg + (a'.pos * b.neg + a'.neg * b.pos)
    _ = (a.pos + a'.neg) * b.pos + (a'.pos + a.neg) * b.neg :=
        semiring_eq [a.pos, a.neg, a'.pos, a'.neg, b.pos, b.neg] (by rfl)
    _ = (a'.pos + a.neg) * b.pos + (a.pos + a'.neg) * b.neg := by rw [h']
    _ = a'.pos * b.pos + a'.neg * b.neg + (a.pos * b.neg + a.neg * b.pos) :=
        semiring_eq [a.pos, a.neg, a'.pos, a'.neg, b.pos, b.neg] (by rfl)
theorem mul_same {a a' b b' : Diff} (h : Same a a') (k : Same b b') : Same (mul a b) (mul a' b') := by
  apply trans (mul_left_same b h)
  rw [mul_comm a' b, mul_comm a' b']
  exact mul_left_same a' k
theorem neg_same {a b : Diff} (h : Same a b) : Same (neg' a) (neg' b) := by
  have h' : a.pos + b.neg = b.pos + a.neg := h
  show a.neg + b.pos = b.neg + a.pos
  rw [Nat.add_comm, ← h', Nat.add_comm]
end Diff

/-- The integers. -/
def Z : Type := Quot Diff.Same
namespace Z
def mk (a : Diff) : Z := Quot.mk Diff.Same a
def ofNat (n : Nat) : Z := mk ⟨n, 0⟩
theorem exact {a b : Diff} (h : mk a = mk b) : Diff.Same a b := related Diff.refl Diff.symm Diff.trans h
theorem ind {p : Z → Prop} (h : ∀ a, p (mk a)) (z : Z) : p z := Quot.ind h z
instance ring : CommRing Z where
  add := lift₂ Diff.refl Diff.add Diff.add_same
  mul := lift₂ Diff.refl Diff.mul Diff.mul_same
  neg := Quot.lift (fun a => mk a.neg') (fun _ _ h => Quot.sound (Diff.neg_same h))
  zero := ofNat 0
  one := ofNat 1
  add_assoc := ind (fun a => ind (fun b => ind (fun c => congrArg mk (Diff.ext
    (Nat.add_assoc a.pos b.pos c.pos) (Nat.add_assoc a.neg b.neg c.neg)))))
  add_comm := ind (fun a => ind (fun b => congrArg mk (Diff.ext
    (Nat.add_comm a.pos b.pos) (Nat.add_comm a.neg b.neg))))
  add_zero := ind (fun _ => rfl)
  mul_assoc := ind (fun a => ind (fun b => ind (fun c => congrArg mk (Diff.ext
    (semiring_eq [a.pos, a.neg, b.pos, b.neg, c.pos, c.neg] (by rfl) :
      (a.pos * b.pos + a.neg * b.neg) * c.pos + (a.pos * b.neg + a.neg * b.pos) * c.neg
        = a.pos * (b.pos * c.pos + b.neg * c.neg) + a.neg * (b.pos * c.neg + b.neg * c.pos))
    (semiring_eq [a.pos, a.neg, b.pos, b.neg, c.pos, c.neg] (by rfl) :
      (a.pos * b.pos + a.neg * b.neg) * c.neg + (a.pos * b.neg + a.neg * b.pos) * c.pos
        = a.pos * (b.pos * c.neg + b.neg * c.pos) + a.neg * (b.pos * c.pos + b.neg * c.neg))))))
  mul_comm := ind (fun a => ind (fun b => congrArg mk (Diff.mul_comm a b)))
  mul_one := ind (fun a => congrArg mk (Diff.ext
    (semiring_eq [a.pos, a.neg] (by rfl) : a.pos * 1 + a.neg * 0 = a.pos)
    (semiring_eq [a.pos, a.neg] (by rfl) : a.pos * 0 + a.neg * 1 = a.neg)))
  mul_zero := ind (fun _ => rfl)
  mul_add := ind (fun a => ind (fun b => ind (fun c => congrArg mk (Diff.ext
    (semiring_eq [a.pos, a.neg, b.pos, b.neg, c.pos, c.neg] (by rfl) :
      a.pos * (b.pos + c.pos) + a.neg * (b.neg + c.neg)
        = (a.pos * b.pos + a.neg * b.neg) + (a.pos * c.pos + a.neg * c.neg))
    (semiring_eq [a.pos, a.neg, b.pos, b.neg, c.pos, c.neg] (by rfl) :
      a.pos * (b.neg + c.neg) + a.neg * (b.pos + c.pos)
        = (a.pos * b.neg + a.neg * b.pos) + (a.pos * c.neg + a.neg * c.pos))))))
  add_neg := ind (fun a => Quot.sound (by
    show a.pos + a.neg = 0 + (a.neg + a.pos)
    rw [Nat.zero_add, Nat.add_comm a.pos]))
theorem ofNat_add (n m : Nat) : ofNat (n + m) = ofNat n + ofNat m := rfl
theorem ofNat_mul (n m : Nat) : ofNat (n * m) = ofNat n * ofNat m :=
  congrArg mk (congr (congrArg Diff.mk (semiring_eq [n, m] (by rfl) : n * m = n * m + 0 * 0))
    (semiring_eq [n, m] (by rfl) : 0 = n * 0 + 0 * m))
theorem ofNat_inj {n m : Nat} (h : ofNat n = ofNat m) : n = m := exact h
/-- What is not negative: the cone of the order. -/
def NonNeg (z : Z) : Prop := ∃ k, z = ofNat k
theorem nonNeg_mk {a : Diff} : a.neg ≤ a.pos ↔ NonNeg (mk a) := by
  constructor
  · intro h
    obtain ⟨k, hk⟩ := h
    refine ⟨k, Quot.sound ?_⟩
    show a.pos = k + a.neg
    rw [← hk, Nat.add_comm k]
  · intro h
    obtain ⟨k, hk⟩ := h
    have e : a.pos + 0 = k + a.neg := exact hk
    exact ⟨k, by rw [Nat.add_comm, ← e, Nat.add_zero]⟩
theorem total : ∀ z, NonNeg z ∨ NonNeg (-z) := ind (fun a =>
  (Nat.le_total a.neg a.pos).elim (fun h => .inl (nonNeg_mk.mp h))
    (fun h => .inr (nonNeg_mk (a := a.neg').mp h)))
/-- A test for the cone; both sides of the quotient agree on it. -/
def test : Z → Bool := Quot.lift (fun a => Decidable.decide (a.neg ≤ a.pos)) (fun a b h => by
  have e : (a.neg ≤ a.pos) = (b.neg ≤ b.pos) :=
    propext (Iff.intro
      (fun k => nonNeg_mk.mpr (by
        have j := nonNeg_mk.mp k
        rw [show mk a = mk b from Quot.sound h] at j
        exact j))
      (fun k => nonNeg_mk.mpr (by
        have j := nonNeg_mk.mp k
        rw [← show mk a = mk b from Quot.sound h] at j
        exact j)))
  by_cases k : a.neg ≤ a.pos
  · rw [decide_true k, decide_true (e ▸ k)]
  · rw [decide_false k, decide_false (fun j => k (e ▸ j))])
theorem test_iff : ∀ z, test z = true ↔ NonNeg z := ind (fun _ =>
  ⟨fun h => nonNeg_mk.mp (of_decide_eq_true h), fun h => decide_true (nonNeg_mk.mpr h)⟩)
theorem test_false {z : Z} (h : ¬ NonNeg z) : test z = false :=
  match e : test z with
  | .true => absurd ((test_iff z).mp e) h
  | .false => rfl
instance decNonNeg (z : Z) : Decidable (NonNeg z) :=
  match h : test z with
  | .true => .isTrue ((test_iff z).mp h)
  | .false => .isFalse (fun k => nomatch h.symm.trans ((test_iff z).mpr k))
theorem ofNat_pointed {k j : Nat} (h : -ofNat k = ofNat j) : k = 0 := by
  have e : 0 + 0 = j + k := exact h
  exact Nat.eq_zero_of_add e.symm
instance ordered : OrderedRing Z := orderOfCone ring NonNeg decNonNeg
  (fun h => nomatch (exact h : 0 + 0 = 1 + 0))
  ⟨0, rfl⟩
  (fun h k => by
    obtain ⟨n, hn⟩ := h
    obtain ⟨m, hm⟩ := k
    exact ⟨n + m, by rw [hn, hm, ofNat_add]⟩)
  (fun h k => by
    obtain ⟨n, hn⟩ := h
    obtain ⟨m, hm⟩ := k
    exact ⟨n * m, by rw [hn, hm, ofNat_mul]⟩)
  (fun h k => by
    obtain ⟨n, hn⟩ := h
    obtain ⟨m, hm⟩ := k
    rw [hn] at hm
    rw [hn, ofNat_pointed hm]
    rfl)
  total
end Z
end Tang
