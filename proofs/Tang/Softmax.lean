prelude
import Tang.Field
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Softmax — the online-softmax combine, what its fold computes, and log-sum-exp -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

/-- Running maximum, denominator, numerator. -/
structure Soft (A : Type u) (K : Type v) where
  m : A
  l : K
  a : K
theorem Soft.ext {A : Type u} {K : Type v} {s t : Soft A K} (hm : s.m = t.m) (hl : s.l = t.l)
    (ha : s.a = t.a) : s = t := by
  cases s
  cases t
  cases hm
  cases hl
  cases ha
  rfl

section
variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]

/-- Both sides are scaled to the joint maximum (Milakov & Gimelshein 2018). -/
def softmax (s t : Soft A K) : Soft A K where
  m := max s.m t.m
  l := s.l * exp (s.m - max s.m t.m) + t.l * exp (t.m - max s.m t.m)
  a := s.a * exp (s.m - max s.m t.m) + t.a * exp (t.m - max s.m t.m)

theorem softmax_comm : Commutative (softmax (A := A) (K := K)) := by
  intro s t
  apply Soft.ext
  · exact max_comm _ _
  · show _ + _ = _ + _
    rw [max_comm t.m s.m, add_comm]
  · show _ + _ = _ + _
    rw [max_comm t.m s.m, add_comm]
/-- One rescaled component of the nested combine (used for `l` and for `a`). -/
theorem rescale_assoc (x y z : K) (m₁ m₂ m₃ m₁₂ m₂₃ m : A) :
    (x * exp (m₁ - m₁₂) + y * exp (m₂ - m₁₂)) * exp (m₁₂ - m) + z * exp (m₃ - m)
      = x * exp (m₁ - m) + (y * exp (m₂ - m₂₃) + z * exp (m₃ - m₂₃)) * exp (m₂₃ - m) := by
  rw [add_mul, add_mul, mul_assoc, mul_assoc, mul_assoc, mul_assoc,
    exp_chain, exp_chain, exp_chain, exp_chain, add_assoc]
theorem softmax_assoc : Associative (softmax (A := A) (K := K)) := by
  intro s t r
  apply Soft.ext
  · exact max_assoc _ _ _
  · show (s.l * _ + t.l * _) * exp (max s.m t.m - max (max s.m t.m) r.m)
        + r.l * exp (r.m - max (max s.m t.m) r.m) = _
    rw [max_assoc]
    exact rescale_assoc s.l t.l r.l s.m t.m r.m _ _ _
  · show (s.a * _ + t.a * _) * exp (max s.m t.m - max (max s.m t.m) r.m)
        + r.a * exp (r.m - max (max s.m t.m) r.m) = _
    rw [max_assoc]
    exact rescale_assoc s.a t.a r.a s.m t.m r.m _ _ _

/-! ## A fold of it computes the two-pass softmax -/
/-- State of a single score `x` with value `v`. -/
def single (x : A) (v : K) : Soft A K := ⟨x, 1, v⟩
/-- The fold over scores `x 0 … x n` with values `v 0 … v n`. -/
def online (n : Nat) (x : Nat → A) (v : Nat → K) : Soft A K :=
  fold softmax (single (x 0) (v 0)) n (fun i => single (x (Nat.succ i)) (v (Nat.succ i)))
/-- The maximum of `x 0 … x n`. -/
def top {A : Type u} [TotalOrder A] (n : Nat) (x : Nat → A) : A := fold max (x 0) n (fun i => x (Nat.succ i))
theorem top_ge {A : Type u} [TotalOrder A] (n : Nat) (x : Nat → A) : ∀ i, i ≤ n → x i ≤ top n x := by
  induction n with
  | zero =>
    intro i h
    rw [Nat.le_antisymm h (Nat.zero_le i)]
    exact le_refl _
  | succ n ih =>
    intro i h
    show x i ≤ max (top n x) (x (Nat.succ n))
    cases Nat.lt_or_ge i (Nat.succ n) with
    | inl k => exact le_trans (ih i (Nat.le_of_lt_succ k)) (le_max_left _ _)
    | inr k =>
      rw [Nat.le_antisymm h k]
      exact le_max_right _ _
theorem top_le {A : Type u} [TotalOrder A] (n : Nat) (x : Nat → A) {c : A} (h : ∀ i, i ≤ n → x i ≤ c) :
    top n x ≤ c := by
  induction n with
  | zero => exact h 0 (Nat.le_refl 0)
  | succ n ih =>
    exact max_le (ih (fun i k => h i (Nat.le_trans k (Nat.le_succ n)))) (h _ (Nat.le_refl _))

theorem online_m (n : Nat) (x : Nat → A) (v : Nat → K) : (online n x v).m = top n x := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show max (online n x v).m (x (Nat.succ n)) = max (top n x) (x (Nat.succ n))
    rw [ih]
theorem online_a (n : Nat) (x : Nat → A) (v : Nat → K) :
    (online n x v).a = sum (Nat.succ n) (fun i => v i * exp (x i - top n x)) := by
  induction n with
  | zero =>
    show v 0 = 0 + v 0 * exp (x 0 - x 0)
    rw [sub_self, exp_zero, mul_one, zero_add]
  | succ n ih =>
    show (online n x v).a * exp ((online n x v).m - max (online n x v).m (x (Nat.succ n)))
        + v (Nat.succ n) * exp (x (Nat.succ n) - max (online n x v).m (x (Nat.succ n))) = _
    rw [ih, online_m, sum_rescale]
    rfl
