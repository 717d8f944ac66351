"""Bounds by shape: c·u·T for inputs of any size, and the forms and functions they rest on."""

import math

import numpy as np
import pytest
from certified_programs import PROGRAMS, schedule_of

import tang.frontend as tg
from tang.emulator import certify, check_certificate, shape_bound
from tang.emulator.certify_forms import parts
from tang.emulator.certify_functions import Functions
from tang.emulator.replay import replay
from tang.errors import BudgetError
from tang.frontend import Graph, compute, dim, input
from tang.ir import derived
from tang.ir.expr import REAL, apply, arg
from tang.kernel.ir import F16
from tang.kernel.lower.recognise import forms, recognise
from tang.kernel.lower.scalar import operands
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.verify.subject import Task, prepare

U32, U16 = 2.0**-24, 2.0**-11


def test_a_product_of_matrices_has_one_rounding_per_product_and_per_addition():
    graph, _, _ = PROGRAMS["matmul"]()
    b = shape_bound(graph, Schedule(), {"k": 512}, "y")
    assert 512 <= b.c < 512.1
    assert (b.u, b.format, b.terms, b.vacuous) == (U32, "f32", "Σ|terms|", False)
    assert b.tau < 1e-40
    assert any("a sum of 512 terms, 511 additions deep" in line for line in b.derivation)


def test_lanes_make_c_small_and_a_narrow_accumulator_makes_it_useless():
    graph, _, _ = PROGRAMS["matmul"]()
    tree = Schedule(nodes=((graph.nodes[0].name, NodeSchedule(lanes=64)),))
    narrow = Schedule(default=NodeSchedule(storage=F16, accumulate=F16))
    assert shape_bound(graph, tree, {"k": 512}, "y").c < 15
    assert shape_bound(graph, narrow, {"k": 4096}, "y").vacuous


def test_a_result_stored_in_f16_counts_in_units_of_f16():
    graph, _, _ = PROGRAMS["matmul"]()
    b = shape_bound(graph, schedule_of(graph, "f16-storage"), {"k": 64}, "y")
    assert b.u == U16
    assert 1 <= b.c < 1.01


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12], ids=["small", "one", "large"])
@pytest.mark.parametrize("name", ["f32", "split-lanes", "bf16"])
def test_no_product_of_matrices_of_any_size_is_further_off(name, scale):
    graph, sizes, _ = PROGRAMS["matmul"]()
    schedule = schedule_of(graph, name)
    b = shape_bound(graph, schedule, sizes, "y")
    rng = np.random.default_rng(3)
    inputs = {"a": rng.standard_normal((4, 64)) * scale, "b": rng.standard_normal((64, 3))}
    subject = prepare(Task(graph=graph, inputs=inputs, schedule=schedule))
    got = replay(subject.expanded, subject.stored).outputs["y"].astype(np.float64)
    x, y = (subject.stored[n].astype(np.float64) for n in ("a", "b"))
    error, terms = np.abs(got - x @ y), np.abs(x) @ np.abs(y)
    assert (error <= b.c * b.u * terms * (1 + 1e-9) + b.tau).all()
    assert (error > 0).any()


@pytest.mark.parametrize("spread", [1.0, 30.0, 1e4], ids=["near", "far", "extreme"])
def test_a_softmax_is_bounded_by_shape_whatever_its_scores(spread):
    graph, _, _ = PROGRAMS["softmax"]()
    sizes = {"n": 200}
    b = shape_bound(graph, Schedule(), sizes, "y")
    assert not b.vacuous
    assert b.c < 260
    x = np.random.default_rng(5).standard_normal((5, 200)) * spread
    subject = prepare(Task(graph=graph, inputs={"x": x}, schedule=Schedule()))
    got = replay(subject.expanded, subject.stored).outputs["y"].astype(np.float64)
    z = subject.stored["x"].astype(np.float64)
    power = np.exp(z - z.max(axis=1, keepdims=True))
    exact = power / power.sum(axis=1, keepdims=True)
    assert (np.abs(got - exact) <= b.c * b.u * exact + b.tau).all()


def test_what_needs_ranges_says_so():
    graph, sizes, _ = PROGRAMS["functions"]()
    b = shape_bound(graph, Schedule(), sizes, "a")
    assert b.vacuous
    assert b.reason


