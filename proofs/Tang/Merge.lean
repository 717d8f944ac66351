prelude
import Tang.Ranks
import Tang.Segment
import Tang.Lattice
import Tang.Argmax
import Tang.TopK
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Merge — top-k states as the compiler combines them: ranks counted over both sides -/
set_option autoImplicit false
universe u v w
noncomputable section
namespace Tang

/-! ## The first elements of a sequence as a list -/
def firsts {B : Type u} : (Nat → B) → Nat → List B
  | _, .zero => .nil
  | x, .succ n => x 0 :: firsts (fun i => x (Nat.succ i)) n
theorem firsts_succ {B : Type u} : ∀ (n : Nat) (x : Nat → B), firsts x (Nat.succ n) = append (firsts x n) [x n]
  | .zero, _ => rfl
  | .succ n, x => congrArg (fun l => x 0 :: l) (firsts_succ n (fun i => x (Nat.succ i)))
/-- The element at a place, or another. -/
def place {B : Type u} (other : B) : List B → Nat → B
  | .nil, _ => other
  | .cons a _, .zero => a
  | .cons _ l, .succ i => place other l i
theorem firsts_place {B : Type u} (other : B) : ∀ l : List B, firsts (place other l) (size l) = l
  | .nil => rfl
  | .cons a l => congrArg (fun m => a :: m) (firsts_place other l)
/-- `l` for `k` elements, then `m`. -/
def concat {B : Type u} (k : Nat) (l m : Nat → B) : Nat → B := fun i => if i < k then l i else m (i - k)
theorem concat_left {B : Type u} (k : Nat) (l m : Nat → B) (i : Nat) (h : i < k) : concat k l m i = l i := if_pos h
theorem not_add_lt (k i : Nat) : ¬ k + i < k := fun h => Nat.lt_irrefl k (Nat.le_trans (Nat.succ_le_succ (Nat.le_add_right k i)) h)
theorem concat_right {B : Type u} (k : Nat) (l m : Nat → B) (i : Nat) : concat k l m (k + i) = m i := by
  refine (if_neg (not_add_lt k i)).trans ?_
  rw [add_sub_self]
theorem firsts_congr {B : Type u} : ∀ (n : Nat) (x y : Nat → B), (∀ i, i < n → x i = y i) → firsts x n = firsts y n
  | .zero, _, _, _ => rfl
  | .succ n, x, y, h => by
      show x 0 :: firsts _ n = y 0 :: firsts _ n
      rw [h 0 (Nat.succ_le_succ (Nat.zero_le n)),
        firsts_congr n (fun i => x (Nat.succ i)) (fun i => y (Nat.succ i)) (fun i k => h (Nat.succ i) (Nat.succ_le_succ k))]
theorem firsts_concat {B : Type u} (k : Nat) (l m : Nat → B) : ∀ n,
    firsts (concat k l m) (k + n) = append (firsts l k) (firsts m n)
  | .zero => by
      show firsts (concat k l m) k = append (firsts l k) .nil
      rw [firsts_congr k (concat k l m) l (concat_left k l m)]
      generalize firsts l k = x
      induction x with
      | nil => rfl
      | cons a x ih => exact congrArg (fun y => a :: y) ih
  | .succ n => by
      show firsts (concat k l m) (Nat.succ (k + n)) = _
      rw [firsts_succ, firsts_concat k l m n, firsts_succ, append_assoc, concat_right]

/-! ## Ranks where elements may be equal: of equal ones the earlier first -/
def untag {B : Type u} : List (Best B Nat) → List B
  | .nil => .nil
  | .cons a l => a.best :: untag l
theorem untag_append {B : Type u} (m : List (Best B Nat)) : ∀ l, untag (append l m) = append (untag l) (untag m)
  | .nil => rfl
  | .cons a l => congrArg (fun x => a.best :: x) (untag_append m l)
theorem untag_entries {B : Type u} (x : Nat → B) (n : Nat) : untag (entries x n) = firsts x n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show untag (append (entries x n) [⟨x n, n⟩]) = _
    rw [untag_append, ih, firsts_succ]
    rfl
section
variable {B : Type u} [TotalOrder B]
theorem untag_le {a b : Best B Nat} (h : a ≤ b) : a.best ≤ b.best := by
  have k : NotAbove (fun y : B => y) a b := h
  cases k with
  | inl k => exact le_of_lt k
  | inr k =>
    rw [show a.best = b.best from k.left]
    exact le_refl _
theorem descending_untag : ∀ l : List (Best B Nat), Descending l → Descending (untag l)
  | .nil, _ => trivial
  | .cons _ .nil, _ => ⟨trivial, trivial⟩
  | .cons _ (.cons b l), h => ⟨untag_le h.left, descending_untag (b :: l) h.right⟩
theorem untag_insert (a : Best B Nat) : ∀ l, Descending l → untag (insert a l) = insert a.best (untag l)
  | .nil, _ => rfl
  | .cons b l, h => by
      by_cases k : b ≤ a
      · rw [insert_le l k]
        show a.best :: b.best :: untag l = insert a.best (b.best :: untag l)
        rw [insert_le _ (untag_le k)]
      · rw [insert_gt l k]
        show b.best :: untag (insert a l) = insert a.best (b.best :: untag l)
        rw [untag_insert a l h.right]
        by_cases e : b.best ≤ a.best
        · have same : a.best = b.best := le_antisymm (untag_le (not_le k)) e
          rw [insert_le _ e, same]
          exact congrArg (fun y => b.best :: y) (insert_head b.best (untag l) (descending_untag (b :: l) h))
        · rw [insert_gt _ e]
