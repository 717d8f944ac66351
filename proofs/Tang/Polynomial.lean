prelude
import Tang.Fold
import Tang.LP
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Polynomial — laws of a combine whose entries are polynomials, decided by the kernel.

A combine is a list of polynomials over the entries of two states. `decide +kernel` evaluates
`associates`, `commutes` or `fixes`, and the theorems below make laws of that. What the kernel
evaluates is written with recursors, which it reduces several times faster than equations. Only
*soundness* is proved; the order of monomials needs no proof. -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

/-- Lets `decide` evaluate a check. -/
instance decBool (b : Bool) : Decidable (b = true) :=
  match b with
  | .true => .isTrue rfl
  | .false => .isFalse (fun h => nomatch h)

/-! ## Combines of states with numbered entries, over anything with the operations of a ring -/
section
variable {R : Type u} [Zero R]
/-- Entry `i` of a list; zero beyond its end. -/
def nth : List R → Nat → R
  | .nil, _ => 0
  | .cons a _, .zero => a
  | .cons _ l, .succ i => nth l i
/-- The combine whose entries are the elements of `f s t`. -/
def combineBy (f : (Nat → R) → (Nat → R) → List R) (s t : Nat → R) : Nat → R := nth (f s t)
/-- The constants `e` on either side leave the first `n` entries of a state as they are. -/
def IdentityBelow (n : Nat) (f : (Nat → R) → (Nat → R) → List R) (e : List R) : Prop :=
  ∀ (s : Nat → R) (i : Nat), i < n → combineBy f (nth e) s i = s i ∧ combineBy f s (nth e) i = s i
end

namespace Polynomial
/-- A polynomial over the entries of a left and a right state. -/
inductive P where
  | left (i : Nat)
  | right (i : Nat)
  | zero
  | one
  | add (a b : P)
  | mul (a b : P)
  | neg (a : P)
instance addP : Add P := ⟨.add⟩
instance mulP : Mul P := ⟨.mul⟩
instance negP : Neg P := ⟨.neg⟩
instance zeroP : Zero P := ⟨.zero⟩
instance oneP : One P := ⟨.one⟩
/-- Entry `i` of a list; zero beyond its end. -/
def entry (c : List P) : Nat → P :=
  List.rec (motive := fun _ => Nat → P) (fun _ => .zero)
    (fun e _ rest i => Nat.rec (motive := fun _ => P) e (fun j _ => rest j) i) c

/-! ## Meaning: what the polynomials of a list are for two states, unfolded fast by `rfl` -/
section
variable {K : Type u} [CommRing K]
def eval (s t : Nat → K) (e : P) : K :=
  P.rec (motive := fun _ => K) s t 0 1 (fun _ _ a b => a + b) (fun _ _ a b => a * b) (fun _ a => -a) e
def values (s t : Nat → K) (c : List P) : List K :=
  List.rec (motive := fun _ => List K) .nil (fun e _ rest => eval s t e :: rest) c
end

/-! ## Normal forms: sorted terms, each a sorted list of variables and a whole coefficient -/
/-- `up - down` times the variables in `mono`; terms are sorted by `key` first, which nothing rests on. -/
structure Term where
  mono : List Nat
  up : Nat
  down : Nat
  key : Nat
inductive Place where
  | before
  | same
  | after
def insert (i : Nat) (m : List Nat) : List Nat :=
  List.rec (motive := fun _ => List Nat) [i]
    (fun j m rest => Bool.rec (motive := fun _ => List Nat) (j :: rest) (i :: j :: m) (Nat.ble i j)) m
def times (l m : List Nat) : List Nat :=
  List.rec (motive := fun _ => List Nat) m (fun i _ rest => insert i rest) l
def order (l : List Nat) : List Nat → Place :=
  List.rec (motive := fun _ => List Nat → Place)
    (fun m => List.rec (motive := fun _ => Place) .same (fun _ _ _ => .before) m)
    (fun a _ rest m => List.rec (motive := fun _ => Place) .after
      (fun b m _ => Bool.rec (motive := fun _ => Place)
        (Bool.rec (motive := fun _ => Place) .after .before (Nat.ble a b)) (rest m) (Nat.beq a b)) m) l
