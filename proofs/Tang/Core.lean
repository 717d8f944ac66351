prelude
/-! # Tang.Core — the smallest environment the Lean 4.35 elaborator is comfortable with.

Nothing is imported. Everything here is ordinary Lean, checked by the kernel; the only axioms are
`propext` and `Quot.sound` (used by `simp` and `funext`) and `sorryAx`, which the gate refuses, plus
three *unsafe* constants that the code generator wants to see (no theorem can use those). -/
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! ## Constants the compiler and the equation compiler refer to by name -/
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type
set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit : Sort u where
  | unit : PUnit
abbrev Unit : Type := PUnit
@[match_pattern] abbrev Unit.unit : Unit := PUnit.unit

@[inline] def id {α : Sort u} (a : α) : α := a
set_option checkBinderAnnotations false in
abbrev inferInstance {α : Sort u} [i : α] : α := i
@[reducible] def outParam (α : Sort u) : Sort u := α
@[reducible] def semiOutParam (α : Sort u) : Sort u := α
@[reducible] def optParam (α : Sort u) (default : α) : Sort u := α
def wfParam {α : Sort u} (a : α) : α := a

/-! ## Equality -/
inductive Eq {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a
@[simp] abbrev Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a)
    {b : α} (h : Eq a b) : motive b :=
  Eq.rec (motive := fun x _ => motive x) m h
set_option linter.defProp false in
@[match_pattern] def rfl {α : Sort u} {a : α} : Eq a a := Eq.refl a
theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h : Eq a b) (m : motive a) : motive b :=
  Eq.ndrec m h
theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := h ▸ rfl
theorem Eq.trans {α : Sort u} {a b c : α} (h₁ : Eq a b) (h₂ : Eq b c) : Eq a c := h₂ ▸ h₁
theorem congrArg {α : Sort u} {β : Sort v} {a b : α} (f : α → β) (h : Eq a b) : Eq (f a) (f b) := h ▸ rfl
theorem congr {α : Sort u} {β : Sort v} {f g : α → β} {a b : α} (h₁ : Eq f g) (h₂ : Eq a b) :
    Eq (f a) (g b) := h₁ ▸ h₂ ▸ rfl
theorem congrFun {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : Eq f g) (a : α) :
    Eq (f a) (g a) := h ▸ rfl
theorem congrFun' {α : Sort u} {β : Sort v} {f g : α → β} (h : Eq f g) (a : α) : Eq (f a) (g a) := h ▸ rfl
@[macro_inline] def cast {α β : Sort u} (h : Eq α β) (a : α) : β := h ▸ a
@[macro_inline] def Eq.mp {α β : Sort u} (h : Eq α β) (a : α) : β := h ▸ a
@[macro_inline] def Eq.mpr {α β : Sort u} (h : Eq α β) (b : β) : α := h ▸ b

inductive HEq : {α : Sort u} → α → {β : Sort u} → β → Prop where
  | refl {α : Sort u} (a : α) : HEq a a
protected theorem HEq.rfl {α : Sort u} {a : α} : HEq a a := HEq.refl a
theorem heq_of_eq {α : Sort u} {a b : α} (h : Eq a b) : HEq a b := h ▸ HEq.refl a
theorem eq_of_heq {α : Sort u} {a b : α} (h : HEq a b) : Eq a b :=
  have H : ∀ (β : Sort u) (b : β), HEq a b → ∀ (e : Eq α β), Eq (cast e a) b :=
    fun _ _ h => HEq.rec (motive := fun {β} b (_ : HEq a b) => ∀ (e : Eq α β), Eq (cast e a) b)
      (fun (_ : Eq α α) => Eq.refl a) h
  H α b h rfl

/-! ## Propositional logic -/
inductive True : Prop where
  | intro : True
