prelude
import Tang.Softmax
import Tang.Fold
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Argmax — the largest value with its smallest index, as a maximum of a total order -/
set_option autoImplicit false
universe u v w
noncomputable section
namespace Tang

instance natOrder : TotalOrder Nat where
  le_refl := Nat.le_refl
  le_trans := Nat.le_trans
  le_antisymm := Nat.le_antisymm
  le_total := Nat.le_total
  decLe := Nat.decLe

/-- A value and where it was found. -/
structure Best (A : Type u) (I : Type v) where
  best : A
  at' : I
theorem Best.ext {A : Type u} {I : Type v} {s t : Best A I} (h : s.best = t.best) (k : s.at' = t.at') : s = t := by
  cases s
  cases t
  cases h
  cases k
  rfl

section
variable {A : Type u} {I : Type v} {B : Type w} [TotalOrder I] [TotalOrder B]
/-- Whether `t` beats `s`: a larger key, or the same key at a smaller index. -/
def Beats (key : A → B) (s t : Best A I) : Prop :=
  key s.best < key t.best ∨ (key s.best = key t.best ∧ t.at' < s.at')
instance decBeats (key : A → B) (s t : Best A I) : Decidable (Beats key s t) := decOr
/-- argmax is `key = id`; argmin is `key = neg`. -/
def argBest (key : A → B) (s t : Best A I) : Best A I := if Beats key s t then t else s
theorem argBest_best (key : A → B) (s t : Best A I) :
    (argBest key s t).best = if Beats key s t then t.best else s.best := apply_if Best.best t s
theorem argBest_at' (key : A → B) (s t : Best A I) :
    (argBest key s t).at' = if Beats key s t then t.at' else s.at' := apply_if Best.at' t s
def NotAbove (key : A → B) (s t : Best A I) : Prop :=
  key s.best < key t.best ∨ (key s.best = key t.best ∧ t.at' ≤ s.at')
instance decNotAbove (key : A → B) (s t : Best A I) : Decidable (NotAbove key s t) := decOr
/-- The order whose maximum this is. -/
@[reducible] def bestOrder (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) : TotalOrder (Best A I) where
  le := NotAbove key
  le_refl s := .inr ⟨rfl, le_refl _⟩
  le_trans := by
    intro s t r h k
    cases h with
    | inl h =>
      cases k with
      | inl k => exact .inl (lt_trans h k)
      | inr k => exact .inl (by
          rw [← k.left]
          exact h)
    | inr h =>
      cases k with
      | inl k => exact .inl (by
          rw [h.left]
          exact k)
      | inr k => exact .inr ⟨h.left.trans k.left, le_trans k.right h.right⟩
  le_antisymm := by
    intro s t h k
    cases h with
    | inl h =>
      cases k with
      | inl k => exact absurd (lt_trans h k) (lt_irrefl _)
      | inr k => exact absurd k.left.symm (ne_of_lt h)
    | inr h =>
      cases k with
      | inl k => exact absurd h.left.symm (ne_of_lt k)
      | inr k => exact Best.ext (inj h.left) (le_antisymm k.right h.right)
  le_total s t := by
    by_cases h : key s.best = key t.best
    · cases le_total s.at' t.at' with
      | inl k => exact .inr (.inr ⟨h.symm, k⟩)
      | inr k => exact .inl (.inr ⟨h, k⟩)
    · by_cases k : key s.best ≤ key t.best
      · exact .inl (.inl (lt_of_le_of_ne k h))
      · exact .inr (.inl k)
  decLe _ _ := decOr
theorem argBest_max (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) (s t : Best A I) :
    argBest key s t = @max _ (bestOrder key inj) s t := by
  unfold argBest max
  by_cases h : NotAbove key s t
  · rw [if_pos (show @LE.le _ (bestOrder key inj).toLE s t from h)]
    by_cases k : Beats key s t
    · rw [if_pos k]
    · rw [if_neg k]
      cases h with
      | inl h => exact absurd (Or.inl h) k
      | inr h =>
        by_cases e : s.at' ≤ t.at'
        · exact Best.ext (inj h.left) (le_antisymm e h.right)
        · exact absurd (Or.inr ⟨h.left, e⟩) k
  · rw [if_neg (show ¬ @LE.le _ (bestOrder key inj).toLE s t from h)]
    have k : ¬ Beats key s t := by
      intro k
      apply h
      cases k with
      | inl k => exact .inl k
      | inr k => exact .inr ⟨k.left, le_of_lt k.right⟩
    rw [if_neg k]