theorem untag_sort : ∀ l : List (Best B Nat), untag (sort l) = sort (untag l)
  | .nil => rfl
  | .cons a l => by
      show untag (insert a (sort l)) = insert a.best (sort (untag l))
      rw [untag_insert a _ (descending_sort l), untag_sort l]
variable {K : Type v} [CommSemiring K]
theorem atRank_untag {B : Type u} (f : B → K) : ∀ (r : Nat) (l : List (Best B Nat)), atRank (fun a => f a.best) r l = atRank f r (untag l)
  | .zero, .nil => rfl
  | .succ _, .nil => rfl
  | .zero, .cons _ _ => rfl
  | .succ r, .cons _ l => atRank_untag f r l
/-- Counting who comes before gives the element of a rank. -/
theorem rank_firsts (f : B → K) (n r : Nat) (x : Nat → B) :
    sum n (fun j => if sum n (fun i => if x j < x i ∨ (x j = x i ∧ i < j) then 1 else 0) = r then f (x j) else 0)
      = atRank f r (sort (firsts x n)) := by
  rw [← untag_entries, ← untag_sort, ← atRank_untag, ← listSum_rank _ _ r (strict_entries x n), listSum_perm _ (perm_sort _),
    listSum_entries, ← sum_eq_fold]
  apply sum_congr
  intro j _
  refine if_congr ?_ (fun _ => rfl) (fun _ => rfl)
  have count : above (sort (entries x n)) ⟨x j, j⟩
      = sum n (fun i => if x j < x i ∨ (x j = x i ∧ i < j) then 1 else 0) := by
    show listSum _ _ = _
    rw [listSum_perm _ (perm_sort _), listSum_entries, ← sum_eq_fold]
    apply sum_congr
    intro i _
    exact if_congr (earlier_iff x j i) (fun _ => rfl) (fun _ => rfl)
  rw [count]
  exact Iff.refl _

/-! ## Two descending sides -/
def Falls (k : Nat) (l : Nat → B) : Prop := ∀ i j, i < j → j < k → l j ≤ l i
theorem count_all : ∀ k : Nat, sum k (fun _ => (1 : Nat)) = k
  | .zero => rfl
  | .succ k => congrArg Nat.succ (count_all k)
theorem count_below (j : Nat) : ∀ k, j ≤ k → sum k (fun i => if i < j then (1 : Nat) else 0) = j
  | .zero, h => (Nat.le_antisymm h (Nat.zero_le j)).symm
  | .succ k, h => by
      show sum k (fun i => if i < j then (1 : Nat) else 0) + (if k < j then 1 else 0) = j
      by_cases e : k < j
      · have same : j = Nat.succ k := Nat.le_antisymm h e
        have all : sum k (fun i => if i < j then (1 : Nat) else 0) = sum k (fun _ => 1) :=
          sum_congr (fun i hi => if_pos (show i < j from Nat.le_trans hi (Nat.le_of_lt e)))
        rw [if_pos e, all, count_all]
        exact same.symm
      · rw [if_neg e]
        exact count_below j k (Nat.le_of_not_lt e)
theorem own_rank (k : Nat) (l : Nat → B) (h : Falls k l) (j : Nat) (hj : j < k) :
    sum k (fun i => if l j < l i ∨ (l j = l i ∧ i < j) then (1 : Nat) else 0) = j := by
  refine (sum_congr (fun i hi => ?_)).trans (count_below j k (Nat.le_of_lt hj))
  refine if_congr ⟨?_, ?_⟩ (fun _ => rfl) (fun _ => rfl)
  · intro c
    cases Nat.lt_or_ge i j with
    | inl e => exact e
    | inr e =>
      have le : l i ≤ l j := by
        by_cases s : j = i
        · rw [s]
          exact le_refl _
        · exact h j i (Nat.lt_of_le_of_ne e s) hi
      cases c with
      | inl c => exact absurd le c
      | inr c => exact c.right
  · intro e
    by_cases s : l j = l i
    · exact .inr ⟨s, e⟩
    · exact .inl (lt_of_le_of_ne (h i j e hj) s)
theorem left_rank (k : Nat) (l m : Nat → B) (h : Falls k l) (j : Nat) (hj : j < k) :
    sum (k + k) (fun i => if concat k l m j < concat k l m i ∨ (concat k l m j = concat k l m i ∧ i < j)
      then (1 : Nat) else 0) = j + sum k (fun i => if l j < m i then 1 else 0) := by
  rw [sum_split, concat_left k l m j hj]
  have own : sum k (fun i => if l j < concat k l m i ∨ (l j = concat k l m i ∧ i < j) then (1 : Nat) else 0) = j := by
    rw [← own_rank k l h j hj]
    exact sum_congr (fun i hi => by rw [concat_left k l m i hi, own_rank k l h j hj])
  have other : sum k (fun i => if l j < concat k l m (k + i) ∨ (l j = concat k l m (k + i) ∧ k + i < j) then (1 : Nat) else 0)
      = sum k (fun i => if l j < m i then 1 else 0) := by
    apply sum_congr
    intro i _
    rw [concat_right]
    refine if_congr ⟨?_, fun c => .inl c⟩ (fun _ => rfl) (fun _ => rfl)
    intro c
    cases c with
    | inl c => exact c
    | inr c => exact absurd (Nat.le_trans c.right (Nat.le_of_lt hj)) (fun e => not_add_lt k i e)
  rw [own, other]
