"""WebGPU and OpenGL as devices: examples, hangs, strays, words shared by threads, large grids."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tang as tg
from tang.cli.load import load_graph
from tang.device import Job, Poison, Ran, Timeout, poison_word, poisoned
from tang.device.opengl import OpenGL, OpenGLOptions
from tang.device.webgpu import WebGPU, WebGPUOptions
from tang.errors import DeviceError, LimitError
from tang.kernel import ir as k
from tang.verify import verify

THREAD = k.Var(k.I32, "global_id")
EXAMPLES = sorted(Path(__file__).resolve().parents[2].glob("examples/*.py"))
PROGRAMS = [p for p in EXAMPLES if "fuzz" not in p.name]


@pytest.fixture(scope="module", params=["wgsl", "glsl"])
def device(request, tmp_path_factory):
    cache = tmp_path_factory.mktemp("texts")
    try:
        if request.param == "wgsl":
            found = WebGPU(WebGPUOptions(optimize=False, cache=cache))
            found.start()
        else:
            found = OpenGL(OpenGLOptions(optimize=False, cache=cache))
    except DeviceError as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(e))
    yield found
    found.close()


def number(n, t=k.I32):
    return k.Const(t, n)


def op(name, *args):
    return k.Op(k.BOOL if name == "lt" else args[0].type, name, args)


def kernel(body, t=k.F32, workgroup=8, scalars=()):
    params = (k.Param("x", t, False), k.Param("y", t, True))
    return k.Kernel("kernel", params, scalars, tuple(body), workgroup)


def launched(device, kern, x, groups=1, scalars=(), guard=Poison.NAN):
    (compiled,) = device.compile([kern])
    y = poisoned(kern.params[1].type, x.shape, guard)
    (outcome,) = device.run([Job(compiled, (x, y), scalars, groups, guard)])
    assert isinstance(outcome, Ran), outcome
    return outcome


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_an_example_has_the_bits_of_replay(path, device):
    report = verify(load_graph(str(path)), seed=3, backends=(device.language,))
    assert not report.findings, report.to_text()


def test_a_program_runs_in_this_process(device):
    i, j = tg.dims("i j")
    a, b = tg.input("A", ("m", 4)), tg.input("B", (4,))
    node = tg.compute("C", (i,), tg.sum(tg.exp(a[i, j]) * b[j], over=j))
    graph = tg.Graph(C=node, facts=[tg.fact("m", maximum=1000)])
    rng = np.random.default_rng(0)
    data = {"A": rng.normal(size=(37, 4)).astype("f4"), "B": rng.normal(size=4).astype("f4")}
    got = tg.compile(graph, device=device)(data)["C"]
    assert got.tobytes() == tg.compile(graph)(data)["C"].tobytes()


@pytest.mark.parametrize("offset", [8, 40])
def test_a_write_past_the_end_shows_in_the_guard_zone(offset, device):
    stray = k.Store("y", number(offset), number(Fraction(1), k.F32))
    ran = launched(device, kernel([stray]), np.zeros(8, np.float32))
    word = poison_word(k.F32, Poison.NAN)
    assert ran.memories[0].intact(word)
    assert not ran.memories[1].intact(word)


@pytest.mark.parametrize("offset", [-1, 10**8])
def test_a_write_far_away_does_no_harm(offset, device):
    stray = k.Store("y", number(offset), number(Fraction(1), k.F32))
    ran = launched(device, kernel([stray]), np.zeros(8, np.float32))
    assert ran.memories[0].intact(poison_word(k.F32, Poison.NAN))
    left = poisoned(k.F32, (8,), Poison.NAN)
    assert ran.memories[1].data.tobytes() == left.tobytes()


@pytest.mark.parametrize("t", [k.BOOL, k.U8, k.F16, k.BF16], ids=lambda t: t.value)
@pytest.mark.parametrize("size", [1, 3, 5, 257])
def test_threads_that_share_a_word_keep_each_others_elements(t, size, device):
    n = k.Var(k.I32, "n")
    store = k.Store("y", THREAD, k.Load(t, "x", op("sub", op("sub", n, number(1)), THREAD)))
    kern = kernel([k.If(op("lt", THREAD, n), (store,))], t, 64, (n,))
    x = (np.arange(size) % 2 if t is k.BOOL else np.arange(size) % 251).astype(
        {1: np.uint8, 2: np.uint16}[t.bytes]
    )
    for guard in Poison:
        ran = launched(device, kern, x, -(-size // 64), (size,), guard)
        assert ran.memories[1].data.tobytes() == x[::-1].tobytes()
        assert ran.memories[1].intact(poison_word(t, guard))


@pytest.mark.parametrize("t", [k.BOOL, k.U8, k.F16, k.F32], ids=lambda t: t.value)
def test_workgroup_arrays_hold_every_type(t, device):
    local = k.Var(k.I32, "local_id")
    mirrored = op("sub", number(7), local)
    body = [
        k.Array("tile", t, 8, k.Scope.WORKGROUP),
        k.Store("tile", local, k.Load(t, "x", THREAD)),
        k.Barrier(),
        k.Store("y", THREAD, k.Load(t, "tile", mirrored)),
    ]
    dtype = {k.BOOL: np.uint8, k.U8: np.uint8, k.F16: np.float16, k.F32: np.float32}[t]
    x = (np.arange(16) % 3 == 0).astype(dtype)
    ran = launched(device, kernel(body, t), x, 2)
    assert ran.memories[1].data.tolist() == x.reshape(2, 8)[:, ::-1].ravel().tolist()


def test_more_workgroups_than_one_dimension_has(device):
    groups = 70_001
    y = k.Store("y", THREAD, op("add", THREAD, number(1)))
    ran = launched(device, kernel([y], k.I32, 1), np.zeros(groups, np.int32), groups)
    assert (ran.memories[1].data == np.arange(1, groups + 1)).all()
    assert ran.memories[1].intact(poison_word(k.I32, Poison.NAN))


def test_constants_of_every_kind_are_exact(device):
    values = [
        "inf", "-inf", "nan", "-0.0", Fraction(0), Fraction(1, 3), Fraction(2) ** -149,
        Fraction(2) ** -126, -Fraction(2) ** -130, Fraction(float(np.finfo("f4").max)),
        Fraction("0.1"), Fraction(1, 2), Fraction(16777217), Fraction("1e-38"), "pi",
    ]  # fmt: skip
    body = [k.Store("y", number(i), number(v, k.F32)) for i, v in enumerate(values)]
    got = launched(device, kernel(body, workgroup=1), np.zeros(len(values), "f4"))
    want = np.array([np.pi if v == "pi" else float(v) for v in values]).astype(np.float32)
    found = got.memories[1].data
    same = (found.view("u4") == want.view("u4")) | (np.isnan(found) & np.isnan(want))
    assert same.all(), found


def summing(rounds):
    """A kernel in which a thread adds 1 to its output in a loop."""
    i, m = k.Var(k.I32, "i"), k.Var(k.I32, "m")
    one = number(Fraction(1), k.F32)
    work = k.Store("y", THREAD, op("add", k.Load(k.F32, "y", THREAD), one))
    return kernel([k.Let(m, number(rounds)), k.For(i, number(0), m, (work,))], workgroup=1)


def test_loops_that_a_software_driver_would_cut_are_refused(device):
    if "llvmpipe" not in device.description:
        pytest.skip("this driver counts on")
    x = np.zeros(8, np.float32)
    allowed, more = device.compile([summing(65_535), summing(65_536)])
    (ran,) = device.run([Job(allowed, (x, x), (), 1)])
    assert ran.memories[1].data[0] == 65_535
    with pytest.raises(LimitError, match="goes 65536 times round"):
        device.run([Job(more, (x, x), (), 1)])


def test_a_hang_is_a_timeout_and_the_next_job_runs(device):
    x = np.arange(8, dtype=np.float32)
    copy = kernel([k.Store("y", THREAD, k.Load(k.F32, "x", THREAD))])
    hang, fine = device.compile([summing(60_000), copy])
    first, second = device.run(
        [Job(hang, (x, x * 0), (), 2**30), Job(fine, (x, x * 0), (), 1)], deadline=0.5
    )
    assert isinstance(first, Timeout)
    assert isinstance(second, Ran)
    assert second.memories[1].data.tolist() == x.tolist()


def test_a_text_that_the_driver_refuses_is_named(device):
    copy = kernel([k.Store("y", THREAD, k.Load(k.F32, "x", THREAD))])
    with pytest.raises(DeviceError, match="refused broken"):
        device.compile_text(copy, "this is no shader\n", "broken")
