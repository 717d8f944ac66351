prelude
import Tang.Sum
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Fold — reductions over any monoid: split, tiled, tree, permuted, guarded, products -/
set_option autoImplicit false
universe u v w
noncomputable section
namespace Tang

/-- What a combine must satisfy for a reduction to be split. -/
def Associative {α : Type u} (op : α → α → α) : Prop := ∀ a b c, op (op a b) c = op a (op b c)
def Commutative {α : Type u} (op : α → α → α) : Prop := ∀ a b, op a b = op b a
/-- `e` may stand for nothing on either side. -/
def Identity {α : Type u} (op : α → α → α) (e : α) : Prop := ∀ a, op e a = a ∧ op a e = a

/-- `fold op s n f = op (… op (op s (f 0)) (f 1) …) (f (n-1))`: what a loop computes. -/
def fold {α : Type u} (op : α → α → α) (s : α) : Nat → (Nat → α) → α
  | .zero, _ => s
  | .succ n, f => op (fold op s n f) (f n)

section
variable {α : Type u} {β : Type v} {op : α → α → α} {e : α}

theorem fold_zero (s : α) (f : Nat → α) : fold op s 0 f = s := rfl
theorem fold_succ (s : α) (n : Nat) (f : Nat → α) : fold op s (Nat.succ n) f = op (fold op s n f) (f n) := rfl
theorem fold_congr {s : α} {n : Nat} {f g : Nat → α} (h : ∀ i, i < n → f i = g i) :
    fold op s n f = fold op s n g := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [fold_succ, fold_succ, ih (fun i hi => h i (Nat.lt_succ_of_lt hi)), h n (Nat.lt_succ_self n)]
/-- A sum is a fold. -/
theorem sum_eq_fold {K : Type u} [CommSemiring K] (n : Nat) (f : Nat → K) :
    sum n f = fold (fun a b => a + b) 0 n f := by
  induction n with
  | zero => rfl
  | succ n ih => rw [sum_succ, fold_succ, ih]
/-- A loop may be left and entered again. -/
theorem fold_append (s : α) (m k : Nat) (f : Nat → α) :
    fold op s (m + k) f = fold op (fold op s m f) k (fun i => f (m + i)) := by
  induction k with
  | zero => rfl
  | succ k ih => rw [Nat.add_succ, fold_succ, fold_succ, ih]
theorem fold_start (assoc : Associative op) (a s : α) (n : Nat) (f : Nat → α) :
    fold op (op a s) n f = op a (fold op s n f) := by
  induction n with
  | zero => rfl
  | succ n ih => rw [fold_succ, fold_succ, ih, assoc]
/-- Split reduction over any monoid: two partial folds, combined in order. -/
theorem fold_split (assoc : Associative op) (id : Identity op e) (m k : Nat) (f : Nat → α) :
    fold op e (m + k) f = op (fold op e m f) (fold op e k (fun i => f (m + i))) := by
  rw [fold_append, ← fold_start assoc, (id _).right]
/-- Split reduction of a semigroup: every part starts from its own first element. -/
theorem fold_split_semigroup (assoc : Associative op) (m k : Nat) (s : α) (f : Nat → α) :
    fold op s (m + Nat.succ k) f
      = op (fold op s m f) (fold op (f m) k (fun i => f (m + Nat.succ i))) := by
  rw [fold_append, ← fold_start assoc]
  induction k with
  | zero => rfl
  | succ k ih => rw [fold_succ, ih, fold_succ]
/-- Tiled reduction over any monoid. -/
theorem fold_tile (assoc : Associative op) (id : Identity op e) (n m : Nat) (f : Nat → α) :
    fold op e (n * m) f = fold op e n (fun i => fold op e m (fun j => f (i * m + j))) := by
  induction n with
  | zero =>
    rw [show Nat.zero * m = 0 from Nat.zero_mul m]
    rfl
  | succ n ih => rw [Nat.succ_mul, fold_split assoc id, ih, fold_succ]

