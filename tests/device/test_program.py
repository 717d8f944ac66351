"""`compile` and `Program`: symbolic sizes, inputs checked by name, results as NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tang import api
from tang.device import CompilerOptions, HostC
from tang.errors import DeviceError, GraphError, ScheduleError
from tang.ir import expr as e
from tang.ir.extent import poly
from tang.ir.graph import Comprehension, Dim, Fact, Graph, Input, Output
from tang.ir.monoids import MAX, SUM
from tang.ir.view import Read, Ref, View, variable
from tang.kernel.ir import BF16, F16, F64
from tang.kernel.schedule import NodeSchedule, Schedule


def read(name, *dims):
    return Read(Ref(name), View(tuple(variable(d) for d in dims)))


def dims(**extents):
    return tuple(Dim(n, poly(x)) for n, x in extents.items())


def matmul():
    inputs = (Input("A", (poly("m"), poly("k"))), Input("B", (poly("k"), poly(3))))
    node = Comprehension(
        "C",
        dims(i="m", j=3),
        (read("A", "i", "k"), read("B", "k", "j")),
        (e.apply("mul", e.arg(0), e.arg(1)),),
        reduce=dims(k="k"),
        monoid=SUM,
    )
    return Graph(inputs, (node,), (Output("out", Ref("C", SUM.outputs[0].name)),))


def unary(body, sort=e.REAL, n="n"):
    node = Comprehension("y", dims(i=n), (read("x", "i"),), (body,), outputs=("v",))
    return Graph((Input("x", (poly(n),), sort),), (node,), (Output("y", Ref("y", "v")),))


@pytest.fixture(scope="module")
def program(host):
    return api.compile(matmul(), device=host)


def test_one_program_serves_every_size(program):
    rng = np.random.default_rng(0)
    for m, k in ((1, 1), (5, 7), (130, 2), (5, 7)):
        a, b = rng.integers(-9, 9, (m, k)), rng.integers(-9, 9, (k, 3))
        got = program({"A": a, "B": b})
        assert set(got) == {"out"}
        assert got["out"].dtype == np.float32
        assert (got["out"] == a @ b).all()


def test_empty_reductions_and_empty_grids_are_values(program):
    got = program({"A": np.zeros((4, 0)), "B": np.zeros((0, 3))})
    assert got["out"].tolist() == [[0.0] * 3] * 4
    assert program({"A": np.zeros((0, 5)), "B": np.zeros((5, 3))})["out"].shape == (0, 3)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"A": np.ones((2, 2))}, "'B' is missing"),
        ({"A": np.ones((2, 2)), "B": np.ones((2, 3)), "D": 1}, "no input 'D': one of A, B"),
        ({"A": np.ones((2, 2)), "B": np.ones((2, 4))}, "'B' dim 1"),
        ({"A": np.ones((2, 2)), "B": np.ones((3, 3))}, "input 'B' dim 0"),
        ({"A": np.ones(2), "B": np.ones((2, 3))}, "input 'A' has shape"),
        ({"A": np.ones((2, 2), bool), "B": np.ones((2, 3))}, "'A' is real.*not bool"),
        ({"A": np.ones((2, 2), complex), "B": np.ones((2, 3))}, "'A' is real.*complex"),
        ({"A": [["a", "b"]], "B": np.ones((2, 3))}, "'A' is real"),
    ],
)
def test_inputs_that_do_not_fit_are_named(program, inputs, words):
    with pytest.raises(GraphError, match=words):
        program(inputs)


def test_index_inputs_are_integers_of_31_bits(host):
    identity = api.compile(unary(e.arg(0, e.INDEX), e.INDEX), device=host)
    limit = 2**31 - 1
    assert identity({"x": np.array([limit, -limit])})["y"].tolist() == [limit, -limit]
    assert identity({"x": np.array([3], np.uint8)})["y"].tolist() == [3]
    for bad in (limit + 1, -limit - 1):
        with pytest.raises(GraphError, match="'x' holds the index"):
            identity({"x": np.array([bad])})
    with pytest.raises(GraphError, match="'x' is index: it takes integers, not float64"):
        identity({"x": np.array([1.0])})


def test_bool_inputs_are_bools(host):
    negation = api.compile(unary(e.apply("not", e.arg(0, e.BOOL)), e.BOOL), device=host)
    got = negation({"x": np.array([True, False])})["y"]
    assert got.dtype == np.bool_
    assert got.tolist() == [False, True]
    with pytest.raises(GraphError, match="numpy bools, not int64"):
        negation({"x": np.array([1, 0])})


@pytest.mark.parametrize(
    ("storage", "dtype"), [(F16, np.float16), (BF16, np.float32), (F64, np.float64)]
)
def test_storage_formats_come_back_as_numpy_types(storage, dtype, host):
    schedule = Schedule(default=NodeSchedule(storage=storage, accumulate=storage))
    double = unary(e.apply("add", e.arg(0), e.arg(0)))
    got = api.compile(double, schedule=schedule, device=host)({"x": np.array([1.5, 0.1])})["y"]
    assert got.dtype == dtype
    assert got[0] == 3.0
    assert abs(got[1] - 0.2) < 0.001


def test_neither_inputs_nor_results_share_memory(host):
    x = np.arange(4, dtype=np.float32)
    graph = unary(e.arg(0))
    both = Graph(graph.inputs, graph.nodes, (*graph.outputs, Output("x", Ref("x")),
                                            Output("again", Ref("y", "v"))))  # fmt: skip
    got = api.compile(both, device=host)({"x": x})
    for name in ("x", "y", "again"):
        assert got[name].tolist() == [0, 1, 2, 3]
    got["x"][:] = got["y"][:] = 9
    assert x.tolist() == got["again"].tolist() == [0, 1, 2, 3]


def test_facts_bind_at_each_call(host):
    graph = unary(e.arg(0))
    limited = Graph(graph.inputs, graph.nodes, graph.outputs, (Fact("n", 1, 8, 2),))
    program = api.compile(limited, device=host)
    assert program({"x": np.ones(4)})["y"].tolist() == [1] * 4
    with pytest.raises(GraphError, match="n = 3 violates"):
        program({"x": np.ones(3)})


def test_isolated_and_direct_runs_agree(host):
    graph = matmul()
    inputs = {"A": np.random.default_rng(1).random((9, 4)), "B": np.ones((4, 3))}
    direct = api.compile(graph, device=host)(inputs)["out"]
    isolated = api.compile(graph, device=host, isolate=True)(inputs)["out"]
    assert direct.tobytes() == isolated.tobytes()


def test_native_maths_keep_the_functions_of_the_host(host):
    graph = unary(e.apply("exp2", e.arg(0)))
    native = api.compile(graph, math="native", device=host)
    portable = api.compile(graph, device=host)
    assert "exp2f(" in native.kernels[0].text
    assert "exp2f(" not in portable.kernels[0].text
    x = np.linspace(-3, 3, 50)
    assert np.allclose(native({"x": x})["y"], portable({"x": x})["y"], rtol=4e-7)
    with pytest.raises(ScheduleError, match="'portable' or 'native'"):
        api.compile(graph, math="fast", device=host)


def test_functions_in_f64_are_native_or_none(host):
    graph = unary(e.apply("exp2", e.arg(0)))
    wide = Schedule(default=NodeSchedule(storage=F64, accumulate=F64))
    native = api.compile(graph, schedule=wide, math="native", device=host)
    assert np.allclose(native({"x": np.ones(50)})["y"], 2.0, rtol=1e-15)
    words = r"computes exp2 in f64: .*compile with math='native'$"
    with pytest.raises(ScheduleError, match=words):
        api.compile(graph, schedule=wide, device=host)


def test_kernels_show_their_name_language_and_whole_text(program):
    (kernel,) = program.kernels
    assert (kernel.name, kernel.language) == ("C", "c")
    assert kernel.text.startswith("#include <math.h>")
    assert "void C_k(" in kernel.text
    assert program.plan.launches[0].kernel.name == "C"
    assert api.kernel_texts(matmul()) == program.kernels


def test_an_unknown_target_lists_the_known_ones():
    with pytest.raises(DeviceError, match="unknown target 'ptx': one of c"):
        api.compile(matmul(), target="ptx")
    with pytest.raises(DeviceError, match="unknown target"):
        api.kernel_texts(matmul(), "ptx")


def test_reductions_of_data_with_nan_propagate(host):
    node = Comprehension("m", (), (read("x", "i"),), (e.arg(0),), reduce=dims(i="n"), monoid=MAX)
    graph = Graph(
        (Input("x", (poly("n"),)),), (node,), (Output("y", Ref("m", MAX.outputs[0].name)),)
    )
    program = api.compile(graph, device=host)
    assert program({"x": np.array([1.0, 3.0, 2.0])})["y"] == 3
    assert np.isnan(program({"x": np.array([1.0, np.nan, 2.0])})["y"])
    assert program({"x": np.zeros(0)})["y"] == -np.inf


def test_every_level_of_optimisation_gives_the_same_bits(tmp_path, host):
    rng = np.random.default_rng(4)
    inputs = {"A": rng.standard_normal((20, 33)), "B": rng.standard_normal((33, 3))}
    want = api.compile(matmul(), device=host)(inputs)["out"]
    for level in ("-O0", "-O2", "-O3"):
        device = HostC(CompilerOptions(cache=tmp_path, optimize=level))
        got = api.compile(matmul(), device=device)(inputs)["out"]
        assert got.tobytes() == want.tobytes(), level


def test_sizes_under_which_a_view_leaves_its_source_are_refused(host):
    node = Comprehension(
        "y",
        dims(i="m"),
        (read("x", "i"), Read(Ref("w"), View((variable("i") + 1,)))),
        (e.apply("add", e.arg(0), e.arg(1)),),
        outputs=("v",),
    )
    inputs = (Input("x", (poly("m"),)), Input("w", (poly("n"),)))
    program = api.compile(Graph(inputs, (node,), (Output("y", Ref("y", "v")),)), device=host)
    assert program({"x": np.ones(2), "w": np.arange(3)})["y"].tolist() == [2, 3]
    with pytest.raises(GraphError, match=r"i \+ 1 ranges over \[1, 3\]"):
        program({"x": np.ones(3), "w": np.arange(3)})
