prelude
import Tang.Scan
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Segment — scans cut at a position: chunks, and segments of equal keys -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

/-! ## Loops that stop at a position -/
section
variable {α : Type u} {op : α → α → α} {e : α}
/-- A condition `r ≤ t` stops the loop after `t`. -/
theorem foldWhere_until (q : Nat → Prop) [∀ i, Decidable (q i)] (s : α) (t n : Nat) (h : t < n) (f : Nat → α) :
    foldWhere op (fun r => q r ∧ r ≤ t) s n f = foldWhere op q s (Nat.succ t) f := by
  have stop : ∀ k, foldWhere op (fun r => q r ∧ r ≤ t) s (Nat.succ t + k) f
      = foldWhere op (fun r => q r ∧ r ≤ t) s (Nat.succ t) f := by
    intro k
    induction k with
    | zero => rfl
    | succ k ih =>
      refine (if_neg ?_).trans ih
      intro c
      exact Nat.lt_irrefl t (Nat.le_trans (Nat.le_add_right (Nat.succ t) k) c.right)
  have inside : ∀ m, m ≤ Nat.succ t → foldWhere op (fun r => q r ∧ r ≤ t) s m f = foldWhere op q s m f := by
    intro m
    induction m with
    | zero => exact fun _ => rfl
    | succ m ih =>
      intro k
      have r := ih (Nat.le_trans (Nat.le_succ m) k)
      exact if_congr ⟨fun c => c.left, fun c => ⟨c, Nat.le_of_succ_le_succ k⟩⟩ (fun _ => by rw [r]) (fun _ => r)
  obtain ⟨k, hk⟩ := h
  rw [← hk, stop, inside _ (Nat.le_refl _)]
theorem foldWhere_true (s : α) (n : Nat) (f : Nat → α) : foldWhere op (fun _ => True) s n f = fold op s n f := by
  induction n with
  | zero => rfl
  | succ n ih =>
    refine (if_pos trivial).trans ?_
    rw [ih]
    rfl
theorem foldWhere_le (s : α) (t n : Nat) (h : t < n) (f : Nat → α) :
    foldWhere op (fun r => r ≤ t) s n f = fold op s (Nat.succ t) f := by
  rw [← foldWhere_true, ← foldWhere_until (fun _ => True) s t n h f]
  have same : ∀ m, foldWhere op (fun r => r ≤ t) s m f = foldWhere op (fun r => True ∧ r ≤ t) s m f := by
    intro m
    induction m with
    | zero => rfl
    | succ m ih => exact if_congr ⟨fun c => ⟨trivial, c⟩, fun c => c.right⟩ (fun _ => by rw [ih]) (fun _ => ih)
  exact same n
theorem foldWhere_lt (s : α) (t n : Nat) (h : t ≤ n) (f : Nat → α) :
    foldWhere op (fun r => r < t) s n f = fold op s t f := by
  obtain ⟨k, hk⟩ := h
  rw [← hk]
  have stop : ∀ k, foldWhere op (fun r => r < t) s (t + k) f = foldWhere op (fun r => r < t) s t f := by
    intro k
    induction k with
    | zero => rfl
    | succ k ih => exact (if_neg (Nat.not_le_of_lt (Nat.succ_le_succ (Nat.le_add_right t k)))).trans ih
  have inside : ∀ m, m ≤ t → foldWhere op (fun r => r < t) s m f = fold op s m f := by
    intro m
    induction m with
    | zero => exact fun _ => rfl
    | succ m ih =>
      intro j
      refine (if_pos j).trans ?_
      rw [ih (Nat.le_trans (Nat.le_succ m) j)]
      rfl
  rw [stop, inside t (Nat.le_refl t)]
end

/-! ## Quotients -/
/-- `quotient m t`: how many whole chunks of `m` lie before `t`, counted; and how far `t` is into its own. -/
def divided (m : Nat) : Nat → Prod Nat Nat
  | .zero => ⟨0, 0⟩
  | .succ t => if (divided m t).snd + 1 = m then ⟨(divided m t).fst + 1, 0⟩ else ⟨(divided m t).fst, (divided m t).snd + 1⟩
def quotient (m t : Nat) : Nat := (divided m t).fst
def remainder (m t : Nat) : Nat := (divided m t).snd
theorem divided_last (m t : Nat) (h : remainder m t + 1 = m) : divided m (Nat.succ t) = ⟨quotient m t + 1, 0⟩ := if_pos h
theorem divided_inside (m t : Nat) (h : ¬ remainder m t + 1 = m) :
    divided m (Nat.succ t) = ⟨quotient m t, remainder m t + 1⟩ := if_neg h
