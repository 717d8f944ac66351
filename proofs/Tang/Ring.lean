prelude
import Tang.Algebra
import Tang.Core
import Tang.Syntax
/-! # Tang.Ring — equality of expressions in commutative rings and semirings, by reflection.

`ring_eq [x, y, z] (by rfl)` proves `a = b` when both sides, read as polynomials in the listed
atoms, have the same normal form.  A polynomial is a pair (positive part, negative part) of sorted
lists of monomials, a monomial a sorted list of atom numbers; coefficients are repetitions.
Only *soundness* is proved; the sorting order needs no proof. `semiring_eq` does the same where
there is no negation, in particular over the natural numbers. -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

namespace Ring
/-- Syntax of ring expressions; `var i` is the `i`-th atom. -/
inductive E where
  | var (i : Nat)
  | zero
  | one
  | add (a b : E)
  | mul (a b : E)
  | neg (a : E)
  | sub (a b : E)

/-! ## The normaliser (plain structural recursion, evaluated by the kernel) -/
def leMono : List Nat → List Nat → Bool
  | .nil, _ => true
  | .cons _ _, .nil => false
  | .cons a as, .cons b bs => cond (Nat.beq a b) (leMono as bs) (Nat.ble a b)
def insVar (i : Nat) : List Nat → List Nat
  | .nil => [i]
  | .cons j m => cond (Nat.ble i j) (i :: j :: m) (j :: insVar i m)
def mulMono : List Nat → List Nat → List Nat
  | .nil, m => m
  | .cons i l, m => insVar i (mulMono l m)
def insMono (m : List Nat) : List (List Nat) → List (List Nat)
  | .nil => [m]
  | .cons a p => cond (leMono m a) (m :: a :: p) (a :: insMono m p)
def addP : List (List Nat) → List (List Nat) → List (List Nat)
  | .nil, q => q
  | .cons m p, q => insMono m (addP p q)
def mulMonoP (m : List Nat) : List (List Nat) → List (List Nat)
  | .nil => .nil
  | .cons a p => insMono (mulMono m a) (mulMonoP m p)
def mulP : List (List Nat) → List (List Nat) → List (List Nat)
  | .nil, _ => .nil
  | .cons m p, q => addP (mulMonoP m q) (mulP p q)
structure PN where
  pos : List (List Nat)
  neg : List (List Nat)
def norm : E → PN
  | .var i => ⟨[[i]], .nil⟩
  | .zero => ⟨.nil, .nil⟩
  | .one => ⟨[.nil], .nil⟩
  | .add a b => ⟨addP (norm a).pos (norm b).pos, addP (norm a).neg (norm b).neg⟩
  | .mul a b => ⟨addP (mulP (norm a).pos (norm b).pos) (mulP (norm a).neg (norm b).neg),
                 addP (mulP (norm a).pos (norm b).neg) (mulP (norm a).neg (norm b).pos)⟩
  | .neg a => ⟨(norm a).neg, (norm a).pos⟩
  | .sub a b => ⟨addP (norm a).pos (norm b).neg, addP (norm a).neg (norm b).pos⟩
def eqL : List Nat → List Nat → Bool
  | .nil, .nil => true
  | .cons a as, .cons b bs => cond (Nat.beq a b) (eqL as bs) false
  | _, _ => false
def eqP : List (List Nat) → List (List Nat) → Bool
  | .nil, .nil => true
  | .cons a as, .cons b bs => cond (eqL a b) (eqP as bs) false
  | _, _ => false
def check (a b : E) : Bool :=
  eqP (addP (norm a).pos (norm b).neg) (addP (norm b).pos (norm a).neg)

/-! ## Meaning -/
section
variable {K : Type u} [CommSemiring K]
def get : List K → Nat → K
  | .nil, _ => 0
  | .cons a _, .zero => a
  | .cons _ l, .succ n => get l n
def evM (ρ : List K) : List Nat → K
  | .nil => 1
  | .cons i m => get ρ i * evM ρ m
def evP (ρ : List K) : List (List Nat) → K
  | .nil => 0
  | .cons m p => evM ρ m + evP ρ p

/-! ## Soundness -/
theorem cond_elim {α : Type u} (P : α → Prop) (c : Bool) {a b : α} (ha : P a) (hb : P b) : P (cond c a b) :=
  match c with | true => ha | false => hb
