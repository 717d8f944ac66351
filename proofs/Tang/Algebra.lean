prelude
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Algebra — semirings, rings, ordered fields, an exponential between them -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

/-! ## Commutative semirings and rings -/
class Zero (K : Type u) where
  zero : K
class One (K : Type u) where
  one : K
instance ofNat0 {K : Type u} [Zero K] : OfNat K 0 := ⟨Zero.zero⟩
instance ofNat1 {K : Type u} [One K] : OfNat K 1 := ⟨One.one⟩

class CommSemiring (K : Type u) extends Add K, Mul K, Zero K, One K where
  add_assoc : ∀ a b c : K, a + b + c = a + (b + c)
  add_comm : ∀ a b : K, a + b = b + a
  add_zero : ∀ a : K, a + 0 = a
  mul_assoc : ∀ a b c : K, a * b * c = a * (b * c)
  mul_comm : ∀ a b : K, a * b = b * a
  mul_one : ∀ a : K, a * 1 = a
  mul_zero : ∀ a : K, a * 0 = 0
  mul_add : ∀ a b c : K, a * (b + c) = a * b + a * c
export CommSemiring (add_assoc add_comm add_zero mul_assoc mul_comm mul_one mul_zero mul_add)

class CommRing (K : Type u) extends CommSemiring K, Neg K where
  add_neg : ∀ a : K, a + -a = 0
export CommRing (add_neg)
instance subOfRing {K : Type u} [CommRing K] : Sub K := ⟨fun a b => a + -b⟩

/-- The natural numbers count things: sums over them are sizes. -/
instance natSemiring : CommSemiring Nat where
  zero := 0
  one := 1
  add_assoc := Nat.add_assoc
  add_comm := Nat.add_comm
  add_zero := Nat.add_zero
  mul_assoc := Nat.mul_assoc
  mul_comm := Nat.mul_comm
  mul_one := Nat.mul_one
  mul_zero := Nat.mul_zero
  mul_add := Nat.mul_add

section
variable {K : Type u} [CommSemiring K]
theorem zero_add (a : K) : 0 + a = a := by rw [add_comm, add_zero]
theorem one_mul (a : K) : 1 * a = a := by rw [mul_comm, mul_one]
theorem zero_mul (a : K) : 0 * a = 0 := by rw [mul_comm, mul_zero]
theorem add_mul (a b c : K) : (a + b) * c = a * c + b * c := by
  rw [mul_comm, mul_add, mul_comm c a, mul_comm c b]
theorem add_left_comm (a b c : K) : a + (b + c) = b + (a + c) := by
  rw [← add_assoc, add_comm a b, add_assoc]
theorem mul_left_comm (a b c : K) : a * (b * c) = b * (a * c) := by
  rw [← mul_assoc, mul_comm a b, mul_assoc]
end

section
variable {K : Type u} [CommRing K]
theorem sub_eq (a b : K) : a - b = a + -b := rfl
theorem neg_add (a : K) : -a + a = 0 := by rw [add_comm, add_neg]
theorem add_cancel {a b : K} (c : K) (h : a + c = b + c) : a = b := by
  have h2 : a + c + -c = b + c + -c := by rw [h]
  rw [add_assoc, add_assoc, add_neg, add_zero, add_zero] at h2
  exact h2
theorem neg_unique {a b : K} (h : a + b = 0) : b = -a := by
  apply add_cancel a
  rw [add_comm b a, h, neg_add]
theorem neg_mul (a b : K) : -a * b = -(a * b) := by
  apply neg_unique
  rw [← add_mul, add_neg, zero_mul]
theorem sub_self (a : K) : a - a = 0 := add_neg a
theorem sub_add_sub (a b c : K) : (a - b) + (b - c) = a - c := by
  rw [sub_eq, sub_eq, sub_eq, add_assoc, ← add_assoc (-b) b, neg_add, zero_add]
theorem sub_zero (a : K) : a - 0 = a := by
  have h : -(0 : K) = 0 := by rw [← add_zero (-(0 : K)), neg_add]
  rw [sub_eq, h, add_zero]
theorem eq_of_sub_eq_zero {a b : K} (h : a - b = 0) : a = b := by
  apply add_cancel (-b)
  rw [add_neg]
  exact h
end

/-! ## Total orders, ordered rings and fields -/
class TotalOrder (A : Type u) extends LE A where
  le_refl : ∀ a : A, a ≤ a
  le_trans : ∀ {a b c : A}, a ≤ b → b ≤ c → a ≤ c
  le_antisymm : ∀ {a b : A}, a ≤ b → b ≤ a → a = b
  le_total : ∀ a b : A, a ≤ b ∨ b ≤ a
  decLe : ∀ a b : A, Decidable (a ≤ b)
