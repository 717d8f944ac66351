prelude
import Tang.Argmax
import Tang.TopK
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Ranks — the element of a rank: counted among all, or read from the k largest -/
set_option autoImplicit false
universe u v w
noncomputable section
namespace Tang

/-- Entries by value, of equal values the smaller index first. -/
instance entryOrder {A : Type u} {I : Type v} [TotalOrder A] [TotalOrder I] : TotalOrder (Best A I) :=
  bestOrder (fun a => a) (fun e => e)
theorem beats_iff {A : Type u} {I : Type v} [TotalOrder A] [TotalOrder I] (s t : Best A I) :
    Beats (fun a => a) s t ↔ s < t := by
  constructor
  · intro k h
    cases k with
    | inl k =>
      cases h with
      | inl h => exact lt_irrefl _ (lt_trans h k)
      | inr h => exact ne_of_lt k h.left.symm
    | inr k =>
      cases h with
      | inl h => exact ne_of_lt h k.left.symm
      | inr h => exact k.right h.right
  · intro h
    by_cases k : s.best ≤ t.best
    · by_cases e : s.best = t.best
      · exact .inr ⟨e, fun j => h (.inr ⟨e.symm, j⟩)⟩
      · exact .inl (lt_of_le_of_ne k e)
    · exact absurd (Or.inl k) h

/-! ## Sums over lists -/
section
variable {B : Type u} {K : Type v} [CommSemiring K]
def listSum (f : B → K) : List B → K
  | .nil => 0
  | .cons a l => f a + listSum f l
theorem listSum_append (f : B → K) (m : List B) : ∀ l, listSum f (append l m) = listSum f l + listSum f m
  | .nil => (zero_add _).symm
  | .cons a l => by
      show f a + listSum f (append l m) = f a + listSum f l + listSum f m
      rw [listSum_append f m l, add_assoc]
theorem listSum_perm (f : B → K) {l m : List B} (h : Perm l m) : listSum f l = listSum f m := by
  induction h with
  | nil => rfl
  | cons a _ ih => exact congrArg (fun x => f a + x) ih
  | swap a b l => exact add_left_comm (f a) (f b) (listSum f l)
  | trans _ _ h k => exact h.trans k
theorem listSum_congr {f g : B → K} : ∀ (l : List B), (∀ a, Mem a l → f a = g a) → listSum f l = listSum g l
  | .nil, _ => rfl
  | .cons a l, h => by
      show f a + listSum f l = g a + listSum g l
      rw [h a (.head l), listSum_congr l (fun b k => h b (.tail a k))]
theorem listSum_zero : ∀ l : List B, listSum (fun _ => (0 : K)) l = 0
  | .nil => rfl
  | .cons _ l => by
      show 0 + listSum (fun _ => (0 : K)) l = 0
      rw [listSum_zero l, zero_add]
/-- The value of the element at rank `r`; 0 where there is none. -/
def atRank (g : B → K) : Nat → List B → K
  | _, .nil => 0
  | .zero, .cons a _ => g a
  | .succ r, .cons _ l => atRank g r l
theorem atRank_take (g : B → K) : ∀ (k r : Nat) (l : List B), r < k → atRank g r (take k l) = atRank g r l
  | .zero, r, _, h => absurd h (Nat.not_lt_zero r)
  | .succ _, _, .nil, _ => rfl
  | .succ _, .zero, .cons _ _, _ => rfl
  | .succ k, .succ r, .cons _ l, h => atRank_take g k r l (Nat.le_of_succ_le_succ h)
theorem take_nil {B : Type u} : ∀ k : Nat, take k (.nil : List B) = .nil
  | .zero => rfl
  | .succ _ => rfl
/-- `x 0 … x (n-1)` with their positions. -/
def entries {A : Type u} (x : Nat → A) : Nat → List (Best A Nat)
  | .zero => .nil
  | .succ n => append (entries x n) [⟨x n, n⟩]
theorem listSum_entries {A : Type u} (f : Best A Nat → K) (x : Nat → A) (n : Nat) :
    listSum f (entries x n) = fold (fun a b => a + b) 0 n (fun j => f ⟨x j, j⟩) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show listSum f (append (entries x n) [⟨x n, n⟩]) = fold (fun a b => a + b) 0 n (fun j => f ⟨x j, j⟩) + f ⟨x n, n⟩
    rw [listSum_append, ih]
    show _ + (f ⟨x n, n⟩ + 0) = _
    rw [add_zero]
end

/-! ## Ranks -/
section
variable {B : Type u} [TotalOrder B]
/-- How many elements are larger. -/
def above (l : List B) (a : B) : Nat := listSum (fun b => if a < b then 1 else 0) l
/-- Every element is larger than all that follow. -/
def Strict : List B → Prop
  | .nil => True
  | .cons a l => (∀ b, Mem b l → b < a) ∧ Strict l
