prelude
import Tang.Field
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Gradient — dual numbers, gradients of sums and gathers, softmax backward -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

/-! ## Dual numbers: K[ε] / ε² -/
structure Dual (K : Type u) where
  re : K
  eps : K
theorem Dual.ext {K : Type u} {x y : Dual K} (h : x.re = y.re) (k : x.eps = y.eps) : x = y := by
  cases x
  cases y
  cases h
  cases k
  rfl
section
variable {K : Type u} [CommRing K]
instance dualRing : CommRing (Dual K) where
  add x y := ⟨x.re + y.re, x.eps + y.eps⟩
  mul x y := ⟨x.re * y.re, x.re * y.eps + x.eps * y.re⟩
  neg x := ⟨-x.re, -x.eps⟩
  zero := ⟨0, 0⟩
  one := ⟨1, 0⟩
  add_assoc _ _ _ := Dual.ext (add_assoc _ _ _) (add_assoc _ _ _)
  add_comm _ _ := Dual.ext (add_comm _ _) (add_comm _ _)
  add_zero _ := Dual.ext (add_zero _) (add_zero _)
  mul_assoc x y z := Dual.ext (mul_assoc _ _ _)
    (ring_eq [x.re, x.eps, y.re, y.eps, z.re, z.eps] (by rfl) :
      x.re * y.re * z.eps + (x.re * y.eps + x.eps * y.re) * z.re
        = x.re * (y.re * z.eps + y.eps * z.re) + x.eps * (y.re * z.re))
  mul_comm x y := Dual.ext (mul_comm _ _)
    (ring_eq [x.re, x.eps, y.re, y.eps] (by rfl) : x.re * y.eps + x.eps * y.re = y.re * x.eps + y.eps * x.re)
  mul_one x := Dual.ext (mul_one _) (ring_eq [x.re, x.eps] (by rfl) : x.re * 0 + x.eps * 1 = x.eps)
  mul_zero x := Dual.ext (mul_zero _) (ring_eq [x.re, x.eps] (by rfl) : x.re * 0 + x.eps * 0 = 0)
  mul_add x y z := Dual.ext (mul_add _ _ _)
    (ring_eq [x.re, x.eps, y.re, y.eps, z.re, z.eps] (by rfl) :
      x.re * (y.eps + z.eps) + x.eps * (y.re + z.re)
        = x.re * y.eps + x.eps * y.re + (x.re * z.eps + x.eps * z.re))
  add_neg _ := Dual.ext (add_neg _) (add_neg _)
/-- A constant: no derivative. -/
def const (a : K) : Dual K := ⟨a, 0⟩
theorem dual_add (x y : Dual K) : (x + y).eps = x.eps + y.eps := rfl
/-- The product rule. -/
theorem dual_mul (x y : Dual K) : (x * y).eps = x.re * y.eps + x.eps * y.re := rfl
theorem dual_sum_re (n : Nat) (f : Nat → Dual K) : (sum n f).re = sum n (fun i => (f i).re) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show (sum n f).re + (f n).re = _
    rw [ih]
    rfl
/-- The derivative of a sum comprehension is the sum of the derivatives. -/
theorem dual_sum (n : Nat) (f : Nat → Dual K) : (sum n f).eps = sum n (fun i => (f i).eps) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show (sum n f).eps + (f n).eps = _
    rw [ih]
    rfl
/-- Gradients are linear in what the cotangent comes from. -/
theorem dual_linear (n : Nat) (c d : K) (f g : Nat → Dual K) :
    (sum n (fun i => const c * f i + const d * g i)).eps
      = c * (sum n f).eps + d * (sum n g).eps := by
  rw [dual_sum, dual_sum, dual_sum, ← sum_linear]
  apply sum_congr
  intro i _
  show c * (f i).eps + 0 * (f i).re + (d * (g i).eps + 0 * (g i).re) = _
  exact ring_eq [c, (f i).eps, (f i).re, d, (g i).eps, (g i).re] (by rfl)