/-- Keys first: the kernel compares them at once, and looks at variables only where keys are equal. -/
def compare (t u : Term) : Place :=
  Bool.rec (motive := fun _ => Place) (Bool.rec (motive := fun _ => Place) .after .before (Nat.ble t.key u.key))
    (order t.mono u.mono) (Nat.beq t.key u.key)
def join (t u : Term) : Term := ⟨t.mono, Nat.add t.up u.up, Nat.add t.down u.down, t.key⟩
def merge (p : List Term) : List Term → List Term :=
  List.rec (motive := fun _ => List Term → List Term) (fun q => q)
    (fun t p rest q => List.rec (motive := fun _ => List Term) (t :: p)
      (fun u q under => Place.rec (motive := fun _ => List Term) (t :: rest (u :: q)) (join t u :: rest q)
        (u :: under) (compare t u)) q) p
def multiply (t u : Term) : Term :=
  ⟨times t.mono u.mono, Nat.add (Nat.mul t.up u.up) (Nat.mul t.down u.down),
    Nat.add (Nat.mul t.up u.down) (Nat.mul t.down u.up), Nat.add t.key u.key⟩
def scale (t : Term) (p : List Term) : List Term :=
  List.rec (motive := fun _ => List Term) .nil (fun u _ rest => merge [multiply t u] rest) p
def product (p q : List Term) : List Term :=
  List.rec (motive := fun _ => List Term) .nil (fun t _ rest => merge (scale t q) rest) p
def negate (p : List Term) : List Term :=
  List.rec (motive := fun _ => List Term) .nil (fun t _ rest => ⟨t.mono, t.down, t.up, t.key⟩ :: rest) p
/-- The normal form of a polynomial, from those of its variables. -/
def norm (l r : Nat → List Term) (e : P) : List Term :=
  P.rec (motive := fun _ => List Term) l r .nil [⟨.nil, 1, 0, 0⟩] (fun _ _ a b => merge a b)
    (fun _ _ a b => product a b) (fun _ a => negate a) e
/-- Whether all coefficients are zero. -/
def cancels (p : List Term) : Bool :=
  List.rec (motive := fun _ => Bool) true
    (fun t _ rest => Bool.rec (motive := fun _ => Bool) false rest (Nat.beq t.up t.down)) p
def same (a b : List Term) : Bool := cancels (merge a (negate b))

/-! ## The checks. Entry `i` of the first, second and third state is variable 3 i, 3 i + 1, 3 i + 2 -/
def cube (i : Nat) : Nat := Nat.mul i (Nat.mul i i)
/-- The polynomial that is one variable. Keys add up under multiplication; sums of few ninth powers tell them apart. -/
def alone (i : Nat) : List Term := [⟨[i], 1, 0, cube (cube (Nat.succ i))⟩]
def first (i : Nat) : List Term := alone (Nat.mul 3 i)
def second (i : Nat) : List Term := alone (Nat.succ (Nat.mul 3 i))
def third (i : Nat) : List Term := alone (Nat.succ (Nat.succ (Nat.mul 3 i)))
/-- Whether a check holds of every element of a list. -/
def every (f : P → Bool) (l : List P) : Bool :=
  List.rec (motive := fun _ => Bool) true
    (fun e _ rest => Bool.rec (motive := fun _ => Bool) false rest (f e)) l
/-- Whether a check holds of every number below `n`. -/
def below (f : Nat → Bool) (n : Nat) : Bool :=
  Nat.rec (motive := fun _ => Bool) true
    (fun i rest => Bool.rec (motive := fun _ => Bool) false rest (f i)) n
/-- Whether `e` is the same of a combined left state and the third as of the first and a combined right state. -/
def balanced (st tr : Nat → List Term) (e : P) : Bool := same (norm st third e) (norm first tr e)
def associatesAt (c : List P) (e : P) : Bool :=
  balanced (fun i => norm first second (entry c i)) (fun i => norm second third (entry c i)) e