theorem mem_insert (a : B) {b : B} : ∀ l, Mem b (insert a l) → b = a ∨ Mem b l
  | .nil, h => by
      cases h with
      | head => exact .inl rfl
      | tail _ h => exact .inr h
  | .cons c l, h => by
      by_cases k : c ≤ a
      · rw [insert_le l k] at h
        cases h with
        | head => exact .inl rfl
        | tail _ h => exact .inr h
      · rw [insert_gt l k] at h
        cases h with
        | head => exact .inr (.head l)
        | tail _ h =>
          cases mem_insert a l h with
          | inl h => exact .inl h
          | inr h => exact .inr (.tail c h)
theorem strict_insert (a : B) : ∀ l, Strict l → (∀ b, Mem b l → b ≠ a) → Strict (insert a l)
  | .nil, _, _ => ⟨fun _ h => (nomatch h), trivial⟩
  | .cons c l, s, new => by
      by_cases k : c ≤ a
      · rw [insert_le l k]
        refine ⟨?_, s⟩
        intro b h
        apply lt_of_le_of_ne
        · cases h with
          | head => exact k
          | tail _ h => exact le_trans (le_of_lt (s.left b h)) k
        · exact new b h
      · rw [insert_gt l k]
        refine ⟨?_, strict_insert a l s.right (fun b h => new b (.tail c h))⟩
        intro b h
        cases mem_insert a l h with
        | inl e =>
          rw [e]
          exact k
        | inr h => exact s.left b h
variable {K : Type v} [CommSemiring K]
/-- In a strictly descending list the element at rank `r` is the one that `r` others exceed. -/
theorem listSum_rank (g : B → K) : ∀ (l : List B) (r : Nat), Strict l →
    listSum (fun a => if above l a = r then g a else 0) l = atRank g r l
  | .nil, .zero, _ => rfl
  | .nil, .succ _, _ => rfl
  | .cons a l, r, s => by
      have first : above (a :: l) a = 0 := by
        show (if a < a then 1 else 0) + above l a = 0
        rw [if_neg (lt_irrefl a), Nat.zero_add]
        exact (listSum_congr l (fun b h => if_neg (fun k => lt_irrefl _ (lt_trans k (s.left b h))))).trans (listSum_zero l)
      have others : ∀ b, Mem b l → above (a :: l) b = Nat.succ (above l b) := by
        intro b h
        show (if b < a then 1 else 0) + above l b = _
        rw [if_pos (s.left b h), Nat.add_comm]
      show (if above (a :: l) a = r then g a else 0) + listSum (fun b => if above (a :: l) b = r then g b else 0) l = _
      rw [first, listSum_congr l (fun b h => show (if above (a :: l) b = r then g b else 0)
        = (if Nat.succ (above l b) = r then g b else 0) from by rw [others b h])]
      cases r with
      | zero =>
        rw [if_pos rfl, listSum_congr l (fun b _ => if_neg (fun h => Nat.succ_ne_zero _ h)), listSum_zero, add_zero]
        rfl
      | succ r =>
        rw [if_neg (fun h => Nat.succ_ne_zero r h.symm), zero_add]
        refine (listSum_congr l (fun b _ => ?_)).trans (listSum_rank g l r s.right)
        exact if_congr ⟨Nat.succ_inj, congrArg Nat.succ⟩ (fun _ => rfl) (fun _ => rfl)
theorem perm_merge (m : List B) : ∀ l : List B, Perm (merge l m) (append l m)
  | .nil => perm_refl m
  | .cons a l => .trans (perm_insert a (merge l m)) (.cons a (perm_merge m l))
theorem above_append (l m : List B) (a : B) : above (append l m) a = above l a + above m a := listSum_append _ m l
/-- One merge by ranks: an element's place is how many of its own side and how many of the other precede it.
That all elements differ is said by `s`. -/
theorem merge_rank (g : B → K) (k r : Nat) (h : r < k) (l m : List B) (s : Strict (merge l m)) :
    listSum (fun a => if above l a + above m a = r then g a else 0) l
      + listSum (fun a => if above l a + above m a = r then g a else 0) m
      = atRank g r (topMerge k l m) := by
  show _ = atRank g r (take k (merge l m))
  rw [atRank_take g _ _ _ h, ← listSum_rank g _ r s, ← listSum_append, listSum_perm _ (perm_merge m l)]
  apply listSum_congr
  intro a _
  rw [show above (merge l m) a = above l a + above m a from
    (listSum_perm _ (perm_merge m l)).trans (above_append l m a)]
end