/-- `x` with element `j` perturbed. -/
def perturbed (x : Nat → K) (j : Nat) : Nat → Dual K := fun i => ⟨x i, if i = j then 1 else 0⟩
/-- The gradient of Σ w · x at element `j` is `w j`. -/
theorem grad_sum (n : Nat) (w x : Nat → K) (j : Nat) (h : j < n) :
    (sum n (fun i => const (w i) * perturbed x j i)).eps = w j := by
  rw [dual_sum, ← sum_single n j h w]
  apply sum_congr
  intro i _
  show w i * (if i = j then 1 else 0) + 0 * x i = if i = j then w i else 0
  by_cases k : i = j
  · rw [if_pos k, if_pos k, mul_one, zero_mul, add_zero]
  · rw [if_neg k, if_neg k, mul_zero, zero_mul, add_zero]
/-- The gradient of a gather is a gated sum. -/
theorem grad_gather (n : Nat) (w : Nat → K) (index : Nat → Nat) (x : Nat → K) (j : Nat) :
    (sum n (fun i => const (w i) * perturbed x j (index i))).eps = sum n (fun i => if index i = j then w i else 0) := by
  rw [dual_sum]
  apply sum_congr
  intro i _
  show w i * (if index i = j then 1 else 0) + 0 * x (index i) = _
  by_cases k : index i = j
  · rw [if_pos k, if_pos k, mul_one, zero_mul, add_zero]
  · rw [if_neg k, if_neg k, mul_zero, zero_mul, add_zero]
/-- Its segmented form: where the index is sorted, the gate admits one contiguous segment. -/
theorem grad_gather_segment (low size rest : Nat) (w : Nat → K) (index : Nat → Nat) (j : Nat)
    (segment : ∀ i, index i = j ↔ low ≤ i ∧ i < low + size) :
    sum (low + size + rest) (fun i => if index i = j then w i else 0) = sum size (fun i => w (low + i)) := by
  have gate : sum (low + size + rest) (fun i => if index i = j then w i else 0)
      = sum (low + size + rest) (fun i => if low ≤ i ∧ i < low + size then w i else 0) :=
    sum_congr (fun i _ => if_congr (segment i) (fun _ => rfl) (fun _ => rfl))
  rw [gate]
  have outer := sum_if_lt rest (low + size) (fun i => if low ≤ i then w i else 0)
  have nested : sum (low + size + rest) (fun i => if low ≤ i ∧ i < low + size then w i else 0)
      = sum (low + size + rest) (fun i => if i < low + size then (if low ≤ i then w i else 0) else 0) := by
    apply sum_congr
    intro i _
    by_cases h : i < low + size
    · rw [if_pos h]
      exact if_congr ⟨fun k => k.left, fun k => ⟨k, h⟩⟩ (fun _ => rfl) (fun _ => rfl)
    · rw [if_neg h, if_neg (fun k => h k.right)]
  have head : sum low (fun i => if low ≤ i then w i else 0) = sum low (fun _ => (0 : K)) :=
    sum_congr (fun i hi => if_neg (Nat.not_le_of_lt hi))
  rw [nested, outer, sum_split, head, sum_const_zero, zero_add]
  exact sum_congr (fun i _ => if_pos (Nat.le_add_right low i))

/-! ## Degrees: why a stabilising maximum has no gradient -/
/-- Numerator and denominator of equal degree `k` in what `m` scales: the derivative is zero. -/
theorem degree_quotient (k n d : K) : (k * n) * d - n * (k * d) = 0 := ring_eq [k, n, d] (by rfl)
/-- Shift invariance makes the terms of the cotangent of `m` cancel. -/
theorem cotangent_cancels (n : Nat) (w e : Nat → K) (total : K)
    (h : sum n (fun i => w i * e i) = total * sum n e) : sum n (fun i => (w i - total) * e i) = 0 := by
  have split : sum n (fun i => (w i - total) * e i) = sum n (fun i => w i * e i - total * e i) :=
    sum_congr (fun i _ => ring_eq [w i, total, e i] (by rfl))
  rw [split, sum_sub, sum_mul_left, h, sub_self]
