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
theorem numeral_add {K : Type u} [CommSemiring K] (n m : Nat) : (numeral (n + m) : K) = numeral n + numeral m := by
  induction m with
  | zero => exact (add_zero _).symm
  | succ m ih =>
    show numeral (n + m) + 1 = numeral n + (numeral m + 1)
    rw [ih, add_assoc]
theorem numeral_mul {K : Type u} [CommSemiring K] (n m : Nat) : (numeral (n * m) : K) = numeral n * numeral m := by
  induction m with
  | zero => exact (mul_zero _).symm
  | succ m ih =>
    show numeral (n * m + n) = numeral n * (numeral m + 1)
    rw [numeral_add, ih, mul_add, mul_one]
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

/-! ## Whole numbers as differences: the kernel adds, multiplies and compares the two parts -/
structure Whole where
  up : Nat
  down : Nat
def Whole.plus (a b : Whole) : Whole := ⟨a.up + b.up, a.down + b.down⟩
def Whole.times (k : Nat) (a : Whole) : Whole := ⟨k * a.up, k * a.down⟩
def Whole.below (a b : Whole) : Bool := Nat.ble (a.up + b.down) (b.up + a.down)
theorem le_of_ble : ∀ n m : Nat, Nat.ble n m = true → n ≤ m
  | .zero, m, _ => Nat.zero_le m
  | .succ _, .zero, h => nomatch h
  | .succ n, .succ m, h => Nat.succ_le_succ (le_of_ble n m h)
theorem and_left : ∀ {a b : Bool}, and a b = true → a = true
  | .true, _, _ => rfl
  | .false, _, h => nomatch h
theorem and_right : ∀ {a b : Bool}, and a b = true → b = true
  | .true, _, h => h
  | .false, _, h => nomatch h

section
variable {K : Type u} [OrderedField K]
def Whole.value (a : Whole) : K := numeral a.up - numeral a.down
theorem value_plus (a b : Whole) : ((a.plus b).value : K) = a.value + b.value := by
  show (numeral (a.up + b.up) : K) - numeral (a.down + b.down) = numeral a.up - numeral a.down + (numeral b.up - numeral b.down)
  rw [numeral_add, numeral_add]
  exact ring_eq [numeral a.up, numeral a.down, numeral b.up, numeral b.down] (by rfl)
theorem value_times (k : Nat) (a : Whole) : ((a.times k).value : K) = numeral k * a.value := by
  show (numeral (k * a.up) : K) - numeral (k * a.down) = numeral k * (numeral a.up - numeral a.down)
  rw [numeral_mul, numeral_mul]
  exact ring_eq [numeral k, numeral a.up, numeral a.down] (by rfl)
theorem value_zero : ((⟨0, 0⟩ : Whole).value : K) = 0 := sub_self 0
theorem numeral_le {n m : Nat} (h : n ≤ m) : (numeral n : K) ≤ numeral m := by
  obtain ⟨k, hk⟩ := h
  rw [← hk, numeral_add]
  have j := add_le_add (le_refl (numeral n : K)) (numeral_nonneg k)
  rw [add_zero] at j
  exact j
theorem value_below {a b : Whole} (h : a.below b = true) : (a.value : K) ≤ b.value := by
  have k := numeral_le (K := K) (le_of_ble _ _ h)
  rw [numeral_add, numeral_add] at k
  apply le_of_slack _ (sub_nonneg k)
  show (numeral b.up : K) - numeral b.down - (numeral a.up - numeral a.down) = _
  exact ring_eq [numeral a.up, numeral a.down, numeral b.up, numeral b.down] (by rfl)

/-! ## Programs: maximise objective · x over x ≥ 0 with rows · x ≤ limits -/
structure Row where
  coefficients : List Whole
  limit : Whole
/-- `c · x`; what is missing counts for nothing. -/
def along : List Whole → List K → K
  | .nil, _ => 0
  | .cons _ _, .nil => 0
  | .cons c l, .cons x m => c.value * x + along l m
def NoneNegative : List K → Prop
  | .nil => True
  | .cons x l => 0 ≤ x ∧ NoneNegative l
def Holds (x : List K) : List Row → Prop
  | .nil => True
  | .cons r l => along r.coefficients x ≤ r.limit.value ∧ Holds x l
def plusAll : List Whole → List Whole → List Whole
  | .nil, m => m
  | .cons a l, .nil => a :: l
  | .cons a l, .cons b m => a.plus b :: plusAll l m
def timesAll (k : Nat) : List Whole → List Whole
  | .nil => .nil
  | .cons a l => a.times k :: timesAll k l
theorem along_none : ∀ l : List Whole, along l (.nil : List K) = 0
  | .nil => rfl
  | .cons _ _ => rfl