theorem evM_insVar (ρ : List K) (i : Nat) : ∀ m, evM ρ (insVar i m) = get ρ i * evM ρ m
  | .nil => rfl
  | .cons j m => cond_elim (fun l => evM ρ l = get ρ i * evM ρ (j :: m)) (Nat.ble i j) rfl (by
      show get ρ j * evM ρ (insVar i m) = _
      rw [evM_insVar ρ i m, mul_left_comm]
      rfl)
theorem evM_mul (ρ : List K) : ∀ l m, evM ρ (mulMono l m) = evM ρ l * evM ρ m
  | .nil, m => (one_mul _).symm
  | .cons i l, m => by
      show evM ρ (insVar i (mulMono l m)) = get ρ i * evM ρ l * evM ρ m
      rw [evM_insVar, evM_mul ρ l m, mul_assoc]
theorem evP_insMono (ρ : List K) (m : List Nat) : ∀ p, evP ρ (insMono m p) = evM ρ m + evP ρ p
  | .nil => rfl
  | .cons a p => cond_elim (fun l => evP ρ l = evM ρ m + evP ρ (a :: p)) (leMono m a) rfl (by
      show evM ρ a + evP ρ (insMono m p) = _
      rw [evP_insMono ρ m p, add_left_comm]
      rfl)
theorem evP_add (ρ : List K) : ∀ p q, evP ρ (addP p q) = evP ρ p + evP ρ q
  | .nil, q => (zero_add _).symm
  | .cons m p, q => by
      show evP ρ (insMono m (addP p q)) = evM ρ m + evP ρ p + evP ρ q
      rw [evP_insMono, evP_add ρ p q, add_assoc]
theorem evP_mulMono (ρ : List K) (m : List Nat) : ∀ p, evP ρ (mulMonoP m p) = evM ρ m * evP ρ p
  | .nil => (mul_zero _).symm
  | .cons a p => by
      show evP ρ (insMono (mulMono m a) (mulMonoP m p)) = evM ρ m * (evM ρ a + evP ρ p)
      rw [evP_insMono, evP_mulMono ρ m p, evM_mul, mul_add]
theorem evP_mul (ρ : List K) : ∀ p q, evP ρ (mulP p q) = evP ρ p * evP ρ q
  | .nil, q => (zero_mul _).symm
  | .cons m p, q => by
      show evP ρ (addP (mulMonoP m q) (mulP p q)) = (evM ρ m + evP ρ p) * evP ρ q
      rw [evP_add, evP_mulMono, evP_mul ρ p q, add_mul]

end

section
variable {K : Type u} [CommRing K]
def eval (ρ : List K) : E → K
  | .var i => get ρ i
  | .zero => 0
  | .one => 1
  | .add a b => eval ρ a + eval ρ b
  | .mul a b => eval ρ a * eval ρ b
  | .neg a => -eval ρ a
  | .sub a b => eval ρ a - eval ρ b
theorem neg_add_distrib (a b : K) : -(a + b) = -a + -b := by
  apply Eq.symm
  apply neg_unique
  rw [add_assoc, add_left_comm b, add_neg, add_zero, add_neg]
theorem neg_neg (a : K) : -(-a) = a := (neg_unique (neg_add a)).symm
theorem mul_neg (a b : K) : a * -b = -(a * b) := by rw [mul_comm, neg_mul, mul_comm]
theorem sub_add_comm (a b c d : K) : (a - b) + (c - d) = (a + c) - (b + d) := by
  rw [sub_eq, sub_eq, sub_eq, neg_add_distrib, add_assoc, add_assoc, add_left_comm (-b)]
theorem sub_mul_sub (a b c d : K) : (a - b) * (c - d) = (a * c + b * d) - (a * d + b * c) := by
  rw [sub_eq, sub_eq, sub_eq, neg_add_distrib, mul_add, add_mul, add_mul, mul_neg, mul_neg, neg_mul, neg_mul,
    neg_neg, add_assoc, add_assoc, ← add_assoc (-(b * c)), add_comm (-(b * c) + -(a * d)), add_comm (-(b * c))]
theorem sub_eq_neg_sub (a b : K) : -(a - b) = b - a := by
  rw [sub_eq, sub_eq, neg_add_distrib, neg_neg, add_comm]

