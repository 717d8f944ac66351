prelude
import Tang.Means
import Tang.Traffic
import Tang.LP
import Tang.Field
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Cover — Loomis–Whitney for any number of loops and any dual-feasible weights

Weights are multiples of 1/N: an array of weight k/N stands k times in a list. Finner (1992) has the
integral form; here Hölder's inequality of Tang/Means goes along one loop after the other. -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

section
variable {K : Type u} [OrderedField K]

/-! ## Loops and arrays -/
/-- A point with one coordinate changed. -/
def moved (x : Nat → Nat) (d i : Nat) : Nat → Nat := fun l => if l = d then i else x l
/-- The sum over the first `d` loops, of extents `n`. -/
def sums (n : Nat → Nat) : Nat → ((Nat → Nat) → K) → (Nat → Nat) → K
  | .zero, s, x => s x
  | .succ d, s, x => sum (n d) (fun i => sums n d s (moved x d i))
theorem sums_nonneg (n : Nat → Nat) : ∀ (d : Nat) (s : (Nat → Nat) → K), (∀ x, 0 ≤ s x) → ∀ x, 0 ≤ sums n d s x
  | .zero, _, h, x => h x
  | .succ d, s, h, x => sum_nonneg (fun i => sums_nonneg n d s h (moved x d i))
/-- The sum along a loop that indexes an array; any element along one that does not. -/
def sumIf (uses : Bool) (n : Nat) (b : Nat → K) : K :=
  match uses with
  | .true => sum n b
  | .false => b 0
/-- The sum over those of the first `d` loops that index an array. -/
def sumsOver (n : Nat → Nat) (uses : Nat → Bool) : Nat → ((Nat → Nat) → K) → (Nat → Nat) → K
  | .zero, b, x => b x
  | .succ d, b, x => sumIf (uses d) (n d) (fun i => sumsOver n uses d b (moved x d i))
/-- An array: which loops index it, its elements, none negative, and that no other coordinate matters. -/
structure Operand (K : Type u) [OrderedField K] where
  uses : Nat → Bool
  value : (Nat → Nat) → K
  nonneg : ∀ x, 0 ≤ value x
  depends : ∀ x y, (∀ l, uses l = true → x l = y l) → value x = value y
theorem sumIf_nonneg (u : Bool) (n : Nat) (b : Nat → K) (h : ∀ i, 0 ≤ b i) : 0 ≤ sumIf u n b :=
  match u with
  | .true => sum_nonneg h
  | .false => h 0
theorem sumsOver_nonneg (n : Nat → Nat) (a : Operand K) : ∀ (d : Nat) (x : Nat → Nat), 0 ≤ sumsOver n a.uses d a.value x
  | .zero, x => a.nonneg x
  | .succ d, x => sumIf_nonneg (a.uses d) (n d) _ (fun i => sumsOver_nonneg n a d (moved x d i))
theorem moved_agree {uses : Nat → Bool} {x y : Nat → Nat} (h : ∀ l, uses l = true → x l = y l) (d i : Nat) :
    ∀ l, uses l = true → moved x d i l = moved y d i l := fun l k =>
  if_congr (Iff.refl (l = d)) (fun _ => rfl) (fun _ => h l k)
theorem sumsOver_depends (n : Nat → Nat) (a : Operand K) : ∀ (d : Nat) (x y : Nat → Nat),
    (∀ l, a.uses l = true → x l = y l) → sumsOver n a.uses d a.value x = sumsOver n a.uses d a.value y
  | .zero, _, _, h => a.depends _ _ h
  | .succ d, _, _, h => congrArg (sumIf (a.uses d) (n d))
      (funext (fun i => sumsOver_depends n a d _ _ (moved_agree h d i)))
/-- A loop that does not index an array may stand anywhere. -/
theorem sumsOver_still (n : Nat → Nat) (a : Operand K) (d : Nat) (x : Nat → Nat) (i : Nat) (h : a.uses d = false) :
    sumsOver n a.uses d a.value (moved x d i) = sumsOver n a.uses d a.value (moved x d 0) := by
  apply sumsOver_depends
  intro l k
  have ne : ¬ l = d := by
    intro e
    rw [e, h] at k
    exact nomatch k
  exact (if_neg ne).trans (if_neg ne).symm
/-- The product of the arrays' sums. -/
def product (n : Nat → Nat) (d : Nat) (x : Nat → Nat) : List (Operand K) → K
  | .nil => 1
  | .cons a l => sumsOver n a.uses d a.value x * product n d x l
def countIf (uses : Bool) (n : Nat) : Nat :=
  match uses with
  | .true => Nat.succ n
  | .false => n
