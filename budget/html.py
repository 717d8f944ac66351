"""The report of `tang budget` as one page: a picture of errors per node, and the table.

Defines `report_html`. Relies on the report alone; the page holds its own styles and drawing, asks
nothing of the network and runs no script. It shows what the report says and computes no verdict.

A bar is the worst error of a node in parts of what its budget allows, on a logarithmic scale, with
a line at the budget and a mark at the sound bound. Where there are many nodes a bar is a layer: the
worst of the nodes whose names begin alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from tang.budget.report import BudgetReport, Row, Standing, cells, head
from tang.errors import BudgetError

MOST_BARS: Final = 60
"""More rows than this are drawn by layer."""

_LABELS, _WIDTH, _HEIGHT, _RIGHT = 330, 560, 22, 90
_DECADES: Final = (-4, 2)
"""Powers of ten of the budget that the picture spans; what is beyond lies on its edge."""

_STYLE: Final = """
:root { color-scheme: light dark; --ink:#1b1f24; --paper:#fff; --faint:#d0d7de; --soft:#57606a;
  --over:#cf222e; --vacuous:#bf8700; --pass:#2da44e; --certified:#0969da; --unproved:#bc4c00;
  --plain:#8c959f; }
@media (prefers-color-scheme: dark) { :root { --ink:#e6edf3; --paper:#0d1117; --faint:#30363d;
  --soft:#9198a1; --over:#f85149; --vacuous:#d29922; --pass:#3fb950; --certified:#4493f8;
  --unproved:#db6d28; --plain:#656c76; } }
body { font:15px/1.5 system-ui,sans-serif; color:var(--ink); background:var(--paper);
  max-width:72rem; margin:2rem auto; padding:0 1rem; }
h1 { font-size:1.2rem; margin:0 0 .5rem; } h2 { font-size:1rem; margin:2rem 0 .5rem; }
.answer { border-left:.4rem solid; padding:.5rem 1rem; font-size:1.05rem; }
.answer.safe { border-color:var(--pass); } .answer.unsafe { border-color:var(--over); }
svg { max-width:100%; height:auto; } svg text { font:12px system-ui,sans-serif; fill:var(--ink); }
svg .soft { fill:var(--soft); } svg .grid { stroke:var(--faint); }
svg .budget { stroke:var(--ink); stroke-dasharray:4 3; } svg .bound { stroke:var(--ink); }
.over { fill:var(--over); } .vacuous { fill:var(--vacuous); } .pass { fill:var(--pass); }
.certified { fill:var(--certified); } .unproved { fill:var(--unproved); }
.none { fill:var(--plain); } .other { opacity:.45; }
.scroll { overflow-x:auto; } table { border-collapse:collapse; font-size:13px; width:100%; }
th, td { text-align:right; padding:.2rem .6rem; border-bottom:1px solid var(--faint);
  white-space:nowrap; }
th { color:var(--soft); font-weight:600; } td:first-child, th:first-child { text-align:left; }
tr.judged td { font-weight:600; } td.v-over { color:var(--over); } td.v-pass { color:var(--pass); }
td.v-vacuous { color:var(--vacuous); } td.v-certified { color:var(--certified); }
td.v-unproved { color:var(--unproved); } p.note { color:var(--soft); font-size:13px; }
"""


@dataclass(frozen=True, slots=True)
class _Bar:
    """One line of the picture."""

    label: str
    row: Row
    nodes: int = 1


def report_html(report: BudgetReport) -> str:
    """The whole page; every name in it is escaped."""
    if not isinstance(report, BudgetReport):
        raise BudgetError(f"a page is made of a BudgetReport, not of {type(report).__name__}")
    title = escape(f"{report.name} in {report.precision}")
    answer = "safe" if report.ok else "unsafe"
    bars = _bars(report.rows)
    what = "node" if all(b.nodes == 1 for b in bars) else "layer (the worst of its nodes)"
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body>",
            f"<h1>Error budget: {title}</h1>",
            f'<p class="answer {answer}">{escape(report.sentence())}</p>',
            f"<h2>Worst error per {what}, in parts of what the budget allows</h2>",
            _picture(bars),
            _legend(),
            "<h2>All tensors</h2>",
            _table(report.rows, bool(report.certificate)),
            *(f'<p class="note">{escape(n)}</p>' for n in report.notes()),
            "</body></html>",
            "",
        )
    )


# --- the picture ----------------------------------------------------------------------------------


def _bars(rows: Sequence[Row]) -> list[_Bar]:
    """Nodes one by one, inputs as one bar; layers where nodes are many."""
    inputs = [r for r in rows if r.is_input]
    nodes = [r for r in rows if not r.is_input]
    bars = []
    if inputs:
        worst = _worst(inputs)
        label = worst.name if len(inputs) == 1 else f"inputs, worst: {worst.name}"
        bars.append(_Bar(label, worst))
    return bars + _layers(nodes)


def _layers(rows: Sequence[Row]) -> list[_Bar]:
    """The finest grouping by the beginnings of names that has no more bars than fit."""
    if len(rows) <= MOST_BARS:
        return [_Bar(r.shown, r) for r in rows]
    deepest = max(r.name.count(".") for r in rows)
    groups: dict[str, list[Row]] = {}
    for depth in range(max(deepest, 1), 0, -1):
        groups = {}
        for r in rows:
            groups.setdefault(".".join(r.name.split(".")[:depth]), []).append(r)
        if len(groups) <= MOST_BARS:
            break
    return [_Bar(name, _worst(own), len(own)) for name, own in groups.items()]


def _worst(rows: Sequence[Row]) -> Row:
    return max(rows, key=lambda r: -1.0 if math.isnan(r.used) else r.used)


def _picture(bars: Sequence[_Bar]) -> str:
    height = (len(bars) + 2) * _HEIGHT
    width = _LABELS + _WIDTH + _RIGHT
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'aria-label="worst error of every node against its budget">'
    ]
    parts += [_gridline(k, height) for k in range(_DECADES[0], _DECADES[1] + 1)]
    parts += [_drawn(bar, (n + 1) * _HEIGHT) for n, bar in enumerate(bars)]
    return "\n".join((*parts, "</svg>"))


def _x(used: float) -> float:
    """Where a part of the budget lies."""
    low, high = _DECADES
    if not used > 10.0**low:
        return float(_LABELS)
    exponent = min(math.log10(used) if math.isfinite(used) else high, high)
    return _LABELS + _WIDTH * (exponent - low) / (high - low)


def _gridline(k: int, height: int) -> str:
    x = _x(10.0**k * (1 + 1e-9))
    kind = "budget" if k == 0 else "grid"
    label = "budget" if k == 0 else f"{10.0**k:g}×" if k > 0 else f"{100 * 10.0**k:g}%"
    return (
        f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{_HEIGHT}" y2="{height - _HEIGHT}"/>'
        f'<text class="soft" text-anchor="middle" x="{x:.1f}" y="{_HEIGHT - 6}">{label}</text>'
    )


def _drawn(bar: _Bar, y: int) -> str:
    row = bar.row
    right = _x(row.used)
    kind = "none" if math.isnan(row.used) else row.standing.value
    faint = "" if row.judged else " other"
    amount = "" if math.isnan(row.used) else cells(row, False)[head(False).index("of budget")]
    label = _shortened(bar.label)
    middle = y + _HEIGHT / 2
    shape = (
        f'<rect class="{kind}{faint}" x="{_LABELS}" y="{y + 3}" width="{right - _LABELS:.1f}" '
        f'height="{_HEIGHT - 6}" rx="2"/>'
    )
    return (
        f"<g><title>{escape(_told(bar))}</title>"
        f'<text text-anchor="end" x="{_LABELS - 8}" y="{middle + 4}">{escape(label)}</text>'
        f"{shape}{_mark(row, y)}"
        f'<text class="soft" x="{right + 6:.1f}" y="{middle + 4}">{escape(amount)}</text></g>'
    )


def _mark(row: Row, y: int) -> str:
    """Where the sound bound lies, unless it is beyond the picture."""
    if math.isnan(row.proved) or row.proved > 10.0 ** _DECADES[1] or not row.bound:
        return ""
    x = _x(row.proved)
    return f'<line class="bound" x1="{x:.1f}" x2="{x:.1f}" y1="{y + 3}" y2="{y + _HEIGHT - 3}"/>'


def _shortened(name: str, most: int = 46) -> str:
    """The end of a long name: what is common stands in front."""
    return name if len(name) <= most else "…" + name[1 - most :]


def _told(bar: _Bar) -> str:
    pairs = zip(head(False)[1:], cells(bar.row, False)[1:], strict=True)
    many = "" if bar.nodes == 1 else f" ({bar.nodes} nodes; the worst is {bar.row.shown})"
    return f"{bar.label}{many}: " + ", ".join(f"{name} {text}" for name, text in pairs)


_MEANINGS: Final = (
    (Standing.CERTIFIED, "proved within the budget"),
    (Standing.PASS, "within, and the bound says something"),
    (Standing.VACUOUS, "within on these inputs, bound larger than the values"),
    (Standing.UNPROVED, "within on these inputs, bound beyond the budget"),
    (Standing.OVER, "beyond the budget"),
)


def _legend() -> str:
    parts, x = [], 0
    for standing, meaning in _MEANINGS:
        parts.append(
            f'<rect class="{standing.value}" x="{x}" y="4" width="12" height="12" rx="2"/>'
            f'<text x="{x + 17}" y="14">{meaning}</text>'
        )
        x += 30 + round(6.1 * len(meaning))
    return (
        f'<svg viewBox="0 0 {x} 20" width="{x}">{"".join(parts)}</svg>'
        '<p class="note">Pale bars are compared with the budget of the outputs, which is not asked '
        "of them. The thin mark is the sound bound for these inputs.</p>"
    )


# --- the table ------------------------------------------------------------------------------------


def _table(rows: Sequence[Row], certified: bool) -> str:
    names = "".join(f'<th scope="col">{escape(h)}</th>' for h in head(certified))
    lines = "\n".join(_line(r, certified) for r in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>\n{lines}\n</tbody></table></div>"
    )


def _line(row: Row, certified: bool) -> str:
    *texts, verdict = (escape(t) for t in cells(row, certified))
    kind = ' class="judged"' if row.judged else ""
    told = "".join(f"<td>{t}</td>" for t in texts)
    return f'<tr{kind}>{told}<td class="v-{row.standing.value}">{verdict}</td></tr>'
