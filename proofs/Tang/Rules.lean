prelude
import Tang.Welford
import Tang.Ranks
import Tang.Argmax
import Tang.TopK
import Tang.Segment
import Tang.Scan
import Tang.Gradient
import Tang.Softmax
import Tang.Views
import Tang.Field
import Tang.Fold
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Rules — one theorem for every rewrite rule, in the form that the compiler exports

The name is the rule's in snake case. `x / y` is written `x * inv y` and `x - y` as `x + -y`, as in
the compiler's expressions. -/
set_option autoImplicit false
universe u v w x
noncomputable section
namespace Tang

/-! ## Structural rules, over anything -/
section
variable {α : Type u} {β : Type v} {γ : Type w}
theorem simplify_expr {K : Type u} [CommRing K] (a : K) (c : Prop) [Decidable c] :
    a * 1 + 0 = a ∧ - -a = a ∧ (if c then a else a) = a :=
  ⟨by rw [mul_one, add_zero], Ring.neg_neg a, if_same a⟩
theorem common_subexpression {a b : α} (f : α → α → β) (h : b = a) : f a b = f a a := congrArg (f a) h
/-- A read of a copy is a read of what it copies, under both guards. -/
theorem compose_views (p : β → Prop) [∀ j, Decidable (p j)] (q : γ → Prop) [∀ l, Decidable (q l)]
    {V : Type x} (fill : V) (t : β → V) (g : γ → β) (l : γ) :
    (if q l then (fun j => if p j then t j else fill) (g l) else fill) = if q l ∧ p (g l) then t (g l) else fill :=
  congrFun (guarded_comp p q fill t g) l
/-- A map is evaluated where it is read; what is read outside the guard does not matter. -/
theorem substitute_maps (p : Prop) [Decidable p] (body : α → β) (t fill : α) (outer : β) :
    (if p then (fun a => body a) t else outer) = if p then body (if p then t else fill) else outer :=
  if_congr (Iff.refl p) (fun h => by rw [if_pos h]) (fun _ => rfl)
theorem dead_node (dead : α) (kept : β) : (fun _ => kept) dead = kept := rfl
/-- An output that nobody reads does not change the others. -/
theorem dead_output (kept : α → β) (dead : α → γ) (a : α) : ((fun p => Prod.mk (kept p) (dead p)) a).fst = kept a := rfl
end

