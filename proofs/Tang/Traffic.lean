prelude
import Tang.LP
import Tang.Field
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Traffic — sizes of sets of iteration points, and what must move through a small memory -/
set_option autoImplicit false
universe u v
noncomputable section
namespace Tang

section
variable {K : Type u} [OrderedField K]
theorem nonneg_of_double {a : K} (h : 0 ≤ a + a) : 0 ≤ a := by
  cases le_total 0 a with
  | inl k => exact k
  | inr k =>
    have d : a + a ≤ a + 0 := add_le_add (le_refl a) k
    rw [add_zero] at d
    exact le_trans h d
/-- Cauchy–Schwarz for any positive linear functional, from L L (aᵢ bⱼ − aⱼ bᵢ)² ≥ 0. -/
theorem cauchy_schwarz {I : Type v} (L : (I → K) → K) (additive : ∀ f g, L (fun i => f i + g i) = L f + L g)
    (scales : ∀ c f, L (fun i => c * f i) = c * L f) (positive : ∀ f, (∀ i, 0 ≤ f i) → 0 ≤ L f) (a b : I → K) :
    L (fun i => a i * b i) * L (fun i => a i * b i) ≤ L (fun i => a i * a i) * L (fun i => b i * b i) := by
  apply le_of_sub_nonneg
  apply nonneg_of_double
  generalize hp : L (fun i => a i * b i) = p
  generalize hs : L (fun i => a i * a i) = s
  generalize ht : L (fun i => b i * b i) = t
  have row : ∀ i, L (fun j => (a i * b j - a j * b i) * (a i * b j - a j * b i))
      = t * (a i * a i) + (s * (b i * b i) + -(1 + 1) * p * (a i * b i)) := by
    intro i
    have e : (fun j => (a i * b j - a j * b i) * (a i * b j - a j * b i))
        = (fun j => a i * a i * (b j * b j) + (b i * b i * (a j * a j) + -(1 + 1) * (a i * b i) * (a j * b j))) :=
      funext (fun j => ring_eq [a i, b i, a j, b j] (by rfl))
    rw [e, additive, additive, scales, scales, scales, hp, hs, ht]
    exact ring_eq [a i, b i, p, s, t] (by rfl)
  have whole : L (fun i => L (fun j => (a i * b j - a j * b i) * (a i * b j - a j * b i)))
      = (s * t - p * p) + (s * t - p * p) := by
    rw [show (fun i => L (fun j => (a i * b j - a j * b i) * (a i * b j - a j * b i)))
        = (fun i => t * (a i * a i) + (s * (b i * b i) + -(1 + 1) * p * (a i * b i))) from funext row,
      additive, additive, scales, scales, scales, hp, hs, ht]
    exact ring_eq [p, s, t] (by rfl)
  rw [← whole]
  exact positive _ (fun i => positive _ (fun j => square_nonneg _))
theorem cauchy_schwarz_sum (n : Nat) (a b : Nat → K) :
    sum n (fun i => a i * b i) * sum n (fun i => a i * b i)
      ≤ sum n (fun i => a i * a i) * sum n (fun i => b i * b i) :=
  cauchy_schwarz (fun f => sum n f) (sum_add n) (sum_mul_left n) (fun _ h => sum_nonneg h) a b
theorem cauchy_schwarz_box (n m : Nat) (a b : Nat → Nat → K) :
    sum n (fun i => sum m (fun j => a i j * b i j)) * sum n (fun i => sum m (fun j => a i j * b i j))
      ≤ sum n (fun i => sum m (fun j => a i j * a i j)) * sum n (fun i => sum m (fun j => b i j * b i j)) :=
  cauchy_schwarz (fun f => sum n (fun i => sum m (fun j => f (Prod.mk i j))))
    (fun f g => by
      rw [← sum_add]
      exact sum_congr (fun i _ => sum_add m _ _))
    (fun c f => by
      rw [← sum_mul_left]
      exact sum_congr (fun i _ => sum_mul_left m c _))
    (fun _ h => sum_nonneg (fun _ => sum_nonneg (fun _ => h _)))
    (fun x => a x.fst x.snd) (fun x => b x.fst x.snd)

/-! ## Discrete Loomis–Whitney: three arrays, each indexed by two of three loops -/
theorem loomis_whitney_weighted (n m l : Nat) (a b c : Nat → Nat → K) :
    sum n (fun i => sum m (fun j => a i j * sum l (fun k => b j k * c i k)))
      * sum n (fun i => sum m (fun j => a i j * sum l (fun k => b j k * c i k)))
      ≤ sum n (fun i => sum m (fun j => a i j * a i j))
        * (sum n (fun i => sum l (fun k => c i k * c i k)) * sum m (fun j => sum l (fun k => b j k * b j k))) := by
  apply le_trans (cauchy_schwarz_box n m a (fun i j => sum l (fun k => b j k * c i k)))
  apply mul_le_mul_left (sum_nonneg (fun i => sum_nonneg (fun j => square_nonneg _)))
  rw [← sum_mul_right]
  apply sum_le_sum
  intro i _
  rw [← sum_mul_left]
  apply sum_le_sum
  intro j _
  rw [mul_comm (sum l (fun k => c i k * c i k))]
  exact cauchy_schwarz_sum l (fun k => b j k) (fun k => c i k)

