"""What is said of functions: the constants that bounds are made with, by format, and whose."""

from __future__ import annotations

import pytest

import tang as tg
from tang.budget import Question, budget_report
from tang.budget.functions_said import functions_said
from tang.budget.report_tolerance import kernel_for
from tang.emulator import ErrorBudget, certify


def unary(op, **more):
    i = tg.dim("i")
    return tg.Graph(y=tg.compute("y", i, getattr(tg, op)(tg.input("x", (4,), **more)[i])))


def said(graph, precision, math):
    made, schedule = kernel_for(precision, graph)
    return functions_said(made, schedule, made.outputs[0].ref, math)


@pytest.mark.parametrize(("op", "claims"), [
    ("exp", "exp within 9.5 + 2|x| ulp"), ("log", "log within 11.5 ulp"),
    ("sin", "sin within 4.5 ulp"), ("sqrt", "sqrt within 5 ulp"),
    ("tanh", "tanh within 5.5 ulp or 9.54e-07"),
    ("sigmoid", "sigmoid within 15.5 + 2|x| ulp or 5.88e-39 below -88"),
])  # fmt: skip
def test_what_is_said_are_the_constants_that_are_used(op, claims):
    graph = unary(op)
    (line,) = said(graph, "f32", "any")
    assert line == f'functions as any library has them (math="any"): {claims}'
    made = certify(*kernel_for("f32", graph), {}, {"x": (-100.0, 0.0)}, math="any")
    used = [k.value for k in made.constants if k.name.startswith(f"any.f32.{op}.")]
    for value in used:
        grown = value - 200 if "2|x|" in claims and value > 200 else value
        assert f"{grown:.3g}" in claims


@pytest.mark.parametrize(("op", "math", "claims"), [
    ("exp", "portable", "exp within 0.9 ulp"), ("exp", "cuda", "exp within 2.5 ulp"),
    ("log", "wgsl", "log within 4.77e-07 from 0.5 to 2 or 3.5 ulp"),
    ("sin", "wgsl", "sin within 0.000488 up to 3.14"), ("erf", "msl", "erf within no bound"),
])  # fmt: skip
def test_of_other_maths_too(op, math, claims):
    (line,) = said(unary(op), "f32", math)
    assert line.endswith(f'(math="{math}"): {claims}')


@pytest.mark.parametrize(("precision", "claims"), [
    ("f16-acc", ", in f16: tanh within 5.5 ulp or 0.00781"),
    ("bf16-acc", ", in bf16: tanh within 5.5 ulp or 0.0625"),
    ("f64", ", in f64: tanh within 5.5 ulp or 1.78e-15"),
    ("f16", ": tanh within 5.5 ulp or 9.54e-07"),
])  # fmt: skip
def test_the_line_names_the_format_whose_ulps_are_meant_unless_it_is_f32(precision, claims):
    (line,) = said(unary("tanh"), precision, "any")
    assert line.endswith(f'(math="any"){claims}')
    (own,) = said(unary("tanh"), precision, "portable") or ("",)
    assert ", in f16" not in own
    assert ", in bf16" not in own


def test_a_proof_names_the_functions_that_it_takes_to_be_tangs_own(matmul):
    def sentence(graph, ranges):
        asked = Question(budget=ErrorBudget(abs=1.0), certified=True, ranges=ranges, samples=0)
        return budget_report(graph, "f32", asked).sentence()

    plain = sentence(matmul, {"A": (-1, 1), "B": (-1, 1)})
    assert plain.startswith("SAFE, certified: in f32 every output keeps abs=1 ")
    one = sentence(unary("exp"), {"x": (-1, 1)})
    assert one.startswith("SAFE, certified: in f32, with tang's own exp, every output keeps abs=1 ")
    i = tg.dim("i")
    x = tg.input("x", (4,))
    graph = tg.Graph(y=tg.compute("y", i, tg.sin(x[i]) * tg.erf(x[i])))
    assert "in f32, with tang's own sin, erf, every output" in sentence(graph, {"x": (-1, 1)})