/-! ## The elements of a loop -/
section
variable {A : Type u} [TotalOrder A]
theorem sort_entries (x : Nat → A) (n : Nat) : sort (entries x (Nat.succ n)) = insert ⟨x n, n⟩ (sort (entries x n)) := by
  show sort (append (entries x n) [⟨x n, n⟩]) = _
  rw [sort_append, merge_comm_sort]
  rfl
theorem mem_entries (x : Nat → A) (n : Nat) : ∀ b, Mem b (sort (entries x n)) → b.at' < n := by
  induction n with
  | zero => exact fun _ h => nomatch h
  | succ n ih =>
    intro b h
    rw [sort_entries] at h
    cases mem_insert _ _ h with
    | inl e =>
      rw [e]
      exact Nat.lt_succ_self n
    | inr h => exact Nat.lt_succ_of_lt (ih b h)
theorem strict_entries (x : Nat → A) (n : Nat) : Strict (sort (entries x n)) := by
  induction n with
  | zero => exact trivial
  | succ n ih =>
    rw [sort_entries]
    apply strict_insert _ _ ih
    intro b h e
    have k := mem_entries x n b h
    rw [e] at k
    exact Nat.lt_irrefl n k
theorem earlier_iff (x : Nat → A) (j i : Nat) :
    (⟨x j, j⟩ : Best A Nat) < ⟨x i, i⟩ ↔ x j < x i ∨ (x j = x i ∧ i < j) := by
  constructor
  · intro h
    cases (beats_iff (⟨x j, j⟩ : Best A Nat) ⟨x i, i⟩).mpr h with
    | inl k => exact .inl k
    | inr k =>
      cases Nat.lt_or_ge i j with
      | inl m => exact .inr ⟨k.left, m⟩
      | inr m => exact absurd m k.right
  · intro h
    apply (beats_iff (⟨x j, j⟩ : Best A Nat) ⟨x i, i⟩).mp
    cases h with
    | inl k => exact .inl k
    | inr k => exact .inr ⟨k.left, Nat.not_le_of_lt k.right⟩
/-- The loop over `x 0 … x n` that keeps the k largest. -/
def topFold (k n : Nat) (x : Nat → A) : List (Best A Nat) :=
  fold (topMerge k) [⟨x 0, 0⟩] n (fun i => [⟨x (Nat.succ i), Nat.succ i⟩])
theorem topK_one (k : Nat) (a : Best A Nat) : topK (Nat.succ k) [a] = [a] := congrArg (fun l => a :: l) (take_nil k)
theorem topFold_sort (k n : Nat) (x : Nat → A) : topFold (Nat.succ k) n x = topK (Nat.succ k) (entries x (Nat.succ n)) := by
  induction n with
  | zero => exact (topK_one k _).symm
  | succ n ih =>
    show topMerge (Nat.succ k) (topFold (Nat.succ k) n x) [⟨x (Nat.succ n), Nat.succ n⟩] = _
    rw [ih, ← topK_one k ⟨x (Nat.succ n), Nat.succ n⟩]
    exact topMerge_append (Nat.succ k) (entries x (Nat.succ n)) [⟨x (Nat.succ n), Nat.succ n⟩]
/-- The element that `r` others precede, found by counting, is that of rank `r` among the k largest. -/
theorem rank_topFold {K : Type v} [CommSemiring K] (g : Best A Nat → K) (k n r : Nat) (h : r < k) (x : Nat → A) :
    fold (fun a b => a + b) 0 (Nat.succ n) (fun j =>
        if fold (fun a b => a + b) 0 (Nat.succ n) (fun i => if x j < x i ∨ (x j = x i ∧ i < j) then 1 else 0) = r
        then g ⟨x j, j⟩ else 0)
      = atRank g r (topFold k n x) := by
  cases k with
  | zero => exact absurd h (Nat.not_lt_zero r)
  | succ k =>
    rw [topFold_sort]
    show _ = atRank g r (take (Nat.succ k) (sort (entries x (Nat.succ n))))
    rw [atRank_take g _ _ _ h, ← listSum_rank g _ r (strict_entries x (Nat.succ n)), listSum_perm _ (perm_sort _), listSum_entries]
    apply fold_congr
    intro j _
    refine if_congr ?_ (fun _ => rfl) (fun _ => rfl)
    have count : above (sort (entries x (Nat.succ n))) ⟨x j, j⟩
        = fold (fun a b => a + b) 0 (Nat.succ n) (fun i => if x j < x i ∨ (x j = x i ∧ i < j) then 1 else 0) := by
      show listSum _ _ = _
      rw [listSum_perm _ (perm_sort _), listSum_entries]
      apply fold_congr
      intro i _
      exact if_congr (earlier_iff x j i) (fun _ => rfl) (fun _ => rfl)
    rw [count]
    exact Iff.refl _
end
end Tang