/-- How many arrays a loop indexes. -/
def covering (d : Nat) : List (Operand K) → Nat
  | .nil => 0
  | .cons a l => countIf (a.uses d) (covering d l)
def pieceOf (uses : Bool) (b : Nat → K) : Piece K :=
  match uses with
  | .true => .summed b
  | .false => .kept (b 0)
def piecesOf (n : Nat → Nat) (d : Nat) (x : Nat → Nat) : List (Operand K) → List (Piece K)
  | .nil => .nil
  | .cons a l => pieceOf (a.uses d) (fun i => sumsOver n a.uses d a.value (moved x d i)) :: piecesOf n d x l
theorem pieceOf_at (u : Bool) (b : Nat → K) (i : Nat) (h : u = false → b i = b 0) (l : List (Piece K)) :
    pieceAt i (pieceOf u b :: l) = b i * pieceAt i l :=
  match u, h with
  | .true, _ => rfl
  | .false, h => congrArg (fun y => y * pieceAt i l) (h rfl).symm
theorem pieceOf_sum (u : Bool) (b : Nat → K) (n : Nat) (l : List (Piece K)) :
    pieceSum n (pieceOf u b :: l) = sumIf u n b * pieceSum n l :=
  match u with
  | .true => rfl
  | .false => rfl
theorem pieceOf_nonneg (u : Bool) (b : Nat → K) (h : ∀ i, 0 ≤ b i) (l : List (Piece K)) (k : PiecesNonneg l) :
    PiecesNonneg (pieceOf u b :: l) :=
  match u with
  | .true => ⟨h, k⟩
  | .false => ⟨h 0, k⟩
theorem pieceOf_count {L : Type u} (u : Bool) (b : Nat → L) (l : List (Piece L)) :
    pieceCount (pieceOf u b :: l) = countIf u (pieceCount l) :=
  match u with
  | .true => rfl
  | .false => rfl
theorem pieces_at (n : Nat → Nat) (d : Nat) (x : Nat → Nat) (i : Nat) : ∀ l : List (Operand K),
    pieceAt i (piecesOf n d x l) = product n d (moved x d i) l
  | .nil => rfl
  | .cons a l => (pieceOf_at (a.uses d) (fun j => sumsOver n a.uses d a.value (moved x d j)) i (sumsOver_still n a d x i) _).trans
      (congrArg (fun y => sumsOver n a.uses d a.value (moved x d i) * y) (pieces_at n d x i l))
theorem pieces_sum (n : Nat → Nat) (d : Nat) (x : Nat → Nat) : ∀ l : List (Operand K),
    pieceSum (n d) (piecesOf n d x l) = product n (Nat.succ d) x l
  | .nil => rfl
  | .cons a l => (pieceOf_sum (a.uses d) _ (n d) _).trans
      (congrArg (fun y => sumsOver n a.uses (Nat.succ d) a.value x * y) (pieces_sum n d x l))
theorem pieces_nonneg (n : Nat → Nat) (d : Nat) (x : Nat → Nat) : ∀ l : List (Operand K), PiecesNonneg (piecesOf n d x l)
  | .nil => trivial
  | .cons a l => pieceOf_nonneg (a.uses d) _ (fun i => sumsOver_nonneg n a d (moved x d i)) _ (pieces_nonneg n d x l)
theorem pieces_count (n : Nat → Nat) (d : Nat) (x : Nat → Nat) : ∀ l : List (Operand K),
    pieceCount (piecesOf n d x l) = covering d l
  | .nil => rfl
  | .cons a l => (pieceOf_count (a.uses d) _ _).trans
      (congrArg (countIf (a.uses d)) (pieces_count n d x l))
/-- Arrays of weight 1/N each (one of weight k/N stands k times) that cover every loop with weight at least 1:
the N-th power of the sum over all loops is at most the product of the arrays' own sums. -/
theorem weighted_cover (n : Nat → Nat) (arrays : List (Operand K)) (m : Nat) (s : (Nat → Nat) → K) (hs : ∀ x, 0 ≤ s x)
    (bound : ∀ x, power (s x) (Nat.succ m) ≤ product n 0 x arrays) :
    ∀ d, (∀ j, j < d → Nat.succ m ≤ covering j arrays) → ∀ x, power (sums n d s x) (Nat.succ m) ≤ product n d x arrays
  | .zero, _, x => bound x
  | .succ d, cover, x => by
      rw [← pieces_sum]
      apply holder _ (pieces_nonneg n d x arrays) m (by
        rw [pieces_count]
        exact cover d (Nat.lt_succ_self d)) (fun i => sums n d s (moved x d i)) (fun i => sums_nonneg n d s hs (moved x d i))
      intro i
      rw [pieces_at]
      exact weighted_cover n arrays m s hs bound d (fun j h => cover j (Nat.lt_succ_of_lt h)) (moved x d i)
