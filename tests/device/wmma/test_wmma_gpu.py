"""The same text of warp matrices through NVRTC: an sm_90 GPU gives the bits of SIMT."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from wmma_cases import VARIANTS, expected, found, job_of, kernel_of, problem, text_of

from tang.device import Job, Ran
from tang.device.cuda import Cuda, CudaOptions
from tang.device.simt import Binding
from tang.device.simt.nvrtc import _includes, nvrtc_check, nvrtc_missing
from tang.errors import DeviceError
from tang.kernel import ir as k

FOLDERS = [p for p in _includes() if (p / "mma.h").exists() and (p / "crt" / "mma.h").exists()]
NO_HEADER = "CUDA's crt/mma.h is not here: set CUDA_HOME to a toolkit"
RECORDED = json.loads((Path(__file__).parent / "h200_wmma.json").read_text())


@pytest.mark.skipif(nvrtc_missing() is not None, reason=nvrtc_missing() or "")
@pytest.mark.skipif(not FOLDERS, reason=NO_HEADER)
def test_the_text_is_cuda():
    cubin = nvrtc_check(text_of(VARIANTS.values()), "sm_90")
    assert all(v.symbol.encode() in cubin for v in VARIANTS.values())


@pytest.fixture(scope="module")
def gpu(tmp_path_factory):
    """A GPU whose tensor cores are those of the model, or the reason why there is none."""
    if not FOLDERS:
        pytest.skip(NO_HEADER)
    try:
        device = Cuda(CudaOptions(cache=tmp_path_factory.mktemp("cubins")))
    except DeviceError as e:
        pytest.skip(str(e))
    yield device
    device.close()


def compiled(gpu, kernel, text):
    """A kernel of a text that may include CUDA's headers."""
    if gpu.architecture != "sm_90":
        pytest.skip(f"SIMT has the tensor cores of sm_90, not of {gpu.architecture}")
    return gpu.compile_text(kernel, f"/* nvrtc: -I{FOLDERS[0]} */\n{text}", kernel.name)


@pytest.mark.gpu
@pytest.mark.parametrize("name", VARIANTS)
def test_a_gpu_gives_the_bits_of_simt_and_of_the_emulator(name, gpu, cuda):
    v = VARIANTS[name]
    given, kernel, text = problem(v), kernel_of(v), text_of([v])
    (here,) = gpu.run([job_of(compiled(gpu, kernel, text), v, given)], deadline=30)
    (there,) = cuda.run(
        [job_of(c, v, given) for c in cuda.compile_texts([(kernel, Binding(v.symbol))], text)]
    )
    assert isinstance(here, Ran), here
    bits = found(here, v)
    wanted = expected(v, given)
    assert np.array_equal(bits, wanted), int((bits != wanted).sum())
    assert np.array_equal(bits, found(there, v))
    digest = hashlib.blake2b(np.ascontiguousarray(bits).tobytes()).hexdigest()[:32]
    assert digest == RECORDED["answers"].get(name, digest)


CONVERT = """
#include <mma.h>
extern "C" __global__ void convert(const unsigned* x, unsigned* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  y[i] = __float_as_uint(nvcuda::wmma::__float_to_tf32(__uint_as_float(x[i])));
}
"""


@pytest.mark.gpu
def test_a_gpu_converts_to_tf32_as_simt_does(gpu, cuda):
    params = (k.Param("x", k.U32, False), k.Param("y", k.U32, True))
    kernel = k.Kernel("convert", params, (), ())
    x = (np.random.PCG64(3).random_raw(2**20) >> np.uint64(32)).astype(np.uint32)
    x[: 2**12] |= np.uint32(0x7F800000)
    (here,) = gpu.run([Job(compiled(gpu, kernel, CONVERT), (x, 0 * x), (), x.size // 64)])
    (there,) = cuda.run(
        [Job(cuda.compile_text(kernel, CONVERT, "convert"), (x, 0 * x), (), x.size // 64)]
    )
    assert np.array_equal(here.memories[1].data, there.memories[1].data)
