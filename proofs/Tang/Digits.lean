prelude
import Tang.Polynomial
import Tang.Segment
import Tang.LP
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Digits — polynomials without signs, of degree one in each of three states, as numbers.

The variables are powers of one base, so that a polynomial is one number, in which every product of
variables has a digit of its own (Kronecker's substitution). Equal numbers are equal polynomials, if
no digit is as large as the base. The kernel computes with such numbers natively. -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang
namespace Polynomial

theorem ble_of_le : ∀ {n m : Nat}, n ≤ m → Nat.ble n m = true
  | .zero, _, _ => rfl
  | .succ _, .zero, h => absurd h (Nat.not_succ_le_zero _)
  | .succ n, .succ m, h => ble_of_le (n := n) (m := m) (Nat.le_of_succ_le_succ h)
theorem lt_of_not_ble {n j : Nat} (h : Nat.ble n j = false) : j < n := by
  cases Nat.lt_or_ge j n with
  | inl k => exact k
  | inr k =>
    rw [ble_of_le k] at h
    exact nomatch h
/-- `b` to the power of `n`. -/
def power (b n : Nat) : Nat := Nat.rec (motive := fun _ => Nat) 1 (fun _ x => Nat.mul x b) n
theorem power_add (b m : Nat) : ∀ n, power b (m + n) = power b m * power b n
  | .zero => (Nat.mul_one _).symm
  | .succ n => by
      show power b (m + n) * b = power b m * (power b n * b)
      rw [power_add b m n, Nat.mul_assoc]
theorem power_mul (b m : Nat) : ∀ n, power b (m * n) = power (power b m) n
  | .zero => rfl
  | .succ n => by
      show power b (m * n + m) = power (power b m) n * power b m
      rw [power_add, power_mul b m n]

/-! ## Digits -/
theorem digit {q y z : Nat} (hy : y < q) (hz : z < q) : ∀ {m n : Nat}, y + q * m = z + q * n → y = z ∧ m = n
  | .zero, .zero, h => ⟨h, rfl⟩
  | .zero, .succ n, h => absurd (show q ≤ y from ⟨z + q * n, by
      rw [Nat.add_comm q, Nat.add_assoc]
      exact h.symm⟩) (Nat.not_le_of_lt hy)
  | .succ m, .zero, h => absurd (show q ≤ z from ⟨y + q * m, by
      rw [Nat.add_comm q, Nat.add_assoc]
      exact h⟩) (Nat.not_le_of_lt hz)
  | .succ m, .succ n, h => by
      have rest := digit hy hz (Nat.add_right_cancel q (((Nat.add_assoc y (q * m) q).trans h).trans (Nat.add_assoc z (q * n) q).symm))
      exact ⟨rest.left, congrArg Nat.succ rest.right⟩
/-- Exponents, each as often as its digit says: their number, the number that they are, their sum. -/
def count : List Nat → Nat
  | .nil => 0
  | .cons _ l => 1 + count l
def weigh (q : Nat) : List Nat → Nat
  | .nil => 0
  | .cons n l => power q n + weigh q l
def height : List Nat → Nat
  | .nil => 0
  | .cons n l => Nat.succ n + height l
/-- How often the exponent 0 is there; the others, each less by one. -/
def units : List Nat → Nat
  | .nil => 0
  | .cons .zero l => 1 + units l
  | .cons (.succ _) l => units l
def lower : List Nat → List Nat
  | .nil => .nil
  | .cons .zero l => lower l
  | .cons (.succ n) l => n :: lower l
theorem weigh_lower (q : Nat) : ∀ l, weigh q l = units l + q * weigh q (lower l)
  | .nil => (Nat.zero_add _).symm
  | .cons .zero l => by
      show 1 + weigh q l = 1 + units l + q * weigh q (lower l)
      rw [weigh_lower q l, Nat.add_assoc]
  | .cons (.succ n) l => by
      show power q n * q + weigh q l = units l + q * (power q n + weigh q (lower l))
      rw [weigh_lower q l, Nat.mul_add, Nat.mul_comm q (power q n), ← Nat.add_assoc, ← Nat.add_assoc, Nat.add_comm (power q n * q)]
theorem count_lower : ∀ l, count l = units l + count (lower l)
  | .nil => rfl
  | .cons .zero l => by
      show 1 + count l = 1 + units l + count (lower l)
      rw [count_lower l, Nat.add_assoc]
  | .cons (.succ n) l => by
      show 1 + count l = units l + (1 + count (lower l))
      rw [count_lower l, ← Nat.add_assoc, ← Nat.add_assoc, Nat.add_comm 1]
theorem height_lower : ∀ l, height (lower l) ≤ height l
  | .nil => Nat.le_refl _
  | .cons .zero l => Nat.le_trans (height_lower l) (Nat.le_add_left _ _)
  | .cons (.succ n) l => by
      show Nat.succ n + height (lower l) ≤ Nat.succ (Nat.succ n) + height l
      refine Nat.le_trans (Nat.add_le_add_left _ (height_lower l)) ?_
      rw [Nat.succ_add (Nat.succ n)]
      exact Nat.le_succ _
theorem height_less {fuel : Nat} : ∀ l, height l ≤ Nat.succ fuel → height (lower l) ≤ fuel
  | .nil, _ => Nat.zero_le _
  | .cons .zero l, h => by
      have k : Nat.succ (height l) ≤ Nat.succ fuel := by
        refine Nat.le_trans ?_ h
        show Nat.succ (height l) ≤ 1 + height l
        rw [Nat.add_comm 1]
        exact Nat.le_refl _
      exact Nat.le_trans (height_lower l) (Nat.le_of_succ_le_succ k)
  | .cons (.succ n) l, h => by
      have k : Nat.succ (Nat.succ n + height l) ≤ Nat.succ fuel := by
        rw [← Nat.succ_add]
        exact h
      exact Nat.le_trans (Nat.add_le_add_left _ (height_lower l)) (Nat.le_of_succ_le_succ k)
section
variable {K : Type u} [CommRing K]
def sumOf (φ : Nat → K) : List Nat → K
  | .nil => 0
  | .cons n l => φ n + sumOf φ l
theorem sumOf_lower (φ : Nat → K) : ∀ l, sumOf φ l = numeral (units l) * φ 0 + sumOf (fun n => φ (Nat.succ n)) (lower l)
  | .nil => by
      show (0 : K) = 0 * φ 0 + 0
      rw [zero_mul, add_zero]
  | .cons .zero l => by
      show φ 0 + sumOf φ l = numeral (1 + units l) * φ 0 + _
      rw [sumOf_lower φ l, Nat.add_comm 1]
      show _ = (numeral (units l) + 1) * φ 0 + _
      rw [add_mul, one_mul, add_comm (numeral (units l) * φ 0) (φ 0), add_assoc]
      rfl
  | .cons (.succ n) l => by
      show φ (Nat.succ n) + sumOf φ l = numeral (units l) * φ 0 + (φ (Nat.succ n) + sumOf _ (lower l))
      rw [sumOf_lower φ l, add_left_comm]
theorem no_height : ∀ {l : List Nat}, height l ≤ 0 → l = .nil
  | .nil, _ => rfl
  | .cons n l, h => absurd (Nat.le_trans (show Nat.succ 0 ≤ Nat.succ n + height l from by
      rw [Nat.succ_add]
      exact Nat.succ_le_succ (Nat.zero_le _)) h) (Nat.not_succ_le_zero 0)
/-- Equal numbers are made of the same powers, if these are fewer than the base. -/
theorem digits {q : Nat} : ∀ (fuel : Nat) (φ : Nat → K) (l m : List Nat), height l ≤ fuel → height m ≤ fuel →
    count l < q → count m < q → weigh q l = weigh q m → sumOf φ l = sumOf φ m
  | .zero, φ, l, m, hl, hm, _, _, _ => by rw [no_height hl, no_height hm]
  | .succ fuel, φ, l, m, hl, hm, kl, km, same => by
      rw [count_lower] at kl km
      rw [weigh_lower q l, weigh_lower q m] at same
      have parts := digit (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_right _ _)) kl)
        (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_right _ _)) km) same
      rw [sumOf_lower φ l, sumOf_lower φ m, parts.left,
        digits fuel _ (lower l) (lower m) (height_less l hl) (height_less m hm)
          (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_left _ _)) kl)
          (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_left _ _)) km) parts.right]
