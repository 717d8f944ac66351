prelude
import Tang.LP
import Tang.Field
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Means — arithmetic and geometric means, and Hölder's inequality for N factors, without roots -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

section
variable {K : Type u} [OrderedField K]

/-! ## Powers -/
def power (a : K) : Nat → K
  | .zero => 1
  | .succ n => power a n * a
theorem power_nonneg {a : K} (h : 0 ≤ a) : ∀ n, 0 ≤ power a n
  | .zero => zero_le_one
  | .succ n => mul_nonneg (power_nonneg h n) h
theorem one_pos : (0 : K) < 1 := lt_of_le_of_ne zero_le_one zero_ne_one
theorem power_pos {a : K} (h : 0 < a) : ∀ n, 0 < power a n
  | .zero => one_pos
  | .succ n => mul_pos (power_pos h n) h
theorem power_mul (a b : K) : ∀ n, power (a * b) n = power a n * power b n
  | .zero => (mul_one 1).symm
  | .succ n => by
      show power (a * b) n * (a * b) = power a n * a * (power b n * b)
      rw [power_mul a b n]
      exact ring_eq [power a n, power b n, a, b] (by rfl)
theorem power_add (a : K) (m : Nat) : ∀ n, power a (m + n) = power a m * power a n
  | .zero => (mul_one _).symm
  | .succ n => by
      show power a (m + n) * a = power a m * (power a n * a)
      rw [power_add a m n, mul_assoc]
theorem mul_le_mul {a b c d : K} (ha : 0 ≤ a) (hd : 0 ≤ d) (h : a ≤ b) (k : c ≤ d) : a * c ≤ b * d :=
  le_trans (mul_le_mul_left ha k) (mul_le_mul_right hd h)
theorem mul_lt_mul_left {a b c : K} (hc : 0 < c) (h : a < b) : c * a < c * b := by
  intro k
  apply h
  cases le_total b a with
  | inl j => exact j
  | inr j =>
    have e := le_antisymm k (mul_le_mul_left (le_of_lt hc) j)
    rw [mul_comm c b, mul_comm c a] at e
    rw [mul_cancel (fun z => ne_of_lt hc z.symm) e]
    exact le_refl a
theorem le_of_mul_le {a b c : K} (hc : 0 < c) (h : c * a ≤ c * b) : a ≤ b := by
  by_cases k : a ≤ b
  · exact k
  · exact absurd h (mul_lt_mul_left hc k)
theorem power_le {a b : K} (ha : 0 ≤ a) (h : a ≤ b) : ∀ n, power a n ≤ power b n
  | .zero => le_refl 1
  | .succ n => mul_le_mul (power_nonneg ha n) (le_trans ha h) (power_le ha h n) h
theorem power_lt {a b : K} (ha : 0 ≤ a) (h : a < b) (n : Nat) : power a (Nat.succ n) < power b (Nat.succ n) :=
  lt_of_le_of_lt (mul_le_mul_right ha (power_le ha (le_of_lt h) n))
    (mul_lt_mul_left (power_pos (lt_of_le_of_lt ha h) n) h)
theorem le_of_power {a b : K} (hb : 0 ≤ b) (n : Nat) (h : power a (Nat.succ n) ≤ power b (Nat.succ n)) : a ≤ b := by
  by_cases k : a ≤ b
  · exact k
  · exact absurd h (power_lt hb k n)
theorem lt_of_power {a b : K} (hb : 0 ≤ b) (n : Nat) (h : power a (Nat.succ n) < power b (Nat.succ n)) : a < b :=
  fun k => h (power_le hb k (Nat.succ n))
theorem zero_of_power {a : K} (ha : 0 ≤ a) (n : Nat) (h : power a n ≤ 0) : a = 0 := by
  by_cases k : a = 0
  · exact k
  · exact absurd h (power_pos (lt_of_le_of_ne ha (fun e => k e.symm)) n)
theorem numeral_pos (n : Nat) : (0 : K) < numeral (Nat.succ n) := add_pos (numeral_nonneg n) one_pos

