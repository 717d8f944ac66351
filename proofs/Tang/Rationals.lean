prelude
import Tang.Integers
import Tang.Cone
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Rationals — the rationals as an ordered field, and 2ⁿ : Z → Q as an exponential -/
set_option autoImplicit false
noncomputable section
namespace Tang

namespace Z
/-- A positive integer. -/
def Pos (z : Z) : Prop := ∃ k, z = ofNat (Nat.succ k)
theorem pos_mul {a b : Z} (h : Pos a) (k : Pos b) : Pos (a * b) := by
  obtain ⟨n, hn⟩ := h
  obtain ⟨m, hm⟩ := k
  exact ⟨Nat.succ n * m + n, by rw [hn, hm, ← ofNat_mul]
                                rfl⟩
theorem pos_one : Pos 1 := ⟨0, rfl⟩
theorem nat_mul_cancel {a b n : Nat} (h : a * Nat.succ n = b * Nat.succ n) : a = b := by
  cases Nat.le_total a b with
  | inl k =>
    obtain ⟨x, hx⟩ := k
    rw [← hx, add_mul] at h
    have z : x * Nat.succ n = 0 := Nat.add_right_cancel (a * Nat.succ n) (by
      rw [Nat.add_comm, ← h, Nat.zero_add])
    rw [← hx, Nat.eq_zero_of_add (a := x * n) z, Nat.add_zero]
  | inr k =>
    obtain ⟨x, hx⟩ := k
    rw [← hx, add_mul] at h
    have z : x * Nat.succ n = 0 := Nat.add_right_cancel (b * Nat.succ n) (by
      rw [Nat.add_comm, h, Nat.zero_add])
    rw [← hx, Nat.eq_zero_of_add (a := x * n) z, Nat.add_zero]
theorem mul_cancel {a b c : Z} (hc : Pos c) (h : a * c = b * c) : a = b := by
  obtain ⟨n, hn⟩ := hc
  rw [hn] at h
  clear hn
  induction a using ind with
  | h a =>
    induction b using ind with
    | h b =>
      have e : a.pos * Nat.succ n + a.neg * 0 + (b.pos * 0 + b.neg * Nat.succ n)
        = b.pos * Nat.succ n + b.neg * 0 + (a.pos * 0 + a.neg * Nat.succ n) := exact h
      apply Quot.sound
      show a.pos + b.neg = b.pos + a.neg
      apply nat_mul_cancel (n := n)
      calc (a.pos + b.neg) * Nat.succ n
        _ = a.pos * Nat.succ n + a.neg * 0 + (b.pos * 0 + b.neg * Nat.succ n) :=
            semiring_eq [a.pos, b.neg, b.pos, a.neg, Nat.succ n] (by rfl)
        _ = b.pos * Nat.succ n + b.neg * 0 + (a.pos * 0 + a.neg * Nat.succ n) := e
        _ = (b.pos + a.neg) * Nat.succ n := semiring_eq [a.pos, b.neg, b.pos, a.neg, Nat.succ n] (by rfl)
theorem square_pos {z : Z} (h : z ≠ 0) : Pos (z * z) := by
  cases total z with
  | inl k =>
    obtain ⟨n, hn⟩ := k
    cases n with
    | zero => exact absurd hn h
    | succ n =>
      rw [hn]
      exact pos_mul ⟨n, rfl⟩ ⟨n, rfl⟩
  | inr k =>
    obtain ⟨n, hn⟩ := k
    have e : z * z = -z * -z := ring_eq [z] (by rfl)
    cases n with
    | zero =>
      apply absurd _ h
      rw [← Ring.neg_neg z, hn]
      rfl
    | succ n =>
      rw [e, hn]
      exact pos_mul ⟨n, rfl⟩ ⟨n, rfl⟩
end Z

/-- A fraction with a positive denominator. -/
structure Frac where
  num : Z
  den : Z
  pos : Z.Pos den
