prelude
import Tang.Fold
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

/-! ## Meaning -/
section
variable {K : Type u} [CommRing K]
def eval (s t : Nat → K) : P → K
  | .left i => s i
  | .right i => t i
  | .zero => 0
  | .one => 1
  | .add a b => eval s t a + eval s t b
  | .mul a b => eval s t a * eval s t b
  | .neg a => -eval s t a
def values (s t : Nat → K) : List P → List K
  | .nil => .nil
  | .cons e c => eval s t e :: values s t c
end

/-! ## Normal forms: a monomial is a sorted list of variables, a polynomial sorted monomials -/
def insert (i : Nat) (m : List Nat) : List Nat :=
  List.rec (motive := fun _ => List Nat) [i]
    (fun j m rest => Bool.rec (motive := fun _ => List Nat) (j :: rest) (i :: j :: m) (Nat.ble i j)) m
def times (l m : List Nat) : List Nat :=
  List.rec (motive := fun _ => List Nat) m (fun i _ rest => insert i rest) l
def before (l : List Nat) : List Nat → Bool :=
  List.rec (motive := fun _ => List Nat → Bool) (fun _ => true)
    (fun a _ rest m => List.rec (motive := fun _ => Bool) false
      (fun b m _ => Bool.rec (motive := fun _ => Bool) (Nat.ble a b) (rest m) (Nat.beq a b)) m) l
def merge (p : List (List Nat)) : List (List Nat) → List (List Nat) :=
  List.rec (motive := fun _ => List (List Nat) → List (List Nat)) (fun q => q)
    (fun m p rest q => List.rec (motive := fun _ => List (List Nat)) (m :: p)
      (fun n q under => Bool.rec (motive := fun _ => List (List Nat)) (n :: under)
        (m :: rest (n :: q)) (before m n)) q) p
def scale (m : List Nat) (p : List (List Nat)) : List (List Nat) :=
  List.rec (motive := fun _ => List (List Nat)) .nil (fun n _ rest => merge [times m n] rest) p
def product (p q : List (List Nat)) : List (List Nat) :=
  List.rec (motive := fun _ => List (List Nat)) .nil (fun m _ rest => merge (scale m q) rest) p
/-- A polynomial as a difference of two without negations. -/
structure Pair where
  pos : List (List Nat)
  neg : List (List Nat)
def plus (a b : Pair) : Pair := ⟨merge a.pos b.pos, merge a.neg b.neg⟩
def multiply (a b : Pair) : Pair :=
  ⟨merge (product a.pos b.pos) (product a.neg b.neg), merge (product a.pos b.neg) (product a.neg b.pos)⟩
/-- The normal form of a polynomial, from those of its variables. -/
def norm (l r : Nat → Pair) (e : P) : Pair :=
  P.rec (motive := fun _ => Pair) l r ⟨.nil, .nil⟩ ⟨[.nil], .nil⟩ (fun _ _ a b => plus a b)
    (fun _ _ a b => multiply a b) (fun _ a => ⟨a.neg, a.pos⟩) e
def sameList (l : List Nat) : List Nat → Bool :=
  List.rec (motive := fun _ => List Nat → Bool)
    (fun m => List.rec (motive := fun _ => Bool) true (fun _ _ _ => false) m)
    (fun a _ rest m => List.rec (motive := fun _ => Bool) false
      (fun b m _ => Bool.rec (motive := fun _ => Bool) false (rest m) (Nat.beq a b)) m) l
def sameLists (p : List (List Nat)) : List (List Nat) → Bool :=
  List.rec (motive := fun _ => List (List Nat) → Bool)
    (fun q => List.rec (motive := fun _ => Bool) true (fun _ _ _ => false) q)
    (fun l _ rest q => List.rec (motive := fun _ => Bool) false
      (fun m q _ => Bool.rec (motive := fun _ => Bool) false (rest q) (sameList l m)) q) p
def same (a b : Pair) : Bool := sameLists (merge a.pos b.neg) (merge b.pos a.neg)

/-! ## The checks. Entry `i` of the first, second and third state is variable 3 i, 3 i + 1, 3 i + 2 -/
def first (i : Nat) : Pair := ⟨[[Nat.mul 3 i]], .nil⟩
def second (i : Nat) : Pair := ⟨[[Nat.succ (Nat.mul 3 i)]], .nil⟩
def third (i : Nat) : Pair := ⟨[[Nat.succ (Nat.succ (Nat.mul 3 i))]], .nil⟩
/-- Whether a check holds of every element of a list. -/
def every (f : P → Bool) (l : List P) : Bool :=
  List.rec (motive := fun _ => Bool) true
    (fun e _ rest => Bool.rec (motive := fun _ => Bool) false rest (f e)) l
/-- Whether a check holds of every number below `n`. -/
def below (f : Nat → Bool) (n : Nat) : Bool :=
  Nat.rec (motive := fun _ => Bool) true
    (fun i rest => Bool.rec (motive := fun _ => Bool) false rest (f i)) n
