prelude
import Tang.Fold
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.TopK — merging descending lists and keeping the k largest -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

def append {A : Type u} : List A → List A → List A
  | .nil, m => m
  | .cons a l, m => a :: append l m
theorem append_assoc {A : Type u} : ∀ l m r : List A, append (append l m) r = append l (append m r)
  | .nil, _, _ => rfl
  | .cons a l, m, r => congrArg (fun x => a :: x) (append_assoc l m r)
/-- The first k elements, or all. -/
def take {A : Type u} : Nat → List A → List A
  | .zero, _ => .nil
  | .succ _, .nil => .nil
  | .succ k, .cons a l => a :: take k l
theorem take_cons {A : Type u} : ∀ (k : Nat) (a : A) (l : List A), take k (a :: take k l) = take k (a :: l)
  | .zero, _, _ => rfl
  | .succ .zero, _, _ => rfl
  | .succ (.succ _), _, .nil => rfl
  | .succ (.succ k), a, .cons b l => congrArg (fun x => a :: x) (take_cons (Nat.succ k) b l)

theorem take_idem {A : Type u} : ∀ (k : Nat) (l : List A), take k (take k l) = take k l
  | .zero, _ => rfl
  | .succ _, .nil => rfl
  | .succ k, .cons a l => congrArg (fun x => a :: x) (take_idem k l)

section
variable {A : Type u} [TotalOrder A]
/-- Into a descending list, before the first element that is not larger. -/
def insert (a : A) : List A → List A
  | .nil => [a]
  | .cons b l => if b ≤ a then a :: b :: l else b :: insert a l
/-- All of `l` into `m`: of two descending lists, the descending list of both. -/
def merge : List A → List A → List A
  | .nil, m => m
  | .cons a l, m => insert a (merge l m)
/-- Insertion sort, descending. -/
def sort (l : List A) : List A := merge l .nil
/-- The k largest, descending. -/
def topK (k : Nat) (l : List A) : List A := take k (sort l)
/-- The combine: the k first of the merge. -/
def topMerge (k : Nat) (l m : List A) : List A := take k (merge l m)

theorem insert_le {a b : A} (l : List A) (h : b ≤ a) : insert a (b :: l) = a :: b :: l := if_pos h
theorem insert_gt {a b : A} (l : List A) (h : ¬ b ≤ a) : insert a (b :: l) = b :: insert a l := if_neg h
/-- Two elements may be inserted in either order. -/
theorem insert_comm (a b : A) : ∀ l, insert a (insert b l) = insert b (insert a l)
  | .nil => by
      show insert a [b] = insert b [a]
      by_cases h : b ≤ a
      · by_cases k : a ≤ b
        · rw [le_antisymm h k]
        · rw [insert_le _ h, insert_gt _ k]
          rfl
      · rw [insert_gt _ h, insert_le _ (not_le h)]
        rfl
  | .cons x l => by
      by_cases h : b ≤ a
      · by_cases k : a ≤ b
        · rw [le_antisymm h k]
        · by_cases y : x ≤ b
          · rw [insert_le l y, insert_le _ h, insert_le l (le_trans y h), insert_gt _ k, insert_le l y]
          · by_cases z : x ≤ a
            · rw [insert_gt l y, insert_le _ z, insert_le l z, insert_gt _ k, insert_gt l y]
            · rw [insert_gt l y, insert_gt _ z, insert_gt l z, insert_gt _ y, insert_comm a b l]
      · by_cases z : x ≤ a
        · rw [insert_le l z, insert_le l (le_trans z (not_le h)), insert_gt _ h, insert_le l z, insert_le _ (not_le h)]
        · by_cases y : x ≤ b
          · rw [insert_gt l z, insert_le l y, insert_gt _ h, insert_gt l z, insert_le _ y]
          · rw [insert_gt l y, insert_gt _ z, insert_gt l z, insert_gt _ y, insert_comm a b l]
theorem merge_insert (a : A) (m : List A) : ∀ l, merge l (insert a m) = insert a (merge l m)
  | .nil => rfl
  | .cons b l => by
      show insert b (merge l (insert a m)) = insert a (insert b (merge l m))
      rw [merge_insert a m l, insert_comm]
theorem insert_merge (a : A) (m : List A) : ∀ l, merge (insert a l) m = insert a (merge l m)
  | .nil => rfl
  | .cons b l => by
      by_cases h : b ≤ a
      · rw [insert_le l h]
        rfl
      · rw [insert_gt l h]
        show insert b (merge (insert a l) m) = insert a (insert b (merge l m))
        rw [insert_merge a m l, insert_comm]
