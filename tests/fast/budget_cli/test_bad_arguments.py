"""Arguments that make no sense end in tang's own errors, which name the argument and the cure."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from budget_programs import matmul_graph

import tang as tg
from tang.budget import (
    Question,
    budget_report,
    certify,
    certify_data,
    check_data,
    emulate,
    from_exported,
    load_inputs,
    precision_from,
    report_html,
    tune_precision,
)
from tang.budget.report_tolerance import tolerances_of
from tang.emulator.budget import Budgets, ErrorBudget, budgets_from
from tang.errors import BudgetError, GraphError, ScheduleError, TangError
from tang.kernel.ir import F16, Type
from tang.kernel.schedule import Schedule
from tang.testing import assert_within
from tang.verify.subject import Task, prepare

GRAPH = matmul_graph()
RNG = np.random.default_rng(0)
DATA = {"A": RNG.standard_normal((6, 40)), "B": RNG.standard_normal((40, 5))}
EXACT = DATA["A"] @ DATA["B"]
WIDE = ErrorBudget(c=1000, abs=1)


class Raises:
    """A value whose conversion to an array raises what the caller's code may raise."""

    def __init__(self, error):
        self.error = error

    def __array__(self, *_, **__):
        raise self.error


def str_of(given):
    return str(given)[:9]


def within(**more):
    assert_within(**{"actual": EXACT, "graph": GRAPH, "inputs": DATA, **more})


def report(**more):
    return budget_report(GRAPH, "f32", Question(**{"budget": WIDE, **more}))


def certified(**more):
    return certify(GRAPH, "f32", **more)


def tolerances(**more):
    return tolerances_of(GRAPH, **more)


def tuned(**more):
    return tune_precision(GRAPH, WIDE, **{"inputs": DATA, "candidates": ("f16",), **more})


@pytest.mark.parametrize("call", [within, report, certified, tolerances, tuned])
def test_what_makes_sense_is_accepted(call):
    call()


MIXED = {**DATA, 3: DATA["A"], "q": DATA["A"]}


@pytest.mark.parametrize("given", [3, MIXED, [1], "A", {3: 1}], ids=str)
@pytest.mark.parametrize("call", [within, report, certified, tuned])
def test_inputs_are_arrays_by_name(call, given):
    with pytest.raises(GraphError, match=r"arrays by name, of A, B|no input (3|'q'): one of A, B"):
        call(inputs=given)


@pytest.mark.parametrize(("given", "words"), [
    (3, "sequence of sets of data, not int"), (DATA, "sequence of sets of data, not dict"),
    ([3], "arrays by name, of A, B"), ([{"A": 1}], "no data for input 'B'"),
    ([{**DATA, "A": np.ones((6, 4))}], "dim"),
], ids=["number", "one-set", "no-set", "half", "shape"])  # fmt: skip
def test_inputs_of_tolerances_are_sets_of_arrays_by_name(given, words):
    with pytest.raises(TangError, match=words):
        tolerances(inputs=given)


@pytest.mark.parametrize("call", [within, report, certified, tolerances, tuned])
@pytest.mark.parametrize("given", [3, [3], {"m": "a"}, {"m": np.array([1, 2])}], ids=str)
def test_sizes_are_numbers_by_symbol(call, given):
    with pytest.raises(GraphError, match=r"sizes are numbers by symbol|the size of 'm' is an int"):
        call(sizes=given, inputs=[] if call is tolerances else None)


def rows_of(many):
    x, (i, k) = tg.input("x", (many, 4)), tg.dims("i k")
    return tg.Graph(y=tg.compute("y", i, tg.sum(x[i, k], k)))


@pytest.mark.parametrize("call", [
    lambda g, sizes: budget_report(g, "f32", Question(budget=WIDE, sizes=sizes)),
    lambda g, sizes: tolerances_of(g, sizes=sizes),
    lambda g, sizes: tune_precision(g, WIDE, candidates=("f16",), sizes=sizes),
    lambda g, sizes: assert_within(
        np.ones(8), graph=g, expected=np.ones(8), budget=ErrorBudget(abs=1), sizes=sizes
    ),
], ids=["report", "tolerances", "tune", "within"])  # fmt: skip
def test_sizes_are_of_symbols_that_the_program_has(call):
    call(rows_of("N"), {"N": 8})
    call(rows_of(8), {})
    with pytest.raises(GraphError, match=r"sizes name 'typo', which is no symbol .*: one of N$"):
        call(rows_of("N"), {"N": 8, "typo": 3})
    with pytest.raises(GraphError, match=r"sizes name 'N', .* are numbers: leave sizes out$"):
        call(rows_of(8), {"N": 8})