export TotalOrder (le_refl le_trans le_antisymm le_total)
instance decLeOfOrder {A : Type u} [TotalOrder A] (a b : A) : Decidable (a ≤ b) := TotalOrder.decLe a b
/-- Strictly less: the order is total, so this is what `≤` the other way round denies. -/
instance (priority := 50) ltOfOrder {A : Type u} [TotalOrder A] : LT A := ⟨fun a b => ¬ b ≤ a⟩
instance decLtOfOrder {A : Type u} [TotalOrder A] (a b : A) : Decidable (a < b) := decNot
instance decEqOfOrder {A : Type u} [TotalOrder A] : DecidableEq A := fun a b =>
  if h : a ≤ b then
    if k : b ≤ a then .isTrue (le_antisymm h k)
    else .isFalse (fun e => k (e ▸ le_refl a))
  else .isFalse (fun e => h (e ▸ le_refl a))
/-- The larger of two; the second on a tie. -/
def max {A : Type u} [TotalOrder A] (a b : A) : A := if a ≤ b then b else a
/-- The smaller of two. -/
def min {A : Type u} [TotalOrder A] (a b : A) : A := if a ≤ b then a else b

class OrderedRing (K : Type u) extends CommRing K, TotalOrder K where
  add_le_add_right : ∀ {a b : K} (c : K), a ≤ b → a + c ≤ b + c
  mul_nonneg : ∀ {a b : K}, 0 ≤ a → 0 ≤ b → 0 ≤ a * b
  zero_ne_one : (0 : K) ≠ 1
export OrderedRing (add_le_add_right mul_nonneg zero_ne_one)

class OrderedField (K : Type u) extends OrderedRing K where
  inv : K → K
  mul_inv : ∀ {a : K}, a ≠ 0 → a * inv a = 1
export OrderedField (inv mul_inv)
instance divOfField {K : Type u} [OrderedField K] : Div K := ⟨fun a b => a * inv b⟩

section
variable {A : Type u} [TotalOrder A]
theorem not_le {a b : A} (h : ¬ a ≤ b) : b ≤ a := (le_total a b).elim (fun k => absurd k h) (fun k => k)
theorem le_max_left (a b : A) : a ≤ max a b := by
  unfold max
  by_cases h : a ≤ b
  · rw [if_pos h]
    exact h
  · rw [if_neg h]
    exact le_refl a
theorem le_max_right (a b : A) : b ≤ max a b := by
  unfold max
  by_cases h : a ≤ b
  · rw [if_pos h]
    exact le_refl b
  · rw [if_neg h]
    exact not_le h
theorem max_le {a b c : A} (h : a ≤ c) (k : b ≤ c) : max a b ≤ c := by
  unfold max
  by_cases o : a ≤ b
  · rw [if_pos o]
    exact k
  · rw [if_neg o]
    exact h
theorem max_comm (a b : A) : max a b = max b a :=
  le_antisymm (max_le (le_max_right b a) (le_max_left b a)) (max_le (le_max_right a b) (le_max_left a b))
theorem max_assoc (a b c : A) : max (max a b) c = max a (max b c) :=
  le_antisymm
    (max_le (max_le (le_max_left _ _) (le_trans (le_max_left b c) (le_max_right _ _)))
      (le_trans (le_max_right b c) (le_max_right _ _)))
    (max_le (le_trans (le_max_left a b) (le_max_left _ _))
      (max_le (le_trans (le_max_right a b) (le_max_left _ _)) (le_max_right _ _)))
theorem max_idem (a : A) : max a a = a := le_antisymm (max_le (le_refl a) (le_refl a)) (le_max_left a a)
theorem max_eq_right {a b : A} (h : a ≤ b) : max a b = b := if_pos h
theorem max_eq_left {a b : A} (h : b ≤ a) : max a b = a := by rw [max_comm, max_eq_right h]
theorem min_le_left (a b : A) : min a b ≤ a := by
  unfold min
  by_cases h : a ≤ b
  · rw [if_pos h]
    exact le_refl a
  · rw [if_neg h]
    exact not_le h
theorem min_le_right (a b : A) : min a b ≤ b := by
  unfold min
  by_cases h : a ≤ b
  · rw [if_pos h]
    exact h
  · rw [if_neg h]
    exact le_refl b
theorem le_min {a b c : A} (h : c ≤ a) (k : c ≤ b) : c ≤ min a b := by
  unfold min
  by_cases o : a ≤ b
  · rw [if_pos o]
    exact h
  · rw [if_neg o]
    exact k
theorem min_comm (a b : A) : min a b = min b a :=
  le_antisymm (le_min (min_le_right a b) (min_le_left a b)) (le_min (min_le_right b a) (min_le_left b a))
theorem min_assoc (a b c : A) : min (min a b) c = min a (min b c) :=
  le_antisymm
    (le_min (le_trans (min_le_left _ _) (min_le_left a b))
      (le_min (le_trans (min_le_left _ _) (min_le_right a b)) (min_le_right _ _)))
    (le_min (le_min (min_le_left _ _) (le_trans (min_le_right _ _) (min_le_left b c)))
      (le_trans (min_le_right _ _) (min_le_right b c)))