/-- The degree argument, for any function with a gradient `g`: if it does not change when one dual number is added to
all that it reads, the entries of its gradient add up to nothing. -/
theorem shift_gradient (n : Nat) (f : (Nat → Dual K) → Dual K) (x g : Nat → K)
    (tangent : ∀ s : Nat → K, (f (fun i => ⟨x i, s i⟩)).eps = sum n (fun i => g i * s i))
    (invariant : ∀ (z : Nat → Dual K) (d : Dual K), f (fun i => z i + d) = f z) : sum n g = 0 := by
  have moved := congrArg Dual.eps (invariant (fun i => ⟨x i, 0⟩) ⟨0, 1⟩)
  rw [show (fun i => (⟨x i, 0⟩ : Dual K) + ⟨0, 1⟩) = (fun i => ⟨x i, 1⟩) from
    funext (fun i => Dual.ext (add_zero (x i)) (zero_add 1)), tangent, tangent] at moved
  rw [sum_congr (fun i _ => mul_one (g i)), sum_congr (fun i _ => mul_zero (g i)), sum_const_zero] at moved
  exact moved
/-- Such a function may be differentiated as if what is subtracted were a constant, whatever its own tangent is: a
stabilising maximum may depend on all that it stabilises. -/
theorem shift_stop (f : (Nat → Dual K) → Dual K) (invariant : ∀ (z : Nat → Dual K) (d : Dual K), f (fun i => z i + d) = f z)
    (z : Nat → Dual K) (m : Dual K) : f (fun i => z i + -m) = f (fun i => z i + -(const m.re)) := by
  rw [invariant z (-m), invariant z (-(const m.re))]

/-! ### Degrees: z has degree k if its derivative is k times z -/
def Degree (k : K) (z : Dual K) : Prop := z.eps = k * z.re
theorem degree_const (a : K) : Degree 0 (const a) := (zero_mul a).symm
theorem degree_add {k : K} {y z : Dual K} (hy : Degree k y) (hz : Degree k z) : Degree k (y + z) := by
  show y.eps + z.eps = k * (y.re + z.re)
  rw [hy, hz, mul_add]
theorem degree_mul {k l : K} {y z : Dual K} (hy : Degree k y) (hz : Degree l z) : Degree (k + l) (y * z) := by
  show y.re * z.eps + y.eps * z.re = (k + l) * (y.re * z.re)
  rw [hy, hz]
  exact ring_eq [k, l, y.re, z.re] (by rfl)
theorem degree_sum (k : K) (n : Nat) (f : Nat → Dual K) (h : ∀ i, Degree k (f i)) : Degree k (sum n f) := by
  induction n with
  | zero => exact (mul_zero k).symm
  | succ n ih => exact degree_add ih (h n)
theorem degree_none {z : Dual K} (h : Degree 0 z) : z.eps = 0 := h.trans (zero_mul _)

/-! ## Softmax backward -/
/-- For probabilities `P` and tangents `s`: the tangent of P and the cotangent of s are adjoint. -/
theorem flash_backward (n : Nat) (p dp s : Nat → K) :
    sum n (fun i => dp i * (p i * (s i - sum n (fun j => p j * s j))))
      = sum n (fun i => p i * (dp i - sum n (fun j => dp j * p j)) * s i) := by
  generalize hs : sum n (fun j => p j * s j) = t
  generalize hd : sum n (fun j => dp j * p j) = d
  have left : sum n (fun i => dp i * (p i * (s i - t)))
      = sum n (fun i => dp i * p i * s i - t * (dp i * p i)) :=
    sum_congr (fun i _ => ring_eq [dp i, p i, s i, t] (by rfl))
  have right : sum n (fun i => p i * (dp i - d) * s i) = sum n (fun i => dp i * p i * s i - d * (p i * s i)) :=
    sum_congr (fun i _ => ring_eq [dp i, p i, s i, d] (by rfl))
  rw [left, right, sum_sub, sum_sub, sum_mul_left, sum_mul_left, hs, hd, mul_comm t d]
end

