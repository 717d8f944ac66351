prelude
import Tang.Digits
import Tang.Polynomial
import Tang.Segment
import Tang.Fold
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Blocks — entries of a combine that are one polynomial with shifted variables, as those of a matrix.

Such entries are a block of rows and columns: a row further down moves the variables of the left
state by the length of a row, a column further right those of the right state by one. Only the
first entry of a block is looked at, as a number if it has no signs and degree one, else in normal
form. The others have its laws, where what it reads on the left can be moved down as far, and what
it reads on the right as far to the right. -/
set_option autoImplicit false
universe u
noncomputable section
namespace Tang

/-! ## Combines written as blocks -/
section
variable {R : Type u}
/-- `g` for so many columns, from column `q` on, then `next`. -/
def spreadRow (g : (Nat → R) → (Nat → R) → R) (s t : Nat → R) (next : List R) : Nat → Nat → List R
  | .zero, _ => next
  | .succ n, q => g s (fun i => t (q + i)) :: spreadRow g s t next n (q + 1)
/-- `g` for so many rows of `columns` entries, from row `p` on, then `next`. -/
def spreadRows (g : (Nat → R) → (Nat → R) → R) (columns : Nat) (s t : Nat → R) (next : List R) : Nat → Nat → List R
  | .zero, _ => next
  | .succ n, p => spreadRow g (fun i => s (p * columns + i)) t (spreadRows g columns s t next n (p + 1)) columns 0
/-- The entries of a block, row by row, then `next`: entry `(p, q)` is `g` of the left state from `p * columns` on and
the right state from `q` on. -/
def spread (g : (Nat → R) → (Nat → R) → R) (rows columns : Nat) (s t : Nat → R) (next : List R) : List R :=
  spreadRows g columns s t next rows 0
/-- So many times `x`, then `next`. -/
def repeated : Nat → R → List R → List R
  | .zero, _, next => next
  | .succ n, x, next => x :: repeated n x next
end

namespace Polynomial
/-- A block, whose first entry is `poly`. The numbers of variables of the left state of three are above `low`: a hint. -/
structure Block where
  rows : Nat
  columns : Nat
  low : Nat
  poly : P
def size (k : Block) : Nat := Nat.mul k.rows k.columns

/-! ## The checks -/
section
variable {α : Type}
/-- The row, counted from `p`, and the column of place `j` in a block of so many rows. -/
def walk (columns : Nat) (yes : Nat → Nat → α) (no : α) (rows : Nat) : Nat → Nat → α :=
  Nat.rec (motive := fun _ => Nat → Nat → α) (fun _ _ => no)
    (fun _ rest p j => Bool.rec (motive := fun _ => α) (yes p j) (rest (Nat.succ p) (Nat.sub j columns)) (Nat.ble columns j)) rows
/-- The block, the row and the column of entry `j`. -/
def locate (yes : Block → Nat → Nat → α) (no : α) (blocks : List Block) : Nat → α :=
  List.rec (motive := fun _ => Nat → α) (fun _ => no)
    (fun k _ rest j => Bool.rec (motive := fun _ => α) (walk k.columns (yes k) no k.rows Nat.zero j)
      (rest (Nat.sub j (size k))) (Nat.ble (size k) j)) blocks
end
def both (a b : Bool) : Bool := Bool.rec (motive := fun _ => Bool) false b a
/-- Whether the checks `l` and `r` hold of all variables of a polynomial. -/
def variables (l r : Nat → Bool) (e : P) : Bool :=
  P.rec (motive := fun _ => Bool) l r true true (fun _ _ => both) (fun _ _ => both) (fun _ x => x) e
def unchecked (_ : Nat) : Bool := true
/-- The normal form of an entry, from those of two states. -/
def formAt (l r : Nat → List Term) (blocks : List Block) : Nat → List Term :=
  locate (fun k p q => norm (fun i => l (Nat.add (Nat.mul p k.columns) i)) (fun i => r (Nat.add q i)) k.poly) .nil blocks
/-- Whether all that the first entry reads on the left lies in rows as long, with as many below them. -/
def downward (blocks : List Block) (k : Block) : Bool :=
  variables (locate (fun h p _ => both (Nat.beq h.columns k.columns) (Nat.ble (Nat.add p k.rows) h.rows)) false blocks)
    unchecked k.poly
/-- Whether all that the first entry reads on the right has as many columns to the right. -/
def rightward (blocks : List Block) (k : Block) : Bool :=
  variables unchecked (locate (fun h _ q => Nat.ble (Nat.add q k.columns) h.columns) false blocks) k.poly
/-- The number of an entry, from those of two states; of what is negated it is `n`. -/
def numberAt (n : Nat) (l r : Nat → Nat) (blocks : List Block) : Nat → Nat :=
  locate (fun k p q => number n (fun i => l (Nat.add (Nat.mul p k.columns) i)) (fun i => r (Nat.add q i)) k.poly) Nat.zero blocks