/-! ## Arithmetic and geometric means -/
theorem bernoulli {a b : K} (ha : 0 ≤ a) (hb : 0 ≤ b) (n : Nat) :
    0 ≤ power b n * b + numeral n * (power a n * a) - (numeral n + 1) * (b * power a n) := by
  induction n with
  | zero =>
    rw [show power b 0 * b + numeral 0 * (power a 0 * a) - (numeral 0 + 1) * (b * power a 0) = 0 from
      (ring_eq [a, b] (by rfl) : 1 * b + 0 * (1 * a) - (0 + 1) * (b * 1) = 0)]
    exact le_refl 0
  | succ n ih =>
    rw [show power b (Nat.succ n) * b + numeral (Nat.succ n) * (power a (Nat.succ n) * a)
        - (numeral (Nat.succ n) + 1) * (b * power a (Nat.succ n))
      = b * (power b n * b + numeral n * (power a n * a) - (numeral n + 1) * (b * power a n))
        + (numeral n + 1) * (power a n * ((b - a) * (b - a))) from
      (ring_eq [a, b, power a n, power b n, numeral n] (by rfl) :
        power b n * b * b + (numeral n + 1) * (power a n * a * a) - (numeral n + 1 + 1) * (b * (power a n * a))
        = b * (power b n * b + numeral n * (power a n * a) - (numeral n + 1) * (b * power a n))
          + (numeral n + 1) * (power a n * ((b - a) * (b - a))))]
    exact add_nonneg (mul_nonneg hb ih)
      (mul_nonneg (numeral_nonneg (Nat.succ n)) (mul_nonneg (power_nonneg ha n) (square_nonneg _)))
theorem mean_step {t z : K} (ht : 0 ≤ t) (hz : 0 ≤ z) (m : Nat) (hm : (0 : K) < numeral m) :
    power (numeral m + 1) (Nat.succ m) * (z * power t m) ≤ power (numeral m) m * power (t + z) (Nat.succ m) := by
  apply le_of_mul_le hm
  have b := bernoulli (a := (numeral m + 1) * t) (b := numeral m * (t + z))
    (mul_nonneg (add_nonneg (le_of_lt hm) zero_le_one) ht) (mul_nonneg (le_of_lt hm) (add_nonneg ht hz)) m
  rw [power_mul, power_mul] at b
  apply le_of_sub_nonneg
  show (0 : K) ≤ numeral m * (power (numeral m) m * (power (t + z) m * (t + z)))
    - numeral m * (power (numeral m + 1) m * (numeral m + 1) * (z * power t m))
  generalize (numeral m : K) = c at b
  generalize power (t + z) m = s at b
  generalize power (c + 1) m = d at b
  generalize power c m = e at b
  generalize power t m = r at b
  rw [show c * (e * (s * (t + z))) - c * (d * (c + 1) * (z * r))
    = e * s * (c * (t + z)) + c * (d * r * ((c + 1) * t)) - (c + 1) * (c * (t + z) * (d * r)) from
    ring_eq [c, e, s, t, z, d, r] (by rfl)]
  exact b
def listProd : List K → K
  | .nil => 1
  | .cons a l => a * listProd l
def listTotal : List K → K
  | .nil => 0
  | .cons a l => a + listTotal l
def length {B : Type u} : List B → Nat
  | .nil => 0
  | .cons _ l => Nat.succ (length l)
def AllNonneg : List K → Prop
  | .nil => True
  | .cons a l => 0 ≤ a ∧ AllNonneg l
theorem listTotal_nonneg : ∀ l : List K, AllNonneg l → 0 ≤ listTotal l
  | .nil, _ => le_refl 0
  | .cons _ l, h => add_nonneg h.left (listTotal_nonneg l h.right)
