prelude
import Tang.Core
/-! # Tang.Syntax — ordinary Lean syntax, bound to what is compiled into libleanshared.

Written by `python -m tang.proofs.generate_syntax`. Not trusted: it affects parsing and printing
only, never the kernel. -/
set_option autoImplicit false
/-- The constructors, in the order that the interpreter expects. -/
inductive Lean.ParserDescr where
  | const (name : Lean.Name)
  | unary (name : Lean.Name) (p : Lean.ParserDescr)
  | binary (name : Lean.Name) (p₁ p₂ : Lean.ParserDescr)
  | node (kind : Lean.Name) (prec : Nat) (p : Lean.ParserDescr)
  | trailingNode (kind : Lean.Name) (prec lhsPrec : Nat) (p : Lean.ParserDescr)
  | symbol (val : String)
  | nonReservedSymbol (val : String) (includeIdent : Bool)
  | cat (catName : Lean.Name) (rbp : Nat)
  | parser (declName : Lean.Name)
  | nodeWithAntiquot (name : String) (kind : Lean.Name) (p : Lean.ParserDescr)
  | sepBy (p : Lean.ParserDescr) (sep : String) (psep : Lean.ParserDescr) (allowTrailingSep : Bool)
  | sepBy1 (p : Lean.ParserDescr) (sep : String) (psep : Lean.ParserDescr) (allowTrailingSep : Bool)
  | unicodeSymbol (val asciiVal : String) (preserveForPP : Bool)
abbrev Lean.TrailingParserDescr : Type := Lean.ParserDescr
structure Lean.Syntax where
  dummy₁ : Nat
  dummy₂ : Nat
