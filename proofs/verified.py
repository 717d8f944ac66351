"""The combines whose laws are theorems, as terms; and the algebra that other combines need.

Defines `TEMPLATES`, which mirror definitions of Tang/Softmax, Tang/Scan, Tang/Argmax and
Tang/Welford field by field, and `kinds`. Nothing here is trusted: each claim ends in `rfl` or in
an equality that Lean checks against the definition itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tang.proofs.equal import canonical, prove
from tang.proofs.session import Claim
from tang.proofs.terms import Term, text, var

ONE_SORT: Final = "variable {K : Type u} "
TWO_SORTS: Final = (
    "variable {A : Type u} {K : Type v} [OrderedRing A] [OrderedField K] [Exponential A K]"
)


@dataclass(frozen=True, slots=True)
class Template:
    """A verified combine.

    theorem  the theorem that gives its law
    scope    the `variable` line
    state    text of a state from its entries, with {0}, {1} …
    combine  the Lean function
    fields   projections, one per entry
    sorts    Lean type of each entry
    terms    the entries over s0…, t0…
    lemma    equality of a projection with the term's text, where that is no `rfl`
    modules  what to import
    """

    theorem: str
    scope: str
    state: str
    combine: str
    fields: tuple[str, ...]
    sorts: tuple[str, ...]
    terms: tuple[Term, ...]
    modules: tuple[str, ...]
    lemma: str = ""

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


def _simple(theorem: str, scope: str, sort: str, combine: str, op: str) -> Template:
    """A state that is one value, combined by one operation."""
    sides = tuple(Term("bvar" if sort == "Bool" else "var", name=x) for x in ("s0", "t0"))
    return Template(f"Tang.{theorem}_assoc_law", scope, "{0}", combine, ("",), (sort,),
                    (Term(op, sides),), ("Tang.Fold",))  # fmt: skip


TEMPLATES: Final = (
    _simple("add", ONE_SORT + "[CommRing K]", "K", "(fun a b : K => a + b)", "add"),
    _simple("mul", ONE_SORT + "[CommRing K]", "K", "(fun a b : K => a * b)", "mul"),
    _simple("max", ONE_SORT + "[OrderedRing K]", "K", "max", "max"),
    _simple("min", ONE_SORT + "[OrderedRing K]", "K", "min", "min"),
    _simple("or", "", "Bool", "or", "bor"),
    _simple("and", "", "Bool", "and", "band"),
    Template("Tang.softmax_assoc", TWO_SORTS, "(⟨{0}, {1}, {2}⟩ : Soft A K)", "softmax",
             ("m", "l", "a"), ("A", "K", "K"), (_TOP, _rescaled(1), _rescaled(2)),
             ("Tang.Softmax",)),
    Template("Tang.logSum_assoc", TWO_SORTS, "(⟨{0}, {1}⟩ : LogSum A K)", "logSum",
             ("m", "l"), ("A", "K"), (_TOP, _rescaled(1)), ("Tang.Softmax",)),
    Template("Tang.affine_assoc", ONE_SORT + "[CommRing K]", "(⟨{0}, {1}⟩ : Step K)", "affine",
             ("a", "b"), ("K", "K"),
             (_mul(_v("t0"), _v("s0")), _add(_mul(_v("t0"), _v("s1")), _v("t1"))), ("Tang.Scan",)),
    Template("Tang.argmax_assoc", _ORDERED, "(⟨{0}, {1}⟩ : Best A I)", "argBest (fun x : A => x)",
             ("best", "at'"), ("A", "I"), (_best(0, False), _best(1, False)), ("Tang.Argmax",),
             "(argBest_{0} (I := I) (fun x : A => x) {1} {2}).symm"),
    Template("Tang.argmin_assoc", _ORDERED, "(⟨{0}, {1}⟩ : Best A I)", "argBest (fun x : A => -x)",
             ("best", "at'"), ("A", "I"), (_best(0, True), _best(1, True)), ("Tang.Argmax",),
             "(argBest_{0} (I := I) (fun x : A => -x) {1} {2}).symm"),
    *(
        Template(f"Tang.{name}_or_none_assoc", _ORDERED, "(⟨{0}, {1}⟩ : Best A I)",
                 f"argOrNone (fun x : A => {key})", ("best", "at'"), ("A", "I"),
                 (_best_or_none(0, sign), _best_or_none(1, sign)), ("Tang.Argmax",),
                 f"(argOrNone_{{0}} (I := I) (fun x : A => {key}) {{1}} {{2}}).symm")
        for name, key, sign in (("argmax", "x", False), ("argmin", "-x", True))
    ),
    Template("Tang.welford_assoc", ONE_SORT + "[OrderedField K]",
             "(⟨{0}, {1}, {2}⟩ : Moments K)", "mergeMoments", ("n", "mean", "m2"), ("K", "K", "K"),
             (_moments(0), _moments(1), _moments(2)), ("Tang.Welford",)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kinds:
    """The algebra that some entries need: a mode, a `variable` line, and each entry's type."""

    mode: str
    scope: str
    types: dict[str, str]

    def claim(
        self, name: str, a: Term, b: Term, tactics: Sequence[str], subject: str, key: str
    ) -> Claim:
        """That two terms are equal, for all states."""
        used = sorted({*_names(a), *_names(b)})
        binders = " ".join(f"({x} : {self.types[x[1:]]})" for x in used)
        return Claim(name, self.scope, binders, text(a), self.types[key], text(b),
                     (f"show {text(a)} = {text(b)}", *tactics), subject,
                     ("Tang.Lattice",))  # fmt: skip

    def cases(self, a: Term, b: Term) -> list[str]:
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