/-- nⁿ · Π z ≤ (Σ z)ⁿ. -/
theorem means : ∀ l : List K, AllNonneg l →
    power (numeral (length l)) (length l) * listProd l ≤ power (listTotal l) (length l)
  | .nil, _ => by
      show (1 : K) * 1 ≤ 1
      rw [mul_one]
      exact le_refl 1
  | .cons z .nil, _ => by
      show (1 : K) * (0 + 1) * (z * 1) ≤ 1 * (z + 0)
      rw [show (1 : K) * (0 + 1) * (z * 1) = 1 * (z + 0) from ring_eq [z] (by rfl)]
      exact le_refl _
  | .cons z (.cons y l), h => by
      have ih := means (y :: l) h.right
      have t := listTotal_nonneg (y :: l) h.right
      have c : (0 : K) < numeral (length (y :: l)) := numeral_pos (length l)
      show power (numeral (length (y :: l)) + 1) (Nat.succ (length (y :: l))) * (z * listProd (y :: l))
        ≤ power (z + listTotal (y :: l)) (Nat.succ (length (y :: l)))
      generalize length (y :: l) = m at ih c
      generalize listTotal (y :: l) = s at ih t
      generalize listProd (y :: l) = p at ih
      apply le_of_mul_le (power_pos c m)
      rw [show power (numeral m) m * (power (numeral m + 1) (Nat.succ m) * (z * p))
        = power (numeral m + 1) (Nat.succ m) * z * (power (numeral m) m * p) from
        ring_eq [power (numeral m) m, power (numeral m + 1) (Nat.succ m), z, p] (by rfl)]
      have big : (0 : K) ≤ power (numeral m + 1) (Nat.succ m) * z :=
        mul_nonneg (power_nonneg (add_nonneg (le_of_lt c) zero_le_one) _) h.left
      apply le_trans (mul_le_mul_left big ih)
      rw [mul_assoc, add_comm z s]
      exact mean_step t h.left m c

/-! ## Two terms: geometric means are superadditive -/
/-- One factor of a bound: a pair to be added, or a constant that stays. -/
inductive Item (K : Type u) where
  | pair (a b : K)
  | still (c : K)
def lowOf : List (Item K) → K
  | .nil => 1
  | .cons (.pair a _) l => a * lowOf l
  | .cons (.still c) l => c * lowOf l
def highOf : List (Item K) → K
  | .nil => 1
  | .cons (.pair _ b) l => b * highOf l
  | .cons (.still c) l => c * highOf l
def jointOf : List (Item K) → K
  | .nil => 1
  | .cons (.pair a b) l => (a + b) * jointOf l
  | .cons (.still c) l => c * jointOf l
def pairsOf : List (Item K) → Nat
  | .nil => 0
  | .cons (.pair _ _) l => Nat.succ (pairsOf l)
  | .cons (.still _) l => pairsOf l
def ItemsNonneg : List (Item K) → Prop
  | .nil => True
  | .cons (.pair a b) l => 0 ≤ a ∧ 0 ≤ b ∧ ItemsNonneg l
  | .cons (.still c) l => 0 ≤ c ∧ ItemsNonneg l
/-- No pair adds up to nothing. -/
def ItemsFull : List (Item K) → Prop
  | .nil => True
  | .cons (.pair a b) l => a + b ≠ 0 ∧ ItemsFull l
  | .cons (.still _) l => ItemsFull l
def lowShares : List (Item K) → List K
  | .nil => .nil
  | .cons (.pair a b) l => (a * inv (a + b)) :: lowShares l
  | .cons (.still _) l => lowShares l
def highShares : List (Item K) → List K
  | .nil => .nil
  | .cons (.pair a b) l => (b * inv (a + b)) :: highShares l
  | .cons (.still _) l => highShares l
theorem inv_nonneg {a : K} (h : 0 ≤ a) (n : a ≠ 0) : 0 ≤ inv a := by
  have k := mul_nonneg h (mul_nonneg (square_nonneg (inv a)) h)
  have e := mul_inv n
  rw [show a * (inv a * inv a * a) = (a * inv a) * (a * inv a) from ring_eq [a, inv a] (by rfl), e] at k
  have j := mul_nonneg h (square_nonneg (inv a))
  rw [← mul_assoc, e, one_mul] at j
  exact j
