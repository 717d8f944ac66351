"""Scalar identities: expressions made smaller without a change of value.

Defines the tables of identities and `Simplifier`, which applies them bottom-up in one node, and
`constant_of`. Relies on `constants` and on proofs about coordinates. Every identity holds in the
extended reals with NaN and unsigned zeros: 0·x goes only where x is proved finite.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Final

from tang.ir.expr import (
    BOOL,
    INDEX,
    REAL,
    Expr,
    apply,
    arg,
    boolean,
    index,
    iota,
    is_constant,
    real,
    rebuild,
    walk,
    walk_unknown,
)
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Fact
from tang.ir.view import GATHERED, Affine, constant, variable
from tang.rewrite.constants import folded, number, special
from tang.rewrite.cost import operations
from tang.rewrite.linear import index_expr, linear, separated
from tang.rewrite.proofs import Domain, domain_of

_ARGUMENT: Final = f"{GATHERED}arg"
"""Prefix of variables that stand for index arguments in forms."""
_NEGATIVE_ZERO: Final = "-0.0"
_POSITIVE: Final = ("ln2", "log2e", "pi")
"""Named numbers that are positive and finite."""


def constant_of(root: Expr) -> Expr | None:
    """The literal that an expression without coordinates and arguments comes to, if it does."""
    found = Simplifier(Domain({}, {}), ())(root)
    return found if is_constant(found) else None


def simplifier(node: Comprehension, facts: tuple[Fact, ...]) -> Simplifier:
    """The simplifier of a node's body."""
    return Simplifier(domain_of(node, facts), node.dims)


class Simplifier:
    """Applies the identities in one domain; remembers what it has seen."""

    def __init__(self, domain: Domain, dims: tuple[Dim, ...]) -> None:
        self.domain = domain
        self.dims = dims
        self.done: dict[Expr, Expr] = {}
        self.forms: dict[Expr, Affine | None] = {}

    def __call__(self, root: Expr) -> Expr:
        for e in walk_unknown(root, self.done):
            self.done[e] = self.settled(rebuild(e, tuple(self.done[a] for a in e.args)))
        return self.done[root]

    def settled(self, e: Expr) -> Expr:
        """An expression over simple operands, until no identity applies to it."""
        while e.args:
            new = self.step(e)
            if new is None or new is e:
                return e
            e = new if all(a in self.done or not a.args for a in new.args) else self(new)
        return e

    def step(self, e: Expr) -> Expr | None:
        found = folded(e.op, e.args)
        if found is not None:
            return found
        for row in IDENTITIES.get(e.op, ()):
            found = row(*e.args)
            if found is not None:
                return found
        return self.indices(e)

    # --- coordinates -----------------------------------------------------------------------------

    def indices(self, e: Expr) -> Expr | None:
        """Comparisons, quotients and sums of coordinates, where proofs settle them."""
        if e.op in ("lt", "eq") and e.args[0].sort is INDEX:
            return self.compared(e)
        if e.op == "to_index" and e.args[0].op == "to_real":
            return self.cast(e.args[0].args[0])
        return self.shorter(e) if e.sort is INDEX and e.op != "select" else None

    def compared(self, e: Expr) -> Expr | None:
        a, b = (self.form(x) for x in e.args)
        if a is None or b is None:
            return None
        above, below = a - b, b - a
        if e.op == "lt":
            if self.domain.at_least(below, poly(1)):
                return boolean(True)
            return boolean(False) if self.domain.at_least(above, poly(0)) else None
        if not above.terms and above.const.is_constant:
            return boolean(above.const.constant == 0)
        apart = any(self.domain.at_least(f, poly(1)) for f in (above, below))
        return boolean(False) if apart else None

    def cast(self, e: Expr) -> Expr | None:
        """to_index(to_real(i)) → i within 31 bits."""
        form = self.form(e)
        if form is None or not self.domain.inside(form, poly(-(2**31)), poly(2**31)):
            return None
        return e

    def shorter(self, e: Expr) -> Expr | None:
        """The same form with fewer operations."""
        form = self.form(e)
        if form is None:
            return None
        new = index_expr(form, _leaf_expr, self.dims)
        return new if new is not None and operations(new) < operations(e) else None

    def form(self, root: Expr) -> Affine | None:
        """An index expression as a form over dims and index arguments."""
        for e in walk(root):
            if e not in self.forms:
                self.forms[e] = self._form(e)
        return self.forms[root]

    def _form(self, e: Expr) -> Affine | None:
        if e.op == "iota" and e.payload in self.domain.extents:
            return variable(str(e.payload))
        if e.op == "extent" and e.payload in self.domain.extents:
            return constant(self.domain.extents[str(e.payload)])
        if e.op == "arg" and e.sort is INDEX:
            return variable(f"{_ARGUMENT}{e.payload}")
        known = [self.forms[a] for a in e.args]
        if e.op not in ("index", "add", "neg", "mul", "floordiv", "mod"):
            return None
        if e.op in ("floordiv", "mod"):
            return self._quotient(e.op, known)
        return linear(e, lambda x: None if x is e else self.forms.get(x), self.domain)

    def _quotient(self, op: str, known: list[Affine | None]) -> Affine | None:
        form, divisor = known
        if form is None or divisor is None or divisor.terms:
            return None
        parts = separated(form, divisor.const, self.domain)
        return None if parts is None else parts[op == "mod"]


