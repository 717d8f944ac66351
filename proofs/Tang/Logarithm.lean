prelude
import Tang.Rationals
import Tang.Segment
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Logarithm — a logarithm on the rationals: how often two divides, the inverse of 2ⁿ on its powers -/
set_option autoImplicit false
noncomputable section
namespace Tang

namespace Two
/-! ## Odd numbers times powers of two -/
theorem double_succ (x : Nat) : Nat.succ x + Nat.succ x = Nat.succ (Nat.succ (x + x)) := by
  rw [Nat.succ_add]
  rfl
theorem odd_ne_even : ∀ m x : Nat, Nat.succ (m + m) ≠ x + x
  | _, .zero, h => Nat.succ_ne_zero _ h
  | .zero, .succ x, h => by
      rw [double_succ] at h
      exact Nat.succ_ne_zero _ (Nat.succ_inj h).symm
  | .succ m, .succ x, h => by
      rw [double_succ, double_succ] at h
      exact odd_ne_even m x (Nat.succ_inj (Nat.succ_inj h))
theorem double_inj : ∀ a b : Nat, a + a = b + b → a = b
  | .zero, .zero, _ => rfl
  | .zero, .succ b, h => by
      rw [double_succ] at h
      exact absurd h.symm (Nat.succ_ne_zero _)
  | .succ a, .zero, h => by
      rw [double_succ] at h
      exact absurd h (Nat.succ_ne_zero _)
  | .succ a, .succ b, h => by
      rw [double_succ, double_succ] at h
      exact congrArg Nat.succ (double_inj a b (Nat.succ_inj (Nat.succ_inj h)))
/-- `n` is an odd number times `2 ^ k`. -/
def Form (n k : Nat) : Prop := ∃ m, n = Nat.succ (m + m) * Q.two k
theorem form_unique : ∀ (j k n : Nat), Form n j → Form n k → j = k
  | .zero, .zero, _, _, _ => rfl
  | .zero, .succ k, n, h, h' => by
      obtain ⟨a, ha⟩ := h
      obtain ⟨b, hb⟩ := h'
      have e : Nat.succ (a + a) * 1 = Nat.succ (b + b) * (Q.two k + Q.two k) := ha.symm.trans hb
      rw [mul_one, mul_add] at e
      exact absurd e (odd_ne_even _ _)
  | .succ j, .zero, n, h, h' => by
      obtain ⟨a, ha⟩ := h
      obtain ⟨b, hb⟩ := h'
      have e : Nat.succ (b + b) * 1 = Nat.succ (a + a) * (Q.two j + Q.two j) := hb.symm.trans ha
      rw [mul_one, mul_add] at e
      exact absurd e (odd_ne_even _ _)
  | .succ j, .succ k, n, h, h' => by
      obtain ⟨a, ha⟩ := h
      obtain ⟨b, hb⟩ := h'
      have e : Nat.succ (a + a) * (Q.two j + Q.two j) = Nat.succ (b + b) * (Q.two k + Q.two k) := ha.symm.trans hb
      rw [mul_add, mul_add] at e
      exact congrArg Nat.succ (form_unique j k _ ⟨a, rfl⟩ ⟨b, double_inj _ _ e⟩)