theorem lt_irrefl (a : A) : ¬ a < a := fun h => h (le_refl a)
theorem le_of_lt {a b : A} (h : a < b) : a ≤ b := not_le h
theorem lt_of_lt_of_le {a b c : A} (h : a < b) (k : b ≤ c) : a < c := fun x => h (le_trans k x)
theorem lt_of_le_of_lt {a b c : A} (h : a ≤ b) (k : b < c) : a < c := fun x => k (le_trans x h)
theorem lt_trans {a b c : A} (h : a < b) (k : b < c) : a < c := lt_of_lt_of_le h (le_of_lt k)
theorem ne_of_lt {a b : A} (h : a < b) : a ≠ b := fun e => h (e ▸ le_refl a)
theorem lt_of_le_of_ne {a b : A} (h : a ≤ b) (n : a ≠ b) : a < b := fun k => n (le_antisymm h k)
end

section
variable {K : Type u} [OrderedRing K]
instance transOfOrder {A : Type u} [TotalOrder A] : Trans (LE.le : A → A → Prop) LE.le LE.le := ⟨le_trans⟩
theorem add_le_add {a b c d : K} (h₁ : a ≤ b) (h₂ : c ≤ d) : a + c ≤ b + d :=
  calc a + c ≤ b + c := add_le_add_right c h₁
    _ = c + b := add_comm b c
    _ ≤ d + b := add_le_add_right b h₂
    _ = b + d := add_comm d b
theorem sub_nonneg {a b : K} (h : a ≤ b) : 0 ≤ b - a := by
  have h2 : a + -a ≤ b + -a := add_le_add_right (-a) h
  rw [add_neg] at h2
  exact h2
theorem le_of_sub_nonneg {a b : K} (h : 0 ≤ b - a) : a ≤ b := by
  have h2 := add_le_add_right a h
  rw [zero_add, sub_eq, add_assoc, neg_add, add_zero] at h2
  exact h2
theorem le_of_add_le_add_right {a b c : K} (h : a + c ≤ b + c) : a ≤ b := by
  have h2 := add_le_add_right (-c) h
  rw [add_assoc, add_assoc, add_neg, add_zero, add_zero] at h2
  exact h2
theorem mul_le_mul_right {a b c : K} (hc : 0 ≤ c) (h : a ≤ b) : a * c ≤ b * c := by
  apply le_of_sub_nonneg
  have h2 := mul_nonneg (sub_nonneg h) hc
  rw [sub_eq, add_mul, neg_mul] at h2
  exact h2
theorem mul_le_mul_left {a b c : K} (hc : 0 ≤ c) (h : a ≤ b) : c * a ≤ c * b := by
  rw [mul_comm c a, mul_comm c b]
  exact mul_le_mul_right hc h
/-- Adding distributes over the maximum: (max, +) is a semiring. -/
theorem max_add (a b c : K) : max a b + c = max (a + c) (b + c) := by
  by_cases h : a ≤ b
  · rw [max_eq_right h, max_eq_right (add_le_add_right c h)]
  · rw [max_eq_left (not_le h), max_eq_left (add_le_add_right c (not_le h))]
theorem add_max (a b c : K) : c + max a b = max (c + a) (c + b) := by
  rw [add_comm, max_add, add_comm a, add_comm b]
end

/-! ## An exponential, from one structure to another -/
/-- Over `K → K` this needs something like the reals; `2ⁿ : Z → Q` is the instance given here. -/
class Exponential (A : Type u) (K : Type v) [OrderedRing A] [OrderedField K] where
  exp : A → K
  exp_add : ∀ a b : A, exp (a + b) = exp a * exp b
  exp_pos : ∀ a : A, 0 < exp a
export Exponential (exp exp_add exp_pos)
/-- A logarithm of such an exponential, on what is not zero. -/
class Logarithm (A : Type u) (K : Type v) [OrderedRing A] [OrderedField K] [Exponential A K] where
  log : K → A
  log_mul : ∀ (y : K) (a : A), y ≠ 0 → log (y * exp a) = log y + a
export Logarithm (log log_mul)

section
variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]
theorem mul_cancel {a b c : K} (hc : c ≠ 0) (h : a * c = b * c) : a = b := by
  have k : a * c * inv c = b * c * inv c := by rw [h]
  rw [mul_assoc, mul_assoc, mul_inv hc, mul_one, mul_one] at k
  exact k
theorem exp_ne_zero (a : A) : (exp a : K) ≠ 0 := fun h => ne_of_lt (exp_pos (K := K) a) h.symm
theorem exp_zero : (exp (0 : A) : K) = 1 := by
  apply mul_cancel (exp_ne_zero (K := K) (0 : A))
  rw [one_mul, ← exp_add, add_zero]
/-- Rescaling twice is rescaling once. -/
theorem exp_chain (a b c : A) : (exp (a - b) : K) * exp (b - c) = exp (a - c) := by
  rw [← exp_add, sub_add_sub]
theorem exp_neg (a : A) : (exp a : K) * exp (-a) = 1 := by rw [← exp_add, add_neg, exp_zero]
end
end Tang