def _leaf_expr(name: str) -> Expr:
    position = name.removeprefix(_ARGUMENT)
    return iota(name) if position == name else arg(int(position), INDEX)


# --- identities ----------------------------------------------------------------------------------

Row = Callable[..., Expr | None]


def is_finite(e: Expr) -> bool:
    """Whether a real is proved finite."""
    match e.op:
        case "real":
            return isinstance(number(e), Fraction) or special(e) in _POSITIVE
        case "to_real":
            return True
        case "neg" | "floor" | "sin" | "erf":
            return is_finite(e.args[0])
        case "select":
            return all(map(is_finite, e.args[1:]))
    return False


def is_never_nan(e: Expr) -> bool:
    """Whether a real is proved no NaN."""
    if e.op in ("neg", "floor", "exp2", "erf"):
        return is_never_nan(e.args[0])
    if e.op == "select":
        return all(map(is_never_nan, e.args[1:]))
    return is_finite(e) or (e.op == "real" and special(e) != "nan")


def _is_zero(e: Expr) -> bool:
    return e is real(0) or special(e) == _NEGATIVE_ZERO or e is index(0)


def _add(a: Expr, b: Expr) -> Expr | None:
    """x + 0 → x;  x + (−x) → 0 for finite x."""
    for x, y in ((a, b), (b, a)):
        if _is_zero(y):
            return x
        if y.op == "neg" and y.args[0] is x and (x.sort is INDEX or is_finite(x)):
            return index(0) if x.sort is INDEX else real(0)
    return None


def _mul(a: Expr, b: Expr) -> Expr | None:
    """x · 1 → x;  x · (−1) → −x;  x · 0 → 0 for finite x;  ±inf · π → ±inf, ln 2, log₂e too."""
    for x, y in ((a, b), (b, a)):
        if special(y) in ("inf", "-inf") and special(x) in _POSITIVE:
            return y
        if y in (real(1), index(1)):
            return x
        if y in (real(-1), index(-1)):
            return apply("neg", x)
        if _is_zero(y) and (x.sort is INDEX or is_finite(x)):
            return y
    return None


def _neg(a: Expr) -> Expr | None:
    """−(−x) → x."""
    return a.args[0] if a.op == "neg" else None


def _not(a: Expr) -> Expr | None:
    """not not x → x."""
    return a.args[0] if a.op == "not" else None


def _and(a: Expr, b: Expr) -> Expr | None:
    """x and True → x;  x and False → False;  x and x → x;  x and not x → False."""
    return _lattice(a, b, neutral=boolean(True), dominant=boolean(False))