theorem along_plus : ∀ (l m : List Whole) (x : List K), along (plusAll l m) x = along l x + along m x
  | .nil, m, x => (zero_add _).symm
  | .cons a l, .nil, x => (add_zero _).symm
  | .cons a l, .cons b m, .nil => (add_zero 0).symm
  | .cons a l, .cons b m, .cons x y => by
      show (a.plus b).value * x + along (plusAll l m) y = a.value * x + along l y + (b.value * x + along m y)
      rw [along_plus l m y, value_plus]
      exact ring_eq [a.value, b.value, x, along l y, along m y] (by rfl)
theorem along_times (k : Nat) : ∀ (l : List Whole) (x : List K), along (timesAll k l) x = numeral k * along l x
  | .nil, _ => (mul_zero _).symm
  | .cons _ _, .nil => (mul_zero _).symm
  | .cons a l, .cons x y => by
      show (a.times k).value * x + along (timesAll k l) y = numeral k * (a.value * x + along l y)
      rw [along_times k l y, value_times, mul_add, mul_assoc]
/-- Σ yᵢ · rowᵢ. -/
def combined : List Row → List Nat → Row
  | .nil, _ => ⟨.nil, ⟨0, 0⟩⟩
  | .cons _ _, .nil => ⟨.nil, ⟨0, 0⟩⟩
  | .cons r l, .cons k y =>
    ⟨plusAll (timesAll k r.coefficients) (combined l y).coefficients, (r.limit.times k).plus (combined l y).limit⟩
theorem combined_holds : ∀ (l : List Row) (y : List Nat) (x : List K), Holds x l →
    along (combined l y).coefficients x ≤ (combined l y).limit.value
  | .nil, _, _, _ => by
      rw [show ((combined .nil _).limit.value : K) = 0 from value_zero]
      exact le_refl 0
  | .cons _ _, .nil, _, _ => by
      rw [show ((combined (_ :: _) .nil).limit.value : K) = 0 from value_zero]
      exact le_refl 0
  | .cons r l, .cons k y, x, h => by
      show along (plusAll (timesAll k r.coefficients) (combined l y).coefficients) x
        ≤ ((r.limit.times k).plus (combined l y).limit).value
      rw [along_plus, along_times, value_plus, value_times]
      exact add_le_add (mul_le_mul_left (numeral_nonneg k) h.left) (combined_holds l y x h.right)
def belowAll : List Whole → List Whole → Bool
  | .nil, .nil => true
  | .nil, .cons _ _ => false
  | .cons a l, .nil => and (a.below ⟨0, 0⟩) (belowAll l .nil)
  | .cons a l, .cons b m => and (a.below b) (belowAll l m)
theorem along_below : ∀ (l m : List Whole) (x : List K), belowAll l m = true → NoneNegative x → along l x ≤ along m x
  | .nil, .nil, _, _, _ => le_refl 0
  | .nil, .cons _ _, _, h, _ => nomatch h
  | .cons _ _, m, .nil, _, _ => by
      rw [along_none, along_none]
      exact le_refl 0
  | .cons a l, .nil, .cons x y, h, k => by
      have first := mul_le_mul_right k.left (value_below (K := K) (and_left h))
      have rest := along_below l .nil y (and_right h) k.right
      rw [value_zero, zero_mul] at first
      have both : a.value * x + along l y ≤ (0 : K) + 0 := add_le_add first rest
      rw [add_zero] at both
      exact both
  | .cons a l, .cons b m, .cons x y, h, k =>
      add_le_add (mul_le_mul_right k.left (value_below (and_left h))) (along_below l m y (and_right h) k.right)
/-- The dual `y / scale` is feasible, and its value is at most `bound / scale`. -/
def dualFits (rows : List Row) (y : List Nat) (scale : Nat) (objective : List Whole) (bound : Whole) : Bool :=
  and (belowAll (timesAll scale objective) (combined rows y).coefficients) ((combined rows y).limit.below bound)
theorem certificate_dual (rows : List Row) (y : List Nat) (scale : Nat) (objective : List Whole) (bound : Whole)
    (fits : dualFits rows y scale objective bound = true) (x : List K) (hx : NoneNegative x) (h : Holds x rows) :
    numeral scale * along objective x ≤ bound.value := by
  rw [← along_times]
  exact le_trans (along_below _ _ x (and_left fits) hx) (le_trans (combined_holds rows y x h) (value_below (and_right fits)))

/-! ## A point: whole numbers over a denominator -/
def pointOf (d : Nat) : List Nat → List K
  | .nil => .nil
  | .cons n l => numeral n * inv (numeral (Nat.succ d)) :: pointOf d l
def alongWhole : List Whole → List Nat → Whole
  | .nil, _ => ⟨0, 0⟩
  | .cons _ _, .nil => ⟨0, 0⟩
  | .cons c l, .cons n m => (c.times n).plus (alongWhole l m)
def primalFits (d : Nat) (x : List Nat) : List Row → Bool
  | .nil => true
  | .cons r l => and ((alongWhole r.coefficients x).below (r.limit.times (Nat.succ d))) (primalFits d x l)