section
variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]
/-- The derivative of a quotient of dual numbers. -/
def dualDiv (x y : Dual K) : Dual K := ⟨x.re / y.re, (x.eps * y.re - x.re * y.eps) / (y.re * y.re)⟩
theorem dualDiv_mul (x y : Dual K) (h : y.re ≠ 0) : dualDiv x y * y = x := by
  apply Dual.ext
  · exact div_mul_cancel h
  · show x.re / y.re * y.eps + (x.eps * y.re - x.re * y.eps) / (y.re * y.re) * y.re = x.eps
    apply mul_cancel h
    have first : x.re / y.re * y.eps * y.re = x.re * y.eps := by
      rw [mul_assoc, mul_comm y.eps, ← mul_assoc, div_mul_cancel h]
    have second : (x.eps * y.re - x.re * y.eps) / (y.re * y.re) * y.re * y.re = x.eps * y.re - x.re * y.eps := by
      rw [mul_assoc, div_mul_cancel (mul_ne_zero h h)]
    rw [add_mul, first, second]
    exact ring_eq [x.re, x.eps, y.re, y.eps] (by rfl)
/-- `exp (x + ε s)`. -/
def dualExp (x : A) (s : K) : Dual K := ⟨exp x, exp x * s⟩
theorem dual_cancel {x y z : Dual K} (hz : z.re ≠ 0) (h : x * z = y * z) : x = y := by
  have re : x.re = y.re := mul_cancel hz (congrArg Dual.re h)
  apply Dual.ext re
  apply mul_cancel hz
  have eps : x.re * z.eps + x.eps * z.re = y.re * z.eps + y.eps * z.re := congrArg Dual.eps h
  rw [re, add_comm (y.re * z.eps), add_comm (y.re * z.eps)] at eps
  exact add_cancel _ eps
/-- A common factor of numerator and denominator drops out, its tangent too. -/
theorem dualDiv_common (a b z : Dual K) (hb : b.re ≠ 0) (hz : z.re ≠ 0) : dualDiv (a * z) (b * z) = dualDiv a b := by
  have bz : (b * z).re ≠ 0 := mul_ne_zero hb hz
  apply dual_cancel bz
  rw [dualDiv_mul _ _ bz, ← mul_assoc, dualDiv_mul _ _ hb]
theorem degree_div {k l : K} {y z : Dual K} (hy : Degree k y) (hz : Degree l z) (nz : z.re ≠ 0) :
    Degree (k - l) (dualDiv y z) := by
  show (y.eps * z.re - y.re * z.eps) / (z.re * z.re) = (k - l) * (y.re / z.re)
  apply div_unique (mul_ne_zero nz nz)
  rw [hy, hz, div_eq]
  have one := mul_inv nz
  generalize inv z.re = r at one
  have expand : (k - l) * (y.re * r) * (z.re * z.re) = z.re * r * ((k - l) * (y.re * z.re)) :=
    ring_eq [k, l, y.re, r, z.re] (by rfl)
  rw [expand, one, one_mul]
  exact ring_eq [k, l, y.re, z.re] (by rfl)
theorem dualExp_add (x c : A) (s t : K) : dualExp (x + c) (s + t) = dualExp x s * dualExp c t := by
  apply Dual.ext
  · exact exp_add x c
  · show (exp (x + c) : K) * (s + t) = exp x * (exp c * t) + exp x * s * exp c
    rw [exp_add]
    exact ring_eq [exp x, exp c, s, t] (by rfl)
theorem degree_exp (x : A) (t : K) : Degree t (dualExp x t) := mul_comm _ _
/-- Softmax over dual numbers does not change when one dual number is added to all scores. -/
theorem softmax_shift (n : Nat) (x : Nat → A) (s : Nat → K) (c : A) (t : K) (i : Nat) :
    dualDiv (dualExp (x i + c) (s i + t)) (sum (Nat.succ n) (fun j => dualExp (x j + c) (s j + t)))
      = dualDiv (dualExp (x i) (s i)) (sum (Nat.succ n) (fun j => dualExp (x j) (s j))) := by
  rw [dualExp_add, sum_congr (fun j _ => dualExp_add (x j) c (s j) t), sum_mul_right]
  apply dualDiv_common
  · rw [dual_sum_re]
    exact sum_exp_ne_zero n x
  · exact exp_ne_zero c