def test_elementwise_results_are_bounded_relative_to_themselves():
    x, y = input("x", (4,)), input("y", (4,))
    i = dim("i", 4)
    graph = Graph(a=compute("a", (i,), x[i] * y[i] / tg.sqrt(x[i])))
    b = shape_bound(graph, Schedule(), {}, "a")
    assert b.terms == "|x|"
    assert 3 <= b.c <= 4.51


def test_unknown_outputs_and_results_that_are_no_reals_are_refused():
    graph, sizes, _ = PROGRAMS["winners"]()
    with pytest.raises(BudgetError, match="no output or node 'q'"):
        shape_bound(graph, Schedule(), sizes, "q")
    with pytest.raises(BudgetError, match="holds no reals"):
        shape_bound(graph, Schedule(), sizes, "b")


# --- forms ----------------------------------------------------------------------------------------


def test_derived_forms_are_recognised_exactly_where_lowering_recognises_them():
    x, y = arg(0), arg(1)
    shapes = [
        derived.exp(x), derived.log(x), derived.cos(x), derived.sigmoid(x), derived.tanh(x),
        derived.div(x, y), derived.sub(x, y), derived.exp(derived.sub(x, y)),
        derived.tanh(derived.exp(x)), derived.sigmoid(derived.div(x, y)),
        apply("mul", apply("recip", x), y), apply("add", apply("neg", x), y),
        apply("add", derived.exp(x), derived.sigmoid(x)), apply("recip", derived.sub(x, y)),
    ]  # fmt: skip
    for e in shapes:
        assert parts(e) == operands(e), e
        found = recognise(e)
        assert found is None or found == parts(e)
    assert {f.op for f in forms() if f.pattern.sort is REAL} == {
        "tanh", "sigmoid", "exp", "log", "cos", "div", "sub",
    }  # fmt: skip


def test_extrema_and_magnitudes_are_continuous_not_decisions():
    x, y = arg(0), arg(1)
    assert parts(derived.maximum(x, y)) == ("max", (x, y))
    assert parts(derived.minimum(x, y)) == ("min", (x, y))
    assert parts(derived.absolute(x)) == ("abs", (x,))
    assert parts(derived.select(derived.lt(x, y), y, x))[0] == "max"
    assert parts(derived.select(derived.lt(x, y), x, apply("neg", y)))[0] == "select"


# --- functions ------------------------------------------------------------------------------------


def test_every_claim_has_a_provenance_and_documents_count_from_the_rounded_result():
    ((own, _),) = Functions("portable").claims("exp", "f32", ((-1.0, 1.0),))
    ((cuda, _),) = Functions("cuda").claims("exp", "f32", ((-1.0, 1.0),))
    assert (own.value, own.provenance) == (0.9, "exhaustive")
    assert (cuda.value, cuda.provenance) == (2.5, "spec")
    assert Functions("portable").claims("atan2", "f32", ())[0][0].provenance == "tested"


def test_claims_of_wgsl_depend_on_the_arguments():
    wgsl = Functions("wgsl")
    ((near, _),) = wgsl.claims("exp", "f32", ((-1.0, 1.0),))
    ((far, _),) = wgsl.claims("exp", "f32", ((-10.0, 1.0),))
    assert (near.value, far.value) == (5.5, 23.5)
    kinds = [kind for _, kind in wgsl.claims("log2", "f32", ((0.25, 4.0),))]
    assert kinds == ["absolute", "ulp"]
    ((none, _),) = wgsl.claims("sin", "f32", ((-9.0, 9.0),))
    assert math.isinf(none.value)


@pytest.mark.parametrize("language", ["any", "c", "cuda", "opencl", "msl", "wgsl", "glsl"])
def test_programs_are_certified_with_the_builtins_of_each_language(language):
    graph, sizes, ranges = PROGRAMS["softmax"]()
    freedom = "wgsl" if language in ("wgsl", "glsl") else "ieee"
    certificate = certify(graph, Schedule(), sizes, ranges, math=language, freedom=freedom)
    assert check_certificate(certificate)
    assert not certificate.vacuous
    assert any(c.name.startswith(f"{language}.f32.exp") for c in certificate.constants)
