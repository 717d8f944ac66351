"""The report of `tang budget`: one sentence, then a row per tensor.

Defines `Standing`, `Row`, `Worst`, `Cure`, `Times` and `BudgetReport`, with text and JSON forms, of
which `head`, `cells` and `unsaid` are parts. Relies on nothing but the standard library, so that
pictures and tools can build one by hand. It measures and judges nothing: `report_judge` does.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from tang.ir.given import apart


class Standing(enum.Enum):
    """Where a tensor stands with its budget.

    CERTIFIED  a certificate bounds the error within the budget, for all inputs that it speaks of
    PASS       every sampled element is within, and the sound bound says something
    VACUOUS    every sampled element is within, but the bound is larger than the values themselves,
               or none of them is a number in f64
    UNPROVED   a certificate was asked for, and its bound is beyond the budget
    OVER       a sampled element is beyond the budget, or became an infinity or NaN
    """

    CERTIFIED = "certified"
    PASS = "pass"  # noqa: S105 - a verdict
    VACUOUS = "vacuous"
    UNPROVED = "unproved"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Worst:
    """The element nearest to its limit or furthest beyond it, by its place in the tensor."""

    at: tuple[int, ...]
    actual: float
    exact: float
    allowed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One tensor: an input, or what a node computes.

    tensor     NODE.OUTPUT, or the input's name
    name       of the node, with ".output" where it has several; `output` as the caller knows it
    elements   sampled, `of` so many in all samples;  numbers  of these finite in f64
    largest    |exact|;  error  |value − exact|;  bound  sound, for these inputs; the largest each
    ratio      bound / error, NaN where nothing is wrong
    dominated  what most of the error is: "storage", "accumulation", "inherited", "" where none is
    bias       mean of the signed error over the mean of its size: −1 … 1
    headroom   powers of two between the largest value and the largest number of the format
    overflows, underflows  elements that became ∞, NaN or the largest number; that lost bits below
               the smallest normal number, zeros included
    used       error / allowed at the worst element; NaN without a budget
    proved     bound / allowed at its worst element: 1 and below is a proof for these inputs
    certified  bound / allowed by a certificate, whose bound is `certificate` and whose `reason`
               says why that is vacuous; NaN where none was asked for
    judged     whether the budget was meant for it; else it is only compared with it
    """

    tensor: str
    name: str
    output: str = ""
    format: str
    elements: int
    of: int
    largest: float
    error: float
    bound: float
    ratio: float
    dominated: str
    bias: float
    headroom: float
    overflows: int
    underflows: int
    budget: str
    used: float
    proved: float
    standing: Standing
    judged: bool
    worst: Worst | None = None
    is_input: bool = False
    certified: float = math.nan
    certificate: float = math.nan
    reason: str = ""
    numbers: int | None = None

    @property
    def shown(self) -> str:
        """What people call it."""
        return f"{self.output} ({self.name})" if self.output not in ("", self.name) else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Cure:
    """What was tried to get within the budget.

    culprit  the tensor in which most of the error arises;  origin  how: "storage", "accumulation"
    node     that alone in f32 makes the program safe; "" where none of `tried` does
    several  nodes that together in f32 do, where no single one does
    of       how many nodes could have been tried;  everywhere  whether f32 everywhere is within
    """

    culprit: str = ""
    origin: str = ""
    node: str = ""
    several: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    of: int = 0
    everywhere: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds that pass for errors of samples and for a proof; of a processor for a whole replay.

    estimated  whether `whole` was not measured but follows from the tiles: all points and steps,
               at the rate of the tile that had most of them
    """

    sampled: float = 0.0
    whole: float = 0.0
    estimated: bool = False
    certified: float = 0.0

    def notes(self) -> list[str]:
        """What to print: of tiles, and of certificates."""
        found = []
        if self.estimated:
            found.append(
                f"sampled in {self.sampled:.3g} s; a replay of every element (--whole) would take "
                f"about {self.whole:.2g} s of processor: an estimate, by the rate of the largest "
                "tile"
            )
        if self.certified:
            found.append(f"certified in {self.certified:.2g} s")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetReport:
    """A program under a precision, judged.

    samples  how many sets of inputs; `given` whether they were the caller's
    tiles    whether nodes were sampled on tiles instead of whole
    certificate  its strength, "" where none was asked for
    functions    of the program; a certificate takes them to be tang's own
    odd      of real inputs that hold NaN or infinities, how many: "NaN in x (1 of 8 elements)"
    times    how long it took
    front    lines about a search for cheaper formats;  schedule  what it found, as JSON
    """

    name: str
    precision: str
    rows: tuple[Row, ...]
    samples: int
    given: bool
    seed: int
    tiles: bool
    certificate: str = ""
    cure: Cure | None = None
    odd: str = ""
    times: Times = field(default=Times(), compare=False)
    front: tuple[str, ...] = ()
    schedule: Mapping[str, object] | None = None
    functions: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[Row, ...]:
        return tuple(r for r in self.rows if r.judged)

    @property
    def ok(self) -> bool:
        """Whether every result with a budget keeps it; with a certificate only proof counts.

        Where no result has one, nothing was asked, and nothing is safe.
        """
        if not self.judged:
            return False
        if self.certificate:
            return all(r.standing is Standing.CERTIFIED for r in self.judged)
        return all(r.standing in (Standing.PASS, Standing.VACUOUS) for r in self.judged)

    def sentence(self) -> str:
        """Safe or not, which node, why, and what would cure it."""
        if not self.judged:
            return _NOTHING
        return _safe(self) if self.ok else _unsafe(self)

    def to_text(self) -> str:
        parts = [
            self.sentence(),
            "",
            *_table(self.rows, bool(self.certificate)),
            "",
            *self.notes(),
            *self.front,
        ]
        return "\n".join(parts)

    def notes(self) -> list[str]:
        """What the numbers are."""
        notes = []
        if self.samples:
            kind = "" if self.given else f" of seed {self.seed}"
            notes.append(
                f"{_samples(self)}{kind}; error = |value - f64|, bound = sound for these inputs, "
                "ratio = bound / error"
            )
        if self.certificate:
            notes.append(
                "certificate = a bound for all inputs "
                + _scope(self)
                + ", proves = the part of the budget that it takes at most"
            )
        notes.append(
            "small letters: compared with the budget of the outputs, which is not asked of them"
        )
        if self.tiles:
            notes.append(
                "tiles of up to 64 x 64 points a node; what a tile reads is rounded as it is "
                "stored, and summed in f64 (--whole replays every element)"
            )
        return [*notes, *self.times.notes()]

    def to_data(self) -> dict[str, object]:
        """The report as JSON takes it; numbers that are none of JSON's are text."""
        cure = None if self.cure is None else _plain(self.cure)
        return {
            "name": self.name, "ok": self.ok, "sentence": self.sentence(),
            "precision": self.precision, "samples": self.samples, "given": self.given,
            "seed": self.seed, "tiles": self.tiles, "odd": self.odd,
            "certificate": self.certificate, "cure": cure, "front": list(self.front),
            "schedule": self.schedule, "seconds": asdict(self.times),
            "rows": [_plain(r) for r in self.rows],
        }  # fmt: skip


