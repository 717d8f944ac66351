"""Every leaf of a certificate by shape or range is held: each one changed by itself, or dropped."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from certified_programs import PROGRAMS, schedule_of
from tampering import at, changed, leaves, others, without_one

import tang as tg
from tang.emulator import (
    certificate_from_json,
    certificate_to_json,
    certify,
    check_certificate,
)
from tang.emulator.certificate import digest_of
from tang.errors import BudgetError
from tang.kernel.schedule import Schedule

CASES = {
    "shape": ("matmul", None, False),
    "range": ("matmul", "some", True),
}


def made_of(name):
    """Program, schedule and certificate of a case."""
    program, ranges, quantised = CASES[name]
    graph, sizes, known = PROGRAMS[program]()
    given = {None: None, "some": dict(list(known.items())[:1])}[ranges]
    schedule = schedule_of(graph, "f16-split-lanes")
    made = certify(graph, schedule, sizes, given, quantised=quantised)
    return graph, schedule, made


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request):
    graph, schedule, made = made_of(request.param)
    return graph, schedule, json.loads(certificate_to_json(made))


def sealed(data):
    """The data with a digest that fits."""
    rest = {k: v for k, v in data.items() if k != "digest"}
    return {**rest, "digest": digest_of(json.dumps(rest, sort_keys=True, separators=(",", ":")))}


def refused(data, graph=None, schedule=None):
    """What reading or checking says; "" where both accept."""
    try:
        checked = check_certificate(certificate_from_json(json.dumps(data)), graph, schedule)
    except BudgetError as e:
        return str(e)
    return "" if checked else checked.message


def test_a_certificate_as_it_was_made_is_accepted_with_its_program_and_without(case):
    graph, schedule, data = case
    assert refused(data) == ""
    assert refused(data, graph, schedule) == ""
    checked = check_certificate(certificate_from_json(json.dumps(data)), graph, schedule)
    assert checked.message.endswith("steps hold, and they are those of this program and schedule")


def test_every_leaf_that_is_changed_is_refused_without_the_program(case):
    """By the digest, where nothing else sees it."""
    _, _, data = case
    for place in leaves(data):
        for value in others(at(data, place))[:1]:
            assert refused(changed(data, place, value)), (place, value)


def test_every_leaf_is_refused_though_the_digest_is_made_again(case):
    graph, schedule, data = case
    for place in leaves(data):
        if place != ("digest",):
            for value in [*others(at(data, place))[:1], *_numbers(at(data, place))]:
                bad = sealed(changed(data, place, value))
                assert refused(bad, graph, schedule), (place, value)


def _numbers(value):
    """Other numbers in place of one that is written in hexadecimal: wider and narrower claims."""
    try:
        number = float.fromhex(value) if "0x" in value else None
    except (TypeError, ValueError):
        return []
    if number is None:
        return []
    return [x.hex() for x in (number * 1.01, number * 0.99) if x != number]


def test_what_is_missing_or_comes_twice_is_refused(case):
    graph, schedule, data = case
    tables = [(), ("nodes",), ("nodes", 0), ("formats",), ("constants",), ("steps",), ("steps", 0),
              ("ranges",), ("sizes",), ("assumed",)]  # fmt: skip
    for table in tables:
        for place, part in without_one(at(data, table), table):
            if place != ("digest",):
                bad = part if not table else changed(data, table, part)
                assert refused(sealed(bad), graph, schedule), place
    assert refused(sealed({**data, "note": "safe"})).startswith("note: ")
    twice = json.dumps(data)[:-1] + ', "math": "portable"}'
    with pytest.raises(BudgetError, match="a name occurs twice"):
        certificate_from_json(twice)


def test_a_certificate_of_another_program_or_schedule_is_refused():
    graph, schedule, made = made_of("shape")
    other, _, _ = PROGRAMS["softmax"]()
    assert check_certificate(made, graph, schedule)
    _, sizes, ranges = PROGRAMS["matmul"]()
    free = certify(graph, Schedule(), sizes, ranges, freedom="wgsl")
    assert check_certificate(free, graph, Schedule())
    assert not check_certificate(replace(free, freedom="ieee"), graph, Schedule())
    assert check_certificate(made, graph, Schedule()).message.startswith("schedule: it is ")
    assert not check_certificate(made, other, schedule)
    with pytest.raises(BudgetError, match="both the program and its schedule"):
        check_certificate(made, graph)


def test_a_row_without_its_format_promises_no_underflow(case):
    """Not even without the program: where there is no format, nothing holds the promise."""
    _, _, data = case
    emptied = changed(data, ("nodes", 0, "format"), "")
    for text in ("cannot underflow", at(data, ("nodes", 0, "underflow"))):
        bad = sealed(changed(emptied, ("nodes", 0, "underflow"), text))
        assert ": it holds reals: step " in refused(bad)
    kept = sealed(changed(data, ("nodes", 0, "underflow"), "holds no reals"))
    assert refused(kept).endswith("underflow without a format")


def test_indices_and_bools_hold_no_reals_and_their_certificate_is_accepted():
    i, r = tg.dims("i r")
    x = tg.input("x", (4, 8))
    less = tg.compute("less", (i, r), x[i, r] < 0.5)
    graph = tg.Graph(at=tg.argmax(x, axis=1), less=less, y=tg.compute("y", i, x[i, 0] + 1))
    made = certify(graph, Schedule(), {}, {"x": (1.0, 2.0)})
    words = {b.node: b.underflow for b in made.nodes if b.output in ("index", "value")}
    assert words["less"] == "holds no reals"
    assert words["y"] == "cannot underflow"
    assert check_certificate(made)
    assert check_certificate(made, graph, Schedule())