inductive False : Prop
def Not (a : Prop) : Prop := a → False
@[macro_inline] def False.elim {C : Sort u} (h : False) : C := False.rec (fun _ => C) h
@[macro_inline] def absurd {a : Prop} {C : Sort v} (h₁ : a) (h₂ : Not a) : C := (h₂ h₁).elim
structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b
inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b
theorem Or.elim {a b c : Prop} (h : Or a b) (left : a → c) (right : b → c) : c :=
  Or.rec (motive := fun _ => c) left right h
inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p
structure Iff (a b : Prop) : Prop where
  intro ::
  mp : a → b
  mpr : b → a
@[reducible] def Ne {α : Sort u} (a b : α) : Prop := Not (Eq a b)

/-! ## Products (needed by `below`/`brecOn`, i.e. by structural recursion) -/
set_option bootstrap.inductiveCheckResultingUniverse false in
structure PProd (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
set_option bootstrap.inductiveCheckResultingUniverse false in
structure PSigma {α : Sort u} (β : α → Sort v) where
  fst : α
  snd : β fst
structure Prod (α : Type u) (β : Type v) where
  fst : α
  snd : β
class CoeFun (α : Sort u) (γ : outParam (α → Sort v)) where
  coe : (f : α) → γ f
class CoeSort (α : Sort u) (β : outParam (Sort v)) where
  coe : α → β
structure PULift.{r, s} (α : Sort s) : Sort (max s 1 r) where
  up ::
  down : α

/-! ## Booleans, decidability -/
inductive Bool : Type where
  | false : Bool
  | true : Bool
export Bool (false true)
class inductive Decidable (p : Prop) where
  | isFalse (h : Not p) : Decidable p
  | isTrue (h : p) : Decidable p
def Decidable.decide (p : Prop) [h : Decidable p] : Bool :=
  match h with | .isFalse _ => false | .isTrue _ => true
@[macro_inline] def cond {α : Sort u} (c : Bool) (x y : α) : α :=
  match c with | true => x | false => y
@[macro_inline] def ite {α : Sort u} (c : Prop) [h : Decidable c] (t e : α) : α :=
  match h with | .isFalse _ => e | .isTrue _ => t
@[macro_inline] def dite {α : Sort u} (c : Prop) [h : Decidable c] (t : c → α) (e : Not c → α) : α :=
  match h with | .isFalse h => e h | .isTrue h => t h
@[macro_inline] def and (x y : Bool) : Bool := match x with | false => false | true => y
@[macro_inline] def or (x y : Bool) : Bool := match x with | true => true | false => y
def Bool.not (x : Bool) : Bool := match x with | true => false | false => true

/-! ## Natural numbers.
The kernel evaluates `Nat.add/sub/mul/ble/beq/...` on literals by GMP, whatever their definition:
**they must have their standard meaning**. -/
set_option genCtorIdx false in
inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat
/-- Generated automatically for every inductive type declared after `Nat`; `Bool` comes before. -/
noncomputable def Bool.ctorIdx (b : Bool) : Nat := match b with | false => Nat.zero | true => Nat.succ Nat.zero
noncomputable def Nat.ctorIdx (n : Nat) : Nat := Nat.rec (motive := fun _ => Nat) Nat.zero (fun _ _ => Nat.succ Nat.zero) n
class OfNat (α : Type u) (_ : Nat) where
  ofNat : α
@[default_instance 100] instance instOfNatNat (n : Nat) : OfNat Nat n := ⟨n⟩

noncomputable section
protected def Nat.pred (n : Nat) : Nat := Nat.rec (motive := fun _ => Nat) n (fun k _ => k) n
protected def Nat.isZero (n : Nat) : Prop := Nat.rec (motive := fun _ => Prop) True (fun _ _ => False) n
end
/- These must be *computable* for the interpreter, hence `extern`; the bodies are what the kernel sees. -/
@[extern "lean_nat_add"] protected noncomputable def Nat.add (n m : Nat) : Nat :=
  Nat.rec (motive := fun _ => Nat) n (fun _ ih => Nat.succ ih) m
@[extern "lean_nat_sub"] protected noncomputable def Nat.sub (n m : Nat) : Nat :=
  Nat.rec (motive := fun _ => Nat) n (fun _ ih => Nat.pred ih) m
@[extern "lean_nat_mul"] protected noncomputable def Nat.mul (n m : Nat) : Nat :=
  Nat.rec (motive := fun _ => Nat) Nat.zero (fun _ ih => Nat.add ih n) m
@[extern "lean_nat_dec_le"] noncomputable def Nat.ble (n m : Nat) : Bool :=
  Nat.rec (motive := fun _ => Nat → Bool) (fun _ => true)
    (fun _ ih m => Nat.rec (motive := fun _ => Bool) false (fun k _ => ih k) m) n m
@[extern "lean_nat_dec_eq"] noncomputable def Nat.beq (n m : Nat) : Bool :=
  Nat.rec (motive := fun _ => Nat → Bool)
    (fun m => Nat.rec (motive := fun _ => Bool) true (fun _ _ => false) m)
    (fun _ ih m => Nat.rec (motive := fun _ => Bool) false (fun k _ => ih k) m) n m
@[extern "lean_nat_dec_eq"] noncomputable def Nat.decEq (n m : Nat) : Decidable (Eq n m) :=
  Nat.rec (motive := fun n => ∀ m, Decidable (Eq n m))
   (fun m => Nat.rec (motive := fun m => Decidable (Eq Nat.zero m)) (.isTrue rfl)
      (fun k _ => .isFalse (fun h => Eq.ndrec (motive := Nat.isZero) (a := Nat.zero) True.intro h)) m)
   (fun n ih m => Nat.rec (motive := fun m => Decidable (Eq (Nat.succ n) m))
     (.isFalse (fun h => Eq.ndrec (motive := Nat.isZero) (a := Nat.zero) True.intro h.symm))
     (fun k _ => match ih k with
        | .isFalse h => .isFalse (fun e => h (congrArg Nat.pred e))
        | .isTrue h => .isTrue (congrArg Nat.succ h)) m)
   n m

/- GUARD.  The kernel also evaluates these names on literals.  A later file that declared one of them with
another meaning could prove `False` without any axiom (tried: `Nat.pow a b := 0`).  Taking the names here, as
`opaque` (never unfolded), closes that door. -/
opaque Nat.pow (n m : Nat) : Nat := n
opaque Nat.div (n m : Nat) : Nat := n
opaque Nat.mod (n m : Nat) : Nat := n
opaque Nat.gcd (n m : Nat) : Nat := n
opaque Nat.land (n m : Nat) : Nat := n
opaque Nat.lor (n m : Nat) : Nat := n
opaque Nat.xor (n m : Nat) : Nat := n
opaque Nat.shiftLeft (n m : Nat) : Nat := n
opaque Nat.shiftRight (n m : Nat) : Nat := n
opaque Nat.log2 (n : Nat) : Nat := n

/-- Used by the generated `T.noConfusion` of enumeration types. -/
theorem noConfusion_of_Nat {α : Sort u} (f : α → Nat) {a b : α} (h : Eq a b) :
    Bool.rec (motive := fun _ => Prop) False True (Nat.beq (f a) (f b)) :=
  have r : ∀ n : Nat, Bool.rec (motive := fun _ => Prop) False True (Nat.beq n n) := fun n =>
    Nat.rec (motive := fun n => Bool.rec (motive := fun _ => Prop) False True (Nat.beq n n)) True.intro (fun _ ih => ih) n
  Eq.ndrec (motive := fun b => Bool.rec (motive := fun _ => Prop) False True (Nat.beq (f a) (f b))) (r (f a)) h

inductive List (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α
inductive Option (α : Type u) where
  | none : Option α
  | some (val : α) : Option α

/-! ## What error messages and `sorry` need
If these are missing, *every* elaboration error turns into the unhelpful "internal exception #3". -/
structure String where
  private mk ::
  private dummy₁ : Nat
  private dummy₂ : Nat
inductive Lean.Name where
  | anonymous : Lean.Name
  | str (pre : Lean.Name) (s : String)
  | num (pre : Lean.Name) (i : Nat)
@[extern "lean_name_mk_string"] def Lean.Name.mkStr (p : Lean.Name) (s : String) : Lean.Name := .str p s
@[extern "lean_name_mk_numeral"] def Lean.Name.mkNum (p : Lean.Name) (i : Nat) : Lean.Name := .num p i
@[extern "l_Lean_Name_mkSimple"] def Lean.Name.mkSimple (s : String) : Lean.Name := .str .anonymous s
@[extern "l_Lean_Name_mkStr1"] def Lean.Name.mkStr1 (s1 : String) : Lean.Name :=
  (Lean.Name.mkStr Lean.Name.anonymous s1)
@[extern "l_Lean_Name_mkStr2"] def Lean.Name.mkStr2 (s1 s2 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2)
@[extern "l_Lean_Name_mkStr3"] def Lean.Name.mkStr3 (s1 s2 s3 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2) s3)
@[extern "l_Lean_Name_mkStr4"] def Lean.Name.mkStr4 (s1 s2 s3 s4 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2) s3) s4)
@[extern "l_Lean_Name_mkStr5"] def Lean.Name.mkStr5 (s1 s2 s3 s4 s5 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2) s3) s4) s5)
@[extern "l_Lean_Name_mkStr6"] def Lean.Name.mkStr6 (s1 s2 s3 s4 s5 s6 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2) s3) s4) s5) s6)
@[extern "l_Lean_Name_mkStr7"] def Lean.Name.mkStr7 (s1 s2 s3 s4 s5 s6 s7 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2) s3) s4) s5) s6) s7)
@[extern "l_Lean_Name_mkStr8"] def Lean.Name.mkStr8 (s1 s2 s3 s4 s5 s6 s7 s8 : String) : Lean.Name :=
  (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr (Lean.Name.mkStr Lean.Name.anonymous s1) s2) s3) s4) s5) s6) s7) s8)
