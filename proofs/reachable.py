"""What the states that folds reach have in common: entries that are never negative.

Defines `nonneg`, `positive` and `never_negative`. Relies on the lift, the identity and the combine
of a factor as terms; each of the three is a claim for Lean. Terms of other algebras get no sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tang.proofs.factor import Entry, Factor, variables
from tang.proofs.session import Statement
from tang.proofs.terms import ONE, Term, is_finite, text

FIELD: Final = "variable {K : Type u} [OrderedField K]"
MODULES: Final = ("Tang.Lattice",)


def nonneg(t: Term, known: Mapping[str, str]) -> str | None:
    """A Lean proof that a term is not negative, given those of some variables."""
    a, b = (*t.args, ONE, ONE)[:2]
    x, y = (nonneg(v, known) if t.args else None for v in (a, b))
    match t.op:
        case "zero" | "one":
            return "(le_refl 0)" if t.op == "zero" else "sign_one"
        case "var":
            return known.get(t.name)
        case "exp":
            return "(le_of_lt (exp_pos _))"
        case "mul" if a == b:
            return "(sign_square _)"
        case "add" | "mul" | "min" if x and y:
            rule = {"add": "sign_add", "mul": "mul_nonneg", "min": "le_min"}[t.op]
            return f"({rule} {x} {y})"
        case "max" if x or y:
            return f"(sign_max_left {x})" if x else f"(sign_max_right {y})"
        case "ite":
            return _choice(t, known)
    return None


def _choice(t: Term, known: Mapping[str, str]) -> str | None:
    """A choice between what is not negative; an absolute value."""
    condition, yes, no = t.args
    if condition == Term("lt", (no, Term("zero"))) and yes == Term("neg", (no,)):
        return "(sign_abs _)"
    x, y = nonneg(yes, known), nonneg(no, known)
    return f"(sign_if {x} {y})" if x and y else None


def positive(t: Term) -> str | None:
    """A Lean proof that a term without variables of a state is positive."""
    if t.op == "one":
        return "positive_one"
    if t.op == "exp":
        return "(exp_pos _)"
    if t.op not in ("add", "mul"):
        return None
    (a, x), (b, y) = ((v, positive(v)) for v in t.args)
    if t.op == "mul":
        return f"(mul_pos {x} {y})" if x and y else None
    if x:
        rest = nonneg(b, {})
        return f"(positive_add {x} {rest})" if rest else None
    rest = nonneg(a, {}) if y else None
    return f"(add_pos {rest} {y})" if rest else None


@dataclass(frozen=True, slots=True)
class Signs:
    """Keys of entries that are never negative in a state that a fold reaches, and why."""

    keys: frozenset[str]
    claims: tuple[Statement, ...]


def never_negative(f: Factor, label: str) -> Signs:
    """The largest set that the lift and the identity have and the combine keeps."""
    lifts = {e.key: t for e in f.entries if (t := _start(f, e)) is not None}
    keys = set(lifts)
    while True:
        known = {f"{s}{k}": f"h{s}{k}" for s in "st" for k in keys}
        kept = {e.key for e in f.entries if e.key in keys and nonneg(e.combine, known)}
        if kept == keys:
            break
        keys = kept
    claims = [c for e in f.entries if e.key in keys for c in _claims(e, lifts[e.key], known, label)]
    return Signs(frozenset(keys), tuple(claims))


def _start(f: Factor, e: Entry) -> Term | None:
    """The lift, if it and the identity are not negative."""
    lift = f.lifted(e)
    if lift is None or not is_finite(lift) or nonneg(lift, {}) is None:
        return None
    fits = e.identity is None or (is_finite(e.identity) and nonneg(e.identity, {}) is not None)
    return lift if fits else None


def _claims(e: Entry, lift: Term, known: Mapping[str, str], label: str) -> list[Statement]:
    """The lift and the identity are not negative, and the combine of such states is not."""
    parts = {"lift": lift, "identity": e.identity, "combine": e.combine}
    return [
        stated(f"{label}_{part}_sign{e.key}", t, known, e.label)
        for part, t in parts.items() if t is not None
    ]  # fmt: skip


def stated(name: str, t: Term, known: Mapping[str, str], subject: str) -> Statement:
    """That a term is not negative where some variables are not."""
    names = sorted({*variables(t)})
    binders = assumed(names, known)
    proof = nonneg(t, known)
    goal = f"(0 : K) ≤ {text(t)}"
    return Statement(name, scope_of(t), binders, goal, (f"exact {proof}",), subject, MODULES)


def scope_of(t: Term) -> str:
    """The algebra of a term whose variables are of one type."""
    return f"{FIELD} [Exponential K K]" if _has_exponential(t) else FIELD


def _has_exponential(t: Term) -> bool:
    return t.op == "exp" or any(map(_has_exponential, t.args))


def assumed(names: Sequence[str], known: Mapping[str, str]) -> str:
    """Binders for variables, and for the signs of some of them."""
    signs = [f"({known[x]} : 0 ≤ {x})" for x in names if x in known]
    return " ".join([*(f"({x} : K)" for x in names), *signs])