def _plain(value: object) -> object:
    """Dataclasses as objects, names of standings, and text for what JSON has no numbers for."""
    if isinstance(value, Standing):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Row | Worst | Cure):
        return {n: _plain(getattr(value, n)) for n in type(value).__dataclass_fields__}
    return value


# --- the sentence ---------------------------------------------------------------------------------


_NOTHING: Final = (
    "Nothing is judged, so this says nothing of safety: no result has a budget (give --rel, --abs, "
    "--ulp or --c; in Python Question(budget=ErrorBudget(…)))."
)


def _nearest(rows: Sequence[Row]) -> Row:
    return max(rows, key=lambda r: -1.0 if math.isnan(r.used) else r.used)


def _safe(report: BudgetReport) -> str:
    if report.certificate:
        row = max(report.judged, key=lambda r: r.certified)
        where = _scope(report)
        return (
            f"SAFE, certified{_odd(report)}: in {report.precision}{_own(report)} {_who(report)} "
            f"keeps {row.budget} for all inputs {where}; the tightest is {row.shown}, whose bound "
            f"takes {_percent(row.certified)} of its budget."
        )
    row = _nearest(report.judged)
    text = (
        f"SAFE on {_samples(report)}{_odd(report)}: in {report.precision} {_who(report)} keeps "
        f"{row.budget}; the nearest is {row.shown}, whose worst error takes "
        f"{_percent(row.used)} of its budget"
    )
    vague = [r.shown for r in report.judged if r.standing is Standing.VACUOUS]
    lost = [r.shown for r in report.judged if r.numbers == 0 < r.elements]
    if lost:
        return f"{text}. This is no proof: no element of {lost[0]} is a number in f64 either."
    if vague:
        return f"{text}. This is no proof: the bound of {vague[0]} is vacuous, larger than itself."
    proved = all(r.proved <= 1 for r in report.judged)
    return text + (", and its sound bound is within it too." if proved else ".")