/-- Whether a polynomial is the same number on both sides of associativity, with fewer powers than the base `q`. -/
def level (q w v low : Nat) (blocks : List Block) (e : P) : Bool :=
  both (Nat.ble (Nat.succ (number q (numberAt q (manyFirst q v low) (manySecond q w) blocks) manyThird e)) q)
    (both (Nat.ble (Nat.succ (number q (manyFirst q v low) (numberAt q (manySecond q w) manyThird blocks) e)) q)
      (Nat.beq (number 0 (numberAt 0 (numberFirst q w low) (numberSecond q) blocks) (numberThird q w v) e)
        (number 0 (numberFirst q w low) (numberAt 0 (numberSecond q) (numberThird q w v) blocks) e)))
/-- Whether a polynomial has degree one at most in each state. -/
def linear (e : P) : Bool := both (Nat.ble (leftDegree e) 1) (Nat.ble (rightDegree e) 1)
/-- Whether a check holds of every block. -/
def all (f : Block → Bool) (blocks : List Block) : Bool :=
  List.rec (motive := fun _ => Bool) true (fun k _ rest => both (f k) rest) blocks
def linearly (q w v : Nat) (blocks : List Block) (k : Block) : Bool :=
  both (both (Nat.ble 1 w) (Nat.ble 1 v))
    (both (all (fun k => linear k.poly) blocks) (both (linear k.poly) (level q w v k.low blocks k.poly)))
def sound (q w v : Nat) (blocks : List Block) (k : Block) : Bool :=
  both (Bool.rec (motive := fun _ => Bool) (balanced (formAt first second blocks) (formAt second third blocks) k.poly) true
      (linearly q w v blocks k))
    (both (Bool.rec (motive := fun _ => Bool) (downward blocks k) true (Nat.ble k.rows 1))
      (Bool.rec (motive := fun _ => Bool) (rightward blocks k) true (Nat.ble k.columns 1)))
/-- Whether the combine that is made of these blocks is associative. The base `q` and the widths `w`, `v` are hints. -/
def associatesBy (q w v : Nat) (blocks : List Block) : Bool := all (sound q w v blocks) blocks
/-- So many equal constants. -/
structure Run where
  times : Nat
  value : P
/-- The normal form of constant `i`. -/
def held (runs : List Run) : Nat → List Term :=
  List.rec (motive := fun _ => Nat → List Term) absent
    (fun k _ rest i => Bool.rec (motive := fun _ => List Term) (norm absent absent k.value) (rest (Nat.sub i k.times))
      (Nat.ble k.times i)) runs
/-- Whether the constants `e`, as any row and as any column, leave one variable of the first entry of a block. -/
def keeps (e : List Run) (start : Nat) (k : Block) : Bool :=
  both (below (fun p => same (norm (fun i => held e (Nat.add (Nat.mul p k.columns) i)) first k.poly)
      (first (Nat.add start (Nat.mul p k.columns)))) k.rows)
    (below (fun q => same (norm first (fun i => held e (Nat.add q i)) k.poly) (first (Nat.add start q))) k.columns)
/-- Whether the constants leave the first `n` entries as they are, where these are blocks. -/
def fixesBy (e : List Run) (n : Nat) (blocks : List Block) : Bool :=
  List.rec (motive := fun _ => Nat → Bool) (fun start => Nat.ble n start)
    (fun k _ rest start => both (keeps e start k) (rest (Nat.add start (size k)))) blocks Nat.zero

/-! ## Where entries are -/
/-- Entry `j` is in row `p` and column `q` of block `k`. -/
def Has : List Block → Nat → Block → Nat → Nat → Prop
  | .nil, _, _, _, _ => False
  | .cons h rest, j, k, p, q =>
      (h = k ∧ p < k.rows ∧ q < k.columns ∧ j = p * k.columns + q) ∨ ∃ m, j = size h + m ∧ Has rest m k p q
/-- How many entries all blocks have. -/
def total : List Block → Nat
  | .nil => 0
  | .cons k rest => size k + total rest
theorem split_ble {n j : Nat} (h : Nat.ble n j = true) : ∃ m, j = n + m ∧ Nat.sub j n = m := by
  obtain ⟨m, hm⟩ := le_of_ble n j h
  refine ⟨m, hm.symm, ?_⟩
  rw [← hm]
  exact add_sub_self n m