namespace Frac
theorem ext {a b : Frac} (h : a.num = b.num) (k : a.den = b.den) : a = b := by
  cases a
  cases b
  cases h
  cases k
  rfl
def Same (a b : Frac) : Prop := a.num * b.den = b.num * a.den
theorem refl (a : Frac) : Same a a := rfl
theorem symm {a b : Frac} (h : Same a b) : Same b a := Eq.symm h
theorem trans {a b c : Frac} (h : Same a b) (k : Same b c) : Same a c := by
  apply Z.mul_cancel b.pos
  have h' : a.num * b.den = b.num * a.den := h
  have k' : b.num * c.den = c.num * b.den := k
  calc a.num * c.den * b.den
    _ = a.num * b.den * c.den := ring_eq [a.num, c.den, b.den] (by rfl)
    _ = b.num * c.den * a.den := by
        rw [h']
        exact ring_eq [b.num, c.den, a.den] (by rfl)
    _ = c.num * b.den * a.den := by rw [k']
    _ = c.num * a.den * b.den := ring_eq [c.num, b.den, a.den] (by rfl)
def add (a b : Frac) : Frac := ⟨a.num * b.den + b.num * a.den, a.den * b.den, Z.pos_mul a.pos b.pos⟩
def mul (a b : Frac) : Frac := ⟨a.num * b.num, a.den * b.den, Z.pos_mul a.pos b.pos⟩
def neg (a : Frac) : Frac := ⟨-a.num, a.den, a.pos⟩
def inv (a : Frac) : Frac :=
  if h : a.num = 0 then ⟨0, 1, Z.pos_one⟩ else ⟨a.num * a.den, a.num * a.num, Z.square_pos h⟩
theorem add_same {a a' b b' : Frac} (h : Same a a') (k : Same b b') : Same (add a b) (add a' b') := by
  have h' : a.num * a'.den = a'.num * a.den := h
  have k' : b.num * b'.den = b'.num * b.den := k
  show (a.num * b.den + b.num * a.den) * (a'.den * b'.den)
    = (a'.num * b'.den + b'.num * a'.den) * (a.den * b.den)
  calc (a.num * b.den + b.num * a.den) * (a'.den * b'.den)
    _ = a.num * a'.den * (b.den * b'.den) + b.num * b'.den * (a.den * a'.den) :=
        ring_eq [a.num, b.den, b.num, a.den, a'.den, b'.den] (by rfl)
    _ = a'.num * a.den * (b.den * b'.den) + b'.num * b.den * (a.den * a'.den) := by rw [h', k']
    _ = (a'.num * b'.den + b'.num * a'.den) * (a.den * b.den) :=
        ring_eq [a'.num, b.den, b'.num, a.den, a'.den, b'.den] (by rfl)
theorem mul_same {a a' b b' : Frac} (h : Same a a') (k : Same b b') : Same (mul a b) (mul a' b') := by
  have h' : a.num * a'.den = a'.num * a.den := h
  have k' : b.num * b'.den = b'.num * b.den := k
  show a.num * b.num * (a'.den * b'.den) = a'.num * b'.num * (a.den * b.den)
  calc a.num * b.num * (a'.den * b'.den)
    _ = (a.num * a'.den) * (b.num * b'.den) := ring_eq [a.num, b.num, a'.den, b'.den] (by rfl)
    _ = (a'.num * a.den) * (b'.num * b.den) := by rw [h', k']
    _ = a'.num * b'.num * (a.den * b.den) := ring_eq [a'.num, b'.num, a.den, b.den] (by rfl)