/-! ## Commutative monoids: any order -/
theorem fold_pair (assoc : Associative op) (comm : Commutative op) (id : Identity op e) (n : Nat)
    (f g : Nat → α) : fold op e n (fun i => op (f i) (g i)) = op (fold op e n f) (fold op e n g) := by
  induction n with
  | zero => exact ((id e).left).symm
  | succ n ih =>
    rw [fold_succ, fold_succ, fold_succ, ih, assoc, ← assoc (fold op e n g), comm (fold op e n g) (f n),
      assoc (f n), ← assoc]
theorem fold_identity (id : Identity op e) (n : Nat) : fold op e n (fun _ => e) = e := by
  induction n with
  | zero => rfl
  | succ n ih => rw [fold_succ, ih, (id e).left]
/-- Fubini for any commutative monoid: loops may be exchanged. -/
theorem fold_comm (assoc : Associative op) (comm : Commutative op) (id : Identity op e) (n m : Nat)
    (f : Nat → Nat → α) :
    fold op e n (fun i => fold op e m (fun j => f i j)) = fold op e m (fun j => fold op e n (fun i => f i j)) := by
  induction n with
  | zero => exact (fold_identity id m).symm
  | succ n ih =>
    rw [fold_succ, ih, ← fold_pair assoc comm id]
    rfl
/-- `Perm l k`: the lists hold the same elements, in any order. -/
inductive Perm {α : Type u} : List α → List α → Prop where
  | nil : Perm .nil .nil
  | cons (a : α) {l k : List α} : Perm l k → Perm (a :: l) (a :: k)
  | swap (a b : α) (l : List α) : Perm (a :: b :: l) (b :: a :: l)
  | trans {l k j : List α} : Perm l k → Perm k j → Perm l j
/-- The fold of a list from the right, ending at `s`. -/
def foldList (op : α → α → α) (s : α) : List α → α
  | .nil => s
  | .cons a l => op a (foldList op s l)
/-- Permuted reduction: a commutative semigroup may be folded in any order. -/
theorem fold_perm (assoc : Associative op) (comm : Commutative op) (s : α) {l k : List α}
    (h : Perm l k) : foldList op s l = foldList op s k := by
  induction h with
  | nil => rfl
  | cons a _ ih => exact congrArg (op a) ih
  | swap a b l =>
    show op a (op b (foldList op s l)) = op b (op a (foldList op s l))
    rw [← assoc, comm a b, assoc]
  | trans _ _ ih₁ ih₂ => exact ih₁.trans ih₂

/-! ## Guards: a point that is excluded contributes nothing -/
/-- The fold over the points that `p` admits. -/
def foldWhere (op : α → α → α) (p : Nat → Prop) [∀ i, Decidable (p i)] (s : α) : Nat → (Nat → α) → α
  | .zero, _ => s
  | .succ n, f => if p n then op (foldWhere op p s n f) (f n) else foldWhere op p s n f
/-- A fold of the fill outside the guard is the fold over the restricted set. -/
theorem fold_where (id : Identity op e) (p : Nat → Prop) [∀ i, Decidable (p i)] (s : α) (n : Nat)
    (f : Nat → α) : fold op s n (fun i => if p i then f i else e) = foldWhere op p s n f := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show op (fold op s n (fun i => if p i then f i else e)) (if p n then f n else e)
      = if p n then op (foldWhere op p s n f) (f n) else foldWhere op p s n f
    rw [ih]
    by_cases h : p n
    · rw [if_pos h, if_pos h]
    · rw [if_neg h, if_neg h, (id _).right]
/-- What is read where the guard fails does not matter. -/
theorem foldWhere_congr {p : Nat → Prop} [∀ i, Decidable (p i)] {s : α} {n : Nat} {f g : Nat → α}
    (h : ∀ i, p i → f i = g i) : foldWhere op p s n f = foldWhere op p s n g := by
  induction n with
  | zero => rfl
  | succ n ih =>
    exact if_congr ⟨fun x => x, fun x => x⟩ (fun k => by rw [ih, h n k]) (fun _ => ih)