/-- What `walk` gives. -/
theorem walk_spec (columns : Nat) : ∀ rows p j,
    (∃ x y, x < rows ∧ y < columns ∧ j = x * columns + y ∧
      ∀ {α : Type} (yes : Nat → Nat → α) (no : α), walk columns yes no rows p j = yes (p + x) y) ∨
      ∃ m, j = rows * columns + m
  | .zero, _, j => .inr ⟨j, by rw [show Nat.zero * columns = 0 from Nat.zero_mul columns, Nat.zero_add]⟩
  | .succ n, p, j => by
      have unfolded : ∀ {α : Type} (yes : Nat → Nat → α) (no : α), walk columns yes no (Nat.succ n) p j
        = Bool.rec (motive := fun _ => α) (yes p j) (walk columns yes no n (Nat.succ p) (Nat.sub j columns))
          (Nat.ble columns j) := fun _ _ => rfl
      cases c : Nat.ble columns j with
      | false => exact .inl ⟨0, j, Nat.succ_le_succ (Nat.zero_le n), lt_of_not_ble c,
          by rw [Nat.zero_mul, Nat.zero_add], fun yes no => by
            rw [unfolded, c]
            rfl⟩
      | true =>
        obtain ⟨m, whole, rest⟩ := split_ble c
        cases walk_spec columns n (Nat.succ p) (Nat.sub j columns) with
        | inl found =>
          obtain ⟨x, y, hx, hy, place, result⟩ := found
          refine .inl ⟨Nat.succ x, y, Nat.succ_le_succ hx, hy, ?_, fun yes no => ?_⟩
          · rw [whole, ← rest, place, Nat.succ_mul, Nat.add_comm (x * columns) columns, Nat.add_assoc]
          · rw [unfolded, c, Nat.add_succ, ← Nat.succ_add]
            exact result yes no
        | inr past =>
          obtain ⟨z, place⟩ := past
          refine .inr ⟨z, ?_⟩
          rw [whole, ← rest, place, Nat.succ_mul, Nat.add_comm (n * columns) columns, Nat.add_assoc]
/-- What `locate` gives. -/
theorem locate_spec : ∀ blocks j,
    (∃ k p q, Has blocks j k p q ∧
      ∀ {α : Type} (yes : Block → Nat → Nat → α) (no : α), locate yes no blocks j = yes k p q) ∨
      ∃ m, j = total blocks + m ∧ ∀ {α : Type} (yes : Block → Nat → Nat → α) (no : α), locate yes no blocks j = no
  | .nil, j => .inr ⟨j, (Nat.zero_add j).symm, fun _ _ => rfl⟩
  | .cons k rest, j => by
      have unfolded : ∀ {α : Type} (yes : Block → Nat → Nat → α) (no : α), locate yes no (k :: rest) j
        = Bool.rec (motive := fun _ => α) (walk k.columns (yes k) no k.rows Nat.zero j)
          (locate yes no rest (Nat.sub j (size k))) (Nat.ble (size k) j) := fun _ _ => rfl
      cases c : Nat.ble (size k) j with
      | false =>
        cases walk_spec k.columns k.rows Nat.zero j with
        | inl found =>
          obtain ⟨x, y, hx, hy, place, result⟩ := found
          refine .inl ⟨k, x, y, .inl ⟨rfl, hx, hy, place⟩, fun yes no => ?_⟩
          rw [unfolded, c]
          exact (result (yes k) no).trans (congrArg (fun p => yes k p y) (Nat.zero_add x))
        | inr past =>
          obtain ⟨m, place⟩ := past
          exact absurd (place ▸ Nat.le_add_right (k.rows * k.columns) m) (Nat.not_le_of_lt (lt_of_not_ble c))
      | true =>
        obtain ⟨m, whole, difference⟩ := split_ble c
        cases locate_spec rest (Nat.sub j (size k)) with
        | inl found =>
          obtain ⟨h, p, q, has, result⟩ := found
          refine .inl ⟨h, p, q, .inr ⟨m, whole, difference ▸ has⟩, fun yes no => ?_⟩
          rw [unfolded, c]
          exact result yes no
        | inr past =>
          obtain ⟨z, place, result⟩ := past
          refine .inr ⟨z, ?_, fun yes no => ?_⟩
          · show j = size k + total rest + z
            rw [whole, ← difference, place, Nat.add_assoc]
          · rw [unfolded, c]
            exact result yes no
theorem moved_down {x : Nat} : ∀ {blocks : List Block} {j : Nat} {k : Block} {p q : Nat}, Has blocks j k p q →
    x + p < k.rows → Has blocks (x * k.columns + j) k (x + p) q
  | .nil, _, _, _, _, h, _ => h.elim
  | .cons h rest, j, k, p, q, has, small => by
      cases has with
      | inl here =>
        obtain ⟨same, _, hq, place⟩ := here
        refine .inl ⟨same, small, hq, ?_⟩
        rw [place, ← Nat.add_assoc, Nat.mul_comm x, Nat.mul_comm p, ← Nat.mul_add, Nat.mul_comm k.columns]
      | inr there =>
        obtain ⟨m, place, has⟩ := there
        refine .inr ⟨x * k.columns + m, ?_, moved_down has small⟩
        rw [place, ← Nat.add_assoc, ← Nat.add_assoc, Nat.add_comm (x * k.columns)]
