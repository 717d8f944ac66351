prelude
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Sum — finite sums over a commutative semiring -/
set_option autoImplicit false
universe u v w
noncomputable section
namespace Tang

/-- `sum n f = f 0 + f 1 + ⋯ + f (n-1)`. -/
def sum {K : Type u} [CommSemiring K] : Nat → (Nat → K) → K
  | .zero, _ => 0
  | .succ n, f => sum n f + f n

/-- Pointwise map of an indexed family ("tensor"). -/
def map {α : Type u} {β : Type v} (g : α → β) (x : Nat → α) : Nat → β := fun i => g (x i)

section
variable {K : Type u} [CommSemiring K]

theorem sum_zero (f : Nat → K) : sum 0 f = 0 := rfl
theorem sum_succ (n : Nat) (f : Nat → K) : sum (Nat.succ n) f = sum n f + f n := rfl

/-- Only the terms below `n` matter. -/
theorem sum_congr {n : Nat} {f g : Nat → K} (h : ∀ i, i < n → f i = g i) : sum n f = sum n g := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [sum_succ, sum_succ, ih (fun i hi => h i (Nat.lt_succ_of_lt hi)), h n (Nat.lt_succ_self n)]

/-- Map fusion inside a sum. -/
theorem sum_map_map {α : Type v} {β : Type w} (n : Nat) (g : β → K) (f : α → β) (x : Nat → α) :
    sum n (map g (map f x)) = sum n (map (fun a => g (f a)) x) := rfl

theorem sum_const_zero (n : Nat) : sum n (fun _ => (0 : K)) = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => rw [sum_succ, ih, add_zero]

theorem sum_add (n : Nat) (f g : Nat → K) : sum n (fun i => f i + g i) = sum n f + sum n g := by
  induction n with
  | zero => exact (add_zero _).symm
  | succ n ih =>
    rw [sum_succ, sum_succ, sum_succ, ih]
    exact semiring_eq [sum n f, sum n g, f n, g n] (by rfl)

theorem sum_mul_left (n : Nat) (c : K) (f : Nat → K) : sum n (fun i => c * f i) = c * sum n f := by
  induction n with
  | zero => exact (mul_zero c).symm
  | succ n ih => rw [sum_succ, sum_succ, ih, mul_add]

theorem sum_mul_right (n : Nat) (c : K) (f : Nat → K) : sum n (fun i => f i * c) = sum n f * c := by
  rw [mul_comm _ c, ← sum_mul_left]
  exact sum_congr (fun i _ => mul_comm _ _)

/-- Linearity. -/
theorem sum_linear (n : Nat) (c d : K) (f g : Nat → K) :
    sum n (fun i => c * f i + d * g i) = c * sum n f + d * sum n g := by
  rw [sum_add, sum_mul_left, sum_mul_left]

/-- Split reduction: a sum over `m + k` terms is two partial sums. -/
theorem sum_split (m k : Nat) (f : Nat → K) : sum (m + k) f = sum m f + sum k (fun i => f (m + i)) := by
  induction k with
  | zero => exact (add_zero _).symm
  | succ k ih => rw [Nat.add_succ, sum_succ, sum_succ, ih, add_assoc]

/-- Fubini: the two loops can be exchanged. -/
theorem sum_comm (n m : Nat) (f : Nat → Nat → K) :
    sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)) := by
  induction n with
  | zero => exact (sum_const_zero m).symm
  | succ n ih =>
    rw [sum_succ, ih, ← sum_add]
    rfl

/-- Tiling: one loop of `n * m` steps is `n` tiles of `m` steps. -/
theorem sum_tile (n m : Nat) (f : Nat → K) :
    sum (n * m) f = sum n (fun i => sum m (fun j => f (i * m + j))) := by
  induction n with
  | zero =>
    rw [show Nat.zero * m = 0 from Nat.zero_mul m]
    rfl
  | succ n ih => rw [Nat.succ_mul, sum_split, ih, sum_succ]

/-- Tiled contraction: `Σ_k` of a matrix product may be accumulated tile by tile, tiles in the outer loop. -/
theorem matmul_tile (n m : Nat) (a b : Nat → Nat → K) (i j : Nat) :
    sum (n * m) (fun k => a i k * b k j)
      = sum n (fun t => sum m (fun k => a i (t * m + k) * b (t * m + k) j)) :=
  sum_tile n m (fun k => a i k * b k j)

/-- A guarded sum is the sum over the points that the guard admits, counted from the first. -/
theorem sum_if_lt (n k : Nat) (f : Nat → K) :
    sum (k + n) (fun i => if i < k then f i else 0) = sum k f := by
  rw [sum_split]
  have tail : sum n (fun i => if k + i < k then f (k + i) else 0) = sum n (fun _ => (0 : K)) :=
    sum_congr (fun i _ => if_neg (fun h => Nat.lt_irrefl k (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_right k i)) h)))
  rw [tail, sum_const_zero, add_zero]
  exact sum_congr (fun i hi => if_pos hi)
/-- A sum with one term that is not zero. -/
theorem sum_single (n k : Nat) (hk : k < n) (f : Nat → K) :
    sum n (fun i => if i = k then f i else 0) = f k := by
  induction n with
  | zero => exact absurd hk (Nat.not_lt_zero k)
  | succ n ih =>
    rw [sum_succ]
    by_cases e : n = k
    · have none : sum n (fun i => if i = k then f i else 0) = sum n (fun _ => (0 : K)) :=
        sum_congr (fun i hi => if_neg (fun h => Nat.ne_of_lt hi (h.trans e.symm)))
      rw [none, sum_const_zero, if_pos e, zero_add, e]
    · rw [ih (Nat.lt_of_le_of_ne (Nat.le_of_lt_succ hk) (fun h => e h.symm)), if_neg e, add_zero]
end

section
variable {K : Type u} [CommRing K]
theorem sum_neg (n : Nat) (f : Nat → K) : sum n (fun i => -f i) = -sum n f := by
  induction n with
  | zero =>
    show (0 : K) = -0
    rw [← add_zero (-(0 : K)), neg_add]
  | succ n ih => rw [sum_succ, sum_succ, ih, Ring.neg_add_distrib]
theorem sum_sub (n : Nat) (f g : Nat → K) : sum n (fun i => f i - g i) = sum n f - sum n g := by
  rw [sub_eq, ← sum_neg, ← sum_add]
  rfl
end
end Tang
