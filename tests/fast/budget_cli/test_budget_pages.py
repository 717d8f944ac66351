"""The page: self-contained, escaped, a bar per node or layer."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from tang.budget import Question, budget_report, report_html
from tang.budget.html import MOST_BARS
from tang.emulator import ErrorBudget


@pytest.fixture
def report(chain):
    return budget_report(chain, "bf16", Question(budget=ErrorBudget(rel=1e-3), rules=()))


class Counted(HTMLParser):
    """Tags that were opened and not closed, and all of them."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "br", "line", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)


def parsed(page):
    reader = Counted()
    reader.feed(page)
    assert reader.open == []
    return reader.seen


def test_the_page_says_what_the_report_says(report):
    page = report_html(report)
    parsed(page)
    assert report.sentence().replace("'", "&#x27;") in page
    for row in report.rows:
        assert f"<td>{row.shown}</td>" in page


def test_the_page_needs_nothing_but_itself(report):
    page = report_html(report)
    tags = parsed(page)
    assert not {"script", "link", "img", "iframe", "object"} & set(tags)
    assert not re.search(r"https?:|url\(|@import|src=|href=", page)


def test_every_node_has_a_bar_and_inputs_share_one(report):
    bars = re.findall(r"<g><title>([^:]+):", report_html(report))
    assert bars == ["x", "stage1", "stage2", "z (stage3)", "y"]


def test_names_are_escaped_wherever_they_stand(report):
    evil = "<script>alert('&\"')</script>"
    rows = tuple(replace(r, name=evil, output=evil) for r in report.rows)
    page = report_html(replace(report, rows=rows, name=evil, precision=evil))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    parsed(page)


def test_of_many_nodes_a_bar_is_a_layer(report):
    (node, *_) = [r for r in report.rows if not r.is_input]
    rows = tuple(
        replace(node, name=f"layers.{n}.part{k}", output="", used=k / 10)
        for n in range(20) for k in range(10)
    )  # fmt: skip
    bars = re.findall(r"<g><title>([^:]+):", report_html(replace(report, rows=rows)))
    assert len(bars) == 20 <= MOST_BARS
    assert bars[3] == "layers.3 (10 nodes; the worst is layers.3.part9)"


def test_a_longer_bar_is_a_larger_part_of_the_budget(report):
    (node, *_) = [r for r in report.rows if not r.is_input]
    rows = tuple(replace(node, used=u) for u in (1e-9, 1e-2, 0.5, 2.0, float("inf")))
    widths = re.findall(r'y="\d+" width="([\d.]+)"', report_html(replace(report, rows=rows)))
    found = [float(w) for w in widths[: len(rows)]]
    assert found == sorted(found)
    assert found[0] == 0