@pytest.mark.parametrize("call", [report, certified, tolerances, tuned])
@pytest.mark.parametrize(
    "given",
    [3, [("A", (0, 1))], {"A": 3}, {"A": (0, 10**400)}, {3: (0, 1)}],
    ids=lambda g: str(g)[:9],
)
def test_ranges_are_pairs_by_input(call, given):
    with pytest.raises(BudgetError, match="range"):
        call(ranges=given)


@pytest.mark.parametrize("call", [within, tolerances])
@pytest.mark.parametrize("given", [[], 3, {}, "zzz"], ids=str)
def test_functions_go_by_the_name_of_their_language(call, given):
    with pytest.raises(BudgetError, match="math is one of portable"):
        call(math=given)
    with pytest.raises(BudgetError, match="math is one of portable"):
        within(math=given, budget=WIDE)


@pytest.mark.parametrize(("given", "words"), [
    (3, "is a preset, JSON or a Schedule, not 3"), (object(), "is a preset, JSON or a Schedule"),
    ({"default": F16}, "formats by their names"), ({(1, 2): 3}, "formats by their names"),
    ("\0.json", "cannot be read"), (Schedule(nodes=3), r"tuple of \(name, NodeSchedule\)"),
    (Schedule(nodes=("C",)), r"tuple of \(name, NodeSchedule\)"),
    (Schedule(nodes=(("C", 3),)), "C: its schedule is a NodeSchedule, not 3"),
    (Schedule(default=3), "default: its schedule is a NodeSchedule"),
], ids=["number", "object", "format", "key", "null", "nodes", "pairs", "pair", "rest"])  # fmt: skip
@pytest.mark.parametrize("call", [
    lambda p: within(precision=p),
    lambda p: budget_report(GRAPH, p, Question(budget=WIDE)),
    lambda p: tolerances(precision=p),
    lambda p: certify(GRAPH, p),
    lambda p: emulate(GRAPH, DATA, p),
    lambda p: tuned(start=p),
], ids=["within", "report", "tolerances", "certify", "emulate", "tune"])  # fmt: skip
def test_a_precision_that_is_none_says_what_one_is(call, given, words):
    with pytest.raises(ScheduleError, match=words):
        call(given)


def own_format(**parts):
    made = {"name": "own", "p": 4, "emin": -6, "largest": "240", "specials": "ieee"} | parts
    return {"version": 1, "inputs": {"A": {"storage": made}}}


def scaled(value):
    scale = {"amax": False, "value": value}
    return {"version": 1, "inputs": {"A": {"storage": "e4m3fn", "scale": scale}}}


@pytest.mark.parametrize("given", [
    own_format(p=np.inf), own_format(emin=-np.inf), own_format(largest=np.nan),
    own_format(largest=np.inf), own_format(largest="1e9999999"), own_format(largest="1e-0_99999"),
    scaled(10**400), scaled(np.nan), scaled(np.inf),
], ids=["p", "emin", "nan", "inf", "power", "small", "scale", "no-scale", "inf-scale"])  # fmt: skip
def test_numbers_of_a_precision_are_checked_however_large_they_are(given):
    assert certify(GRAPH, own_format()).nodes
    assert certify(GRAPH, scaled(0.5)).nodes
    with pytest.raises(ScheduleError, match=r"^inputs\['A'\]\.(storage\.[a-z]+|scale\.value): "):
        certify(GRAPH, given)


def test_a_format_in_a_file_whose_precision_is_no_integer_is_named_with_its_place(tmp_path):
    path = tmp_path / "own.json"
    path.write_text(json.dumps(own_format()))
    budget_report(GRAPH, path, Question(budget=WIDE))
    path.write_text(json.dumps(own_format(p=5.7)))
    words = r"own\.json: inputs\['A'\]\.storage\.p: expected an integer, as 4, not 5\.7"
    with pytest.raises(ScheduleError, match=words):
        budget_report(GRAPH, path, Question(budget=WIDE))


@pytest.mark.parametrize("rules", [3, [3], [[]], "fuse"], ids=str)
def test_rules_go_by_their_names(rules):
    for call in (report, certified, tuned, lambda **k: emulate(GRAPH, DATA, **k)):
        with pytest.raises(GraphError, match="rules are a sequence of names"):
            call(rules=rules)