theorem neg_same {a b : Frac} (h : Same a b) : Same (neg a) (neg b) := by
  have h' : a.num * b.den = b.num * a.den := h
  show -a.num * b.den = -b.num * a.den
  rw [neg_mul, neg_mul, h']
theorem zero_same {a b : Frac} (h : Same a b) (k : a.num = 0) : b.num = 0 := by
  apply Z.mul_cancel a.pos
  have h' : a.num * b.den = b.num * a.den := h
  rw [← h', k, zero_mul, zero_mul]
theorem inv_same {a b : Frac} (h : Same a b) : Same (inv a) (inv b) := by
  have h' : a.num * b.den = b.num * a.den := h
  unfold inv
  by_cases k : a.num = 0
  · have j : b.num = 0 := zero_same h k
    rw [dif_pos k, dif_pos j]
    exact refl _
  · have j : ¬ b.num = 0 := fun j => k (zero_same (symm h) j)
    rw [dif_neg k, dif_neg j]
    show a.num * a.den * (b.num * b.num) = b.num * b.den * (a.num * a.num)
    calc a.num * a.den * (b.num * b.num)
      _ = a.num * b.num * (b.num * a.den) := ring_eq [a.num, a.den, b.num] (by rfl)
      _ = a.num * b.num * (a.num * b.den) := by rw [h']
      _ = b.num * b.den * (a.num * a.num) := ring_eq [a.num, b.den, b.num] (by rfl)
end Frac

/-- The rationals. -/
def Q : Type := Quot Frac.Same
namespace Q
def mk (a : Frac) : Q := Quot.mk Frac.Same a
theorem exact {a b : Frac} (h : mk a = mk b) : Frac.Same a b := related Frac.refl Frac.symm Frac.trans h
theorem ind {p : Q → Prop} (h : ∀ a, p (mk a)) (q : Q) : p q := Quot.ind h q
def invert : Q → Q := Quot.lift (fun a => mk a.inv) (fun _ _ h => Quot.sound (Frac.inv_same h))
instance ring : CommRing Q where
  add := lift₂ Frac.refl Frac.add Frac.add_same
  mul := lift₂ Frac.refl Frac.mul Frac.mul_same
  neg := Quot.lift (fun a => mk a.neg) (fun _ _ h => Quot.sound (Frac.neg_same h))
  zero := mk ⟨0, 1, Z.pos_one⟩
  one := mk ⟨1, 1, Z.pos_one⟩
  add_assoc := ind (fun a => ind (fun b => ind (fun c => congrArg mk (Frac.ext
    (ring_eq [a.num, a.den, b.num, b.den, c.num, c.den] (by rfl) :
      (a.num * b.den + b.num * a.den) * c.den + c.num * (a.den * b.den)
        = a.num * (b.den * c.den) + (b.num * c.den + c.num * b.den) * a.den)
    (mul_assoc a.den b.den c.den)))))
  add_comm := ind (fun a => ind (fun b => congrArg mk (Frac.ext (add_comm (a.num * b.den) (b.num * a.den))
    (mul_comm a.den b.den))))
  add_zero := ind (fun a => congrArg mk (Frac.ext
    (ring_eq [a.num, a.den] (by rfl) : a.num * 1 + 0 * a.den = a.num) (mul_one a.den)))
  mul_assoc := ind (fun a => ind (fun b => ind (fun c => congrArg mk (Frac.ext
    (mul_assoc a.num b.num c.num) (mul_assoc a.den b.den c.den)))))
  mul_comm := ind (fun a => ind (fun b => congrArg mk (Frac.ext (mul_comm a.num b.num)
    (mul_comm a.den b.den))))
  mul_one := ind (fun a => congrArg mk (Frac.ext (mul_one a.num) (mul_one a.den)))
  mul_zero := ind (fun a => Quot.sound (by
    show a.num * 0 * 1 = 0 * (a.den * 1)
    exact ring_eq [a.num, a.den] (by rfl)))
  mul_add := ind (fun a => ind (fun b => ind (fun c => Quot.sound (by
    show a.num * (b.num * c.den + c.num * b.den) * (a.den * b.den * (a.den * c.den))
      = (a.num * b.num * (a.den * c.den) + a.num * c.num * (a.den * b.den)) * (a.den * (b.den * c.den))
    exact ring_eq [a.num, a.den, b.num, b.den, c.num, c.den] (by rfl)))))
  add_neg := ind (fun a => Quot.sound (by
    show (a.num * a.den + -a.num * a.den) * 1 = 0 * (a.den * a.den)
    exact ring_eq [a.num, a.den] (by rfl)))
/-- What is not negative. -/
def NonNeg (q : Q) : Prop := ∃ a, q = mk a ∧ Z.NonNeg a.num
theorem nonNeg_mk {a : Frac} (h : NonNeg (mk a)) : Z.NonNeg a.num := by
  obtain ⟨b, hb, k⟩ := h
  have e : a.num * b.den = b.num * a.den := exact hb
  cases Z.total a.num with
  | inl j => exact j
  | inr j =>
    obtain ⟨n, hn⟩ := j
    obtain ⟨m, hm⟩ := k
    obtain ⟨x, hx⟩ := a.pos
    obtain ⟨y, hy⟩ := b.pos
    have f : -(Z.ofNat (m * Nat.succ x)) = Z.ofNat (n * Nat.succ y) := by
      rw [Z.ofNat_mul, Z.ofNat_mul, ← hn, ← hm, ← hx, ← hy, ← e]
      exact ring_eq [a.num, b.den] (by rfl)
    have z : m * Nat.succ x = 0 := Z.ofNat_pointed f
    have s : a.num = 0 := by
      apply Z.mul_cancel b.pos
      rw [e, hm, hx, ← Z.ofNat_mul, z, zero_mul]
      rfl
    exact ⟨0, s⟩
instance decNonNeg (q : Q) : Decidable (NonNeg q) :=
  match h : Quot.lift (r := Frac.Same) (fun a => Z.test a.num) (fun a b h => by
    by_cases k : Z.NonNeg a.num
    · rw [(Z.test_iff _).mpr k, (Z.test_iff _).mpr (nonNeg_mk ⟨a, (Quot.sound h).symm, k⟩)]
    · have j : ¬ Z.NonNeg b.num := fun j => k (nonNeg_mk ⟨b, Quot.sound h, j⟩)
      rw [Z.test_false k, Z.test_false j]) q with
  | .true => .isTrue (by
      induction q using ind with
      | h a => exact ⟨a, rfl, (Z.test_iff _).mp h⟩)
  | .false => .isFalse (fun k => by
      induction q using ind with
      | h a => exact nomatch h.symm.trans ((Z.test_iff _).mpr (nonNeg_mk k)))
instance ordered : OrderedRing Q := orderOfCone ring NonNeg decNonNeg
  (fun h => nomatch (Z.exact (exact h) : 0 + 0 = 1 + 0))
  ⟨⟨0, 1, Z.pos_one⟩, rfl, ⟨0, rfl⟩⟩
  (fun h k => by
    obtain ⟨a, ha, n, hn⟩ := h
    obtain ⟨b, hb, m, hm⟩ := k
    obtain ⟨x, hx⟩ := a.pos
    obtain ⟨y, hy⟩ := b.pos
    refine ⟨Frac.add a b, by rw [ha, hb]
                             rfl, n * Nat.succ y + m * Nat.succ x, ?_⟩
    show a.num * b.den + b.num * a.den = _
    rw [Z.ofNat_add, Z.ofNat_mul, Z.ofNat_mul, ← hn, ← hm, ← hx, ← hy])
  (fun h k => by
    obtain ⟨a, ha, n, hn⟩ := h
    obtain ⟨b, hb, m, hm⟩ := k
    refine ⟨Frac.mul a b, by rw [ha, hb]
                             rfl, n * m, ?_⟩
    show a.num * b.num = _
    rw [Z.ofNat_mul, ← hn, ← hm])
  (fun h k => by
    obtain ⟨a, ha, n, hn⟩ := h
    rw [ha] at k
    obtain ⟨m, hm⟩ := nonNeg_mk (a := a.neg) k
    have e : -a.num = Z.ofNat m := hm
    rw [hn] at e
    rw [ha]
    apply Quot.sound
    show a.num * 1 = 0 * a.den
    rw [hn, Z.ofNat_pointed e, zero_mul, mul_one]
    rfl)
  (ind (fun a => (Z.total a.num).elim (fun h => .inl ⟨a, rfl, h⟩) (fun h => .inr ⟨a.neg, rfl, h⟩)))
instance field : OrderedField Q where
  inv := invert
  mul_inv := by
    intro q
    induction q using ind with
    | h a =>
      intro h
      have k : ¬ a.num = 0 := fun k => h (Quot.sound (by
        show a.num * 1 = 0 * a.den
        rw [k, zero_mul, zero_mul]))
      show mk (Frac.mul a a.inv) = mk ⟨1, 1, Z.pos_one⟩
      unfold Frac.inv
      rw [dif_neg k]
      apply Quot.sound
      show a.num * (a.num * a.den) * 1 = 1 * (a.den * (a.num * a.num))
      exact ring_eq [a.num, a.den] (by rfl)

/-! ## 2ⁿ -/
def two : Nat → Nat
  | .zero => 1
  | .succ n => two n + two n
theorem two_add (a b : Nat) : two (a + b) = two a * two b := by
  induction b with
  | zero => exact (mul_one (two a)).symm
  | succ b ih =>
    show two (a + b) + two (a + b) = two a * (two b + two b)
    rw [ih, mul_add]
theorem two_pos (n : Nat) : Z.Pos (Z.ofNat (two n)) := by
  induction n with
  | zero => exact Z.pos_one
  | succ n ih =>
    obtain ⟨k, hk⟩ := ih
    refine ⟨k + Nat.succ k, ?_⟩
    show Z.ofNat (two n + two n) = _
    rw [Z.ofNat_add, hk, ← Z.ofNat_add, Nat.succ_add]
/-- `2 ^ (pos - neg)` as a fraction. -/
def power (d : Diff) : Frac := ⟨Z.ofNat (two d.pos), Z.ofNat (two d.neg), two_pos d.neg⟩
def exp2 : Z → Q := Quot.lift (fun d => mk (power d)) (fun a b h => Quot.sound (by
  have h' : a.pos + b.neg = b.pos + a.neg := h
  show Z.ofNat (two a.pos) * Z.ofNat (two b.neg) = Z.ofNat (two b.pos) * Z.ofNat (two a.neg)
  rw [← Z.ofNat_mul, ← Z.ofNat_mul, ← two_add, ← two_add, h']))
/-- The exponential with base two, from the integers to the rationals. -/
instance exponential : Exponential Z Q where
  exp := exp2
  exp_add := Z.ind (fun a => Z.ind (fun b => congrArg mk (Frac.ext
    (show Z.ofNat (two (a.pos + b.pos)) = Z.ofNat (two a.pos) * Z.ofNat (two b.pos) from by
      rw [two_add, Z.ofNat_mul])
    (show Z.ofNat (two (a.neg + b.neg)) = Z.ofNat (two a.neg) * Z.ofNat (two b.neg) from by
      rw [two_add, Z.ofNat_mul]))))
  exp_pos := Z.ind (fun a => by
    intro h
    have k : NonNeg (0 - mk (power a)) := h
    have j : Z.NonNeg (0 * Z.ofNat (two a.neg) + -Z.ofNat (two a.pos) * 1) := nonNeg_mk k
    obtain ⟨n, hn⟩ := j
    obtain ⟨m, hm⟩ := two_pos a.pos
    rw [zero_mul, zero_add, mul_one] at hn
    have z := Z.ofNat_pointed hn
    rw [z] at hm
    exact nomatch Z.ofNat_inj hm)
end Q
end Tang
