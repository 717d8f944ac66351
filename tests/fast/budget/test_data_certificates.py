"""Data certificates: what they say holds, in balls too; what was tampered with is refused."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

import tang as tg
from tang.budget import certify_data, check_data
from tang.budget.data_certificate import packed
from tang.emulator import shadow
from tang.errors import BudgetError, TangBugError
from tang.fuzz.case import draw_case
from tang.fuzz.ladder import task_of
from tang.kernel.ir import F16, F32
from tang.kernel.schedule import NodeSchedule, Schedule
from tang.rewrite import rewrite
from tang.verify.derive import differentiated

RNG = np.random.default_rng(21)
DATA = {"x": RNG.standard_normal((4, 40)), "w": RNG.standard_normal((40, 3))}


def layer():
    """Softmax of rows, times a matrix, and whether that is positive."""
    x, w = tg.input("x", (4, 40)), tg.input("w", (40, 3))
    y = tg.matmul(tg.softmax(x, name="p"), w, name="y")
    i, j = tg.dims("i j")
    return tg.Graph(y=y, positive=tg.compute("positive", (i, j), y[i, j] > 0.0))


def exact_layer():
    """The same in f64."""
    e = np.exp(DATA["x"] - DATA["x"].max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) @ DATA["w"]


@pytest.fixture(scope="module")
def certificate():
    return certify_data(layer(), "f16", DATA, seed=21)


def test_bounds_cover_the_distance_from_exact_arithmetic(certificate):
    row = certificate.row("y")
    assert row.name == certificate.outputs["y"]
    assert row.format == "f16"
    assert (np.abs(row.values - exact_layer()) <= row.bounds).all()
    assert 0 < row.error <= row.bound < 0.1
    assert row.finite == row.elements == 12
    assert row.ratio is not None
    assert 1 <= row.ratio < 100


def test_the_certificate_survives_the_check_in_balls(certificate):
    found = check_data(certificate.to_json(), layer(), DATA)
    assert found.tensors == len(certificate.rows)
    assert found.undecided == found.unbounded == 0
    assert found.confirmed == sum(r.elements for r in certificate.rows)
    assert str(found).startswith(f"{found.tensors} tensors: ")


@pytest.mark.parametrize("precision", ["f32", "bf16-acc", "fp8-e4m3", "tf32"])
def test_every_kind_of_format_survives_the_check(precision):
    found = certify_data(layer(), precision, DATA)
    assert check_data(found.to_json(), layer(), DATA).confirmed > 0


def test_rounding_inputs_is_the_first_error():
    i = tg.dims("i")
    x = tg.input("x", (5,))
    graph = tg.Graph(y=tg.compute("y", i if isinstance(i, tuple) else (i,), x[i] * 1.0))
    row = certify_data(graph, "fp8-e4m3", {"x": np.array([1.1, 0.3, 2.0, 1e4, 0.0])}).row("y")
    assert row.dominating == "input x"
    assert row.values.tolist() == [1.125, 0.3125, 2.0, 448.0, 0.0]
    assert (row.bounds >= np.abs(row.values - [1.1, 0.3, 2.0, 1e4, 0.0])).all()
    assert row.overflows == 1
    assert row.bounds[2] == 0


def test_the_node_that_dominates_a_bound_is_named():
    i, k = tg.dims("i k")
    x = tg.input("x", (3, 300))
    s = tg.compute("s", (i,), tg.sum(x[i, k], over=k))
    graph = tg.Graph(y=tg.compute("y", (i,), s[i] * 2.0))
    nodes = (("s", NodeSchedule(accumulate=F16)), ("y", NodeSchedule(storage=F32)))
    data = {"x": RNG.random((3, 300)).astype(np.float32)}
    found = certify_data(graph, Schedule(nodes=nodes), data, rules=())
    assert found.row("y").dominating == "rounding in s"
    assert found.row("y").share < 0.01
    assert found.row("s.value").share == 1.0


def test_bias_tells_rounding_down_from_rounding_to_nearest():
    i, k = tg.dims("i k")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(tg.input("x", (50, 60))[i, k], over=k)))
    data = {"x": RNG.random((50, 60)).astype(np.float16)}
    rows = {}
    for rounding in ("rne", "rz"):
        default = NodeSchedule(accumulate=tg.kernel.narrow.TF32, rounding=rounding)
        rows[rounding] = certify_data(graph, Schedule(default=default), data).row("y")
    assert rows["rz"].bias == -1.0
    assert abs(rows["rne"].bias) < 0.7


def test_a_vacuous_bound_is_counted_and_never_hidden():
    i, k = tg.dims("i k")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(tg.input("x", (2, 400))[i, k], over=k)))
    x = RNG.standard_normal((2, 400))
    x[:, -1] -= x.sum(1) + 1e-3
    row = certify_data(graph, "bf16-acc", {"x": x}).row("y")
    assert row.vacuous == 2
    assert "2 vacuous" in certify_data(graph, "bf16-acc", {"x": x}).to_text()


def test_what_hangs_on_a_flipped_decision_or_on_a_tie_has_no_bound():
    """x/3·3 is x, so every element is a tie in exact arithmetic; rounding flips some."""
    i = tg.dims("i")
    x = tg.input("x", (300,))
    near = x[i] / 3.0 * 3.0
    point = i if isinstance(i, tuple) else (i,)
    graph = tg.Graph(y=tg.compute("y", point, tg.select(near < x[i], 1.0, 2.0)))
    found = certify_data(graph, Schedule(), {"x": RNG.random(300).astype(np.float32)}, rules=())
    row = found.row("y")
    assert 0 < found.flips < row.doubtful == 300
    assert row.finite == 0


def test_constants_say_where_they_come_from(certificate):
    named = {c.name: c for c in certificate.constants}
    assert named["u(f16)"].value == 2.0**-11
    assert named["ulp(exp)"].value > 0
    assert all(c.provenance for c in certificate.constants)


@pytest.mark.parametrize("index", range(8), ids="draw-{}".format)
def test_drawn_programs_stay_within_their_bounds_in_exact_arithmetic(index):
    task = task_of(draw_case(7, index))
    graph, d = task.graph, task.derivation
    if d is not None:
        graph = rewrite(differentiated(graph, d), d.rules, d.strict).graph
    schedule = task.schedule(graph) if callable(task.schedule) else task.schedule
    found = certify_data(graph, schedule, task.inputs, rules=())
    seen = check_data(found.to_json(), graph, task.inputs)
    assert seen.confirmed + seen.unbounded + seen.undecided >= sum(r.elements for r in found.rows)
    assert found.to_text().count("bound") >= len(found.rows)


def tampered(certificate, change):
    """The certificate's text after a change of its data."""
    data = json.loads(certificate.to_json())
    change(data)
    return json.dumps(data)


