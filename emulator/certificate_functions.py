"""Errors of functions, for the checker: whether they are added, and hold for their arguments.

Defines `wrong_function`. Relies on certificates as data, on what constants say by their names and
on the domains in the tables of `tang.kernel.accuracy`. It shares no line with what makes
certificates.

A step of a function, as exp, is the true value: only `ulps` and `off` may read it, and each of
them adds the error of one row of a table. A row may hold for some arguments alone, so `worse`
brings several together; whatever else reads them must find every row there that may count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tang.emulator.certificate import Certificate, Parameter, Step
from tang.emulator.certificate_constants import Promise, Row, promises
from tang.kernel.accuracy import DIVISION, Claim

Reach = tuple[tuple[float, float], ...]
"""The least and the largest of each argument, as computed."""

_FUNCTIONS: Final = ("exp", "log", "sin", "erf", "tanh", "sigmoid", "atan2")
_ERRORS: Final = ("ulps", "off")
_FOLDS: Final = ("sum_exp", "rescaled", "rescaled_sum")
_FOLDED: Final = ("exp", "exp2")
"""The ways to compute an exponential within a fold, the worse of which counts."""


@dataclass(frozen=True, slots=True)
class _Account:
    """A true value with the errors of some rows.

    of      the step of the function, and its name in the table, as any.f32.exp
    rows    row → the largest argument that it is taken at
    row     one of them, with its table
    reach   of the arguments
    """

    of: tuple[int, str]
    rows: Mapping[int, float]
    row: Row
    reach: Reach

    def lack(self) -> str:
        """What is missing of the rows that may count; "" where nothing is."""
        return _lack(self.of[1], self.row, self.rows, self.reach)


def wrong_function(c: Certificate) -> str:
    """Which step leaves out the error of a function, or a part of it; "" where none does."""
    known = promises(c)
    accounts: dict[int, _Account] = {}
    for n, step in enumerate(c.steps):
        wrong = _misread(c, step) or _wrong_fold(step, known)
        if not wrong and _is_error(c, step):
            accounts[n] = _of_row(c, step, known)
        elif not wrong and (both := _together(step, accounts)) is not None:
            accounts[n] = both
        elif not wrong:
            wrong = _incomplete(step.args, accounts)
        if wrong:
            return f"step {n} ({step.rule}): {wrong}"
    return _wrong_row(c, accounts)


def _wrong_row(c: Certificate, accounts: Mapping[int, _Account]) -> str:
    """Which result is a value whose error is not complete."""
    for b in c.nodes:
        if not 0 <= b.step < len(c.steps):
            continue
        wrong = _missing(c, b.step) if _is_true(c, b.step) else _incomplete((b.step,), accounts)
        if wrong:
            return f"{b.node}.{b.output}: {wrong}"
    return ""


# --- true values ----------------------------------------------------------------------------------


def _misread(c: Certificate, step: Step) -> str:
    """Which true value a step reads although its error is not added yet."""
    params = dict(step.params)
    for a in step.args:
        if not _is_true(c, a) or _may_read(c, step.rule, params, c.steps[a].rule):
            continue
        return _missing(c, a)
    return ""


def _missing(c: Certificate, n: int) -> str:
    rule = c.steps[n].rule
    return f'step {n} ({rule}) is inexact in math="{c.math}", and its error is not added'


def _is_true(c: Certificate, n: int) -> bool:
    """Whether a step is the true value of a function, or of an inexact quotient or root."""
    rule = c.steps[n].rule
    if rule in _FUNCTIONS or c.math not in DIVISION:
        return rule in _FUNCTIONS
    if rule == "mul":
        return any(c.steps[a].rule == "recip" for a in c.steps[n].args)
    return rule in ("recip", "sqrt")


def _may_read(c: Certificate, rule: str, params: Mapping[str, Parameter], of: str) -> bool:
    """Whether a step of a rule may read a true value.

    x·(1/y) is one too; and in f64 quotients and roots are rounded but in math="any".
    """
    if of in _FUNCTIONS:
        return rule == "ulps" or (rule == "off" and params["constant"] != "")
    exact = rule == "round" and params["format"] == "f64" and c.math != "any"
    return exact or rule == "ulps" or (rule == "mul" and of == "recip")


# --- rows -----------------------------------------------------------------------------------------


def _is_error(c: Certificate, step: Step) -> bool:
    """Whether a step adds the error of a function."""
    return step.rule in _ERRORS and c.steps[step.args[0]].rule in _FUNCTIONS


def _of_row(c: Certificate, step: Step, known: Mapping[str, Promise]) -> _Account:
    """The one row that a step adds."""
    name = str(dict(step.params)["constant"])
    row, of = known[name].row, step.args[0]
    reach = tuple(_reach(c, a) for a in c.steps[of].args)
    return _Account((of, _label(name)), {row.number: row.most}, row, reach)


def _label(name: str) -> str:
    """The name of a function, of that of its constant."""
    return ".".join(name.split(".")[:3])


def _reach(c: Certificate, n: int) -> tuple[float, float]:
    """Between what the numbers of a step lie, as computed."""
    claim = c.steps[n].claim
    return (0.0, 0.0) if claim.empty else (claim.lo - claim.error, claim.hi + claim.error)


def _together(step: Step, accounts: Mapping[int, _Account]) -> _Account | None:
    """The worse of some rows and some others of the same value; None where it is none."""
    if step.rule != "worse":
        return None
    a, b = (accounts.get(n) for n in step.args)
    if a is None or b is None or a.of != b.of:
        return None
    both = {n: max(x.get(n, 0.0) for x in (a.rows, b.rows)) for n in {*a.rows, *b.rows}}
    row = a.row if not a.row.claims else b.row
    return _Account(a.of, both, row, a.reach)


def _incomplete(args: tuple[int, ...], accounts: Mapping[int, _Account]) -> str:
    """Which operand has not the errors of all rows that may count."""
    for n in args:
        wrong = accounts[n].lack() if n in accounts else ""
        if wrong:
            return f"step {n}: {wrong}"
    return ""


def _lack(label: str, row: Row, rows: Mapping[int, float], reach: Reach) -> str:
    """Why rows of a table do not hold for all arguments; those of no table do."""
    if not row.claims:
        return ""
    where = " and ".join(f"[{lo:.6g}, {hi:.6g}]" for lo, hi in reach)
    needed = _needed(row, reach)
    if needed is None:
        return f"{label} promises nothing for all arguments in {where}"
    for n in needed:
        if n not in rows:
            return f"row {n} of {label} may hold for arguments in {where}, and is not added"
        farthest = min(max(_ends(row.claims[n], r)[1] for r in reach), row.claims[n].most)
        if row.claims[n].per and not rows[n] >= farthest:
            return f"{label} is that at arguments up to {rows[n]:.6g}, and they are in {where}"
    return ""


def _needed(row: Row, reach: Reach) -> list[int] | None:
    """The rows that hold for some of these arguments; None where there are others.

    Where not every row counts whose domain is met, no later one does than the first that has all.
    """
    met, whole = [], False
    for n, claim in enumerate(row.claims):
        ends = [_ends(claim, r) for r in reach]
        if all(near <= claim.high and far >= claim.low for near, far in ends):
            met.append(n)
        whole = whole or all(claim.low <= near and far <= claim.high for near, far in ends)
        if whole and not row.together:
            return met
    return met if whole else None


def _ends(claim: Claim, r: tuple[float, float]) -> tuple[float, float]:
    """The least and the largest of arguments as a domain counts them: in size, or signed."""
    if claim.signed:
        return r
    sizes = (abs(r[0]), abs(r[1]))
    return (0.0 if r[0] <= 0 <= r[1] else min(sizes)), max(sizes)


# --- folds ----------------------------------------------------------------------------------------


def _wrong_fold(step: Step, known: Mapping[str, Promise]) -> str:
    """Why the ulps of a fold's exponentials are not those of its arguments.

    These are at most 0, and far below it results are: −1100 in f64, −256 in f32 and below.
    """
    params = dict(step.params)
    if step.rule not in _FOLDS:
        return ""
    reach = ((-1100.0 if params["format"] == "f64" else -256.0, 0.0),)
    return next((wrong for op in _FOLDED if (wrong := _too_few(params, known, op, reach))), "")


def _too_few(
    params: Mapping[str, Parameter], known: Mapping[str, Promise], op: str, reach: Reach
) -> str:
    """Why no constants of a function, as small as those of a step, hold for its arguments."""
    rows: dict[int, float] = {}
    table, label = None, f"{op} in {params['format']}"
    for name, p in known.items():
        fits = (p.op, p.format, p.kind) == (op, params["format"], "ulp")
        if fits and p.value <= float(params["ulp"]):
            rows[p.row.number] = max(rows.get(p.row.number, 0.0), p.row.most)
            table, label = p.row, _label(name)
    if table is None:
        return f"ulp = {params['ulp']!r} is less than that of any {label}"
    return _lack(label, table, rows, reach)
