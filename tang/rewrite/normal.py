"""Normal forms of scalar expressions: equal sums of products become one expression.

Defines `Ring`, which flattens sums and products modulo commutativity, associativity, negation and
constants, and helpers that take an expression apart into factors and summands. Relies on
expressions alone. It is for *comparing*: two expressions with one normal form are equal over the
reals (an exact ring: also with NaN and infinities), and nothing is claimed of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import Final
from weakref import WeakKeyDictionary

from tang.ir.expr import (
    BOOL,
    INDEX,
    REAL,
    Expr,
    Sort,
    apply,
    index,
    named,
    real,
    rebuild,
    substitute,
    walk,
    walk_unknown,
)
from tang.rewrite.constants import special

Monomial = tuple[tuple[Expr, int], ...]
"""Atoms with powers, in the order of `order`; () is the constant."""
Terms = dict[Monomial, Fraction]
"""A sum of products: monomial → coefficient, none of them zero."""

LN2: Final = named("ln2")
"""ln 2 as an atom; log₂e is its power −1."""


_LONGEST: Final = 256
"""Characters of a text of `order` beyond which a digest takes the place of its end."""


_ORDERS: Final[WeakKeyDictionary[Expr, str]] = WeakKeyDictionary()


def order(e: Expr) -> str:
    """A text that orders expressions the same way in every run; equal ones alone share it.

    Its length is bounded, and so is the work: linear in the distinct subexpressions.
    """
    for x in walk_unknown(e, _ORDERS):
        inner = ",".join(_ORDERS[a] for a in x.args)
        text = f"{x.op}:{x.sort.value}:{x.payload}({inner})"
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}#{sha256(text.encode()).hexdigest()}"
        _ORDERS[x] = text
    return _ORDERS[e]


MAX_PRODUCT: Final = 36
"""Products of sums with more terms than this are not multiplied out."""

MAX_SUM: Final = 256
"""Sums of more terms than this stay in two parts."""

MAX_DEGREE: Final = 64
"""Products of more factors than this, powers counted, stay in two parts."""

MAX_PARTS: Final = 128
"""Factors or summands into which an expression is taken apart; what is left stays whole."""


def monomial(powers: Mapping[Expr, int]) -> Monomial:
    """The monomial of atoms with powers, zero powers left out."""
    kept = ((a, p) for a, p in powers.items() if p)
    return tuple(sorted(kept, key=lambda ap: order(ap[0])))


def total(parts: Iterable[Terms]) -> Terms:
    """The sum; terms that cancel vanish."""
    found: Terms = {}
    for terms in parts:
        for m, c in terms.items():
            found[m] = found[m] + c if m in found else c
    return {m: c for m, c in found.items() if c}


def scaled(terms: Terms, by: Fraction, times: Monomial = ()) -> Terms:
    """The terms times a constant and a monomial."""
    if not by:
        return {}
    return {joined(m, times): c if by == 1 else c * by for m, c in terms.items()}


def joined(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, p in b:
        powers[atom] = powers.get(atom, 0) + p
    return monomial(powers)


def multiplied(a: Terms, b: Terms) -> Terms:
    """The product, multiplied out."""
    return total(scaled(a, c, m) for m, c in b.items())


def inverse(terms: Terms) -> Terms:
    """The reciprocal of a single term."""
    ((m, c),) = terms.items()
    return {monomial({a: -p for a, p in m}): 1 / c}


class Ring:
    """Normal forms, remembered per expression.

    exact  only steps that hold with NaN and infinities too: no product is distributed over a sum,
           nothing cancels with its reciprocal, and `lossy` tells when terms cancelled in a sum
    """

    def __init__(self, *, exact: bool = False) -> None:
        self.exact: Final = exact
        self.lossy = False
        self._terms: dict[Expr, Terms] = {}
        self._canonical: dict[Expr, Expr] = {}
        self._known: set[Expr] = set()

    def terms(self, root: Expr) -> Terms:
        """The expression, of sort real or index, as a sum of products."""
        self._visit(root)
        return self._terms[root]

    def canonical(self, root: Expr) -> Expr:
        """The one expression that stands for all that have the same normal form."""
        self._visit(root)
        if root not in self._canonical:
            self._canonical[root] = emit(self._terms[root], root.sort)
        return self._canonical[root]

    def _visit(self, root: Expr) -> None:
        """Terms of every number and the canonical form of every condition up to an expression."""
        for e in walk_unknown(root, self._known):
            if e.sort is BOOL:
                self._canonical[e] = self._truth(e)
            else:
                self._terms[e] = self._of(e)
            self._known.add(e)

    def same(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions have one normal form."""
        return a is b or self.canonical(a) is self.canonical(b)

    def _of(self, e: Expr) -> Terms:
        match e.op:
            case "real":
                return _constant(e)
            case "index" if isinstance(e.payload, int):
                return {(): Fraction(e.payload)} if e.payload else {}
            case "add":
                return self._sum(e)
            case "neg":
                return scaled(self._terms[e.args[0]], Fraction(-1))
            case "mul":
                return self._product(self._terms[e.args[0]], self._terms[e.args[1]], e.sort)
            case "recip":
                return self._reciprocal(self._terms[e.args[0]])
            case "to_real":
                return self._cast(self._terms[e.args[0]])
            case "select" if e.args[0].op == "not":
                c, a, b = e.args
                return self.terms(apply("select", c.args[0], b, a))
            case _:
                return self._atom(rebuild(e, tuple(self.canonical(a) for a in e.args)))

    def _sum(self, e: Expr) -> Terms:
        parts = [self._terms[a] for a in e.args]
        if sum(map(len, parts)) > MAX_SUM:
            parts = [self._whole(t, e.sort) for t in parts]
        found = total(parts)
        if len(found) < len(parts[0].keys() | parts[1].keys()):
            self.lossy = True
        return found

    def _product(self, a: Terms, b: Terms, sort: Sort) -> Terms:
        """Distributed; in an exact ring a factor with several terms stays whole."""
        if self.exact and sort is REAL:
            if not a or not b:
                return self._atom(apply("mul", *sorted((emit(a, REAL), emit(b, REAL)), key=order)))
            if not _is_number(a) and not _is_number(b):
                a, b = (t if len(t) == 1 else self._atom(emit(t, REAL)) for t in (a, b))
        return self.product(a, b, sort)

    def product(self, a: Terms, b: Terms, sort: Sort = REAL) -> Terms:
        """Multiplied out, as long as that is small; longer sums are atoms."""
        long = len(a) > 1 and len(b) > 1 and len(a) * len(b) > MAX_PRODUCT
        if long or _degree(a) + _degree(b) > MAX_DEGREE:
            a, b = self._whole(a, sort), self._whole(b, sort)
        return multiplied(a, b)

    def _whole(self, terms: Terms, sort: Sort) -> Terms:
        """The terms as one atom; numbers stay numbers."""
        return terms if _is_number(terms) or not terms else self._atom(emit(terms, sort))

    def _reciprocal(self, terms: Terms) -> Terms:
        if len(terms) != 1:
            return self._atom(apply("recip", emit(terms, REAL)))
        ((m, c),) = terms.items()
        if not self.exact:
            return {monomial({a: -p for a, p in m}): 1 / c}
        kept = {a: -p for a, p in m if a is LN2}
        rest = {apply("recip", a): p for a, p in m if a is not LN2}
        return {monomial({**kept, **rest}): 1 / c}

    def _cast(self, terms: Terms) -> Terms:
        """to_real of a sum of products is the sum of products of to_real."""
        return {monomial({apply("to_real", a): p for a, p in m}): c for m, c in terms.items()}

    def _atom(self, e: Expr) -> Terms:
        return {((e, 1),): Fraction(1)}

    def _truth(self, e: Expr) -> Expr:
        if e.op == "not" and e.args[0].op == "not":
            return self.canonical(e.args[0].args[0])
        args = tuple(self.canonical(a) for a in e.args)
        bound = self._bound(e)
        if bound is not None:
            return bound
        if e.op in ("and", "or", "eq"):
            args = tuple(sorted(args, key=order))
        return rebuild(e, args)

    def _bound(self, e: Expr) -> Expr | None:
        """before: a < b, a ≤ b or ¬(a < b) of indices → after: 0 < difference."""
        if e.op == "lt" and e.args[0].sort is INDEX:
            return self._positive(e.args[1], e.args[0], 0)
        if e.op == "not" and e.args[0].op == "lt" and e.args[0].args[0].sort is INDEX:
            a, b = e.args[0].args
            return self._positive(a, b, 1)
        if e.op == "or" and {a.op for a in e.args} == {"lt", "eq"}:
            less, equal = sorted(e.args, key=lambda a: a.op != "lt")
            if less.args[0].sort is INDEX and set(less.args) == set(equal.args):
                return self._positive(less.args[1], less.args[0], 1)
        return None

    def _positive(self, a: Expr, b: Expr, plus: int) -> Expr:
        """0 < a − b + plus."""
        constant: Terms = {(): Fraction(plus)}
        parts = [self.terms(a), scaled(self.terms(b), Fraction(-1)), constant]
        return apply("lt", index(0), emit(total(parts), INDEX))