end

/-! ## Sets of iteration points -/
/-- A set of elements of an array: which loops index it, and that no other coordinate matters. -/
structure Elements where
  uses : Nat → Bool
  holds : (Nat → Nat) → Prop
  decide' : ∀ x, Decidable (holds x)
  depends : ∀ x y, (∀ l, uses l = true → x l = y l) → (holds x ↔ holds y)
instance decHolds (e : Elements) (x : Nat → Nat) : Decidable (e.holds x) := e.decide' x
section
variable {K : Type u} [OrderedField K]
def Elements.operand (e : Elements) : Operand K where
  uses := e.uses
  value x := one_if (e.holds x)
  nonneg x := one_if_nonneg (e.holds x)
  depends x y h := if_congr (e.depends x y h) (fun _ => rfl) (fun _ => rfl)
def operands : List Elements → List (Operand K)
  | .nil => .nil
  | .cons e l => e.operand :: operands l
def AllHold (x : Nat → Nat) : List Elements → Prop
  | .nil => True
  | .cons e l => e.holds x ∧ AllHold x l
theorem power_one_if (p : Prop) [Decidable p] (m : Nat) : power (one_if p : K) (Nat.succ m) = one_if p := by
  induction m with
  | zero => exact one_mul _
  | succ m ih =>
    show power (one_if p : K) (Nat.succ m) * one_if p = one_if p
    rw [ih, one_if_square]
theorem holds_product (n : Nat → Nat) (x : Nat → Nat) : ∀ l : List Elements, AllHold x l → (1 : K) ≤ product n 0 x (operands l)
  | .nil, _ => le_refl 1
  | .cons e l, h => by
      show (1 : K) ≤ one_if (e.holds x) * product n 0 x (operands l)
      rw [show (one_if (e.holds x) : K) = 1 from if_pos h.left, one_mul]
      exact holds_product n x l h.right
theorem product_nonneg (n : Nat → Nat) (d : Nat) (x : Nat → Nat) : ∀ l : List (Operand K), 0 ≤ product n d x l
  | .nil => zero_le_one
  | .cons a l => mul_nonneg (sumsOver_nonneg n a d x) (product_nonneg n d x l)
/-- Discrete Loomis–Whitney for any loops, any arrays and any dual-feasible rational weights: |S|ᴺ ≤ Π |Pⱼ|. -/
theorem loomis_whitney_cover (n : Nat → Nat) (d m : Nat) (arrays : List Elements) (S : (Nat → Nat) → Prop)
    [∀ x, Decidable (S x)] (h : ∀ x, S x → AllHold x arrays)
    (cover : ∀ j, j < d → Nat.succ m ≤ covering j (operands (K := K) arrays)) (x : Nat → Nat) :
    power (sums n d (fun y => one_if (S y)) x : K) (Nat.succ m) ≤ product n d x (operands arrays) := by
  apply weighted_cover n (operands arrays) m _ (fun y => one_if_nonneg (S y)) _ d cover x
  intro y
  rw [power_one_if]
  by_cases k : S y
  · rw [show (one_if (S y) : K) = 1 from if_pos k]
    exact holds_product n y arrays (h y k)
  · rw [show (one_if (S y) : K) = 0 from if_neg k]
    exact product_nonneg n 0 y (operands arrays)

/-! ## Traffic -/
/-- At most `X` elements of each array. -/
def AtMost (n : Nat → Nat) (d : Nat) (x : Nat → Nat) (X : K) : List Elements → Prop
  | .nil => True
  | .cons e l => sumsOver n e.uses d (fun y => one_if (e.holds y)) x ≤ X ∧ AtMost n d x X l
theorem product_le (n : Nat → Nat) (d : Nat) (x : Nat → Nat) (X : K) (hX : 0 ≤ X) : ∀ l : List Elements,
    AtMost n d x X l → product n d x (operands l) ≤ power X (length l)
  | .nil, _ => le_refl 1
  | .cons e l, h => by
      show sumsOver n e.uses d (fun y => one_if (e.holds y)) x * product n d x (operands l) ≤ power X (length l) * X
      rw [mul_comm (power X (length l))]
      exact mul_le_mul (sumsOver_nonneg n e.operand d x) (power_nonneg hX _) h.left (product_le n d x X hX l h.right)