theorem joint_nonneg : ∀ l : List (Item K), ItemsNonneg l → 0 ≤ jointOf l
  | .nil, _ => zero_le_one
  | .cons (.pair _ _) l, h => mul_nonneg (add_nonneg h.left h.right.left) (joint_nonneg l h.right.right)
  | .cons (.still _) l, h => mul_nonneg h.left (joint_nonneg l h.right)
theorem full_or_zero : ∀ l : List (Item K), ItemsNonneg l → ItemsFull l ∨ (lowOf l = 0 ∧ highOf l = 0)
  | .nil, _ => .inl trivial
  | .cons (.still c) l, h => by
      cases full_or_zero l h.right with
      | inl k => exact .inl k
      | inr k =>
        refine .inr ⟨?_, ?_⟩
        · show c * lowOf l = 0
          rw [k.left, mul_zero]
        · show c * highOf l = 0
          rw [k.right, mul_zero]
  | .cons (.pair a b) l, h => by
      by_cases e : a + b = 0
      · have a0 : a = 0 := le_antisymm (by
          have k := add_le_add (le_refl a) h.right.left
          rw [add_zero, e] at k
          exact k) h.left
        have b0 : b = 0 := by
          rw [a0, zero_add] at e
          exact e
        refine .inr ⟨?_, ?_⟩
        · show a * lowOf l = 0
          rw [a0, zero_mul]
        · show b * highOf l = 0
          rw [b0, zero_mul]
      · cases full_or_zero l h.right.right with
        | inl k => exact .inl ⟨e, k⟩
        | inr k =>
          refine .inr ⟨?_, ?_⟩
          · show a * lowOf l = 0
            rw [k.left, mul_zero]
          · show b * highOf l = 0
            rw [k.right, mul_zero]
theorem low_shares : ∀ l : List (Item K), ItemsFull l → lowOf l = jointOf l * listProd (lowShares l)
  | .nil, _ => (mul_one 1).symm
  | .cons (.still c) l, h => by
      show c * lowOf l = c * jointOf l * listProd (lowShares l)
      rw [low_shares l h, mul_assoc]
  | .cons (.pair a b) l, h => by
      show a * lowOf l = (a + b) * jointOf l * (a * inv (a + b) * listProd (lowShares l))
      rw [low_shares l h.right, show (a + b) * jointOf l * (a * inv (a + b) * listProd (lowShares l))
        = (a + b) * inv (a + b) * (a * (jointOf l * listProd (lowShares l))) from
        ring_eq [a, b, jointOf l, inv (a + b), listProd (lowShares l)] (by rfl), mul_inv h.left, one_mul]
theorem high_shares : ∀ l : List (Item K), ItemsFull l → highOf l = jointOf l * listProd (highShares l)
  | .nil, _ => (mul_one 1).symm
  | .cons (.still c) l, h => by
      show c * highOf l = c * jointOf l * listProd (highShares l)
      rw [high_shares l h, mul_assoc]
  | .cons (.pair a b) l, h => by
      show b * highOf l = (a + b) * jointOf l * (b * inv (a + b) * listProd (highShares l))
      rw [high_shares l h.right, show (a + b) * jointOf l * (b * inv (a + b) * listProd (highShares l))
        = (a + b) * inv (a + b) * (b * (jointOf l * listProd (highShares l))) from
        ring_eq [a, b, jointOf l, inv (a + b), listProd (highShares l)] (by rfl), mul_inv h.left, one_mul]
theorem shares_total : ∀ l : List (Item K), ItemsFull l →
    listTotal (lowShares l) + listTotal (highShares l) = numeral (pairsOf l)
  | .nil, _ => add_zero 0
  | .cons (.still _) l, h => shares_total l h
  | .cons (.pair a b) l, h => by
      show a * inv (a + b) + listTotal (lowShares l) + (b * inv (a + b) + listTotal (highShares l)) = numeral (pairsOf l) + 1
      rw [← shares_total l h.right, ← mul_inv h.left]
      exact ring_eq [a, b, inv (a + b), listTotal (lowShares l), listTotal (highShares l)] (by rfl)