theorem moved_right {y : Nat} : ∀ {blocks : List Block} {j : Nat} {k : Block} {p q : Nat}, Has blocks j k p q →
    y + q < k.columns → Has blocks (y + j) k p (y + q)
  | .nil, _, _, _, _, h, _ => h.elim
  | .cons h rest, j, k, p, q, has, small => by
      cases has with
      | inl here =>
        obtain ⟨same, hp, _, place⟩ := here
        refine .inl ⟨same, hp, small, ?_⟩
        rw [place, ← Nat.add_assoc, ← Nat.add_assoc, Nat.add_comm y]
      | inr there =>
        obtain ⟨m, place, has⟩ := there
        refine .inr ⟨y + m, ?_, moved_right has small⟩
        rw [place, ← Nat.add_assoc, ← Nat.add_assoc, Nat.add_comm y]
theorem all_sound {f : Block → Bool} : ∀ {blocks : List Block} {j : Nat} {k : Block} {p q : Nat},
    all f blocks = true → Has blocks j k p q → f k = true
  | .nil, _, _, _, _, _, h => h.elim
  | .cons _ _, _, _, _, _, h, has => by
      have fine := both_true h
      cases has with
      | inl here => exact here.left ▸ fine.left
      | inr there =>
        obtain ⟨_, _, has⟩ := there
        exact all_sound fine.right has
theorem has_inside : ∀ {blocks : List Block} {j : Nat} {k : Block} {p q : Nat}, Has blocks j k p q →
    p < k.rows ∧ q < k.columns
  | .nil, _, _, _, _, h => h.elim
  | .cons _ _, _, _, _, _, has => by
      cases has with
      | inl here => exact ⟨here.right.left, here.right.right.left⟩
      | inr there =>
        obtain ⟨_, _, has⟩ := there
        exact has_inside has

theorem first_only {n i : Nat} (small : i < n) (single : Nat.ble n 1 = true) : i = 0 :=
  Nat.le_antisymm (Nat.le_of_succ_le_succ (Nat.le_trans small (le_of_ble _ _ single))) (Nat.zero_le i)

/-! ## What entries are -/
section
variable {R : Type u} [Zero R] (g : (Nat → R) → (Nat → R) → R)
theorem nth_row (s t : Nat → R) (next : List R) : ∀ n b q, q < n → nth (spreadRow g s t next n b) q = g s (fun i => t (b + q + i))
  | .zero, _, _, h => absurd h (Nat.not_lt_zero _)
  | .succ _, _, .zero, _ => rfl
  | .succ n, b, .succ q, h => by
      refine (nth_row s t next n (b + 1) q (Nat.le_of_succ_le_succ h)).trans ?_
      rw [Nat.add_assoc b 1 q, Nat.add_comm 1 q]
theorem nth_after_row (s t : Nat → R) (next : List R) (j : Nat) : ∀ n b, nth (spreadRow g s t next n b) (n + j) = nth next j
  | .zero, _ => congrArg (nth next) (Nat.zero_add j)
  | .succ n, b => by
      rw [Nat.succ_add]
      exact nth_after_row s t next j n (b + 1)
theorem nth_rows (columns : Nat) (s t : Nat → R) (next : List R) : ∀ n a p q, p < n → q < columns →
    nth (spreadRows g columns s t next n a) (p * columns + q) = g (fun i => s ((a + p) * columns + i)) (fun i => t (q + i))
  | .zero, _, _, _, h, _ => absurd h (Nat.not_lt_zero _)
  | .succ n, a, .zero, q, _, h => by
      rw [show Nat.zero * columns = 0 from Nat.zero_mul columns, Nat.zero_add]
      refine (nth_row g _ t _ columns 0 q h).trans ?_
      rw [Nat.zero_add]
      rfl
  | .succ n, a, .succ p, q, small, h => by
      rw [Nat.succ_mul, Nat.add_comm (p * columns), Nat.add_assoc]
      refine (nth_after_row g _ t _ _ columns 0).trans ?_
      refine (nth_rows columns s t next n (a + 1) p q (Nat.le_of_succ_le_succ small) h).trans ?_
      rw [Nat.add_assoc a 1 p, Nat.add_comm 1 p]
theorem nth_after_rows (columns : Nat) (s t : Nat → R) (next : List R) (j : Nat) : ∀ n a,
    nth (spreadRows g columns s t next n a) (n * columns + j) = nth next j
  | .zero, _ => congrArg (nth next) (by rw [show Nat.zero * columns = 0 from Nat.zero_mul columns, Nat.zero_add])
  | .succ n, a => by
      rw [Nat.succ_mul, Nat.add_comm (n * columns), Nat.add_assoc]
      exact (nth_after_row g _ t _ _ columns 0).trans (nth_after_rows columns s t next j n (a + 1))