/-! ## Reductions -/
section
variable {α : Type u} {β : Type v} {op : α → α → α} {e : α}
theorem merge_siblings (op : α → α → α) (op' : β → β → β) (e : α) (e' : β) (n : Nat) (f : Nat → α) (g : Nat → β) :
    fold op e n f = (fold (both op op') ⟨e, e'⟩ n (fun i => ⟨f i, g i⟩)).fst := by
  rw [fold_both]
theorem dead_part (op : α → α → α) (op' : β → β → β) (e : α) (e' : β) (n : Nat) (f : Nat → α) (g : Nat → β) :
    (fold (both op op') ⟨e, e'⟩ n (fun i => ⟨f i, g i⟩)).fst = fold op e n f :=
  (merge_siblings op op' e e' n f g).symm
theorem gate_to_where (id : Identity op e) (c p : Nat → Prop) [∀ i, Decidable (c i)] [∀ i, Decidable (p i)]
    (same : ∀ i, c i ↔ p i) (n : Nat) (f : Nat → α) :
    fold op e n (fun i => if c i then f i else e) = foldWhere op p e n f := by
  rw [← fold_where id p e n f]
  exact fold_congr (fun i _ => if_congr (same i) (fun _ => rfl) (fun _ => rfl))
/-- A fold whose body is neutral where the condition fails. -/
theorem zero_gate_to_where (id : Identity op e) (p : Nat → Prop) [∀ i, Decidable (p i)] (n : Nat) (f : Nat → α)
    (neutral : ∀ i, ¬ p i → f i = e) : fold op e n f = foldWhere op p e n f := by
  rw [← fold_where id p e n f]
  apply fold_congr
  intro i _
  by_cases h : p i
  · rw [if_pos h]
  · rw [if_neg h, neutral i h]
/-- A scan of `n * m` at a position: the chunks before its own, combined with the scan inside its own. -/
theorem chunk_scan (assoc : Associative op) (id : Identity op e) (n m t : Nat) (hm : 0 < m) (ht : t < n * m) (f : Nat → α) :
    foldWhere op (fun s => s ≤ t) e (n * m) f
      = op (foldWhere op (fun c => c + 1 ≤ quotient m t) e n (fun c => fold op e m (fun k => f (k + c * m))))
          (foldWhere op (fun k => k ≤ t - quotient m t * m) e m (fun k => f (k + quotient m t * m))) :=
  scan_at assoc id n m t hm ht f
end

section
variable {K : Type u} [CommSemiring K]
theorem add_identity : Identity (fun a b : K => a + b) 0 := fun a => ⟨zero_add a, add_zero a⟩
theorem mul_identity : Identity (fun a b : K => a * b) 1 := fun a => ⟨one_mul a, mul_one a⟩
theorem hoist_invariant_factors (n : Nat) (c : K) (f : Nat → K) : sum n (fun r => c * f r) = sum n f * c := by
  rw [sum_mul_left, mul_comm]
theorem merge_dims (n m : Nat) (f : Nat → K) :
    sum n (fun i => sum m (fun j => f (i * m + j))) = sum (n * m) f := (sum_tile n m f).symm
theorem recognise_scan (a b : Nat → K) (t n : Nat) (h : t < n) :
    foldWhere (fun x y => x + y) (fun s => s ≤ t) 0 n
      (fun s => foldWhere (fun x y => x * y) (fun r => s + 1 ≤ r ∧ r ≤ t) 1 n a * b s)
      = (foldWhere affine (fun s => s ≤ t) ⟨1, 0⟩ n (fun s => ⟨a s, b s⟩)).b := by
  rw [foldWhere_le _ t n h, foldWhere_le _ t n h, affine_fold, ← sum_recurrence, ← sum_eq_fold]
  apply sum_congr
  intro s _
  rw [foldWhere_until (fun r => s + 1 ≤ r) 1 t n h, ← fold_where mul_identity]
  rfl
/-- A gated sum over a sorted key is a running sum, restarted at every new key, at the end of the key's segment. -/
theorem segment_sum (key : Nat → Nat) (sorted : ∀ i, key i ≤ key (Nat.succ i)) (k n : Nat) (f : Nat → K) :
    sum n (fun i => if key i = k then f i else 0)
      = if (1 ≤ ends key k n ∧ ends key k n < n + 1) ∧ key (ends key k n - 1) = k then
          (if 1 ≤ ends key k n ∧ ends key k n < n + 1 then
            (foldWhere affine (fun i => i ≤ ends key k n - 1) ⟨1, 0⟩ n
              (fun i => ⟨if (1 ≤ i ∧ i < n + 1) ∧ key i = key (i - 1) then 1 else 0, f i⟩)).b else 0) else 0 :=
  segment_at key sorted k n f
end

/-! ## Sums that are folds of several numbers -/
section
variable {K : Type u} [OrderedField K]
theorem welford (n : Nat) (x : Nat → K) (count : K) (h : count = sum (Nat.succ n) (fun _ => 1)) :
    sum (Nat.succ n) (fun i => (x i + -(sum (Nat.succ n) x * inv count)) * (x i + -(sum (Nat.succ n) x * inv count)))
      = (welfordFold n x).m2 := by
  rw [welford_m2, welford_mean, h]
  rfl
theorem read_back_mean (n : Nat) (x : Nat → K) :
    sum (Nat.succ n) x = (welfordFold n x).n * (welfordFold n x).mean := by
  rw [mul_comm]
  exact (welfordFold_sums n x).left.symm
/-- The cotangent that reaches a stabilising maximum adds up to nothing. -/
theorem stop_max_gradient (n : Nat) (v e : Nat → K) (h : sum n e ≠ 0) :
    sum n (fun j => (v j + -(sum n (fun j => e j * v j) * inv (sum n e))) * e j) = 0 := by
  apply cotangent_cancels
  rw [mul_assoc, mul_comm (inv _), mul_inv h, mul_one]
  exact sum_congr (fun j _ => mul_comm _ _)
end
section
variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]
theorem stabilize_softmax (n : Nat) (s : Nat → A) (v : Nat → K) :
    sum (Nat.succ n) (fun j => v j * exp (s j + -(top n s))) * inv (sum (Nat.succ n) (fun j => exp (s j + -(top n s))))
      = (online n s v).a * inv (online n s v).l := (online_two_pass n s v).symm
theorem shift_softmax (n : Nat) (s : Nat → A) (v : Nat → K) (c : A) :
    sum (Nat.succ n) (fun j => v j * exp (s j + -c)) * inv (sum (Nat.succ n) (fun j => exp (s j + -c)))
      = (online n s v).a * inv (online n s v).l :=
  (weighted_shift n s v c (top n s)).trans (online_two_pass n s v).symm
/-- … in particular without a shift. -/
theorem shift_softmax_zero (n : Nat) (s : Nat → A) (v : Nat → K) :
    sum (Nat.succ n) (fun j => v j * exp (s j)) * inv (sum (Nat.succ n) (fun j => exp (s j)))
      = (online n s v).a * inv (online n s v).l := by
  rw [← shift_softmax n s v 0]
  have plain : ∀ j, s j + -(0 : A) = s j := fun j => sub_zero (s j)
  rw [sum_congr (n := Nat.succ n) (fun j _ => show v j * exp (s j + -0) = v j * exp (s j) from by rw [plain]),
    sum_congr (n := Nat.succ n) (fun j _ => show (exp (s j + -0) : K) = exp (s j) from by rw [plain])]
/-- The fold of log-sum-exp over `x 0 … x n`. -/
def logFold (n : Nat) (x : Nat → A) : LogSum A K :=
  fold logSum ⟨x 0, 1⟩ n (fun i => ⟨x (Nat.succ i), 1⟩)
theorem logFold_online (n : Nat) (x : Nat → A) (v : Nat → K) :
    logFold n x = (⟨(online n x v).m, (online n x v).l⟩ : LogSum A K) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    show logSum (logFold n x) ⟨x (Nat.succ n), 1⟩ = _
    rw [ih]
    rfl
theorem read_back_mass (n : Nat) (s : Nat → A) :
    sum (Nat.succ n) (fun i => exp (s i + -(top n s))) = (logFold (K := K) n s).l := by
  rw [logFold_online n s (fun _ => (0 : K)), online_l]
  rfl
theorem read_back_mass_softmax (n : Nat) (s : Nat → A) (v : Nat → K) :
    sum (Nat.succ n) (fun i => exp (s i + -(top n s))) = (online n s v).l := (online_l n s v).symm
theorem logsumexp (log : K → A) (n : Nat) (x : Nat → A) :
    top n x + log (sum (Nat.succ n) (fun i => exp (x i + -(top n x))))
      = (logFold (K := K) n x).m + log (logFold n x).l := by
  rw [logFold_online n x (fun _ => (0 : K)), online_m, online_l]
  rfl
/-- Without a shift, for every logarithm. -/
theorem logsumexp_plain [Logarithm A K] (n : Nat) (x : Nat → A) :
    log (A := A) (K := K) (sum (Nat.succ n) (fun i => exp (x i))) = (logFold (K := K) n x).m + log (logFold (K := K) n x).l := by
  rw [← logsumexp (log (A := A) (K := K)) n x]
  exact (logsumexp_shift (K := K) n x (top n x)).symm
end

/-! ## Searches -/
section
variable {A : Type u} [TotalOrder A]
/-- The minimum of `x 0 … x n`. -/
def bottom (n : Nat) (x : Nat → A) : A := fold min (x 0) n (fun i => x (Nat.succ i))
theorem bottom_le (n : Nat) (x : Nat → A) : ∀ i, i ≤ n → bottom n x ≤ x i := by
  induction n with
  | zero =>
    intro i h
    rw [Nat.le_antisymm h (Nat.zero_le i)]
    exact le_refl _
  | succ n ih =>
    intro i h
    show min (bottom n x) (x (Nat.succ n)) ≤ x i
    cases Nat.lt_or_ge i (Nat.succ n) with
    | inl k => exact le_trans (min_le_left _ _) (ih i (Nat.le_of_lt_succ k))
    | inr k =>
      rw [Nat.le_antisymm h k]
      exact min_le_right _ _
theorem le_bottom (n : Nat) (x : Nat → A) {c : A} (h : ∀ i, i ≤ n → c ≤ x i) : c ≤ bottom n x := by
  induction n with
  | zero => exact h 0 (Nat.le_refl 0)
  | succ n ih =>
    exact le_min (ih (fun i k => h i (Nat.le_trans k (Nat.le_succ n)))) (h _ (Nat.le_refl _))
/-- The least position among those where `x` is its maximum; `far` is beyond the last. -/
theorem argmax (n : Nat) (x : Nat → A) (far : Nat) (h : n ≤ far) :
    bottom n (fun j => if x j = top n x then j else far) = (argFold (fun a => a) n x).at' := by
  have hit : x (argFold (fun a => a) n x).at' = top n x := by rw [argFold_best (fun a => a) n x, argFold_top]
  apply Nat.le_antisymm
  · have k := bottom_le n (fun j => if x j = top n x then j else far) _ (argFold_le (fun a => a) n x)
    rw [if_pos hit] at k
    exact k
  · apply le_bottom n
    intro i hi
    by_cases c : x i = top n x
    · rw [if_pos c]
      exact argFold_least (fun a => a) (fun e => e) n x i hi (c.trans (argFold_top n x).symm)
    · rw [if_neg c]
      exact Nat.le_trans (argFold_le _ n x) h
theorem gather_at_argmax (n : Nat) (x : Nat → A) :
    x (argFold (fun a => a) n x).at' = (argFold (fun a => a) n x).best := argFold_best _ n x
theorem read_back (n : Nat) (s : Nat → A) : top n s = (argFold (fun a => a) n s).best := (argFold_top n s).symm
theorem read_back_softmax {K : Type v} {B : Type w} [OrderedRing B] [OrderedField K] [Exponential B K] (n : Nat)
    (s : Nat → B) (v : Nat → K) : top n s = (online n s v).m := (online_m n s v).symm
/-- The element that `r` others precede, found by counting, is that of rank `r` among the k largest. -/
theorem top_k {K : Type v} [CommSemiring K] (g : Best A Nat → K) (k n r : Nat) (h : r < k) (x : Nat → A) :
    fold (fun a b => a + b) 0 (Nat.succ n) (fun j =>
        if fold (fun a b => a + b) 0 (Nat.succ n) (fun i => if x j < x i ∨ (x j = x i ∧ i < j) then 1 else 0) = r
        then g ⟨x j, j⟩ else 0)
      = atRank g r (topFold k n x) := rank_topFold g k n r h x
end
end Tang