def _degree(terms: Terms) -> int:
    return max((sum(abs(p) for _, p in m) for m in terms), default=0)


def _is_number(terms: Terms) -> bool:
    """Whether the terms are one finite number other than zero."""
    return len(terms) == 1 and all(a is LN2 for m in terms for a, _ in m)


def _constant(e: Expr) -> Terms:
    if isinstance(e.payload, Fraction):
        return {(): e.payload} if e.payload else {}
    if special(e) == "-0.0":  # zeros of the IR are unsigned
        return {}
    if special(e) == "log2e":
        return {((LN2, -1),): Fraction(1)}
    return {((e, 1),): Fraction(1)}


def emit(terms: Terms, sort: Sort = REAL) -> Expr:
    """The terms as an expression, in the order of `order`."""
    rows = sorted(terms.items(), key=lambda mc: [(order(a), p) for a, p in mc[0]])
    if not rows:
        return real(0) if sort is REAL else index(0)
    return add_all([_emit_term(m, c, sort) for m, c in rows])


def _emit_term(m: Monomial, c: Fraction, sort: Sort) -> Expr:
    factors = [f for a, p in m for f in [_power(a, p)] * abs(p)]
    if not factors:
        return real(c) if sort is REAL else index(int(c))
    product = mul_all(factors)
    if c == 1:
        return product
    if c == -1:
        return apply("neg", product)
    return apply("mul", product, real(c) if sort is REAL else index(int(c)))