end

/-! ## Products of at most one variable of each state, as exponents -/
/-- 0 for no variable of a state; the exponents are `second + w * (first + v * third)`. -/
structure Mono where
  first : Nat
  second : Nat
  third : Nat
def code (w v : Nat) (m : Mono) : Nat := m.second + w * (m.first + v * m.third)
def Mono.times (m n : Mono) : Mono := ⟨m.first + n.first, m.second + n.second, m.third + n.third⟩
theorem code_times (w v : Nat) (m n : Mono) : code w v (m.times n) = code w v m + code w v n := by
  show m.second + n.second + w * (m.first + n.first + v * (m.third + n.third))
    = m.second + w * (m.first + v * m.third) + (n.second + w * (n.first + v * n.third))
  exact semiring_eq [w, v, m.first, n.first, m.second, n.second, m.third, n.third] (by rfl)
def codes (w v : Nat) : List Mono → List Nat
  | .nil => .nil
  | .cons m l => code w v m :: codes w v l
def plus : List Mono → List Mono → List Mono
  | .nil, n => n
  | .cons m l, n => m :: plus l n
def timesEach (m : Mono) : List Mono → List Mono
  | .nil => .nil
  | .cons n l => m.times n :: timesEach m l
def timesAll : List Mono → List Mono → List Mono
  | .nil, _ => .nil
  | .cons m l, n => plus (timesEach m n) (timesAll l n)