theorem online_l (n : Nat) (x : Nat → A) (v : Nat → K) :
    (online n x v).l = sum (Nat.succ n) (fun i => exp (x i - top n x)) := by
  induction n with
  | zero =>
    show (1 : K) = 0 + exp (x 0 - x 0)
    rw [sub_self, exp_zero, zero_add]
  | succ n ih =>
    show (online n x v).l * exp ((online n x v).m - max (online n x v).m (x (Nat.succ n)))
        + 1 * exp (x (Nat.succ n) - max (online n x v).m (x (Nat.succ n))) = _
    rw [ih, online_m, sum_exp_rescale, one_mul]
    rfl

/-- The softmax-weighted mean of `v`, relative to any reference `c`, with `n + 1` terms. -/
def weighted (n : Nat) (x : Nat → A) (v : Nat → K) (c : A) : K :=
  sum (Nat.succ n) (fun i => v i * exp (x i - c)) / sum (Nat.succ n) (fun i => exp (x i - c))
/-- Shift invariance: the reference does not matter. -/
theorem weighted_shift (n : Nat) (x : Nat → A) (v : Nat → K) (c d : A) :
    weighted n x v c = weighted n x v d := by
  unfold weighted
  rw [← sum_rescale (Nat.succ n) v x c d, ← sum_exp_rescale (Nat.succ n) x c d]
  exact (div_common (sum_exp_ne_zero n (fun i => x i - c)) (exp_ne_zero (c - d))).symm
/-- The online fold is the two-pass softmax, relative to the maximum. -/
theorem online_two_pass (n : Nat) (x : Nat → A) (v : Nat → K) :
    (online n x v).a / (online n x v).l = weighted n x v (top n x) := by
  rw [online_a, online_l]
  rfl
/-- … and, equally, the row of the naive softmax times `V`, for any reference. -/
theorem online_naive (n : Nat) (x : Nat → A) (v : Nat → K) (c : A) :
    sum (Nat.succ n) (fun i => exp (x i - c) / sum (Nat.succ n) (fun j => exp (x j - c)) * v i)
      = (online n x v).a / (online n x v).l := by
  rw [online_two_pass, weighted_shift n x v (top n x) c]
  show _ = _ / _
  rw [← sum_div]
  apply sum_congr
  intro i _
  rw [div_eq, div_eq, mul_comm (v i), mul_assoc, mul_assoc, mul_comm (v i)]

/-! ## Log-sum-exp -/
/-- Maximum and sum: the first two components, which do not depend on the third. -/
structure LogSum (A : Type u) (K : Type v) where
  m : A
  l : K
def logSum (s t : LogSum A K) : LogSum A K where
  m := max s.m t.m
  l := s.l * exp (s.m - max s.m t.m) + t.l * exp (t.m - max s.m t.m)
/-- Any value may stand in the third component: the first two are those of online softmax. -/
theorem logSum_of_softmax (s t : LogSum A K) (x y : K) :
    logSum s t = ⟨(softmax ⟨s.m, s.l, x⟩ ⟨t.m, t.l, y⟩).m, (softmax ⟨s.m, s.l, x⟩ ⟨t.m, t.l, y⟩).l⟩ := rfl
theorem logSum_assoc : Associative (logSum (A := A) (K := K)) := fun s t r =>
  congrArg (fun q => LogSum.mk (Soft.m q) (Soft.l q))
    (softmax_assoc (⟨s.m, s.l, 0⟩ : Soft A K) ⟨t.m, t.l, 0⟩ ⟨r.m, r.l, 0⟩)
theorem logSum_comm : Commutative (logSum (A := A) (K := K)) := fun s t =>
  congrArg (fun q => LogSum.mk (Soft.m q) (Soft.l q))
    (softmax_comm (⟨s.m, s.l, 0⟩ : Soft A K) ⟨t.m, t.l, 0⟩)
/-- For every logarithm: `m + log Σ exp (x − m)` is `log Σ exp x`, whatever `m` is. -/
theorem logsumexp_shift [Logarithm A K] (n : Nat) (x : Nat → A) (m : A) :
    m + log (K := K) (sum (Nat.succ n) (fun i => exp (x i - m))) = log (K := K) (sum (Nat.succ n) (fun i => exp (x i))) := by
  rw [add_comm, ← log_mul _ m (sum_exp_ne_zero n (fun i => x i - m))]
  apply congrArg (log (A := A))
  have h := sum_exp_rescale (K := K) (Nat.succ n) x m 0
  rw [sub_zero] at h
  rw [h]
  exact sum_congr (fun i _ => by rw [sub_zero])
/-- What the online state holds, projected, is log-sum-exp. -/
theorem online_logsumexp [Logarithm A K] (n : Nat) (x : Nat → A) (v : Nat → K) :
    (online n x v).m + log (online n x v).l = log (K := K) (sum (Nat.succ n) (fun i => exp (x i))) := by
  rw [online_m, online_l]
  exact logsumexp_shift (K := K) n x (top n x)
end
end Tang