theorem sound (ρ : List K) : ∀ e, eval ρ e = evP ρ (norm e).pos - evP ρ (norm e).neg
  | .var i => by
      show get ρ i = (get ρ i * 1 + 0) - 0
      rw [mul_one, add_zero, sub_eq, ← add_zero (-(0:K)), neg_add, add_zero]
  | .zero => (sub_self _).symm
  | .one => by
      show (1:K) = (1 + 0) - 0
      rw [add_zero, sub_eq, ← add_zero (-(0:K)), neg_add, add_zero]
  | .add a b => by
      show eval ρ a + eval ρ b = evP ρ (addP _ _) - evP ρ (addP _ _)
      rw [evP_add, evP_add, sound ρ a, sound ρ b, sub_add_comm]
  | .mul a b => by
      show eval ρ a * eval ρ b = evP ρ (addP (mulP _ _) (mulP _ _)) - evP ρ (addP (mulP _ _) (mulP _ _))
      rw [evP_add, evP_add, evP_mul, evP_mul, evP_mul, evP_mul, sound ρ a, sound ρ b, sub_mul_sub]
  | .neg a => by
      show -eval ρ a = _
      rw [sound ρ a, sub_eq_neg_sub]
      rfl
  | .sub a b => by
      show eval ρ a - eval ρ b = evP ρ (addP _ _) - evP ρ (addP _ _)
      rw [evP_add, evP_add, sound ρ a, sound ρ b, ← sub_add_comm, sub_eq, sub_eq_neg_sub]

theorem natEq : ∀ a b : Nat, Nat.beq a b = true → a = b
  | .zero, .zero => fun _ => rfl
  | .zero, .succ _ => fun h => nomatch h
  | .succ _, .zero => fun h => nomatch h
  | .succ a, .succ b => fun h => congrArg Nat.succ (natEq a b h)
theorem cond_and {c d : Bool} : cond c d false = true → c = true ∧ d = true :=
  match c with
  | true => fun h => ⟨rfl, h⟩
  | false => fun h => nomatch h
theorem eqL_sound : ∀ a b, eqL a b = true → a = b
  | .nil, .nil => fun _ => rfl
  | .nil, .cons _ _ => fun h => nomatch h
  | .cons _ _, .nil => fun h => nomatch h
  | .cons a as, .cons b bs => fun h => by
      have h2 := cond_and h
      rw [natEq a b h2.left, eqL_sound as bs h2.right]
theorem eqP_sound : ∀ a b, eqP a b = true → a = b
  | .nil, .nil => fun _ => rfl
  | .nil, .cons _ _ => fun h => nomatch h
  | .cons _ _, .nil => fun h => nomatch h
  | .cons a as, .cons b bs => fun h => by
      have h2 := cond_and h
      rw [eqL_sound a b h2.left, eqP_sound as bs h2.right]

theorem sub_eq_sub {a b c d : K} (h : a + d = c + b) : a - b = c - d := by
  apply add_cancel (b + d)
  rw [sub_eq, sub_eq, add_assoc, ← add_assoc (-b), neg_add, zero_add, h, add_assoc, add_left_comm (-d), neg_add, add_zero]
/-- The reflection principle. -/
theorem check_sound (ρ : List K) (a b : E) (h : check a b = true) : eval ρ a = eval ρ b := by
  rw [sound ρ a, sound ρ b]
  apply sub_eq_sub
  rw [← evP_add, ← evP_add, eqP_sound _ _ h]

/-! ## Reading a goal back into syntax: type-class search does it, no meta-program needed -/
class Atom {K : Type u} [CommSemiring K] (ρ : List K) (a : K) (n : outParam Nat) : Prop where
  eq : get ρ n = a
instance atomHere {K : Type u} [CommSemiring K] (a : K) (ρ : List K) : Atom (a :: ρ) a .zero := ⟨rfl⟩
instance (priority := 900) atomThere {K : Type u} [CommSemiring K] (a b : K) (ρ : List K) (n : Nat) [h : Atom ρ a n] : Atom (b :: ρ) a n.succ := ⟨h.eq⟩
class Reify (ρ : List K) (a : K) (e : outParam E) : Prop where
  eq : eval ρ e = a
instance (priority := 100) reifyVar (ρ : List K) (a : K) (n : Nat) [h : Atom ρ a n] : Reify ρ a (.var n) := ⟨h.eq⟩
instance reifyZero (ρ : List K) : Reify ρ 0 .zero := ⟨rfl⟩
instance reifyOne (ρ : List K) : Reify ρ 1 .one := ⟨rfl⟩
instance reifyAdd (ρ : List K) (a b : K) (x y : E) [ha : Reify ρ a x] [hb : Reify ρ b y] :
    Reify ρ (a + b) (.add x y) :=
  ⟨by
    show eval ρ x + eval ρ y = _
    rw [ha.eq, hb.eq]⟩
instance reifyMul (ρ : List K) (a b : K) (x y : E) [ha : Reify ρ a x] [hb : Reify ρ b y] :
    Reify ρ (a * b) (.mul x y) :=
  ⟨by
    show eval ρ x * eval ρ y = _
    rw [ha.eq, hb.eq]⟩
