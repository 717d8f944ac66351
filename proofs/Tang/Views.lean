prelude
import Tang.Sum
import Tang.Ring
import Tang.Algebra
import Tang.Logic
import Tang.Core
import Tang.Syntax
/-! # Tang.Views — affine views, guards and gathers, and their composition -/
set_option autoImplicit false
universe u v w x
noncomputable section
namespace Tang

/-- `n` input coordinates; output coordinate `i` is `off i + Σ_j mat i j * x j`. -/
structure Affine (K : Type u) where
  n : Nat
  off : Nat → K
  mat : Nat → Nat → K

section
variable {K : Type u} [CommSemiring K]
namespace Affine
def apply (f : Affine K) (x : Nat → K) : Nat → K :=
  fun i => f.off i + sum f.n (fun j => f.mat i j * x j)
/-- First `g`, then `f`: substitute the outputs of `g` for the inputs of `f`. -/
def comp (f g : Affine K) : Affine K where
  n := g.n
  off i := f.off i + sum f.n (fun k => f.mat i k * g.off k)
  mat i j := sum f.n (fun k => f.mat i k * g.mat k j)
end Affine
/-- Composing affine views is substitution. -/
theorem view_comp (f g : Affine K) (x : Nat → K) : (f.comp g).apply x = f.apply (g.apply x) := by
  apply funext
  intro i
  show f.off i + sum f.n (fun k => f.mat i k * g.off k)
        + sum g.n (fun j => sum f.n (fun k => f.mat i k * g.mat k j) * x j)
      = f.off i + sum f.n (fun k => f.mat i k * (g.off k + sum g.n (fun j => g.mat k j * x j)))
  have inner : sum g.n (fun j => sum f.n (fun k => f.mat i k * g.mat k j) * x j)
      = sum f.n (fun k => f.mat i k * sum g.n (fun j => g.mat k j * x j)) :=
    calc sum g.n (fun j => sum f.n (fun k => f.mat i k * g.mat k j) * x j)
      _ = sum g.n (fun j => sum f.n (fun k => f.mat i k * g.mat k j * x j)) :=
          sum_congr (fun j _ => (sum_mul_right f.n (x j) _).symm)
      _ = sum f.n (fun k => sum g.n (fun j => f.mat i k * g.mat k j * x j)) := sum_comm _ _ _
      _ = sum f.n (fun k => f.mat i k * sum g.n (fun j => g.mat k j * x j)) :=
          sum_congr (fun k _ => by
            rw [← sum_mul_left]
            exact sum_congr (fun j _ => mul_assoc _ _ _))
  rw [inner, add_assoc, ← sum_add]
  exact congrArg (fun s => f.off i + s) (sum_congr (fun k _ => (mul_add _ _ _).symm))
theorem view_comp_assoc (f g h : Affine K) (x : Nat → K) :
    ((f.comp g).comp h).apply x = (f.comp (g.comp h)).apply x := by
  rw [view_comp, view_comp, view_comp, view_comp]
end

/-! ## Reads, guarded or gathered: a view is any function from points to coordinates -/
section
variable {I : Type u} {J : Type v} {L : Type w} {V : Type x}
/-- A read of a copy is a read of what it copies. -/
theorem read_copy (t : I → V) (f : J → I) (g : L → J) :
    (fun p => (fun q => t (f q)) (g p)) = fun p => t (f (g p)) := rfl
/-- A guarded read: the fill where the guard fails. -/
def guarded (p : J → Prop) [∀ j, Decidable (p j)] (fill : V) (t : J → V) : J → V :=
  fun j => if p j then t j else fill
/-- Guards add up: reading a guarded copy through a guard needs both, at one fill. -/
theorem guarded_comp (p : J → Prop) [∀ j, Decidable (p j)] (q : L → Prop) [∀ l, Decidable (q l)]
    (fill : V) (t : J → V) (g : L → J) :
    guarded q fill (fun l => guarded p fill t (g l)) = guarded (fun l => q l ∧ p (g l)) fill (fun l => t (g l)) := by
  apply funext
  intro l
  show ite (q l) (ite (p (g l)) (t (g l)) fill) fill = ite (q l ∧ p (g l)) (t (g l)) fill
  by_cases h : q l
  · rw [if_pos h]
    exact if_congr ⟨fun k => ⟨h, k⟩, fun k => k.right⟩ (fun _ => rfl) (fun _ => rfl)
  · rw [if_neg h, if_neg (fun k => h k.left)]
/-- Substituting a map through a guarded read keeps the map's own value inside the guard. -/
theorem guarded_map {W : Type x} (p : J → Prop) [∀ j, Decidable (p j)] (fill : W) (body : V → W)
    (t : J → V) : guarded p fill (fun j => body (t j)) = fun j => if p j then body (t j) else fill := rfl
/-- Where the body turns the inner fill into the outer one, the guard moves into the read. -/
theorem guarded_inside {W : Type x} (p : J → Prop) [∀ j, Decidable (p j)] (fill : V) (body : V → W)
    (t : J → V) : (fun j => body (guarded p fill t j)) = guarded p (body fill) (fun j => body (t j)) :=
  funext (fun j => apply_if body (t j) fill)
/-- Substitution through a gather: the index is read first, whatever it is. -/
theorem gather_map (index : L → J) (body : V → V) (t : J → V) :
    (fun l => (fun j => body (t j)) (index l)) = fun l => body (t (index l)) := rfl
end

/-! ## Padded sums -/
section
variable {K : Type u} [CommSemiring K]
/-- A sum of padded reads is the sum over the points inside. -/
theorem sum_padded (pad n rest : Nat) (f : Nat → K) :
    sum (pad + n + rest) (fun i => if pad ≤ i ∧ i < pad + n then f i else 0) = sum n (fun i => f (pad + i)) := by
  have outer := sum_if_lt rest (pad + n) (fun i => if pad ≤ i then f i else 0)
  have both : sum (pad + n + rest) (fun i => if pad ≤ i ∧ i < pad + n then f i else 0)
      = sum (pad + n + rest) (fun i => if i < pad + n then (if pad ≤ i then f i else 0) else 0) := by
    apply sum_congr
    intro i _
    by_cases h : i < pad + n
    · rw [if_pos h]
      exact if_congr ⟨fun k => k.left, fun k => ⟨k, h⟩⟩ (fun _ => rfl) (fun _ => rfl)
    · rw [if_neg h, if_neg (fun k => h k.right)]
  have head : sum pad (fun i => if pad ≤ i then f i else 0) = sum pad (fun _ => (0 : K)) :=
    sum_congr (fun i hi => if_neg (Nat.not_le_of_lt hi))
  rw [both, outer, sum_split, head, sum_const_zero, zero_add]
  exact sum_congr (fun i _ => if_pos (Nat.le_add_right pad i))
end
end Tang