/-! ## Homomorphisms and products -/
/-- Whatever respects the combine respects the fold. -/
theorem fold_hom {op' : β → β → β} (h : α → β) (hom : ∀ a b, h (op a b) = op' (h a) (h b)) (s : α)
    (n : Nat) (f : Nat → α) : h (fold op s n f) = fold op' (h s) n (fun i => h (f i)) := by
  induction n with
  | zero => rfl
  | succ n ih => rw [fold_succ, fold_succ, hom, ih]
/-- Two combines side by side. -/
def both (op : α → α → α) (op' : β → β → β) (x y : Prod α β) : Prod α β := ⟨op x.fst y.fst, op' x.snd y.snd⟩
theorem pair_eq {x y : Prod α β} (h : x.fst = y.fst) (k : x.snd = y.snd) : x = y := by
  cases x
  cases y
  cases h
  cases k
  rfl
theorem both_assoc {op' : β → β → β} (h : Associative op) (k : Associative op') :
    Associative (both op op') := fun _ _ _ => pair_eq (h _ _ _) (k _ _ _)
theorem both_comm {op' : β → β → β} (h : Commutative op) (k : Commutative op') :
    Commutative (both op op') := fun _ _ => pair_eq (h _ _) (k _ _)
theorem both_identity {op' : β → β → β} {e' : β} (h : Identity op e) (k : Identity op' e') :
    Identity (both op op') ⟨e, e'⟩ := fun _ =>
  ⟨pair_eq (h _).left (k _).left, pair_eq (h _).right (k _).right⟩
/-- One loop over a product of monoids computes both folds. -/
theorem fold_both (op' : β → β → β) (s : α) (s' : β) (n : Nat) (f : Nat → α) (g : Nat → β) :
    fold (both op op') ⟨s, s'⟩ n (fun i => ⟨f i, g i⟩) = ⟨fold op s n f, fold op' s' n g⟩ := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [fold_succ, ih]
    rfl

/-! ## Substitution and epilogues -/
/-- A map read by a reduction is evaluated inside it. -/
theorem map_reduce {γ : Type w} (body : γ → α) (view : Nat → γ) (s : α) (n : Nat) :
    fold op s n (fun i => (fun j => body j) (view i)) = fold op s n (fun i => body (view i)) := rfl
/-- A map that reads a reduction at its own point runs after the loop. -/
theorem epilogue {γ : Type w} (project : α → β) (s : α) (n : Nat) (f : γ → Nat → α) (p : γ) :
    (fun q => project ((fun r => fold op s n (f r)) q)) p = project (fold op s n (f p)) := rfl

/-! ## The simplest combines -/
theorem add_assoc_law {K : Type u} [CommSemiring K] : Associative (fun a b : K => a + b) := add_assoc
theorem mul_assoc_law {K : Type u} [CommSemiring K] : Associative (fun a b : K => a * b) := mul_assoc
theorem max_assoc_law {A : Type u} [TotalOrder A] : Associative (max (A := A)) := max_assoc
theorem min_assoc_law {A : Type u} [TotalOrder A] : Associative (min (A := A)) := min_assoc
theorem or_assoc_law : Associative or
  | .true, _, _ => rfl
  | .false, _, _ => rfl
theorem and_assoc_law : Associative and
  | .true, _, _ => rfl
  | .false, _, _ => rfl
theorem add_comm_law {K : Type u} [CommSemiring K] : Commutative (fun a b : K => a + b) := add_comm
theorem mul_comm_law {K : Type u} [CommSemiring K] : Commutative (fun a b : K => a * b) := mul_comm
theorem max_comm_law {A : Type u} [TotalOrder A] : Commutative (max (A := A)) := max_comm
theorem min_comm_law {A : Type u} [TotalOrder A] : Commutative (min (A := A)) := min_comm
theorem or_comm_law : Commutative or
  | .true, .true => rfl
  | .true, .false => rfl
  | .false, .true => rfl
  | .false, .false => rfl
theorem and_comm_law : Commutative and
  | .true, .true => rfl
  | .true, .false => rfl
  | .false, .true => rfl
  | .false, .false => rfl

/-! ## Trees -/
/-- A reduction tree. -/
inductive Tree (α : Type u) where
  | leaf (a : α)
  | node (l r : Tree α)
def Tree.reduce (op : α → α → α) : Tree α → α
  | .leaf a => a
  | .node l r => op (Tree.reduce op l) (Tree.reduce op r)
/-- Fold the leaves from the left, starting at `s`. -/
def Tree.foldFrom (op : α → α → α) : Tree α → α → α
  | .leaf a, s => op s a
  | .node l r, s => Tree.foldFrom op r (Tree.foldFrom op l s)
/-- Tree reduction: every bracketing of a semigroup gives what the loop gives. -/
theorem tree_fold (assoc : Associative op) : ∀ (t : Tree α) (s : α), t.foldFrom op s = op s (t.reduce op)
  | .leaf a, s => rfl
  | .node l r, s => by
      show Tree.foldFrom op r (Tree.foldFrom op l s) = op s (op (l.reduce op) (r.reduce op))
      rw [tree_fold assoc r, tree_fold assoc l, assoc]

/-! ## A semigroup gains an identity -/
/-- The combine on states of which one may be missing. -/
def orElse (op : α → α → α) : Option α → Option α → Option α
  | .none, y => y
  | .some x, .none => .some x
  | .some x, .some y => .some (op x y)
theorem orElse_assoc (assoc : Associative op) : Associative (orElse op)
  | .none, _, _ => rfl
  | .some _, .none, _ => rfl
  | .some _, .some _, .none => rfl
  | .some a, .some b, .some c => congrArg Option.some (assoc a b c)
theorem orElse_comm (comm : Commutative op) : Commutative (orElse op)
  | .none, .none => rfl
  | .none, .some _ => rfl
  | .some _, .none => rfl
  | .some a, .some b => congrArg Option.some (comm a b)
theorem orElse_identity (op : α → α → α) : Identity (orElse op) .none
  | .none => ⟨rfl, rfl⟩
  | .some _ => ⟨rfl, rfl⟩

/-! ## States that say themselves that they are missing -/
/-- The combine where `none` marks a missing state; of two missing ones the left stays. -/
def optional (none : α → Prop) [∀ s, Decidable (none s)] (op : α → α → α) (s t : α) : α :=
  if none t then s else if none s then t else op s t
theorem optional_right (none : α → Prop) [∀ s, Decidable (none s)] {s t : α} (h : none t) :
    optional none op s t = s := if_pos h
theorem optional_left (none : α → Prop) [∀ s, Decidable (none s)] {s t : α} (h : none s) (k : ¬ none t) :
    optional none op s t = t := (if_neg k).trans (if_pos h)
theorem optional_both (none : α → Prop) [∀ s, Decidable (none s)] {s t : α} (h : ¬ none s) (k : ¬ none t) :
    optional none op s t = op s t := (if_neg k).trans (if_neg h)
theorem optional_assoc (assoc : Associative op) (none : α → Prop) [∀ s, Decidable (none s)]
    (closed : ∀ s t, ¬ none s → ¬ none t → ¬ none (op s t)) : Associative (optional none op) := by
  intro s t r
  by_cases hr : none r
  · rw [optional_right none hr, optional_right none hr]
  · by_cases ht : none t
    · rw [optional_right none ht, optional_left none ht hr]
    · by_cases hs : none s
      · have k : ¬ none (optional none op t r) := by
          rw [optional_both none ht hr]
          exact closed t r ht hr
        rw [optional_left none hs ht, optional_left none hs k]
      · rw [optional_both none hs ht, optional_both none ht hr, optional_both none (closed s t hs ht) hr,
          optional_both none hs (closed t r ht hr), assoc]
/-- Of two states that are there the order does not matter; of two missing ones it is the left that stays. -/
theorem optional_comm (comm : Commutative op) (none : α → Prop) [∀ s, Decidable (none s)] {s t : α}
    (hs : ¬ none s) (ht : ¬ none t) : optional none op s t = optional none op t s := by
  rw [optional_both none hs ht, optional_both none ht hs, comm]
end
end Tang
