"""Errors of functions without the program: added at all, and of rows that hold for arguments."""

from __future__ import annotations

from dataclasses import replace

import pytest
from forging import last, made, refused, with_step

import tang as tg
from tang.emulator import certify, check_certificate
from tang.emulator.certificate import Certificate, Claim, Step
from tang.emulator.certificate_check import KNOWN, FormatFacts
from tang.emulator.certify_functions import Functions
from tang.kernel.accuracy import MATHS
from tang.kernel.ir import BF16, F16, F32, F64
from tang.kernel.schedule import NodeSchedule, Schedule

OPS = ("exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "sigmoid", "sqrt")
RULES = {"exp2": "exp", "log2": "log", "cos": "sin"}
RANGES = ((0.5, 1.0), (0.25, 4.0), (-3.0, 3.0), (-4.0, 1.0), (-100.0, 90.0), (-800.0, 1e6), (0, 0),
          (2.0**-130, 2.0**-120), (1e-3, 2.0**127))  # fmt: skip


def within(type_):
    return Schedule(default=NodeSchedule(storage=type_, accumulate=type_))


def every_function():
    """Of x, and quotients and softmax by itself, as logsumexp and with weights."""
    i, t, s, d = tg.dims("i t s d")
    x, v = tg.input("x", (4,)), tg.input("v", (4, 2))
    made = {op: tg.compute(op, i, getattr(tg, op)(x[i])) for op in OPS}
    made["angle"] = tg.compute("angle", i, tg.atan2(x[i], x[i] + 1))
    made["twice"] = tg.compute("twice", i, tg.sin(tg.exp(-x[i])) + tg.cos(x[i]) / x[i])
    made["one"] = tg.compute("one", i, tg.sin(x[i]) + tg.cos(x[i]) + 1 / tg.exp(x[i]))
    scores = tg.compute("scores", (t, s), x[t] * x[s])
    made["o"] = tg.compute("o", (t, d), tg.online_softmax(scores[t, s], v[s, d], over=s))
    return tg.Graph(q=tg.compute("q", i, 1 / x[i]), s=tg.softmax(x, axis=0),
                    l=tg.logsumexp(x, axis=0), **made)  # fmt: skip


@pytest.mark.parametrize("type_", [F64, F32, F16, BF16], ids=lambda t: t.value)
@pytest.mark.parametrize("math", MATHS)
def test_certificates_as_they_are_made_add_every_error(math, type_):
    graph = every_function()
    for freedom in ("ieee", "wgsl"):
        given = [{"x": r, "v": (-1.0, 2.0)} for r in RANGES]
        for ranges in (*given, None):
            certificate = certify(graph, within(type_), {}, ranges, math=math, freedom=freedom)
            checked = check_certificate(certificate)
            assert checked, (ranges, freedom, checked.message)


# --- rows -----------------------------------------------------------------------------------------


def adding(math, op, promised, given, pick=None, type_="f32", more=()):
    """−f(x) of given arguments, with the errors of rows that others are promised.

    pick  which of these rows, else all; more  steps that the worse is taken of too
    """
    claims = Functions(math).claims(op, type_, promised)
    claims = claims if pick is None else [claims[pick]]
    size = 1e4 if type_ == "f16" else 1e30
    true, computed = Claim(-size, size, size), Claim(-size, size, size, 1.0, 1.0)
    of = len(given)
    steps = [_given(lo, hi) for lo, hi in given]
    steps.append(Step(RULES.get(op, op), tuple(range(of)), _params(op), true))
    steps += [_error(of, constant, kind, type_, computed) for constant, kind in claims]
    steps += more
    made = of + 1
    for other in range(of + 2, len(steps)):
        steps.append(Step("worse", (made, other), (), computed))
        made = len(steps) - 1
    steps.append(Step("neg", (made,), (), computed))
    return certificate(math, steps, type_, constants=tuple(c for c, _ in claims))


def certificate(math, steps, format, **more):
    facts = (FormatFacts(format, *KNOWN[format]),)
    head = {"strength": "range", "graph": "g", "schedule": "s"}
    return Certificate(**head, math=math, steps=tuple(steps), formats=facts, **more)


def _params(op):
    if op in ("exp", "exp2"):
        return (("base", "e" if op == "exp" else "2"), ("variant", "steep"))
    if op in ("log", "log2"):
        return (("base", "e" if op == "log" else "2"), ("assume", False))
    return (("assume", False),) if op in ("recip", "sqrt") else ()


def _error(of, constant, kind, format, claim):
    if kind == "absolute":
        return Step("off", (of,), (("by", constant.value), ("constant", constant.name)), claim)
    params = {"ulp": constant.value, "constant": constant.name, "format": format,
              "small": "gradual", "overflow": "inf"}  # fmt: skip
    return Step("ulps", (of,), tuple(params.items()), claim)


def _given(lo, hi):
    size = max(abs(lo), abs(hi))
    return Step("given", (), (("lo", lo), ("hi", hi)), Claim(lo, hi, size))


ONE, NEAR, FAR = (0.0, 1.0), (0.5, 2.0), (-100.0, -90.0)


@pytest.mark.parametrize(("math", "op", "type_", "promised", "given", "pick", "words"), [
    ("wgsl", "sin", "f32", (-3.0, 3.0), (-4.0, 4.0), None, "wgsl.f32.sin promises nothing for all"),
    ("glsl", "cos", "f32", (-3.0, 3.0), (0.0, 3.2), None, "glsl.f32.cos promises nothing for all"),
    ("wgsl", "exp", "f32", (0.0, 0.0), (-20.0, 20.0), None, "that at arguments up to 0, and they"),
    ("wgsl", "exp2", "f32", (0.0, 19.9), (-20.0, 0.0), None, "that at arguments up to 19.9, and"),
    ("wgsl", "log", "f32", (3.0, 4.0), NEAR, None, "row 0 of wgsl.f32.log may hold"),
    ("wgsl", "log", "f32", NEAR, (0.25, 2.0), None, "row 1 of wgsl.f32.log may hold"),
    ("wgsl", "log2", "f32", (0.25, 4.0), (0.25, 4.0), 0, "row 1 of wgsl.f32.log2 may hold"),
    ("wgsl", "log2", "f32", (0.25, 4.0), (0.25, 4.0), 1, "row 0 of wgsl.f32.log2 may hold"),
    ("any", "sigmoid", "f32", FAR, ONE, 1, "row 0 of any.f32.sigmoid may hold"),
    ("any", "sigmoid", "f32", FAR, (-100.0, 0.0), 0, "row 1 of any.f32.sigmoid may hold"),
    ("any", "sigmoid", "f16", (-12.0, 0.0), (-12.0, 0.0), 0, "row 1 of any.f16.sigmoid may hold"),
    ("any", "tanh", "f32", ONE, ONE, 0, "row 1 of any.f32.tanh may hold"),
    ("any", "tanh", "f64", ONE, ONE, 1, "row 0 of any.f64.tanh may hold"),
    ("any", "exp", "f32", (0.0, 0.0), (-20.0, 20.0), None, "that at arguments up to 0, and they"),
    ("any", "exp", "f32", ONE, (0.0, 20.0), None, "any.f32.exp is that at arguments up to 1, and"),
    ("any", "exp", "f16", (-25.0, 0.0), (-900.0, 0.0), None, "that at arguments up to 25, and"),
    ("any", "exp", "f64", (-1000.0, 0.0), (-2000.0, 0.0), None, "arguments up to 1000, and"),
])  # fmt: skip
def test_rows_that_do_not_hold_for_the_arguments_are_refused(
    math, op, type_, promised, given, pick, words
):
    for reach in (promised, given):
        clean = check_certificate(adding(math, op, (reach,), (reach,), type_=type_))
        unknown = not Functions(math).claims(op, type_, (reach,))[0][0].value < 1e9
        assert clean or unknown, clean.message
    refused(adding(math, op, (promised,), (given,), pick, type_), "(neg): step ", words)


def test_both_arguments_of_an_angle_must_lie_where_its_row_holds():
    inside, zero = (1.0, 2.0), (0.0, 2.0)
    assert check_certificate(adding("wgsl", "atan2", (inside, inside), (inside, inside)))
    for given in ((zero, inside), (inside, zero)):
        refused(adding("wgsl", "atan2", (inside, inside), given), "wgsl.f32.atan2 promises nothing")


def test_arguments_reach_as_far_as_their_error():
    clean = adding("wgsl", "sin", ((-3.0, 3.0),), ((-3.0, 3.0),))
    assert check_certificate(clean)
    for absolute, good in ((0.1, True), (0.2, False)):
        bad = replace(clean.steps[0], claim=Claim(-3.0, 3.0, 3.0, 0.0, absolute))
        sine = replace(clean.steps[1], claim=replace(clean.steps[1].claim, absolute=absolute))
        found = check_certificate(replace(clean, steps=(bad, sine, *clean.steps[2:])))
        assert bool(found) is good, found.message
        assert good or "promises nothing for all arguments in [-3.2, 3.2]" in found.message


def test_the_worse_of_a_row_and_something_else_needs_all_rows():
    other = (_given(0.0, 1.0),)
    clean = adding("any", "tanh", (ONE,), (ONE,))
    assert check_certificate(clean)
    refused(adding("any", "tanh", (ONE,), (ONE,), 0, more=other), "(worse): step 2: row 1 of")
    assert check_certificate(adding("cuda", "tanh", (ONE,), (ONE,), more=other))


def test_rows_of_two_values_do_not_complete_each_other():
    clean = adding("any", "tanh", (ONE,), (ONE,))
    assert [s.rule for s in clean.steps] == ["given", "tanh", "ulps", "off", "worse", "neg"]
    x, f, ulps, off, worse, neg = clean.steps
    steps = (x, f, replace(x, params=(("lo", 0.0), ("hi", 0.5)), claim=Claim(0.0, 0.5, 0.5)),
             replace(f, args=(2,)), ulps, replace(off, args=(3,)), replace(worse, args=(4, 5)),
             replace(neg, args=(6,)))  # fmt: skip
    refused(replace(clean, steps=steps), "step 6 (worse): step 4: row 1 of any.f32.tanh may hold")


def test_a_result_needs_all_rows():
    i = tg.dim("i")
    clean = made(tg.compute("y", i, tg.tanh(tg.input("x", (1,))[i])), {"x": ONE}, math="any")
    step = next(n for n, s in enumerate(clean.steps) if s.rule == "ulps")
    assert dict(clean.steps[step].params)["constant"] == "any.f32.tanh.0"
    refused(
        replace(clean, nodes=(replace(clean.nodes[0], step=step),)), "y.value: step", "row 1 of any"
    )
    true = last(clean, "tanh")
    refused(
        replace(clean, nodes=(replace(clean.nodes[0], step=true),)),
        "y.value: step",
        "(tanh) is inexact",
    )


# --- folds ----------------------------------------------------------------------------------------


def folds(type_, math):
    s, d = tg.dims("s d")
    x, v = tg.input("x", (4,)), tg.input("v", (4, 2))
    shares = tg.compute("o", d, tg.online_softmax(x[s], v[s, d], over=s))
    graph = tg.Graph(a=tg.softmax(x, axis=0), o=shares)
    ranges = {"x": ONE, "v": (0.0, 1.0)}
    return certify(graph, within(type_), {}, ranges, math=math)


@pytest.mark.parametrize("type_", [F64, F32, F16, BF16], ids=lambda t: t.value)
@pytest.mark.parametrize("math", ["any", "wgsl"])
def test_folds_take_what_exponentials_are_off_by_at_all_their_arguments(math, type_):
    clean = folds(type_, math)
    assert check_certificate(clean)
    format = {"any": type_.value}.get(math, "f64" if type_ is F64 else "f32")
    functions = Functions(math)
    few = [functions.claims(op, format, ((-2.0, 0.0),))[0][0] for op in ("exp", "exp2")]
    known = {k.name: k for k in (*clean.constants, *few)}
    more = replace(clean, constants=tuple(known.values()))
    assert check_certificate(more)
    found = {s.rule: n for n, s in enumerate(clean.steps)
             if s.rule in ("sum_exp", "rescaled", "rescaled_sum")}  # fmt: skip
    assert set(found) == {"sum_exp", "rescaled", "rescaled_sum"}
    for rule, n in found.items():
        bad = with_step(more, n, ulp=max(k.value for k in few))
        refused(bad, f"step {n} ({rule}): {math}.{format}.exp is that at arguments up to 2, and")


# --- true values ----------------------------------------------------------------------------------


def reading(clean, step, other):
    """A certificate whose later steps read another step instead."""
    steps = tuple(replace(s, args=tuple(other if a == step else a for a in s.args))
                  for s in clean.steps)  # fmt: skip
    return replace(clean, steps=steps)


def rounding(math, rule, format, freedom="ieee"):
    """A value of a rule, rounded to a format."""
    size = 1e30
    steps = [_given(1.0, 2.0)]
    if rule == "mul":
        steps.append(Step("recip", (0,), _params("recip"), Claim(0.1, 2.0, 2.0)))
    args = {"mul": (0, 1), "atan2": (0, 0)}.get(rule, (0,))
    steps.append(Step(rule, args, _params(rule), Claim(-size, size, size)))
    how = {"format": format, "rounding": "any" if freedom == "wgsl" else "rne",
           "small": "flush" if freedom == "wgsl" else "gradual", "overflow": "inf"}  # fmt: skip
    loose = Claim(-size, size, size, 1.0, 1.0)
    steps.append(Step("round", (len(steps) - 1,), tuple(how.items()), loose))
    return certificate(math, steps, format, freedom=freedom)


@pytest.mark.parametrize("math", MATHS)
@pytest.mark.parametrize("rule", ["exp", "log", "sin", "erf", "tanh", "sigmoid", "atan2"])
def test_a_function_is_not_rounded_without_its_error(rule, math):
    for format in ("f64", "f32", "bf16"):
        for freedom in ("ieee", "wgsl"):
            bad = rounding(math, rule, format, freedom)
            words = f'step 2 (round): step 1 ({rule}) is inexact in math="{math}", and its error'
            refused(bad, words)


@pytest.mark.parametrize("rule", ["recip", "sqrt", "mul"])
@pytest.mark.parametrize("math", MATHS)
def test_quotients_and_roots_are_rounded_alone_only_where_they_are_exact(math, rule):
    for format in ("f64", "f32"):
        for freedom in ("ieee", "wgsl"):
            found = rounding(math, rule, format, freedom)
            inexact = math == "any" or (math in ("wgsl", "glsl", "opencl") and format == "f32")
            if inexact:
                refused(found, f'({rule}) is inexact in math="{math}", and its error')
            else:
                assert check_certificate(found), check_certificate(found).message


@pytest.mark.parametrize(("op", "rule"), [("exp", "exp"), ("erf", "erf"), ("sqrt", "sqrt")])
def test_no_other_step_reads_a_true_value(op, rule):
    i = tg.dim("i")
    y = tg.compute("y", i, tg.abs(getattr(tg, op)(tg.input("x", (1,))[i])) + 1)
    clean = made(y, {"x": NEAR}, math="opencl")
    true = next(n for n, s in enumerate(clean.steps) if s.rule == rule)
    added = next(n for n, s in enumerate(clean.steps) if s.args == (true,))
    refused(reading(clean, added, true), f'step {true} ({rule}) is inexact in math="opencl"')


def test_what_flushing_costs_is_no_error_of_a_function():
    clean = adding("wgsl", "sin", (ONE,), (ONE,))
    assert check_certificate(clean)
    flushed = replace(clean.steps[2], params=(("by", 2.0**-126), ("constant", "")))
    bad = replace(clean, steps=(*clean.steps[:2], flushed, clean.steps[3]))
    refused(bad, "step 2 (off): step 1 (sin) is inexact")