# --- arrays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [OSError("gone"), AttributeError("a"), RecursionError()], ids=repr
)
def test_values_that_cannot_become_arrays_are_named_whatever_they_raise(error):
    odd = Raises(error)
    with pytest.raises(BudgetError, match="actual: C is no array"):
        within(actual=odd)
    with pytest.raises(BudgetError, match="expected: C is no array"):
        within(expected={"C": odd})
    for call in (within, report, certified, tuned):
        with pytest.raises(GraphError, match="input 'A' is no array"):
            call(inputs={**DATA, "A": odd})


def test_masked_elements_are_refused_with_their_cure_and_plain_ones_are_not():
    hidden = np.zeros(EXACT.shape, bool)
    within(actual=np.ma.masked_array(EXACT, mask=hidden))
    hidden[1, 2] = True
    for name, wrong in (("actual", EXACT), ("expected", EXACT)):
        with pytest.raises(BudgetError, match=rf"{name}: C has masked elements.*\.filled\(value\)"):
            within(**{name: np.ma.masked_array(wrong, mask=hidden)})
        with pytest.raises(BudgetError, match="masked elements"):
            within(**{name: list(np.ma.masked_array(wrong, mask=hidden))})
    odd = {**DATA, "A": np.ma.masked_greater(DATA["A"], 1)}
    for call in (within, report, certified, lambda inputs: emulate(GRAPH, inputs)):
        with pytest.raises(GraphError, match=r"input 'A' has masked elements.*\.filled\(value\)"):
            call(inputs=odd)


@pytest.mark.parametrize("what", ["actual", "expected"])
def test_results_of_unknown_names_are_named_whatever_their_kinds(what):
    with pytest.raises(BudgetError, match=f"{what}: no output 3; there are C"):
        within(**{what: {"C": EXACT, 3: EXACT, "q": EXACT}})


# --- budgets and searches -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: ErrorBudget(abs=10**400), lambda: Budgets(default=3), lambda: Budgets(named=3),
    lambda: Budgets(named={"C": 3}), lambda: budgets_from({"C": {1: 2, "a": 3}}),
], ids=["huge", "default", "named", "number", "keys"])  # fmt: skip
def test_budgets_are_checked_where_they_are_made(make):
    with pytest.raises(BudgetError):
        make()


@pytest.mark.parametrize("given", [None, 3, WIDE], ids=str)
def test_what_is_asked_is_a_question(given):
    with pytest.raises(BudgetError, match=r"tang\.budget\.Question"):
        budget_report(GRAPH, "f32", given)


@pytest.mark.parametrize("where", ["candidates", "accumulators"])
@pytest.mark.parametrize(
    "given",
    [None, 3, [3], [None], "f16", [Type.I32], [[]], {"f16": 1}, [WIDE]],
    ids=lambda g: str(g)[:9],
)
def test_formats_of_a_search_are_formats(where, given):
    with pytest.raises(ScheduleError, match=where):
        tuned(**{where: given})


def test_a_timer_is_a_function_to_seconds():
    assert tuned(timer=lambda schedule: np.float32(1)).moves
    with pytest.raises(BudgetError, match="a timer is a function from a schedule to seconds"):
        tuned(timer=3)
    for found in (None, "1", float("nan"), -1.0, True):
        with pytest.raises(BudgetError, match="a timer gives seconds"):
            tuned(timer=lambda schedule, found=found: found)


def test_words_and_flags_are_what_they_say():
    for odd in (None, -3, [], {}, np.array([1, 2])):
        with pytest.raises(BudgetError, match="freedom is one of ieee, wgsl"):
            certified(freedom=odd)
        with pytest.raises(BudgetError, match="freedom is one of ieee, wgsl"):
            certified(freedom=odd, inputs=DATA)
        with pytest.raises(ScheduleError, match="level is one of"):
            emulate(GRAPH, DATA, level=odd)
        with pytest.raises(ScheduleError, match="math is one of"):
            emulate(GRAPH, DATA, math=odd)
        for name in ("certified", "strict", "whole", "cures"):
            with pytest.raises(BudgetError, match=f"{name} is True or False"):
                report(**{name: odd})
        with pytest.raises(BudgetError, match="samples are 1 or more"):
            report(samples=odd)
        with pytest.raises(BudgetError, match="name is what the report calls the program"):
            budget_report(GRAPH, "f32", Question(budget=WIDE), odd)
    for seed in (-1, 1.5, [], "1"):
        with pytest.raises(BudgetError, match="a seed is a whole number"):
            certified(seed=seed)
        with pytest.raises(BudgetError, match="a seed is a whole number"):
            certify_data(GRAPH, "f32", DATA, seed=seed)


HUGE = (10**400, 10**5000, 10**6)