theorem form_mul {a b j k : Nat} (h : Form a j) (h' : Form b k) : Form (a * b) (j + k) := by
  obtain ⟨m, hm⟩ := h
  obtain ⟨l, hl⟩ := h'
  refine ⟨(m * l + m * l) + (m + l), ?_⟩
  rw [hm, hl, Q.two_add]
  show (m + m + 1) * Q.two j * ((l + l + 1) * Q.two k)
    = ((m * l + m * l + (m + l)) + (m * l + m * l + (m + l)) + 1) * (Q.two j * Q.two k)
  exact semiring_eq [m, l, Q.two j, Q.two k] (by rfl)
/-- How often two divides a number, looked for in so many steps. -/
def halvings : Nat → Nat → Nat
  | .zero, _ => 0
  | .succ f, n => if remainder 2 n = 0 then Nat.succ (halvings f (quotient 2 n)) else 0
theorem form_halvings : ∀ (f n : Nat), n ≠ 0 → n ≤ f → Form n (halvings f n)
  | .zero, n, h, k => absurd (Nat.le_antisymm k (Nat.zero_le n)) h
  | .succ f, n, h, k => by
      obtain ⟨whole, small⟩ := quotient_spec 2 n ⟨1, rfl⟩
      have twice : quotient 2 n * 2 = quotient 2 n + quotient 2 n := by
        rw [show (2 : Nat) = 1 + 1 from rfl, mul_add, mul_one]
      rw [twice] at whole
      by_cases e : remainder 2 n = 0
      · rw [show halvings (Nat.succ f) n = Nat.succ (halvings f (quotient 2 n)) from if_pos e]
        rw [e, Nat.add_zero] at whole
        have some : quotient 2 n ≠ 0 := fun z => h (by
          rw [z] at whole
          exact whole.symm)
        have fewer : quotient 2 n ≤ f := by
          cases hq : quotient 2 n with
          | zero => exact Nat.zero_le f
          | succ q =>
            rw [hq, double_succ] at whole
            rw [← whole] at k
            exact Nat.le_trans (Nat.succ_le_succ (Nat.le_add_right q q)) (Nat.le_of_succ_le_succ k)
        obtain ⟨m, hm⟩ := form_halvings f (quotient 2 n) some fewer
        refine ⟨m, ?_⟩
        show n = Nat.succ (m + m) * (Q.two _ + Q.two _)
        rw [mul_add, ← hm, whole]
      · rw [show halvings (Nat.succ f) n = 0 from if_neg e]
        refine ⟨quotient 2 n, ?_⟩
        show n = Nat.succ (quotient 2 n + quotient 2 n) * 1
        rw [mul_one]
        have one : remainder 2 n = 1 := by
          cases hr : remainder 2 n with
          | zero => exact absurd hr e
          | succ r =>
            rw [hr] at small
            have z := Nat.le_antisymm (Nat.le_of_succ_le_succ (Nat.le_of_succ_le_succ small)) (Nat.zero_le r)
            rw [z]
        rw [one] at whole
        exact whole.symm
/-- How often two divides a number; 0 for 0. -/
def valuation (n : Nat) : Nat := halvings n n
theorem valuation_form {n k : Nat} (h : n ≠ 0) (f : Form n k) : valuation n = k :=
  form_unique _ _ n (form_halvings n n h (Nat.le_refl n)) f
theorem valuation_mul {a b : Nat} (ha : a ≠ 0) (hb : b ≠ 0) (h : a * b ≠ 0) :
    valuation (a * b) = valuation a + valuation b :=
  valuation_form h (form_mul (form_halvings a a ha (Nat.le_refl a)) (form_halvings b b hb (Nat.le_refl b)))
theorem valuation_two {k : Nat} (h : Q.two k ≠ 0) : valuation (Q.two k) = k :=
  valuation_form h ⟨0, (one_mul (Q.two k)).symm⟩

/-! ## The size of an integer -/
theorem sub_succ_succ (a b : Nat) : Nat.succ a - Nat.succ b = a - b := by
  induction b with
  | zero => rfl
  | succ b ih => exact congrArg Nat.pred ih
theorem sub_add (a b d : Nat) : a + d - (b + d) = a - b := by
  induction d with
  | zero => rfl
  | succ d ih => exact (sub_succ_succ (a + d) (b + d)).trans ih
theorem sub_same {a b c d : Nat} (h : a + d = c + b) : a - b = c - d := by
  rw [← sub_add a b d, h, Nat.add_comm b d, sub_add]
theorem zero_sub (n : Nat) : 0 - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg Nat.pred ih
def size : Z → Nat := Quot.lift (fun a : Diff => a.pos - a.neg + (a.neg - a.pos)) (fun a b h => by
  have h' : a.pos + b.neg = b.pos + a.neg := h
  have k : a.neg + b.pos = b.neg + a.pos := by rw [Nat.add_comm, ← h', Nat.add_comm]
  show a.pos - a.neg + (a.neg - a.pos) = b.pos - b.neg + (b.neg - b.pos)
  rw [sub_same h', sub_same k])
theorem size_nat (n : Nat) : size (Z.ofNat n) = n := by
  show n - 0 + (0 - n) = n
  rw [zero_sub]
  rfl
theorem size_neg : ∀ z, size (-z) = size z := Z.ind (fun a => Nat.add_comm (a.neg - a.pos) (a.pos - a.neg))
theorem size_mul_nat (n : Nat) (b : Z) : size (Z.ofNat n * b) = n * size b := by
  cases Z.total b with
  | inl k =>
    obtain ⟨m, hm⟩ := k
    rw [hm, ← Z.ofNat_mul, size_nat, size_nat]
  | inr k =>
    obtain ⟨m, hm⟩ := k
    rw [← size_neg, ← size_neg b, show -(Z.ofNat n * b) = Z.ofNat n * -b from ring_eq [Z.ofNat n, b] (by rfl),
      hm, ← Z.ofNat_mul, size_nat, size_nat]
theorem size_mul (a b : Z) : size (a * b) = size a * size b := by
  cases Z.total a with
  | inl k =>
    obtain ⟨n, hn⟩ := k
    rw [hn, size_mul_nat, size_nat]
  | inr k =>
    obtain ⟨n, hn⟩ := k
    rw [← size_neg, ← size_neg a, show -(a * b) = -a * b from ring_eq [a, b] (by rfl), hn, size_mul_nat, size_nat]
theorem size_zero {z : Z} (h : size z = 0) : z = 0 := by
  cases Z.total z with
  | inl k =>
    obtain ⟨n, hn⟩ := k
    rw [hn, size_nat] at h
    rw [hn, h]
    rfl
  | inr k =>
    obtain ⟨n, hn⟩ := k
    rw [← size_neg, hn, size_nat] at h
    rw [← Ring.neg_neg z, hn, h]
    rfl
theorem size_pos {z : Z} (h : Z.Pos z) : size z ≠ 0 := by
  obtain ⟨n, hn⟩ := h
  rw [hn, size_nat]
  exact Nat.succ_ne_zero n
theorem size_ne {z : Z} (h : z ≠ 0) : size z ≠ 0 := fun k => h (size_zero k)
theorem mul_ne_zero {a b : Nat} (ha : a ≠ 0) (hb : b ≠ 0) : a * b ≠ 0 :=
  match b, hb with
  | .zero, hb => absurd rfl hb
  | .succ b, _ => fun h => ha (Nat.eq_zero_of_add (a := a * b) h)
theorem valuation_size_mul {a b : Z} (ha : size a ≠ 0) (hb : size b ≠ 0) :
    valuation (size (a * b)) = valuation (size a) + valuation (size b) := by
  rw [size_mul, valuation_mul ha hb (mul_ne_zero ha hb)]

/-! ## The logarithm -/
def ofFrac (a : Frac) : Z := if a.num = 0 then 0 else Z.mk ⟨valuation (size a.num), valuation (size a.den)⟩
theorem ofFrac_zero {a : Frac} (h : a.num = 0) : ofFrac a = 0 := if_pos h
theorem ofFrac_some {a : Frac} (h : a.num ≠ 0) : ofFrac a = Z.mk ⟨valuation (size a.num), valuation (size a.den)⟩ := if_neg h
theorem ofFrac_same {a b : Frac} (h : Frac.Same a b) : ofFrac a = ofFrac b := by
  by_cases k : a.num = 0
  · rw [ofFrac_zero k, ofFrac_zero (Frac.zero_same h k)]
  · have j : b.num ≠ 0 := fun j => k (Frac.zero_same (Frac.symm h) j)
    rw [ofFrac_some k, ofFrac_some j]
    apply Quot.sound
    show valuation (size a.num) + valuation (size b.den) = valuation (size b.num) + valuation (size a.den)
    have h' : a.num * b.den = b.num * a.den := h
    rw [← valuation_size_mul (size_ne k) (size_pos b.pos), h', valuation_size_mul (size_ne j) (size_pos a.pos)]
/-- How often two divides a fraction: 2 for 4, −1 for 1/2, 0 for 3. -/
def log : Q → Z := Quot.lift ofFrac (fun _ _ h => ofFrac_same h)
theorem log_mul (y : Q) (a : Z) : y ≠ 0 → log (y * exp a) = log y + a := by
  induction y using Q.ind with
  | h y =>
    induction a using Z.ind with
    | h d =>
      intro h
      have k : y.num ≠ 0 := fun k => h (Quot.sound (by
        show y.num * 1 = 0 * y.den
        rw [k, zero_mul, zero_mul]))
      have up : size (Z.ofNat (Q.two d.pos)) ≠ 0 := size_pos (Q.two_pos d.pos)
      have down : size (Z.ofNat (Q.two d.neg)) ≠ 0 := size_pos (Q.two_pos d.neg)
      have two_up : valuation (size (Z.ofNat (Q.two d.pos))) = d.pos := by
        rw [size_nat] at up
        rw [size_nat, valuation_two up]
      have two_down : valuation (size (Z.ofNat (Q.two d.neg))) = d.neg := by
        rw [size_nat] at down
        rw [size_nat, valuation_two down]
      show ofFrac (Frac.mul y (Q.power d)) = ofFrac y + Z.mk d
      have some : (Frac.mul y (Q.power d)).num ≠ 0 := by
        intro z
        have s : size (y.num * Z.ofNat (Q.two d.pos)) = 0 := by
          rw [show y.num * Z.ofNat (Q.two d.pos) = 0 from z]
          rfl
        rw [size_mul] at s
        exact mul_ne_zero (size_ne k) up s
      rw [ofFrac_some some, ofFrac_some k]
      show Z.mk ⟨valuation (size (y.num * Z.ofNat (Q.two d.pos))), valuation (size (y.den * Z.ofNat (Q.two d.neg)))⟩ = _
      rw [valuation_size_mul (size_ne k) up, valuation_size_mul (size_pos y.pos) down, two_up, two_down]
      rfl
instance logarithm : Logarithm Z Q where
  log := log
  log_mul := log_mul
end Two
end Tang