def associates (c : List P) : Bool := every (associatesAt c) c
def commutes (c : List P) : Bool := every (fun e => same (norm first second e) (norm second first e)) c
/-- No variable: constants have none. -/
def absent (_ : Nat) : List Term := .nil
def constant (e : List P) (i : Nat) : List Term := norm absent absent (entry e i)
/-- Whether the constants `e` on the left, and on the right, leave the first `n` entries as they are. -/
def fixes (c e : List P) (n : Nat) : Bool :=
  below (fun i => Bool.rec (motive := fun _ => Bool) false
    (same (norm first (constant e) (entry c i)) (first i))
    (same (norm (constant e) first (entry c i)) (first i))) n

/-! ## Soundness -/
theorem nope {Q : Prop} (h : Bool.false = Bool.true) : Q := nomatch h
theorem either {α : Type u} (Q : α → Prop) (c : Bool) {a b : α} (ha : Q a) (hb : Q b) :
    Q (Bool.rec (motive := fun _ => α) a b c) :=
  match c with
  | .false => ha
  | .true => hb
theorem placed {α : Type u} (Q : α → Prop) (c : Place) {a b d : α} (ha : Q a) (hb : c = .same → Q b) (hd : Q d) :
    Q (Place.rec (motive := fun _ => α) a b d c) :=
  match c with
  | .before => ha
  | .same => hb rfl
  | .after => hd
theorem both_true {c d : Bool} : Bool.rec (motive := fun _ => Bool) false d c = true → c = true ∧ d = true :=
  match c with
  | .false => fun h => nomatch h
  | .true => fun h => ⟨rfl, h⟩
theorem order_head {a b : Nat} {c : Place} :
    Bool.rec (motive := fun _ => Place) (Bool.rec (motive := fun _ => Place) .after .before (Nat.ble a b)) c
      (Nat.beq a b) = .same → Nat.beq a b = true ∧ c = .same := by
  cases Nat.beq a b with
  | false =>
    cases Nat.ble a b with
    | false => exact fun h => nomatch h
    | true => exact fun h => nomatch h
  | true => exact fun h => ⟨rfl, h⟩
theorem order_same : ∀ l m, order l m = .same → l = m
  | .nil, .nil => fun _ => rfl
  | .nil, .cons _ _ => fun h => nomatch h
  | .cons _ _, .nil => fun h => nomatch h
  | .cons a l, .cons b m => fun h => by
      have k := order_head h
      rw [Ring.natEq a b k.left, order_same l m k.right]
theorem compare_same {t u : Term} (h : compare t u = .same) : t.mono = u.mono :=
  order_same _ _ (order_head h).right

section
variable {K : Type u} [CommRing K] (σ : Nat → K)
def evM : List Nat → K
  | .nil => 1
  | .cons i m => σ i * evM m
def evT (t : Term) : K := (numeral t.up - numeral t.down) * evM σ t.mono
def evP : List Term → K
  | .nil => 0
  | .cons t p => evT σ t + evP p
theorem evM_insert (i : Nat) : ∀ m, evM σ (insert i m) = σ i * evM σ m
  | .nil => rfl
  | .cons j m => either (fun l => evM σ l = σ i * evM σ (j :: m)) (Nat.ble i j) (by
      show σ j * evM σ (insert i m) = _
      rw [evM_insert i m, mul_left_comm]
      rfl) rfl
theorem evM_times : ∀ l m, evM σ (times l m) = evM σ l * evM σ m
  | .nil, m => (one_mul _).symm
  | .cons i l, m => by
      show evM σ (insert i (times l m)) = σ i * evM σ l * evM σ m
      rw [evM_insert, evM_times l m, mul_assoc]
theorem evT_join {t u : Term} (h : t.mono = u.mono) : evT σ (join t u) = evT σ t + evT σ u := by
  show (numeral (t.up + u.up) - numeral (t.down + u.down)) * evM σ t.mono = _
  rw [numeral_add, numeral_add, ← Ring.sub_add_comm, add_mul]
  unfold evT
  rw [h]