end
section
variable {K : Type u} [CommRing K]
/-- What the polynomials of blocks are for two states. -/
def pieces (s t : Nat → K) (blocks : List Block) : List K :=
  List.rec (motive := fun _ => List K) .nil (fun k _ next => spread (fun s t => eval s t k.poly) k.rows k.columns s t next) blocks
theorem nth_piece (s t : Nat → K) : ∀ {blocks : List Block} {j : Nat} {k : Block} {p q : Nat}, Has blocks j k p q →
    nth (pieces s t blocks) j = eval (fun i => s (p * k.columns + i)) (fun i => t (q + i)) k.poly
  | .nil, _, _, _, _, h => h.elim
  | .cons h rest, j, k, p, q, has => by
      cases has with
      | inl here =>
        obtain ⟨same, hp, hq, place⟩ := here
        rw [place, same]
        refine (nth_rows _ k.columns s t _ k.rows 0 p q hp hq).trans ?_
        rw [Nat.zero_add]
      | inr there =>
        obtain ⟨m, place, has⟩ := there
        rw [place]
        exact (nth_after_rows _ h.columns s t _ m h.rows 0).trans (nth_piece s t has)
theorem nth_beyond (s t : Nat → K) (m : Nat) : ∀ blocks : List Block, nth (pieces s t blocks) (total blocks + m) = 0
  | .nil => rfl
  | .cons h rest => by
      show nth _ (size h + total rest + m) = 0
      rw [Nat.add_assoc]
      exact (nth_after_rows _ h.columns s t _ _ h.rows 0).trans (nth_beyond s t m rest)

/-! ## Laws -/
theorem variables_sound {l r : Nat → Bool} {s u t v : Nat → K} (hl : ∀ i, l i = true → s i = u i)
    (hr : ∀ i, r i = true → t i = v i) : ∀ e, variables l r e = true → eval s t e = eval u v e
  | .left i => hl i
  | .right i => hr i
  | .zero => fun _ => rfl
  | .one => fun _ => rfl
  | .add x y => fun h => by
      have k := both_true h
      show eval s t x + eval s t y = eval u v x + eval u v y
      rw [variables_sound hl hr x k.left, variables_sound hl hr y k.right]
  | .mul x y => fun h => by
      have k := both_true h
      show eval s t x * eval s t y = eval u v x * eval u v y
      rw [variables_sound hl hr x k.left, variables_sound hl hr y k.right]
  | .neg x => fun h => congrArg Neg.neg (variables_sound hl hr x h)
section
variable {f : (Nat → K) → (Nat → K) → List K} {blocks : List Block}
theorem combineBy_piece (means : ∀ s t, f s t = pieces s t blocks) (s t : Nat → K) {j : Nat} {k : Block} {p q : Nat}
    (has : Has blocks j k p q) :
    combineBy f s t j = eval (fun i => s (p * k.columns + i)) (fun i => t (q + i)) k.poly := by
  show nth (f s t) j = _
  rw [means, nth_piece s t has]
theorem combineBy_beyond (means : ∀ s t, f s t = pieces s t blocks) (s t : Nat → K) (m : Nat) :
    combineBy f s t (total blocks + m) = 0 := by
  show nth (f s t) _ = _
  rw [means, nth_beyond]
theorem formAt_sound (means : ∀ s t, f s t = pieces s t blocks) (σ s t : Nat → K) {l r : Nat → List Term}
    (hl : ∀ i, evP σ (l i) = s i) (hr : ∀ i, evP σ (r i) = t i) (j : Nat) :
    evP σ (formAt l r blocks j) = combineBy f s t j := by
  unfold formAt
  cases locate_spec blocks j with
  | inl found =>
    obtain ⟨k, p, q, has, result⟩ := found
    rw [result, combineBy_piece means s t has]
    exact norm_sound σ _ _ _ _ (fun i => hl _) (fun i => hr _) _
  | inr past =>
    obtain ⟨m, place, result⟩ := past
    rw [result, place, combineBy_beyond means]
    rfl
theorem linear_degrees {e : P} (h : linear e = true) : leftDegree e ≤ 1 ∧ rightDegree e ≤ 1 :=
  ⟨le_of_ble _ _ (both_true h).left, le_of_ble _ _ (both_true h).right⟩
