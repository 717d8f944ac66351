"""Foreign kernels on an NVIDIA GPU: the same samples and callables as on the CPU."""

from __future__ import annotations

import importlib.util
import json
import runpy
from pathlib import Path

import pytest

import tang as tg
from tang.device.cuda import Cuda
from tang.errors import DeviceError
from tang.verify import Verdict, verify_callable, verify_kernel

FOLDER = Path(__file__).parents[2] / "examples" / "kernels"
ROWS = [
    r for r in json.loads((FOLDER / "catalogue.json").read_text()) if r["kernel"].endswith(".cu")
]

i, j = tg.dims("i j")
x, y = tg.input("x", ("N",)), tg.input("y", ("N",))
SPEC = tg.Graph(z=tg.compute("z", (i,), x[i] * y[i] + 1))


@pytest.fixture(scope="module", autouse=True)
def gpu():
    """Skip the module without a GPU."""
    try:
        Cuda().close()
    except DeviceError as e:
        pytest.skip(str(e))


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["kernel"])
def test_a_cuda_sample_is_judged_right_on_the_gpu(row):
    report = verify_kernel(
        (FOLDER / row["kernel"]).read_text(),
        spec=runpy.run_path(str(FOLDER / "specs.py"))[row["spec"]],
        launch=FOLDER / row["launch"],
        backend="cuda",
    )
    if not row["verdicts"]:
        assert report.ok, report.to_text()
        return
    assert report.findings, report.to_text()
    assert report.findings[0].verdict.value in row["verdicts"], report.to_text()
    assert row["words"] in report.to_text()


def test_inline_ptx_and_templates_run_on_the_gpu():
    text = """
    #include <cuda_runtime.h>
    #include <stdint.h>
    template <int K> __global__ void scaled(const float* x, const float* y, float* z, int n) {
      int32_t i;
      asm("mov.u32 %0, %%tid.x;" : "=r"(i));
      for (; i < n; i += blockDim.x) z[i] = K * (x[i] * y[i] + 1) / K;
    }
    """
    launch = {
        "kernel": "scaled<4>",
        "parameters": [
            {"tensor": "x"},
            {"tensor": "y"},
            {"tensor": "z", "access": "out"},
            {"name": "n", "scalar": "N"},
        ],
        "grid": [1],
        "workgroup": [96],
    }
    report = verify_kernel(text, "cuda", spec=SPEC, launch=launch, backend="cuda")
    assert report.ok, report.to_text()
    assert "no check for races: line 6: inline PTX" in report.results[0].note


def test_an_illegal_address_is_a_crash_and_the_next_kernel_runs():
    text = 'extern "C" __global__ void f(const float* x, const float* y, float* z, int n) { %s }'
    launch = {
        "kernel": "f",
        "parameters": [
            {"tensor": "x"},
            {"tensor": "y"},
            {"tensor": "z", "access": "out"},
            {"name": "n", "scalar": "N"},
        ],
        "grid": ["ceil(N/64)"],
        "workgroup": [64],
    }
    bad = verify_kernel(text % "*(float*)8 = 0;", "cuda", spec=SPEC, launch=launch, backend="cuda")
    assert Verdict.CRASH in bad.verdicts()
    body = "int i = blockIdx.x * 64 + threadIdx.x; if (i < n) z[i] = x[i] * y[i] + 1;"
    good = verify_kernel(text % body, "cuda", spec=SPEC, launch=launch, backend="cuda")
    assert good.ok, good.to_text()


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch")
def test_torch_functions_are_verified_on_the_gpu():
    def right(x, y, out):
        out.copy_(x * y + 1)

    def partly(x, y, out):
        out[:-3] = (x * y + 1)[:-3]

    def in_half(x, y, out):
        out.copy_(x.half() * y.half() + 1)

    assert verify_callable(right, SPEC, tensors="torch:cuda").ok
    assert verify_callable(lambda x, y, out: x * y + 1, SPEC, tensors="torch:cuda").ok
    dtypes = {"x": "bf16", "y": "bf16", "z": "bf16"}
    wide = verify_callable(
        lambda x, y, out: out.copy_(x.float() * y.float() + 1), SPEC, tensors="torch:cuda",
        dtypes=dtypes,
    )  # fmt: skip
    assert wide.ok, wide.to_text()
    found = verify_callable(partly, SPEC, tensors="torch:cuda").verdicts()
    assert found == (Verdict.UNWRITTEN,)
    found = verify_callable(in_half, SPEC, tensors="torch:cuda").verdicts()
    assert found == (Verdict.OVER_BUDGET,)


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="no Triton")
def test_a_triton_kernel_without_its_mask_writes_past_the_end():
    place = importlib.util.spec_from_file_location("triton_kernel", FOLDER / "triton_kernel.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    right = verify_callable(module.masked, SPEC, tensors="torch:cuda")
    assert right.ok, right.to_text()
    wrong = verify_callable(module.unmasked, SPEC, tensors="torch:cuda")
    assert wrong.verdicts()[0] is Verdict.STRAY_WRITE, wrong.to_text()