theorem argBest_assoc (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) :
    Associative (argBest (I := I) key) := by
  intro s t r
  rw [argBest_max key inj, argBest_max key inj, argBest_max key inj, argBest_max key inj]
  exact @max_assoc _ (bestOrder key inj) s t r
theorem argBest_comm (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) :
    Commutative (argBest (I := I) key) := by
  intro s t
  rw [argBest_max key inj, argBest_max key inj]
  exact @max_comm _ (bestOrder key inj) s t
end

section
variable {A : Type u} {I : Type v} [TotalOrder I]
theorem argmax_assoc [TotalOrder A] : Associative (argBest (I := I) (fun x : A => x)) := argBest_assoc _ (fun h => h)
theorem argmax_comm [TotalOrder A] : Commutative (argBest (I := I) (fun x : A => x)) := argBest_comm _ (fun h => h)
theorem neg_injective {K : Type u} [CommRing K] {a b : K} (h : -a = -b) : a = b := by
  rw [← Ring.neg_neg a, h, Ring.neg_neg]
theorem argmin_assoc [OrderedRing A] : Associative (argBest (I := I) (fun x : A => -x)) :=
  argBest_assoc _ neg_injective
theorem argmin_comm [OrderedRing A] : Commutative (argBest (I := I) (fun x : A => -x)) :=
  argBest_comm _ neg_injective
end