/-- A row of softmax · V has no derivative by its reference `c`: numerator and denominator have the same degree. -/
theorem reference_gradient (n : Nat) (x : Nat → A) (v : Nat → K) (c : A) (t : K) :
    (dualDiv (sum (Nat.succ n) (fun i => const (v i) * dualExp (x i - c) (-t)))
      (sum (Nat.succ n) (fun i => dualExp (x i - c) (-t)))).eps = 0 := by
  apply degree_none
  have num : Degree (0 + -t) (sum (Nat.succ n) (fun i => const (v i) * dualExp (x i - c) (-t))) :=
    degree_sum _ _ _ (fun i => degree_mul (degree_const (v i)) (degree_exp (x i - c) (-t)))
  have den : Degree (-t) (sum (Nat.succ n) (fun i => dualExp (x i - c) (-t))) :=
    degree_sum _ _ _ (fun i => degree_exp (x i - c) (-t))
  have both := degree_div num den (by
    rw [dual_sum_re]
    exact sum_exp_ne_zero n (fun i => x i - c))
  rw [show 0 + -t - -t = 0 from ring_eq [t] (by rfl)] at both
  exact both
/-- The tangent of softmax: P · (s − Σ P s), whatever reference `c` the scores have. -/
theorem softmax_tangent (n : Nat) (x : Nat → A) (s : Nat → K) (c : A) (i : Nat) :
    (dualDiv (dualExp (x i - c) (s i)) (sum (Nat.succ n) (fun j => dualExp (x j - c) (s j)))).eps
      = exp (x i - c) / sum (Nat.succ n) (fun j => exp (x j - c))
        * (s i - sum (Nat.succ n) (fun j => exp (x j - c) / sum (Nat.succ n) (fun k => exp (x k - c)) * s j)) := by
  have nz := sum_exp_ne_zero (K := K) n (fun j => x j - c)
  show (exp (x i - c) * s i * (sum (Nat.succ n) (fun j => dualExp (x j - c) (s j))).re
    - exp (x i - c) * (sum (Nat.succ n) (fun j => dualExp (x j - c) (s j))).eps)
    / ((sum (Nat.succ n) (fun j => dualExp (x j - c) (s j))).re
      * (sum (Nat.succ n) (fun j => dualExp (x j - c) (s j))).re) = _
  rw [dual_sum_re, dual_sum]
  show (exp (x i - c) * s i * sum (Nat.succ n) (fun j => exp (x j - c))
    - exp (x i - c) * sum (Nat.succ n) (fun j => exp (x j - c) * s j))
    / (sum (Nat.succ n) (fun j => exp (x j - c)) * sum (Nat.succ n) (fun j => exp (x j - c))) = _
  have inner : sum (Nat.succ n) (fun j => exp (x j - c) / sum (Nat.succ n) (fun k => exp (x k - c)) * s j)
      = inv (sum (Nat.succ n) (fun k => exp (x k - c))) * sum (Nat.succ n) (fun j => exp (x j - c) * s j) := by
    rw [← sum_mul_left]
    apply sum_congr
    intro j _
    rw [div_eq]
    exact ring_eq [exp (x j - c), inv (sum (Nat.succ n) (fun k => exp (x k - c))), s j] (by rfl)
  rw [inner]
  generalize sum (Nat.succ n) (fun j => (exp (x j - c) : K) * s j) = t
  apply div_unique (mul_ne_zero nz nz)
  have one := mul_inv nz
  generalize sum (Nat.succ n) (fun j => (exp (x j - c) : K)) = d at one
  rw [div_eq]
  generalize inv d = r at one
  generalize (exp (x i - c) : K) = e
  have expand : e * r * (s i - r * t) * (d * d) = (d * r) * (e * s i * d) - (d * r) * (d * r) * (e * t) :=
    ring_eq [e, r, s i, t, d] (by rfl)
  rw [expand, one, one_mul, one_mul, one_mul]
/-- Probability `i` of scores with tangents. -/
def dualSoftmax (n : Nat) (x : Nat → A) (s : Nat → K) (c : A) (i : Nat) : Dual K :=
  dualDiv (dualExp (x i - c) (s i)) (sum (Nat.succ n) (fun j => dualExp (x j - c) (s j)))
/-- Probability `i`. -/
def probability (n : Nat) (x : Nat → A) (c : A) (i : Nat) : K :=
  exp (x i - c) / sum (Nat.succ n) (fun j => exp (x j - c))
