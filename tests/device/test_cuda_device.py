"""The CUDA device: what it says without a GPU, and the bits of replay on one."""

from __future__ import annotations

import numpy as np
import pytest

import tang as tg
from tang.device import Job, Poison, Ran, poison_word, survey
from tang.device.cuda import Cuda, CudaOptions
from tang.errors import DeviceError
from tang.kernel import ir as k
from tang.verify import verify


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    try:
        device = Cuda(CudaOptions(cache=tmp_path_factory.mktemp("cubins")))
    except DeviceError as e:
        pytest.skip(str(e))
    yield device
    device.close()


def test_without_a_gpu_the_survey_says_what_would_enable_it():
    (row,) = [r for r in survey() if r.target == "cuda" and r.device == "cuda"]
    if not row.available:
        assert "cupy-cuda12x" in row.enable
        with pytest.raises(DeviceError, match=r"no CUDA device: .*cupy-cuda12x"):
            Cuda()


SUBNORMALS = k.Kernel(
    "halves",
    (k.Param("x", k.F32, False), k.Param("y", k.F32, True)),
    (),
    (
        k.Store(
            "y",
            k.Var(k.I64, "global_id"),
            k.Op(
                k.F32,
                "div",
                (k.Load(k.F32, "x", k.Var(k.I64, "global_id")), k.Const(k.F32, 4)),
            ),
        ),
    ),
    workgroup=4,
)


def test_subnormals_are_kept(cuda):
    x = np.array([1.5e-38, 4e-45, -1.2e-38, 3e38], np.float32)
    (compiled,) = cuda.compile((SUBNORMALS,))
    (ran,) = cuda.run([Job(compiled, (x, np.zeros(4, np.float32)), (), 1)])
    assert isinstance(ran, Ran), ran
    assert ran.memories[1].data.tobytes() == (x / np.float32(4)).tobytes()
    assert all(m.intact(poison_word(k.F32, Poison.NAN)) for m in ran.memories)


def test_a_program_gives_the_bits_of_the_host_and_of_replay(cuda):
    i, j, n = tg.dims("i j k")
    a, b = tg.input("A", (70, 40)), tg.input("B", (40, 5))
    graph = tg.Graph(C=tg.compute("C", (i, j), tg.sum(tg.exp(a[i, n]) * b[n, j], over=n)))
    rng = np.random.default_rng(1)
    inputs = {"A": rng.normal(size=(70, 40)), "B": rng.normal(size=(40, 5))}
    got = tg.compile(graph, device=cuda)(inputs)["C"]
    assert got.tobytes() == tg.compile(graph)(inputs)["C"].tobytes()
    assert verify(graph, inputs, backends=("cuda",)).ok
