prelude
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Field — quotients, positive sums, sums of exponentials -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

section
variable {K : Type u} [OrderedField K]
theorem div_eq (a b : K) : a / b = a * inv b := rfl
theorem mul_ne_zero {a b : K} (ha : a ≠ 0) (hb : b ≠ 0) : a * b ≠ 0 := by
  intro h
  apply ha
  apply mul_cancel hb
  rw [h, zero_mul]
theorem div_mul_cancel {a b : K} (hb : b ≠ 0) : a / b * b = a := by
  rw [div_eq, mul_assoc, mul_comm (inv b), mul_inv hb, mul_one]
theorem div_unique {a b c : K} (hb : b ≠ 0) (h : c * b = a) : a / b = c := by
  apply mul_cancel hb
  rw [div_mul_cancel hb, h]
/-- A common factor of numerator and denominator drops out. -/
theorem div_common {a b c : K} (hb : b ≠ 0) (hc : c ≠ 0) : (a * c) / (b * c) = a / b := by
  apply div_unique (mul_ne_zero hb hc)
  rw [← mul_assoc, div_mul_cancel hb]
theorem add_div (a b c : K) : (a + b) / c = a / c + b / c := add_mul a b (inv c)
theorem mul_div (a b c : K) : a * b / c = a * (b / c) := mul_assoc a b (inv c)
theorem div_self {a : K} (h : a ≠ 0) : a / a = 1 := mul_inv h
theorem mul_pos {a b : K} (ha : 0 < a) (hb : 0 < b) : 0 < a * b :=
  lt_of_le_of_ne (mul_nonneg (le_of_lt ha) (le_of_lt hb))
    (fun h => mul_ne_zero (fun e => ne_of_lt ha e.symm) (fun e => ne_of_lt hb e.symm) h.symm)
theorem add_pos {a b : K} (ha : 0 ≤ a) (hb : 0 < b) : 0 < a + b := by
  apply lt_of_lt_of_le hb
  have h := add_le_add_right b ha
  rw [zero_add] at h
  exact h
theorem sum_nonneg {n : Nat} {f : Nat → K} (h : ∀ i, 0 ≤ f i) : 0 ≤ sum n f := by
  induction n with
  | zero => exact le_refl 0
  | succ n ih =>
    have k := add_le_add ih (h n)
    rw [add_zero] at k
    exact k
/-- A sum of positive terms, at least one of them, is positive. -/
theorem sum_pos (n : Nat) {f : Nat → K} (h : ∀ i, 0 < f i) : 0 < sum (Nat.succ n) f :=
  add_pos (sum_nonneg (fun i => le_of_lt (h i))) (h n)
theorem sum_div (n : Nat) (f : Nat → K) (c : K) : sum n (fun i => f i / c) = sum n f / c :=
  sum_mul_right n (inv c) f
theorem neg_le_neg {a b : K} (h : a ≤ b) : -b ≤ -a := by
  apply le_of_sub_nonneg
  have k := sub_nonneg h
  rw [show -a - -b = b - a from ring_eq [a, b] (by rfl)]
  exact k
theorem zero_le_one : (0 : K) ≤ 1 := by
  cases le_total (0 : K) 1 with
  | inl h => exact h
  | inr h =>
    have k : (0 : K) ≤ -1 := by
      have j := neg_le_neg h
      rw [show -(0 : K) = 0 from ring_eq [] (by rfl)] at j
      exact j
    have s := mul_nonneg k k
    rw [show (-1 : K) * -1 = 1 from ring_eq [] (by rfl)] at s
    exact s
theorem square_nonneg (a : K) : 0 ≤ a * a := by
  cases le_total 0 a with
  | inl h => exact mul_nonneg h h
  | inr h =>
    have k := neg_le_neg h
    rw [show -(0 : K) = 0 from ring_eq [] (by rfl)] at k
    have s := mul_nonneg k k
    rw [show -a * -a = a * a from ring_eq [a] (by rfl)] at s
    exact s
end

section
variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]
/-- Rescaling a whole partial sum to a new reference. -/
theorem sum_rescale (n : Nat) (w : Nat → K) (x : Nat → A) (m m' : A) :
    sum n (fun i => w i * exp (x i - m)) * exp (m - m') = sum n (fun i => w i * exp (x i - m')) := by
  rw [← sum_mul_right]
  apply sum_congr
  intro i _
  rw [mul_assoc, exp_chain]
theorem sum_exp_rescale (n : Nat) (x : Nat → A) (m m' : A) :
    sum n (fun i => exp (x i - m)) * exp (m - m') = (sum n (fun i => exp (x i - m')) : K) := by
  rw [← sum_mul_right]
  apply sum_congr
  intro i _
  rw [exp_chain]
theorem sum_exp_ne_zero (n : Nat) (x : Nat → A) : (sum (Nat.succ n) (fun i => exp (x i)) : K) ≠ 0 :=
  fun h => ne_of_lt (sum_pos n (fun i => exp_pos (K := K) (x i))) h.symm
end
end Tang