def Lean.Macro : Type := Lean.Syntax → Lean.Syntax → Lean.Syntax → Lean.Syntax
def Lean.PrettyPrinter.Unexpander : Type := Lean.Syntax → Lean.Syntax → Lean.Syntax → Lean.Syntax
def Lean.dummyDescr : Lean.ParserDescr := .const .anonymous
def Lean.dummyMacro : Lean.Macro := fun s _ _ => s
def Lean.dummyUnexpander : Lean.PrettyPrinter.Unexpander := fun s _ _ => s
structure Lean.Parser.Category where
declare_syntax_cat rcasesPat
@[extern "l_Lean_binderIdent"] opaque Lean.binderIdent : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_calcFirstStep"] opaque Lean.calcFirstStep : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_calcStep"] opaque Lean.calcStep : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_calcSteps"] opaque Lean.calcSteps : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_explicitBinders"] opaque Lean.explicitBinders : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_unbracketedExplicitBinders"] opaque Lean.unbracketedExplicitBinders : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_bracketedExplicitBinders"] opaque Lean.bracketedExplicitBinders : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_posConfigItem"] opaque Lean.Parser.Tactic.posConfigItem : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_negConfigItem"] opaque Lean.Parser.Tactic.negConfigItem : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_valConfigItem"] opaque Lean.Parser.Tactic.valConfigItem : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_configItem"] opaque Lean.Parser.Tactic.configItem : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_optConfig"] opaque Lean.Parser.Tactic.optConfig : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_config"] opaque Lean.Parser.Tactic.config : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_locationWildcard"] opaque Lean.Parser.Tactic.locationWildcard : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_locationType"] opaque Lean.Parser.Tactic.locationType : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_locationHyp"] opaque Lean.Parser.Tactic.locationHyp : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_location"] opaque Lean.Parser.Tactic.location : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rwRule"] opaque Lean.Parser.Tactic.rwRule : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rwRuleSeq"] opaque Lean.Parser.Tactic.rwRuleSeq : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpPre"] opaque Lean.Parser.Tactic.simpPre : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpPost"] opaque Lean.Parser.Tactic.simpPost : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpLemma"] opaque Lean.Parser.Tactic.simpLemma : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpErase"] opaque Lean.Parser.Tactic.simpErase : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpStar"] opaque Lean.Parser.Tactic.simpStar : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_discharger"] opaque Lean.Parser.Tactic.discharger : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpArgs"] opaque Lean.Parser.Tactic.simpArgs : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_dsimpArgs"] opaque Lean.Parser.Tactic.dsimpArgs : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpaArgsRest"] opaque Lean.Parser.Tactic.simpaArgsRest : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_caseArg"] opaque Lean.Parser.Tactic.caseArg : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_inductionAltLHS"] opaque Lean.Parser.Tactic.inductionAltLHS : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_inductionAlt"] opaque Lean.Parser.Tactic.inductionAlt : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_inductionAlts"] opaque Lean.Parser.Tactic.inductionAlts : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_generalizeArg"] opaque Lean.Parser.Tactic.generalizeArg : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_tacticSeq"] opaque Lean.Parser.Tactic.tacticSeq : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPatMed"] opaque Lean.Parser.Tactic.rcasesPatMed : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPatLo"] opaque Lean.Parser.Tactic.rcasesPatLo : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPat_one", rcasesPat_parser] opaque Lean.Parser.Tactic.rcasesPat.one : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPat_ignore", rcasesPat_parser] opaque Lean.Parser.Tactic.rcasesPat.ignore : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPat_clear", rcasesPat_parser] opaque Lean.Parser.Tactic.rcasesPat.clear : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPat_explicit", rcasesPat_parser] opaque Lean.Parser.Tactic.rcasesPat.explicit : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPat_tuple", rcasesPat_parser] opaque Lean.Parser.Tactic.rcasesPat.tuple : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcasesPat_paren", rcasesPat_parser] opaque Lean.Parser.Tactic.rcasesPat.paren : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_intro", tactic_parser] opaque Lean.Parser.Tactic.intro : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_intros", tactic_parser] opaque Lean.Parser.Tactic.intros : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_exact", tactic_parser] opaque Lean.Parser.Tactic.exact : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_refine", tactic_parser] opaque Lean.Parser.Tactic.refine : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_apply", tactic_parser] opaque Lean.Parser.Tactic.apply : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_assumption", tactic_parser] opaque Lean.Parser.Tactic.assumption : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_contradiction", tactic_parser] opaque Lean.Parser.Tactic.contradiction : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_constructor", tactic_parser] opaque Lean.Parser.Tactic.constructor : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_left", tactic_parser] opaque Lean.Parser.Tactic.left : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_right", tactic_parser] opaque Lean.Parser.Tactic.right : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_skip", tactic_parser] opaque Lean.Parser.Tactic.skip : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_done", tactic_parser] opaque Lean.Parser.Tactic.done : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_clear", tactic_parser] opaque Lean.Parser.Tactic.clear : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_subst", tactic_parser] opaque Lean.Parser.Tactic.subst : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rename", tactic_parser] opaque Lean.Parser.Tactic.rename : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_revert", tactic_parser] opaque Lean.Parser.Tactic.revert : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_case", tactic_parser] opaque Lean.Parser.Tactic.case : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_renameI", tactic_parser] opaque Lean.Parser.Tactic.renameI : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_allGoals", tactic_parser] opaque Lean.Parser.Tactic.allGoals : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_first", tactic_parser] opaque Lean.Parser.Tactic.first : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_focus", tactic_parser] opaque Lean.Parser.Tactic.focus : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_paren", tactic_parser] opaque Lean.Parser.Tactic.paren : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_eqRefl", tactic_parser] opaque Lean.Parser.Tactic.eqRefl : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_applyRfl", tactic_parser] opaque Lean.Parser.Tactic.applyRfl : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rewriteSeq", tactic_parser] opaque Lean.Parser.Tactic.rewriteSeq : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simp", tactic_parser] opaque Lean.Parser.Tactic.simp : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpAll", tactic_parser] opaque Lean.Parser.Tactic.simpAll : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_dsimp", tactic_parser] opaque Lean.Parser.Tactic.dsimp : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_unfold", tactic_parser] opaque Lean.Parser.Tactic.unfold : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_cases", tactic_parser] opaque Lean.Parser.Tactic.cases : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_induction", tactic_parser] opaque Lean.Parser.Tactic.induction : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_change", tactic_parser] opaque Lean.Parser.Tactic.change : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_show", tactic_parser] opaque Lean.Parser.Tactic.show : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_injection", tactic_parser] opaque Lean.Parser.Tactic.injection : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_split", tactic_parser] opaque Lean.Parser.Tactic.split : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_specialize", tactic_parser] opaque Lean.Parser.Tactic.specialize : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_generalize", tactic_parser] opaque Lean.Parser.Tactic.generalize : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_traceState", tactic_parser] opaque Lean.Parser.Tactic.traceState : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_fail", tactic_parser] opaque Lean.Parser.Tactic.fail : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_failIfSuccess", tactic_parser] opaque Lean.Parser.Tactic.failIfSuccess : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_decide", tactic_parser] opaque Lean.Parser.Tactic.decide : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_delta", tactic_parser] opaque Lean.Parser.Tactic.delta : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_simpa", tactic_parser] opaque Lean.Parser.Tactic.simpa : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_congr", tactic_parser] opaque Lean.Parser.Tactic.congr : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_withReducible", tactic_parser] opaque Lean.Parser.Tactic.withReducible : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rotateLeft", tactic_parser] opaque Lean.Parser.Tactic.rotateLeft : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rcases", tactic_parser] opaque Lean.Parser.Tactic.rcases : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_obtain", tactic_parser] opaque Lean.Parser.Tactic.obtain : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_cdot", tactic_parser] opaque Lean.cdot : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_calcTactic", tactic_parser] opaque Lean.calcTactic : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_rwSeq", tactic_parser] opaque Lean.Parser.Tactic.rwSeq : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__rwSeq__1", macro Lean.Parser.Tactic.rwSeq] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_rwSeq_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticExfalso", tactic_parser] opaque Lean.Parser.Tactic.tacticExfalso : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticExfalso__1", macro Lean.Parser.Tactic.tacticExfalso] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticExfalso_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticHave____", tactic_parser] opaque Lean.Parser.Tactic.tacticHave__ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticHave______1", macro Lean.Parser.Tactic.tacticHave__] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticHave___1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticLet____", tactic_parser] opaque Lean.Parser.Tactic.tacticLet__ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticLet______1", macro Lean.Parser.Tactic.tacticLet__] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticLet___1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticSuffices__", tactic_parser] opaque Lean.Parser.Tactic.tacticSuffices_ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticSuffices____1", macro Lean.Parser.Tactic.tacticSuffices_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticSuffices__1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticTry__", tactic_parser] opaque Lean.Parser.Tactic.tacticTry_ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTry____1", macro Lean.Parser.Tactic.tacticTry_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTry__1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticRefine__lift__", tactic_parser] opaque Lean.Parser.Tactic.tacticRefine_lift_ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticRefine__lift____1", macro Lean.Parser.Tactic.tacticRefine_lift_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRefine_lift__1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticExists___x2c_x2c", tactic_parser] opaque Lean.Parser.Tactic.«tacticExists_,,» : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticExists___x2c_x2c__1", macro Lean.Parser.Tactic.«tacticExists_,,»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticExists_,,_1» : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticInfer__instance", tactic_parser] opaque Lean.Parser.Tactic.tacticInfer_instance : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticInfer__instance__1", macro Lean.Parser.Tactic.tacticInfer_instance] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticInfer_instance_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticSorry", tactic_parser] opaque Lean.Parser.Tactic.tacticSorry : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticSorry__1", macro Lean.Parser.Tactic.tacticSorry] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticSorry_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticRfl", tactic_parser] opaque Lean.Parser.Tactic.tacticRfl : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticRfl__1", macro Lean.Parser.Tactic.tacticRfl] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticRfl__2", macro Lean.Parser.Tactic.tacticRfl] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_2 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticRfl__3", macro Lean.Parser.Tactic.tacticRfl] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_3 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_rwa", tactic_parser] opaque Lean.Parser.Tactic.rwa : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic_tacticTrivial", tactic_parser] opaque Lean.Parser.Tactic.tacticTrivial : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTrivial__1", macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTrivial__2", macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_2 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTrivial__3", macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_3 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTrivial__4", macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_4 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTrivial__5", macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_5 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tacticTrivial__6", macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_6 : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tactic___x3c_x3b_x3e__", tactic_parser] opaque Lean.Parser.Tactic.«tactic_<;>_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l_Lean_Parser_Tactic___aux__Init__Tactics______macroRules__Lean__Parser__Tactic__tactic___x3c_x3b_x3e____1", macro Lean.Parser.Tactic.«tactic_<;>_»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tactic_<;>__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_tacticFunext______", tactic_parser] opaque tacticFunext___ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__NotationExtra______macroRules__tacticFunext________1", macro tacticFunext___] opaque _aux_Init_NotationExtra___macroRules_tacticFunext____1 : Lean.Macro := Lean.dummyMacro
@[extern "l_tacticBy__cases___x3a__", tactic_parser] opaque «tacticBy_cases_:_» : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__ByCases______macroRules__tacticBy__cases___x3a____1", macro «tacticBy_cases_:_»] opaque «_aux_Init_ByCases___macroRules_tacticBy_cases_:__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__ByCases______macroRules__tacticBy__cases___x3a____2", macro «tacticBy_cases_:_»] opaque «_aux_Init_ByCases___macroRules_tacticBy_cases_:__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_Lean_Parser_Tactic_tacticRepeat__", tactic_parser] opaque Lean.Parser.Tactic.tacticRepeat_ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean_calc", term_parser] opaque Lean.calc : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_term___x3d__", term_parser] opaque «term_=_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x3d____1", macro «term_=_»] opaque «_aux_Init_Notation___macroRules_term_=__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x3d____2", macro «term_=_»] opaque «_aux_Init_Notation___macroRules_term_=__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x2b__", term_parser] opaque «term_+_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x2b____1", macro «term_+_»] opaque «_aux_Init_Notation___macroRules_term_+__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x2b____2", macro «term_+_»] opaque «_aux_Init_Notation___macroRules_term_+__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x2a__", term_parser] opaque «term_*_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x2a____1", macro «term_*_»] opaque «_aux_Init_Notation___macroRules_term_*__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x2a____2", macro «term_*_»] opaque «_aux_Init_Notation___macroRules_term_*__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x2d__", term_parser] opaque «term_-_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x2d____1", macro «term_-_»] opaque «_aux_Init_Notation___macroRules_term_-__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x2d____2", macro «term_-_»] opaque «_aux_Init_Notation___macroRules_term_-__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x2f__", term_parser] opaque «term_/_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x2f____1", macro «term_/_»] opaque «_aux_Init_Notation___macroRules_term_/__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x2f____2", macro «term_/_»] opaque «_aux_Init_Notation___macroRules_term_/__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2264__", term_parser] opaque «term_≤_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___u2264____1", macro «term_≤_»] opaque «_aux_Init_Notation___macroRules_term_≤__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___u2264____2", macro «term_≤_»] opaque «_aux_Init_Notation___macroRules_term_≤__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x3c__", term_parser] opaque «term_<_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x3c____1", macro «term_<_»] opaque «_aux_Init_Notation___macroRules_term_<__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x3c____2", macro «term_<_»] opaque «_aux_Init_Notation___macroRules_term_<__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2227__", term_parser] opaque «term_∧_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___u2227____1", macro «term_∧_»] opaque «_aux_Init_Notation___macroRules_term_∧__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2228__", term_parser] opaque «term_∨_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___u2228____1", macro «term_∨_»] opaque «_aux_Init_Notation___macroRules_term_∨__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x3c_x7c__", term_parser] opaque «term_<|_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x3c_x7c____1", macro «term_<|_»] opaque «_aux_Init_Notation___macroRules_term_<|__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x7c_x3e__", term_parser] opaque «term_|>_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x7c_x3e____1", macro «term_|>_»] opaque «_aux_Init_Notation___macroRules_term_|>__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2218__", term_parser] opaque «term_∘_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___u2218____1", macro «term_∘_»] opaque «_aux_Init_Notation___macroRules_term_∘__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2265__", term_parser] opaque «term_≥_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___u2265____1", macro «term_≥_»] opaque «_aux_Init_Notation___macroRules_term_≥__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___u2265____2", macro «term_≥_»] opaque «_aux_Init_Notation___macroRules_term_≥__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x3e__", term_parser] opaque «term_>_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x3e____1", macro «term_>_»] opaque «_aux_Init_Notation___macroRules_term_>__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x3e____2", macro «term_>_»] opaque «_aux_Init_Notation___macroRules_term_>__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x3d_x3d__", term_parser] opaque «term_==_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x3d_x3d____1", macro «term_==_»] opaque «_aux_Init_Notation___macroRules_term_==__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x3d_x3d____2", macro «term_==_»] opaque «_aux_Init_Notation___macroRules_term_==__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x26_x26__", term_parser] opaque «term_&&_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x26_x26____1", macro «term_&&_»] opaque «_aux_Init_Notation___macroRules_term_&&__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x7c_x7c__", term_parser] opaque «term_||_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x7c_x7c____1", macro «term_||_»] opaque «_aux_Init_Notation___macroRules_term_||__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x3a_x3a__", term_parser] opaque «term_::_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x3a_x3a____1", macro «term_::_»] opaque «_aux_Init_Notation___macroRules_term_::__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x5e__", term_parser] opaque «term_^_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term___x5e____1", macro «term_^_»] opaque «_aux_Init_Notation___macroRules_term_^__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term___x5e____2", macro «term_^_»] opaque «_aux_Init_Notation___macroRules_term_^__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2260__", term_parser] opaque «term_≠_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Core______macroRules__term___u2260____1", macro «term_≠_»] opaque «_aux_Init_Core___macroRules_term_≠__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Core______macroRules__term___u2260____2", macro «term_≠_»] opaque «_aux_Init_Core___macroRules_term_≠__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___u2194__", term_parser] opaque «term_↔_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Core______macroRules__term___u2194____1", macro «term_↔_»] opaque «_aux_Init_Core___macroRules_term_↔__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term___x3c_x2d_x3e__", term_parser] opaque «term_<->_» : Lean.TrailingParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Core______macroRules__term___x3c_x2d_x3e____1", macro «term_<->_»] opaque «_aux_Init_Core___macroRules_term_<->__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term_x2d__", term_parser] opaque «term-_» : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term_x2d____1", macro «term-_»] opaque «_aux_Init_Notation___macroRules_term-__1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______macroRules__term_x2d____2", macro «term-_»] opaque «_aux_Init_Notation___macroRules_term-__2» : Lean.Macro := Lean.dummyMacro
@[extern "l_term_xac__", term_parser] opaque «term¬_» : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term_xac____1", macro «term¬_»] opaque «_aux_Init_Notation___macroRules_term¬__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term_x21__", term_parser] opaque term!_ : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__term_x21____1", macro term!_] opaque _aux_Init_Notation___macroRules_term!__1 : Lean.Macro := Lean.dummyMacro
@[extern "l_termIfThenElse", term_parser] opaque termIfThenElse : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__termIfThenElse__1", macro termIfThenElse] opaque _aux_Init_Notation___macroRules_termIfThenElse_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_termDepIfThenElse", term_parser] opaque termDepIfThenElse : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__Notation______macroRules__termDepIfThenElse__1", macro termDepIfThenElse] opaque _aux_Init_Notation___macroRules_termDepIfThenElse_1 : Lean.Macro := Lean.dummyMacro
@[extern "l_term_u2203___x2c__", term_parser] opaque «term∃_,_» : Lean.ParserDescr := Lean.dummyDescr
@[extern "l___aux__Init__NotationExtra______macroRules__term_u2203___x2c____1", macro «term∃_,_»] opaque «_aux_Init_NotationExtra___macroRules_term∃_,__1» : Lean.Macro := Lean.dummyMacro
@[extern "l_term_x5b___x5d", term_parser] opaque «term[_]» : Lean.ParserDescr := Lean.dummyDescr
@[extern "l_Lean___aux__Init__Data__List__Notation______macroRules__term_x5b___x5d__1", macro «term[_]»] opaque Lean.«_aux_Init_Data_List_Notation___macroRules_term[_]_1» : Lean.Macro := Lean.dummyMacro
@[extern "l___aux__Init__Notation______unexpand__Eq__1", app_unexpander Eq] opaque _aux_Init_Notation___unexpand_Eq_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__HAdd__hAdd__1", app_unexpander HAdd.hAdd] opaque _aux_Init_Notation___unexpand_HAdd_hAdd_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__HMul__hMul__1", app_unexpander HMul.hMul] opaque _aux_Init_Notation___unexpand_HMul_hMul_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__HSub__hSub__1", app_unexpander HSub.hSub] opaque _aux_Init_Notation___unexpand_HSub_hSub_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__HDiv__hDiv__1", app_unexpander HDiv.hDiv] opaque _aux_Init_Notation___unexpand_HDiv_hDiv_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__LE__le__1", app_unexpander LE.le] opaque _aux_Init_Notation___unexpand_LE_le_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__LE__le__2", app_unexpander LE.le] opaque _aux_Init_Notation___unexpand_LE_le_2 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__LT__lt__1", app_unexpander LT.lt] opaque _aux_Init_Notation___unexpand_LT_lt_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__And__1", app_unexpander And] opaque _aux_Init_Notation___unexpand_And_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__Or__1", app_unexpander Or] opaque _aux_Init_Notation___unexpand_Or_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__Neg__neg__1", app_unexpander Neg.neg] opaque _aux_Init_Notation___unexpand_Neg_neg_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__Not__1", app_unexpander Not] opaque _aux_Init_Notation___unexpand_Not_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__List__cons__1", app_unexpander List.cons] opaque _aux_Init_Notation___unexpand_List_cons_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__Function__comp__1", app_unexpander Function.comp] opaque _aux_Init_Notation___unexpand_Function_comp_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__GE__ge__1", app_unexpander GE.ge] opaque _aux_Init_Notation___unexpand_GE_ge_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__GE__ge__2", app_unexpander GE.ge] opaque _aux_Init_Notation___unexpand_GE_ge_2 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Notation______unexpand__GT__gt__1", app_unexpander GT.gt] opaque _aux_Init_Notation___unexpand_GT_gt_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Core______unexpand__Iff__1", app_unexpander Iff] opaque _aux_Init_Core___unexpand_Iff_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Core______unexpand__Iff__2", app_unexpander Iff] opaque _aux_Init_Core___unexpand_Iff_2 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
@[extern "l___aux__Init__Core______unexpand__Ne__1", app_unexpander Ne] opaque _aux_Init_Core___unexpand_Ne_1 : Lean.PrettyPrinter.Unexpander := Lean.dummyUnexpander