section
variable (w v q : Nat)
theorem count_plus (n : List Mono) : ∀ l, count (codes w v (plus l n)) = count (codes w v l) + count (codes w v n)
  | .nil => (Nat.zero_add _).symm
  | .cons _ l => by
      show 1 + count (codes w v (plus l n)) = 1 + count (codes w v l) + _
      rw [count_plus n l, Nat.add_assoc]
theorem count_each (m : Mono) : ∀ l, count (codes w v (timesEach m l)) = count (codes w v l)
  | .nil => rfl
  | .cons _ l => congrArg (fun n => 1 + n) (count_each m l)
theorem count_times (n : List Mono) : ∀ l, count (codes w v (timesAll l n)) = count (codes w v l) * count (codes w v n)
  | .nil => (Nat.zero_mul _).symm
  | .cons m l => by
      show count (codes w v (plus _ _)) = (1 + count (codes w v l)) * _
      rw [count_plus, count_each, count_times n l, Nat.add_comm 1]
      exact (Nat.add_comm _ _).trans (Nat.succ_mul _ _).symm
theorem weigh_plus (n : List Mono) : ∀ l, weigh q (codes w v (plus l n)) = weigh q (codes w v l) + weigh q (codes w v n)
  | .nil => (Nat.zero_add _).symm
  | .cons m l => by
      show power q (code w v m) + weigh q (codes w v (plus l n)) = power q (code w v m) + weigh q (codes w v l) + _
      rw [weigh_plus n l, Nat.add_assoc]
theorem weigh_each (m : Mono) : ∀ l, weigh q (codes w v (timesEach m l)) = power q (code w v m) * weigh q (codes w v l)
  | .nil => rfl
  | .cons n l => by
      show power q (code w v (m.times n)) + weigh q (codes w v (timesEach m l)) = _ * (power q (code w v n) + _)
      rw [weigh_each m l, code_times, power_add, Nat.mul_add]
theorem weigh_times (n : List Mono) : ∀ l, weigh q (codes w v (timesAll l n)) = weigh q (codes w v l) * weigh q (codes w v n)
  | .nil => (Nat.zero_mul _).symm
  | .cons m l => by
      show weigh q (codes w v (plus _ _)) = (power q (code w v m) + weigh q (codes w v l)) * _
      rw [weigh_plus, weigh_each, weigh_times n l, Nat.mul_comm (power q (code w v m) + _), Nat.mul_add,
        Nat.mul_comm (power q (code w v m)), Nat.mul_comm (weigh q (codes w v l))]

/-! ## What such products are worth, and how many variables of each state they have -/
/-- At most `a`, `b` and `c` variables of the three states, where these are 0 or 1; exponents are below `w` and `v`. -/
structure Fit (a b c : Nat) (m : Mono) : Prop where
  first : m.first = 0 ∨ 1 ≤ a
  second : m.second = 0 ∨ 1 ≤ b
  third : m.third = 0 ∨ 1 ≤ c
  low : m.second < w
  middle : m.first < v
def Fits (a b c : Nat) : List Mono → Prop
  | .nil => True
  | .cons m l => Fit w v a b c m ∧ Fits a b c l
end
theorem apart {a b i j : Nat} (h : a + b ≤ 1) (hi : i = 0 ∨ 1 ≤ a) (hj : j = 0 ∨ 1 ≤ b) : i = 0 ∨ j = 0 := by
  cases hi with
  | inl z => exact .inl z
  | inr p =>
    cases hj with
    | inl z => exact .inr z
    | inr q =>
      refine absurd (Nat.le_trans ?_ h) (Nat.not_le_of_lt (Nat.lt_succ_self 1))
      exact Nat.le_trans (Nat.add_le_add_left 1 q) (by
        rw [Nat.add_comm 1 b, Nat.add_comm a b]
        exact Nat.add_le_add_left b p)
theorem present {a b i j : Nat} (hi : i = 0 ∨ 1 ≤ a) (hj : j = 0 ∨ 1 ≤ b) : i + j = 0 ∨ 1 ≤ a + b := by
  cases hi with
  | inr p => exact .inr (Nat.le_trans p (Nat.le_add_right _ _))
  | inl z =>
    cases hj with
    | inr p => exact .inr (Nat.le_trans p (Nat.le_add_left _ _))
    | inl y =>
      rw [z, y]
      exact .inl rfl
theorem within {i j w : Nat} (hi : i < w) (hj : j < w) (h : i = 0 ∨ j = 0) : i + j < w := by
  cases h with
  | inl z =>
    rw [z, Nat.zero_add]
    exact hj
  | inr z =>
    rw [z]
    exact hi
theorem weaker {w v a b c a' b' c' : Nat} (ha : a ≤ a') (hb : b ≤ b') (hc : c ≤ c') : ∀ l, Fits w v a b c l → Fits w v a' b' c' l
  | .nil, _ => trivial
  | .cons _ l, h => ⟨⟨h.left.first.elim .inl (fun k => .inr (Nat.le_trans k ha)),
      h.left.second.elim .inl (fun k => .inr (Nat.le_trans k hb)),
      h.left.third.elim .inl (fun k => .inr (Nat.le_trans k hc)), h.left.low, h.left.middle⟩, weaker ha hb hc l h.right⟩