theorem quotient_inside (m t : Nat) (h : ¬ remainder m t + 1 = m) : quotient m (Nat.succ t) = quotient m t := by
  show (divided m (Nat.succ t)).fst = _
  rw [divided_inside m t h]
theorem remainder_inside (m t : Nat) (h : ¬ remainder m t + 1 = m) : remainder m (Nat.succ t) = remainder m t + 1 := by
  show (divided m (Nat.succ t)).snd = _
  rw [divided_inside m t h]
/-- They are what division gives. -/
theorem quotient_spec (m t : Nat) (hm : 0 < m) : quotient m t * m + remainder m t = t ∧ remainder m t < m := by
  induction t with
  | zero => exact ⟨Nat.zero_mul m, hm⟩
  | succ t ih =>
    by_cases h : remainder m t + 1 = m
    · have q : quotient m (Nat.succ t) = quotient m t + 1 := congrArg Prod.fst (divided_last m t h)
      have r : remainder m (Nat.succ t) = 0 := congrArg Prod.snd (divided_last m t h)
      rw [q, r]
      refine ⟨?_, hm⟩
      show Nat.succ (quotient m t) * m + 0 = Nat.succ t
      rw [Nat.succ_mul, Nat.add_zero]
      exact (congrArg (fun x => quotient m t * m + x) h.symm).trans (congrArg Nat.succ ih.left)
    · have q : quotient m (Nat.succ t) = quotient m t := quotient_inside m t h
      have r : remainder m (Nat.succ t) = remainder m t + 1 := remainder_inside m t h
      rw [q, r]
      exact ⟨congrArg Nat.succ ih.left, Nat.lt_of_le_of_ne ih.right h⟩
theorem quotient_succ (m t : Nat) : quotient m t ≤ quotient m (Nat.succ t) := by
  by_cases h : remainder m t + 1 = m
  · rw [show quotient m (Nat.succ t) = quotient m t + 1 from congrArg Prod.fst (divided_last m t h)]
    exact Nat.le_succ _
  · rw [show quotient m (Nat.succ t) = quotient m t from quotient_inside m t h]
    exact Nat.le_refl _
theorem add_sub_self (a b : Nat) : a + b - a = b := by
  have step : ∀ a b : Nat, Nat.succ a - Nat.succ b = a - b := by
    intro a b
    induction b with
    | zero => rfl
    | succ b ih => exact congrArg Nat.pred ih
  induction a with
  | zero =>
    rw [Nat.zero_add]
    rfl
  | succ a ih => rw [Nat.succ_add, step, ih]
theorem lt_of_mul_lt {a b m : Nat} (h : a * m < b * m) : a < b := by
  cases Nat.lt_or_ge a b with
  | inl k => exact k
  | inr k =>
    obtain ⟨c, hc⟩ := k
    rw [← hc, Nat.mul_comm, Nat.mul_add, Nat.mul_comm m b] at h
    exact absurd (Nat.le_add_right _ _) (Nat.not_le_of_lt h)

/-! ## A scan in chunks, read at a position -/
section
variable {α : Type u} {op : α → α → α} {e : α}
theorem scan_at (assoc : Associative op) (id : Identity op e) (n m t : Nat) (hm : 0 < m) (ht : t < n * m) (f : Nat → α) :
    foldWhere op (fun s => s ≤ t) e (n * m) f
      = op (foldWhere op (fun c => c + 1 ≤ quotient m t) e n (fun c => fold op e m (fun k => f (k + c * m))))
          (foldWhere op (fun k => k ≤ t - quotient m t * m) e m (fun k => f (k + quotient m t * m))) := by
  rw [show (fun c => fold op e m (fun k => f (k + c * m))) = (fun c => fold op e m (fun k => f (c * m + k))) from
      funext (fun c => congrArg (fold op e m) (funext (fun k => congrArg f (Nat.add_comm _ _)))),
    show (fun k => f (k + quotient m t * m)) = (fun k => f (quotient m t * m + k)) from
      funext (fun k => congrArg f (Nat.add_comm _ _))]
  obtain ⟨whole, inside⟩ := quotient_spec m t hm
  have place : t - quotient m t * m = remainder m t := by
    have k := add_sub_self (quotient m t * m) (remainder m t)
    rw [whole] at k
    exact k
  have first : quotient m t < n := lt_of_mul_lt (Nat.le_trans (Nat.succ_le_succ ⟨remainder m t, whole⟩) ht)
  rw [foldWhere_le _ t _ ht, place, foldWhere_le _ _ _ inside]
  refine Eq.trans ?_ (congrArg (fun x => op x _) (foldWhere_lt e (quotient m t) n (Nat.le_of_lt first) _).symm)
  rw [← scan_chunk assoc id]
  exact congrArg (fun x => fold op e x f) (congrArg Nat.succ whole.symm)