theorem sort_append (m : List A) : ∀ l, sort (append l m) = merge l (sort m)
  | .nil => rfl
  | .cons a l => congrArg (insert a) (sort_append m l)
theorem merge_sort (m : List A) : ∀ l, merge (sort l) m = merge l m
  | .nil => rfl
  | .cons a l => by
      show merge (insert a (sort l)) m = insert a (merge l m)
      rw [insert_merge, merge_sort m l]
theorem merge_comm_sort (m : List A) : ∀ l, merge l (sort m) = merge m (sort l)
  | .nil => by
      show sort m = merge m .nil
      rfl
  | .cons a l => by
      show insert a (merge l (sort m)) = merge m (insert a (sort l))
      rw [merge_insert, merge_comm_sort m l]

/-! ## Descending lists -/
/-- Every element is followed by one that is no larger. -/
def Descending : List A → Prop
  | .nil => True
  | .cons a l => (match l with
    | .nil => True
    | .cons b _ => b ≤ a) ∧ Descending l
theorem descending_insert (a : A) : ∀ l, Descending l → Descending (insert a l)
  | .nil, _ => ⟨trivial, trivial⟩
  | .cons b .nil, h => by
      by_cases k : b ≤ a
      · rw [insert_le _ k]
        exact ⟨k, h⟩
      · rw [insert_gt _ k]
        exact ⟨not_le k, trivial, trivial⟩
  | .cons b (.cons c l), h => by
      by_cases k : b ≤ a
      · rw [insert_le _ k]
        exact ⟨k, h⟩
      · rw [insert_gt _ k]
        have tail := descending_insert a (c :: l) h.right
        by_cases j : c ≤ a
        · rw [insert_le l j]
          rw [insert_le l j] at tail
          exact ⟨not_le k, tail⟩
        · rw [insert_gt l j]
          rw [insert_gt l j] at tail
          exact ⟨h.left, tail⟩
theorem descending_sort : ∀ l : List A, Descending (sort l)
  | .nil => trivial
  | .cons a l => descending_insert a (sort l) (descending_sort l)
theorem insert_head (a : A) (l : List A) (h : Descending (a :: l)) : insert a l = a :: l :=
  match l, h with
  | .nil, _ => rfl
  | .cons _ l, h => insert_le l h.left
theorem sort_descending : ∀ l : List A, Descending l → sort l = l
  | .nil, _ => rfl
  | .cons a l, h => by
      show insert a (sort l) = a :: l
      rw [sort_descending l h.right, insert_head a l h]
theorem descending_take : ∀ (k : Nat) (l : List A), Descending l → Descending (take k l)
  | .zero, _, _ => trivial
  | .succ _, .nil, _ => trivial
  | .succ .zero, .cons _ .nil, _ => ⟨trivial, trivial⟩
  | .succ .zero, .cons _ (.cons _ _), _ => ⟨trivial, trivial⟩
  | .succ (.succ _), .cons _ .nil, _ => ⟨trivial, trivial⟩
  | .succ (.succ k), .cons _ (.cons c l), h => ⟨h.left, descending_take (Nat.succ k) (c :: l) h.right⟩

/-! ## The k first of a merge depend on the k first of each side -/
theorem take_insert (a : A) : ∀ (k : Nat) (l : List A), take k (insert a (take k l)) = take k (insert a l)
  | .zero, _ => rfl
  | .succ _, .nil => rfl
  | .succ k, .cons b l => by
      show take (Nat.succ k) (insert a (b :: take k l)) = take (Nat.succ k) (insert a (b :: l))
      by_cases h : b ≤ a
      · rw [insert_le _ h, insert_le _ h]
        exact congrArg (fun x => a :: x) (take_cons k b l)
      · rw [insert_gt _ h, insert_gt _ h]
        exact congrArg (fun x => b :: x) (take_insert a k l)
theorem take_merge (k : Nat) (m : List A) : ∀ l, take k (merge l (take k m)) = take k (merge l m)
  | .nil => take_idem k m
  | .cons a l => by
      show take k (insert a (merge l (take k m))) = take k (insert a (merge l m))
      rw [← take_insert a k (merge l (take k m)), take_merge k m l, take_insert]
/-- Merging the k largest of two lists gives the k largest of both. -/
theorem topMerge_append (k : Nat) (l m : List A) : topMerge k (topK k l) (topK k m) = topK k (append l m) := by
  show take k (merge (take k (sort l)) (take k (sort m))) = take k (sort (append l m))
  rw [take_merge, merge_comm_sort m, sort_descending _ (descending_take k _ (descending_sort l)), take_merge,
    sort_append, merge_comm_sort]