theorem length_low : ∀ l : List (Item K), length (lowShares l) = pairsOf l
  | .nil => rfl
  | .cons (.still _) l => length_low l
  | .cons (.pair _ _) l => congrArg Nat.succ (length_low l)
theorem length_high : ∀ l : List (Item K), length (highShares l) = pairsOf l
  | .nil => rfl
  | .cons (.still _) l => length_high l
  | .cons (.pair _ _) l => congrArg Nat.succ (length_high l)
theorem low_nonneg : ∀ l : List (Item K), ItemsNonneg l → ItemsFull l → AllNonneg (lowShares l)
  | .nil, _, _ => trivial
  | .cons (.still _) l, h, k => low_nonneg l h.right k
  | .cons (.pair _ _) l, h, k =>
    ⟨mul_nonneg h.left (inv_nonneg (add_nonneg h.left h.right.left) k.left), low_nonneg l h.right.right k.right⟩
theorem high_nonneg : ∀ l : List (Item K), ItemsNonneg l → ItemsFull l → AllNonneg (highShares l)
  | .nil, _, _ => trivial
  | .cons (.still _) l, h, k => high_nonneg l h.right k
  | .cons (.pair _ _) l, h, k =>
    ⟨mul_nonneg h.right.left (inv_nonneg (add_nonneg h.left h.right.left) k.left), high_nonneg l h.right.right k.right⟩
/-- A bound by a product of shares is a bound by their sum. -/
theorem share_bound (shares : List K) (h : AllNonneg shares) (n e : Nat) (size : length shares = n + e)
    (most : listTotal shares ≤ numeral (n + e)) (some : (0 : K) < numeral (n + e)) {s d : K} (hd : 0 ≤ d)
    (bound : power s n ≤ d * listProd shares) :
    power (numeral (n + e) * s) n ≤ d * power (listTotal shares) n := by
  have p := listTotal_nonneg shares h
  have m := means shares h
  rw [size] at m
  generalize listTotal shares = t at most p m
  generalize listProd shares = z at m bound
  generalize (numeral (n + e) : K) = c at most some m
  apply le_of_mul_le (power_pos some e)
  have pc := power_nonneg (le_of_lt some) (n + e)
  have first := mul_le_mul_left pc bound
  have second := mul_le_mul_left hd m
  have third := mul_le_mul_left hd (mul_le_mul_left (power_nonneg p n) (power_le p most e))
  rw [power_add t] at second
  rw [power_mul]
  rw [power_add c] at first second
  rw [show power c n * power c e * (d * z) = d * (power c n * power c e * z) from
    ring_eq [power c n, power c e, d, z] (by rfl)] at first
  rw [show power c e * (power c n * power s n) = power c n * power c e * power s n from
      ring_eq [power c n, power c e, power s n] (by rfl),
    show power c e * (d * power t n) = d * (power t n * power c e) from ring_eq [power c e, d, power t n] (by rfl)]
  exact le_trans first (le_trans second third)
theorem share_weak {c s x w d : K} (n : Nat) (hw : 0 ≤ w) (hx : 0 ≤ x) (below : d < power w (Nat.succ n))
    (bound : power (c * s) (Nat.succ n) ≤ d * power x (Nat.succ n)) : c * s ≤ w * x := by
  apply le_of_power (mul_nonneg hw hx) n
  apply le_trans bound
  rw [power_mul]
  exact mul_le_mul_right (power_nonneg hx _) (le_of_lt below)
theorem share_strict {c s x w d : K} (n : Nat) (hw : 0 ≤ w) (hx : 0 < x) (below : d < power w (Nat.succ n))
    (bound : power (c * s) (Nat.succ n) ≤ d * power x (Nat.succ n)) : c * s < w * x := by
  apply lt_of_power (mul_nonneg hw (le_of_lt hx)) n
  apply lt_of_le_of_lt bound
  rw [power_mul, mul_comm d, mul_comm (power w (Nat.succ n))]
  exact mul_lt_mul_left (power_pos hx _) below
