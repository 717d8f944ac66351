"""The combines whose laws are theorems, as terms; and the algebra that other combines need.

Defines `TEMPLATES`, which mirror definitions of Tang/Softmax, Tang/Scan, Tang/Argmax and
Tang/Welford field by field, and `kinds`. Nothing here is trusted: each claim ends in `rfl` or in
an equality that Lean checks against the definition itself, and Lean checks that each law is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tang.proofs.equal import canonical, prove, same_boolean
from tang.proofs.session import Claim, Statement
from tang.proofs.terms import Term, text, var

ONE_SORT: Final = "variable {K : Type u} "
TWO_SORTS: Final = (
    "variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]"
)


@dataclass(frozen=True, slots=True)
class Law:
    """A law of a verified combine: its name, the theorem, and what it must state in Lean."""

    name: str
    theorem: str
    goal: str


@dataclass(frozen=True, slots=True)
class Template:
    """A verified combine.

    laws     "associative", and "commutative" where that holds
    scope    the `variable` line
    state    text of a state from its entries, with {0}, {1} …
    combine  the Lean function
    fields   projections, one per entry
    sorts    Lean type of each entry
    terms    the entries over s0…, t0…
    lemma    equality of a projection with the term's text, where that is no `rfl`
    modules  what to import
    states   "" if the laws hold for all states; "counted" where counts are not negative and empty
             states are one; "present" where positions are not negative
    """

    laws: tuple[Law, ...]
    scope: str
    state: str
    combine: str
    fields: tuple[str, ...]
    sorts: tuple[str, ...]
    terms: tuple[Term, ...]
    modules: tuple[str, ...]
    lemma: str = ""
    states: str = ""

    @property
    def name(self) -> str:
        """The Lean name of the combine, for messages."""
        return self.laws[0].theorem.removesuffix("_law").removesuffix("_assoc")

    def law(self, name: str) -> Law | None:
        return next((x for x in self.laws if x.name == name), None)

    def law_claims(self, label: str, names: Sequence[str]) -> list[Statement]:
        """That the theorems of these laws state them."""
        return [
            Statement(f"{label}_{x.name}", self.scope, "", x.goal, (f"exact {x.theorem}",),
                      x.theorem, self.modules)
            for x in self.laws if x.name in names
        ]  # fmt: skip

    def kinds(self, keys: Sequence[str]) -> Kinds:
        """The algebra of its entries, whose keys are given in order."""
        mode = "bool" if "Bool" in self.sorts else "ring"
        return Kinds(mode, self.scope, dict(zip(keys, self.sorts, strict=True)))

    def claim(self, i: int, name: str, exported: Term, subject: str) -> Claim:
        """That an exported entry is this entry of the verified combine."""
        s, t = (self.state.format(*(f"{x}{n}" for n in range(len(self.fields)))) for x in "st")
        goal = f"({self.combine} {s} {t}){self.fields[i] and '.'}{self.fields[i]}"
        middle = f"{text(self.terms[i])} : {self.sorts[i]}"
        steps = [
            f"show {text(exported)} = _",
            f"refine Eq.trans (b := ({middle})) ?_ ?_",
        ]
        inner = ["rfl"] if self.sorts[i] == "Bool" else prove(exported, self.terms[i])
        steps += ["· " + inner[0], *(f"  {x}" for x in inner[1:])]
        steps.append(
            f"· exact {self.lemma.format(self.fields[i], s, t)}" if self.lemma else "· rfl"
        )
        return Claim(name, self.scope, self._binders(), text(exported), self.sorts[i], goal,
                     tuple(steps), subject, self.modules)  # fmt: skip

    def _binders(self) -> str:
        count = len(self.fields)
        return " ".join(f"({x}{n} : {self.sorts[n]})" for x in "st" for n in range(count))

    def differing(self, terms: Sequence[Term]) -> list[int]:
        """Positions at which terms are not canonically this combine's."""
        pairs = zip(terms, self.terms, strict=True)
        return [i for i, (a, b) in enumerate(pairs) if canonical(a) != canonical(b)]


def _v(name: str) -> Term:
    return var(name)


def _add(a: Term, b: Term) -> Term:
    return Term("add", (a, b))


def _mul(*parts: Term) -> Term:
    total = parts[0]
    for p in parts[1:]:
        total = Term("mul", (total, p))
    return total


def _neg(a: Term) -> Term:
    return Term("neg", (a,))


def _if(c: Term, a: Term, b: Term) -> Term:
    return Term("ite", (c, a, b))


def _rescaled(i: int) -> Term:
    top = Term("max", (_v("s0"), _v("t0")))
    scale = [Term("exp", (_add(_v(f"{x}0"), _neg(top)),)) for x in "st"]
    return _add(_mul(_v(f"s{i}"), scale[0]), _mul(_v(f"t{i}"), scale[1]))