theorem numeral_succ_pos (d : Nat) : (0 : K) < numeral (Nat.succ d) :=
  add_pos (numeral_nonneg d) (lt_of_le_of_ne zero_le_one zero_ne_one)
theorem numeral_succ_ne (d : Nat) : (numeral (Nat.succ d) : K) ≠ 0 := fun h => ne_of_lt (numeral_succ_pos d) h.symm
theorem inv_nonneg_of {a : K} (h : 0 < a) : 0 ≤ inv a := by
  have k := mul_nonneg (le_of_lt h) (square_nonneg (inv a))
  rw [← mul_assoc, mul_inv (fun e => ne_of_lt h e.symm), one_mul] at k
  exact k
theorem pointOf_nonneg (d : Nat) : ∀ x : List Nat, NoneNegative (pointOf d x : List K)
  | .nil => trivial
  | .cons n l => ⟨mul_nonneg (numeral_nonneg n) (inv_nonneg_of (numeral_succ_pos d)), pointOf_nonneg d l⟩
theorem along_pointOf (d : Nat) : ∀ (c : List Whole) (x : List Nat),
    numeral (Nat.succ d) * along c (pointOf d x : List K) = (alongWhole c x).value
  | .nil, _ => (mul_zero _).trans value_zero.symm
  | .cons _ _, .nil => (mul_zero _).trans value_zero.symm
  | .cons c l, .cons n m => by
      show numeral (Nat.succ d) * (c.value * (numeral n * inv (numeral (Nat.succ d))) + along l (pointOf d m))
        = ((c.times n).plus (alongWhole l m)).value
      rw [mul_add, along_pointOf d l m, value_plus, value_times]
      have one := mul_inv (numeral_succ_ne (K := K) d)
      generalize (numeral (Nat.succ d) : K) = e at one
      generalize inv e = r at one
      rw [show e * (c.value * (numeral n * r)) = (e * r) * (numeral n * c.value) from
        ring_eq [e, r, c.value, numeral n] (by rfl), one, one_mul]
theorem le_of_scaled {a b c : K} (hc : 0 < c) (h : c * a ≤ c * b) : a ≤ b := by
  have k := mul_le_mul_left (inv_nonneg_of hc) h
  rw [← mul_assoc, ← mul_assoc, mul_comm (inv c), mul_inv (fun e => ne_of_lt hc e.symm), one_mul, one_mul] at k
  exact k
theorem certificate_primal (d : Nat) (x : List Nat) : ∀ rows : List Row, primalFits d x rows = true →
    Holds (pointOf d x : List K) rows
  | .nil, _ => trivial
  | .cons r l, h => by
      refine ⟨?_, certificate_primal d x l (and_right h)⟩
      apply le_of_scaled (numeral_succ_pos d)
      rw [along_pointOf, ← value_times]
      exact value_below (and_left h)
/-- A feasible point whose value the dual bounds is an optimum. -/
theorem certificate (rows : List Row) (objective : List Whole) (y x : List Nat) (scale d : Nat) (bound : Whole)
    (dual : dualFits rows y (Nat.succ scale) objective bound = true) (primal : primalFits d x rows = true)
    (value : (bound.times (Nat.succ d)).below ((alongWhole objective x).times (Nat.succ scale)) = true) :
    (NoneNegative (pointOf d x : List K) ∧ Holds (pointOf d x : List K) rows) ∧
      ∀ q : List K, NoneNegative q → Holds q rows → along objective q ≤ along objective (pointOf d x) := by
  refine ⟨⟨pointOf_nonneg d x, certificate_primal d x rows primal⟩, ?_⟩
  intro q hq h
  apply le_of_scaled (numeral_succ_pos scale)
  apply le_of_scaled (numeral_succ_pos d)
  have upper := mul_le_mul_left (numeral_nonneg (Nat.succ d)) (certificate_dual rows y (Nat.succ scale) objective bound dual q hq h)
  apply le_trans upper
  have reached := value_below (K := K) value
  rw [value_times, value_times, ← along_pointOf d] at reached
  rw [mul_left_comm]
  exact reached
/-- The value at a point, as a fraction of whole numbers. -/
theorem certificate_value (objective : List Whole) (d : Nat) (x : List Nat) (over : Nat) (value : Whole)
    (le : ((alongWhole objective x).times over).below (value.times (Nat.succ d)) = true)
    (ge : (value.times (Nat.succ d)).below ((alongWhole objective x).times over) = true) :
    numeral over * along objective (pointOf d x : List K) = value.value := by
  have e := le_antisymm (value_below (K := K) le) (value_below ge)
  rw [value_times, value_times, ← along_pointOf d] at e
  apply mul_cancel (numeral_succ_ne (K := K) d)
  rw [mul_comm value.value, ← e]
  exact ring_eq [numeral over, along objective (pointOf d x), numeral (Nat.succ d)] (by rfl)
end
end Tang