def smaller(data, node):
    """Bounds of a node a thousandth, its summary to match."""
    row = next(r for r in data["nodes"] if r["name"] == node)
    bounds = np.frombuffer(base64.b64decode(row["bounds"]), "<f8") / 1000
    row |= {"bounds": packed(bounds), "bound": float(bounds.max()), "error": 0.0}


def test_a_tampered_bound_is_refused_with_its_node(certificate):
    for row in certificate.rows:
        if row.error > 0:
            text = tampered(certificate, lambda d, n=row.name: smaller(d, n))
            with pytest.raises(BudgetError, match=f"^{row.name}.* is above its bound"):
                check_data(text, layer(), DATA)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "x"}, "no data certificate"),
        ({"version": 3}, "expected 2, not 3"),
        ({"graph": "0"}, "the program has another digest"),
        ({"nodes": 3}, "has no 'nodes'"),
        ({"nodes": [{}]}, "cannot be read"),
        ({"outputs": {"y": "q.value"}}, "no tensor 'q.value'"),
    ],
    ids=["kind", "version", "graph", "nodes", "node", "output"],
)
def test_a_certificate_that_is_none_is_refused(certificate, change, said):
    with pytest.raises(BudgetError, match=said):
        check_data(tampered(certificate, lambda d: d.update(change)), layer(), DATA)


def test_summaries_and_data_must_be_those_of_the_certificate(certificate):
    def lower(data):
        data["nodes"][-1]["bound"] /= 2

    with pytest.raises(BudgetError, match="is not that of its elements"):
        check_data(tampered(certificate, lower), layer(), DATA)
    with pytest.raises(BudgetError, match="input 'x' has another digest"):
        check_data(certificate.to_json(), layer(), {**DATA, "x": DATA["x"] * 2})
    with pytest.raises(BudgetError, match="no JSON"):
        check_data("{", layer(), DATA)


def test_an_error_above_its_bound_is_tangs_own_mistake(monkeypatch):
    right = shadow.total
    monkeypatch.setattr(shadow, "total", lambda *args: right(*args) / 1000)
    with pytest.raises(TangBugError, match="exceeds its derived bound"):
        certify_data(layer(), "f16", DATA)
