"""Top-k states: the compiler's combine, which counts ranks, is the merge of Tang/Merge.

Defines `is_ranked` and `ranked`. Relies on the built-in `top_k` to know such a monoid by its
expressions, which are written in Lean as they stand, for every rank at once. States are lists of
entries, of which some may be absent; what an absent one holds instead of a value is any number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tang.ir.expr import INDEX, REAL, Expr
from tang.ir.monoid import Monoid
from tang.ir.monoids import top_k
from tang.proofs.session import Claim, Statement
from tang.proofs.terms import Reader, Term, text, var

SCOPE: Final = "variable {A : Type u} {I : Type v} [OrderedRing A] [OrderedRing I]"
MODULES: Final = ("Tang.Merge",)
TYPES: Final = ("A", "I")
FIELDS: Final = ("(bestOf low)", "atOf")
"""What a component of a state is of an entry."""

ENTRIES: Final = "List (Option (Best A I))"
LAWS: Final = {
    "associative": ("Tang.held_assoc", f"∀ l m n : {ENTRIES}, Held {{k}} l → Held {{k}} m → "
                    "Held {k} n → topMerge {k} (topMerge {k} l m) n = "
                    "topMerge {k} l (topMerge {k} m n)",
                    "fun _ _ _ a b c => held_assoc a b c"),
    "closed": ("Tang.merge_held", f"∀ l m : {ENTRIES}, Held {{k}} l → Held {{k}} m → "
               "Held {k} (topMerge {k} l m)", "fun _ _ a b => merge_held a b"),
    "commutative": ("Tang.held_comm", f"∀ l m : {ENTRIES}, Held {{k}} l → Held {{k}} m → "
                    "topMerge {k} l m = topMerge {k} m l", "fun _ _ a b => held_comm a b"),
    "identity": ("Tang.held_identity", f"∀ l : {ENTRIES}, Held {{k}} l → "
                 "topMerge {k} (nothing {k}) l = l ∧ topMerge {k} l (nothing {k}) = l",
                 "fun _ a => held_identity a"),
}  # fmt: skip
"""Law → its theorem, what that states, and the proof term."""


class UnrankedError(Exception):
    """A top-k of which one component is not that of the built-in one; `label` is its name."""

    def __init__(self, label: str, text: str) -> None:
        super().__init__(text)
        self.label = label


@dataclass(frozen=True, slots=True)
class Ranked:
    """Theorems that are used, and claims."""

    theorems: tuple[str, ...]
    claims: tuple[Claim | Statement, ...]


def is_ranked(m: Monoid) -> bool:
    """Whether a monoid has the state of a top-k, and the combine of one in a component at least."""
    if [c.sort for c in m.components] != [REAL, INDEX]:
        return False
    axes = {c.axes for c in m.components}
    if len(axes) != 1 or [len(a) for a in axes] != [1]:
        return False
    stock = _stock(m)
    return any(a is b for a, b in zip(m.combine, stock.combine, strict=True))


def _stock(m: Monoid) -> Monoid:
    return top_k(m.axis_size(m.components[0].axes[0]))


def ranked(m: Monoid, label: str, names: Mapping[str, str]) -> Ranked:
    """The claims for a top-k; UnrankedError names the component that is not that of one."""
    stock = _stock(m)
    for part in ("combine", "lift", "identity"):
        have, want = getattr(m, part), getattr(stock, part)
        for c, a, b in zip(m.components, have or want, want, strict=True):
            if a is not b:
                text_ = f"the {part} of {names[c.name]} is not that of a top-k"
                raise UnrankedError(names[c.name], text_)
    k = m.axis_size(m.components[0].axes[0])
    promised = ["associative", "closed", *["commutative"] * m.commutative]
    promised += ["identity"] * (m.identity is not None)
    claims: list[Claim | Statement] = []
    for i, c in enumerate(m.components):
        claims += _components(m, i, k, f"{label}_{i}", names[c.name])
    for law in promised:
        theorem, goal, proof = LAWS[law]
        claims.append(_statement(f"{label}_{law}", goal.format(k=k), proof, theorem))
    theorems = ["Tang.rankPick_merge", *(LAWS[law][0] for law in promised)]
    return Ranked(tuple(theorems), tuple(claims))


def _components(m: Monoid, i: int, k: int, label: str, subject: str) -> list[Claim | Statement]:
    """The combine of a component is that of Tang/Merge, the lift one entry, the identity none."""
    sides = [f"{s}{n}" for s in "st" for n in range(2)]
    values = (f"s{i}", f"t{i}")
    other = "nan" if i == 0 else "(-1)"
    goal = f"rankPick {k} r s0 s1 {values[0]} t0 t1 {values[1]} {other}"
    combine = _read(m.combine[i])
    binders = "(r : Nat) " + " ".join(f"({x} : Nat → {TYPES[int(x[1])]})" for x in sides)
    return [
        Claim(f"{label}_combine", SCOPE, f"{binders} (nan : A)", combine, TYPES[i], goal,
              ("rfl",), subject, MODULES),
        _lifted(m.lift[i], i, k, label, subject),
        *(() if m.identity is None else (_nothing(m.identity[i], i, k, label, subject),)),
        _merged(i, k, label, subject),
    ]  # fmt: skip


def _read(e: Expr) -> str:
    """An expression over functions of the rank, at rank r."""

    def leaf(x: Expr, _: tuple[int, ...]) -> Term:
        if isinstance(x.payload, tuple):
            side, component = x.payload
            return var(f"{'st'[int(side)]}{component}")
        return var(f"u{x.payload}")

    constants = {"nan": var("nan"), "-inf": var("low")}
    read = Reader(leaf, {"rank": var("r")}, literal=True, symbolic=True, constants=constants)
    return text(read(e))


def _lifted(e: Expr, i: int, k: int, label: str, subject: str) -> Statement:
    field = FIELDS[i]
    goal = (f"∀ (r : Nat) (low u0 : A) (u1 : I), r < {k} → ({_read(e)} : {TYPES[i]}) = "
            f"{field} (place .none (alone {k} ⟨u0, u1⟩) r)")  # fmt: skip
    proof = f"fun r low u0 u1 h => place_alone {field} {k} r h ⟨u0, u1⟩"
    return _statement(f"{label}_lift", goal, proof, subject)


def _nothing(e: Expr, i: int, k: int, label: str, subject: str) -> Statement:
    goal = (f"∀ (r : Nat) (low : A), ({_read(e)} : {TYPES[i]}) = "
            f"{FIELDS[i]} (place .none (nothing {k} : {ENTRIES}) r)")  # fmt: skip
    proof = f"fun r low => (place_nothing {FIELDS[i]} {k} r).symm"
    return _statement(f"{label}_nothing", goal, proof, subject)


def _merged(i: int, k: int, label: str, subject: str) -> Statement:
    """The pick of two states is the component of their merge."""

    def state(x: str) -> str:
        parts = [*FIELDS, FIELDS[i]]
        return " ".join(f"(fun i => {f} (place .none {x} i))" for f in parts)

    goal = (f"∀ (low : A) (r : Nat) (z : {TYPES[i]}) (l m : {ENTRIES}), r < {k} → Held {k} l → "
            f"Held {k} m → Disjoint l m → rankPick {k} r {state('l')} {state('m')} z = "
            f"{FIELDS[i]} (place .none (topMerge {k} l m) r)")  # fmt: skip
    proof = f"fun low r z l m h a b c => rankPick_merge {FIELDS[i]} low {k} r h l m a b c z"
    return _statement(f"{label}_merge", goal, proof, subject)


def _statement(name: str, goal: str, proof: str, subject: str) -> Statement:
    return Statement(name, SCOPE, "", goal, (f"exact {proof}",), subject, MODULES)
