"""Kernels that contract products into sums (fma) stay within the bounds of any order."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.budget.data_bounds import element_bounds
from tang.budget.emulation import folded
from tang.budget.report_samples import setting_of, stored_inputs
from tang.emulator import fma, round_to
from tang.kernel.ir import BF16, F16, F32
from tang.kernel.schedule import NodeSchedule, Schedule

TYPES = {"f32": F32, "f16": F16, "bf16": BF16}
N = 512


class Kernel:
    """Single operations of a format, each rounded once."""

    def __init__(self, name):
        self.name = name

    def rounded(self, x):
        return round_to(x, self.name)

    def mul(self, a, b):
        return fma(a, b, -0.0, self.name)

    def add(self, a, b):
        return fma(a, 1.0, b, self.name)

    def fma(self, a, b, c):
        return fma(a, b, c, self.name)


def larger_less_product(x):
    """max(a·b, c) − a·b."""
    return tg.maximum(x["a"] * x["b"], x["c"]) - x["a"] * x["b"]


PROGRAMS = {
    "sum": (
        lambda x: x["a"] * x["b"] + x["c"],
        {"fused": lambda m, a, b, c, d: m.fma(a, b, c)},
    ),
    "difference": (
        lambda x: x["c"] - x["a"] * x["b"],
        {"fused": lambda m, a, b, c, d: m.fma(-a, b, c)},
    ),
    "square": (
        lambda x: x["a"] * x["a"] - x["c"],
        {"fused": lambda m, a, b, c, d: m.fma(a, a, -c)},
    ),
    "cross": (
        lambda x: x["a"] * x["b"] - x["c"] * x["d"],
        {
            "left": lambda m, a, b, c, d: m.fma(a, b, -m.mul(c, d)),
            "right": lambda m, a, b, c, d: m.fma(-c, d, m.mul(a, b)),
        },
    ),
    "square-of-itself": (
        lambda x: x["a"] * x["a"] - x["a"] * x["a"],
        {"left": lambda m, a, b, c, d: m.fma(a, a, -m.mul(a, a))},
    ),
    "larger-less-product": (
        larger_less_product,
        {
            "rounded": lambda m, a, b, c, d: m.add(np.maximum(m.mul(a, b), c), -m.mul(a, b)),
            "fused": lambda m, a, b, c, d: m.fma(-a, b, np.maximum(m.mul(a, b), c)),
        },
    ),
    "product-less-larger": (
        lambda x: x["a"] * x["b"] - tg.maximum(x["c"], x["a"] * x["b"]),
        {"fused": lambda m, a, b, c, d: m.fma(a, b, -np.maximum(m.mul(a, b), c))},
    ),
    "product-less-smaller": (
        lambda x: x["a"] * x["b"] - tg.minimum(x["a"] * x["b"], x["c"]),
        {"fused": lambda m, a, b, c, d: m.fma(a, b, -np.minimum(m.mul(a, b), c))},
    ),
    "negative-product": (
        lambda x: tg.maximum(-(x["a"] * x["b"]), x["c"]) - -(x["a"] * x["b"]),
        {"fused": lambda m, a, b, c, d: m.fma(a, b, np.maximum(-m.mul(a, b), c))},
    ),
    "chosen-product": (
        lambda x: (lambda t: tg.maximum(t, x["c"]) - t)(
            tg.select(x["d"] < 0.0, x["a"] * x["b"], x["a"])
        ),
        {
            "fused": lambda m, a, b, c, d: np.where(
                d < 0,
                m.fma(-a, b, np.maximum(m.mul(a, b), c)),
                m.add(np.maximum(a, c), -a),
            )
        },
    ),
}
CASES = [(p, way, f) for p, (_, ways) in PROGRAMS.items() for way in ways for f in TYPES]


def program(written):
    i = tg.dim("i")
    inputs = {n: tg.input(n, (N,)) for n in "abcd"}
    return tg.Graph(y=tg.compute("y", i, written({n: x[i] for n, x in inputs.items()})))


def data_of(name):
    """Also products that nearly cancel, and some that are clearly the larger or the smaller."""
    rng = np.random.default_rng(3)
    a, b, c, d = (round_to(rng.standard_normal(N), name) for _ in range(4))
    c[::3] = round_to(a[::3] * b[::3], name)
    c[1::3] -= np.float64(4)
    return {"a": a, "b": b, "c": round_to(c, name), "d": d}


def setting_and_bound(written, name):
    graph = program(written)
    schedule = Schedule(default=NodeSchedule(storage=TYPES[name], accumulate=TYPES[name]))
    data = {i.name: data_of(name)[i.name] for i in graph.inputs}
    setting = setting_of(graph, stored_inputs(graph, schedule, data))
    bounds = element_bounds(setting, folded(schedule), free=True, math="any")
    (output,) = graph.outputs
    return np.asarray(setting.exact[output.ref]), np.asarray(bounds[output.ref])


@pytest.mark.parametrize(("name", "way", "type_"), CASES, ids=["-".join(c) for c in CASES])
def test_a_contracted_product_stays_within_the_bounds(name, way, type_):
    written, ways = PROGRAMS[name]
    exact, bound = setting_and_bound(written, type_)
    data = data_of(type_)
    got = ways[way](Kernel(type_), *(data[n] for n in "abcd"))
    assert np.isfinite(bound).all()
    error = np.abs(got - exact)
    assert (error <= bound).all(), float(np.max(error - bound))


def test_what_a_larger_product_is_off_by_is_its_own_rounding_alone():
    exact, bound = setting_and_bound(larger_less_product, "f32")
    data = data_of("f32")
    larger = (data["a"] * data["b"] > data["c"] + 1e-3).nonzero()
    unit = 2.0**-24 * np.abs(data["a"] * data["b"])
    assert (exact[larger] == 0).all()
    assert (bound[larger] > 0).all()
    assert (bound[larger] <= 1.01 * unit[larger]).all()


def test_a_maximum_less_an_input_is_exact():
    exact, bound = setting_and_bound(lambda x: tg.maximum(x["a"], x["c"]) - x["a"], "f32")
    data = data_of("f32")
    larger = data["a"] > data["c"]
    assert (exact[larger] == 0).all()
    assert (bound[larger] == 0).all()


# --- products of other libraries ------------------------------------------------------------------


def parts_of(name, a, b):
    """The factors of a function that is computed as a product, each rounded once to f32."""
    one = np.float64(1)
    ln2, log2e = np.log(2.0), 1 / np.log(2.0)
    factors = {
        "quotient": (a, one / b),
        "root": (a, one / np.sqrt(a)),
        "log": (np.log2(a), np.full(N, ln2)),
        "log2": (np.log(a), np.full(N, log2e)),
        "sigmoid": (np.exp(a), one / (1 + np.exp(a))),
        "tanh": (np.expm1(2 * a), one / (np.exp(2 * a) + 1)),
    }[name]
    return tuple(round_to(f, "f32") for f in factors)


WRITTEN_AS_PRODUCTS = {
    "quotient": lambda x: x["a"] / x["b"],
    "root": lambda x: tg.sqrt(x["a"]),
    "log": lambda x: tg.log(x["a"]),
    "log2": lambda x: tg.log2(x["a"]),
    "sigmoid": lambda x: tg.sigmoid(x["a"]),
    "tanh": lambda x: tg.tanh(x["a"]),
}


def larger_less(written, *, math):
    """f64 results and bounds of max(p, c) − p, where p is a positive a or a function of it."""
    a, b = (np.abs(data_of("f32")[n]) + 0.5 for n in "ab")
    data = {"a": round_to(a, "f32"), "b": round_to(b, "f32"), "c": np.full(N, -9.0)}
    graph = program(lambda x: tg.maximum(written(x), x["c"]) - written(x))
    arrays = {i.name: data[i.name] for i in graph.inputs}
    setting = setting_of(graph, stored_inputs(graph, Schedule(), arrays))
    bounds = element_bounds(setting, folded(Schedule()), free=True, math=math)
    (output,) = graph.outputs
    return data, np.asarray(setting.exact[output.ref]), np.asarray(bounds[output.ref])


@pytest.mark.parametrize("name", WRITTEN_AS_PRODUCTS)
def test_a_function_that_other_libraries_compute_as_a_product_may_be_contracted(name):
    data, exact, bound = larger_less(WRITTEN_AS_PRODUCTS[name], math="any")
    x, y = parts_of(name, data["a"], data["b"])
    m = Kernel("f32")
    got = m.fma(-x, y, np.maximum(m.mul(x, y), data["c"]))
    assert (exact == 0).all()
    assert (got != 0).any()
    assert (np.abs(got) <= bound).all()
    size = np.abs(m.mul(x, y))
    assert (bound <= 1.01 * 2.0**-24 * size).all()


@pytest.mark.parametrize("name", WRITTEN_AS_PRODUCTS)
def test_tangs_own_functions_are_no_products(name):
    _, _, bound = larger_less(WRITTEN_AS_PRODUCTS[name], math="portable")
    assert (bound == 0).all()
