"""Equality of two exact terms: a canonical form, and Lean tactics that prove it.

Defines `canonical` and `prove`. Relies on the theorems of Tang/Ring, Tang/Lattice and Tang/Algebra:
sums and products by the ring normaliser, maxima by the lattice normaliser, exponentials by
splitting exponents and the relations exp a · exp (−a) = 1. Nothing here is trusted: Lean decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tang.proofs.terms import Term, TooLargeError, text

Key = tuple[Any, ...]
"""A key of an atom or of a term: nested tuples of strings, booleans and integers."""

Monomial = tuple[Key, ...]
Poly = dict[Monomial, int]
"""Monomial (sorted keys of atoms) → coefficient."""

LARGEST: Final = 200_000
"""A product of polynomials takes at most so many steps."""

WIDEST: Final = 2048
"""A sum of maxima becomes a maximum of at most so many sums."""

MULTIPLE: Final = 256
"""So many times an exponent, or a product with exponentials, is written out at most."""

BOOLEANS: Final = 12
"""A table has at most so many variables: Lean is asked every row."""


def canonical(t: Term) -> Key:
    """A key that two terms share if the tactics of `prove` can equate them."""
    if t.op == "eq":
        return ("eq", *sorted((canonical(a) for a in t.args), key=_written))
    if t.op in ("ite", "lt", "and", "or", "not", "true", "false"):
        return (t.op, *(canonical(a) for a in t.args))
    t = spread(t)
    return ("poly", *sorted(_reduced(poly(t)).items(), key=_written))


def _written(key: Key) -> str:
    """A text that no other key has, to sort by; Python writes no long integer in decimal digits."""
    try:
        return repr(key)
    except ValueError:
        return _in_hexadecimal(key)


def _in_hexadecimal(key: object) -> str:
    if isinstance(key, tuple):
        return f"({', '.join(map(_in_hexadecimal, key))})"
    return hex(key) if type(key) is int else repr(key)


def same_boolean(a: Term, b: Term) -> bool:
    """Whether two booleans agree for all values of their variables."""
    names = sorted({*_booleans(a), *_booleans(b)})
    if len(names) > BOOLEANS:
        raise TooLargeError(f"a law has more than {BOOLEANS} booleans")
    cases = itertools.product((False, True), repeat=len(names))
    known = (dict(zip(names, values, strict=True)) for values in cases)
    return all(_truth(a, k) == _truth(b, k) for k in known)


def _booleans(t: Term) -> Iterator[str]:
    if t.op == "bvar":
        yield t.name
    for a in t.args:
        yield from _booleans(a)


def _truth(t: Term, known: Mapping[str, bool]) -> bool:
    if t.op in ("bvar", "btrue", "bfalse"):
        return known[t.name] if t.op == "bvar" else t.op == "btrue"
    parts = [_truth(a, known) for a in t.args]
    if t.op in ("band", "bor"):
        return all(parts) if t.op == "band" else any(parts)
    return parts[0] == parts[1] if t.op == "beq" else not parts[0]


def poly(t: Term) -> Poly:
    """The polynomial of a term in its atoms; exponentials split into those of single atoms."""
    if t.op in ("zero", "one"):
        return {(): 1} if t.op == "one" else {}
    if t.op == "neg":
        return {m: -c for m, c in poly(t.args[0]).items()}
    if t.op == "add":
        return _plus(poly(t.args[0]), poly(t.args[1]))
    if t.op == "mul":
        return _times(poly(t.args[0]), poly(t.args[1]))
    if t.op == "exp":
        return {_exponents(t.args[0]): 1}
    return {(atom(t),): 1}


def atom(t: Term) -> Key:
    """The key of a term that is no sum, product or exponential."""
    if t.op in ("var", "bvar"):
        return (t.op, t.name)
    if t.op in ("max", "min"):
        return (t.op, *sorted({_leaf_key(a) for a in leaves(t, t.op)}, key=_written))
    return (t.op, *(canonical(a) for a in t.args))


def leaves(t: Term, op: str) -> Iterator[Term]:
    """What a nest of one operation is over."""
    if t.op != op:
        yield t
        return
    for a in t.args:
        yield from leaves(a, op)


def _leaf_key(t: Term) -> Key:
    return tuple(sorted(_reduced(poly(t)).items(), key=_written))


def _exponents(t: Term) -> Monomial:
    parts: list[Key] = []
    for m, c in _reduced(poly(t)).items():
        parts += [("exp", c > 0, m)] * _times_written(c)
    return tuple(sorted(parts, key=_written))


def _times_written(c: int) -> int:
    """How often a part is written; TooLargeError for a large coefficient."""
    if abs(c) > MULTIPLE:
        raise TooLargeError(
            f"a constant beside exponentials is more than {MULTIPLE}, which is too much"
        )
    return abs(c)


def _plus(a: Poly, b: Poly) -> Poly:
    out = dict(a)
    for m, c in b.items():
        out[m] = out.get(m, 0) + c
    return {m: c for m, c in out.items() if c}


def _times(a: Poly, b: Poly) -> Poly:
    degrees = sum(len(next(iter(p), ())) for p in (a, b))
    if len(a) * len(b) * (1 + degrees) > LARGEST:
        raise TooLargeError("a product of polynomials has too many terms")
    out: Poly = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(sorted((*m, *n), key=_written))
            out[key] = out.get(key, 0) + c * d
    return {m: c for m, c in out.items() if c}


def _pair(m: Monomial) -> tuple[Key, Monomial] | None:
    """An exponent that occurs with both signs, and the monomial without the pair."""
    for k in m:
        if k[0] == "exp" and k[1] and ("exp", False, k[2]) in m:
            rest = list(m)
            rest.remove(k)
            rest.remove(("exp", False, k[2]))
            return k[2], tuple(rest)
    return None


def _reduced(p: Poly) -> Poly:
    """The polynomial with exp a · exp (−a) replaced by 1."""
    out: Poly = {}
    for m, c in p.items():
        found = _pair(m)
        while found is not None:
            m = found[1]
            found = _pair(m)
        out[m] = out.get(m, 0) + c
    return {m: c for m, c in out.items() if c}


def cofactors(p: Poly) -> dict[Key, Poly]:
    """Exponent → polynomial q with p − reduced p = Σ q · (exp a · exp (−a) − 1)."""
    out: dict[Key, Poly] = {}
    for m, c in p.items():
        found = _pair(m)
        while found is not None:
            key, m = found
            out[key] = _plus(out.get(key, {}), {m: c})
            found = _pair(m)
    return {k: q for k, q in out.items() if q}


_TURN: Final = "fun h => h.elim Or.inl (fun k => Or.inr ⟨k.left.symm, k.right⟩)"
TURNED: Final = f"⟨{_TURN}, {_TURN}⟩"
"""c ∨ (a = b ∧ d) ↔ c ∨ (b = a ∧ d): the one condition in which an equation may be turned."""


@dataclass(slots=True)
class Prover:
    """Writes tactics for one equality; equal atoms get one representative text."""

    texts: dict[Key, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    rewrites: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def run(self, a: Term, b: Term) -> list[str]:
        """Tactic lines for a goal `text a = text b`."""
        if text(a) == text(b):
            return ["rfl"]
        for t in (a, b):
            self._name(t)
        left, right = self.text(a), self.text(b)
        if self.rewrites:
            self.lines.append(f"rw [{', '.join(self.rewrites)}]")
            if left == right:
                return self.lines
        split = self._split(a, b)
        if split:
            self.lines.append(f"rw [{', '.join(split)}]")
        return [*self.lines, *self._ring(a, b)]

    def text(self, t: Term, *, split: bool = False) -> str:
        """The term with representatives for its atoms; exponentials split on request."""

        def named(x: Term) -> str | None:
            if x.op in ("max", "min"):
                return self.texts.get(atom(x))
            return self._product(x) if split and x.op == "exp" else None

        return text(t, named)

    def _name(self, t: Term) -> None:
        """Give every maximum and minimum its representative, innermost first."""
        for a in t.args:
            self._name(a)
        if t.op not in ("max", "min"):
            return
        key = atom(t)
        written = text(t, lambda x: None if x is t else self._known(x))
        known = self.texts.setdefault(key, written)
        if known == written or written in self.seen:
            return
        self.seen.add(written)
        name = f"h{len(self.seen)}"
        self.lines.append(f"have {name} : {written} = {known} := by")
        self.lines += [f"  {line}" for line in self._lattice(t)]
        self.rewrites.append(name)

    def _known(self, x: Term) -> str | None:
        return self.texts.get(atom(x)) if x.op in ("max", "min") else None

    def _lattice(self, t: Term) -> list[str]:
        """Tactics for a maximum that equals its representative: leaves first, then the nest."""
        lines, names = [], []
        for leaf in dict.fromkeys(leaves(t, t.op)):
            written, key = self.text(leaf), ("leaf", t.op, _leaf_key(leaf))
            known = self.texts.setdefault(key, written)
            names.append(known)
            if known != written:
                atoms = ", ".join(self._atoms(leaf))
                lines.append(f"rw [show {written} = {known} from ring_eq [{atoms}] (by rfl)]")
        listed = ", ".join(dict.fromkeys(names))
        return [*lines, f"exact {t.op}_eq {names[0]} [{listed}] (by rfl)"]

    def _split(self, a: Term, b: Term) -> list[str]:
        """Equations that split each exponential into those of single atoms."""
        names: list[str] = []
        for t in dict.fromkeys([*_exponentials(a), *_exponentials(b)]):
            left, right = self.text(t), self._product(t)
            if left == right or left in self.seen:
                continue
            self.seen.add(left)
            name = f"x{len(self.seen)}"
            self.lines.append(f"have {name} : ({left} : K) = {right} := by")
            self.lines += [f"  {line}" for line in self._exponent_lines(t)]
            names.append(name)
        return names

    def _exponent_lines(self, t: Term) -> list[str]:
        (arg,) = t.args
        parts = self._summands(arg)
        total = parts[-1] if parts else "0"
        for p in reversed(parts[:-1]):
            total = f"({p} + {total})"
        steps = [] if self.text(arg) == total else [self._shown(arg, total)]
        steps += ["exp_zero"] if not parts else ["exp_add"] * (len(parts) - 1)
        return [f"rw [{', '.join(steps)}]"]

    def _shown(self, arg: Term, total: str) -> str:
        atoms = ", ".join(self._atoms(arg))
        return f"show {self.text(arg)} = {total} from ring_eq [{atoms}] (by rfl)"

    def _summands(self, arg: Term) -> list[str]:
        """The exponent as single atoms and their negations."""
        out: list[str] = []
        for _, positive, m in _exponents(arg):
            base = self._monomial(m, arg)
            out.append(base if positive else f"(-{base})")
        return out

    def _product(self, t: Term) -> str:
        parts = [f"(exp {p})" for p in self._summands(t.args[0])]
        if not parts:
            return "1"
        total = parts[-1]
        for p in reversed(parts[:-1]):
            total = f"({p} * {total})"
        return total

    def _monomial(self, m: Monomial, inside: Term) -> str:
        """The text of a product of atoms that occur in a term."""
        known = {atom(x): self.text(x) for x in _atoms_of(inside)}
        parts = [known[k] for k in m] or ["1"]
        total = parts[-1]
        for p in reversed(parts[:-1]):
            total = f"({p} * {total})"
        return total

    def _atoms(self, *terms: Term) -> list[str]:
        return list(dict.fromkeys(self.text(x) for t in terms for x in _atoms_of(t)))

    def _ring(self, a: Term, b: Term) -> list[str]:
        """The last step: a ring identity, up to the relations of the exponentials."""
        left, right = self.text(a, split=True), self.text(b, split=True)
        if left == right:
            return [] if self.lines else ["rfl"]
        difference = _plus(poly(a), {m: -c for m, c in poly(b).items()})
        known = self._keys(a, b)
        atoms = ", ".join(dict.fromkeys(known.values()))
        needed = cofactors(difference)
        if not needed:
            return [f"exact ring_eq [{atoms}] (by rfl)"]
        sums, proofs = [], []
        for key, q in needed.items():
            up, down = known[("exp", True, key)], known[("exp", False, key)]
            factor = _poly_text(q, known)
            sums.append(f"({factor} * ({up} * {down} - 1))")
            proofs.append(f"cofactor {factor} (exp_neg _)")
        total, proof = sums[-1], f"({proofs[-1]})"
        for s, p in zip(reversed(sums[:-1]), reversed(proofs[:-1]), strict=True):
            total, proof = f"({s} + {total})", f"(add_zeros ({p}) {proof})"
        return [
            f"exact eq_of_cofactors (show {left} - {right} = {total} from",
            f"  ring_eq [{atoms}] (by rfl)) {proof}",
        ]

    def _keys(self, *terms: Term) -> dict[Key, str]:
        """Every atom of the split terms, with its text."""
        out: dict[Key, str] = {}
        for t in terms:
            for x in _atoms_of(t, through_exp=False):
                if x.op != "exp":
                    out[atom(x)] = self.text(x)
            for x in _exponentials(t):
                for part, key in zip(self._summands(x.args[0]), _exponents(x.args[0]), strict=True):
                    out[key] = f"(exp {part})"
        return out


def _atoms_of(t: Term, *, through_exp: bool = True) -> Iterator[Term]:
    """The atoms of a sum of products; exponentials count as atoms."""
    if t.op in ("add", "mul", "neg"):
        for a in t.args:
            yield from _atoms_of(a, through_exp=through_exp)
    elif t.op not in ("zero", "one"):
        yield t


def _exponentials(t: Term) -> Iterator[Term]:
    if t.op == "exp":
        yield t
    if t.op in ("add", "mul", "neg"):
        for a in t.args:
            yield from _exponentials(a)


def _poly_text(p: Poly, known: dict[Key, str]) -> str:
    """A polynomial as a sum of products."""
    terms = []
    for m, c in p.items():
        product = " * ".join([known[k] for k in m] or ["1"])
        terms += [f"({product})" if c > 0 else f"(-({product}))"] * _times_written(c)
    return f"({' + '.join(terms)})"


def prove(a: Term, b: Term) -> list[str]:
    """Tactic lines for the goal `text a = text b`."""
    if a.op == b.op == "ite" and text(a) != text(b) and _same_condition(a, b):
        yes, no = (prove(a.args[i], b.args[i]) for i in (1, 2))
        same = text(a.args[0]) == text(b.args[0])
        return [
            f"apply if_congr {'(Iff.refl _)' if same else TURNED}",
            "· intro _", *(f"  {x}" for x in yes),
            "· intro _", *(f"  {x}" for x in no),
        ]  # fmt: skip
    left, right = spread(a), spread(b)
    if (left, right) != (a, b):
        return _spread_lines(left, right)
    return Prover().run(a, b)


def _same_condition(a: Term, b: Term) -> bool:
    """Whether two choices are by the same condition, up to the order of equations."""
    return canonical(a.args[0]) == canonical(b.args[0])


def spread(t: Term) -> Term:
    """Addition distributed over maxima and minima, sums associated to the right."""
    if _width(t) > WIDEST:
        raise TooLargeError(f"a sum of maxima is one of more than {WIDEST} sums")
    if t.op in ("max", "min"):
        return Term(t.op, (spread(t.args[0]), spread(t.args[1])))
    if t.op != "add" or not any(x.op in ("max", "min") for x in leaves(t, "add")):
        return t
    a, b = (spread(x) for x in t.args)
    for nest, other, first in ((a, b, True), (b, a, False)):
        if nest.op in ("max", "min"):
            pairs = ((x, other) if first else (other, x) for x in nest.args)
            return Term(nest.op, tuple(spread(Term("add", p)) for p in pairs))
    return t


def _width(t: Term) -> int:
    """How many sums a sum of maxima and minima has once it is spread."""
    if t.op not in ("max", "min", "add"):
        return 1
    a, b = (_width(x) for x in t.args)
    return a * b if t.op == "add" else a + b


def _right(t: Term) -> Term:
    """A sum associated to the right, as `add_assoc` leaves it."""
    parts = list(leaves(t, "add"))
    total = parts[-1]
    for p in reversed(parts[:-1]):
        total = Term("add", (p, total))
    return total


def _spread_lines(a: Term, b: Term) -> list[str]:
    """Both sides as nests of sums, by distributivity; then the nests are equal."""
    op = a.op if a.op in ("max", "min") else b.op
    listed = dict.fromkeys(text(_right(x)) for t in (a, b) for x in leaves(t, op))
    lines = [f"simp only [{op}_add, add_{op}, add_assoc]"]
    return [*lines, f"exact {op}_eq {next(iter(listed))} [{', '.join(listed)}] (by rfl)"]