theorem add_lt_add {a b c d : K} (h : a < b) (k : c ≤ d) : a + c < b + d := by
  intro j
  apply h
  apply le_of_add_le_add_right (c := c)
  exact le_trans (add_le_add (le_refl b) k) j
/-- If the N-th powers of two numbers are bounded by products of at least N factors, that of their sum is
bounded by the product of the sums. -/
theorem superadditive (l : List (Item K)) (h : ItemsNonneg l) (n : Nat) (many : Nat.succ n ≤ pairsOf l) {s t : K}
    (hs : 0 ≤ s) (ht : 0 ≤ t) (low : power s (Nat.succ n) ≤ lowOf l) (high : power t (Nat.succ n) ≤ highOf l) :
    power (s + t) (Nat.succ n) ≤ jointOf l := by
  have d := joint_nonneg l h
  cases full_or_zero l h with
  | inr z =>
    rw [z.left] at low
    rw [z.right] at high
    rw [zero_of_power hs _ low, zero_of_power ht _ high, show power ((0 : K) + 0) (Nat.succ n) = power (0 + 0) n * (0 + 0) from rfl,
      add_zero, mul_zero]
    exact d
  | inl full =>
    by_cases k : power (s + t) (Nat.succ n) ≤ jointOf l
    · exact k
    · have above : jointOf l < power (s + t) (Nat.succ n) := k
      apply absurd _ (lt_irrefl (numeral (pairsOf l) * (s + t)))
      obtain ⟨e, he⟩ := many
      have total := shares_total l full
      have size1 := length_low l
      have size2 := length_high l
      have p := listTotal_nonneg _ (low_nonneg l h full)
      have q := listTotal_nonneg _ (high_nonneg l h full)
      have some : (0 : K) < numeral (Nat.succ n + e) := by
        rw [Nat.succ_add]
        exact numeral_pos (n + e)
      rw [low_shares l full] at low
      rw [high_shares l full] at high
      rw [← he] at total size1 size2
      rw [← he]
      have most1 : listTotal (lowShares l) ≤ numeral (Nat.succ n + e) := by
        have j := add_le_add (le_refl (listTotal (lowShares l))) q
        rw [add_zero, total] at j
        exact j
      have most2 : listTotal (highShares l) ≤ numeral (Nat.succ n + e) := by
        have j := add_le_add p (le_refl (listTotal (highShares l)))
        rw [zero_add, total] at j
        exact j
      have one := share_bound _ (low_nonneg l h full) (Nat.succ n) e size1 most1 some d low
      have two := share_bound _ (high_nonneg l h full) (Nat.succ n) e size2 most2 some d high
      generalize listTotal (lowShares l) = x at one p total
      generalize listTotal (highShares l) = y at two q total
      generalize (numeral (Nat.succ n + e) : K) = c at some one two total
      have w := add_nonneg hs ht
      rw [show c * (s + t) = c * s + c * t from mul_add c s t,
        show c * s + c * t < c * s + c * t ↔ c * s + c * t < (s + t) * x + (s + t) * y from by
          rw [← mul_add (s + t), total, mul_comm (s + t), mul_add]
          exact Iff.refl _]
      by_cases z : x = 0
      · have strict : (0 : K) < y := by
          rw [z, zero_add] at total
          rw [total]
          exact some
        rw [add_comm (c * s), add_comm ((s + t) * x)]
        exact add_lt_add (share_strict n w strict above two) (share_weak n w p above one)
      · have strict : 0 < x := lt_of_le_of_ne p (fun q => z q.symm)
        exact add_lt_add (share_strict n w strict above one) (share_weak n w q above two)

/-! ## Sums: Hölder's inequality for products of N factors, without roots -/
/-- One factor of a bound along a loop: a function to be summed, or a constant. -/
inductive Piece (K : Type u) where
  | summed (b : Nat → K)
  | kept (c : K)
def pieceAt (i : Nat) : List (Piece K) → K
  | .nil => 1
  | .cons (.summed b) l => b i * pieceAt i l
  | .cons (.kept c) l => c * pieceAt i l