theorem right_rank (k : Nat) (l m : Nat → B) (h : Falls k m) (j : Nat) (hj : j < k) :
    sum (k + k) (fun i => if concat k l m (k + j) < concat k l m i ∨ (concat k l m (k + j) = concat k l m i ∧ i < k + j)
      then (1 : Nat) else 0) = j + sum k (fun i => if m j ≤ l i then 1 else 0) := by
  rw [sum_split, concat_right, Nat.add_comm j]
  have other : sum k (fun i => if m j < concat k l m i ∨ (m j = concat k l m i ∧ i < k + j) then (1 : Nat) else 0)
      = sum k (fun i => if m j ≤ l i then 1 else 0) := by
    apply sum_congr
    intro i hi
    rw [concat_left k l m i hi]
    refine if_congr ⟨?_, ?_⟩ (fun _ => rfl) (fun _ => rfl)
    · intro c
      cases c with
      | inl c => exact le_of_lt c
      | inr c =>
        rw [c.left]
        exact le_refl _
    · intro c
      by_cases e : m j = l i
      · exact .inr ⟨e, Nat.le_trans hi (Nat.le_add_right k j)⟩
      · exact .inl (lt_of_le_of_ne c e)
  have own : sum k (fun i => if m j < concat k l m (k + i) ∨ (m j = concat k l m (k + i) ∧ k + i < k + j) then (1 : Nat) else 0)
      = j := by
    refine (sum_congr (fun i _ => ?_)).trans (own_rank k m h j hj)
    rw [concat_right]
    refine if_congr ⟨?_, ?_⟩ (fun _ => rfl) (fun _ => rfl)
    · intro c
      cases c with
      | inl c => exact .inl c
      | inr c =>
        refine .inr ⟨c.left, ?_⟩
        cases Nat.lt_or_ge i j with
        | inl e => exact e
        | inr e => exact absurd (Nat.add_le_add_left k e) (Nat.not_le_of_lt c.right)
    · intro c
      cases c with
      | inl c => exact .inl c
      | inr c => exact .inr ⟨c.left, Nat.add_lt_add_left k c.right⟩
  rw [own, other]
/-- Two descending sides: an element's rank is its place on its own side plus how many of the other side precede it. -/
theorem merged_rank (f : B → K) (k r : Nat) (l m : Nat → B) (hl : Falls k l) (hm : Falls k m) :
    sum k (fun j => if j + sum k (fun i => if l j < m i then 1 else 0) = r then f (l j) else 0)
      + sum k (fun j => if j + sum k (fun i => if m j ≤ l i then 1 else 0) = r then f (m j) else 0)
      = atRank f r (sort (append (firsts l k) (firsts m k))) := by
  rw [← firsts_concat, ← rank_firsts, sum_split]
  have left : ∀ j, j < k → (if j + sum k (fun i => if l j < m i then 1 else 0) = r then f (l j) else 0)
      = (if sum (k + k) (fun i => if concat k l m j < concat k l m i ∨ (concat k l m j = concat k l m i ∧ i < j)
        then 1 else 0) = r then f (concat k l m j) else 0) := by
    intro j hj
    rw [left_rank k l m hl j hj, concat_left k l m j hj]
  have right : ∀ j, j < k → (if j + sum k (fun i => if m j ≤ l i then 1 else 0) = r then f (m j) else 0)
      = (if sum (k + k) (fun i => if concat k l m (k + j) < concat k l m i
        ∨ (concat k l m (k + j) = concat k l m i ∧ i < k + j) then 1 else 0) = r then f (concat k l m (k + j)) else 0) := by
    intro j hj
    rw [right_rank k l m hm j hj, concat_right]
  rw [sum_congr left, sum_congr right]

/-! ## One of the two sums is empty: a rank is found on one side -/
theorem none_counted (k : Nat) (p : Nat → Prop) [∀ i, Decidable (p i)] (f : Nat → K)
    (h : sum k (fun i => if p i then (1 : Nat) else 0) = 0) : sum k (fun i => if p i then f i else 0) = 0 := by
  induction k with
  | zero => rfl
  | succ k ih =>
    have e : sum k (fun i => if p i then (1 : Nat) else 0) + (if p k then 1 else 0) = 0 := h
    have last := Nat.eq_zero_of_add e
    rw [last] at e
    show sum k (fun i => if p i then f i else 0) + (if p k then f k else 0) = 0
    rw [ih e, zero_add]
    by_cases c : p k
    · rw [if_pos c] at last
      exact absurd last (Nat.succ_ne_zero 0)
    · exact if_neg c
theorem found_or (p q : Nat) (x y z : K) (one : p + q = 1) (hx : p = 0 → x = 0) (hy : q = 0 → y = 0) :
    (if 0 < p then x else if 0 < q then y else z) = x + y := by
  cases p with
  | zero =>
    rw [if_neg (Nat.lt_irrefl 0), hx rfl, zero_add]
    have e : q = 1 := (Nat.zero_add q).symm.trans one
    rw [e]
    exact if_pos (Nat.lt_succ_self 0)
  | succ p =>
    rw [if_pos (show 0 < Nat.succ p from Nat.succ_le_succ (Nat.zero_le p))]
    have e : Nat.succ (p + q) = Nat.succ 0 := (Nat.succ_add p q).symm.trans one
    rw [hy (Nat.eq_zero_of_add (Nat.succ_inj e)), add_zero]