/-! ## Sets: how many points have projections of a given size -/
/-- 1 where the condition holds. -/
def one_if (p : Prop) [Decidable p] : K := if p then 1 else 0
theorem one_if_square (p : Prop) [Decidable p] : (one_if p : K) * one_if p = one_if p := by
  unfold one_if
  by_cases h : p
  · rw [if_pos h, mul_one]
  · rw [if_neg h, mul_zero]
theorem one_if_nonneg (p : Prop) [Decidable p] : (0 : K) ≤ one_if p := by
  unfold one_if
  by_cases h : p
  · rw [if_pos h]
    exact zero_le_one
  · rw [if_neg h]
    exact le_refl 0
theorem one_if_le {p q r s : Prop} [Decidable p] [Decidable q] [Decidable r] [Decidable s]
    (h : p → q ∧ r ∧ s) : (one_if p : K) ≤ one_if q * (one_if r * one_if s) := by
  by_cases k : p
  · have j := h k
    unfold one_if
    rw [if_pos k, if_pos j.left, if_pos j.right.left, if_pos j.right.right, mul_one, mul_one]
    exact le_refl 1
  · rw [show (one_if p : K) = 0 from if_neg k]
    exact mul_nonneg (one_if_nonneg q) (mul_nonneg (one_if_nonneg r) (one_if_nonneg s))
/-- The number of points of a set in a box. -/
def card2 (n m : Nat) (p : Nat → Nat → Prop) [∀ i j, Decidable (p i j)] : K :=
  sum n (fun i => sum m (fun j => one_if (p i j)))
def card3 (n m l : Nat) (p : Nat → Nat → Nat → Prop) [∀ i j k, Decidable (p i j k)] : K :=
  sum n (fun i => sum m (fun j => sum l (fun k => one_if (p i j k))))

section
variable (n m l : Nat) (S : Nat → Nat → Nat → Prop) [∀ i j k, Decidable (S i j k)]
variable (P Q R : Nat → Nat → Prop) [∀ i j, Decidable (P i j)] [∀ i j, Decidable (Q i j)] [∀ i j, Decidable (R i j)]
theorem card_nonneg : (0 : K) ≤ card3 n m l S :=
  sum_nonneg (fun _ => sum_nonneg (fun _ => sum_nonneg (fun _ => one_if_nonneg _)))
theorem card_le (h : ∀ i j k, S i j k → P i j ∧ Q j k ∧ R i k) :
    (card3 n m l S : K) ≤ sum n (fun i => sum m (fun j => one_if (P i j) * sum l (fun k => one_if (Q j k) * one_if (R i k)))) := by
  apply sum_le_sum
  intro i _
  apply sum_le_sum
  intro j _
  rw [← sum_mul_left]
  apply sum_le_sum
  intro k _
  exact one_if_le (h i j k)
theorem squares_le {a b : K} (ha : 0 ≤ a) (h : a ≤ b) : a * a ≤ b * b :=
  le_trans (mul_le_mul_left ha h) (mul_le_mul_right (le_trans ha h) h)
/-- Loomis–Whitney: |S|² ≤ |P| · |R| · |Q|, the dual weights ½, ½, ½. -/
theorem loomis_whitney (h : ∀ i j k, S i j k → P i j ∧ Q j k ∧ R i k) :
    (card3 n m l S : K) * card3 n m l S ≤ card2 n m P * (card2 n l R * card2 m l Q) := by
  apply le_trans (squares_le (card_nonneg n m l S) (card_le n m l S P Q R h))
  apply le_trans (loomis_whitney_weighted n m l _ _ _)
  have square : ∀ (x y : Nat) (T : Nat → Nat → Prop) [∀ i j, Decidable (T i j)],
      (sum x (fun i => sum y (fun j => one_if (T i j) * one_if (T i j))) : K) = card2 x y T :=
    fun x y T _ => sum_congr (fun i _ => sum_congr (fun j _ => one_if_square (T i j)))
  rw [square n m P, square n l R, square m l Q]
  exact le_refl _
