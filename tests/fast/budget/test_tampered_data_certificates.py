"""Every leaf of a data certificate is held: each one changed by itself, and each one dropped."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from tampering import at, changed, leaves, others, without_one

import tang as tg
from tang.budget import certify_data, check_data
from tang.budget.data_certificate import packed, sealed
from tang.budget.data_check import UNHELD
from tang.errors import BudgetError
from tang.kernel.ir import F16
from tang.kernel.schedule import NodeSchedule, Schedule

RNG = np.random.default_rng(8)
DATA = {"x": RNG.standard_normal((2, 4)), "w": RNG.standard_normal(4)}


def layer(scale=1.0):
    """Weighted sums of exponentials, and whether they are positive."""
    x, w = tg.input("x", (2, "n")), tg.input("w", ("n",))
    i, k = tg.dims("i k")
    p = tg.compute("p", (i, k), tg.exp(x[i, k] * scale))
    y = tg.compute("y", (i,), tg.sum(p[i, k] * w[k], over=k))
    return tg.Graph(y=y, p=p, positive=tg.compute("positive", (i,), y[i] > 0.0))


TREE = Schedule(
    default=NodeSchedule(storage=F16), nodes=(("y", NodeSchedule(lanes=4, workgroup=4)),)
)
SCALED = {"version": 1, "inputs": {"w": {"storage": "e5m2", "scale": {"amax": False, "value": 4}}}}
KINDS = {"tree": TREE, "scaled": SCALED}


@pytest.fixture(scope="module", params=KINDS, ids=str)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def found(kind):
    return json.loads(certify_data(layer(), KINDS[kind], DATA, rules=(), seed=8).to_json())


@pytest.fixture(scope="module")
def tree():
    return json.loads(certify_data(layer(), TREE, DATA, rules=(), seed=8).to_json())


def refused(data):
    """What the checker says; "" where it accepts."""
    try:
        check_data(json.dumps(data), layer(), DATA)
    except BudgetError as e:
        return str(e)
    return ""


def test_a_certificate_as_it_was_made_is_accepted(found, kind):
    text = json.dumps(found)
    seen = check_data(text, layer(), DATA, KINDS[kind], rules=())
    assert seen.tensors == len(found["nodes"])
    assert seen.confirmed + seen.unbounded + seen.undecided == sum(
        n["elements"] for n in found["nodes"]
    )
    assert refused(found) == ""


def test_damage_anywhere_is_found_by_the_digest(found):
    """Also where nothing else would: in the seed, and in a bound that became larger."""
    assert refused(changed(found, ("seed",), 9)).startswith("digest: ")
    assert refused(changed(found, ("digest",), "0" * 64)).startswith("digest: ")
    bounds = np.frombuffer(base64.b64decode(found["nodes"][-1]["bounds"]), "<f8").copy()
    bounds[np.argmin(bounds)] *= 1.01
    assert refused(changed(found, ("nodes", -1, "bounds"), packed(bounds))).startswith("digest: ")


def test_every_leaf_is_refused_though_the_digest_is_made_again(tree):
    """Not the digest finds it but the check of the field."""
    for place in leaves(tree):
        if place[0] in (*UNHELD, "digest") or place[-1] == "bounds":
            continue
        own = at(tree, place)
        for value in others(own)[: 2 if isinstance(own, float) else 1]:
            bad = sealed(changed(tree, place, value))
            assert refused(bad).split(":")[0] not in ("", "digest"), (place, value)


def test_what_is_missing_or_comes_twice_is_refused(tree):
    tables = ((), ("nodes",), ("nodes", 0), ("constants",), ("outputs",), ("sizes",), ("inputs",))
    for table in tables:
        for place, part in without_one(at(tree, table), table):
            bad = part if not table else changed(tree, table, part)
            if place != ("digest",):
                assert refused(sealed(bad)), place
    assert "too much or missing: 'note'" in refused(sealed({**tree, "note": "safe"}))
    twice = json.dumps(tree)[:-1] + ', "kind": "tang data certificate"}'
    with pytest.raises(BudgetError, match="'kind' occurs twice"):
        check_data(twice, layer(), DATA)


def test_values_of_another_kind_are_refused(tree):
    places = [p for p in leaves(tree) if p[0] not in ("nodes", "digest") or p[:2] == ("nodes", 0)]
    for place in places:
        wrong = sealed(changed(tree, place, [at(tree, place)]))
        assert refused(wrong).split(":")[0] not in ("", "digest"), place


def test_bounds_are_held_element_by_element(found):
    """Smaller than the error, negative, NaN; larger ones hold, but not beside older summaries."""
    for n, row in enumerate(found["nodes"]):
        bounds = np.frombuffer(base64.b64decode(row["bounds"]), "<f8")
        largest = int(np.argmax(np.where(np.isfinite(bounds), bounds, -1)))
        for number in (bounds[largest] * 2, -1.0, np.nan, bounds[largest] / 1e6):
            other = bounds.copy()
            other[largest] = number
            bad = sealed(changed(found, ("nodes", n, "bounds"), packed(other)))
            assert refused(bad).startswith(row["name"]), (row["name"], number)


def test_the_seed_alone_is_not_held():
    assert UNHELD == ("seed",)


def test_errors_that_are_said_smaller_are_refused_beside_everything_else(found):
    for n, row in enumerate(found["nodes"]):
        if row["error"] > 0 and row["bound"] > 0 and row["format"] != "f64":
            bad = sealed(changed(found, ("nodes", n, "error"), row["error"] * 0.999))
            assert f"{row['name']}: its error is" in refused(bad)


def test_a_certificate_is_of_one_precision(found, kind):
    text = json.dumps(found)
    with pytest.raises(BudgetError, match=r"than this precision gives|another precision"):
        check_data(text, layer(), DATA, "bf16")
    with pytest.raises(BudgetError, match="the program has another digest"):
        check_data(text, layer(2.0), DATA)
    with pytest.raises(BudgetError, match="no data for input 'w'"):
        check_data(text, layer(), {"x": DATA["x"]})
    with pytest.raises(BudgetError, match="the program has no 'q'"):
        check_data(text, layer(), {**DATA, "q": DATA["w"]})


def test_errors_in_f64_are_held_to_their_bounds():
    x, w = tg.input("x", (2, "n")), tg.input("w", ("n",))
    i, k = tg.dims("i k")
    graph = tg.Graph(y=tg.compute("y", (i,), tg.sum(x[i, k] * w[k], over=k)))
    made = certify_data(graph, "f64", DATA)
    assert check_data(made.to_json(), graph, DATA, "f64").confirmed == 2
    bad = changed(made.to_data(), ("nodes", 0, "error"), made.row("y").bound * 3)
    with pytest.raises(BudgetError, match="its error is"):
        check_data(json.dumps(sealed(bad)), graph, DATA)


def test_the_row_of_an_unknown_tensor_is_an_error_that_names_those_there_are():
    made = certify_data(layer(), "f32", DATA)
    assert made.row("y").name == "y.value"
    with pytest.raises(BudgetError, match=r"no tensor 'z': one of y, p, .*y\.value"):
        made.row("z")


def test_tensors_without_elements_are_checked_too():
    x = tg.input("x", ("n",))
    i = tg.dim("i", "n")
    graph = tg.Graph(y=tg.compute("y", i, x[i] * 0.5))
    data = {"x": np.zeros(0)}
    seen = check_data(certify_data(graph, "f16", data).to_json(), graph, data)
    assert (seen.tensors, seen.confirmed) == (1, 0)
