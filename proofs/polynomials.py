"""The laws of a combine whose entries are polynomials, decided by Lean's kernel in one evaluation.

Defines `is_polynomial` and `polynomial_claims`. Relies on Tang/Polynomial.lean, whose checks are
proved sound there, and on the canonical forms to name the entry at fault. A combine with maxima,
quotients or exponentials, or an identity that holds one, is no such polynomial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tang.proofs.blocks import Block, blocks, shape
from tang.proofs.factor import Factor
from tang.proofs.identities import check_identity
from tang.proofs.laws import Broken, broken_law
from tang.proofs.session import Definition, Said, Statement
from tang.proofs.substitute import renamed
from tang.proofs.terms import Term, text
from tang.proofs.verified import ONE_SORT, Kinds

MODULES: Final = ("Tang.Polynomial",)
RING: Final = f"{ONE_SORT}[CommRing K]"
OPERATIONS: Final = "{R : Type u} [Add R] [Mul R] [Neg R] [Zero R] [One R]"
"""What the exported text is read over: a ring for its meaning, polynomials for its syntax."""

STATES: Final = "(s t : Nat → R)"

_ARITHMETIC: Final = frozenset({"var", "zero", "one", "add", "mul", "neg"})


def is_polynomial(f: Factor) -> bool:
    """Whether every entry is made of sums, products and negations alone, its identity too."""
    constants = (e.identity for e in f.entries if e.identity is not None)
    return all(map(_is_arithmetic, (*(e.combine for e in f.entries), *constants)))


def _is_arithmetic(t: Term) -> bool:
    return t.op in _ARITHMETIC and all(map(_is_arithmetic, t.args))


def polynomial_claims(f: Factor, kinds: Kinds, label: str) -> list[Said] | Broken:
    """Associativity, and what else the monoid promises; or the law that fails.

    NoIdentityError names the entry where an identity is none.
    """
    cut = _blocks(f)
    broken = broken_law(f, kinds, [f.entries[b.start] for b in cut] or f.entries)
    if broken is not None:
        return broken
    if f.monoid.identity is not None:
        check_identity(f, kinds)
    components = dict.fromkeys(e.label.partition("[")[0] for e in f.entries)
    return [*_Combine(f, f"{label}_combine", ", ".join(components), tuple(cut)).claims()]


def _blocks(f: Factor) -> list[Block]:
    """The entries cut into blocks of shifted ones; none where that would not save half of them."""
    places = {e.key: i for i, e in enumerate(f.entries)}
    found = blocks([shape(e.combine, places) for e in f.entries])
    return found if 2 * len(found) <= len(f.entries) else []


@dataclass(frozen=True, slots=True)
class _Combine:
    """A combine's name in Lean, what it is called in messages, and the blocks it is cut into."""

    factor: Factor
    name: str
    subject: str
    blocks: tuple[Block, ...]

    def claims(self) -> Iterator[Said]:
        """The combine and its identity as lists of entries, what they mean, and their laws."""
        name, promised = self.name, self.factor.monoid
        yield from self._meaning()
        known = f"(c := ({name} .left .right)) {name}_means_proved"
        goal = f"(combineBy ({name} (R := K)))"
        by = f" {known}"
        check = "(by decide +kernel)"
        if self.blocks:
            by = f"_by {known} {_written(self.blocks)}"
            yield self._cut()
            check = f"{name}_blocks_proved"
        proof = f"Polynomial.associative{by} {check}"
        yield self._law("associative", f"Associative {goal}", proof)
        if promised.commutative:
            proof = f"Polynomial.commutative {known} (by decide +kernel)"
            yield self._law("commutative", f"Commutative {goal}", proof)
        if promised.identity is not None:
            entries = self.factor.entries
            held, size = f"{name}_constants", len(entries)
            constants = _list(text(e.identity) for e in entries if e.identity is not None)
            yield self._definition(held, "", constants, "List R")
            goal = f"IdentityBelow {size} ({name} (R := K)) {held}"
            of_blocks = f" {check}" if self.blocks else ""
            rest = f"{size} rfl (by decide +kernel)"
            proof = f"Polynomial.identity{by}{of_blocks} (e := {held}) {rest}"
            yield self._law("identity", goal, proof)

    def _cut(self) -> Statement:
        """That the combine is made of its blocks, the first entry of each associative."""
        goal = f"Polynomial.associatesBy ({self.name} .left .right) {_written(self.blocks)} = true"
        return self._law("blocks", goal, "(by decide +kernel)")

    def _meaning(self) -> Iterator[Said]:
        """The definition, and that its meaning and its syntax are the same combine."""
        places = {e.key: i for i, e in enumerate(self.factor.entries)}
        names = {f"{s}{k}": f"({s} {i})" for k, i in places.items() for s in "st"}
        texts = [text(renamed(e.combine, names)) for e in self.factor.entries]
        body, proof = _list(texts), "rfl"
        if self.blocks:
            body, proof = "[]", "Polynomial.nil_means s t"
        for b in reversed(self.blocks):
            entry = f"{self.name}_{b.start}"
            yield self._definition(entry, STATES, texts[b.start], "R")
            left, right = (f"(fun i => Polynomial.eval s t ({x} i))" for x in "lr")
            meant = f"{entry} {left} {right} = Polynomial.eval s t ({entry} l r)"
            goal = f"∀ (s t : Nat → K) (l r : Nat → Polynomial.P), {meant}"
            yield self._law(f"{b.start}_means", goal, "fun _ _ _ _ => rfl")
            lefts, rights = map(_numbers, (b.lefts, b.rights))
            body = f"spread {entry} {lefts} {rights} s t ({body})"
            same = f"(g := {entry}) (d := {entry}) ({entry}_means_proved s t)"
            proof = f"Polynomial.spread_means {same} {rights} ({proof}) {lefts}"
        yield self._definition(self.name, STATES, body, "List R")
        goal = f"{self.name} s t = Polynomial.values s t ({self.name} .left .right)"
        yield self._law("means", f"∀ s t : Nat → K, {goal}", f"fun s t => {proof}")

    def _definition(self, name: str, states: str, body: str, type_: str) -> Definition:
        binders = f"{OPERATIONS} {states}".strip()
        return Definition(name, binders, body, type_, self.subject, MODULES)

    def _law(self, short: str, goal: str, proof: str) -> Statement:
        name = f"{self.name}_{short}"
        return Statement(name, RING, "", goal, (f"exact {proof}",), self.subject, MODULES)


def _numbers(numbers: Iterable[int]) -> str:
    return f"({_list(map(str, numbers))})"


def _written(cut: Iterable[Block]) -> str:
    """Blocks as Lean reads them."""
    return f"({_list(f'⟨{b.start}, {_numbers(b.lefts)}, {_numbers(b.rights)}⟩' for b in cut)})"


def _list(parts: Iterable[str]) -> str:
    """A list of any length; `[a, b]` of more than 32 entries needs Lean's own library."""
    return " :: ".join([*parts, "[]"])