theorem evT_multiply (t u : Term) : evT σ (multiply t u) = evT σ t * evT σ u := by
  show (numeral (t.up * u.up + t.down * u.down) - numeral (t.up * u.down + t.down * u.up))
    * evM σ (times t.mono u.mono) = _
  rw [numeral_add, numeral_add, numeral_mul, numeral_mul, numeral_mul, numeral_mul, ← Ring.sub_mul_sub, evM_times]
  unfold evT
  rw [mul_assoc, mul_assoc, mul_left_comm (numeral u.up - numeral u.down)]
theorem evP_merge (p : List Term) : ∀ q, evP σ (merge p q) = evP σ p + evP σ q := by
  induction p with
  | nil => exact fun q => (zero_add _).symm
  | cons t p ih =>
    intro q
    induction q with
    | nil => exact (add_zero _).symm
    | cons u q under =>
      exact placed (fun l => evP σ l = evP σ (t :: p) + evP σ (u :: q)) (compare t u)
        (by
          show evT σ t + evP σ (merge p (u :: q)) = evT σ t + evP σ p + evP σ (u :: q)
          rw [ih, add_assoc])
        (fun h => by
          show evT σ (join t u) + evP σ (merge p q) = evT σ t + evP σ p + (evT σ u + evP σ q)
          rw [ih, evT_join σ (compare_same h), add_assoc, add_assoc, add_left_comm (evT σ u)])
        (by
          show evT σ u + evP σ (merge (t :: p) q) = evP σ (t :: p) + (evT σ u + evP σ q)
          rw [under, add_left_comm])
theorem evP_scale (t : Term) : ∀ p, evP σ (scale t p) = evT σ t * evP σ p
  | .nil => (mul_zero _).symm
  | .cons u p => by
      show evP σ (merge [multiply t u] (scale t p)) = evT σ t * (evT σ u + evP σ p)
      rw [evP_merge, evP_scale t p, mul_add, ← evT_multiply]
      exact congrArg (fun x => x + _) (add_zero _)
theorem evP_product : ∀ p q, evP σ (product p q) = evP σ p * evP σ q
  | .nil, q => (zero_mul _).symm
  | .cons t p, q => by
      show evP σ (merge (scale t q) (product p q)) = (evT σ t + evP σ p) * evP σ q
      rw [evP_merge, evP_scale, evP_product p q, add_mul]
theorem evP_negate : ∀ p, evP σ (negate p) = -evP σ p
  | .nil => by
      show (0 : K) = -0
      rw [← add_zero (-(0 : K)), neg_add]
  | .cons t p => by
      show (numeral t.down - numeral t.up) * evM σ t.mono + evP σ (negate p) = -(evT σ t + evP σ p)
      rw [evP_negate p, Ring.neg_add_distrib, ← Ring.sub_eq_neg_sub, neg_mul]
      rfl
theorem evP_cancels : ∀ p, cancels p = true → evP σ p = 0
  | .nil => fun _ => rfl
  | .cons t p => fun h => by
      have k := both_true h
      show (numeral t.up - numeral t.down) * evM σ t.mono + evP σ p = 0
      rw [Ring.natEq _ _ k.left, sub_self, zero_mul, zero_add, evP_cancels p k.right]
theorem same_sound {a b : List Term} (h : same a b = true) : evP σ a = evP σ b := by
  apply eq_of_sub_eq_zero
  rw [sub_eq, ← evP_negate, ← evP_merge]
  exact evP_cancels σ _ h
theorem evP_alone (i : Nat) : evP σ (alone i) = σ i := by
  show (numeral 1 - numeral 0) * (σ i * 1) + 0 = σ i
  rw [show (numeral 1 : K) = 0 + 1 from rfl, show (numeral 0 : K) = 0 from rfl, zero_add, sub_zero, one_mul, mul_one,
    add_zero]
theorem evP_absent (i : Nat) : evP σ (absent i) = 0 := rfl