theorem fits_plus {w v a b c : Nat} {n : List Mono} (hn : Fits w v a b c n) : ∀ l, Fits w v a b c l → Fits w v a b c (plus l n)
  | .nil, _ => hn
  | .cons _ l, h => ⟨h.left, fits_plus hn l h.right⟩
/-- No state has a variable in both of two factors. -/
structure Apart (a b c a' b' c' : Nat) : Prop where
  first : a + a' ≤ 1
  second : b + b' ≤ 1
  third : c + c' ≤ 1
section
variable {w v a b c a' b' c' : Nat}
theorem fits_each (d : Apart a b c a' b' c') {m : Mono} (hm : Fit w v a b c m) : ∀ l, Fits w v a' b' c' l →
    Fits w v (a + a') (b + b') (c + c') (timesEach m l)
  | .nil, _ => trivial
  | .cons _ l, h => ⟨⟨present hm.first h.left.first, present hm.second h.left.second, present hm.third h.left.third,
      within hm.low h.left.low (apart d.second hm.second h.left.second),
      within hm.middle h.left.middle (apart d.first hm.first h.left.first)⟩, fits_each d hm l h.right⟩
theorem fits_times (d : Apart a b c a' b' c') {n : List Mono} (hn : Fits w v a' b' c' n) : ∀ l, Fits w v a b c l →
    Fits w v (a + a') (b + b') (c + c') (timesAll l n)
  | .nil, _ => trivial
  | .cons _ l, h => fits_plus (fits_times d hn l h.right) _ (fits_each d h.left n hn)
end
section
variable {K : Type u} [CommRing K]
theorem single {x : Nat → K} (h : x 0 = 1) {i j : Nat} (k : i = 0 ∨ j = 0) : x (i + j) = x i * x j := by
  cases k with
  | inl z => rw [z, Nat.zero_add, h, one_mul]
  | inr z =>
    rw [z, h, mul_one]
    rfl
section
variable (x y z : Nat → K)
def Mono.value (m : Mono) : K := x m.first * (y m.second * z m.third)
def worth : List Mono → K
  | .nil => 0
  | .cons m l => m.value x y z + worth l
theorem worth_plus (n : List Mono) : ∀ l, worth x y z (plus l n) = worth x y z l + worth x y z n
  | .nil => (zero_add _).symm
  | .cons m l => by
      show m.value x y z + worth x y z (plus l n) = m.value x y z + worth x y z l + _
      rw [worth_plus n l, add_assoc]
end
/-- No variable is worth 1. -/
structure Ones (x y z : Nat → K) : Prop where
  first : x 0 = 1
  second : y 0 = 1
  third : z 0 = 1
section
variable {x y z : Nat → K} {w v a b c a' b' c' : Nat}
theorem value_times (one : Ones x y z) (d : Apart a b c a' b' c') {m n : Mono} (hm : Fit w v a b c m) (hn : Fit w v a' b' c' n) :
    (m.times n).value x y z = m.value x y z * n.value x y z := by
  show x (m.first + n.first) * (y (m.second + n.second) * z (m.third + n.third))
    = x m.first * (y m.second * z m.third) * (x n.first * (y n.second * z n.third))
  rw [single one.first (apart d.first hm.first hn.first), single one.second (apart d.second hm.second hn.second),
    single one.third (apart d.third hm.third hn.third)]
  exact ring_eq [x m.first, x n.first, y m.second, y n.second, z m.third, z n.third] (by rfl)
theorem worth_each (one : Ones x y z) (d : Apart a b c a' b' c') {m : Mono} (hm : Fit w v a b c m) : ∀ l, Fits w v a' b' c' l →
    worth x y z (timesEach m l) = m.value x y z * worth x y z l
  | .nil, _ => (mul_zero _).symm
  | .cons n l, h => by
      show (m.times n).value x y z + worth x y z (timesEach m l) = _ * (n.value x y z + worth x y z l)
      rw [worth_each one d hm l h.right, value_times one d hm h.left, mul_add]
theorem worth_times (one : Ones x y z) (d : Apart a b c a' b' c') {n : List Mono} (hn : Fits w v a' b' c' n) : ∀ l, Fits w v a b c l →
    worth x y z (timesAll l n) = worth x y z l * worth x y z n
  | .nil, _ => (zero_mul _).symm
  | .cons m l, h => by
      show worth x y z (plus _ _) = (m.value x y z + worth x y z l) * _
      rw [worth_plus, worth_each one d h.left n hn, worth_times one d hn l h.right, add_mul]
end

/-! ## Numbers that stand for polynomials -/
section
variable (x y z : Nat → K) (w v q : Nat)
/-- If `k` is below the base: `n` is a sum of `k` powers, which are worth `v`. -/
def Stands (a b c k n : Nat) (e : K) : Prop :=
  k < q → ∃ l, Fits w v a b c l ∧ count (codes w v l) = k ∧ weigh q (codes w v l) = n ∧ worth x y z l = e
end
section
variable {x y z : Nat → K} {w v q a b c a' b' c' k k' n n' : Nat} {e e' : K}
theorem stands_zero : Stands x y z w v q a b c 0 0 0 := fun _ => ⟨.nil, trivial, rfl, rfl, rfl⟩
theorem stands_one (one : Ones x y z) (hw : 0 < w) (hv : 0 < v) : Stands x y z w v q a b c 1 1 1 := fun _ => by
  refine ⟨[⟨0, 0, 0⟩], ⟨⟨.inl rfl, .inl rfl, .inl rfl, hw, hv⟩, trivial⟩, rfl, ?_, ?_⟩
  · show power q (0 + w * (0 + v * 0)) + 0 = 1
    rw [Nat.mul_zero, Nat.mul_zero]
    rfl
  · show x 0 * (y 0 * z 0) + 0 = 1
    rw [one.first, one.second, one.third, add_zero, mul_one, mul_one]
theorem stands_weaker (h : Stands x y z w v q a b c k n e) (ha : a ≤ a') (hb : b ≤ b') (hc : c ≤ c') :
    Stands x y z w v q a' b' c' k n e := fun small => by
  obtain ⟨l, fits, rest⟩ := h small
  exact ⟨l, weaker ha hb hc l fits, rest⟩
theorem stands_add (h : Stands x y z w v q a b c k n e) (h' : Stands x y z w v q a b c k' n' e') :
    Stands x y z w v q a b c (k + k') (n + n') (e + e') := fun small => by
  obtain ⟨l, fits, many, number, value⟩ := h (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_right k k')) small)
  obtain ⟨m, fits', many', number', value'⟩ := h' (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_left k' k)) small)
  refine ⟨plus l m, fits_plus fits' l fits, ?_, ?_, ?_⟩
  · rw [count_plus, many, many']
  · rw [weigh_plus, number, number']
  · rw [worth_plus, value, value']
theorem none_counted : ∀ {l : List Mono}, count (codes w v l) = 0 → l = .nil
  | .nil, _ => rfl
  | .cons _ l, h => absurd (show Nat.succ (count (codes w v l)) = 0 from (Nat.add_comm 1 _).symm.trans h) (Nat.succ_ne_zero _)
theorem le_times : ∀ {k k' : Nat}, ¬ k' = 0 → k ≤ k * k'
  | _, .zero, h => absurd rfl h
  | k, .succ k', _ => Nat.le_add_left k (k * k')
/-- What has no powers at all is zero, whatever it is multiplied by. -/
theorem stands_nothing (h : Stands x y z w v q a b c 0 n e) (positive : 0 < q) : n = 0 ∧ e = 0 := by
  obtain ⟨l, _, many, number, value⟩ := h positive
  rw [none_counted many] at number value
  exact ⟨number.symm, value.symm⟩
theorem stands_mul (one : Ones x y z) (d : Apart a b c a' b' c') (h : Stands x y z w v q a b c k n e)
    (h' : Stands x y z w v q a' b' c' k' n' e') : Stands x y z w v q (a + a') (b + b') (c + c') (k * k') (n * n') (e * e') :=
  fun small => by
  have positive : 0 < q := Nat.le_trans (Nat.succ_le_succ (Nat.zero_le _)) small
  by_cases c : k = 0
  · rw [c] at h
    obtain ⟨none, zero⟩ := stands_nothing h positive
    rw [c, none, zero]
    exact ⟨.nil, trivial, (Nat.zero_mul k').symm, (Nat.zero_mul n').symm, (zero_mul e').symm⟩
  · by_cases c' : k' = 0
    · rw [c'] at h'
      obtain ⟨none, zero⟩ := stands_nothing h' positive
      rw [c', none, zero]
      exact ⟨.nil, trivial, rfl, rfl, (mul_zero e).symm⟩
    · obtain ⟨l, fits, many, number, value⟩ := h (Nat.le_trans (Nat.succ_le_succ (le_times c')) small)
      obtain ⟨m, fits', many', number', value'⟩ := h' (Nat.le_trans (Nat.succ_le_succ (by
        rw [Nat.mul_comm]
        exact le_times c)) small)
      refine ⟨timesAll l m, fits_times d fits' l fits, ?_, ?_, ?_⟩
      · rw [count_times, many, many']
      · rw [weigh_times, number, number']
      · rw [worth_times one d fits' l fits, value, value']
/-- The state of exponents: `s` from entry `low` on. -/
def counted (low : Nat) (s : Nat → K) : Nat → K
  | .zero => 1
  | .succ n => s (low + n)
end
end

/-! ## What the kernel evaluates: how many powers there are, and the number that they are -/
/-- The number of a polynomial, from those of its variables; of what is negated it is `n`. -/
def number (n : Nat) (l r : Nat → Nat) (e : P) : Nat :=
  P.rec (motive := fun _ => Nat) l r 0 1 (fun _ _ a b => Nat.add a b) (fun _ _ a b => Nat.mul a b) (fun _ _ => n) e
def larger (a b : Nat) : Nat := Bool.rec (motive := fun _ => Nat) a b (Nat.ble a b)
/-- The most variables of the left state, and of the right one, in a product. -/
def leftDegree (e : P) : Nat :=
  P.rec (motive := fun _ => Nat) (fun _ => 1) (fun _ => 0) 0 0 (fun _ _ => larger) (fun _ _ => Nat.add) (fun _ a => a) e
def rightDegree (e : P) : Nat :=
  P.rec (motive := fun _ => Nat) (fun _ => 0) (fun _ => 1) 0 0 (fun _ _ => larger) (fun _ _ => Nat.add) (fun _ a => a) e
/-- One power, if the check holds; else too many for the base `q`. -/
def oneIf (q : Nat) (c : Bool) : Nat := Bool.rec (motive := fun _ => Nat) q 1 c
def manyFirst (q v low i : Nat) : Nat :=
  oneIf q (Bool.rec (motive := fun _ => Bool) false (Nat.ble (Nat.succ (Nat.succ i)) (Nat.add low v)) (Nat.ble low i))
def manySecond (q w i : Nat) : Nat := oneIf q (Nat.ble (Nat.succ (Nat.succ i)) w)
def manyThird (_ : Nat) : Nat := 1
def numberFirst (q w low i : Nat) : Nat := power (power q w) (Nat.sub (Nat.succ i) low)
def numberSecond (q i : Nat) : Nat := power q (Nat.succ i)
def numberThird (q w v i : Nat) : Nat := power (power (power q w) v) (Nat.succ i)
theorem larger_left (a b : Nat) : a ≤ larger a b := by
  unfold larger
  cases c : Nat.ble a b with
  | false => exact Nat.le_refl a
  | true => exact le_of_ble a b c
theorem larger_right (a b : Nat) : b ≤ larger a b := by
  unfold larger
  cases c : Nat.ble a b with
  | false => exact Nat.le_of_lt (lt_of_not_ble c)
  | true => exact Nat.le_refl b
section
variable {K : Type u} [CommRing K] {x y z : Nat → K} {w v q : Nat}
theorem stands_if {a b c n : Nat} {k : K} {e : Bool} (h : e = true → Stands x y z w v q a b c 1 n k) :
    Stands x y z w v q a b c (oneIf q e) n k := by
  cases e with
  | true => exact h rfl
  | false => exact fun small => absurd small (Nat.lt_irrefl q)
theorem stands_single (m : Mono) {a b c n : Nat} {k : K} (fit : Fit w v a b c m) (number : power q (code w v m) = n)
    (value : m.value x y z = k) : Stands x y z w v q a b c 1 n k :=
  fun _ => ⟨[m], ⟨fit, trivial⟩, rfl, number, (add_zero _).trans value⟩
end
section
variable {K : Type u} [CommRing K] (s t r : Nat → K) (low w v q : Nat)
theorem ones : Ones (counted low s) (counted 0 t) (counted 0 r) := ⟨rfl, rfl, rfl⟩
theorem stands_first (hw : 0 < w) (i : Nat) :
    Stands (counted low s) (counted 0 t) (counted 0 r) w v q 1 0 0 (manyFirst q v low i) (numberFirst q w low i) (s i) := by
  refine stands_if (fun h => ?_)
  have checks := both_true h
  obtain ⟨m, hm⟩ := le_of_ble _ _ checks.left
  have exponent : Nat.sub (Nat.succ i) low = Nat.succ m := by
    rw [← hm]
    exact add_sub_self low (Nat.succ m)
  have inside : Nat.succ m < v := by
    obtain ⟨k, hk⟩ := le_of_ble _ _ checks.right
    refine ⟨k, Nat.add_right_cancel low ?_⟩
    rw [Nat.add_comm v low]
    refine Eq.trans ?_ hk
    rw [← hm, Nat.add_comm _ low, ← Nat.add_assoc]
    rfl
  refine stands_single ⟨Nat.succ m, 0, 0⟩ ⟨.inr (Nat.le_refl 1), .inl rfl, .inl rfl, hw, inside⟩ ?_ ?_
  · show power q (0 + w * (Nat.succ m + v * 0)) = power (power q w) (Nat.sub (Nat.succ i) low)
    rw [exponent, Nat.zero_add, power_mul]
    rfl
  · show s (low + m) * (1 * 1) = s i
    rw [mul_one, mul_one, hm]
theorem stands_second (hv : 0 < v) (i : Nat) :
    Stands (counted low s) (counted 0 t) (counted 0 r) w v q 0 1 0 (manySecond q w i) (numberSecond q i) (t i) := by
  refine stands_if (fun h => ?_)
  refine stands_single ⟨0, Nat.succ i, 0⟩ ⟨.inl rfl, .inr (Nat.le_refl 1), .inl rfl, le_of_ble _ _ h, hv⟩ ?_ ?_
  · show power q (Nat.succ i + w * (0 + v * 0)) = _
    rw [Nat.mul_zero, Nat.mul_zero]
    rfl
  · show 1 * (t (0 + i) * 1) = t i
    rw [one_mul, mul_one, Nat.zero_add]
theorem stands_third (hw : 0 < w) (hv : 0 < v) (i : Nat) :
    Stands (counted low s) (counted 0 t) (counted 0 r) w v q 0 0 1 (manyThird i) (numberThird q w v i) (r i) := by
  refine stands_single ⟨0, 0, Nat.succ i⟩ ⟨.inl rfl, .inl rfl, .inr (Nat.le_refl 1), hw, hv⟩ ?_ ?_
  · show power q (0 + w * (0 + v * Nat.succ i)) = power (power (power q w) v) (Nat.succ i)
    rw [Nat.zero_add, Nat.zero_add, power_mul, power_mul]
  · show 1 * (1 * r (0 + i)) = r i
    rw [one_mul, one_mul, Nat.zero_add]
end
/-! ## Soundness -/
theorem scaled {m n : Nat} (a : Nat) (h : m ≤ n) : m * a ≤ n * a := by
  obtain ⟨k, hk⟩ := h
  rw [← hk, Nat.mul_comm, Nat.mul_comm _ a, Nat.mul_add]
  exact Nat.le_add_right _ _
/-- Degrees of a product's factors, times one and the other state's share, are at most one together. -/
theorem shared {a b k l m n : Nat} (h : a + b ≤ 1) (hk : k + m ≤ 1) (hl : l + n ≤ 1) :
    k * a + l * b + (m * a + n * b) ≤ 1 := by
  have whole : k * a + l * b + (m * a + n * b) = (k + m) * a + (l + n) * b :=
    semiring_eq [a, b, k, l, m, n] (by rfl)
  rw [whole]
  refine Nat.le_trans (Nat.add_le_add_left _ (scaled b hl)) ?_
  rw [Nat.add_comm]
  refine Nat.le_trans (Nat.add_le_add_left _ (scaled a hk)) ?_
  rw [Nat.add_comm, Nat.mul_comm, Nat.mul_one, Nat.mul_comm, Nat.mul_one]
  exact h
theorem summed {a b k l m n : Nat} (h : k ≤ m) (j : l ≤ n) : k * a + l * b ≤ m * a + n * b := by
  refine Nat.le_trans (Nat.add_le_add_left _ (scaled b j)) ?_
  rw [Nat.add_comm, Nat.add_comm (m * a)]
  exact Nat.add_le_add_left _ (scaled a h)
theorem whole_degree (a b : Nat) : 1 * a + 1 * b = a + b := by
  rw [Nat.mul_comm, Nat.mul_one, Nat.mul_comm, Nat.mul_one]
section
variable {K : Type u} [CommRing K] {x y z : Nat → K} {w v q a b c a' b' c' : Nat} {s t : Nat → K} {l r j k : Nat → Nat}
theorem number_stands (one : Ones x y z) (hw : 0 < w) (hv : 0 < v) (d : Apart a b c a' b' c')
    (hl : ∀ i, Stands x y z w v q a b c (j i) (l i) (s i)) (hr : ∀ i, Stands x y z w v q a' b' c' (k i) (r i) (t i)) :
    ∀ e, leftDegree e ≤ 1 → rightDegree e ≤ 1 → Stands x y z w v q (leftDegree e * a + rightDegree e * a')
      (leftDegree e * b + rightDegree e * b') (leftDegree e * c + rightDegree e * c')
      (number q j k e) (number 0 l r e) (eval s t e)
  | .left i, _, _ => stands_weaker (hl i) (by
      show a ≤ 1 * a + 0 * a'
      rw [Nat.mul_comm, Nat.mul_one]
      exact Nat.le_add_right _ _) (by
      show b ≤ 1 * b + 0 * b'
      rw [Nat.mul_comm, Nat.mul_one]
      exact Nat.le_add_right _ _) (by
      show c ≤ 1 * c + 0 * c'
      rw [Nat.mul_comm, Nat.mul_one]
      exact Nat.le_add_right _ _)
  | .right i, _, _ => stands_weaker (hr i) (by
      show a' ≤ 0 * a + 1 * a'
      rw [Nat.mul_comm 1, Nat.mul_one]
      exact Nat.le_add_left _ _) (by
      show b' ≤ 0 * b + 1 * b'
      rw [Nat.mul_comm 1, Nat.mul_one]
      exact Nat.le_add_left _ _) (by
      show c' ≤ 0 * c + 1 * c'
      rw [Nat.mul_comm 1, Nat.mul_one]
      exact Nat.le_add_left _ _)
  | .zero, _, _ => stands_zero
  | .one, _, _ => stands_one one hw hv
  | .add e g, hd, hd' => by
      have one_side := number_stands one hw hv d hl hr e (Nat.le_trans (larger_left _ _) hd) (Nat.le_trans (larger_left _ _) hd')
      have other := number_stands one hw hv d hl hr g (Nat.le_trans (larger_right _ _) hd) (Nat.le_trans (larger_right _ _) hd')
      exact stands_add
        (stands_weaker one_side (summed (larger_left _ _) (larger_left _ _)) (summed (larger_left _ _) (larger_left _ _))
          (summed (larger_left _ _) (larger_left _ _)))
        (stands_weaker other (summed (larger_right _ _) (larger_right _ _)) (summed (larger_right _ _) (larger_right _ _))
          (summed (larger_right _ _) (larger_right _ _)))
  | .mul e g, hd, hd' => by
      have one_side := number_stands one hw hv d hl hr e (Nat.le_trans (Nat.le_add_right _ _) hd) (Nat.le_trans (Nat.le_add_right _ _) hd')
      have other := number_stands one hw hv d hl hr g (Nat.le_trans (Nat.le_add_left _ _) hd) (Nat.le_trans (Nat.le_add_left _ _) hd')
      have sums : ∀ a b : Nat, leftDegree e * a + rightDegree e * b + (leftDegree g * a + rightDegree g * b)
          ≤ (leftDegree e + leftDegree g) * a + (rightDegree e + rightDegree g) * b := fun a b => by
        rw [show leftDegree e * a + rightDegree e * b + (leftDegree g * a + rightDegree g * b)
          = (leftDegree e + leftDegree g) * a + (rightDegree e + rightDegree g) * b from
          semiring_eq [leftDegree e, leftDegree g, rightDegree e, rightDegree g, a, b] (by rfl)]
        exact Nat.le_refl _
      exact stands_weaker (stands_mul one ⟨shared d.first hd hd', shared d.second hd hd', shared d.third hd hd'⟩ one_side other)
        (sums a a') (sums b b') (sums c c')
  | .neg _, _, _ => fun small => absurd small (Nat.lt_irrefl q)
/-- A polynomial of degree one in each state has what its variables have at most. -/
theorem number_stands_whole (one : Ones x y z) (hw : 0 < w) (hv : 0 < v) (d : Apart a b c a' b' c')
    (hl : ∀ i, Stands x y z w v q a b c (j i) (l i) (s i)) (hr : ∀ i, Stands x y z w v q a' b' c' (k i) (r i) (t i))
    (e : P) (h : leftDegree e ≤ 1) (h' : rightDegree e ≤ 1) :
    Stands x y z w v q (a + a') (b + b') (c + c') (number q j k e) (number 0 l r e) (eval s t e) := by
  have found := number_stands one hw hv d hl hr e h h'
  rw [← whole_degree a a', ← whole_degree b b', ← whole_degree c c']
  exact stands_weaker found (summed h h') (summed h h') (summed h h')
end
theorem parted {w b m : Nat} (h : b < w) : quotient w (b + w * m) = m ∧ remainder w (b + w * m) = b := by
  have spec := quotient_spec w (b + w * m) (Nat.le_trans (Nat.succ_le_succ (Nat.zero_le b)) h)
  have sum : remainder w (b + w * m) + w * quotient w (b + w * m) = b + w * m := by
    rw [Nat.add_comm (remainder w _), Nat.mul_comm w (quotient w _)]
    exact spec.left
  have parts := digit spec.right h sum
  exact ⟨parts.right, parts.left⟩
section
variable {K : Type u} [CommRing K] {x y z : Nat → K} {w v q a b c : Nat}
/-- What an exponent is worth. -/
def decoded (x y z : Nat → K) (w v n : Nat) : K :=
  x (remainder v (quotient w n)) * (y (remainder w n) * z (quotient v (quotient w n)))
theorem sumOf_decoded : ∀ l, Fits w v a b c l → sumOf (decoded x y z w v) (codes w v l) = worth x y z l
  | .nil, _ => rfl
  | .cons m l, h => by
      show decoded x y z w v (m.second + w * (m.first + v * m.third)) + _ = x m.first * (y m.second * z m.third) + _
      rw [sumOf_decoded l h.right]
      unfold decoded
      rw [(parted h.left.low).left, (parted h.left.low).right, (parted h.left.middle).left, (parted h.left.middle).right]
/-- Equal numbers of few powers stand for the same. -/
theorem stands_same {k k' n : Nat} {e e' : K} (h : Stands x y z w v q a b c k n e) (h' : Stands x y z w v q a b c k' n e')
    (small : k < q) (small' : k' < q) : e = e' := by
  obtain ⟨l, fits, many, number, value⟩ := h small
  obtain ⟨m, fits', many', number', value'⟩ := h' small'
  rw [← value, ← value', ← sumOf_decoded l fits, ← sumOf_decoded m fits']
  exact digits (height (codes w v l) + height (codes w v m)) _ _ _ (Nat.le_add_right _ _) (Nat.le_add_left _ _)
    (many.symm ▸ small) (many'.symm ▸ small') (number.trans number'.symm)
end
end Polynomial
end Tang
