prelude
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Scan — affine scans, their chunked plan, and the sums that are scans -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

/-! ## Chunks: totals of chunks, a scan of those, scans inside chunks -/
section
variable {α : Type u} {op : α → α → α} {e : α}
/-- The scan at position `j` of chunk `i` is the scan of the totals, combined with that inside. -/
theorem scan_chunk (assoc : Associative op) (id : Identity op e) (m i j : Nat) (f : Nat → α) :
    fold op e (i * m + j) f
      = op (fold op e i (fun c => fold op e m (fun k => f (c * m + k)))) (fold op e j (fun k => f (i * m + k))) := by
  rw [fold_split assoc id, fold_tile assoc id]
end

/-! ## Affine maps -/
/-- The map `h ↦ a * h + b`. -/
structure Step (K : Type u) where
  a : K
  b : K
theorem Step.ext {K : Type u} {s t : Step K} (h : s.a = t.a) (k : s.b = t.b) : s = t := by
  cases s
  cases t
  cases h
  cases k
  rfl
section
variable {K : Type u} [CommSemiring K]
/-- First `s`, then `t` (Blelloch 1990). -/
def affine (s t : Step K) : Step K := ⟨t.a * s.a, t.a * s.b + t.b⟩
theorem affine_assoc : Associative (affine (K := K)) := by
  intro s t r
  apply Step.ext
  · exact (mul_assoc _ _ _).symm
  · show r.a * (t.a * s.b + t.b) + r.b = r.a * t.a * s.b + (r.a * t.b + r.b)
    exact semiring_eq [s.b, t.a, t.b, r.a, r.b] (by rfl)
theorem affine_identity : Identity (affine (K := K)) ⟨1, 0⟩ := by
  intro s
  constructor
  · exact Step.ext (mul_one _) (by
      show s.a * 0 + s.b = s.b
      rw [mul_zero, zero_add])
  · exact Step.ext (one_mul _) (by
      show 1 * s.b + 0 = s.b
      rw [one_mul, add_zero])
/-- The sequential recurrence from `h = 0`. -/
def recurrence (a b : Nat → K) : Nat → K
  | .zero => 0
  | .succ n => a n * recurrence a b n + b n
/-- The fold of affine maps computes the recurrence. -/
theorem affine_fold (a b : Nat → K) (n : Nat) :
    (fold affine ⟨1, 0⟩ n (fun i => ⟨a i, b i⟩)).b = recurrence a b n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show a n * (fold affine ⟨1, 0⟩ n (fun i => ⟨a i, b i⟩)).b + b n = a n * recurrence a b n + b n
    rw [ih]
/-- The chunked plan of an affine scan is the sequential scan. -/
theorem affine_chunk (a b : Nat → K) (m i j : Nat) :
    (affine (fold affine ⟨1, 0⟩ i (fun c => fold affine ⟨1, 0⟩ m (fun k => ⟨a (c * m + k), b (c * m + k)⟩)))
      (fold affine ⟨1, 0⟩ j (fun k => ⟨a (i * m + k), b (i * m + k)⟩))).b = recurrence a b (i * m + j) := by
  rw [← affine_fold, scan_chunk affine_assoc affine_identity]

/-- The product of `a r` over `s < r < n`. -/
def between (a : Nat → K) (s n : Nat) : K := fold (fun x y => x * y) 1 n (fun r => if s < r then a r else 1)
theorem between_self (a : Nat → K) (s : Nat) : between a s (Nat.succ s) = 1 := by
  have h : ∀ n, n ≤ Nat.succ s → between a s n = 1 := by
    intro n
    induction n with
    | zero => exact fun _ => rfl
    | succ n ih =>
      intro k
      show between a s n * (if s < n then a n else 1) = 1
      have m : ¬ s < n := fun j => Nat.lt_irrefl s (Nat.le_trans j (Nat.le_of_succ_le_succ k))
      rw [ih (Nat.le_trans (Nat.le_succ n) k), if_neg m, mul_one]
  exact h (Nat.succ s) (Nat.le_refl _)
theorem between_succ (a : Nat → K) (s n : Nat) (h : s < n) : between a s (Nat.succ n) = a n * between a s n := by
  show between a s n * (if s < n then a n else 1) = _
  rw [if_pos h, mul_comm]
/-- Σ over `s ≤ t` of (Π over `s < r ≤ t` of `a r`) · `b s` is the recurrence. -/
theorem sum_recurrence (a b : Nat → K) (n : Nat) :
    sum n (fun s => between a s n * b s) = recurrence a b n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [sum_succ, between_self, one_mul]
    show sum n (fun s => between a s (Nat.succ n) * b s) + b n = a n * recurrence a b n + b n
    rw [← ih, ← sum_mul_left]
    apply congrArg (fun x => x + b n)
    exact sum_congr (fun s hs => by rw [between_succ a s n hs, mul_assoc])
end
end Tang