theorem norm_sound (l r : Nat → List Term) (s t : Nat → K) (hl : ∀ i, evP σ (l i) = s i)
    (hr : ∀ i, evP σ (r i) = t i) : ∀ e, evP σ (norm l r e) = eval s t e
  | .left i => hl i
  | .right i => hr i
  | .zero => rfl
  | .one => by
      show (numeral 1 - numeral 0) * (1 : K) + 0 = 1
      rw [show (numeral 1 : K) = 0 + 1 from rfl, show (numeral 0 : K) = 0 from rfl, zero_add, sub_zero, one_mul,
        add_zero]
  | .add a b => by
      show evP σ (merge _ _) = eval s t a + eval s t b
      rw [evP_merge, ← norm_sound l r s t hl hr a, ← norm_sound l r s t hl hr b]
      rfl
  | .mul a b => by
      show evP σ (product _ _) = eval s t a * eval s t b
      rw [evP_product, ← norm_sound l r s t hl hr a, ← norm_sound l r s t hl hr b]
      rfl
  | .neg a => by
      show evP σ (negate _) = -eval s t a
      rw [evP_negate, ← norm_sound l r s t hl hr a]
      rfl
end

/-! ## Three states in one -/
/-- Entry `i` of the three states at 3 i, 3 i + 1 and 3 i + 2. -/
def mix {K : Type u} (s t r : Nat → K) (n : Nat) : K :=
  Nat.rec (motive := fun _ => (Nat → K) → (Nat → K) → (Nat → K) → K) (fun s _ _ => s .zero)
    (fun _ rest s t r => rest t r (fun i => s (Nat.succ i))) n s t r
theorem mix_first {K : Type u} (i : Nat) : ∀ s t r : Nat → K, mix s t r (Nat.mul 3 i) = s i := by
  induction i with
  | zero => exact fun _ _ _ => rfl
  | succ i ih => exact fun s t r => ih (fun i => s (Nat.succ i)) (fun i => t (Nat.succ i)) (fun i => r (Nat.succ i))
section
variable {K : Type u} [CommRing K]
theorem evP_first (s t r : Nat → K) (i : Nat) : evP (mix s t r) (first i) = s i := by
  rw [← mix_first i s t r]
  exact evP_alone _ _
theorem evP_second (s t r : Nat → K) (i : Nat) : evP (mix s t r) (second i) = t i := by
  rw [← mix_first i t r (fun j => s (Nat.succ j))]
  exact evP_alone _ _
theorem evP_third (s t r : Nat → K) (i : Nat) : evP (mix s t r) (third i) = r i := by
  rw [← mix_first i r (fun j => s (Nat.succ j)) (fun j => t (Nat.succ j))]
  exact evP_alone _ _

/-! ## Laws -/
theorem every_sound {f : P → Bool} {Q : P → Prop} (zero : Q .zero) (step : ∀ e, f e = true → Q e) :
    ∀ l, every f l = true → ∀ i, Q (entry l i)
  | .nil => fun _ _ => zero
  | .cons e l => fun h i => by
      have k := both_true h
      cases i with
      | zero => exact step e k.left
      | succ i => exact every_sound zero step l k.right i
theorem below_sound {f : Nat → Bool} (n : Nat) (h : below f n = true) : ∀ i, i < n → f i = true := by
  induction n with
  | zero => exact fun i k => absurd k (Nat.not_lt_zero i)
  | succ n ih =>
    intro i k
    have both := both_true h
    cases Nat.lt_or_ge i n with
    | inl less => exact ih both.right i less
    | inr more =>
      rw [Nat.le_antisymm (Nat.le_of_lt_succ k) more]
      exact both.left
theorem nth_values (s t : Nat → K) : ∀ (c : List P) (i : Nat), nth (values s t c) i = eval s t (entry c i)
  | .nil, _ => rfl
  | .cons _ _, .zero => rfl
  | .cons _ c, .succ i => nth_values s t c i