def _best(i: int, sign: bool) -> Term:
    s, t = ((_neg(_v(x)) if sign else _v(x)) for x in ("s0", "t0"))
    tie = Term("and", (Term("eq", (s, t)), Term("lt", (_v("t1"), _v("s1")))))
    wins = Term("or", (Term("lt", (s, t)), tie))
    return _if(wins, _v(f"t{i}"), _v(f"s{i}"))


def _best_or_none(i: int, sign: bool) -> Term:
    absent = [Term("lt", (_v(f"{x}1"), Term("zero"))) for x in "ts"]
    return _if(absent[0], _v(f"s{i}"), _if(absent[1], _v(f"t{i}"), _best(i, sign)))


def _moments(i: int) -> Term:
    count = _add(_v("s0"), _v("t0"))
    if i == 0:
        return count
    delta, share = _add(_v("t1"), _neg(_v("s1"))), Term("inv", (count,))
    joint = _add(_v("s1"), _mul(_mul(delta, _v("t0")), share))
    if i == 2:
        spread = _mul(delta, delta, _v("s0"), _v("t0"), share)
        joint = _add(_add(_v("s2"), _v("t2")), spread)
    none = [Term("eq", (_v(f"{x}0"), Term("zero"))) for x in "st"]
    return _if(none[0], _v(f"t{i}"), _if(none[1], _v(f"s{i}"), joint))


_TOP: Final = Term("max", (_v("s0"), _v("t0")))
_ORDERED: Final = "variable {A : Type u} {I : Type v} [OrderedRing A] [OrderedRing I]"


def _laws(
    stem: str, function: str, *, suffix: str = "", commutative: bool = True
) -> tuple[Law, ...]:
    """Laws that hold for all states."""
    names = (("associative", "assoc"), ("commutative", "comm"))[: 1 + commutative]
    return tuple(
        Law(law, f"Tang.{stem}_{short}{suffix}", f"{law.capitalize()} ({function})")
        for law, short in names
    )


def _guarded(stem: str, function: str, state: str, holds: tuple[str, str]) -> tuple[Law, ...]:
    """Laws that hold for some states: those that `holds` says, with {} for the state."""

    def goal(names: str, condition: str, equation: str) -> str:
        needed = " → ".join(condition.format(x) for x in names if condition)
        return f"∀ {' '.join(names)} : {state}, {needed}{' → ' if needed else ''}{equation}"

    f = function
    return (
        Law("associative", f"Tang.{stem}_assoc",
            goal("str", holds[0], f"{f} ({f} s t) r = {f} s ({f} t r)")),
        Law("commutative", f"Tang.{stem}_comm", goal("st", holds[1], f"{f} s t = {f} t s")),
    )  # fmt: skip


def _simple(stem: str, scope: str, sort: str, combine: str, op: str) -> Template:
    """A state that is one value, combined by one operation."""
    sides = tuple(Term("bvar" if sort == "Bool" else "var", name=x) for x in ("s0", "t0"))
    laws = _laws(stem, f"{combine} : {sort} → {sort} → {sort}", suffix="_law")
    return Template(laws, scope, "{0}", combine, ("",), (sort,), (Term(op, sides),), ("Tang.Fold",))


def _searches() -> Iterator[Template]:
    """argmax and argmin, and both where nothing at all has a negative position."""
    for name, key, sign in (("argmax", "x", False), ("argmin", "-x", True)):
        function = f"argBest (fun x : A => {key})"
        yield Template(
            _laws(name, f"{function} : Best A I → Best A I → Best A I"), _ORDERED,
            "(⟨{0}, {1}⟩ : Best A I)", function, ("best", "at'"), ("A", "I"),
            (_best(0, sign), _best(1, sign)), ("Tang.Argmax",),
            f"(argBest_{{0}} (I := I) (fun x : A => {key}) {{1}} {{2}}).symm",
        )  # fmt: skip
        function = f"argOrNone (fun x : A => {key})"
        yield Template(
            _guarded(f"{name}_or_none", f"argOrNone (fun x : A => {key})", "Best A I",
                     ("", "¬ {}.at' < 0")),
            _ORDERED, "(⟨{0}, {1}⟩ : Best A I)", function, ("best", "at'"), ("A", "I"),
            (_best_or_none(0, sign), _best_or_none(1, sign)), ("Tang.Argmax",),
            f"(argOrNone_{{0}} (I := I) (fun x : A => {key}) {{1}} {{2}}).symm", "present",
        )  # fmt: skip