/-- N factors 1 and a constant. -/
def ones (c : K) : Nat → List (Piece K)
  | .zero => [.kept c]
  | .succ m => .summed (fun _ => 1) :: ones c m
theorem ones_at (c : K) (i : Nat) : ∀ m, pieceAt i (ones c m) = c
  | .zero => mul_one c
  | .succ m => (one_mul _).trans (ones_at c i m)
theorem ones_sum (c : K) (s : Nat) : ∀ m, pieceSum s (ones c m) = power (sum s (fun _ => 1)) m * c
  | .zero => mul_comm c 1
  | .succ m => by
      show sum s (fun _ => 1) * pieceSum s (ones c m) = power (sum s (fun _ => 1)) m * sum s (fun _ => 1) * c
      rw [ones_sum c s m]
      exact ring_eq [sum s (fun _ => (1 : K)), power (sum s (fun _ => (1 : K))) m, c] (by rfl)
theorem ones_count (c : K) : ∀ m, m ≤ pieceCount (ones c m)
  | .zero => Nat.le_refl 0
  | .succ m => Nat.succ_le_succ (ones_count c m)
theorem ones_nonneg {c : K} (h : 0 ≤ c) : ∀ m, PiecesNonneg (ones c m)
  | .zero => ⟨h, trivial⟩
  | .succ m => ⟨fun _ => zero_le_one, ones_nonneg h m⟩
/-- A run in `s` segments, each with at most `X` elements of each array at hand: the N-th power of all its points is
at most sᴺ times X to the number of arrays, so that it has at least points / X^(Σ weights) segments. -/
theorem traffic_cover (n : Nat → Nat) (d m s : Nat) (arrays : Nat → List Elements) (S : Nat → (Nat → Nat) → Prop)
    [∀ t x, Decidable (S t x)] (h : ∀ t x, S t x → AllHold x (arrays t))
    (cover : ∀ t j, j < d → Nat.succ m ≤ covering j (operands (K := K) (arrays t))) (x : Nat → Nat) (X : K) (hX : 0 ≤ X)
    (k : Nat) (same : ∀ t, length (arrays t) = k) (most : ∀ t, AtMost n d x X (arrays t)) :
    power (sum s (fun t => sums n d (fun y => one_if (S t y)) x) : K) (Nat.succ m)
      ≤ power (sum s (fun _ => 1)) (Nat.succ m) * power X k := by
  rw [← ones_sum (power X k) s (Nat.succ m)]
  apply holder _ (ones_nonneg (power_nonneg hX k) (Nat.succ m)) m (ones_count _ (Nat.succ m))
  · intro t
    exact sums_nonneg n d _ (fun y => one_if_nonneg (S t y)) x
  · intro t
    rw [ones_at, ← same t]
    exact le_trans (loomis_whitney_cover n d m (arrays t) (S t) (h t) (cover t) x) (product_le n d x X hX (arrays t) (most t))

/-! ## Loads: a memory of M values, and segments of M loads -/
/-- The elements of an array that a segment of a run can use: those held when it begins, and those loaded in it. -/
structure Window where
  uses : Nat → Bool
  held : (Nat → Nat) → Prop
  loaded : (Nat → Nat) → Prop
  decHeld : ∀ x, Decidable (held x)
  decLoaded : ∀ x, Decidable (loaded x)
  depends : ∀ x y, (∀ l, uses l = true → x l = y l) → (held x ↔ held y) ∧ (loaded x ↔ loaded y)
instance decWindowHeld (w : Window) (x : Nat → Nat) : Decidable (w.held x) := w.decHeld x
instance decWindowLoaded (w : Window) (x : Nat → Nat) : Decidable (w.loaded x) := w.decLoaded x
theorem or_iff {p q r s : Prop} (h : p ↔ q) (k : r ↔ s) : p ∨ r ↔ q ∨ s :=
  ⟨fun o => o.elim (fun a => .inl (h.mp a)) (fun b => .inr (k.mp b)),
    fun o => o.elim (fun a => .inl (h.mpr a)) (fun b => .inr (k.mpr b))⟩
def Window.available (w : Window) : Elements where
  uses := w.uses
  holds x := w.held x ∨ w.loaded x
  decide' _ := decOr
  depends x y h := or_iff (w.depends x y h).left (w.depends x y h).right
def available : List Window → List Elements
  | .nil => .nil
  | .cons w l => w.available :: available l
/-- At most `M` held, at most `M` loaded, of each array. -/
def Fits (n : Nat → Nat) (d : Nat) (x : Nat → Nat) (M : K) : List Window → Prop
  | .nil => True
  | .cons w l => (sumsOver n w.uses d (fun y => one_if (w.held y)) x ≤ M
      ∧ sumsOver n w.uses d (fun y => one_if (w.loaded y)) x ≤ M) ∧ Fits n d x M l