def associates (c : List P) : Bool :=
  every (fun e => same (norm (fun i => norm first second (entry c i)) third e)
    (norm first (fun i => norm second third (entry c i)) e)) c
def commutes (c : List P) : Bool := every (fun e => same (norm first second e) (norm second first e)) c
def absent (_ : Nat) : Pair := ⟨.nil, .nil⟩
def constant (e : List P) (i : Nat) : Pair := norm absent absent (entry e i)
/-- Whether the constants `e` on the left, and on the right, leave the first `n` entries as they are. -/
def fixes (c e : List P) (n : Nat) : Bool :=
  below (fun i => Bool.rec (motive := fun _ => Bool) false
    (same (norm first (constant e) (entry c i)) (first i))
    (same (norm (constant e) first (entry c i)) (first i))) n

/-! ## Soundness -/
theorem either {α : Type u} (Q : α → Prop) (c : Bool) {a b : α} (ha : Q a) (hb : Q b) :
    Q (Bool.rec (motive := fun _ => α) a b c) :=
  match c with
  | .false => ha
  | .true => hb
theorem both_true {c d : Bool} : Bool.rec (motive := fun _ => Bool) false d c = true → c = true ∧ d = true :=
  match c with
  | .false => fun h => nomatch h
  | .true => fun h => ⟨rfl, h⟩

section
variable {K : Type u} [CommRing K] (σ : Nat → K)
def evM : List Nat → K
  | .nil => 1
  | .cons i m => σ i * evM m
def evP : List (List Nat) → K
  | .nil => 0
  | .cons m p => evM σ m + evP p
def evN (a : Pair) : K := evP σ a.pos - evP σ a.neg
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
theorem evP_merge (p : List (List Nat)) : ∀ q, evP σ (merge p q) = evP σ p + evP σ q := by
  induction p with
  | nil => exact fun q => (zero_add _).symm
  | cons m p ih =>
    intro q
    induction q with
    | nil => exact (add_zero _).symm
    | cons n q under =>
      exact either (fun l => evP σ l = evP σ (m :: p) + evP σ (n :: q)) (before m n)
        (by
          show evM σ n + evP σ (merge (m :: p) q) = evP σ (m :: p) + (evM σ n + evP σ q)
          rw [under, add_left_comm])
        (by
          show evM σ m + evP σ (merge p (n :: q)) = evM σ m + evP σ p + evP σ (n :: q)
          rw [ih, add_assoc])
theorem evP_scale (m : List Nat) : ∀ p, evP σ (scale m p) = evM σ m * evP σ p
  | .nil => (mul_zero _).symm
  | .cons n p => by
      show evP σ (merge [times m n] (scale m p)) = evM σ m * (evM σ n + evP σ p)
      rw [evP_merge, evP_scale m p, mul_add, ← evM_times]
      exact congrArg (fun x => x + _) (add_zero _)
theorem evP_product : ∀ p q, evP σ (product p q) = evP σ p * evP σ q
  | .nil, q => (zero_mul _).symm
  | .cons m p, q => by
      show evP σ (merge (scale m q) (product p q)) = (evM σ m + evP σ p) * evP σ q
      rw [evP_merge, evP_scale, evP_product p q, add_mul]
theorem evN_variable (i : Nat) : evN σ ⟨[[i]], .nil⟩ = σ i := by
  show (σ i * 1 + 0) - 0 = σ i
  rw [mul_one, add_zero, sub_zero]
theorem evN_none (i : Nat) : evN σ (absent i) = 0 := sub_self 0

theorem norm_sound (l r : Nat → Pair) (s t : Nat → K) (hl : ∀ i, evN σ (l i) = s i)
    (hr : ∀ i, evN σ (r i) = t i) : ∀ e, evN σ (norm l r e) = eval s t e
  | .left i => hl i
  | .right i => hr i
  | .zero => sub_self _
  | .one => by
      show ((1 : K) + 0) - 0 = 1
      rw [add_zero, sub_zero]
  | .add a b => by
      show evP σ (merge _ _) - evP σ (merge _ _) = eval s t a + eval s t b
      rw [evP_merge, evP_merge, ← Ring.sub_add_comm, ← norm_sound l r s t hl hr a, ← norm_sound l r s t hl hr b]
      rfl
  | .mul a b => by
      show evP σ (merge (product _ _) (product _ _)) - evP σ (merge (product _ _) (product _ _))
        = eval s t a * eval s t b
      rw [evP_merge, evP_merge, evP_product, evP_product, evP_product, evP_product, ← Ring.sub_mul_sub,
        ← norm_sound l r s t hl hr a, ← norm_sound l r s t hl hr b]
      rfl
  | .neg a => by
      show evP σ _ - evP σ _ = -eval s t a
      rw [← norm_sound l r s t hl hr a]
      exact (Ring.sub_eq_neg_sub _ _).symm