/-- Flash backward is the derivative: a loss with cotangents dP of the probabilities has, by the scores,
dS = P ∘ (dP − rowsum(dP ∘ P)). -/
theorem softmax_backward (n : Nat) (x : Nat → A) (dp s : Nat → K) (c : A) :
    (sum (Nat.succ n) (fun i => const (dp i) * dualSoftmax n x s c i)).eps
      = sum (Nat.succ n) (fun i => probability n x c i
        * (dp i - sum (Nat.succ n) (fun j => dp j * probability n x c j)) * s i) := by
  rw [dual_sum, ← flash_backward]
  apply sum_congr
  intro i _
  show dp i * (dualSoftmax n x s c i).eps + 0 * (dualSoftmax n x s c i).re = _
  rw [zero_mul, add_zero]
  exact congrArg (fun y => dp i * y) (softmax_tangent n x s c i)
/-- By score `k` alone. -/
theorem softmax_backward_entry (n : Nat) (x : Nat → A) (dp : Nat → K) (c : A) (k : Nat) (h : k < Nat.succ n) :
    (sum (Nat.succ n) (fun i => const (dp i) * dualSoftmax n x (fun j => if j = k then 1 else 0) c i)).eps
      = probability n x c k * (dp k - sum (Nat.succ n) (fun j => dp j * probability n x c j)) := by
  rw [softmax_backward, ← sum_single (Nat.succ n) k h (fun i => probability n x c i
    * (dp i - sum (Nat.succ n) (fun j => dp j * probability n x c j)))]
  apply sum_congr
  intro i _
  by_cases e : i = k
  · rw [if_pos e, if_pos e, mul_one]
  · rw [if_neg e, if_neg e, mul_zero]
/-- A row of attention: cotangents `g` of the m outputs Σ P · V give dP = g · Vᵀ, and then dS. -/
theorem attention_backward (n m : Nat) (x : Nat → A) (v : Nat → Nat → K) (g s : Nat → K) (c : A) :
    (sum m (fun d => const (g d) * sum (Nat.succ n) (fun j => dualSoftmax n x s c j * const (v j d)))).eps
      = sum (Nat.succ n) (fun i => probability n x c i * (sum m (fun d => g d * v i d)
        - sum (Nat.succ n) (fun j => sum m (fun d => g d * v j d) * probability n x c j)) * s i) := by
  rw [← softmax_backward n x (fun i => sum m (fun d => g d * v i d)) s c, dual_sum, dual_sum]
  have each : ∀ d, (const (g d) * sum (Nat.succ n) (fun j => dualSoftmax n x s c j * const (v j d))).eps
      = sum (Nat.succ n) (fun j => g d * v j d * (dualSoftmax n x s c j).eps) := by
    intro d
    show g d * (sum (Nat.succ n) (fun j => dualSoftmax n x s c j * const (v j d))).eps + 0 * _ = _
    rw [zero_mul, add_zero, dual_sum, ← sum_mul_left]
    apply sum_congr
    intro j _
    show g d * ((dualSoftmax n x s c j).re * 0 + (dualSoftmax n x s c j).eps * v j d) = _
    exact ring_eq [g d, v j d, (dualSoftmax n x s c j).re, (dualSoftmax n x s c j).eps] (by rfl)
  rw [sum_congr (fun d _ => each d), sum_comm]
  apply sum_congr
  intro j _
  show _ = sum m (fun d => g d * v j d) * (dualSoftmax n x s c j).eps + 0 * (dualSoftmax n x s c j).re
  rw [zero_mul, add_zero, sum_mul_right]
/-- What is subtracted is the row's cotangent · output, which kernels read instead (Dao et al. 2022). -/
theorem attention_delta (n m : Nat) (p g : Nat → K) (v : Nat → Nat → K) :
    sum n (fun j => sum m (fun d => g d * v j d) * p j) = sum m (fun d => g d * sum n (fun j => p j * v j d)) := by
  have left : ∀ j, sum m (fun d => g d * v j d) * p j = sum m (fun d => g d * (p j * v j d)) := by
    intro j
    rw [← sum_mul_right]
    exact sum_congr (fun d _ => ring_eq [g d, v j d, p j] (by rfl))
  rw [sum_congr (fun j _ => left j), sum_comm]
  exact sum_congr (fun d _ => sum_mul_left n (g d) _)
end
end Tang