def pieceSum (n : Nat) : List (Piece K) → K
  | .nil => 1
  | .cons (.summed b) l => sum n b * pieceSum n l
  | .cons (.kept c) l => c * pieceSum n l
def pieceCount : List (Piece K) → Nat
  | .nil => 0
  | .cons (.summed _) l => Nat.succ (pieceCount l)
  | .cons (.kept _) l => pieceCount l
def PiecesNonneg : List (Piece K) → Prop
  | .nil => True
  | .cons (.summed b) l => (∀ i, 0 ≤ b i) ∧ PiecesNonneg l
  | .cons (.kept c) l => 0 ≤ c ∧ PiecesNonneg l
def itemsOf (n : Nat) : List (Piece K) → List (Item K)
  | .nil => .nil
  | .cons (.summed b) l => .pair (sum n b) (b n) :: itemsOf n l
  | .cons (.kept c) l => .still c :: itemsOf n l
theorem items_low (n : Nat) : ∀ l : List (Piece K), lowOf (itemsOf n l) = pieceSum n l
  | .nil => rfl
  | .cons (.summed b) l => congrArg (fun x => sum n b * x) (items_low n l)
  | .cons (.kept c) l => congrArg (fun x => c * x) (items_low n l)
theorem items_high (n : Nat) : ∀ l : List (Piece K), highOf (itemsOf n l) = pieceAt n l
  | .nil => rfl
  | .cons (.summed b) l => congrArg (fun x => b n * x) (items_high n l)
  | .cons (.kept c) l => congrArg (fun x => c * x) (items_high n l)
theorem items_joint (n : Nat) : ∀ l : List (Piece K), jointOf (itemsOf n l) = pieceSum (Nat.succ n) l
  | .nil => rfl
  | .cons (.summed b) l => congrArg (fun x => (sum n b + b n) * x) (items_joint n l)
  | .cons (.kept c) l => congrArg (fun x => c * x) (items_joint n l)
theorem items_pairs (n : Nat) : ∀ l : List (Piece K), pairsOf (itemsOf n l) = pieceCount l
  | .nil => rfl
  | .cons (.summed _) l => congrArg Nat.succ (items_pairs n l)
  | .cons (.kept _) l => items_pairs n l
theorem items_nonneg (n : Nat) : ∀ l : List (Piece K), PiecesNonneg l → ItemsNonneg (itemsOf n l)
  | .nil, _ => trivial
  | .cons (.summed _) l, h => ⟨sum_nonneg h.left, h.left n, items_nonneg n l h.right⟩
  | .cons (.kept _) l, h => ⟨h.left, items_nonneg n l h.right⟩
theorem pieceSum_nonneg (n : Nat) : ∀ l : List (Piece K), PiecesNonneg l → 0 ≤ pieceSum n l
  | .nil, _ => zero_le_one
  | .cons (.summed _) l, h => mul_nonneg (sum_nonneg h.left) (pieceSum_nonneg n l h.right)
  | .cons (.kept _) l, h => mul_nonneg h.left (pieceSum_nonneg n l h.right)
theorem holder (l : List (Piece K)) (h : PiecesNonneg l) (m : Nat) (many : Nat.succ m ≤ pieceCount l) (s : Nat → K)
    (hs : ∀ i, 0 ≤ s i) (bound : ∀ i, power (s i) (Nat.succ m) ≤ pieceAt i l) (n : Nat) :
    power (sum n s) (Nat.succ m) ≤ pieceSum n l := by
  induction n with
  | zero =>
    show power (0 : K) m * 0 ≤ _
    rw [mul_zero]
    exact pieceSum_nonneg 0 l h
  | succ n ih =>
    rw [← items_joint n l]
    apply superadditive _ (items_nonneg n l h) m (by
      rw [items_pairs]
      exact many) (sum_nonneg hs) (hs n)
    · rw [items_low]
      exact ih
    · rw [items_high]
      exact bound n
end
end Tang