def _power(atom: Expr, p: int) -> Expr:
    if p > 0:
        return atom
    return named("log2e") if atom is LN2 else apply("recip", atom)


def add_all(parts: Sequence[Expr]) -> Expr:
    """The sum from left to right; 0 of nothing."""
    if not parts:
        return real(0)
    found = parts[0]
    for p in parts[1:]:
        found = apply("add", found, p)
    return found


def mul_all(parts: Sequence[Expr]) -> Expr:
    """The product from left to right; 1 of nothing."""
    if not parts:
        return real(1)
    found = parts[0]
    for p in parts[1:]:
        found = apply("mul", found, p)
    return found


def flattened(root: Expr, split: Callable[[Expr], Sequence[Expr] | None]) -> list[Expr]:
    """What `split` takes an expression apart into, again and again, in order; `MAX_PARTS` at most.

    A shared subexpression occurs once for every way to it, of which a few squarings have many.
    """
    found: list[Expr] = []
    waiting = [root]
    while waiting:
        e = waiting.pop()
        parts = split(e) if len(found) + len(waiting) + 1 < MAX_PARTS else None
        if parts is None:
            found.append(e)
        else:
            waiting += reversed(parts)
    return found


def factors(e: Expr) -> list[Expr]:
    """The factors of a product, also below a reciprocal or a sign."""
    return flattened(e, _product_parts)


def _product_parts(e: Expr) -> Sequence[Expr] | None:
    if e.op == "mul":
        return e.args
    if e.op == "neg" and e.sort is REAL:
        return (e.args[0], real(-1))
    below = (
        _product_parts(e.args[0]) if e.op == "recip" and e.args[0].op in ("mul", "neg") else None
    )
    return below and [apply("recip", f) for f in below]


def summands(e: Expr) -> list[Expr]:
    """The summands of a sum, signs carried inside."""
    return flattened(e, _sum_parts)


def _sum_parts(e: Expr) -> Sequence[Expr] | None:
    if e.op == "add":
        return e.args
    if e.op == "neg" and e.args[0].op == "add":
        return [apply("neg", s) for s in e.args[0].args]
    return None


def tidied(e: Expr, around: Expr) -> Expr:
    """The expression with constants folded and reciprocals cancelled in products that hold a value.

    before: 3 · x · (1/3), ln 2 · x · log₂e, n · x · (1/n) → after: x. Over the reals only.
    """
    for x in reversed(list(walk(e))):
        parts = factors(x) if x.op in ("mul", "neg") and x.sort is REAL else []
        if around in parts:
            return substitute(e, {x: _reduced(parts)})
    return e


def _reduced(parts: Sequence[Expr]) -> Expr:
    constant, powers = Fraction(1), dict.fromkeys(parts, 0)
    for p in parts:
        if p.op == "real" and isinstance(p.payload, Fraction):
            constant *= p.payload
        elif p.op == "recip" and isinstance(p.args[0].payload, Fraction) and p.args[0].payload:
            constant /= p.args[0].payload
        elif p is named("log2e"):
            powers[LN2] = powers.get(LN2, 0) - 1
        elif p.op == "recip":
            powers[p.args[0]] = powers.get(p.args[0], 0) - 1
        else:
            powers[p] += 1
    rest = mul_all([_power(a, n) for a, n in powers.items() for _ in range(abs(n))])
    if constant == 1:
        return rest
    return apply("neg", rest) if constant == -1 else apply("mul", rest, real(constant))
