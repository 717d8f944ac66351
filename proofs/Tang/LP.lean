prelude
import Tang.Field
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.LP — weak duality of linear programming over any ordered field -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

section
variable {K : Type u} [OrderedRing K]
theorem sum_le_sum {n : Nat} {f g : Nat → K} (h : ∀ i, i < n → f i ≤ g i) : sum n f ≤ sum n g := by
  induction n with
  | zero => exact le_refl _
  | succ n ih =>
    exact add_le_add (ih (fun i hi => h i (Nat.lt_succ_of_lt hi))) (h n (Nat.lt_succ_self n))
/-- `dot n c x = c 0 * x 0 + ⋯`. -/
def dot (n : Nat) (c x : Nat → K) : K := sum n (fun j => c j * x j)
/-- Weak duality: for `A x ≤ b`, `x ≥ 0` and `Aᵀ y ≥ c`, `y ≥ 0`:  `c·x ≤ b·y`.
`A` has `m` rows and `n` columns. -/
theorem weak_duality (m n : Nat) (A : Nat → Nat → K) (b c x y : Nat → K)
    (primal : ∀ i, i < m → dot n (A i) x ≤ b i) (hx : ∀ j, j < n → 0 ≤ x j)
    (dual : ∀ j, j < n → c j ≤ dot m (fun i => A i j) y) (hy : ∀ i, i < m → 0 ≤ y i) :
    dot n c x ≤ dot m b y :=
  calc dot n c x
    _ ≤ sum n (fun j => dot m (fun i => A i j) y * x j) :=
        sum_le_sum (fun j hj => mul_le_mul_right (hx j hj) (dual j hj))
    _ = sum n (fun j => sum m (fun i => A i j * y i * x j)) :=
        sum_congr (fun j _ => (sum_mul_right m (x j) _).symm)
    _ = sum m (fun i => sum n (fun j => A i j * y i * x j)) := sum_comm n m _
    _ = sum m (fun i => sum n (fun j => A i j * x j * y i)) :=
        sum_congr (fun i _ => sum_congr (fun j _ => ring_eq [A i j, x j, y i] (by rfl)))
    _ = sum m (fun i => dot n (A i) x * y i) := sum_congr (fun i _ => sum_mul_right n (y i) _)
    _ ≤ dot m b y := sum_le_sum (fun i hi => mul_le_mul_right (hy i hi) (primal i hi))
/-- Complementary values prove each other optimal: no feasible `x'` beats `x`. -/
theorem optimal_of_equal (m n : Nat) (A : Nat → Nat → K) (b c x x' y : Nat → K)
    (equal : dot n c x = dot m b y)
    (primal : ∀ i, i < m → dot n (A i) x' ≤ b i) (hx : ∀ j, j < n → 0 ≤ x' j)
    (dual : ∀ j, j < n → c j ≤ dot m (fun i => A i j) y) (hy : ∀ i, i < m → 0 ≤ y i) :
    dot n c x' ≤ dot n c x := by
  rw [equal]
  exact weak_duality m n A b c x' y primal hx dual hy

/-! ## What certificates are made of -/
/-- `0 + 1 + ⋯ + 1`. -/
def numeral {K : Type u} [CommSemiring K] : Nat → K
  | .zero => 0
  | .succ n => numeral n + 1
theorem add_nonneg {a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ a + b := by
  have h := add_le_add ha hb
  rw [add_zero] at h
  exact h
end
theorem numeral_nonneg {K : Type u} [OrderedField K] (n : Nat) : (0 : K) ≤ numeral n := by
  induction n with
  | zero => exact le_refl 0
  | succ n ih => exact add_nonneg ih zero_le_one
/-- `a ≤ b` from `b - a = r` and `0 ≤ r`. -/
theorem le_of_slack {K : Type u} [OrderedField K] {a b r : K} (h : b - a = r) (k : 0 ≤ r) : a ≤ b :=
  le_of_sub_nonneg (h ▸ k)
end Tang