/-! ## Where nothing at all gives a negative index -/
section
variable {A : Type u} {B : Type w} {I : Type v} [OrderedRing I] [TotalOrder B]
def argOrNone (key : A → B) : Best A I → Best A I → Best A I := optional (fun s => s.at' < 0) (argBest key)
theorem argOrNone_best (key : A → B) (s t : Best A I) : (argOrNone key s t).best
    = if t.at' < 0 then s.best else if s.at' < 0 then t.best else if Beats key s t then t.best else s.best := by
  refine (apply_if Best.best s _).trans (if_congr (Iff.refl _) (fun _ => rfl) (fun _ => ?_))
  refine (apply_if Best.best t _).trans (if_congr (Iff.refl _) (fun _ => rfl) (fun _ => ?_))
  exact argBest_best key s t
theorem argOrNone_at' (key : A → B) (s t : Best A I) : (argOrNone key s t).at'
    = if t.at' < 0 then s.at' else if s.at' < 0 then t.at' else if Beats key s t then t.at' else s.at' := by
  refine (apply_if Best.at' s _).trans (if_congr (Iff.refl _) (fun _ => rfl) (fun _ => ?_))
  refine (apply_if Best.at' t _).trans (if_congr (Iff.refl _) (fun _ => rfl) (fun _ => ?_))
  exact argBest_at' key s t
theorem argOrNone_assoc (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) :
    Associative (argOrNone (I := I) key) := by
  apply optional_assoc (argBest_assoc key inj)
  intro s t hs ht
  unfold argBest
  by_cases h : Beats key s t
  · rw [if_pos h]
    exact ht
  · rw [if_neg h]
    exact hs
/-- What is there stays there. -/
theorem argOrNone_present (key : A → B) (s t : Best A I) (hs : ¬ s.at' < 0) (ht : ¬ t.at' < 0) :
    ¬ (argOrNone key s t).at' < 0 := by
  rw [argOrNone_at', if_neg ht, if_neg hs]
  by_cases h : Beats key s t
  · rw [if_pos h]
    exact ht
  · rw [if_neg h]
    exact hs
theorem argOrNone_comm (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) (s t : Best A I)
    (hs : ¬ s.at' < 0) (ht : ¬ t.at' < 0) : argOrNone key s t = argOrNone key t s :=
  optional_comm (argBest_comm key inj) (fun s => s.at' < 0) hs ht
theorem argmax_or_none_comm [TotalOrder A] (s t : Best A I) (hs : ¬ s.at' < 0) (ht : ¬ t.at' < 0) :
    argOrNone (fun x : A => x) s t = argOrNone (fun x : A => x) t s := argOrNone_comm _ (fun h => h) s t hs ht
theorem argmin_or_none_comm [OrderedRing A] (s t : Best A I) (hs : ¬ s.at' < 0) (ht : ¬ t.at' < 0) :
    argOrNone (fun x : A => -x) s t = argOrNone (fun x : A => -x) t s := argOrNone_comm _ neg_injective s t hs ht
theorem argmax_or_none_assoc [TotalOrder A] : Associative (argOrNone (I := I) (fun x : A => x)) :=
  argOrNone_assoc _ (fun h => h)
theorem argmin_or_none_assoc [OrderedRing A] : Associative (argOrNone (I := I) (fun x : A => -x)) :=
  argOrNone_assoc _ neg_injective
end

/-! ## What the fold computes -/
section
variable {A : Type u} {B : Type w} [TotalOrder B]
/-- The fold over `x 0 … x n`, each with its position. -/
def argFold (key : A → B) (n : Nat) (x : Nat → A) : Best A Nat :=
  fold (argBest key) ⟨x 0, 0⟩ n (fun i => ⟨x (Nat.succ i), Nat.succ i⟩)
/-- The value that the state keeps is the one at the position that it keeps. -/
theorem argFold_best (key : A → B) (n : Nat) (x : Nat → A) : x (argFold key n x).at' = (argFold key n x).best := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show x (argBest key (argFold key n x) ⟨x (Nat.succ n), Nat.succ n⟩).at'
      = (argBest key (argFold key n x) ⟨x (Nat.succ n), Nat.succ n⟩).best
    unfold argBest
    by_cases h : Beats key (argFold key n x) ⟨x (Nat.succ n), Nat.succ n⟩
    · rw [if_pos h]
    · rw [if_neg h]
      exact ih
theorem argFold_le (key : A → B) (n : Nat) (x : Nat → A) : (argFold key n x).at' ≤ n := by
  induction n with
  | zero => exact Nat.le_refl 0
  | succ n ih =>
    show (argBest key (argFold key n x) ⟨x (Nat.succ n), Nat.succ n⟩).at' ≤ Nat.succ n
    unfold argBest
    by_cases h : Beats key (argFold key n x) ⟨x (Nat.succ n), Nat.succ n⟩
    · rw [if_pos h]
      exact Nat.le_refl _
    · rw [if_neg h]
      exact Nat.le_trans ih (Nat.le_succ n)
/-- No element has a larger key, and none before it has the same. -/
theorem argFold_first (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) (n : Nat) (x : Nat → A) (i : Nat)
    (hi : i ≤ n) :
    key (x i) < key (argFold key n x).best ∨ (key (x i) = key (argFold key n x).best ∧ (argFold key n x).at' ≤ i) := by
  have e : argFold key n x = @top _ (bestOrder key inj) n (fun i => ⟨x i, i⟩) := by
    show fold (argBest key) _ n _ = fold (@max _ (bestOrder key inj)) _ n _
    rw [show argBest key = @max _ (bestOrder key inj) from
      funext (fun s => funext (fun t => argBest_max key inj s t))]
  have k : NotAbove key ⟨x i, i⟩ (argFold key n x) := by
    rw [e]
    exact @top_ge _ (bestOrder key inj) n (fun i => ⟨x i, i⟩) i hi
  exact k
/-- The position of the argmax is the least among those where `x` is its maximum. -/
theorem argFold_least (key : A → B) (inj : ∀ {a b}, key a = key b → a = b) (n : Nat) (x : Nat → A) (i : Nat)
    (hi : i ≤ n) (h : x i = (argFold key n x).best) : (argFold key n x).at' ≤ i := by
  cases argFold_first key inj n x i hi with
  | inl k => exact absurd (congrArg key h) (ne_of_lt k)
  | inr k => exact k.right
theorem argFold_top {A : Type u} [TotalOrder A] (n : Nat) (x : Nat → A) :
    (argFold (fun a => a) n x).best = top n x := by
  apply le_antisymm
  · rw [← argFold_best]
    exact top_ge n x _ (argFold_le _ n x)
  · apply top_le n x
    intro i hi
    cases argFold_first (fun a => a) (fun h => h) n x i hi with
    | inl k => exact le_of_lt k
    | inr k =>
      rw [k.left]
      exact le_refl _
end
end Tang
