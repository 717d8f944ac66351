"""Launch descriptions: what they bind, and errors that name the place."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tang as tg
from tang.device.storage import Poison
from tang.ir.bind import bind
from tang.kernel.ir import Type
from tang.verify.foreign.binding import Scalar, Shared, bind_launch
from tang.verify.foreign.launch import LaunchError, load_launch
from tang.verify.foreign.memory import covered, filled, view

i, j = tg.dims("i j")
x = tg.input("x", ("N", "M"))
b = tg.input("b", ("N",), "bool")
GRAPH = tg.Graph(y=tg.compute("y", (i, j), x[i, j] + 1), n=tg.compute("n", (i,), ~b[i]))

GOOD = {
    "kernel": "k",
    "language": "cuda",
    "parameters": [
        {"tensor": "x", "dtype": "f16", "strides": ["M+3", 1], "offset": 2},
        {"tensor": "y", "access": "out"},
        {"tensor": "b"},
        {"tensor": "n", "access": "out"},
        {"name": "rows", "scalar": "N", "dtype": "i64"},
        {"name": "inverse", "scalar": "1/M", "dtype": "f32"},
        {"name": "work", "scratch": "4*ceil(N/8)", "dtype": "i32"},
        {"name": "tile", "shared": "4*M"},
    ],
    "grid": ["ceil(N/8)", "M"],
    "workgroup": [8],
    "shared": "N*4",
}
SIZES = {"N": 10, "M": 5}


def bound(launch=GOOD, sizes=SIZES):
    return bind_launch(load_launch(launch, GRAPH), bind(GRAPH, sizes), sizes)


def changed(place, **fields):
    """GOOD with other fields in one parameter, or at the top for place None."""
    copy = json.loads(json.dumps(GOOD))
    target = copy if place is None else copy["parameters"][place]
    for name, value in fields.items():
        if value is None:
            target.pop(name)
        else:
            target[name] = value
    return copy


def test_one_description_serves_every_size():
    small, large = bound(), bound(sizes={"N": 100, "M": 3})
    assert (small.grid, large.grid) == ((2, 5, 1), (13, 3, 1))
    assert (small.shared, large.shared) == (40, 400)
    assert small.workgroup == (8, 1, 1)
    assert [p.value for p in small.scalars] == [10, 0.2]


def test_parameters_have_their_types_and_elements():
    found = {p.name: p for p in bound().parameters}
    assert found["x"].type is Type.F16
    assert found["x"].elements == 2 + 9 * 8 + 4 + 1
    assert not found["x"].writable
    assert found["y"].type is Type.F32
    assert found["y"].writable
    assert found["b"].type is Type.BOOL
    assert found["work"].elements == 8
    assert found["tile"] == Shared("tile", 20)
    assert found["rows"] == Scalar("rows", Type.I64, 10)


def test_a_file_reads_as_its_data(tmp_path):
    path = tmp_path / "launch.json"
    path.write_text(json.dumps(GOOD))
    assert load_launch(path, GRAPH) == load_launch(GOOD, GRAPH)


def test_strided_tensors_lie_where_the_strides_say():
    buffer = bound().buffers[0]
    data = np.arange(50, dtype=np.float32).reshape(10, 5)
    memory = filled(buffer, {"x": data}, Poison.NAN)
    assert (view(memory, buffer.slots[0]) == data).all()
    assert memory[2 + 8] == 5
    assert np.isnan(memory[0])
    assert np.isnan(memory[7])
    assert covered(buffer, results=False).sum() == 50
    assert covered(buffer, results=True).sum() == 0


def test_msl_parameters_are_bound_by_index():
    launch = {
        "kernel": "k",
        "parameters": [
            {"index": 2, "tensor": "x"},
            {"index": 0, "tensor": "y", "access": "out"},
            {"name": "t", "shared": 4},
            {"index": 3, "tensor": "n", "access": "out"},
            {"index": 1, "tensor": "b"},
        ],
    }
    assert [p.name for p in load_launch(launch, GRAPH).parameters] == ["y", "b", "x", "n", "t"]


WRONG = {
    "an unknown field": (changed(None, kernal="k"), "kernal"),
    "no kernel": (changed(None, kernel=None), "kernel"),
    "an unknown language": (changed(None, language="ptx"), "language: 'ptx'"),
    "an unknown dtype": (changed(1, dtype="f31"), r"parameters\[1\].dtype: unknown dtype 'f31'"),
    "a dtype of another sort": (
        changed(1, dtype="i32"),
        r"\[1\].dtype: i32 holds no real",
    ),
    "an unknown access": (changed(1, access="inout"), r"parameters\[1\].access: 'inout'"),
    "an unknown input": (changed(0, tensor="z"), r"parameters\[0\].tensor: .* no input 'z': x, b"),
    "an output as input": (changed(1, access="in"), "no input 'y'"),
    "in-out without a result": (changed(0, access="in-out"), r"parameters\[0\].result"),
    "two kinds": (changed(0, scalar="N"), r"parameters\[0\]: give exactly one .* tensor, scalar"),
    "no kind": (changed(4, scalar=None), r"parameters\[4\]: give exactly one"),
    "strides of another rank": (changed(0, strides=[1]), r"parameters\[0\].strides: 1 for"),
    "an expression outside": (changed(None, grid=["N**2"]), r"grid\[0\]: .*outside the grammar"),
    "four dimensions": (changed(None, grid=[1, 1, 1, 1]), "grid: at most three"),
    "a wrong type": (changed(None, grid="N"), "grid"),
    "a missing output": (changed(3, tensor="y"), "called 'y'"),
    "an index twice": (changed(0, index=0), "every buffer and scalar an index, or none"),
    "an unknown format": (changed(None, compute="f31"), "compute: unknown format 'f31'"),
    "sizes that lack one": (changed(None, sizes=[{"N": 3}]), r"sizes\[0\]: no size for 'M'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_description_is_refused_at_its_place(name):
    launch, words = WRONG[name]
    with pytest.raises(LaunchError, match=words):
        load_launch(launch, GRAPH)


UNBOUND = {
    "a negative size": (changed(None, shared="M-N"), "shared: 'M-N' is -5"),
    "a fraction": (changed(None, grid=["N/8"]), "grid: 'N/8' is 5/4"),
    "an unknown extent": (changed(None, grid=["K"]), "grid: 'K' uses 'K'"),
    "overlapping outputs": (changed(1, strides=[1, 1]), "tensor 'y' in buffer 'y': .* overlap"),
    "too few elements": (changed(1, elements="N"), "has 10 elements, its tensors need 50"),
    "a scalar that does not fit": (changed(4, scalar="N*N*10000", dtype="u8"), "does not hold"),
    "an integer that is none": (changed(4, scalar="1/M"), "scalar 'rows' is i64"),
    "no threads": (changed(None, workgroup=["N-10"]), "workgroup"),
}


@pytest.mark.parametrize("name", UNBOUND)
def test_a_launch_without_sound_values_is_refused(name):
    launch, words = UNBOUND[name]
    with pytest.raises(LaunchError, match=words):
        bound(launch)


def test_malformed_json_names_the_file(tmp_path):
    path = tmp_path / "launch.json"
    path.write_text('{"kernel": ')
    with pytest.raises(LaunchError, match=r"launch\.json"):
        load_launch(path, GRAPH)
    with pytest.raises(LaunchError, match="cannot read"):
        load_launch(tmp_path / "none.json", GRAPH)