theorem balanced_sound (s t r : Nat → K) {x y : Nat → K} {st tr : Nat → List Term} (hx : ∀ i, evP (mix s t r) (st i) = x i)
    (hy : ∀ i, evP (mix s t r) (tr i) = y i) (e : P) (k : balanced st tr e = true) : eval x r e = eval s y e := by
  have same := same_sound (mix s t r) k
  rw [norm_sound _ _ _ _ _ hx (evP_third s t r), norm_sound _ _ _ _ _ (evP_first s t r) hy] at same
  exact same
section
variable {f : (Nat → K) → (Nat → K) → List K} {c : List P}
theorem combineBy_eval (means : ∀ s t, f s t = values s t c) (s t : Nat → K) (i : Nat) : combineBy f s t i = eval s t (entry c i) := by
  show nth (f s t) i = _
  rw [means, nth_values]
/-- The polynomial `e` is the same of `s t` and `r` as of `s` and `t r`. -/
def AssociativeAt (f : (Nat → K) → (Nat → K) → List K) (e : P) : Prop :=
  ∀ s t r, eval (combineBy f s t) r e = eval s (combineBy f t r) e
theorem associatesAt_sound (means : ∀ s t, f s t = values s t c) (e : P) (k : associatesAt c e = true) : AssociativeAt f e := by
  intro s t r
  refine balanced_sound s t r (fun j => ?_) (fun j => ?_) e k
  · rw [combineBy_eval means]
    exact norm_sound _ _ _ _ _ (evP_first s t r) (evP_second s t r) _
  · rw [combineBy_eval means]
    exact norm_sound _ _ _ _ _ (evP_second s t r) (evP_third s t r) _
theorem associative_at (means : ∀ s t, f s t = values s t c) (h : ∀ i, AssociativeAt f (entry c i)) :
    Associative (combineBy f) := by
  intro s t r
  apply funext
  intro i
  rw [combineBy_eval means, combineBy_eval means]
  exact h i s t r
/-- A combine whose polynomials pass `associates` is associative. -/
theorem associative (means : ∀ s t, f s t = values s t c) (h : associates c = true) : Associative (combineBy f) :=
  associative_at means (every_sound (Q := AssociativeAt f) (fun _ _ _ => rfl) (associatesAt_sound means) c h)
/-- A combine whose polynomials pass `commutes` is commutative. -/
theorem commutative (means : ∀ s t, f s t = values s t c) (h : commutes c = true) : Commutative (combineBy f) := by
  intro s t
  apply funext
  intro i
  rw [combineBy_eval means, combineBy_eval means]
  apply every_sound (Q := fun e => eval s t e = eval t s e) rfl _ c h i
  intro e k
  have same := same_sound (mix s t t) k
  rw [norm_sound _ _ _ _ _ (evP_first s t t) (evP_second s t t),
    norm_sound _ _ _ _ _ (evP_second s t t) (evP_first s t t)] at same
  exact same
theorem constant_means {g : List K} {e : List P} (constants : g = values (fun _ => 0) (fun _ => 0) e) (s : Nat → K)
    (j : Nat) : evP (mix s s s) (constant e j) = nth g j := by
  rw [constants, nth_values]
  exact norm_sound (mix s s s) absent absent _ _ (evP_absent _) (evP_absent _) _
/-- Constants that pass `fixes` are an identity for states of `n` entries. -/
theorem identity (means : ∀ s t, f s t = values s t c) {g : List K} {e : List P} (n : Nat)
    (constants : g = values (fun _ => 0) (fun _ => 0) e) (h : fixes c e n = true) : IdentityBelow n f g := by
  intro s i k
  have both := both_true (below_sound n h i k)
  have left := same_sound (mix s s s) both.left
  have right := same_sound (mix s s s) both.right
  rw [norm_sound _ _ _ _ _ (constant_means constants s) (evP_first s s s), evP_first] at left
  rw [norm_sound _ _ _ _ _ (evP_first s s s) (constant_means constants s), evP_first] at right
  rw [combineBy_eval means, combineBy_eval means]
  exact ⟨left, right⟩
end
end
end Polynomial
end Tang