end
/-- Weights 1, 1: an array over two loops and one over the third. -/
theorem product_bound (n m l : Nat) (S : Nat → Nat → Nat → Prop) [∀ i j k, Decidable (S i j k)]
    (P : Nat → Nat → Prop) [∀ i j, Decidable (P i j)] (Q : Nat → Prop) [∀ k, Decidable (Q k)]
    (h : ∀ i j k, S i j k → P i j ∧ Q k) :
    (card3 n m l S : K) ≤ card2 n m P * sum l (fun k => one_if (Q k)) := by
  unfold card2
  rw [← sum_mul_right]
  apply sum_le_sum
  intro i _
  rw [← sum_mul_right]
  apply sum_le_sum
  intro j _
  rw [← sum_mul_left]
  apply sum_le_sum
  intro k _
  have e := one_if_le (K := K) (s := True) (fun x => ⟨(h i j k x).left, (h i j k x).right, trivial⟩)
  rw [show (one_if True : K) = 1 from if_pos trivial, mul_one] at e
  exact e
/-- Weights 1, 1, 1: three arrays over one loop each. -/
theorem box_bound (n m l : Nat) (S : Nat → Nat → Nat → Prop) [∀ i j k, Decidable (S i j k)]
    (P Q R : Nat → Prop) [∀ i, Decidable (P i)] [∀ i, Decidable (Q i)] [∀ i, Decidable (R i)]
    (h : ∀ i j k, S i j k → P i ∧ Q j ∧ R k) :
    (card3 n m l S : K)
      ≤ sum n (fun i => one_if (P i)) * (sum m (fun j => one_if (Q j)) * sum l (fun k => one_if (R k))) := by
  rw [← sum_mul_right]
  apply sum_le_sum
  intro i _
  rw [← sum_mul_right, ← sum_mul_left]
  apply sum_le_sum
  intro j _
  rw [← sum_mul_left, ← sum_mul_left]
  apply sum_le_sum
  intro k _
  exact one_if_le (h i j k)

/-! ## Traffic -/
/-- A run is cut into `s` segments; segment t does `points t` points, and with at most `X` elements of
each array at hand it can do only so many that (points t)² ≤ X³ (Loomis–Whitney). So the square of
all points is at most s² · X³: the number of segments, each with its own traffic, is at least
points / X^{3/2} (Irony, Toledo & Tiskin 2004). -/
theorem traffic_bound (s : Nat) (points : Nat → K) (X : K)
    (h : ∀ t, t < s → points t * points t ≤ X * (X * X)) :
    sum s points * sum s points ≤ sum s (fun _ => 1) * sum s (fun _ => 1) * (X * (X * X)) := by
  have c := cauchy_schwarz_sum s (fun _ => (1 : K)) points
  have one : sum s (fun i => 1 * points i) = sum s points := sum_congr (fun i _ => one_mul _)
  have ones : sum s (fun _ => (1 : K) * 1) = sum s (fun _ => 1) := sum_congr (fun _ _ => mul_one 1)
  rw [one, ones] at c
  apply le_trans c
  have d : sum s (fun t => points t * points t) ≤ sum s (fun _ => 1 * (X * (X * X))) :=
    sum_le_sum (fun t ht => by
      rw [one_mul]
      exact h t ht)
  rw [sum_mul_right] at d
  rw [mul_assoc]
  exact mul_le_mul_left (sum_nonneg (fun _ => zero_le_one)) d
/-- The two together: a run in `s` segments, each of whose points have at most `X` projections of each kind. -/
theorem traffic_loomis_whitney (s n m l : Nat) (S : Nat → Nat → Nat → Nat → Prop) [∀ t i j k, Decidable (S t i j k)]
    (P Q R : Nat → Nat → Nat → Prop) [∀ t i j, Decidable (P t i j)] [∀ t i j, Decidable (Q t i j)]
    [∀ t i j, Decidable (R t i j)] (X : K) (hX : 0 ≤ X)
    (h : ∀ t i j k, S t i j k → P t i j ∧ Q t j k ∧ R t i k)
    (hP : ∀ t, card2 n m (P t) ≤ X) (hQ : ∀ t, card2 m l (Q t) ≤ X) (hR : ∀ t, card2 n l (R t) ≤ X) :
    sum s (fun t => card3 n m l (S t)) * sum s (fun t => card3 n m l (S t))
      ≤ sum s (fun _ => 1) * sum s (fun _ => 1) * (X * (X * X)) := by
  apply traffic_bound
  intro t _
  apply le_trans (loomis_whitney n m l (S t) (P t) (Q t) (R t) (h t))
  have positive : ∀ (x y : Nat) (T : Nat → Nat → Prop) [∀ i j, Decidable (T i j)], (0 : K) ≤ card2 x y T :=
    fun _ _ _ _ => sum_nonneg (fun _ => sum_nonneg (fun _ => one_if_nonneg _))
  apply le_trans (mul_le_mul_right (mul_nonneg (positive n l (R t)) (positive m l (Q t))) (hP t))
  apply mul_le_mul_left hX
  exact le_trans (mul_le_mul_right (positive m l (Q t)) (hR t)) (mul_le_mul_left hX (hQ t))
end
end Tang