def _own(report: BudgetReport) -> str:
    """Whose functions a certificate speaks of: those of another library may be less exact."""
    names = ", ".join(report.functions)
    return f", with tang's own {names}," if names else ""


def _who(report: BudgetReport) -> str:
    """What a budget was asked of."""
    spared = [r.shown for r in report.rows if r.output and not r.judged]
    if not spared:
        return "every output"
    return f"every result with a budget (none is asked of {', '.join(spared)})"


def _odd(report: BudgetReport) -> str:
    return f", with {report.odd}" if report.odd else ""


def _scope(report: BudgetReport) -> str:
    """The inputs that a certificate speaks of."""
    by_range = report.certificate == "range"
    return "in the ranges" if by_range else "that overflow nowhere, as they are stored"


def _samples(report: BudgetReport) -> str:
    kind = "given" if report.given else "random"
    many = "input set" if report.samples == 1 else "input sets"
    return f"{report.samples} {kind} {many}"


def _unsafe(report: BudgetReport) -> str:
    over = [r for r in report.judged if r.standing is Standing.OVER]
    if not over:
        return _unproved(report)
    row = _nearest(over)
    return f"NOT SAFE{_odd(report)}: in {report.precision}, {_fault(row)}{_blame(report)}."


def _unproved(report: BudgetReport) -> str:
    row = next(r for r in report.judged if r.standing is not Standing.CERTIFIED)
    why = unsaid(row, by_range=report.certificate == "range")
    return (
        f"NOT CERTIFIED{_odd(report)}: in {report.precision}, {why}"
        + (f" (within on {_samples(report)})" if report.samples else "")
        + f"{_blame(report)}."
    )


def unsaid(row: Row, *, by_range: bool) -> str:
    """Why a certificate, by ranges of inputs or without, does not prove a row."""
    if math.isnan(row.certified):
        return f"{row.shown} holds indices or bools, which certificates do not speak of"
    if row.standing is Standing.VACUOUS:
        why = row.reason or "it may be larger than the values"
        return f"the bound of {row.shown} is vacuous: {why}"
    if not math.isfinite(row.certified):
        return (
            f"{row.budget} cannot be proved of {row.shown}, whose terms may be large and cancel, "
            f"or underflow: give {_lacks(row, by_range)}"
        )
    return f"the bound of {row.shown} takes {_percent(row.certified)} of {row.budget}"


def _lacks(row: Row, by_range: bool) -> str:
    """What a budget lacks for a proof: something at 0, and something that grows with the terms."""
    given = {term.partition("=")[0] for term in row.budget.split(", ")}
    floor = [] if given & {"abs", "ulp"} else ["abs"]
    if by_range:
        growth = [] if floor else ["narrower ranges of inputs"]
    elif "c" not in given:
        growth = ["c for sums of inputs or ranges of inputs for the size of terms"]
    else:
        growth = ["ranges of inputs" + (", where it is no sum of inputs," if floor else "")]
        growth = [f"{growth[0]} for the size of terms"]
    return ", and ".join((*floor, *growth))