/-- Associative on what reductions meet: the k largest of some elements. -/
theorem topMerge_assoc (k : Nat) (l m r : List A) :
    topMerge k (topMerge k (topK k l) (topK k m)) (topK k r) = topMerge k (topK k l) (topMerge k (topK k m) (topK k r)) := by
  rw [topMerge_append, topMerge_append, topMerge_append, topMerge_append, append_assoc]
theorem topMerge_comm (k : Nat) (l m : List A) : topMerge k (topK k l) (topK k m) = topMerge k (topK k m) (topK k l) := by
  rw [topMerge_append, topMerge_append]
  show take k _ = take k _
  rw [sort_append, merge_comm_sort, ← sort_append]

/-! ## They are the largest -/
theorem perm_refl {A : Type u} : ∀ l : List A, Perm l l
  | .nil => .nil
  | .cons a l => .cons a (perm_refl l)
theorem perm_insert (a : A) : ∀ l, Perm (insert a l) (a :: l)
  | .nil => perm_refl _
  | .cons b l => by
      by_cases h : b ≤ a
      · rw [insert_le l h]
        exact perm_refl _
      · rw [insert_gt l h]
        exact .trans (.cons b (perm_insert a l)) (.swap b a l)
/-- Sorting keeps the elements. -/
theorem perm_sort : ∀ l : List A, Perm (sort l) l
  | .nil => .nil
  | .cons a l => .trans (perm_insert a (sort l)) (.cons a (perm_sort l))
/-- What comes after the first k. -/
def drop {A : Type u} : Nat → List A → List A
  | .zero, l => l
  | .succ _, .nil => .nil
  | .succ k, .cons _ l => drop k l
inductive Mem {A : Type u} (a : A) : List A → Prop where
  | head (l : List A) : Mem a (a :: l)
  | tail (b : A) {l : List A} : Mem a l → Mem a (b :: l)
theorem mem_le {a x : A} : ∀ l, Descending (a :: l) → Mem x l → x ≤ a
  | .nil, _, h => nomatch h
  | .cons b l, d, h => by
      cases h with
      | head => exact d.left
      | tail _ h => exact le_trans (mem_le l d.right h) d.left
theorem mem_drop {A : Type u} {x : A} : ∀ (k : Nat) (l : List A), Mem x (drop k l) → Mem x l
  | .zero, _, h => h
  | .succ _, .nil, h => h
  | .succ k, .cons b l, h => .tail b (mem_drop k l h)
/-- No element that is left out is larger than one that is kept. -/
theorem topK_largest : ∀ (k : Nat) (l : List A), Descending l → ∀ x y, Mem x (take k l) → Mem y (drop k l) → y ≤ x
  | .zero, _, _, _, _, h, _ => nomatch h
  | .succ _, .nil, _, _, _, h, _ => nomatch h
  | .succ k, .cons a l, d, x, y, h, j => by
      cases h with
      | head => exact mem_le l d (mem_drop k l j)
      | tail _ h => exact topK_largest k l d.right x y h j
/-- How many elements a list has. -/
def size {A : Type u} : List A → Nat
  | .nil => 0
  | .cons _ l => Nat.succ (size l)
theorem append_take {A : Type u} : ∀ (k : Nat) (l : List A), append (take k l) (drop k l) = l
  | .zero, _ => rfl
  | .succ _, .nil => rfl
  | .succ k, .cons a l => congrArg (fun x => a :: x) (append_take k l)
theorem take_full {A : Type u} : ∀ (k : Nat) (l : List A), size (take k l) = k ∨ drop k l = .nil
  | .zero, _ => .inl rfl
  | .succ _, .nil => .inr rfl
  | .succ k, .cons _ l => match take_full k l with
    | .inl h => .inl (congrArg Nat.succ h)
    | .inr h => .inr h
/-- The combine of the k largest of two lists: k elements of both, in descending order, or all; and no other is larger. -/
theorem topMerge_largest (k : Nat) (l m : List A) :
    ∃ rest, Perm (append (topMerge k (topK k l) (topK k m)) rest) (append l m)
      ∧ Descending (topMerge k (topK k l) (topK k m))
      ∧ (size (topMerge k (topK k l) (topK k m)) = k ∨ rest = .nil)
      ∧ ∀ x y, Mem x (topMerge k (topK k l) (topK k m)) → Mem y rest → y ≤ x := by
  rw [topMerge_append]
  have sorted := descending_sort (append l m)
  refine ⟨drop k (sort (append l m)), ?_, descending_take k _ sorted, take_full k _, topK_largest k _ sorted⟩
  show Perm (append (take k (sort (append l m))) (drop k (sort (append l m)))) (append l m)
  rw [append_take]
  exact perm_sort _
end
end Tang