theorem atRank_one {B : Type u} : ∀ (r : Nat) (l : List B), r < size l → atRank (fun _ => (1 : Nat)) r l = 1
  | _, .nil, h => absurd h (Nat.not_lt_zero _)
  | .zero, .cons _ _, _ => rfl
  | .succ r, .cons _ l, h => atRank_one r l (Nat.le_of_succ_le_succ h)
theorem size_perm {B : Type u} {l m : List B} (h : Perm l m) : size l = size m := by
  induction h with
  | nil => rfl
  | cons _ _ ih => exact congrArg Nat.succ ih
  | swap _ _ _ => rfl
  | trans _ _ h k => exact h.trans k
theorem size_append {B : Type u} (m : List B) : ∀ l : List B, size (append l m) = size l + size m
  | .nil => (Nat.zero_add _).symm
  | .cons _ l => (congrArg Nat.succ (size_append m l)).trans (Nat.succ_add _ _).symm
theorem size_firsts {B : Type u} : ∀ (n : Nat) (x : Nat → B), size (firsts x n) = n
  | .zero, _ => rfl
  | .succ n, x => congrArg Nat.succ (size_firsts n (fun i => x (Nat.succ i)))
/-- The compiler's form: the sum over the side on which the rank is found. -/
theorem chosen_rank (f : B → K) (k r : Nat) (hr : r < k) (l m : Nat → B) (hl : Falls k l) (hm : Falls k m) (z : K) :
    (if 0 < sum k (fun j => if j + sum k (fun i => if l j < m i then 1 else 0) = r then (1 : Nat) else 0)
      then sum k (fun j => if j + sum k (fun i => if l j < m i then 1 else 0) = r then f (l j) else 0)
      else if 0 < sum k (fun j => if j + sum k (fun i => if m j ≤ l i then 1 else 0) = r then (1 : Nat) else 0)
      then sum k (fun j => if j + sum k (fun i => if m j ≤ l i then 1 else 0) = r then f (m j) else 0) else z)
      = atRank f r (sort (append (firsts l k) (firsts m k))) := by
  rw [← merged_rank f k r l m hl hm]
  apply found_or
  · rw [merged_rank (fun _ => (1 : Nat)) k r l m hl hm]
    apply atRank_one
    rw [size_perm (perm_sort _), size_append, size_firsts, size_firsts]
    exact Nat.le_trans hr (Nat.le_add_right k k)
  · exact none_counted k _ _
  · exact none_counted k _ _
end

/-! ## Entries that may be absent: below all others -/
def absentLe {B : Type u} [TotalOrder B] : Option B → Option B → Prop
  | .none, _ => True
  | .some _, .none => False
  | .some a, .some b => a ≤ b
@[reducible] instance absentOrder {B : Type u} [TotalOrder B] : TotalOrder (Option B) where
  le := absentLe
  le_refl
    | .none => trivial
    | .some a => le_refl a
  le_trans {a b c} h k :=
    match a, b, c, h, k with
    | .none, _, _, _, _ => trivial
    | .some _, .some _, .some _, h, k => le_trans (show _ ≤ _ from h) k
  le_antisymm {a b} h k :=
    match a, b, h, k with
    | .none, .none, _, _ => rfl
    | .some _, .some _, h, k => congrArg Option.some (le_antisymm h k)
  le_total
    | .none, _ => .inl trivial
    | .some _, .none => .inr trivial
    | .some a, .some b => le_total a b
  decLe
    | .none, _ => .isTrue trivial
    | .some _, .none => .isFalse (fun h => h)
    | .some a, .some b => TotalOrder.decLe a b

theorem minus_one {I : Type v} [OrderedRing I] : (-1 : I) < 0 := by
  intro h
  have k := add_le_add_right 1 h
  rw [zero_add, neg_add] at k
  exact zero_ne_one (le_antisymm sign_one k)