instance reifySub (ρ : List K) (a b : K) (x y : E) [ha : Reify ρ a x] [hb : Reify ρ b y] :
    Reify ρ (a - b) (.sub x y) :=
  ⟨by
    show eval ρ x - eval ρ y = _
    rw [ha.eq, hb.eq]⟩
instance reifyNeg (ρ : List K) (a : K) (x : E) [ha : Reify ρ a x] : Reify ρ (-a) (.neg x) :=
  ⟨by
    show -eval ρ x = _
    rw [ha.eq]⟩
end

/-! ## The same without negation -/
section
variable {K : Type u} [CommSemiring K]
/-- The positive part of the normal form; a negation, which a semiring lacks, is read as nothing. -/
def normS : E → List (List Nat)
  | .var i => [[i]]
  | .zero => .nil
  | .one => [.nil]
  | .add a b => addP (normS a) (normS b)
  | .mul a b => mulP (normS a) (normS b)
  | .neg a => normS a
  | .sub a b => addP (normS a) (normS b)
def evalS (ρ : List K) : E → K
  | .var i => get ρ i
  | .zero => 0
  | .one => 1
  | .add a b => evalS ρ a + evalS ρ b
  | .mul a b => evalS ρ a * evalS ρ b
  | .neg a => evalS ρ a
  | .sub a b => evalS ρ a + evalS ρ b
theorem soundS (ρ : List K) : ∀ e, evalS ρ e = evP ρ (normS e)
  | .var i => by
      show get ρ i = get ρ i * 1 + 0
      rw [mul_one, add_zero]
  | .zero => rfl
  | .one => (add_zero 1).symm
  | .add a b => by
      show evalS ρ a + evalS ρ b = evP ρ (addP _ _)
      rw [evP_add, soundS ρ a, soundS ρ b]
  | .mul a b => by
      show evalS ρ a * evalS ρ b = evP ρ (mulP _ _)
      rw [evP_mul, soundS ρ a, soundS ρ b]
  | .neg a => soundS ρ a
  | .sub a b => by
      show evalS ρ a + evalS ρ b = evP ρ (addP _ _)
      rw [evP_add, soundS ρ a, soundS ρ b]
class ReifyS (ρ : List K) (a : K) (e : outParam E) : Prop where
  eq : evalS ρ e = a
instance (priority := 100) reifySVar (ρ : List K) (a : K) (n : Nat) [h : Atom ρ a n] : ReifyS ρ a (.var n) := ⟨h.eq⟩
instance reifySZero (ρ : List K) : ReifyS ρ 0 .zero := ⟨rfl⟩
instance reifySOne (ρ : List K) : ReifyS ρ 1 .one := ⟨rfl⟩
instance reifySAdd (ρ : List K) (a b : K) (x y : E) [ha : ReifyS ρ a x] [hb : ReifyS ρ b y] :
    ReifyS ρ (a + b) (.add x y) :=
  ⟨by
    show evalS ρ x + evalS ρ y = _
    rw [ha.eq, hb.eq]⟩
instance reifySMul (ρ : List K) (a b : K) (x y : E) [ha : ReifyS ρ a x] [hb : ReifyS ρ b y] :
    ReifyS ρ (a * b) (.mul x y) :=
  ⟨by
    show evalS ρ x * evalS ρ y = _
    rw [ha.eq, hb.eq]⟩
end
end Ring

/-- `ring_eq [x, y] (by rfl) : (x + y) * (x - y) = x * x - y * y`. -/
theorem ring_eq {K : Type u} [CommRing K] (ρ : List K) {a b : K} {x y : Ring.E}
    [ha : Ring.Reify ρ a x] [hb : Ring.Reify ρ b y] (h : Ring.check x y = true) : a = b := by
  rw [← ha.eq, ← hb.eq]
  exact Ring.check_sound ρ x y h

/-- `semiring_eq [x, y] (by rfl) : (x + y) * x = x * x + y * x`. -/
theorem semiring_eq {K : Type u} [CommSemiring K] (ρ : List K) {a b : K} {x y : Ring.E}
    [ha : Ring.ReifyS ρ a x] [hb : Ring.ReifyS ρ b y]
    (h : Ring.eqP (Ring.normS x) (Ring.normS y) = true) : a = b := by
  rw [← ha.eq, ← hb.eq, Ring.soundS, Ring.soundS, Ring.eqP_sound _ _ h]
end Tang
