"""The laws of a combine whose entries are polynomials, decided by Lean's kernel in one evaluation.

Defines `is_polynomial` and `polynomial_claims`. Relies on Tang/Polynomial and Tang/Blocks, whose
checks are proved sound there, and on the canonical forms to name the entry at fault. A combine
with maxima, quotients or exponentials, or an identity that holds one, is no such polynomial.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tang.proofs.blocks import Block, Shape, blocks, digits, shape
from tang.proofs.factor import Entry, Factor
from tang.proofs.identities import check_identity
from tang.proofs.laws import Broken, broken_law
from tang.proofs.points import holds_at_a_point
from tang.proofs.session import Definition, Said, Statement
from tang.proofs.spread import spread_out
from tang.proofs.substitute import renamed
from tang.proofs.terms import Term, text
from tang.proofs.verified import ONE_SORT, Kinds

MODULES: Final = ("Tang.Blocks", "Tang.Polynomial")
RING: Final = f"{ONE_SORT}[CommRing K]"
OPERATIONS: Final = "{R : Type u} [Add R] [Mul R] [Neg R] [Zero R] [One R]"
"""What the exported text is read over: a ring for its meaning, polynomials for its syntax."""

STATES: Final = "(s t : Nat → R)"
WORD: Final = 64
"""Numbers of more bits are written in hexadecimal digits."""

EVALUATED: Final = "(by decide +kernel)"

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
    if not holds_at_a_point(f):
        broken = broken_law(f, kinds, [f.entries[b.start] for b in cut] or f.entries)
        if broken is not None:
            return broken
        if f.monoid.identity is not None:
            check_identity(f, kinds)
    components = dict.fromkeys(e.label.partition("[")[0] for e in f.entries)
    name, subject = f"{label}_combine", ", ".join(components)
    said = _Blocks(f, name, subject, tuple(cut)) if cut else _Combine(f, name, subject)
    return [*said.claims()]


def _blocks(f: Factor) -> list[Block]:
    """The entries cut into blocks of shifted ones; none where that would not save half of them.

    None too where blocks are not what was exported: then all entries are written out.
    """
    if f.monoid.commutative:
        return []
    found = blocks(_shapes(f))
    if 2 * len(found) > len(f.entries):
        return []
    terms = {e.key: e.combine for e in f.entries}
    return found if [*spread_out(terms, found)] == [*terms.values()] else []


def _shapes(f: Factor) -> list[Shape]:
    places = {e.key: i for i, e in enumerate(f.entries)}
    return [shape(e.combine, places) for e in f.entries]


@dataclass(frozen=True, slots=True)
class _Combine:
    """A combine's name in Lean, and what it is called in messages."""

    factor: Factor
    name: str
    subject: str

    def claims(self) -> Iterator[Said]:
        """The combine and its identity as lists of entries, what they mean, and their laws."""
        texts, promised = self.texts(self.factor.entries), self.factor.monoid
        known, goal = f"(c := ({self.name} .left .right)) {self.name}_means_proved", self.goal
        yield self.definition("", STATES, _list(texts), "List R")
        yield self.means(f"Polynomial.values s t ({self.name} .left .right)")
        proof = f"Polynomial.associative {known} {EVALUATED}"
        yield self.law("associative", f"Associative {goal}", proof)
        if promised.commutative:
            proof = f"Polynomial.commutative {known} {EVALUATED}"
            yield self.law("commutative", f"Commutative {goal}", proof)
        if promised.identity is not None:
            yield self.definition("_constants", "", _list(self.constants()), "List R")
            yield self.identity(f"Polynomial.identity {known} (e := {self.name}_constants)")

    @property
    def goal(self) -> str:
        """What the laws are about."""
        return f"(combineBy ({self.name} (R := K)))"

    def texts(self, entries: Iterable[Entry]) -> list[str]:
        """Entries in Lean, over numbered variables."""
        places = {e.key: i for i, e in enumerate(self.factor.entries)}
        names = {f"{s}{k}": f"({s} {i})" for k, i in places.items() for s in "st"}
        return [text(renamed(e.combine, names)) for e in entries]

    def constants(self) -> list[str]:
        """The entries of the identity in Lean."""
        return [text(e.identity) for e in self.factor.entries if e.identity is not None]

    def means(self, meaning: str) -> Statement:
        """That the combine over a ring and its syntax are the same."""
        goal = f"∀ s t : Nat → K, {self.name} s t = {meaning}"
        return self.law("means", goal, "fun _ _ => rfl")

    def identity(self, proof: str) -> Statement:
        """That the constants leave all entries as they are, which the kernel evaluates."""
        size = len(self.factor.entries)
        goal = f"IdentityBelow {size} ({self.name} (R := K)) {self.name}_constants"
        return self.law("identity", goal, f"{proof} {size} rfl {EVALUATED}")

    def definition(self, suffix: str, states: str, body: str, type_: str) -> Definition:
        """A definition over anything with the operations of a ring."""
        binders = f"{OPERATIONS} {states}".strip()
        return Definition(f"{self.name}{suffix}", binders, body, type_, self.subject, MODULES)

    def law(self, short: str, goal: str, proof: str) -> Statement:
        """A theorem over a ring."""
        name = f"{self.name}_{short}"
        return Statement(name, RING, "", goal, (f"exact {proof}",), self.subject, MODULES)