theorem present_some {C : Type u} {I : Type v} [OrderedRing I] (s : Best C I) (h : 0 ≤ s.at') : -1 < s.at' :=
  lt_of_lt_of_le minus_one h
section
variable {A : Type u} {I : Type v} [OrderedRing A] [OrderedRing I]
/-- What a state holds for an entry: a value that stands for none (the compiler's is −∞), and the position −1. -/
def bestOf (low : A) : Option (Best A I) → A
  | .none => low
  | .some s => s.best
def atOf : Option (Best A I) → I
  | .none => -1
  | .some s => s.at'
def Present (e : Option (Best A I)) : Prop :=
  match e with
  | .none => True
  | .some s => 0 ≤ s.at'
/-- Whether an entry of the right side precedes one of the left, as the compiler compares. -/
def RightFirst (b : A) (p : I) (b' : A) (p' : I) : Prop :=
  ((-1 < p' ∧ -1 < p) ∧ (b < b' ∨ (b' = b ∧ p' < p))) ∨ (¬ (-1 < p' ∧ -1 < p) ∧ (-1 < p' ∧ ¬ -1 < p))
def LeftFirst (b : A) (p : I) (b' : A) (p' : I) : Prop :=
  ((-1 < p ∧ -1 < p') ∧ (b' < b ∨ (b = b' ∧ p < p'))) ∨ (¬ (-1 < p ∧ -1 < p') ∧ ¬ -1 < p')
theorem rightFirst_iff (low : A) (e d : Option (Best A I)) (he : Present e) (hd : Present d) :
    RightFirst (bestOf low e) (atOf e) (bestOf low d) (atOf d) ↔ e < d :=
  match e, d, he, hd with
  | .none, .none, _, _ => ⟨fun c => c.elim (fun c => absurd c.left.left (lt_irrefl _)) (fun c => absurd c.right.left (lt_irrefl _)),
      fun c => absurd (le_refl _) c⟩
  | .none, .some t, _, ht => ⟨fun _ => (fun h => h),
      fun _ => .inr ⟨fun c => lt_irrefl _ c.right, present_some t ht, lt_irrefl _⟩⟩
  | .some _, .none, _, _ => ⟨fun c => c.elim (fun c => absurd c.left.left (lt_irrefl _)) (fun c => absurd c.right.left (lt_irrefl _)),
      fun c => absurd trivial c⟩
  | .some s, .some t, hs, ht => by
      refine Iff.intro ?_ ?_
      · intro c
        cases c with
        | inl c =>
          apply (beats_iff s t).mp
          cases c.right with
          | inl k => exact .inl k
          | inr k => exact .inr ⟨k.left.symm, k.right⟩
        | inr c => exact absurd ⟨present_some t ht, present_some s hs⟩ c.left
      · intro c
        refine .inl ⟨⟨present_some t ht, present_some s hs⟩, ?_⟩
        cases (beats_iff s t).mpr c with
        | inl k => exact .inl k
        | inr k => exact .inr ⟨k.left.symm, k.right⟩
/-- Positions of the two sides differ, as those of different elements do. -/
def Apart (e d : Option (Best A I)) : Prop :=
  match e, d with
  | .some s, .some t => s.at' ≠ t.at'
  | _, _ => True
theorem leftFirst_iff (low : A) (e d : Option (Best A I)) (he : Present e) (hd : Present d) (apart : Apart e d) :
    LeftFirst (bestOf low e) (atOf e) (bestOf low d) (atOf d) ↔ d ≤ e :=
  match e, d, he, hd, apart with
  | .none, .none, _, _, _ => ⟨fun _ => trivial, fun _ => .inr ⟨fun c => lt_irrefl _ c.left, lt_irrefl _⟩⟩
  | .some _, .none, _, _, _ => ⟨fun _ => trivial, fun _ => .inr ⟨fun c => lt_irrefl _ c.right, lt_irrefl _⟩⟩
  | .none, .some t, _, ht, _ => ⟨fun c => c.elim (fun c => absurd c.left.left (lt_irrefl _))
      (fun c => absurd (present_some t ht) c.right), fun c => c.elim⟩
  | .some s, .some t, hs, ht, apart => by
      refine Iff.intro ?_ ?_
      · intro c
        cases c with
        | inl c =>
          apply le_of_lt
          apply (beats_iff t s).mp
          cases c.right with
          | inl k => exact .inl k
          | inr k => exact .inr ⟨k.left.symm, k.right⟩
        | inr c => exact absurd (present_some t ht) c.right
      · intro c
        refine .inl ⟨⟨present_some s hs, present_some t ht⟩, ?_⟩
        have strict : t < s := lt_of_le_of_ne c (fun e => apart (congrArg Best.at' e).symm)
        cases (beats_iff t s).mpr strict with
        | inl k => exact .inl k
        | inr k => exact .inr ⟨k.left.symm, k.right⟩
instance decRightFirst (b : A) (p : I) (b' : A) (p' : I) : Decidable (RightFirst b p b' p') := decOr
instance decLeftFirst (b : A) (p : I) (b' : A) (p' : I) : Decidable (LeftFirst b p b' p') := decOr
end

/-! ## The compiler's combine of top-k states -/
section
variable {A : Type u} {I : Type v} {V : Type w} [OrderedRing A] [OrderedRing I] [CommSemiring V]
/-- The component `v` of the entry of rank `r`: `c` and `d` say how many of the other side precede each entry. -/
def counted (k r : Nat) (c d : Nat → Nat) (v v' : Nat → V) (z : V) : V :=
  if 0 < sum k (fun j => if j + c j = r then (1 : Nat) else 0) then sum k (fun j => if j + c j = r then v j else 0)
  else if 0 < sum k (fun j => if j + d j = r then (1 : Nat) else 0) then sum k (fun j => if j + d j = r then v' j else 0) else z
/-- … of two sides with values `b`, `b'` and positions `p`, `p'`. -/
def rankPick (k r : Nat) (b : Nat → A) (p : Nat → I) (v : Nat → V) (b' : Nat → A) (p' : Nat → I) (v' : Nat → V) (z : V) : V :=
  counted k r (fun j => sum k (fun i => if RightFirst (b j) (p j) (b' i) (p' i) then 1 else 0))
    (fun j => sum k (fun i => if LeftFirst (b i) (p i) (b' j) (p' j) then 1 else 0)) v v' z
theorem rankPick_sorted (f : Option (Best A I) → V) (low : A) (k r : Nat) (hr : r < k) (l m : Nat → Option (Best A I))
    (hl : Falls k l) (hm : Falls k m) (pl : ∀ i, Present (l i)) (pm : ∀ i, Present (m i)) (apart : ∀ i j, Apart (l i) (m j)) (z : V) :
    rankPick k r (fun i => bestOf low (l i)) (fun i => atOf (l i)) (fun i => f (l i))
        (fun i => bestOf low (m i)) (fun i => atOf (m i)) (fun i => f (m i)) z
      = atRank f r (sort (append (firsts l k) (firsts m k))) := by
  refine Eq.trans ?_ (chosen_rank f k r hr l m hl hm z)
  have before : ∀ j, sum k (fun i => if RightFirst (bestOf low (l j)) (atOf (l j)) (bestOf low (m i)) (atOf (m i)) then (1 : Nat) else 0)
      = sum k (fun i => if l j < m i then 1 else 0) := fun j =>
    sum_congr (fun i _ => if_congr (rightFirst_iff low (l j) (m i) (pl j) (pm i)) (fun _ => rfl) (fun _ => rfl))
  have after : ∀ j, sum k (fun i => if LeftFirst (bestOf low (l i)) (atOf (l i)) (bestOf low (m j)) (atOf (m j)) then (1 : Nat) else 0)
      = sum k (fun i => if m j ≤ l i then 1 else 0) := fun j =>
    sum_congr (fun i _ => if_congr (leftFirst_iff low (l i) (m j) (pl i) (pm j) (apart i j)) (fun _ => rfl) (fun _ => rfl))
  show counted k r (fun j => sum k (fun i => if RightFirst (bestOf low (l j)) (atOf (l j)) (bestOf low (m i)) (atOf (m i)) then 1 else 0))
      (fun j => sum k (fun i => if LeftFirst (bestOf low (l i)) (atOf (l i)) (bestOf low (m j)) (atOf (m j)) then 1 else 0)) _ _ z
    = counted k r (fun j => sum k (fun i => if l j < m i then 1 else 0)) (fun j => sum k (fun i => if m j ≤ l i then 1 else 0)) _ _ z
  rw [funext before, funext after]

/-! ## States that hold the k largest, in descending order -/
/-- k entries in descending order, the present ones at positions that are not negative. -/
structure Held (k : Nat) (l : List (Option (Best A I))) : Prop where
  falls : Descending l
  full : size l = k
  present : ∀ e, Mem e l → Present e
def Disjoint (l m : List (Option (Best A I))) : Prop := ∀ e d, Mem e l → Mem d m → Apart e d
theorem place_mem {B : Type u} (other : B) : ∀ (l : List B) (i : Nat), i < size l → Mem (place other l i) l
  | .nil, _, h => absurd h (Nat.not_lt_zero _)
  | .cons _ l, .zero, _ => .head l
  | .cons a l, .succ i, h => .tail a (place_mem other l i (Nat.le_of_succ_le_succ h))
theorem place_far {B : Type u} (other : B) : ∀ (l : List B) (i : Nat), size l ≤ i → place other l i = other
  | .nil, _, _ => rfl
  | .cons _ _, .zero, h => absurd h (Nat.not_succ_le_zero _)
  | .cons _ l, .succ i, h => place_far other l i (Nat.le_of_succ_le_succ h)
theorem place_falls {B : Type u} [TotalOrder B] (other : B) : ∀ l : List B, Descending l → Falls (size l) (place other l)
  | .nil, _, _, _, _, h => absurd h (Nat.not_lt_zero _)
  | .cons _ _, _, _, .zero, h, _ => absurd h (Nat.not_lt_zero _)
  | .cons _ l, d, .zero, .succ j, _, h => mem_le l d (place_mem other l j (Nat.le_of_succ_le_succ h))
  | .cons _ l, d, .succ i, .succ j, h, k =>
    place_falls other l d.right i j (Nat.le_of_succ_le_succ h) (Nat.le_of_succ_le_succ k)
theorem atRank_place {B : Type u} (f : B → V) (other : B) : ∀ (r : Nat) (l : List B), r < size l →
    atRank f r l = f (place other l r)
  | _, .nil, h => absurd h (Nat.not_lt_zero _)
  | .zero, .cons _ _, _ => rfl
  | .succ r, .cons _ l, h => atRank_place f other r l (Nat.le_of_succ_le_succ h)
theorem size_take {B : Type u} : ∀ (k : Nat) (l : List B), k ≤ size l → size (take k l) = k
  | .zero, _, _ => rfl
  | .succ _, .nil, h => absurd h (Nat.not_succ_le_zero _)
  | .succ k, .cons _ l, h => congrArg Nat.succ (size_take k l (Nat.le_of_succ_le_succ h))
theorem take_all {B : Type u} : ∀ l : List B, take (size l) l = l
  | .nil => rfl
  | .cons a l => congrArg (fun m => a :: m) (take_all l)
theorem mem_take {B : Type u} {x : B} : ∀ (k : Nat) (l : List B), Mem x (take k l) → Mem x l
  | .zero, _, h => nomatch h
  | .succ _, .nil, h => h
  | .succ k, .cons b l, h => by
      cases h with
      | head => exact .head l
      | tail _ h => exact .tail b (mem_take k l h)
theorem mem_merge {B : Type u} [TotalOrder B] {x : B} (m : List B) : ∀ l : List B, Mem x (merge l m) → Mem x l ∨ Mem x m
  | .nil, h => .inr h
  | .cons a l, h => by
      cases mem_insert a (merge l m) h with
      | inl e =>
        rw [e]
        exact .inl (.head l)
      | inr h =>
        cases mem_merge m l h with
        | inl h => exact .inl (.tail a h)
        | inr h => exact .inr h
theorem present_place {A : Type u} {I : Type v} [OrderedRing I] (l : List (Option (Best A I))) (h : ∀ e, Mem e l → Present e) (i : Nat) : Present (place .none l i) := by
  cases Nat.lt_or_ge i (size l) with
  | inl k => exact h _ (place_mem Option.none l i k)
  | inr k =>
    rw [place_far Option.none l i k]
    exact trivial
theorem apart_none {C : Type u} {J : Type v} (e : Option (Best C J)) : Apart e .none := by
  cases e with
  | none => exact trivial
  | some _ => exact trivial
theorem apart_place {A : Type u} {I : Type v} (l m : List (Option (Best A I))) (h : Disjoint l m) (i j : Nat) :
    Apart (place .none l i) (place .none m j) := by
  cases Nat.lt_or_ge j (size m) with
  | inr k =>
    rw [place_far Option.none m j k]
    exact apart_none _
  | inl k =>
    cases Nat.lt_or_ge i (size l) with
    | inl n => exact h _ _ (place_mem Option.none l i n) (place_mem Option.none m j k)
    | inr n =>
      rw [place_far Option.none l i n]
      exact trivial
theorem topK_held {k : Nat} {l : List (Option (Best A I))} (h : Held k l) : topK k l = l := by
  show take k (sort l) = l
  rw [sort_descending l h.falls, ← h.full, take_all]
/-- The compiler's combine of two states is the state of the merge, entry by entry and component by component. -/
theorem rankPick_merge (f : Option (Best A I) → V) (low : A) (k r : Nat) (hr : r < k) (l m : List (Option (Best A I)))
    (hl : Held k l) (hm : Held k m) (apart : Disjoint l m) (z : V) :
    rankPick k r (fun i => bestOf low (place .none l i)) (fun i => atOf (place .none l i)) (fun i => f (place .none l i))
        (fun i => bestOf low (place .none m i)) (fun i => atOf (place .none m i)) (fun i => f (place .none m i)) z
      = f (place .none (topMerge k l m) r) := by
  have fl := place_falls .none l hl.falls
  have fm := place_falls .none m hm.falls
  rw [hl.full] at fl
  rw [hm.full] at fm
  rw [rankPick_sorted f low k r hr _ _ fl fm (present_place l hl.present) (present_place m hm.present) (apart_place l m apart) z]
  have el : firsts (place .none l) k = l := by
    rw [← hl.full]
    exact firsts_place .none l
  have em : firsts (place .none m) k = m := by
    rw [← hm.full]
    exact firsts_place .none m
  rw [el, em]
  have size_sorted : size (sort (append l m)) = k + k := by
    rw [size_perm (perm_sort _), size_append, hl.full, hm.full]
  have same : topMerge k l m = take k (sort (append l m)) := by
    show take k (merge l m) = _
    rw [sort_append, sort_descending m hm.falls]
  have fits : k ≤ size (sort (append l m)) := by
    rw [size_sorted]
    exact Nat.le_add_right k k
  rw [same, ← atRank_place f .none r _ (by
    rw [size_take k _ fits]
    exact hr), atRank_take f k r _ hr]
/-- The merge of two states is a state. -/
theorem merge_held {k : Nat} {l m : List (Option (Best A I))} (hl : Held k l) (hm : Held k m) : Held k (topMerge k l m) := by
  have same : topMerge k l m = take k (sort (append l m)) := by
    show take k (merge l m) = _
    rw [sort_append, sort_descending m hm.falls]
  refine ⟨?_, ?_, ?_⟩
  · rw [same]
    exact descending_take k _ (descending_sort _)
  · rw [same]
    apply size_take
    rw [size_perm (perm_sort _), size_append, hl.full]
    exact Nat.le_add_right k (size m)
  · intro e h
    cases mem_merge m l (mem_take k _ h) with
    | inl h => exact hl.present e h
    | inr h => exact hm.present e h
theorem held_assoc {k : Nat} {l m n : List (Option (Best A I))} (hl : Held k l) (hm : Held k m) (hn : Held k n) :
    topMerge k (topMerge k l m) n = topMerge k l (topMerge k m n) := by
  have h := topMerge_assoc k l m n
  rw [topK_held hl, topK_held hm, topK_held hn] at h
  exact h
theorem held_comm {k : Nat} {l m : List (Option (Best A I))} (hl : Held k l) (hm : Held k m) :
    topMerge k l m = topMerge k m l := by
  have h := topMerge_comm k l m
  rw [topK_held hl, topK_held hm] at h
  exact h
/-- Nothing at all: k absent entries. -/
def nothing : Nat → List (Option (Best A I))
  | .zero => .nil
  | .succ k => .none :: nothing k
theorem mem_nothing {A : Type u} {I : Type v} : ∀ (k : Nat) (e : Option (Best A I)), Mem e (nothing k) → e = .none
  | .zero, _, h => nomatch h
  | .succ k, e, h => by
      cases h with
      | head => rfl
      | tail _ h => exact mem_nothing k e h
theorem nothing_falls : ∀ k : Nat, Descending (nothing k : List (Option (Best A I)))
  | .zero => trivial
  | .succ .zero => ⟨trivial, trivial⟩
  | .succ (.succ k) => ⟨le_refl _, nothing_falls (Nat.succ k)⟩
theorem nothing_size {A : Type u} {I : Type v} : ∀ k : Nat, size (nothing k : List (Option (Best A I))) = k
  | .zero => rfl
  | .succ k => congrArg Nat.succ (nothing_size k)
theorem nothing_held (k : Nat) : Held k (nothing k : List (Option (Best A I))) :=
  ⟨nothing_falls k, nothing_size k, fun e h => (mem_nothing k e h) ▸ trivial⟩
theorem take_nones {A : Type u} {I : Type v} : ∀ (k : Nat) (l : List (Option (Best A I))), (∀ x, Mem x l → x = .none) → k ≤ size l →
    take k (.none :: l) = take k l
  | .zero, _, _, _ => rfl
  | .succ _, .nil, _, h => absurd h (Nat.not_succ_le_zero _)
  | .succ k, .cons a l, all, h => by
      rw [all a (.head l)]
      exact congrArg (fun x => Option.none :: x)
        (take_nones k l (fun x hx => all x (.tail a hx)) (Nat.le_of_succ_le_succ h))
/-- An absent entry goes to the end. -/
theorem take_insert_none : ∀ (l : List (Option (Best A I))) (k : Nat), Descending l → k ≤ size l →
    take k (insert .none l) = take k l
  | _, .zero, _, _ => rfl
  | .nil, .succ _, _, h => absurd h (Nat.not_succ_le_zero _)
  | .cons a l, .succ k, d, h => by
      by_cases c : a ≤ .none
      · rw [insert_le l c]
        have e : a = .none := le_antisymm c trivial
        have all : ∀ x, Mem x l → x = .none := fun x hx => le_antisymm (le_trans (mem_le l d hx) c) trivial
        rw [e]
        show Option.none :: take k (.none :: l) = .none :: take k l
        rw [take_nones k l all (Nat.le_of_succ_le_succ h)]
      · rw [insert_gt l c]
        exact congrArg (fun x => a :: x) (take_insert_none l k d.right (Nat.le_of_succ_le_succ h))
theorem size_insert {B : Type u} [TotalOrder B] (a : B) (l : List B) : size (insert a l) = Nat.succ (size l) :=
  size_perm (perm_insert a l)
theorem take_merge_nothing {k : Nat} {m : List (Option (Best A I))} (hm : Held k m) : ∀ n,
    take k (merge (nothing n) m) = m ∧ Descending (merge (nothing n) m) ∧ k ≤ size (merge (nothing n) m)
  | .zero => by
      refine ⟨?_, hm.falls, ?_⟩
      · show take k m = m
        rw [← hm.full]
        exact take_all m
      · show k ≤ size m
        rw [hm.full]
        exact Nat.le_refl k
  | .succ n => by
      have ih := take_merge_nothing hm n
      have falls : Descending (insert .none (merge (nothing n) m)) := descending_insert Option.none _ ih.right.left
      refine ⟨?_, falls, ?_⟩
      · show take k (insert .none (merge (nothing n) m)) = m
        rw [take_insert_none _ k ih.right.left ih.right.right]
        exact ih.left
      · show k ≤ size (insert .none (merge (nothing n) m))
        rw [size_insert]
        exact Nat.le_trans ih.right.right (Nat.le_succ _)
/-- Nothing at all is the identity. -/
theorem held_identity {k : Nat} {l : List (Option (Best A I))} (hl : Held k l) :
    topMerge k (nothing k) l = l ∧ topMerge k l (nothing k) = l := by
  have left : topMerge k (nothing k) l = l := (take_merge_nothing hl k).left
  refine ⟨left, ?_⟩
  rw [held_comm hl (nothing_held k)]
  exact left
/-- The state of one element. -/
def alone (k : Nat) (s : Best A I) : List (Option (Best A I)) :=
  match k with
  | .zero => .nil
  | .succ k => .some s :: nothing k
theorem alone_held (k : Nat) (s : Best A I) (h : 0 ≤ s.at') : Held k (alone k s) :=
  match k with
  | .zero => ⟨trivial, rfl, fun _ h => nomatch h⟩
  | .succ .zero => ⟨⟨trivial, trivial⟩, rfl, fun e m => by
      cases m with
      | head => exact h
      | tail _ m => exact nomatch m⟩
  | .succ (.succ k) => ⟨⟨trivial, nothing_falls (Nat.succ k)⟩, congrArg Nat.succ (nothing_size (Nat.succ k)), fun e m => by
      cases m with
      | head => exact h
      | tail _ m =>
        rw [mem_nothing (Nat.succ k) e m]
        exact trivial⟩
theorem place_nothing {A : Type u} {I : Type v} {W : Type w} (f : Option (Best A I) → W) : ∀ k r : Nat, f (place .none (nothing k) r) = f .none
  | .zero, _ => rfl
  | .succ _, .zero => rfl
  | .succ k, .succ r => place_nothing f k r
theorem place_alone {A : Type u} {I : Type v} {W : Type w} (f : Option (Best A I) → W) (k r : Nat) (hr : r < k) (s : Best A I) :
    (if r = 0 then f (.some s) else f .none) = f (place .none (alone k s) r) := by
  cases k with
  | zero => exact absurd hr (Nat.not_lt_zero r)
  | succ k =>
    cases r with
    | zero => exact if_pos rfl
    | succ r => exact (if_neg (Nat.succ_ne_zero r)).trans (place_nothing f k r).symm
end
end Tang