theorem numberAt_stands (means : ∀ s t, f s t = pieces s t blocks) {x y z s t : Nat → K} {w v q a b c a' b' c' : Nat}
    {l r m n : Nat → Nat} (one : Ones x y z) (hw : 0 < w) (hv : 0 < v) (d : Apart a b c a' b' c')
    (hl : ∀ i, Stands x y z w v q a b c (m i) (l i) (s i)) (hr : ∀ i, Stands x y z w v q a' b' c' (n i) (r i) (t i))
    (degrees : all (fun k => linear k.poly) blocks = true) (j : Nat) :
    Stands x y z w v q (a + a') (b + b') (c + c') (numberAt q m n blocks j) (numberAt 0 l r blocks j) (combineBy f s t j) := by
  unfold numberAt
  cases locate_spec blocks j with
  | inl found =>
    obtain ⟨k, p, _, has, result⟩ := found
    have degree := linear_degrees (all_sound degrees has)
    rw [result, result, combineBy_piece means s t has]
    exact number_stands_whole one hw hv d (fun i => hl _) (fun i => hr _) k.poly degree.left degree.right
  | inr past =>
    obtain ⟨o, place, result⟩ := past
    rw [result, result, place, combineBy_beyond means]
    exact stands_zero
/-- The first entry of a block that passes `linearly` is associative. -/
theorem linearly_sound (means : ∀ s t, f s t = pieces s t blocks) {q w v : Nat} {k : Block} (h : linearly q w v blocks k = true)
    (s t r : Nat → K) : eval (combineBy f s t) r k.poly = eval s (combineBy f t r) k.poly := by
  have checks := both_true h
  have widths := both_true checks.left
  have hw : 0 < w := le_of_ble _ _ widths.left
  have hv : 0 < v := le_of_ble _ _ widths.right
  have more := both_true checks.right
  have last := both_true more.right
  have degree := linear_degrees last.left
  have numbers := both_true last.right
  have rest := both_true numbers.right
  have one := ones s t r k.low
  have left := numberAt_stands means one hw hv (show Apart 1 0 0 0 1 0 from ⟨Nat.le_refl 1, Nat.le_refl 1, Nat.zero_le 1⟩)
    (stands_first s t r k.low w v q hw) (stands_second s t r k.low w v q hv) more.left
  have right := numberAt_stands means one hw hv (show Apart 0 1 0 0 0 1 from ⟨Nat.zero_le 1, Nat.le_refl 1, Nat.le_refl 1⟩)
    (stands_second s t r k.low w v q hv) (stands_third s t r k.low w v q hw hv) more.left
  have one_side := number_stands_whole one hw hv (show Apart 1 1 0 0 0 1 from ⟨Nat.le_refl 1, Nat.le_refl 1, Nat.le_refl 1⟩) left
    (stands_third s t r k.low w v q hw hv) k.poly degree.left degree.right
  have other := number_stands_whole one hw hv (show Apart 1 0 0 0 1 1 from ⟨Nat.le_refl 1, Nat.le_refl 1, Nat.le_refl 1⟩)
    (stands_first s t r k.low w v q hw) right k.poly degree.left degree.right
  have same := Ring.natEq _ _ rest.right
  rw [same] at one_side
  exact stands_same one_side other (le_of_ble _ _ numbers.left) (le_of_ble _ _ rest.left)
/-- What a block reads on the left may be moved down as far as its rows. -/
theorem downward_sound (means : ∀ s t, f s t = pieces s t blocks) {k : Block} (h : downward blocks k = true) {p : Nat}
    (small : p < k.rows) (s t r : Nat → K) :
    eval (fun i => combineBy f s t (p * k.columns + i)) r k.poly
      = eval (combineBy f (fun i => s (p * k.columns + i)) t) r k.poly := by
  refine variables_sound (fun i fine => ?_) (fun _ _ => rfl) k.poly h
  cases locate_spec blocks i with
  | inl found =>
    obtain ⟨b, x, y, has, result⟩ := found
    rw [result] at fine
    have fits := both_true fine
    have long : b.columns = k.columns := Ring.natEq _ _ fits.left
    have deep : p + x < b.rows := by
      refine Nat.le_trans ?_ (le_of_ble _ _ fits.right)
      show Nat.succ (p + x) ≤ x + k.rows
      rw [Nat.add_comm p x, ← Nat.add_succ]
      exact Nat.add_le_add_left x small
    rw [← long, combineBy_piece means s t (moved_down has deep), combineBy_piece means _ t has]
    refine congrArg (fun s => eval s _ _) (funext fun i => congrArg s ?_)
    rw [← Nat.add_assoc, Nat.mul_comm (p + x), Nat.mul_comm p, Nat.mul_comm x, Nat.mul_add]
  | inr past =>
    obtain ⟨_, _, result⟩ := past
    rw [result] at fine
    exact nomatch fine
/-- What a block reads on the right may be moved as far as its columns. -/
theorem rightward_sound (means : ∀ s t, f s t = pieces s t blocks) {k : Block} (h : rightward blocks k = true) {q : Nat}
    (small : q < k.columns) (s t r : Nat → K) :
    eval s (fun i => combineBy f t r (q + i)) k.poly = eval s (combineBy f t (fun i => r (q + i))) k.poly := by
  refine variables_sound (fun _ _ => rfl) (fun i fine => ?_) k.poly h
  cases locate_spec blocks i with
  | inl found =>
    obtain ⟨b, x, y, has, result⟩ := found
    rw [result] at fine
    have wide : q + y < b.columns := by
      refine Nat.le_trans ?_ (le_of_ble _ _ fine)
      show Nat.succ (q + y) ≤ y + k.columns
      rw [Nat.add_comm q y, ← Nat.add_succ]
      exact Nat.add_le_add_left y small
    rw [combineBy_piece means t r (moved_right has wide), combineBy_piece means t _ has]
    exact congrArg (fun r => eval _ r _) (funext fun i => congrArg r (Nat.add_assoc q y i))
  | inr past =>
    obtain ⟨_, _, result⟩ := past
    rw [result] at fine
    exact nomatch fine
/-- The left state of row `p`, combined: only the first row needs no check. -/
theorem row_of (means : ∀ s t, f s t = pieces s t blocks) {k : Block} {p : Nat} (small : p < k.rows)
    (h : Bool.rec (motive := fun _ => Bool) (downward blocks k) true (Nat.ble k.rows 1) = true) (s t r : Nat → K) :
    eval (fun i => combineBy f s t (p * k.columns + i)) r k.poly
      = eval (combineBy f (fun i => s (p * k.columns + i)) t) r k.poly := by
  cases single : Nat.ble k.rows 1 with
  | false =>
    rw [single] at h
    exact downward_sound means h small s t r
  | true =>
    rw [first_only small single, Nat.zero_mul]
    exact congrArg (fun s => eval s r k.poly) (funext fun i => (congrArg (combineBy f s t) (Nat.zero_add i)).trans
      (congrArg (fun s => combineBy f s t i) (funext fun i => congrArg s (Nat.zero_add i).symm)))
/-- The right state of column `q`, combined: only the first column needs no check. -/
theorem column_of (means : ∀ s t, f s t = pieces s t blocks) {k : Block} {q : Nat} (small : q < k.columns)
    (h : Bool.rec (motive := fun _ => Bool) (rightward blocks k) true (Nat.ble k.columns 1) = true) (s t r : Nat → K) :
    eval s (fun i => combineBy f t r (q + i)) k.poly = eval s (combineBy f t (fun i => r (q + i))) k.poly := by
  cases single : Nat.ble k.columns 1 with
  | false =>
    rw [single] at h
    exact rightward_sound means h small s t r
  | true =>
    rw [first_only small single]
    exact congrArg (fun r => eval s r k.poly) (funext fun i => (congrArg (combineBy f t r) (Nat.zero_add i)).trans
      (congrArg (fun r => combineBy f t r i) (funext fun i => congrArg r (Nat.zero_add i).symm)))
/-- A combine made of blocks that pass `associatesBy` is associative. -/
theorem associative_by (means : ∀ s t, f s t = pieces s t blocks) {q w v : Nat} (h : associatesBy q w v blocks = true) :
    Associative (combineBy f) := by
  intro s t r
  apply funext
  intro j
  cases locate_spec blocks j with
  | inl found =>
    obtain ⟨k, p, _, has, _⟩ := found
    have fine := both_true (all_sound h has)
    have moves := both_true fine.right
    have inside := has_inside has
    rw [combineBy_piece means _ r has, combineBy_piece means s _ has, row_of means inside.left moves.left,
      column_of means inside.right moves.right]
    have first := fine.left
    cases c : linearly q w v blocks k with
    | true => exact linearly_sound means c _ t _
    | false =>
      rw [c] at first
      exact balanced_sound _ t _ (formAt_sound means _ _ _ (evP_first _ _ _) (evP_second _ _ _))
        (formAt_sound means _ _ _ (evP_second _ _ _) (evP_third _ _ _)) k.poly first
  | inr past =>
    obtain ⟨m, place, _⟩ := past
    rw [place, combineBy_beyond means, combineBy_beyond means]
/-- The list of constants. -/
def steps (runs : List Run) : List K :=
  List.rec (motive := fun _ => List K) .nil (fun k _ next => repeated k.times (eval (fun _ => 0) (fun _ => 0) k.value) next) runs
theorem nth_repeated (x : K) (next : List K) : ∀ n i, i < n → nth (repeated n x next) i = x
  | .zero, _, h => absurd h (Nat.not_lt_zero _)
  | .succ _, .zero, _ => rfl
  | .succ n, .succ i, h => nth_repeated x next n i (Nat.le_of_succ_le_succ h)
theorem nth_after_repeated (x : K) (next : List K) (j : Nat) : ∀ n, nth (repeated n x next) (n + j) = nth next j
  | .zero => congrArg (nth next) (Nat.zero_add j)
  | .succ n => by
      rw [Nat.succ_add]
      exact nth_after_repeated x next j n
theorem held_sound (σ : Nat → K) : ∀ (runs : List Run) (i : Nat), evP σ (held runs i) = nth (steps runs) i
  | .nil, _ => rfl
  | .cons k rest, i => by
      have unfolded : held (k :: rest) i = Bool.rec (motive := fun _ => List Term) (norm absent absent k.value)
        (held rest (Nat.sub i k.times)) (Nat.ble k.times i) := rfl
      rw [unfolded]
      cases c : Nat.ble k.times i with
      | false =>
        refine (norm_sound σ absent absent _ _ (evP_absent σ) (evP_absent σ) k.value).trans ?_
        exact (nth_repeated _ _ k.times i (lt_of_not_ble c)).symm
      | true =>
        obtain ⟨m, whole, difference⟩ := split_ble c
        refine (held_sound σ rest (Nat.sub i k.times)).trans ?_
        rw [difference, whole]
        exact (nth_after_repeated _ _ m k.times).symm
theorem keeps_sound {g : List K} {e : List Run} (constants : g = steps e) {start p q : Nat}
    {k : Block} (h : keeps e start k = true) (hp : p < k.rows) (hq : q < k.columns) (s : Nat → K) :
    eval (fun i => nth g (p * k.columns + i)) (fun i => s (q + i)) k.poly = s (start + (p * k.columns + q)) ∧
      eval (fun i => s (p * k.columns + i)) (fun i => nth g (q + i)) k.poly = s (start + (p * k.columns + q)) := by
  have checked := both_true h
  have row := below_sound _ checked.left p hp
  have column := below_sound _ checked.right q hq
  have moved := same_sound (mix (fun i => s (q + i)) (fun i => s (q + i)) fun i => s (q + i)) row
  have across := same_sound (mix (fun i => s (p * k.columns + i)) (fun i => s (p * k.columns + i)) fun i => s (p * k.columns + i)) column
  rw [norm_sound _ _ _ _ _ (fun i => (held_sound _ e _).trans (congrArg (fun g => nth g _) constants.symm)) (evP_first _ _ _), evP_first] at moved
  rw [norm_sound _ _ _ _ _ (evP_first _ _ _) (fun i => (held_sound _ e _).trans (congrArg (fun g => nth g _) constants.symm)), evP_first] at across
  refine ⟨moved.trans (congrArg s ?_), across.trans (congrArg s ?_)⟩
  · show q + (start + p * k.columns) = _
    rw [Nat.add_comm q, Nat.add_assoc]
  · show p * k.columns + (start + q) = _
    rw [← Nat.add_assoc, Nat.add_comm _ start, Nat.add_assoc]
/-- Constants that pass `fixesBy` are an identity for states of `n` entries, if these are blocks. -/
theorem identity_by (means : ∀ s t, f s t = pieces s t blocks) {g : List K} {e : List Run} (n : Nat)
    (constants : g = steps e) (h : fixesBy e n blocks = true) : IdentityBelow n f g := by
  have every : ∀ (blocks : List Block) (start : Nat), List.rec (motive := fun _ => Nat → Bool) (fun start => Nat.ble n start)
      (fun k _ rest start => both (keeps e start k) (rest (Nat.add start (size k)))) blocks start = true →
      n ≤ start + total blocks ∧ ∀ (j : Nat) (k : Block) (p q : Nat), Has blocks j k p q → ∀ s : Nat → K,
        eval (fun i => nth g (p * k.columns + i)) (fun i => s (q + i)) k.poly = s (start + j) ∧
          eval (fun i => s (p * k.columns + i)) (fun i => nth g (q + i)) k.poly = s (start + j) := by
    intro blocks
    induction blocks with
    | nil => exact fun start h => ⟨le_of_ble _ _ h, fun _ _ _ _ has => has.elim⟩
    | cons b rest ih =>
      intro start h
      have checked := both_true h
      have more := ih _ checked.right
      refine ⟨?_, ?_⟩
      · show n ≤ start + (size b + total rest)
        rw [← Nat.add_assoc]
        exact more.left
      · intro j k p q has s
        cases has with
        | inl here =>
          obtain ⟨same, hp, hq, place⟩ := here
          rw [place]
          exact keeps_sound constants (same ▸ checked.left) hp hq s
        | inr there =>
          obtain ⟨m, place, has⟩ := there
          have found := more.right m k p q has s
          rw [place, ← Nat.add_assoc]
          exact found
  have known := every blocks Nat.zero h
  intro s j small
  cases locate_spec blocks j with
  | inl found =>
    obtain ⟨k, p, q, has, _⟩ := found
    rw [combineBy_piece means _ s has, combineBy_piece means s _ has]
    have same := known.right j k p q has s
    rw [show Nat.zero + j = j from Nat.zero_add j] at same
    exact same
  | inr past =>
    obtain ⟨m, place, _⟩ := past
    have enough := known.left
    rw [show Nat.zero + total blocks = total blocks from Nat.zero_add _] at enough
    exact absurd (Nat.le_trans enough (place ▸ Nat.le_add_right _ m)) (Nat.not_le_of_lt small)
end
end
end Polynomial
end Tang