theorem one_if_or (p q : Prop) [Decidable p] [Decidable q] : (one_if (p ∨ q) : K) ≤ one_if p + one_if q := by
  by_cases h : p
  · rw [show (one_if (p ∨ q) : K) = 1 from if_pos (Or.inl h), show (one_if p : K) = 1 from if_pos h]
    have k := add_le_add (le_refl (1 : K)) (one_if_nonneg q)
    rw [add_zero] at k
    exact k
  · rw [show (one_if p : K) = 0 from if_neg h, zero_add]
    by_cases k : q
    · rw [show (one_if (p ∨ q) : K) = 1 from if_pos (Or.inr k), show (one_if q : K) = 1 from if_pos k]
      exact le_refl 1
    · rw [show (one_if (p ∨ q) : K) = 0 from if_neg (fun o => o.elim h k)]
      exact one_if_nonneg q
theorem sumIf_le (u : Bool) (n : Nat) (a b c : Nat → K) (h : ∀ i, a i ≤ b i + c i) :
    sumIf u n a ≤ sumIf u n b + sumIf u n c :=
  match u with
  | .true => by
      show sum n a ≤ sum n b + sum n c
      rw [← sum_add]
      exact sum_le_sum (fun i _ => h i)
  | .false => h 0
theorem sumsOver_le (n : Nat → Nat) (uses : Nat → Bool) (a b c : (Nat → Nat) → K) (h : ∀ y, a y ≤ b y + c y) :
    ∀ (d : Nat) (x : Nat → Nat), sumsOver n uses d a x ≤ sumsOver n uses d b x + sumsOver n uses d c x
  | .zero, x => h x
  | .succ d, x => sumIf_le (uses d) (n d) _ _ _ (fun i => sumsOver_le n uses a b c h d (moved x d i))
theorem available_most (n : Nat → Nat) (d : Nat) (x : Nat → Nat) (M : K) : ∀ l : List Window, Fits n d x M l →
    AtMost n d x (M + M) (available l)
  | .nil, _ => trivial
  | .cons w l, h => ⟨le_trans (sumsOver_le n w.uses _ _ _ (fun y => one_if_or (w.held y) (w.loaded y)) d x)
      (add_le_add h.left.left h.left.right), available_most n d x M l h.right⟩
/-- A run with a memory of M values, cut into s segments of M loads and a last one of at most M: every point is done
where each of its arrays' elements is held or loaded. Then (M · points)ᴺ ≤ (loads + M)ᴺ · (2 M)ᵏ: the loads are at least
M · points / (2 M)^(k/N) − M, where k/N is the sum of the weights (Hong & Kung 1981; Christ et al. 2013). -/
theorem traffic_loads (n : Nat → Nat) (d m s : Nat) (windows : Nat → List Window) (S : Nat → (Nat → Nat) → Prop)
    [∀ t x, Decidable (S t x)] (h : ∀ t x, S t x → AllHold x (available (windows t)))
    (cover : ∀ t j, j < d → Nat.succ m ≤ covering j (operands (K := K) (available (windows t)))) (x : Nat → Nat)
    (M loads : K) (hM : 0 ≤ M) (k : Nat) (same : ∀ t, length (available (windows t)) = k)
    (fits : ∀ t, Fits n d x M (windows t)) (full : sum s (fun _ => M) ≤ loads) :
    power (M * sum (Nat.succ s) (fun t => sums n d (fun y => one_if (S t y)) x)) (Nat.succ m)
      ≤ power (loads + M) (Nat.succ m) * power (M + M) k := by
  have twice : 0 ≤ M + M := add_nonneg hM hM
  have run := traffic_cover n d m (Nat.succ s) (fun t => available (windows t)) S h cover x (M + M) twice k same
    (fun t => available_most n d x M (windows t) (fits t))
  rw [power_mul]
  have scaled := mul_le_mul_left (power_nonneg hM (Nat.succ m)) run
  apply le_trans scaled
  rw [← mul_assoc, ← power_mul]
  apply mul_le_mul_right (power_nonneg twice k)
  have count : M * sum (Nat.succ s) (fun _ => (1 : K)) = sum s (fun _ => M) + M := by
    rw [← sum_mul_left]
    show sum s (fun _ => M * 1) + M * 1 = _
    rw [mul_one]
  rw [count]
  exact power_le (add_nonneg (sum_nonneg (fun _ => hM)) hM) (add_le_add full (le_refl M)) (Nat.succ m)
end
end Tang
