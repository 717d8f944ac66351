prelude
import Tang.Field
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Welford — merging (n, mean, M2), and the direct formulas -/
set_option autoImplicit false
set_option synthInstance.maxSize 2000
universe u
noncomputable section
namespace Tang

/-- Count, mean, and sum of squared deviations. -/
structure Moments (K : Type u) where
  n : K
  mean : K
  m2 : K
theorem Moments.ext {K : Type u} {s t : Moments K} (h : s.n = t.n) (k : s.mean = t.mean) (j : s.m2 = t.m2) :
    s = t := by
  cases s
  cases t
  cases h
  cases k
  cases j
  rfl

section
variable {K : Type u} [OrderedField K]
/-- Chan, Golub & LeVeque (1979); an empty side leaves the other as it is. -/
def mergeMoments (s t : Moments K) : Moments K where
  n := s.n + t.n
  mean := if s.n = 0 then t.mean else if t.n = 0 then s.mean else
    s.mean + (t.mean - s.mean) * t.n / (s.n + t.n)
  m2 := if s.n = 0 then t.m2 else if t.n = 0 then s.m2 else
    s.m2 + t.m2 + (t.mean - s.mean) * (t.mean - s.mean) * s.n * t.n / (s.n + t.n)
theorem welford_left {s t : Moments K} (h : s.n = 0) : mergeMoments s t = t := by
  apply Moments.ext
  · show s.n + t.n = t.n
    rw [h, zero_add]
  · exact if_pos h
  · exact if_pos h
theorem welford_right {s t : Moments K} (hs : s.n ≠ 0) (h : t.n = 0) : mergeMoments s t = s := by
  apply Moments.ext
  · show s.n + t.n = s.n
    rw [h, add_zero]
  · exact (if_neg hs).trans (if_pos h)
  · exact (if_neg hs).trans (if_pos h)