end

/-! ## Sums by a sorted key -/
section
theorem sorted_le (key : Nat → Nat) (sorted : ∀ i, key i ≤ key (Nat.succ i)) (i d : Nat) : key i ≤ key (i + d) := by
  induction d with
  | zero => exact Nat.le_refl _
  | succ d ih => exact Nat.le_trans ih (sorted (i + d))
theorem sorted_lt (key : Nat → Nat) (sorted : ∀ i, key i ≤ key (Nat.succ i)) {i j : Nat} (h : i ≤ j) : key i ≤ key j := by
  obtain ⟨d, hd⟩ := h
  rw [← hd]
  exact sorted_le key sorted i d
/-- How many keys are at most `k`: one beyond the end of its segment. -/
def ends (key : Nat → Nat) (k n : Nat) : Nat :=
  fold (fun a b => a + b) 0 n (fun i => if key i < k ∨ key i = k then 1 else 0)
theorem ends_in (key : Nat → Nat) (k n : Nat) (h : key n ≤ k) : ends key k (Nat.succ n) = ends key k n + 1 := by
  refine congrArg (fun x => ends key k n + x) (if_pos ?_)
  by_cases e : key n = k
  · exact .inr e
  · exact .inl (Nat.lt_of_le_of_ne h e)
theorem ends_out (key : Nat → Nat) (k n : Nat) (h : k < key n) : ends key k (Nat.succ n) = ends key k n := by
  refine congrArg (fun x => ends key k n + x) (if_neg ?_)
  intro o
  cases o with
  | inl o => exact Nat.lt_irrefl _ (Nat.le_trans (Nat.succ_le_succ (Nat.le_of_lt o)) h)
  | inr o =>
    rw [o] at h
    exact Nat.lt_irrefl _ h
/-- They are the first ones. -/
theorem ends_spec (key : Nat → Nat) (sorted : ∀ i, key i ≤ key (Nat.succ i)) (k n : Nat) :
    ends key k n ≤ n ∧ (∀ i, i < ends key k n → key i ≤ k) ∧ (∀ i, ends key k n ≤ i → i < n → k < key i) := by
  induction n with
  | zero => exact ⟨Nat.le_refl 0, fun i h => absurd h (Nat.not_lt_zero i), fun i _ h => absurd h (Nat.not_lt_zero i)⟩
  | succ n ih =>
    obtain ⟨small, first, last⟩ := ih
    cases Nat.lt_or_ge k (key n) with
    | inl h =>
      rw [ends_out key k n h]
      refine ⟨Nat.le_trans small (Nat.le_succ n), first, ?_⟩
      intro i lo hi
      by_cases e : i = n
      · rw [e]
        exact h
      · exact last i lo (Nat.lt_of_le_of_ne (Nat.le_of_lt_succ hi) e)
    | inr h =>
      have all : ends key k n = n := by
        by_cases e : ends key k n = n
        · exact e
        · have j := last (ends key k n) (Nat.le_refl _) (Nat.lt_of_le_of_ne small e)
          exact absurd (Nat.le_trans (sorted_lt key sorted small) h) (Nat.not_le_of_lt j)
      rw [ends_in key k n h, all]
      refine ⟨Nat.le_refl _, ?_, ?_⟩
      · intro i hi
        exact Nat.le_trans (sorted_lt key sorted (Nat.le_of_lt_succ hi)) h
      · intro i lo hi
        exact absurd (Nat.le_trans hi lo) (Nat.lt_irrefl i)