TEMPLATES: Final = (
    _simple("add", ONE_SORT + "[CommRing K]", "K", "(fun a b : K => a + b)", "add"),
    _simple("mul", ONE_SORT + "[CommRing K]", "K", "(fun a b : K => a * b)", "mul"),
    _simple("max", ONE_SORT + "[OrderedRing K]", "K", "max", "max"),
    _simple("min", ONE_SORT + "[OrderedRing K]", "K", "min", "min"),
    _simple("or", "", "Bool", "or", "bor"),
    _simple("and", "", "Bool", "and", "band"),
    Template(_laws("softmax", "softmax : Soft A K → Soft A K → Soft A K"), TWO_SORTS,
             "(⟨{0}, {1}, {2}⟩ : Soft A K)", "softmax", ("m", "l", "a"), ("A", "K", "K"),
             (_TOP, _rescaled(1), _rescaled(2)), ("Tang.Softmax",)),
    Template(_laws("logSum", "logSum : LogSum A K → LogSum A K → LogSum A K"), TWO_SORTS,
             "(⟨{0}, {1}⟩ : LogSum A K)", "logSum", ("m", "l"), ("A", "K"), (_TOP, _rescaled(1)),
             ("Tang.Softmax",)),
    Template(_laws("affine", "affine : Step K → Step K → Step K", commutative=False),
             ONE_SORT + "[CommRing K]", "(⟨{0}, {1}⟩ : Step K)", "affine", ("a", "b"), ("K", "K"),
             (_mul(_v("t0"), _v("s0")), _add(_mul(_v("t0"), _v("s1")), _v("t1"))), ("Tang.Scan",)),
    *_searches(),
    Template(_guarded("welford", "mergeMoments", "Moments K", ("0 ≤ {}.n", "Counted {}")),
             ONE_SORT + "[OrderedField K]", "(⟨{0}, {1}, {2}⟩ : Moments K)", "mergeMoments",
             ("n", "mean", "m2"), ("K", "K", "K"), (_moments(0), _moments(1), _moments(2)),
             ("Tang.Welford",), states="counted"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kinds:
    """The algebra that some entries need: a mode, a `variable` line, and each entry's type."""

    mode: str
    scope: str
    types: dict[str, str]

    def same(self, a: Term, b: Term) -> bool:
        """Whether two terms of this algebra are equal, as far as their canonical forms tell."""
        return same_boolean(a, b) if self.mode == "bool" else canonical(a) == canonical(b)

    def claim(self, name: str, a: Term, b: Term, subject: str, key: str) -> Claim:
        """That two terms are equal, for all states."""
        tactics = self._cases(a, b) if self.mode == "bool" else prove(a, b)
        used = sorted({*_names(a), *_names(b)})
        binders = " ".join(f"({x} : {self.types[x[1:]]})" for x in used)
        return Claim(name, self.scope, binders, text(a), self.types[key], text(b),
                     (f"show {text(a)} = {text(b)}", *tactics), subject,
                     ("Tang.Lattice",))  # fmt: skip

    def equation(self, name: str, a: Term, b: Term, subject: str) -> Statement:
        """The same without a definition of its own."""
        used = sorted({*_names(a), *_names(b)})
        binders = " ".join(f"({x} : {self.types[x[1:]]})" for x in used)
        tactics = self._cases(a, b) if self.mode == "bool" else prove(a, b)
        return Statement(name, self.scope, binders, f"{text(a)} = {text(b)}", tuple(tactics),
                         subject, ("Tang.Lattice",))  # fmt: skip

    def _cases(self, a: Term, b: Term) -> list[str]:
        """All cases of boolean states."""
        used = sorted({*_names(a), *_names(b)})
        return [" <;> ".join([*(f"cases {x}" for x in used), "rfl"])]


def kinds(terms: Sequence[Term], keys: Iterable[str]) -> Kinds | None:
    """The algebra of a combine; None where conditions and arithmetic mix."""
    ops = {x.op for t in terms for x in _walk(t)}
    if ops <= {"bvar", "band", "bor", "bnot", "beq"}:
        return Kinds("bool", "", dict.fromkeys(keys, "Bool"))
    if any(o.startswith("b") for o in ops):
        return None
    if "exp" not in ops:
        field = "OrderedField" if "inv" in ops else ""
        ordered = "OrderedRing" if ops & {"max", "min", "lt", "eq", "ite"} else "CommRing"
        return Kinds("ring", f"{ONE_SORT}[{field or ordered} K]", dict.fromkeys(keys, "K"))
    inside = {x.name[1:] for t in terms for e in _walk(t) if e.op == "exp" for x in _walk(e)
              if x.op == "var"}  # fmt: skip
    types = {k: "A" if k in inside else "K" for k in keys}
    if _mixed(dict(zip(keys, terms, strict=True)), types):
        scope = f"{ONE_SORT}[OrderedField K] [Exponential K K]"
        return Kinds("ring", scope, dict.fromkeys(types, "K"))
    return Kinds("ring", TWO_SORTS, types)


def _mixed(terms: dict[str, Term], types: dict[str, str]) -> bool:
    """Whether some entry uses a variable of the other type outside an exponential."""
    return any(types[x[1:]] != types[k] for k, t in terms.items() for x in _outside(t))


def _outside(t: Term) -> Iterator[str]:
    if t.op == "var":
        yield t.name
    elif t.op != "exp":
        for a in t.args:
            yield from _outside(a)


def _walk(t: Term) -> Iterator[Term]:
    yield t
    for a in t.args:
        yield from _walk(a)


def _names(t: Term) -> Iterator[str]:
    return (x.name for x in _walk(t) if x.op in ("var", "bvar"))