def Function.const {α : Sort u} (β : Sort v) (a : α) : β → α := fun _ => a
/-- What `sorry` and failed proofs elaborate to; an axiom, so that `#print axioms` shows it. -/
axiom sorryAx (α : Sort u) (synthetic : Bool) : α

/-! ## Quotients, extensionality (axioms!) -/
axiom propext {a b : Prop} : Iff a b → Eq a b
init_quot
axiom Quot.sound {α : Sort u} {r : α → α → Prop} {a b : α} : r a b → Eq (Quot.mk r a) (Quot.mk r b)
theorem funext {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : ∀ x, Eq (f x) (g x)) : Eq f g :=
  let R : ((x : α) → β x) → ((x : α) → β x) → Prop := fun f g => ∀ x, Eq (f x) (g x)
  let app : Quot R → (x : α) → β x := fun q x => Quot.lift (r := R) (fun f => f x) (fun _ _ h => h x) q
  show Eq (app (Quot.mk R f)) (app (Quot.mk R g)) from congrArg app (Quot.sound h)

/-! ## Lemmas `simp`, `rw`, `decide` refer to by name -/
theorem trivial : True := True.intro
theorem eq_true {p : Prop} (h : p) : Eq p True := propext ⟨fun _ => trivial, fun _ => h⟩
theorem eq_false {p : Prop} (h : Not p) : Eq p False := propext ⟨fun hp => (h hp).elim, fun hf => hf.elim⟩
theorem of_eq_true {p : Prop} (h : Eq p True) : p := h ▸ trivial
theorem of_eq_false {p : Prop} (h : Eq p False) : Not p := fun hp => Eq.mp h hp
@[simp] theorem eq_self {α : Sort u} (a : α) : Eq (Eq a a) True := eq_true rfl
theorem Iff.refl (a : Prop) : Iff a a := ⟨fun h => h, fun h => h⟩
@[simp] theorem iff_self (p : Prop) : Eq (Iff p p) True := eq_true (Iff.refl p)
abbrev DecidableEq (α : Sort u) : Sort (max 1 u) := (a b : α) → Decidable (Eq a b)
noncomputable instance instDecidableEqNat : DecidableEq Nat := Nat.decEq
theorem ne_of_eq_false {α : Sort u} {a b : α} (h : Eq (Eq a b) False) : Ne a b := of_eq_false h
theorem implies_congr {p₁ p₂ : Sort u} {q₁ q₂ : Sort v} (h₁ : Eq p₁ p₂) (h₂ : Eq q₁ q₂) :
    Eq (p₁ → q₁) (p₂ → q₂) := h₁ ▸ h₂ ▸ rfl