def _fault(row: Row) -> str:
    w = row.worst
    place = "" if w is None or not w.at else " at [" + ", ".join(map(str, w.at)) + "]"
    if row.overflows and w is not None and not math.isfinite(w.actual):
        return (
            f"{row.shown} overflows{place}: {w.exact:.6g} became {w.actual:g} "
            f"({row.overflows} of {row.elements} elements)"
        )
    if w is None:
        return f"{row.shown} is over {row.budget}"
    actual, exact = apart(w.actual, w.exact, digits=6)
    times = f"{apart(row.used, 1)[0]} times what {row.budget} allows"
    return f"{row.shown}{place} is {actual} instead of {exact}, {times}"


_ORIGINS: Final = {
    "storage": "the rounding of its stored values",
    "accumulation": "the arithmetic of its accumulator",
}


def _blame(report: BudgetReport) -> str:
    cure = report.cure
    if cure is None:
        return ""
    text = ""
    if cure.culprit:
        origin = _ORIGINS.get(cure.origin, cure.origin)
        text = f"; followed back, the largest part arises in {cure.culprit}, by {origin}"
    if cure.node:
        return f"{text}. Keep {cure.node} in f32: then within budget"
    if not cure.of:
        return text
    some = f"{len(cure.tried)} of {cure.of} tried" if len(cure.tried) < cure.of else "all tried"
    text += f". No single node in f32 cures it ({some})"
    if cure.several:
        return f"{text}; these {len(cure.several)} together do: {', '.join(cure.several)}"
    if cure.everywhere is None:
        return text
    return text + ("; f32 everywhere does" if cure.everywhere else "; nor does f32 everywhere")


def _percent(x: float) -> str:
    if not math.isfinite(x):
        return "nothing" if math.isnan(x) else "unbounded"
    return f"{x:.2g} times" if x >= 10 else f"{apart(100 * x, 100)[0]}%"


# --- the table ------------------------------------------------------------------------------------

_HEAD: Final = (
    "tensor", "format", "largest", "error", "bound", "ratio", "of budget", "mostly", "bias",
    "overflow", "underflow", "verdict",
)  # fmt: skip
_PROOF: Final = ("certificate", "proves")


def head(certified: bool) -> tuple[str, ...]:
    """What the columns are called; those of a certificate stand before the verdict."""
    return (*_HEAD[:-1], *_PROOF, _HEAD[-1]) if certified else _HEAD


def cells(row: Row, certified: bool) -> tuple[str, ...]:
    """A row as it is printed; verdicts in small letters were not asked for."""
    standing = row.standing.value
    if math.isnan(row.used) and math.isnan(row.certified) and row.standing is Standing.PASS:
        standing = "-"
    proof = (_short(row.certificate), _part(row.certified)) if certified else ()
    return (
        row.shown, row.format, _short(row.largest), _short(row.error), _short(row.bound),
        _short(row.ratio), _part(row.used),
        row.dominated or "-", f"{row.bias:+.2f}" if row.dominated else "-",
        _overflow(row), _share(row.underflows, row.elements), *proof,
        standing.upper() if row.judged else standing,
    )  # fmt: skip


def _part(x: float) -> str:
    return "-" if math.isnan(x) else _percent(x)


def _short(x: float) -> str:
    return "-" if math.isnan(x) else f"{x:.2e}" if x and math.isfinite(x) else f"{x:g}"


def _overflow(row: Row) -> str:
    if row.overflows:
        return f"{row.overflows} of {row.elements}"
    return "-" if not math.isfinite(row.headroom) else f"2^{math.floor(row.headroom)} room"


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.3g}%" if count and total else "-"


FEW: Final = 4
"""So many inputs have a row each; of more the worst stands for all in text."""


def _table(rows: Sequence[Row], certified: bool) -> list[str]:
    lines = [head(certified), *_lines(rows, certified)]
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    left = {0, 1, 7, len(widths) - 1}
    return [
        "  ".join(
            text.ljust(w) if c in left else text.rjust(w)
            for c, (text, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _lines(rows: Sequence[Row], certified: bool) -> list[tuple[str, ...]]:
    inputs = [r for r in rows if r.is_input]
    if len(inputs) <= FEW:
        return [cells(r, certified) for r in rows]
    name, *rest = cells(_nearest(inputs), certified)
    first = (f"{len(inputs)} inputs, worst: {name}", *rest)
    return [first, *(cells(r, certified) for r in rows if not r.is_input)]