@dataclass(frozen=True, slots=True)
class _Blocks(_Combine):
    """The same of a combine that is cut into blocks."""

    blocks: tuple[Block, ...]

    def claims(self) -> Iterator[Said]:
        """The combine and its identity as blocks of entries, what they mean, and their laws."""
        name, cut = self.name, f"{self.name}_blocks"
        body = "[]"
        firsts = self.texts(self.factor.entries[b.start] for b in self.blocks)
        for b, entry in zip(self.blocks, firsts, strict=True):
            yield self.definition(f"_{b.start}", STATES, entry, "R")
        for b in reversed(self.blocks):
            body = f"spread {name}_{b.start} {b.rows} {b.columns} s t ({body})"
        yield self.definition("", STATES, body, "List R")
        h = digits(
            {e.key: e.combine for e in self.factor.entries}, _shapes(self.factor), self.blocks
        )
        written = (
            f"⟨{b.rows}, {b.columns}, {low}, {name}_{b.start} .left .right⟩"
            for b, low in zip(self.blocks, h.lows, strict=True)
        )
        yield self._data("_blocks", written, "Block")
        yield self.means(f"Polynomial.pieces s t {cut}")
        known = f"{name}_means_proved"
        hints = f"(q := {_natural(h.base)}) (w := {h.second}) (v := {h.first})"
        proof = f"Polynomial.associative_by {known} {hints} {EVALUATED}"
        yield self.law("associative", f"Associative {self.goal}", proof)
        if self.factor.monoid.identity is not None:
            yield from self._runs()
            yield self.identity(f"Polynomial.identity_by {known} (e := {name}_runs)")

    def _runs(self) -> Iterator[Definition]:
        """The identity, equal constants in a row together."""
        runs = [(c, len([*same])) for c, same in itertools.groupby(self.constants())]
        body = "[]"
        for c, times in reversed(runs):
            body = f"repeated {times} {c} ({body})"
        yield self.definition("_constants", "", body, "List R")
        yield self._data("_runs", (f"⟨{times}, {c}⟩" for c, times in runs), "Run")

    def _data(self, suffix: str, parts: Iterable[str], type_: str) -> Definition:
        """What the kernel evaluates."""
        listed, type_ = _list(parts), f"List Polynomial.{type_}"
        return Definition(f"{self.name}{suffix}", "", listed, type_, self.subject, MODULES)


def _natural(n: int) -> str:
    """A natural number in Lean; Python writes no long one in decimal digits."""
    return str(n) if n.bit_length() <= WORD else hex(n)


def _list(parts: Iterable[str]) -> str:
    """A list of any length; `[a, b]` of more than 32 entries needs Lean's own library."""
    return " :: ".join([*parts, "[]"])