theorem sameList_sound : ∀ l m, sameList l m = true → l = m
  | .nil, .nil => fun _ => rfl
  | .nil, .cons _ _ => fun h => nomatch h
  | .cons _ _, .nil => fun h => nomatch h
  | .cons a l, .cons b m => fun h => by
      have k := both_true h
      rw [Ring.natEq a b k.left, sameList_sound l m k.right]
theorem sameLists_sound : ∀ p q, sameLists p q = true → p = q
  | .nil, .nil => fun _ => rfl
  | .nil, .cons _ _ => fun h => nomatch h
  | .cons _ _, .nil => fun h => nomatch h
  | .cons l p, .cons m q => fun h => by
      have k := both_true h
      rw [sameList_sound l m k.left, sameLists_sound p q k.right]
theorem same_sound {a b : Pair} (h : same a b = true) : evN σ a = evN σ b := by
  apply Ring.sub_eq_sub
  rw [← evP_merge, ← evP_merge, sameLists_sound _ _ h]
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
theorem evN_first (s t r : Nat → K) (i : Nat) : evN (mix s t r) (first i) = s i := by
  rw [← mix_first i s t r]
  exact evN_variable _ _
theorem evN_second (s t r : Nat → K) (i : Nat) : evN (mix s t r) (second i) = t i := by
  rw [← mix_first i t r (fun j => s (Nat.succ j))]
  exact evN_variable _ _
theorem evN_third (s t r : Nat → K) (i : Nat) : evN (mix s t r) (third i) = r i := by
  rw [← mix_first i r (fun j => s (Nat.succ j)) (fun j => t (Nat.succ j))]
  exact evN_variable _ _

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
section
variable {f : (Nat → K) → (Nat → K) → List K} {c : List P}
theorem combineBy_eval (means : ∀ s t, f s t = values s t c) (s t : Nat → K) (i : Nat) : combineBy f s t i = eval s t (entry c i) := by
  show nth (f s t) i = _
  rw [means, nth_values]
/-- A combine whose polynomials pass `associates` is associative. -/
theorem associative (means : ∀ s t, f s t = values s t c) (h : associates c = true) : Associative (combineBy f) := by
  intro s t r
  apply funext
  intro i
  rw [combineBy_eval means, combineBy_eval means]
  apply every_sound (Q := fun e => eval (combineBy f s t) r e = eval s (combineBy f t r) e) rfl _ c h i
  intro e k
  have same := same_sound (mix s t r) k
  have st : ∀ j, evN (mix s t r) (norm first second (entry c j)) = combineBy f s t j := fun j => by
    rw [combineBy_eval means]
    exact norm_sound _ _ _ _ _ (evN_first s t r) (evN_second s t r) _
  have tr : ∀ j, evN (mix s t r) (norm second third (entry c j)) = combineBy f t r j := fun j => by
    rw [combineBy_eval means]
    exact norm_sound _ _ _ _ _ (evN_second s t r) (evN_third s t r) _
  rw [norm_sound _ _ _ _ _ st (evN_third s t r), norm_sound _ _ _ _ _ (evN_first s t r) tr] at same
  exact same
/-- A combine whose polynomials pass `commutes` is commutative. -/
theorem commutative (means : ∀ s t, f s t = values s t c) (h : commutes c = true) : Commutative (combineBy f) := by
  intro s t
  apply funext
  intro i
  rw [combineBy_eval means, combineBy_eval means]
  apply every_sound (Q := fun e => eval s t e = eval t s e) rfl _ c h i
  intro e k
  have same := same_sound (mix s t t) k
  rw [norm_sound _ _ _ _ _ (evN_first s t t) (evN_second s t t),
    norm_sound _ _ _ _ _ (evN_second s t t) (evN_first s t t)] at same
  exact same
/-- Constants that pass `fixes` are an identity for states of `n` entries. -/
theorem identity (means : ∀ s t, f s t = values s t c) {g : List K} {e : List P} (n : Nat)
    (constants : g = values (fun _ => 0) (fun _ => 0) e) (h : fixes c e n = true) : IdentityBelow n f g := by
  intro s i k
  have both := both_true (below_sound n h i k)
  have known : ∀ j, evN (mix s s s) (constant e j) = nth g j := fun j => by
    rw [constants, nth_values]
    exact norm_sound (mix s s s) absent absent _ _ (evN_none _) (evN_none _) _
  have left := same_sound (mix s s s) both.left
  have right := same_sound (mix s s s) both.right
  rw [norm_sound _ _ _ _ _ known (evN_first s s s), evN_first] at left
  rw [norm_sound _ _ _ _ _ (evN_first s s s) known, evN_first] at right
  rw [combineBy_eval means, combineBy_eval means]
  exact ⟨left, right⟩
end
end
end Polynomial
end Tang