variable {K : Type u} [CommSemiring K]
/-- Running sums that start again with every new key. -/
theorem restarted (key : Nat → Nat) (sorted : ∀ i, key i ≤ key (Nat.succ i)) (far : Nat) (f : Nat → K) (t : Nat) (h : t < far) :
    recurrence (fun i => if (1 ≤ i ∧ i < far + 1) ∧ key i = key (i - 1) then 1 else 0) f (Nat.succ t)
      = sum (Nat.succ t) (fun i => if key i = key t then f i else 0) := by
  induction t with
  | zero =>
    show (if (1 ≤ 0 ∧ 0 < far + 1) ∧ key 0 = key (0 - 1) then (1 : K) else 0) * 0 + f 0 = 0 + (if key 0 = key 0 then f 0 else 0)
    rw [if_pos rfl, mul_zero]
  | succ t ih =>
    have before := ih (Nat.le_trans (Nat.le_succ _) h)
    generalize hr : recurrence (fun i => if (1 ≤ i ∧ i < far + 1) ∧ key i = key (i - 1) then (1 : K) else 0) f (Nat.succ t) = r at before
    show (if (1 ≤ Nat.succ t ∧ Nat.succ t < far + 1) ∧ key (Nat.succ t) = key t then (1 : K) else 0)
        * recurrence (fun i => if (1 ≤ i ∧ i < far + 1) ∧ key i = key (i - 1) then 1 else 0) f (Nat.succ t) + f (Nat.succ t)
      = sum (Nat.succ t) (fun i => if key i = key (Nat.succ t) then f i else 0)
        + (if key (Nat.succ t) = key (Nat.succ t) then f (Nat.succ t) else 0)
    rw [hr, if_pos (rfl : key (Nat.succ t) = key (Nat.succ t))]
    apply congrArg (fun x => x + f (Nat.succ t))
    by_cases e : key (Nat.succ t) = key t
    · rw [if_pos ⟨⟨⟨t, Nat.add_comm 1 t⟩, Nat.lt_succ_of_lt h⟩, e⟩, one_mul, before, e]
    · rw [if_neg (fun c => e c.right), zero_mul]
      refine ((sum_congr ?_).trans (sum_const_zero (Nat.succ t))).symm
      intro i hi
      apply if_neg
      intro c
      apply e
      have low := sorted_lt key sorted (Nat.le_of_lt_succ hi)
      rw [c] at low
      exact Nat.le_antisymm low (sorted t)
/-- A gated sum over a sorted key is the running sum at the end of the key's segment. -/
theorem segment_at (key : Nat → Nat) (sorted : ∀ i, key i ≤ key (Nat.succ i)) (k n : Nat) (f : Nat → K) :
    sum n (fun i => if key i = k then f i else 0)
      = if (1 ≤ ends key k n ∧ ends key k n < n + 1) ∧ key (ends key k n - 1) = k then
          (if 1 ≤ ends key k n ∧ ends key k n < n + 1 then
            (foldWhere affine (fun i => i ≤ ends key k n - 1) ⟨1, 0⟩ n
              (fun i => ⟨if (1 ≤ i ∧ i < n + 1) ∧ key i = key (i - 1) then 1 else 0, f i⟩)).b else 0) else 0 := by
  obtain ⟨small, first, last⟩ := ends_spec key sorted k n
  generalize ends key k n = e at small first last
  have rest : ∀ d, e + d ≤ n → sum (e + d) (fun i => if key i = k then f i else 0) = sum e (fun i => if key i = k then f i else 0) := by
    intro d
    induction d with
    | zero => exact fun _ => rfl
    | succ d ih =>
      intro h
      show sum (e + d) (fun i => if key i = k then f i else 0) + (if key (e + d) = k then f (e + d) else 0) = _
      have above := last (e + d) (Nat.le_add_right e d) h
      rw [ih (Nat.le_trans (Nat.le_succ _) h), if_neg (fun c => Nat.ne_of_lt above c.symm), add_zero]
  have cut : sum n (fun i => if key i = k then f i else 0) = sum e (fun i => if key i = k then f i else 0) := by
    obtain ⟨d, hd⟩ := small
    rw [← hd]
    exact rest d ⟨0, hd ▸ rfl⟩
  rw [cut]
  cases e with
  | zero => exact (if_neg (fun c => Nat.not_lt_zero 0 c.left.left)).symm
  | succ e =>
    by_cases same : key e = k
    · have inside : 1 ≤ Nat.succ e ∧ Nat.succ e < n + 1 := ⟨⟨e, Nat.add_comm 1 e⟩, Nat.succ_le_succ small⟩
      refine Eq.trans ?_ (if_pos ⟨inside, same⟩).symm
      refine Eq.trans ?_ (if_pos inside).symm
      show _ = (foldWhere affine (fun i => i ≤ e) ⟨1, 0⟩ n
              (fun i => ⟨if (1 ≤ i ∧ i < n + 1) ∧ key i = key (i - 1) then 1 else 0, f i⟩)).b
      rw [foldWhere_le _ e n small, affine_fold, restarted key sorted n f e small, same]
    · refine Eq.trans ?_ (if_neg (fun c => same c.right)).symm
      refine (sum_congr ?_).trans (sum_const_zero (Nat.succ e))
      intro i hi
      apply if_neg
      intro c
      apply same
      apply Nat.le_antisymm (first e (Nat.le_refl _))
      rw [← c]
      exact sorted_lt key sorted (Nat.le_of_lt_succ hi)
end
end Tang