theorem forall_congr {α : Sort u} {p q : α → Prop} (h : ∀ a, Eq (p a) (q a)) : Eq (∀ a, p a) (∀ a, q a) :=
  have e : Eq p q := funext h
  e ▸ rfl
theorem of_decide_eq_true {p : Prop} [inst : Decidable p] : Eq (Decidable.decide p) true → p :=
  match inst with
  | .isTrue h => fun _ => h
  | .isFalse _ => fun h => (Eq.ndrec (motive := fun b => Bool.rec (motive := fun _ => Prop) True False b)
      (a := false) trivial h : False).elim

/-! ## Operator classes (`binop%` and the standard notation elaborate to these) -/
class HAdd (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAdd : α → β → γ
class HSub (α : Type u) (β : Type v) (γ : outParam (Type w)) where hSub : α → β → γ
class HMul (α : Type u) (β : Type v) (γ : outParam (Type w)) where hMul : α → β → γ
class HDiv (α : Type u) (β : Type v) (γ : outParam (Type w)) where hDiv : α → β → γ
class Add (α : Type u) where add : α → α → α
class Sub (α : Type u) where sub : α → α → α
class Mul (α : Type u) where mul : α → α → α
class Div (α : Type u) where div : α → α → α
class Neg (α : Type u) where neg : α → α
class LE (α : Type u) where le : α → α → Prop
class LT (α : Type u) where lt : α → α → Prop
class BEq (α : Type u) where beq : α → α → Bool
@[reducible] def GE.ge {α : Type u} [LE α] (a b : α) : Prop := LE.le b a
@[reducible] def GT.gt {α : Type u} [LT α] (a b : α) : Prop := LT.lt b a
@[default_instance] instance instHAdd {α : Type u} [Add α] : HAdd α α α := ⟨Add.add⟩
@[default_instance] instance instHSub {α : Type u} [Sub α] : HSub α α α := ⟨Sub.sub⟩
@[default_instance] instance instHMul {α : Type u} [Mul α] : HMul α α α := ⟨Mul.mul⟩
@[default_instance] instance instHDiv {α : Type u} [Div α] : HDiv α α α := ⟨Div.div⟩
noncomputable instance instAddNat : Add Nat := ⟨Nat.add⟩
noncomputable instance instSubNat : Sub Nat := ⟨Nat.sub⟩
noncomputable instance instMulNat : Mul Nat := ⟨Nat.mul⟩
class Trans.{r, s, t, a, b, c} {α : Sort a} {β : Sort b} {γ : Sort c} (r : α → β → Sort r)
    (s : β → γ → Sort s) (t : outParam (α → γ → Sort t)) where
  trans : ∀ {a : α} {b : β} {c : γ}, r a b → s b c → t a c
instance instTransEq {α : Sort u} {γ : Sort v} (r : α → γ → Sort w) : Trans Eq r r := ⟨fun h h' => h ▸ h'⟩
instance instTransEq' {α : Sort u} {β : Sort v} (r : α → β → Sort w) : Trans r Eq r := ⟨fun h' h => h ▸ h'⟩
def Function.comp {α : Sort u} {β : Sort v} {δ : Sort w} (f : β → δ) (g : α → β) : α → δ :=
  fun x => f (g x)