@pytest.mark.parametrize("call", [report, tuned])
def test_no_more_samples_are_drawn_than_can_be_held(call):
    call(inputs=None, samples=2)
    for many in HUGE:
        with pytest.raises(BudgetError, match=r"samples are at most 100,000, not (1000|a number)"):
            call(inputs=None, samples=many)


@pytest.mark.parametrize("call", [report, certified, tuned])
def test_a_seed_has_at_most_64_bits(call):
    call(seed=2**64 - 1)
    for seed in (2**64, 10**400, 10**5000):
        with pytest.raises(BudgetError, match=r"a seed is a whole number, at most 2\^64 - 1, not"):
            call(seed=seed)
    with pytest.raises(BudgetError, match=r"a seed is a whole number, 0 or more, not a number too"):
        call(seed=-(10**5000))


def test_numbers_without_a_text_are_refused_as_others_are():
    for huge in (10**5000, -(10**5000)):
        for name in ("abs", "percentile"):
            with pytest.raises(BudgetError, match=f"{name} must be .* not a number too long"):
                ErrorBudget(**{name: huge})
        with pytest.raises(BudgetError, match="the range of 'A' is a pair of numbers"):
            report(ranges={"A": (0, huge)})
    with pytest.raises(GraphError, match="size of 'm' is a number too long to print"):
        report(sizes={"m": -(10**5000)})


def test_a_data_certificate_is_checked_against_arrays_by_name():
    text = certified(inputs=DATA).to_json()
    check_data(text, GRAPH, DATA)
    for given, words in (
        (3, "inputs are arrays by name, of A, B, not 3"), (MIXED, "the program has no 3"),
        ({**DATA, "A": Raises(OSError("gone"))}, "input 'A' is no array: gone"),
    ):  # fmt: skip
        with pytest.raises(BudgetError, match=words):
            check_data(text, GRAPH, given)
    with pytest.raises(GraphError, match="a program must be a Graph"):
        check_data(text, 3, DATA)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: load_inputs(3, GRAPH), "whose path is no int"),
    (lambda: load_inputs("a.npz", 3), "a program must be a Graph"),
    (lambda: report_html(3), "a page is made of a BudgetReport, not of int"),
    (lambda: from_exported(3, ()), "takes an ExportedProgram.*int has no graph"),
], ids=["path", "graph", "page", "exported"])  # fmt: skip
def test_files_pages_and_modules_are_what_they_say(call, words):
    with pytest.raises(TangError, match=words):
        call()


def exponentials():
    x, (i, k) = tg.input("x", (3, 4)), tg.dims("i k")
    return tg.Graph(y=tg.compute("y", (i, k), tg.exp(x[i, k])))


ONES = {"x": np.ones((3, 4))}


@pytest.mark.parametrize(("call", "cure"), [
    (lambda g, p: emulate(g, ONES, p), "these, or emulate with math='exact'$"),
    (lambda g, p: certify(g, p, inputs=ONES), "these, or certify for ranges, without inputs$"),
    (lambda g, p: budget_report(g, p, Question(budget=WIDE)), r"these, or ask .*samples=0\)$"),
    (lambda g, p: tune_precision(g, WIDE, start=p), r"these, or ask .*samples=0\)$"),
    (lambda g, p: tolerances_of(g, p, inputs=[ONES], math="portable"),
     r"these, or say whose functions the kernel has \(math='any', or a language\)$"),
    (lambda g, p: prepare(Task(graph=g, inputs=ONES, schedule=precision_from(p, g))),
     "these, or verify with math='native'$"),
], ids=["emulate", "certify", "report", "tune", "tolerances", "verify"])  # fmt: skip
def test_functions_in_f64_have_the_cure_that_the_caller_can_take(call, cure):
    call(exponentials(), "f32")
    with pytest.raises(ScheduleError, match=f"computes exp in f64: .*{cure}"):
        call(exponentials(), "f64")


def test_the_cures_of_functions_in_f64_are_cures():
    graph, asked = exponentials(), Question(budget=WIDE, certified=True, samples=0)
    assert emulate(graph, ONES, "f64", math="exact")["y"].dtype == np.float64
    assert certify(graph, "f64", {"x": (-1, 1)}).nodes
    assert budget_report(graph, "f64", replace(asked, ranges={"x": (-1, 1)})).ok
    assert all(t.ok for t in tolerances_of(graph, "f64", inputs=[ONES], math="any"))
    assert all(t.ok for t in tolerances_of(graph, "f64", inputs=[ONES], math="c"))
    schedule = precision_from("f64", graph)
    assert prepare(Task(graph=graph, inputs=ONES, schedule=schedule, math="native")).plan