/-- Σ x, and Σ x². -/
def total (s : Moments K) : K := s.mean * s.n
def squares (s : Moments K) : K := s.m2 + s.mean * s.mean * s.n
/-- States with equal sums are equal. -/
theorem moments_of_sums {s t : Moments K} (hn : s.n ≠ 0) (h : s.n = t.n) (k : total s = total t)
    (j : squares s = squares t) : s = t := by
  have m : s.mean = t.mean := by
    apply mul_cancel hn
    have k' : s.mean * s.n = t.mean * t.n := k
    rw [k', h]
  have j' : s.m2 + s.mean * s.mean * s.n = t.m2 + t.mean * t.mean * t.n := j
  rw [← m, ← h] at j'
  exact Moments.ext h m (add_cancel _ j')
variable {s t : Moments K}
theorem welford_total (hs : s.n ≠ 0) (ht : t.n ≠ 0) (h : s.n + t.n ≠ 0) :
    total (mergeMoments s t) = total s + total t := by
  show (if s.n = 0 then t.mean else if t.n = 0 then s.mean else
    s.mean + (t.mean - s.mean) * t.n / (s.n + t.n)) * (s.n + t.n) = s.mean * s.n + t.mean * t.n
  rw [if_neg hs, if_neg ht, add_mul, div_mul_cancel h]
  exact ring_eq [s.n, t.n, s.mean, t.mean] (by rfl)
theorem welford_squares (hs : s.n ≠ 0) (ht : t.n ≠ 0) (h : s.n + t.n ≠ 0) :
    squares (mergeMoments s t) = squares s + squares t := by
  show (if s.n = 0 then t.m2 else if t.n = 0 then s.m2 else
      s.m2 + t.m2 + (t.mean - s.mean) * (t.mean - s.mean) * s.n * t.n / (s.n + t.n))
    + (if s.n = 0 then t.mean else if t.n = 0 then s.mean else
      s.mean + (t.mean - s.mean) * t.n / (s.n + t.n))
    * (if s.n = 0 then t.mean else if t.n = 0 then s.mean else
      s.mean + (t.mean - s.mean) * t.n / (s.n + t.n)) * (s.n + t.n)
    = s.m2 + s.mean * s.mean * s.n + (t.m2 + t.mean * t.mean * t.n)
  rw [if_neg hs, if_neg ht, if_neg hs, if_neg ht, div_eq, div_eq]
  generalize hc : inv (s.n + t.n) = c
  have one : (s.n + t.n) * c - 1 = 0 := by
    rw [← hc, mul_inv h, sub_self]
  apply eq_of_sub_eq_zero
  have expand : s.m2 + t.m2 + (t.mean - s.mean) * (t.mean - s.mean) * s.n * t.n * c
      + (s.mean + (t.mean - s.mean) * t.n * c) * (s.mean + (t.mean - s.mean) * t.n * c) * (s.n + t.n)
      - (s.m2 + s.mean * s.mean * s.n + (t.m2 + t.mean * t.mean * t.n))
      = ((s.n + t.n) * c - 1) * ((1 + 1) * s.mean * (t.mean - s.mean) * t.n
        + (t.mean - s.mean) * (t.mean - s.mean) * t.n * t.n * c + (t.mean - s.mean) * (t.mean - s.mean) * t.n) :=
    ring_eq [s.n, t.n, s.mean, t.mean, s.m2, t.m2, c] (by rfl)
  rw [expand, one, zero_mul]
end

section
variable {K : Type u} [OrderedField K]
theorem add_ne_zero {a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b) (h : b ≠ 0) : a + b ≠ 0 :=
  fun e => ne_of_lt (add_pos ha (lt_of_le_of_ne hb (fun x => h x.symm))) e.symm
/-- Counts are not negative; for such states merging is associative, empty ones included. -/
theorem welford_assoc (s t r : Moments K) (hs : 0 ≤ s.n) (ht : 0 ≤ t.n) (hr : 0 ≤ r.n) :
    mergeMoments (mergeMoments s t) r = mergeMoments s (mergeMoments t r) := by
  by_cases zs : s.n = 0
  · rw [welford_left zs, welford_left zs]
  · by_cases zt : t.n = 0
    · rw [welford_right zs zt, welford_left zt]
    · have st : s.n + t.n ≠ 0 := add_ne_zero hs ht zt
      by_cases zr : r.n = 0
      · rw [welford_right (show (mergeMoments s t).n ≠ 0 from st) zr, welford_right zt zr]
      · have tr : t.n + r.n ≠ 0 := add_ne_zero ht hr zr
        have pst : 0 ≤ s.n + t.n := le_of_lt (add_pos hs (lt_of_le_of_ne ht (fun x => zt x.symm)))
        have all : s.n + t.n + r.n ≠ 0 := add_ne_zero pst hr zr
        have all' : s.n + (t.n + r.n) ≠ 0 := by
          rw [← add_assoc]
          exact all
        have kt : (mergeMoments s t).n ≠ 0 := st
        have kr : (mergeMoments t r).n ≠ 0 := tr
        apply moments_of_sums (show (mergeMoments (mergeMoments s t) r).n ≠ 0 from all)
        · exact add_assoc _ _ _
        · rw [welford_total kt zr all, welford_total zs zt st, welford_total zs kr all', welford_total zt zr tr,
            add_assoc]
        · rw [welford_squares kt zr all, welford_squares zs zt st, welford_squares zs kr all',
            welford_squares zt zr tr, add_assoc]
theorem count_sum {a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ a + b := by
  have h := add_le_add ha hb
  rw [add_zero] at h
  exact h
theorem welford_counts (s t : Moments K) (hs : 0 ≤ s.n) (ht : 0 ≤ t.n) : 0 ≤ (mergeMoments s t).n := count_sum hs ht
/-- What folds reach: counts are not negative, and where nothing was counted the rest is zero. -/
def Counted (s : Moments K) : Prop := 0 ≤ s.n ∧ (s.n = 0 → s.mean = 0 ∧ s.m2 = 0)
theorem counted_nothing : Counted (⟨0, 0, 0⟩ : Moments K) := ⟨le_refl 0, fun _ => ⟨rfl, rfl⟩⟩
theorem counted_some (n x y : K) (h : 0 < n) : Counted (⟨n, x, y⟩ : Moments K) :=
  ⟨le_of_lt h, fun e => absurd e.symm (ne_of_lt h)⟩
theorem welford_counted (s t : Moments K) (hs : Counted s) (ht : Counted t) : Counted (mergeMoments s t) := by
  refine ⟨count_sum hs.left ht.left, ?_⟩
  intro h
  by_cases zt : t.n = 0
  · have zs : s.n + t.n = 0 := h
    rw [zt, add_zero] at zs
    rw [welford_left zs]
    exact ht.right zt
  · exact absurd h (add_ne_zero hs.left ht.left zt)
/-- Two empty states are the same one: elsewhere the right one would stay, and the order would matter. -/
theorem counted_empty {s t : Moments K} (hs : Counted s) (ht : Counted t) (zs : s.n = 0) (zt : t.n = 0) : s = t :=
  Moments.ext (zs.trans zt.symm) ((hs.right zs).left.trans (ht.right zt).left.symm)
    ((hs.right zs).right.trans (ht.right zt).right.symm)
theorem welford_comm (s t : Moments K) (hs : Counted s) (ht : Counted t) : mergeMoments s t = mergeMoments t s := by
  by_cases zs : s.n = 0
  · rw [welford_left zs]
    by_cases zt : t.n = 0
    · rw [welford_left zt]
      exact counted_empty ht hs zt zs
    · rw [welford_right zt zs]
  · by_cases zt : t.n = 0
    · rw [welford_left zt, welford_right zs zt]
    · have st : s.n + t.n ≠ 0 := add_ne_zero hs.left ht.left zt
      have ts : t.n + s.n ≠ 0 := add_ne_zero ht.left hs.left zs
      apply moments_of_sums (show (mergeMoments s t).n ≠ 0 from st)
      · exact add_comm _ _
      · rw [welford_total zs zt st, welford_total zt zs ts, add_comm]
      · rw [welford_squares zs zt st, welford_squares zt zs ts, add_comm]
theorem welford_identity (s : Moments K) (hs : Counted s) :
    mergeMoments ⟨0, 0, 0⟩ s = s ∧ mergeMoments s ⟨0, 0, 0⟩ = s := by
  refine ⟨welford_left rfl, ?_⟩
  rw [welford_comm s ⟨0, 0, 0⟩ hs counted_nothing]
  exact welford_left rfl
/-- The fold over `x 0 … x n`. -/
def welfordFold (n : Nat) (x : Nat → K) : Moments K :=
  fold mergeMoments ⟨1, x 0, 0⟩ n (fun i => ⟨1, x (Nat.succ i), 0⟩)
theorem one_ne_zero : (1 : K) ≠ 0 := fun h => zero_ne_one h.symm
theorem count_nonneg (n : Nat) : (0 : K) ≤ sum n (fun _ => 1) := sum_nonneg (fun _ => zero_le_one)
theorem welfordFold_n (n : Nat) (x : Nat → K) : (welfordFold n x).n = sum (Nat.succ n) (fun _ => 1) := by
  induction n with
  | zero => exact (zero_add 1).symm
  | succ n ih =>
    show (welfordFold n x).n + 1 = _
    rw [ih]
    rfl
theorem count_ne_zero (n : Nat) : (sum (Nat.succ n) (fun _ => 1) : K) ≠ 0 :=
  add_ne_zero (count_nonneg n) zero_le_one one_ne_zero
/-- The fold keeps Σ x and Σ x². -/
theorem welfordFold_sums (n : Nat) (x : Nat → K) :
    total (welfordFold n x) = sum (Nat.succ n) x ∧ squares (welfordFold n x) = sum (Nat.succ n) (fun i => x i * x i) := by
  induction n with
  | zero =>
    constructor
    · show x 0 * 1 = 0 + x 0
      rw [mul_one, zero_add]
    · show 0 + x 0 * x 0 * 1 = 0 + x 0 * x 0
      rw [mul_one]
  | succ n ih =>
    have h : (welfordFold n x).n ≠ 0 := by
      rw [welfordFold_n]
      exact count_ne_zero n
    have k : (welfordFold n x).n + 1 ≠ 0 := by
      rw [welfordFold_n]
      exact count_ne_zero (Nat.succ n)
    constructor
    · show total (mergeMoments (welfordFold n x) ⟨1, x (Nat.succ n), 0⟩) = _
      rw [welford_total h (show (⟨1, x (Nat.succ n), 0⟩ : Moments K).n ≠ 0 from one_ne_zero) k, ih.left, sum_succ (Nat.succ n)]
      show _ + x (Nat.succ n) * 1 = _
      rw [mul_one]
    · show squares (mergeMoments (welfordFold n x) ⟨1, x (Nat.succ n), 0⟩) = _
      rw [welford_squares h (show (⟨1, x (Nat.succ n), 0⟩ : Moments K).n ≠ 0 from one_ne_zero) k, ih.right, sum_succ (Nat.succ n)]
      show _ + (0 + x (Nat.succ n) * x (Nat.succ n) * 1) = _
      rw [mul_one, zero_add]
/-- Its mean is Σ x / n. -/
theorem welford_mean (n : Nat) (x : Nat → K) :
    (welfordFold n x).mean = sum (Nat.succ n) x / sum (Nat.succ n) (fun _ => 1) := by
  apply Eq.symm
  apply div_unique (count_ne_zero n)
  rw [← welfordFold_n n x]
  exact (welfordFold_sums n x).left
/-- Its M2 is Σ (x − mean)². -/
theorem welford_m2 (n : Nat) (x : Nat → K) :
    (welfordFold n x).m2 = sum (Nat.succ n) (fun i =>
      (x i - (welfordFold n x).mean) * (x i - (welfordFold n x).mean)) := by
  have s := (welfordFold_sums n x).left
  have q := (welfordFold_sums n x).right
  have c := welfordFold_n n x
  generalize hm : (welfordFold n x).mean = m
  have s' : m * (welfordFold n x).n = sum (Nat.succ n) x := by
    rw [← hm]
    exact s
  have q' : (welfordFold n x).m2 + m * m * (welfordFold n x).n = sum (Nat.succ n) (fun i => x i * x i) := by
    rw [← hm]
    exact q
  have split : sum (Nat.succ n) (fun i => (x i - m) * (x i - m))
      = sum (Nat.succ n) (fun i => x i * x i + -((1 + 1) * m) * x i + m * m * 1) :=
    sum_congr (fun i _ => ring_eq [x i, m] (by rfl))
  rw [split, sum_add, sum_add, sum_mul_left, sum_mul_left, ← q', ← s', ← c]
  exact ring_eq [(welfordFold n x).m2, m, (welfordFold n x).n] (by rfl)
end
end Tang