def _or(a: Expr, b: Expr) -> Expr | None:
    """x or False → x;  x or True → True;  x or x → x;  x or not x → True."""
    return _lattice(a, b, neutral=boolean(False), dominant=boolean(True))


def _lattice(a: Expr, b: Expr, neutral: Expr, dominant: Expr) -> Expr | None:
    if a is b:
        return a
    for x, y in ((a, b), (b, a)):
        if y is neutral:
            return x
        if y is dominant or (y.op == "not" and y.args[0] is x):
            return dominant
    return None


def _select(c: Expr, a: Expr, b: Expr) -> Expr | None:
    """select of a constant, of equal branches, of a negation, under its own condition."""
    if c.op == "bool":
        return a if c.payload else b
    if a is b:
        return a
    if c.op == "not":
        return apply("select", c.args[0], b, a)
    if a.op == "select" and a.args[0] is c:
        return apply("select", c, a.args[1], b)
    if b.op == "select" and b.args[0] is c:
        return apply("select", c, a, b.args[2])
    return _select_of_bools(c, a, b)


def _select_of_bools(c: Expr, a: Expr, b: Expr) -> Expr | None:
    """select(c, True, False) → c;  select(c, False, True) → not c."""
    if a.op == b.op == "bool":
        return c if a.payload else apply("not", c)
    return None


def _lt(a: Expr, b: Expr) -> Expr | None:
    """x < x, x < NaN, NaN < x, inf < x, x < −inf → False."""
    left, right = special(a), special(b)
    never = a is b or "nan" in (left, right) or left == "inf" or right == "-inf"
    return boolean(False) if never else None


def _eq(a: Expr, b: Expr) -> Expr | None:
    """x = x → True where it is no NaN;  x = NaN → False;  c = True → c."""
    if a is b and (a.sort is not REAL or is_never_nan(a)):
        return boolean(True)
    if "nan" in (special(a), special(b)):
        return boolean(False)
    for x, y in ((a, b), (b, a)):
        if y.sort is BOOL and y.op == "bool":
            return x if y.payload else apply("not", x)
    return None


def _literal_branches(op: str, a: Expr, b: Expr) -> Expr | None:
    """select(c, k, l) < m or = m → select(c, k < m, l < m) for literals k, l and m."""
    for n, (x, y) in enumerate(((a, b), (b, a))):
        if x.op == "select" and is_constant(y) and all(map(is_constant, x.args[1:])):
            c, *branches = x.args
            known = [folded(op, (y, k) if n else (k, y)) for k in branches]
            if None not in known:
                return apply("select", c, *(k for k in known if k is not None))
    return None


def _isnan(a: Expr) -> Expr | None:
    """isnan x → False where x is proved no NaN;  isnan(−x) → isnan x."""
    if is_never_nan(a):
        return boolean(False)
    return apply("isnan", a.args[0]) if a.op == "neg" else None


def _floor(a: Expr) -> Expr | None:
    """floor of what is whole → itself."""
    return a if a.op in ("floor", "to_real") else None


def _mod(a: Expr, b: Expr) -> Expr | None:
    """x mod 1 → 0."""
    return index(0) if b is index(1) else None


def _floordiv(a: Expr, b: Expr) -> Expr | None:
    """x div 1 → x."""
    return a if b is index(1) else None


IDENTITIES: Final[dict[str, tuple[Row, ...]]] = {
    "add": (_add,),
    "mul": (_mul,),
    "neg": (_neg,),
    "not": (_not,),
    "and": (_and,),
    "or": (_or,),
    "select": (_select,),
    "lt": (_lt, partial(_literal_branches, "lt")),
    "eq": (_eq, partial(_literal_branches, "eq")),
    "isnan": (_isnan,),
    "floor": (_floor,),
    "mod": (_mod,),
    "floordiv": (_floordiv,),
}
"""The identities by outermost operation; each docstring reads before → after."""
